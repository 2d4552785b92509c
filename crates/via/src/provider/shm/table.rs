//! The table of registrations: peers look at a NIC's table before they access a region directly.
//!
//! Each region that peers may reach has a word. A peer learns the word's value with the region. The
//! word changes when the registration ends, and the peer sees the change when it next reads the
//! word. The word stops only peers that keep the rules. Any other peer can keep its mapping of the
//! region, but the region's file is used for nothing else.

use super::mapping::{self, Mapping};
use crate::Error;
use crate::sync::lock;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Mutex;
use std::sync::atomic::{Ordering, fence};

/// The length of a table, in bytes: 16384 regions. Peers do not access further regions directly:
/// their owner makes the copies.
pub(super) const LENGTH: usize = 64 << 10;
/// The maximum length of a peer's table, in bytes.
const LENGTH_MAX: usize = 16 << 20;

/// Whether a table may have this length.
pub(super) fn is_possible(length: usize) -> bool {
    length > 0 && length <= LENGTH_MAX && length.is_multiple_of(4096)
}

/// The table of a NIC.
#[derive(Debug)]
pub(super) struct Table {
    own: Mapping,
    file: OwnedFd,
    unused: Mutex<Unused>,
}

#[derive(Debug, Default)]
struct Unused {
    // Words that were used before and are free again.
    returned: Vec<u32>,
    // The first word that was never used.
    next: u32,
}

/// A region's word, and its value while the registration holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) index: u32,
    pub(super) value: u32,
}

impl Entry {
    pub(super) fn to_bytes(self) -> [u8; 8] {
        (u64::from(self.index) | u64::from(self.value) << 32).to_le_bytes()
    }

    pub(super) fn from_bytes(bytes: [u8; 8]) -> Self {
        let word = u64::from_le_bytes(bytes);
        Self { index: word as u32, value: (word >> 32) as u32 }
    }
}

impl Table {
    pub(super) fn new() -> Result<Self, Error> {
        let (own, file) = mapping::create(LENGTH)?;
        Ok(Self { own, file, unused: Mutex::default() })
    }

    pub(super) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Assigns a word to a region. `None` when all words are in use.
    pub(super) fn enter(&self) -> Option<Entry> {
        let mut unused = lock(&self.unused);
        let index = unused.returned.pop().or_else(|| {
            let next = unused.next;
            ((next as usize) < LENGTH / 4).then(|| {
                unused.next += 1;
                next
            })
        })?;
        let value = self.own.word(index as usize * 4).load(Ordering::Relaxed);
        Some(Entry { index, value })
    }

    /// Ends a registration. A word whose values are used up is not assigned again.
    pub(super) fn leave(&self, entry: Entry) {
        let value = entry.value.wrapping_add(1);
        self.own.word(entry.index as usize * 4).store(value, Ordering::Release);
        // Later accesses of the owner to the region's bytes must come after the change of the word.
        fence(Ordering::SeqCst);
        if value != u32::MAX {
            lock(&self.unused).returned.push(entry.index);
        }
    }
}

/// Whether the registration holds, according to a peer's table.
pub(super) fn holds(table: &Mapping, entry: Entry) -> bool {
    let at = entry.index as usize * 4;
    at + 4 <= table.length() && table.word(at).load(Ordering::Acquire) == entry.value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore)]
    fn ended_registrations_stay_invalid_when_their_word_is_reused() {
        let table = Table::new().unwrap();
        let theirs = mapping::open(&table.file, LENGTH).unwrap();
        let (first, second) = (table.enter().unwrap(), table.enter().unwrap());
        assert!(first.index != second.index && holds(&theirs, first) && holds(&theirs, second));
        table.leave(first);
        assert!(!holds(&theirs, first) && holds(&theirs, second));
        let third = table.enter().unwrap();
        assert_eq!(third.index, first.index);
        assert!(!holds(&theirs, first) && holds(&theirs, third));
        assert!(!holds(&theirs, Entry { index: u32::MAX, value: 0 }), "outside");
    }

    #[test]
    #[cfg_attr(miri, ignore)]
    fn a_full_registration_table_is_no_error() {
        let table = Table::new().unwrap();
        assert_eq!((0..LENGTH / 4).filter_map(|_| table.enter()).count(), LENGTH / 4);
        assert_eq!(table.enter(), None);
    }
}
