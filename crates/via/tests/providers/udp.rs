//! VIs over UDP on the loopback interface, through the public interface alone.

mod moving;

use ground::SilentPort;
use obvia_via::provider::udp;
use obvia_via::{
    Access, Completion, Deadline, Descriptor, Ended, Error, MemoryRegion, Nic, PostFault, ProtectionTag, Queue,
    Reliability, RemoteAddress, State, Status, Vi, ViAttributes, Waiting,
};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SOON: Deadline = Deadline::Within(ground::LATEST);

/// A NIC and a protection tag.
struct Side {
    nic: Nic,
    tag: ProtectionTag,
}

impl Side {
    fn new(options: &udp::Options) -> Self {
        let nic = udp::open(options).unwrap();
        let tag = nic.protection_tag();
        Self { nic, tag }
    }

    fn vi(&self, reliability: Reliability, waiting: Waiting) -> Vi {
        self.nic.vi(ViAttributes { reliability, waiting, max_transfer: 0 }, &self.tag, None, None).unwrap()
    }

    fn region(&self, length: usize, access: Access) -> MemoryRegion {
        self.nic.register(self.nic.memory(length).unwrap(), &self.tag, access).unwrap()
    }
}

/// Makes two connected VIs.
fn pair_of(reliability: Reliability, waiting: Waiting, options: &udp::Options) -> [(Side, Vi); 2] {
    pair_at("127.0.0.1:0", reliability, waiting, options)
}

fn pair_at(address: &str, reliability: Reliability, waiting: Waiting, options: &udp::Options) -> [(Side, Vi); 2] {
    let (one, other) = (Side::new(options), Side::new(options));
    let mut listener = one.nic.listen(address).unwrap();
    let there = listener.address().replace("0.0.0.0", "127.0.0.2");
    let (mut first, mut second) = (one.vi(reliability, waiting), other.vi(reliability, waiting));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let request = listener.wait(SOON).unwrap();
            assert_eq!((request.private(), request.reliability()), (&b"may I?"[..], reliability));
            request.accept(&mut first, b"you may", SOON).unwrap();
        });
        assert_eq!(second.request(&there, b"may I?", SOON).unwrap(), b"you may");
    });
    assert_eq!((first.state(), second.state()), (State::Connected, State::Connected));
    [(one, first), (other, second)]
}

fn pair() -> [(Side, Vi); 2] {
    pair_of(Reliability::ReliableDelivery, Waiting::Adaptive, &udp::Options::default())
}

fn bytes(region: &MemoryRegion) -> Vec<u8> {
    let mut bytes = vec![0; region.memory().len()];
    region.memory().read(0, &mut bytes).unwrap();
    bytes
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn filled(side: &Side, bytes: &[u8]) -> MemoryRegion {
    let region = side.region(bytes.len(), Access::BOTH);
    region.memory().write(0, bytes).unwrap();
    region
}

fn ping_pong(waiting: Waiting, rounds: u32) {
    let [(one, mut server), (other, mut client)] =
        pair_of(Reliability::ReliableDelivery, waiting, &udp::Options::default());
    let region = one.region(128, Access::LOCAL);
    // The receive is posted before the connection is requested, because the NIC may take messages
    // before the server's thread has begun.
    server.receive.post(Descriptor::receive().with_segment(&region, 0, 64)).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for _ in 0..rounds {
                let received = server.receive.wait(SOON).unwrap();
                assert_eq!((received.status(), received.length()), (Status::Done, 4));
                server.receive.post(received).unwrap();
                let mut word = [0; 4];
                region.memory().read(0, &mut word).unwrap();
                region.memory().write(64, &(u32::from_le_bytes(word) + 1).to_le_bytes()).unwrap();
                server.send.post(Descriptor::send().with_segment(&region, 64, 4)).unwrap();
                assert_eq!(server.send.wait(SOON).unwrap().status(), Status::Done);
            }
        });
        let region = other.region(128, Access::LOCAL);
        for round in 0..rounds {
            client.receive.post(Descriptor::receive().with_segment(&region, 0, 64)).unwrap();
            region.memory().write(64, &(7 * round).to_le_bytes()).unwrap();
            client.send.post(Descriptor::send().with_segment(&region, 64, 4)).unwrap();
            assert_eq!(client.receive.wait(SOON).unwrap().status(), Status::Done);
            let mut word = [0; 4];
            region.memory().read(0, &mut word).unwrap();
            assert_eq!(u32::from_le_bytes(word), 7 * round + 1);
            assert_eq!(client.send.wait(SOON).unwrap().status(), Status::Done);
        }
    });
}

#[test]
fn polling_udp_vis_exchange_messages() {
    ping_pong(Waiting::Poll, 300);
}

#[test]
fn blocking_udp_vis_exchange_messages() {
    ping_pong(Waiting::Block, 1000);
}

#[test]
fn adaptive_udp_vis_exchange_messages() {
    ping_pong(Waiting::Adaptive, 1000);
}

#[test]
fn a_message_of_a_mebibyte_arrives_whole_at_every_level() {
    for reliability in [Reliability::Unreliable, Reliability::ReliableDelivery, Reliability::ReliableReception] {
        let [(one, mut server), (other, mut client)] =
            pair_of(reliability, Waiting::Adaptive, &udp::Options::default());
        let (source, target) = (filled(&other, &pattern(1 << 20)), one.region(1 << 20, Access::LOCAL));
        server.receive.post(Descriptor::receive().with_segment(&target, 0, 1 << 20)).unwrap();
        // Unreliable delivery may lose the message, which the test then sends again.
        let mut attempts = if reliability.is_reliable() { 1 } else { 20 };
        let received = loop {
            let send = Descriptor::send().with_segment(&source, 0, 1 << 19).with_segment(&source, 1 << 19, 1 << 19);
            client.send.post(send).unwrap();
            assert_eq!(client.send.wait(SOON).unwrap().status(), Status::Done, "{reliability}");
            attempts -= 1;
            let timeout = if attempts > 0 { Deadline::Within(Duration::from_millis(300)) } else { SOON };
            match server.receive.wait(timeout) {
                Err(Error::TimedOut) if attempts > 0 => {}
                received => break received.unwrap(),
            }
        };
        assert_eq!((received.status(), received.length()), (Status::Done, 1 << 20), "{reliability}");
        assert!(bytes(&target) == pattern(1 << 20));
    }
}

#[test]
fn rdma_over_udp_needs_no_work_of_the_owner() {
    let [(one, mut server), (other, mut client)] = pair();
    let target = one.region(1 << 20, Access::BOTH);
    let (source, back) = (filled(&other, &pattern(1 << 20)), other.region(1 << 20, Access::LOCAL));
    let there = RemoteAddress { handle: target.handle(), offset: 0 };
    client.send.post(Descriptor::rdma_write(there).with_segment(&source, 0, 1 << 20)).unwrap();
    client.send.post(Descriptor::rdma_read(there).with_segment(&back, 0, 1 << 20)).unwrap();
    for _ in 0..2 {
        let done = client.send.wait(SOON).unwrap();
        assert_eq!((done.status(), done.length()), (Status::Done, 1 << 20));
    }
    assert!(bytes(&target) == pattern(1 << 20) && bytes(&back) == pattern(1 << 20));
    assert!(server.receive.done().is_none());
    server.receive.post(Descriptor::receive()).unwrap();
    client.send.post(Descriptor::rdma_write(there).with_immediate(0xabcd)).unwrap();
    let told = server.receive.wait(SOON).unwrap();
    assert_eq!((told.status(), told.immediate(), told.length()), (Status::Done, Some(0xabcd), 0));
}

#[test]
fn a_refused_udp_rdma_write_changes_no_memory_and_breaks_both_ends() {
    let [(one, mut server), (other, mut client)] = pair();
    let target = one.region(64, Access::READ);
    let source = filled(&other, &[0xff; 64]);
    let there = RemoteAddress { handle: target.handle(), offset: 0 };
    server.receive.post(Descriptor::receive()).unwrap();
    for _ in 0..2 {
        client.send.post(Descriptor::rdma_write(there).with_segment(&source, 0, 64)).unwrap();
    }
    assert_eq!(client.send.wait(SOON).unwrap().status(), Status::RemoteProtection);
    assert_eq!(client.send.wait(SOON).unwrap().status(), Status::Flushed);
    assert_eq!(server.receive.wait(SOON).unwrap().status(), Status::Flushed);
    let broken = State::Broken(Ended::Protection);
    assert_eq!((server.state(), client.state()), (broken, broken));
    assert_eq!(bytes(&target), [0; 64]);
}

#[test]
fn udp_sends_without_a_receive_break_only_reliable_ends() {
    let [(_one, server), (other, mut client)] = pair();
    let source = filled(&other, b"hello");
    client.send.post(Descriptor::send().with_segment(&source, 0, 5)).unwrap();
    assert_eq!(client.send.wait(SOON).unwrap().status(), Status::ReceiverNotReady);
    let broken = State::Broken(Ended::ReceiverNotReady);
    assert_eq!((server.state(), client.state()), (broken, broken));

    let [(one, mut server), (other, mut client)] =
        pair_of(Reliability::Unreliable, Waiting::Adaptive, &udp::Options::default());
    let (source, target) = (filled(&other, b"hello"), one.region(5, Access::LOCAL));
    client.send.post(Descriptor::send().with_segment(&source, 0, 5)).unwrap();
    assert_eq!(client.send.wait(SOON).unwrap().status(), Status::Done);
    // No receive is posted for the first message, so the server drops it now at the latest.
    assert_eq!(server.state(), State::Connected);
    server.receive.post(Descriptor::receive().with_segment(&target, 0, 5)).unwrap();
    client.send.post(Descriptor::send().with_segment(&source, 0, 5).with_immediate(2)).unwrap();
    let received = server.receive.wait(SOON).unwrap();
    assert_eq!((received.status(), received.immediate()), (Status::Done, Some(2)));
    let read = Descriptor::rdma_read(RemoteAddress { handle: source.handle(), offset: 0 });
    assert_eq!(client.send.post(read).unwrap_err().fault, PostFault::Unsupported);
}

#[test]
fn rejected_udp_clients_learn_the_reason_and_can_retry() {
    let (one, other) = (Side::new(&udp::Options::default()), Side::new(&udp::Options::default()));
    let mut listener = one.nic.listen("127.0.0.1:0").unwrap();
    let address = listener.address();
    let mut client = other.vi(Reliability::ReliableDelivery, Waiting::Block);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            listener.wait(SOON).unwrap().reject("not at this hour");
            let mut unlike = one.vi(Reliability::Unreliable, Waiting::Block);
            let refused = listener.wait(SOON).unwrap().accept(&mut unlike, b"", SOON);
            assert!(matches!(refused, Err(Error::Refused { .. })), "{refused:?}");
            drop(listener.wait(SOON).unwrap());
            let mut server = one.vi(Reliability::ReliableDelivery, Waiting::Block);
            listener.wait(SOON).unwrap().accept(&mut server, b"", SOON).unwrap();
            ground::until("the end is noticed", || server.state() != State::Connected);
            assert_eq!(server.state(), State::Broken(Ended::ByPeer));
            server.disconnect();
            listener.wait(SOON).unwrap().accept(&mut server, b"", SOON).unwrap();
        });
        let refused = |result| match result {
            Err(Error::Refused { why }) => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(refused(client.request(&address, b"", SOON)), "not at this hour");
        let why = refused(client.request(&address, b"", SOON));
        assert_eq!(why, "the reliability levels of the two VIs differ: unreliable delivery and reliable delivery");
        assert_eq!(refused(client.request(&address, b"", SOON)), "the request was dropped");
        client.request(&address, b"", SOON).unwrap();
        client.disconnect();
        assert_eq!(client.state(), State::Idle);
        client.request(&address, b"", SOON).unwrap();
    });
}

#[test]
fn missing_and_silent_udp_listeners_are_distinguished() {
    let side = Side::new(&udp::Options::default());
    let mut vi = side.vi(Reliability::ReliableDelivery, Waiting::Block);
    let silent = SilentPort::new();
    let closed = silent.address();
    let result = vi.request(&closed, b"", SOON);
    assert!(matches!(&result, Err(Error::NotFound { name }) if *name == closed), "{result:?}");
    let mute = side.nic.listen("127.0.0.1:0").unwrap();
    let result = vi.request(&mute.address(), b"", Deadline::Within(Duration::from_millis(150)));
    assert!(matches!(result, Err(Error::TimedOut)), "{result:?}");
    assert!(matches!(side.nic.listen(&mute.address()), Err(Error::NameInUse { .. })));
    for text in ["", "127.0.0.1", "nonsense:x", "127.0.0.1:70000"] {
        assert!(matches!(vi.request(text, b"", SOON), Err(Error::BadAddress { .. })), "{text:?}");
    }
}

#[test]
fn udp_vis_work_over_any_local_address() {
    for address in ["0.0.0.0:0", "[::1]:0"] {
        if address.starts_with('[') && std::net::UdpSocket::bind(address).is_err() {
            continue;
        }
        let [(one, mut server), (other, mut client)] =
            pair_at(address, Reliability::ReliableReception, Waiting::Block, &udp::Options::default());
        let (source, target) = (filled(&other, b"hello"), one.region(5, Access::LOCAL));
        server.receive.post(Descriptor::receive().with_segment(&target, 0, 5)).unwrap();
        client.send.post(Descriptor::send().with_segment(&source, 0, 5)).unwrap();
        assert_eq!(client.send.wait(SOON).unwrap().status(), Status::Done);
        assert_eq!(bytes(&target), b"hello");
    }
}

#[test]
fn many_clients_share_a_listener_and_a_completion_queue() {
    const CLIENTS: usize = 16;
    let (one, other) = (Side::new(&udp::Options::default()), Side::new(&udp::Options::default()));
    let mut listener = one.nic.listen("127.0.0.1:0").unwrap();
    let address = listener.address();
    let mut queue = one.nic.completion_queue(1024);
    let target = one.region(CLIENTS * 8, Access::LOCAL);
    let mut servers: Vec<Vi> =
        (0..CLIENTS).map(|_| one.nic.vi(ViAttributes::default(), &one.tag, None, Some(&queue)).unwrap()).collect();
    let mut clients: Vec<Vi> =
        (0..CLIENTS).map(|_| other.vi(Reliability::ReliableDelivery, Waiting::Adaptive)).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for (at, server) in servers.iter_mut().enumerate() {
                server.receive.post(Descriptor::receive().with_segment(&target, at as u64 * 8, 8)).unwrap();
                listener.wait(SOON).unwrap().accept(server, b"", SOON).unwrap();
            }
        });
        for client in &mut clients {
            client.request(&address, b"", SOON).unwrap();
        }
    });
    for (at, client) in clients.iter_mut().enumerate() {
        let source = filled(&other, &(at as u64).to_le_bytes());
        client.send.post(Descriptor::send().with_segment(&source, 0, 8)).unwrap();
        assert_eq!(client.send.wait(SOON).unwrap().status(), Status::Done);
    }
    let mut heard = Vec::new();
    for _ in 0..CLIENTS {
        let Completion { vi, queue } = queue.wait(SOON).unwrap();
        assert_eq!(queue, Queue::Receive);
        let at = servers.iter().position(|server| server.id() == vi).unwrap();
        assert_eq!(servers[at].receive.done().unwrap().status(), Status::Done);
        heard.push(at);
    }
    heard.sort_unstable();
    assert_eq!(heard, (0..CLIENTS).collect::<Vec<_>>());
}

#[test]
#[ignore = "the part of the other process, not a test of its own"]
fn role_of_the_other_process() {
    let side = Side::new(&udp::Options::default());
    let mut listener = side.nic.listen("127.0.0.1:0").unwrap();
    println!("listening at {}", listener.address());
    let mut vi = side.vi(Reliability::ReliableDelivery, Waiting::Block);
    listener.wait(SOON).unwrap().accept(&mut vi, b"", SOON).unwrap();
    println!("connected");
    let _ = vi.receive.wait(SOON);
}

struct Peer {
    child: Child,
    lines: Box<dyn Iterator<Item = String>>,
}

impl Peer {
    fn start() -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["udp::role_of_the_other_process", "--exact", "--nocapture", "--ignored"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        Self { child, lines: Box::new(lines) }
    }

    /// Returns the text after `what` in the next line that contains `what`.
    fn says(&mut self, what: &str) -> String {
        self.lines.find_map(|line| line.split_once(what).map(|(_, rest)| rest.to_owned())).unwrap()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The time after which a silent peer counts as gone. The time is long, because a busy machine may
/// stop the peer for some seconds.
const SILENCE: Duration = Duration::from_secs(6);

#[test]
fn killed_udp_peers_are_detected_and_the_vi_can_be_reconnected() {
    let side = Side::new(&udp::Options { silence: SILENCE, ..udp::Options::default() });
    let mut vi = side.vi(Reliability::ReliableDelivery, Waiting::Block);
    for round in 0..2 {
        let mut peer = Peer::start();
        let address = peer.says("listening at ");
        vi.request(&address, b"", SOON).unwrap();
        peer.says("connected");
        vi.receive.post(Descriptor::receive()).unwrap();
        if round == 0 {
            // No message is under way, and none is sent during the wait.
            let waited = vi.receive.wait(Deadline::Within(SILENCE + SILENCE / 4));
            assert!(matches!(waited, Err(Error::TimedOut)), "{waited:?}");
        }
        peer.child.kill().unwrap();
        let began = Instant::now();
        assert_eq!(vi.receive.wait(SOON).unwrap().status(), Status::Flushed);
        println!("noticed after {:?}, of {SILENCE:?}", began.elapsed());
        assert_eq!(vi.state(), State::Broken(Ended::Silent));
        vi.disconnect();
    }
}

/// Options for a deliberately bad network.
fn bad(text: &str) -> udp::Options {
    udp::Options { fault: Some(text.parse().unwrap()), ..udp::Options::default() }
}

#[test]
fn udp_messages_arrive_intact_over_a_bad_network() {
    let options = bad("loss=3%,dup=2%,reorder=3%,corrupt=2%,trunc=1%,delay=100us,seed=7");
    let [(one, mut server), (other, mut client)] = pair_of(Reliability::ReliableReception, Waiting::Adaptive, &options);
    let (source, target) = (filled(&other, &pattern(40_000)), one.region(20_000, Access::LOCAL));
    for number in 0..100_u32 {
        server.receive.post(Descriptor::receive().with_segment(&target, 0, 20_000)).unwrap();
        let offset = u64::from(number) * 200;
        client.send.post(Descriptor::send().with_segment(&source, offset, 20_000).with_immediate(number)).unwrap();
        let received = server.receive.wait(SOON).unwrap();
        assert_eq!((received.status(), received.immediate()), (Status::Done, Some(number)));
        assert!(
            bytes(&target) == pattern(40_000)[offset as usize..][..20_000],
            "message {number} is not what was sent"
        );
        assert_eq!(client.send.wait(SOON).unwrap().status(), Status::Done);
    }
}

#[test]
fn connecting_over_a_dead_network_times_out() {
    let (one, other) = (Side::new(&bad("loss=100%")), Side::new(&bad("loss=100%")));
    let listener = one.nic.listen("127.0.0.1:0").unwrap();
    let mut vi = other.vi(Reliability::ReliableDelivery, Waiting::Adaptive);
    let error = vi.request(&listener.address(), b"", Deadline::Within(Duration::from_millis(200))).unwrap_err();
    assert!(matches!(error, Error::TimedOut), "{error}");
}
