//! Two parts at a time: one that computes beside one that waits for wires, clocks and other people's programs.

use super::{Part, Verdict};
use crate::program::{Program, target};
use crate::{Outcome, Problem};
use std::collections::VecDeque;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The option of `cargo xtask test` by which a part runs for another process, which finds the verdict in a file.
pub(super) const OPTION: &str = "--verdict";

/// Lines that are shown of a part that failed.
const LINES_MAX: usize = 300;
/// Characters that are shown of a line while its part goes on.
const WIDTH_MAX: usize = 110;
/// How often a part is asked whether it has ended.
const LOOK: Duration = Duration::from_millis(100);
/// How often one that goes on gives a sign.
const SIGN: Duration = Duration::from_secs(60);

/// What the parts of a run do most of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    Computes,
    Waits,
    /// Wants the machine for itself: it runs when all others have.
    Alone,
}

/// A part that was run.
pub(super) struct Ran {
    pub(super) name: &'static str,
    pub(super) verdict: Verdict,
    pub(super) took: Duration,
    /// How long processors worked for it.
    pub(super) work: Duration,
}

/// The parts that nobody has begun with.
struct Left {
    computing: VecDeque<&'static Part>,
    waiting: VecDeque<&'static Part>,
    alone: VecDeque<&'static Part>,
}

impl Left {
    fn new(parts: &[&'static Part]) -> Self {
        let of = |lane| parts.iter().copied().filter(|part| part.lane == lane).collect();
        Self { computing: of(Lane::Computes), waiting: of(Lane::Waits), alone: of(Lane::Alone) }
    }

    /// The next of a lane; where it has none left, the other's last.
    fn next(&mut self, lane: Lane) -> Option<&'static Part> {
        let (own, other) = match lane {
            Lane::Computes => (&mut self.computing, &mut self.waiting),
            Lane::Waits => (&mut self.waiting, &mut self.computing),
            Lane::Alone => return self.alone.pop_front(),
        };
        own.pop_front().or_else(|| other.pop_back())
    }
}

/// Runs parts, each in a process of its own. What they print goes into files; of those that fail the end is shown.
pub(super) fn run(parts: &[&'static Part]) -> Outcome<Vec<Ran>> {
    let folder = logs();
    std::fs::create_dir_all(&folder).map_err(|error| Problem::failed(format!("{}: {error}", folder.display())))?;
    println!("What the parts print is in {}/PART.log", folder.display());
    let program = std::env::current_exe().map_err(|error| Problem::failed(error.to_string()))?;
    let left = Mutex::new(Left::new(parts));
    let ran = Mutex::new(Vec::new());
    let next = |lane| left.lock().unwrap_or_else(PoisonError::into_inner).next(lane);
    let work = |lane| {
        while let Some(part) = next(lane) {
            let began = Instant::now();
            println!("==> {}: {}", part.name, part.about);
            let log = folder.join(part.name).with_extension("log");
            let file = folder.join(part.name).with_extension("verdict");
            let (verdict, work) = run_one(&program, part.name, &file, &log)
                .unwrap_or_else(|error| (Verdict::Failed(format!("it cannot be run: {error}")), Duration::ZERO));
            let took = began.elapsed();
            println!("{}<== {} {} in {:.1} s", shown(&verdict, &log), part.name, verdict.word(), took.as_secs_f64());
            ran.lock().unwrap_or_else(PoisonError::into_inner).push(Ran { name: part.name, verdict, took, work });
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| work(Lane::Waits));
        work(Lane::Computes);
    });
    work(Lane::Alone);
    let mut ran = ran.into_inner().unwrap_or_else(PoisonError::into_inner);
    let place = |name: &str| parts.iter().position(|part| part.name == name);
    ran.sort_by_key(|one| place(one.name));
    Ok(ran)
}

/// Where the parts of a run leave what they print.
fn logs() -> PathBuf {
    target().join("test")
}

/// Runs a part in a process of its own. It prints to a file, which nobody waits for: what a part left running by mistake may have it open.
fn run_one(program: &Path, name: &'static str, file: &Path, log: &Path) -> std::io::Result<(Verdict, Duration)> {
    // That of a run before is none of this one's.
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let words = ["test", OPTION, &file.display().to_string(), name].map(str::to_owned);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let out = File::create(log)?;
    let err = out.try_clone()?;
    let command = Program::new(&program.display().to_string(), &words);
    let mut child = command.command().stdout(out).stderr(err).spawn()?;
    let mut said = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        std::thread::sleep(LOOK);
        if said.elapsed() >= SIGN {
            said = Instant::now();
            println!("    {name} goes on: {}", last_line(log));
        }
    };
    let verdict = std::fs::read_to_string(file).ok();
    let verdict = verdict.and_then(|text| Verdict::read(&text));
    Ok(verdict.unwrap_or_else(|| (Verdict::Failed(format!("it ended without a verdict: {status}")), Duration::ZERO)))
}

/// The end of what a part printed that failed; nothing of others.
fn shown(verdict: &Verdict, log: &Path) -> String {
    if !matches!(verdict, Verdict::Failed(_)) {
        return String::new();
    }
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    let left_out = lines.len().saturating_sub(LINES_MAX);
    let mut shown = String::new();
    if left_out > 0 {
        shown = format!("    ({left_out} lines before are in {})\n", log.display());
    }
    lines[left_out..].iter().fold(shown, |shown, line| shown + line + "\n")
}

/// The last line that a part printed, or its beginning where that is long.
fn last_line(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("nothing printed so far");
    line.trim().chars().take(WIDTH_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::{LINES_MAX, Lane, Left, last_line, shown};
    use crate::temporary::Folder;
    use crate::test::{PARTS, Verdict};

    #[test]
    fn what_failed_is_shown() {
        let folder = Folder::new().expect("a temporary folder");
        let log = folder.path().join("x.log");
        let failed = Verdict::Failed("why".to_owned());
        assert_eq!(shown(&failed, &log), "");
        assert_eq!(last_line(&log), "nothing printed so far");
        std::fs::write(&log, b"a\n\xff b\n\n").expect("a file");
        assert_eq!(shown(&failed, &log), "a\n\u{fffd} b\n\n");
        assert_eq!(shown(&Verdict::Passed, &log), "");
        assert_eq!(last_line(&log), "\u{fffd} b");
        let lines: String = (0..LINES_MAX + 7).map(|number| format!("line {number}\n")).collect();
        std::fs::write(&log, lines).expect("a file");
        let text = shown(&failed, &log);
        assert!(text.starts_with("    (7 lines before are in ") && text.contains("\nline 7\n"), "{text}");
        assert!(!text.contains("\nline 6\n"), "{text}");
    }

    #[test]
    fn each_lane_helps_the_other_in_the_end() {
        let all: Vec<_> = PARTS.iter().collect();
        let mut left = Left::new(&all);
        let first = |lane| all.iter().find(|part| part.lane == lane).map(|part| part.name);
        assert_eq!(left.next(Lane::Waits).map(|part| part.name), first(Lane::Waits));
        assert_eq!(left.next(Lane::Computes).map(|part| part.name), first(Lane::Computes));
        while !left.waiting.is_empty() {
            left.next(Lane::Waits);
        }
        let last = all.iter().rfind(|part| part.lane == Lane::Computes).map(|part| part.name);
        assert_eq!(left.next(Lane::Waits).map(|part| part.name), last);
        let mut count = 0;
        while left.next(Lane::Computes).is_some() {
            count += 1;
        }
        let computing = all.iter().filter(|part| part.lane == Lane::Computes).count();
        assert_eq!(count, computing - 2);
        assert!(left.next(Lane::Alone).is_some_and(|part| part.lane == Lane::Alone));
    }
}
