//! The caller of a method: who it is, and which references are on their way to it.

use crate::error::{self, Result};
use crate::exports;
use crate::marshaling::{behind, release_marshal_data};
use crate::objref::ObjRef;
use crate::orpc::{Client, Forwarded};
use crate::presentation::Visitor;
use crate::proxy::{Imported, split_reference};
use crate::registry::InterfaceInfo;
use crate::runtime::Runtime;
use crate::security;
use obvia_rpc::co::relay::Attribution;
use obvia_rpc::object_table::Watch;
use obvia_rpc::security::Authenticated;
use obvia_rpc::status::Status;
use obvia_rpc::string_binding::StringBinding;
use obvia_rpc::vi_call::TargetId;
use obvia_via::window::{Alarm, Peer};
use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use windows_core::IUnknown;

thread_local! {
    /// The caller of the method that runs, or ran last, on this thread.
    static CALLER: RefCell<Current> = const { RefCell::new(Current(None)) };
}

/// A thread's caller.
struct Current(Option<Arc<Caller>>);

impl Current {
    fn leave(&mut self) {
        if let Some(caller) = self.0.take() {
            // It may have gone on to another thread.
            let _ = caller.entered.compare_exchange(pthread_self(), 0, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        self.leave();
    }
}

// SAFETY: POSIX has it with this signature; it takes nothing, cannot fail, and changes nothing.
unsafe extern "C" {
    /// What this thread is called (POSIX `pthread_t`, which has the size of a pointer on Linux): never 0. In a shared library it takes a
    /// fraction of the time that a variable of the thread's own does.
    safe fn pthread_self() -> usize;
}

/// Who a client says that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Its process.
    pub(crate) oxid: u64,
    /// Whether it has said nothing, and this process has made the number up.
    pub(crate) is_stranger: bool,
}

/// How it is known who makes calls of a connection.
pub(crate) enum Maker {
    /// Whoever has been authenticated on the connection, if anybody has.
    Connection(Option<Authenticated>),
    /// Each call of the association has its own.
    Association(Weak<Visitor>, Attribution),
}

/// What the service of the host tells of whom it passes a call on for.
pub(crate) struct Told {
    /// How the client reaches the service. It is to reach this process at the same host, and no less protected.
    pub(crate) heard: StringBinding,
}

/// What a method can ask about its caller. One for each connection, and for each call that is passed on.
pub(crate) struct Caller {
    // The thread whose caller it became last, or 0. Invariant: if a thread finds itself here, it is its caller.
    entered: AtomicUsize,
    pub(crate) runtime: &'static Runtime,
    pub(crate) oxid: u64,
    // Whether it is no process of obvia's; the OXID is made up then.
    is_stranger: bool,
    pub(crate) peer: Peer,
    maker: Maker,
    /// What the host's service has told, where it has passed on the call.
    told: Option<Told>,
    alarm: Alarm,
    // The next call takes the long way when this is invalid.
    watch: Arc<Watch>,
    /// The references in the last response.
    sent: Mutex<Sent>,
}

/// The references in a response: the caller does not have them if it gave up the call. Whoever adds to them invalidates the
/// connection's watch, so that the next call forgets them.
#[derive(Default)]
struct Sent {
    /// To objects of this process, counted for the caller.
    own: Vec<(Client, TargetId, u64)>,
    /// To objects of the caller's, which travel home with references of this process.
    home: Vec<Imported>,
    /// Written by the objects themselves.
    custom: Vec<Vec<u8>>,
}

impl Caller {
    pub(crate) fn new(
        runtime: &'static Runtime,
        Identity { oxid, is_stranger }: Identity,
        peer: Peer,
        maker: Maker,
        alarm: Alarm,
        watch: Arc<Watch>,
    ) -> Self {
        let (entered, sent) = (AtomicUsize::new(0), Mutex::default());
        Self { entered, runtime, oxid, is_stranger, peer, maker, told: None, alarm, watch, sent }
    }

    /// The client for which this caller, the host's service, passes on a call.
    pub(crate) fn behind(&self, call: &Forwarded, heard: StringBinding) -> Arc<Self> {
        let client = Identity { oxid: call.process.unwrap_or_default(), is_stranger: call.process.is_none() };
        let (peer, alarm, watch) = (Peer::Host(call.host.clone()), self.alarm.clone(), Arc::clone(&self.watch));
        let maker = Maker::Connection(call.maker.clone());
        Arc::new(Self { told: Some(Told { heard }), ..Self::new(self.runtime, client, peer, maker, alarm, watch) })
    }

    /// What the host's service has told of this caller.
    pub(crate) fn told(&self) -> Option<&Told> {
        self.told.as_ref()
    }

    /// The process, where it is one of obvia's.
    pub(crate) fn process(&self) -> Option<u64> {
        (!self.is_stranger).then_some(self.oxid)
    }

    /// Whose the references are that the caller of the method that runs gets.
    pub(crate) fn holder(&self) -> Client {
        if self.is_stranger {
            let maker = self.authenticated();
            self.runtime.peer(&self.peer, maker.as_ref().map(|maker| &*maker.principal))
        } else {
            Client::Process(self.oxid)
        }
    }

    /// Returns the client that owns the context handles of the running method.
    ///
    /// # Errors
    ///
    /// [`Status::REMOTE_NO_MEMORY`] when the client makes calls for too many users;
    /// [`Status::CONTEXT_MISMATCH`] when the association has ended.
    pub(crate) fn client(&self) -> std::result::Result<u64, Status> {
        match &self.maker {
            // Each user of an association is a client.
            Maker::Association(visitor, attribution) if self.is_stranger => {
                let visitor = visitor.upgrade().ok_or(Status::CONTEXT_MISMATCH)?;
                visitor.name(attribution.maker().as_ref())
            }
            _ => Ok(self.oxid),
        }
    }

    /// Who has proved to be the caller of the method that runs.
    pub(crate) fn authenticated(&self) -> Option<Authenticated> {
        match &self.maker {
            Maker::Connection(proved) => proved.clone(),
            Maker::Association(_, attribution) => attribution.maker(),
        }
    }

    /// The same for whoever asks.
    pub(crate) fn shown(&self) -> security::Caller {
        security::Caller { peer: self.peer.clone(), authenticated: self.authenticated() }
    }

    /// From now on calls on this thread are this caller's.
    #[inline(always)]
    pub(crate) fn enter(self: &Arc<Self>) {
        if self.entered.load(Ordering::Relaxed) != pthread_self() {
            self.arrive();
        }
    }

    #[cold]
    #[inline(never)]
    fn arrive(self: &Arc<Self>) {
        // What went wrong for somebody else is no business of this caller's.
        error::forget();
        self.replace();
    }

    /// Does something as a method that another caller has called, and is this one's again then.
    pub(crate) fn act_for<R>(self: &Arc<Self>, other: &Arc<Self>, work: impl FnOnce() -> R) -> R {
        struct Restore<'a>(&'a Arc<Caller>);
        impl Drop for Restore<'_> {
            fn drop(&mut self) {
                self.0.replace();
            }
        }
        let _restore = Restore(self);
        other.replace();
        work()
    }

    fn replace(self: &Arc<Self>) {
        error::enter(&self.alarm);
        CALLER.with_borrow_mut(|current| {
            current.leave();
            self.entered.store(pthread_self(), Ordering::Relaxed);
            current.0 = Some(Arc::clone(self));
        });
    }

    /// A reference to an object, in the response to the caller: one that the object writes itself, where it does.
    pub(crate) fn reference(&self, object: &IUnknown, info: &'static InterfaceInfo) -> Result<Vec<u8>> {
        let Some(reference) = self.runtime.marshal_custom(object, info, self.holder())? else {
            let handler = self.runtime.handler_class_of(object, self.holder());
            return self.marshal(object, info)?.to_wire_with(0, handler);
        };
        Ok(self.note_custom(reference))
    }

    /// The reference of an object that is called over virtual interfaces, in the response to the caller.
    pub(crate) fn specialised(&self, object: &IUnknown, info: &'static InterfaceInfo) -> Result<Option<Vec<u8>>> {
        let reference = self.runtime.marshal_specialised(object, info, self.holder())?;
        Ok(reference.map(|reference| self.note_custom(reference)))
    }

    fn note_custom(&self, reference: Vec<u8>) -> Vec<u8> {
        self.note(|sent| sent.custom.push(reference.clone()));
        reference
    }

    /// A standard reference to an object, in the response to the caller.
    pub(crate) fn marshal(&self, object: &IUnknown, info: &'static InterfaceInfo) -> Result<ObjRef> {
        let holder = self.holder();
        let mut reference = self.runtime.marshal(object, info, holder)?;
        if reference.oxid == self.runtime.oxid() {
            self.note(|sent| sent.own.push((holder, reference.target, reference.public_refs.into())));
        } else if reference.oxid == self.oxid {
            // The method's pointer is dropped when the response is out, which must not be the last of it.
            let interface = exports::query(&behind(object), info)?;
            if let Some(imported) = split_reference(&interface, self.runtime.oxid())? {
                reference.public_refs = 1;
                self.note(|sent| sent.home.push(imported));
            }
        }
        Ok(reference)
    }

    /// References have been counted for the caller, and are in the response.
    pub(crate) fn note_sent(&self, target: TargetId, refs: u64) {
        let holder = self.holder();
        self.note(|sent| sent.own.push((holder, target, refs)));
    }

    fn note(&self, work: impl FnOnce(&mut Sent)) {
        work(&mut self.sent.lock().unwrap_or_else(PoisonError::into_inner));
        self.watch.invalidate();
    }

    fn take_sent(&self) -> Sent {
        std::mem::take(&mut self.sent.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The caller calls again, so it has taken the last response.
    pub(crate) fn has_taken(&self) {
        drop(self.take_sent());
    }

    /// Takes back the references of a response that the caller did not get.
    pub(crate) fn take_back(&self) {
        let sent = self.take_sent();
        for reference in &sent.custom {
            // There may be nothing to give up, and nobody who would.
            let _ = release_marshal_data(reference);
        }
        if sent.own.is_empty() && sent.home.is_empty() {
            return;
        }
        for imported in sent.home {
            imported.link.release_later(imported.target, 1);
        }
        for (holder, target, refs) in sent.own {
            self.runtime.exports().release(holder, [(target, refs)]);
        }
        self.runtime.clients().wake_all();
    }
}

/// Takes back the references of a response that ends as a fault.
pub(crate) fn take_back_sent() {
    if let Some(caller) = caller() {
        caller.take_back();
    }
}

/// The caller of the method that runs on this thread, if it was called from another process.
pub(crate) fn caller() -> Option<Arc<Caller>> {
    CALLER.try_with(|current| current.borrow().0.clone()).ok().flatten()
}

/// Whether the caller of the method that runs on this thread no longer waits for it: it gave up, or ended.
///
/// Long methods look now and then. In a method that was called in its own process this is always false.
pub fn is_cancelled() -> bool {
    caller().is_some_and(|caller| caller.alarm.is_closed())
}
