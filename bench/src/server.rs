//! The other process of a case, seen from both ends. The client starts, suspends, resumes and ends
//! the process, and every wait for the process has a time limit.

use crate::{Error, cable, machine};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getppid, kill_process, set_parent_process_death_signal, waitid,
};
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// The time that a client waits for an answer.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// The first word that a server prints once it accepts calls. The server's address follows, if it
/// has one.
const READY: &str = "ready";

/// Decides whether a wait still makes sense. Waiting code asks only when the wait takes unusually
/// long.
pub trait Watch {
    /// Returns an error if the other side is gone.
    fn check(&mut self) -> Result<(), Error>;

    /// Returns the time limit of a wait; `None` for servers, which wait as long as there is a
    /// client.
    fn patience(&self) -> Option<Duration>;
}

/// A watch for tests with a client's time limit.
#[cfg(test)]
pub(crate) struct Patient;

#[cfg(test)]
impl Watch for Patient {
    fn check(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn patience(&self) -> Option<Duration> {
        Some(PATIENCE)
    }
}

/// A wait that takes long.
#[derive(Debug, Default)]
pub struct Stalling {
    since: Option<Instant>,
}

impl Stalling {
    /// Returns an error if the wait must end. The waiting loop calls this from time to time.
    #[cold]
    pub fn check(&mut self, watch: &mut impl Watch) -> Result<(), Error> {
        watch.check()?;
        let since = *self.since.get_or_insert_with(Instant::now);
        match watch.patience() {
            Some(after) if since.elapsed() > after => Err(Error::Stalled { after }),
            _ => Ok(()),
        }
    }
}

/// The exit status of this process after a signal told it to end. Shells report the same status for
/// an interrupted process.
const INTERRUPTED: i32 = 130;

/// The time within which a server must end after it was told to.
const ENDING_MAX: Duration = Duration::from_secs(5);

/// A server: a process that runs this program or another program. The drop of the value tells the
/// server to end. If the client's process ends, the kernel kills the server.
#[derive(Debug)]
pub struct ServerProcess {
    child: Child,
    pid: Pid,
    address: String,
}

impl ServerProcess {
    /// Starts this program with `arguments` and this process's identifier, and with `stdin` as
    /// standard input. Waits until the server reports that it is ready (see [`Parent::ready`]).
    pub fn start(arguments: &[&str], stdin: Option<OwnedFd>) -> Result<Self, Error> {
        Self::start_with(arguments, stdin, || Ok(())).map(|(server, ())| server)
    }

    /// Does the same as [`Self::start`], but calls `meanwhile` before the wait. `meanwhile`
    /// performs this side's part in making the server ready.
    pub fn start_with<T>(
        arguments: &[&str],
        stdin: Option<OwnedFd>,
        meanwhile: impl FnOnce() -> Result<T, Error>,
    ) -> Result<(Self, T), Error> {
        // The link refers to the running program even if the program's file has been replaced.
        Self::start_program("/proc/self/exe".as_ref(), arguments, stdin, meanwhile)
    }

    /// Does the same as [`Self::start_with`], with another program.
    pub fn start_program<T>(
        program: &Path,
        arguments: &[&str],
        stdin: Option<OwnedFd>,
        meanwhile: impl FnOnce() -> Result<T, Error>,
    ) -> Result<(Self, T), Error> {
        let mut program = Command::new(program);
        program
            .args(arguments)
            .args(["--parent", &std::process::id().to_string()])
            .stdin(stdin.map_or_else(Stdio::null, Stdio::from))
            .stdout(Stdio::piped())
            // The terminal's signals reach the client alone, and the client ends its servers.
            .process_group(0);
        let mut running = running();
        let child = cable::at_server(|| program.spawn()).map_err(Error::system("starting the server process"))?;
        let pid = Pid::from_child(&child);
        running.push(pid);
        drop(running);
        let mut server = Self { child, pid, address: String::new() };
        let done = meanwhile()?;
        server.wait_until_ready()?;
        Ok((server, done))
    }

    fn wait_until_ready(&mut self) -> Result<(), Error> {
        let stdout = self.child.stdout.take().expect("was piped");
        let (said, says) = mpsc::channel();
        // Reads of a pipe have no time limit, so a thread reads the line. The thread ends when the
        // line has been read, or when the server has ended.
        std::thread::spawn(move || {
            let mut line = String::new();
            let outcome = BufReader::new(stdout).read_line(&mut line);
            // The send fails only if the receiver has given up.
            let _ = said.send(outcome.map(|_| line));
        });
        match says.recv_timeout(PATIENCE) {
            Ok(Ok(line)) if line.starts_with(READY) => {
                line[READY.len()..].trim().clone_into(&mut self.address);
                Ok(())
            }
            Ok(Ok(_)) => Err(Error::PeerDied { status: self.child.wait().ok() }),
            Ok(Err(error)) => Err(Error::system("reading from the server process")(error)),
            Err(_) => Err(Error::Stalled { after: PATIENCE }),
        }
    }

    /// Returns the address that the server has reported; empty if it has reported none.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns the identifier of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Resumes the process.
    pub fn resume(&mut self) -> Result<(), Error> {
        kill_process(self.pid, Signal::CONT).map_err(Error::system("continuing the server process"))
    }

    /// Kills the process.
    pub(crate) fn kill(&self) -> Result<(), Error> {
        kill_process(self.pid, Signal::KILL).map_err(Error::system("killing a process"))
    }

    /// Suspends the process, so that it takes no processor time even if it spins.
    pub fn suspend(&mut self) -> Result<(), Error> {
        kill_process(self.pid, Signal::STOP).map_err(Error::system("stopping the server process"))
    }
}

impl Watch for ServerProcess {
    fn check(&mut self) -> Result<(), Error> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(status) => Err(Error::PeerDied { status }),
            Err(error) => Err(Error::system("asking for the server process")(error)),
        }
    }

    fn patience(&self) -> Option<Duration> {
        Some(PATIENCE)
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let mut running = running();
        end(&[self.pid]);
        // Both calls fail only if the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        running.retain(|pid| *pid != self.pid);
    }
}

/// The servers that have been started and have not yet ended.
static RUNNING: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

fn running() -> MutexGuard<'static, Vec<Pid>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells servers to end, and waits until they have ended, for at most [`ENDING_MAX`].
fn end(servers: &[Pid]) {
    for &server in servers {
        // The calls fail only if the process has ended already. A suspended process gets the first
        // signal when the second resumes it.
        let _ = kill_process(server, Signal::TERM);
        let _ = kill_process(server, Signal::CONT);
    }
    let since = Instant::now();
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let runs = |server: &Pid| matches!(waitid(WaitId::Pid(*server), options), Ok(None));
    while since.elapsed() < ENDING_MAX && servers.iter().any(runs) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Ends the servers, and then this process, when a signal tells this process to end.
pub fn end_on_signal() -> Result<(), Error> {
    obvia::catch_signals().map_err(|error| Error::Failed { message: error.to_string() })?;
    let wait = || {
        if obvia::wait_for_signal().is_ok() {
            // No server can start while this lock is held.
            let running = running();
            end(&running);
            std::process::exit(INTERRUPTED);
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait).map_err(Error::system("waiting for signals"))?;
    Ok(())
}

/// The client's process, seen from the server's process.
#[derive(Debug)]
pub struct Parent {
    pid: Option<Pid>,
}

impl Parent {
    /// Makes the kernel kill this process when process `parent` ends, and pins this process to
    /// `cpu` if one is given. A server process has to call this first.
    pub fn bind(parent: u32, cpu: Option<usize>) -> Result<Self, Error> {
        set_parent_process_death_signal(Some(Signal::KILL)).map_err(Error::system("asking to end with the client"))?;
        if let Some(cpu) = cpu {
            machine::pin(cpu)?;
        }
        let pid = i32::try_from(parent).ok().and_then(Pid::from_raw);
        let mut parent = Self { pid };
        // The parent may have ended before the signal was requested.
        parent.check()?;
        Ok(parent)
    }

    /// Tells the client that the server accepts calls.
    pub fn ready(&self) -> Result<(), Error> {
        self.ready_at("")
    }

    /// Does the same as [`Self::ready`], and also reports the server's address.
    pub fn ready_at(&self, address: &str) -> Result<(), Error> {
        let mut stdout = std::io::stdout().lock();
        writeln!(stdout, "{READY} {address}").and_then(|()| stdout.flush()).map_err(Error::system("telling the client"))
    }
}

impl Watch for Parent {
    fn check(&mut self) -> Result<(), Error> {
        if getppid() == self.pid {
            return Ok(());
        }
        Err(Error::PeerDied { status: None })
    }

    fn patience(&self) -> Option<Duration> {
        None
    }
}
