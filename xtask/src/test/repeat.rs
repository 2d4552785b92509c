//! `--repeat`: runs parts, or single tests in Rust, repeatedly in random orders. Lists the tests
//! that failed at least once.

use super::lanes::Runner;
use super::options::Options;
use super::parts::{PARTS, Part};
use super::report::Verdict;
use super::{choose, prepare};
use crate::outcome::{Outcome, Problem};
use crate::program::target;
use crate::workspace;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The part that runs tests by name.
const TESTS: &str = "unit";

/// The ignored tests that serve as other processes of a test. Each waits to be ended by the test
/// that has started it, and so cannot be repeated. Other ignored tests only take long, or need the
/// machine for themselves, and can be repeated.
const OTHER_PROCESSES: &[&str] = &[
    "lay_a_cable_and_wait",
    "open_an_xdp_socket_and_wait",
    "role_of_the_other_process",
    "serve_a_guarded_printer",
    "serve_a_printer",
    "serve_a_printer_over_networks",
    "serve_a_tape_over_networks",
    "serve_lies",
    "serve_nonsense",
];

pub(super) fn run(count: u32, options: &Options) -> Outcome {
    let Some(seed) = options.shuffle else { return Err(Problem::failed("repetitions have a seed")) };
    let is_part = |name: &&String| options.is_thorough || PARTS.iter().any(|part| part.name == **name);
    let (parts, tests): (Vec<_>, Vec<_>) = options.names.iter().partition(is_part);
    let parts: Vec<String> = parts.into_iter().cloned().collect();
    let mut chosen =
        if parts.is_empty() && !tests.is_empty() { Vec::new() } else { choose(&parts, options.is_thorough)? };
    let filter = filter(&tests);
    let runs_tests = chosen.iter().copied().chain(PARTS.iter().filter(|part| part.name == TESTS));
    let _load = prepare(&runs_tests.collect::<Vec<_>>(), options.has_load)?;
    let folder = target().join("test/repeat");
    let _ = fs::remove_dir_all(&folder);
    // The runner is created before the build. The build may replace this program's file, whose path
    // the runner looks up.
    let mut runner = Runner::new(&folder, Some(seed), filter.clone())?;
    workspace::build()?;
    if filter.is_some() {
        chosen.extend(PARTS.iter().find(|part| part.name == TESTS));
    }
    let mut failures = BTreeMap::new();
    for round in 0..count {
        println!("==> round {} of {count}", round + 1);
        let seed = seed.after(round.into());
        runner.begin_round(seed)?;
        for part in seed.shuffle(chosen.iter().copied()) {
            let file = format!("{}-{:03}", part.name, round + 1);
            let ran = runner.run(part, &file, true);
            let log = folder.join(&file).with_extension("log");
            if let Verdict::Failed(why) = ran.verdict {
                println!("{} FAILED: {}", part.name, why.lines().next().unwrap_or_default());
                failed(part, &log).into_iter().for_each(|name| *failures.entry(name).or_insert(0) += 1);
            } else {
                // Only the logs of failures are kept.
                let _ = fs::remove_file(log);
            }
        }
    }
    if failures.is_empty() {
        println!("passed {count} times of {count}");
        return Ok(());
    }
    let lines = failures.iter().map(|(name, times)| format!("\n  {name} failed {times} times of {count}"));
    Err(Problem::Failed(format!(
        "not all passed every time; logs are in {}{}",
        folder.display(),
        lines.collect::<String>()
    )))
}

/// Returns the cargo-nextest expression for tests whose names contain one of `names`, without those
/// of [`OTHER_PROCESSES`]. A name with a parenthesis is an expression itself. Without names there
/// is no expression.
fn filter(names: &[&String]) -> Option<String> {
    let expression = |name: &&String| if name.contains('(') { format!("({name})") } else { format!("test({name})") };
    let all: Vec<_> = names.iter().map(expression).collect();
    (!all.is_empty()).then(|| format!("({}) - test(/(^|::)({})$/)", all.join(" | "), OTHER_PROCESSES.join("|")))
}

/// Returns the failed tests of a part from cargo-nextest's report; the part itself if the report
/// has none, or does not exist.
fn failed(part: &Part, log: &Path) -> Vec<String> {
    let report = part.profile.map(workspace::report);
    let text = report.and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
    let _ = fs::write(log.with_extension("xml"), &text);
    let tests: Vec<_> = failures(&text).into_iter().map(|test| format!("{}: {test}", part.name)).collect();
    if tests.is_empty() { vec![part.name.to_owned()] } else { tests }
}

/// Returns the test cases of a JUnit report that have failures or errors.
fn failures(report: &str) -> Vec<String> {
    let cases = report.split("<testcase ").skip(1);
    let has_failed = |case: &&str| {
        let body = case.split("</testcase>").next().unwrap_or_default();
        !case.split('>').next().unwrap_or_default().ends_with('/')
            && (body.contains("<failure") || body.contains("<error"))
    };
    let attribute =
        |case: &str, name: &str| Some(case.split_once(&format!("{name}=\""))?.1.split('"').next()?.to_owned());
    cases
        .filter(has_failed)
        .filter_map(|case| Some(format!("{} {}", attribute(case, "classname")?, attribute(case, "name")?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{OTHER_PROCESSES, failures, filter};
    use crate::repo::Repo;

    #[test]
    fn tests_are_chosen_by_names_and_expressions_without_their_other_processes() {
        let names = ["a_test".to_owned(), "binary(kill) & test(=b)".to_owned()];
        let names: Vec<_> = names.iter().collect();
        let chosen = filter(&names).unwrap();
        let others = chosen.strip_prefix("(test(a_test) | (binary(kill) & test(=b))) - test(/(^|::)(");
        assert!(others.is_some_and(|others| others.contains("|serve_lies|") && others.ends_with(")$/)")), "{chosen}");
        assert_eq!(filter(&[]), None);
    }

    #[test]
    fn the_other_processes_of_tests_are_ignored_tests_of_the_sources() {
        let repo = Repo::load().unwrap();
        for name in OTHER_PROCESSES {
            let function = format!("fn {name}()");
            let files = repo.rust().flat_map(|file| {
                let lines: Vec<_> = file.text.lines().map(str::trim).collect();
                let at = (0..lines.len()).filter(|at| lines[*at].starts_with(&function));
                at.map(|at| at > 0 && lines[at - 1].starts_with("#[ignore")).collect::<Vec<_>>()
            });
            let are_ignored: Vec<_> = files.collect();
            assert!(!are_ignored.is_empty() && are_ignored.iter().all(|is| *is), "{name}");
        }
    }

    #[test]
    fn failures_are_read_from_the_report() {
        let report = r#"<testsuites><testsuite name="x">
            <testcase name="good" classname="x" time="0.1"/>
            <testcase name="good::too" classname="x"><system-out>failure</system-out></testcase>
            <testcase name="bad" classname="x::kill" timestamp="t"><failure type="test failure">why</failure></testcase>
            </testsuite></testsuites>"#;
        assert_eq!(failures(report), ["x::kill bad"]);
        assert_eq!(failures(""), [""; 0]);
    }
}
