//! Tests of a server that accepts only protected calls, with clients that do not use the runtime:
//! its answers before and after authentication.
//!
//! The tests are in a process of their own, because authentication is global: callbacks to this
//! process would be protected calls, while other tests expect unprotected calls.

use matrix::{Enum1, Enum2, Enum3, Info, Surrounding, rpcecho, rpcecho_Impl};
use obvia::security::{Caller, Credential};
use obvia::{GUID, Remote as _, code};
use obvia_rpc::co::pdu::{ACCEPTED, Context};
use obvia_rpc::co::{AssociationError, ClientAssociation, ClientEvent, ClientOptions, OutgoingCall};
use obvia_rpc::security::context::initiate;
use obvia_rpc::security::{AuthType, Level, Security};
use obvia_rpc::status::Status;
use obvia_rpc::uuid::{FLAT, NDR, SyntaxId, Uuid};
use obvia_via::Deadline;
use obvia_via::stream::Stream;
use std::sync::LazyLock;

const PATIENCE: Deadline = Deadline::after_secs(60);
/// The object UUID of the server's functions. They need a UUID, because other tests serve the same
/// interface.
const OBJECT: u128 = 0x7d0f_2a64_1c5e_4b7a_9c54_2f1e_8b6d_3a10;
/// The runtime's own interface, and the opnums of its calls that return data and take no arguments.
const RUNTIME: SyntaxId = SyntaxId { uuid: Uuid(0x4be1_0c7a_93d5_4f26_8e0b_6a17_d2c4_f358), version: 1 };
const RUNTIME_CALLS: [u16; 3] = [7, 9, 10];
/// The upper half of the UUID that identifies a process.
const PROCESS: u128 = 0x9d27_5e0f_14c3_4ab6 << 64;

/// An object that returns its caller's identity.
#[obvia::object(rpcecho)]
struct Teller;

impl rpcecho_Impl for Teller_Impl {
    /// Returns 100 times the caller's level, plus the length of the user's name.
    fn AddOne(&self, _: u32) -> obvia::Result<u32> {
        let Caller { authenticated, .. } = obvia::caller().ok_or(code::E_UNEXPECTED)?;
        let who = authenticated.ok_or(code::E_UNEXPECTED)?;
        Ok(who.level as u32 * 100 + who.principal.user.len() as u32)
    }

    fn EchoData(&self, _: &[u8], _: &mut [u8]) -> obvia::Result<()> {
        Err(code::E_UNEXPECTED.into())
    }

    fn SinkData(&self, _: &[u8]) -> obvia::Result<()> {
        Err(code::E_UNEXPECTED.into())
    }

    fn SourceData(&self, _: &mut [u8]) -> obvia::Result<()> {
        Err(code::E_UNEXPECTED.into())
    }

    fn TestCall(&self, _: &obvia::U16CStr) -> obvia::Result<obvia::U16CString> {
        Err(code::E_UNEXPECTED.into())
    }

    fn TestCall2(&self, _: u16) -> obvia::Result<(Info<'static>, u32)> {
        Err(code::E_UNEXPECTED.into())
    }

    fn TestSleep(&self, _: u32) -> obvia::Result<u32> {
        Err(code::E_UNEXPECTED.into())
    }

    fn TestEnum(&self, _: &mut Enum1, _: &mut Enum2, _: &mut Enum3<'static>) -> obvia::Result<()> {
        Err(code::E_UNEXPECTED.into())
    }

    fn TestSurrounding(&self, _: &mut obvia::Owned<Surrounding>) -> obvia::Result<()> {
        Err(code::E_UNEXPECTED.into())
    }

    fn TestDoublePointer(&self, _: &Option<&'_ Option<&'_ u16>>) -> obvia::Result<u16> {
        Err(code::E_UNEXPECTED.into())
    }
}

struct Client {
    stream: Stream,
    association: ClientAssociation,
}

fn security(user: &str, password: &str, kind: AuthType, level: Level) -> Option<Security> {
    Some(initiate(kind, level, "", &Credential::user("", user, password)).unwrap())
}

impl Client {
    fn connect(port: &str) -> Self {
        let stream = Stream::connect("127.0.0.1", port.parse().unwrap(), PATIENCE).unwrap();
        Self { stream, association: ClientAssociation::new(ClientOptions::default()) }
    }

    /// Sends the pending output, and passes the next event to `seen`.
    fn exchange<R>(&mut self, seen: impl FnOnce(ClientEvent<'_>) -> R) -> Result<R, AssociationError> {
        loop {
            if let Some(event) = self.association.poll()? {
                return Ok(seen(event));
            }
            self.stream.send(self.association.output(), PATIENCE).unwrap();
            self.association.output().clear();
            let count = self.stream.receive(self.association.input.room(), PATIENCE).unwrap();
            self.association.input.filled(count);
        }
    }

    /// Negotiates presentation contexts for the runtime's interface and for the functions. If
    /// `process` is given, a third context tells the server that the client is this process.
    fn bind(&mut self, process: Option<u64>, security: Option<Security>) {
        let context = |id, interface, transfer| Context { id, interface, transfers: vec![transfer] };
        let functions = SyntaxId { uuid: Uuid(rpcecho::INFO.iid.to_u128()), version: 1 };
        let mut contexts = vec![context(0, RUNTIME, FLAT), context(1, functions, NDR)];
        contexts.extend(process.map(|process| {
            let process = SyntaxId { uuid: Uuid(PROCESS | u128::from(process)), version: 1 };
            context(2, process, FLAT)
        }));
        self.association.bind(contexts, security).unwrap();
        self.exchange(|event| {
            let ClientEvent::Bound(_, outcomes) = event else { panic!("{event:?}") };
            assert!(outcomes[..2].iter().all(|outcome| outcome.result == ACCEPTED), "{outcomes:?}");
        })
        .unwrap();
    }

    fn call(&mut self, context_id: u16, opnum: u16, security: Option<u32>) -> Result<Vec<u8>, Status> {
        let object = (context_id == 1).then_some(Uuid(OBJECT));
        let stub: &[u8] = if context_id == 1 { &[7, 0, 0, 0] } else { &[] };
        self.association.call(&OutgoingCall { context_id, opnum, object, is_maybe: false, security, stub }).unwrap();
        self.exchange(|event| match event {
            ClientEvent::Response(response) => Ok(response.stub.to_vec()),
            ClientEvent::Fault(fault) => Err(fault.status),
            event => panic!("{event:?}"),
        })
        .unwrap()
    }

    /// Calls the function that returns its caller's identity.
    fn told(&mut self, security: Option<u32>) -> Result<u32, Status> {
        self.call(1, 0, security).map(|stub| u32::from_le_bytes(stub.try_into().unwrap()))
    }
}

/// Serves the functions for protected calls if they are not served yet, and returns the port.
fn serve() -> &'static str {
    static SERVED: LazyLock<(obvia::Serving, String)> = LazyLock::new(|| {
        matrix::become_known();
        let serving = obvia::serve_interface_for(GUID::from_u128(OBJECT), rpcecho::from(Teller)).unwrap();
        let binding = obvia::listen("ncacn_ip_tcp:127.0.0.1[,security=integrity]").unwrap();
        (serving, binding.split(['[', ',']).nth(1).unwrap().to_owned())
    });
    &SERVED.1
}

#[test]
#[cfg_attr(miri, ignore = "connects by TCP")]
fn insufficiently_protected_callers_learn_nothing() {
    let port = serve();
    let mut client = Client::connect(port);
    client.bind(Some(0x1111), None);
    let [user, guest] = matrix::ACCOUNTS;
    for security in [None, Some(0)] {
        for opnum in RUNTIME_CALLS {
            assert_eq!(client.call(0, opnum, security), Err(Status::ACCESS_DENIED), "{opnum}");
        }
        assert_eq!(client.told(security), Err(Status::ACCESS_DENIED));
        if security.is_none() {
            client.bind(Some(0x1111), self::security(user.0, user.1, AuthType::NTLM, Level::Connect));
        }
    }
    // The association of a process has one user. Users without a process may share an association;
    // each call has its own caller.
    for (process, mut client) in [(Some(0x1111), client), (None, Client::connect(port))] {
        if process.is_none() {
            client.bind(None, security(user.0, user.1, AuthType::NTLM, Level::Connect));
        }
        client.bind(process, security(user.0, user.1, AuthType::SPNEGO, Level::Integrity));
        client.bind(process, security(guest.0, guest.1, AuthType::NTLM, Level::Privacy));
        let told = if process.is_none() { Ok(600 + guest.0.len() as u32) } else { Err(Status::ACCESS_DENIED) };
        for _ in 0..2 {
            assert_eq!(client.told(Some(1)), Ok(500 + user.0.len() as u32));
            assert_eq!(client.told(Some(2)), told);
            assert_eq!(client.told(Some(0)), Err(Status::ACCESS_DENIED));
            assert_eq!(client.told(None), Err(Status::ACCESS_DENIED));
        }
        for opnum in RUNTIME_CALLS {
            assert!(client.call(0, opnum, Some(1)).is_ok(), "{opnum}");
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "connects by TCP")]
fn clients_cannot_claim_the_process_of_another_user() {
    let port = serve();
    let [user, guest] = matrix::ACCOUNTS;
    let mut client = Client::connect(port);
    client.bind(Some(0x2222), security(user.0, user.1, AuthType::NTLM, Level::Integrity));
    assert!(client.told(Some(0)).is_ok());
    for ((name, password), outcome) in [(guest, Err(Status::ACCESS_DENIED)), (user, Ok(600 + user.0.len() as u32))] {
        let mut other = Client::connect(port);
        other.bind(Some(0x2222), security(name, password, AuthType::SPNEGO, Level::Privacy));
        assert_eq!(other.told(Some(0)), outcome, "{name}");
        assert_eq!(other.call(0, RUNTIME_CALLS[0], Some(0)).err(), outcome.err(), "{name}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "connects by TCP")]
fn clients_that_fail_authentication_can_call_nothing() {
    let port = serve();
    let [user, _] = matrix::ACCOUNTS;
    for kind in [AuthType::NTLM, AuthType::SPNEGO] {
        let mut client = Client::connect(port);
        client.bind(Some(0x3333), None);
        let functions = SyntaxId { uuid: Uuid(rpcecho::INFO.iid.to_u128()), version: 1 };
        let contexts = vec![Context { id: 1, interface: functions, transfers: vec![NDR] }];
        client.association.bind(contexts, security(user.0, "something else", kind, Level::Privacy)).unwrap();
        let answer = client.exchange(|event| match event {
            ClientEvent::Bound(..) => Ok(()),
            ClientEvent::Fault(fault) => Err(fault.status),
            event => panic!("{event:?}"),
        });
        match kind {
            // In NTLM the client sends the last leg, so only the next call gets the error.
            AuthType::NTLM => assert_eq!(answer, Ok(Ok(()))),
            _ => assert_eq!(answer, Ok(Err(Status::ACCESS_DENIED))),
        }
        if kind == AuthType::NTLM {
            assert_eq!(client.told(Some(0)), Err(Status::ACCESS_DENIED));
        }
    }
}
