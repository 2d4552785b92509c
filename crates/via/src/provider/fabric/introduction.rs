//! Connections between connectionless endpoints (`FI_EP_RDM`). Each endpoint has one peer, and a
//! socket introduces the two to each other.
//!
//! The requesting side sends its endpoint's name and its offer. The answer has the name and the
//! offer of the accepting side, or the reason for a refusal. The socket stays open: it later
//! carries the reason why the connection ends, and its end of file shows the end of the peer's
//! process.

use super::NicState;
use super::endpoint::{Endpoint, NAME_MAX};
use super::endpoint_pair::EndpointHandle;
use super::port::FabricPort;
use super::side_channel::{SideChannel, SocketMessages};
use super::stream::{ListeningSocket, PartialMessage, connect_socket, send};
use crate::spi::{Incoming, Listening, Offer, Port};
use crate::{Deadline, Ended, Error, Violation};
use rustix::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The first bytes of each introduction message: the protocol and its version.
const MARK: [u8; 4] = *b"OVF\x01";
const REQUEST: u8 = 1;
const ACCEPT: u8 = 2;
const REJECT: u8 = 3;
/// The maximum length of the reason for a refusal, in bytes.
const REASON_MAX: usize = 256;
/// The maximum number of connections whose request is incomplete. A further connection replaces the
/// oldest one, so that silent peers do not shut out others.
const PENDING_MAX: usize = 64;
/// The maximum time for which a connection's request may stay incomplete.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

fn piece(kind: u8, name: &[u8], rest: &[u8]) -> Vec<u8> {
    let mut piece = MARK.to_vec();
    piece.push(kind);
    piece.extend((name.len() as u16).to_le_bytes());
    piece.extend(name);
    piece.extend(rest);
    piece
}

/// Splits an introduction message into its kind, the name of an endpoint, and the bytes after the
/// name. `None` for a malformed message.
fn parse(piece: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let rest = piece.strip_prefix(&MARK)?;
    let (head, rest) = rest.split_at_checked(3)?;
    let length = usize::from(u16::from_le_bytes([head[1], head[2]]));
    let (name, rest) = rest.split_at_checked(length)?;
    (length <= NAME_MAX).then_some((head[0], name, rest))
}

fn nonsense() -> Error {
    Error::Violation(Violation::BadGreeting)
}

fn endpoint(nic: &NicState, tag: u64) -> Result<(Endpoint, Arc<super::TagDomain>), Error> {
    let domain = nic.domain(tag)?;
    Ok((Endpoint::open(&domain.domain, &nic.info, nic.completions())?, domain))
}

/// Connects to a listener.
pub(super) fn connect(
    nic: &Arc<NicState>,
    tag: u64,
    address: &str,
    own: &Offer,
    deadline: Deadline,
) -> Result<(Box<dyn Port>, Offer), Error> {
    let socket = connect_socket(nic.options.directory.as_ref(), address, nic.options.silence, deadline)?;
    let (endpoint, domain) = endpoint(nic, tag)?;
    let own_name = endpoint.name()?;
    let endpoint = EndpointHandle::new(endpoint);
    endpoint.publish(&own_name);
    send(&socket, &piece(REQUEST, &own_name, &own.to_bytes()))?;
    let answer = PartialMessage::wait(&socket, deadline)?;
    let (kind, name, rest) = parse(&answer).ok_or_else(nonsense)?;
    if kind == REJECT {
        return Err(Error::Refused { why: String::from_utf8_lossy(rest).into_owned() });
    }
    let offer = Offer::from_bytes(rest).filter(|_| kind == ACCEPT).ok_or_else(nonsense)?;
    endpoint.with(|endpoint| endpoint.set_peer(name, nic.is_shm())).ok_or_else(nonsense)??;
    let side_channel = SideChannel::Socket(SocketMessages::new(socket));
    let port = FabricPort::new(nic, endpoint, side_channel, domain, address.to_owned())?;
    Ok((Box::new(port), offer))
}

/// A connection whose request is incomplete.
#[derive(Debug)]
struct PendingPeer {
    socket: OwnedFd,
    peer: String,
    is_own: bool,
    accepted_at: Instant,
    arriving: PartialMessage,
}

/// A listener for introductions.
#[derive(Debug)]
pub(super) struct Listener {
    nic: Arc<NicState>,
    socket: ListeningSocket,
    pending: Vec<PendingPeer>,
}

impl Listener {
    pub(super) fn open(nic: &Arc<NicState>, discriminator: &str) -> Result<Self, Error> {
        let socket = ListeningSocket::open(nic.options.directory.as_ref(), discriminator)?;
        Ok(Self { nic: Arc::clone(nic), socket, pending: Vec::new() })
    }

    /// Accepts the connections that have arrived.
    fn accept_pending(&mut self) -> Result<(), Error> {
        let now = Instant::now();
        self.pending.retain(|peer| now.saturating_duration_since(peer.accepted_at) < REQUEST_TIMEOUT);
        // At most `PENDING_MAX` connections are accepted at a time, so that the caller reads from
        // each new connection before that connection can be replaced.
        for _ in 0..PENDING_MAX {
            let Some((socket, peer, is_own)) = self.socket.next(self.nic.options.silence)? else { break };
            if self.pending.len() >= PENDING_MAX
                && let Some(oldest) = (0..self.pending.len()).min_by_key(|at| self.pending[*at].accepted_at)
            {
                self.pending.swap_remove(oldest);
            }
            self.pending.push(PendingPeer {
                socket,
                peer,
                is_own,
                accepted_at: now,
                arriving: PartialMessage::default(),
            });
        }
        Ok(())
    }

    /// Returns the first complete request, if there is one. Drops peers whose request is malformed.
    fn next_request(&mut self) -> Option<Request> {
        let mut at = 0;
        while let Some(peer) = self.pending.get_mut(at) {
            match peer.arriving.take(&peer.socket) {
                Ok(None) => at += 1,
                Ok(Some(piece)) => {
                    let PendingPeer { socket, peer, is_own, .. } = self.pending.swap_remove(at);
                    let asked = parse(&piece).filter(|(kind, ..)| *kind == REQUEST);
                    let offer = asked.and_then(|(_, name, rest)| Some((name.to_vec(), Offer::from_bytes(rest)?)));
                    if let Some((name, offer)) = offer {
                        let nic = Arc::clone(&self.nic);
                        return Some(Request { nic, socket: Some(socket), name, offer, peer, is_own });
                    }
                }
                Err(_) => drop(self.pending.swap_remove(at)),
            }
        }
        None
    }
}

impl Listening for Listener {
    fn accept(&mut self, deadline: Deadline) -> Result<Box<dyn Incoming>, Error> {
        let deadline = deadline.start();
        loop {
            self.accept_pending()?;
            if let Some(request) = self.next_request() {
                return Ok(Box::new(request));
            }
            if deadline.is_over() {
                return Err(Error::TimedOut);
            }
            let mut due = Instant::now() + deadline.remaining();
            if !self.pending.is_empty() {
                due = due.min(Instant::now() + REQUEST_TIMEOUT);
            }
            let sockets: Vec<_> = self.pending.iter().map(|peer| &peer.socket).collect();
            self.socket.sleep(&sockets, Deadline::At(due))?;
        }
    }

    fn address(&self) -> String {
        self.socket.address()
    }
}

/// A peer's connection request.
#[derive(Debug)]
struct Request {
    nic: Arc<NicState>,
    // `None` once the request is answered.
    socket: Option<OwnedFd>,
    name: Vec<u8>,
    offer: Offer,
    peer: String,
    // Whether the peer is in this process.
    is_own: bool,
}

impl Request {
    fn refuse(&mut self, why: &str) {
        let Some(socket) = self.socket.take() else { return };
        let mut end = why.len().min(REASON_MAX);
        while !why.is_char_boundary(end) {
            end -= 1;
        }
        // An error means that the peer is gone.
        let _ = send(&socket, &piece(REJECT, &[], &why.as_bytes()[..end]));
    }
}

impl Incoming for Request {
    fn offer(&self) -> &Offer {
        &self.offer
    }

    fn peer(&self) -> String {
        self.peer.clone()
    }

    fn accept(self: Box<Self>, own: &Offer, deadline: Deadline) -> Result<Box<dyn Port>, Error> {
        self.accept_tagged(super::NO_TAG, own, deadline)
    }

    fn accept_tagged(mut self: Box<Self>, tag: u64, own: &Offer, _deadline: Deadline) -> Result<Box<dyn Port>, Error> {
        let (mut endpoint, domain) = endpoint(&self.nic, tag)?;
        endpoint.set_peer(&self.name, self.nic.is_shm())?;
        let answer = piece(ACCEPT, &endpoint.name()?, &own.to_bytes());
        let gone = || Error::Disconnected { peer: self.peer.clone(), why: Ended::Silent };
        let socket = self.socket.take().ok_or_else(gone)?;
        let endpoint =
            if self.is_own { EndpointHandle::join(&self.name, endpoint) } else { EndpointHandle::new(endpoint) };
        send(&socket, &answer).map_err(|_| gone())?;
        let side_channel = SideChannel::Socket(SocketMessages::new(socket));
        let peer = self.peer.clone();
        Ok(Box::new(FabricPort::new(&self.nic, endpoint, side_channel, domain, peer)?))
    }

    fn reject(mut self: Box<Self>, why: &str) {
        self.refuse(why);
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        self.refuse("the listener did not respond");
    }
}

#[cfg(test)]
mod tests {
    use super::{ACCEPT, NAME_MAX, parse, piece};

    #[test]
    fn introduction_messages_round_trip() {
        let whole = piece(ACCEPT, b"fi_shm://1", b"rest");
        assert_eq!(parse(&whole), Some((ACCEPT, &b"fi_shm://1"[..], &b"rest"[..])));
        for length in 0..whole.len() - 4 {
            assert_eq!(parse(&whole[..length]), None, "{length}");
        }
    }

    #[test]
    fn introductions_with_long_names_or_other_protocols_are_refused() {
        assert_eq!(parse(&piece(ACCEPT, &[1; NAME_MAX + 1], b"")), None);
        let mut other = piece(ACCEPT, b"name", b"");
        other[0] = b'X';
        assert_eq!(parse(&other), None);
    }
}
