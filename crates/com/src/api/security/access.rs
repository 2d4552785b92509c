//! The access rules of this process, as programs set them, and the caller of a running method.

use crate::access::rules::{Access, Kept, Ruled, Table};
use crate::api::security::Caller;
use crate::runtime::Runtime;
use crate::server;
use crate::services::process;
use crate::types::agile::Agile;
use crate::types::error::{Error, Result, code};
use crate::types::weak::weak_to;
use std::sync::Arc;
use windows_core::{GUID, IUnknown, Interface};

/// Returns the caller of the method that runs on this thread. `None` if this thread runs no method
/// that another process has called. Calls within the process do not change the result.
pub fn caller() -> Option<Caller> {
    server::caller().map(|caller| caller.shown())
}

/// Sets the rule for calls of an object of this process by other processes, through any of its
/// interfaces, from the next call on. The rule replaces [the default rule](set_default_access) for
/// the object. For an interface of functions, the object is the performer.
///
/// Callers that the rule refuses do not get the object by a name either, and cannot pass the object
/// as an argument unless they hold references to it. A client that has received a reference from
/// another process can still query interfaces and change reference counts. Calls within the process
/// are not checked. If this process passes a proxy to another obvia process, that process calls the
/// proxy's object directly, so its calls are not checked here.
///
/// The rule ends with the object if the object has weak references, as those of
/// `#[obvia::object]` do. Otherwise the rule keeps the object alive until [`clear_access`].
///
/// # Errors
///
/// E_INVALIDARG for an object that belongs to a thread.
///
/// # Example
///
/// ```no_run
/// # fn of(object: &obvia::IUnknown) -> obvia::Result<()> {
/// use obvia::security::{Caller, Callers, set_access};
///
/// set_access(object, Callers::nobody().with_user(1000))?;
/// // The accounts may permit anonymous callers, who count as authenticated.
/// set_access(object, |caller: &Caller| {
///     caller.authenticated.as_ref().is_some_and(|known| !known.principal.is_anonymous())
/// })
/// # }
/// ```
pub fn set_access<I: Interface>(object: &I, access: impl Access + 'static) -> Result<()> {
    let runtime = process::runtime()?;
    let object = Agile::new(&object.cast::<IUnknown>()?)?;
    let identity = object.get().as_raw().addr();
    let kept = weak_to(object.get()).map_or(Kept::Object { _object: object }, Kept::Weak);
    runtime.rules().sweep();
    let ruled = Ruled { access: Arc::new(access), kept };
    change_access(runtime, |table| table.objects.insert(identity, ruled));
    Ok(())
}

/// Removes the rule of [`set_access`], so that the default rule applies to the object again.
///
/// # Errors
///
/// If the runtime of the process cannot be made.
pub fn clear_access<I: Interface>(object: &I) -> Result<()> {
    let identity = object.cast::<IUnknown>()?.as_raw().addr();
    change_access(process::runtime()?, |table| table.objects.remove(&identity));
    Ok(())
}

/// Sets the default rule for objects and functions of this process without a [rule of their
/// own](set_access), from the next call on (CoInitializeSecurity). Without a default rule every
/// caller that reaches the process is permitted.
///
/// # Errors
///
/// If the runtime of the process cannot be made.
pub fn set_default_access(access: impl Access + 'static) -> Result<()> {
    let access: Arc<dyn Access> = Arc::new(access);
    change_access(process::runtime()?, |table| table.all_objects.replace(access));
    Ok(())
}

/// Sets the rule for activations of a class in this process, including its class object, whether
/// the class is [registered](crate::dcom::register_class) already or later. The rule replaces [the
/// default rule](set_default_class_access) for the class.
///
/// Calls of the objects are controlled separately, by [`set_access`].
///
/// # Errors
///
/// If the runtime of the process cannot be made.
pub fn set_class_access(class: GUID, access: impl Access + 'static) -> Result<()> {
    let access: Arc<dyn Access> = Arc::new(access);
    change_access(process::runtime()?, |table| table.classes.insert(class.to_u128(), access));
    Ok(())
}

/// Sets the default rule for activations of classes without a [rule of their
/// own](set_class_access). Without this rule the default rule for [calls](set_default_access)
/// applies.
///
/// # Errors
///
/// If the runtime of the process cannot be made.
pub fn set_default_class_access(access: impl Access + 'static) -> Result<()> {
    let access: Arc<dyn Access> = Arc::new(access);
    change_access(process::runtime()?, |table| table.all_classes.replace(access));
    Ok(())
}

/// Admits processes of other users over shared memory and `ncalrpc`. The call must precede all
/// exports and listeners. By default only processes of the same user and of the superuser can
/// connect, regardless of the rules.
///
/// Clients trust only directories and servers of their own user and of the superuser. So this
/// process must run as the superuser, and the directory of names (`OBVIA_RUNTIME_DIR`) must belong
/// to the superuser and be searchable for the other users.
///
/// # Errors
///
/// E_INVALIDARG if [`set_default_access`] has not been called, because this call alone would admit
/// every user; E_INVALIDARG also if the process is reachable already.
pub fn admit_other_users() -> Result<()> {
    let runtime = process::runtime()?;
    let refused = |text| Err(Error::new(code::E_INVALIDARG, text));
    if runtime.rules().table().all_objects.is_none() {
        return refused("set a default access rule first (set_default_access): without one, every user could call");
    }
    if runtime.is_served() {
        return refused("processes of other users can be admitted only before anything is exported or listened on");
    }
    runtime.directory().open_to_all_users();
    Ok(())
}

/// Changes the rules, from the next call on.
fn change_access<R>(runtime: &Runtime, change: impl FnOnce(&mut Table) -> R) {
    let before = runtime.rules().change(change);
    runtime.exports().table.recall();
    // The drop can run code of the program, which must not run under the lock.
    drop(before);
}
