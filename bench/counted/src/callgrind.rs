//! Requests of a program to valgrind's callgrind, which it runs under: to count from now on or no longer, and to write the counts.
//!
//! Without valgrind they do nothing. Nor do they on processors whose instructions for them are not written down here: see [`IS_KNOWN`].

use std::ffi::CStr;

/// Whether programs for this processor can ask.
pub(crate) const IS_KNOWN: bool = cfg!(target_arch = "x86_64");

/// Requests for callgrind begin with its letters, `CT`: `callgrind.h`.
const FIRST: usize = 0x4354_0000;
const TOGGLE_COLLECT: usize = FIRST + 2;
const DUMP_STATS_AT: usize = FIRST + 3;

/// Has the instructions of this thread counted from now on, if they were not, and else not.
#[inline(always)]
pub(crate) fn toggle() {
    ask(TOGGLE_COLLECT, 0);
}

/// Has the counts of each thread written to a file with a name in it, and forgotten. Callgrind's request to forget alone does not forget
/// the jumps to other libraries.
#[inline(always)]
pub(crate) fn dump(name: &CStr) {
    ask(DUMP_STATS_AT, name.as_ptr().expose_provenance());
}

/// Is part of its caller: a call would have the caller save registers, which would be counted.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn ask(request: usize, argument: usize) {
    let words = [request, argument, 0, 0, 0, 0];
    // SAFETY: `valgrind.h` has the same instructions. Four rotations by 128 bits together leave rdi as it was, and the exchange of rbx
    // with itself changes nothing. Under valgrind these five are a request: it reads the six words at rax, which are there, and for
    // the requests of this file at most a string that ends in a zero, which the caller has lent; it writes its answer to rdx.
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
    fn without_valgrind_nothing_happens() {
        toggle();
        dump(c"nothing");
        toggle();
    }
}
