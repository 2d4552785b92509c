//! The classes that this process has registered, and whose objects it makes for other processes.

use crate::runtime::Runtime;
use crate::services::scm;
use crate::types::agile::Agile;
use crate::types::error::Result;
use crate::types::threads::lock;
use obvia_via::provider::shm::Listener;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use windows_core::{GUID, IUnknown};

/// A function that makes objects of a class.
pub(super) type Maker = dyn Fn() -> Result<IUnknown> + Send + Sync;

/// A registered class.
#[derive(Clone)]
pub(super) struct Class {
    pub(super) make: Arc<Maker>,
    /// The class object.
    pub(super) object: Agile<IUnknown>,
    /// The listener by which processes of this host find the class; `None` if they find the class
    /// by a listener of another process, or of the runtime in the program's own language.
    pub(super) listener: Option<Arc<Listener>>,
}

/// The kind of object that a client wants of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activated {
    /// The class object.
    ClassObject,
    /// A new object.
    Instance,
}

/// The registered classes, and the record of their use.
#[derive(Default)]
pub(crate) struct Classes(Mutex<Table>);

#[derive(Default)]
pub(super) struct Table {
    /// The classes by CLSID.
    pub(super) classes: HashMap<u128, Class>,
    /// The number of activations in progress and of server locks.
    busy: usize,
    /// The time at which the last activation or lock ended.
    used: Option<Instant>,
    /// Whether the process is about to end and makes no further objects.
    is_ending: bool,
}

/// The object that an activation returns. While this value lives, the process does not count as
/// unused.
pub(crate) struct Provided<'a> {
    object: Agile<IUnknown>,
    _busy: KeepAlive<'a>,
}

impl Provided<'_> {
    pub(crate) fn get(&self) -> &IUnknown {
        self.object.get()
    }
}

/// A value that keeps the process from ending as unused.
struct KeepAlive<'a>(&'a Classes);

impl Drop for KeepAlive<'_> {
    fn drop(&mut self) {
        let mut table = self.0.lock();
        table.busy -= 1;
        table.used = Some(Instant::now());
    }
}

/// Keeps alive a process that [serves until it is unused](super::serve_until_idle), as long as this
/// value lives (CoAddRefServerProcess).
#[must_use = "the process may end when this is dropped"]
pub struct ServerLock {
    _busy: KeepAlive<'static>,
}

impl ServerLock {
    pub(super) fn new(runtime: &'static Runtime) -> Self {
        Self { _busy: Classes::of(runtime).stay() }
    }
}

impl fmt::Debug for ServerLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServerLock")
    }
}

impl Classes {
    /// Returns the registered classes of this process.
    pub(crate) fn of(runtime: &Runtime) -> &'static Self {
        runtime.extension()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Table> {
        lock(&self.0)
    }

    fn stay(&self) -> KeepAlive<'_> {
        self.lock().busy += 1;
        KeepAlive(self)
    }

    /// Whether this process has registered a class.
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
            return Err(scm::unknown(class, "is no longer registered in this process: the server is about to end"));
        }
        let found = table.classes.get(&class.to_u128()).cloned();
        let Class { make, object, .. } =
            found.ok_or_else(|| scm::unknown(class, "is not registered in this process"))?;
        table.busy += 1;
        // The program's function must not run under the lock.
        drop(table);
        let busy = KeepAlive(self);
        let object = match wanted {
            Activated::Instance => Agile::new(&make()?)?,
            Activated::ClassObject => object,
        };
        Ok(Provided { object, _busy: busy })
    }

    /// Ends the service of all classes if none has been used for `idle` and no object is
    /// referenced. Returns whether the service has ended.
    pub(super) fn end_unused(&self, idle: Duration, is_unused: impl FnOnce() -> bool) -> bool {
        let mut table = self.lock();
        if table.busy > 0 || table.used.is_some_and(|used| used.elapsed() < idle) || !is_unused() {
            return false;
        }
        table.is_ending = true;
        // From now on, clients do not find this server, and let the SCM start a new one.
        table.classes.values_mut().filter_map(|class| class.listener.take()).for_each(|listener| listener.close());
        true
    }
}
