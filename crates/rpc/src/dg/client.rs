//! The client's side of calls: an activity makes one call at a time, and retransmits the call until
//! the server answers (C706 10.2).

use super::conversation;
use super::output::Output;
use super::pdu::{Cancel, CancelAck, Fack, Header, NO_HINT, PduType, flags, read_status};
use super::receiving::{Added, Assembly};
use super::sending::{Receiver, Sending};
use super::{Limits, is_before};
use crate::octets::ByteOrder;
use crate::status::Status;
use crate::uuid::{SyntaxId, Uuid};
use std::time::{Duration, Instant};

/// The time without a unit of the server after which the client sends the first ping.
const FIRST_PING: Duration = Duration::from_millis(250);
/// The longest time between two pings. A server that misses several pings may consider the client
/// gone.
const LAST_PING: Duration = Duration::from_secs(8);
/// The time after which results are acknowledged, unless the next call comes earlier and
/// acknowledges them implicitly.
const ACK_AFTER: Duration = Duration::from_millis(500);
/// The interval of a client's keep-alive requests.
const INDY_EVERY: Duration = Duration::from_secs(4);
/// The number of successive port-unreachable reports after which a call fails. A single report may
/// be wrong.
const REFUSALS: u32 = 3;
/// The time between a port-unreachable report and the next ping.
const REFUSED_PING: Duration = Duration::from_millis(10);

/// The execution semantics of a call (C706 6.1.4.2, 9.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// The server must not execute the call twice.
    AtMostOnce,
    /// The server may execute the call twice.
    Idempotent,
    /// The call has no response, and may get lost.
    Maybe,
}

/// A call to be made.
#[derive(Clone, Copy, Debug)]
pub struct OutgoingCall<'a> {
    /// The interface.
    pub interface: SyntaxId,
    /// The method's opnum.
    pub opnum: u16,
    /// The object's UUID.
    pub object: Option<Uuid>,
    /// The execution semantics.
    pub semantics: Semantics,
    /// The arguments in NDR, little endian.
    pub stub: &'a [u8],
}

/// The failure of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The fault's status.
    pub status: Status,
    /// Whether the server may have executed the method.
    pub began: bool,
}

/// The outcome of a call: the results and their byte order, or the failure.
pub type Outcome = Result<(ByteOrder, Vec<u8>), Failure>;

/// An outstanding call.
#[derive(Debug)]
struct Call {
    sending: Sending,
    assembly: Assembly,
    is_idempotent: bool,
    /// The time of the server's last unit about the call, or else of the call's beginning.
    last_received: Instant,
    has_received: bool,
    ping_at: Instant,
    ping_after: Duration,
    /// The number of pings since the server's last unit.
    unanswered: u32,
    refusals: u32,
    /// The cancel, until the server has acknowledged it.
    cancel: Option<Cancel>,
    outcome: Option<Outcome>,
}

/// The acknowledgement of received results, until it is sent.
#[derive(Debug)]
struct Unacknowledged {
    header: Header,
    since: Instant,
}

/// An activity: a client's calls to one server, one at a time.
#[derive(Debug)]
pub struct Activity {
    id: Uuid,
    /// The client's address space, which its activities share.
    client: Uuid,
    limits: Limits,
    /// Whether the path to the server stays within the host.
    is_near: bool,
    /// The server's boot time; 0 while it is unknown.
    boot: u32,
    sequence: u32,
    activity_hint: u16,
    interface_hint: (SyntaxId, u16),
    receiver: Receiver,
    call: Option<Call>,
    unacknowledged: Option<Unacknowledged>,
    indies: u32,
    indy_at: Option<Instant>,
    output: Output<()>,
}

impl Activity {
    /// Creates an activity of a client. Both UUIDs must be unpredictable: an attacker who knows the
    /// activity's UUID can forge responses.
    pub fn new(id: Uuid, client: Uuid, limits: Limits, is_near: bool) -> Self {
        Self {
            id,
            client,
            limits,
            is_near,
            boot: 0,
            sequence: 0,
            activity_hint: NO_HINT,
            interface_hint: (SyntaxId { uuid: Uuid(0), version: 0 }, NO_HINT),
            receiver: Receiver::UNKNOWN,
            call: None,
            unacknowledged: None,
            indies: 0,
            indy_at: None,
            output: Output::default(),
        }
    }

    /// Returns the datagrams to be sent. The caller clears them once they are sent.
    pub fn output(&mut self) -> &mut Output<()> {
        &mut self.output
    }

    /// Begins a call. An outstanding previous call is abandoned.
    ///
    /// # Errors
    ///
    /// [`Status::PROTOCOL_ERROR`] for arguments that exceed the longest message, and for arguments
    /// of a call without response that exceed the window.
    pub fn call(&mut self, now: Instant, call: &OutgoingCall<'_>) -> Result<(), Status> {
        let OutgoingCall { interface, opnum, object, semantics, stub } = *call;
        let is_maybe = semantics == Semantics::Maybe;
        let longest = if is_maybe { self.limits.window } else { self.limits.message_max };
        if stub.len() > longest || !Sending::fits(stub.len(), &Receiver::UNKNOWN) {
            return Err(Status::PROTOCOL_ERROR);
        }
        // The request of the new call tells the server that the results of the previous call have
        // arrived.
        self.unacknowledged = None;
        self.sequence = self.sequence.wrapping_add(1);
        let (known, interface_hint) = self.interface_hint;
        let head = Header {
            flags: match semantics {
                Semantics::AtMostOnce => 0,
                Semantics::Idempotent => flags::IDEMPOTENT,
                Semantics::Maybe => flags::MAYBE | flags::IDEMPOTENT,
            },
            object: object.unwrap_or(Uuid(0)),
            interface,
            boot: self.boot,
            opnum,
            interface_hint: if known == interface { interface_hint } else { NO_HINT },
            activity_hint: self.activity_hint,
            ..Header::new(PduType::REQUEST, self.id, self.sequence)
        };
        let mut sending = Sending::new(head, stub.to_vec(), &self.receiver, now);
        if is_maybe {
            self.call = None;
            sending.send_all((), &self.receiver, &mut self.output);
            return Ok(());
        }
        self.indy_at.get_or_insert(now + INDY_EVERY);
        sending.advance((), &self.receiver, &mut self.output);
        self.call = Some(Call {
            sending,
            assembly: Assembly::new(self.limits.window),
            is_idempotent: semantics == Semantics::Idempotent,
            last_received: now,
            has_received: false,
            ping_at: now + FIRST_PING,
            ping_after: FIRST_PING,
            unanswered: 0,
            refusals: 0,
            cancel: None,
            outcome: None,
        });
        Ok(())
    }

    /// Takes the outcome of the call, if it is over.
    pub fn take_outcome(&mut self) -> Option<Outcome> {
        let outcome = self.call.as_mut()?.outcome.take()?;
        self.call = None;
        Some(outcome)
    }

    /// Asks the server to cancel the call, which still gets a response (C706 9.5.5).
    pub fn cancel(&mut self, id: u32) {
        if let Some(call) = &mut self.call {
            let cancel = Cancel { id };
            let header = question(PduType::CL_CANCEL, call, self.boot);
            self.output.put((), |bytes| cancel.write(bytes, &header));
            call.cancel = Some(cancel);
        }
    }

    /// Abandons the call. The server gets a single cancel.
    pub fn orphan(&mut self) {
        self.cancel(0);
        self.call = None;
    }

    /// Processes a datagram of the server. Malformed datagrams and datagrams of other activities
    /// have no effect.
    pub fn receive(&mut self, now: Instant, datagram: &[u8]) {
        let Ok((header, body)) = Header::read(datagram) else { return };
        if header.kind == PduType::REQUEST {
            return self.perform(&header, body);
        }
        if header.activity != self.id || header.auth != 0 {
            return;
        }
        let is_current = header.sequence == self.sequence;
        let is_other = header.boot != 0 && self.boot != 0 && header.boot != self.boot;
        if is_current && self.call.as_ref().is_some_and(|call| call.outcome.is_none()) {
            // The unit has another boot time, so another instance of the server has sent it. An
            // earlier instance's units are obsolete; a later instance can only reject the call.
            if !is_other || header.kind == PduType::REJECT {
                self.hear(now, &header, body);
            }
        } else if is_current || is_before(header.sequence, self.sequence) {
            self.repeat_ack(&header);
        }
    }

    /// Processes a unit about the outstanding call.
    fn hear(&mut self, now: Instant, header: &Header, body: &[u8]) {
        let Some(call) = &mut self.call else { return };
        (call.last_received, call.has_received, call.unanswered, call.refusals) = (now, true, 0, 0);
        if header.kind != PduType::REJECT && header.boot != 0 {
            self.boot = header.boot;
        }
        self.activity_hint = header.activity_hint;
        self.interface_hint = (call.sending.head().interface, header.interface_hint);
        match header.kind {
            PduType::RESPONSE => self.response(now, header, body),
            PduType::FAULT => {
                let status = read_status(header, body).unwrap_or(Status::PROTOCOL_ERROR);
                self.ended(now, header, Err(Failure { status, began: true }));
            }
            PduType::REJECT => {
                let status = read_status(header, body).unwrap_or(Status::PROTOCOL_ERROR);
                if status == Status::WRONG_BOOT_TIME {
                    // The server was restarted, so its boot time is unknown until its next unit.
                    // The call counts as begun, because the previous instance may have executed it.
                    self.boot = 0;
                }
                let began = status == Status::WRONG_BOOT_TIME;
                self.ended(now, header, Err(Failure { status, began }));
            }
            PduType::WORKING => {
                call.ping_after = (call.ping_after * 2).min(LAST_PING);
                call.ping_at = now + call.ping_after;
            }
            PduType::FACK | PduType::NOCALL => self.not_there(now, header, body),
            PduType::CANCEL_ACK => {
                let ack = CancelAck::read(header, body);
                call.cancel.take_if(|cancel| matches!(ack, Ok(Some(ack)) if ack.id == cancel.id));
            }
            _ => {}
        }
    }

    /// Processes a fack or a nocall: the server reports which fragments of the request it has, if
    /// any.
    fn not_there(&mut self, now: Instant, header: &Header, body: &[u8]) {
        let Some(call) = &mut self.call else { return };
        let Ok(fack) = Fack::read(header, body) else { return };
        // The server sends results only after it has received the whole request, so a fack or
        // nocall that arrives after results is obsolete.
        if !call.assembly.is_empty() {
            return;
        }
        let (receiver, is_near) = (&mut self.receiver, self.is_near);
        if header.kind == PduType::NOCALL && (fack.is_none() || call.sending.is_ahead_of(header.fragment)) {
            call.sending.restart((), &mut self.output);
        } else {
            let said = (header.fragment, fack.as_ref());
            call.sending.acknowledged(said, (receiver, &self.limits), now, ((), is_near, &mut self.output));
            if header.kind == PduType::NOCALL {
                call.sending.repeat((), &mut self.output);
            }
        }
        call.ping_after = FIRST_PING;
        call.ping_at = now + FIRST_PING;
    }

    fn response(&mut self, now: Instant, header: &Header, body: &[u8]) {
        let Some(call) = &mut self.call else { return };
        (call.ping_after, call.ping_at) = (FIRST_PING, now + FIRST_PING);
        if call.assembly.add(header, body, self.limits.message_max) == Added::TooLong {
            let failure = Failure { status: Status::REMOTE_NO_MEMORY, began: true };
            return self.ended(now, header, Err(failure));
        }
        if header.has(flags::FRAGMENT) && !header.has(flags::NO_FACK) {
            let head = question(PduType::FACK, call, self.boot);
            let (header, fack) = call.assembly.fack(head, &self.limits, self.is_near);
            self.output.put((), |bytes| fack.write(bytes, &header));
        }
        if call.assembly.is_whole() {
            let stub = std::mem::take(&mut call.assembly).take();
            self.ended(now, header, Ok((header.order, stub)));
        }
    }

    /// Ends the call. Unless the call is idempotent and the response is one unit, the server keeps
    /// the response until this client acknowledges it.
    fn ended(&mut self, now: Instant, header: &Header, outcome: Outcome) {
        let Some(call) = &mut self.call else { return };
        let is_kept = !call.is_idempotent || header.has(flags::FRAGMENT);
        if is_kept && header.kind != PduType::REJECT {
            let header = question(PduType::ACK, call, self.boot);
            self.unacknowledged = Some(Unacknowledged { header, since: now });
        }
        call.outcome = Some(outcome);
    }

    /// Acknowledges a retransmitted response again, because the first acknowledgement was lost.
    fn repeat_ack(&mut self, header: &Header) {
        let is_end = matches!(header.kind, PduType::RESPONSE | PduType::FAULT) && header.is_last();
        if is_end && self.call.is_none() && header.sequence == self.sequence {
            let kind = PduType::ACK;
            let ack = Header { kind, flags: 0, flags2: 0, order: ByteOrder::Little, fragment: 0, serial: 0, ..*header };
            self.output.put((), |bytes| ack.write(bytes, &[]));
            self.unacknowledged = None;
        }
    }

    /// Answers a server's callback.
    fn perform(&mut self, request: &Header, stub: &[u8]) {
        let Self { id, boot, sequence, call, .. } = self;
        let is_under_way = call.as_ref().is_some_and(|call| call.outcome.is_none());
        let about = |question: conversation::Question| {
            let status = if question.activity != *id || !is_under_way {
                // The server asks because of a duplicate of an old request, whose call is over.
                Status::BAD_ACTIVITY
            } else if *boot != 0 && *boot != question.boot {
                Status::YOU_CRASHED
            } else {
                // From now on, the call belongs to this instance of the server, which the boot time
                // identifies. A restarted server is another instance, and must not execute the
                // call.
                *boot = question.boot;
                Status(0)
            };
            (*sequence, status)
        };
        let own_boot = self.client.0 as u32 | 1;
        self.output.put((), |bytes| conversation::perform(request, stub, own_boot, self.client, about, bytes));
    }

    /// Processes a report from the network that the server's port is unreachable.
    pub fn refused(&mut self, now: Instant) {
        let Some(call) = self.call.as_mut().filter(|call| call.outcome.is_none()) else { return };
        call.refusals += 1;
        if call.refusals >= REFUSALS {
            call.give_up();
        } else {
            call.ping_at = now + REFUSED_PING;
        }
    }

    /// Performs the actions that are due.
    pub fn tick(&mut self, now: Instant) {
        let Some(call) = self.call.as_mut().filter(|call| call.outcome.is_none()) else { return };
        if now.saturating_duration_since(call.last_received) >= self.limits.silence_max {
            return call.give_up();
        }
        // The server has the whole request if results have arrived. A request of one unit is
        // retransmitted only in answer to a nocall.
        let has_arrived = call.sending.is_whole() || call.sending.has_arrived() || !call.assembly.is_empty();
        if !has_arrived {
            call.sending.tick(now, u32::MAX, (), &mut self.output);
        }
        if now < call.ping_at {
            return;
        }
        let header = question(PduType::PING, call, self.boot);
        self.output.put((), |bytes| header.write(bytes, &[]));
        if let Some(cancel) = call.cancel {
            self.output.put((), |bytes| cancel.write(bytes, &header));
        }
        // Unanswered pings are repeated at intervals that double. The first of these intervals is
        // `FIRST_PING`, even if regular pings have become less frequent.
        call.ping_at = now + (FIRST_PING * 2_u32.pow(call.unanswered.min(5))).min(LAST_PING);
        call.unanswered += 1;
    }

    /// Returns the time of the next [`Self::tick`], or `None` while no call is outstanding.
    pub fn due(&self) -> Option<Instant> {
        let call = self.call.as_ref()?;
        let repeat = call.sending.due().filter(|_| !call.sending.is_whole() && call.assembly.is_empty());
        [Some(call.ping_at), Some(call.last_received + self.limits.silence_max), repeat].into_iter().flatten().min()
    }

    /// Performs periodic work between calls: acknowledges results, and tells the server that the
    /// client is alive.
    pub fn keep(&mut self, now: Instant) {
        if let Some(done) = self.unacknowledged.take_if(|done| now.saturating_duration_since(done.since) >= ACK_AFTER) {
            self.output.put((), |bytes| done.header.write(bytes, &[]));
        }
        if let Some(at) = self.indy_at.filter(|at| now >= *at) {
            self.indies = self.indies.wrapping_add(1);
            // The request is a call of another activity, because a new call of this activity would
            // end its outstanding call.
            let (activity, sequence, client) = (Uuid(self.id.0 ^ 1), self.indies, self.client);
            self.output.put((), |bytes| conversation::write_indy(activity, sequence, client, bytes));
            self.indy_at = Some(at.max(now) + INDY_EVERY);
        }
    }

    /// Ends the activity: acknowledges the last results at once and abandons an outstanding call.
    pub fn end(&mut self) {
        if let Some(done) = self.unacknowledged.take() {
            self.output.put((), |bytes| done.header.write(bytes, &[]));
        }
        if self.call.is_some() {
            self.orphan();
        }
    }
}

impl Call {
    /// Fails the call, because the server cannot be reached.
    fn give_up(&mut self) {
        let status = if self.has_received { Status::COMM_FAILURE } else { Status::SERVER_UNAVAILABLE };
        self.outcome = Some(Err(Failure { status, began: true }));
    }
}

/// Returns the header of a client's unit about a call.
fn question(kind: PduType, call: &Call, boot: u32) -> Header {
    Header { kind, flags: 0, boot, ..*call.sending.head() }
}
