//! Calls over a virtual interface: a channel makes them, a service loop answers them.
//!
//! This is the fast path: the frame is built where the peer reads it, and the header's sixteen bytes are all that is
//! added. Nothing here allocates, locks or asks the kernel unless a thread has to sleep.

mod serve;
mod words;

pub use serve::{Answer, Arrived, Attended, ServerCall, Service, receive, serve, serve_next, serve_other, set_words};
pub use words::Words;

use crate::status::Status;
use obvia_via::layout::INLINE_MAX;
use obvia_via::reliable::Guard;
use obvia_via::window::{Alarm, Message, OwnRegion, Peer, Tx, Window};
use obvia_via::{Deadline, Error as ViError, Header, Kind, Limit, RegionView};
use std::fmt;
use std::ptr::NonNull;

/// Why a call has no results.
#[derive(Debug)]
#[non_exhaustive]
pub enum CallError {
    /// The connection failed, timed out or was cancelled. It cannot be used again.
    Connection(ViError),
    /// The server refused the call or failed in it.
    Fault(Status),
    /// The method failed with this HRESULT, and the server says why.
    Failed(u32, Words),
    /// The peer answered what was not asked.
    Protocol(&'static str),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connection(error) => error.fmt(f),
            // Where there was no server to say so.
            Self::Fault(status @ (Status::SERVER_UNAVAILABLE | Status::COMM_FAILURE)) => status.fmt(f),
            Self::Fault(status) => write!(f, "the server answered with a fault: {status}"),
            Self::Failed(status, words) => write!(f, "{} ({status:#010x})", words.description),
            Self::Protocol(what) => write!(f, "the peer broke the protocol: {what}"),
        }
    }
}

impl std::error::Error for CallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Connection(error) => Some(error),
            _ => None,
        }
    }
}

impl From<ViError> for CallError {
    fn from(error: ViError) -> Self {
        Self::Connection(error)
    }
}

/// Which interface pointer of the peer a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TargetId {
    /// Its place in the peer's object table.
    pub index: u32,
    /// Tells it from earlier tenants of that place.
    pub generation: u32,
}

impl TargetId {
    /// Both numbers in one word, as they travel: the index below, the generation above.
    #[inline(always)]
    pub const fn word(self) -> u64 {
        self.index as u64 | (self.generation as u64) << 32
    }

    /// What [`Self::word`] was made of.
    #[inline(always)]
    pub const fn from_word(word: u64) -> Self {
        Self { index: word as u32, generation: (word >> 32) as u32 }
    }
}

/// A connection on which one thread at a time makes calls. Where a call panics it is to be dropped.
#[derive(Debug)]
pub struct Channel {
    window: Window,
    // Invariant: once a call ended without its response, no further call is made: a late response would be taken for
    // the next call's.
    broken: bool,
    given: Vec<Option<GivenRegion>>,
    context: bool,
}

/// A region of this side in the books of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GivenRegion {
    /// Which one it is, in this process.
    pub id: u64,
    /// Whether the peer has mapped it; otherwise it could not, and need not be asked again.
    pub is_mapped: bool,
}

/// The results of a call, in the peer's memory until the next call on the channel.
#[derive(Clone, Copy, Debug)]
pub struct Reply<'a> {
    /// What the method returned.
    pub status: u32,
    /// The results' frame.
    pub frame: RegionView<'a>,
}

impl Channel {
    /// A channel over a fresh connection.
    pub fn new(window: Window) -> Self {
        Self { window, broken: false, given: Vec::new(), context: false }
    }

    /// Whether a call on it failed half-way, or the peer is gone: then it is to be dropped.
    #[inline]
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// Whether it cannot be used any more, for whatever cause.
    pub fn is_closed(&self) -> bool {
        self.broken || self.window.is_closed()
    }

    /// Whether the peer ended or closed the connection.
    pub fn is_ended(&self) -> bool {
        self.window.is_closed()
    }

    /// The host that this end is, as the peer reaches it over a network.
    pub fn local(&self) -> Option<&str> {
        self.window.local()
    }

    /// Who is at the other end.
    pub fn peer(&self) -> Peer {
        self.window.peer()
    }

    /// Whether regions can be handed to the peer.
    pub fn shares_memory(&self) -> bool {
        self.window.shares_memory()
    }

    /// Hands a region to the peer, who has it when it has performed a call that names the number: see
    /// [`ServerCall::admit_region`].
    ///
    /// # Errors
    ///
    /// Where the two sides share no memory, and when the peer is gone.
    pub fn give_region(&self, number: u16, region: &OwnRegion) -> Result<(), ViError> {
        self.window.give_region(number, region)
    }

    /// Has nobody but the two ends send packets of the connection from now on: see [`Window::guard`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn guard(&self, guard: Guard) -> Result<(), ViError> {
        self.window.guard(guard)
    }

    /// What the peer was given, by number from 1 on: the caller's own books.
    pub fn given_regions(&mut self) -> &mut Vec<Option<GivenRegion>> {
        &mut self.given
    }

    /// The caller's own note: true once the peer was told a context for the next call.
    pub fn has_context(&mut self) -> &mut bool {
        &mut self.context
    }

    /// True where calls travel as PDUs of the standard, which have room for a context.
    pub fn is_relayed(&self) -> bool {
        self.window.is_relayed()
    }

    /// A handle that interrupts a call from another thread.
    pub fn alarm(&self) -> Alarm {
        self.window.alarm()
    }

    /// The place for a request's frame that fits a slot.
    ///
    /// # Errors
    ///
    /// When the connection is full of one-way calls and the peer takes none by the deadline.
    #[inline(always)]
    pub fn inline_request(&mut self, limit: impl Limit) -> Result<&mut [u8; INLINE_MAX], CallError> {
        Ok(self.window.tx.inline_frame(limit)?)
    }

    /// Where [`Self::inline_request`] is, if it has not to wait: to be written until something is published.
    #[inline(always)]
    pub fn request_slot(&self) -> Option<NonNull<[u8; INLINE_MAX]>> {
        self.window.tx.has_credit().then(|| self.window.tx.slot_frame())
    }

    /// The same after a response, which leaves nothing to wait for. The next call is likely to come soon.
    #[inline(always)]
    pub fn next_request_slot(&mut self) -> NonNull<[u8; INLINE_MAX]> {
        self.window.tx.claim_slot()
    }

    /// The place for a request's frame of any length; publish it with the same length. `bulk` is the offset of what there is
    /// most of, which a frame outside a slot gets into line.
    ///
    /// # Errors
    ///
    /// As [`Self::inline_request`]; and when the frame is over the connection's limit.
    #[inline]
    pub fn request(&mut self, length: usize, bulk: usize, limit: impl Limit) -> Result<&mut [u8], CallError> {
        if length <= INLINE_MAX {
            return Ok(&mut self.window.tx.inline_frame(limit)?[..length]);
        }
        Ok(self.window.tx.area_frame(length, bulk, limit)?)
    }

    /// Publishes the request whose frame was given out last, and waits for its response.
    ///
    /// # Errors
    ///
    /// [`CallError::Fault`] and [`CallError::Failed`] leave the channel usable, every other error breaks it.
    pub fn call(
        &mut self,
        target: TargetId,
        opnum: u16,
        length: usize,
        limit: impl Limit,
    ) -> Result<Reply<'_>, CallError> {
        self.exchange(target.word(), opnum, length, limit).map_err(|error| *error)
    }

    /// The same with a target's word, and an error that fits a register.
    ///
    /// # Errors
    ///
    /// As [`Self::call`].
    #[inline(always)]
    pub fn exchange(
        &mut self,
        target: u64,
        opnum: u16,
        length: usize,
        limit: impl Limit,
    ) -> Result<Reply<'_>, Box<CallError>> {
        let Self { window: Window { tx, rx, .. }, broken, .. } = self;
        let call_id = tx.next_sequence();
        publish(tx, Kind::Request, opnum, target, length);
        let message = match rx.receive_or_why(limit) {
            Ok(message) => message,
            Err(error) => return Err(abandon(tx, broken, call_id, error)),
        };
        let word = message.target_word();
        if !message.is(Kind::Response) || (word >> 32) as u32 != call_id {
            return Err(no_response(tx, broken, call_id, &message));
        }
        tx.taken_through(call_id);
        Ok(Reply { status: word as u32, frame: message.frame() })
    }

    /// Publishes the request whose frame was given out last as a call without response.
    #[inline]
    pub fn oneway(&mut self, target: TargetId, opnum: u16, length: usize) {
        publish(&mut self.window.tx, Kind::Oneway, opnum, target.word(), length);
    }

    /// Sends one protocol data unit and waits for the peer's.
    ///
    /// # Errors
    ///
    /// As [`Self::call`].
    pub fn exchange_pdu(&mut self, pdu: &[u8], limit: impl Limit) -> Result<Vec<u8>, CallError> {
        self.broken = true;
        self.request(pdu.len(), 0, limit)?.copy_from_slice(pdu);
        let call_id = self.window.tx.next_sequence();
        publish(&mut self.window.tx, Kind::Pdu, 0, 0, pdu.len());
        let message = self.window.rx.receive(limit)?;
        if !message.is(Kind::Pdu) {
            return Err(*no_response(&mut self.window.tx, &mut self.broken, call_id, &message));
        }
        let answer = private_copy(&message);
        self.window.tx.taken_through(call_id);
        self.broken = false;
        Ok(answer)
    }
}

#[inline(always)]
fn publish(tx: &mut Tx, kind: Kind, opnum: u16, target: u64, length: usize) {
    let TargetId { index, generation } = TargetId::from_word(target);
    let header = Header { kind, opnum, first: index, second: generation };
    if length <= INLINE_MAX {
        tx.send_inline(header, length);
    } else {
        tx.send_area(header, length);
    }
}

/// Tells the peer that a response is no longer wanted. The connection ends soon after, which says it again.
#[cold]
#[inline(never)]
#[expect(clippy::boxed_local, reason = "it comes in a register")]
fn abandon(tx: &mut Tx, broken: &mut bool, call_id: u32, error: Box<ViError>) -> Box<CallError> {
    *broken = true;
    if matches!(*error, ViError::TimedOut | ViError::Cancelled)
        && tx.inline_frame(Deadline::Within(std::time::Duration::ZERO)).is_ok()
    {
        tx.send_inline(Header { kind: Kind::Cancel, opnum: 0, first: 0, second: call_id }, 0);
    }
    Box::new(CallError::Connection(*error))
}

/// What an answer means that is not the response.
#[cold]
#[inline(never)]
fn no_response(tx: &mut Tx, broken: &mut bool, call_id: u32, message: &Message<'_>) -> Box<CallError> {
    *broken = true;
    let answer = match message.header() {
        Ok(answer) => answer,
        Err(violation) => return Box::new(CallError::Connection(violation.into())),
    };
    Box::new(match answer.kind {
        Kind::Fault if answer.second == call_id => {
            *broken = false;
            let words = words_in(message).filter(|_| answer.first.cast_signed() < 0);
            tx.taken_through(call_id);
            words.map_or(CallError::Fault(Status(answer.first)), |words| CallError::Failed(answer.first, words))
        }
        Kind::Response | Kind::Fault | Kind::Pdu => CallError::Protocol("the response is to another call"),
        _ => CallError::Protocol("the answer is neither a response nor a fault"),
    })
}

/// The words in a fault's frame. The status says that the method failed, as faults without a frame are of calls that did not get there.
fn words_in(fault: &Message<'_>) -> Option<Words> {
    let length = fault.frame().len();
    if length == 0 || length > Words::FRAME_MAX { None } else { Words::from_frame(&private_copy(fault)) }
}

fn private_copy(message: &Message<'_>) -> Vec<u8> {
    let mut bytes = vec![0; message.frame().len()];
    // The view has exactly this many bytes.
    let copied = message.frame().copy_to(0, &mut bytes);
    debug_assert!(copied.is_some());
    bytes
}
