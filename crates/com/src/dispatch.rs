//! From a call to the object and the stub that serve it, without a lock.
//!
//! Each connection keeps copies of the targets that it was asked for, in an array with the places of the object table. A hit is
//! a bound, which is 0 whenever a target may have gone, and one comparison of index and generation. For the target that was
//! fetched last it is the comparison alone.

use crate::exports::Target;
use crate::stub::StubFn;
use obvia_rpc::object_table::{SharedTable, Watch};
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::{Answer, ServerCall, TargetId};
use std::ffi::c_void;
use std::sync::Arc;

/// What is kept of one target. C sees it, too.
#[derive(Clone, Copy)]
#[repr(C)]
struct Place {
    // A number that no call with this place's index has, where the place is vacant.
    target: u64,
    object: *mut c_void,
    stubs: *const StubFn,
    // What an opnum is masked with: the table has one entry more.
    mask: usize,
}

impl Place {
    fn new(id: TargetId, target: &Target) -> Self {
        let stubs = target.stubs.padded();
        Self { target: id.word(), object: target.pointer(), stubs: stubs.as_ptr(), mask: stubs.len() - 1 }
    }

    fn vacant(index: u32) -> Self {
        let nobodys = TargetId { index: !index, generation: 0 };
        Self { target: nobodys.word(), object: std::ptr::null_mut(), stubs: VACANT.as_ptr(), mask: 0 }
    }
}

/// What a vacant place has for every opnum.
static VACANT: [StubFn; 1] = [not_found];

unsafe extern "C-unwind" fn not_found(_: *mut c_void, _: &mut ServerCall<'_>) -> Answer {
    Answer::fault(Status::OBJECT_NOT_FOUND)
}

/// The targets that one connection has been asked for. C finds the first three fields.
#[repr(C)]
pub(crate) struct Dispatch {
    // Invariant: that of `watch`, which never says that there are more places than `places`, nor another target than `last` is of;
    // only this value makes it say anything but that there is none.
    known: *const Watch,
    // Invariant: the first of `places`.
    first: *const Place,
    // The place of the target that was fetched last. Invariant: it is vacant, or its target is held: whoever asks for the number by
    // which the watch says that there is none gets there.
    last: Place,
    watch: Arc<Watch>,
    // The table's removals that the copies have been compared with, and its recalls.
    removals: u64,
    recalls: u64,
    // Invariant: a place that is not vacant is of the copy with its index.
    places: Vec<Place>,
    copies: Vec<Option<Target>>,
}

// SAFETY: the pointers are to what the value itself owns; targets may be used and dropped by any thread.
unsafe impl Send for Dispatch {}

impl Dispatch {
    pub(crate) fn new(table: &SharedTable<Target>) -> Self {
        let watch = table.watch();
        Self {
            known: Arc::as_ptr(&watch),
            first: std::ptr::null(),
            last: Place::vacant(0),
            watch,
            removals: 0,
            recalls: 0,
            places: Vec::new(),
            copies: Vec::new(),
        }
    }

    /// Lets everything go, and with it maybe objects.
    pub(crate) fn clear(&mut self) {
        self.forget_last();
        self.first = std::ptr::null();
        self.places.clear();
        self.copies.clear();
    }

    /// Before it may be dropped.
    fn forget_last(&mut self) {
        self.last = Place::vacant(0);
        self.watch.invalidate();
    }

    /// What makes the next call take the long way.
    pub(crate) fn watch(&self) -> &Arc<Watch> {
        &self.watch
    }

    /// Performs a call if its target is at hand.
    #[inline(always)]
    pub(crate) fn perform(&self, call: &mut ServerCall<'_>) -> Option<Answer> {
        let place = self.find(call.target())?;
        // SAFETY: by the invariant of the places, object and stubs are those of a target that is held.
        Some(unsafe { place.invoke(call) })
    }

    #[inline(always)]
    fn find(&self, target: u64) -> Option<&Place> {
        // SAFETY: kept alive by `watch`.
        let known = unsafe { &*self.known };
        if known.target() == target {
            return Some(&self.last);
        }
        let index = TargetId::from_word(target).index;
        if index >= known.valid() {
            return None;
        }
        // SAFETY: by the invariant of the watch there are more places than that.
        let place = unsafe { self.first.add(index as usize) };
        // SAFETY: as above.
        let place = unsafe { &*place };
        (place.target == target).then_some(place)
    }

    /// Performs a call of a target that may be in the table. `admit` says whether this connection's client may call it, which holds until the
    /// table's copies are recalled.
    pub(crate) fn fetch_and_perform(
        &mut self,
        table: &SharedTable<Target>,
        call: &mut ServerCall<'_>,
        admit: impl FnOnce(&Target) -> Result<(), Status>,
    ) -> Answer {
        let target = TargetId::from_word(call.target());
        match self.fetch(table, target, admit) {
            // SAFETY: the place is of the target just fetched, and held.
            Ok(place) => unsafe { place.invoke(call) },
            Err(status) => Answer::fault(status),
        }
    }

    /// Makes a copy of a target, if there is none.
    fn fetch(
        &mut self,
        table: &SharedTable<Target>,
        id: TargetId,
        admit: impl FnOnce(&Target) -> Result<(), Status>,
    ) -> Result<&Place, Status> {
        let at = id.index as usize;
        let look_up = || table.get(id.index, id.generation).map_err(|_| Status::OBJECT_NOT_FOUND);
        // Where the table has this index, there are no more places than it has.
        if at >= self.places.len() && look_up().is_ok() {
            self.places.extend((self.places.len()..=at).map(|index| Place::vacant(index as u32)));
            self.copies.resize_with(self.places.len(), || None);
            self.first = self.places.as_ptr();
        }
        // Whatever is removed from here on invalidates the watch again; what was removed before, the looks below miss.
        self.last = Place::vacant(id.index);
        self.watch.revalidate(id.word(), self.places.len() as u32);
        self.drop_removed(table);
        let outcome = self.place(at, id, || look_up().and_then(|found| admit(&found).map(|()| found)));
        match outcome {
            Ok(place) => self.last = place,
            Err(_) => self.watch.invalidate(),
        }
        outcome.map(|_| &self.last)
    }

    /// The place of a target, fetched unless it is there: something else than a removal may have made the call come this way.
    fn place(
        &mut self,
        at: usize,
        id: TargetId,
        look_up: impl FnOnce() -> Result<Target, Status>,
    ) -> Result<Place, Status> {
        let place = self.places.get_mut(at).ok_or(Status::OBJECT_NOT_FOUND)?;
        if place.target != id.word() {
            let found = look_up()?;
            *place = Place::new(id, &found);
            // Dropping an earlier copy may run its author's code.
            drop(self.copies[at].replace(found));
        }
        Ok(self.places[at])
    }

    /// Drops every copy of a target that has been taken out of the table, and with it maybe the object.
    pub(crate) fn purge(&mut self, table: &SharedTable<Target>) {
        self.forget_last();
        self.drop_removed(table);
    }

    /// Drops every copy. The last place must be vacant.
    fn vacate(&mut self) {
        for (index, place) in self.places.iter_mut().enumerate() {
            *place = Place::vacant(index as u32);
        }
        let mut dropped = std::mem::take(&mut self.copies);
        self.copies.resize_with(dropped.len(), || None);
        // Which may run their authors' code.
        dropped.clear();
    }

    /// The last place must be vacant.
    fn drop_removed(&mut self, table: &SharedTable<Target>) {
        let recalls = table.recalls();
        if std::mem::replace(&mut self.recalls, recalls) != recalls {
            self.vacate();
        }
        let removals = table.removals();
        if std::mem::replace(&mut self.removals, removals) == removals {
            return;
        }
        let held = self.copies.iter().zip(&self.places).filter(|(copy, _)| copy.is_some());
        let numbers = held.map(|(_, place)| TargetId::from_word(place.target)).map(|id| (id.index, id.generation));
        let mut dropped = Vec::new();
        for index in table.missing(numbers) {
            self.places[index as usize] = Place::vacant(index);
            dropped.extend(self.copies[index as usize].take());
        }
        drop(dropped);
    }
}

impl Place {
    /// # Safety
    ///
    /// The place must be vacant, or its target be held.
    #[inline(always)]
    unsafe fn invoke(&self, call: &mut ServerCall<'_>) -> Answer {
        let at = usize::from(call.opnum()) & self.mask;
        // SAFETY: the mask keeps it within the table.
        let stub = unsafe { self.stubs.add(at) };
        // SAFETY: as above; tables are never written.
        let stub = unsafe { stub.read() };
        // SAFETY: the target pairs each interface pointer with the stubs of its interface, and is held.
        unsafe { stub(self.object, call) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agile::{Agile, IID_AGILE_OBJECT};
    use crate::error::code;
    use crate::stub::Stubs;
    use std::sync::atomic::{AtomicU32, Ordering};
    use windows_core::{GUID, HRESULT, IUnknown, IUnknown_Vtbl, Interface};

    /// An object by hand: those that `#[implement]` makes are not what Miri holds for proper.
    #[repr(C)]
    struct Thing {
        vtable: &'static IUnknown_Vtbl,
        references: AtomicU32,
    }

    static VTABLE: IUnknown_Vtbl = IUnknown_Vtbl { QueryInterface: query, AddRef: add_ref, Release: release };

    unsafe extern "system" fn query(this: *mut c_void, iid: *const GUID, out: *mut *mut c_void) -> HRESULT {
        // SAFETY: by the contract of QueryInterface.
        let iid = unsafe { *iid };
        if iid != IUnknown::IID && iid != IID_AGILE_OBJECT {
            return code::E_NOINTERFACE;
        }
        // SAFETY: in the vtable of things only.
        unsafe { add_ref(this) };
        // SAFETY: by the contract of QueryInterface.
        unsafe { out.write(this) };
        code::S_OK
    }

    unsafe extern "system" fn add_ref(this: *mut c_void) -> u32 {
        // SAFETY: in the vtable of things only.
        let thing = unsafe { &*this.cast::<Thing>() };
        thing.references.fetch_add(1, Ordering::Relaxed) + 1
    }

    unsafe extern "system" fn release(this: *mut c_void) -> u32 {
        // SAFETY: in the vtable of things only.
        let thing = unsafe { &*this.cast::<Thing>() };
        let left = thing.references.fetch_sub(1, Ordering::AcqRel) - 1;
        if left == 0 {
            // SAFETY: made by Box::into_raw, and this was the last reference.
            drop(unsafe { Box::from_raw(this.cast::<Thing>()) });
        }
        left
    }

    fn target() -> Target {
        let thing = Box::into_raw(Box::new(Thing { vtable: &VTABLE, references: AtomicU32::new(1) }));
        // SAFETY: a counted interface pointer.
        let object = unsafe { IUnknown::from_raw(thing.cast()) };
        Target {
            object: Agile::new(&object).expect("it answers for IAgileObject"),
            stubs: Stubs::NONE,
            interface: "IThing",
            identity: thing.addr(),
        }
    }

    fn everybody(_: &Target) -> Result<(), Status> {
        Ok(())
    }

    fn insert(table: &SharedTable<Target>) -> TargetId {
        let (index, generation) = table.insert(target());
        TargetId { index, generation }
    }

    fn references(target: &Target) -> u32 {
        // SAFETY: a thing, and held.
        let thing = unsafe { &*target.pointer().cast::<Thing>() };
        assert!(std::ptr::eq(thing.vtable, &raw const VTABLE));
        thing.references.load(Ordering::Relaxed)
    }

    #[test]
    fn what_is_fetched_is_found_until_it_is_removed() {
        let table = SharedTable::default();
        let mut dispatch = Dispatch::new(&table);
        let (first, second) = (insert(&table), insert(&table));
        assert!(dispatch.find(first.word()).is_none());
        assert!(dispatch.fetch(&table, second, everybody).is_ok());
        assert!(dispatch.find(second.word()).is_some());
        assert!(dispatch.find(first.word()).is_none());
        assert_eq!(table.remove([(second.index, second.generation)]).len(), 1);
        assert!(dispatch.find(second.word()).is_none());
        assert_eq!(dispatch.fetch(&table, second, everybody).err(), Some(Status::OBJECT_NOT_FOUND));
        assert!(dispatch.fetch(&table, first, everybody).is_ok());
        assert!(dispatch.find(first.word()).is_some());
        assert!(dispatch.find(second.word()).is_none());
    }

    #[test]
    fn no_other_word_finds_a_target() {
        let table = SharedTable::default();
        let mut dispatch = Dispatch::new(&table);
        insert(&table);
        let known = insert(&table);
        assert!(dispatch.fetch(&table, known, everybody).is_ok());
        for bit in 0..64 {
            assert!(dispatch.find(known.word() ^ 1 << bit).is_none(), "bit {bit}");
        }
        for index in [0, 1, 2, u32::MAX] {
            for generation in [0, 2, u32::MAX] {
                assert!(dispatch.find(TargetId { index, generation }.word()).is_none(), "{index} {generation}");
            }
        }
    }

    /// The number by which the watch says that there is none can be asked for, too.
    #[test]
    fn the_number_of_nobody_leads_to_no_target_that_is_gone() {
        let table = SharedTable::default();
        let mut dispatch = Dispatch::new(&table);
        let nobody = TargetId { index: u32::MAX, generation: u32::MAX };
        let refuses = |dispatch: &Dispatch| {
            dispatch.find(nobody.word()).is_none_or(|place| std::ptr::eq(place.stubs, VACANT.as_ptr()))
        };
        assert!(refuses(&dispatch));
        let known = insert(&table);
        assert!(dispatch.fetch(&table, known, everybody).is_ok() && refuses(&dispatch));
        drop(table.remove([(known.index, known.generation)]));
        dispatch.purge(&table);
        assert!(refuses(&dispatch));
    }

    #[test]
    fn a_removed_target_is_let_go() {
        let table = SharedTable::default();
        let mut dispatch = Dispatch::new(&table);
        let kept = target();
        let (index, generation) = table.insert(kept.clone());
        let id = TargetId { index, generation };
        assert!(dispatch.fetch(&table, id, everybody).is_ok());
        assert_eq!(references(&kept), 3);
        drop(table.remove([(index, generation)]));
        dispatch.purge(&table);
        assert_eq!(references(&kept), 1);
        // Whoever has the place next is found by its own number only.
        let next = insert(&table);
        assert_eq!(next.index, index);
        assert!(dispatch.fetch(&table, next, everybody).is_ok());
        assert!(dispatch.find(id.word()).is_none());
    }

    #[test]
    fn a_call_that_no_place_is_for_has_removed_targets_let_go() {
        let table = SharedTable::default();
        let mut dispatch = Dispatch::new(&table);
        let kept = target();
        let (index, generation) = table.insert(kept.clone());
        assert!(dispatch.fetch(&table, TargetId { index, generation }, everybody).is_ok());
        drop(table.remove([(index, generation)]));
        let beyond = TargetId { index: index + 1, generation: 1 };
        assert_eq!(dispatch.fetch(&table, beyond, everybody).err(), Some(Status::OBJECT_NOT_FOUND));
        assert_eq!(references(&kept), 1);
    }

    #[test]
    fn who_is_not_admitted_gets_nothing_and_recalled_copies_are_asked_about_again() {
        let table = SharedTable::default();
        let mut dispatch = Dispatch::new(&table);
        let (first, second) = (insert(&table), insert(&table));
        let nobody = |_: &Target| Err(Status::ACCESS_DENIED);
        assert_eq!(dispatch.fetch(&table, first, nobody).err(), Some(Status::ACCESS_DENIED));
        assert!(dispatch.find(first.word()).is_none());
        for target in [first, second] {
            assert!(dispatch.fetch(&table, target, everybody).is_ok());
        }
        // Who was admitted is not asked about again, as long as nothing happens.
        assert!(dispatch.find(first.word()).is_some() && dispatch.fetch(&table, first, nobody).is_ok());
        table.recall();
        assert!([first, second].iter().all(|target| dispatch.find(target.word()).is_none()));
        // Whichever is fetched first, the other one is not at hand either.
        assert!(dispatch.fetch(&table, second, everybody).is_ok());
        assert!(dispatch.find(first.word()).is_none());
        assert_eq!(dispatch.fetch(&table, first, nobody).err(), Some(Status::ACCESS_DENIED));
    }
}
