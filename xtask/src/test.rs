//! `test`: runs every kind of check that the project has, or the parts named, and sums up.

mod ahead;
mod cmake;
pub(crate) mod examples;
mod interop;
mod java;
mod readme;
pub(crate) mod wires;
mod wizard;

pub(crate) use self::interop::run_wine;

use crate::program::{Program, is_ci};
use crate::{Outcome, Problem, conformance, fuzz, icount, loom, miri, sim, soak, suite, tidy};
use ahead::Ahead;
use std::time::{Duration, Instant};

/// Seconds of fuzzing that each target gets in a test run.
const FUZZ_SECONDS: u32 = 4;
/// Seconds that many processes call each other in a test run.
const SOAK_SECONDS: u32 = 10;

struct Part {
    name: &'static str,
    about: &'static str,
    run: fn() -> Outcome,
    /// Builds what it runs, where that is worth while beforehand.
    build: Option<fn() -> Outcome>,
}

/// In the order in which they run: what fails often and says so quickly comes first.
const PARTS: &[Part] = &[
    Part {
        name: "tidy",
        about: "the source keeps its promises; formatting and lints",
        run: || tidy::main(&[]),
        build: None,
    },
    Part {
        name: "unit",
        about: "cargo test of the whole workspace, but for what the part `conformance` runs",
        run: || Program::cargo(&["test", "--quiet", "--workspace", "--exclude", "obvia-conformance"]).run_tests(),
        build: None,
    },
    Part { name: "readme", about: "the newcomer's program does what the README prints", run: readme::run, build: None },
    Part {
        name: "examples",
        about: "every client of the examples comes to a good end with its server",
        run: examples::run,
        build: None,
    },
    Part {
        name: "wizard",
        about: "what `obvia wizard` makes of the project's IDL files builds, runs and passes its tests, in Rust",
        run: wizard::run,
        build: None,
    },
    Part {
        name: "cmake",
        about: "programs in C++ and C, outside, with nothing but an installed obvia, speak with those in Rust",
        run: cmake::run,
        build: Some(cmake::build),
    },
    Part {
        name: "java",
        about: "the Java side builds without a warning, passes its tests, and needs no option of the virtual machine's",
        run: java::run,
        build: None,
    },
    Part {
        name: "hostile",
        about: "a peer that writes nonsense loses its own connection and nothing else",
        run: || suite::run("hostile", &[]),
        build: Some(|| suite::build("hostile")),
    },
    Part {
        name: "conformance",
        about: "every provider keeps the fifty statements about virtual interfaces",
        run: conformance::run,
        build: Some(conformance::build),
    },
    Part {
        name: "wires",
        about: "VIs over AF_XDP and libfabric keep the statements, too",
        run: wires::conformance,
        build: Some(wires::build),
    },
    Part {
        name: "kill",
        about: "processes that die in mid-call leave nothing behind",
        run: || suite::run("kill", &[]),
        build: Some(|| suite::build("kill")),
    },
    Part {
        name: "net",
        about: "calls between hosts by each protocol sequence, over wires that are good, bad and cut",
        run: wires::net,
        build: Some(wires::build_net),
    },
    Part {
        name: "interop",
        about: "Samba, impacket, scapy and tshark find nothing wrong with the standard's protocols",
        run: interop::run,
        build: None,
    },
    Part {
        name: "soak-short",
        about: "many processes, threads and objects for some seconds",
        run: || soak::run(SOAK_SECONDS),
        build: Some(|| suite::build("soak")),
    },
    Part {
        name: "sim",
        about: "VIs over a thousand simulated bad networks keep every promise",
        run: sim::short,
        build: Some(sim::build),
    },
    Part {
        name: "loom",
        about: "interleavings of what threads and processes share",
        run: || loom::main(&[]),
        build: Some(loom::build),
    },
    Part {
        name: "miri",
        about: "undefined behaviour in what has unsafe in it",
        run: || miri::main(&[]),
        build: Some(miri::build),
    },
    Part {
        name: "fuzz",
        about: "some seconds of nonsense for what reads other people's bytes",
        run: || fuzz::run(FUZZ_SECONDS, &[]),
        build: Some(|| fuzz::build(&[])),
    },
    Part {
        name: "icount",
        about: "a call takes no more instructions than its budget",
        run: || icount::main(&[]),
        build: Some(icount::build),
    },
];

/// How a part ended.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Passed,
    Failed(String),
    Skipped(String),
}

impl Verdict {
    /// A tool that is required is not passed over in a run that counts.
    fn of(outcome: Outcome, is_ci: bool) -> Self {
        match outcome {
            Ok(()) => Self::Passed,
            Err(Problem::Missing { what, required }) if !(required && is_ci) => Self::Skipped(what),
            Err(problem) => Self::Failed(problem.to_string()),
        }
    }

    fn word(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed(_) => "FAILED",
            Self::Skipped(_) => "skipped",
        }
    }
}

pub(crate) fn main(arguments: &[String]) -> Outcome {
    if matches!(arguments, [option] if option == "--list") {
        for part in PARTS {
            println!("{:<11} {}", part.name, part.about);
        }
        return Ok(());
    }
    if let [option, names @ ..] = arguments
        && option == ahead::OPTION
    {
        return ahead::build(&choose(names)?);
    }
    let parts = choose(arguments)?;
    let _ahead = Ahead::start(&parts);
    let started = Instant::now();
    let mut verdicts = Vec::new();
    for part in parts {
        println!("==> {}: {}", part.name, part.about);
        let began = Instant::now();
        let verdict = Verdict::of((part.run)(), is_ci());
        let took = began.elapsed();
        println!("<== {} {} in {:.1} s\n", part.name, verdict.word(), took.as_secs_f64());
        verdicts.push((part.name, verdict, took));
    }
    println!("{}", summary(&verdicts, started.elapsed()));
    let is_failed = |verdict: &Verdict| matches!(verdict, Verdict::Failed(_));
    let failed: Vec<_> = verdicts.iter().filter(|(_, verdict, _)| is_failed(verdict)).collect();
    if failed.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = failed.iter().map(|(name, ..)| *name).collect();
    Err(Problem::Failed(format!("failed: {}", names.join(", "))))
}

/// The parts of these names; all of them for none.
fn choose(names: &[String]) -> Outcome<Vec<&'static Part>> {
    if names.is_empty() {
        return Ok(PARTS.iter().collect());
    }
    let find = |name: &String| {
        let known = || PARTS.iter().map(|part| part.name).collect::<Vec<_>>().join(", ");
        let part = PARTS.iter().find(|part| part.name == name);
        part.ok_or_else(|| Problem::Failed(format!("there is no part {name:?}; there are {}", known())))
    };
    names.iter().map(find).collect()
}

/// A line for each part, then what went wrong, as the end of a log is what is read first, and the counts.
fn summary(verdicts: &[(&str, Verdict, Duration)], took: Duration) -> String {
    let (mut lines, mut reasons) = (Vec::new(), Vec::new());
    for (name, verdict, took) in verdicts {
        let seconds = took.as_secs_f64();
        lines.push(format!("{name:<11} {:<8} {seconds:>7.1} s", verdict.word()));
        if let Verdict::Failed(why) | Verdict::Skipped(why) = verdict {
            reasons.push(format!("{name} {}: {}", verdict.word(), why.replace('\n', "\n    ")));
        }
    }
    let count = |word| verdicts.iter().filter(|(_, verdict, _)| verdict.word() == word).count();
    let (passed, failed, skipped) = (count("passed"), count("FAILED"), count("skipped"));
    lines.push(format!("{:<11} {:<8} {:>7.1} s", "together", "", took.as_secs_f64()));
    lines.append(&mut reasons);
    lines.push(match skipped {
        0 => format!("{passed} passed, {failed} failed"),
        _ => format!("{passed} passed, {failed} failed, {skipped} skipped"),
    });
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{PARTS, Verdict, choose, summary};
    use crate::Problem;
    use std::time::Duration;

    #[test]
    fn parts_are_chosen_by_name() {
        let names = |names: &[&str]| {
            let names: Vec<_> = names.iter().map(ToString::to_string).collect();
            choose(&names).map(|parts| parts.iter().map(|part| part.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&["unit", "tidy"]), Ok(vec!["unit", "tidy"]));
        assert_eq!(names(&[]).unwrap().len(), PARTS.len());
        let Err(Problem::Failed(what)) = names(&["untidy"]) else { panic!("untidy is a part") };
        assert!(what.contains("\"untidy\"; there are tidy, "), "{what}");
    }

    #[test]
    fn what_is_missing_counts_where_it_is_required() {
        let missing = |required| Err(Problem::Missing { what: "x".to_owned(), required });
        assert_eq!(Verdict::of(missing(false), true), Verdict::Skipped("x".to_owned()));
        assert_eq!(Verdict::of(missing(true), false), Verdict::Skipped("x".to_owned()));
        assert_eq!(Verdict::of(missing(true), true), Verdict::Failed("x".to_owned()));
        assert_eq!(Verdict::of(Err(Problem::failed("y")), false), Verdict::Failed("y".to_owned()));
        assert_eq!(Verdict::of(Ok(()), true), Verdict::Passed);
    }

    #[test]
    fn the_summary_counts() {
        let second = Duration::from_secs(1);
        let verdicts = [("unit", Verdict::Passed, second), ("kill", Verdict::Failed("a\nb".to_owned()), second)];
        let text = summary(&verdicts, second * 2);
        assert!(text.contains("kill        FAILED       1.0 s\ntogether "), "{text}");
        assert!(text.contains(" s\nkill FAILED: a\n    b\n"), "{text}");
        assert!(text.ends_with("\n1 passed, 1 failed"), "{text}");
        let text = summary(&[("miri", Verdict::Skipped("z".to_owned()), second)], second);
        assert!(text.ends_with("\n0 passed, 0 failed, 1 skipped"), "{text}");
    }
}
