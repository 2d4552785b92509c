//! Programs that tests run: their lines of output and their ends, with time limits.

use crate::wait::{LATEST, LATEST_END, LOOK, Patience};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// A running program, killed on drop. A wait that reaches its limit panics, and reports where the
/// threads of the program wait.
#[derive(Debug)]
pub struct Process {
    command: String,
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Process {
    /// Starts a program, with pipes as its standard input and output.
    ///
    /// # Panics
    ///
    /// When the program cannot be run.
    #[track_caller]
    pub fn start(command: &mut Command) -> Self {
        Self::start_with_input(command, Stdio::piped())
    }

    /// Starts a program with this standard input, and a pipe as its standard output.
    ///
    /// # Panics
    ///
    /// When the program cannot be run.
    #[track_caller]
    pub fn start_with_input(command: &mut Command, input: Stdio) -> Self {
        let started = command.stdin(input).stdout(Stdio::piped()).spawn();
        let command = format!("{command:?}");
        let mut child = started.unwrap_or_else(|error| panic!("{command} cannot be run: {error}"));
        let output = child.stdout.take().map(BufReader::new);
        let (send, lines) = channel();
        std::thread::spawn(move || {
            let lines = output.into_iter().flat_map(|output| output.split(b'\n')).map_while(Result::ok);
            lines.into_iter().try_for_each(|line| send.send(String::from_utf8_lossy(&line).into_owned()))
        });
        Self { input: child.stdin.take(), command, child, lines }
    }

    /// Returns the process ID.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends the program a line.
    ///
    /// # Panics
    ///
    /// When the program's input is closed, or the program has ended.
    #[track_caller]
    pub fn say(&mut self, line: &str) {
        let said = self.input.as_mut().map(|input| writeln!(input, "{line}"));
        if said.is_none_or(|said| said.is_err()) {
            self.fail(&format!("does not read {line:?}"));
        }
    }

    /// Returns the next line of the program's output.
    ///
    /// # Panics
    ///
    /// When there is no line within [`LATEST`].
    #[track_caller]
    pub fn line(&mut self) -> String {
        self.line_within(LATEST)
    }

    /// Returns the next line of the program's output.
    ///
    /// # Panics
    ///
    /// When there is no line within the limit.
    #[track_caller]
    pub fn line_within(&mut self, limit: Duration) -> String {
        match self.next(&mut Patience::new(limit)) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => self.fail(&format!("prints nothing for {limit:?}")),
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.await_end();
                panic!("{} has ended: {status}", self.command);
            }
        }
    }

    /// Closes the program's input.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// Returns the status with which the process has ended; `None` while it runs.
    ///
    /// # Panics
    ///
    /// When the kernel does not know the process.
    #[track_caller]
    pub fn exit_status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("the process is a child")
    }

    /// Waits for the end of the process.
    ///
    /// # Panics
    ///
    /// When the process still runs after ten minutes.
    #[track_caller]
    pub fn await_end(&mut self) -> ExitStatus {
        let mut patience = Patience::new(LATEST_END);
        loop {
            if let Some(status) = self.exit_status() {
                return status;
            }
            if patience.is_over() {
                self.fail(&format!("has not ended within {LATEST_END:?}"));
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Closes the program's input, waits for its successful end, and returns the rest of its
    /// output.
    ///
    /// # Panics
    ///
    /// When the program fails, or does not end within ten minutes. When another process has
    /// inherited the output and keeps it open for [`LATEST`] after the program's end.
    #[track_caller]
    pub fn finish(&mut self) -> Vec<String> {
        self.finish_within(LATEST)
    }

    #[track_caller]
    fn finish_within(&mut self, limit: Duration) -> Vec<String> {
        self.close_input();
        let status = self.await_end();
        let (said, is_complete) = self.rest(limit);
        let what = if is_complete {
            String::new()
        } else {
            format!(", but another process still has its output open after {limit:?}")
        };
        assert!(status.success() && is_complete, "{}: {status}{what}\n{}", self.command, said.join("\n"));
        said
    }

    /// Sends the process a signal.
    ///
    /// # Panics
    ///
    /// When the process has ended.
    #[track_caller]
    pub fn signal(&mut self, signal: Signal) {
        // The ID of an ended process may belong to another process by now.
        assert!(self.exit_status().is_none(), "{} gets no signal, since it has ended", self.command);
        kill_process(Pid::from_child(&self.child), signal).expect("the process is a child");
    }

    /// Kills the process, and waits for its end.
    pub fn kill(&mut self) {
        // A process that has ended cannot be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn next(&self, patience: &mut Patience) -> Result<String, RecvTimeoutError> {
        loop {
            match self.lines.recv_timeout(Patience::COUNTED_MAX) {
                Err(RecvTimeoutError::Timeout) if !patience.is_over() => {}
                found => return found,
            }
        }
    }

    /// Returns the lines up to the output's end or the limit, and whether the end was reached.
    fn rest(&self, limit: Duration) -> (Vec<String>, bool) {
        let mut patience = Patience::new(limit);
        let mut lines = Vec::new();
        loop {
            match self.next(&mut patience) {
                Ok(line) if !patience.is_over() => lines.push(line),
                Ok(_) | Err(RecvTimeoutError::Timeout) => return (lines, false),
                Err(RecvTimeoutError::Disconnected) => return (lines, true),
            }
        }
    }

    /// Panics with a report: whether the process has ended, or else where its threads wait.
    #[track_caller]
    fn fail(&mut self, what: &str) -> ! {
        /// The time that a Java virtual machine gets to print the stacks of its threads.
        const DUMPED: Duration = Duration::from_secs(10);
        let command = self.command.clone();
        if let Some(status) = self.exit_status() {
            panic!("{command} {what}, and has ended: {status}");
        }
        let threads = self.threads().join("\n");
        // A Java virtual machine prints the stacks of its threads at this signal. Other programs
        // end.
        let _ = kill_process(Pid::from_child(&self.child), Signal::QUIT);
        let said = self.rest(DUMPED).0.join("\n");
        panic!("{command} {what}\nits threads:\n{threads}\nthe rest of its output:\n{said}");
    }

    /// Returns the names of the process's threads, and the kernel functions where they wait.
    fn threads(&self) -> Vec<String> {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.id())).into_iter().flatten().flatten();
        let read = |task: &fs::DirEntry, what| fs::read_to_string(task.path().join(what)).unwrap_or_default();
        tasks.map(|task| format!("{} in {}", read(&task, "comm").trim(), read(&task, "wchan"))).collect()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(test)]
mod tests {
    use super::Process;
    use rustix::process::{Pid, Signal, kill_process};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::process::Command;
    use std::time::Duration;

    fn shell(script: &str) -> Process {
        Process::start(Command::new("sh").args(["-c", script]))
    }

    /// Returns the text with which `act` panics.
    fn complaint<T>(act: impl FnOnce() -> T) -> String {
        let panic = catch_unwind(AssertUnwindSafe(act)).err().expect("it panics");
        *panic.downcast().expect("a formatted text")
    }

    #[test]
    fn programs_answer_lines_and_finish() {
        let mut process = shell("read line; echo $line; cat; printf 'last\\nof all'");
        process.say("first");
        assert_eq!(process.line(), "first");
        assert_eq!(process.exit_status(), None);
        process.say("second");
        assert_eq!(process.finish(), ["second", "last", "of all"]);
        let said = complaint(|| shell("echo said; exit 3").finish());
        assert!(said.ends_with("exit status: 3\nsaid"), "{said}");
    }

    #[test]
    fn outputs_that_outlive_their_program_are_reported() {
        let mut process = shell("sleep 600 2>/dev/null & echo $!");
        let sleeper = Pid::from_raw(process.line().parse().unwrap()).unwrap();
        let said = complaint(|| process.finish_within(Duration::from_millis(10)));
        kill_process(sleeper, Signal::KILL).unwrap();
        assert!(said.ends_with("exit status: 0, but another process still has its output open after 10ms\n"), "{said}");
    }

    #[test]
    fn signals_reach_running_programs_alone() {
        let mut process = shell("read line");
        process.signal(Signal::TERM);
        assert_eq!(process.await_end().code(), None);
        let said = complaint(|| process.signal(Signal::TERM));
        assert!(said.ends_with("gets no signal, since it has ended"), "{said}");
    }

    #[test]
    fn hung_programs_show_their_threads_and_what_they_print_when_asked_to_quit() {
        let mut process = shell("trap 'echo $((6 * 7)) stacks; exit' QUIT; echo ready; read line");
        assert_eq!(process.line(), "ready");
        let said = complaint(|| process.line_within(Duration::from_millis(10)));
        assert!(said.contains("prints nothing for 10ms\nits threads:\nsh in "), "{said}");
        assert!(said.ends_with("the rest of its output:\n42 stacks"), "{said}");
    }

    #[test]
    fn ended_programs_show_their_status() {
        let mut process = shell("exit 3");
        let said = complaint(|| process.line());
        assert!(said.ends_with("has ended: exit status: 3"), "{said}");
        let said = complaint(|| process.say("too late"));
        assert!(said.ends_with("does not read \"too late\", and has ended: exit status: 3"), "{said}");
    }

    #[test]
    #[should_panic(expected = "/not/there")]
    fn missing_programs_are_named() {
        Process::start(&mut Command::new("/not/there"));
    }
}
