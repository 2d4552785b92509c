//! One connection and its dispatch: by the runtime's loop, or by a loop that the program owns.

use super::caller::{Caller, PrincipalSource, leave_caller};
use super::exporter::Exporter;
use super::presence::{Challenge, Identity, Presence, reason_of};
use super::refused_references;
use crate::access;
use crate::orpc::CallContext;
use crate::protocol::binding::{self, Greeting, Introduction, Transfers};
use crate::protocol::call_context;
use crate::protocol::own_calls;
use crate::server::association::AssociationClient;
use crate::server::dispatch::Dispatch;
use crate::server::exports::Target;
use crate::server::standing::Standing;
use crate::types::scratch;
use obvia_rpc::co::Denial;
use obvia_rpc::co::relay::Attribution;
use obvia_rpc::security::Authenticated;
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::{self, Answer, Arrived, ServerCall, Service, TargetId, serve, serve_next, serve_until_silent};
use obvia_via::window::{Alarm, Peer, Unparked, Window};
use obvia_via::{Budget, Ended, Error as ViError, Milliseconds, Seconds};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

/// One connection with its dispatch state.
#[repr(C)]
pub(super) struct Connection {
    // C code reads this field at offset 0.
    dispatch: Dispatch,
    exporter: &'static Exporter,
    caller: Option<Arc<Caller>>,
    // The client, once it has introduced itself on this connection. Always `None` if the connection
    // belongs to an association: the client is then in the `AssociationClient`.
    presence: Option<Presence>,
    challenge: Challenge,
    association: Option<(Arc<AssociationClient>, Attribution)>,
    // The principal that has authenticated on this connection.
    proved: Option<Authenticated>,
    peer: Peer,
    local: Option<String>,
    alarm: Alarm,
    /// The standing of the connection. The standing of an association's stream is in its
    /// `AssociationClient`.
    standing: Standing,
    /// The call context that the client has sent for its next call of an object.
    context: Option<CallContext>,
    /// The sequence number of the last call that was refused before its arguments were read, or of
    /// the last message that lists references of this call.
    refused: Option<u32>,
    /// Whether the list of connections contains this connection.
    is_listed: bool,
}

impl Connection {
    pub(super) fn new(
        exporter: &'static Exporter,
        window: &Window,
        association: Option<(Arc<AssociationClient>, Attribution)>,
        standing: Standing,
    ) -> Self {
        let of_association = || association.as_ref().and_then(|(client, _)| client.local());
        let local = window.local().or_else(of_association).map(str::to_owned);
        Self {
            dispatch: Dispatch::new(&exporter.exports().table, window.alarm()),
            exporter,
            caller: None,
            presence: None,
            challenge: Challenge::default(),
            association,
            proved: None,
            peer: window.peer(),
            local,
            alarm: window.alarm(),
            standing,
            context: None,
            refused: None,
            is_listed: false,
        }
    }

    /// Returns the peer at the other end.
    pub(super) fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Returns the host name by which the peer reaches this process, if known.
    pub(super) fn local(&self) -> Option<&str> {
        self.local.as_deref()
    }

    /// Returns the budget for the connection's areas; `None` if they are not limited.
    pub(super) fn area_budget(&self) -> Option<Arc<dyn Budget>> {
        self.exporter.clients().area_budget(&self.peer)
    }

    /// Records that the client has authenticated.
    pub(super) fn is_proved_by(&mut self, proved: Authenticated) {
        self.proved = Some(proved);
        self.standing.is_bound();
    }

    /// Whether the client has authenticated or introduced itself.
    pub(super) fn is_let_in(&self) -> bool {
        self.proved.is_some() || self.caller.is_some()
    }

    /// Records the loss of the connection for its client, if the network failed.
    pub(super) fn note_end(&self, why: &ViError) {
        if !matches!(why, ViError::Disconnected { why: Ended::Silent | Ended::Reset, .. }) {
            return;
        }
        match (&self.presence, &self.association) {
            (Some(presence), _) => presence.note_loss(),
            (None, Some((client, _))) => client.note_loss(),
            (None, None) => {}
        }
    }

    /// Ends the connection. Its place becomes free after the window's descriptors are closed.
    pub(super) fn end_with(self, window: Window) {
        drop(window);
        drop(self);
    }

    /// Identifies the client by its introduction, and returns the answer. `None` if the client
    /// claims the process of another principal.
    fn introduce(&mut self, client: Introduction) -> Option<Greeting> {
        let entered = Presence::introduced(self.exporter, client, &self.challenge, &self.peer, self.local.as_deref());
        let presence = match entered {
            Ok(presence) => presence,
            Err(status) => return Some(Greeting::Refused(reason_of(status))),
        };
        let principal = self.proved.as_ref().map(|proved| &proved.principal);
        if !presence.prove(&self.peer, self.local.as_deref(), principal) {
            access::log_denial(&self.peer, Denial::Proof);
            return None;
        }
        self.standing.is_bound();
        let greeting = presence.greeting(client);
        self.adopt(presence.identity(false));
        self.presence = Some(presence);
        Some(greeting)
    }

    /// Adds the connection to the list for observers. Peers that have neither introduced themselves
    /// nor made a permitted call are not in the list.
    fn list(&mut self) {
        if !std::mem::replace(&mut self.is_listed, true) {
            self.exporter.connections().add(self.peer.clone(), self.alarm.clone());
        }
    }

    /// Makes `client` the caller of further calls.
    fn adopt(&mut self, client: Identity) {
        self.list();
        let watch = Arc::clone(self.dispatch.watch());
        let maker = match &self.association {
            Some((client, attribution)) => PrincipalSource::Association(Arc::downgrade(client), attribution.clone()),
            None => PrincipalSource::Connection(self.proved.clone()),
        };
        let peer = self.peer.clone();
        let caller =
            Arc::new(Caller::new(self.exporter, client, (peer, self.local.clone()), maker, self.alarm.clone(), watch));
        caller.enter();
        self.caller = Some(caller);
    }

    /// Makes the client the current thread's caller. Without a known client, there is no caller.
    #[inline(always)]
    fn enter(&self) {
        match &self.caller {
            Some(caller) => caller.enter(),
            None => leave_caller(),
        }
    }

    /// Performs a call of the runtime's own targets, the first call of a target, or the first call
    /// after the watch was invalidated.
    #[cold]
    #[inline(never)]
    fn dispatch_slowly(&mut self, call: &mut ServerCall<'_>) -> Answer {
        if let Some(caller) = &self.caller {
            caller.has_taken();
        }
        // The proof of a mark may have assigned the association to another client.
        if let Some(client) = self.association.as_ref().and_then(|(client, _)| client.client())
            && self.caller.as_ref().is_none_or(|caller| caller.number != client.number)
        {
            self.adopt(client);
        }
        if self.association.is_some() {
            self.list();
        }
        let target = TargetId::from_word(call.target());
        let performer = self.exporter.services().performer(target, self.association.is_some());
        // Anonymous calls of services do not secure the connection's place, as over streams.
        let counts = performer.is_some() && self.caller.is_some();
        if counts
            && (target == own_calls::TARGET || self.proved.is_some())
            && let Err(status) = self.standing.note_call()
        {
            return Answer::fault(status);
        }
        match performer {
            None => {
                let _entered = self.context.take().map(call_context::entered);
                let Self { dispatch, exporter, caller, association, standing, .. } = self;
                let opnum = call.opnum();
                let admit = |target: &Target| match caller {
                    // The association has already checked the call.
                    _ if association.is_some() => Ok(()),
                    Some(caller) => {
                        let target = (target.identity, target.interface);
                        exporter.rules().admit(target, opnum, || caller.shown())?;
                        standing.note_call()
                    }
                    // A client must introduce itself before it calls.
                    None => Err(Status::PROTOCOL_ERROR),
                };
                let answer = dispatch.fetch_and_perform(&exporter.exports().table, call, admit);
                if answer.is_before_arguments() {
                    self.refused = Some(call.sequence());
                }
                answer
            }
            Some(perform) if self.caller.is_some() => match own_calls::context_in(call) {
                Some(context) => self.expect(context),
                None if own_calls::lists_references(call) => self.return_references(call),
                None => perform(call),
            },
            Some(_) => Answer::fault(Status::PROTOCOL_ERROR),
        }
    }

    /// Performs [`OP_LISTED`](crate::protocol::own_calls::OP_LISTED): returns the listed references
    /// to the client, if the previous message was a refused call or an earlier part of the refused
    /// call's list.
    fn return_references(&mut self, call: &mut ServerCall<'_>) -> Answer {
        let is_next = self.refused.is_some_and(|refused| refused.wrapping_add(1) == call.sequence());
        self.refused = is_next.then(|| call.sequence());
        if is_next { refused_references::return_references(call) } else { Answer::results(0, 0) }
    }

    /// Stores the context of the next call. Invalidates the watch, so that the next call takes the
    /// slow path, which uses the context.
    fn expect(&mut self, context: Option<CallContext>) -> Answer {
        self.context = context;
        self.dispatch.watch().invalidate();
        if self.context.is_some() { Answer::results(0, 0) } else { Answer::fault(Status::BAD_STUB_DATA) }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // The cached references to objects must be dropped before the client can count as gone.
        self.dispatch.clear();
    }
}

impl Service for Connection {
    #[inline(always)]
    fn dispatch(&mut self, call: &mut ServerCall<'_>) -> Answer {
        match self.dispatch.perform(call) {
            Some(answer) => answer,
            None => self.dispatch_slowly(call),
        }
    }

    fn is_oneway(&mut self) {
        if let Some(context) = &mut self.context {
            // The caller of a one-way call does not wait for results.
            context.left = None;
        }
    }

    fn answer_pdu(&mut self, pdu: &[u8]) -> Option<Vec<u8>> {
        let introduction = Introduction::in_bind(pdu);
        let greeting = match (&self.caller, introduction) {
            (_, Some(client)) if client.asks => self.challenge.greeting(),
            (None, Some(client)) => match self.introduce(client) {
                Some(greeting) => greeting,
                None => return binding::refusal(pdu),
            },
            // A client must first introduce itself, and cannot change its identity.
            (Some(known), Some(client)) if known.oxid != client.oxid => return None,
            (None, None) => return None,
            _ => Greeting::Process,
        };
        binding::answer(pdu, self.exporter.oxid(), Transfers::FLAT, greeting)
    }

    fn abandoned(&mut self) {
        if let Some(caller) = &self.caller {
            caller.take_back();
        }
    }

    fn tidy(&mut self) {
        self.dispatch.purge(&self.exporter.exports().table);
    }
}

/// A loop of the program, which serves connections in place of the runtime's loop. It takes the
/// calls of a connection, and closes the connection.
#[derive(Clone, Copy, Debug)]
pub struct Loop {
    /// The function that is called for each connection, on a thread of its own. The function may
    /// pass the connection to another thread.
    pub function: unsafe extern "C-unwind" fn(connection: *mut Served, context: *mut c_void),
    /// The context that is passed to the function.
    pub context: *mut c_void,
}

// SAFETY: the caller of `set_loop` promises that any thread may call the function with its context.
unsafe impl Send for Loop {}

static LOOP: Mutex<Option<Loop>> = Mutex::new(None);

/// Sets the loop that serves connections accepted from now on; `None` restores the runtime's own
/// loop.
///
/// # Safety
///
/// The function must accept connections on any thread, for the lifetime of the process.
pub unsafe fn set_loop(function: Option<Loop>) {
    *LOOP.lock().unwrap_or_else(PoisonError::into_inner) = function;
}

/// The time for which a client must be silent before its connection gives up its thread, or the
/// memory of the last call. A connection with a thread answers sooner than a parked one. A client
/// that calls more often than this keeps its thread.
const SILENCE: Milliseconds<100> = Milliseconds;
/// The longest single wait for a message after a silence.
const IDLE: Seconds<3600> = Seconds;
/// The time after a failed attempt to park a connection until the next attempt.
const RETRY: Seconds<60> = Seconds;

/// Serves a connection until it ends. This thread serves the connection until the client is silent.
/// After each silence, another thread continues. `last` says how the previous wait ended.
fn serve_between_silences(mut window: Window, mut connection: Connection, last: vi_call::Served) {
    let mut outcome: Result<_, Box<ViError>> = Ok(last);
    loop {
        outcome = match outcome {
            Err(why) => return end(window, connection, &why),
            Ok(vi_call::Served::Message) => {
                let silence = serve_until_silent(&mut window, &mut connection, SILENCE);
                silence.map(|()| vi_call::Served::Silence)
            }
            Ok(_) => {
                let Err(unparked) = window.try_park(connection, resume) else { return };
                let outcome;
                Unparked { window, state: connection, outcome } = *unparked;
                // A message or an alarm has arrived, or the system lacks the means to park a
                // connection.
                outcome.and_then(|()| serve_next(&mut window, &mut connection, RETRY))
            }
        };
    }
}

/// Serves a connection that was parked, on a thread of its own. After an alarm without a message,
/// the connection parks again at once. If neither an alarm nor a message has arrived, this thread
/// first waits for a message: otherwise a peer that takes its messages back could make this process
/// start threads without a pause.
fn resume(mut window: Window, mut connection: Connection, outcome: Result<(), Box<ViError>>) {
    connection.enter();
    match outcome.and_then(|()| serve_next(&mut window, &mut connection, Milliseconds::<0>)) {
        Ok(vi_call::Served::Silence) => serve_between_silences(window, connection, vi_call::Served::Message),
        Ok(served) => serve_between_silences(window, connection, served),
        Err(why) => end(window, connection, &why),
    }
}

/// Serves a connection until it ends, and returns the reason. Whenever the client has become
/// silent, the thread gives the memory of the last call back.
fn serve_and_give_back(window: &mut Window, connection: &mut Connection) -> ViError {
    loop {
        let silence = serve_until_silent(window, connection, SILENCE);
        scratch::give_back();
        if let Err(why) = silence.and_then(|()| serve_next(window, connection, IDLE)) {
            return *why;
        }
    }
}

fn end(window: Window, connection: Connection, why: &ViError) {
    connection.note_end(why);
    connection.end_with(window);
}

/// Serves a connection until it ends: by the program's loop if there is one, otherwise by the
/// runtime's loop.
pub(super) fn serve_connection(mut window: Window, mut connection: Connection) {
    let own = *LOOP.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(own) = own else {
        if window.is_parkable() {
            window.begin_parking();
            return serve_between_silences(window, connection, vi_call::Served::Message);
        }
        // A relay itself gives the memory of calls back before each wait.
        let is_network = matches!(connection.peer, Peer::Host(_)) && !window.is_relayed();
        let serve = if is_network { serve_and_give_back } else { serve };
        let why = serve(&mut window, &mut connection);
        return end(window, connection, &why);
    };
    let window = NonNull::from(Box::leak(Box::new(window)));
    let served = Box::new(Served { connection, call: None, is_oneway: false, window });
    // SAFETY: the caller of `set_loop` promised that the function takes connections.
    unsafe { (own.function)(Box::into_raw(served), own.context) };
}

/// A connection that a loop of the program serves. The loop ends it with [`Served::close`].
#[repr(C)]
pub struct Served {
    connection: Connection,
    // Invariant: the call refers to `window`, and is dropped before `window` receives again.
    call: Option<ServerCall<'static>>,
    /// Whether `call` is a one-way call, which gets no answer.
    is_oneway: bool,
    // Invariant: the pointer comes from a leaked box, which this value owns. The field is no `Box`,
    // since `call` refers to the window.
    window: NonNull<Window>,
}

// SAFETY: this value owns the window to which the pointer leads, and a window may be sent. The
// pointers in the call refer to the memory of this window.
unsafe impl Send for Served {}

impl Served {
    /// Ends the connection.
    pub fn close(mut self) {
        self.call = None;
        let Self { connection, window, .. } = self;
        let caller = connection.caller.clone();
        // SAFETY: by the invariant of `window`, this value owns the box. The call that referred to
        // the window has been dropped.
        drop(unsafe { Box::from_raw(window.as_ptr()) });
        drop(connection);
        // The thread now continues with code of the program. The client must not be the caller of
        // that code.
        if let Some(caller) = caller {
            caller.leave();
        }
    }

    /// Answers the previous call, if there is one, and waits for the next call. Returns `None` when
    /// the connection has ended. The client is the caller of this thread from then on.
    ///
    /// Control passes from the runtime to the transport here.
    pub fn reply_and_wait(&mut self, answer: Answer) -> Option<&mut ServerCall<'static>> {
        match &mut self.call {
            Some(call) if !self.is_oneway => call.publish_inline(answer),
            Some(_) => {
                self.call = None;
                // SAFETY: by the invariant of `window`, the pointer is valid. The call that
                // referred to the window has been dropped.
                unsafe { self.window.as_mut() }.rx.release();
            }
            None => {}
        }
        self.call = None;
        loop {
            // SAFETY: by the invariant of `call`, a received call is dropped before the next
            // iteration.
            let is_oneway = match vi_call::receive(unsafe { self.window.as_mut() }, &mut self.call) {
                Ok(Arrived::Call(_)) => false,
                Ok(Arrived::Oneway(_)) => {
                    self.connection.is_oneway();
                    true
                }
                Ok(Arrived::Other(message, tx)) => {
                    let attended = vi_call::serve_other(&mut self.connection, &message, tx);
                    // SAFETY: by the invariant of `window`, the pointer is valid. No call refers to
                    // the window.
                    if attended.acknowledge(unsafe { self.window.as_mut() }).is_err() {
                        return None;
                    }
                    continue;
                }
                Err(error) if matches!(*error, ViError::TimedOut | ViError::Cancelled) => {
                    self.connection.tidy();
                    continue;
                }
                Err(error) => {
                    self.connection.note_end(&error);
                    return None;
                }
            };
            self.connection.enter();
            self.is_oneway = is_oneway;
            return self.call.as_mut();
        }
    }

    /// Makes the client the caller of the current thread. A thread that has not received the call
    /// itself must call this function before it dispatches the call.
    pub fn enter(&self) {
        self.connection.enter();
    }

    /// Performs the current call if its target is not in the dispatch cache.
    ///
    /// Ends the process if the thread has neither received the call nor entered the connection.
    /// Otherwise the method would run for another client, with that client's permissions.
    pub fn dispatch_slowly(&mut self) -> Answer {
        let Self { connection, call, .. } = self;
        if connection.caller.as_ref().is_some_and(|caller| !caller.is_entered()) {
            eprintln!("obvia: a thread dispatches the call of a connection that it has not entered: see obvia_enter()");
            std::process::abort();
        }
        call.as_mut().map_or(Answer::fault(Status::PROTOCOL_ERROR), |call| connection.dispatch_slowly(call))
    }
}
