//! The server's relay: calls of an association become requests, and responses become the calls'
//! results.
//!
//! An association with several outstanding calls has several windows, its *lanes*, each with a
//! thread. One idle lane leads: it receives for all lanes. Once it has received a call, another
//! lane leads. If all lanes are busy, the relay adds a lane.

use super::exchange::{Addressee, Arrived, Performed, cache_target};
use super::translation::Translation;
use super::{Attribution, FILLS_MAX, Interface, Interfaces, PEER_TIMEOUT, fill, limits, over, wait};
use crate::co::{IncomingCall, Presentation, Reservation, ServerAssociation, ServerEvent, ServerOptions};
use crate::octets::shrink;
use crate::status::Status;
use crate::uuid::Uuid;
use crate::vi_call::TargetId;
use obvia_via::stream::Stream;
use obvia_via::window::{Inbox, Options, Outgoing, Peer, Relay, Window, relayed};
use obvia_via::{Deadline, Error as ViError, Header, Kind};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

#[cfg(test)]
mod tests;

/// The maximum number of an association's lanes.
const LANES_MAX: usize = 16;

/// The message that a window receives in place of a refused call without response. Its target
/// exists at no server. The upper layer does not find the target, and so recognises the refusal.
const REFUSED: Header = Header { kind: Kind::Oneway, opnum: 0, first: u32::MAX, second: 1 };

/// Creates a window that receives calls of an association over a stream, and the attribution of
/// these calls.
///
/// # Errors
///
/// If memory for the window cannot be allocated.
pub fn server(
    stream: Arc<Stream>,
    interfaces: Arc<dyn Interfaces>,
    options: &Options,
    mut association: ServerOptions,
) -> Result<(Window, Attribution), ViError> {
    association.limits = limits(options);
    first_lane(stream, interfaces, options, association)
}

/// Creates the first lane of an association.
fn first_lane(
    stream: Arc<Stream>,
    interfaces: Arc<dyn Interfaces>,
    options: &Options,
    association: ServerOptions,
) -> Result<(Window, Attribution), ViError> {
    let state = State {
        association: ServerAssociation::new(association),
        known: HashMap::new(),
        scratch: Vec::new(),
        lanes: Vec::new(),
        sent: Vec::new(),
        is_sending: false,
    };
    let shared = SharedLanes {
        stream,
        interfaces,
        options: options.clone(),
        state: Mutex::new(state),
        send_ended: Condvar::new(),
        turns: Mutex::default(),
        lane_wakeup: Condvar::new(),
    };
    Lane::window(Arc::new(shared))
}

/// The shared state of an association's lanes.
#[derive(Debug)]
struct SharedLanes {
    stream: Arc<Stream>,
    interfaces: Arc<dyn Interfaces>,
    options: Options,
    state: Mutex<State>,
    /// Signalled when a lane has sent output.
    send_ended: Condvar,
    turns: Mutex<Turns>,
    /// Signalled when no lane leads any more, or a lane has to wake.
    lane_wakeup: Condvar,
}

/// The lanes that receive, or wait to. The lock of this state is never held during a wait, so that
/// other threads can wake a lane at any time.
#[derive(Debug, Default)]
struct Turns {
    /// Whether a lane leads, that is, receives for all lanes.
    is_led: bool,
    /// The number of lanes that wait to lead.
    followers: usize,
}

#[derive(Debug)]
struct State {
    association: ServerAssociation,
    /// The cached targets of requests, by context and object.
    known: HashMap<(u16, Option<Uuid>), Addressee>,
    /// The buffer for translations.
    scratch: Vec<u8>,
    /// The calls of each lane.
    lanes: Vec<Weak<Mutex<Calls>>>,
    /// The buffer in which output is sent, kept for the next output.
    sent: Vec<u8>,
    /// Whether a lane sends output now, without the lock.
    is_sending: bool,
}

impl State {
    /// Marks a call as orphaned if it is the last call of a lane. Returns whether there is such a
    /// lane.
    fn orphan(&self, id: u32) -> bool {
        let mut is_found = false;
        for calls in self.lanes.iter().filter_map(Weak::upgrade) {
            let mut calls = calls.lock().unwrap_or_else(PoisonError::into_inner);
            if calls.last() == Some(id) {
                calls.is_orphaned = true;
                is_found = true;
            }
        }
        is_found
    }

    /// Returns the number of lanes whose windows exist.
    fn live_lanes(&self) -> usize {
        self.lanes.iter().filter(|lane| lane.strong_count() > 0).count()
    }
}

/// A received call.
#[derive(Debug)]
struct Call {
    /// The call's identifier; `None` for a call without response.
    id: Option<u32>,
    performed: Performed,
    /// The reservation for the memory of the arguments, held until the call is over.
    memory: Option<Reservation>,
}

/// The result of processing the input.
enum Taken {
    Nothing,
    Something,
    Call(Call),
    /// A call without response was refused. The inbox has [`REFUSED`] in place of the call.
    Refused,
    Orphan(u32),
}

impl SharedLanes {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends the association's output. The state is unlocked while the output is sent, because the
    /// client may be slow to read.
    fn flush<'a>(&'a self, mut state: MutexGuard<'a, State>) -> (MutexGuard<'a, State>, Result<(), ViError>) {
        // Only one lane sends at a time. So a client that does not read delays its further calls,
        // and the output stays bounded.
        while state.is_sending {
            state = self.send_ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let mut bytes = std::mem::take(&mut state.sent);
        state.association.take_output(&mut bytes);
        if bytes.is_empty() {
            state.sent = bytes;
            return (state, Ok(()));
        }
        state.is_sending = true;
        drop(state);
        let outcome = match self.stream.send(&bytes, Deadline::Within(PEER_TIMEOUT)) {
            // The client is gone, but the units that it has sent before still have to be processed.
            Err(ViError::PeerGone { .. } | ViError::Disconnected { .. }) => Ok(()),
            outcome => outcome,
        };
        if outcome.is_err() {
            // Possibly only a part of a unit was sent, so the client could not interpret further
            // output.
            self.stream.abandon();
        }
        let mut state = self.lock();
        state.is_sending = false;
        shrink(&mut bytes);
        state.sent = bytes;
        self.send_ended.notify_all();
        (state, outcome)
    }

    /// Processes the next event of the input. Puts a call into the inbox. Refused calls, and calls
    /// on the runtime's own interfaces, are answered at once instead. For a refused call without
    /// response, the inbox gets [`REFUSED`].
    fn take(&self, state: &mut State, inbox: &mut Inbox<'_>, attribution: &Attribution) -> Result<Taken, ViError> {
        let State { association, known, scratch, .. } = state;
        let call = match association.poll(&mut |context| self.interfaces.judge(context)).map_err(over)? {
            None => return Ok(Taken::Nothing),
            Some(ServerEvent::Call(call)) => call,
            Some(ServerEvent::Orphaned(id)) => return Ok(Taken::Orphan(id)),
            // A cancel alone has no effect: methods only check whether the caller still waits.
            Some(ServerEvent::Cancelled(_)) => return Ok(Taken::Something),
        };
        if let Some(performed) = self.interfaces.perform(&call) {
            let (id, is_maybe) = (call.id, call.is_maybe);
            let answered = match performed {
                _ if is_maybe => Ok(()),
                Ok(results) => association.respond(id, &results),
                Err(status) => association.fault(id, status, !status.is_before_arguments()),
            };
            return answered.map(|()| Taken::Something).map_err(over);
        }
        let IncomingCall { id, is_maybe, opnum, order, stub, .. } = call;
        let found = self.find(known, &call).and_then(|found| {
            self.interfaces.admit(found.target, found.translation.split_opnum(opnum).0, call.maker)?;
            Ok(found)
        });
        let put = match found {
            Ok(addressee) => addressee.put_request(inbox, Arrived { opnum, order, stub, is_maybe }, scratch)?,
            Err(status) => Err(status),
        };
        shrink(scratch);
        match put {
            Ok(performed) => {
                attribution.set(call.maker.cloned());
                let memory = association.take_memory();
                Ok(Taken::Call(Call { id: (!is_maybe).then_some(id), performed, memory }))
            }
            Err(status) => {
                if is_maybe {
                    inbox.put(REFUSED, &[])?;
                    return Ok(Taken::Refused);
                }
                association.fault(id, status, false).map_err(over)?;
                Ok(Taken::Something)
            }
        }
    }

    /// Wakes the lanes that wait to lead, so that each checks whether it has to stop waiting.
    fn wake_followers(&self) {
        // A lane holds this lock from the check of its flags until it waits. So after this line,
        // each lane that has checked them already waits, and is notified.
        drop(self.turns());
        self.lane_wakeup.notify_all();
    }

    fn find(
        &self,
        known: &mut HashMap<(u16, Option<Uuid>), Addressee>,
        call: &IncomingCall<'_>,
    ) -> Result<Addressee, Status> {
        let Presentation { id, interface, transfer } = call.presentation;
        let key = (id, call.object);
        if let Some(known) = known.get(&key) {
            return Ok(*known);
        }
        let (target, interface): (TargetId, Interface) = self.interfaces.find(call.object, interface, call.maker)?;
        let translation = Translation::new(transfer, interface).ok_or(Status::UNK_IF)?;
        let found = Addressee { target, translation };
        cache_target(known, key, found);
        Ok(found)
    }
}

/// One window of an association.
#[derive(Debug)]
struct Lane {
    shared: Arc<SharedLanes>,
    calls: Arc<Mutex<Calls>>,
    attribution: Attribution,
    /// Whether the lane's thread has to stop waiting for calls.
    is_wanted: AtomicBool,
}

/// The calls of a lane.
#[derive(Debug, Default)]
struct Calls {
    /// The call being executed.
    current: Option<Call>,
    /// The identifier of the call answered last.
    answered: Option<u32>,
    /// Whether the client has orphaned the last call: it no longer wants the response.
    is_orphaned: bool,
}

impl Calls {
    /// Returns the identifier of the call being executed (`None` for a call without a response), or
    /// else of the call answered last, if there is one.
    fn last(&self) -> Option<u32> {
        self.current.as_ref().map_or(self.answered, |call| call.id)
    }
}

impl Lane {
    fn window(shared: Arc<SharedLanes>) -> Result<(Window, Attribution), ViError> {
        let (options, attribution) = (shared.options.clone(), Attribution::default());
        let calls = Arc::default();
        let mut state = shared.lock();
        state.lanes.retain(|lane| lane.strong_count() > 0);
        state.lanes.push(Arc::downgrade(&calls));
        drop(state);
        let lane = Self { shared, calls, attribution: attribution.clone(), is_wanted: AtomicBool::new(false) };
        Ok((relayed(Box::new(lane), &options)?, attribution))
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Receives for all lanes, until there is a message for this lane.
    fn lead<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        inbox: &mut Inbox<'_>,
        span: Duration,
    ) -> (MutexGuard<'a, State>, Result<(), ViError>) {
        let shared = &*self.shared;
        let mut span = Some(span).filter(|span| !span.is_zero());
        let mut fills = 0;
        loop {
            let taken = shared.take(&mut state, inbox, &self.attribution);
            // The output is sent after an error, too, because the output tells the client the
            // reason.
            let flushed;
            (state, flushed) = shared.flush(state);
            let outcome = match flushed.and(taken) {
                Ok(Taken::Call(call)) => {
                    self.calls().current = Some(call);
                    return (state, Ok(()));
                }
                Ok(Taken::Refused) => return (state, Ok(())),
                Ok(Taken::Orphan(id)) => {
                    let is_found = state.orphan(id);
                    if self.calls().is_orphaned {
                        let outcome = self.put_cancel(inbox);
                        return (state, outcome);
                    }
                    if is_found {
                        shared.wake_followers();
                    }
                    continue;
                }
                Ok(Taken::Something) => continue,
                Ok(Taken::Nothing) => Ok(()),
                Err(error) => Err(error),
            };
            if outcome.is_err() {
                return (state, outcome);
            }
            if let Some(span) = span.take() {
                // The wait also ends when the client counts as slow. Otherwise the fragments of an
                // incomplete call could occupy memory for ever.
                let slow_at = state.association.pace_due();
                let left = slow_at.map_or(span, |at| span.min(at.saturating_duration_since(Instant::now())));
                drop(state);
                let waited = wait(&shared.stream, left);
                state = shared.lock();
                match waited {
                    Ok(true) => {}
                    // The pace is checked only after all bytes that arrived during the wait are
                    // processed.
                    Ok(false) if slow_at.is_some_and(|at| at <= Instant::now()) => {}
                    _ => return (state, waited.map(drop)),
                }
            }
            match fill(&shared.stream, &mut state.association.input) {
                Ok(true) if fills < FILLS_MAX => fills += 1,
                Ok(_) => {
                    let outcome = state.association.check_pace().map_err(over);
                    return (state, outcome);
                }
                Err(error) => return (state, Err(error)),
            }
        }
    }

    /// Puts a cancel into the inbox: the client has orphaned the lane's last call.
    fn put_cancel(&self, inbox: &mut Inbox<'_>) -> Result<(), ViError> {
        self.calls().is_orphaned = false;
        inbox.put(Header { kind: Kind::Cancel, opnum: 0, first: 0, second: 0 }, &[])
    }

    /// Waits until no other lane leads, or the lane's last call is orphaned.
    fn follow<'a>(&'a self, mut turns: MutexGuard<'a, Turns>, span: Duration) -> MutexGuard<'a, Turns> {
        let must_wait =
            |turns: &mut Turns| turns.is_led && !self.is_wanted.load(Ordering::Acquire) && !self.calls().is_orphaned;
        turns.followers += 1;
        let waited = self.shared.lane_wakeup.wait_timeout_while(turns, span, must_wait);
        let (mut turns, _) = waited.unwrap_or_else(PoisonError::into_inner);
        turns.followers -= 1;
        turns
    }
}

impl Relay for Lane {
    fn send(&self, message: Outgoing<'_>) -> Result<(), ViError> {
        // The state is locked from here until the call counts as answered. Otherwise another lane
        // could read an ORPHANED for the call while the call is neither current nor answered.
        let mut state = self.shared.lock();
        let call = self.calls().current.take().and_then(|call| Some((call.id?, call.performed, call.memory)));
        // The reservation for the arguments lasts until the response is sent.
        let (id, performed, _memory) = call.ok_or(ViError::BadState { what: "no call awaits a response" })?;
        let State { association, scratch, .. } = &mut *state;
        let answered = match performed.encode(&message, scratch)? {
            Ok(()) => association.respond(id, scratch),
            Err(status) => association.fault(id, status, true),
        };
        shrink(scratch);
        answered.map_err(over)?;
        self.calls().answered = Some(id);
        self.shared.flush(state).1
    }

    fn receive(&self, inbox: &mut Inbox<'_>, span: Duration) -> Result<(), ViError> {
        if let Some(call) = self.calls().current.take_if(|call| call.id.is_none()) {
            call.performed.end();
        }
        // The lane may be waiting for a cancel of its current call. The call's arguments in the
        // inbox are still needed then.
        if self.calls().current.is_none() {
            inbox.discard();
            self.shared.interfaces.rest();
        }
        let deadline = Deadline::Within(span).start();
        let mut turns = self.shared.turns();
        if turns.is_led {
            turns = self.follow(turns, span);
        }
        if self.calls().is_orphaned {
            return self.put_cancel(inbox);
        }
        if self.is_wanted.swap(false, Ordering::AcqRel) || turns.is_led {
            return Ok(());
        }
        turns.is_led = true;
        drop(turns);
        let (state, outcome) = self.lead(self.shared.lock(), inbox, deadline.remaining());
        // While this lane performs its call it does not receive, so another lane has to receive.
        let is_busy = self.calls().current.is_some();
        let may_grow = is_busy && state.association.is_multiplexed() && state.live_lanes() < LANES_MAX;
        drop(state);
        let mut turns = self.shared.turns();
        turns.is_led = false;
        let has_follower = turns.followers > 0;
        drop(turns);
        if has_follower {
            self.shared.lane_wakeup.notify_one();
        } else if may_grow {
            // If the window cannot be made, further calls wait until this lane is idle.
            if let Ok((lane, attribution)) = Self::window(Arc::clone(&self.shared)) {
                Arc::clone(&self.shared.interfaces).serve(lane, attribution);
            }
        }
        outcome
    }

    fn wake(&self) {
        self.is_wanted.store(true, Ordering::Release);
        self.shared.wake_followers();
        self.shared.stream.interrupt();
    }

    fn check(&self) -> Result<(), ViError> {
        Ok(())
    }

    fn has_ended(&self) -> bool {
        self.shared.stream.has_ended()
    }

    fn peer(&self) -> Peer {
        self.shared.stream.peer().clone()
    }

    fn local(&self) -> Option<&str> {
        self.shared.stream.local_host()
    }

    fn end(&self) {
        self.shared.stream.close();
    }
}
