//! The names by which objects are exported.

use crate::types::agile::Agile;
use crate::types::error::{Result, code};
use crate::types::registry::InterfaceInfo;
use crate::types::threads::lock;
use obvia_via::provider::shm::Listener;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Write;
use std::sync::{Arc, Mutex};
use windows_core::IUnknown;

/// One exported name.
pub(crate) struct Name {
    object: Agile<IUnknown>,
    info: &'static InterfaceInfo,
    _listener: Option<Arc<Listener>>,
}

impl Name {
    pub(crate) fn new(object: Agile<IUnknown>, info: &'static InterfaceInfo, listener: Option<Arc<Listener>>) -> Self {
        Self { object, info, _listener: listener }
    }
}

/// The exported names of a process.
#[derive(Default)]
pub(crate) struct Names(Mutex<HashMap<String, Name>>);

impl Names {
    /// Adds a name, or replaces its object.
    pub(crate) fn put(&self, name: &str, entry: Name) {
        lock(&self.0).insert(name.to_owned(), entry);
    }

    /// Adds a name. Returns false where it is exported already.
    pub(crate) fn put_new(&self, name: &str, entry: Name) -> bool {
        match lock(&self.0).entry(name.to_owned()) {
            Entry::Occupied(_) => false,
            Entry::Vacant(place) => {
                place.insert(entry);
                true
            }
        }
    }

    /// Removes a name. The result must be dropped while no lock is held, since its drop runs
    /// programs' code.
    pub(crate) fn remove(&self, name: &str) -> Option<Name> {
        lock(&self.0).remove(name)
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
