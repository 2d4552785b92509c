//! A global allocator that counts allocations.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, Ordering};

static PROCESS: AtomicI64 = AtomicI64::new(0);

thread_local! {
    static THREAD: Cell<i64> = const { Cell::new(0) };
}

/// The system's allocator, with counters of allocations for the process and for each thread.
pub struct Counting;

fn count() {
    PROCESS.fetch_add(1, Ordering::Relaxed);
    // At the end of a thread, the thread's counter may already be destroyed.
    let _ = THREAD.try_with(|thread| thread.set(thread.get() + 1));
}

// SAFETY: all methods pass their arguments to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller fulfils the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller fulfils the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller fulfils the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller fulfils the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Returns the numbers of allocations so far, of the process and of this thread.
pub fn counts() -> (i64, i64) {
    (PROCESS.load(Ordering::Relaxed), THREAD.get())
}
