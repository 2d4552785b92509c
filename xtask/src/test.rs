//! `test`: runs every kind of check that the project has, or the parts named, and sums up.

mod cmake;
pub(crate) mod examples;
mod interop;
pub(crate) mod java;
mod lanes;
mod readme;
pub(crate) mod web;
pub(crate) mod wires;
mod wizard;

pub(crate) use self::interop::run_wine;

use crate::program::{Program, is_ci};
use crate::{Outcome, Problem, conformance, fuzz, icount, loom, miri, sim, soak, suite, tidy};
use lanes::{Lane, Ran};
use std::time::{Duration, Instant};

/// Seconds that many processes call each other in a test run.
const SOAK_SECONDS: u32 = 10;

struct Part {
    name: &'static str,
    about: &'static str,
    lane: Lane,
    run: fn() -> Outcome,
}

/// In the order in which each lane runs them: what fails often and says so quickly comes first. A lane that has nothing left takes the
/// other's last: these have folders of their own to build in, and do not wait for what the other builds.
const PARTS: &[Part] = &[
    Part {
        name: "tidy",
        about: "the source keeps its promises; formatting and lints",
        lane: Lane::Computes,
        run: || tidy::main(&[]),
    },
    Part {
        name: "unit",
        about: "cargo test of the whole workspace, but for what the part `conformance` runs",
        lane: Lane::Computes,
        run: || {
            Program::cargo(&["test", "--quiet", "--no-fail-fast", "--workspace", "--exclude", "obvia-conformance"])
                .run_tests()
        },
    },
    Part {
        name: "readme",
        about: "the newcomer's program does what the README prints",
        lane: Lane::Computes,
        run: readme::run,
    },
    Part {
        name: "examples",
        about: "every client of the examples comes to a good end with its server",
        lane: Lane::Computes,
        run: examples::run,
    },
    Part {
        name: "wizard",
        about: "what `obvia wizard` makes of the project's IDL files builds, runs and passes its tests, in Rust",
        lane: Lane::Computes,
        run: wizard::run,
    },
    Part {
        name: "cmake",
        about: "programs in C++ and C, outside, with nothing but an installed obvia, speak with those in Rust",
        lane: Lane::Computes,
        run: cmake::run,
    },
    Part {
        name: "java",
        about: "the Java side builds without a warning, passes its tests, and needs no option of the virtual machine's",
        lane: Lane::Computes,
        run: java::run,
    },
    Part {
        name: "hostile",
        about: "a peer that writes nonsense loses its own connection and nothing else",
        lane: Lane::Waits,
        run: || suite::run("hostile", &[]),
    },
    Part {
        name: "conformance",
        about: "every provider keeps the fifty statements about virtual interfaces",
        lane: Lane::Waits,
        run: conformance::run,
    },
    Part {
        name: "wires",
        about: "VIs over AF_XDP and libfabric keep the statements, too",
        lane: Lane::Waits,
        run: wires::conformance,
    },
    Part {
        name: "kill",
        about: "processes that die in mid-call leave nothing behind",
        lane: Lane::Waits,
        run: || suite::run("kill", &[]),
    },
    Part {
        name: "net",
        about: "calls between hosts by each protocol sequence, over wires that are good, bad and cut",
        lane: Lane::Waits,
        run: wires::net,
    },
    Part {
        name: "interop",
        about: "Samba, impacket, scapy and tshark find nothing wrong with the standard's protocols",
        lane: Lane::Waits,
        run: interop::run,
    },
    Part {
        name: "soak-short",
        about: "many processes, threads and objects for some seconds",
        lane: Lane::Alone,
        run: || soak::run(SOAK_SECONDS),
    },
    Part {
        name: "sim",
        about: "VIs over a thousand simulated bad networks keep every promise",
        lane: Lane::Computes,
        run: sim::quick,
    },
    Part {
        name: "loom",
        about: "interleavings of what threads and processes share",
        lane: Lane::Computes,
        run: loom::quick,
    },
    Part {
        name: "icount",
        about: "a call takes no more instructions than its budget",
        lane: Lane::Computes,
        run: || icount::main(&[]),
    },
    Part {
        name: "miri",
        about: "undefined behaviour in what has unsafe in it",
        lane: Lane::Computes,
        run: miri::quick,
    },
    Part {
        name: "fuzz",
        about: "some seconds of nonsense for what reads other people's bytes",
        lane: Lane::Computes,
        run: fuzz::quick,
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

    /// The word, how long processors worked for it, and on further lines why.
    fn written(&self, work: Duration) -> String {
        let why = match self {
            Self::Passed => "",
            Self::Failed(why) | Self::Skipped(why) => why,
        };
        format!("{} {}\n{why}", self.word(), work.as_millis())
    }

    /// What [`Self::written`] wrote.
    fn read(text: &str) -> Option<(Self, Duration)> {
        let (first, why) = text.split_once('\n')?;
        let (word, work) = first.split_once(' ')?;
        let all = [Self::Passed, Self::Failed(why.to_owned()), Self::Skipped(why.to_owned())];
        let verdict = all.into_iter().find(|verdict| verdict.word() == word)?;
        Some((verdict, Duration::from_millis(work.parse().ok()?)))
    }
}

pub(crate) fn main(arguments: &[String]) -> Outcome {
    if matches!(arguments, [option] if option == "--list") {
        for part in PARTS {
            println!("{:<11} {}", part.name, part.about);
        }
        return Ok(());
    }
    if let [option, file, name] = arguments
        && option == lanes::OPTION
    {
        return write_verdict(file, &choose(std::slice::from_ref(name))?);
    }
    let parts = choose(arguments)?;
    let started = Instant::now();
    let ran = match parts.as_slice() {
        [one] => vec![run_here(one)],
        several => lanes::run(several)?,
    };
    println!("{}", summary(&ran, started.elapsed()));
    let failed: Vec<_> = ran.iter().filter(|one| matches!(one.verdict, Verdict::Failed(_))).collect();
    if failed.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = failed.iter().map(|one| one.name).collect();
    Err(Problem::Failed(format!("failed: {}", names.join(", "))))
}

/// Runs a part in this process; it prints to where this program prints.
fn run_here(part: &'static Part) -> Ran {
    println!("==> {}: {}", part.name, part.about);
    let began = Instant::now();
    let verdict = Verdict::of((part.run)(), is_ci());
    let took = began.elapsed();
    println!("<== {} {} in {:.1} s\n", part.name, verdict.word(), took.as_secs_f64());
    Ran { name: part.name, verdict, took, work: work_so_far() }
}

/// How long processors have worked for this process and those that it has seen the end of. None is as good as unknown.
fn work_so_far() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    work(&text).unwrap_or_default()
}

/// The same in the words of proc_pid_stat(5): after the name come fields of which the 12th to 15th count hundredths of seconds.
fn work(stat: &str) -> Option<Duration> {
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = fields.split_whitespace().skip(11).take(4).map(str::parse::<u64>);
    Some(Duration::from_millis(10 * ticks.sum::<Result<u64, _>>().ok()?))
}

/// Runs parts for another process, which reads how they ended.
fn write_verdict(file: &str, parts: &[&'static Part]) -> Outcome {
    for part in parts {
        let verdict = Verdict::of((part.run)(), is_ci());
        std::fs::write(file, verdict.written(work_so_far()))
            .map_err(|error| Problem::failed(format!("{file}: {error}")))?;
    }
    Ok(())
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
fn summary(ran: &[Ran], took: Duration) -> String {
    let (mut lines, mut reasons) = (Vec::new(), Vec::new());
    let line = |name: &str, word, took: Duration, work: Duration| {
        format!("{name:<11} {word:<8} {:>7.1} s, processors {:>7.1} s", took.as_secs_f64(), work.as_secs_f64())
    };
    for Ran { name, verdict, took, work } in ran {
        lines.push(line(name, verdict.word(), *took, *work));
        if let Verdict::Failed(why) | Verdict::Skipped(why) = verdict {
            reasons.push(format!("{name} {}: {}", verdict.word(), why.replace('\n', "\n    ")));
        }
    }
    let count = |word| ran.iter().filter(|one| one.verdict.word() == word).count();
    let (passed, failed, skipped) = (count("passed"), count("FAILED"), count("skipped"));
    lines.push(line("together", "", took, ran.iter().map(|one| one.work).sum()));
    lines.append(&mut reasons);
    lines.push(match skipped {
        0 => format!("{passed} passed, {failed} failed"),
        _ => format!("{passed} passed, {failed} failed, {skipped} skipped"),
    });
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{PARTS, Ran, Verdict, choose, summary, work};
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
    fn verdicts_are_passed_on() {
        let work = Duration::from_millis(1234);
        for verdict in [Verdict::Passed, Verdict::Failed("a\nb".to_owned()), Verdict::Skipped("z".to_owned())] {
            assert_eq!(Verdict::read(&verdict.written(work)), Some((verdict, work)));
        }
        assert_eq!(Verdict::read(""), None);
    }

    #[test]
    fn work_is_that_of_all_processes() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 9 9 0 0 100 20 3 4000 20 0 1 0 5 6 7";
        assert_eq!(work(stat), Some(Duration::from_millis(41_230)));
        assert_eq!(work("7 (a"), None);
    }

    #[test]
    fn the_summary_counts() {
        let second = Duration::from_secs(1);
        let ran = |name, verdict| Ran { name, verdict, took: second, work: second * 3 };
        let text =
            summary(&[ran("unit", Verdict::Passed), ran("kill", Verdict::Failed("a\nb".to_owned()))], second * 2);
        assert!(text.contains("kill        FAILED       1.0 s, processors     3.0 s\ntogether "), "{text}");
        assert!(text.contains(" s\nkill FAILED: a\n    b\n"), "{text}");
        assert!(text.ends_with("\n1 passed, 1 failed"), "{text}");
        let text = summary(&[ran("miri", Verdict::Skipped("z".to_owned()))], second);
        assert!(text.ends_with("\n0 passed, 0 failed, 1 skipped"), "{text}");
    }
}
