//! Virtual interfaces over libfabric, on its providers `tcp` and `shm`.

use ground::Folder;
use obvia_via::provider::fabric::{self, Options};
use obvia_via::{
    Access, Deadline, Descriptor, Ended, Error, MemoryHandle, MemoryRegion, Nic, ProtectionTag, Reliability,
    RemoteAddress, State, Status, Vi, ViAttributes, Waiting,
};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

const SOON: Deadline = Deadline::Within(ground::LATEST);
const ROOM: usize = 2 << 20;

/// Returns the directory for the names of listeners, which the tests share. The directory is
/// removed with its last user.
fn folder() -> Arc<Folder> {
    static SHARED: Mutex<Weak<Folder>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap();
    shared.upgrade().unwrap_or_else(|| {
        let folder = Arc::new(Folder::new("fabric"));
        *shared = Arc::downgrade(&folder);
        folder
    })
}

/// The environment variable by which a started process learns the directory.
const DIRECTORY: &str = "OBVIA_FABRIC_DIRECTORY";

/// A provider of libfabric.
#[derive(Clone, Copy, Debug)]
enum Wire {
    Tcp,
    Shm,
}

impl Wire {
    fn open(self, directory: &Path) -> Nic {
        let mut options = match self {
            Self::Tcp => Options::new("tcp"),
            Self::Shm => Options::new("shm"),
        };
        options.directory = Some(directory.to_owned());
        // The time after which a silent peer counts as gone is long, because a busy machine may
        // stop the peer for some seconds.
        options.silence = Duration::from_secs(8);
        fabric::open(&options).unwrap()
    }

    fn address(self) -> String {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        match self {
            Self::Tcp => "127.0.0.1:0".to_owned(),
            Self::Shm => format!("t{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)),
        }
    }
}

/// One side: a NIC, a tag, a VI and a region that peers may reach.
#[derive(Debug)]
struct Side {
    vi: Vi,
    region: MemoryRegion,
    tag: ProtectionTag,
    nic: Nic,
    folder: Arc<Folder>,
}

impl Side {
    fn new(wire: Wire, attributes: ViAttributes) -> Self {
        let folder = folder();
        let directory = std::env::var_os(DIRECTORY).map_or_else(|| folder.path().to_owned(), PathBuf::from);
        let nic = wire.open(&directory);
        let tag = nic.protection_tag();
        let region = nic.register(nic.memory(ROOM).unwrap(), &tag, Access::BOTH).unwrap();
        let vi = nic.vi(attributes, &tag, None, None).unwrap();
        Self { vi, region, tag, nic, folder }
    }

    fn send(&mut self, descriptor: Box<Descriptor>) -> Box<Descriptor> {
        self.vi.send.post(descriptor).unwrap();
        self.vi.send.wait(SOON).unwrap()
    }

    fn bytes(&self, offset: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.region.memory().read(offset, &mut bytes).unwrap();
        bytes
    }

    fn at(&self, offset: u64) -> RemoteAddress {
        RemoteAddress { handle: self.region.handle(), offset }
    }

    /// Waits for the end of the connection.
    fn end(&self) -> State {
        ground::poll("the end is noticed", || Some(self.vi.state()).filter(|state| matches!(state, State::Broken(_))))
    }
}

fn pair_with(wire: Wire, attributes: ViAttributes) -> (Side, Side) {
    let (mut server, mut client) = (Side::new(wire, attributes.clone()), Side::new(wire, attributes));
    let mut listener = server.nic.listen(&wire.address()).unwrap();
    let address = listener.address();
    let told = std::thread::scope(|scope| {
        let asking = scope.spawn(|| client.vi.request(&address, b"hello", SOON).unwrap());
        let request = listener.wait(SOON).unwrap();
        assert_eq!(request.private(), b"hello");
        assert!(!request.peer().is_empty());
        request.accept(&mut server.vi, b"welcome", SOON).unwrap();
        asking.join().unwrap()
    });
    assert_eq!(told, b"welcome");
    assert_eq!((server.vi.state(), client.vi.state()), (State::Connected, State::Connected));
    (server, client)
}

fn pair(wire: Wire) -> (Side, Side) {
    pair_with(wire, ViAttributes { waiting: Waiting::Block, ..ViAttributes::default() })
}

fn pattern(length: usize, seed: u32) -> Vec<u8> {
    let mut word = seed.wrapping_mul(2_654_435_761) | 1;
    (0..length)
        .map(|_| {
            word ^= word << 13;
            word ^= word >> 17;
            word ^= word << 5;
            word as u8
        })
        .collect()
}

/// Runs each test over both providers.
macro_rules! over_both {
    ($($name:ident)*) => {
        mod tcp { $(#[test] fn $name() { super::$name(super::Wire::Tcp); })* }
        mod shm { $(#[test] fn $name() { super::$name(super::Wire::Shm); })* }
    };
}

over_both! {
    private_data_of_full_length_arrives
    refused_requests_get_the_reason
    requests_without_a_listener_are_not_found
    messages_are_exchanged_by_polling
    messages_are_exchanged_by_blocking
    a_mebibyte_arrives_intact
    segments_are_gathered_and_scattered
    immediate_data_and_empty_messages_arrive
    many_messages_arrive_in_order
    rdma_writes_complete_without_a_receive
    rdma_writes_with_immediate_data_consume_a_receive
    rdma_writes_are_visible_before_later_messages
    rdma_reads_return_the_remote_bytes
    fabric_refuses_reliable_reception
    messages_without_a_receive_break_the_connection
    rdma_with_wrong_handles_is_refused
    rdma_to_deregistered_regions_is_refused
    rdma_out_of_region_bounds_is_refused
    rdma_without_the_right_is_refused
    rdma_to_regions_of_another_tag_is_refused
    messages_longer_than_their_receive_break_the_connection
    a_disconnect_is_detected
    a_killed_peer_is_detected
    a_vi_can_be_connected_again
    many_connections_leave_no_files_behind
}

fn private_data_of_full_length_arrives(wire: Wire) {
    let (mut server, mut client) = (Side::new(wire, ViAttributes::default()), Side::new(wire, ViAttributes::default()));
    let mut listener = server.nic.listen(&wire.address()).unwrap();
    let address = listener.address();
    let longest = pattern(obvia_via::spi::Offer::PRIVATE_MAX, 3);
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| client.vi.request(&address, &longest, SOON).unwrap());
        let request = listener.wait(SOON).unwrap();
        assert_eq!(request.private(), longest);
        request.accept(&mut server.vi, &longest, SOON).unwrap();
        assert_eq!(asking.join().unwrap(), longest);
    });
}

fn refused_requests_get_the_reason(wire: Wire) {
    let (mut server, mut client) = (Side::new(wire, ViAttributes::default()), Side::new(wire, ViAttributes::default()));
    let mut listener = server.nic.listen(&wire.address()).unwrap();
    let address = listener.address();
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let refused = client.vi.request(&address, &[], SOON);
            let dropped = client.vi.request(&address, &[], SOON);
            let connected = client.vi.request(&address, &[], SOON);
            (refused, dropped, connected)
        });
        listener.wait(SOON).unwrap().reject("closed on Sundays");
        drop(listener.wait(SOON).unwrap());
        listener.wait(SOON).unwrap().accept(&mut server.vi, &[], SOON).unwrap();
        let (refused, dropped, connected) = asking.join().unwrap();
        assert!(matches!(&refused, Err(Error::Refused { why }) if why == "closed on Sundays"), "{refused:?}");
        assert!(matches!(&dropped, Err(Error::Refused { .. })), "{dropped:?}");
        connected.unwrap();
    });
}

fn requests_without_a_listener_are_not_found(wire: Wire) {
    let mut client = Side::new(wire, ViAttributes::default());
    let address = match wire {
        Wire::Tcp => "127.0.0.1:1".to_owned(),
        Wire::Shm => wire.address(),
    };
    let error = client.vi.request(&address, &[], SOON).unwrap_err();
    assert!(matches!(error, Error::NotFound { .. }), "{error:?}");
}

/// The kernel connects clients to a listener even if the listener then closes without an answer.
#[test]
fn a_listener_that_closes_before_answering_is_not_found() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let mut client = Side::new(Wire::Tcp, ViAttributes::default());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (socket, _) = listener.accept().unwrap();
            // The bytes stay unread, so the kernel resets the connection when the socket is closed.
            assert_eq!(socket.peek(&mut [0]).unwrap(), 1);
        });
        let error = client.vi.request(&address, b"", SOON).unwrap_err();
        assert!(matches!(error, Error::NotFound { .. }), "{error:?}");
    });
}

/// The segments of a killed process have names with the id of that process, and this process may
/// have the same id.
#[test]
fn stale_fabric_segments_do_not_block_new_ones() {
    let own = format!("{}:", std::process::id());
    let (server, client) = pair(Wire::Shm);
    let mut copies = Vec::new();
    for file in std::fs::read_dir("/dev/shm").unwrap().flatten() {
        let name = file.file_name().into_string().unwrap();
        let Some((domain, number)) = name.strip_prefix(&own).and_then(|rest| rest.split_once(':')) else { continue };
        let Ok(number) = number.parse::<u32>() else { continue };
        for later in number + 1..number + 20 {
            let copy = format!("/dev/shm/{own}{domain}:{later}");
            if !std::path::Path::new(&copy).exists() && std::fs::copy(file.path(), &copy).is_ok() {
                copies.push(copy);
            }
        }
    }
    assert!(!copies.is_empty(), "libfabric names its segments otherwise by now");
    drop((server, client));
    let connected = std::panic::catch_unwind(|| drop(pair(Wire::Shm)));
    copies.iter().for_each(|copy| drop(std::fs::remove_file(copy)));
    assert!(connected.is_ok());
}

fn ping_pong(wire: Wire, waiting: Waiting, rounds: u32) {
    let (mut server, mut client) = pair_with(wire, ViAttributes { waiting, ..ViAttributes::default() });
    server.vi.receive.post(Descriptor::receive().with_segment(&server.region, 0, 64)).unwrap();
    std::thread::scope(|scope| {
        let server = &mut server;
        scope.spawn(move || {
            for round in 0..rounds {
                let got = server.vi.receive.wait(SOON).unwrap();
                assert_eq!((got.status(), got.length()), (Status::Done, 16));
                assert_eq!(server.bytes(0, 16), pattern(16, round));
                server.vi.receive.post(got).unwrap();
                let sent = server.send(Descriptor::send().with_segment(&server.region, 0, 16));
                assert_eq!(sent.status(), Status::Done);
            }
        });
        for round in 0..rounds {
            client.vi.receive.post(Descriptor::receive().with_segment(&client.region, 64, 64)).unwrap();
            client.region.memory().write(0, &pattern(16, round)).unwrap();
            client.vi.send.post(Descriptor::send().with_segment(&client.region, 0, 16)).unwrap();
            let got = client.vi.receive.wait(SOON).unwrap();
            assert_eq!((got.status(), got.length()), (Status::Done, 16));
            assert_eq!(client.bytes(64, 16), pattern(16, round));
            assert_eq!(client.vi.send.wait(SOON).unwrap().status(), Status::Done);
        }
    });
}

fn messages_are_exchanged_by_polling(wire: Wire) {
    ping_pong(wire, Waiting::Poll, 200);
}

fn messages_are_exchanged_by_blocking(wire: Wire) {
    ping_pong(wire, Waiting::Block, 200);
}

fn a_mebibyte_arrives_intact(wire: Wire) {
    let (mut server, mut client) = pair(wire);
    let length = 1 << 20;
    for seed in 1..4 {
        let bytes = pattern(length, seed);
        client.region.memory().write(0, &bytes).unwrap();
        server.vi.receive.post(Descriptor::receive().with_segment(&server.region, 77, length as u32)).unwrap();
        client.vi.send.post(Descriptor::send().with_segment(&client.region, 0, length as u32)).unwrap();
        let got = server.vi.receive.wait(SOON).unwrap();
        assert_eq!((got.status(), got.length()), (Status::Done, length as u32));
        assert_eq!(client.vi.send.wait(SOON).unwrap().status(), Status::Done);
        assert!(server.bytes(77, length) == bytes);
    }
}

fn segments_are_gathered_and_scattered(wire: Wire) {
    let (mut server, mut client) = pair(wire);
    let most = client.nic.attributes().max_segments;
    assert!(most >= 2);
    let bytes = pattern(4096, 9);
    client.region.memory().write(0, &bytes).unwrap();
    for count in [1, 2, most] {
        let (mut send, mut receive) = (Descriptor::send(), Descriptor::receive());
        let mut expected = Vec::new();
        for at in 0..count as u32 {
            // The second segment is empty.
            let length = if at == 1 { 0 } else { 100 + at };
            send = send.with_segment(&client.region, u64::from(at) * 500, length);
            expected.extend(&bytes[at as usize * 500..][..length as usize]);
        }
        for at in 0..count as u64 {
            receive = receive.with_segment(&server.region, 8192 + at * 1000, if at == 0 { 30 } else { 600 });
        }
        if count == 1 {
            receive.segments_mut()[0].length = 600;
        }
        server.vi.receive.post(receive).unwrap();
        assert_eq!(client.send(send).status(), Status::Done);
        let got = server.vi.receive.wait(SOON).unwrap();
        assert_eq!((got.status(), got.length() as usize), (Status::Done, expected.len()));
        let mut found = vec![0; expected.len()];
        got.gather(0, &mut found).unwrap();
        assert_eq!(found, expected, "{count} pieces");
    }
}

fn immediate_data_and_empty_messages_arrive(wire: Wire) {
    let (mut server, mut client) = pair(wire);
    for (length, immediate) in [(0, None), (0, Some(0)), (8, Some(0xffff_ffff)), (8, None), (0, Some(7))] {
        server.vi.receive.post(Descriptor::receive().with_segment(&server.region, 0, 64)).unwrap();
        let mut send = Descriptor::send().with_segment(&client.region, 0, length);
        send.set_immediate(immediate);
        assert_eq!(client.send(send).status(), Status::Done);
        let got = server.vi.receive.wait(SOON).unwrap();
        assert_eq!((got.status(), got.length(), got.immediate()), (Status::Done, length, immediate));
    }
}

fn many_messages_arrive_in_order(wire: Wire) {
    let (mut server, mut client) = pair(wire);
    let lengths = [0_u32, 1, 64, 5_000, 70_000, 3, 200_000];
    let total = 120_u32;
    let depth = server.nic.attributes().queue_depth as u32;
    assert!(depth >= total);
    // A message without a receive would break the connection.
    for number in 0..total {
        let receive = Descriptor::receive().with_segment(&server.region, u64::from(number % 8) * 200_000, 200_000);
        server.vi.receive.post(receive.with_context(u64::from(number))).unwrap();
    }
    std::thread::scope(|scope| {
        let server = &mut server;
        scope.spawn(move || {
            for number in 0..total {
                let got = server.vi.receive.wait(SOON).unwrap();
                assert_eq!((got.context, got.immediate()), (u64::from(number), Some(number)));
                assert_eq!(got.length(), lengths[number as usize % lengths.len()]);
            }
        });
        let (mut posted, mut done) = (0, 0);
        while done < total {
            while posted < total && posted - done < depth {
                let length = lengths[posted as usize % lengths.len()];
                let send = Descriptor::send().with_segment(&client.region, 0, length).with_immediate(posted);
                client.vi.send.post(send.with_context(u64::from(posted))).unwrap();
                posted += 1;
            }
            let sent = client.vi.send.wait(SOON).unwrap();
            assert_eq!((sent.status(), sent.context), (Status::Done, u64::from(done)));
            done += 1;
        }
    });
}

fn rdma_writes_complete_without_a_receive(wire: Wire) {
    let (mut server, mut client) = pair(wire);
    let bytes = pattern(300_000, 4);
    client.region.memory().write(0, &bytes).unwrap();
    server.vi.receive.post(Descriptor::receive()).unwrap();
    let write = Descriptor::rdma_write(server.at(1_000)).with_segment(&client.region, 0, 100).with_segment(
        &client.region,
        100,
        299_900,
    );
    let done = client.send(write);
    assert_eq!((done.status(), done.length()), (Status::Done, 300_000));
    // The data of a completed write are in the peer's memory.
    assert!(server.bytes(1_000, 300_000) == bytes);
    assert_eq!(server.vi.state(), State::Connected);
    assert!(server.vi.receive.done().is_none());
    assert_eq!(server.vi.receive.posted(), 1);
}

fn rdma_writes_with_immediate_data_consume_a_receive(wire: Wire) {
    let (mut server, mut client) = pair(wire);
    client.region.memory().write(0, b"abcdefgh").unwrap();
    for number in 0..3 {
        let receive = Descriptor::receive().with_segment(&server.region, 0, 16).with_context(number);
        server.vi.receive.post(receive).unwrap();
    }
    let write = Descriptor::rdma_write(server.at(500)).with_segment(&client.region, 0, 8).with_immediate(0xabcd_ef01);
    assert_eq!(client.send(write).status(), Status::Done);
    let got = server.vi.receive.wait(SOON).unwrap();
    assert_eq!((got.context, got.status(), got.immediate()), (0, Status::Done, Some(0xabcd_ef01)));
    assert_eq!((got.length(), server.bytes(500, 8)), (8, b"abcdefgh".to_vec()));
    // The write has consumed the first receive without touching its memory. The next message goes
    // to the second receive.
    assert_eq!(server.bytes(0, 16), [0; 16]);
    assert_eq!(client.send(Descriptor::send().with_segment(&client.region, 4, 4)).status(), Status::Done);
    let got = server.vi.receive.wait(SOON).unwrap();
    assert_eq!((got.context, got.length(), got.immediate()), (1, 4, None));
    assert_eq!(server.bytes(0, 4), b"efgh");
}

fn rdma_writes_are_visible_before_later_messages(wire: Wire) {
    let (mut server, mut client) = pair(wire);
    for seed in 1..40 {
        let length = if seed % 2 == 0 { 100_000 } else { 1_000 };
        let bytes = pattern(length, seed);
        client.region.memory().write(0, &bytes).unwrap();
        server.vi.receive.post(Descriptor::receive()).unwrap();
        client
            .vi
            .send
            .post(Descriptor::rdma_write(server.at(9)).with_segment(&client.region, 0, length as u32))
            .unwrap();
        client.vi.send.post(Descriptor::send()).unwrap();
        assert_eq!(server.vi.receive.wait(SOON).unwrap().status(), Status::Done);
        assert!(server.bytes(9, length) == bytes);
        assert_eq!(client.vi.send.wait(SOON).unwrap().status(), Status::Done);
        assert_eq!(client.vi.send.wait(SOON).unwrap().status(), Status::Done);
    }
}

fn rdma_reads_return_the_remote_bytes(wire: Wire) {
    let (server, mut client) = pair(wire);
    let bytes = pattern(400_000, 5);
    server.region.memory().write(12, &bytes).unwrap();
    let read = Descriptor::rdma_read(server.at(12)).with_segment(&client.region, 50, 399_000).with_segment(
        &client.region,
        500_000,
        1_000,
    );
    let done = client.send(read);
    assert_eq!((done.status(), done.length()), (Status::Done, 400_000));
    assert!([client.bytes(50, 399_000), client.bytes(500_000, 1_000)].concat() == bytes);
}

fn fabric_refuses_reliable_reception(wire: Wire) {
    let nic = wire.open(folder().path());
    let attributes = ViAttributes { reliability: Reliability::ReliableReception, ..ViAttributes::default() };
    let refused = nic.vi(attributes, &nic.protection_tag(), None, None);
    assert!(matches!(refused, Err(Error::Unsupported { .. })), "{refused:?}");
}

fn messages_without_a_receive_break_the_connection(wire: Wire) {
    for length in [0, 8, 300_000] {
        let (mut server, mut client) = pair(wire);
        // The first message has a receive, and the second has none.
        server.vi.receive.post(Descriptor::receive().with_segment(&server.region, 0, 300_000)).unwrap();
        client.vi.send.post(Descriptor::send().with_segment(&client.region, 0, length)).unwrap();
        assert_eq!(server.vi.receive.wait(SOON).unwrap().status(), Status::Done);
        client.vi.send.post(Descriptor::send().with_segment(&client.region, 0, length)).unwrap();
        for side in [&server, &client] {
            let state = side.end();
            assert_eq!(state, State::Broken(Ended::ReceiverNotReady), "{length} bytes");
        }
        server.vi.receive.post(Descriptor::receive().with_segment(&server.region, 0, 64)).unwrap();
        assert_eq!(server.vi.receive.wait(SOON).unwrap().status(), Status::Flushed);
    }
}

/// Asserts the outcome of an RDMA that the peer's memory does not allow.
fn is_refused(wire: Wire, server: &Side, client: &mut Side, rdma: Box<Descriptor>) {
    let before = server.bytes(0, ROOM);
    let done = client.send(rdma.with_segment(&client.region, 0, 64));
    // With tcp of libfabric 1.17, the target closes the connection without a reason, unless the
    // initiator itself finds the handle invalid. With shm, the initiator asks the peer.
    let may_be = match wire {
        Wire::Tcp => [Status::ConnectionLost, Status::RemoteProtection],
        Wire::Shm => [Status::RemoteProtection; 2],
    };
    assert!(may_be.contains(&done.status()), "{done:?}");
    let state = client.end();
    assert!(matches!(state, State::Broken(_)), "{state:?}");
    let state = server.end();
    assert!(matches!(state, State::Broken(_)), "{state:?}");
    assert!(server.bytes(0, ROOM) == before);
    assert_eq!(client.send(Descriptor::send()).status(), Status::Flushed);
}

fn both_ways(at: RemoteAddress) -> [Box<Descriptor>; 2] {
    [Descriptor::rdma_write(at), Descriptor::rdma_read(at)]
}

fn rdma_with_wrong_handles_is_refused(wire: Wire) {
    for (word, bit) in [(0, 0), (0, 63), (1, 40)] {
        for kind in 0..2 {
            let (server, mut client) = pair(wire);
            client.region.memory().write(0, &[0xee; 64]).unwrap();
            let MemoryHandle(mut words) = server.region.handle();
            words[word] ^= 1 << bit;
            let [write, read] = both_ways(RemoteAddress { handle: MemoryHandle(words), offset: 0 });
            is_refused(wire, &server, &mut client, if kind == 0 { write } else { read });
        }
    }
}

fn rdma_to_deregistered_regions_is_refused(wire: Wire) {
    for kind in 0..2 {
        let (server, mut client) = pair(wire);
        client.region.memory().write(0, &[0xee; 64]).unwrap();
        let other = server.nic.register(server.nic.memory(4096).unwrap(), &server.tag, Access::BOTH).unwrap();
        let at = RemoteAddress { handle: other.handle(), offset: 0 };
        let [write, _] = both_ways(at);
        assert_eq!(client.send(write.with_segment(&client.region, 0, 64)).status(), Status::Done);
        other.deregister().unwrap();
        let [write, read] = both_ways(at);
        is_refused(wire, &server, &mut client, if kind == 0 { write } else { read });
    }
}

fn rdma_out_of_region_bounds_is_refused(wire: Wire) {
    for offset in [ROOM as u64 - 63, ROOM as u64, u64::MAX - 10] {
        for kind in 0..2 {
            let (server, mut client) = pair(wire);
            client.region.memory().write(0, &[0xee; 64]).unwrap();
            let [write, read] = both_ways(server.at(offset));
            is_refused(wire, &server, &mut client, if kind == 0 { write } else { read });
        }
    }
}

fn rdma_without_the_right_is_refused(wire: Wire) {
    for (access, kind) in [(Access::READ, 0), (Access::WRITE, 1), (Access::LOCAL, 0), (Access::LOCAL, 1)] {
        let (server, mut client) = pair(wire);
        client.region.memory().write(0, &[0xee; 64]).unwrap();
        let other = server.nic.register(server.nic.memory(4096).unwrap(), &server.tag, access).unwrap();
        let [write, read] = both_ways(RemoteAddress { handle: other.handle(), offset: 0 });
        is_refused(wire, &server, &mut client, if kind == 0 { write } else { read });
        let mut bytes = [1; 64];
        other.memory().read(0, &mut bytes).unwrap();
        assert_eq!(bytes, [0; 64]);
    }
}

fn rdma_to_regions_of_another_tag_is_refused(wire: Wire) {
    for kind in 0..2 {
        let (server, mut client) = pair(wire);
        client.region.memory().write(0, &[0xee; 64]).unwrap();
        let tag = server.nic.protection_tag();
        let other = server.nic.register(server.nic.memory(4096).unwrap(), &tag, Access::BOTH).unwrap();
        let [write, read] = both_ways(RemoteAddress { handle: other.handle(), offset: 0 });
        is_refused(wire, &server, &mut client, if kind == 0 { write } else { read });
        let mut bytes = [1; 64];
        other.memory().read(0, &mut bytes).unwrap();
        assert_eq!(bytes, [0; 64]);
    }
}

fn messages_longer_than_their_receive_break_the_connection(wire: Wire) {
    for length in [65, 500_000] {
        let (mut server, mut client) = pair(wire);
        server.vi.receive.post(Descriptor::receive().with_segment(&server.region, 0, 64)).unwrap();
        server.vi.receive.post(Descriptor::receive().with_segment(&server.region, 0, 64)).unwrap();
        client.vi.send.post(Descriptor::send().with_segment(&client.region, 0, length)).unwrap();
        assert_eq!(server.vi.receive.wait(SOON).unwrap().status(), Status::TooLong);
        assert_eq!(server.vi.receive.wait(SOON).unwrap().status(), Status::Flushed);
        assert_eq!(server.vi.state(), State::Broken(Ended::TooLong));
        let state = client.end();
        assert_eq!(state, State::Broken(Ended::TooLong), "{length} bytes");
    }
}

fn a_disconnect_is_detected(wire: Wire) {
    let (mut server, mut client) = pair(wire);
    client.vi.receive.post(Descriptor::receive().with_segment(&client.region, 0, 64)).unwrap();
    client.vi.receive.post(Descriptor::receive().with_segment(&client.region, 0, 64)).unwrap();
    // A message that was sent before the end of the connection is still received.
    assert_eq!(server.send(Descriptor::send().with_segment(&server.region, 0, 64)).status(), Status::Done);
    server.vi.disconnect();
    assert_eq!(server.vi.state(), State::Idle);
    assert_eq!(client.vi.receive.wait(SOON).unwrap().status(), Status::Done);
    assert_eq!(client.vi.receive.wait(SOON).unwrap().status(), Status::Flushed);
    assert_eq!(client.vi.state(), State::Broken(Ended::ByPeer));
    assert_eq!(client.send(Descriptor::send()).status(), Status::Flushed);
}

const VICTIM: &str = "OBVIA_FABRIC_VICTIM";

/// Runs in the process that is to be killed: connects, reports that, and waits.
#[test]
fn fabric_peer_to_be_killed() {
    let Ok(what) = std::env::var(VICTIM) else { return };
    let (wire, address) = what.split_once(' ').unwrap();
    let wire = if wire == "tcp" { Wire::Tcp } else { Wire::Shm };
    let mut side = Side::new(wire, ViAttributes::default());
    side.vi.request(address, b"hello", SOON).unwrap();
    println!("\nconnected");
    // The read ends when the parent process is gone.
    let _ = std::io::stdin().read_line(&mut String::new());
}

fn a_killed_peer_is_detected(wire: Wire) {
    let mut server = Side::new(wire, ViAttributes { waiting: Waiting::Block, ..ViAttributes::default() });
    server.vi.receive.post(Descriptor::receive().with_segment(&server.region, 0, 64)).unwrap();
    let mut listener = server.nic.listen(&wire.address()).unwrap();
    let name = if matches!(wire, Wire::Tcp) { "tcp" } else { "shm" };
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "fabric::fabric_peer_to_be_killed", "--nocapture"])
        .env(VICTIM, format!("{name} {}", listener.address()))
        .env(DIRECTORY, server.folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    listener.wait(SOON).unwrap().accept(&mut server.vi, &[], SOON).unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "connected"));
    child.kill().unwrap();
    let began = Instant::now();
    let got = server.vi.receive.wait(SOON).unwrap();
    println!("noticed after {:?}", began.elapsed());
    assert_eq!(got.status(), Status::Flushed);
    assert_eq!(server.vi.state(), State::Broken(Ended::Silent));
    child.wait().unwrap();
}

fn a_vi_can_be_connected_again(wire: Wire) {
    let (mut server, mut client) = pair(wire);
    for round in 0..5 {
        let mut listener = server.nic.listen(&wire.address()).unwrap();
        let address = listener.address();
        // In each round, one side disconnects, and the other side notices that.
        if round % 2 == 0 {
            client.vi.disconnect()
        } else {
            server.vi.disconnect()
        }
        let other = if round % 2 == 0 { &server } else { &client };
        let state = other.end();
        assert_eq!(state, State::Broken(Ended::ByPeer));
        client.vi.disconnect();
        server.vi.disconnect();
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| client.vi.request(&address, b"again", SOON).unwrap());
            listener.wait(SOON).unwrap().accept(&mut server.vi, &[], SOON).unwrap();
            asking.join().unwrap();
        });
        server.vi.receive.post(Descriptor::receive().with_segment(&server.region, 0, 64)).unwrap();
        assert_eq!(client.send(Descriptor::send().with_segment(&client.region, 0, 64)).status(), Status::Done);
        assert_eq!(server.vi.receive.wait(SOON).unwrap().status(), Status::Done);
    }
}

fn many_connections_leave_no_files_behind(wire: Wire) {
    // The test runs in a process of its own, because other tests open files at the same time.
    let mut child = Command::new(std::env::current_exe().unwrap());
    let name = if matches!(wire, Wire::Tcp) { "tcp" } else { "shm" };
    let status = child
        .args(["--exact", "fabric::repeated_connections_leak_no_files", "--nocapture"])
        .env(CYCLES, name)
        .status()
        .unwrap();
    assert!(status.success());
}

const CYCLES: &str = "OBVIA_FABRIC_CYCLES";

fn count(directory: &str) -> usize {
    std::fs::read_dir(directory).unwrap().count()
}

#[test]
fn repeated_connections_leak_no_files() {
    let Ok(wire) = std::env::var(CYCLES) else { return };
    let wire = if wire == "tcp" { Wire::Tcp } else { Wire::Shm };
    let (mut server, mut client) = pair(wire);
    let mut listener = server.nic.listen(&wire.address()).unwrap();
    let address = listener.address();
    let mut before = (0, 0);
    for round in 0..60 {
        client.vi.disconnect();
        server.vi.disconnect();
        if round == 10 {
            before = (count("/proc/self/fd"), count("/proc/self/task"));
        }
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| client.vi.request(&address, b"again", SOON).unwrap());
            listener.wait(SOON).unwrap().accept(&mut server.vi, &[], SOON).unwrap();
            asking.join().unwrap();
        });
        server.vi.receive.post(Descriptor::receive().with_segment(&server.region, 0, 64)).unwrap();
        assert_eq!(client.send(Descriptor::send().with_segment(&client.region, 0, 64)).status(), Status::Done);
        assert_eq!(server.vi.receive.wait(SOON).unwrap().status(), Status::Done);
    }
    client.vi.disconnect();
    server.vi.disconnect();
    // When the NIC's attendant wakes, it closes the files on which it slept.
    ground::until("no file is left", || count("/proc/self/fd") <= before.0);
    ground::until("no thread is left", || count("/proc/self/task") <= before.1);
}

/// Returns the signals for which this process has handlers, as the system reports them.
fn handled() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    status.lines().find(|line| line.starts_with("SigCgt:")).unwrap().to_owned()
}

#[test]
fn fabric_providers_change_no_signal_handlers() {
    let before = handled();
    fabric::open(&Options::new("tcp")).expect("tcp is everywhere");
    assert_eq!(handled(), before);
}

#[test]
fn silent_fabric_clients_do_not_block_others() {
    let folder = folder();
    let nic = Wire::Shm.open(folder.path());
    let mut listener = nic.listen(&Wire::Shm.address()).unwrap();
    let file = folder.join(format!("{}.fabric", listener.address()));
    // The limit is less than the time that silent peers may take.
    ground::takes_less(Duration::from_secs(4), || {
        let _silent: Vec<_> = (0..100).map(|_| UnixStream::connect(&file).unwrap()).collect();
        let mut client = Side::new(Wire::Shm, ViAttributes::default());
        let address = listener.address();
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| client.vi.request(&address, b"", SOON).map(drop));
            listener.wait(SOON).unwrap().reject("seen");
            assert!(matches!(asking.join().unwrap(), Err(Error::Refused { .. })));
        });
    });
}

#[test]
fn introductions_by_segments_of_other_users_are_refused() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("skipped: only the superuser makes files of others");
    }
    let segment = format!("{}:4000009:0", std::process::id());
    let path = PathBuf::from("/dev/shm").join(&segment);
    std::fs::write(&path, vec![0; 1 << 24]).unwrap();
    std::os::unix::fs::chown(&path, Some(65_534), None).unwrap();
    let mut server = Side::new(Wire::Shm, ViAttributes::default());
    let mut listener = server.nic.listen("127.0.0.1:0").unwrap();
    let mut peer = TcpStream::connect(listener.address()).unwrap();
    // The request names an endpoint that has the segment's name, and offers reliable delivery
    // without private data.
    let name = format!("fi_shm://{segment}");
    let offer =
        obvia_via::spi::Offer { reliability: Reliability::ReliableDelivery, max_transfer: 4096, private: Vec::new() };
    let piece = [&b"OVF\x01\x01"[..], &(name.len() as u16).to_le_bytes(), name.as_bytes(), &offer.to_bytes()].concat();
    peer.write_all(&[&(piece.len() as u16).to_le_bytes()[..], &piece].concat()).unwrap();
    let accepted = listener.wait(SOON).unwrap().accept(&mut server.vi, b"", SOON);
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(accepted, Err(Error::AccessDenied { uid: 65_534 })), "{accepted:?}");
}

const FULL: &str = "OBVIA_FABRIC_FULL";

#[test]
fn connection_requests_are_rejected_without_free_descriptors() {
    let mut child = Command::new(std::env::current_exe().unwrap());
    let status = child
        .args(["--exact", "fabric::requests_without_free_descriptors", "--nocapture"])
        .env(FULL, "1")
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn requests_without_free_descriptors() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    if std::env::var_os(FULL).is_none() {
        return;
    }
    let (mut server, mut client) =
        (Side::new(Wire::Tcp, ViAttributes::default()), Side::new(Wire::Tcp, ViAttributes::default()));
    let mut listener = server.nic.listen(&Wire::Tcp.address()).unwrap();
    let address = listener.address();
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| client.vi.request(&address, b"", SOON));
        let request = listener.wait(SOON).unwrap();
        let before = getrlimit(Resource::Nofile);
        // The limit of descriptors is set to the number of the next file descriptor, so that no
        // file can be opened.
        let next = std::fs::File::open("/dev/null").unwrap();
        let current = Some(std::os::fd::AsRawFd::as_raw_fd(&next) as u64);
        drop(next);
        setrlimit(Resource::Nofile, Rlimit { current, ..before }).unwrap();
        let accepted = request.accept(&mut server.vi, b"", SOON);
        setrlimit(Resource::Nofile, before).unwrap();
        assert!(matches!(accepted, Err(Error::System { .. })), "{accepted:?}");
        let asked = asking.join().unwrap();
        assert!(matches!(asked, Err(Error::Refused { .. })), "{asked:?}");
    });
}
