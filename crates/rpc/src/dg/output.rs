//! The queue of outgoing datagrams.

use std::ops::Range;

/// Datagrams in the order of sending, each with its destination.
#[derive(Debug)]
pub struct Output<T> {
    bytes: Vec<u8>,
    datagrams: Vec<(T, Range<usize>)>,
}

/// The greatest buffer that is kept for the next datagrams, in bytes.
const KEPT_MAX: usize = 1 << 20;

impl<T> Default for Output<T> {
    fn default() -> Self {
        Self { bytes: Vec::new(), datagrams: Vec::new() }
    }
}

impl<T: Copy> Output<T> {
    /// Adds a datagram that `write` appends.
    pub(super) fn put(&mut self, to: T, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        write(&mut self.bytes);
        self.datagrams.push((to, start..self.bytes.len()));
    }

    /// Whether there is nothing to be sent.
    pub fn is_empty(&self) -> bool {
        self.datagrams.is_empty()
    }

    /// Returns each datagram's destination and bytes.
    pub fn iter(&self) -> impl Iterator<Item = (T, &[u8])> {
        self.datagrams.iter().map(|(to, range)| (*to, &self.bytes[range.clone()]))
    }

    /// Moves those datagrams for whose destinations `is_moved` returns true to the empty queue
    /// `into`. All datagrams keep their order.
    pub(super) fn move_to(&mut self, into: &mut Self, is_moved: impl Fn(T) -> bool) {
        let moved = self.datagrams.iter().filter(|(to, _)| is_moved(*to)).count();
        if moved == self.datagrams.len() {
            return std::mem::swap(self, into);
        }
        if moved == 0 {
            return;
        }
        let all = std::mem::take(self);
        for (to, datagram) in all.iter() {
            let queue = if is_moved(to) { &mut *into } else { &mut *self };
            queue.put(to, |bytes| bytes.extend_from_slice(datagram));
        }
    }

    /// Removes all datagrams, after they were sent.
    pub fn clear(&mut self) {
        self.datagrams.clear();
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_MAX);
    }
}
