//! A provider over any datagram network with addresses and ports: UDP, or a similar one.
//!
//! A listener has a port, and so has each end of a connection. A peer sends its request to the
//! listener's port, and the acceptance comes from the port of the new connection: the request's
//! random id identifies it.

use super::packet::{self, Body};
use super::{Answering, Link, Settings, accept, connect};
use crate::attributes::Attributes;
use crate::notice::poll_fds;
use crate::spi::{Incoming, Listening, Offer, Port, Provider};
use crate::sync::lock;
use crate::wrap::{Conditions, FaultLink};
use crate::{Deadline, Error};
use rustix::fd::OwnedFd;
use rustix::rand::{GetRandomFlags, getrandom};
use std::collections::VecDeque;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

/// The maximum number of requests that a listener remembers, to recognize repetitions.
const SEEN_MAX: usize = 1024;
/// The maximum number of unusable datagrams dropped in one call, so that the caller can do other
/// work and look at the clock.
const UNUSABLE_MAX: usize = 32;

/// A network with ports.
pub trait Network: Send + Sync + fmt::Debug + 'static {
    /// The socket of a port.
    type Socket: DatagramSocket + 'static;

    /// Opens a port; 0 stands for any free one.
    ///
    /// # Errors
    ///
    /// [`Error::NameInUse`] for a port that is taken; an error of the system.
    fn socket(&self, port: u16) -> Result<Self::Socket, Error>;

    /// Returns the capabilities of VIs over the network.
    fn attributes(&self) -> &Attributes;

    /// Returns the settings of engines over the network.
    fn settings(&self) -> &Settings;

    /// Returns the artificial faults of the network, at this end.
    fn fault(&self) -> Option<&Conditions> {
        None
    }
}

/// The socket of a port of a network.
pub trait DatagramSocket: Send + fmt::Debug {
    /// Returns the maximum length of a datagram, in bytes.
    fn mtu(&self) -> usize;

    /// Returns the socket's address and port.
    fn address(&self) -> SocketAddr;

    /// Restricts the socket to datagrams to and from this peer.
    fn set_peer(&mut self, peer: SocketAddr);

    /// Sends one datagram, which may get lost. Returns `false` when there is no room now, and the
    /// caller has to try again later.
    ///
    /// # Errors
    ///
    /// As [`Link::send`].
    fn send_to(&mut self, datagram: &[u8], to: SocketAddr) -> Result<bool, Error>;

    /// Receives the next datagram, if one is there, and returns its length and its sender.
    ///
    /// # Errors
    ///
    /// As [`Link::receive`].
    fn receive_from(&mut self, into: &mut [u8]) -> Result<Option<(usize, SocketAddr)>, Error>;

    /// Returns a file that is readable from now on whenever a datagram has arrived.
    fn file(&self) -> Option<Arc<OwnedFd>>;

    /// As [`Link::prepare_sleep`].
    fn prepare_sleep(&mut self) -> Option<Arc<OwnedFd>> {
        self.file()
    }

    /// As [`Link::end_sleep`].
    fn end_sleep(&mut self) {}
}

/// A provider of VIs over a network.
#[derive(Debug)]
pub struct NetworkProvider<N> {
    network: Arc<N>,
}

impl<N: Network> NetworkProvider<N> {
    /// Makes a provider over this network.
    pub fn new(network: N) -> Self {
        Self { network: Arc::new(network) }
    }
}

impl<N: Network> Provider for NetworkProvider<N> {
    fn attributes(&self) -> &Attributes {
        self.network.attributes()
    }

    /// Listens on a port. The discriminator is its number; 0, or nothing, stands for any free port.
    fn listen(&self, discriminator: &str) -> Result<Box<dyn Listening>, Error> {
        let port = if discriminator.is_empty() { Ok(0) } else { discriminator.parse() };
        let port = port
            .map_err(|_| bad_address(discriminator, "expected the number of a port as the listener's discriminator"))?;
        let socket = self.network.socket(port)?;
        let (address, file, datagram) = (socket.address(), socket.file(), vec![0; socket.mtu()]);
        let queue = Arc::new(Mutex::new(RequestQueue { socket, seen: VecDeque::new() }));
        Ok(Box::new(Listener { network: Arc::clone(&self.network), queue, address, file, datagram }))
    }

    fn connect(&self, address: &str, own: &Offer, deadline: Deadline) -> Result<(Box<dyn Port>, Offer), Error> {
        let peer = address.parse().map_err(|_| bad_address(address, "expected an IP address, a colon and a port"))?;
        let (socket, id) = (self.network.socket(0)?, random()?);
        let link = NetworkLink { socket, peer, request_id: Some(id) };
        let settings = self.network.settings();
        match self.network.fault() {
            None => connect(link, settings, id, "", own, deadline).map(boxed),
            Some(fault) => connect(FaultLink::new(link, fault, 0)?, settings, id, "", own, deadline).map(boxed),
        }
    }
}

fn boxed<P: Port + 'static>((port, offer): (P, Offer)) -> (Box<dyn Port>, Offer) {
    (Box::new(port), offer)
}

fn bad_address(text: &str, why: &'static str) -> Error {
    Error::BadAddress { text: text.to_owned(), why }
}

/// Returns a random number that cannot be guessed and is not 0.
fn random() -> Result<u64, Error> {
    let mut bytes = [0; 8];
    getrandom(&mut bytes, GetRandomFlags::empty()).map_err(Error::system("reading random numbers"))?;
    Ok(u64::from_ne_bytes(bytes).max(1))
}

/// A socket with a peer.
#[derive(Debug)]
struct NetworkLink<S> {
    socket: S,
    peer: SocketAddr,
    // The id of the request, until the port of the peer's connection is known.
    request_id: Option<u64>,
}

impl<S: DatagramSocket> Link for NetworkLink<S> {
    fn mtu(&self) -> usize {
        self.socket.mtu()
    }

    fn send(&mut self, datagram: &[u8]) -> Result<bool, Error> {
        self.socket.send_to(datagram, self.peer)
    }

    fn receive(&mut self, into: &mut [u8]) -> Result<Option<usize>, Error> {
        for _ in 0..UNUSABLE_MAX {
            let Some((length, from)) = self.socket.receive_from(into)? else { return Ok(None) };
            if let Some(id) = self.request_id
                && from.ip() == self.peer.ip()
                && is_acceptance(&into[..length], id)
            {
                (self.peer, self.request_id) = (from, None);
                self.socket.set_peer(from);
            }
            if from == self.peer {
                return Ok(Some(length));
            }
        }
        Ok(None)
    }

    fn file(&self) -> Option<Arc<OwnedFd>> {
        self.socket.file()
    }

    fn prepare_sleep(&mut self) -> Option<Arc<OwnedFd>> {
        self.socket.prepare_sleep()
    }

    fn end_sleep(&mut self) {
        self.socket.end_sleep();
    }

    fn peer(&self) -> String {
        self.peer.to_string()
    }

    fn local(&self) -> Option<String> {
        Some(self.socket.address().to_string())
    }
}

/// Whether the datagram accepts the request with that id. Only hosts that have seen the request can
/// know the id.
fn is_acceptance(datagram: &[u8], id: u64) -> bool {
    packet::parse(datagram).is_ok_and(|(header, body)| header.to == id && matches!(body, Body::Accept { .. }))
}

/// A listener's port, and the requests that arrived there.
#[derive(Debug)]
struct RequestQueue<S> {
    socket: S,
    // The latest requests.
    seen: VecDeque<Seen>,
}

#[derive(Debug)]
struct Seen {
    from: SocketAddr,
    id: u64,
    // The rejection, which answers repetitions of the request. An acceptance is repeated by its
    // connection instead.
    rejection: Option<Vec<u8>>,
}

#[derive(Debug)]
struct Listener<N: Network> {
    network: Arc<N>,
    queue: Arc<Mutex<RequestQueue<N::Socket>>>,
    address: SocketAddr,
    file: Option<Arc<OwnedFd>>,
    datagram: Vec<u8>,
}

impl<S: DatagramSocket> RequestQueue<S> {
    /// Returns the next new request, if it is among the next datagrams.
    fn next(&mut self, datagram: &mut [u8]) -> Option<(Answering, SocketAddr)> {
        for _ in 0..UNUSABLE_MAX {
            // An error concerns a single datagram. Later calls receive the others.
            let Ok(Some((length, from))) = self.socket.receive_from(datagram) else { break };
            let Some(answering) = Answering::from_datagram(&datagram[..length]) else { continue };
            let id = answering.id();
            match self.seen.iter().find(|seen| seen.id == id && seen.from == from) {
                Some(Seen { rejection: Some(rejection), .. }) => {
                    // If the send fails, the next repetition of the request is answered.
                    let _ = self.socket.send_to(rejection, from);
                }
                Some(_) => {}
                None => {
                    if self.seen.len() >= SEEN_MAX {
                        self.seen.pop_front();
                    }
                    self.seen.push_back(Seen { from, id, rejection: None });
                    return Some((answering, from));
                }
            }
        }
        None
    }

    fn reject(&mut self, id: u64, from: SocketAddr, rejection: Vec<u8>) {
        // A lost rejection is sent again when the request is repeated.
        let _ = self.socket.send_to(&rejection, from);
        if let Some(seen) = self.seen.iter_mut().find(|seen| seen.id == id && seen.from == from) {
            seen.rejection = Some(rejection);
        }
    }
}

impl<N: Network> Listening for Listener<N> {
    fn accept(&mut self, deadline: Deadline) -> Result<Box<dyn Incoming>, Error> {
        let deadline = deadline.start();
        loop {
            if let Some((answering, from)) = lock(&self.queue).next(&mut self.datagram) {
                let (network, queue) = (Arc::clone(&self.network), Arc::clone(&self.queue));
                return Ok(Box::new(ReceivedRequest { network, queue, answering, from, is_answered: false }));
            }
            if deadline.is_over() {
                return Err(Error::TimedOut);
            }
            match &self.file {
                Some(file) => poll_fds(&[file], deadline, None)?,
                None => std::thread::sleep(super::open::POLL_INTERVAL),
            }
        }
    }

    fn address(&self) -> String {
        self.address.to_string()
    }
}

/// A received request.
#[derive(Debug)]
struct ReceivedRequest<N: Network> {
    network: Arc<N>,
    queue: Arc<Mutex<RequestQueue<N::Socket>>>,
    answering: Answering,
    from: SocketAddr,
    is_answered: bool,
}

impl<N: Network> Incoming for ReceivedRequest<N> {
    fn offer(&self) -> &Offer {
        self.answering.offer()
    }

    fn peer(&self) -> String {
        self.from.to_string()
    }

    fn accept(mut self: Box<Self>, own: &Offer, deadline: Deadline) -> Result<Box<dyn Port>, Error> {
        // From here to the end of the handshake, a rejection or the engine tells the peer about a
        // failure.
        let mut socket = self.network.socket(0)?;
        let id = random()?;
        socket.set_peer(self.from);
        let link = NetworkLink { socket, peer: self.from, request_id: None };
        self.is_answered = true;
        let (settings, answering) = (self.network.settings(), &self.answering);
        Ok(match self.network.fault() {
            None => Box::new(accept(link, settings, id, answering, own, deadline)?),
            // The number differs from the peer's, so that the two ends lose different datagrams.
            Some(fault) => Box::new(accept(FaultLink::new(link, fault, 1)?, settings, id, answering, own, deadline)?),
        })
    }

    fn reject(mut self: Box<Self>, why: &str) {
        self.is_answered = true;
        lock(&self.queue).reject(self.answering.id(), self.from, self.answering.reject(why));
    }
}

impl<N: Network> Drop for ReceivedRequest<N> {
    fn drop(&mut self) {
        if !self.is_answered {
            let rejection = self.answering.reject("the request was dropped");
            lock(&self.queue).reject(self.answering.id(), self.from, rejection);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DatagramSocket, Network, NetworkProvider};
    use crate::attributes::{Attributes, Reliability};
    use crate::reliable::Settings;
    use crate::spi::Provider;
    use crate::{Deadline, Error};
    use rustix::fd::OwnedFd;
    use std::net::SocketAddr;
    use std::sync::{Arc, mpsc};
    use std::time::Duration;

    /// A network with an endless stream of nonsense.
    #[derive(Debug)]
    struct Noise(Attributes, Settings);

    #[derive(Debug)]
    struct NoiseSocket;

    impl Network for Noise {
        type Socket = NoiseSocket;

        fn socket(&self, _: u16) -> Result<NoiseSocket, Error> {
            Ok(NoiseSocket)
        }

        fn attributes(&self) -> &Attributes {
            &self.0
        }

        fn settings(&self) -> &Settings {
            &self.1
        }
    }

    impl DatagramSocket for NoiseSocket {
        fn mtu(&self) -> usize {
            1200
        }

        fn address(&self) -> SocketAddr {
            SocketAddr::from(([10, 0, 0, 1], 1))
        }

        fn set_peer(&mut self, _: SocketAddr) {}

        fn send_to(&mut self, _: &[u8], _: SocketAddr) -> Result<bool, Error> {
            Ok(true)
        }

        fn receive_from(&mut self, _: &mut [u8]) -> Result<Option<(usize, SocketAddr)>, Error> {
            Ok(Some((100, SocketAddr::from(([10, 0, 0, 2], 2)))))
        }

        fn file(&self) -> Option<Arc<OwnedFd>> {
            None
        }
    }

    #[test]
    fn endless_invalid_datagrams_do_not_extend_a_wait() {
        let attributes = Attributes {
            provider: "noise",
            max_transfer: 1,
            max_segments: 1,
            queue_depth: 1,
            rdma_write: false,
            rdma_read: false,
            reliability: &[Reliability::Unreliable],
        };
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || {
            let mut listener = NetworkProvider::new(Noise(attributes, Settings::default())).listen("1").unwrap();
            tell.send(listener.accept(Deadline::Within(Duration::from_millis(20))).map(drop)).unwrap();
        });
        let accepted = told.recv_timeout(ground::LATEST).expect("an answer");
        assert!(matches!(accepted, Err(Error::TimedOut)), "{accepted:?}");
    }
}
