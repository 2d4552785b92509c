//! What was marshaled for whoever unmarshals it (CoMarshalInterface): nobody knows yet who that will be.
//!
//! Such data has an entry of its own, so that its IPID says which data it is, and the books say who keeps it: somebody who has to ping, as
//! nobody does for data that is forgotten, or this process, until it is told to let go. Whoever unmarshals it gets references to the
//! object's usual entry. Data that does not keep its object alive has a number that is no entry's.

use super::{Books, Entry, Exported, Exports, query};
use crate::agile::Agile;
use crate::error::{Error, Result, code};
use crate::orpc::{Client, Refs};
use crate::registry::InterfaceInfo;
use crate::runtime::janitor;
use obvia_rpc::vi_call::TargetId;
use std::sync::MutexGuard;
use windows_core::{IUnknown, Interface, Weak};

/// The most data that does not keep its object alive.
const WEAK_MAX: usize = 1 << 16;
/// The first number of such data: below are the runtime's own targets of generation 0.
const WEAK_FIRST: u32 = 1 << 16;

/// Data by how it is kept.
pub(super) enum Data {
    /// By this client, until it is unmarshaled.
    Once(Client),
    /// Until it is released.
    Table,
    /// As well, whether the object is there or not. With the object's identity.
    Weak(usize, Weak<IUnknown>),
}

/// How data is to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeping {
    /// By this client, until it is unmarshaled.
    Once(Client),
    /// Until it is released.
    Table,
    /// As well, but without the object.
    Weak,
}

fn identity_of(object: &IUnknown) -> Result<usize> {
    Ok(object.cast::<IUnknown>()?.as_raw().addr())
}

fn spent() -> Error {
    Error::new(code::CO_E_OBJNOTCONNECTED, "the data was unmarshaled or released before, or its object is gone")
}

impl Exports {
    /// Makes data of an object's interface. `refs` is what strangers find there who call by it.
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
        let mut books = self.books();
        let found = self.insert(&mut books, &interface, Entry { identity, info }, holder, Refs::public(refs))?;
        books.data.insert(found.target, data);
        drop(books);
        // There is one more to look after.
        janitor::wake();
        Ok(found)
    }

    fn keep_weakly(&self, interface: &IUnknown, identity: usize) -> Result<Exported> {
        // It may be asked for by any thread.
        let object = Agile::new(interface)?;
        let text = "the object has no weak references, so a table cannot refer to it weakly";
        let weak = object.get().downgrade().map_err(|_| Error::new(code::E_NOTIMPL, text))?;
        let mut books = self.books();
        if books.data.len() >= WEAK_MAX {
            return Err(Error::new(code::E_OUTOFMEMORY, "there is too much marshaled data"));
        }
        let known = books.oids.get(&identity).map(|known| known.0);
        let oid = known.unwrap_or(books.last_oid + 1);
        books.last_oid = books.last_oid.max(oid);
        let target = books.fresh_weak();
        books.data.insert(target, Data::Weak(identity, weak));
        Ok(Exported { oid, target })
    }

    /// The object of data, which is spent by that unless it is in a table.
    pub(crate) fn unmarshal(&self, data: TargetId) -> Result<IUnknown> {
        let books = self.books();
        let is_spent = match books.data.get(&data).ok_or_else(spent)? {
            Data::Once(_) => true,
            Data::Table => false,
            Data::Weak(_, weak) => {
                let weak = weak.clone();
                // It is the author's code that finds the object.
                drop(books);
                return weak.upgrade().ok_or_else(spent);
            }
        };
        let object = self.get(data)?.object.get().clone();
        if is_spent {
            self.let_go(books, data);
        }
        Ok(object)
    }

    /// Data is not going to be unmarshaled any more.
    pub(crate) fn release_data(&self, data: TargetId) -> Result<()> {
        if self.let_go(self.books(), data) { Ok(()) } else { Err(spent()) }
    }

    /// Whether there was such data.
    fn let_go(&self, mut books: MutexGuard<'_, Books>, data: TargetId) -> bool {
        let found = books.data.remove(&data);
        let holder = match found {
            Some(Data::Once(holder)) => holder,
            Some(Data::Table) => Client::Table,
            Some(Data::Weak(..)) | None => {
                drop(books);
                return found.is_some();
            }
        };
        let all = Refs { public: u64::MAX, private: u64::MAX };
        // Strangers who call by the data have references of their own.
        let dropped = books.references.release(&self.ipid(data), holder, all);
        let gone = books.forget_all(dropped);
        let gone = self.table.remove(gone);
        drop(books);
        drop(gone);
        true
    }

    /// Nobody refers to an object any more: whoever has a proxy for it is told so when it calls.
    pub(crate) fn disconnect(&self, object: &IUnknown) -> Result<()> {
        let identity = identity_of(object)?;
        let mut books = self.books();
        let is_its = |data: &Data| matches!(data, Data::Weak(of, _) if *of == identity);
        let weak: Vec<_> = books.data.extract_if(|_, data| is_its(data)).collect();
        let oid = books.oids.get(&identity).map(|known| known.0);
        let dropped = oid.map(|oid| books.references.disconnect(oid)).unwrap_or_default();
        let gone = books.forget_all(dropped);
        let gone = self.table.remove(gone);
        drop(books);
        drop((weak, gone));
        Ok(())
    }
}

impl Books {
    fn fresh_weak(&mut self) -> TargetId {
        loop {
            self.last_weak = self.last_weak.wrapping_add(1).max(WEAK_FIRST);
            let target = TargetId { index: self.last_weak, generation: 0 };
            if !self.data.contains_key(&target) {
                return target;
            }
        }
    }
}
