//! Calls over a virtual interface: a channel makes them, a service loop answers them.
//!
//! This is the fast path: the frame is built where the peer reads it, and the header's sixteen bytes are all that is
//! added. Nothing here allocates, locks or asks the kernel unless a thread has to sleep.

use crate::status::Status;
use obvia_via::layout::INLINE_MAX;
use obvia_via::window::{Alarm, Message, Peer, Tx, Window};
use obvia_via::{Deadline, Error as ViError, Header, Kind, Limit, RegionView, Seconds};
use std::fmt;

/// Why a call has no results.
#[derive(Debug)]
#[non_exhaustive]
pub enum CallError {
    /// The connection failed, timed out or was cancelled. It cannot be used again.
    Connection(ViError),
    /// The server refused the call or failed in it.
    Fault(Status),
    /// The peer answered what was not asked.
    Protocol(&'static str),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connection(error) => error.fmt(f),
            Self::Fault(status) => write!(f, "the server answered with a fault: {status}"),
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

/// A connection on which one thread at a time makes calls.
#[derive(Debug)]
pub struct Channel {
    window: Window,
    // Invariant: once a call ended without its response, no further call is made: a late response would be taken for
    // the next call's.
    broken: bool,
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
        Self { window, broken: false }
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
    /// [`CallError::Fault`] leaves the channel usable, every other error breaks it.
    #[inline(always)]
    pub fn call(
        &mut self,
        target: TargetId,
        opnum: u16,
        length: usize,
        limit: impl Limit,
    ) -> Result<Reply<'_>, CallError> {
        let call_id = self.window.tx.next_sequence();
        let header = Header { kind: Kind::Request, opnum, first: target.index, second: target.generation };
        self.publish(header, length);
        // Until the response is there the channel counts as broken, whichever way this function is left.
        self.broken = true;
        let message = match self.window.rx.receive(limit) {
            Ok(message) => message,
            Err(error) => return Err(abandon(&mut self.window.tx, call_id, error)),
        };
        let answer = message.header();
        if answer.second != call_id {
            return Err(CallError::Protocol("the response is to another call"));
        }
        self.broken = false;
        self.window.tx.taken_through(call_id);
        match answer.kind {
            Kind::Response => Ok(Reply { status: answer.first, frame: message.frame() }),
            Kind::Fault => Err(CallError::Fault(Status(answer.first))),
            _ => {
                self.broken = true;
                Err(CallError::Protocol("the answer is neither a response nor a fault"))
            }
        }
    }

    /// Publishes the request whose frame was given out last as a call without response.
    #[inline]
    pub fn oneway(&mut self, target: TargetId, opnum: u16, length: usize) {
        let header = Header { kind: Kind::Oneway, opnum, first: target.index, second: target.generation };
        self.publish(header, length);
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
        self.publish(Header { kind: Kind::Pdu, opnum: 0, first: 0, second: 0 }, pdu.len());
        let message = self.window.rx.receive(limit)?;
        if message.header().kind != Kind::Pdu {
            return Err(CallError::Protocol("the answer to a bind is not a protocol data unit"));
        }
        let answer = private_copy(&message);
        self.window.tx.taken_through(call_id);
        self.broken = false;
        Ok(answer)
    }

    #[inline(always)]
    fn publish(&mut self, header: Header, length: usize) {
        if length <= INLINE_MAX {
            self.window.tx.send_inline(header, length);
        } else {
            self.window.tx.send_area(header, length);
        }
    }
}

/// Tells the peer that a response is no longer wanted. The connection ends soon after, which says it again.
#[cold]
fn abandon(tx: &mut Tx, call_id: u32, error: ViError) -> CallError {
    if matches!(error, ViError::TimedOut | ViError::Cancelled)
        && tx.inline_frame(Deadline::Within(std::time::Duration::ZERO)).is_ok()
    {
        tx.send_inline(Header { kind: Kind::Cancel, opnum: 0, first: 0, second: call_id }, 0);
    }
    CallError::Connection(error)
}

fn private_copy(message: &Message<'_>) -> Vec<u8> {
    let mut bytes = vec![0; message.frame().len()];
    // The view has exactly this many bytes.
    let copied = message.frame().copy_to(0, &mut bytes);
    debug_assert!(copied.is_some());
    bytes
}

/// A call as its server sees it: the request, and the way to answer.
#[derive(Debug)]
pub struct ServerCall<'a> {
    /// The method's number.
    pub opnum: u16,
    /// The arguments' frame, in the caller's memory.
    pub frame: RegionView<'a>,
    call_id: u32,
    oneway: bool,
    // Whether the reply's frame was given out in an area: it stays there when it turns out shorter.
    in_area: bool,
    tx: &'a mut Tx,
}

impl ServerCall<'_> {
    /// Whether the caller waits for no response.
    #[inline]
    pub fn is_oneway(&self) -> bool {
        self.oneway
    }

    /// The longest frame that a response may have.
    #[inline]
    pub fn reply_max(&self) -> usize {
        self.tx.frame_max()
    }

    /// The place for the response's frame; `bulk` as in [`Channel::request`].
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

    /// The place for a response's frame that fits a slot.
    ///
    /// # Errors
    ///
    /// When the caller is gone.
    #[inline(always)]
    pub fn inline_reply(&mut self) -> Result<&mut [u8; INLINE_MAX], ViError> {
        self.tx.inline_frame(Seconds::<1>)
    }

    /// Publishes the response whose frame was given out last. A one-way call has none.
    #[inline(always)]
    pub fn respond(&mut self, status: u32, length: usize) {
        self.answer(Kind::Response, status, length);
    }

    /// Answers with a fault instead of results.
    #[cold]
    pub fn fault(&mut self, status: Status) {
        self.answer(Kind::Fault, status.0, 0);
    }

    #[inline(always)]
    fn answer(&mut self, kind: Kind, status: u32, length: usize) {
        if self.oneway {
            return;
        }
        let header = Header { kind, opnum: self.opnum, first: status, second: self.call_id };
        if !self.in_area || length == 0 {
            self.tx.send_inline(header, length);
        } else {
            self.tx.send_area(header, length);
        }
    }
}

/// What a server's connection serves.
pub trait Service {
    /// An interface pointer that calls can be for.
    type Target;

    /// Finds the target of a call: index and generation, as the caller wrote them.
    ///
    /// # Errors
    ///
    /// The status that the caller gets instead of results.
    fn look_up(&mut self, target: TargetId) -> Result<&Self::Target, Status>;

    /// Performs a call and answers it exactly once.
    fn invoke(target: &Self::Target, call: &mut ServerCall<'_>);

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
        let message = match window.rx.receive(Seconds::<60>) {
            Ok(message) => message,
            Err(ViError::TimedOut | ViError::Cancelled) => {
                service.tidy();
                continue;
            }
            Err(error) => return error,
        };
        if message.header().kind == Kind::Request {
            // A caller has taken every earlier response before it calls again.
            window.tx.taken_all();
            perform(service, &message, &mut window.tx, false);
            continue;
        }
        match answer_other(service, &message, &mut window.tx) {
            // Nothing that the caller will see says that these messages were taken.
            Ok(Answered::Silently) => window.rx.release(),
            Ok(Answered::Aloud) => {}
            Err(why) => return why,
        }
    }
}

/// Whether the peer learns from an answer that its message was taken.
enum Answered {
    Aloud,
    Silently,
}

/// What to do about a message that is no request for an answer. An error ends the connection.
#[inline(never)]
fn answer_other<S: Service>(service: &mut S, message: &Message<'_>, tx: &mut Tx) -> Result<Answered, ViError> {
    let kind = message.header().kind;
    match kind {
        Kind::Request | Kind::Oneway => perform(service, message, tx, kind == Kind::Oneway),
        // The call it names has been answered, or this thread would not be here.
        Kind::Cancel => service.abandoned(),
        Kind::Pdu => {
            tx.taken_all();
            let answer = service.answer_pdu(&private_copy(message)).ok_or(ViError::Cancelled)?;
            send_pdu(tx, &answer)?;
            return Ok(Answered::Aloud);
        }
        Kind::Response | Kind::Fault => return Err(obvia_via::Violation::BadKind(kind as u8).into()),
    }
    Ok(Answered::Silently)
}

/// Calls the method that a message names, and answers.
#[inline(always)]
fn perform<S: Service>(service: &mut S, message: &Message<'_>, tx: &mut Tx, oneway: bool) {
    let header = message.header();
    let frame = message.frame();
    let mut call = ServerCall { opnum: header.opnum, frame, call_id: message.sequence(), oneway, in_area: false, tx };
    match service.look_up(TargetId { index: header.first, generation: header.second }) {
        Ok(target) => S::invoke(target, &mut call),
        Err(status) => call.fault(status),
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
