//! Classes of which this process makes objects for others.

use crate::agile::Agile;
use crate::error::{Error, Result, code};
use crate::registry::{self, Remote};
use crate::runtime::Runtime;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use windows_core::{GUID, IUnknown};

/// Makes objects of a class.
type Maker = dyn Fn() -> Result<IUnknown> + Send + Sync;

/// A class that is registered.
#[derive(Clone)]
pub(super) struct Class {
    make: Arc<Maker>,
    object: Option<Agile<IUnknown>>,
}

impl Class {
    /// A new object.
    pub(super) fn make(&self) -> Result<IUnknown> {
        (self.make)()
    }

    /// What stands for the class itself.
    pub(super) fn object(&self) -> Result<Agile<IUnknown>> {
        self.object.clone().ok_or_else(|| Error::new(code::E_NOINTERFACE, "the class has no class object"))
    }
}

/// What is registered, by class identifier.
#[derive(Default)]
pub(crate) struct Classes(Mutex<HashMap<u128, Class>>);

impl Classes {
    fn lock(&self) -> MutexGuard<'_, HashMap<u128, Class>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A class.
    ///
    /// # Errors
    ///
    /// REGDB_E_CLASSNOTREG.
    pub(super) fn find(&self, class: &GUID) -> Result<Class> {
        let found = self.lock().get(&class.to_u128()).cloned();
        let text = || format!("the class {{{class:?}}} is not registered here");
        found.ok_or_else(|| Error::new(code::REGDB_E_CLASSNOTREG, text()))
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
        let removed = self.runtime.classes().lock().remove(&self.class.to_u128());
        // Dropping what makes objects runs its author's code: not under the lock.
        drop(removed);
    }
}

/// Has others make objects of a class in this process (CoRegisterClassObject): those who ask at an address that it
/// [listens](crate::listen) on. `make` is called for each, by any thread. Objects may be asked for every interface of the IDL file that declares
/// `I`, and of those that it imports.
///
/// `object` stands for the class itself, for those who ask for that (CoGetClassObject); without one there is none.
///
/// # Errors
///
/// E_INVALIDARG for a class that is registered already.
pub fn register_class<I: Remote>(
    class: GUID,
    object: Option<&IUnknown>,
    make: impl Fn() -> Result<I> + Send + Sync + 'static,
) -> Result<ClassRegistration> {
    let runtime = Runtime::of_process()?;
    registry::register_module(I::INFO);
    let make = move || Ok(make()?.cast::<IUnknown>()?);
    let object = object.map(Agile::new).transpose()?;
    let mut classes = runtime.classes().lock();
    if classes.contains_key(&class.to_u128()) {
        let text = format!("the class {{{class:?}}} is registered already");
        return Err(Error::new(code::E_INVALIDARG, text));
    }
    classes.insert(class.to_u128(), Class { make: Arc::new(make), object });
    Ok(ClassRegistration { runtime, class })
}
