//! Exports: the objects of this process that others hold references to.
//!
//! An entry is one interface pointer of one object. It lives as long as somebody holds a reference to it. References are counted for
//! each client: those of a process of obvia's are dropped at once when it ends, those of other peers when nobody pings the object.

mod data;

pub(crate) use data::Keeping;

use crate::agile::Agile;
use crate::error::{Error, Result, code};
use crate::objref;
use crate::orpc::object_exporter::ComplexPing;
use crate::orpc::{Client, Dropped, Limits, PingAnswer, Pinging, References, Refs};
use crate::registry::{InterfaceInfo, refuse_rivals};
use crate::runtime::{DRAWS, draw_set, janitor};
use crate::stub::Stubs;
use data::Data;
use obvia_rpc::object_table::SharedTable;
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::TargetId;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use windows_core::{GUID, IUnknown, Interface};

/// What a call is dispatched to: the interface pointer and the stubs for its interface.
#[derive(Clone)]
pub(crate) struct Target {
    /// A pointer of the interface, counted.
    pub(crate) object: Agile<IUnknown>,
    /// The stubs of its interface.
    pub(crate) stubs: Stubs,
    /// The name of its interface.
    pub(crate) interface: &'static str,
    /// The object's: the same for all of its interfaces.
    pub(crate) identity: usize,
}

impl Target {
    /// The interface pointer as the stubs take it.
    pub(crate) fn pointer(&self) -> *mut c_void {
        self.object.get().as_raw()
    }
}

struct Entry {
    identity: usize,
    info: &'static InterfaceInfo,
}

struct Books {
    /// Those that somebody refers to.
    entries: HashMap<TargetId, Entry>,
    /// Object and interface to entry.
    targets: HashMap<(usize, u128), TargetId>,
    /// Object to OID, and how many entries it has.
    oids: HashMap<usize, (u64, usize)>,
    last_oid: u64,
    /// What was marshaled for whoever unmarshals it, by the entry that stands for it.
    data: HashMap<TargetId, Data>,
    /// Numbers for such data that has no entry.
    last_weak: u32,
    /// Who refers to them, by IPID and OID.
    references: References,
}

impl Books {
    /// Forgets interface pointers that nobody refers to any more. Returns where they are in the table.
    fn forget_all(&mut self, dropped: impl IntoIterator<Item = Dropped>) -> Vec<(u32, u32)> {
        let ipids = dropped.into_iter().flat_map(|dropped| dropped.ipids);
        let targets = ipids.map(|ipid| objref::split_ipid(&ipid).0);
        targets
            .map(|target| {
                self.forget(target);
                (target.index, target.generation)
            })
            .collect()
    }

    fn forget(&mut self, target: TargetId) {
        let Some(entry) = self.entries.remove(&target) else { return };
        self.data.remove(&target);
        let key = (entry.identity, entry.info.iid.to_u128());
        // Marshaled data has an entry beside the usual one.
        if self.targets.get(&key) == Some(&target) {
            self.targets.remove(&key);
        }
        if let Some(known) = self.oids.get_mut(&entry.identity) {
            known.1 -= 1;
            if known.1 == 0 {
                self.oids.remove(&entry.identity);
            }
        }
    }
}

/// The table of exported interface pointers, and who holds them.
pub(crate) struct Exports {
    /// Read by every dispatch; written when entries come and go.
    pub(crate) table: SharedTable<Target>,
    oxid: u64,
    books: Mutex<Books>,
}

/// An entry that a reference was taken to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exported {
    pub(crate) oid: u64,
    pub(crate) target: TargetId,
}

/// A reference that only who took it can give back.
const LOCK: Refs = Refs { public: 0, private: 1 };

/// What no more references can be counted by.
fn refused(status: Status) -> Error {
    Error::new(code::E_OUTOFMEMORY, format!("no more references can be counted: {status}"))
}

impl Exports {
    /// Those of the process of this OXID: none yet.
    pub(crate) fn new(oxid: u64) -> Self {
        let books = Books {
            entries: HashMap::new(),
            targets: HashMap::new(),
            oids: HashMap::new(),
            // Different processes' objects have different OIDs: a resolver has those of many.
            last_oid: oxid & !u64::from(u32::MAX),
            data: HashMap::new(),
            last_weak: 0,
            references: References::new(Pinging::default(), Limits::default()),
        };
        Self { table: SharedTable::default(), oxid, books: Mutex::new(books) }
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ipid(&self, target: TargetId) -> GUID {
        objref::ipid(target, self.oxid)
    }

    /// Counts `refs` references for `holder` on an object's interface, making the entry where there is none.
    pub(crate) fn add(
        &self,
        object: &IUnknown,
        info: &'static InterfaceInfo,
        holder: Client,
        refs: u64,
    ) -> Result<Exported> {
        self.add_refs(object, info, holder, Refs::public(refs))
    }

    /// The same, of public and of private ones.
    fn add_refs(
        &self,
        object: &IUnknown,
        info: &'static InterfaceInfo,
        holder: Client,
        refs: Refs,
    ) -> Result<Exported> {
        let added = self.enter(object, info, holder, refs)?;
        if let Client::Peer(_) = holder {
            // There is one more to look after.
            janitor::wake();
        }
        Ok(added)
    }

    fn enter(&self, object: &IUnknown, info: &'static InterfaceInfo, holder: Client, refs: Refs) -> Result<Exported> {
        let interface = query(object, info)?;
        let identity = object.cast::<IUnknown>()?.as_raw().addr();
        let now = Instant::now();
        let mut books = self.books();
        if let Some(&target) = books.targets.get(&(identity, info.iid.to_u128())) {
            let oid = books.oids.get(&identity).map_or(0, |known| known.0);
            books.references.hand_out(oid, self.ipid(target), holder, refs, now).map_err(refused)?;
            return Ok(Exported { oid, target });
        }
        let found = self.insert(&mut books, &interface, Entry { identity, info }, holder, refs)?;
        books.targets.insert((identity, info.iid.to_u128()), found.target);
        Ok(found)
    }

    /// Makes an entry, with references of `holder`.
    fn insert(
        &self,
        books: &mut Books,
        interface: &IUnknown,
        entry: Entry,
        holder: Client,
        refs: Refs,
    ) -> Result<Exported> {
        let Entry { identity, info } = entry;
        let (index, generation) = self.table.insert(Target {
            object: Agile::new(interface)?,
            stubs: info.stubs,
            interface: info.name,
            identity,
        });
        let target = TargetId { index, generation };
        let fresh = books.last_oid + 1;
        let oid = books.oids.get(&identity).map_or(fresh, |known| known.0);
        if let Err(status) = books.references.hand_out(oid, self.ipid(target), holder, refs, Instant::now()) {
            // Not the last reference: whoever asks has one.
            drop(self.table.remove(vec![(index, generation)]));
            return Err(refused(status));
        }
        books.last_oid = books.last_oid.max(oid);
        books.oids.entry(identity).or_insert((oid, 0)).1 += 1;
        books.entries.insert(target, entry);
        Ok(Exported { oid, target })
    }

    /// Counts a reference that `holder` alone can give back, so that an object's interface stays until it does or is gone.
    pub(crate) fn lock_for(&self, object: &IUnknown, info: &'static InterfaceInfo, holder: Client) -> Result<()> {
        self.add_refs(object, info, holder, LOCK).map(drop)
    }

    /// Takes such a reference back, if there is one.
    pub(crate) fn unlock_for(&self, object: &IUnknown, info: &'static InterfaceInfo, holder: Client) {
        let Ok(identity) = object.cast::<IUnknown>() else { return };
        let target = self.books().targets.get(&(identity.as_raw().addr(), info.iid.to_u128())).copied();
        self.release_refs(holder, target.map(|target| (target, LOCK)));
    }

    /// Counts references for `holder` on an entry that is there.
    pub(crate) fn add_to(&self, target: TargetId, holder: Client, refs: Refs) -> Result<()> {
        let added = self.books().references.add(&self.ipid(target), holder, refs, Instant::now());
        added.ok_or(code::RPC_E_DISCONNECTED)?.map_err(refused)
    }

    /// Takes references back. More than the holder has counts as all it has.
    pub(crate) fn release(&self, holder: Client, batch: impl IntoIterator<Item = (TargetId, u64)>) {
        self.release_refs(holder, batch.into_iter().map(|(target, refs)| (target, Refs::public(refs))));
    }

    /// The same, of public and of private ones.
    pub(crate) fn release_refs(&self, holder: Client, batch: impl IntoIterator<Item = (TargetId, Refs)>) {
        let mut books = self.books();
        let references = &mut books.references;
        let released =
            batch.into_iter().filter_map(|(target, refs)| references.release(&self.ipid(target), holder, refs));
        let released: Vec<_> = released.collect();
        let gone = books.forget_all(released);
        let gone = self.table.remove(gone);
        // Dropping an object runs its author's code: never under the lock.
        drop(books);
        drop(gone);
    }

    /// Takes back every reference of a process that is gone. Returns what nobody refers to any more, to be dropped without locks.
    #[must_use]
    pub(crate) fn drop_client(&self, oxid: u64) -> Vec<Target> {
        let mut books = self.books();
        let dropped = books.references.drop_client(Client::Process(oxid), Instant::now());
        let gone = books.forget_all(dropped);
        self.table.remove(gone)
    }

    /// How many interface pointers a process refers to.
    pub(crate) fn held_by(&self, oxid: u64) -> usize {
        self.books().references.held_by(Client::Process(oxid))
    }

    /// The processes that refer to something.
    pub(crate) fn processes(&self) -> Vec<u64> {
        self.books().references.processes().collect()
    }

    /// How many interface pointers others refer to.
    pub(crate) fn count(&self) -> usize {
        self.books().entries.len()
    }

    /// How long whoever refers to objects may not be heard of.
    pub(crate) fn patience(&self) -> Duration {
        self.books().references.pinging().patience()
    }

    /// Has peers ping as often as this.
    pub(crate) fn set_pinging(&self, pinging: Pinging) {
        self.books().references.set_pinging(pinging);
    }

    /// When [`Self::collect`] may have something to do next.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.books().references.due()
    }

    /// Takes back what peers hold that have not pinged for too long. Returns what nobody refers to any more.
    #[must_use]
    pub(crate) fn collect(&self) -> Vec<Target> {
        let mut books = self.books();
        let dropped = books.references.collect(Instant::now());
        let gone = books.forget_all(dropped);
        self.table.remove(gone)
    }

    /// A peer pings all objects of a set.
    pub(crate) fn simple_ping(&self, set: u64) -> Status {
        self.books().references.simple_ping(set, Instant::now())
    }

    /// A peer changes a set, or makes one.
    pub(crate) fn complex_ping(&self, ping: &ComplexPing, client: Client) -> Result<PingAnswer> {
        let references = &mut self.books().references;
        let mut fresh = draw_set()?;
        // An identifier has few bits. Where most are taken, the last one drawn is refused.
        for _ in 0..DRAWS {
            if !references.has_set(fresh) {
                break;
            }
            fresh = draw_set()?;
        }
        Ok(references.complex_ping(ping, client, fresh, Instant::now()))
    }

    /// A peer that has to ping calls an interface pointer, which is as good (MS-DCOM 3.1.1.6.2).
    pub(crate) fn note_call(&self, target: TargetId) {
        let ipid = self.ipid(target);
        self.books().references.note_call(&ipid, Instant::now());
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
    refuse_rivals(&info.iid)?;
    query_by(object, &info.iid)
}

/// The same, by its IID alone.
pub(crate) fn query_by(object: &IUnknown, iid: &GUID) -> Result<IUnknown> {
    let mut pointer = std::ptr::null_mut();
    // SAFETY: a QueryInterface with a place for one pointer.
    let result = unsafe { object.query(iid, &mut pointer) };
    if result.is_err() {
        return Err(result.into());
    }
    if pointer.is_null() {
        return Err(code::E_NOINTERFACE.into());
    }
    // SAFETY: the query succeeded, so this is a counted interface pointer; every one begins with IUnknown's methods.
    Ok(unsafe { IUnknown::from_raw(pointer) })
}
