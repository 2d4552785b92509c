//! Marshaled data (CoMarshalInterface), whose unmarshaler is not known yet.
//!
//! The data has an entry of its own, whose IPID identifies the data. A client that must ping holds
//! the references to the entry, so that forgotten data expires. If the data is table-marshaled,
//! this process holds the references until the data is released. The unmarshaler gets references to
//! the object's usual entry. Weakly marshaled data, which does not keep its object alive, has no
//! entry: its number is outside of the object table.

use super::{Entry, Exported, Exports, Tables, query};
use crate::orpc::{Client, Refs};
use crate::types::agile::Agile;
use crate::types::error::{Error, Result, code};
use crate::types::identity;
use crate::types::registry::InterfaceInfo;
use crate::types::upkeep;
use crate::types::weak::weak_to;
use obvia_rpc::vi_call::TargetId;
use std::sync::MutexGuard;
use windows_core::{IUnknown, Interface, Weak};

/// The number of marshaled data, of all kinds, from which on the process adds no weakly marshaled
/// data.
const WEAK_MAX: usize = 1 << 16;
/// The lowest target index of weakly marshaled data. Lower indexes with generation 0 belong to the
/// runtime's own targets.
const WEAK_FIRST: u32 = 1 << 16;

/// Marshaled data, by the manner in which it is kept.
pub(super) enum Data {
    /// Data that is unmarshaled once. Until it is unmarshaled, this client holds the references to
    /// its entry.
    Once(Client),
    /// Table-marshaled data. This process itself holds the references to its entry until the data
    /// is released.
    Table,
    /// Weakly table-marshaled data, which has no entry: the object's identity, and a weak
    /// reference.
    Weak(usize, Weak<IUnknown>),
}

/// The manner in which marshaled data is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeping {
    /// The data is unmarshaled once. Until it is unmarshaled, this client holds the references to
    /// its entry.
    Once(Client),
    /// The data is kept until it is released.
    Table,
    /// The data is kept until it is released, but does not keep the object alive.
    Weak,
}

fn identity_of(object: &IUnknown) -> Result<usize> {
    Ok(object.cast::<IUnknown>()?.as_raw().addr())
}

fn spent() -> Error {
    Error::new(
        code::CO_E_OBJNOTCONNECTED,
        "the data has already been unmarshaled or released, or its object no longer exists",
    )
}

impl Exports {
    /// Makes marshaled data for an object's interface. `refs` is the number of references to the
    /// data's own entry: a client that is not an obvia process calls the object by the IPID of this
    /// entry.
    pub(crate) fn keep(
        &self,
        object: &IUnknown,
        info: &'static InterfaceInfo,
        keeping: Keeping,
        refs: u64,
    ) -> Result<Exported> {
        let interface = query(object, info)?;
        let identity = identity_of(object)?;
        let (holder, data) = match keeping {
            Keeping::Once(holder) => (holder, Data::Once(holder)),
            Keeping::Table => (Client::Table, Data::Table),
            Keeping::Weak => return self.keep_weakly(&interface, identity),
        };
        let tables = self.tables();
        let (found, mut tables) =
            self.insert(tables, &interface, Entry { identity, info }, holder, Refs::public(refs))?;
        tables.data.insert(found.target, data);
        drop(tables);
        // The janitor is woken because it must collect the references to the data if they expire.
        upkeep::wake();
        Ok(found)
    }

    fn keep_weakly(&self, interface: &IUnknown, identity: usize) -> Result<Exported> {
        // Any thread may unmarshal the data, so the object must be agile.
        let object = Agile::new(interface)?;
        let text = "the object does not support weak references, so it cannot be in a weak table";
        let weak = weak_to(object.get()).ok_or_else(|| Error::new(code::E_NOTIMPL, text))?;
        let mut tables = self.tables();
        if tables.data.len() >= WEAK_MAX {
            return Err(Error::new(code::E_OUTOFMEMORY, "the process has too much marshaled data"));
        }
        let known = tables.oids.get(&identity).map(|known| known.0);
        let oid = known.unwrap_or(tables.last_oid + 1);
        tables.last_oid = tables.last_oid.max(oid);
        let target = tables.fresh_weak()?;
        tables.data.insert(target, Data::Weak(identity, weak));
        Ok(Exported { oid, target })
    }

    /// Returns the object of marshaled data. The data is consumed unless it is table-marshaled.
    pub(crate) fn unmarshal(&self, data: TargetId) -> Result<IUnknown> {
        let tables = self.tables();
        let is_spent = match tables.data.get(&data).ok_or_else(spent)? {
            Data::Once(_) => true,
            Data::Table => false,
            Data::Weak(_, weak) => {
                let weak = weak.clone();
                // The upgrade runs the object's code, which must not run under the lock.
                drop(tables);
                return weak.upgrade().ok_or_else(spent);
            }
        };
        let object = self.get(data)?.object.get().clone();
        if is_spent {
            self.let_go(tables, data);
        }
        Ok(object)
    }

    /// Releases marshaled data.
    pub(crate) fn release_data(&self, data: TargetId) -> Result<()> {
        if self.let_go(self.tables(), data) { Ok(()) } else { Err(spent()) }
    }

    /// Releases marshaled data. Returns whether it existed.
    fn let_go(&self, mut tables: MutexGuard<'_, Tables>, data: TargetId) -> bool {
        let found = tables.data.remove(&data);
        let holder = match found {
            Some(Data::Once(holder)) => holder,
            Some(Data::Table) => Client::Table,
            Some(Data::Weak(..)) | None => {
                drop(tables);
                return found.is_some();
            }
        };
        let all = Refs { public: u64::MAX, private: u64::MAX };
        // All references of the holder are released. Clients that are not obvia processes and call
        // by the data's IPID have references of their own, which stay.
        let dropped = tables.references.release(&self.ipid(data), holder, all);
        let gone = tables.forget_all(dropped);
        let gone = self.table.remove(gone);
        drop(tables);
        drop(gone);
        true
    }

    /// Drops all references to an object. The proxies of other processes fail at their next call.
    pub(crate) fn disconnect(&self, object: &IUnknown) -> Result<()> {
        let identity = identity_of(object)?;
        let mut tables = self.tables();
        let is_its = |data: &Data| matches!(data, Data::Weak(of, _) if *of == identity);
        let weak: Vec<_> = tables.data.extract_if(|_, data| is_its(data)).collect();
        let oid = tables.oids.get(&identity).map(|known| known.0);
        let dropped = oid.map(|oid| tables.references.disconnect(oid)).unwrap_or_default();
        let gone = tables.forget_all(dropped);
        let gone = self.table.remove(gone);
        drop(tables);
        drop((weak, gone));
        Ok(())
    }
}

impl Tables {
    /// Draws a number that peers cannot guess.
    fn fresh_weak(&mut self) -> Result<TargetId> {
        loop {
            let target = TargetId { index: (identity::draw()? as u32).max(WEAK_FIRST), generation: 0 };
            if !self.data.contains_key(&target) {
                return Ok(target);
            }
        }
    }
}
