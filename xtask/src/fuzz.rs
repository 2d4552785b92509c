//! `fuzz`: feeds nonsense to what reads other people's bytes. The targets are the programs of `testing/fuzz`.
//!
//! What a run learns stays in `target/fuzz/corpus`; `testing/fuzz/seeds/TARGET` holds inputs to begin with.

use crate::program::target;
use crate::repo::root;
use crate::{Outcome, Problem, tools};

const FOLDER: &str = "testing/fuzz";
const SECONDS: u32 = 60;
/// An input that takes longer than this is a finding.
const INPUT_SECONDS_MAX: u32 = 10;

pub(crate) fn main(arguments: &[String]) -> Outcome {
    let mut seconds = SECONDS;
    let mut names = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--seconds" => {
                let value = arguments.next().and_then(|value| value.parse().ok());
                seconds = value.ok_or_else(|| Problem::failed("--seconds wants a number"))?;
            }
            name => names.push(name.to_owned()),
        }
    }
    run(seconds, &names)
}

/// Fuzzes the targets named, or all, for so many seconds each.
pub(crate) fn run(seconds: u32, names: &[String]) -> Outcome {
    let manifest = std::fs::read_to_string(root().join(FOLDER).join("Cargo.toml"))
        .map_err(|error| Problem::missing(format!("{FOLDER}/Cargo.toml: {error}")))?;
    let targets = targets(&manifest);
    if let Some(unknown) = names.iter().find(|name| !targets.contains(name)) {
        let known = targets.join(", ");
        return Err(Problem::Failed(format!("there is no target {unknown:?}; there are {known}")));
    }
    let chosen = if names.is_empty() { &targets } else { names };
    if chosen.is_empty() {
        return Err(Problem::missing(format!("{FOLDER}/Cargo.toml names no target")));
    }
    tools::cargo_fuzz()?;
    for name in chosen {
        fuzz(name, seconds)?;
    }
    Ok(())
}

fn fuzz(name: &str, seconds: u32) -> Outcome {
    let built = target().join("fuzz");
    let corpus = built.join("corpus").join(name);
    let seeds = root().join(FOLDER).join("seeds").join(name);
    std::fs::create_dir_all(&corpus).map_err(|error| Problem::Failed(format!("{}: {error}", corpus.display())))?;
    let mut program = tools::nightly_cargo(&["fuzz", "run", "--fuzz-dir", FOLDER, "--target-dir"])
        .argument(built.display().to_string())
        .argument(name)
        .argument(corpus.display().to_string());
    if seeds.is_dir() {
        program = program.argument(seeds.display().to_string());
    }
    program
        .argument("--")
        .argument(format!("-max_total_time={seconds}"))
        .argument(format!("-timeout={INPUT_SECONDS_MAX}"))
        .argument("-verbosity=0")
        .argument("-print_final_stats=1")
        .run()
}

/// The programs that a manifest names.
fn targets(manifest: &str) -> Vec<String> {
    let mut in_bin = false;
    let mut targets = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            in_bin = line == "[[bin]]";
        } else if let Some(name) = line.strip_prefix("name = ").filter(|_| in_bin) {
            targets.push(name.trim_matches('"').to_owned());
        }
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::targets;

    #[test]
    fn targets_are_the_programs() {
        let manifest = "[package]\nname = \"fuzz\"\n[[bin]]\nname = \"a\"\npath = \"a.rs\"\n[[bin]]\nname = \"b\"\n";
        assert_eq!(targets(manifest), ["a", "b"]);
    }
}
