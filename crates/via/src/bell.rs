//! A bell by which one thread ends another's wait for a socket, and that wait.

use crate::{Deadline, Error};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::time::Timespec;

/// Readable while somebody wants the thread that waits.
#[derive(Debug)]
pub(crate) struct Bell(OwnedFd);

impl Bell {
    pub(crate) fn new() -> Result<Self, Error> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        eventfd(0, flags).map(Self).map_err(Error::system("making an event"))
    }

    /// Ends the current wait, or the next one.
    pub(crate) fn ring(&self) {
        // Fails only when it has been rung very often, and then it is readable.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }

    /// Waits until a socket has something to receive, or is over. An error when the bell was rung, after which it is not.
    pub(crate) fn wait_for(&self, socket: &impl AsFd, deadline: Deadline) -> Result<(), Error> {
        let mut files = [PollFd::new(socket, PollFlags::IN), PollFd::new(&self.0, PollFlags::IN)];
        await_events(&mut files, deadline)?;
        if files[1].revents().is_empty() {
            return Ok(());
        }
        // Fails only if nobody rang, and then it need not be cleared.
        let _ = rustix::io::read(&self.0, &mut [0; 8]);
        Err(Error::Cancelled)
    }
}

/// Waits for events, until the deadline at the latest.
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
