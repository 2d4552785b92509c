//! The clients of an endpoint, and their lanes.

use super::{CLIENTS_MAX, SharedEndpoint};
use crate::co::relay::exchange::{Addressee, Arrived, Performed, cache_target};
use crate::co::relay::translation::Translation;
use crate::co::relay::{Attribution, Interfaces};
use crate::counts::Counts;
use crate::dg::relay::BIND;
use crate::dg::{CallKey, IncomingCall};
use crate::octets::shrink;
use crate::status::Status;
use crate::uuid::{SyntaxId, Uuid};
use obvia_via::datagram::Host;
use obvia_via::window::{Inbox, Outgoing, Peer, Relay, relayed};
use obvia_via::{Ended, Error as ViError, Reservation};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The maximum number of a client's lanes.
const LANES_MAX: usize = 16;
/// The number of lanes that each client may have in any case, even if other clients have many
/// lanes. The second lane is for a call that the client makes while it is called back during its
/// first call.
const LANES_OWN: usize = 2;
/// The maximum number of further lanes, beyond each client's [`LANES_OWN`], for all clients
/// together. With [`LANES_OWN`] lanes for each client and for the callers without an identity,
/// there are at most 1,024 lanes. One host may have half of the further lanes.
const FURTHER_MAX: usize = 1024 - LANES_OWN * (CLIENTS_MAX + 1);
/// The time without a call after which a lane ends, if its client has another lane.
const REST: Duration = Duration::from_secs(10);
/// The maximum number of a client's calls that wait for a lane.
const QUEUE_MAX: usize = 64;

/// The numbers of further lanes, beyond [`LANES_OWN`], by host.
#[derive(Debug, Default)]
pub(super) struct FurtherLanes(Mutex<Counts<Host>>);

impl FurtherLanes {
    fn counts(&self) -> MutexGuard<'_, Counts<Host>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a further lane of a client at a host. Returns false if there are too many.
    fn enter(&self, host: Host) -> bool {
        let mut counts = self.counts();
        let has_room = counts.room(&host.counted(), FURTHER_MAX / 2, FURTHER_MAX) > 0;
        if has_room {
            counts.add(host.counted(), 1);
        }
        has_room
    }

    /// Subtracts a lane from the counts.
    fn leave(&self, host: Host) {
        self.counts().subtract(host.counted(), 1);
    }
}

/// A calling process.
#[derive(Debug)]
pub(super) struct Client {
    shared: Arc<SharedEndpoint>,
    host: Host,
    interfaces: Arc<dyn Interfaces>,
    calls: Mutex<CallQueue>,
}

#[derive(Debug)]
struct CallQueue {
    waiting: VecDeque<IncomingCall>,
    /// The calls being executed. The flag of each is set when the client abandons the call.
    performed: Vec<(CallKey, Arc<AtomicBool>)>,
    /// The signals of the lanes that wait for a call. The lane that became idle last takes the next
    /// call. Therefore surplus lanes get no calls, and end after [`REST`].
    idle: Vec<Arc<Condvar>>,
    lanes: usize,
    /// The cached targets of requests, by interface and object.
    known: HashMap<(SyntaxId, Option<Uuid>), Addressee>,
    last_received: Instant,
    is_over: bool,
}

impl Client {
    pub(super) fn new(shared: Arc<SharedEndpoint>, host: Host, interfaces: Arc<dyn Interfaces>) -> Self {
        let calls = CallQueue {
            waiting: VecDeque::new(),
            performed: Vec::new(),
            idle: Vec::new(),
            lanes: 0,
            known: HashMap::new(),
            last_received: Instant::now(),
            is_over: false,
        };
        Self { shared, host, interfaces, calls: Mutex::new(calls) }
    }

    fn calls(&self) -> MutexGuard<'_, CallQueue> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn host(&self) -> Host {
        self.host
    }

    /// Notes that the client is alive.
    pub(super) fn note_alive(&self) {
        self.calls().last_received = Instant::now();
    }

    /// Queues a call for a lane. Returns whether the caller has to start another lane. Fails if too
    /// many calls wait. Also fails if all lanes of the client execute calls and the limit of
    /// further lanes leaves no room for another lane: the calls in progress may depend on the new
    /// call, and would wait for it in vain.
    pub(super) fn enqueue(&self, call: IncomingCall) -> Result<bool, Status> {
        let mut calls = self.calls();
        if calls.waiting.len() == QUEUE_MAX {
            return Err(Status::SERVER_TOO_BUSY);
        }
        calls.last_received = Instant::now();
        let is_more = calls.waiting.len() >= calls.idle.len() && self.add_lane(&mut calls);
        let CallQueue { waiting, performed, idle, lanes, .. } = &mut *calls;
        let is_starved = !is_more && *lanes < LANES_MAX && performed.len() + waiting.len() >= *lanes;
        // No other call depends on a call without response.
        if is_starved && !call.is_maybe {
            return Err(Status::SERVER_TOO_BUSY);
        }
        waiting.push_back(call);
        if let Some(at) = idle.len().checked_sub(waiting.len()) {
            idle[at].notify_one();
        }
        Ok(is_more)
    }

    /// Whether another lane is needed and allowed. A lane is needed if calls wait but no lane is
    /// idle, because the idle lanes have ended or there was no room for another lane. If so, counts
    /// the new lane, which the caller has to start.
    pub(super) fn lacks_lanes(&self) -> bool {
        let mut calls = self.calls();
        !calls.waiting.is_empty() && calls.idle.is_empty() && self.add_lane(&mut calls)
    }

    /// Adds a lane to the counts, if there is room for it. Returns whether there is.
    fn add_lane(&self, calls: &mut CallQueue) -> bool {
        let has_room = calls.lanes < LANES_OWN || calls.lanes < LANES_MAX && self.shared.further_lanes.enter(self.host);
        calls.lanes += usize::from(has_room);
        has_room
    }

    /// Subtracts a lane from the counts.
    fn remove_lane(&self, calls: &mut CallQueue) {
        calls.lanes -= 1;
        if calls.lanes >= LANES_OWN {
            self.shared.further_lanes.leave(self.host);
        }
    }

    /// Marks a call as abandoned, because the client has abandoned or cancelled it.
    pub(super) fn cancel(&self, key: CallKey) {
        let calls = self.calls();
        if let Some((_, is_cancelled)) = calls.performed.iter().find(|(performed, _)| *performed == key) {
            is_cancelled.store(true, Ordering::Release);
        }
    }

    /// Whether a call is queued or being executed.
    pub(super) fn has(&self, key: CallKey) -> bool {
        let calls = self.calls();
        calls.waiting.iter().any(|call| call.key == key)
            || calls.performed.iter().any(|(performed, _)| *performed == key)
    }

    /// Returns the time since the client's last unit, or `None` while the client has a call.
    pub(super) fn silence(&self) -> Option<Duration> {
        let calls = self.calls();
        (calls.waiting.is_empty() && calls.performed.is_empty()).then(|| calls.last_received.elapsed())
    }

    /// Whether the client would lose nothing, except a call in progress, if the endpoint forgot it:
    /// see [`Interfaces::is_dispensable`].
    pub(super) fn is_dispensable(&self) -> bool {
        self.interfaces.is_dispensable()
    }

    /// Ends the client and its lanes.
    pub(super) fn end(&self) {
        let mut calls = self.calls();
        calls.is_over = true;
        calls.idle.iter().for_each(|wakeup| wakeup.notify_one());
    }

    /// Returns the answer to a call that contains a bind. Returns `None` for other calls, and for
    /// calls of a client that is not identified.
    fn answer_bind(&self, call: &IncomingCall) -> Option<Vec<u8>> {
        let is_one = call.opnum == BIND && !call.is_maybe && call.client.is_some();
        is_one.then(|| self.interfaces.answer_bind(call.interface, &call.stub)).flatten()
    }

    /// Returns the target of a call.
    fn find(&self, call: &IncomingCall) -> Result<Addressee, Status> {
        let key = (call.interface, call.object);
        if let Some(known) = self.calls().known.get(&key) {
            return Ok(*known);
        }
        // The queue must not be locked here: the upper layer holds its own locks when it queries
        // lanes. The caller is `None`, as this protocol does not authenticate.
        let (target, interface) = self.interfaces.find(call.object, call.interface, None)?;
        // Interfaces of objects need an identified client, because reference counts belong to
        // clients. The client of a call without response is unknown.
        let translation = Translation::without_context(interface)
            .filter(|_| interface.objects.is_none() || call.client.is_some())
            .ok_or(Status::UNK_IF)?;
        let found = Addressee { target, translation };
        cache_target(&mut self.calls().known, key, found);
        Ok(found)
    }
}

/// One window of a client.
#[derive(Debug)]
pub(super) struct Lane {
    client: Arc<Client>,
    /// The call being executed.
    current: Mutex<Option<Call>>,
    scratch: Mutex<Vec<u8>>,
    /// Whether the client has abandoned the call. The lane's window then counts as closed, so that
    /// the method can notice that its result is not wanted. The lane ends after the call.
    is_cancelled: Arc<AtomicBool>,
    /// Whether the lane's thread has to stop waiting for calls.
    is_wanted: AtomicBool,
    /// Signalled when the lane has to look for a call, to stop waiting, or to end.
    wakeup: Arc<Condvar>,
}

/// A received call.
#[derive(Debug)]
struct Call {
    key: CallKey,
    /// Whether the call has no response.
    is_maybe: bool,
    performed: Performed,
    /// The reservation for the memory of the arguments, held until the call is over.
    memory: Option<Reservation>,
}

impl Lane {
    /// Creates a lane. The client must already have counted the lane.
    fn new(client: &Arc<Client>) -> Self {
        Self {
            client: Arc::clone(client),
            current: Mutex::default(),
            scratch: Mutex::default(),
            is_cancelled: Arc::default(),
            is_wanted: AtomicBool::new(false),
            wakeup: Arc::default(),
        }
    }

    /// Starts a lane. The client must already have counted the lane.
    pub(super) fn begin(client: &Arc<Client>) -> Result<(), ViError> {
        let window = relayed(Box::new(Self::new(client)), &client.shared.options.window)?;
        Arc::clone(&client.interfaces).serve(window, Attribution::default());
        Ok(())
    }

    fn current(&self) -> MutexGuard<'_, Option<Call>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ended(&self) -> ViError {
        ViError::Disconnected { peer: self.client.host.to_string(), why: Ended::ByPeer }
    }

    /// Whether the client is gone, or has abandoned the lane's call.
    fn must_end(&self, calls: &CallQueue) -> bool {
        calls.is_over || self.is_cancelled.load(Ordering::Acquire)
    }

    /// Waits at most `span` for a call of the client. Returns `None` if the time is over, or if the
    /// lane was woken without a call. Fails if the client is gone or has abandoned the lane's call.
    /// Also fails if the lane is not needed: it has waited for the time `rest` without a call, and
    /// its client has another lane. If `span` is shorter than `rest`, the wait does not end the
    /// lane.
    fn next(&self, span: Duration, rest: Duration) -> Result<Option<IncomingCall>, ViError> {
        let client = &*self.client;
        let mut calls = client.calls();
        let is_nothing = |calls: &mut CallQueue| {
            calls.waiting.is_empty() && !self.must_end(calls) && !self.is_wanted.load(Ordering::Acquire)
        };
        let mut is_spare = false;
        if is_nothing(&mut calls) && !span.is_zero() {
            calls.idle.push(Arc::clone(&self.wakeup));
            // A client's only lane does not end after `rest`, so it may sleep for the whole `span`.
            let patience = if calls.lanes > 1 { span.min(rest) } else { span };
            let waited = self.wakeup.wait_timeout_while(calls, patience, is_nothing);
            let outcome;
            (calls, outcome) = waited.unwrap_or_else(PoisonError::into_inner);
            calls.idle.retain(|wakeup| !Arc::ptr_eq(wakeup, &self.wakeup));
            // The number of lanes also counts lanes that are about to end. Lanes that are idle or
            // execute a call are not.
            let has_another = calls.lanes > 1 && !(calls.idle.is_empty() && calls.performed.is_empty());
            is_spare = outcome.timed_out() && span >= rest && has_another;
        }
        if is_spare || self.must_end(&calls) {
            return Err(self.ended());
        }
        self.is_wanted.store(false, Ordering::Release);
        let call = calls.waiting.pop_front();
        calls.performed.extend(call.iter().map(|call| (call.key, Arc::clone(&self.is_cancelled))));
        Ok(call)
    }

    /// Puts a call into the inbox. A call that contains a bind is answered at once instead.
    fn put(&self, call: IncomingCall, inbox: &mut Inbox<'_>) -> Result<(), ViError> {
        if let Some(answer) = self.client.answer_bind(&call) {
            self.is_done(call.key);
            self.client.shared.respond(call.key, &answer);
            return Ok(());
        }
        let found = self.client.find(&call).and_then(|found| {
            self.client.interfaces.admit(found.target, found.translation.split_opnum(call.opnum).0, None)?;
            Ok(found)
        });
        let mut scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let IncomingCall { key, opnum, order, stub, is_maybe, memory, .. } = call;
        let put = match found {
            Ok(addressee) => {
                addressee.put_request(inbox, Arrived { opnum, order, stub: &stub, is_maybe }, &mut scratch)?
            }
            Err(status) => Err(status),
        };
        shrink(&mut scratch);
        match put {
            Ok(performed) => {
                *self.current() = Some(Call { key, is_maybe, performed, memory });
            }
            Err(status) => {
                self.is_done(key);
                if !is_maybe {
                    self.client.shared.fault(key, status, false);
                }
            }
        }
        Ok(())
    }

    fn is_done(&self, key: CallKey) {
        self.client.calls().performed.retain(|(performed, _)| *performed != key);
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        // The call will not be answered any more.
        if let Some(Call { key, is_maybe: false, .. }) = self.current().take() {
            self.client.shared.fault(key, Status::COMM_FAILURE, true);
        }
        let mut calls = self.client.calls();
        self.client.remove_lane(&mut calls);
        calls.performed.retain(|(_, is_cancelled)| !Arc::ptr_eq(is_cancelled, &self.is_cancelled));
    }
}

impl Relay for Lane {
    fn send(&self, message: Outgoing<'_>) -> Result<(), ViError> {
        let call = self.current().take();
        let call = call.filter(|call| !call.is_maybe);
        let Call { key, performed, memory, .. } =
            call.ok_or(ViError::BadState { what: "no call awaits a response" })?;
        let mut scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let encoded = performed.encode(&message, &mut scratch)?;
        self.is_done(key);
        // From now on, the results count against the host's share, instead of the arguments.
        drop(memory);
        match encoded {
            Ok(()) => self.client.shared.respond(key, &scratch),
            Err(status) => self.client.shared.fault(key, status, true),
        }
        shrink(&mut scratch);
        Ok(())
    }

    fn receive(&self, inbox: &mut Inbox<'_>, span: Duration) -> Result<(), ViError> {
        let ended = self.current().take_if(|call| call.is_maybe);
        if let Some(Call { key, performed, .. }) = ended {
            performed.end();
            self.is_done(key);
        }
        // The lane may be waiting for a cancel of its current call. The call's arguments in the
        // inbox are still needed then.
        if self.current().is_none() {
            inbox.discard();
            self.client.interfaces.rest();
        }
        match self.next(span, REST)? {
            Some(call) => self.put(call, inbox),
            None => Ok(()),
        }
    }

    fn wake(&self) {
        self.is_wanted.store(true, Ordering::Release);
        // The lane's thread holds this lock from the check of the flag until it waits. So after
        // this line, a thread that has missed the flag is waiting, and is notified.
        drop(self.client.calls());
        self.wakeup.notify_one();
    }

    fn check(&self) -> Result<(), ViError> {
        Ok(())
    }

    fn has_ended(&self) -> bool {
        self.is_cancelled.load(Ordering::Acquire) || self.client.calls().is_over
    }

    fn peer(&self) -> Peer {
        Peer::Host(self.client.host.to_string())
    }

    fn end(&self) {}
}

#[cfg(test)]
mod tests;
