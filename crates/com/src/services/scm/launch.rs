//! Starts a server and supervises it: until it has registered its class, and then until it ends.

use super::names::{IDLE, STARTED, class_endpoint};
use super::registration::Program;
use crate::types::error::{Error, Result, code};
use obvia_via::provider::shm::Directory;
use obvia_via::window::Options;
use obvia_via::{Deadline, Error as ViError};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, set_parent_process_death_signal};
use std::io::{self, PipeReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use windows_core::GUID;

/// The greatest length of a kept line of a server's standard error, in bytes.
const LINE_MAX: usize = 1024;
/// The longest single wait for an event of a server. The wait is repeated.
const WAIT_MAX: Duration = Duration::from_secs(3600);
/// The interval between checks whether a server answers. The kernel does not report when a socket
/// begins to listen.
const LOOK: Duration = Duration::from_millis(20);
/// The longest wait for a server's greeting in one check. The check is repeated.
const GREETING_MAX: Duration = Duration::from_secs(1);
/// The greatest number of bytes that are read from the pipe of a server that has ended.
const REST_MAX: usize = 64 << 10;

/// A server that was started.
pub(super) struct Launched {
    child: Child,
    /// The descriptor of the process (pidfd). It is readable when the server has ended.
    end: OwnedFd,
    /// The server's standard error, until the pipe is closed.
    errors: Option<PipeReader>,
    last: LastLine,
}

/// The last line of a server's standard error that can explain a failure.
#[derive(Default)]
struct LastLine {
    whole: Vec<u8>,
    begun: Vec<u8>,
}

impl LastLine {
    fn take(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if byte != b'\n' {
                if self.begun.len() < LINE_MAX {
                    self.begun.push(byte);
                }
                continue;
            }
            // Blank lines are not kept, and neither is the note that Rust prints after a panic
            // message: they give no reason.
            let says_nothing = self.begun.trim_ascii().is_empty() || self.begun.starts_with(b"note: ");
            if !says_nothing {
                std::mem::swap(&mut self.whole, &mut self.begun);
            }
            self.begun.clear();
        }
    }

    fn text(&mut self) -> Option<String> {
        self.take(b"\n");
        let line = String::from_utf8_lossy(self.whole.trim_ascii()).into_owned();
        (!line.is_empty()).then(|| line.escape_debug().to_string())
    }
}

/// The events that a wait has reported.
#[derive(Clone, Copy, Debug, Default)]
struct Events {
    has_ended: bool,
    has_said: bool,
    /// Whether names were added to the directory.
    has_named: bool,
}

/// Starts a class's program, and waits until it has registered the class.
pub(super) fn launch(directory: &Directory, class: &GUID, program: &Program) -> Result<Launched> {
    let failed =
        |what: String| Error::new(code::CO_E_SERVER_EXEC_FAILURE, format!("{}: {what}", program.path.display()));
    // The watch begins before the start, so that no event is missed.
    let names =
        directory.watch().map_err(|error| failed(format!("the directory for names cannot be watched: {error}")))?;
    let mut launched = spawn(program).map_err(|error| failed(format!("cannot be started: {error}")))?;
    let deadline = Deadline::Within(program.start_timeout).start();
    let endpoint = class_endpoint(class);
    while !is_there(directory, &endpoint, deadline.remaining().min(GREETING_MAX)) {
        if deadline.is_over() {
            launched.kill();
            let said = launched.last_line();
            let seconds = program.start_timeout.as_secs();
            return Err(failed(format!(
                "did not register the class {{{class:?}}} within {seconds} seconds, and was killed{said}"
            )));
        }
        let seen = launched.wait(Some(&names), deadline.remaining().min(LOOK));
        if seen.has_named {
            empty(&names);
        }
        if seen.has_said {
            launched.listen();
        }
        if seen.has_ended {
            let status = launched.child.wait().map(|status| status.to_string());
            let (status, said) = (status.unwrap_or_else(|error| error.to_string()), launched.last_line());
            return Err(failed(format!("ended before it registered the class {{{class:?}}}, with {status}{said}")));
        }
    }
    Ok(launched)
}

/// Whether a server answers at a name. It is not enough that the name is locked: a process that
/// removes a dead server's files also locks the name for a moment.
fn is_there(directory: &Directory, endpoint: &str, patience: Duration) -> bool {
    let options = Options { quiet: true, ..Options::default() };
    match directory.connect(endpoint, &options, Deadline::Within(patience).start()) {
        Err(ViError::NotFound { .. } | ViError::PeerGone { .. } | ViError::TimedOut) => false,
        // In all other cases there is a server. If it answers with an error, clients will receive
        // this error, too.
        _ => true,
    }
}

/// Reads and discards all pending events.
fn empty(watch: &OwnedFd) {
    let mut events = [0; 4096];
    while rustix::io::read(watch, &mut events).is_ok_and(|length| length > 0) {}
}

fn spawn(program: &Program) -> io::Result<Launched> {
    let (errors, into) = io::pipe()?;
    let pipe = rustix::fs::fstat(&into)?.st_ino;
    let mut command = Command::new(&program.path);
    command.args(&program.arguments).envs(program.environment.iter().map(|(name, value)| (name, value)));
    command.env(STARTED, pipe.to_string()).env_remove(IDLE);
    if let Some(idle) = program.idle_timeout {
        command.env(IDLE, idle.as_secs().to_string());
    }
    // The server outlives the SCM, and an interrupt of the SCM at a terminal must not reach the
    // server.
    command.current_dir("/").process_group(0);
    let output = io::stderr().as_fd().try_clone_to_owned()?;
    command.stdin(Stdio::null()).stdout(output).stderr(into);
    // Until the server has registered its class, the kernel kills it when the SCM ends.
    let end_with_service = || Ok(set_parent_process_death_signal(Some(Signal::KILL))?);
    // SAFETY: between fork and exec the closure makes one system call, and neither allocates nor
    // takes a lock.
    unsafe { command.pre_exec(end_with_service) };
    let mut child = command.spawn()?;
    match pidfd_open(Pid::from_child(&child), PidfdFlags::empty()) {
        Ok(end) => Ok(Launched { child, end, errors: Some(errors), last: LastLine::default() }),
        Err(errno) => {
            let _ = child.kill();
            let _ = child.wait();
            Err(errno.into())
        }
    }
}

impl Launched {
    /// Waits until an event arrives or the time is over.
    fn wait(&self, names: Option<&OwnedFd>, span: Duration) -> Events {
        let none = PollFlags::empty();
        let wanted = [Some(self.end.as_fd()), self.errors.as_ref().map(AsFd::as_fd), names.map(AsFd::as_fd)];
        let places: Vec<(usize, BorrowedFd<'_>)> =
            wanted.into_iter().enumerate().filter_map(|(at, place)| Some((at, place?))).collect();
        let mut polled: Vec<PollFd<'_>> =
            places.iter().map(|(_, place)| PollFd::from_borrowed_fd(*place, PollFlags::IN)).collect();
        // The wait is limited, since the kernel does not accept every length of time.
        let span = span.min(WAIT_MAX).try_into().ok();
        // An interrupted wait reports no event.
        let _ = poll(&mut polled, span.as_ref());
        let mut seen = [false; 3];
        for ((at, _), polled) in places.iter().zip(&polled) {
            seen[*at] = polled.revents() != none;
        }
        let [has_ended, has_said, has_named] = seen;
        Events { has_ended, has_said, has_named }
    }

    /// Reads from the server's standard error, and writes the text to the standard error of this
    /// process. Returns the number of bytes.
    fn listen(&mut self) -> usize {
        let mut bytes = [0; 4096];
        let read = self.errors.as_mut().map_or(Ok(0), |errors| errors.read(&mut bytes));
        let length = match read {
            Ok(length) if length > 0 => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return 0,
            _ => {
                self.errors = None;
                return 0;
            }
        };
        self.last.take(&bytes[..length]);
        // If this process has no standard error, the text is lost.
        let _ = io::stderr().write_all(&bytes[..length]);
        length
    }

    /// Returns the server's last line as part of an error message.
    fn last_line(&mut self) -> String {
        let mut rest = 0;
        while rest < REST_MAX && self.wait(None, Duration::ZERO).has_said {
            rest += self.listen().max(1);
        }
        self.last.text().map_or_else(String::new, |line| format!("; its last line of output: {line}"))
    }

    fn kill(&mut self) {
        // The server may have ended by itself, so errors are ignored.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Supervises the server until it ends: forwards its standard error, and reaps the process.
    pub(super) fn attend(mut self) {
        loop {
            let seen = self.wait(None, WAIT_MAX);
            if seen.has_said {
                self.listen();
            }
            if seen.has_ended {
                let _ = self.last_line();
                let _ = self.child.wait();
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_output_line_skips_empty_lines_and_backtrace_notes() {
        let mut last = LastLine::default();
        assert_eq!(last.text(), None);
        for (said, expected) in [
            (&b"one\ntwo"[..], "two"),
            (b"\n\n  \n", "two"),
            (b"panicked\nnote: run with RUST_BACKTRACE=1\n", "panicked"),
            (b"\xff\x1b[1m\n", "\u{fffd}\\u{1b}[1m"),
        ] {
            last.take(said);
            assert_eq!(last.text().as_deref(), Some(expected));
        }
        last.take(&[b'x'; 3 * LINE_MAX]);
        assert_eq!(last.text().map(|text| text.len()), Some(LINE_MAX));
    }
}
