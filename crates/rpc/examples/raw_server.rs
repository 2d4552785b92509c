//! A test server with an interface whose stub data is plain bytes, the endpoint mapper, and the
//! management interface.
//!
//! `raw_server [HOST:PORT | NAME]` listens on a port, 0 for a free one, or on a named socket, and
//! prints the endpoint. Its interface has these methods: 0 returns its arguments; 1 returns bytes,
//! whose number is the first number in its arguments; 2 fails with the status in its arguments; 3
//! waits for the number of milliseconds in its arguments, and returns its arguments.

use obvia_rpc::co::pdu::{Context, FragmentSizes, Outcome, UNKNOWN_INTERFACE};
use obvia_rpc::co::{AssociationError, Groups, IncomingCall, ServerAssociation, ServerEvent, ServerOptions};
use obvia_rpc::epm::{self, Caller, Entry, Mapper, Registrant, Tower, Way};
use obvia_rpc::mgmt::{self, Statistics};
use obvia_rpc::status::Status;
use obvia_rpc::uuid::{NDR, NDR64, SyntaxId, Uuid};
use obvia_rpc::{ByteOrder, co::Limits};
use obvia_via::stream::{Stream, StreamListener};
use obvia_via::{Deadline, Error, provider::shm::Directory};
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

const RAW: SyntaxId = SyntaxId { uuid: Uuid(0x0b71_a000_5e1f_4c0d_9a11_7261_7763_616c), version: 1 };
/// The interface of Samba's fragment tests. The tests call the interface's fourth method, and check
/// only the length and the end of the response.
const NETLOGON: SyntaxId = SyntaxId { uuid: Uuid(0x1234_5678_1234_abcd_ef00_0123_4567_cffb), version: 1 };
/// The time after which a silent client is disconnected.
const SILENCE: Duration = Duration::from_secs(60);
/// The longest response of method 1, in bytes.
const ANSWER_MAX: u32 = 64 << 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let listener = match address.rsplit_once(':') {
        Some((host, port)) => StreamListener::bind(host, port.parse()?)?,
        None => StreamListener::bind_local(&Directory::of_user()?, &address)?,
    };
    println!("ready {}", listener.endpoint());
    let mapper = Arc::new(Mutex::new(mapper(&listener)?));
    let groups = Groups::default();
    loop {
        let stream = match listener.accept(Deadline::after_secs(3600)) {
            Ok(stream) => stream,
            Err(Error::TimedOut) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let (endpoint, groups, mapper) = (listener.endpoint(), groups.clone(), Arc::clone(&mapper));
        thread::spawn(move || {
            if let Err(error) = serve(&stream, endpoint, groups, &mapper) {
                eprintln!("{}: {error}", stream.peer());
            }
        });
    }
}

/// Creates an endpoint mapper with the interfaces of this server.
fn mapper(listener: &StreamListener) -> Result<Mapper, Box<dyn std::error::Error>> {
    let mut mapper = Mapper::default();
    let way = match listener.address() {
        Some(address) => Way::Tcp(epm::ANY_HOST, address.port()),
        None => Way::Local(listener.endpoint()),
    };
    let interfaces =
        [(RAW, "raw calls"), (epm::INTERFACE, "endpoint mapper"), (mgmt::INTERFACE, ""), (NETLOGON, "stands in")];
    // With these objects, the mapper has ten entries. `smbtorture` expects a number of entries with
    // which the last response of a lookup is full.
    let objects = (1..=6).map(|number| (Uuid(number), RAW, "raw object"));
    for (object, interface, annotation) in interfaces.map(|(one, text)| (Uuid(0), one, text)).into_iter().chain(objects)
    {
        let tower = Tower { interface, transfer: NDR, way: way.clone() };
        let entry = Entry { object, tower, annotation: annotation.to_owned() };
        mapper.insert(Registrant::NOBODY, entry, false).map_err(|status| status.to_string())?;
    }
    Ok(mapper)
}

fn judge(context: &Context) -> Outcome {
    match context.interface {
        RAW => Outcome::choose(context, &[NDR, NDR64]),
        NETLOGON | epm::INTERFACE | mgmt::INTERFACE => Outcome::choose(context, &[NDR]),
        _ => Outcome::refused(UNKNOWN_INTERFACE),
    }
}

/// The response of method 3, which is sent after its delay.
struct Later {
    at: Instant,
    id: u32,
    stub: Vec<u8>,
}

fn serve(
    stream: &Stream,
    endpoint: String,
    groups: Groups,
    mapper: &Mutex<Mapper>,
) -> Result<(), Box<dyn std::error::Error>> {
    // Samba's protocol tests expect the fragment length of Windows.
    let sizes = FragmentSizes { sent: 5840, received: 5840 };
    let limits = Limits { sizes, message_max: 4 << 20, ..Limits::default() };
    let options = ServerOptions {
        limits,
        groups: Some(Arc::new(groups)),
        secondary_address: endpoint,
        ..ServerOptions::default()
    };
    let mut association = ServerAssociation::new(options);
    let mut waiting: Vec<Later> = Vec::new();
    loop {
        let outcome = answer(&mut association, stream, mapper, &mut waiting);
        stream.send(association.output(), Deadline::Within(SILENCE))?;
        association.output().clear();
        outcome?;
        let next = waiting.iter().map(|later| later.at).min();
        let deadline = next.map_or(Deadline::Within(SILENCE), Deadline::At);
        match stream.receive(association.input.room(), deadline) {
            Ok(count) => association.input.filled(count),
            Err(Error::TimedOut) if next.is_some() => {}
            Err(Error::Disconnected { .. } | Error::PeerGone { .. }) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        for later in waiting.extract_if(.., |later| later.at <= Instant::now()) {
            association.respond(later.id, &later.stub)?;
        }
    }
}

/// Answers the received calls.
fn answer(
    association: &mut ServerAssociation,
    stream: &Stream,
    mapper: &Mutex<Mapper>,
    waiting: &mut Vec<Later>,
) -> Result<(), AssociationError> {
    while let Some(event) = association.poll(&mut judge)? {
        let ServerEvent::Call(call) = event else { continue };
        let id = call.id;
        if (call.presentation.interface, call.opnum) == (RAW, 3) {
            let span = Duration::from_millis(number(&call).unwrap_or_default().into());
            waiting.push(Later { at: Instant::now() + span, id, stub: call.stub.to_vec() });
            continue;
        }
        let is_maybe = call.is_maybe;
        let results = perform(&call, stream, mapper);
        match results {
            _ if is_maybe => {}
            Ok(results) => association.respond(id, &results)?,
            Err(status) => association.fault(id, status, !status.is_before_arguments())?,
        }
    }
    Ok(())
}

fn perform(call: &IncomingCall<'_>, stream: &Stream, mapper: &Mutex<Mapper>) -> Result<Vec<u8>, Status> {
    match (call.presentation.interface, call.opnum) {
        (epm::INTERFACE, opnum) => {
            let host = stream.local_host().and_then(|host| host.parse().ok());
            let local = host.unwrap_or(Ipv4Addr::LOCALHOST).octets();
            let mut mapper = mapper.lock().unwrap_or_else(PoisonError::into_inner);
            mapper.call(opnum, &Caller { local, registrant: Some(Registrant(1)) }, call.order, call.stub)
        }
        (mgmt::INTERFACE, opnum) => {
            let interfaces = [RAW, epm::INTERFACE, mgmt::INTERFACE];
            mgmt::call(opnum, call.order, call.stub, &interfaces, Statistics::default())
        }
        (NETLOGON, 4) => Ok(vec![0; 12]),
        (RAW, 0) => Ok(call.stub.to_vec()),
        (RAW, 1) => {
            let count = number(call).filter(|count| *count <= ANSWER_MAX).ok_or(Status::BAD_STUB_DATA)?;
            Ok((0..count).map(|at| at as u8).collect())
        }
        (RAW, 2) => Err(Status(number(call).ok_or(Status::BAD_STUB_DATA)?)),
        _ => Err(Status::OP_RNG_ERROR),
    }
}

/// Returns the number at the beginning of the arguments, or `None` if the arguments are too short.
fn number(call: &IncomingCall<'_>) -> Option<u32> {
    let bytes = *call.stub.first_chunk()?;
    Some(match call.order {
        ByteOrder::Little => u32::from_le_bytes(bytes),
        ByteOrder::Big => u32::from_be_bytes(bytes),
    })
}
