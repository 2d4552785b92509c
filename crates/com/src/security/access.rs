//! Who may call objects of this process, and who may have objects made by it.
//!
//! A rule is looked up where a call is dispatched, before anything of its arguments is: once for each connection and object, and again when
//! rules have changed. A call that is refused is [logged](super::set_audit).

use super::audit::{self, Refused};
use super::{Authenticated, Caller, Level};
use crate::agile::Agile;
use crate::error::{Error, Result, code};
use crate::exports::Target;
use crate::runtime::Runtime;
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::TargetId;
use obvia_via::window::Peer;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use windows_core::{GUID, IUnknown, Interface, Weak};

/// A rule that says who may call. [`Callers`] are one, and so is every function that answers for a [`Caller`].
pub trait Access: Send + Sync {
    /// Whether this caller may call. It is asked on the way of a call, by any thread: it answers from what it knows, and makes no calls
    /// itself. Its answer is kept for the caller's connection, until the next rule is made. One that panics permits nothing.
    fn permits(&self, caller: &Caller) -> bool;
}

impl<F: Fn(&Caller) -> bool + Send + Sync> Access for F {
    fn permits(&self, caller: &Caller) -> bool {
        self(caller)
    }
}

/// Callers by who they are known to be: a rule for those to whom one of its lines applies.
///
/// # Example
///
/// ```
/// use obvia::security::{Callers, Level};
///
/// // Processes of this user, and whoever has proved to be anna and signs her calls.
/// let rule = Callers::nobody().with_own_user().with_account("anna", Level::Integrity);
/// obvia::security::set_default_access(rule)?;
/// # Ok::<(), obvia::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Callers(Vec<Line>);

#[derive(Clone, Debug)]
enum Line {
    Everybody,
    User(u32),
    Account(String, Level),
    Host(String),
}

impl Callers {
    /// None yet.
    pub fn nobody() -> Self {
        Self::default()
    }

    /// All that there are.
    pub fn everybody() -> Self {
        Self(vec![Line::Everybody])
    }

    /// Processes of this host that run as this user, as the kernel says it: over shared memory and `ncalrpc`.
    #[must_use]
    pub fn with_user(self, uid: u32) -> Self {
        self.with(Line::User(uid))
    }

    /// The same for the user as whom this process runs.
    #[must_use]
    pub fn with_own_user(self) -> Self {
        self.with_user(rustix::process::geteuid().as_raw())
    }

    /// Whoever has proved to have this account, and protects the call at this level at least. Names of accounts differ by more than case.
    #[must_use]
    pub fn with_account(self, user: &str, least: Level) -> Self {
        self.with(Line::Account(user.to_owned(), least))
    }

    /// Whoever comes over a network from this address. Networks are not known to be truthful about that.
    #[must_use]
    pub fn with_host(self, address: &str) -> Self {
        self.with(Line::Host(address.to_owned()))
    }

    fn with(mut self, line: Line) -> Self {
        self.0.push(line);
        self
    }
}

impl Line {
    fn applies_to(&self, Caller { peer, authenticated }: &Caller) -> bool {
        match self {
            Self::Everybody => true,
            Self::User(user) => matches!(peer, Peer::Process { uid, .. } if uid == user && *uid != Peer::NOBODY),
            Self::Account(user, least) => {
                authenticated.as_ref().is_some_and(|known| known.principal.is_user(user) && known.level >= *least)
            }
            Self::Host(address) => matches!(peer, Peer::Host(host) if host == address),
        }
    }
}

impl Access for Callers {
    fn permits(&self, caller: &Caller) -> bool {
        self.0.iter().any(|line| line.applies_to(caller))
    }
}

/// Says who may call an object of this process from outside of it, by whichever of its interfaces, from the next call on: its own rule
/// holds instead of [the one for all](set_default_access). For functions the object is the one that performs them.
///
/// Who may not call it is not given it by a name either. Whoever has got it from somebody else can still ask for its interfaces and count its
/// references. Calls within the process, and of this process's proxies by others, which go to the object itself, are not asked about.
///
/// The rule ends with the object, where it has weak references as those made by `#[implement]` do; otherwise it keeps the object until
/// [`clear_access`].
///
/// # Errors
///
/// E_INVALIDARG for an object that belongs to a thread.
///
/// # Example
///
/// ```no_run
/// # fn of(object: &obvia::IUnknown) -> obvia::Result<()> {
/// use obvia::security::{Callers, set_access};
///
/// set_access(object, Callers::nobody().with_user(1000))?;
/// set_access(object, |caller: &obvia::security::Caller| caller.authenticated.is_some())
/// # }
/// ```
pub fn set_access<I: Interface>(object: &I, access: impl Access + 'static) -> Result<()> {
    let runtime = Runtime::of_process()?;
    let object = Agile::new(&object.cast::<IUnknown>()?)?;
    let identity = object.get().as_raw().addr();
    let kept = object.get().downgrade().map_or(Kept::Object { _object: object }, Kept::Weak);
    runtime.rules().sweep();
    let ruled = Ruled { access: Arc::new(access), kept };
    runtime.change_access(|table| table.objects.insert(identity, ruled));
    Ok(())
}

/// Takes back what was said by [`set_access`]: the rule for all holds for the object again.
///
/// # Errors
///
/// When the process cannot have a runtime.
pub fn clear_access<I: Interface>(object: &I) -> Result<()> {
    let identity = object.cast::<IUnknown>()?.as_raw().addr();
    Runtime::of_process()?.change_access(|table| table.objects.remove(&identity));
    Ok(())
}

/// Says who may call objects and functions of this process that have no [rule of their own](set_access), from the next call on
/// (CoInitializeSecurity). Everybody may who gets through to it where nobody says otherwise.
///
/// # Errors
///
/// When the process cannot have a runtime.
pub fn set_default_access(access: impl Access + 'static) -> Result<()> {
    let access: Arc<dyn Access> = Arc::new(access);
    Runtime::of_process()?.change_access(|table| table.all_objects.replace(access));
    Ok(())
}

/// Says who may have objects of a class made by this process, or get what stands for the class, whether the class is
/// [registered](crate::dcom::register_class) already or will be. Its own rule holds instead of
/// [the one for all](set_default_class_access).
///
/// Who may call the objects is another matter: whoever makes them says so by [`set_access`].
///
/// # Errors
///
/// When the process cannot have a runtime.
pub fn set_class_access(class: GUID, access: impl Access + 'static) -> Result<()> {
    let access: Arc<dyn Access> = Arc::new(access);
    Runtime::of_process()?.change_access(|table| table.classes.insert(class.to_u128(), access));
    Ok(())
}

/// Says who may have objects made of classes that have no [rule of their own](set_class_access). Where nobody says so, it is those who may
/// [call](set_default_access).
///
/// # Errors
///
/// When the process cannot have a runtime.
pub fn set_default_class_access(access: impl Access + 'static) -> Result<()> {
    let access: Arc<dyn Access> = Arc::new(access);
    Runtime::of_process()?.change_access(|table| table.all_classes.replace(access));
    Ok(())
}

/// Whom an association's client was last when it was permitted to call a target, so that it is not asked about each time.
#[derive(Default)]
pub(crate) struct Admitted(Mutex<HashMap<TargetId, Verdict>>);

#[derive(PartialEq, Eq)]
struct Verdict {
    maker: Option<Authenticated>,
    /// The rules that it is by: how often they had changed.
    recalls: u64,
}

/// How many targets of an association are remembered.
const ADMITTED_MAX: usize = 1024;

impl Admitted {
    /// Whether the maker of a call may make it.
    ///
    /// # Errors
    ///
    /// As for [`Rules::admit`].
    pub(crate) fn admit(
        &self,
        runtime: &Runtime,
        (target, opnum): (TargetId, u16),
        maker: Option<&Authenticated>,
        peer: &Peer,
    ) -> std::result::Result<(), Status> {
        // The runtime's own targets are for everybody.
        if !runtime.rules().is_used() || target.generation == 0 {
            return Ok(());
        }
        let verdict = Verdict { maker: maker.cloned(), recalls: runtime.exports().table.recalls() };
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known().get(&target) == Some(&verdict) {
            return Ok(());
        }
        // Whether it is there is looked at where it is dispatched to.
        let Ok(found) = runtime.exports().get(target) else { return Ok(()) };
        let caller = || Caller { peer: peer.clone(), authenticated: maker.cloned() };
        runtime.rules().admit(&found, opnum, caller)?;
        let mut known = known();
        if known.len() >= ADMITTED_MAX {
            known.clear();
        }
        known.insert(target, verdict);
        Ok(())
    }
}

/// Has processes of other users connect to this one, over shared memory and `ncalrpc`, before anything is exported or listened on. Otherwise
/// only those of its own user and the superuser's can, whatever the rules say.
///
/// Their names have to be where others get at them: a directory (`OBVIA_RUNTIME_DIR`) that is the superuser's or theirs, which they may
/// search. Clients believe no server but their own user's and the superuser's.
///
/// # Errors
///
/// E_INVALIDARG before [`set_default_access`] has said who may call, as nobody opens all doors by this alone; and when processes can connect
/// already.
pub fn admit_other_users() -> Result<()> {
    let runtime = Runtime::of_process()?;
    let refused = |text| Err(Error::new(code::E_INVALIDARG, text));
    if runtime.rules().table().all_objects.is_none() {
        return refused(
            "processes of other users are let in where it has been said who may call: see set_default_access",
        );
    }
    if runtime.is_served() {
        return refused("processes of other users are let in before anything is exported or listened on");
    }
    runtime.directory().open_to_all_users();
    Ok(())
}

/// What this process has said about its callers.
#[derive(Default)]
pub(crate) struct Rules {
    /// Whether there ever was a rule: without one nobody looks.
    is_used: AtomicBool,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    all_objects: Option<Arc<dyn Access>>,
    /// By the object's identity.
    objects: HashMap<usize, Ruled>,
    /// How many objects there were after the last look for those that are gone.
    swept: usize,
    all_classes: Option<Arc<dyn Access>>,
    classes: HashMap<u128, Arc<dyn Access>>,
}

/// An object with a rule of its own.
#[derive(Clone)]
struct Ruled {
    access: Arc<dyn Access>,
    kept: Kept,
}

/// How it is known that an identity is still the object's.
#[derive(Clone)]
enum Kept {
    Weak(Weak<IUnknown>),
    Object { _object: Agile<IUnknown> },
}

impl Ruled {
    /// Whether the object is there. That runs its author's code: never under the lock.
    fn is_there(&self) -> bool {
        match &self.kept {
            Kept::Weak(weak) => weak.upgrade().is_some(),
            Kept::Object { .. } => true,
        }
    }
}

/// So many objects with rules are not worth a look whether they are gone.
const SWEEP_MIN: usize = 64;

impl Runtime {
    /// Changes rules, from the next call on.
    fn change_access<R>(&self, change: impl FnOnce(&mut Table) -> R) {
        let before = change(&mut self.rules().table());
        self.rules().is_used.store(true, Ordering::Release);
        self.exports().table.recall();
        // This may run its author's code: not under the lock.
        drop(before);
    }
}

impl Rules {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there may be rules.
    pub(crate) fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Acquire)
    }

    /// Forgets the rules of objects that are gone, if there are many.
    fn sweep(&self) {
        let table = self.table();
        if table.objects.len() < SWEEP_MIN.max(2 * table.swept) {
            return;
        }
        let known: Vec<_> = table.objects.iter().map(|(identity, ruled)| (*identity, ruled.clone())).collect();
        drop(table);
        for (identity, ruled) in known {
            if !ruled.is_there() {
                self.forget(identity, &ruled);
            }
        }
        let mut table = self.table();
        table.swept = table.objects.len();
    }

    /// Forgets a rule, unless there is another one for the identity by now.
    fn forget(&self, identity: usize, ruled: &Ruled) {
        let mut table = self.table();
        let is_it = |known: &mut Ruled| Arc::ptr_eq(&known.access, &ruled.access);
        if table.objects.get_mut(&identity).is_some_and(is_it) {
            table.objects.remove(&identity);
        }
    }

    /// The rule for an object that is there.
    fn of_object(&self, identity: usize) -> Option<Arc<dyn Access>> {
        loop {
            let table = self.table();
            let Some(ruled) = table.objects.get(&identity).cloned() else { return table.all_objects.clone() };
            drop(table);
            if ruled.is_there() {
                return Some(ruled.access);
            }
            // Its place in memory is another object's.
            self.forget(identity, &ruled);
        }
    }

    fn of_class(&self, class: &GUID) -> Option<Arc<dyn Access>> {
        let table = self.table();
        let own = table.classes.get(&class.to_u128());
        own.or(table.all_classes.as_ref()).or(table.all_objects.as_ref()).cloned()
    }

    /// Whether a caller may call a method.
    ///
    /// # Errors
    ///
    /// ACCESS_DENIED where it may not, which is logged.
    pub(crate) fn admit(
        &self,
        target: &Target,
        method: u16,
        caller: impl FnOnce() -> Caller,
    ) -> std::result::Result<(), Status> {
        let what = || Refused::Call { interface: target.interface.to_owned(), method };
        if !self.is_used() || permits(self.of_object(target.identity), caller, what) {
            return Ok(());
        }
        Err(Status::ACCESS_DENIED)
    }

    /// Whether a caller may be given an object that it asks for by a name.
    ///
    /// # Errors
    ///
    /// E_ACCESSDENIED where it may not, which is logged.
    pub(crate) fn check_name(&self, name: &str, object: &IUnknown, caller: impl FnOnce() -> Caller) -> Result<()> {
        if !self.is_used() {
            return Ok(());
        }
        let identity = object.cast::<IUnknown>()?.as_raw().addr();
        if permits(self.of_object(identity), caller, || Refused::Name(name.to_owned())) {
            return Ok(());
        }
        Err(Error::new(code::E_ACCESSDENIED, format!("the caller may not call the object {name}")))
    }

    /// Whether a caller may have objects of a class made.
    ///
    /// # Errors
    ///
    /// E_ACCESSDENIED where it may not, which is logged.
    pub(crate) fn check_class(&self, class: &GUID, caller: impl FnOnce() -> Caller) -> Result<()> {
        if !self.is_used() || permits(self.of_class(class), caller, || Refused::Class(*class)) {
            return Ok(());
        }
        Err(Error::new(
            code::E_ACCESSDENIED,
            format!("the caller may not have objects of the class {{{class:?}}} made"),
        ))
    }
}

/// Says that a caller was refused objects of a class.
pub(crate) fn log_refused_class(caller: Caller, class: &GUID) {
    audit::log(caller, Refused::Class(*class));
}

fn permits(rule: Option<Arc<dyn Access>>, caller: impl FnOnce() -> Caller, what: impl FnOnce() -> Refused) -> bool {
    let Some(rule) = rule else { return true };
    let caller = caller();
    let is_permitted = catch_unwind(AssertUnwindSafe(|| rule.permits(&caller))).unwrap_or(false);
    if !is_permitted {
        audit::log(caller, what());
    }
    is_permitted
}

#[cfg(test)]
mod tests {
    use super::*;
    use obvia_rpc::security::{AuthType, Authenticated, Principal};

    fn process(uid: u32) -> Caller {
        Caller { peer: Peer::Process { pid: 7, uid }, authenticated: None }
    }

    fn host(address: &str, user: Option<(&str, Level)>) -> Caller {
        let authenticated = user.map(|(user, level)| Authenticated {
            principal: Arc::new(Principal { domain: "D".to_owned(), user: user.to_owned() }),
            kind: AuthType::NTLM,
            level,
        });
        Caller { peer: Peer::Host(address.to_owned()), authenticated }
    }

    #[test]
    fn who_is_known_by_one_line_is_permitted() {
        let callers = Callers::nobody().with_user(5).with_account("anna", Level::Integrity).with_host("10.0.0.1");
        assert!(callers.permits(&process(5)) && !callers.permits(&process(6)));
        assert!(callers.permits(&host("10.0.0.1", None)) && !callers.permits(&host("10.0.0.2", None)));
        for (user, level, is_permitted) in [
            ("anna", Level::Privacy, true),
            ("ANNA", Level::Integrity, true),
            ("anna", Level::Connect, false),
            ("otto", Level::Privacy, false),
            ("", Level::Privacy, false),
        ] {
            assert_eq!(callers.permits(&host("10.0.0.2", Some((user, level)))), is_permitted, "{user} {level}");
        }
        assert!(Callers::everybody().permits(&process(6)) && !Callers::nobody().permits(&process(0)));
    }

    #[test]
    fn a_user_that_the_kernel_cannot_name_is_nobody() {
        assert!(!Callers::nobody().with_user(Peer::NOBODY).permits(&process(Peer::NOBODY)));
    }

    #[test]
    fn a_rule_that_panics_permits_nothing() {
        let rule = |_: &Caller| -> bool { panic!("on purpose") };
        assert!(!permits(Some(Arc::new(rule)), || process(1), || Refused::Name("x".to_owned())));
    }
}
