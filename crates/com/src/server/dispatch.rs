//! Dispatches calls to the object and the stub that serve them, without a lock.
//!
//! Each connection has copies of the targets that were called on it, in an array with the indices
//! of the object table. A look-up compares the target's index with a bound, and then compares index
//! and generation. The bound is 0 whenever a target may have been removed. For the target that was
//! fetched last, one comparison suffices.

use crate::server::exports::Target;
use crate::types::registry::StubFn;
use obvia_rpc::object_table::{SharedTable, Watch};
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::{Answer, ServerCall, TargetId};
use obvia_via::window::Alarm;
use std::ffi::c_void;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// The cached copy of a target. C code relies on this layout.
#[derive(Clone, Copy)]
#[repr(C)]
struct Place {
    // The number of the target: its index and generation. A vacant place has a number with another
    // index, so that no look-up in this place finds it.
    target: u64,
    object: *mut c_void,
    stubs: *const StubFn,
    // The mask for opnums: the table's length minus one.
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

/// The stubs of a vacant place.
static VACANT: [StubFn; 1] = [not_found];

unsafe extern "C-unwind" fn not_found(_: *mut c_void, _: &mut ServerCall<'_>) -> Answer {
    Answer::fault(Status::OBJECT_NOT_FOUND)
}

/// The targets that were called on one connection. C code reads the first three fields.
#[repr(C)]
pub(crate) struct Dispatch {
    // Invariant: points to `watch`, whose bound never exceeds the length of `places`. A valid watch
    // has the target of `last`. All other code changes the watch only by invalidating it.
    known: *const Watch,
    // Invariant: points to the first of `places`.
    first: *const Place,
    // The place of the target that was fetched last. Invariant: the place is vacant, or its target
    // is held. A call with the number that the watch has in its invalid state also leads here.
    last: Place,
    watch: Arc<Watch>,
    // The table's count of removals when the copies were last compared with the table.
    removals: u64,
    // The table's count of recalls at the same time.
    recalls: u64,
    // Invariant: a place that is not vacant belongs to the copy with the same index.
    places: Vec<Place>,
    copies: Vec<Option<Target>>,
}

// SAFETY: the pointers lead to memory that the value owns; any thread may use and drop targets.
unsafe impl Send for Dispatch {}

impl Dispatch {
    /// Makes an empty cache for a connection. `alarm` rings when a cached target is removed.
    pub(crate) fn new(table: &SharedTable<Target>, alarm: Alarm) -> Self {
        let watch = table.watch(alarm);
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

    /// Drops all copies, which may be the last references to objects.
    pub(crate) fn clear(&mut self) {
        self.forget_last();
        self.first = std::ptr::null();
        self.places.clear();
        self.copies.clear();
    }

    /// Makes `last` vacant. This must happen before the target of `last` can be dropped.
    fn forget_last(&mut self) {
        self.last = Place::vacant(0);
        self.watch.invalidate();
    }

    /// Returns the watch, whose invalidation makes the next call take the slow path.
    pub(crate) fn watch(&self) -> &Arc<Watch> {
        &self.watch
    }

    /// Performs a call if its target is cached.
    #[inline(always)]
    pub(crate) fn perform(&self, call: &mut ServerCall<'_>) -> Option<Answer> {
        let place = self.find(call.target())?;
        // SAFETY: by the invariant of the places, the object and the stubs belong to a target that
        // is held.
        Some(unsafe { place.invoke(call) })
    }

    #[inline(always)]
    fn find(&self, target: u64) -> Option<&Place> {
        // SAFETY: by its invariant, the pointer leads to the value of `watch`, which keeps this
        // value alive.
        let known = unsafe { &*self.known };
        if known.target() == target {
            return Some(&self.last);
        }
        let index = TargetId::from_word(target).index;
        if index >= known.valid() {
            return None;
        }
        // SAFETY: by the invariant of the watch, the index is less than the number of places.
        let place = unsafe { self.first.add(index as usize) };
        // SAFETY: the pointer leads to an element of `places`, which does not change while `self`
        // is borrowed.
        let place = unsafe { &*place };
        (place.target == target).then_some(place)
    }

    /// Performs a call of a target that may be in the table. `admit` verifies that this
    /// connection's client may call the target. The result of `admit` holds until the table recalls
    /// its copies.
    pub(crate) fn fetch_and_perform(
        &mut self,
        table: &SharedTable<Target>,
        call: &mut ServerCall<'_>,
        admit: impl FnOnce(&Target) -> Result<(), Status>,
    ) -> Answer {
        let target = TargetId::from_word(call.target());
        match self.fetch(table, target, admit) {
            // SAFETY: the place belongs to the target that was just fetched and is held.
            Ok(place) => unsafe { place.invoke(call) },
            Err(status) => Answer::fault(status),
        }
    }

    /// Copies a target from the table, unless the cache has a copy. Makes it the target of `last`.
    fn fetch(
        &mut self,
        table: &SharedTable<Target>,
        id: TargetId,
        admit: impl FnOnce(&Target) -> Result<(), Status>,
    ) -> Result<&Place, Status> {
        let at = id.index as usize;
        // The array grows only for a target that is in the object table. It thus never has more
        // places than that table.
        if at >= self.places.len() && table.get(id.index, id.generation).is_ok() {
            self.places.extend((self.places.len()..=at).map(|index| Place::vacant(index as u32)));
            self.copies.resize_with(self.places.len(), || None);
            self.first = self.places.as_ptr();
        }
        // A removal that happens after this invalidates the watch again. `drop_removed` finds
        // earlier removals.
        self.last = Place::vacant(id.index);
        self.watch.revalidate(id.word(), self.places.len() as u32);
        self.drop_removed(table);
        let outcome = self.place(at, id, |watch| {
            let not_found = |_| Status::OBJECT_NOT_FOUND;
            // If the caller is refused, the target is not copied, so the connection need not be
            // told of its removal.
            admit(&table.get(id.index, id.generation).map_err(not_found)?)?;
            table.copy(id.index, id.generation, watch).map_err(not_found)
        });
        match outcome {
            Ok(place) => self.last = place,
            Err(_) => self.watch.invalidate(),
        }
        outcome.map(|_| &self.last)
    }

    /// Returns the place of a target. Copies the target by `look_up` if the cache has no copy. The
    /// cache can have a copy, since a removal is not the only reason for the slow path.
    fn place(
        &mut self,
        at: usize,
        id: TargetId,
        look_up: impl FnOnce(&Arc<Watch>) -> Result<Target, Status>,
    ) -> Result<Place, Status> {
        let place = self.places.get_mut(at).ok_or(Status::OBJECT_NOT_FOUND)?;
        if place.target != id.word() {
            let found = look_up(&self.watch)?;
            *place = Place::new(id, &found);
            // The place is written before the former copy is dropped, since the drop can run code
            // of the program.
            drop(self.copies[at].replace(found));
        }
        Ok(self.places[at])
    }

    /// Drops every copy of a target that was removed from the table, which may be the last
    /// reference to the object.
    pub(crate) fn purge(&mut self, table: &SharedTable<Target>) {
        self.forget_last();
        self.drop_removed(table);
    }

    /// Drops all copies. `last` must be vacant.
    fn vacate(&mut self) {
        for (index, place) in self.places.iter_mut().enumerate() {
            *place = Place::vacant(index as u32);
        }
        let mut dropped = std::mem::take(&mut self.copies);
        self.copies.resize_with(dropped.len(), || None);
        // All places are vacant now. The drop can run code of the program.
        dropped.clear();
    }

    /// Drops the copies of removed targets. `last` must be vacant.
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
    /// The place must be vacant, or its target must be held.
    #[inline(always)]
    unsafe fn invoke(&self, call: &mut ServerCall<'_>) -> Answer {
        let at = usize::from(call.opnum()) & self.mask;
        // SAFETY: the mask keeps the index within the table.
        let stub = unsafe { self.stubs.add(at) };
        // SAFETY: the pointer leads into the table of stubs, which is never written.
        let stub = unsafe { stub.read() };
        // SAFETY: a target combines an interface pointer with the stubs of its interface, and is
        // held.
        unsafe { stub(self.object, call) }
    }
}
