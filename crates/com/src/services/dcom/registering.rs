//! Registering classes in this process, and serving until the process is unused.

use super::classes::{Class, ServerLock};
use super::factory::Factory;
use crate::runtime::Runtime;
use crate::services::dcom::classes::Classes;
use crate::services::process;
use crate::services::scm;
use crate::types::agile::Agile;
use crate::types::error::{Error, Result, code};
use crate::types::registry::{self, InterfaceInfo, Remote};
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use windows_core::{GUID, IUnknown};

/// The shortest interval at which a process checks whether it is unused.
const LOOK_MIN: Duration = Duration::from_millis(5);

/// The longest interval at which a process checks whether it is unused.
const LOOK_MAX: Duration = Duration::from_millis(500);

/// A registered class. Clients can activate the class while this value lives.
#[must_use = "clients can no longer create objects of the class when this is dropped"]
pub struct ClassRegistration {
    runtime: &'static Runtime,
    class: GUID,
}

impl fmt::Debug for ClassRegistration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ClassRegistration").field(&self.class).finish()
    }
}

impl Drop for ClassRegistration {
    fn drop(&mut self) {
        let removed = Classes::of(self.runtime).lock().classes.remove(&self.class.to_u128());
        if let Some(listener) = removed.as_ref().and_then(|class| class.listener.clone()) {
            listener.close();
        }
        // The drop of the program's function must not run under the lock.
        drop(removed);
    }
}

/// Registers a class for other processes (CoRegisterClassObject): for clients at the addresses that
/// this process [listens](crate::listen) on, and for processes of this user on this host. Any
/// thread may call `make`, once for each object. Clients may query the objects for every interface
/// of the IDL file that declares `I`, and of the files that it imports.
///
/// If several processes of a user register a class, clients on this host that name no server find
/// the process that has registered it first.
///
/// `object` is the class object, which CoGetClassObject returns to clients. The default is an
/// [`IClassFactory`](super::IClassFactory), which makes objects and keeps this process alive
/// (IClassFactory::LockServer).
///
/// # Errors
///
/// E_INVALIDARG for a class that is registered already.
pub fn register_class<I: Remote>(
    class: GUID,
    object: Option<&IUnknown>,
    make: impl Fn() -> Result<I> + Send + Sync + 'static,
) -> Result<ClassRegistration> {
    register_class_by(class, object, I::INFO, move || Ok(make()?.cast()?))
}

/// Registers a class as [`register_class`] does, for objects whose interfaces are those of the IDL
/// file that `info` describes.
///
/// # Errors
///
/// As for [`register_class`].
pub fn register_class_by(
    class: GUID,
    object: Option<&IUnknown>,
    info: &'static InterfaceInfo,
    make: impl Fn() -> Result<IUnknown> + Send + Sync + 'static,
) -> Result<ClassRegistration> {
    let registration = register_class_to_networks(class, object, info, make)?;
    // If the announcement fails, `registration` is dropped, which revokes the class. If it
    // succeeds, clients can activate the class.
    let runtime = registration.runtime;
    let listener = scm::announce(runtime, &class)?;
    if let Some(known) = Classes::of(runtime).lock().classes.get_mut(&class.to_u128()) {
        known.listener = listener;
    }
    Ok(registration)
}

/// Registers a class only for clients over a network. On this host the runtime in the program's own
/// language registers the class.
///
/// # Errors
///
/// As for [`register_class`].
pub fn register_class_to_networks(
    class: GUID,
    object: Option<&IUnknown>,
    info: &'static InterfaceInfo,
    make: impl Fn() -> Result<IUnknown> + Send + Sync + 'static,
) -> Result<ClassRegistration> {
    let runtime = process::runtime()?;
    registry::register_module(info);
    let object = object.map_or_else(|| Agile::new(&Factory::of(runtime, class)), Agile::new)?;
    match Classes::of(runtime).lock().classes.entry(class.to_u128()) {
        Entry::Occupied(_) => {
            Err(Error::new(code::E_INVALIDARG, format!("the class {{{class:?}}} is already registered")))
        }
        Entry::Vacant(place) => {
            place.insert(Class { make: Arc::new(make), object, listener: None });
            Ok(ClassRegistration { runtime, class })
        }
    }
}

/// Returns a lock. As long as the lock lives, this process does not end as unused: see
/// [`serve_until_idle`].
///
/// # Errors
///
/// If the runtime of the process cannot be made.
pub fn lock_server() -> Result<ServerLock> {
    Ok(ServerLock::new(process::runtime()?))
}

/// Serves until this process has been unused for the idle time: no object is referenced or being
/// made, and no [lock](lock_server) exists. The `idle-timeout` of the class's registration replaces
/// `idle` where the process was started on demand.
///
/// When this function returns, no more objects are made, and a new server is started for the next
/// client.
///
/// # Errors
///
/// If the runtime of the process cannot be made.
pub fn serve_until_idle(idle: Duration) -> Result<()> {
    let runtime = process::runtime()?;
    let idle = scm::idle_timeout().unwrap_or(idle);
    let look = (idle / 8).clamp(LOOK_MIN, LOOK_MAX);
    let mut unused_since = Instant::now();
    loop {
        std::thread::sleep(look);
        let is_unused = || runtime.exports().count() == 0;
        if !is_unused() {
            unused_since = Instant::now();
        } else if unused_since.elapsed() >= idle && Classes::of(runtime).end_unused(idle, is_unused) {
            return Ok(());
        }
    }
}
