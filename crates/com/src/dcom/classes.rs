//! The classes that this process has registered, and whose objects it makes for other processes.

use super::factory::Factory;
use crate::agile::Agile;
use crate::error::{Error, Result, code};
use crate::registry::{self, InterfaceInfo, Remote};
use crate::runtime::Runtime;
use crate::scm;
use obvia_via::provider::shm::Listener;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use windows_core::{GUID, IUnknown};

/// The limits on the interval at which a process checks whether it is unused.
const LOOK_MIN: Duration = Duration::from_millis(5);
const LOOK_MAX: Duration = Duration::from_millis(500);

/// A function that makes objects of a class.
type Maker = dyn Fn() -> Result<IUnknown> + Send + Sync;

/// A registered class.
#[derive(Clone)]
struct Class {
    make: Arc<Maker>,
    /// The class object.
    object: Agile<IUnknown>,
    /// The listener by which processes of this host find the class; `None` where another process is
    /// found instead.
    listener: Option<Arc<Listener>>,
}

/// The kind of object that a client wants of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activated {
    /// The class object.
    ClassObject,
    /// A new object.
    Instance,
}

/// The registered classes and their use.
#[derive(Default)]
pub(crate) struct Classes(Mutex<Table>);

#[derive(Default)]
struct Table {
    /// The classes by CLSID.
    classes: HashMap<u128, Class>,
    /// The number of activations in progress and of server locks.
    busy: usize,
    /// The time at which the last of them ended.
    used: Option<Instant>,
    /// Whether the process is about to end and makes no further objects.
    is_ending: bool,
}

/// An activated object. While this value lives, the process does not count as unused.
pub(crate) struct Provided<'a> {
    object: Agile<IUnknown>,
    _busy: Busy<'a>,
}

impl Provided<'_> {
    pub(crate) fn get(&self) -> &IUnknown {
        self.object.get()
    }
}

/// A reason for the process to stay alive.
struct Busy<'a>(&'a Classes);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        let mut table = self.0.lock();
        table.busy -= 1;
        table.used = Some(Instant::now());
    }
}

/// Keeps alive a process that [serves until it is unused](serve_until_idle), as long as this value
/// lives (CoAddRefServerProcess).
#[must_use = "the process may end when this is dropped"]
pub struct ServerLock {
    _busy: Busy<'static>,
}

impl fmt::Debug for ServerLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServerLock")
    }
}

impl Classes {
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stay(&self) -> Busy<'_> {
        self.lock().busy += 1;
        Busy(self)
    }

    /// Whether this process makes objects of a class.
    pub(crate) fn has(&self, class: &GUID) -> bool {
        self.lock().classes.contains_key(&class.to_u128())
    }

    /// Makes an object of a class, or returns its class object.
    ///
    /// # Errors
    ///
    /// REGDB_E_CLASSNOTREG if the class is not registered or the process is about to end; the error
    /// of the function that makes objects.
    pub(crate) fn activate(&self, class: &GUID, wanted: Activated) -> Result<Provided<'_>> {
        let mut table = self.lock();
        if table.is_ending {
            return Err(scm::unknown(class, "is no longer registered here: the server is about to end"));
        }
        let found = table.classes.get(&class.to_u128()).cloned();
        let Class { make, object, .. } = found.ok_or_else(|| scm::unknown(class, "is not registered here"))?;
        table.busy += 1;
        // The program's function must not run under the lock.
        drop(table);
        let busy = Busy(self);
        let object = match wanted {
            Activated::Instance => Agile::new(&make()?)?,
            Activated::ClassObject => object,
        };
        Ok(Provided { object, _busy: busy })
    }

    /// Ends the service of all classes if none has been used for `idle` and no object is
    /// referenced. Returns whether it did.
    fn end_unused(&self, idle: Duration, is_unused: impl FnOnce() -> bool) -> bool {
        let mut table = self.lock();
        if table.busy > 0 || table.used.is_some_and(|used| used.elapsed() < idle) || !is_unused() {
            return false;
        }
        table.is_ending = true;
        // From now on a client finds no server and has a new one started.
        table.classes.values_mut().filter_map(|class| class.listener.take()).for_each(|listener| listener.close());
        true
    }
}

/// A registered class. Clients can activate the class while this value lives.
#[must_use = "nobody can have objects made any more when this is dropped"]
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
        let removed = self.runtime.classes().lock().classes.remove(&self.class.to_u128());
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
/// Where several processes of a user register a class, clients on this host that name no server
/// find the first of them.
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

/// As [`register_class`], for objects whose interfaces are those of the IDL file that `info`
/// describes.
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
    // The registration is dropped where this fails. Clients can activate the class as soon as it is
    // announced.
    let runtime = registration.runtime;
    let listener = scm::announce(runtime, &class)?;
    if let Some(known) = runtime.classes().lock().classes.get_mut(&class.to_u128()) {
        known.listener = listener;
    }
    Ok(registration)
}

/// Registers a class only for clients over a network. On this host clients find another process.
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
    let runtime = Runtime::of_process()?;
    registry::register_module(info);
    let object = object.map_or_else(|| Agile::new(&Factory::of(runtime, class)), Agile::new)?;
    match runtime.classes().lock().classes.entry(class.to_u128()) {
        Entry::Occupied(_) => {
            Err(Error::new(code::E_INVALIDARG, format!("the class {{{class:?}}} is registered already")))
        }
        Entry::Vacant(place) => {
            place.insert(Class { make: Arc::new(make), object, listener: None });
            Ok(ClassRegistration { runtime, class })
        }
    }
}

/// Keeps this process from ending as unused: see [`serve_until_idle`].
///
/// # Errors
///
/// If the runtime of the process cannot be made.
pub fn lock_server() -> Result<ServerLock> {
    Ok(ServerLock { _busy: Runtime::of_process()?.classes().stay() })
}

/// Serves until this process has been unused for the idle time: no object is referenced or being
/// made, and no [lock](lock_server) exists. The `idle-timeout` of the class's registration replaces
/// `idle` where the process was started on demand.
///
/// When this function returns, no more objects are made, and the next client has a new server
/// started.
///
/// # Errors
///
/// If the runtime of the process cannot be made.
pub fn serve_until_idle(idle: Duration) -> Result<()> {
    let runtime = Runtime::of_process()?;
    let idle = scm::idle_timeout().unwrap_or(idle);
    let look = (idle / 8).clamp(LOOK_MIN, LOOK_MAX);
    let mut unused_since = Instant::now();
    loop {
        std::thread::sleep(look);
        let is_unused = || runtime.exports().count() == 0;
        if !is_unused() {
            unused_since = Instant::now();
        } else if unused_since.elapsed() >= idle && runtime.classes().end_unused(idle, is_unused) {
            return Ok(());
        }
    }
}
