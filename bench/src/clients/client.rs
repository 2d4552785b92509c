//! A process with clients, from both ends: the measurement and the process. The standard input of
//! the process is a socket. The process reads requests from the socket and writes its responses to
//! the same socket, as lines of text.

use crate::calls::{Caller, Done, REQUEST_MAX, Request, caller};
use crate::{Error, Parent, ServerProcess, Watch};
use std::io::{BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// The subcommand of [`serve`].
pub const SERVE: [&str; 2] = ["bench", "serve-clients"];

/// The longest time that a request takes: each of a thousand clients calls in turn.
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest time in which a process ends.
const END_MAX: Duration = Duration::from_secs(30);

const CONNECT: &str = "connect";
const CALL: &str = "call";
/// The first word of a response that is an error.
const FAILED: &str = "failed";

/// A process with clients, seen from the measurement.
pub(super) struct ClientProcess {
    // Field order matters: the socket is closed before `process` is dropped, so the process can end
    // by itself.
    requests: BufReader<UnixStream>,
    process: ServerProcess,
    clients: u32,
}

impl ClientProcess {
    /// Starts a process, without a client yet.
    pub(super) fn start(address: &str) -> Result<Self, Error> {
        let (own, other) = UnixStream::pair().map_err(Error::system("making a socket"))?;
        own.set_read_timeout(Some(PATIENCE)).map_err(Error::system("limiting waits"))?;
        let [bench, serve] = SERVE;
        let process = ServerProcess::start(&[bench, serve, address], Some(OwnedFd::from(other)))?;
        Ok(Self { requests: BufReader::new(own), process, clients: 0 })
    }

    /// Returns the number of clients.
    pub(super) fn clients(&self) -> u32 {
        self.clients
    }

    /// Connects one more client. Returns the time until its first call was answered.
    pub(super) fn connect(&mut self) -> Result<Duration, Error> {
        let took = self.request(CONNECT)?;
        self.clients += 1;
        Ok(took.first().copied().unwrap_or_default())
    }

    /// Has each client make a call in turn, `rounds` times. Returns the time of each call.
    pub(super) fn call(&mut self, rounds: u32) -> Result<Vec<Duration>, Error> {
        let mut took = Vec::new();
        for _ in 0..rounds {
            took.extend(self.request(CALL)?);
        }
        Ok(took)
    }

    fn request(&mut self, request: &str) -> Result<Vec<Duration>, Error> {
        let mut line = String::new();
        let mut exchange = || {
            writeln!(self.requests.get_mut(), "{request}")?;
            self.requests.read_line(&mut line)
        };
        if exchange().map_err(Error::system("asking a client"))? == 0 {
            self.process.check()?;
            return Err(Error::PeerDied { status: None });
        }
        if let Some(message) = line.strip_prefix(FAILED) {
            let number = self.clients;
            return Err(Error::Failed { message: format!("a process with {number} clients:{}", message.trim_end()) });
        }
        let parse = |word: &str| word.parse().map(Duration::from_nanos);
        let times: Result<_, _> = line.split_whitespace().map(parse).collect();
        times.map_err(|_| Error::Failed { message: format!("a client responded `{}`", line.trim_end()) })
    }

    /// Tells the process to leave, or kills it.
    pub(super) fn leave(&self, is_killed: bool) -> Result<(), Error> {
        if is_killed {
            return self.process.kill();
        }
        self.requests.get_ref().shutdown(Shutdown::Write).map_err(Error::system("telling a client to leave"))
    }

    /// Waits until the process has ended.
    pub(super) fn end(mut self) -> Result<(), Error> {
        let since = Instant::now();
        while self.process.check().is_ok() {
            if since.elapsed() > END_MAX {
                return Err(Error::Stalled { after: END_MAX });
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}

/// Runs the clients of the server at `address` in this process, until the measurement tells the
/// process to leave.
///
/// # Errors
///
/// If the other end of standard input cannot be reached.
pub fn serve(address: &str, parent: u32) -> Result<(), Error> {
    let mut parent = Parent::bind(parent, None)?;
    let socket = std::io::stdin().as_fd().try_clone_to_owned().map_err(Error::system("opening standard input"))?;
    let mut responses = UnixStream::from(socket);
    parent.ready()?;
    let mut callers = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let request = line.map_err(Error::system("reading a request"))?;
        let outcome = match request.as_str() {
            CONNECT => connect(&mut callers, address, &mut parent),
            _ => call(&mut callers, &mut parent),
        };
        let response = match outcome {
            Ok(times) => times.iter().map(|time| format!("{} ", time.as_nanos())).collect(),
            Err(error) => format!("{FAILED} {}", error.to_string().replace('\n', " ")),
        };
        writeln!(responses, "{response}").map_err(Error::system("responding"))?;
    }
    Ok(())
}

fn connect(callers: &mut Vec<Caller>, address: &str, parent: &mut Parent) -> Result<Vec<Duration>, Error> {
    let mut caller = caller(callers.len() as u32, address)?;
    let done = caller.result(parent, REQUEST_MAX)?;
    callers.push(caller);
    Ok(took(&done).into_iter().collect())
}

fn call(callers: &mut [Caller], parent: &mut Parent) -> Result<Vec<Duration>, Error> {
    let call = |caller: &mut Caller| {
        caller.request(Request::Batch(1));
        caller.result(parent, REQUEST_MAX).map(|done| took(&done))
    };
    callers.iter_mut().map(call).filter_map(Result::transpose).collect()
}

/// Returns the time that a request took; `None` for requests that are not timed as a whole.
fn took(done: &Done) -> Option<Duration> {
    match done {
        Done::Connected(took) => Some(*took),
        Done::Called(began, ended) => Some(*ended - *began),
        Done::Stamped(_) | Done::Verified(_) => None,
    }
}
