//! Calls over a virtual interface: a channel makes calls, a service loop answers them.
//!
//! The caller builds the frame in the memory that the peer reads, and the transport adds only the
//! header's sixteen bytes. A call allocates nothing, takes no locks and makes no system calls
//! unless a thread has to sleep.

mod serve;
mod words;

pub use serve::{
    Answer, Arrived, Attended, Served, ServerCall, Service, receive, serve, serve_next, serve_other,
    serve_until_silent, set_words,
};
pub use words::Words;

use crate::status::Status;
use obvia_via::layout::INLINE_MAX;
use obvia_via::reliable::Guard;
use obvia_via::window::{Alarm, Message, OwnRegion, Peer, Rx, Tx, Window};
use obvia_via::{Budget, Deadline, Error as ViError, Header, Kind, Limit, RegionView};
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

/// The interval at which [`Channel::call_while`] asks whether the call is still awaited.
const INTERVAL: Duration = Duration::from_millis(100);

/// The reason why a call has no results.
#[derive(Debug)]
#[non_exhaustive]
pub enum CallError {
    /// The connection failed, or the call timed out or was cancelled, and the connection cannot be
    /// used again. The exception is a request for which no memory was available: see
    /// [`Channel::is_broken`].
    Connection(ViError),
    /// The server refused the call or failed to execute it.
    Fault(Status),
    /// The method failed with this HRESULT and this error information.
    Failed(u32, Words),
    /// The peer's answer breaks the protocol.
    Protocol(&'static str),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connection(error) => error.fmt(f),
            // Clients also create these statuses themselves, if no server answers.
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

/// The target of a call: an interface pointer in the peer's object table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TargetId {
    /// The index in the peer's object table.
    pub index: u32,
    /// The generation, which distinguishes the target from earlier ones at the same index.
    pub generation: u32,
}

impl TargetId {
    /// Returns both numbers in one word, as on the wire: the index in the lower half, and the
    /// generation in the upper half.
    #[inline(always)]
    pub const fn word(self) -> u64 {
        self.index as u64 | (self.generation as u64) << 32
    }

    /// Splits a word of [`Self::word`] into both numbers.
    #[inline(always)]
    pub const fn from_word(word: u64) -> Self {
        Self { index: word as u32, generation: (word >> 32) as u32 }
    }
}

/// A connection on which one thread at a time makes calls. A channel on which a call panicked has
/// to be dropped.
#[derive(Debug)]
pub struct Channel {
    window: Window,
    // Invariant: true from the time when a call has ended without its response, or `break_off` was
    // called. A broken channel makes no further call, which could get the late response of the
    // earlier call.
    broken: bool,
    passed: Vec<Option<PassedRegion>>,
    context: bool,
}

/// The state of a region of this process that was passed to the peer of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassedRegion {
    /// The region's number in this process.
    pub id: u64,
    /// Whether the peer has mapped the region. If not, the peer has failed to map it, and is not
    /// asked again.
    pub is_mapped: bool,
}

/// The results of a call, in the peer's memory until the next call on the channel.
#[derive(Clone, Copy, Debug)]
pub struct Reply<'a> {
    /// The method's return value.
    pub status: u32,
    /// The results' frame.
    pub frame: RegionView<'a>,
}

impl Channel {
    /// Creates a channel over a new connection.
    pub fn new(window: Window) -> Self {
        Self { window, broken: false, passed: Vec::new(), context: false }
    }

    /// Whether a call has ended without its response, or [`Self::break_off`] was called. A broken
    /// channel has to be dropped.
    #[inline]
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// Marks the channel as broken, because both sides may disagree about what they have exchanged.
    pub fn break_off(&mut self) {
        self.broken = true;
    }

    /// Whether the channel cannot be used any more, for any reason.
    pub fn is_closed(&self) -> bool {
        self.broken || self.window.is_closed()
    }

    /// Whether the connection has ended, because one of the two sides has closed it or for another
    /// reason.
    pub fn is_ended(&self) -> bool {
        self.window.is_closed()
    }

    /// Returns the address at which the peer reaches this end's host over a network, if this
    /// address is known.
    pub fn local(&self) -> Option<&str> {
        self.window.local()
    }

    /// Whether the peer may sleep between messages: see [`Window::peer_may_sleep`].
    pub fn peer_may_sleep(&self) -> bool {
        self.window.peer_may_sleep()
    }

    /// Returns the identity of the peer.
    pub fn peer(&self) -> Peer {
        self.window.peer()
    }

    /// Makes larger areas for the peer's frames from now on: see [`Window::grant_areas`].
    pub fn grant_areas(&self, budget: Option<Arc<dyn Budget>>) {
        self.window.grant_areas(budget);
    }

    /// Whether regions can be passed to the peer.
    pub fn shares_memory(&self) -> bool {
        self.window.shares_memory()
    }

    /// Passes a region to the peer under the number `number`. The peer maps the region when it
    /// executes a call that names this number: see [`ServerCall::admit_region`].
    ///
    /// # Errors
    ///
    /// [`ViError::Unsupported`] if the two sides share no memory, and another error if the peer is
    /// gone.
    pub fn pass_region(&self, number: u16, region: &OwnRegion) -> Result<(), ViError> {
        self.window.pass_region(number, region)
    }

    /// Authenticates the connection's packets with `guard` from now on: see [`Window::guard`].
    ///
    /// # Errors
    ///
    /// As for [`Window::guard`].
    pub fn guard(&self, guard: Guard) -> Result<(), ViError> {
        self.window.guard(guard)
    }

    /// Returns the records of the regions passed to the peer, by number from 1 on. The floor above
    /// maintains these records.
    pub fn passed_regions(&mut self) -> &mut Vec<Option<PassedRegion>> {
        &mut self.passed
    }

    /// Returns the flag that tells whether the peer was sent a context for the next call. The floor
    /// above maintains this flag.
    pub fn has_context(&mut self) -> &mut bool {
        &mut self.context
    }

    /// Whether calls travel as the standard's PDUs, which have room for a context.
    pub fn is_relayed(&self) -> bool {
        self.window.is_relayed()
    }

    /// Returns a handle that interrupts a call from another thread.
    pub fn alarm(&self) -> Alarm {
        self.window.alarm()
    }

    /// Returns the memory for the frame of a request, which has to fit a slot.
    ///
    /// # Errors
    ///
    /// [`CallError::Connection`] if the connection has no credit, because one-way calls have used
    /// it up, and the peer returns no credit before the deadline.
    #[inline(always)]
    pub fn inline_request(&mut self, limit: impl Limit) -> Result<&mut [u8; INLINE_MAX], CallError> {
        Ok(self.window.tx.inline_frame(limit)?)
    }

    /// Returns the memory of [`Self::inline_request`] if there is credit. The caller may write to
    /// this memory until the next message is published.
    #[inline(always)]
    pub fn request_slot(&self) -> Option<NonNull<[u8; INLINE_MAX]>> {
        self.window.tx.has_credit().then(|| self.window.tx.slot_frame())
    }

    /// Returns the memory of [`Self::inline_request`] for a call that follows soon. The channel
    /// must just have received a response, so that there is credit.
    #[inline(always)]
    pub fn next_request_slot(&mut self) -> NonNull<[u8; INLINE_MAX]> {
        self.window.tx.claim_slot()
    }

    /// Returns the memory for a request's frame of `length` bytes. The request has to be published
    /// with the same length. `bulk` is the offset of the frame's largest part. If the frame does
    /// not fit a slot, this part is aligned to a cache line.
    ///
    /// # Errors
    ///
    /// As for [`Self::inline_request`]. Also if the frame exceeds the connection's limit, or if a
    /// limit on memory leaves no room for it.
    #[inline]
    pub fn request(&mut self, length: usize, bulk: usize, limit: impl Limit) -> Result<&mut [u8], CallError> {
        if length <= INLINE_MAX {
            return Ok(&mut self.window.tx.inline_frame(limit)?[..length]);
        }
        Ok(self.window.tx.area_frame(length, bulk, limit)?)
    }

    /// Publishes the request whose frame was returned last, and waits for its response.
    ///
    /// # Errors
    ///
    /// [`CallError::Fault`] and [`CallError::Failed`] leave the channel usable; all other errors
    /// break it.
    pub fn call(
        &mut self,
        target: TargetId,
        opnum: u16,
        length: usize,
        limit: impl Limit,
    ) -> Result<Reply<'_>, CallError> {
        self.exchange(target.word(), opnum, length, limit).map_err(|error| *error)
    }

    /// As [`Self::call`], but takes the target as a word ([`TargetId::word`]), and returns the
    /// error in a box, which fits a register.
    ///
    /// # Errors
    ///
    /// As for [`Self::call`].
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
        await_response(tx, rx, broken, call_id, limit)
    }

    /// As [`Self::call`], but calls `is_awaited` at intervals, and cancels the call when the
    /// function returns false.
    ///
    /// # Errors
    ///
    /// As for [`Self::call`]. Also if the call was cancelled.
    pub fn call_while(
        &mut self,
        target: TargetId,
        opnum: u16,
        length: usize,
        deadline: Deadline,
        is_awaited: &dyn Fn() -> bool,
    ) -> Result<Reply<'_>, CallError> {
        let Self { window: Window { tx, rx, .. }, broken, .. } = self;
        let (call_id, deadline) = (tx.next_sequence(), deadline.start());
        publish(tx, Kind::Request, opnum, target.word(), length);
        while let Err(error) = rx.wait(Deadline::Within(deadline.remaining().min(INTERVAL))) {
            let why = match *error {
                ViError::TimedOut if deadline.is_over() => ViError::TimedOut,
                ViError::TimedOut if is_awaited() => continue,
                ViError::TimedOut => ViError::Cancelled,
                other => other,
            };
            return Err(*abandon(tx, broken, call_id, Box::new(why)));
        }
        await_response(tx, rx, broken, call_id, deadline).map_err(|error| *error)
    }

    /// Publishes the request whose frame was returned last as a call without response.
    #[inline]
    pub fn oneway(&mut self, target: TargetId, opnum: u16, length: usize) {
        publish(&mut self.window.tx, Kind::Oneway, opnum, target.word(), length);
    }

    /// Sends one protocol data unit, waits for the peer's unit and returns it.
    ///
    /// # Errors
    ///
    /// As for [`Self::call`] and [`Self::request`]. In this function, the errors of
    /// [`Self::request`] break the channel as well.
    pub fn exchange_pdu(&mut self, pdu: &[u8], limit: impl Limit) -> Result<Vec<u8>, CallError> {
        self.broken = true;
        self.request(pdu.len(), 0, limit)?.copy_from_slice(pdu);
        let call_id = self.window.tx.next_sequence();
        publish(&mut self.window.tx, Kind::Pdu, 0, 0, pdu.len());
        let message = self.window.rx.receive(limit)?;
        if !message.is(Kind::Pdu) {
            return Err(*no_response(&mut self.window.tx, &mut self.broken, call_id, &message));
        }
        let answer = pdu_in(&message)?;
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

/// Waits for the response to a call.
#[inline(always)]
fn await_response<'a>(
    tx: &mut Tx,
    rx: &'a mut Rx,
    broken: &mut bool,
    call_id: u32,
    limit: impl Limit,
) -> Result<Reply<'a>, Box<CallError>> {
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

/// Marks the channel as broken. Tells the peer that the response is no longer wanted, if a message
/// can be sent at once. If not, the peer soon notices the end of the connection, since broken
/// channels are dropped.
#[cold]
#[inline(never)]
#[expect(clippy::boxed_local, reason = "it comes in a register")]
fn abandon(tx: &mut Tx, broken: &mut bool, call_id: u32, error: Box<ViError>) -> Box<CallError> {
    *broken = true;
    if matches!(*error, ViError::TimedOut | ViError::Cancelled)
        && tx.inline_frame(Deadline::Within(Duration::ZERO)).is_ok()
    {
        tx.send_inline(Header { kind: Kind::Cancel, opnum: 0, first: 0, second: call_id }, 0);
    }
    Box::new(CallError::Connection(*error))
}

/// Returns the error for a message that is not the call's response. The message breaks the channel,
/// unless it is the call's fault.
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
        Kind::Response | Kind::Fault | Kind::Pdu => CallError::Protocol("the response belongs to another call"),
        _ => CallError::Protocol("the peer's message is neither a response nor a fault"),
    })
}

/// Returns the error information in a fault's frame, or `None` if the frame is empty or malformed.
/// Faults of calls that reached no method have no frame.
fn words_in(fault: &Message<'_>) -> Option<Words> {
    let length = fault.frame().len();
    if length == 0 || length > Words::FRAME_MAX { None } else { Words::from_frame(&private_copy(fault)) }
}

/// The maximum length of a protocol data unit in bytes: the unit's header has 16 bits for the
/// length (C706 12.6.3.1).
const PDU_MAX: usize = u16::MAX as usize;

/// Returns the protocol data unit in a message. The length is checked before the copy, because a
/// hostile peer could announce a long frame without using memory of its own.
fn pdu_in(message: &Message<'_>) -> Result<Vec<u8>, ViError> {
    let length = message.frame().len();
    if length > PDU_MAX {
        return Err(ViError::TooLong { length: length as u64, limit: PDU_MAX as u64 });
    }
    Ok(private_copy(message))
}

fn private_copy(message: &Message<'_>) -> Vec<u8> {
    let mut bytes = vec![0; message.frame().len()];
    // The vector has exactly the length of the view, so the copy succeeds.
    let copied = message.frame().copy_to(0, &mut bytes);
    debug_assert!(copied.is_some());
    bytes
}

#[cfg(test)]
mod tests;
