//! Client requests to valgrind's callgrind, under which a program runs: to start or stop counting,
//! and to write the counts.
//!
//! The requests have no effect if the program runs without valgrind, or on a processor for which
//! [`IS_KNOWN`] is false.

use std::ffi::CStr;

/// Whether the requests are defined for this processor.
pub(crate) const IS_KNOWN: bool = cfg!(target_arch = "x86_64");

/// The first number of callgrind's requests in `callgrind.h`: the letters `CT` in the upper half.
const FIRST: usize = 0x4354_0000;
const TOGGLE_COLLECT: usize = FIRST + 2;
const DUMP_STATS_AT: usize = FIRST + 3;

/// Starts the counting of this thread's instructions if it was off, and otherwise stops it.
#[inline(always)]
pub(crate) fn toggle() {
    ask(TOGGLE_COLLECT, 0);
}

/// Writes the counts of each thread to a file that contains `name`, and resets the counts.
/// Callgrind's request that only resets counts is not used, because it does not reset the counts of
/// jumps to other libraries.
#[inline(always)]
pub(crate) fn dump(name: &CStr) {
    ask(DUMP_STATS_AT, name.as_ptr().expose_provenance());
}

/// Sends a request. The function is inlined, because the registers that a call saves would be
/// counted.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn ask(request: usize, argument: usize) {
    let words = [request, argument, 0, 0, 0, 0];
    // SAFETY: `valgrind.h` has the same instructions. Four rotations by 128 bits together leave rdi
    // unchanged, and the exchange of rbx with itself has no effect. Under valgrind these five
    // instructions are a request. Valgrind reads the six words at rax, which are valid. The
    // argument of a request in this file is 0, or the address of a zero-terminated string, which
    // Valgrind reads, too. The caller has borrowed the string. Valgrind writes its answer to rdx.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") words.as_ptr(),
            inout("rdx") 0_usize => _,
            options(nostack),
        );
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn ask(_: usize, _: usize) {}

#[cfg(test)]
mod tests {
    use super::{dump, toggle};

    #[test]
    #[cfg_attr(miri, ignore)]
    fn callgrind_requests_do_nothing_without_valgrind() {
        toggle();
        dump(c"nothing");
        toggle();
    }
}
