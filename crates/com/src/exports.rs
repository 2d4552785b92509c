//! Exports: the objects of this process that others hold references to.
//!
//! An entry is one interface pointer of one object. It lives as long as somebody holds a reference to it. References are counted for each client process, so that those of a client that ends can be dropped at once.

use crate::agile::Agile;
use crate::error::{Result, code};
use crate::registry::InterfaceInfo;
use crate::stub::Stubs;
use obvia_rpc::object_table::SharedTable;
use obvia_rpc::vi_call::TargetId;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};
use windows_core::{IUnknown, Interface};

/// What a call is dispatched to: the interface pointer and the stubs for its interface.
#[derive(Clone)]
pub(crate) struct Target {
    /// A pointer of the interface, counted.
    pub(crate) object: Agile<IUnknown>,
    /// The stubs of its interface.
    pub(crate) stubs: Stubs,
}

impl Target {
    /// The interface pointer as the stubs take it.
    pub(crate) fn pointer(&self) -> *mut c_void {
        self.object.get().as_raw()
    }
}

/// Who holds references: a process, by its OXID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Client(pub(crate) u64);

struct Entry {
    identity: usize,
    info: &'static InterfaceInfo,
    refs: HashMap<Client, u64>,
}

#[derive(Default)]
struct Books {
    entries: HashMap<TargetId, Entry>,
    /// Object and interface to entry.
    targets: HashMap<(usize, u128), TargetId>,
    /// Object to OID, and how many entries it has.
    oids: HashMap<usize, (u64, usize)>,
    last_oid: u64,
}

impl Books {
    fn forget(&mut self, target: TargetId) {
        let Some(entry) = self.entries.remove(&target) else { return };
        self.targets.remove(&(entry.identity, entry.info.iid.to_u128()));
        if let Some(known) = self.oids.get_mut(&entry.identity) {
            known.1 -= 1;
            if known.1 == 0 {
                self.oids.remove(&entry.identity);
            }
        }
    }
}

/// The table of exported interface pointers, and who holds them.
#[derive(Default)]
pub(crate) struct Exports {
    /// Read by every dispatch; written when entries come and go.
    pub(crate) table: SharedTable<Target>,
    books: Mutex<Books>,
}

/// An entry that a reference was taken to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exported {
    pub(crate) oid: u64,
    pub(crate) target: TargetId,
}

impl Exports {
    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts `refs` references for `holder` on an object's interface, making the entry where there is none.
    pub(crate) fn add(
        &self,
        object: &IUnknown,
        info: &'static InterfaceInfo,
        holder: Client,
        refs: u64,
    ) -> Result<Exported> {
        let interface = query(object, info)?;
        let identity = object.cast::<IUnknown>()?.as_raw().addr();
        let mut books = self.books();
        if let Some(&target) = books.targets.get(&(identity, info.iid.to_u128())) {
            let oid = books.oids.get(&identity).map_or(0, |known| known.0);
            if let Some(entry) = books.entries.get_mut(&target) {
                *entry.refs.entry(holder).or_insert(0) += refs;
            }
            return Ok(Exported { oid, target });
        }
        let entry = Target { object: Agile::new(&interface)?, stubs: info.stubs };
        let (index, generation) = self.table.insert(entry);
        let target = TargetId { index, generation };
        let fresh = books.last_oid + 1;
        let known = books.oids.entry(identity).or_insert((fresh, 0));
        known.1 += 1;
        let oid = known.0;
        books.last_oid = books.last_oid.max(oid);
        books.targets.insert((identity, info.iid.to_u128()), target);
        books.entries.insert(target, Entry { identity, info, refs: HashMap::from([(holder, refs)]) });
        Ok(Exported { oid, target })
    }

    /// Counts references for `holder` on an entry that is there.
    pub(crate) fn add_to(&self, target: TargetId, holder: Client, refs: u64) -> Result<()> {
        let mut books = self.books();
        let entry = books.entries.get_mut(&target).ok_or(code::RPC_E_DISCONNECTED)?;
        *entry.refs.entry(holder).or_insert(0) += refs;
        Ok(())
    }

    /// Takes references back. More than the holder has counts as all it has.
    pub(crate) fn release(&self, holder: Client, batch: impl IntoIterator<Item = (TargetId, u64)>) {
        // Dropping an object runs its author's code: never under the lock.
        drop(self.take_back(holder, batch));
    }

    /// Takes references back. Returns what nobody refers to any more.
    fn take_back(&self, holder: Client, batch: impl IntoIterator<Item = (TargetId, u64)>) -> Vec<Target> {
        let mut books = self.books();
        let mut unheld = Vec::new();
        for (target, refs) in batch {
            let Some(entry) = books.entries.get_mut(&target) else {
                continue;
            };
            if let Some(held) = entry.refs.get_mut(&holder) {
                *held = held.saturating_sub(refs);
                if *held == 0 {
                    entry.refs.remove(&holder);
                }
            }
            if entry.refs.is_empty() {
                books.forget(target);
                unheld.push((target.index, target.generation));
            }
        }
        self.table.remove(unheld)
    }

    /// Takes back every reference of a client that is gone. Returns what nobody refers to any more, to be dropped without locks.
    #[must_use]
    pub(crate) fn drop_client(&self, oxid: u64) -> Vec<Target> {
        let holder = Client(oxid);
        let held: Vec<_> = {
            let books = self.books();
            let held = books.entries.iter().filter(|(_, entry)| entry.refs.contains_key(&holder));
            held.map(|(&target, _)| (target, u64::MAX)).collect()
        };
        self.take_back(holder, held)
    }

    /// The entry's interface, as long as it is there.
    pub(crate) fn interface(&self, target: TargetId) -> Option<&'static InterfaceInfo> {
        self.books().entries.get(&target).map(|entry| entry.info)
    }

    /// The entry's interface pointer and stubs, as long as it is there.
    pub(crate) fn get(&self, target: TargetId) -> Result<Target> {
        Ok(self.table.get(target.index, target.generation).map_err(|_| code::RPC_E_DISCONNECTED)?)
    }
}

/// Asks an object for an interface by its description.
pub(crate) fn query(object: &IUnknown, info: &InterfaceInfo) -> Result<IUnknown> {
    let mut pointer = std::ptr::null_mut();
    // SAFETY: a QueryInterface with a place for one pointer.
    let result = unsafe { object.query(&info.iid, &mut pointer) };
    if result.is_err() {
        return Err(result.into());
    }
    if pointer.is_null() {
        return Err(code::E_NOINTERFACE.into());
    }
    // SAFETY: the query succeeded, so this is a counted interface pointer; every one begins with IUnknown's methods.
    Ok(unsafe { IUnknown::from_raw(pointer) })
}
