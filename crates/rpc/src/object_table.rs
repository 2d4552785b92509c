//! Object tables: index and generation in, target out; and lock-free caches of them.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

/// Why a look-up found nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LookUpError {
    /// The place is empty.
    Free,
    /// No place of the table has this index.
    OutOfRange,
    /// The place has had another tenant since.
    Stale,
}

impl fmt::Display for LookUpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Free => "the place in the object table is empty",
            Self::OutOfRange => "the object table has no such place",
            Self::Stale => "the place in the object table has another tenant by now",
        })
    }
}

impl std::error::Error for LookUpError {}

#[derive(Debug)]
struct Place<T> {
    // Invariant: counts up with every removal, and is never 0; a place whose generations are used up stays empty.
    generation: u32,
    tenant: Option<T>,
}

/// Numbered places for targets. A place that is used again has another generation, so an old number finds nothing.
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
    /// Gives a target a place, and returns its index and generation. No generation is 0.
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
    /// When the numbers are no target's, or no longer one's.
    pub fn get(&self, index: u32, generation: u32) -> Result<&T, LookUpError> {
        let place = self.places.get(index as usize).ok_or(LookUpError::OutOfRange)?;
        if place.generation != generation {
            return Err(LookUpError::Stale);
        }
        place.tenant.as_ref().ok_or(LookUpError::Free)
    }

    /// Takes a target out.
    ///
    /// # Errors
    ///
    /// As [`Self::get`].
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

    /// Every target, in the order of the indexes.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.places.iter().filter_map(|place| place.tenant.as_ref())
    }
}

/// A table that many threads look things up in, with the count of removals outside its lock.
#[derive(Debug)]
pub struct SharedTable<T> {
    table: RwLock<ObjectTable<T>>,
    // Counts removals, so that caches know when to look whether what they keep is still there.
    removals: AtomicU64,
}

impl<T> Default for SharedTable<T> {
    fn default() -> Self {
        Self { table: RwLock::default(), removals: AtomicU64::new(0) }
    }
}

impl<T: Clone> SharedTable<T> {
    /// Gives a target a place: see [`ObjectTable::insert`].
    pub fn insert(&self, tenant: T) -> (u32, u32) {
        self.table.write().unwrap_or_else(PoisonError::into_inner).insert(tenant)
    }

    /// Finds a target and clones it: see [`ObjectTable::get`].
    ///
    /// # Errors
    ///
    /// When the numbers are no target's, or no longer one's.
    pub fn get(&self, index: u32, generation: u32) -> Result<T, LookUpError> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        table.get(index, generation).cloned()
    }

    /// Takes a target out: see [`ObjectTable::remove`]. Caches drop their clones at their next look-up or purge.
    ///
    /// # Errors
    ///
    /// As [`Self::get`].
    pub fn remove(&self, index: u32, generation: u32) -> Result<T, LookUpError> {
        let removed = self.table.write().unwrap_or_else(PoisonError::into_inner).remove(index, generation);
        self.removals.fetch_add(1, Ordering::Release);
        removed
    }
}

/// One thread's clones of the targets that it was asked for.
///
/// A hit is a load of the table's count of removals, two comparisons and a bounds check: no lock, and no store to memory that
/// other threads use.
#[derive(Debug)]
pub struct Cached<T> {
    places: Vec<Option<(u32, T)>>,
    removals: u64,
}

impl<T> Default for Cached<T> {
    fn default() -> Self {
        Self { places: Vec::new(), removals: 0 }
    }
}

impl<T: Clone> Cached<T> {
    /// An empty cache.
    pub fn new() -> Self {
        Self::default()
    }

    /// Finds a target, in the cache or else in the table.
    ///
    /// # Errors
    ///
    /// As [`SharedTable::get`].
    #[inline]
    pub fn lookup(&mut self, table: &SharedTable<T>, index: u32, generation: u32) -> Result<&T, LookUpError> {
        let fresh = self.removals == table.removals.load(Ordering::Acquire);
        let hit = matches!(self.places.get(index as usize), Some(Some((known, _))) if *known == generation);
        if !(fresh && hit) {
            return self.fetch(table, index, generation);
        }
        match self.places.get(index as usize) {
            Some(Some((_, target))) => Ok(target),
            _ => Err(LookUpError::Free),
        }
    }

    #[cold]
    #[inline(never)]
    fn fetch(&mut self, table: &SharedTable<T>, index: u32, generation: u32) -> Result<&T, LookUpError> {
        self.purge(table);
        let target = table.get(index, generation)?;
        // The table has this index, so the cache need not be longer than the table is.
        let at = index as usize;
        if self.places.len() <= at {
            self.places.resize_with(at + 1, || None);
        }
        let (_, target) = self.places[at].insert((generation, target));
        Ok(target)
    }

    /// Drops every clone whose target has been taken out of the table.
    pub fn purge(&mut self, table: &SharedTable<T>) {
        let removals = table.removals.load(Ordering::Acquire);
        if removals == self.removals {
            return;
        }
        self.removals = removals;
        let mut dropped = Vec::new();
        let known = table.table.read().unwrap_or_else(PoisonError::into_inner);
        for (index, place) in self.places.iter_mut().enumerate() {
            let gone = place.as_ref().is_some_and(|(generation, _)| known.get(index as u32, *generation).is_err());
            if gone {
                dropped.push(place.take());
            }
        }
        drop(known);
        // Dropping a target may run its author's code: never under the lock.
        drop(dropped);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn an_old_number_finds_nothing() {
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
    fn an_empty_place_is_free() {
        let mut table = ObjectTable::default();
        let (index, generation) = table.insert(());
        table.remove(index, generation).unwrap();
        assert_eq!(table.get(index, generation + 1), Err(LookUpError::Free));
    }

    #[test]
    fn a_cache_drops_what_is_removed() {
        let table = SharedTable::default();
        let target = Arc::new(5);
        let (index, generation) = table.insert(Arc::clone(&target));
        let mut cache = Cached::new();
        assert_eq!(cache.lookup(&table, index, generation).map(|found| **found), Ok(5));
        assert_eq!(Arc::strong_count(&target), 3);
        table.remove(index, generation).unwrap();
        assert_eq!(cache.lookup(&table, index, generation), Err(LookUpError::Stale));
        assert_eq!(Arc::strong_count(&target), 1);
    }

    #[test]
    fn a_cache_never_returns_another_tenant() {
        let table = SharedTable::default();
        let mut cache = Cached::new();
        for round in 0..100_u32 {
            let (index, generation) = table.insert(round);
            assert_eq!(cache.lookup(&table, index, generation), Ok(&round));
            table.remove(index, generation).unwrap();
            assert!(cache.lookup(&table, index, generation).is_err());
        }
    }

    #[test]
    fn threads_see_their_targets_or_an_error() {
        let table = Arc::new(SharedTable::default());
        let readers: Vec<_> = (0..4)
            .map(|_| {
                let table = Arc::clone(&table);
                std::thread::spawn(move || {
                    let mut cache = Cached::new();
                    let turns = if cfg!(miri) { 400 } else { 20_000 };
                    for turn in 0..turns {
                        let (index, generation) = (turn % 8, turn / 8 % 50 + 1);
                        if let Ok(found) = cache.lookup(&table, index, generation) {
                            assert!(*found == (index, generation) || generation == 1);
                        }
                    }
                })
            })
            .collect();
        let mut filled = Vec::new();
        for _ in 0..8 {
            filled.push(table.insert((0, 0)));
        }
        for _ in 0..if cfg!(miri) { 5 } else { 49 } {
            for place in &mut filled {
                table.remove(place.0, place.1).unwrap();
                // The tenant names its own place, so a reader can tell a wrong one.
                let next = (place.0, place.1 + 1);
                *place = table.insert(next);
                assert_eq!(*place, next);
            }
        }
        for reader in readers {
            reader.join().unwrap();
        }
    }
}
