//! The server's side of calls, for all of its clients (C706 10.3): reassembles arguments, and keeps
//! results until the client has them.
//!
//! An activity makes one call at a time, with ascending numbers. A request with the number of the
//! activity's last call is a duplicate, and its call is executed again only if the call is
//! idempotent. Before the server executes a call of an unknown activity, it sends a callback to the
//! request's source address, and the client has to confirm the call. Therefore the server executes
//! neither old duplicates nor requests with a forged source.
//!
//! The server keeps no state of unknown activities. When the client confirms the call, the server
//! creates the activity, and tells the client to send the request again. As long as an address has
//! not answered a callback, the server sends it at most one unit, of at most 100 bytes, for each
//! unit received, and no unit by a timer. A call is executed without a confirmation only if it has
//! no response and fits one unit.

mod activity;
mod callback;
mod hosts;
mod receiving;

use super::output::Output;
use super::pdu::{Header, PduType, flags, flags2, write_status};
use super::sending::Sending;
use super::{FIRST_FRAGMENT, Limits};
use crate::octets::ByteOrder;
use crate::status::Status;
use crate::uuid::{SyntaxId, Uuid};
use activity::{Activity, State};
use callback::{ANSWERED_WITHIN, Callbacks};
use hosts::Hosts;
use obvia_via::Reservation;
use obvia_via::datagram::Place;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::time::{Duration, Instant};

/// The number of timed retransmissions without progress after which a response is dropped. A client
/// that still has no response sends a ping.
const REPEATS_MAX: u32 = 5;
/// The time after which an idle activity is forgotten.
const REMEMBERED: Duration = Duration::from_secs(300);
/// The time without a unit after which an activity of which no call was executed yields to another
/// activity.
const UNUSED_MAX: Duration = Duration::from_millis(750);

/// The options of a server.
pub struct ServerOptions {
    /// The server's limits.
    pub limits: Limits,
    /// The boot time: different for each start of the server, and not 0. The unit and the origin of
    /// this time are arbitrary.
    pub boot: u32,
    /// Random secret bytes. An attacker who knows them could answer a callback in place of another
    /// client.
    pub secret: [u8; 16],
}

impl fmt::Debug for ServerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerOptions").field("limits", &self.limits).field("boot", &self.boot).finish_non_exhaustive()
    }
}

/// The identity of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallKey {
    /// The client's activity.
    pub activity: Uuid,
    /// The call's sequence number in the activity.
    pub sequence: u32,
}

/// A call to be executed.
#[derive(Debug)]
pub struct IncomingCall {
    /// The call's identity.
    pub key: CallKey,
    /// The source address.
    pub from: Place,
    /// The client's address space, which all of its activities share. `None` if the client has not
    /// identified itself; such a call has no response.
    pub client: Option<Uuid>,
    /// The interface.
    pub interface: SyntaxId,
    /// The object's UUID.
    pub object: Option<Uuid>,
    /// The method's opnum.
    pub opnum: u16,
    /// Whether the call has no response and must not be answered.
    pub is_maybe: bool,
    /// The byte order of the arguments.
    pub order: ByteOrder,
    /// The arguments in NDR.
    pub stub: Vec<u8>,
    /// The reservation for the arguments in the share of the client's host, unless the arguments
    /// are short. The owner drops the reservation when no copy of the arguments is left.
    pub memory: Option<Reservation>,
}

/// An event of a server.
#[derive(Debug)]
pub enum ServerEvent {
    /// A call has to be executed.
    Call(IncomingCall),
    /// The client has cancelled or abandoned a call, or is gone.
    Cancelled(CallKey),
    /// The client with this address space is alive.
    Alive(Uuid),
}

/// The server's side of calls.
#[derive(Debug)]
pub struct Server {
    options: ServerOptions,
    activities: HashMap<Uuid, Activity>,
    callbacks: Callbacks,
    hosts: Hosts,
    events: VecDeque<ServerEvent>,
    output: Output<Place>,
    due: Option<Instant>,
}

impl Server {
    /// Creates a server without activities.
    pub fn new(options: ServerOptions) -> Self {
        let hosts = Hosts::new(options.limits.activities_max, options.limits.held_max);
        let callbacks = Callbacks::new(options.secret, options.boot);
        Self {
            options,
            activities: HashMap::new(),
            callbacks,
            hosts,
            events: VecDeque::new(),
            output: Output::default(),
            due: None,
        }
    }

    /// Returns the datagrams to be sent. The caller clears them once they are sent.
    pub fn output(&mut self) -> &mut Output<Place> {
        &mut self.output
    }

    /// Removes and returns the oldest event, if there is one.
    pub fn next_event(&mut self) -> Option<ServerEvent> {
        self.events.pop_front()
    }

    /// Returns the number of bytes of arguments and results that the server holds.
    pub fn held(&self) -> usize {
        self.hosts.bytes()
    }

    /// Returns the number of known activities.
    pub fn activities(&self) -> usize {
        self.activities.len()
    }

    /// Returns the time of the next [`Self::tick`], if any.
    pub fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Sets the timer, unless it is already set to an earlier time.
    fn note_due(&mut self, at: Instant) {
        self.due = Some(self.due.map_or(at, |due| due.min(at)));
    }

    /// Changes an activity's state, and updates the counts of its host. Returns the result of
    /// `change`, or `None` for an unknown activity.
    fn change<R>(&mut self, id: Uuid, change: impl FnOnce(&mut Activity) -> R) -> Option<R> {
        let activity = self.activities.get_mut(&id)?;
        let (host, before) = (activity.place.host(), activity.held());
        let result = change(activity);
        let held = activity.held();
        self.hosts.change(host, before, held);
        Some(result)
    }

    fn forget(&mut self, id: Uuid) {
        self.change(id, |activity| activity.state = State::Over);
        if let Some(activity) = self.activities.remove(&id) {
            self.hosts.leave(activity.place.host());
        }
    }

    /// Answers a call with its results, in little endian. Has no effect if the call is not
    /// outstanding any more.
    pub fn respond(&mut self, now: Instant, key: CallKey, stub: Vec<u8>) {
        let known = self.activities.get(&key.activity);
        let room = known.map_or(0, |known| self.hosts.room_for_results(known.place.host()));
        // Results that fit one short unit are sent even if the host's share is used up.
        if stub.len() > self.options.limits.message_max.min(room.max(FIRST_FRAGMENT)) {
            return self.fault(now, key, Status::REMOTE_NO_MEMORY, true);
        }
        self.answer(now, key, PduType::RESPONSE, stub);
    }

    /// Answers a call with a fault. `began` tells whether the method was called.
    pub fn fault(&mut self, now: Instant, key: CallKey, status: Status, began: bool) {
        let kind = if began { PduType::FAULT } else { PduType::REJECT };
        self.answer(now, key, kind, write_status(status));
    }

    fn answer(&mut self, now: Instant, key: CallKey, kind: PduType, stub: Vec<u8>) {
        let is_current =
            |activity: &&Activity| activity.sequence == key.sequence && matches!(activity.state, State::Performed);
        let Some(activity) = self.activities.get(&key.activity).filter(is_current) else { return };
        let flags2 = if activity.is_cancelled { flags2::CANCEL_PENDING } else { 0 };
        let head = Header { flags2, ..self.about(&activity.head, kind) };
        let mut sending = Sending::new(head, stub, &activity.receiver, now);
        sending.advance(activity.place, &activity.receiver, &mut self.output);
        // A response of one unit to an idempotent call need not be kept: the call can be executed
        // again.
        let is_kept = !(activity.head.has(flags::IDEMPOTENT) && sending.is_whole());
        if let Some(due) = sending.due().filter(|_| is_kept) {
            self.note_due(due);
        }
        let state = if is_kept { State::Answered(sending) } else { State::Over };
        self.change(key.activity, |activity| activity.state = state);
    }

    /// Returns the header of a server's unit about a call.
    fn about(&self, request: &Header, kind: PduType) -> Header {
        Header {
            kind,
            flags: 0,
            flags2: 0,
            order: ByteOrder::Little,
            serial: 0,
            boot: self.options.boot,
            fragment: 0,
            ..*request
        }
    }

    /// Sends a unit without a body about a call.
    fn send_unit(&mut self, to: Place, request: &Header, kind: PduType) {
        let header = self.about(request, kind);
        self.output.put(to, |bytes| header.write(bytes, &[]));
    }

    /// Rejects a call.
    fn reject(&mut self, to: Place, request: &Header, status: Status) {
        // Broadcast calls are not rejected, since other servers may accept them. Calls without
        // response get no answer at all.
        if !request.has(flags::MAYBE) && !request.has(flags::BROADCAST) {
            let header = self.about(request, PduType::REJECT);
            self.output.put(to, |bytes| header.write(bytes, &write_status(status)));
        }
    }

    /// Sends the callback that asks the client at an address to confirm an activity's call and to
    /// identify itself.
    fn ask(&mut self, now: Instant, to: Place, activity: Uuid, is_simple: bool) {
        let Self { callbacks, output, .. } = self;
        output.put(to, |bytes| callbacks.write(now, to, activity, is_simple, bytes));
    }

    /// Performs the actions that are due.
    pub fn tick(&mut self, now: Instant) {
        if self.due.is_none_or(|due| now < due) {
            return;
        }
        self.due = None;
        let ids: Vec<Uuid> = self.activities.keys().copied().collect();
        for id in ids {
            if let Some(due) = self.tick_activity(id, now) {
                self.note_due(due);
            }
        }
    }

    /// Performs the due actions of an activity. Returns the time of the activity's next action, if
    /// any.
    fn tick_activity(&mut self, id: Uuid, now: Instant) -> Option<Instant> {
        let silence_max = self.options.limits.silence_max;
        let activity = self.activities.get_mut(&id)?;
        let silent_at = |span: Duration| activity.last_received + span;
        if activity.is_idle() {
            let end = silent_at(REMEMBERED);
            if now >= end {
                self.forget(id);
            }
            return Some(end);
        }
        let key = activity.key();
        let mut has_arrived = true;
        let (is_over, due) = match &mut activity.state {
            State::Answered(sending) => {
                let goes_on = sending.tick(now, REPEATS_MAX, activity.place, &mut self.output);
                has_arrived = sending.has_arrived();
                (has_arrived || !goes_on, sending.due())
            }
            // A client that waits for a response sends pings, so a silent client is gone.
            _ => (now >= silent_at(silence_max), Some(silent_at(silence_max))),
        };
        if is_over {
            if matches!(activity.state, State::Performed) {
                self.events.push_back(ServerEvent::Cancelled(key));
            }
            // The method may go on, but its response is not wanted any more.
            self.change(id, |activity| {
                activity.state = State::Over;
                activity.unacknowledged = (!has_arrived).then_some(activity.sequence);
            });
            return Some(now + REMEMBERED);
        }
        due
    }
}
