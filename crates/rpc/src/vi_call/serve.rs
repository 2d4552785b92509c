//! The server's half: a loop that takes requests and publishes what is answered.

use super::{Words, private_copy};
use crate::status::Status;
use obvia_via::layout::INLINE_MAX;
use obvia_via::reliable::Guard;
use obvia_via::window::{Message, PeerRegions, Tx, Window};
use obvia_via::{Deadline, Error as ViError, Header, Kind, Limit, RegionView, Seconds};
use std::ptr::NonNull;
use std::sync::OnceLock;

/// A call as its server sees it: the request, and the place for the reply.
///
/// C sees its first fields: the layout is part of the binary interface.
#[derive(Debug)]
#[repr(C)]
pub struct ServerCall<'a> {
    /// The arguments' frame, in the caller's memory.
    pub frame: RegionView<'a>,
    slot: NonNull<[u8; INLINE_MAX]>,
    target: u64,
    opnum: u16,
    // Whether the reply's frame was given out in an area: it stays there when it turns out shorter.
    in_area: bool,
    call_id: u32,
    tx: &'a mut Tx,
    regions: &'a mut PeerRegions,
    // How often a region was looked for.
    turns: u8,
}

/// Looks for regions that one call may cause: its arrays, each as often as there are. A caller that changes its references all the
/// while must not keep its server looking.
const TURNS_MAX: u8 = 64;

/// What the caller gets: made by a stub, published by the loop.
///
/// A word: what the method returned below, above it the length of the results' frame; or the topmost bit and a fault's status. Of a method that
/// failed it is the HRESULT as a signed number of 64 bits, so that one look tells results from everything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
#[must_use]
pub struct Answer(u64);

impl Answer {
    const FAULT: u64 = 1 << 63;

    /// A response: what the method returned, and the length of the frame that was given out for the results, in bytes; it is not sent
    /// where the method failed.
    #[inline(always)]
    pub const fn results(status: u32, length: usize) -> Self {
        Self(status.cast_signed() as i64 as u64 | (length as u64) << 32)
    }

    /// A fault instead of results.
    #[inline(always)]
    pub const fn fault(status: Status) -> Self {
        Self(status.0 as u64 | Self::FAULT)
    }

    /// Whether it says that a method failed, of those that are no results.
    const fn is_failure(self) -> bool {
        (self.0 >> 32) as u32 == u32::MAX
    }
}

impl ServerCall<'_> {
    /// Whom the call is for: see [`super::TargetId::word`].
    #[inline(always)]
    pub fn target(&self) -> u64 {
        self.target
    }

    /// The method's number.
    #[inline(always)]
    pub fn opnum(&self) -> u16 {
        self.opnum
    }

    /// The longest frame that a response may have.
    #[inline]
    pub fn reply_max(&self) -> usize {
        self.tx.frame_max()
    }

    /// The place for the response's frame; `bulk` as in [`super::Channel::request`].
    ///
    /// # Errors
    ///
    /// When the frame is over the connection's limit, or the caller is gone.
    #[inline]
    pub fn reply(&mut self, length: usize, bulk: usize) -> Result<&mut [u8], ViError> {
        // A caller waits for its response before it calls again, so credit is never short.
        if length <= INLINE_MAX {
            return Ok(&mut self.tx.inline_frame(Seconds::<1>)?[..length]);
        }
        self.in_area = true;
        self.tx.area_frame(length, bulk, Seconds::<1>)
    }

    /// The caller's regions, which arguments may lie in.
    #[inline(always)]
    pub fn regions(&self) -> &PeerRegions {
        self.regions
    }

    /// Takes the region of a reference in hand: see [`PeerRegions::turn`].
    #[cold]
    #[inline(never)]
    pub fn turn_region(&mut self, at: usize, is_written: bool, reference: u64) -> bool {
        self.turns = self.turns.saturating_add(1);
        self.turns <= TURNS_MAX && self.regions.turn(at, is_written, reference)
    }

    /// Maps a region that the caller handed over before this call.
    ///
    /// # Errors
    ///
    /// When it handed over something else, or too many.
    pub fn admit_region(&mut self, number: u16) -> Result<(), ViError> {
        self.tx.admit_region(self.regions, number)
    }

    /// Has nobody but the two ends send packets of the connection from now on: see [`Window::guard`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn guard(&self, guard: Guard) -> Result<(), ViError> {
        self.tx.guard(guard)
    }

    /// Lets go of a region that the caller has ended.
    pub fn forget_region(&mut self, number: u16) {
        self.regions.forget(number);
    }

    /// The place for a response's frame that does not lie in a slot, however short it turns out. `None` where the caller is gone, or
    /// bears no such frame.
    pub fn reply_in_area(&mut self, length: usize) -> Option<&mut [u8]> {
        self.in_area = true;
        self.tx.area_frame(length, 0, Seconds::<1>).ok()
    }

    /// The same where it has not to be waited for or made first. `None` where it has.
    #[inline(always)]
    pub fn reply_at_hand(&mut self, length: usize) -> Option<&mut [u8]> {
        self.in_area = true;
        self.tx.next_area_frame(length)
    }

    /// The place for a response's frame that fits a slot: nobody else's until the call has been answered.
    #[inline(always)]
    pub fn reply_slot(&mut self) -> NonNull<[u8; INLINE_MAX]> {
        self.slot
    }

    /// Publishes the answer, to a caller that waits for one: the transport's part of a call.
    #[inline(never)]
    pub fn publish(&mut self, answer: Answer) {
        self.publish_inline(answer);
    }

    /// The same for who is part of the transport itself.
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

    /// Publishes a fault, or the HRESULT of a method that failed, which has no results, whatever lies in its frame. Its words travel as the frame of a
    /// fault, which no proxy takes for results.
    #[cold]
    #[inline(never)]
    fn publish_failure(&mut self, answer: Answer) {
        let first = answer.0 as u32;
        let header = |kind| Header { kind, opnum: self.opnum, first, second: self.call_id };
        let (fault, response) = (header(Kind::Fault), header(Kind::Response));
        if !answer.is_failure() {
            return self.tx.send_inline(fault, 0);
        }
        let frame = WORDS.get().and_then(|words| words(first)).filter(|words| !words.is_empty());
        let frame = frame.map(|words| words.to_frame()).unwrap_or_default();
        self.in_area = false;
        match self.reply(frame.len(), 0) {
            Ok(place) if !frame.is_empty() => place.copy_from_slice(&frame),
            // The caller is gone, or bears no frame of that length.
            _ => return self.tx.send_inline(response, 0),
        }
        if self.in_area {
            self.tx.send_area(fault, frame.len());
        } else {
            self.tx.send_inline(fault, frame.len());
        }
    }
}

/// The function that has the words of a failed HRESULT.
static WORDS: OnceLock<fn(u32) -> Option<Words>> = OnceLock::new();

/// Has servers of this process ask a function for the words of a method that has failed, on the thread that has performed it. The first function
/// stays.
pub fn set_words(words: fn(u32) -> Option<Words>) {
    // A second one is passed over.
    let _ = WORDS.set(words);
}

/// What a server's connection serves.
pub trait Service {
    /// Finds the target of a call, and performs it. The answer's frame is the one that the call gave out last.
    fn dispatch(&mut self, call: &mut ServerCall<'_>) -> Answer;

    /// The next call that is to be dispatched is one whose caller waits for no answer.
    fn is_oneway(&mut self) {}

    /// Answers a protocol data unit; `None` ends the connection.
    fn answer_pdu(&mut self, pdu: &[u8]) -> Option<Vec<u8>>;

    /// The caller gave up the call that was answered last: it has not taken the response.
    fn abandoned(&mut self);

    /// Does what is due when no call is there.
    fn tidy(&mut self);
}

/// Serves a connection until the peer ends it or breaks its rules, and says why it ended.
pub fn serve<S: Service>(window: &mut Window, service: &mut S) -> ViError {
    loop {
        if let Err(why) = serve_next(window, service, Seconds::<60>) {
            return *why;
        }
    }
}

/// Serves the next message, if one comes within the limit.
///
/// # Errors
///
/// Why the connection is to be ended: the peer ended it, or broke its rules.
#[inline(always)]
pub fn serve_next<S: Service>(window: &mut Window, service: &mut S, limit: impl Limit) -> Result<(), Box<ViError>> {
    match next_call(window, service, &mut None, limit) {
        Ok(call) => {
            let answer = service.dispatch(call);
            call.publish(answer);
            Ok(())
        }
        Err(attended) => attended.settle(window),
    }
}

/// The next message, where it is a call whose caller waits: the transport's part of a call. Anything else is attended to.
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
            // Nobody reads the answer.
            let _ = service.dispatch(call);
            Attended::Silently
        }
        Ok(Arrived::Other(message, tx)) => serve_other(service, &message, tx),
        Err(error) if matches!(*error, ViError::TimedOut | ViError::Cancelled) => {
            service.tidy();
            Attended::Aloud
        }
        Err(error) => Attended::Refused(error),
    })
}

/// What came.
#[derive(Debug)]
pub enum Arrived<'p, 'a> {
    /// A call whose caller waits.
    Call(&'p mut ServerCall<'a>),
    /// A call whose caller does not. Its answer is not published, but that it was taken has to be said:
    /// [`Attended::Silently`].
    Oneway(&'p mut ServerCall<'a>),
    /// No call: for [`serve_other`].
    Other(Message<'a>, &'a mut Tx),
}

/// Waits for the next message, for a minute at most. A call is made in `place`, and stays there: moving it takes as long as a small
/// method.
///
/// # Errors
///
/// When none came, an alarm was rung, or the connection has ended.
#[inline(always)]
pub fn receive<'p, 'a>(
    window: &'a mut Window,
    place: &'p mut Option<ServerCall<'a>>,
) -> Result<Arrived<'p, 'a>, Box<ViError>> {
    receive_within(window, place, Seconds::<60>)
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
        // A caller has taken every earlier response before it calls again.
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

/// What was done about a message.
#[derive(Debug)]
#[must_use]
pub enum Attended {
    /// The peer learns from an answer that its message was taken, or there was no message.
    Aloud,
    /// Nothing that the peer will see says so.
    Silently,
    /// The peer broke the rules, or is gone.
    Refused(Box<ViError>),
}

impl Attended {
    /// Has the peer learn that its message was taken.
    ///
    /// # Errors
    ///
    /// Where the peer broke the rules or is gone: the connection is to be ended.
    pub fn settle(self, window: &mut Window) -> Result<(), Box<ViError>> {
        match self {
            Self::Aloud => Ok(()),
            Self::Silently => {
                window.rx.release();
                Ok(())
            }
            Self::Refused(why) => Err(why),
        }
    }
}

/// Attends to a message that is no call.
#[inline(never)]
pub fn serve_other<S: Service>(service: &mut S, message: &Message<'_>, tx: &mut Tx) -> Attended {
    match message.kind() {
        // The call it names has been answered, or this thread would not be here.
        Ok(Kind::Cancel) => {
            service.abandoned();
            Attended::Silently
        }
        Ok(Kind::Pdu) => {
            tx.taken_all();
            let answer = service.answer_pdu(&private_copy(message)).ok_or(ViError::Cancelled);
            match answer.and_then(|answer| send_pdu(tx, &answer)) {
                Ok(()) => Attended::Aloud,
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
