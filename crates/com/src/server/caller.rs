//! The caller of a method: its identity, and the references in its last response.

use super::exporter::Exporter;
use super::presence::Identity;
use crate::access;
use crate::orpc::{Client, ClientNumber, Forwarded, SourcedClient};
use crate::protocol::place::{Origin, Place};
use crate::server::association::AssociationClient;
use crate::types::error::{self, code};
use obvia_rpc::co::relay::Attribution;
use obvia_rpc::object_table::Watch;
use obvia_rpc::security::{Authenticated, Level};
use obvia_rpc::status::Status;
use obvia_rpc::string_binding::StringBinding;
use obvia_rpc::vi_call::TargetId;
use obvia_via::window::{Alarm, Peer};
use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The opnum of QueryInterface, for the log of refusals.
const QUERY_INTERFACE: u16 = 0;

thread_local! {
    /// The caller of the method that runs, or ran last, on this thread.
    static CALLER: RefCell<Current> = const { RefCell::new(Current(None)) };
}

/// The current caller of a thread; `None` if the thread has none.
struct Current(Option<Arc<Caller>>);

impl Current {
    fn leave(&mut self) {
        if let Some(caller) = self.0.take() {
            // If the caller has entered another thread since, `entered` keeps the identifier of
            // that thread.
            let _ = caller.entered.compare_exchange(pthread_self(), 0, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        self.leave();
    }
}

// SAFETY: POSIX declares the function with this signature; it takes no argument, cannot fail, and
// has no side effects.
unsafe extern "C" {
    /// Returns the identifier of this thread (POSIX `pthread_t`, which has the size of a pointer on
    /// Linux), never 0. In a shared library, the call takes a fraction of the time that an access
    /// to a thread-local variable takes.
    safe fn pthread_self() -> usize;
}

/// The source of the authenticated principal of a connection's calls.
pub(crate) enum PrincipalSource {
    /// The principal that was authenticated on the connection, if any.
    Connection(Option<Authenticated>),
    /// The association, whose calls each have their own principal.
    Association(Weak<AssociationClient>, Attribution),
}

/// The facts that the SCM states about the client of a forwarded call.
pub(crate) struct Forwarding {
    /// The binding by which the client reaches the SCM. The client must reach this process at the
    /// same host and with no less protection.
    pub(crate) heard: StringBinding,
}

/// The caller of methods. There is one `Caller` for each connection, and one for each forwarded
/// call.
pub(crate) struct Caller {
    // The thread whose current caller this is, or 0. Invariant: a thread that finds its identifier
    // here has this value as its caller.
    entered: AtomicUsize,
    pub(crate) exporter: &'static Exporter,
    /// The OXID that the client claims.
    pub(crate) oxid: u64,
    /// The number under which the client's references and states are kept. `None` for the client of
    /// a forwarded call: see [`Caller::holder`].
    pub(crate) number: Option<ClientNumber>,
    // Whether the client is not an obvia process. This process has then made up its OXID.
    is_foreign: bool,
    pub(crate) peer: Peer,
    /// The host name by which the connection reaches this process.
    local: Option<String>,
    maker: PrincipalSource,
    /// The facts that the SCM states, if the SCM has forwarded the call.
    forwarding: Option<Forwarding>,
    alarm: Alarm,
    // The watch of the connection's dispatch. While the watch is invalid, the next call takes the
    // slow path.
    watch: Arc<Watch>,
    /// The references in the last response to the caller.
    sent: Mutex<Sent>,
}

/// A function that gives back a reference which is not counted in this process.
pub(crate) type Release = Box<dyn FnOnce() + Send>;

/// The references in a response. If the caller gives up the call, the references are taken back.
/// Every addition invalidates the connection's watch, so that the next call takes the slow path and
/// clears the references.
#[derive(Default)]
pub(crate) struct Sent {
    /// References to objects of this process, counted for the caller.
    pub(crate) own: Vec<(Client, TargetId, u64)>,
    /// Functions that give back all other references: those to objects of the caller's process, and
    /// custom references, which the objects marshaled themselves.
    pub(crate) others: Vec<Release>,
}

impl Caller {
    pub(crate) fn new(
        exporter: &'static Exporter,
        Identity { oxid, number, is_foreign }: Identity,
        (peer, local): (Peer, Option<String>),
        maker: PrincipalSource,
        alarm: Alarm,
        watch: Arc<Watch>,
    ) -> Self {
        let (entered, sent) = (AtomicUsize::new(0), Mutex::default());
        Self { entered, exporter, oxid, number, is_foreign, peer, local, maker, forwarding: None, alarm, watch, sent }
    }

    /// Returns a caller for the client whose call this caller, the SCM, forwards.
    pub(crate) fn forwarded(&self, call: &Forwarded, heard: StringBinding) -> Arc<Self> {
        let (oxid, is_foreign) = (call.process.unwrap_or_default(), call.process.is_none());
        let client = Identity { oxid, number: None, is_foreign };
        let (peer, alarm, watch) = (Peer::Host(call.host.clone()), self.alarm.clone(), Arc::clone(&self.watch));
        let maker = PrincipalSource::Connection(call.maker.clone());
        Arc::new(Self {
            forwarding: Some(Forwarding { heard }),
            ..Self::new(self.exporter, client, (peer, None), maker, alarm, watch)
        })
    }

    /// Returns the facts that the SCM states about the caller, if the SCM has forwarded the
    /// caller's call.
    pub(crate) fn forwarding(&self) -> Option<&Forwarding> {
        self.forwarding.as_ref()
    }

    /// Returns the OXID of the caller, where the caller is an obvia process.
    pub(crate) fn process(&self) -> Option<u64> {
        (!self.is_foreign).then_some(self.oxid)
    }

    /// Returns the client for which the references in the running method's response are counted. If
    /// the SCM forwarded the call, the result is the client at the place from which the SCM was
    /// called, or the process that is expected there from now on. For a lost client, the result is
    /// the process that is expected in its place. If too many processes are expected, the result is
    /// a peer that must ping.
    pub(crate) fn holder(&self) -> Client {
        let by_forwarding = || {
            let place = Place::of([(&Origin::of(&self.peer), Some(self.forwarding()?.heard.address.as_str()))]);
            self.exporter.clients().expect_named(self.oxid, &place)
        };
        let number = if self.is_foreign { None } else { self.number.or_else(by_forwarding) };
        number.map_or_else(|| self.origin(), Client::Process)
    }

    /// Whether the running method's response is hidden from the network: the caller runs on this
    /// host, or the call is encrypted with keys that only the caller and this process can compute.
    pub(crate) fn is_confidential(&self) -> bool {
        let is_here = Place::of([(&Origin::of(&self.peer), self.local())]).is_here();
        let is_sealed = |maker: Authenticated| maker.level == Level::Privacy && !maker.principal.is_anonymous();
        is_here || self.authenticated().is_some_and(is_sealed)
    }

    /// Returns the host name by which the caller's connection reaches this process, if it has one.
    pub(crate) fn local(&self) -> Option<&str> {
        self.local.as_deref()
    }

    /// Returns the caller as a peer that must ping: its host, or its process on this host, with the
    /// principal that has authenticated.
    pub(crate) fn origin(&self) -> Client {
        let maker = self.authenticated();
        self.exporter.peer(&self.peer, maker.as_ref().map(|maker| &*maker.principal))
    }

    /// Returns the caller as a client that passes references on.
    pub(crate) fn giver(&self) -> SourcedClient {
        let maker = self.authenticated();
        self.exporter.giver(&self.peer, maker.as_ref().map(|maker| &*maker.principal))
    }

    /// Returns the caller as a client that makes ping sets: the holder, and its source as in
    /// [`Self::giver`].
    pub(crate) fn pinger(&self) -> SourcedClient {
        SourcedClient { client: self.holder(), ..self.giver() }
    }

    /// Returns the client that owns the context handles of the running method.
    ///
    /// # Errors
    ///
    /// [`Status::REMOTE_NO_MEMORY`] when the association has had too many users;
    /// [`Status::CONTEXT_MISMATCH`] when the association has ended, or the client has not
    /// connected.
    pub(crate) fn client(&self) -> std::result::Result<ClientNumber, Status> {
        match &self.maker {
            // Each user of an association counts as a client of its own.
            PrincipalSource::Association(client, attribution) if self.is_foreign => {
                let client = client.upgrade().ok_or(Status::CONTEXT_MISMATCH)?;
                client.number_for(attribution.maker().as_ref())
            }
            _ => self.number.ok_or(Status::CONTEXT_MISMATCH),
        }
    }

    /// Returns the authenticated principal of the running method's caller, if there is one.
    pub(crate) fn authenticated(&self) -> Option<Authenticated> {
        match &self.maker {
            PrincipalSource::Connection(proved) => proved.clone(),
            PrincipalSource::Association(_, attribution) => attribution.maker(),
        }
    }

    /// Returns the caller as security checks see it.
    pub(crate) fn shown(&self) -> access::Caller {
        access::Caller { peer: self.peer.clone(), authenticated: self.authenticated() }
    }

    /// Verifies that the caller may name an object of this process: that the caller has references
    /// to it, or may call it. A reference alone proves nothing, since a peer that knows an object's
    /// target can forge one.
    ///
    /// # Errors
    ///
    /// E_ACCESSDENIED for any other object; the refusal is logged. RPC_E_DISCONNECTED if there is
    /// no such object.
    pub(crate) fn check_named(&self, target: TargetId) -> error::Result<()> {
        let (exports, rules) = (self.exporter.exports(), self.exporter.rules());
        if !rules.is_used() || exports.is_holder(target, self.holder()) {
            return Ok(());
        }
        let found = exports.get(target)?;
        let denied = |_| code::E_ACCESSDENIED.into();
        rules.admit((found.identity, found.interface), QUERY_INTERFACE, || self.shown()).map_err(denied)
    }

    /// Makes this the caller of the current thread.
    #[inline(always)]
    pub(crate) fn enter(self: &Arc<Self>) {
        if !self.is_entered() {
            self.arrive();
        }
    }

    /// Whether this is the caller of the current thread.
    #[inline(always)]
    pub(crate) fn is_entered(&self) -> bool {
        self.entered.load(Ordering::Relaxed) == pthread_self()
    }

    /// Leaves the current thread without a caller, if this is its caller.
    pub(crate) fn leave(&self) {
        // `entered` cannot be used here: if the caller has entered another thread since, `entered`
        // has changed, but this thread still has this caller.
        if caller().is_some_and(|current| std::ptr::eq(&raw const *current, self)) {
            leave_caller();
        }
    }

    #[cold]
    #[inline(never)]
    fn arrive(self: &Arc<Self>) {
        // An error that a call of another caller left on this thread must not reach this caller.
        error::forget();
        self.replace();
    }

    /// Runs `work` with `other` as the thread's caller, and restores this caller afterwards.
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
        error::enter(&self.alarm, &self.peer);
        CALLER.with_borrow_mut(|current| {
            current.leave();
            self.entered.store(pthread_self(), Ordering::Relaxed);
            current.0 = Some(Arc::clone(self));
        });
    }

    /// Records references that were counted for the caller and are in the response.
    pub(crate) fn note_sent(&self, target: TargetId, refs: u64) {
        let holder = self.holder();
        self.note(|sent| sent.own.push((holder, target, refs)));
    }

    /// Changes the record of the references in the response.
    pub(crate) fn note(&self, work: impl FnOnce(&mut Sent)) {
        work(&mut self.sent.lock().unwrap_or_else(PoisonError::into_inner));
        self.watch.invalidate();
    }

    fn take_sent(&self) -> Sent {
        std::mem::take(&mut self.sent.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Moves the references in a forwarded call's response to the response of this caller, the SCM.
    pub(crate) fn answer_for(&self, client: &Self) {
        let Sent { own, others } = client.take_sent();
        self.note(|sent| {
            sent.own.extend(own);
            sent.others.extend(others);
        });
    }

    /// Clears the record of the references in the last response. The caller has received that
    /// response, since it makes another call.
    pub(crate) fn has_taken(&self) {
        drop(self.take_sent());
    }

    /// Takes back the references of a response that the caller did not receive.
    pub(crate) fn take_back(&self) {
        let sent = self.take_sent();
        sent.others.into_iter().for_each(|release| release());
        for (holder, target, refs) in sent.own {
            self.exporter.exports().release(holder, [(target, refs)]);
        }
    }
}

/// Takes back the references of a response that ends as a fault.
pub(crate) fn take_back_sent() {
    if let Some(caller) = caller() {
        caller.take_back();
    }
}

/// Leaves the current thread without a caller.
#[cold]
#[inline(never)]
pub fn leave_caller() {
    let _ = CALLER.try_with(|current| current.borrow_mut().leave());
    error::quit();
}

/// Returns the caller of the method that runs on this thread, if the call came from another
/// process.
pub(crate) fn caller() -> Option<Arc<Caller>> {
    CALLER.try_with(|current| current.borrow().0.clone()).ok().flatten()
}

/// Whether the caller of the method that runs on this thread no longer waits for the result,
/// because the caller gave up or ended.
///
/// Long methods should poll this function. In a method that was called in its own process, the
/// function always returns false.
pub fn is_cancelled() -> bool {
    caller().is_some_and(|caller| caller.alarm.is_closed())
}

#[cfg(test)]
mod tests {
    use super::{Caller, PrincipalSource};
    use crate::server::Identity;
    use crate::services::process;
    use obvia_rpc::security::{AuthType, Authenticated, Level, Principal};
    use obvia_via::window::{Alarm, Peer};
    use std::sync::Arc;

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn encrypted_calls_of_anonymous_callers_are_not_confidential() {
        let exporter = process::runtime().unwrap().exporter();
        for (user, level, expected) in
            [("anna", Level::Privacy, true), ("anna", Level::Integrity, false), ("", Level::Privacy, false)]
        {
            let principal = Arc::new(Principal { user: user.to_owned(), ..Principal::default() });
            let maker = PrincipalSource::Connection(Some(Authenticated { principal, kind: AuthType::NTLM, level }));
            let client = Identity { oxid: 1, number: None, is_foreign: true };
            let (peer, watch) = (Peer::Host("192.0.2.1".to_owned()), exporter.exports().table.watch(Alarm::default()));
            let caller = Caller::new(exporter, client, (peer, None), maker, Alarm::default(), watch);
            assert_eq!(caller.is_confidential(), expected, "{user} {level:?}");
        }
    }
}
