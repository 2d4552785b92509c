//! One connection, and who takes its calls: the runtime's loop, or one that the program owns.

use super::caller::{Caller, Identity, Maker};
use super::{Presence, Via, gate};
use crate::binding::{self, Transfers};
use crate::call_context;
use crate::dispatch::Dispatch;
use crate::exports::Target;
use crate::orpc::CallContext;
use crate::presentation::Visitor;
use crate::runtime::Runtime;
use crate::{dcom, security, system};
use obvia_rpc::co::Denial;
use obvia_rpc::co::relay::Attribution;
use obvia_rpc::security::Authenticated;
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::{self, Answer, Arrived, ServerCall, Service, TargetId, serve};
use obvia_via::window::{Alarm, Peer, Window};
use obvia_via::{Ended, Error as ViError};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

/// What performs calls of a target of the runtime's own; `None` for all others. No entry of the object table has generation 0. Those that are
/// DCOM's are for associations, whose relay alone names them.
fn own(target: TargetId, has_relay: bool) -> Option<fn(&mut ServerCall<'_>) -> Answer> {
    match target {
        system::TARGET => Some(system::perform),
        TargetId { generation: 0, .. } if has_relay => Some(dcom::perform),
        _ => None,
    }
}

/// One connection and what it is served with.
#[repr(C)]
pub(super) struct Connection {
    // Where C code finds it.
    dispatch: Dispatch,
    runtime: &'static Runtime,
    caller: Option<Arc<Caller>>,
    // As the client has said by a unit on this connection, or to an association that this is a connection of.
    presence: Option<Presence>,
    visit: Option<(Arc<Visitor>, Attribution)>,
    // Who the client has proved to be on this connection.
    proved: Option<Authenticated>,
    peer: Peer,
    local: Option<String>,
    alarm: Alarm,
    /// Of the next call of an object.
    context: Option<CallContext>,
}

impl Connection {
    fn new(runtime: &'static Runtime, window: &Window, visit: Option<(Arc<Visitor>, Attribution)>) -> Self {
        Self {
            dispatch: Dispatch::new(&runtime.exports().table),
            runtime,
            caller: None,
            presence: None,
            visit,
            proved: None,
            peer: window.peer(),
            local: window.local().map(str::to_owned),
            alarm: window.alarm(),
            context: None,
        }
    }

    /// Who is at the other end.
    pub(super) fn peer(&self) -> &Peer {
        &self.peer
    }

    /// The host that this process is to it.
    pub(super) fn local(&self) -> Option<&str> {
        self.local.as_deref()
    }

    /// The client has proved who it is.
    pub(super) fn is_proved_by(&mut self, proved: Authenticated) {
        self.proved = Some(proved);
    }

    /// Whether the client has proved or said who it is.
    pub(super) fn is_let_in(&self) -> bool {
        self.proved.is_some() || self.caller.is_some()
    }

    /// The connection has ended.
    fn note_end(&self, why: &ViError) {
        if !matches!(why, ViError::Disconnected { why: Ended::Silent | Ended::Reset, .. }) {
            return;
        }
        match (&self.presence, &self.visit) {
            (Some(presence), _) => presence.note_loss(),
            (None, Some((visitor, _))) => visitor.note_loss(),
            (None, None) => {}
        }
    }

    /// From now on calls are this client's.
    fn adopt(&mut self, client: Identity) {
        let watch = Arc::clone(self.dispatch.watch());
        let maker = match &self.visit {
            Some((visitor, attribution)) => Maker::Association(Arc::downgrade(visitor), attribution.clone()),
            None => Maker::Connection(self.proved.clone()),
        };
        let peer = self.peer.clone();
        let caller = Arc::new(Caller::new(self.runtime, client, peer, maker, self.alarm.clone(), watch));
        caller.enter();
        self.caller = Some(caller);
    }

    /// A call of the runtime's own, the first one of a target, or the first one after something has happened.
    #[cold]
    #[inline(never)]
    fn dispatch_slowly(&mut self, call: &mut ServerCall<'_>) -> Answer {
        if let Some(caller) = &self.caller {
            caller.has_taken();
        } else if let Some(client) = self.visit.as_ref().and_then(|(visitor, _)| visitor.client()) {
            self.adopt(client);
        }
        let target = TargetId::from_word(call.target());
        match own(target, self.visit.is_some()) {
            None => {
                let _entered = self.context.take().map(call_context::entered);
                let Self { dispatch, runtime, caller, visit, .. } = self;
                let opnum = call.opnum();
                let admit = |target: &Target| match caller {
                    // The association has asked, of each call.
                    _ if visit.is_some() => Ok(()),
                    Some(caller) => runtime.rules().admit(target, opnum, || caller.shown()),
                    // Nobody calls who has not said who it is.
                    None => Err(Status::PROTOCOL_ERROR),
                };
                dispatch.fetch_and_perform(&runtime.exports().table, call, admit)
            }
            Some(perform) if self.caller.is_some() => match system::context_in(call) {
                Some(context) => self.expect(context),
                None => perform(call),
            },
            Some(_) => Answer::fault(Status::PROTOCOL_ERROR),
        }
    }

    /// Notes the context of the next call, which takes the long way because of it.
    fn expect(&mut self, context: Option<CallContext>) -> Answer {
        self.context = context;
        self.dispatch.watch().invalidate();
        if self.context.is_some() { Answer::results(0, 0) } else { Answer::fault(Status::BAD_STUB_DATA) }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Before the client may be gone.
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
            // Nobody waits.
            context.left = None;
        }
    }

    fn answer_pdu(&mut self, pdu: &[u8]) -> Option<Vec<u8>> {
        let (answer, client) = binding::answer(pdu, self.runtime.oxid(), Transfers::FLAT)?;
        match (&self.caller, client) {
            (None, Some(client)) => {
                let presence =
                    Presence::enter(self.runtime, || Ok(client), &self.peer, self.local.as_deref(), None).ok()?;
                let principal = self.proved.as_ref().map(|proved| &proved.principal);
                if !presence.prove(&self.peer, principal) {
                    security::log_denial(&self.peer, Denial::Proof);
                    return binding::refusal(pdu);
                }
                self.presence = Some(presence);
                self.adopt(Identity { oxid: client, is_stranger: false });
            }
            // Who has said who it is does not become somebody else; who has not may not go on.
            (Some(known), Some(client)) if known.oxid != client => return None,
            (None, None) => return None,
            _ => {}
        }
        Some(answer)
    }

    fn abandoned(&mut self) {
        if let Some(caller) = &self.caller {
            caller.take_back();
        }
    }

    fn tidy(&mut self) {
        self.dispatch.purge(&self.runtime.exports().table);
    }
}

/// A loop of the program's, which takes the calls of the connection that it is given, and closes it.
#[derive(Clone, Copy, Debug)]
pub struct Loop {
    /// Is called on a thread of each connection's own. The connection may go on to another thread.
    pub function: unsafe extern "C-unwind" fn(connection: *mut Served, context: *mut c_void),
    /// What the function gets.
    pub context: *mut c_void,
}

// SAFETY: whoever sets a loop promises that any thread may call it with its context.
unsafe impl Send for Loop {}

static LOOP: Mutex<Option<Loop>> = Mutex::new(None);

/// Has connections that are accepted from now on served by a loop of the program's; by the runtime's again with `None`.
///
/// # Safety
///
/// The function must take what it is given by any thread, as long as the process lives.
pub unsafe fn set_loop(function: Option<Loop>) {
    *LOOP.lock().unwrap_or_else(PoisonError::into_inner) = function;
}

/// Serves a connection until it ends.
pub(super) fn serve_connection(runtime: &'static Runtime, mut window: Window, via: Via) {
    let (visit, gate) = match via {
        Via::Memory => (None, None),
        Via::Network(least) => (None, Some(least)),
        Via::Association(visitor, attribution) => (Some((visitor, attribution)), None),
    };
    let mut connection = Connection::new(runtime, &window, visit);
    if gate.is_some_and(|least| gate::pass(runtime, &mut window, &mut connection, least).is_err()) {
        return;
    }
    let own = *LOOP.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(own) = own else {
        let why = serve(&mut window, &mut connection);
        connection.note_end(&why);
        drop(window);
        return;
    };
    let window = NonNull::from(Box::leak(Box::new(window)));
    let served = Box::new(Served { connection, call: None, is_oneway: false, window });
    // SAFETY: whoever set the loop promised that it takes connections.
    unsafe { (own.function)(Box::into_raw(served), own.context) };
}

/// A connection that a loop of the program's serves. It ends with [`Served::close`].
#[repr(C)]
pub struct Served {
    connection: Connection,
    // Invariant: refers to `window`, and is gone before anything is received by that.
    call: Option<ServerCall<'static>>,
    /// Whether the caller of `call` waits for no answer.
    is_oneway: bool,
    // Invariant: a leaked box of this value's own. Not a box, since `call` refers to it.
    window: NonNull<Window>,
}

// SAFETY: what the pointer leads to is owned, and may be sent; the parts of a call that are pointers are to its memory.
unsafe impl Send for Served {}

impl Served {
    /// Ends the connection.
    pub fn close(self) {
        let Self { connection, window, .. } = self;
        // SAFETY: by the invariant; nothing refers to it any more.
        drop(unsafe { Box::from_raw(window.as_ptr()) });
        drop(connection);
    }

    /// Answers the call that was taken last, if there is one, and waits for the next one. `None` when the connection has ended.
    ///
    /// This is the hand-over to the transport.
    pub fn reply_and_wait(&mut self, answer: Answer) -> Option<&mut ServerCall<'static>> {
        match &mut self.call {
            Some(call) if !self.is_oneway => call.publish_inline(answer),
            Some(_) => {
                self.call = None;
                // SAFETY: by the invariant; nothing refers to it.
                unsafe { self.window.as_mut() }.rx.release();
            }
            None => {}
        }
        self.call = None;
        loop {
            // SAFETY: by the invariant; what is received is gone before the next turn, by that of `call`.
            let is_oneway = match vi_call::receive(unsafe { self.window.as_mut() }, &mut self.call) {
                Ok(Arrived::Call(_)) => false,
                Ok(Arrived::Oneway(_)) => {
                    self.connection.is_oneway();
                    true
                }
                Ok(Arrived::Other(message, tx)) => {
                    let attended = vi_call::serve_other(&mut self.connection, &message, tx);
                    // SAFETY: by the invariant; nothing refers to it.
                    if attended.settle(unsafe { self.window.as_mut() }).is_err() {
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
            if let Some(caller) = &self.connection.caller {
                caller.enter();
            }
            self.is_oneway = is_oneway;
            return self.call.as_mut();
        }
    }

    /// Performs the call that was taken last, whose target is not at hand.
    pub fn dispatch_slowly(&mut self) -> Answer {
        let Self { connection, call, .. } = self;
        call.as_mut().map_or(Answer::fault(Status::PROTOCOL_ERROR), |call| connection.dispatch_slowly(call))
    }
}
