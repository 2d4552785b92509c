//! Checks that share what they run against: each by its name, whatever becomes of those before.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// A check and what it is called.
pub(crate) type Check<F> = (&'static str, F);

/// The table of checks that are called so.
macro_rules! checks {
    ($($name:ident),+ $(,)?) => { &[$((stringify!($name), $name)),+] };
}
pub(crate) use checks;

/// Runs all. What has failed is told with where that was.
pub(crate) fn run_all<F: Copy>(checks: &[Check<F>], place: &str, run: impl Fn(F)) {
    let fails = |check: F| catch_unwind(AssertUnwindSafe(|| run(check))).is_err();
    let failed: Vec<&str> = checks.iter().filter(|(_, check)| fails(*check)).map(|(name, _)| *name).collect();
    assert!(failed.is_empty(), "{place}: these have failed: {failed:?}");
}
