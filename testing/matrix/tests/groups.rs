//! Tests of association groups (C706 9.3.3), with clients that do not use the runtime: the
//! ownership and lifetime of a client's context handles.
//!
//! The tests are in a process of their own, because they change the time limit of lost clients.

use matrix::functions::Keeper;
use matrix::{ACCOUNTS, Counters, become_known};
use obvia::Remote as _;
use obvia::dcom::{Pinging, set_pinging};
use obvia::security::{AccountTable, Credential, NtHash, set_accounts};
use obvia_rpc::co::pdu::{ACCEPTED, BindNak, Context};
use obvia_rpc::co::{AssociationError, ClientAssociation, ClientEvent, ClientOptions, OutgoingCall};
use obvia_rpc::security::context::initiate;
use obvia_rpc::security::{AuthType, Level, Security};
use obvia_rpc::status::Status;
use obvia_rpc::uuid::{NDR, SyntaxId, Uuid};
use rustix::net::sockopt::set_socket_linger;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{LazyLock, Mutex, MutexGuard};
use std::time::Duration;

const PATIENCE: Option<Duration> = Some(Duration::from_secs(60));
/// A context handle on the wire.
type Handle = [u8; 20];

/// Serves counters from this process if they are not served yet, and returns the port.
fn serve() -> u16 {
    static SERVED: LazyLock<(obvia::Serving, u16)> =
        LazyLock::new(|| {
            become_known();
            let all = ACCOUNTS.into_iter().map(|(user, password)| (user.to_owned(), password));
            let accounts = all.chain((ACCOUNTS.len()..USERS).map(|user| (name_of(user), ACCOUNTS[0].1)));
            set_accounts(accounts.fold(AccountTable::default(), |table, (user, password)| {
                table.with(&user, NtHash::of_password(password))
            }));
            let serving = obvia::serve_interface(Counters::from(Keeper::default())).unwrap();
            let binding = obvia::listen("ncacn_ip_tcp:127.0.0.1").unwrap();
            (serving, binding.split(['[', ']', ',']).nth(1).unwrap().parse().unwrap())
        });
    SERVED.1
}

/// Takes the lock that runs one test at a time, because the counters belong to the process.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// An association with the counters.
struct Client {
    stream: TcpStream,
    association: ClientAssociation,
    /// The security context of the calls.
    security: Option<u32>,
}

/// The number of users with accounts.
const USERS: usize = 70;

/// Returns the name of a user that is not in [`ACCOUNTS`].
fn name_of(user: usize) -> String {
    format!("user{user}")
}

fn authenticate(user: usize) -> Security {
    let (name, password) = match ACCOUNTS.get(user) {
        Some((name, password)) => ((*name).to_owned(), *password),
        None => (name_of(user), ACCOUNTS[0].1),
    };
    initiate(AuthType::NTLM, Level::Integrity, "", &Credential::user("", &name, password)).unwrap()
}

impl Client {
    /// Binds, in an association group and as a user.
    fn bind(port: u16, group: u32, user: Option<usize>) -> Result<Self, AssociationError> {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(PATIENCE).unwrap();
        let mut association = ClientAssociation::new(ClientOptions::default());
        association.join(group);
        let mut client = Self { stream, association, security: user.map(|_| 0) };
        client.agree(user)?;
        Ok(client)
    }

    /// Negotiates the presentation context, unless the association has it, and a security context
    /// of a user.
    fn agree(&mut self, user: Option<usize>) -> Result<(), AssociationError> {
        let interface = SyntaxId { uuid: Uuid(Counters::INFO.iid.to_u128()), version: 1 };
        let contexts = vec![Context { id: 0, interface, transfers: vec![NDR] }];
        self.association.bind(contexts, user.map(authenticate)).unwrap();
        self.exchange(|event| {
            let ClientEvent::Bound(_, outcomes) = event else { panic!("{event:?}") };
            assert!(outcomes.iter().all(|outcome| outcome.result == ACCEPTED));
        })
    }

    fn exchange<R>(&mut self, seen: impl FnOnce(ClientEvent<'_>) -> R) -> Result<R, AssociationError> {
        loop {
            if let Some(event) = self.association.poll()? {
                return Ok(seen(event));
            }
            self.stream.write_all(self.association.output()).unwrap();
            self.association.output().clear();
            let count = self.stream.read(self.association.input.room()).unwrap();
            self.association.input.filled(count);
        }
    }

    fn call(&mut self, opnum: u16, stub: &[u8]) -> Result<Vec<u8>, Status> {
        let security = self.security;
        let call = OutgoingCall { context_id: 0, opnum, object: None, is_maybe: false, security, stub };
        self.association.call(&call).unwrap();
        self.exchange(|event| match event {
            ClientEvent::Response(response) => Ok(response.stub.to_vec()),
            ClientEvent::Fault(fault) => Err(fault.status),
            event => panic!("{event:?}"),
        })
        .unwrap()
    }

    fn group(&self) -> u32 {
        self.association.group()
    }

    fn open(&mut self, first: i64) -> Handle {
        self.call(0, &first.to_le_bytes()).unwrap()[..20].try_into().unwrap()
    }

    fn next(&mut self, counter: &Handle) -> Result<i64, Status> {
        self.call(1, counter).map(|stub| i64::from_le_bytes(stub.try_into().unwrap()))
    }
}

/// Returns the number of counters.
fn alive(port: u16) -> u32 {
    let stub = Client::bind(port, 0, None).unwrap().call(3, &[]).unwrap();
    u32::from_le_bytes(stub.try_into().unwrap())
}

fn becomes(port: u16, count: u32) {
    ground::until("what is kept for clients that are gone is gone", || alive(port) == count);
}

const REFUSED: Option<AssociationError> = Some(AssociationError::Refused { reason: BindNak::NOT_SPECIFIED });
const MISMATCH: Result<i64, Status> = Err(Status::CONTEXT_MISMATCH);

#[test]
#[cfg_attr(miri, ignore = "connects by TCP")]
fn context_handles_belong_to_the_association_group_and_end_with_it() {
    let _alone = alone();
    let port = serve();
    let mut first = Client::bind(port, 0, None).unwrap();
    let counter = first.open(10);
    assert_ne!(first.group(), 0);
    let mut second = Client::bind(port, first.group(), None).unwrap();
    assert_eq!((second.group(), second.next(&counter)), (first.group(), Ok(10)));
    // Another client is in another group.
    let mut other = Client::bind(port, 0, None).unwrap();
    assert_ne!(other.group(), first.group());
    assert_eq!(other.next(&counter), MISMATCH);
    let group = first.group();
    drop(first);
    let mut third = Client::bind(port, group, None).unwrap();
    assert_eq!((third.next(&counter), second.next(&counter), alive(port)), (Ok(11), Ok(12), 1));
    drop((second, third));
    becomes(port, 0);
    // The group's number is released a moment after its handles.
    ground::until("the group is gone", || Client::bind(port, group, None).err() == REFUSED);
    assert_eq!(Client::bind(port, 0x1234_5678, None).err(), REFUSED);
}

#[test]
#[cfg_attr(miri, ignore = "connects by TCP")]
fn other_users_of_a_group_number_cannot_use_its_context_handles() {
    let _alone = alone();
    let port = serve();
    let mut first = Client::bind(port, 0, Some(0)).unwrap();
    let counter = first.open(1);
    let group = first.group();
    for user in [None, Some(1)] {
        let mut other = Client::bind(port, group, user).unwrap();
        assert_eq!(other.next(&counter), MISMATCH, "{user:?}");
        let own = other.open(7);
        assert_eq!((other.next(&own), first.next(&own)), (Ok(7), MISMATCH), "{user:?}");
    }
    assert_eq!(Client::bind(port, group, Some(0)).unwrap().next(&counter), Ok(1));
    drop(first);
    becomes(port, 0);
}

#[test]
#[cfg_attr(miri, ignore = "connects by TCP")]
fn context_handles_are_separate_for_each_user_of_an_association() {
    let _alone = alone();
    let port = serve();
    let mut shared = Client::bind(port, 0, Some(0)).unwrap();
    let counter = shared.open(1);
    shared.agree(Some(1)).unwrap();
    shared.security = Some(1);
    assert_eq!(shared.next(&counter), MISMATCH);
    let other = shared.open(7);
    // A handle belongs to its user on all associations of the group, and is run down after the last
    // association of that user.
    let mut second = Client::bind(port, shared.group(), Some(1)).unwrap();
    assert_eq!((second.next(&other), second.next(&counter)), (Ok(7), MISMATCH));
    shared.security = Some(0);
    assert_eq!((shared.next(&counter), shared.next(&other)), (Ok(1), MISMATCH));
    drop(shared);
    becomes(port, 1);
    assert_eq!(second.next(&other), Ok(8));
    drop(second);
    becomes(port, 0);
}

#[test]
#[cfg_attr(miri, ignore = "connects by TCP")]
fn a_group_has_any_number_of_users_with_context_handles() {
    let _alone = alone();
    let port = serve();
    let first = Client::bind(port, 0, Some(0)).unwrap();
    let group = first.group();
    let others = (1..USERS).map(|user| Client::bind(port, group, Some(user)).unwrap());
    let mut clients: Vec<Client> = std::iter::once(first).chain(others).collect();
    let handles: Vec<Handle> = (0..).zip(&mut clients).map(|(start, client)| client.open(start)).collect();
    for (user, client) in (0..).zip(&mut clients) {
        let own = user as usize;
        assert_eq!(client.next(&handles[own]), Ok(user), "user {user}");
        assert_eq!(client.next(&handles[(own + 1) % USERS]), MISMATCH, "user {user}");
    }
    drop(clients);
    becomes(port, 0);
}

/// Resets a client's connection, so that the server counts the client as lost. Returns the number
/// of the client's group.
fn reset(client: Client) -> u32 {
    let Client { stream, association, .. } = client;
    // An immediate close sends RST instead of FIN, so that the connection is lost.
    set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
    drop(stream);
    association.group()
}

/// Counts the threads that serve connections.
fn serving() -> usize {
    let names = std::fs::read_dir("/proc/self/task").unwrap().flatten().map(|task| task.path().join("comm"));
    names.filter_map(|name| std::fs::read_to_string(name).ok()).filter(|name| name.trim() == "obvia-serve").count()
}

#[test]
#[cfg_attr(miri, ignore = "connects by TCP")]
fn a_lost_client_that_returns_finds_its_context_handles() {
    let _alone = alone();
    let port = serve();
    let mut first = Client::bind(port, 0, Some(0)).unwrap();
    let counter = first.open(5);
    let group = reset(first);
    // A lost client without context handles is not kept.
    let nothing = reset(Client::bind(port, 0, None).unwrap());
    ground::until("who has nothing is gone", || Client::bind(port, nothing, None).err() == REFUSED);
    // Another user does not reach the handles.
    let mut other = Client::bind(port, group, Some(1)).unwrap();
    assert_eq!(other.next(&counter), MISMATCH);
    drop(other);
    let mut again = Client::bind(port, group, Some(0)).unwrap();
    assert_eq!(again.next(&counter), Ok(5));
    // The server again keeps the handles of a lost client, but no longer than the ping timeout.
    let group = reset(again);
    let mut again = Client::bind(port, group, Some(0)).unwrap();
    assert_eq!((again.next(&counter), alive(port)), (Ok(6), 1));
    let group = reset(again);
    set_pinging(Pinging { period: Duration::from_millis(20), missed: 1 }).unwrap();
    becomes(port, 0);
    assert_eq!(Client::bind(port, group, None).err(), REFUSED);
    set_pinging(Pinging::default()).unwrap();
    // A lost client that has returned, and then closes its connection properly, is removed at once.
    let mut first = Client::bind(port, 0, None).unwrap();
    let counter = first.open(5);
    let group = reset(first);
    // The test waits until the server has noticed the loss. Otherwise the server might notice the
    // loss only after the client has returned and closed its connection properly, and would keep
    // the handles.
    ground::until("the connection is known to be lost", || serving() == 0);
    let mut second = Client::bind(port, group, None).unwrap();
    assert_eq!(second.next(&counter), Ok(5));
    drop(second);
    becomes(port, 0);
}
