//! The other process of a case, seen from both ends: started, stopped, continued, and never waited for in vain.

use crate::{Error, cable, machine};
use rustix::process::{Pid, Signal, getppid, kill_process, set_parent_process_death_signal};
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long a client waits for an answer before it gives up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// What a server prints once it can be called, with its address behind it if it has one.
const READY: &str = "ready";

/// Somebody who knows whether waiting still makes sense. Asked only when a wait is taking unusually long.
pub trait Watch {
    /// An error when the other side is gone.
    fn check(&mut self) -> Result<(), Error>;

    /// How long a wait may take at most; servers wait as long as there is a client.
    fn patience(&self) -> Option<Duration>;
}

/// Who waits in tests: as long as a client does.
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

/// A wait that is taking long.
#[derive(Debug, Default)]
pub struct Stalling {
    since: Option<Instant>,
}

impl Stalling {
    /// To be called now and then during one wait: an error when it must end.
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

/// A server: this program again or another, in a process of its own. Killed when dropped, and by the kernel when the
/// client's process ends in any other way.
#[derive(Debug)]
pub struct ServerProcess {
    child: Child,
    pid: Pid,
    address: String,
}

impl ServerProcess {
    /// Starts this program with `arguments` and the number of this process, with `stdin` as its standard input, and
    /// waits until it says that it is ready (see [`Parent::ready`]).
    pub fn start(arguments: &[&str], stdin: Option<OwnedFd>) -> Result<Self, Error> {
        Self::start_with(arguments, stdin, || Ok(())).map(|(server, ())| server)
    }

    /// The same, and does this side's part of what makes it ready meanwhile.
    pub fn start_with<T>(
        arguments: &[&str],
        stdin: Option<OwnedFd>,
        meanwhile: impl FnOnce() -> Result<T, Error>,
    ) -> Result<(Self, T), Error> {
        // The link leads to the very file that runs here, even if another has taken its name meanwhile.
        Self::start_program("/proc/self/exe".as_ref(), arguments, stdin, meanwhile)
    }

    /// The same with another program.
    pub(crate) fn start_program<T>(
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
            .stdout(Stdio::piped());
        let child = cable::at_server(|| program.spawn()).map_err(Error::system("starting the server process"))?;
        let pid = Pid::from_child(&child);
        let mut server = Self { child, pid, address: String::new() };
        let done = meanwhile()?;
        server.wait_until_ready()?;
        Ok((server, done))
    }

    fn wait_until_ready(&mut self) -> Result<(), Error> {
        let stdout = self.child.stdout.take().expect("was piped");
        let (said, says) = mpsc::channel();
        // A thread, because a read of a pipe has no time limit; it ends with the line or with the server.
        std::thread::spawn(move || {
            let mut line = String::new();
            let outcome = BufReader::new(stdout).read_line(&mut line);
            // The receiver has given up when this fails: then nobody wants to know.
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

    /// Where it said that it can be reached; empty if it did not.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The number of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Lets it run on.
    pub fn resume(&mut self) -> Result<(), Error> {
        kill_process(self.pid, Signal::CONT).map_err(Error::system("continuing the server process"))
    }

    /// Stops it, so that it takes no processor time, however hard it spins.
    pub fn rest(&mut self) -> Result<(), Error> {
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
        // Both fail only when it has ended already, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The client, seen from the server's process.
#[derive(Debug)]
pub struct Parent {
    pid: Option<Pid>,
}

impl Parent {
    /// To be called first in a server process: binds its life to that of process `parent`, and pins it to `cpu` if one is given.
    pub fn bind(parent: u32, cpu: Option<usize>) -> Result<Self, Error> {
        set_parent_process_death_signal(Some(Signal::KILL)).map_err(Error::system("asking to end with the client"))?;
        if let Some(cpu) = cpu {
            machine::pin(cpu)?;
        }
        let pid = i32::try_from(parent).ok().and_then(Pid::from_raw);
        let mut parent = Self { pid };
        // It may have ended before the signal was asked for.
        parent.check()?;
        Ok(parent)
    }

    /// Tells the client that calls will be answered.
    pub fn ready(&self) -> Result<(), Error> {
        self.ready_at("")
    }

    /// The same, and where.
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
