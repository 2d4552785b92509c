//! A server's side of calls, for all of its clients (C706 10.3): arguments are put together, results kept until they have arrived.
//!
//! An activity makes one call at a time, and numbers them. A call with the number of the last one is that one again: it is not performed
//! again, unless it may be. Of an activity that is not known the client itself is asked, by a call back to where the request came
//! from, whether it makes this call. So neither an old request that comes again nor one with a forged sender is performed.

mod activity;
mod hearing;
mod hosts;

use super::Limits;
use super::conversation::Question;
use super::output::Output;
use super::pdu::{Header, PduType, flags, flags2, write_status};
use super::sending::Sending;
use crate::octets::ByteOrder;
use crate::status::Status;
use crate::uuid::{SyntaxId, Uuid};
use activity::{Activity, Asking, State};
use hosts::Hosts;
use obvia_via::datagram::Place;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::time::{Duration, Instant};

/// When a question to a client is repeated for the first time, and how often it is asked.
const ASK_AGAIN: Duration = Duration::from_millis(250);
const ASKED_MAX: u32 = 6;
/// How often an answer is repeated of itself. A client that has not got it asks.
const REPEATS_MAX: u32 = 5;
/// How long an activity is remembered that does nothing.
const REMEMBERED: Duration = Duration::from_secs(300);

/// What a server is.
pub struct ServerOptions {
    /// What it puts up with.
    pub limits: Limits,
    /// When it was started, in any unit since any time: another number each time, and not 0.
    pub boot: u32,
    /// Draws UUIDs that nobody can guess: who guesses one can answer for another client.
    pub draw: Box<dyn FnMut() -> Uuid + Send>,
}

impl fmt::Debug for ServerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerOptions").field("limits", &self.limits).field("boot", &self.boot).finish_non_exhaustive()
    }
}

/// Which call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallKey {
    /// The client's activity.
    pub activity: Uuid,
    /// Which of its calls.
    pub sequence: u32,
}

/// A call to be performed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncomingCall {
    /// Which call it is.
    pub key: CallKey,
    /// Where it came from.
    pub from: Place,
    /// The client's address space, which all of its activities have in common. `None` where nobody has asked, or it has not said.
    pub client: Option<Uuid>,
    /// The interface.
    pub interface: SyntaxId,
    /// Which object.
    pub object: Option<Uuid>,
    /// Which method.
    pub opnum: u16,
    /// Whether nobody waits for an answer: there is to be none.
    pub is_maybe: bool,
    /// The byte order of the arguments.
    pub order: ByteOrder,
    /// The arguments.
    pub stub: Vec<u8>,
}

/// What a server has to know about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerEvent {
    /// A call is to be performed.
    Call(IncomingCall),
    /// The client would like a call to end, waits for it no longer, or is gone.
    Cancelled(CallKey),
    /// A client, named by its address space, has shown that it is there.
    Alive(Uuid),
}

/// A server's side of calls.
#[derive(Debug)]
pub struct Server {
    options: ServerOptions,
    activities: HashMap<Uuid, Activity>,
    /// The activities that clients are asked about, by who asks.
    asked: HashMap<Uuid, Uuid>,
    hosts: Hosts,
    events: VecDeque<ServerEvent>,
    output: Output<Place>,
    due: Option<Instant>,
}

impl Server {
    /// A server that nobody has called yet.
    pub fn new(options: ServerOptions) -> Self {
        let hosts = Hosts::new(options.limits.activities_max, options.limits.held_max);
        Self {
            options,
            activities: HashMap::new(),
            asked: HashMap::new(),
            hosts,
            events: VecDeque::new(),
            output: Output::default(),
            due: None,
        }
    }

    /// What is to be sent. It is the caller's to clear when it is sent.
    pub fn output(&mut self) -> &mut Output<Place> {
        &mut self.output
    }

    /// What has come about, the oldest first.
    pub fn next_event(&mut self) -> Option<ServerEvent> {
        self.events.pop_front()
    }

    /// Bytes of arguments and results that it keeps.
    pub fn held(&self) -> usize {
        self.hosts.bytes()
    }

    /// Activities that it knows.
    pub fn activities(&self) -> usize {
        self.activities.len()
    }

    /// When it wants [`Self::tick`] to be called: as soon as there is something to be due.
    pub fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Something will be due then.
    fn note_due(&mut self, at: Instant) {
        self.due = Some(self.due.map_or(at, |due| due.min(at)));
    }

    /// Changes what is known of an activity, and keeps the books.
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
            if let Some(asking) = activity.asking {
                self.asked.remove(&asking.asker);
            }
        }
    }

    /// A call's results, little endian. Nobody waits for those of a call that is not under way any more.
    pub fn respond(&mut self, now: Instant, key: CallKey, stub: Vec<u8>) {
        let limits = &self.options.limits;
        let room = self.activities.get(&key.activity).map_or(0, |known| self.hosts.room(known.place.host()));
        if stub.len() > limits.message_max.min(room) {
            return self.fault(now, key, Status::REMOTE_NO_MEMORY, true);
        }
        self.answer(now, key, PduType::RESPONSE, stub);
    }

    /// Why a call has no results, and whether the method was called.
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
        // What may be performed again need not be kept.
        let is_kept = !(activity.head.has(flags::IDEMPOTENT) && sending.is_whole());
        if let Some(due) = sending.due().filter(|_| is_kept) {
            self.note_due(due);
        }
        let state = if is_kept { State::Answered(sending) } else { State::Over };
        self.change(key.activity, |activity| activity.state = state);
    }

    /// The header of what a server says about a call.
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

    /// Says something about a call that needs no more than a word.
    fn say(&mut self, to: Place, request: &Header, kind: PduType) {
        let header = self.about(request, kind);
        self.output.put(to, |bytes| header.write(bytes, &[]));
    }

    /// Refuses a call that is not known.
    fn reject(&mut self, to: Place, request: &Header, status: Status) {
        // Where all servers are called, those that cannot do it say nothing; and nobody waits for what may get lost.
        if !request.has(flags::MAYBE) && !request.has(flags::BROADCAST) {
            let header = self.about(request, PduType::REJECT);
            self.output.put(to, |bytes| header.write(bytes, &write_status(status)));
        }
    }

    /// Asks a client whether it makes the call of an activity, and who it is.
    fn ask(&mut self, id: Uuid, now: Instant) {
        let question = Question { activity: id, boot: self.options.boot };
        let Some(activity) = self.activities.get_mut(&id) else { return };
        let draw = &mut self.options.draw;
        let asking =
            activity.asking.get_or_insert_with(|| Asking { asker: draw(), again_at: now, times: 0, is_simple: false });
        asking.again_at = now + ASK_AGAIN * 2_u32.pow(asking.times.min(ASKED_MAX));
        asking.times += 1;
        let (asker, again_at, is_simple) = (asking.asker, asking.again_at, asking.is_simple);
        self.output.put(activity.place, |bytes| question.write(asker, is_simple, bytes));
        self.asked.insert(asker, id);
        self.note_due(again_at);
    }

    /// Does what is due.
    pub fn tick(&mut self, now: Instant) {
        if self.due.is_none_or(|due| now < due) {
            return;
        }
        self.due = None;
        let ids: Vec<Uuid> = self.activities.keys().copied().collect();
        for id in ids {
            if let Some(due) = self.attend(id, now) {
                self.note_due(due);
            }
        }
    }

    /// Does what is due of an activity. Returns when something will be.
    fn attend(&mut self, id: Uuid, now: Instant) -> Option<Instant> {
        let patience = self.options.limits.patience;
        let activity = self.activities.get_mut(&id)?;
        let silent_at = |span: Duration| activity.heard + span;
        if activity.is_idle() {
            let end = silent_at(REMEMBERED);
            if now >= end {
                self.forget(id);
            }
            return Some(end);
        }
        if let Some(asking) = &activity.asking {
            let (again_at, is_enough) = (asking.again_at, asking.times >= ASKED_MAX);
            if now < again_at {
                return Some(again_at);
            }
            if is_enough {
                self.forget(id);
            } else {
                self.ask(id, now);
            }
            return None;
        }
        let sequence = activity.sequence;
        let (is_over, due) = match &mut activity.state {
            State::Answered(sending) => {
                sending.tick(now, activity.place, &mut self.output);
                let is_kept = !sending.has_arrived() && sending.repeats() <= REPEATS_MAX;
                (!is_kept, sending.due())
            }
            // Who waits asks now and then.
            _ => (now >= silent_at(patience), Some(silent_at(patience))),
        };
        if is_over {
            if matches!(activity.state, State::Performed) {
                self.events.push_back(ServerEvent::Cancelled(CallKey { activity: id, sequence }));
            }
            // It may go on being performed. Its answer is not wanted.
            self.change(id, |activity| activity.state = State::Over);
            return Some(now + REMEMBERED);
        }
        due
    }
}
