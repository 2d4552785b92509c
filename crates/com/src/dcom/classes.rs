//! Classes of which this process makes objects for others.

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

/// How often a process looks whether anybody uses it.
const LOOK_MIN: Duration = Duration::from_millis(5);
const LOOK_MAX: Duration = Duration::from_millis(500);

/// Makes objects of a class.
type Maker = dyn Fn() -> Result<IUnknown> + Send + Sync;

/// A class that is registered.
#[derive(Clone)]
struct Class {
    make: Arc<Maker>,
    /// What stands for the class.
    object: Agile<IUnknown>,
    /// By which processes of this host find it, where no other process is found instead.
    listener: Option<Arc<Listener>>,
}

/// What is asked for of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activated {
    /// What stands for the class itself.
    ClassObject,
    /// A new object.
    Instance,
}

/// What is registered, and who uses it.
#[derive(Default)]
pub(crate) struct Classes(Mutex<Table>);

#[derive(Default)]
struct Table {
    /// By class identifier.
    classes: HashMap<u128, Class>,
    /// Objects that are being made, and programs' own reasons to stay.
    busy: usize,
    /// When there last was such a thing.
    used: Option<Instant>,
    /// The process is about to end, and makes no objects any more.
    is_ending: bool,
}

/// An object that others asked for. As long as this lives, the process does not take itself for unused.
pub(crate) struct Provided<'a> {
    object: Agile<IUnknown>,
    _busy: Busy<'a>,
}

impl Provided<'_> {
    pub(crate) fn get(&self) -> &IUnknown {
        self.object.get()
    }
}

/// A reason to stay.
struct Busy<'a>(&'a Classes);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        let mut table = self.0.lock();
        table.busy -= 1;
        table.used = Some(Instant::now());
    }
}

/// Keeps a process that [serves until nobody uses it](serve_until_idle), as long as this lives (CoAddRefServerProcess).
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

    /// Makes an object of a class, or finds what stands for the class.
    ///
    /// # Errors
    ///
    /// REGDB_E_CLASSNOTREG; why there is no object.
    pub(crate) fn activate(&self, class: &GUID, wanted: Activated) -> Result<Provided<'_>> {
        let mut table = self.lock();
        if table.is_ending {
            return Err(scm::unknown(class, "is no longer registered here: the server is about to end"));
        }
        let found = table.classes.get(&class.to_u128()).cloned();
        let Class { make, object, .. } = found.ok_or_else(|| scm::unknown(class, "is not registered here"))?;
        table.busy += 1;
        // What is made is made by its author's code: not under the lock.
        drop(table);
        let busy = Busy(self);
        let object = match wanted {
            Activated::Instance => Agile::new(&make()?)?,
            Activated::ClassObject => object,
        };
        Ok(Provided { object, _busy: busy })
    }

    /// Ends the service of all classes, if nobody has used any for so long, nor refers to any object.
    fn end_unused(&self, idle: Duration, is_unused: impl FnOnce() -> bool) -> bool {
        let mut table = self.lock();
        if table.busy > 0 || table.used.is_some_and(|used| used.elapsed() < idle) || !is_unused() {
            return false;
        }
        table.is_ending = true;
        // Who looks for a server from now on finds none, and has one started.
        table.classes.values_mut().filter_map(|class| class.listener.take()).for_each(|listener| listener.close());
        true
    }
}

/// A class of which others have objects made by this process, as long as this lives.
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
        // Dropping what makes objects runs its author's code: not under the lock.
        drop(removed);
    }
}

/// Has others make objects of a class in this process (CoRegisterClassObject): those who ask at an address that it
/// [listens](crate::listen) on, and processes of this user on this host. `make` is called for each, by any thread. Objects may be asked for every
/// interface of the IDL file that declares `I`, and of those that it imports.
///
/// Where several processes of a user register a class, those of this host who name no server find the first of them.
///
/// `object` stands for the class itself: those who ask for the class object (CoGetClassObject) get it. Without one they get an
/// [`IClassFactory`](super::IClassFactory), which makes objects and has this process stay (IClassFactory::LockServer).
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

/// As [`register_class`], for objects whose IDL file is that of the interface described.
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
    // It is dropped where that fails. Who finds it can have objects made already.
    let runtime = registration.runtime;
    let listener = scm::announce(runtime, &class)?;
    if let Some(known) = runtime.classes().lock().classes.get_mut(&class.to_u128()) {
        known.listener = listener;
    }
    Ok(registration)
}

/// The same for those alone who reach this process over a network: on this host somebody else is found.
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

/// Keeps this process from ending when nobody uses it: see [`serve_until_idle`].
///
/// # Errors
///
/// When the process cannot have a runtime.
pub fn lock_server() -> Result<ServerLock> {
    Ok(ServerLock { _busy: Runtime::of_process()?.classes().stay() })
}

/// Serves until nobody has used this process for so long: nobody refers to an object of it, has one made, or [keeps it](lock_server). The
/// `idle-timeout` of its class's registration counts instead of `idle`, where it was started on demand and there is one.
///
/// When this returns, no more objects are made, and the next who wants one has a new server started.
///
/// # Errors
///
/// When the process cannot have a runtime.
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
