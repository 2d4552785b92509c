//! Object tables: map an index and a generation to a target.

use obvia_via::window::Alarm;
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};

/// The reason why a look-up failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LookUpError {
    /// The place at the index is empty.
    Free,
    /// The index exceeds the table.
    OutOfRange,
    /// The place at the index has another generation, because the target was removed.
    Stale,
}

impl fmt::Display for LookUpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Free => "the entry of the object table is empty",
            Self::OutOfRange => "the object table has no such entry",
            Self::Stale => "the entry of the object table now belongs to another object",
        })
    }
}

impl std::error::Error for LookUpError {}

#[derive(Debug)]
struct Place<T> {
    // Invariant: the generation is never 0, and a new one is drawn at every removal.
    generation: u32,
    tenant: Option<T>,
}

/// A source of random generations. A peer cannot predict a generation, and so cannot name a target
/// that it has not received. The generations are values of a keyed hash, which need no system call.
#[derive(Debug, Default)]
struct Generations {
    key: RandomState,
    drawn: u64,
}

impl Generations {
    /// Draws a generation that is neither 0 nor `previous`.
    fn draw(&mut self, previous: u32) -> u32 {
        loop {
            self.drawn += 1;
            let drawn = self.key.hash_one(self.drawn) as u32;
            if drawn != 0 && drawn != previous {
                return drawn;
            }
        }
    }
}

/// A table with numbered places for targets. The removal of a target changes the generation of its
/// place, so that look-ups of the removed target fail.
#[derive(Debug)]
pub struct ObjectTable<T> {
    places: Vec<Place<T>>,
    free: Vec<u32>,
    generations: Generations,
}

impl<T> Default for ObjectTable<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new(), generations: Generations::default() }
    }
}

impl<T> ObjectTable<T> {
    /// Stores a target and returns its index and generation. No generation is 0.
    pub fn insert(&mut self, tenant: T) -> (u32, u32) {
        if let Some(index) = self.free.pop() {
            let place = &mut self.places[index as usize];
            place.tenant = Some(tenant);
            return (index, place.generation);
        }
        let index = u32::try_from(self.places.len()).expect("four billion objects do not fit memory");
        let generation = self.generations.draw(0);
        self.places.push(Place { generation, tenant: Some(tenant) });
        (index, generation)
    }

    /// Finds a target.
    ///
    /// # Errors
    ///
    /// [`LookUpError`] if the numbers do not belong to a stored target.
    pub fn get(&self, index: u32, generation: u32) -> Result<&T, LookUpError> {
        let place = self.places.get(index as usize).ok_or(LookUpError::OutOfRange)?;
        if place.generation != generation {
            return Err(LookUpError::Stale);
        }
        place.tenant.as_ref().ok_or(LookUpError::Free)
    }

    /// Removes and returns a target.
    ///
    /// # Errors
    ///
    /// As for [`Self::get`].
    pub fn remove(&mut self, index: u32, generation: u32) -> Result<T, LookUpError> {
        self.get(index, generation)?;
        let place = &mut self.places[index as usize];
        let tenant = place.tenant.take().ok_or(LookUpError::Free)?;
        place.generation = self.generations.draw(generation);
        self.free.push(index);
        Ok(tenant)
    }

    /// Returns all targets in the order of their indexes.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.places.iter().filter_map(|place| place.tenant.as_ref())
    }
}

/// A table for many threads, which may keep copies of the targets that they have found. Each thread
/// with copies has a [`Watch`]. The table stores, for each target, the watches of the threads that
/// have a copy, so that the removal of the target disturbs only these threads.
#[derive(Debug)]
pub struct SharedTable<T> {
    table: RwLock<ObjectTable<Copied<T>>>,
    removals: AtomicU64,
    recalls: AtomicU64,
    watches: Mutex<Watches>,
}

/// A target, and the watches of the threads that keep copies of it.
#[derive(Debug)]
struct Copied<T> {
    target: T,
    watches: Mutex<Watches>,
}

/// Watches, by their addresses. A weak reference keeps a watch's memory allocated, so no other
/// watch gets the same address as long as the entry exists. The entries of ended threads are
/// removed before the map grows.
#[derive(Debug, Default)]
struct Watches(HashMap<usize, Weak<Watch>>);

impl Watches {
    /// Adds a watch, unless it was added before.
    fn add(&mut self, watch: &Arc<Watch>) {
        if self.0.len() == self.0.capacity() {
            self.0.retain(|_, other| other.strong_count() > 0);
        }
        self.0.entry(Arc::as_ptr(watch).addr()).or_insert_with(|| Arc::downgrade(watch));
    }

    fn live(&self) -> impl Iterator<Item = Arc<Watch>> {
        self.0.values().filter_map(Weak::upgrade)
    }
}

/// Targets that were removed from a table, and the alarms of the threads that keep copies of them.
/// When this value is dropped, it first rings the alarms, so that the threads drop their copies,
/// and then drops the targets.
///
/// The value must be dropped while no lock is held: an alarm may end a connection, and the drop of
/// a target may run program code.
#[derive(Debug)]
#[must_use]
pub struct Removed<T> {
    targets: Vec<T>,
    alarms: Vec<Alarm>,
}

impl<T> Removed<T> {
    /// Whether no target was removed.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Returns the number of removed targets.
    pub fn len(&self) -> usize {
        self.targets.len()
    }
}

impl<T> Drop for Removed<T> {
    fn drop(&mut self) {
        // The targets are dropped after this function: their drop may take long, or panic.
        self.alarms.iter().for_each(Alarm::ring);
    }
}

/// The part of a [`SharedTable`] that shows a thread whether its copies of targets are still valid.
///
/// A watch holds two values: the number of the target that was fetched last, and the number of
/// other valid copies. As long as the first value is unchanged, the copy of that target is valid
/// without a look-up. The removal of a copied target resets both values. Only the thread that owns
/// the watch sets other values. C code depends on the layout of the two values.
#[derive(Debug)]
#[repr(C)]
pub struct Watch {
    target: AtomicU64,
    valid: AtomicU32,
    /// The alarm that interrupts the thread's wait.
    alarm: Alarm,
}

impl Watch {
    /// The number that means no target. No table has a place with this index.
    const NO_TARGET: u64 = u64::MAX;

    fn new(alarm: Alarm) -> Self {
        Self { target: AtomicU64::new(Self::NO_TARGET), valid: AtomicU32::new(0), alarm }
    }

    /// Returns the number of the target that was fetched last, or `u64::MAX` if its copy is not
    /// valid.
    #[inline(always)]
    pub fn target(&self) -> u64 {
        self.target.load(Ordering::Acquire)
    }

    /// Returns the number of valid copies, not counting the target that was fetched last.
    #[inline(always)]
    pub fn valid(&self) -> u32 {
        self.valid.load(Ordering::Acquire)
    }

    /// Marks all copies as invalid, so that the owner looks its targets up again.
    pub fn invalidate(&self) {
        self.target.store(Self::NO_TARGET, Ordering::Release);
        self.valid.store(0, Ordering::Release);
    }

    /// Marks the copy of `target` as valid, and sets the number of other valid copies. The owner
    /// has to call this method before it looks the target up, so that it does not miss a concurrent
    /// removal.
    pub fn revalidate(&self, target: u64, copies: u32) {
        self.target.swap(target, Ordering::AcqRel);
        self.valid.swap(copies, Ordering::AcqRel);
    }
}

impl<T> Default for SharedTable<T> {
    fn default() -> Self {
        Self {
            table: RwLock::default(),
            removals: AtomicU64::new(0),
            recalls: AtomicU64::new(0),
            watches: Mutex::default(),
        }
    }
}

impl<T: Clone> SharedTable<T> {
    /// Stores a target: see [`ObjectTable::insert`].
    pub fn insert(&self, target: T) -> (u32, u32) {
        let copied = Copied { target, watches: Mutex::default() };
        self.table.write().unwrap_or_else(PoisonError::into_inner).insert(copied)
    }

    /// Finds and clones a target: see [`ObjectTable::get`].
    ///
    /// # Errors
    ///
    /// [`LookUpError`] if the numbers do not belong to a stored target.
    pub fn get(&self, index: u32, generation: u32) -> Result<T, LookUpError> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        table.get(index, generation).map(|found| found.target.clone())
    }

    /// Finds and clones a target for a thread that keeps the clone. The removal of the target
    /// invalidates the thread's watch and rings its alarm.
    ///
    /// # Errors
    ///
    /// As for [`Self::get`].
    pub fn copy(&self, index: u32, generation: u32, watch: &Arc<Watch>) -> Result<T, LookUpError> {
        // A removal takes this lock for writing. So it comes either after this function, and then
        // finds the watch, or before, and then the look-up fails.
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let found = table.get(index, generation)?;
        found.watches.lock().unwrap_or_else(PoisonError::into_inner).add(watch);
        Ok(found.target.clone())
    }

    /// Returns the indexes of those pairs of index and generation that no longer denote a target.
    pub fn missing(&self, numbers: impl Iterator<Item = (u32, u32)>) -> Vec<u32> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        numbers.filter(|&(index, generation)| table.get(index, generation).is_err()).map(|(index, _)| index).collect()
    }

    /// Removes and returns the targets of `numbers`. Numbers without a target are skipped.
    /// Invalidates the watches of the threads that have copies of them.
    pub fn remove(&self, numbers: impl IntoIterator<Item = (u32, u32)>) -> Removed<T> {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let removed: Vec<Copied<T>> =
            numbers.into_iter().filter_map(|(index, generation)| table.remove(index, generation).ok()).collect();
        drop(table);
        if removed.is_empty() {
            return Removed { targets: Vec::new(), alarms: Vec::new() };
        }
        self.removals.fetch_add(1, Ordering::Release);
        let (mut targets, mut watches) = (Vec::with_capacity(removed.len()), Vec::new());
        for Copied { target, watches: own } in removed {
            targets.push(target);
            watches.extend(own.into_inner().unwrap_or_else(PoisonError::into_inner).live());
        }
        // A thread may have copies of several of the targets, so the list can contain a watch more
        // than once.
        watches.sort_unstable_by_key(Arc::as_ptr);
        watches.dedup_by_key(|watch| Arc::as_ptr(watch));
        watches.iter().for_each(|watch| watch.invalidate());
        Removed { targets, alarms: watches.iter().map(|watch| watch.alarm.clone()).collect() }
    }

    /// Invalidates all copies, because properties of the targets may have changed.
    pub fn recall(&self) {
        self.recalls.fetch_add(1, Ordering::Release);
        self.watches().live().for_each(|watch| watch.invalidate());
    }

    /// Returns the number of calls of [`Self::recall`] so far.
    pub fn recalls(&self) -> u64 {
        self.recalls.load(Ordering::Acquire)
    }

    /// Returns the number of calls of [`Self::remove`] that have removed targets. As long as this
    /// number does not change, no copy is stale.
    pub fn removals(&self) -> u64 {
        self.removals.load(Ordering::Acquire)
    }

    /// Returns a watch for a thread that keeps copies. `alarm` interrupts the thread's wait.
    pub fn watch(&self, alarm: Alarm) -> Arc<Watch> {
        let watch = Arc::new(Watch::new(alarm));
        self.watches().add(&watch);
        watch
    }

    fn watches(&self) -> MutexGuard<'_, Watches> {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_generations_find_no_target() {
        let mut table = ObjectTable::default();
        let (index, generation) = table.insert("first");
        assert_eq!(table.get(index, generation), Ok(&"first"));
        assert_eq!(table.remove(index, generation), Ok("first"));
        assert_eq!(table.get(index, generation), Err(LookUpError::Stale));
        let (again, next) = table.insert("second");
        assert_eq!(again, index);
        assert_eq!(table.get(index, next), Ok(&"second"));
        assert_eq!(table.get(index, generation), Err(LookUpError::Stale));
        assert_eq!(table.get(index, next ^ 1), Err(LookUpError::Stale));
        assert_eq!(table.get(index + 1, next), Err(LookUpError::OutOfRange));
    }

    #[test]
    fn generations_are_random() {
        let mut tables = [ObjectTable::default(), ObjectTable::default()];
        let mut drawn: Vec<u32> = (0..64).flat_map(|_| tables.each_mut().map(|table| table.insert(()).1)).collect();
        // One of the places is used again, 64 times.
        for _ in 0..64 {
            let last = drawn[drawn.len() - 1];
            tables[1].remove(63, last).unwrap();
            drawn.push(tables[1].insert(()).1);
        }
        assert!(drawn.iter().all(|&generation| generation != 0));
        assert!(drawn.iter().filter(|&&generation| generation > u32::MAX / 2).count() > 32);
        drawn.sort_unstable();
        drawn.dedup();
        // In one of 200,000 runs, two of the 192 random numbers are equal. Two pairs of equal
        // numbers almost never occur.
        assert!(drawn.len() > 190);
    }

    #[test]
    fn empty_places_of_the_object_table_are_free() {
        let mut table = ObjectTable::default();
        let (index, generation) = table.insert(());
        table.remove(index, generation).unwrap();
        let next = table.places[index as usize].generation;
        assert_eq!(table.get(index, next), Err(LookUpError::Free));
    }

    #[test]
    fn removed_targets_are_missing_and_invalidate_the_watches_of_their_copies() {
        let table = SharedTable::default();
        let (watch, stranger) = (table.watch(Alarm::default()), table.watch(Alarm::default()));
        let (index, generation) = table.insert(5);
        let (other, others) = table.insert(6);
        assert_eq!(table.copy(index, generation, &watch), Ok(5));
        assert_eq!(table.copy(other, others, &stranger), Ok(6));
        watch.revalidate(5, 2);
        stranger.revalidate(6, 2);
        assert_eq!(table.missing([(index, generation), (other, others)].into_iter()), []);
        assert_eq!(table.remove([(index, generation), (7, 1)]).targets, [5]);
        assert_eq!((watch.target(), watch.valid()), (u64::MAX, 0));
        assert_eq!((stranger.target(), stranger.valid()), (6, 2));
        assert_eq!(table.missing([(index, generation), (other, others)].into_iter()), [index]);
        assert_eq!(table.get(index, generation), Err(LookUpError::Stale));
        table.recall();
        assert_eq!((stranger.target(), stranger.valid()), (u64::MAX, 0));
    }

    #[test]
    fn one_alarm_rings_for_all_copies_of_a_thread_and_none_for_those_of_ended_threads() {
        let table = SharedTable::default();
        let watch = table.watch(Alarm::default());
        let numbers = [1, 2, 3].map(|target| table.insert(target));
        for (index, generation) in numbers.into_iter().chain(numbers) {
            table.copy(index, generation, &watch).unwrap();
            table.copy(index, generation, &table.watch(Alarm::default())).unwrap();
        }
        let removed = table.remove(numbers);
        assert_eq!((removed.len(), removed.alarms.len()), (3, 1));
        assert!(table.remove(numbers).is_empty());
    }

    #[test]
    fn lists_of_watches_grow_with_the_living_threads_alone() {
        let table = SharedTable::default();
        let (index, generation) = table.insert(());
        for _ in 0..1000 {
            table.copy(index, generation, &table.watch(Alarm::default())).unwrap();
        }
        assert!(table.watches().0.capacity() < 10);
        let inner = table.table.read().unwrap();
        assert!(inner.get(index, generation).unwrap().watches.lock().unwrap().0.capacity() < 10);
    }
}
