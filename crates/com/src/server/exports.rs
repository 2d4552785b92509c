//! Exports: the objects of this process to which other processes hold references.
//!
//! An entry is one interface pointer of one object. It lives while any client holds a reference to
//! it. References are counted for each client. The references of an obvia process are dropped at
//! once when the process ends. The references of other peers are dropped when the object's pings
//! cease.

mod data;

pub(crate) use data::Keeping;

use crate::orpc::object_exporter::ComplexPing;
use crate::orpc::{Client, ClientNumber, Dropped, Limits, PingAnswer, Pinging, References, Refs, SourcedClient};
use crate::protocol::objref;
use crate::protocol::objref::Exported;
use crate::types::agile::Agile;
use crate::types::error::{Error, Result, code};
use crate::types::identity::{DRAWS, draw_set};
use crate::types::registry::{InterfaceInfo, Stubs, refuse_rivals};
use crate::types::upkeep;
use data::Data;
use obvia_rpc::object_table::{Removed, SharedTable};
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::TargetId;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use windows_core::{GUID, IUnknown, Interface};

/// The target of a call: the interface pointer and the stubs for its interface.
#[derive(Clone)]
pub(crate) struct Target {
    /// A counted pointer of the interface.
    pub(crate) object: Agile<IUnknown>,
    /// The stubs of the interface.
    pub(crate) stubs: Stubs,
    /// The name of the interface.
    pub(crate) interface: &'static str,
    /// The identity of the object, which is the same for all of its interfaces.
    pub(crate) identity: usize,
}

impl Target {
    /// Returns the interface pointer for the stubs.
    pub(crate) fn pointer(&self) -> *mut c_void {
        self.object.get().as_raw()
    }
}

struct Entry {
    identity: usize,
    info: &'static InterfaceInfo,
}

/// The tables of the exports, which share a lock.
struct Tables {
    /// The entries, by target.
    entries: HashMap<TargetId, Entry>,
    /// The target for each object and interface.
    targets: HashMap<(usize, u128), TargetId>,
    /// The OID and the number of entries of each object.
    oids: HashMap<usize, (u64, usize)>,
    last_oid: u64,
    /// The marshaled data, by the target of its entry.
    data: HashMap<TargetId, Data>,
    /// The references to the entries, by IPID and OID.
    references: References,
}

impl Tables {
    /// Removes the entries that have no more references. Returns their indices and generations in
    /// the object table.
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
        // If the entry is that of marshaled data, `targets` has the object's usual entry, which
        // stays.
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

/// The table of exported interface pointers, and the references to them.
pub(crate) struct Exports {
    /// The object table. Every dispatch reads it. It changes when entries are added or removed.
    pub(crate) table: SharedTable<Target>,
    oxid: u64,
    tables: Mutex<Tables>,
}

/// A reference that only its owner can release.
const LOCK: Refs = Refs { public: 0, private: 1 };

/// Returns the error for a limit of the reference tables.
fn refused(status: Status) -> Error {
    Error::new(code::E_OUTOFMEMORY, format!("the limit of references is reached: {status}"))
}

impl Exports {
    /// Makes an empty table for the process of this OXID.
    pub(crate) fn new(oxid: u64) -> Self {
        let tables = Tables {
            entries: HashMap::new(),
            targets: HashMap::new(),
            oids: HashMap::new(),
            // The upper half of an OID equals that of the process's OXID. Thus the objects of
            // different processes have different OIDs, as resolvers for many processes require.
            last_oid: oxid & !u64::from(u32::MAX),
            data: HashMap::new(),
            references: References::new(Pinging::default(), Limits::default()),
        };
        Self { table: SharedTable::default(), oxid, tables: Mutex::new(tables) }
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ipid(&self, target: TargetId) -> GUID {
        objref::ipid(target, self.oxid)
    }

    /// Counts `refs` public references for `holder` to an object's interface. Makes the entry if
    /// there is none.
    pub(crate) fn add(
        &self,
        object: &IUnknown,
        info: &'static InterfaceInfo,
        holder: Client,
        refs: u64,
    ) -> Result<Exported> {
        self.add_refs(object, info, holder, Refs::public(refs))
    }

    /// Counts public and private references for `holder` to an object's interface.
    fn add_refs(
        &self,
        object: &IUnknown,
        info: &'static InterfaceInfo,
        holder: Client,
        refs: Refs,
    ) -> Result<Exported> {
        let added = self.enter(object, info, holder, refs)?;
        if let Client::Peer(_) = holder {
            // The janitor is woken because it must collect the references if they expire without
            // pings.
            upkeep::wake();
        }
        Ok(added)
    }

    fn enter(&self, object: &IUnknown, info: &'static InterfaceInfo, holder: Client, refs: Refs) -> Result<Exported> {
        let interface = query(object, info)?;
        let identity = object.cast::<IUnknown>()?.as_raw().addr();
        let now = Instant::now();
        let mut tables = self.tables();
        if let Some(&target) = tables.targets.get(&(identity, info.iid.to_u128())) {
            let oid = tables.oids.get(&identity).map_or(0, |known| known.0);
            tables.references.hand_out(oid, self.ipid(target), holder, refs, now).map_err(refused)?;
            return Ok(Exported { oid, target });
        }
        let (found, mut tables) = self.insert(tables, &interface, Entry { identity, info }, holder, refs)?;
        tables.targets.insert((identity, info.iid.to_u128()), found.target);
        Ok(found)
    }

    /// Makes an entry with references of `holder`. On success, also returns the guard of the
    /// tables.
    fn insert<'a>(
        &self,
        mut tables: MutexGuard<'a, Tables>,
        interface: &IUnknown,
        entry: Entry,
        holder: Client,
        refs: Refs,
    ) -> Result<(Exported, MutexGuard<'a, Tables>)> {
        let Entry { identity, info } = entry;
        let (index, generation) = self.table.insert(Target {
            object: Agile::new(interface)?,
            stubs: info.stubs,
            interface: info.name,
            identity,
        });
        let target = TargetId { index, generation };
        let fresh = tables.last_oid + 1;
        let oid = tables.oids.get(&identity).map_or(fresh, |known| known.0);
        if let Err(status) = tables.references.hand_out(oid, self.ipid(target), holder, refs, Instant::now()) {
            drop(tables);
            // The entry is removed in the usual way, which tells connections: a client may have
            // guessed the number of the target and cached the target.
            drop(self.table.remove([(index, generation)]));
            return Err(refused(status));
        }
        tables.last_oid = tables.last_oid.max(oid);
        tables.oids.entry(identity).or_insert((oid, 0)).1 += 1;
        tables.entries.insert(target, entry);
        Ok((Exported { oid, target }, tables))
    }

    /// Counts a reference that only `holder` can release, so that the object's interface stays
    /// until the holder releases it or is gone.
    pub(crate) fn lock_for(&self, object: &IUnknown, info: &'static InterfaceInfo, holder: Client) -> Result<()> {
        self.add_refs(object, info, holder, LOCK).map(drop)
    }

    /// Releases a reference that [`Self::lock_for`] has counted, if there is one.
    pub(crate) fn unlock_for(&self, object: &IUnknown, info: &'static InterfaceInfo, holder: Client) {
        let Ok(identity) = object.cast::<IUnknown>() else { return };
        let target = self.tables().targets.get(&(identity.as_raw().addr(), info.iid.to_u128())).copied();
        self.release_refs(holder, target.map(|target| (target, LOCK)));
    }

    /// Counts references for `holder` to an existing entry.
    pub(crate) fn add_to(&self, target: TargetId, holder: Client, refs: Refs) -> Result<()> {
        let added = self.tables().references.add(&self.ipid(target), holder, refs, Instant::now());
        added.ok_or(code::RPC_E_DISCONNECTED)?.map_err(refused)
    }

    /// Counts references to an existing entry that `giver` passes on to a process.
    ///
    /// # Errors
    ///
    /// RPC_E_DISCONNECTED if there is no such entry. E_OUTOFMEMORY at a limit.
    pub(crate) fn pass_on(&self, target: TargetId, (giver, to): (SourcedClient, Client), refs: Refs) -> Result<()> {
        let passed = self.tables().references.pass_on(&self.ipid(target), (giver, to), refs, Instant::now());
        let text = "the limit of references for processes that are not connected is reached: let the receivers connect";
        passed.ok_or(code::RPC_E_DISCONNECTED)?.map_err(|_| Error::new(code::E_OUTOFMEMORY, text))
    }

    /// Records that a process has connected.
    pub(crate) fn connected(&self, process: ClientNumber) {
        self.tables().references.connected(Client::Process(process));
    }

    /// Moves the references of one client number to another number of the same process. Returns
    /// false, and moves no references, if they are too many for one client.
    pub(crate) fn merge_clients(&self, from: ClientNumber, to: ClientNumber) -> bool {
        self.tables().references.merge(Client::Process(from), Client::Process(to), Instant::now())
    }

    /// Releases public references. References that the holder does not have are ignored.
    pub(crate) fn release(&self, holder: Client, batch: impl IntoIterator<Item = (TargetId, u64)>) {
        self.release_refs(holder, batch.into_iter().map(|(target, refs)| (target, Refs::public(refs))));
    }

    /// Releases public and private references.
    pub(crate) fn release_refs(&self, holder: Client, batch: impl IntoIterator<Item = (TargetId, Refs)>) {
        let mut tables = self.tables();
        let references = &mut tables.references;
        let released =
            batch.into_iter().filter_map(|(target, refs)| references.release(&self.ipid(target), holder, refs));
        let released: Vec<_> = released.collect();
        let gone = tables.forget_all(released);
        let gone = self.table.remove(gone);
        // The drop of an object runs program code, which must not run under the lock.
        drop(tables);
        drop(gone);
    }

    /// Drops all references of a process that is gone. Returns the targets without further
    /// references, which must be dropped while no lock is held.
    pub(crate) fn drop_client(&self, process: ClientNumber) -> Removed<Target> {
        let mut tables = self.tables();
        let dropped = tables.references.drop_client(Client::Process(process), Instant::now());
        let gone = tables.forget_all(dropped);
        self.table.remove(gone)
    }

    /// Returns the number of interface pointers to which a process has references.
    pub(crate) fn held_by(&self, process: ClientNumber) -> usize {
        self.tables().references.held_by(Client::Process(process))
    }

    /// Whether a client has references to an entry.
    pub(crate) fn is_holder(&self, target: TargetId, client: Client) -> bool {
        self.tables().references.is_holder(&self.ipid(target), client)
    }

    /// Returns the processes that have references.
    pub(crate) fn processes(&self) -> Vec<ClientNumber> {
        self.tables().references.processes().collect()
    }

    /// Returns the number of interface pointers to which other processes have references.
    pub(crate) fn count(&self) -> usize {
        self.tables().entries.len()
    }

    /// Returns the time for which a client may be silent before its references expire.
    pub(crate) fn patience(&self) -> Duration {
        self.tables().references.pinging().patience()
    }

    /// Sets the pinging parameters of peers.
    pub(crate) fn set_pinging(&self, pinging: Pinging) {
        self.tables().references.set_pinging(pinging);
    }

    /// Returns the time at which [`Self::collect`] may next have work, if any.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.tables().references.due()
    }

    /// Drops the expired references of peers. Returns the targets without further references.
    pub(crate) fn collect(&self) -> Removed<Target> {
        let mut tables = self.tables();
        let dropped = tables.references.collect(Instant::now());
        let gone = tables.forget_all(dropped);
        self.table.remove(gone)
    }

    /// Performs SimplePing of a peer.
    pub(crate) fn simple_ping(&self, set: u64) -> Status {
        self.tables().references.simple_ping(set, Instant::now())
    }

    /// Performs ComplexPing of a peer.
    pub(crate) fn complex_ping(&self, ping: &ComplexPing, pinger: SourcedClient) -> Result<PingAnswer> {
        let references = &mut self.tables().references;
        let mut fresh = draw_set()?;
        // An identifier has 16 bits. If most identifiers are taken, all drawn identifiers may be in
        // use. The ping is then refused.
        for _ in 0..DRAWS {
            if !references.has_set(fresh) {
                break;
            }
            fresh = draw_set()?;
        }
        Ok(references.complex_ping(ping, pinger, fresh, Instant::now()))
    }

    /// Records a call of a peer that must ping, which counts as a ping (MS-DCOM 3.1.1.6.2).
    pub(crate) fn note_call(&self, target: TargetId) {
        let ipid = self.ipid(target);
        self.tables().references.note_call(&ipid, Instant::now());
    }

    /// Returns the interface of an entry, if the entry exists.
    pub(crate) fn interface(&self, target: TargetId) -> Option<&'static InterfaceInfo> {
        self.tables().entries.get(&target).map(|entry| entry.info)
    }

    /// Returns the interface pointer and the stubs of an entry, if the entry exists.
    pub(crate) fn get(&self, target: TargetId) -> Result<Target> {
        Ok(self.table.get(target.index, target.generation).map_err(|_| code::RPC_E_DISCONNECTED)?)
    }
}

/// Queries an object for an interface by its description.
pub(crate) fn query(object: &IUnknown, info: &InterfaceInfo) -> Result<IUnknown> {
    refuse_rivals(&info.iid)?;
    query_by(object, &info.iid)
}

/// Queries an object for an interface by its IID alone.
pub(crate) fn query_by(object: &IUnknown, iid: &GUID) -> Result<IUnknown> {
    let mut pointer = std::ptr::null_mut();
    // SAFETY: `pointer` has room for the pointer that QueryInterface stores.
    let result = unsafe { object.query(iid, &mut pointer) };
    if result.is_err() {
        return Err(result.into());
    }
    if pointer.is_null() {
        return Err(code::E_NOINTERFACE.into());
    }
    // SAFETY: the query succeeded, so the pointer is a counted interface pointer; every interface
    // begins with IUnknown's methods.
    Ok(unsafe { IUnknown::from_raw(pointer) })
}
