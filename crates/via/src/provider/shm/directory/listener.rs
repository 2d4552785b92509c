//! A name that this process serves.

use super::super::greeting::Incoming;
use super::NameFiles;
use super::peer::check_peer;
use super::place::is_same;
use crate::socket::accept;
use crate::{Deadline, Error};
use rustix::fd::OwnedFd;
use rustix::fs::{FlockOperation, Stat};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A served name. Dropping the value ends the service and removes the name; existing connections
/// continue.
#[derive(Debug)]
pub struct Listener {
    pub(super) listener: OwnedFd,
    /// Whether processes of every user may connect.
    pub(super) is_open: bool,
    pub(super) held: Arc<Held>,
}

/// A name in the directory that this process serves until it gives the name up.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) files: NameFiles,
    /// The status of the socket's file when this process made it.
    pub(super) made: Stat,
    pub(super) lock: OwnedFd,
    /// Whether this process has given up the name: another server may have the lock and the files
    /// by now.
    pub(super) is_nameless: AtomicBool,
}

impl Listener {
    /// Waits for a peer to connect.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] after the deadline; [`Error::Cancelled`] after [`Self::close`].
    pub fn accept(&self, deadline: Deadline) -> Result<Incoming, Error> {
        let socket = Arc::new(accept(&self.listener, deadline)?);
        Ok(Incoming { socket, is_open: self.is_open })
    }

    /// As [`Self::accept`], for a stream: refuses a peer of another user at once, unless the name
    /// is open to all users.
    pub(crate) fn accept_stream(&self, deadline: Deadline) -> Result<OwnedFd, Error> {
        let socket = accept(&self.listener, deadline)?;
        if !self.is_open {
            check_peer(&socket)?;
        }
        Ok(socket)
    }

    /// Returns the socket that peers connect to.
    pub(in super::super) fn socket(&self) -> &OwnedFd {
        &self.listener
    }

    /// Ends a wait in [`Self::accept`] from another thread, and refuses further peers. The name is
    /// free when this function returns.
    pub fn close(&self) {
        let _ = rustix::net::shutdown(&self.listener, rustix::net::Shutdown::Both);
        self.held.give_up();
    }
}

impl Held {
    /// Removes the files and releases the lock, once.
    pub(super) fn give_up(&self) {
        if self.is_nameless.swap(true, Ordering::Relaxed) {
            return;
        }
        // The lock is still held during both removals, so no other server's files are removed. Each
        // removal is also limited to a file that this server made.
        let (socket, lock) = (self.files.socket_file(), self.files.lock_file());
        if self.files.place.found(&socket).is_ok_and(|there| is_same(&there, &self.made)) {
            self.files.place.remove(&socket);
        }
        let there = self.files.place.found(&lock);
        if rustix::fs::fstat(&self.lock).is_ok_and(|ours| there.is_ok_and(|there| is_same(&there, &ours))) {
            self.files.place.remove(&lock);
        }
        let _ = rustix::fs::flock(&self.lock, FlockOperation::Unlock);
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.held.give_up();
    }
}
