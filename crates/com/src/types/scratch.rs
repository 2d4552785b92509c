//! The private memory of a thread for the call that it performs: copies of arguments, and results
//! that the method has lent.

use std::any::Any;
use std::cell::RefCell;

thread_local! {
    /// The memory for arguments. It is kept after a call, so that later calls do not allocate.
    static ARGUMENTS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
    /// The elements that the thread's last method has lent, if they did not fit into the caller's
    /// room.
    static LENT: RefCell<Option<Box<dyn Any>>> = const { RefCell::new(None) };
}

/// The greatest length, in bytes, of the memory for arguments that a thread keeps. If the memory is
/// longer, the next call that needs no more than this length shortens it to this length.
const KEPT: usize = 4 << 20;

/// Returns the address of the word `start` of the memory for arguments. If `start` is 0, a new call
/// begins: the memory is made longer than the call's frame, whose length in bytes `frame` returns.
/// The address is valid until [`give_back`], or until the next call with `start` 0.
///
/// # Panics
///
/// If the memory ends before the word `end`.
#[inline(always)]
pub(crate) fn words(start: usize, end: usize, frame: impl FnOnce() -> usize) -> *mut u64 {
    ARGUMENTS.with_borrow_mut(|memory| {
        if start == 0 {
            let needed = frame() / 8 + 1;
            if memory.len() < needed {
                memory.resize(needed, 0);
            } else if memory.len() > KEPT / 8 && needed <= KEPT / 8 {
                memory.truncate(KEPT / 8);
                memory.shrink_to_fit();
            }
        }
        memory[start..end].as_mut_ptr()
    })
}

fn shorten(memory: &mut Vec<u64>) {
    memory.truncate(KEPT / 8);
    memory.shrink_to_fit();
}

/// Keeps lent elements until the thread's next method lends something, or the thread waits for its
/// next call. Returns false if the thread is ending: the caller has to keep the elements.
pub(crate) fn keep_lent(elements: &mut Option<Box<dyn Any>>) -> bool {
    LENT.try_with(|kept| kept.replace(elements.take())).is_ok()
}

/// Gives back the memory of the thread's last call, except for at most [`KEPT`] bytes, which
/// suffice for most calls. The thread must perform no call.
pub(crate) fn give_back() {
    // A thread that is ending gives everything back.
    let _ = ARGUMENTS.try_with(|memory| {
        let mut memory = memory.borrow_mut();
        if memory.len() > KEPT / 8 {
            shorten(&mut memory);
        }
    });
    let _ = LENT.try_with(RefCell::take);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_waits_keeps_no_more_than_most_calls_need() {
        let length = || ARGUMENTS.with_borrow(Vec::capacity) * 8;
        words(0, 1, || 2 * KEPT);
        assert!(keep_lent(&mut Some(Box::new(vec![0; 2 * KEPT]))));
        assert!(length() >= 2 * KEPT);
        give_back();
        assert_eq!(length(), KEPT);
        assert!(LENT.with_borrow(Option::is_none));
        words(0, 1, || KEPT - 8);
        give_back();
        assert_eq!(length(), KEPT);
    }
}
