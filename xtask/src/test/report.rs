//! The verdicts of parts, and the summary of a run.

use crate::outcome::{Outcome, Problem};
use std::time::Duration;

/// A part that was run.
pub(super) struct Ran {
    pub(super) name: &'static str,
    pub(super) verdict: Verdict,
    pub(super) took: Duration,
    /// The processor time that the part took.
    pub(super) work: Duration,
}

/// The result of a part.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Passed,
    Failed(String),
    Skipped(String),
}

impl Verdict {
    /// Returns the verdict of an outcome. In a CI run, a missing required tool is a failure.
    pub(super) fn of(outcome: Outcome, is_ci: bool) -> Self {
        match outcome {
            Ok(()) => Self::Passed,
            Err(Problem::Missing { what, required }) if !(required && is_ci) => Self::Skipped(what),
            Err(problem) => Self::Failed(problem.to_string()),
        }
    }

    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed(_) => "FAILED",
            Self::Skipped(_) => "skipped",
        }
    }

    /// Formats the verdict for [`Self::read`]: the word and the processor time in one line, then
    /// the reason.
    pub(super) fn written(&self, work: Duration) -> String {
        let why = match self {
            Self::Passed => "",
            Self::Failed(why) | Self::Skipped(why) => why,
        };
        format!("{} {}\n{why}", self.word(), work.as_millis())
    }

    /// Parses the text of [`Self::written`].
    pub(super) fn read(text: &str) -> Option<(Self, Duration)> {
        let (first, why) = text.split_once('\n')?;
        let (word, work) = first.split_once(' ')?;
        let all = [Self::Passed, Self::Failed(why.to_owned()), Self::Skipped(why.to_owned())];
        let verdict = all.into_iter().find(|verdict| verdict.word() == word)?;
        Some((verdict, Duration::from_millis(work.parse().ok()?)))
    }
}

/// Returns the processor time of this process and its ended children; 0 if the time is unknown.
pub(super) fn work_so_far() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    work(&text).unwrap_or_default()
}

/// Parses proc_pid_stat(5): the 12th to 15th fields after the name count hundredths of seconds.
fn work(stat: &str) -> Option<Duration> {
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = fields.split_whitespace().skip(11).take(4).map(str::parse::<u64>);
    Some(Duration::from_millis(10 * ticks.sum::<Result<u64, _>>().ok()?))
}

/// Returns a line for each part, then the reasons of failures, then the counts. People look at the
/// end of a log first, so the counts are last.
pub(super) fn summary(ran: &[Ran], took: Duration) -> String {
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
    use super::{Ran, Verdict, summary, work};
    use crate::outcome::Problem;
    use std::time::Duration;

    #[test]
    fn missing_tools_fail_parts_only_if_required() {
        let missing = |required| Err(Problem::Missing { what: "x".to_owned(), required });
        assert_eq!(Verdict::of(missing(false), true), Verdict::Skipped("x".to_owned()));
        assert_eq!(Verdict::of(missing(true), false), Verdict::Skipped("x".to_owned()));
        assert_eq!(Verdict::of(missing(true), true), Verdict::Failed("x".to_owned()));
        assert_eq!(Verdict::of(Err(Problem::failed("y")), false), Verdict::Failed("y".to_owned()));
        assert_eq!(Verdict::of(Ok(()), true), Verdict::Passed);
    }

    #[test]
    fn verdicts_round_trip() {
        let work = Duration::from_millis(1234);
        for verdict in [Verdict::Passed, Verdict::Failed("a\nb".to_owned()), Verdict::Skipped("z".to_owned())] {
            assert_eq!(Verdict::read(&verdict.written(work)), Some((verdict, work)));
        }
        assert_eq!(Verdict::read(""), None);
    }

    #[test]
    fn processor_time_includes_child_processes() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 9 9 0 0 100 20 3 4000 20 0 1 0 5 6 7";
        assert_eq!(work(stat), Some(Duration::from_millis(41_230)));
        assert_eq!(work("7 (a"), None);
    }

    #[test]
    fn the_summary_counts_verdicts() {
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
