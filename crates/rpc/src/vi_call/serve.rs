//! The server's side: a loop that receives requests and publishes their answers.

use super::{Words, pdu_in};
use crate::status::Status;
use obvia_via::layout::INLINE_MAX;
use obvia_via::reliable::Guard;
use obvia_via::window::{Message, PeerRegions, REGION_CACHES, Tx, Window};
use obvia_via::{Deadline, Error as ViError, Header, Kind, Limit, RegionView, Seconds};
use std::ptr::NonNull;
use std::sync::OnceLock;

/// A call at its server: the request, and the memory for the response.
///
/// C code reads the first fields: the layout is part of the binary interface.
#[derive(Debug)]
#[repr(C)]
pub struct ServerCall<'a> {
    /// The arguments' frame, in the caller's memory.
    pub frame: RegionView<'a>,
    slot: NonNull<[u8; INLINE_MAX]>,
    target: u64,
    opnum: u16,
    // Whether the response's frame is in an area. If so, the response refers to the area even if
    // its frame would fit the slot.
    in_area: bool,
    call_id: u32,
    tx: &'a mut Tx,
    regions: &'a mut PeerRegions,
    // The number of region look-ups during this call.
    turns: u8,
}

/// The maximum number of region look-ups in one call. A call needs one look-up for each of its
/// arrays by reference. A hostile caller could cause more by changing references while the server
/// reads them. A stub calls itself again after its look-ups, so this number also limits the depth
/// of the recursion.
const TURNS_MAX: u8 = 2 * REGION_CACHES as u8;

/// The answer to a call: returned by a stub, published by the loop.
///
/// An answer is a word. Results have the method's return value in the lower half and the length of
/// their frame in the upper half. A fault has its status in the lower half, and of the upper half
/// only the topmost bit is set. A failed method's answer is the HRESULT, sign-extended to 64 bits.
/// So both kinds of failures are negative as signed numbers, and results are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
#[must_use]
pub struct Answer(u64);

impl Answer {
    const FAULT: u64 = 1 << 63;

    /// Creates a response: the method's return value, and the length of the results' frame in
    /// bytes. The frame is not sent if the method failed.
    #[inline(always)]
    pub const fn results(status: u32, length: usize) -> Self {
        Self(status.cast_signed() as i64 as u64 | (length as u64) << 32)
    }

    /// Creates a fault.
    #[inline(always)]
    pub const fn fault(status: Status) -> Self {
        Self(status.0 as u64 | Self::FAULT)
    }

    /// Whether a negative answer is the HRESULT of a failed method. If not, it is a fault.
    const fn is_failure(self) -> bool {
        (self.0 >> 32) as u32 == u32::MAX
    }

    /// Whether the answer is a fault that says that no argument was read: see
    /// [`Status::is_before_arguments`].
    pub const fn is_before_arguments(self) -> bool {
        self.0 & !(u32::MAX as u64) == Self::FAULT && Status(self.0 as u32).is_before_arguments()
    }
}

impl ServerCall<'_> {
    /// Returns the word of the call's target: see [`super::TargetId::word`].
    #[inline(always)]
    pub fn target(&self) -> u64 {
        self.target
    }

    /// Returns the method's number.
    #[inline(always)]
    pub fn opnum(&self) -> u16 {
        self.opnum
    }

    /// Returns the number of the call's message on the connection. The next message has the next
    /// number.
    pub fn sequence(&self) -> u32 {
        self.call_id
    }

    /// Returns the longest frame that a response may have, in bytes.
    #[inline]
    pub fn reply_max(&self) -> usize {
        self.tx.frame_max()
    }

    /// Returns the memory for the response's frame. `bulk` has the meaning that it has in
    /// [`super::Channel::request`].
    ///
    /// # Errors
    ///
    /// If the frame exceeds the connection's limit, a limit on memory leaves no room for it, or the
    /// caller is gone.
    #[inline]
    pub fn reply(&mut self, length: usize, bulk: usize) -> Result<&mut [u8], ViError> {
        // The connection has credit, because a caller waits for the response before it calls again.
        if length <= INLINE_MAX {
            return Ok(&mut self.tx.inline_frame(Seconds::<1>)?[..length]);
        }
        self.in_area = true;
        self.tx.response_frame(length, bulk, Seconds::<1>)
    }

    /// Returns the caller's regions, in which arguments may lie.
    #[inline(always)]
    pub fn regions(&self) -> &PeerRegions {
        self.regions
    }

    /// Selects the region of a reference: see [`PeerRegions::select`].
    #[cold]
    #[inline(never)]
    pub fn select_region(&mut self, at: usize, is_written: bool, reference: u64) -> bool {
        self.turns = self.turns.saturating_add(1);
        self.turns <= TURNS_MAX && self.regions.select(at, is_written, reference)
    }

    /// Maps a region that the caller has passed before this call: see
    /// [`super::Channel::pass_region`].
    ///
    /// # Errors
    ///
    /// If the caller has passed no region with this number, if the number is in use, or if the
    /// caller's mapped regions are too many or too large.
    pub fn admit_region(&mut self, number: u16) -> Result<(), ViError> {
        self.tx.admit_region(self.regions, number)
    }

    /// Authenticates the connection's packets with `guard` from now on: see [`Window::guard`].
    ///
    /// # Errors
    ///
    /// As for [`Window::guard`].
    pub fn guard(&self, guard: Guard) -> Result<(), ViError> {
        self.tx.guard(guard)
    }

    /// Releases a region that the caller does not use any more.
    pub fn forget_region(&mut self, number: u16) {
        self.regions.forget(number);
    }

    /// Returns memory in an area for a response's frame, even if the frame would fit a slot.
    /// Returns `None` in the cases in which [`Self::reply`] fails.
    pub fn reply_in_area(&mut self, length: usize) -> Option<&mut [u8]> {
        self.in_area = true;
        self.tx.response_frame(length, 0, Seconds::<1>).ok()
    }

    /// Returns the memory of [`Self::reply_in_area`], or `None` if a wait or a larger area would be
    /// needed.
    #[inline(always)]
    pub fn reply_at_hand(&mut self, length: usize) -> Option<&mut [u8]> {
        self.in_area = true;
        self.tx.next_area_frame(length)
    }

    /// Returns the memory for the frame of a response, which has to fit a slot. The memory belongs
    /// to the call until the call is answered.
    #[inline(always)]
    pub fn reply_slot(&mut self) -> NonNull<[u8; INLINE_MAX]> {
        self.slot
    }

    /// Publishes the answer to a caller that waits for one.
    #[inline(never)]
    pub fn publish(&mut self, answer: Answer) {
        self.publish_inline(answer);
    }

    /// As [`Self::publish`], inlined into the transport.
    #[inline(always)]
    pub fn publish_inline(&mut self, answer: Answer) {
        if answer.0.cast_signed() < 0 {
            return self.publish_failure(answer);
        }
        let (first, length) = (answer.0 as u32, (answer.0 >> 32) as usize);
        let header = Header { kind: Kind::Response, opnum: self.opnum, first, second: self.call_id };
        if self.in_area && length != 0 {
            self.tx.send_area(header, length);
        } else {
            self.tx.send_inline(header, length);
        }
    }

    /// Publishes a fault, or the HRESULT of a failed method. The results of a failed method are not
    /// sent. Its error information travels in the frame of a fault, so that no proxy mistakes it
    /// for results. If there was no memory for results, the answer is sent like that of a failed
    /// method, with the reason as error information.
    #[cold]
    #[inline(never)]
    fn publish_failure(&mut self, answer: Answer) {
        let (opnum, second, status) = (self.opnum, self.call_id, answer.0 as u32);
        let header = |kind, first| Header { kind, opnum, first, second };
        let (first, words) = if answer.is_failure() {
            (status, WORDS.get().and_then(|words| words(status)).filter(|words| !words.is_empty()))
        } else {
            let why = self.tx.refusal().filter(|_| status == Status::REMOTE_NO_MEMORY.0);
            let Some(why) = why.map(ToString::to_string) else {
                return self.tx.send_inline(header(Kind::Fault, status), 0);
            };
            // A fault with a frame has an HRESULT in the place of a status.
            let result = Status(status).to_hresult().cast_unsigned();
            (result, Some(Words { description: why, ..Words::default() }))
        };
        let (fault, response) = (header(Kind::Fault, first), header(Kind::Response, first));
        let frame = words.map(|words| words.to_frame()).unwrap_or_default();
        self.in_area = false;
        match self.reply(frame.len(), 0) {
            Ok(place) if !frame.is_empty() => place.copy_from_slice(&frame),
            // There is no error information, or `reply` has failed.
            _ => return self.tx.send_inline(response, 0),
        }
        if self.in_area {
            self.tx.send_area(fault, frame.len());
        } else {
            self.tx.send_inline(fault, frame.len());
        }
    }
}

/// The function that returns the error information of a failed HRESULT.
static WORDS: OnceLock<fn(u32) -> Option<Words>> = OnceLock::new();

/// Sets the function that servers of this process call for the error information of a failed
/// method, on the thread that executed the method. Only the first call of this function has an
/// effect.
pub fn set_words(words: fn(u32) -> Option<Words>) {
    // A second function is ignored.
    let _ = WORDS.set(words);
}

/// The service at a server's connection.
pub trait Service {
    /// Executes a call on its target. The answer's frame is in the memory that the methods of
    /// `call` returned last.
    fn dispatch(&mut self, call: &mut ServerCall<'_>) -> Answer;

    /// Announces that the next dispatched call has no response.
    fn is_oneway(&mut self) {}

    /// Answers a protocol data unit; `None` ends the connection.
    fn answer_pdu(&mut self, pdu: &[u8]) -> Option<Vec<u8>>;

    /// Reports that the caller has cancelled the call that was answered last, and did not read the
    /// response.
    fn abandoned(&mut self);

    /// Drops state that is no longer needed. The serving loop calls this method after an alarm has
    /// interrupted its wait.
    fn tidy(&mut self);
}

/// The limit of a wait for the next message. The limit can be long, because the removal of targets
/// and the end of the connection interrupt the wait.
const IDLE: Seconds<3600> = Seconds;

/// The end of a wait for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// A message was served.
    Message,
    /// An alarm was rung, and the service has tidied up.
    Alarm,
    /// No message came within the limit.
    Silence,
}

/// Serves a connection until it ends, and returns the reason.
pub fn serve<S: Service>(window: &mut Window, service: &mut S) -> ViError {
    loop {
        if let Err(why) = serve_next(window, service, IDLE) {
            return *why;
        }
    }
}

/// Serves a connection until no message comes within `limit`.
///
/// # Errors
///
/// As for [`serve_next`].
#[inline]
pub fn serve_until_silent<S: Service>(
    window: &mut Window,
    service: &mut S,
    limit: impl Limit,
) -> Result<(), Box<ViError>> {
    while serve_next(window, service, limit)? != Served::Silence {}
    Ok(())
}

/// Serves the next message. If the window's alarm rings before a message arrives, calls
/// [`Service::tidy`].
///
/// # Errors
///
/// If the peer ended the connection or broke its rules. The caller has to end the connection.
#[inline(always)]
pub fn serve_next<S: Service>(window: &mut Window, service: &mut S, limit: impl Limit) -> Result<Served, Box<ViError>> {
    match next_call(window, service, &mut None, limit) {
        Ok(call) => {
            let answer = service.dispatch(call);
            call.publish(answer);
            Ok(Served::Message)
        }
        Err(attended) => attended.acknowledge(window),
    }
}

/// Receives the next message and returns it if it is a call with a response. Handles all other
/// messages itself.
#[inline(never)]
fn next_call<'p, 'a, S: Service>(
    window: &'a mut Window,
    service: &mut S,
    place: &'p mut Option<ServerCall<'a>>,
    limit: impl Limit,
) -> Result<&'p mut ServerCall<'a>, Attended> {
    Err(match receive_within(window, place, limit) {
        Ok(Arrived::Call(call)) => return Ok(call),
        Ok(Arrived::Oneway(call)) => {
            service.is_oneway();
            // One-way calls have no response.
            let _ = service.dispatch(call);
            Attended::Unanswered
        }
        Ok(Arrived::Other(message, tx)) => serve_other(service, &message, tx),
        Err(error) if matches!(*error, ViError::TimedOut) => Attended::Silence,
        Err(error) if matches!(*error, ViError::Cancelled) => {
            service.tidy();
            Attended::Alarm
        }
        Err(error) => Attended::Refused(error),
    })
}

/// A received message.
#[derive(Debug)]
pub enum Arrived<'p, 'a> {
    /// A call with a response.
    Call(&'p mut ServerCall<'a>),
    /// A call without response. Its answer is not published, but the message has to be released:
    /// [`Attended::Unanswered`].
    Oneway(&'p mut ServerCall<'a>),
    /// A message that is not a call: for [`serve_other`].
    Other(Message<'a>, &'a mut Tx),
}

/// Waits for the next message, for an hour at most. A received call is constructed in `place` and
/// is not moved, because a move would take as long as a small method.
///
/// # Errors
///
/// If no message came, an alarm was rung, or the connection has ended.
#[inline(always)]
pub fn receive<'p, 'a>(
    window: &'a mut Window,
    place: &'p mut Option<ServerCall<'a>>,
) -> Result<Arrived<'p, 'a>, Box<ViError>> {
    receive_within(window, place, IDLE)
}

#[inline(always)]
fn receive_within<'p, 'a>(
    window: &'a mut Window,
    place: &'p mut Option<ServerCall<'a>>,
    limit: impl Limit,
) -> Result<Arrived<'p, 'a>, Box<ViError>> {
    let Window { tx, rx, regions, .. } = window;
    let message = rx.receive_or_why(limit)?;
    if message.is(Kind::Request) {
        // A caller takes every response before it calls again.
        tx.taken_all();
        let slot = tx.claim_slot();
        return Ok(Arrived::Call(place.insert(ServerCall::new(&message, slot, tx, regions))));
    }
    if message.is(Kind::Oneway) {
        let slot = tx.slot_frame();
        return Ok(Arrived::Oneway(place.insert(ServerCall::new(&message, slot, tx, regions))));
    }
    Ok(Arrived::Other(message, tx))
}

impl<'a> ServerCall<'a> {
    #[inline(always)]
    fn new(
        message: &Message<'a>,
        slot: NonNull<[u8; INLINE_MAX]>,
        tx: &'a mut Tx,
        regions: &'a mut PeerRegions,
    ) -> Self {
        Self {
            frame: message.frame(),
            slot,
            target: message.target_word(),
            opnum: message.opnum(),
            in_area: false,
            call_id: message.sequence(),
            tx,
            regions,
            turns: 0,
        }
    }
}

/// The outcome of handling a message, or of a wait without a message. Most variants have no data,
/// so that two registers hold the result of a wait.
#[derive(Debug)]
#[must_use]
pub enum Attended {
    /// The message got an answer, which tells the peer that the message was consumed.
    Answered,
    /// The message got no answer, so the peer has to be told that the message was consumed.
    Unanswered,
    /// An alarm was rung, and the service has tidied up.
    Alarm,
    /// No message came within the limit.
    Silence,
    /// The peer broke the rules, or is gone.
    Refused(Box<ViError>),
}

impl Attended {
    /// Tells the peer that its message was consumed, if there was a message without an answer.
    ///
    /// # Errors
    ///
    /// If the peer broke the rules or is gone: the caller has to end the connection.
    pub fn acknowledge(self, window: &mut Window) -> Result<Served, Box<ViError>> {
        match self {
            Self::Answered => Ok(Served::Message),
            Self::Unanswered => {
                window.rx.release();
                Ok(Served::Message)
            }
            Self::Alarm => Ok(Served::Alarm),
            Self::Silence => Ok(Served::Silence),
            Self::Refused(why) => Err(why),
        }
    }
}

/// Handles a message that is not a call.
#[inline(never)]
pub fn serve_other<S: Service>(service: &mut S, message: &Message<'_>, tx: &mut Tx) -> Attended {
    match message.kind() {
        // The cancelled call has been answered already: this thread executed it.
        Ok(Kind::Cancel) => {
            service.abandoned();
            Attended::Unanswered
        }
        Ok(Kind::Pdu) => {
            tx.taken_all();
            let answer = pdu_in(message).and_then(|pdu| service.answer_pdu(&pdu).ok_or(ViError::Cancelled));
            match answer.and_then(|answer| send_pdu(tx, &answer)) {
                Ok(()) => Attended::Answered,
                Err(why) => Attended::Refused(Box::new(why)),
            }
        }
        Ok(other) => Attended::Refused(Box::new(obvia_via::Violation::BadKind(other as u8).into())),
        Err(violation) => Attended::Refused(Box::new(violation.into())),
    }
}

fn send_pdu(tx: &mut Tx, pdu: &[u8]) -> Result<(), ViError> {
    let header = Header { kind: Kind::Pdu, opnum: 0, first: 0, second: 0 };
    if pdu.len() <= INLINE_MAX {
        tx.inline_frame(Deadline::after_secs(1))?[..pdu.len()].copy_from_slice(pdu);
        tx.send_inline(header, pdu.len());
    } else {
        tx.area_frame(pdu.len(), 0, Deadline::after_secs(1))?.copy_from_slice(pdu);
        tx.send_area(header, pdu.len());
    }
    Ok(())
}
