//! Clients behind an address translator, which gives them another port in the middle of a
//! connection.

use super::{SOON, Side, filled};
use obvia_via::provider::udp;
use obvia_via::reliable::packet::{self, Body, HEADER, Header, TOKEN, Token};
use obvia_via::reliable::{Cipher, Guard, MoveKey, Nonce, TAG};
use obvia_via::window::{self, Window};
use obvia_via::{Access, Deadline, Descriptor, Kind, Listener, Reliability, Status, Vi, Waiting};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The time after which a silent peer counts as gone. The time is long, because a slow machine may
/// need much time for the other work of a test.
const SILENCE: Duration = Duration::from_secs(60);
/// The time between two looks of a translator at its sockets.
const LOOK: Duration = Duration::from_micros(200);

/// A translator between one client and a server.
struct Translator {
    inside: UdpSocket,
    /// The sockets towards the server, the current socket last. The earlier sockets receive no
    /// more.
    outside: Mutex<Vec<UdpSocket>>,
    server: Mutex<SocketAddr>,
    /// The connection id of the server's end, from the packets to that end.
    server_id: AtomicU64,
    /// The connection id of the client's end, from the packets to that end.
    client_id: AtomicU64,
    /// The packets by which the client said that it may have moved.
    claims: Mutex<Vec<Vec<u8>>>,
    is_over: AtomicBool,
}

impl Translator {
    fn new(server: SocketAddr) -> Self {
        let inside = socket(Ipv4Addr::LOCALHOST);
        let (outside, server) = (Mutex::new(vec![socket(Ipv4Addr::LOCALHOST)]), Mutex::new(server));
        let [server_id, client_id] = [0; 2].map(AtomicU64::new);
        let (claims, is_over) = (Mutex::default(), AtomicBool::new(false));
        Self { inside, outside, server, server_id, client_id, claims, is_over }
    }

    fn server(&self) -> SocketAddr {
        *self.server.lock().unwrap()
    }

    fn address(&self) -> String {
        self.inside.local_addr().unwrap().to_string()
    }

    /// Gives the client another port.
    fn change_port(&self) {
        self.outside.lock().unwrap().push(socket(Ipv4Addr::LOCALHOST));
    }

    fn run(&self) {
        let (mut client, mut bytes) = (None, [0; 1 << 16]);
        while !self.is_over.load(Ordering::Relaxed) {
            let sockets = self.outside.lock().unwrap();
            let outside = sockets.last().unwrap();
            while let Ok((length, from)) = self.inside.recv_from(&mut bytes) {
                client = Some(from);
                self.server_id.fetch_max(receiver(&bytes), Ordering::Relaxed);
                outside.send_to(&bytes[..length], self.server()).unwrap();
                // A packet is recorded after it is sent, so that the test cannot send a copy before
                // the packet itself.
                if token_of(&bytes[..length]).is_some() {
                    self.claims.lock().unwrap().push(bytes[..length].to_vec());
                }
            }
            while let Ok((length, from)) = outside.recv_from(&mut bytes) {
                self.client_id.fetch_max(receiver(&bytes), Ordering::Relaxed);
                if let Some(client) = client.filter(|_| from == self.server()) {
                    self.inside.send_to(&bytes[..length], client).unwrap();
                }
            }
            drop(sockets);
            std::thread::sleep(LOOK);
        }
    }
}

/// Returns the token in a packet by which a client says that it may have moved.
fn token_of(packet: &[u8]) -> Option<Token> {
    match packet::parse(packet) {
        Ok((_, Body::Moved { token, .. })) => Some(token),
        _ => None,
    }
}

/// Returns the id of a packet's receiver.
fn receiver(packet: &[u8]) -> u64 {
    u64::from_le_bytes(packet[8..16].try_into().unwrap())
}

fn socket(own: Ipv4Addr) -> UdpSocket {
    let socket = UdpSocket::bind((own, 0)).unwrap();
    socket.set_nonblocking(true).unwrap();
    socket
}

/// Sends a message to the other end, and asserts that it arrives.
fn passes(from: &mut (Side, Vi), to: &mut (Side, Vi), byte: u8) {
    let (source, target) = (filled(&from.0, &[byte; 3000]), to.0.region(3000, Access::LOCAL));
    to.1.receive.post(Descriptor::receive().with_segment(&target, 0, 3000)).unwrap();
    from.1.send.post(Descriptor::send().with_segment(&source, 0, 3000)).unwrap();
    assert_eq!(to.1.receive.wait(SOON).unwrap().status(), Status::Done);
    assert_eq!(from.1.send.wait(SOON).unwrap().status(), Status::Done);
    assert_eq!(super::bytes(&target), [byte; 3000]);
}

/// Makes a NIC and a VI.
fn end() -> (Side, Vi) {
    let side = Side::new(&udp::Options { silence: SILENCE, ..udp::Options::default() });
    let vi = side.vi(Reliability::ReliableDelivery, Waiting::Adaptive);
    (side, vi)
}

/// Calls a function with the server's and the client's end of a connection through a translator.
/// The listener still listens during the call.
fn through_a_translator(work: impl FnOnce(&Translator, &mut (Side, Vi), &mut (Side, Vi))) {
    let (server, client) = (end(), end());
    let mut listener = server.0.nic.listen("127.0.0.1:0").unwrap();
    let connect = |listener: &mut Listener, address: &str| {
        let (mut server, mut client) = (server, client);
        std::thread::scope(|scope| {
            scope.spawn(|| client.1.request(address, b"", SOON).map(drop).unwrap());
            listener.wait(SOON).unwrap().accept(&mut server.1, b"", SOON).unwrap();
        });
        (server, client)
    };
    connected_through_a_translator(&mut listener, connect, |translator, (mut server, mut client)| {
        work(translator, &mut server, &mut client);
    });
}

/// Connects through a translator, and calls a function with the two ends. The listener still
/// listens during the call.
fn connected_through_a_translator<E>(
    listener: &mut Listener,
    connect: impl FnOnce(&mut Listener, &str) -> E,
    work: impl FnOnce(&Translator, E),
) {
    let translator = &Translator::new(listener.address().parse().unwrap());
    std::thread::scope(|scope| {
        let end = End(&translator.is_over);
        scope.spawn(|| translator.run());
        let ends = connect(listener, &translator.address());
        scope.spawn(|| {
            while !translator.is_over.load(Ordering::Relaxed) {
                assert!(listener.wait(Deadline::Within(Duration::from_millis(20))).is_err());
            }
        });
        work(translator, ends);
        drop(end);
    });
}

/// A cipher that leaves datagrams as they are: these tests are about the seals of claims alone.
#[derive(Debug)]
struct Plain;

impl Cipher for Plain {
    fn seal(&mut self, _: Nonce, _: &mut [u8]) -> [u8; TAG] {
        [9; TAG]
    }

    fn open(&mut self, _: Nonce, _: &mut [u8], tag: &[u8; TAG]) -> bool {
        *tag == [9; TAG]
    }
}

/// Calls a function with the server's and the client's window over a connection with keys.
fn guarded_through_a_translator(work: impl FnOnce(&Translator, &mut Window, &mut Window)) {
    let (server, client) = (end().0, end().0);
    let mut listener = server.nic.listen("127.0.0.1:0").unwrap();
    let connect = |listener: &mut Listener, address: &str| {
        let options = window::Options::default();
        std::thread::scope(|scope| {
            let client = scope.spawn(|| window::connect(&client.nic, address, &options, SOON).unwrap());
            let server = window::accept(&server.nic, listener.wait(SOON).unwrap(), &options, SOON).unwrap();
            let ends = [server, client.join().unwrap()];
            for (end, peer_has_keys) in ends.iter().zip([false, true]) {
                let moves = MoveKey::new(&[7; 32]);
                end.guard(Guard { cipher: Box::new(Plain), peer_has_keys, moves }).unwrap();
            }
            ends
        })
    };
    connected_through_a_translator(&mut listener, connect, |translator, [mut server, mut client]| {
        work(translator, &mut server, &mut client);
    });
}

/// Sends a frame to the other end, which answers it.
fn is_answered(from: &mut Window, to: &mut Window, byte: u8) {
    frame_passes(from, to, byte);
    frame_passes(to, from, byte);
}

fn frame_passes(from: &mut Window, to: &mut Window, byte: u8) {
    let header = obvia_via::Header { kind: Kind::Request, opnum: 0, first: 0, second: 0 };
    from.tx.inline_frame(SOON).unwrap()[..8].fill(byte);
    from.tx.send_inline(header, 8);
    let (message, mut bytes) = (to.rx.receive(SOON).unwrap(), [0; 8]);
    message.frame().copy_to(0, &mut bytes).unwrap();
    assert_eq!(bytes, [byte; 8]);
    to.tx.taken_all();
}

/// The flag that ends a test's threads, set when this value is dropped.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_connection_goes_on_from_another_port_of_the_client() {
    through_a_translator(|translator, server, client| {
        passes(client, server, 1);
        for round in 0..3 {
            translator.change_port();
            // In even rounds the client sends first. In odd rounds the server sends without knowing
            // the new port.
            if round % 2 == 0 {
                passes(client, server, 2);
            }
            passes(server, client, 3);
        }
    });
}

/// Returns the packet by which a client says that it may have moved.
fn claim([server, from]: [u64; 2], token: Token) -> Vec<u8> {
    let mut bytes = [0; HEADER + 8 + TOKEN];
    let header = Header { to: server, number: 0, ack: 0, sack: 0, window: 0 };
    let length = packet::write(&mut bytes, &header, &Body::Moved { from, token, seal: None }).unwrap();
    bytes[..length].to_vec()
}

#[test]
fn a_claim_to_have_moved_needs_the_clients_host_and_a_token() {
    through_a_translator(|translator, server, client| {
        passes(client, server, 1);
        let ids = [&translator.server_id, &translator.client_id].map(|id| id.load(Ordering::Relaxed));
        let first = claim(ids, [0; TOKEN]);
        let [stranger, guesser, neighbour, other] =
            [Ipv4Addr::new(127, 0, 0, 2), Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST].map(socket);
        stranger.send_to(&first, translator.server()).unwrap();
        guesser.send_to(&claim([ids[0], ids[1] ^ 1], [0; TOKEN]), translator.server()).unwrap();
        let token = |socket: &UdpSocket, claim: &[u8]| {
            socket.send_to(claim, translator.server()).unwrap();
            let mut bytes = [0; 2000];
            let receive = || socket.recv(&mut bytes).ok();
            let length = ground::poll("the token arrives", receive);
            assert!(length <= claim.len(), "{length} bytes");
            match packet::parse(&bytes[..length]).unwrap() {
                (_, Body::Retry { token }) => token,
                other => panic!("{other:?}"),
            }
        };
        let of_neighbour = token(&neighbour, &first);
        // A token is valid for one port: a claim from another port gets a new token, and no
        // connection.
        assert_ne!(token(&other, &claim(ids, of_neighbour)), of_neighbour);
        // The listener has already processed the earlier claims of `stranger` and `guesser`.
        let mut bytes = [0; 2000];
        assert!(stranger.recv(&mut bytes).is_err(), "another host gets an answer");
        assert!(guesser.recv(&mut bytes).is_err(), "a claim with one right id gets an answer");
        for _ in 0..10 {
            passes(server, client, 3);
        }
        for socket in [&neighbour, &other] {
            assert!(socket.recv(&mut bytes).is_err(), "packets go to an address without a proof");
        }
    });
}

#[test]
fn a_connection_with_keys_goes_on_from_another_port_of_the_client() {
    guarded_through_a_translator(|translator, server, client| {
        is_answered(client, server, 1);
        for _ in 0..2 {
            translator.change_port();
            is_answered(client, server, 2);
            is_answered(server, client, 3);
        }
        assert!(!translator.claims.lock().unwrap().is_empty());
    });
}

#[test]
fn a_connection_with_keys_is_moved_by_no_unsealed_or_copied_claim() {
    guarded_through_a_translator(|translator, server, client| {
        is_answered(client, server, 1);
        translator.change_port();
        is_answered(client, server, 2);
        let ids = [&translator.server_id, &translator.client_id].map(|id| id.load(Ordering::Relaxed));
        let neighbour = socket(Ipv4Addr::LOCALHOST);
        let send = |claim: &[u8]| assert_eq!(neighbour.send_to(claim, translator.server()).unwrap(), claim.len());
        send(&claim(ids, [0; TOKEN]));
        let mut copies = std::mem::take(&mut *translator.claims.lock().unwrap());
        // The connection was moved by the first claim with a token, or by a later claim. So the
        // numbers of all claims up to the first one with a token are used up. The connection may
        // not have read the later claims yet, so the test does not copy those.
        let first = copies.iter().position(|copy| token_of(copy) != Some([0; TOKEN]));
        let first = first.expect("a claim with a token");
        assert!(first > 0, "a claim without a token");
        copies.truncate(first + 1);
        copies.iter().for_each(|copy| send(copy));
        // The claims below have numbers that were not used. A sender without the key cannot seal
        // such claims.
        for copy in &mut copies {
            copy[HEADER + 8 + TOKEN] ^= 0x80;
            packet::seal(copy);
            send(copy);
        }
        // The listener answers a claim about an unknown connection, after the claims before it.
        send(&claim([ids[0] ^ 1, ids[1]], [0; TOKEN]));
        let mut bytes = [0; 2000];
        let length = ground::poll("the listener has processed the claims", || neighbour.recv(&mut bytes).ok());
        let answer = packet::parse(&bytes[..length]).unwrap().1;
        assert!(matches!(answer, Body::Reject { .. }), "a claim without a new seal is answered: {answer:?}");
        for byte in 3..8 {
            is_answered(server, client, byte);
        }
        assert!(neighbour.recv(&mut bytes).is_err(), "packets go to an address without a proof");
    });
}

/// A server is restarted on its port. The test imitates this: the client's packets now go to a
/// server that does not know the connection.
#[test]
fn a_client_of_a_restarted_server_learns_that_its_connection_is_unknown() {
    let restarted = Side::new(&udp::Options::default());
    let mut listener = restarted.nic.listen("127.0.0.1:0").unwrap();
    through_a_translator(|translator, server, client| {
        passes(client, server, 1);
        *translator.server.lock().unwrap() = listener.address().parse().unwrap();
        let source = filled(&client.0, &[1; 8]);
        client.1.send.post(Descriptor::send().with_segment(&source, 0, 8)).unwrap();
        let began = Instant::now();
        let mut status = None;
        while status.is_none() {
            assert!(listener.wait(Deadline::Within(Duration::from_millis(1))).is_err());
            status = client.1.send.done().map(|done| done.status());
        }
        assert_eq!(status, Some(Status::ConnectionLost));
        assert!(began.elapsed() < SILENCE / 2, "{:?}", began.elapsed());
    });
}
