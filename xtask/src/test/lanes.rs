//! Runs four parts at a time, so that two processors are busy until the end. One thread runs the
//! parts that compute, two run those that also wait, and one runs those that wait most of the time.
//! A thread whose lane is empty helps another lane. Parts that need the processors for themselves
//! follow, one by one.

use super::order::Seed;
use super::parts::{BUILD, Lane, PARTS, Part};
use super::report::{Ran, Verdict};
use crate::outcome::{Outcome, Problem};
use crate::program::{Program, target};
use crate::server::Names;
use crate::workspace::{FILTER, IS_BUILT, SHUFFLE};
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The maximum number of displayed lines of a failed part.
const LINES_MAX: usize = 300;
/// The maximum number of displayed characters of a running part's last line.
const WIDTH_MAX: usize = 110;
/// The interval at which a part is polled for its end.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The interval of progress messages.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(60);

/// The parts that have not begun.
struct PendingParts {
    parts: Vec<&'static Part>,
    /// Whether the build of the workspace succeeded; `None` until it is done. True for a run
    /// without a build.
    build: Option<bool>,
}

/// A lane's next step.
enum Next {
    Run(&'static Part),
    /// The part needs the workspace, but the build of the workspace failed.
    Refuse(&'static Part),
    Wait,
    End,
}

impl PendingParts {
    fn new(parts: &[&'static Part], shuffle: Option<Seed>) -> Self {
        let parts = parts.iter().copied().filter(|part| part.name != BUILD);
        let mut parts = shuffle.map_or_else(|| parts.clone().collect(), |seed| seed.shuffle(parts.clone()));
        let needs_build = parts.iter().any(|part| part.needs_workspace);
        let build = PARTS.iter().find(|part| needs_build && part.name == BUILD);
        build.into_iter().for_each(|build| parts.insert(0, build));
        Self { parts, build: (!needs_build).then_some(true) }
    }

    /// Takes the first part of this lane that can run. If this lane has none, takes the last part
    /// that can run of any other lane except [`Lane::Alone`].
    fn next(&mut self, lane: Lane) -> Next {
        let is_ready = |part: &&Part| self.build.is_some() || !part.needs_workspace;
        let is_shared = |part: &&Part| part.lane != Lane::Alone;
        let own = self.parts.iter().position(|part| part.lane == lane && is_ready(part));
        let Some(at) = own.or_else(|| self.parts.iter().rposition(|part| is_ready(part) && is_shared(part))) else {
            return if self.parts.iter().any(is_shared) { Next::Wait } else { Next::End };
        };
        let part = self.parts.remove(at);
        let is_possible = self.build == Some(true) || !part.needs_workspace;
        if is_possible { Next::Run(part) } else { Next::Refuse(part) }
    }
}

/// The state shared by the lanes.
struct Run {
    pending: Mutex<PendingParts>,
    built: Condvar,
    ran: Mutex<Vec<Ran>>,
    runner: Runner,
}

/// Runs several parts with their output in files, and displays the end of a failed part's output. A
/// single part writes to the output of this program.
pub(super) fn run(parts: &[&'static Part], shuffle: Option<Seed>) -> Outcome<Vec<Ran>> {
    let runner = Runner::new(&target().join("test"), shuffle, None)?;
    if let [one] = parts {
        return Ok(vec![runner.show(one)]);
    }
    println!("The parts print to {}/PART.log", runner.folder.display());
    let pending = PendingParts::new(parts, shuffle);
    let order: Vec<_> = pending.parts.iter().map(|part| part.name).collect();
    let run = Run { pending: Mutex::new(pending), built: Condvar::new(), ran: Mutex::new(Vec::new()), runner };
    std::thread::scope(|scope| {
        scope.spawn(|| run.work(Lane::Waits));
        scope.spawn(|| run.work(Lane::Waits));
        scope.spawn(|| run.work(Lane::Idles));
        run.work(Lane::Computes);
    });
    run.work(Lane::Alone);
    let mut ran = run.ran.into_inner().unwrap_or_else(PoisonError::into_inner);
    ran.sort_by_key(|one| order.iter().position(|name| *name == one.name));
    Ok(ran)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Run {
    /// Runs parts in a lane until none are left.
    fn work(&self, lane: Lane) {
        loop {
            let mut pending = locked(&self.pending);
            let next = pending.next(lane);
            let is_built = pending.build == Some(true);
            let ran = match next {
                Next::End => return,
                Next::Wait => {
                    drop(self.built.wait(pending));
                    continue;
                }
                Next::Run(part) => {
                    drop(pending);
                    println!("==> {}: {}", part.name, part.about);
                    self.runner.run(part, part.name, is_built)
                }
                Next::Refuse(Part { name, .. }) => {
                    drop(pending);
                    let verdict = Verdict::Failed("the workspace was not built".to_owned());
                    Ran { name, verdict, took: Duration::ZERO, work: Duration::ZERO }
                }
            };
            if ran.name == BUILD {
                locked(&self.pending).build = Some(ran.verdict == Verdict::Passed);
                self.built.notify_all();
            }
            locked(&self.ran).push(ran);
        }
    }
}

/// A runner of parts in processes of their own.
pub(super) struct Runner {
    folder: PathBuf,
    program: PathBuf,
    shuffle: Option<Seed>,
    filter: Option<String>,
    // The directory of names for the servers that tests start and kill, in place of the user's own
    // directory.
    names: Names,
}

impl Runner {
    /// Creates a runner that writes the parts' output to a folder. If there is a filter, parts in
    /// Rust run only the tests that match it.
    pub(super) fn new(folder: &Path, shuffle: Option<Seed>, filter: Option<String>) -> Outcome<Self> {
        std::fs::create_dir_all(folder).map_err(|error| Problem::Failed(format!("{}: {error}", folder.display())))?;
        let program = std::env::current_exe().map_err(|error| Problem::failed(error.to_string()))?;
        Ok(Self { folder: folder.to_owned(), program, shuffle, filter, names: Names::new()? })
    }

    /// Sets the seed that orders the tests of the parts that are run from now on. Gives these parts
    /// a new directory of names.
    pub(super) fn begin_round(&mut self, seed: Seed) -> Outcome {
        self.shuffle = Some(seed);
        self.names = Names::new()?;
        Ok(())
    }

    /// Runs a part. Its output goes to the output of this program.
    fn show(&self, part: &'static Part) -> Ran {
        println!("==> {}: {}", part.name, part.about);
        let ran = self.measured(part.name, part.name, || self.command(part, part.name, false).command().status());
        println!("<== {} {} in {:.1} s\n", part.name, ran.verdict.word(), ran.took.as_secs_f64());
        ran
    }

    /// Runs a part. Its output goes to the log `file`.
    pub(super) fn run(&self, part: &'static Part, file: &str, is_built: bool) -> Ran {
        let (name, log) = (part.name, self.path(file, "log"));
        let ran = self.measured(name, file, || wait(name, &self.command(part, file, is_built), &log));
        println!("{}<== {name} {} in {:.1} s", shown(&ran.verdict, &log), ran.verdict.word(), ran.took.as_secs_f64());
        ran
    }

    /// Returns the path of a part's file.
    fn path(&self, file: &str, extension: &str) -> PathBuf {
        self.folder.join(file).with_extension(extension)
    }

    /// Runs a part in a process, and reads the verdict that the process has written to a file.
    fn measured(&self, name: &'static str, file: &str, run: impl FnOnce() -> std::io::Result<ExitStatus>) -> Ran {
        let began = Instant::now();
        let verdict = self.path(file, "verdict");
        // An earlier run's verdict must not be read.
        let cleared = match std::fs::remove_file(&verdict) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
        let (verdict, work) = match cleared.and_then(|()| run()) {
            Ok(status) => std::fs::read_to_string(verdict)
                .ok()
                .and_then(|text| Verdict::read(&text))
                .unwrap_or_else(|| (Verdict::Failed(format!("it ended without a verdict: {status}")), Duration::ZERO)),
            Err(error) => (Verdict::Failed(format!("it cannot be run: {error}")), Duration::ZERO),
        };
        Ran { name, verdict, took: began.elapsed(), work }
    }

    /// Returns the program that runs a part.
    fn command(&self, part: &Part, file: &str, is_built: bool) -> Program {
        let verdict = self.path(file, "verdict").display().to_string();
        let program = self.program.display().to_string();
        let network = if part.needs_network && can_have_network() { NETWORK } else { &[] };
        let thorough: &[&str] = if part.is_thorough { &["--thorough"] } else { &[] };
        let words = [network, &[&program, "test", "--verdict", &verdict, part.name], thorough].concat();
        let mut command = self.names.see(Program::new(words[0], &words[1..]));
        if is_built {
            command = command.variable(IS_BUILT, "1");
        }
        if let Some(seed) = self.shuffle {
            command = command.variable(SHUFFLE, seed.to_string());
        }
        match &self.filter {
            Some(filter) => command.variable(FILTER, filter),
            None => command,
        }
    }
}

/// The beginning of the command line of a program in a network namespace of its own, with only a
/// loopback interface.
const NETWORK: &[&str] = &["unshare", "--net", "--", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh"];

/// Whether this user may create a network namespace.
fn can_have_network() -> bool {
    Program::new(NETWORK[0], &NETWORK[1..]).argument("true").succeeds()
}

/// Waits for the process of a part, and prints progress messages. Does not wait for the end of the
/// output, because a process that the part has left running by mistake may still have the file
/// open.
fn wait(name: &str, program: &Program, log: &Path) -> std::io::Result<ExitStatus> {
    let out = File::create(log)?;
    let err = out.try_clone()?;
    let mut child = program.command().stdout(out).stderr(err).spawn()?;
    let mut reported = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(POLL_INTERVAL);
        if reported.elapsed() >= PROGRESS_INTERVAL {
            reported = Instant::now();
            println!("    {name} goes on: {}", last_line(log));
        }
    }
}

/// Returns the end of a failed part's output; an empty text for other parts.
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

/// Returns the last line of a part's output, truncated.
fn last_line(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("nothing printed so far");
    line.trim().chars().take(WIDTH_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::Lane::{Alone, Computes, Idles, Waits};
    use super::{LINES_MAX, Lane, Next, PendingParts, last_line, shown};
    use crate::temporary::Folder;
    use crate::test::parts::{BUILD, GROUPS, PARTS};
    use crate::test::report::Verdict;

    #[test]
    fn the_output_of_failed_parts_is_shown() {
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

    /// Returns the next steps of the given lanes, one after the other.
    fn next(pending: &mut PendingParts, lanes: &[Lane]) -> Vec<String> {
        let written = |next| match next {
            Next::Run(part) => part.name.to_owned(),
            Next::Refuse(part) => format!("not {}", part.name),
            Next::Wait => "wait".to_owned(),
            Next::End => "end".to_owned(),
        };
        lanes.iter().map(|lane| written(pending.next(*lane))).collect()
    }

    fn pending(names: &[&str]) -> PendingParts {
        let parts: Vec<_> = PARTS.iter().filter(|part| names.contains(&part.name)).collect();
        assert_eq!(parts.len(), names.len());
        PendingParts::new(&parts, None)
    }

    #[test]
    fn test_parts_wait_for_the_build() {
        let mut pending = pending(&["unit", "loom", "kill"]);
        assert_eq!(next(&mut pending, &[Computes, Waits, Waits]), [BUILD, "loom", "wait"]);
        pending.build = Some(true);
        assert_eq!(next(&mut pending, &[Idles, Waits, Waits]), ["kill", "unit", "end"]);
    }

    #[test]
    fn test_parts_do_not_run_after_a_failed_build() {
        let mut pending = pending(&["unit", "loom", "kill"]);
        assert_eq!(next(&mut pending, &[Computes]), [BUILD]);
        pending.build = Some(false);
        assert_eq!(next(&mut pending, &[Waits, Waits, Waits, Waits]), ["loom", "not kill", "not unit", "end"]);
    }

    #[test]
    fn test_parts_without_the_workspace_do_not_wait_for_the_build() {
        assert_eq!(next(&mut pending(&["loom"]), &[Waits, Waits]), ["loom", "end"]);
    }

    #[test]
    fn parts_that_need_the_processors_for_themselves_run_last() {
        let goodput = GROUPS.iter().find(|part| part.name == "goodput").unwrap();
        let mut pending = pending(&["loom"]);
        pending.parts.insert(0, goodput);
        assert_eq!(next(&mut pending, &[Waits, Waits, Alone, Alone]), ["loom", "end", "goodput", "end"]);
    }
}
