//! A message that is arriving: its fragments are put together, whatever order they come in.

use super::Limits;
use super::pdu::{Fack, Header, MASKED_MAX};
use std::collections::BTreeMap;

/// The fragments of one message.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    stub: Vec<u8>,
    /// The number of the first fragment that is missing.
    next: u16,
    /// Fragments behind one that is missing.
    early: BTreeMap<u16, Vec<u8>>,
    /// Bytes of those.
    early_bytes: usize,
    /// The number of the last one, if it has come.
    last: Option<u16>,
    /// The serial number of the last unit that came.
    serial: u16,
    window: usize,
}

/// What came of a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Added {
    /// It is there now, or was before, or comes again when there is room for it.
    Taken,
    /// The message would be longer than the limit.
    TooLong,
}

impl Assembly {
    /// The beginning of a message, of which so many bytes are to be under way.
    pub(super) fn new(window: usize) -> Self {
        Self { window, ..Self::default() }
    }

    /// Bytes that it keeps.
    pub(super) fn held(&self) -> usize {
        self.stub.len() + self.early_bytes
    }

    /// Whether nothing has come yet.
    pub(super) fn is_empty(&self) -> bool {
        self.next == 0 && self.early.is_empty()
    }

    /// Whether all of the message is there.
    pub(super) fn is_whole(&self) -> bool {
        self.last.is_some_and(|last| self.next == last.wrapping_add(1))
    }

    /// The message.
    pub(super) fn take(self) -> Vec<u8> {
        self.stub
    }

    /// Adds a fragment. What keeps more than `room` bytes is too long.
    pub(super) fn add(&mut self, header: &Header, body: &[u8], room: usize) -> Added {
        let number = header.fragment;
        self.serial = header.serial;
        let behind = number.wrapping_sub(self.next);
        // Its number comes round after all others have come; what is far behind has come already.
        if self.is_whole() || behind >= MASKED_MAX || self.last.is_some_and(|last| number > last) {
            return Added::Taken;
        }
        if self.held() + body.len() > room || number == u16::MAX {
            return Added::TooLong;
        }
        if header.is_last() {
            self.last = Some(number);
            // There is nothing behind the last one.
            for (_, body) in self.early.split_off(&number.wrapping_add(1)) {
                self.early_bytes -= body.len();
            }
        }
        if behind > 0 {
            // What does not fit the window was not to be sent yet.
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

    /// What there is to say about it: a header for fack or nocall, and the body.
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
