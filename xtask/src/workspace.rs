//! The workspace for tests. It is built once, with every available feature, for all parts of a test
//! run. cargo-nextest runs the tests.

use crate::outcome::{Outcome, Problem};
use crate::program::{Program, target};
use crate::test::order::Seed;
use crate::tools::{self, Tool};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The environment variable that is set for parts that run after the build of the workspace. For
/// tests in Rust, the variable contains the arguments of that build, one on each line.
pub(crate) const IS_BUILT: &str = "OBVIA_WORKSPACE_IS_BUILT";
/// The environment variable with the seed of the tests' random order.
pub(crate) const SHUFFLE: &str = "OBVIA_TEST_SHUFFLE";
/// The environment variable with a cargo-nextest expression that replaces a profile's selection of
/// tests.
pub(crate) const FILTER: &str = "OBVIA_TEST_FILTER";

/// The manifest of the workspace with the other systems that `bench-peers` measures.
pub(crate) const PEERS: &str = "bench/peers/Cargo.toml";

/// The highest priority of a test in cargo-nextest. The lowest priority is the negative of this
/// number.
const PRIORITY_MAX: i64 = 100;

/// The arguments of clippy-driver. Lints do not end a build, so that the tests can run. [`lint`]
/// fails on each warning.
const LINTS: &str = "--cap-lints__CLIPPY_HACKERY__warn";

/// The packages that have features which enable further source.
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

/// Returns the available features: those that need only Rust, and the feature for libfabric if
/// libfabric is installed.
pub(crate) fn features() -> &'static [&'static str] {
    if tools::has_libfabric() { &["xdp", "fabric"] } else { &["xdp"] }
}

/// Returns the option that enables the available features in all packages that have them.
fn features_of_all() -> String {
    let features = features();
    let all = FEATURED.iter().flat_map(|package| features.iter().map(move |feature| format!("{package}/{feature}")));
    format!("--features={}", all.collect::<Vec<_>>().join(","))
}

/// Builds libraries, programs, examples and tests, unless this test run has built them already.
pub(crate) fn build() -> Outcome {
    if std::env::var_os(IS_BUILT).is_some() {
        return Ok(());
    }
    everything().run()
}

/// The arguments that select all targets for a build. `--all-targets` would also build a test
/// program for each target with `test = false`, because it includes benchmarks.
const EVERYTHING: [&str; 5] = ["--workspace", "--lib", "--bins", "--tests", "--examples"];

/// Returns the build of all targets. If nothing has changed, cargo only repeats the warnings of the
/// earlier build.
fn everything() -> Program {
    linting(Program::cargo(&["build"]).with(&EVERYTHING).argument(features_of_all()))
}

/// Makes cargo use clippy-driver as the compiler, so that one pass compiles and lints. A cargo
/// command without these variables would compile the workspace again.
pub(crate) fn linting(cargo: Program) -> Program {
    cargo.variable("RUSTC_WORKSPACE_WRAPPER", "clippy-driver").variable("CLIPPY_ARGS", LINTS)
}

/// Fails on any warning of rustc or clippy about the workspace.
pub(crate) fn lint() -> Outcome {
    build()?;
    let said = everything().with(&["--quiet"]).read_errors()?;
    if said.trim().is_empty() { Ok(()) } else { Err(Problem::Failed(said)) }
}

/// The crates that programs use, whose documentation is public.
const DOCUMENTED: [&str; 5] = ["obvia", "obvia-idl", "obvia-ndr", "obvia-rpc", "obvia-via"];

/// Fails on any warning of rustdoc about the crates in [`DOCUMENTED`].
pub(crate) fn document() -> Outcome {
    let packages = DOCUMENTED.iter().flat_map(|name| ["--package", name]).collect::<Vec<_>>();
    let said = Program::cargo(&["doc", "--quiet", "--no-deps"]).with(&packages).read_errors()?;
    if said.trim().is_empty() { Ok(()) } else { Err(Problem::Failed(said)) }
}

/// Returns the path of the debug build of the command `obvia`. Builds the command unless this test
/// run has built it.
pub(crate) fn command() -> Outcome<PathBuf> {
    built("obvia-cli").map(|folder| folder.join("obvia"))
}

/// Returns the folder of the debug build of libobvia. Builds libobvia unless this test run has
/// built it.
pub(crate) fn library() -> Outcome<PathBuf> {
    built("obvia-capi")
}

/// Returns the folder of the debug build. Builds the package unless this test run has built all
/// packages.
fn built(package: &str) -> Outcome<PathBuf> {
    if std::env::var_os(IS_BUILT).is_none() {
        linting(Program::cargo(&["build", "--quiet", "--package", package, "--features", &features().join(",")]))
            .run()?;
    }
    Ok(target().join("debug"))
}

/// Runs the tests of a profile in `.config/nextest.toml`.
pub(crate) fn test(profile: &str) -> Outcome {
    nextest(profile, Ignored::Skip)?.run()
}

/// Runs all tests of a profile, also the ignored ones. `variables` are the environment of the
/// tests.
pub(crate) fn test_all(profile: &str, variables: &[(&str, &str)]) -> Outcome {
    let run = nextest(profile, Ignored::Run)?;
    variables.iter().fold(run, |run, (name, value)| run.variable(name, *value)).run()
}

/// The treatment of ignored tests.
#[derive(Clone, Copy)]
pub(crate) enum Ignored {
    Skip,
    Run,
    /// Only the ignored tests run.
    Only,
}

/// Builds the whole workspace, and returns a run of the tests of a profile.
pub(crate) fn nextest(profile: &str, ignored: Ignored) -> Outcome<Program> {
    tools::ensure(&[Tool::Nextest])?;
    build()?;
    let built = [&EVERYTHING[..], &[&features_of_all()]].concat().join("\n");
    let cargo = |command: &[&str]| linting(Program::cargo(command)).with(&["--workspace", &features_of_all()]);
    Ok(nextest_of(cargo, profile, ignored)?.variable(IS_BUILT, built))
}

/// Returns a run of the tests of a profile with the order and the filter of this test run. `cargo`
/// adds the packages and the kind of build to a command. A filter selects ignored tests too.
fn nextest_of(cargo: impl Fn(&[&str]) -> Program, profile: &str, ignored: Ignored) -> Outcome<Program> {
    let run = cargo(&["nextest", "run"]).with(&["--cargo-quiet", "--profile", profile]);
    let run = match std::env::var(SHUFFLE).ok().and_then(|seed| seed.parse().ok()) {
        Some(seed) => {
            run.argument(format!("--tool-config-file=order:{}", order(cargo, profile, Seed::of(seed))?.display()))
        }
        None => run,
    };
    Ok(match (std::env::var(FILTER), ignored) {
        (Ok(filter), _) => run.with(&["--ignore-default-filter", "--run-ignored=all", "-E", &filter]),
        (Err(_), Ignored::Skip) => run,
        (Err(_), Ignored::Run) => run.with(&["--run-ignored=all"]),
        (Err(_), Ignored::Only) => run.with(&["--run-ignored=only"]),
    })
}

/// Returns the path of the report about cargo-nextest's last run of a profile.
pub(crate) fn report(profile: &str) -> PathBuf {
    target().join("nextest").join(profile).join("junit.xml")
}

/// Writes a configuration for cargo-nextest that runs all tests in a random order. The tests'
/// priorities determine the order.
fn order(cargo: impl Fn(&[&str]) -> Program, profile: &str, seed: Seed) -> Outcome<PathBuf> {
    let all = ["--cargo-quiet", "--run-ignored=all", "--ignore-default-filter", "--message-format=oneline"];
    let listed = cargo(&["nextest", "list"]).with(&all).read()?;
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

/// Runs the tests of the default profile in a build without any feature. Users have this build by
/// default.
pub(crate) fn test_plain() -> Outcome {
    tools::ensure(&[Tool::Nextest])?;
    let folder = target().join("plain").display().to_string();
    // The earlier build of this test run has features, and so must not be used.
    let unset = format!("--unset={IS_BUILT}");
    Program::new("env", &[&unset, "cargo", "nextest", "run", "--workspace"]).variable("CARGO_TARGET_DIR", folder).run()
}

/// Runs the tests of goodput in an optimized build. In a slower build, a flow takes longer to
/// process a packet, and gets a different share of the line.
pub(crate) fn test_goodput() -> Outcome {
    tools::ensure(&[Tool::Nextest])?;
    let cargo =
        |command: &[&str]| Program::cargo_release(command).with(&["--package", "obvia-bench", "--test", "goodput"]);
    nextest_of(cargo, "goodput", Ignored::Run)?.run()
}

/// Runs the tests of a profile with all variants and at full size (`OBVIA_WIDE_TESTS`).
pub(crate) fn test_widely(profile: &str) -> Outcome {
    nextest(profile, Ignored::Skip)?.variable("OBVIA_WIDE_TESTS", "1").run()
}

/// Runs the examples in the documentation.
pub(crate) fn test_documentation() -> Outcome {
    if std::env::var_os(FILTER).is_some() {
        return Ok(());
    }
    build()?;
    linting(Program::cargo(&["test", "--quiet", "--doc", "--workspace", &features_of_all()])).run()
}

/// Returns a problem if libfabric is missing. Parts check this after all their tests.
pub(crate) fn needs_libfabric() -> Outcome {
    if tools::has_libfabric() {
        return Ok(());
    }
    Err(Problem::Missing { what: "libfabric's headers are missing: see docs/fabric.md".to_owned(), required: true })
}
