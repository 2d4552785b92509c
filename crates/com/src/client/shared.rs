//! Memory of this process that calls pass by reference. This process allocates the memory, and the
//! processes that receive it map it.

use crate::protocol::own_calls;
use crate::types::error::Result;
use obvia_rpc::vi_call::{Channel, PassedRegion};
use obvia_via::window::{OwnRegion, REGION_CACHES, REGIONS_MAX, RegionCache};
use std::collections::{BTreeMap, HashSet};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The selected regions of a thread: `REGION_CACHES` for arrays that methods read, then as many for
/// arrays that methods write.
pub(crate) type RegionCaches = [RegionCache; 2 * REGION_CACHES];

#[expect(clippy::declare_interior_mutable_const, reason = "each thread has its own")]
pub(crate) const EMPTY_CACHES: RegionCaches = [const { RegionCache::new() }; 2 * REGION_CACHES];

/// The access of other processes to the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read access only, which the kernel enforces.
    Read,
    /// Read and write access, at any time from the first call that passes the memory until this
    /// process releases the memory.
    Write,
}

/// A region in the table of the process.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) region: OwnRegion,
    id: u64,
}

/// The table of the process: its regions, and the selections of its threads.
#[derive(Default)]
struct Tables {
    /// The regions, by their start address.
    regions: BTreeMap<usize, Arc<Known>>,
    made: u64,
    threads: Vec<CachesPointer>,
}

struct CachesPointer(NonNull<RegionCaches>);

// SAFETY: the pointer leads to atomic words of a thread. The thread removes the pointer from the
// table before the thread ends.
unsafe impl Send for CachesPointer {}

static TABLES: Mutex<Option<Tables>> = Mutex::new(None);

fn tables() -> MutexGuard<'static, Option<Tables>> {
    TABLES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Allocates memory that stays in the table of the process until its [`end`].
pub(crate) fn make(bytes: usize, access: Access) -> Result<Arc<Known>> {
    let region = OwnRegion::new(bytes, access == Access::Write)?;
    let mut tables = tables();
    let tables = tables.get_or_insert_default();
    tables.made += 1;
    let known = Arc::new(Known { region, id: tables.made });
    tables.regions.insert(known.start().as_ptr().addr(), Arc::clone(&known));
    Ok(known)
}

/// Releases the memory that begins at `start`. Ignores an address at which no memory of the table
/// begins.
pub(crate) fn end(start: *mut u8) {
    let mut tables = tables();
    let Some(tables) = tables.as_mut() else { return };
    let ended = tables.regions.remove(&start.addr());
    if ended.is_some() {
        // The selections are cleared before the addresses can be reused by other memory.
        for thread in &tables.threads {
            // SAFETY: the pointer belongs to a thread that has not ended.
            let caches = unsafe { thread.0.as_ref() };
            caches.iter().filter(|cache| cache.begins_at(start.addr())).for_each(RegionCache::clear);
        }
    }
}

/// Returns the memory of this process that contains an address, if there is any.
pub(crate) fn find(address: usize) -> Option<Arc<Known>> {
    let tables = tables();
    let (start, known) = tables.as_ref()?.regions.range(..=address).next_back()?;
    (address - start < known.region.length()).then(|| Arc::clone(known))
}

impl Known {
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.region.start()
    }

    pub(crate) fn is_writable(&self) -> bool {
        self.region.is_writable()
    }

    /// Selects this region in `cache`, an entry of this thread's selections `caches`. `number` is
    /// the region's number at the peer. Returns false if the region has ended since it was found.
    pub(crate) fn fill_cache(&self, cache: &RegionCache, number: u16, caches: &RegionCaches) -> bool {
        let mut tables = tables();
        let tables = tables.get_or_insert_default();
        let start = self.start().as_ptr().addr();
        if tables.regions.get(&start).is_none_or(|known| known.id != self.id) {
            return false;
        }
        let thread = NonNull::from(caches);
        if !tables.threads.iter().any(|known| known.0 == thread) {
            tables.threads.push(CachesPointer(thread));
        }
        cache.fill(start, self.region.length(), number);
        true
    }
}

/// Removes the selections of an ending thread from the table.
pub(crate) fn leave(caches: &RegionCaches) {
    if let Some(tables) = tables().as_mut() {
        tables.threads.retain(|known| known.0 != NonNull::from(caches));
    }
}

/// Returns the number of a region at the peer of a channel, and sends the region if the peer does
/// not have it. `None` if the peer cannot map the region. `caches` are the selections of the thread
/// that owns the channel. Before the peer is told to unmap regions, their selections are cleared.
///
/// # Errors
///
/// If the region cannot be sent, or the peer does not answer. The channel is broken then.
pub(crate) fn number_for(channel: &mut Channel, region: &Known, caches: &RegionCaches) -> Result<Option<u16>> {
    if !channel.shares_memory() {
        return Ok(None);
    }
    let is_it = |passed: &Option<PassedRegion>| passed.is_some_and(|passed| passed.id == region.id);
    if let Some(at) = channel.passed_regions().iter().position(is_it) {
        return Ok(channel.passed_regions()[at].filter(|passed| passed.is_mapped).map(|_| number_at(at)));
    }
    let ended = take_ended(channel);
    let at = free_place(channel, region.id, caches);
    let numbers: Vec<u16> = ended.iter().chain(at.1.as_ref()).copied().collect();
    caches.iter().filter(|cache| numbers.iter().any(|number| cache.has(*number))).for_each(RegionCache::clear);
    let number = number_at(at.0);
    let outcome = channel.pass_region(number, &region.region).map_err(crate::Error::from);
    let outcome = outcome.and_then(|()| own_calls::regions(channel, number, &numbers));
    // If the peer did not answer, the message with this region may still wait at the peer. The peer
    // would then mistake this message for the message with the next region of the same number. So
    // the connection ends.
    let is_mapped = outcome.inspect_err(|_| channel.break_off())?;
    channel.passed_regions()[at.0] = Some(PassedRegion { id: region.id, is_mapped });
    Ok(is_mapped.then_some(number))
}

fn number_at(at: usize) -> u16 {
    at as u16 + 1
}

/// Removes ended regions from a channel's table, and returns their numbers.
fn take_ended(channel: &mut Channel) -> Vec<u16> {
    let tables = tables();
    let alive: HashSet<u64> = tables.iter().flat_map(|tables| tables.regions.values()).map(|known| known.id).collect();
    let mut ended = Vec::new();
    for (at, passed) in channel.passed_regions().iter_mut().enumerate() {
        if passed.is_some_and(|passed| !alive.contains(&passed.id)) {
            ended.push(number_at(at));
            *passed = None;
        }
    }
    ended
}

/// Returns a free place in a channel's table. If all places are taken, returns the place and the
/// number of another region, which the peer must unmap. Selected regions keep their places, since
/// the call may need them for its other arrays.
fn free_place(channel: &mut Channel, id: u64, caches: &RegionCaches) -> (usize, Option<u16>) {
    let passed = channel.passed_regions();
    if let Some(at) = passed.iter().position(Option::is_none) {
        return (at, None);
    }
    if passed.len() < REGIONS_MAX {
        passed.push(None);
        return (passed.len() - 1, None);
    }
    let is_selected = |at: &usize| caches.iter().any(|cache| cache.has(number_at(*at)));
    let first = id as usize % REGIONS_MAX;
    let mut places = (first..first + REGIONS_MAX).map(|at| at % REGIONS_MAX);
    let at = places.find(|at| !is_selected(at)).unwrap_or(first);
    (at, Some(number_at(at)))
}
