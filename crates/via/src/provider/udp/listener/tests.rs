//! Datagrams of peers whose address is not proved, and of proved peers that do not complete the
//! handshake.

use super::*;
use crate::attributes::Reliability;
use crate::provider::udp;
use crate::reliable::packet::{Action, Body, DataHeader, HEADER, Header, TOKEN};
use crate::reliable::{Answer, Requesting, Settings, TOKEN_LIFETIME};
use crate::reliable::{PENDING_OF_HOST_MAX, TOO_MANY_OF_HOST, YIELDS_AFTER};
use crate::{Descriptor, Request, Status, Vi, ViAttributes};
use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const SHORT: Deadline = Deadline::Within(Duration::from_millis(1));
const SOON: Deadline = Deadline::Within(ground::LATEST);

fn own_offer() -> Offer {
    Offer { reliability: Reliability::ReliableDelivery, max_transfer: 1 << 20, private: Vec::new() }
}

fn listener(address: &str) -> UdpListener {
    UdpListener::bind(address.parse().unwrap(), &Options::default()).unwrap()
}

/// A peer that sends requests, and nothing else.
struct Peer {
    socket: UdpSocket,
    requesting: Requesting,
}

impl Peer {
    /// Makes a peer at this address of the host, whose requests ask for `discriminator` and go to
    /// `server`.
    fn new(own: Ipv4Addr, server: SocketAddr, discriminator: &str) -> Self {
        let socket = UdpSocket::bind((own, 0)).unwrap();
        socket.connect(server).unwrap();
        socket.set_nonblocking(true).unwrap();
        let id = u64::from_le_bytes(random().unwrap());
        let requesting = Requesting::new(&Settings::default(), id, discriminator, &own_offer()).unwrap();
        Self { socket, requesting }
    }

    fn request(&mut self) -> Vec<u8> {
        let due = self.requesting.due();
        self.requesting.transmit(due).unwrap().to_vec()
    }

    fn ask(&mut self) {
        let request = self.request();
        self.socket.send(&request).unwrap();
    }

    /// Receives the next datagram, if one has arrived. Returns the datagram's length and, if the
    /// datagram answers the request, the answer.
    fn receive(&mut self) -> Option<(usize, Option<Answer>)> {
        let mut bytes = [0; 2000];
        let length = self.socket.recv(&mut bytes).ok()?;
        Some((length, self.requesting.handle(0, &bytes[..length], 1400)))
    }

    /// Returns the number of bytes that have arrived.
    fn received(&mut self) -> usize {
        std::iter::from_fn(|| self.receive()).map(|(length, _)| length).sum()
    }

    /// Requests a token, and sends a request with it. `accept` checks briefly for a request.
    fn ask_with_token<R>(&mut self, mut accept: impl FnMut() -> Option<R>) {
        self.ask();
        ground::until("the token arrives", || {
            assert!(accept().is_none(), "an unproved request is passed on");
            self.receive().is_some()
        });
        self.ask();
    }

    /// Makes a proved request. Returns what the listener passes on, or the reason of the rejection.
    fn prove<R>(&mut self, mut accept: impl FnMut() -> Option<R>) -> Result<R, String> {
        self.ask_with_token(&mut accept);
        ground::poll("the request is treated", || accept().map(Ok).or_else(|| self.rejection().map(Err)))
    }

    fn rejection(&mut self) -> Option<String> {
        match self.receive()?.1? {
            Answer::Rejected(why) => Some(why),
            other => panic!("{other:?}"),
        }
    }
}

/// Returns a packet. `to` is the receiver's id.
fn packet_of(to: u64, body: &Body<'_>) -> Vec<u8> {
    let mut bytes = [0; packet::HANDSHAKE_MAX];
    let header = Header { to, number: 0, ack: 0, sack: 0, window: 1 << 20 };
    let length = packet::write(&mut bytes, &header, body).unwrap();
    bytes[..length].to_vec()
}

/// Returns datagrams of every kind, as a peer without a token can send them.
fn first_datagrams() -> Vec<(String, Vec<u8>)> {
    let request = |token, discriminator, private| {
        let offer = Offer { private: vec![1; private], ..own_offer() };
        packet_of(0, &Body::Request { from: 5, token, discriminator, offer })
    };
    let (longest, data) = ("x".repeat(packet::DISCRIMINATOR_MAX), |action| DataHeader {
        action,
        operation: 0,
        offset: 0,
        total: if action == Action::Send { 4 } else { 0 },
        is_last: true,
        immediate: None,
        place: None,
    });
    let seal = packet::MoveSeal { number: 0, code: [1; 16] };
    let mut all = vec![
        ("the shortest request".to_owned(), request([0; TOKEN], "", 0)),
        ("the longest request".to_owned(), request([0; TOKEN], &longest, Offer::PRIVATE_MAX)),
        ("a request with a made-up token".to_owned(), request([1; TOKEN], "here", 40)),
        ("an accept".to_owned(), packet_of(5, &Body::Accept { from: 5, offer: own_offer() })),
        ("a reject".to_owned(), packet_of(5, &Body::Reject { why: "no" })),
        ("a retry".to_owned(), packet_of(5, &Body::Retry { token: [1; TOKEN] })),
        ("a claim to have moved".to_owned(), packet_of(5, &Body::Moved { from: 6, token: [0; TOKEN], seal: None })),
        ("a sealed claim".to_owned(), packet_of(5, &Body::Moved { from: 6, token: [0; TOKEN], seal: Some(seal) })),
        ("an acknowledgement".to_owned(), packet_of(5, &Body::Ack { further: &[] })),
        ("a ping".to_owned(), packet_of(5, &Body::Ping)),
        ("a probe".to_owned(), packet_of(5, &Body::Probe)),
        ("the answer to a probe".to_owned(), packet_of(5, &Body::Probed { length: 1200 })),
        ("a close".to_owned(), packet_of(5, &Body::Close { reason: 0 })),
        ("data".to_owned(), packet_of(5, &Body::Data(data(Action::Send), b"data"))),
        ("no data".to_owned(), packet_of(5, &Body::Data(data(Action::Void), b""))),
        ("nothing".to_owned(), Vec::new()),
    ];
    let whole = request([1; TOKEN], "here", 40);
    for length in (1..whole.len()).step_by(7) {
        let mut part = whole[..length].to_vec();
        all.push((format!("{length} bytes of a request"), part.clone()));
        if length >= HEADER {
            packet::seal(&mut part);
            all.push((format!("{length} bytes of a request, with their checksum"), part));
        }
    }
    for kind in 0..=255 {
        let mut bytes = packet_of(5, &Body::Ack { further: &[] });
        bytes[5] = kind;
        packet::seal(&mut bytes);
        all.push((format!("a header of the kind {kind:#x}"), bytes));
    }
    for length in [1, 35, 36, 64, 100, packet::HANDSHAKE_MAX, 1400] {
        all.push((format!("{length} bytes of nonsense"), (0..length).map(|at| (at * 37) as u8).collect()));
    }
    all
}

#[test]
#[cfg_attr(miri, ignore = "makes sockets")]
fn first_datagrams_get_no_longer_answers_and_leave_nothing() {
    let mut listener = listener("127.0.0.1:0");
    let server = listener.socket.local();
    for (what, datagram) in first_datagrams() {
        let mut peer = Peer::new(Ipv4Addr::LOCALHOST, server, "");
        peer.socket.send(&datagram).unwrap();
        if let Ok(incoming) = listener.accept(SHORT) {
            // If a request is passed on by mistake, the count of bytes below shows it.
            let _ = incoming.accept(&own_offer(), Deadline::after_secs(1));
        }
        let answered = peer.received();
        assert!(answered <= datagram.len(), "{what}: {answered} bytes for {}", datagram.len());
    }
    assert_eq!(listener.admission.count(), 0);
}

#[test]
#[cfg_attr(miri, ignore = "makes sockets")]
fn requests_with_others_tokens_or_expired_ones_get_new_tokens() {
    let mut listener = listener("127.0.0.1:0");
    let server = listener.socket.local();
    let [mut one, mut other] = [(); 2].map(|()| Peer::new(Ipv4Addr::LOCALHOST, server, ""));
    one.ask();
    ground::until("the token arrives", || listener.accept(SHORT).is_err() && one.receive().is_some());
    let stolen = one.request();
    other.socket.send(&stolen).unwrap();
    let mut answered = 0;
    ground::until("a token arrives", || {
        assert!(listener.accept(SHORT).is_err(), "a request with a stolen token is passed on");
        answered += other.received();
        answered > 0
    });
    assert!(answered <= stolen.len());
    listener.admission.age(TOKEN_LIFETIME + Duration::from_secs(1));
    one.ask_with_token(|| listener.accept(SHORT).ok());
    let incoming = listener.accept(SOON).unwrap();
    assert_eq!(incoming.peer(), one.socket.local_addr().unwrap().to_string());
    assert_eq!(listener.admission.count(), 1);
    // Repetitions of the request, before or after the answer, make no second connection.
    one.ask();
    assert!(listener.accept(Deadline::Within(Duration::from_millis(50))).is_err());
    incoming.reject("not today");
    assert_eq!(ground::poll("the rejection arrives", || one.rejection()), "not today");
    one.ask();
    let again = ground::poll("the rejection is repeated", || {
        assert!(listener.accept(SHORT).is_err());
        one.rejection()
    });
    assert_eq!(again, "not today");
}

#[test]
#[cfg_attr(miri, ignore = "makes sockets")]
fn the_local_address_is_that_of_the_datagram_whatever_the_request_says() {
    for wildcard in ["0.0.0.0:0", "[::]:0"] {
        let Ok(mut listener) = UdpListener::bind(wildcard.parse().unwrap(), &Options::default()) else { continue };
        let port = listener.socket.local().port();
        for claimed in [format!("127.0.0.2:{port}"), format!("127.0.0.9:{port}"), String::new()] {
            let used = SocketAddr::from(([127, 0, 0, 2], port));
            // The peer's socket takes datagrams from the address `used` alone.
            let mut peer = Peer::new(Ipv4Addr::LOCALHOST, used, &claimed);
            peer.ask_with_token(|| listener.accept(SHORT).ok());
            let mut bytes = [0; packet::HANDSHAKE_MAX];
            let arrived = ground::poll("the request arrives", || listener.socket.receive(&mut bytes));
            let incoming = listener.take(&bytes[..arrived.length], arrived).unwrap();
            assert_eq!((incoming.at.ip().to_canonical(), incoming.at.port()), (used.ip(), port), "{wildcard}");
            let link = UdpLink::to_client(incoming.request.source(), incoming.at, 1 << 16, Arc::default()).unwrap();
            let local = crate::reliable::Link::local(&link).unwrap().parse::<SocketAddr>().unwrap();
            assert_eq!((local.ip().to_canonical(), local.port()), (used.ip(), port), "{wildcard}");
        }
        if wildcard.starts_with('[') {
            let Ok(socket) = UdpSocket::bind("[::1]:0") else { continue };
            socket.send_to(b"", SocketAddr::new(IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1_u16]), port)).unwrap();
            let arrived = ground::poll("the datagram arrives", || listener.socket.receive(&mut []));
            assert_eq!(arrived.at.to_string(), format!("[::1]:{port}"));
            assert_eq!(arrived.from, socket.local_addr().unwrap());
            listener.socket.send(b"yes", arrived.from, arrived.at);
            let mut answer = [0; 8];
            socket.set_read_timeout(Some(ground::LATEST)).unwrap();
            assert_eq!(socket.recv_from(&mut answer).unwrap(), (3, arrived.at));
        }
    }
}

/// Connects a VI of this process to a listener.
fn connect(address: &str) -> Result<Vi, Error> {
    let nic = udp::open(&Options::default()).unwrap();
    let tag = nic.protection_tag();
    let mut vi = nic.vi(ViAttributes::default(), &tag, None, None).unwrap();
    vi.request(address, b"", SOON).map(|_| vi)
}

#[test]
#[cfg_attr(miri, ignore = "makes sockets")]
fn a_client_connects_during_a_flood_of_forged_requests_which_leave_nothing() {
    const FLOOD: usize = 5_000;
    let mut listener = listener("127.0.0.1:0");
    let (server, address) = (listener.socket.local(), listener.address());
    let (mut passed_on, sent, is_connected) = (0, AtomicUsize::new(0), AtomicBool::new(false));
    let request = packet_of(0, &Body::Request { from: 5, token: [0; TOKEN], discriminator: "", offer: own_offer() });
    let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let before = descriptors();
    std::thread::scope(|scope| {
        let (sent, is_connected) = (&sent, &is_connected);
        scope.spawn(|| {
            // The flood goes on until the client is connected, however slow the machine is.
            for number in
                (0..0xf0_0000_u32).take_while(|number| *number < FLOOD as u32 || !is_connected.load(Ordering::Relaxed))
            {
                // Each request has an address, a port and an id of its own; half of them have a
                // forged token.
                let [_, a, b, c] = (number + 0x1_0000).to_be_bytes();
                let socket = UdpSocket::bind((Ipv4Addr::new(127, a, b, c), 0)).unwrap();
                let mut forged = request.clone();
                forged[HEADER..][..8].copy_from_slice(&u64::from(number + 1).to_le_bytes());
                forged[HEADER + 12..][..4].copy_from_slice(&(number & 1).to_le_bytes());
                packet::seal(&mut forged);
                socket.send_to(&forged, server).unwrap();
                sent.fetch_add(1, Ordering::Relaxed);
            }
        });
        let client = scope.spawn(|| {
            ground::until("the flood is on", || sent.load(Ordering::Relaxed) > FLOOD / 10);
            let vi = connect(&address);
            is_connected.store(true, Ordering::Relaxed);
            vi.unwrap()
        });
        let begun = Instant::now();
        while sent.load(Ordering::Relaxed) < FLOOD || passed_on == 0 {
            assert!(begun.elapsed() < ground::LATEST, "the client does not get in");
            if let Ok(incoming) = listener.accept(SHORT) {
                passed_on += 1;
                assert_eq!(passed_on, 1, "an unproved request is passed on");
                incoming.accept(&own_offer(), SOON).unwrap();
            }
        }
        client.join().unwrap();
    });
    // Other tests open descriptors at the same time.
    assert!(descriptors() < before + 100, "descriptors are left");
    assert_eq!(listener.admission.count(), 1, "requests are left");
}

#[test]
#[cfg_attr(miri, ignore = "makes sockets")]
fn too_many_requests_of_a_host_are_refused_for_less_than_a_second_and_harm_no_others() {
    static REFUSED: AtomicUsize = AtomicUsize::new(0);
    fn observe(host: IpAddr) {
        assert_eq!(host, Ipv4Addr::LOCALHOST);
        REFUSED.fetch_add(1, Ordering::Relaxed);
    }
    let nic = udp::open(&Options { refusal_observer: Some(observe), ..Options::default() }).unwrap();
    let tag = nic.protection_tag();
    let mut listener = nic.listen("127.0.0.1:0").unwrap();
    let address = listener.address();
    let accept = |request: Request| {
        let mut vi = nic.vi(ViAttributes::default(), &tag, None, None).unwrap();
        request.accept(&mut vi, b"", SOON).map(|()| vi)
    };
    let (mut server, mut client) = std::thread::scope(|scope| {
        let client = scope.spawn(|| connect(&address).unwrap());
        (accept(listener.wait(SOON).unwrap()).unwrap(), client.join().unwrap())
    });
    let mut ask = |own| {
        let mut peer = Peer::new(own, address.parse().unwrap(), "");
        (peer.prove(|| listener.wait(SHORT).ok()), peer)
    };
    let begun = Instant::now();
    let mut pending: Vec<_> = (0..PENDING_OF_HOST_MAX).map(|_| ask(Ipv4Addr::LOCALHOST)).collect();
    assert!(pending.iter().all(|(request, _)| request.is_ok()));
    let (one_more, _peer) = ask(Ipv4Addr::LOCALHOST);
    // On a slow machine, the oldest request may be so old now that it yields its place.
    let is_late = begun.elapsed() >= YIELDS_AFTER;
    assert!(is_late || one_more.is_err_and(|why| why == TOO_MANY_OF_HOST));
    assert!(is_late || REFUSED.load(Ordering::Relaxed) == 1);
    assert!(ask(Ipv4Addr::new(127, 0, 0, 2)).0.is_ok(), "another host is refused");
    // The flood of requests has ended. The next client of the host need not wait for a second.
    std::thread::sleep(YIELDS_AFTER);
    std::thread::scope(|scope| {
        let client = scope.spawn(|| connect(&address));
        accept(listener.wait(SOON).unwrap()).unwrap();
        client.join().unwrap().unwrap();
    });
    // The oldest request had to yield, and its peer learns the reason.
    let (request, mut peer) = pending.swap_remove(0);
    let refused = accept(request.unwrap());
    assert!(matches!(&refused, Err(Error::Refused { why }) if why == TOO_MANY_OF_HOST), "{refused:?}");
    assert_eq!(ground::poll("the rejection arrives", || peer.rejection()), TOO_MANY_OF_HOST);
    // The connection that was made before the flood still works.
    client.receive.post(Descriptor::receive()).unwrap();
    server.send.post(Descriptor::send()).unwrap();
    assert_eq!(client.receive.wait(SOON).unwrap().status(), Status::Done);
}

#[test]
#[cfg_attr(miri, ignore = "makes sockets")]
fn a_connection_in_setup_that_is_revoked_ends_before_its_deadline_and_its_peer_learns_why() {
    let nic = udp::open(&Options::default()).unwrap();
    let tag = nic.protection_tag();
    let mut listener = nic.listen("127.0.0.1:0").unwrap();
    let mut peer = Peer::new(Ipv4Addr::LOCALHOST, listener.address().parse().unwrap(), "");
    let request = peer.prove(|| listener.wait(SHORT).ok()).unwrap();
    let revocation = request.revocation().unwrap();
    // The peer confirms nothing.
    let accepted = std::thread::scope(|scope| {
        let accept = || {
            let mut vi = nic.vi(ViAttributes::default(), &tag, None, None).unwrap();
            request.accept(&mut vi, b"", Deadline::after_secs(24 * 3600))
        };
        let accepting = scope.spawn(accept);
        revocation.revoke();
        accepting.join().unwrap()
    });
    assert!(matches!(&accepted, Err(Error::Refused { .. })), "{accepted:?}");
    let reason = ground::poll("the rejection arrives", || match peer.receive()?.1? {
        Answer::Rejected(why) => Some(why),
        // The acceptance may have been sent before it was revoked.
        Answer::Accepted(..) => None,
    });
    assert!(reason.contains("need the place"), "{reason}");
}
