//! Memory for libfabric's own notes about running operations (`fi_context`): one element for each
//! operation.

use std::cell::UnsafeCell;
use std::ffi::c_void;

/// The operation that a completion belongs to. Descriptors are numbered from the beginning of the
/// connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// A receive descriptor.
    Receive(u64),
    /// A send or an RDMA.
    Send(u64),
    /// The message that announces an RDMA write with immediate data.
    Notice(u64),
    /// A message to the peer's provider.
    Control,
    /// The receive that detects messages for which the user has posted no receive descriptor.
    Guard,
}

/// An array with an element for each operation that may be running: `depth` of each numbered kind,
/// and one of each other kind.
#[derive(Debug)]
pub(super) struct Notes {
    // Rust code never accesses the contents, so that libfabric may write them at any time. The box
    // keeps its address when its owner moves.
    room: Box<[UnsafeCell<u64>]>,
    depth: u64,
    // The size of an element, in words.
    each: usize,
}

impl Notes {
    pub(super) fn new(depth: u64, bytes: usize) -> Self {
        let each = bytes.div_ceil(size_of::<u64>()).max(1);
        let places = depth as usize * 3 + 2;
        Self { room: (0..places * each).map(|_| UnsafeCell::new(0)).collect(), depth, each }
    }

    /// Returns the address of an operation's element. The element is exclusive to the operation as
    /// long as at most `depth` operations of a kind are running.
    pub(super) fn place(&self, slot: Slot) -> *mut c_void {
        let at = match slot {
            Slot::Receive(number) => number % self.depth,
            Slot::Send(number) => self.depth + number % self.depth,
            Slot::Notice(number) => 2 * self.depth + number % self.depth,
            Slot::Control => 3 * self.depth,
            Slot::Guard => 3 * self.depth + 1,
        };
        self.room[at as usize * self.each].get().cast()
    }

    /// Returns the operation of the element at `place`. `receives` and `sends` are the numbers of
    /// the oldest running receive and send.
    pub(super) fn slot(&self, place: *mut c_void, receives: u64, sends: u64) -> Option<Slot> {
        let bytes = place.addr().checked_sub(self.room.as_ptr().addr())?;
        let each = self.each * size_of::<u64>();
        let at = (bytes / each) as u64;
        if !bytes.is_multiple_of(each) || at > 3 * self.depth + 1 {
            return None;
        }
        let nearest = |first: u64| first + (at % self.depth + self.depth - first % self.depth) % self.depth;
        Some(match at / self.depth {
            0 => Slot::Receive(nearest(receives)),
            1 => Slot::Send(nearest(sends)),
            2 => Slot::Notice(nearest(sends)),
            _ if at == 3 * self.depth => Slot::Control,
            _ => Slot::Guard,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Notes, Slot};

    #[test]
    fn places_are_found_again() {
        let notes = Notes::new(5, 60);
        for first in [0, 3, 7, 1_000_003] {
            for number in first..first + 5 {
                for slot in
                    [Slot::Receive(number), Slot::Send(number), Slot::Notice(number), Slot::Control, Slot::Guard]
                {
                    assert_eq!(notes.slot(notes.place(slot), first, first), Some(slot));
                }
            }
        }
    }

    #[test]
    fn other_places_are_nobodys() {
        let notes = Notes::new(2, 64);
        let last = notes.place(Slot::Guard);
        for wrong in [std::ptr::null_mut(), last.wrapping_byte_add(8), last.wrapping_byte_add(64)] {
            assert_eq!(notes.slot(wrong, 0, 0), None);
        }
    }
}
