//! The queue of outgoing datagrams.

use crate::octets::shrink;
use std::ops::Range;

/// Datagrams in the order of sending, each with its destination.
#[derive(Debug)]
pub struct Output<T> {
    bytes: Vec<u8>,
    datagrams: Vec<(T, Range<usize>)>,
}

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

    /// Removes all datagrams, after they were sent.
    pub fn clear(&mut self) {
        self.datagrams.clear();
        shrink(&mut self.bytes);
    }
}
