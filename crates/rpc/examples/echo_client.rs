//! A client for those who judge the protection of calls: adds one and has data echoed, some fragments long, by Samba's `rpcecho`.
//! `echo_client PORT KIND LEVEL USER PASSWORD`, KIND being 9 for SPNEGO and 10 for NTLM, says `ok` when the results are right.

use obvia_rpc::co::pdu::{ACCEPTED, Context};
use obvia_rpc::co::{ClientAssociation, ClientEvent, ClientOptions, OutgoingCall};
use obvia_rpc::security::context::initiate;
use obvia_rpc::security::credentials::Credential;
use obvia_rpc::security::{AuthType, Level};
use obvia_rpc::uuid::{NDR, SyntaxId, Uuid};
use obvia_via::Deadline;
use obvia_via::stream::Stream;

const RPCECHO: SyntaxId = SyntaxId { uuid: Uuid(0x60a1_5ec5_4de8_11d7_a637_0050_56a2_0182), version: 1 };
const SOON: Deadline = Deadline::after_secs(20);

type Outcomes<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcomes<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [port, kind, level, user, password] = &arguments[..] else {
        return Err("usage: echo_client PORT KIND LEVEL USER PASSWORD".into());
    };
    let level = Level::from_wire(level.parse()?).ok_or("no such level")?;
    let security = initiate(AuthType(kind.parse()?), level, "", &Credential::user("", user, password))?;
    let stream = Stream::connect("127.0.0.1", port.parse()?, SOON)?;
    let mut client = Client { stream, association: ClientAssociation::new(ClientOptions::default()) };
    client.association.bind(vec![Context { id: 0, interface: RPCECHO, transfers: vec![NDR] }], Some(security))?;
    client.exchange(|event| match event {
        ClientEvent::Bound(_, outcomes) if outcomes.iter().all(|outcome| outcome.result == ACCEPTED) => Ok(()),
        event => Err(format!("no bind: {event:?}").into()),
    })?;
    for number in 0..20_u32 {
        client.call(0, &number.to_le_bytes(), &(number + 1).to_le_bytes())?;
    }
    for length in [1, 15, 16, 17, 1000, 30_000_u32] {
        let data: Vec<u8> = (0..length).map(|index| index as u8).collect();
        let array = [&length.to_le_bytes(), &data[..]].concat();
        client.call(1, &[&length.to_le_bytes(), &array[..]].concat(), &array)?;
    }
    println!("ok");
    Ok(())
}

struct Client {
    stream: Stream,
    association: ClientAssociation,
}

impl Client {
    /// Sends what there is to send, and waits for what comes of it.
    fn exchange(&mut self, check: impl FnOnce(ClientEvent<'_>) -> Outcomes<()>) -> Outcomes<()> {
        loop {
            self.stream.send(self.association.output(), SOON)?;
            self.association.output().clear();
            let count = self.stream.receive(self.association.input.room(), SOON)?;
            self.association.input.filled(count);
            if let Some(event) = self.association.poll()? {
                return check(event);
            }
        }
    }

    fn call(&mut self, opnum: u16, stub: &[u8], expected: &[u8]) -> Outcomes<()> {
        let call = OutgoingCall { context_id: 0, opnum, object: None, is_maybe: false, security: Some(0), stub };
        self.association.call(&call)?;
        self.exchange(|event| match event {
            ClientEvent::Response(response) if response.stub == expected => Ok(()),
            event => Err(format!("opnum {opnum}: {event:?}").into()),
        })
    }
}
