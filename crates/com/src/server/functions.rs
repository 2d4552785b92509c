//! The plain interfaces that this process performs. The object that performs a plain interface is
//! its performer.

use crate::types::agile::Agile;
use crate::types::error::{Error, Result, code};
use crate::types::registry::InterfaceInfo;
use crate::types::threads::lock;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};
use windows_core::{GUID, IUnknown};

/// The key of a registration: an interface in a major version, and an object UUID, or 0 for all
/// objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) interface: u128,
    pub(crate) major: u16,
    pub(crate) object: u128,
}

pub(crate) struct Entry {
    pub(crate) performer: Agile<IUnknown>,
    pub(crate) info: &'static InterfaceInfo,
}

/// The plain interfaces that this process performs, with their performers.
#[derive(Default)]
pub(crate) struct Functions(Mutex<HashMap<Key, Entry>>);

impl Functions {
    pub(crate) fn lock(&self) -> MutexGuard<'_, HashMap<Key, Entry>> {
        lock(&self.0)
    }

    /// Returns the performer of a plain interface for an object UUID, which is 0 if the caller
    /// names no object. A registration for the object UUID takes precedence over the registration
    /// for all objects. The minor version of the performer is at least the requested one (C706
    /// 4.2.4.5).
    ///
    /// # Errors
    ///
    /// RPC_S_UNKNOWN_IF where there is no such registration.
    pub(crate) fn find(
        &self,
        interface: u128,
        (major, minor): (u16, u16),
        object: u128,
    ) -> Result<(Agile<IUnknown>, &'static InterfaceInfo)> {
        let entries = self.lock();
        let mut keys = [object, 0].into_iter().map(|object| Key { interface, major, object });
        let found = keys.find_map(|key| entries.get(&key).filter(|entry| entry.info.version.1 >= minor));
        let found =
            found.ok_or_else(|| Error::new(code::RPC_S_UNKNOWN_IF, "the server does not know the interface"))?;
        Ok((found.performer.clone(), found.info))
    }

    /// Returns all registrations with their object UUIDs, where 0 means all objects.
    pub(crate) fn all(&self) -> Vec<(&'static InterfaceInfo, u128)> {
        let mut all: Vec<_> = self.lock().iter().map(|(key, entry)| (entry.info, key.object)).collect();
        all.sort_by_key(|(info, object)| (info.name, info.iid.to_u128(), info.version, *object));
        all
    }

    /// Returns the registrations as text: one per line, with name, UUID, version and object UUID
    /// separated by tabs.
    pub(crate) fn list(&self) -> String {
        let line = |(info, object): (&InterfaceInfo, u128)| {
            let (major, minor) = info.version;
            format!("{}\t{:?}\t{major}.{minor}\t{:?}\n", info.name, info.iid, GUID::from_u128(object))
        };
        self.all().into_iter().map(line).collect()
    }

    /// Returns the performer for a name that [`name_of`] made.
    pub(crate) fn named(&self, name: &str) -> Result<Agile<IUnknown>> {
        let malformed = || Error::new(code::E_INVALIDARG, "the name of an interface is malformed");
        let mut words = name.split('/').map(|word| u128::from_str_radix(word, 16));
        let mut word = || words.next().and_then(std::result::Result::ok).ok_or_else(malformed);
        let (interface, version, object) = (word()?, word()?, word()?);
        let version = ((version >> 16) as u16, version as u16);
        Ok(self.find(interface, version, object)?.0)
    }
}

/// The prefix of names that denote plain interfaces. Exported names never begin with this prefix.
pub(crate) const PREFIX: char = '/';

/// Returns the name by which clients find the performer of a plain interface.
pub(crate) fn name_of(info: &InterfaceInfo, object: u128) -> String {
    let version = u32::from(info.version.0) << 16 | u32::from(info.version.1);
    format!("{PREFIX}{:x}/{version:x}/{object:x}", info.iid.to_u128())
}
