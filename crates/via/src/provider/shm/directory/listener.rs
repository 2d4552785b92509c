//! A name that this process serves.

use super::super::greeting::Incoming;
use super::Spot;
use super::peer::check_peer;
use super::place::is_same;
use crate::stream::accept;
use crate::{Deadline, Error};
use rustix::fd::OwnedFd;
use rustix::fs::{FlockOperation, Stat};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A name being served. Dropping it ends that, and the name disappears; connections that were made go on.
#[derive(Debug)]
pub struct Listener {
    pub(super) listener: OwnedFd,
    /// Whether processes of every user may connect.
    pub(super) is_open: bool,
    pub(super) held: Arc<Held>,
}

/// A name that this process has in the directory.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) spot: Spot,
    /// The socket's file.
    pub(super) made: Stat,
    pub(super) lock: OwnedFd,
    /// Whether the lock is another server's by now, and the files are.
    pub(super) is_nameless: AtomicBool,
}

impl Listener {
    /// Waits for a peer to connect.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] after the deadline; [`Error::Cancelled`] after [`Self::close`].
    pub fn accept(&self, deadline: Deadline) -> Result<Incoming, Error> {
        Ok(Incoming { socket: accept(&self.listener, deadline)?, is_open: self.is_open })
    }

    /// The same, for a stream: a peer of another user is refused at once, unless the name is for everybody.
    pub(crate) fn accept_stream(&self, deadline: Deadline) -> Result<OwnedFd, Error> {
        let socket = accept(&self.listener, deadline)?;
        if !self.is_open {
            check_peer(&socket)?;
        }
        Ok(socket)
    }

    /// The socket that peers connect to.
    pub(in super::super) fn socket(&self) -> &OwnedFd {
        &self.listener
    }

    /// Ends a wait in [`Self::accept`] from another thread, and refuses further peers. The name is free when this returns.
    pub fn close(&self) {
        let _ = rustix::net::shutdown(&self.listener, rustix::net::Shutdown::Both);
        self.held.give_up();
    }
}

impl Held {
    /// Removes the files and lets the lock go, once.
    pub(super) fn give_up(&self) {
        if self.is_nameless.swap(true, Ordering::Relaxed) {
            return;
        }
        // Both while the lock is still held, so no other server's files are removed; and only those that this one made.
        let (socket, lock) = (self.spot.socket_file(), self.spot.lock_file());
        if self.spot.place.found(&socket).is_ok_and(|there| is_same(&there, &self.made)) {
            self.spot.place.remove(&socket);
        }
        let there = self.spot.place.found(&lock);
        if rustix::fs::fstat(&self.lock).is_ok_and(|ours| there.is_ok_and(|there| is_same(&there, &ours))) {
            self.spot.place.remove(&lock);
        }
        let _ = rustix::fs::flock(&self.lock, FlockOperation::Unlock);
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.held.give_up();
    }
}
