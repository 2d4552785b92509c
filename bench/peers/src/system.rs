//! The measured systems. Each has a file of its own, with its server and its client.

pub(crate) mod capnp;
pub(crate) mod grpc;
pub(crate) mod iceoryx2;
pub(crate) mod obvia;
pub(crate) mod tarpc;
pub(crate) mod unix;
pub(crate) mod zbus;

use clap::Args;
use obvia_bench::{Error, Wait, count_call};
use std::path::{Path, PathBuf};
use tokio::runtime::{Builder, Runtime};

/// The function that tells the measurement that a server accepts clients.
pub(crate) type Ready<'a> = &'a dyn Fn() -> Result<(), Error>;

/// A system for calls between processes.
pub(crate) trait System {
    /// A client's connection. Only the thread that has connected uses it.
    type Connection: Connection;

    /// Serves until a signal ends the process. Calls `ready` once clients can connect.
    fn serve(place: &Place, ready: Ready<'_>) -> Result<(), Error>;

    /// Connects a client. The clients of a server have different numbers.
    fn connect(place: &Place, number: u32) -> Result<Self::Connection, Error>;
}

/// The calls of a client.
pub(crate) trait Connection {
    /// Makes a call without arguments.
    fn null(&mut self) -> Result<(), Error>;

    /// Makes a call with an array, whose first word the server increments.
    fn move_data(&mut self, words: &mut [u32]) -> Result<(), Error>;

    /// Returns the number of calls of the other methods that the server has executed.
    fn calls(&mut self) -> Result<u64, Error>;
}

/// A server's address, and all that both sides know beforehand.
#[derive(Args, Clone, Debug)]
pub(crate) struct Place {
    /// The path of the server's socket. No other server has the same file name.
    pub(crate) socket: PathBuf,
    pub(crate) wait: Wait,
    /// The number of connected clients.
    pub(crate) clients: u32,
    /// The length of the array; 0 for calls without arguments.
    pub(crate) bytes: usize,
}

impl Place {
    /// Returns the command-line arguments that describe the place to another process.
    pub(crate) fn arguments(&self) -> [String; 4] {
        [
            self.socket.display().to_string(),
            self.wait.name().to_owned(),
            self.clients.to_string(),
            self.bytes.to_string(),
        ]
    }

    /// Returns the server's unique name.
    pub(crate) fn name(&self) -> String {
        self.socket.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Returns the folder of this run's sockets.
    pub(crate) fn folder(&self) -> &Path {
        self.socket.parent().unwrap_or_else(|| Path::new("."))
    }
}

/// Returns a runtime for the systems on tokio. All its tasks run on the calling thread, so no call
/// is handed over to another thread.
fn runtime() -> Result<Runtime, Error> {
    Builder::new_current_thread().enable_all().build().map_err(Error::system("starting tokio"))
}

/// Returns the failure of a call.
#[cold]
fn failed(error: impl std::fmt::Display) -> Error {
    Error::Failed { message: error.to_string() }
}

/// Copies the array of a response to the caller's array.
fn accept(words: &mut [u32], received: &[u32]) -> Result<(), Error> {
    if words.len() != received.len() {
        let (expected, found) = (words.len() as u64, received.len() as u64);
        return Err(Error::Corrupt { what: "the length of the array", expected, found });
    }
    words.copy_from_slice(received);
    Ok(())
}

/// Adds one to the first word, as every server does.
pub(crate) fn count(words: &mut [u32]) {
    if let Some(first) = words.first_mut() {
        *first = count_call(*first);
    }
}
