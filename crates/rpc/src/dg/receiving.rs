//! Reassembly of a message from fragments that arrive in any order.

use super::Limits;
use super::pdu::{Fack, Header, MASKED_MAX};
use std::collections::BTreeMap;

/// The fragments of one message.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    stub: Vec<u8>,
    /// The number of the first missing fragment.
    next: u16,
    /// The fragments that have arrived after the first missing one, by number.
    early: BTreeMap<u16, Vec<u8>>,
    /// The number of bytes in `early`.
    early_bytes: usize,
    /// The number of the last fragment, if it has arrived.
    last: Option<u16>,
    /// The serial number of the last received unit.
    serial: u16,
    window: usize,
}

/// The result of adding a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Added {
    /// The fragment was stored, is a duplicate, or has to be retransmitted for lack of room.
    Taken,
    /// The message exceeds the limit.
    TooLong,
}

impl Assembly {
    /// Creates an empty message with a receive window in bytes.
    pub(super) fn new(window: usize) -> Self {
        Self { window, ..Self::default() }
    }

    /// Returns the number of bytes that have been stored.
    pub(super) fn held(&self) -> usize {
        self.stub.len() + self.early_bytes
    }

    /// Whether no fragment has arrived.
    pub(super) fn is_empty(&self) -> bool {
        self.next == 0 && self.early.is_empty()
    }

    /// Whether all fragments have arrived.
    pub(super) fn is_whole(&self) -> bool {
        self.last.is_some_and(|last| self.next == last.wrapping_add(1))
    }

    /// Returns the message.
    pub(super) fn take(self) -> Vec<u8> {
        self.stub
    }

    /// Adds a fragment. The message is too long if more than `room` bytes would be stored.
    pub(super) fn add(&mut self, header: &Header, body: &[u8], room: usize) -> Added {
        let number = header.fragment;
        self.serial = header.serial;
        let behind = number.wrapping_sub(self.next);
        // A fragment of a complete message is a duplicate. A fragment whose number is less than
        // `next` is a duplicate, too: for such a fragment, `behind` has wrapped around and is
        // large.
        if self.is_whole() || behind >= MASKED_MAX || self.last.is_some_and(|last| number > last) {
            return Added::Taken;
        }
        if self.held() + body.len() > room || number == u16::MAX {
            return Added::TooLong;
        }
        if header.is_last() {
            self.last = Some(number);
            // Fragments with numbers above that of the last fragment are invalid.
            for (_, body) in self.early.split_off(&number.wrapping_add(1)) {
                self.early_bytes -= body.len();
            }
        }
        if behind > 0 {
            // A fragment that exceeds the window was sent too early, and is not stored.
            if self.early_bytes + body.len() <= self.window && !self.early.contains_key(&number) {
                self.early_bytes += body.len();
                self.early.insert(number, body.to_vec());
            } else if header.is_last() && !self.early.contains_key(&number) {
                self.last = None;
            }
            return Added::Taken;
        }
        self.stub.extend_from_slice(body);
        self.next = self.next.wrapping_add(1);
        while let Some(body) = self.early.remove(&self.next) {
            self.early_bytes -= body.len();
            self.stub.extend_from_slice(&body);
            self.next = self.next.wrapping_add(1);
        }
        Added::Taken
    }

    /// Returns the header and the body of a fack or nocall.
    pub(super) fn fack(&self, header: Header, limits: &Limits, is_near: bool) -> (Header, Fack) {
        let kilobytes = u16::try_from(self.window >> 10).unwrap_or(u16::MAX);
        let fragment = u32::try_from(limits.fragment_max(is_near)).unwrap_or(u32::MAX);
        let mut fack = Fack::new(kilobytes, fragment, self.serial);
        for number in self.early.keys() {
            fack.insert(number.wrapping_sub(self.next));
        }
        (Header { fragment: self.next.wrapping_sub(1), ..header }, fack)
    }
}
