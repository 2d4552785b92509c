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

#[cfg(test)]
mod tests;

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
