//! Classes of which this process makes objects for others.

use crate::agile::Agile;
use crate::error::{Error, Result, code};
use crate::registry::{self, Remote};
use crate::runtime::Runtime;
use crate::system;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use windows_core::{GUID, IUnknown, Interface};

/// Makes objects of a class.
type Maker = dyn Fn() -> Result<IUnknown> + Send + Sync;

/// A class that is registered.
#[derive(Clone)]
struct Class {
    make: Arc<Maker>,
    object: Option<Agile<IUnknown>>,
}

/// What is asked for of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activated {
    /// What stands for the class itself.
    ClassObject,
    /// A new object.
    Instance,
}

/// What is registered, by class identifier.
#[derive(Default)]
pub(crate) struct Classes(Mutex<HashMap<u128, Class>>);

impl Classes {
    fn lock(&self) -> MutexGuard<'_, HashMap<u128, Class>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes an object of a class, or finds what stands for the class.
    ///
    /// # Errors
    ///
    /// REGDB_E_CLASSNOTREG; E_NOINTERFACE for the class object of a class that has none; why there is no object.
    pub(crate) fn activate(&self, class: &GUID, wanted: Activated) -> Result<Agile<IUnknown>> {
        // What is made is made by its author's code: not under the lock.
        let found = self.lock().get(&class.to_u128()).cloned();
        let unknown =
            || Error::new(code::REGDB_E_CLASSNOTREG, format!("the class {{{class:?}}} is not registered here"));
        let Class { make, object } = found.ok_or_else(unknown)?;
        match wanted {
            Activated::Instance => Ok(Agile::new(&make()?)?),
            Activated::ClassObject => object
                .ok_or_else(|| Error::new(code::E_NOINTERFACE, format!("the class {{{class:?}}} has no class object"))),
        }
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

/// Has an object of a class made (CoCreateInstanceEx): in this process, where it has registered the class; otherwise by the one at `server`,
/// a name that it exports or a string binding, as one [connects](crate::connect) to.
///
/// # Errors
///
/// REGDB_E_CLASSNOTREG where nobody makes objects of the class; E_NOINTERFACE when they have no such interface; why there is no object;
/// otherwise as for [`crate::connect`].
pub fn create_instance<I: Remote>(class: GUID, server: Option<&str>) -> Result<I> {
    activate(class, server, Activated::Instance)
}

/// Finds what stands for a class (CoGetClassObject), as [`create_instance`] does for its objects.
///
/// # Errors
///
/// As for [`create_instance`]; E_NOINTERFACE for a class without class object.
pub fn class_object<I: Remote>(class: GUID, server: Option<&str>) -> Result<I> {
    activate(class, server, Activated::ClassObject)
}

fn activate<I: Remote>(class: GUID, server: Option<&str>, wanted: Activated) -> Result<I> {
    let runtime = Runtime::of_process()?;
    registry::register_module(I::INFO);
    let own = runtime.classes().activate(&class, wanted);
    let is_elsewhere = own.as_ref().is_err_and(|error| error.code() == code::REGDB_E_CLASSNOTREG);
    let Some(server) = server.filter(|_| is_elsewhere) else { return Ok(own?.get().cast()?) };
    let link = runtime.link_at(server)?;
    let reference = system::activate(&link, &class, wanted, I::INFO)?;
    Ok(runtime.adopt(&link, &reference, I::INFO)?.cast()?)
}
