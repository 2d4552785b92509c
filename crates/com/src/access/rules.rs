//! Access control: the rules for calls of objects of this process, and for activations of its
//! classes.
//!
//! A rule is evaluated when a call is dispatched, before its arguments are read: once for each
//! connection and object, and again after rules have changed. A refused call is
//! [logged](super::audit::set_audit).

use super::Caller;
use super::audit::{self, Refused};
use crate::types::agile::Agile;
use crate::types::error::{Error, Result, code};
use obvia_rpc::security::Level;
use obvia_rpc::status::Status;
use obvia_via::window::Peer;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use windows_core::{GUID, IUnknown, Interface, Weak};

/// A rule that permits callers. [`Callers`] is a rule, and so is every function from a [`Caller`]
/// to a `bool`.
pub trait Access: Send + Sync {
    /// Whether this caller is permitted. The rule is evaluated during a call, on any thread, so it
    /// must decide without making calls itself. The answer is kept for the caller's connection
    /// until rules change. A rule that panics permits nothing.
    fn permits(&self, caller: &Caller) -> bool;
}

impl<F: Fn(&Caller) -> bool + Send + Sync> Access for F {
    fn permits(&self, caller: &Caller) -> bool {
        self(caller)
    }
}

/// A rule that permits the callers to whom at least one of its entries applies.
///
/// # Example
///
/// ```
/// use obvia::security::{Callers, Level};
///
/// // Processes of this user, and clients that authenticate as anna and sign their calls.
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
    /// Returns a rule that permits no caller.
    pub fn nobody() -> Self {
        Self::default()
    }

    /// Returns a rule that permits all callers.
    pub fn everybody() -> Self {
        Self(vec![Line::Everybody])
    }

    /// Permits processes of this host that run as this user. The kernel reports the user of a peer
    /// over shared memory and `ncalrpc`.
    #[must_use]
    pub fn with_user(self, uid: u32) -> Self {
        self.with(Line::User(uid))
    }

    /// Permits processes of this host that run as the user of this process.
    #[must_use]
    pub fn with_own_user(self) -> Self {
        self.with_user(rustix::process::geteuid().as_raw())
    }

    /// Permits callers that have authenticated with this account and protect the call at least at
    /// this level. Names of accounts are compared without case.
    #[must_use]
    pub fn with_account(self, user: &str, least: Level) -> Self {
        self.with(Line::Account(user.to_owned(), least))
    }

    /// Permits callers over a network from this address. Addresses on a network can be forged.
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

/// The access rules of this process.
#[derive(Default)]
pub(crate) struct Rules {
    /// Whether a rule was ever set. Without a rule no call is checked.
    is_used: AtomicBool,
    table: Mutex<Table>,
}

#[derive(Default)]
pub(crate) struct Table {
    pub(crate) all_objects: Option<Arc<dyn Access>>,
    /// The rules of single objects, by the object's identity.
    pub(crate) objects: HashMap<usize, Ruled>,
    /// The number of objects with rules of their own after the last sweep.
    swept: usize,
    pub(crate) all_classes: Option<Arc<dyn Access>>,
    pub(crate) classes: HashMap<u128, Arc<dyn Access>>,
}

/// An object with a rule of its own.
#[derive(Clone)]
pub(crate) struct Ruled {
    pub(crate) access: Arc<dyn Access>,
    pub(crate) kept: Kept,
}

/// The reference to an object with a rule. A weak reference shows by its upgrade whether the object
/// is alive; a strong reference keeps the object alive.
#[derive(Clone)]
pub(crate) enum Kept {
    Weak(Weak<IUnknown>),
    Object { _object: Agile<IUnknown> },
}

impl Ruled {
    /// Whether the object is alive. The check runs the object's code, and must not be made under
    /// the lock.
    fn is_there(&self) -> bool {
        match &self.kept {
            Kept::Weak(weak) => weak.upgrade().is_some(),
            Kept::Object { .. } => true,
        }
    }
}

/// The least number of objects with rules of their own for which [`Rules::sweep`] examines the
/// objects.
const SWEEP_MIN: usize = 64;

impl Rules {
    pub(crate) fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the rules, and returns the result of `change`. The result must be dropped while no
    /// lock is held, since the drop can run code of the program.
    pub(crate) fn change<R>(&self, change: impl FnOnce(&mut Table) -> R) -> R {
        let before = change(&mut self.table());
        self.is_used.store(true, Ordering::Release);
        before
    }

    /// Whether a rule was ever set.
    pub(crate) fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Acquire)
    }

    /// Removes the rules of objects that are gone, if there are many rules.
    pub(crate) fn sweep(&self) {
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

    /// Removes the rule `ruled`. If another rule has replaced it under the same identity, that rule
    /// stays.
    fn forget(&self, identity: usize, ruled: &Ruled) {
        let mut table = self.table();
        let is_it = |known: &mut Ruled| Arc::ptr_eq(&known.access, &ruled.access);
        if table.objects.get_mut(&identity).is_some_and(is_it) {
            table.objects.remove(&identity);
        }
    }

    /// Returns the rule for a live object: its own rule, or else the rule for all objects, if any.
    fn of_object(&self, identity: usize) -> Option<Arc<dyn Access>> {
        loop {
            let table = self.table();
            let Some(ruled) = table.objects.get(&identity).cloned() else { return table.all_objects.clone() };
            drop(table);
            if ruled.is_there() {
                return Some(ruled.access);
            }
            // The rule's object is gone, and another object has the same address now.
            self.forget(identity, &ruled);
        }
    }

    fn of_class(&self, class: &GUID) -> Option<Arc<dyn Access>> {
        let table = self.table();
        let own = table.classes.get(&class.to_u128());
        own.or(table.all_classes.as_ref()).or(table.all_objects.as_ref()).cloned()
    }

    /// Verifies that a caller may call a method.
    ///
    /// # Errors
    ///
    /// ACCESS_DENIED if the caller may not; the refusal is logged.
    pub(crate) fn admit(
        &self,
        (identity, interface): (usize, &str),
        method: u16,
        caller: impl FnOnce() -> Caller,
    ) -> std::result::Result<(), Status> {
        let what = || Refused::Call { interface: interface.to_owned(), method };
        if !self.is_used() || permits(self.of_object(identity), caller, what) {
            return Ok(());
        }
        Err(Status::ACCESS_DENIED)
    }

    /// Verifies that a caller may receive an object by a name.
    ///
    /// # Errors
    ///
    /// E_ACCESSDENIED if the caller may not; the refusal is logged.
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

    /// Verifies that a caller may activate a class.
    ///
    /// # Errors
    ///
    /// E_ACCESSDENIED if the caller may not; the refusal is logged.
    pub(crate) fn check_class(&self, class: &GUID, caller: impl FnOnce() -> Caller) -> Result<()> {
        if !self.is_used() || permits(self.of_class(class), caller, || Refused::Class(*class)) {
            return Ok(());
        }
        Err(Error::new(code::E_ACCESSDENIED, format!("the caller may not create objects of the class {{{class:?}}}")))
    }
}

/// Logs that a caller was refused the activation of a class.
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
        Caller { peer: Peer::Process { pid: 7, uid, serial: 7 }, authenticated: None }
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
    fn a_caller_that_matches_one_rule_is_permitted() {
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
    fn a_user_unknown_to_the_kernel_is_never_permitted() {
        assert!(!Callers::nobody().with_user(Peer::NOBODY).permits(&process(Peer::NOBODY)));
    }

    #[test]
    fn an_access_rule_that_panics_permits_nothing() {
        let rule = |_: &Caller| -> bool { panic!("on purpose") };
        assert!(!permits(Some(Arc::new(rule)), || process(1), || Refused::Name("x".to_owned())));
    }
}
