//! The names by which objects are exported.

use crate::types::agile::Agile;
use crate::types::error::{Result, code};
use crate::types::registry::InterfaceInfo;
use crate::types::threads::lock;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Write;
use std::sync::{Arc, Mutex};
use windows_core::IUnknown;

/// One exported name.
pub(crate) struct Name {
    object: Agile<IUnknown>,
    info: &'static InterfaceInfo,
}

impl Name {
    pub(crate) fn new(object: Agile<IUnknown>, info: &'static InterfaceInfo) -> Arc<Self> {
        Arc::new(Self { object, info })
    }
}

/// The exported names of a process.
#[derive(Default)]
pub(crate) struct Names(Mutex<HashMap<String, Arc<Name>>>);

impl Names {
    /// Adds a name, or replaces its object.
    pub(crate) fn put(&self, name: &str, entry: &Arc<Name>) {
        let replaced = lock(&self.0).insert(name.to_owned(), Arc::clone(entry));
        // Dropped without the lock: the object's drop runs code of the program, which may use
        // names.
        drop(replaced);
    }

    /// Adds a name. Returns false where it is exported already.
    pub(crate) fn put_new(&self, name: &str, entry: &Arc<Name>) -> bool {
        match lock(&self.0).entry(name.to_owned()) {
            Entry::Occupied(_) => false,
            Entry::Vacant(place) => {
                place.insert(Arc::clone(entry));
                true
            }
        }
    }

    /// Removes a name, unless another entry has replaced this one. The caller's reference keeps the
    /// object until the lock is released, since the object's drop runs code of the program.
    pub(crate) fn remove(&self, name: &str, entry: &Arc<Name>) {
        let mut names = lock(&self.0);
        if names.get(name).is_some_and(|there| Arc::ptr_eq(there, entry)) {
            names.remove(name);
        }
    }

    /// Returns the object exported by a name.
    pub(super) fn find(&self, name: &str) -> Result<Agile<IUnknown>> {
        Ok(lock(&self.0).get(name).ok_or(code::RPC_E_DISCONNECTED)?.object.clone())
    }

    /// Returns the exported names, one per line, with their interfaces.
    pub(crate) fn list(&self) -> String {
        let mut text = String::new();
        let names = lock(&self.0);
        let mut sorted: Vec<_> = names.iter().collect();
        sorted.sort_by_key(|(name, _)| *name);
        for (name, what) in sorted {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{name}\t{}\t{:?}", what.info.name, what.info.iid);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{Name, Names};
    use crate::client::proxy::UNKNOWN_INFO;
    use crate::types::agile::{Agile, IChecked, IChecked_Impl};
    use std::sync::Arc;
    use windows_core::{IUnknown, implement};

    /// An object whose drop uses the names.
    #[implement(IChecked)]
    struct Listing(Arc<Names>);

    impl IChecked_Impl for Listing_Impl {}

    impl Drop for Listing {
        fn drop(&mut self) {
            self.0.list();
        }
    }

    fn listing(names: &Arc<Names>) -> Arc<Name> {
        let object = IUnknown::from(Listing(Arc::clone(names)));
        Name::new(Agile::new(&object).unwrap(), &UNKNOWN_INFO)
    }

    #[test]
    fn the_end_of_an_export_leaves_a_later_export_of_the_name() {
        let names = Arc::new(Names::default());
        let (earlier, later) = (listing(&names), listing(&names));
        names.put("x", &earlier);
        names.put("x", &later);
        names.remove("x", &earlier);
        assert!(names.find("x").unwrap() == later.object);
        names.remove("x", &later);
        assert!(names.find("x").is_err());
    }

    #[test]
    fn drops_of_objects_may_use_names() {
        let names = Arc::new(Names::default());
        names.put("x", &listing(&names));
        let last = listing(&names);
        // The names have the only reference to the object that is replaced here.
        names.put("x", &last);
        names.remove("x", &last);
        drop(last);
        assert_eq!(names.list(), "");
    }
}
