//! Two parts at a time: one that computes beside one that waits for wires, clocks and other people's programs.

use super::{Part, Verdict};
use crate::program::Program;
use crate::temporary::Folder;
use crate::{Outcome, Problem};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The option of `cargo xtask test` by which a part runs for another process, which finds the verdict in a file.
pub(super) const OPTION: &str = "--verdict";

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

/// Runs parts, each in a process of its own; what they print begins with their names.
pub(super) fn run(parts: &[&'static Part]) -> Outcome<Vec<Ran>> {
    let folder = Folder::new()?;
    let program = std::env::current_exe().map_err(|error| Problem::failed(error.to_string()))?;
    let left = Mutex::new(Left::new(parts));
    let ran = Mutex::new(Vec::new());
    let next = |lane| left.lock().unwrap_or_else(PoisonError::into_inner).next(lane);
    let work = |lane| {
        while let Some(part) = next(lane) {
            let began = Instant::now();
            println!("==> {}: {}", part.name, part.about);
            let verdict = run_one(&program, part.name, &folder.path().join(part.name));
            let took = began.elapsed();
            println!("<== {} {} in {:.1} s", part.name, verdict.word(), took.as_secs_f64());
            ran.lock().unwrap_or_else(PoisonError::into_inner).push(Ran { name: part.name, verdict, took });
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

fn run_one(program: &Path, name: &'static str, file: &Path) -> Verdict {
    let words = ["test", OPTION, &file.display().to_string(), name].map(str::to_owned);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let command = Program::new(&program.display().to_string(), &words);
    let child = command.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return Verdict::Failed(format!("{} cannot be run: {error}", program.display())),
    };
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let status = std::thread::scope(|scope| {
        scope.spawn(|| print(name, out));
        scope.spawn(|| print(name, err));
        child.wait()
    });
    let verdict = std::fs::read_to_string(file).ok();
    verdict.and_then(|text| Verdict::read(&text)).unwrap_or_else(|| {
        let how = status.map_or_else(|error| error.to_string(), |status| status.to_string());
        Verdict::Failed(format!("it ended without a verdict: {how}"))
    })
}

/// Prints what a part prints, line by line.
fn print(name: &str, from: Option<impl Read>) {
    let Some(from) = from else { return };
    let mut lines = BufReader::new(from);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        println!("{name:<11} | {}", String::from_utf8_lossy(&line).trim_end());
        line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::{Lane, Left};
    use crate::test::PARTS;

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
