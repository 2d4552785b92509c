//! The names by which objects are exported.

use crate::types::agile::Agile;
use crate::types::error::{Result, code};
use crate::types::registry::InterfaceInfo;
use crate::types::threads::lock;
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Mutex;
use windows_core::IUnknown;

/// An exported name, with its object.
pub(crate) struct Name {
    object: Agile<IUnknown>,
    info: &'static InterfaceInfo,
}

impl Name {
    pub(crate) fn new(object: Agile<IUnknown>, info: &'static InterfaceInfo) -> Self {
        Self { object, info }
    }
}

/// The exported names of a process.
#[derive(Default)]
pub(crate) struct Names(Mutex<HashMap<String, Name>>);

impl Names {
    /// Adds a name. Returns false if the name is exported already.
    pub(crate) fn add(&self, name: &str, added: Name) -> bool {
        let mut names = lock(&self.0);
        let is_new = !names.contains_key(name);
        if is_new {
            names.insert(name.to_owned(), added);
        }
        // If the name exists, `added` is dropped after the guard, since parameters are dropped
        // last.
        is_new
    }

    /// Removes a name.
    pub(crate) fn remove(&self, name: &str) {
        let removed = lock(&self.0).remove(name);
        // The object's drop runs programs' code, which may use names.
        drop(removed);
    }

    /// Returns the object that is exported by a name.
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
    use crate::types::agile::Agile;
    use std::sync::Arc;
    use windows_core::IUnknown;

    /// An object whose drop uses the names.
    #[obvia::object()]
    struct Listing(Arc<Names>);

    impl Drop for Listing {
        fn drop(&mut self) {
            self.0.list();
        }
    }

    fn listing(names: &Arc<Names>) -> Name {
        let object = IUnknown::from(Listing(Arc::clone(names)));
        Name::new(Agile::new(&object).unwrap(), &UNKNOWN_INFO)
    }

    #[test]
    fn objects_can_use_names_while_they_are_dropped() {
        let names = Arc::new(Names::default());
        assert!(names.add("x", listing(&names)));
        // The names have the only reference to each of the objects.
        assert!(!names.add("x", listing(&names)));
        names.remove("x");
        assert_eq!(names.list(), "");
    }
}
