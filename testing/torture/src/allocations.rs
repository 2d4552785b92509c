//! A global allocator that counts.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, Ordering};

static PROCESS: AtomicI64 = AtomicI64::new(0);

thread_local! {
    static THREAD: Cell<i64> = const { Cell::new(0) };
}

/// The system's allocator; every allocation counts, for the process and for the thread.
pub struct Counting;

fn count() {
    PROCESS.fetch_add(1, Ordering::Relaxed);
    // A thread that ends has no counter any more.
    let _ = THREAD.try_with(|thread| thread.set(thread.get() + 1));
}

// SAFETY: hands everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promise.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Allocations of the process so far, and of this thread.
pub fn counts() -> (i64, i64) {
    (PROCESS.load(Ordering::Relaxed), THREAD.get())
}
