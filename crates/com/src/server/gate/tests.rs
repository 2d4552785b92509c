//! Tests of gates: clients that do not authenticate, fail to authenticate, or send other messages
//! first.

use super::*;
use crate::access::audit::{Refused, set_audit};
use crate::access::credentials::set_accounts;
use crate::client::address::Address;
use crate::client::link::Link;
use crate::client::proxy::{UNKNOWN_INFO, without_vtables};
use crate::services::process;
use crate::types::registry::{self, Description};
use obvia_rpc::security::context::initiate;
use obvia_rpc::security::credentials::{AccountTable, Credential};
use obvia_rpc::security::proof::{CONTEXT_LEVEL, Next, Prover};
use obvia_rpc::security::{AuthType, NtHash};
use obvia_rpc::string_binding::StringBinding;
use obvia_rpc::vi_call::{CallError, Channel};
use obvia_via::Reliability;
use obvia_via::provider::udp;
use obvia_via::reliable::{Requesting, Settings};
use obvia_via::spi::Offer;
use obvia_via::window::{self, Options};
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};
use windows_core::GUID;

const LIMIT: Deadline = Deadline::after_secs(30);

/// The address of an endpoint of this process that requires authentication.
static AT: LazyLock<String> = LazyLock::new(|| {
    set_accounts(AccountTable::default().with("anna", NtHash::of_password("secret")));
    let binding = crate::listen("ncacn_vi_udp:127.0.0.1[,security=connect]").unwrap();
    let (_, rest) = binding.split_once('[').unwrap();
    format!("127.0.0.1:{}", rest.split(',').next().unwrap())
});

/// Connects to this process at an endpoint that requires authentication.
fn connect() -> Channel {
    connect_to(&AT).unwrap()
}

fn connect_to(address: &str) -> std::result::Result<Channel, ViError> {
    let nic = udp::open(&udp::Options::default()).unwrap();
    window::connect(&nic, address, &Options::default(), LIMIT).map(Channel::new)
}

fn prover() -> Prover {
    let credential = Credential::user("", "anna", "secret");
    Prover::new(initiate(AuthType::NTLM, CONTEXT_LEVEL, "", &credential).unwrap(), Level::Connect, "127.0.0.1")
}

fn next(prover: &mut Prover, answer: &[u8]) -> Vec<u8> {
    match prover.answer(answer).unwrap() {
        Next::Leg(leg) => leg,
        Next::Proved(_) => panic!("there is no further leg"),
    }
}

/// Makes a call with these bytes. Returns the answer, or the status of the fault or of the call.
fn call(channel: &mut Channel, target: TargetId, opnum: u16, bytes: &[u8]) -> std::result::Result<Vec<u8>, u32> {
    channel.request(bytes.len(), 0, LIMIT).unwrap().copy_from_slice(bytes);
    match channel.call(target, opnum, bytes.len(), LIMIT) {
        Ok(reply) if reply.status == 0 => {
            let mut answer = vec![0; reply.frame.len()];
            reply.frame.copy_to(0, &mut answer).unwrap();
            Ok(answer)
        }
        Ok(reply) => Err(reply.status),
        Err(CallError::Fault(status)) => Err(status.0),
        Err(other) => panic!("{other}"),
    }
}

fn leg(channel: &mut Channel, bytes: &[u8]) -> std::result::Result<Vec<u8>, u32> {
    call(channel, own_calls::TARGET, own_calls::OP_PROVE, bytes)
}

const DENIED: u32 = code::E_ACCESSDENIED.0.cast_unsigned();
const BROKEN: u32 = code::RPC_S_SEC_PKG_ERROR.0.cast_unsigned();

/// Authenticates up to the seal, and returns the seal.
fn as_far_as_the_seal(channel: &mut Channel) -> Vec<u8> {
    let mut prover = prover();
    let challenge = leg(channel, &prover.begin().unwrap()).unwrap();
    let proof = next(&mut prover, &challenge);
    let made = leg(channel, &proof).unwrap();
    next(&mut prover, &made)
}

/// Sends a bind that introduces a process.
fn bind(channel: &mut Channel) -> crate::Result<u64> {
    binding::introduce(channel, 0x1234_5678, LIMIT)
}

#[test]
#[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
fn calls_before_authentication_are_refused_unread() {
    let mut channel = connect();
    for (target, opnum, bytes) in [
        (own_calls::TARGET, 7, &[][..]),
        (own_calls::TARGET, 6, &[0xff; 24]),
        (own_calls::TARGET, 999, &[0xff; 64]),
        (TargetId { index: 0, generation: 1 }, 3, &[0; 8]),
        (TargetId { index: u32::MAX, generation: u32::MAX }, u16::MAX, &[0xff; 4096]),
    ] {
        let refused = call(&mut channel, target, opnum, bytes);
        assert_eq!(refused, Err(Status::ACCESS_DENIED.0), "method {opnum} of {target:?}");
    }
    // A one-way call is refused without an answer. The connection stays usable.
    channel.request(8, 0, LIMIT).unwrap().fill(0xff);
    channel.oneway(TargetId { index: 0, generation: 1 }, 3, 8);
    assert_eq!(bind(&mut channel).unwrap_err().code(), code::E_ACCESSDENIED);
    // The client can still authenticate, and then passes the gate.
    let seal = as_far_as_the_seal(&mut channel);
    assert_eq!(bind(&mut channel).unwrap_err().code(), code::E_ACCESSDENIED);
    assert_eq!(call(&mut channel, own_calls::TARGET, 7, &[]), Err(Status::ACCESS_DENIED.0));
    leg(&mut channel, &seal).unwrap();
    assert_eq!(
        call(&mut channel, own_calls::TARGET, 7, &[]),
        Err(Status::PROTOCOL_ERROR.0),
        "nobody has said who it is"
    );
    assert_eq!(bind(&mut channel).unwrap(), process::runtime().unwrap().oxid());
    assert!(call(&mut channel, own_calls::TARGET, 7, &[]).is_ok());
    assert_eq!(leg(&mut channel, &seal), Err(Status::OP_RNG_ERROR.0), "a proof is made once");
}

/// Whether the server makes an area for a frame that does not fit the first area.
fn gets_area(channel: &mut Channel) -> bool {
    channel.request(1 << 20, 0, LIMIT).is_ok()
}

#[test]
#[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
fn clients_get_no_area_before_they_are_let_in() {
    assert!(!gets_area(&mut connect()));
    let mut channel = connect();
    as_far_as_the_seal(&mut channel);
    assert!(!gets_area(&mut channel));
    let mut channel = connect();
    let seal = as_far_as_the_seal(&mut channel);
    leg(&mut channel, &seal).unwrap();
    assert!(gets_area(&mut channel));
    // If authentication is not required, a client gets no area before it has introduced itself.
    let binding = crate::listen("ncacn_vi_udp:127.0.0.1").unwrap();
    let (_, rest) = binding.split_once('[').unwrap();
    let open = format!("127.0.0.1:{}", rest.trim_end_matches(']').split(',').next().unwrap());
    assert!(!gets_area(&mut connect_to(&open).unwrap()));
    let mut channel = connect_to(&open).unwrap();
    bind(&mut channel).unwrap();
    assert!(gets_area(&mut channel));
}

/// The areas of all connections of a host have a share of this process's memory.
#[test]
#[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
fn a_host_gets_no_areas_beyond_its_share_and_its_connections_stay() {
    /// The length of the area for which `gets_area` asks.
    const AREA: usize = 2 << 20;
    let binding = crate::listen("ncacn_vi_udp:127.0.0.1").unwrap();
    let (_, rest) = binding.split_once('[').unwrap();
    let open = format!("127.0.0.1:{}", rest.trim_end_matches(']').split(',').next().unwrap());
    let entrance = &process::runtime().unwrap().exporter().clients().entrance;
    let [host, other] = ["127.0.0.1", "10.0.0.1"].map(|address| entrance.held(address));
    host.areas.take_all_but(3 * AREA);
    let mut channels = [(); 5].map(|()| {
        let mut channel = connect_to(&open).unwrap();
        bind(&mut channel).unwrap();
        channel
    });
    let given: Vec<_> = channels.iter_mut().map(gets_area).collect();
    assert_eq!(given, [true, true, true, false, false]);
    assert!(other.areas.take(AREA), "other hosts have a share of their own");
    let [first, _, _, fourth, fifth] = &mut channels;
    let error = Error::from(fourth.request(1 << 20, 0, LIMIT).unwrap_err());
    assert_eq!(error.code(), code::E_OUTOFMEMORY);
    let words = error.detail().unwrap_or_default().to_owned();
    assert!(words.starts_with("the peer has no memory left for a message of 1048576 bytes"), "{words}");
    // The refused connections serve calls that need no area.
    for channel in [fourth, fifth] {
        assert!(call(channel, own_calls::TARGET, 7, &[]).is_ok());
    }
    drop(std::mem::replace(first, connect_to(&open).unwrap()));
    ground::until("the memory comes back", || gets_area(&mut channels[4]));
}

/// The method runs, but there is no area for its results, since the share of the host is used up.
#[test]
#[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
fn results_beyond_the_share_of_a_host_fail_with_the_reason_and_their_connection_stays() {
    let idl = "x".repeat(600_000);
    let iid = GUID::from_u128(0x9b1f_5d5c_7c0e_4a53_8b0d_61f2_a9a8_4e17);
    let long = Description { name: "ILong", iid, idl: Box::leak(idl.into()), ..*UNKNOWN_INFO };
    registry::register(&[Box::leak(Box::new(without_vtables(long)))]);
    let lines = Arc::<AtomicUsize>::default();
    let counted = Arc::clone(&lines);
    set_audit(move |refusal| {
        counted.fetch_add(usize::from(refusal.refused == Refused::Memory), Ordering::SeqCst);
    });
    let binding = crate::listen("ncacn_vi_udp:127.0.0.1").unwrap();
    let (_, rest) = binding.split_once('[').unwrap();
    let open = format!("127.0.0.1:{}", rest.trim_end_matches(']').split(',').next().unwrap());
    let host = process::runtime().unwrap().exporter().clients().entrance.held("127.0.0.1");
    let taken = host.areas.take_all_but(0);
    let mut channel = connect_to(&open).unwrap();
    bind(&mut channel).unwrap();
    let iid =
        [iid.data1.to_le_bytes().as_slice(), &iid.data2.to_le_bytes(), &iid.data3.to_le_bytes(), &iid.data4].concat();
    for _ in 0..2 {
        channel.request(iid.len(), 0, LIMIT).unwrap().copy_from_slice(&iid);
        let refused = channel.call(own_calls::TARGET, own_calls::OP_DESCRIBE, iid.len(), LIMIT).map(drop);
        let error = Error::from(refused.unwrap_err());
        assert_eq!(error.code(), code::E_OUTOFMEMORY);
        let words = error.detail().unwrap_or_default().to_owned();
        assert!(words.starts_with("the peer has no memory left for a message of 600000 bytes"), "{words}");
        assert!(call(&mut channel, own_calls::TARGET, 7, &[]).is_ok());
    }
    assert_eq!(lines.load(Ordering::SeqCst), 1, "a connection is reported once until it is given memory");
    host.areas.give_back(taken);
    channel.grant_areas(None);
    assert!(call(&mut channel, own_calls::TARGET, own_calls::OP_DESCRIBE, &iid).is_ok());
}

/// Areas of connections that this process makes count for the host to which they lead, as do the
/// areas of that host's connections to this process. The reason is that a peer chooses the
/// addresses to which this process connects by a reference.
#[test]
#[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
fn links_by_references_take_their_areas_from_the_share_of_the_host() {
    const AREA: usize = 2 << 20;
    let runtime = process::runtime().unwrap();
    let binding: StringBinding = crate::listen("ncacn_vi_udp:127.0.0.1").unwrap().parse().unwrap();
    // A connection of this process to itself has an area at each end.
    let host = runtime.clients().entrance.held("127.0.0.1");
    host.areas.take_all_but(AREA);
    let gets_area = |link: &Link| gets_area(&mut link.take_channel(LIMIT).unwrap());
    let received = runtime.link_to(runtime.oxid(), std::slice::from_ref(&binding)).unwrap();
    assert!(!gets_area(&received));
    let closed = Arc::downgrade(&received);
    drop(received);
    ground::until("the link is closed", || {
        runtime.close_links(|_| true);
        closed.strong_count() == 0
    });
    assert!(gets_area(&runtime.link_by_address(Address::Binding(binding)).unwrap()));
}

#[test]
#[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
fn a_connection_allows_one_authentication_attempt() {
    let wrong_seal = [1, 4, 0, 0, 16, 0, 0, 0].into_iter().chain([0; 16]).collect::<Vec<u8>>();
    let mut channel = connect();
    // A message that is far too long is rejected before it counts as a leg.
    assert_eq!(leg(&mut channel, &vec![0; 32 << 10]), Err(Status::BAD_STUB_DATA.0));
    for bytes in [vec![], vec![0xff; 64], wrong_seal.clone()] {
        let mut channel = connect();
        assert_eq!(leg(&mut channel, &bytes), Err(BROKEN), "{} bytes", bytes.len());
        assert_eq!(leg(&mut channel, &prover().begin().unwrap()), Err(DENIED));
    }
    let mut channel = connect();
    let seal = as_far_as_the_seal(&mut channel);
    assert_eq!(leg(&mut channel, &wrong_seal), Err(BROKEN));
    assert_eq!(leg(&mut channel, &seal), Err(DENIED));
    assert_eq!(bind(&mut channel).unwrap_err().code(), code::E_ACCESSDENIED);
}

#[test]
#[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
fn clients_that_leave_during_authentication_leak_nothing() {
    // The greatest number of connections that other tests have at the same time.
    const OF_OTHERS: usize = 100;
    let taken = || process::runtime().unwrap().exporter().clients().entrance.taken();
    let before = taken();
    for _ in 0..3 * OF_OTHERS {
        let mut channel = connect();
        leg(&mut channel, &prover().begin().unwrap()).unwrap();
    }
    ground::until("the places are free again", || taken() < before + OF_OTHERS);
}

/// The legs of one connection's authentication are worthless on another connection.
#[test]
#[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
fn authentication_legs_of_another_connection_are_refused() {
    let (mut one, mut other) = (connect(), connect());
    let (seal, others) = (as_far_as_the_seal(&mut one), as_far_as_the_seal(&mut other));
    assert_eq!(leg(&mut one, &others), Err(BROKEN));
    assert_eq!(leg(&mut other, &seal), Err(BROKEN));
    assert_eq!(bind(&mut one).unwrap_err().code(), code::E_ACCESSDENIED);
}

#[test]
#[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
fn clients_that_do_not_authenticate_in_time_are_disconnected() {
    let [silent, mut slow, mut busy] = [(); 3].map(|()| connect());
    leg(&mut slow, &prover().begin().unwrap()).unwrap();
    let end = Instant::now() + 3 * PATIENCE.remaining();
    // Refused calls do not extend the deadline.
    while !(silent.is_ended() && slow.is_ended() && busy.is_ended()) {
        assert!(Instant::now() < end, "connections without a proof stay");
        let has_room = busy.request(0, 0, LIMIT).is_ok();
        assert!(!has_room || busy.call(own_calls::TARGET, 7, 0, LIMIT).is_err());
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
#[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
fn clients_that_do_not_introduce_themselves_in_time_are_disconnected() {
    let binding = crate::listen("ncacn_vi_udp:127.0.0.1").unwrap();
    let port = binding.split(['[', ']']).nth(1).unwrap();
    let address = format!("127.0.0.1:{port}");
    let [silent, mut busy] = [(); 2].map(|()| connect_to(&address).unwrap());
    let end = Instant::now() + 3 * PATIENCE.remaining();
    // Refused calls do not extend the client's time.
    while !(silent.is_ended() && busy.is_ended()) {
        assert!(Instant::now() < end, "connections without an introduction stay");
        let has_room = busy.request(0, 0, LIMIT).is_ok();
        assert!(!has_room || busy.call(own_calls::TARGET, 7, 0, LIMIT).is_err());
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Returns the number of threads that serve connections.
fn serving_threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let name = |task: std::io::Result<std::fs::DirEntry>| std::fs::read_to_string(task.unwrap().path().join("comm"));
    tasks.filter_map(|task| name(task).ok()).filter(|name| name.trim_end() == "obvia-serve").count()
}

#[test]
#[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
fn forged_connection_requests_start_no_threads_and_keep_no_client_out() {
    let offer = Offer { reliability: Reliability::ReliableDelivery, max_transfer: 1 << 20, private: vec![0; 40] };
    let before = serving_threads();
    for number in 1..=20_000_u32 {
        // Each request has an address, a port and an id of its own.
        let [_, a, b, c] = (number + 0x1_0000).to_be_bytes();
        let socket = UdpSocket::bind((Ipv4Addr::new(127, a, b, c), 0)).unwrap();
        let mut request = Requesting::new(&Settings::default(), number.into(), &AT, &offer).unwrap();
        socket.send_to(request.transmit(0).unwrap(), &*AT).unwrap();
    }
    as_far_as_the_seal(&mut connect());
    let after = serving_threads();
    // The bound leaves room for the connections of other tests.
    assert!(after < before + 500, "{before} threads became {after}");
}
