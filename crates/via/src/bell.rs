//! A wait for a socket, and a bell by which another thread ends that wait.

use crate::{Deadline, Error};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::time::Timespec;

/// An eventfd that is readable after [`Self::ring`], until the waiting thread resets it.
#[derive(Debug)]
pub(crate) struct Bell(OwnedFd);

impl Bell {
    pub(crate) fn new() -> Result<Self, Error> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        eventfd(0, flags).map(Self).map_err(Error::system("making an event"))
    }

    /// Ends the current wait, or else the next wait.
    pub(crate) fn ring(&self) {
        // The write fails only when the counter is at its limit. The bell is readable in that case,
        // too.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }

    /// Waits until the socket is readable or has ended. Fails with [`Error::TimedOut`] at the
    /// deadline. If the bell was rung, resets the bell and fails with [`Error::Cancelled`].
    pub(crate) fn wait_for(&self, socket: &impl AsFd, deadline: Deadline) -> Result<(), Error> {
        let mut files = [PollFd::new(socket, PollFlags::IN), PollFd::new(&self.0, PollFlags::IN)];
        await_events(&mut files, deadline)?;
        if files[1].revents().is_empty() {
            return Ok(());
        }
        // The read fails only if the bell was not rung, and then there is nothing to clear.
        let _ = rustix::io::read(&self.0, &mut [0; 8]);
        Err(Error::Cancelled)
    }
}

/// Waits until one of the files has an event. Fails with [`Error::TimedOut`] at the deadline.
pub(crate) fn await_events(files: &mut [PollFd<'_>], deadline: Deadline) -> Result<(), Error> {
    let deadline = deadline.start();
    loop {
        let left = deadline.remaining();
        let timeout =
            Timespec { tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX), tv_nsec: left.subsec_nanos().into() };
        match poll(files, Some(&timeout)) {
            Ok(0) => return Err(Error::TimedOut),
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(Error::system("waiting for a peer")(errno)),
        }
    }
}
