//! Checks that share a server. All checks run, even after a failure, and the failed checks are
//! named.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// A check with its name.
pub(crate) type Check<F> = (&'static str, F);

/// Makes a table of functions with their names.
macro_rules! checks {
    ($($name:ident),+ $(,)?) => { &[$((stringify!($name), $name)),+] };
}
pub(crate) use checks;

/// Runs all checks. Panics with the place and the names of the failed checks.
pub(crate) fn run_all<F: Copy>(checks: &[Check<F>], place: &str, run: impl Fn(F)) {
    let fails = |check: F| catch_unwind(AssertUnwindSafe(|| run(check))).is_err();
    let failed: Vec<&str> = checks.iter().filter(|(_, check)| fails(*check)).map(|(name, _)| *name).collect();
    assert!(failed.is_empty(), "{place}: these have failed: {failed:?}");
}
