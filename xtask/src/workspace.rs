//! The workspace as tests have it: built once, with every feature that can be had, for all parts of a test run; and its tests, which
//! cargo-nextest runs.

use crate::program::{Program, target};
use crate::test::order::Seed;
use crate::tools::{self, Tool};
use crate::{Outcome, Problem};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Set for parts that run when the workspace has been built.
pub(crate) const IS_BUILT: &str = "OBVIA_WORKSPACE_IS_BUILT";
/// Has the seed of the order in which tests run, where it is random.
pub(crate) const SHUFFLE: &str = "OBVIA_TEST_SHUFFLE";
/// Has an expression of cargo-nextest's for the tests that run in place of a profile's.
pub(crate) const FILTER: &str = "OBVIA_TEST_FILTER";

/// cargo-nextest's highest priority of a test; the lowest is as far below zero.
const PRIORITY_MAX: i64 = 100;

/// Arguments of clippy-driver: a lint ends no build, so that the tests run; [`lint`] fails on each warning.
const LINTS: &str = "--cap-lints__CLIPPY_HACKERY__warn";

/// Packages with features that bring further source.
const FEATURED: [&str; 10] = [
    "native-programs",
    "obvia",
    "obvia-bench",
    "obvia-capi",
    "obvia-cli",
    "obvia-conformance",
    "obvia-java",
    "obvia-via",
    "pfs",
    "torture",
];

/// The features that can be had: those that need nothing but Rust, and those of libfabric where it is there.
pub(crate) fn features() -> &'static [&'static str] {
    if tools::has_libfabric() { &["xdp", "fabric"] } else { &["xdp"] }
}

/// The option with these features for all packages that have them.
fn features_of_all() -> String {
    let features = features();
    let all = FEATURED.iter().flat_map(|package| features.iter().map(move |feature| format!("{package}/{feature}")));
    format!("--features={}", all.collect::<Vec<_>>().join(","))
}

/// Builds libraries, programs, examples and tests, unless that has been done for this run.
pub(crate) fn build() -> Outcome {
    if std::env::var_os(IS_BUILT).is_some() {
        return Ok(());
    }
    everything().run()
}

/// Builds everything. If nothing has changed, cargo only prints the earlier warnings again.
fn everything() -> Program {
    linting(Program::cargo(&["build", "--workspace", "--all-targets", &features_of_all()]))
}

/// Has cargo use clippy-driver as the compiler, so that one pass compiles and lints. A cargo command without these variables compiles the
/// workspace again.
pub(crate) fn linting(cargo: Program) -> Program {
    cargo.variable("RUSTC_WORKSPACE_WRAPPER", "clippy-driver").variable("CLIPPY_ARGS", LINTS)
}

/// Fails where rustc or clippy has something to say about the workspace.
pub(crate) fn lint() -> Outcome {
    build()?;
    let said = everything().with(&["--quiet"]).read_errors()?;
    if said.trim().is_empty() { Ok(()) } else { Err(Problem::Failed(said)) }
}

/// The crates that programs use, whose documentation is read by others.
const DOCUMENTED: [&str; 5] = ["obvia", "obvia-idl", "obvia-ndr", "obvia-rpc", "obvia-via"];

/// Fails where rustdoc has something to say about what programs use.
pub(crate) fn document() -> Outcome {
    let packages = DOCUMENTED.iter().flat_map(|name| ["--package", name]).collect::<Vec<_>>();
    let said = Program::cargo(&["doc", "--quiet", "--no-deps"]).with(&packages).read_errors()?;
    if said.trim().is_empty() { Ok(()) } else { Err(Problem::Failed(said)) }
}

/// Returns the path of the debug command `obvia`, and builds it if the run has not.
pub(crate) fn command() -> Outcome<PathBuf> {
    if std::env::var_os(IS_BUILT).is_none() {
        linting(Program::cargo(&["build", "--quiet", "--package", "obvia-cli", "--features", &features().join(",")]))
            .run()?;
    }
    Ok(target().join("debug/obvia"))
}

/// Runs the tests of a profile in `.config/nextest.toml`.
pub(crate) fn test(profile: &str) -> Outcome {
    nextest(profile)?.run()
}

/// Runs the tests of a profile with those that `cargo test` passes over; `variables` are for the tests.
pub(crate) fn test_all(profile: &str, variables: &[(&str, &str)]) -> Outcome {
    let run = nextest(profile)?.with(&["--run-ignored=all"]);
    variables.iter().fold(run, |run, (name, value)| run.variable(name, *value)).run()
}

/// A run of tests, once they are built. They find the rest of the workspace built, too.
pub(crate) fn nextest(profile: &str) -> Outcome<Program> {
    tools::ensure(&[Tool::Nextest])?;
    build()?;
    let words = ["--workspace", &features_of_all(), "--cargo-quiet", "--profile", profile];
    let run = linting(Program::cargo(&["nextest", "run"])).with(&words).variable(IS_BUILT, "1");
    let run = match std::env::var(SHUFFLE).ok().and_then(|seed| seed.parse().ok()) {
        Some(seed) => run.argument(format!("--tool-config-file=order:{}", order(profile, Seed::of(seed))?.display())),
        None => run,
    };
    Ok(match std::env::var(FILTER) {
        Ok(filter) => run.with(&["--ignore-default-filter", "--run-ignored=all", "-E", &filter]),
        Err(_) => run,
    })
}

/// Where cargo-nextest reports on the tests of a profile that ran last.
pub(crate) fn report(profile: &str) -> PathBuf {
    target().join("nextest").join(profile).join("junit.xml")
}

/// Writes a configuration for cargo-nextest that has all tests in a random order, by their priorities.
fn order(profile: &str, seed: Seed) -> Outcome<PathBuf> {
    let words = ["nextest", "list", "--workspace", &features_of_all(), "--cargo-quiet", "--run-ignored=all"];
    let listed =
        linting(Program::cargo(&words)).with(&["--ignore-default-filter", "--message-format=oneline"]).read()?;
    let tests: Vec<&str> = listed.lines().collect();
    let mut by_priority: BTreeMap<i64, Vec<String>> = BTreeMap::new();
    for (at, line) in (0..).zip(seed.shuffle(tests.iter().copied())) {
        let Some((binary, test)) = line.split_once(' ') else { continue };
        let priority = PRIORITY_MAX - at * (2 * PRIORITY_MAX + 1) / tests.len() as i64;
        by_priority.entry(priority).or_default().push(format!("binary_id(={binary}) & test(={test})"));
    }
    let rule = |(priority, tests): (&i64, &Vec<String>)| {
        let filter = tests.iter().map(|test| format!("({test})")).collect::<Vec<_>>().join(" | ");
        format!("[[profile.default.overrides]]\nfilter = '{filter}'\npriority = {priority}\n")
    };
    let file = target().join("nextest").join(format!("order-{profile}.toml"));
    let text = by_priority.iter().map(rule).collect::<String>();
    let written = file.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&file, text));
    written.map_err(|error| Problem::Failed(format!("{}: {error}", file.display())))?;
    Ok(file)
}

/// Runs the tests of the default profile built without any feature, as users build by default.
pub(crate) fn test_plain() -> Outcome {
    tools::ensure(&[Tool::Nextest])?;
    let folder = target().join("plain").display().to_string();
    Program::cargo(&["nextest", "run", "--workspace"]).variable("CARGO_TARGET_DIR", folder).run()
}

/// Runs the tests of `testing/constructs` with all combinations that there are.
pub(crate) fn test_constructs() -> Outcome {
    let run = nextest("default")?.with(&["-E", "package(constructs)"]);
    run.variable("OBVIA_CONSTRUCTS_WIDE", "1").run()
}

/// Runs the examples in the documentation.
pub(crate) fn test_documentation() -> Outcome {
    if std::env::var_os(FILTER).is_some() {
        return Ok(());
    }
    build()?;
    linting(Program::cargo(&["test", "--quiet", "--doc", "--workspace", &features_of_all()])).run()
}

/// A problem where a part lacks libfabric, when all else has been tested.
pub(crate) fn needs_libfabric() -> Outcome {
    if tools::has_libfabric() {
        return Ok(());
    }
    Err(Problem::Missing { what: "libfabric's headers are missing: see docs/fabric.md".to_owned(), required: true })
}
