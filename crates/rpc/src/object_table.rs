//! Object tables: map an index and a generation to a target.

use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};

/// The reason why a look-up failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LookUpError {
    /// The place is empty.
    Free,
    /// The index is beyond the table.
    OutOfRange,
    /// The place has another generation, because the target was removed.
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
    // Invariant: never 0, and incremented at every removal. A place without generations left stays
    // empty.
    generation: u32,
    tenant: Option<T>,
}

/// Numbered places for targets. Reuse changes a place's generation, so that stale numbers fail.
#[derive(Debug)]
pub struct ObjectTable<T> {
    places: Vec<Place<T>>,
    free: Vec<u32>,
}

impl<T> Default for ObjectTable<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
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
        self.places.push(Place { generation: 1, tenant: Some(tenant) });
        (index, 1)
    }

    /// Finds a target.
    ///
    /// # Errors
    ///
    /// [`LookUpError`] if the numbers are not, or no longer, those of a target.
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
        if let Some(next) = place.generation.checked_add(1) {
            place.generation = next;
            self.free.push(index);
        }
        Ok(tenant)
    }

    /// Returns all targets in the order of their indexes.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.places.iter().filter_map(|place| place.tenant.as_ref())
    }
}

/// A table for many threads, which may keep copies of the targets that they have found.
#[derive(Debug)]
pub struct SharedTable<T> {
    table: RwLock<ObjectTable<T>>,
    removals: AtomicU64,
    recalls: AtomicU64,
    watches: Mutex<Vec<Weak<Watch>>>,
}

/// Shows a thread that keeps copies of targets whether the copies are still valid.
///
/// A watch holds two values: the number of the target that was fetched last, whose copy is then
/// valid without a look-up; and the number of other copies that are valid. The removal of any
/// target resets both values. Only the thread that owns the watch sets other values. C code reads
/// the layout.
#[derive(Debug)]
#[repr(C)]
pub struct Watch {
    target: AtomicU64,
    valid: AtomicU32,
}

impl Default for Watch {
    fn default() -> Self {
        Self { target: AtomicU64::new(Self::NO_TARGET), valid: AtomicU32::new(0) }
    }
}

impl Watch {
    /// The number that stands for no target: no table has this many places.
    const NO_TARGET: u64 = u64::MAX;

    /// Returns the number of the target that was fetched last, if its copy is valid.
    #[inline(always)]
    pub fn target(&self) -> u64 {
        self.target.load(Ordering::Acquire)
    }

    /// Returns the number of valid copies.
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
    /// has to call this before the look-up, so that it does not miss a concurrent removal.
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
    pub fn insert(&self, tenant: T) -> (u32, u32) {
        self.table.write().unwrap_or_else(PoisonError::into_inner).insert(tenant)
    }

    /// Finds and clones a target: see [`ObjectTable::get`].
    ///
    /// # Errors
    ///
    /// [`LookUpError`] if the numbers are not, or no longer, those of a target.
    pub fn get(&self, index: u32, generation: u32) -> Result<T, LookUpError> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        table.get(index, generation).cloned()
    }

    /// Returns the index of each pair of index and generation that does not denote a target any
    /// more.
    pub fn missing(&self, numbers: impl Iterator<Item = (u32, u32)>) -> Vec<u32> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        numbers.filter(|&(index, generation)| table.get(index, generation).is_err()).map(|(index, _)| index).collect()
    }

    /// Removes and returns the targets of `numbers`. Numbers without a target are skipped.
    /// Invalidates every watch if a target was removed: see [`ObjectTable::remove`].
    pub fn remove(&self, numbers: impl IntoIterator<Item = (u32, u32)>) -> Vec<T> {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let removed: Vec<T> =
            numbers.into_iter().filter_map(|(index, generation)| table.remove(index, generation).ok()).collect();
        drop(table);
        if removed.is_empty() {
            return removed;
        }
        self.removals.fetch_add(1, Ordering::Release);
        self.invalidate_all();
        removed
    }

    /// Invalidates all copies, because properties of the targets may have changed.
    pub fn recall(&self) {
        self.recalls.fetch_add(1, Ordering::Release);
        self.invalidate_all();
    }

    /// Returns how often all copies have been invalidated by [`Self::recall`].
    pub fn recalls(&self) -> u64 {
        self.recalls.load(Ordering::Acquire)
    }

    fn invalidate_all(&self) {
        for watch in self.watches().iter() {
            if let Some(watch) = watch.upgrade() {
                watch.invalidate();
            }
        }
    }

    /// Returns how often targets have been removed: while it is unchanged, no copy is stale.
    pub fn removals(&self) -> u64 {
        self.removals.load(Ordering::Acquire)
    }

    /// Returns a watch for a thread that keeps copies.
    pub fn watch(&self) -> Arc<Watch> {
        let watch = Arc::<Watch>::default();
        let mut watches = self.watches();
        watches.retain(|other| other.strong_count() > 0);
        watches.push(Arc::downgrade(&watch));
        watch
    }

    fn watches(&self) -> MutexGuard<'_, Vec<Weak<Watch>>> {
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
        assert_eq!((again, next), (index, generation + 1));
        assert_eq!(table.get(index, generation), Err(LookUpError::Stale));
        assert_eq!(table.get(index, generation + 2), Err(LookUpError::Stale));
        assert_eq!(table.get(index + 1, 1), Err(LookUpError::OutOfRange));
    }

    #[test]
    fn empty_places_of_the_object_table_are_free() {
        let mut table = ObjectTable::default();
        let (index, generation) = table.insert(());
        table.remove(index, generation).unwrap();
        assert_eq!(table.get(index, generation + 1), Err(LookUpError::Free));
    }

    #[test]
    fn removed_targets_are_missing_and_invalidate_watches() {
        let table = SharedTable::default();
        let watch = table.watch();
        let (index, generation) = table.insert(5);
        let (other, _) = table.insert(6);
        watch.revalidate(5, 2);
        assert_eq!(table.missing([(index, generation), (other, 1)].into_iter()), []);
        assert_eq!(table.remove([(index, generation), (7, 1)]), [5]);
        assert_eq!((watch.target(), watch.valid()), (u64::MAX, 0));
        assert_eq!(table.missing([(index, generation), (other, 1)].into_iter()), [index]);
        assert_eq!(table.get(index, generation), Err(LookUpError::Stale));
    }
}
