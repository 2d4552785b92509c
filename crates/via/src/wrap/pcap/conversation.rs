//! The traffic between two ends, in the capture of their processes.

use super::packet::{ACK, FIN, Layer, PAYLOAD_MAX, PUSH, SYN};
use super::{Ends, SharedCapture, now};
use crate::Error;
use crate::sync::lock;
use rustix::fd::OwnedFd;
use std::net::UdpSocket;
use std::sync::{Mutex, MutexGuard};

/// A stream, or datagrams to and from one peer, in a shared capture.
///
/// Bytes have to be captured before they are sent, and after they are received. So in the capture,
/// each packet follows the packets that caused it, whichever process writes the packet.
#[derive(Debug)]
pub struct Conversation {
    capture: &'static SharedCapture,
    ends: Ends,
    transport: Transport,
    state: Mutex<State>,
    _claim: OwnedFd,
}

/// The transport protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    Udp,
    Tcp,
}

impl Transport {
    fn name(self) -> &'static str {
        match self {
            Self::Udp => "udp",
            Self::Tcp => "tcp",
        }
    }
}

#[derive(Debug)]
struct State {
    /// The next sequence numbers of this side and of the peer.
    sequences: [u32; 2],
    /// Whether the peer captures the packets that it sends; `None` until the peer has sent bytes.
    peer_writes: Option<bool>,
    /// Whether this side opened the stream.
    is_opener: bool,
    has_peer_ended: bool,
}

/// The sender of a packet.
#[derive(Clone, Copy)]
enum Side {
    Own,
    Peer,
}

impl Conversation {
    /// Begins the conversation of a stream that was just connected. `is_opener` says whether this
    /// side opened the stream. Returns `None` where the process has no capture.
    ///
    /// # Errors
    ///
    /// As [`SharedCapture::join`]. Also an error of the system when the process has no file
    /// descriptors left.
    pub fn of_stream(ends: Ends, is_opener: bool) -> Result<Option<Self>, Error> {
        let Some(capture) = SharedCapture::of_process()? else { return Ok(None) };
        Self::new(capture, ends, Transport::Tcp, is_opener).map(Some)
    }

    /// Begins the conversation of datagrams between two ends. The own address is unspecified if the
    /// socket is bound to all addresses of the host. It is then replaced by the address from which
    /// this host reaches the peer.
    ///
    /// # Errors
    ///
    /// As [`Self::of_stream`].
    pub fn of_datagrams(mut ends: Ends) -> Result<Option<Self>, Error> {
        let Some(capture) = SharedCapture::of_process()? else { return Ok(None) };
        if ends.own.ip().is_unspecified() {
            let leads_to = |socket: UdpSocket| socket.connect(ends.peer).and_then(|()| socket.local_addr());
            let address = UdpSocket::bind((ends.own.ip(), 0)).and_then(leads_to);
            ends.own.set_ip(address.map_err(Error::io("finding the address that leads to a peer"))?.ip());
        }
        Self::new(capture, ends, Transport::Udp, true).map(Some)
    }

    pub(super) fn new(
        capture: &'static SharedCapture,
        ends: Ends,
        transport: Transport,
        is_opener: bool,
    ) -> Result<Self, Error> {
        let ends = ends.canonical();
        let claim = capture.claim(transport.name(), ends)?;
        let state = State { sequences: [0; 2], peer_writes: None, is_opener, has_peer_ended: false };
        let conversation = Self { capture, ends, transport, state: Mutex::new(state), _claim: claim };
        if is_opener {
            conversation.open(&mut conversation.lock());
        } else {
            conversation.lock().sequences = [1; 2];
        }
        Ok(conversation)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Captures bytes before this side sends them.
    pub fn sent(&self, bytes: &[u8]) {
        self.write(&mut self.lock(), Side::Own, bytes);
    }

    /// Captures bytes received from the peer, unless the peer captures them itself.
    pub fn received(&self, bytes: &[u8]) {
        let state = &mut *self.lock();
        // The peer claims its end before it sends the first bytes.
        let first = state.peer_writes.is_none();
        if *state.peer_writes.get_or_insert_with(|| self.peer_writes()) {
            state.sequences[Side::Peer as usize] =
                state.sequences[Side::Peer as usize].wrapping_add(bytes.len() as u32);
            return;
        }
        if first && !state.is_opener && state.sequences == [1; 2] {
            self.open(state);
        }
        self.write(state, Side::Peer, bytes);
    }

    /// Captures the end of the peer's stream, unless the peer captures it itself.
    pub fn ended_by_peer(&self) {
        let state = &mut *self.lock();
        let was_noted = std::mem::replace(&mut state.has_peer_ended, true);
        if !was_noted && !*state.peer_writes.get_or_insert_with(|| self.peer_writes()) {
            self.segment(state, Side::Peer, FIN | ACK, &[]);
        }
    }

    fn peer_writes(&self) -> bool {
        self.capture.is_claimed(self.transport.name(), self.ends.reversed())
    }

    /// Captures the three segments that open a stream: RFC 9293 3.5.
    fn open(&self, state: &mut State) {
        if self.transport == Transport::Udp {
            return;
        }
        let [opener, other] = if state.is_opener { [Side::Own, Side::Peer] } else { [Side::Peer, Side::Own] };
        state.sequences = [0; 2];
        self.segment(state, opener, SYN, &[]);
        self.segment(state, other, SYN | ACK, &[]);
        self.segment(state, opener, ACK, &[]);
    }

    fn write(&self, state: &mut State, side: Side, bytes: &[u8]) {
        match self.transport {
            Transport::Udp => self.packet(side, Layer::Udp, bytes),
            Transport::Tcp => bytes.chunks(PAYLOAD_MAX).for_each(|piece| self.segment(state, side, PUSH | ACK, piece)),
        }
    }

    fn segment(&self, state: &mut State, side: Side, flags: u8, bytes: &[u8]) {
        let [sequence, other] = match side {
            Side::Own => [Side::Own, Side::Peer],
            Side::Peer => [Side::Peer, Side::Own],
        };
        let acknowledged = if flags & ACK == 0 { 0 } else { state.sequences[other as usize] };
        let next = &mut state.sequences[sequence as usize];
        self.packet(side, Layer::Tcp { flags, sequence: *next, acknowledged }, bytes);
        // The start and the end of a stream count as one byte each: RFC 9293 3.4.
        let counted = bytes.len() as u32 + u32::from(flags & (SYN | FIN) != 0);
        *next = next.wrapping_add(counted);
    }

    fn packet(&self, side: Side, layer: Layer, bytes: &[u8]) {
        let ends = match side {
            Side::Own => self.ends,
            Side::Peer => self.ends.reversed(),
        };
        self.capture.capture().packet(now(), ends, layer, bytes);
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        if self.transport == Transport::Tcp {
            self.segment(&mut self.lock(), Side::Own, FIN | ACK, &[]);
        }
    }
}
