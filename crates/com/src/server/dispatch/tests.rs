//! Tests of a connection's cache of targets: its references, and its invalidation.

use super::*;
use crate::types::agile::{Agile, IID_AGILE_OBJECT};
use crate::types::error::code;
use crate::types::registry::Stubs;
use std::sync::atomic::{AtomicU32, Ordering};
use windows_core::{GUID, HRESULT, IUnknown, IUnknown_Vtbl, Interface};

/// A handwritten object, since Miri rejects the objects of windows-core.
#[repr(C)]
struct Thing {
    vtable: &'static IUnknown_Vtbl,
    references: AtomicU32,
}

static VTABLE: IUnknown_Vtbl = IUnknown_Vtbl { QueryInterface: query, AddRef: add_ref, Release: release };

unsafe extern "system" fn query(this: *mut c_void, iid: *const GUID, out: *mut *mut c_void) -> HRESULT {
    // SAFETY: by the contract of QueryInterface, `iid` is readable.
    let iid = unsafe { *iid };
    if iid != IUnknown::IID && iid != IID_AGILE_OBJECT {
        return code::E_NOINTERFACE;
    }
    // SAFETY: only vtables of `Thing`s contain this function, so `this` is a live `Thing`.
    unsafe { add_ref(this) };
    // SAFETY: by the contract of QueryInterface, `out` is writable.
    unsafe { out.write(this) };
    code::S_OK
}

unsafe extern "system" fn add_ref(this: *mut c_void) -> u32 {
    // SAFETY: only vtables of `Thing`s contain this function, so `this` is a live `Thing`.
    let thing = unsafe { &*this.cast::<Thing>() };
    thing.references.fetch_add(1, Ordering::Relaxed) + 1
}

unsafe extern "system" fn release(this: *mut c_void) -> u32 {
    // SAFETY: only vtables of `Thing`s contain this function, so `this` is a live `Thing`.
    let thing = unsafe { &*this.cast::<Thing>() };
    let left = thing.references.fetch_sub(1, Ordering::AcqRel) - 1;
    if left == 0 {
        // SAFETY: `Box::into_raw` made the pointer, and no references are left.
        drop(unsafe { Box::from_raw(this.cast::<Thing>()) });
    }
    left
}

unsafe extern "system" fn query_anything(this: *mut c_void, _: *const GUID, out: *mut *mut c_void) -> HRESULT {
    // SAFETY: only vtables of `Thing`s contain this function, so `this` is a live `Thing`.
    unsafe { add_ref(this) };
    // SAFETY: by the contract of QueryInterface, `out` is writable.
    unsafe { out.write(this) };
    code::S_OK
}

static ANYTHING: IUnknown_Vtbl = IUnknown_Vtbl { QueryInterface: query_anything, AddRef: add_ref, Release: release };

#[test]
fn objects_that_implement_every_interface_are_not_taken_for_proxies() {
    let thing = Box::into_raw(Box::new(Thing { vtable: &ANYTHING, references: AtomicU32::new(1) }));
    // SAFETY: `thing` is a counted interface pointer.
    let object = unsafe { IUnknown::from_raw(thing.cast()) };
    assert!(crate::client::proxy::look_behind(&object).is_none());
}

fn target() -> Target {
    let thing = Box::into_raw(Box::new(Thing { vtable: &VTABLE, references: AtomicU32::new(1) }));
    // SAFETY: `thing` is a counted interface pointer.
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
    // SAFETY: the pointer leads to a `Thing` that `target` keeps alive.
    let thing = unsafe { &*target.pointer().cast::<Thing>() };
    assert!(std::ptr::eq(thing.vtable, &raw const VTABLE));
    thing.references.load(Ordering::Relaxed)
}

#[test]
fn fetched_targets_are_found_until_they_are_removed() {
    let table = SharedTable::default();
    let mut dispatch = Dispatch::new(&table, Alarm::default());
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
fn only_the_exact_target_id_finds_a_cached_target() {
    let table = SharedTable::default();
    let mut dispatch = Dispatch::new(&table, Alarm::default());
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

/// An invalid watch has a fixed number in place of a target's number. If a call has this number, it
/// must not reach a removed target.
#[test]
fn the_vacant_target_id_finds_no_removed_target() {
    let table = SharedTable::default();
    let mut dispatch = Dispatch::new(&table, Alarm::default());
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
fn the_cache_drops_removed_targets() {
    let table = SharedTable::default();
    let mut dispatch = Dispatch::new(&table, Alarm::default());
    let kept = target();
    let (index, generation) = table.insert(kept.clone());
    let id = TargetId { index, generation };
    assert!(dispatch.fetch(&table, id, everybody).is_ok());
    assert_eq!(references(&kept), 3);
    drop(table.remove([(index, generation)]));
    dispatch.purge(&table);
    assert_eq!(references(&kept), 1);
    // The next target at this index is not found by the number of the removed target.
    let next = insert(&table);
    assert_eq!(next.index, index);
    assert!(dispatch.fetch(&table, next, everybody).is_ok());
    assert!(dispatch.find(id.word()).is_none());
}

#[test]
fn calls_of_uncached_targets_drop_removed_targets() {
    let table = SharedTable::default();
    let mut dispatch = Dispatch::new(&table, Alarm::default());
    let kept = target();
    let (index, generation) = table.insert(kept.clone());
    assert!(dispatch.fetch(&table, TargetId { index, generation }, everybody).is_ok());
    drop(table.remove([(index, generation)]));
    let beyond = TargetId { index: index + 1, generation: 1 };
    assert_eq!(dispatch.fetch(&table, beyond, everybody).err(), Some(Status::OBJECT_NOT_FOUND));
    assert_eq!(references(&kept), 1);
}

#[test]
fn removals_do_not_concern_refused_callers() {
    let table = SharedTable::default();
    let mut dispatch = Dispatch::new(&table, Alarm::default());
    let id = insert(&table);
    let nobody = |_: &Target| Err(Status::ACCESS_DENIED);
    assert_eq!(dispatch.fetch(&table, id, nobody).err(), Some(Status::ACCESS_DENIED));
    dispatch.watch.revalidate(id.word(), 0);
    assert_eq!(table.remove([(id.index, id.generation)]).len(), 1);
    assert_eq!(dispatch.watch.target(), id.word());
}

#[test]
fn refused_callers_get_no_target_and_recalled_targets_are_checked_again() {
    let table = SharedTable::default();
    let mut dispatch = Dispatch::new(&table, Alarm::default());
    let (first, second) = (insert(&table), insert(&table));
    let nobody = |_: &Target| Err(Status::ACCESS_DENIED);
    assert_eq!(dispatch.fetch(&table, first, nobody).err(), Some(Status::ACCESS_DENIED));
    assert!(dispatch.find(first.word()).is_none());
    for target in [first, second] {
        assert!(dispatch.fetch(&table, target, everybody).is_ok());
    }
    // An admitted client is not checked again until rules change.
    assert!(dispatch.find(first.word()).is_some() && dispatch.fetch(&table, first, nobody).is_ok());
    table.recall();
    assert!([first, second].iter().all(|target| dispatch.find(target.word()).is_none()));
    // After a recall, each target must be fetched again.
    assert!(dispatch.fetch(&table, second, everybody).is_ok());
    assert!(dispatch.find(first.word()).is_none());
    assert_eq!(dispatch.fetch(&table, first, nobody).err(), Some(Status::ACCESS_DENIED));
}
