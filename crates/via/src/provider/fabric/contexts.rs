//! Memory for libfabric's own state of running operations (`fi_context`): one element for each
//! operation.

use std::cell::UnsafeCell;
use std::ffi::c_void;

/// The operation that a completion belongs to. Descriptors are numbered from the beginning of the
/// connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PostedOperation {
    /// A receive, by the number of its descriptor.
    Receive(u64),
    /// A send or an RDMA, by the number of its descriptor.
    Send(u64),
    /// The message that announces an RDMA write with immediate data, by the number of the write's
    /// descriptor.
    Notice(u64),
    /// A message to the peer's provider.
    Control,
    /// The receive that detects messages for which the user has posted no receive descriptor.
    Probe,
}

/// An array with an element for each operation that may be running: `depth` operations of each
/// numbered kind, and one operation of each other kind.
#[derive(Debug)]
pub(super) struct Contexts {
    // Rust code never accesses the contents, so that libfabric may write them at any time. The
    // contents keep their address when the owner of the box moves.
    words: Box<[UnsafeCell<u64>]>,
    depth: u64,
    // The size of an element, in words.
    words_each: usize,
}

impl Contexts {
    pub(super) fn new(depth: u64, bytes: usize) -> Self {
        let words_each = bytes.div_ceil(size_of::<u64>()).max(1);
        let count = depth as usize * 3 + 2;
        Self { words: (0..count * words_each).map(|_| UnsafeCell::new(0)).collect(), depth, words_each }
    }

    /// Returns the address of an operation's element. The element is exclusive to the operation as
    /// long as at most `depth` operations of a kind are running.
    pub(super) fn context_of(&self, operation: PostedOperation) -> *mut c_void {
        let at = match operation {
            PostedOperation::Receive(number) => number % self.depth,
            PostedOperation::Send(number) => self.depth + number % self.depth,
            PostedOperation::Notice(number) => 2 * self.depth + number % self.depth,
            PostedOperation::Control => 3 * self.depth,
            PostedOperation::Probe => 3 * self.depth + 1,
        };
        self.words[at as usize * self.words_each].get().cast()
    }

    /// Returns the operation of the element at `context`. `receives` and `sends` are the numbers of
    /// the oldest running receive and send. `None` if no element is at `context`.
    pub(super) fn operation_of(&self, context: *mut c_void, receives: u64, sends: u64) -> Option<PostedOperation> {
        let bytes = context.addr().checked_sub(self.words.as_ptr().addr())?;
        let words_each = self.words_each * size_of::<u64>();
        let at = (bytes / words_each) as u64;
        if !bytes.is_multiple_of(words_each) || at > 3 * self.depth + 1 {
            return None;
        }
        let nearest = |first: u64| first + (at % self.depth + self.depth - first % self.depth) % self.depth;
        Some(match at / self.depth {
            0 => PostedOperation::Receive(nearest(receives)),
            1 => PostedOperation::Send(nearest(sends)),
            2 => PostedOperation::Notice(nearest(sends)),
            _ if at == 3 * self.depth => PostedOperation::Control,
            _ => PostedOperation::Probe,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Contexts, PostedOperation};

    #[test]
    fn fabric_contexts_identify_their_operation() {
        let contexts = Contexts::new(5, 60);
        for first in [0, 3, 7, 1_000_003] {
            for number in first..first + 5 {
                for operation in [
                    PostedOperation::Receive(number),
                    PostedOperation::Send(number),
                    PostedOperation::Notice(number),
                    PostedOperation::Control,
                    PostedOperation::Probe,
                ] {
                    assert_eq!(contexts.operation_of(contexts.context_of(operation), first, first), Some(operation));
                }
            }
        }
    }

    #[test]
    fn foreign_addresses_identify_no_operation() {
        let contexts = Contexts::new(2, 64);
        let last = contexts.context_of(PostedOperation::Probe);
        for wrong in [std::ptr::null_mut(), last.wrapping_byte_add(8), last.wrapping_byte_add(64)] {
            assert_eq!(contexts.operation_of(wrong, 0, 0), None);
        }
    }
}
