//! Formatting by rustfmt, and the lock files of the workspaces other than the main one.

use crate::outcome::Outcome;
use crate::program::Program;
use crate::workspace::PEERS;

/// The workspaces that are not part of the main one.
const OTHERS: [&str; 3] = [PEERS, "bindings/python/Cargo.toml", "testing/fuzz/Cargo.toml"];

/// Checks the formatting of all workspaces.
pub(super) fn rustfmt() -> Outcome {
    Program::cargo(&["fmt", "--all", "--check"]).run()?;
    for manifest in OTHERS.into_iter().filter(|manifest| crate::repo::root().join(manifest).exists()) {
        Program::cargo(&["fmt", "--manifest-path", manifest, "--check"]).run()?;
        // The check of the lock file would download the many crates of bench/peers. The group
        // `peers`, which builds that workspace, checks its lock file.
        if manifest == PEERS {
            continue;
        }
        // Not every run builds these workspaces, so this check includes their lock files.
        Program::cargo(&["metadata", "--locked", "--format-version", "1", "--manifest-path", manifest]).read()?;
    }
    Ok(())
}
