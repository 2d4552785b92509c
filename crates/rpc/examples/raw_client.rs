//! A test client: makes raw calls to a server that returns the arguments, such as `raw_server`, and
//! checks the responses.
//!
//! `raw_client HOST:PORT|NAME [one-at-a-time]`. With the last argument, the client makes no
//! concurrent calls, no calls of other interfaces and no calls of objects, since some servers do
//! not support these.

use obvia_rpc::co::pdu::{ACCEPTED, Context, Outcome};
use obvia_rpc::co::{ClientAssociation, ClientEvent, ClientOptions, IncomingFault, OutgoingCall};
use obvia_rpc::epm::{self, Tower, Way};
use obvia_rpc::mgmt;
use obvia_rpc::status::Status;
use obvia_rpc::uuid::{FLAT, NDR, NDR64, SyntaxId, Uuid};
use obvia_via::stream::Stream;
use obvia_via::{Deadline, provider::shm::Directory};

type Outcomes<T> = Result<T, Box<dyn std::error::Error>>;

const RAW: SyntaxId = SyntaxId { uuid: Uuid(0x0b71_a000_5e1f_4c0d_9a11_7261_7763_616c), version: 1 };
const SOON: Deadline = Deadline::after_secs(20);

/// An event of the association, without borrowed data.
#[derive(Debug)]
enum Said {
    Bound(Vec<Outcome>),
    Response(u32, Vec<u8>),
    Fault(IncomingFault),
}

struct Client {
    stream: Stream,
    association: ClientAssociation,
}

impl Client {
    fn next(&mut self) -> Outcomes<Said> {
        self.stream.send(self.association.output(), SOON)?;
        self.association.output().clear();
        loop {
            match self.association.poll()? {
                Some(ClientEvent::Bound(_, outcomes)) => return Ok(Said::Bound(outcomes)),
                Some(ClientEvent::Response(response)) => {
                    return Ok(Said::Response(response.id, response.stub.to_vec()));
                }
                Some(ClientEvent::Fault(fault)) => return Ok(Said::Fault(fault)),
                Some(ClientEvent::ShutDown) => return Err("the server shuts down".into()),
                None => {
                    let count = self.stream.receive(self.association.input.room(), SOON)?;
                    self.association.input.filled(count);
                }
            }
        }
    }

    fn bind(&mut self, contexts: Vec<Context>) -> Outcomes<Vec<Outcome>> {
        self.association.bind(contexts, None)?;
        match self.next()? {
            Said::Bound(outcomes) => Ok(outcomes),
            other => Err(format!("not bound, but {other:?}").into()),
        }
    }

    fn call(&mut self, call: OutgoingCall<'_>) -> Outcomes<Result<Vec<u8>, Status>> {
        let id = self.association.call(&call)?;
        match self.next()? {
            Said::Response(number, stub) if number == id => Ok(Ok(stub)),
            Said::Fault(fault) if fault.id == id => Ok(Err(fault.status)),
            other => Err(format!("no answer to call {id}, but {other:?}").into()),
        }
    }
}

fn raw(opnum: u16, stub: &[u8]) -> OutgoingCall<'_> {
    OutgoingCall { context_id: 0, opnum, object: None, is_maybe: false, security: None, stub }
}

fn check(what: &str, is_good: bool) -> Outcomes<()> {
    if !is_good {
        return Err(format!("{what}: wrong").into());
    }
    println!("{what}: good");
    Ok(())
}

fn main() -> Outcomes<()> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().ok_or("usage: raw_client HOST:PORT [one-at-a-time]")?;
    let is_simple = arguments.next().is_some();
    let (stream, way) = match address.rsplit_once(':') {
        Some((host, port)) => {
            let port = port.parse()?;
            (Stream::connect(host, port, SOON)?, Way::Tcp(epm::ANY_HOST, port))
        }
        None => (Stream::connect_local(&Directory::of_user()?, &address, SOON)?, Way::Local(address)),
    };
    let mut client = Client { stream, association: ClientAssociation::new(ClientOptions::default()) };

    let context = |id, interface, transfers: &[SyntaxId]| Context { id, interface, transfers: transfers.to_vec() };
    let outcomes = client.bind(vec![context(0, RAW, &[NDR]), context(1, RAW, &[FLAT])])?;
    let transfer = outcomes[0].transfer;
    check("bind", outcomes[0].result == ACCEPTED && transfer == NDR && outcomes[1].result != ACCEPTED)?;
    println!("concurrent calls: {}", client.association.is_multiplexed());
    println!("goes on after orphaned calls: {}", client.association.keeps_on_orphan());

    for length in [0, 1, 1000, 5840, 200_000] {
        let stub: Vec<u8> = (0..length).map(|at: u32| (at % 251) as u8).collect();
        let answer = client.call(raw(0, &stub))?;
        check(&format!("call with {length} bytes"), answer.as_deref() == Ok(&stub))?;
    }
    let fault = client.call(raw(99, b"any"))?;
    check(&format!("fault {fault:?}"), fault == Err(Status::OP_RNG_ERROR))?;
    check("call after a fault", client.call(raw(0, b"again"))?.as_deref() == Ok(b"again"))?;
    if is_simple {
        return Ok(());
    }

    let outcomes = client.bind(vec![
        context(2, epm::INTERFACE, &[NDR]),
        context(3, mgmt::INTERFACE, &[NDR]),
        context(4, RAW, &[NDR64, NDR]),
    ])?;
    check("alter_context", outcomes.iter().all(|outcome| outcome.result == ACCEPTED))?;
    let object = OutgoingCall { object: Some(Uuid(7)), ..raw(0, b"object") };
    check("call of an object", client.call(object)?.as_deref() == Ok(b"object"))?;
    map(&mut client, &way)?;
    concurrent(&mut client)
}

/// Checks that the server's endpoint mapper knows the endpoint to which the client is connected.
fn map(client: &mut Client, way: &Way) -> Outcomes<()> {
    let tower = Tower { interface: RAW, transfer: NDR, way: way.clone() };
    let (opnum, stub) = epm::map_request(&tower, None);
    let answer = client.call(OutgoingCall { context_id: 2, ..raw(opnum, &stub) })?;
    let found = epm::mapped(Default::default(), &answer.map_err(|status| status.to_string())?)?;
    let is_same = match (&found[..], way) {
        ([Way::Tcp(_, found)], Way::Tcp(_, port)) => found == port,
        ([found], _) => found == way,
        _ => false,
    };
    check("ept_map", is_same)
}

/// Makes three concurrent calls. Checks that the second is answered before the first. The third is
/// abandoned and gets no answer.
fn concurrent(client: &mut Client) -> Outcomes<()> {
    let slow = client.association.call(&raw(3, &500_u32.to_le_bytes()))?;
    let quick = client.association.call(&raw(0, &[1; 100_000]))?;
    let given_up = client.association.call(&raw(3, &100_u32.to_le_bytes()))?;
    client.association.orphan(given_up);
    let order = [client.next()?, client.next()?];
    let is_right =
        matches!(&order, [Said::Response(first, _), Said::Response(second, _)] if (*first, *second) == (quick, slow));
    check("concurrent calls", is_right)
}
