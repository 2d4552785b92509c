//! The depth to which generated code prints structures that contain or lead to each other. A peer
//! may send a list that is so long that its recursive printing would overflow the stack.

use std::cell::Cell;
use std::fmt;

/// The greatest number of structures that are printed one within the other.
const DEPTH_MAX: u32 = 64;

thread_local! {
    /// The number of structures that this thread is printing, one within the other.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Reduces the depth on drop, even after a panic.
struct Level;

impl Drop for Level {
    fn drop(&mut self) {
        let _ = DEPTH.try_with(|depth| depth.set(depth.get() - 1));
    }
}

/// Prints a structure by `print`, or prints two dots if the structure lies within `DEPTH_MAX`
/// others.
///
/// # Errors
///
/// As for `print`.
pub fn nested(f: &mut fmt::Formatter<'_>, print: impl FnOnce(&mut fmt::Formatter<'_>) -> fmt::Result) -> fmt::Result {
    let depth = DEPTH.try_with(|depth| depth.replace(depth.get().saturating_add(1)));
    let _level = depth.is_ok().then_some(Level);
    // On a thread that is ending, the depth is unknown, so two dots are printed.
    if depth.unwrap_or(DEPTH_MAX) < DEPTH_MAX { print(f) } else { f.write_str("..") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list of this many elements.
    struct List(u32);

    impl fmt::Debug for List {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let next = self.0.checked_sub(1).map(List);
            nested(f, |f| f.debug_tuple("List").field(&next).finish())
        }
    }

    struct Fails;

    impl fmt::Debug for Fails {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            nested(f, |_| panic!("while it is printed"))
        }
    }

    #[test]
    fn long_lists_are_printed_to_a_limited_depth() {
        let count = |length| format!("{:?}", List(length)).matches("List").count();
        assert_eq!([count(0), count(63), count(64), count(1_000_000)], [1, 64, 64, 64]);
        assert!(format!("{:?}", List(64)).contains("Some(..)"));
        assert!(std::panic::catch_unwind(|| format!("{Fails:?}")).is_err());
        assert_eq!(count(100), 64);
    }
}
