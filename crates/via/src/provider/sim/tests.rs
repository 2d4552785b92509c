//! The simulated network as a provider, used through the public objects.

use super::{Network, network};
use crate::error::Ended;
use crate::reliable::Settings;
use crate::wrap::{Capture, Conditions};
use crate::{
    Access, CompletionQueue, Deadline, Descriptor, Error, MemoryRegion, Nic, ProtectionTag, Reliability, RemoteAddress,
    State, Status, Vi, ViAttributes,
};
use std::time::{Duration, Instant};

const SOON: Deadline = Deadline::after_secs(30);

struct Side {
    nic: Nic,
    tag: ProtectionTag,
    region: MemoryRegion,
    vi: Vi,
}

fn side(network: &Network, number: u16, reliability: Reliability) -> Side {
    let nic = Nic::open(network.nic(number));
    let tag = nic.protection_tag();
    let region = nic.register(nic.memory(1 << 20).unwrap(), &tag, Access::BOTH).unwrap();
    let vi = nic.vi(ViAttributes { reliability, ..ViAttributes::default() }, &tag, None, None).unwrap();
    Side { nic, tag, region, vi }
}

/// Makes two VIs with a connection.
fn connected(text: &str, reliability: Reliability) -> (Network, Side, Side) {
    connected_by(network(5, &text.parse::<Conditions>().unwrap()), reliability)
}

fn connected_by(network: Network, reliability: Reliability) -> (Network, Side, Side) {
    let (mut here, mut there) = (side(&network, 0, reliability), side(&network, 1, reliability));
    let mut listener = there.nic.listen("door").unwrap();
    let address = listener.address();
    std::thread::scope(|scope| {
        let asks = scope.spawn(|| here.vi.request(&address, b"", SOON).unwrap());
        listener.wait(SOON).unwrap().accept(&mut there.vi, b"", SOON).unwrap();
        asks.join().unwrap();
    });
    (network, here, there)
}

fn fill(side: &Side, number: u8) {
    side.region.memory().write(0, &[number; 10_000]).unwrap();
}

fn has(side: &Side, number: u8) -> bool {
    let mut bytes = [0; 10_000];
    side.region.memory().read(20_000, &mut bytes).unwrap();
    bytes == [number; 10_000]
}

fn receive(side: &mut Side) {
    side.vi.receive.post(Descriptor::receive().with_segment(&side.region, 20_000, 10_000)).unwrap();
}

#[test]
fn messages_get_through_a_bad_network_in_order_and_whole() {
    let text = "loss=10%,dup=5%,reorder=5%,corrupt=5%,trunc=2%,busy=5%,delay=2ms,jitter=1ms";
    let (network, mut here, mut there) = connected(text, Reliability::ReliableReception);
    let mut counts = network.counts();
    // Chance decides how many messages it takes until each kind of fault has occurred.
    for number in 0..=u8::MAX {
        fill(&here, number);
        receive(&mut there);
        let data = u32::from(number);
        here.vi.send.post(Descriptor::send().with_segment(&here.region, 0, 10_000).with_immediate(data)).unwrap();
        let got = there.vi.receive.wait(SOON).unwrap();
        assert_eq!((got.status(), got.length(), got.immediate()), (Status::Done, 10_000, Some(data)));
        assert!(has(&there, number), "message {number} is not what was sent");
        assert_eq!(here.vi.send.wait(SOON).unwrap().status(), Status::Done);
        counts = network.counts();
        let rare = counts.lost.min(counts.corrupted).min(counts.duplicated).min(counts.refused);
        if number >= 50 && rare > 10 {
            break;
        }
    }
    assert!(counts.lost > 10 && counts.corrupted > 5 && counts.duplicated > 5 && counts.refused > 5, "{counts:?}");
}

#[test]
fn rdma_reads_and_writes_work_over_the_simulated_network() {
    let (_network, mut here, there) = connected("loss=5%,delay=1ms", Reliability::ReliableDelivery);
    fill(&here, 9);
    let place = |offset| RemoteAddress { handle: there.region.handle(), offset };
    here.vi.send.post(Descriptor::rdma_write(place(20_000)).with_segment(&here.region, 0, 10_000)).unwrap();
    here.vi.send.post(Descriptor::rdma_read(place(20_000)).with_segment(&here.region, 20_000, 10_000)).unwrap();
    for _ in 0..2 {
        assert_eq!(here.vi.send.wait(SOON).unwrap().status(), Status::Done);
    }
    assert!(has(&there, 9) && has(&here, 9));
}

#[test]
fn killed_simulated_peers_are_detected_and_can_be_reconnected() {
    const SILENCE: Duration = Duration::from_secs(60);
    let settings = Settings { silence: SILENCE, ..Settings::default() };
    let network = Network::with(5, &"delay=1ms".parse::<Conditions>().unwrap(), settings);
    let (network, mut here, there) = connected_by(network, Reliability::ReliableDelivery);
    network.kill(1);
    let (began, virtually) = (Instant::now(), network.now());
    receive(&mut here);
    let got = here.vi.receive.wait(SOON).unwrap();
    assert_eq!((got.status(), here.vi.state()), (Status::Flushed, State::Broken(Ended::Silent)));
    let (took, virtually) = (began.elapsed(), network.now() - virtually);
    assert!(virtually > SILENCE / 2 && took < virtually, "{virtually:?} of silence have cost {took:?}");
    here.vi.disconnect();
    let mut listener = there.nic.listen("again").unwrap();
    let error = here.vi.request("1/again", b"", Deadline::Within(Duration::from_millis(50))).unwrap_err();
    assert!(matches!(error, Error::TimedOut), "{error}");
    network.restart(1);
    let mut fresh = there.nic.vi(ViAttributes::default(), &there.tag, None, None).unwrap();
    std::thread::scope(|scope| {
        let asks = scope.spawn(|| here.vi.request("1/again", b"", SOON));
        listener.wait(SOON).unwrap().accept(&mut fresh, b"", SOON).unwrap();
        asks.join().unwrap().unwrap();
    });
    assert_eq!((here.vi.state(), fresh.state()), (State::Connected, State::Connected));
}

#[test]
fn cuts_mended_before_the_silence_limit_break_no_connection() {
    let (network, mut here, mut there) = connected("delay=1ms", Reliability::ReliableDelivery);
    network.set_cut(0, 1, true);
    fill(&here, 3);
    receive(&mut there);
    here.vi.send.post(Descriptor::send().with_segment(&here.region, 0, 10_000)).unwrap();
    let until = network.now() + Duration::from_millis(500);
    while network.now() < until {
        assert!(here.vi.send.done().is_none() && there.vi.receive.done().is_none());
    }
    network.set_cut(1, 0, false);
    assert_eq!(there.vi.receive.wait(SOON).unwrap().status(), Status::Done);
    assert!(has(&there, 3));
}

#[test]
fn connection_rejections_arrive_with_their_reason_over_a_bad_network() {
    let network = network(5, &"loss=40%,delay=1ms".parse::<Conditions>().unwrap());
    let (mut here, there) = (side(&network, 0, Reliability::default()), side(&network, 1, Reliability::default()));
    let mut listener = there.nic.listen("door").unwrap();
    for round in 0..20 {
        std::thread::scope(|scope| {
            let asks = scope.spawn(|| here.vi.request("1/door", b"let me in", SOON).unwrap_err());
            let request = listener.wait(SOON).unwrap();
            assert_eq!((request.private(), request.peer().as_str()), (&b"let me in"[..], "nic 0"));
            if round % 2 == 0 {
                request.reject("no, not today")
            } else {
                drop(request)
            }
            let error = asks.join().unwrap();
            let why = ["no, not today", "the request was dropped"][round % 2];
            assert!(matches!(&error, Error::Refused { why: said } if said == why), "{error}");
        });
    }
}

#[test]
fn simulated_addresses_are_checked() {
    let network = network(1, &Conditions::default());
    let (mut here, there) = (side(&network, 0, Reliability::default()), side(&network, 1, Reliability::default()));
    let listener = there.nic.listen("door").unwrap();
    assert_eq!(listener.address(), "1/door");
    assert!(matches!(there.nic.listen("door"), Err(Error::NameInUse { .. })));
    assert!(matches!(there.nic.listen(""), Err(Error::BadName { .. })));
    for (address, is_bad) in
        [("door", true), ("x/door", true), ("70000/door", true), ("0/door", false), ("1/gate", false)]
    {
        let error = here.vi.request(address, b"", SOON).unwrap_err();
        assert_eq!(matches!(error, Error::BadAddress { .. }), is_bad, "{address}: {error}");
        assert_eq!(matches!(error, Error::NotFound { .. }), !is_bad, "{address}: {error}");
    }
    drop(listener);
    assert!(matches!(here.vi.request("1/door", b"", SOON), Err(Error::NotFound { .. })));
}

#[test]
fn one_completion_queue_serves_many_connections() {
    let network = network(1, &"loss=5%,delay=1ms".parse::<Conditions>().unwrap());
    let (here, there) = (side(&network, 0, Reliability::default()), side(&network, 1, Reliability::default()));
    let mut queue: CompletionQueue = there.nic.completion_queue(100);
    let mut listener = there.nic.listen("door").unwrap();
    let mut pairs = Vec::new();
    for _ in 0..8 {
        let mut asks = here.nic.vi(ViAttributes::default(), &here.tag, None, None).unwrap();
        let mut answers = there.nic.vi(ViAttributes::default(), &there.tag, None, Some(&queue)).unwrap();
        answers.receive.post(Descriptor::receive().with_segment(&there.region, 0, 100)).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| asks.request("1/door", b"", SOON).unwrap());
            listener.wait(SOON).unwrap().accept(&mut answers, b"", SOON).unwrap();
        });
        pairs.push((asks, answers));
    }
    for (asks, _) in &mut pairs {
        asks.send.post(Descriptor::send().with_segment(&here.region, 0, 100)).unwrap();
    }
    let mut seen: Vec<_> = (0..8).map(|_| queue.wait(SOON).unwrap().vi).collect();
    seen.sort_by_key(|vi| vi.0);
    assert_eq!(seen, pairs.iter().map(|(_, answers)| answers.id()).collect::<Vec<_>>());
}

#[test]
fn captures_show_the_handshake_and_virtual_times() {
    let folder = ground::Folder::new("via-sim");
    let path = folder.join("sim.pcap");
    let network = network(1, &"delay=1s".parse::<Conditions>().unwrap());
    let capture = Capture::create(&path).unwrap();
    network.capture(capture.clone());
    let (mut here, there) = (side(&network, 0, Reliability::default()), side(&network, 1, Reliability::default()));
    let mut listener = there.nic.listen("door").unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| here.vi.request("1/door", b"", SOON).unwrap_err());
        listener.wait(SOON).unwrap().reject("no");
    });
    assert!(capture.finish().unwrap() >= 2);
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes[24..32], [0; 8], "the first at the start of time");
    assert!(bytes.windows(6).any(|window| window == b"1/door"));
}
