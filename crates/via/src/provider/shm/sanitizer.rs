//! Annotations of parked connections for the thread sanitizer of programs in C and C++.
//!
//! The sanitizer sees the program's accesses to a connection's memory, but not how this crate hands
//! the connection from one thread to another. Without annotations it would report a race.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::LazyLock;

/// A function of the sanitizer that takes an address.
type Annotation = unsafe extern "C" fn(*mut c_void);

// SAFETY: the function has this type in POSIX.
unsafe extern "C" {
    /// Returns the address of a symbol; see POSIX.
    fn dlsym(handle: *mut c_void, symbol: *const c_char) -> *mut c_void;
}

fn annotation(name: &CStr) -> Option<Annotation> {
    // SAFETY: the name ends with a null character. In the C libraries of Linux, a null handle is
    // RTLD_DEFAULT, which means the whole program.
    let found = unsafe { dlsym(ptr::null_mut(), name.as_ptr()) };
    // SAFETY: only the sanitizer has functions of these names, and they have this type.
    (!found.is_null()).then(|| unsafe { std::mem::transmute::<*mut c_void, Annotation>(found) })
}

/// Declares that all earlier operations of this thread happen before the operations that a thread
/// performs after it has called [`acquire`] with the same address.
pub(super) fn release(address: *const ()) {
    static RELEASE: LazyLock<Option<Annotation>> = LazyLock::new(|| annotation(c"__tsan_release"));
    annotate(*RELEASE, address);
}

/// Declares that the operations before [`release`] with the same address happen before all later
/// operations of this thread.
pub(super) fn acquire(address: *const ()) {
    static ACQUIRE: LazyLock<Option<Annotation>> = LazyLock::new(|| annotation(c"__tsan_acquire"));
    annotate(*ACQUIRE, address);
}

fn annotate(annotation: Option<Annotation>, address: *const ()) {
    if let Some(annotation) = annotation {
        // SAFETY: the sanitizer uses the address as a key, and does not access it.
        unsafe { annotation(address.cast_mut().cast()) };
    }
}
