//! Feeds nonsense to whatever reads other people's bytes. `OBVIA_FUZZ_TARGET` names the target that an input goes to; the other
//! arguments are libFuzzer's.
//!
//! One program has all targets, as each would be linked with everything that it stands on.

#![no_main]

use libfuzzer_sys::fuzz_target;
use obvia_fuzz_targets::{TARGETS, Target};
use std::sync::OnceLock;

/// The variable that names the target.
const VARIABLE: &str = "OBVIA_FUZZ_TARGET";

/// The target's name, and what takes its inputs.
static CHOSEN: OnceLock<(&str, Target)> = OnceLock::new();

fuzz_target!(init: choose(), |input: &[u8]| {
    if let Some((_, run)) = CHOSEN.get() {
        run(input);
    }
});

/// Reads once which target is asked for. Without one of that name there is nothing to do but to say which there are.
fn choose() {
    let name = std::env::var(VARIABLE).unwrap_or_default();
    let Some(found) = TARGETS.iter().find(|(known, _)| *known == name) else {
        let known: Vec<_> = TARGETS.iter().map(|(name, _)| *name).collect();
        eprintln!("{VARIABLE} is {name:?}, which is no target; there are {}", known.join(", "));
        std::process::exit(2);
    };
    CHOSEN.get_or_init(|| *found);
}

/// The expressions of a plan live as long as the process, which is no leak in the target that reads plans.
// SAFETY: the leak sanitizer declares it so, and asks it if it is there; nothing else has this name.
#[unsafe(no_mangle)]
extern "C" fn __lsan_is_turned_off() -> i32 {
    CHOSEN.get().is_some_and(|(name, _)| *name == "ndr_words").into()
}
