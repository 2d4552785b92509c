//! Fuzzes the parsers of untrusted bytes with libFuzzer. `OBVIA_FUZZ_TARGET` names the target that
//! gets the inputs; the arguments are libFuzzer's.
//!
//! All targets are in one program, because each of several programs would have to be linked with
//! the same libraries.

#![no_main]

use libfuzzer_sys::fuzz_target;
use obvia_fuzz_targets::{TARGETS, Target};
use std::sync::OnceLock;

/// The environment variable with the target's name.
const VARIABLE: &str = "OBVIA_FUZZ_TARGET";

/// The target's name and function.
static CHOSEN: OnceLock<(&str, Target)> = OnceLock::new();

fuzz_target!(init: choose(), |input: &[u8]| {
    if let Some((_, run)) = CHOSEN.get() {
        run(input);
    }
});

/// Reads the target's name once. If no target has this name, lists the targets and exits.
fn choose() {
    let name = std::env::var(VARIABLE).unwrap_or_default();
    let Some(found) = TARGETS.iter().find(|(known, _)| *known == name) else {
        let known: Vec<_> = TARGETS.iter().map(|(name, _)| *name).collect();
        eprintln!("{VARIABLE} is {name:?}, which is no target; there are {}", known.join(", "));
        std::process::exit(2);
    };
    CHOSEN.get_or_init(|| *found);
}

/// Turns the leak sanitizer off for the target that reads plans. The expressions of plans live as
/// long as the process, and the sanitizer would report them as leaks.
// SAFETY: the leak sanitizer declares this function, and calls it if a program defines it. No other
// symbol has this name.
#[unsafe(no_mangle)]
extern "C" fn __lsan_is_turned_off() -> i32 {
    CHOSEN.get().is_some_and(|(name, _)| *name == "ndr_words").into()
}
