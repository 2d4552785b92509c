//! Sleeping on files, and wake-ups for completions that another thread caused.

use crate::{Deadline, Error};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::time::Timespec;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The bell of one queue, guarded by the lock of the object that holds the bell. No system call is
/// made unless a thread sleeps.
#[derive(Debug, Default)]
pub(crate) struct Notice {
    sleepers: u32,
    bell: Option<Arc<OwnedFd>>,
    // Whether the bell is readable.
    is_rung: bool,
    // The number of rings that needed a system call.
    #[cfg(test)]
    writes: u32,
}

impl Notice {
    /// Wakes all sleeping threads.
    pub(crate) fn ring(&mut self) {
        if self.sleepers > 0
            && !self.is_rung
            && let Some(bell) = &self.bell
        {
            self.is_rung = true;
            #[cfg(test)]
            (self.writes += 1);
            // The write fails only when the counter is at its limit. The bell is readable in that
            // case, too.
            let _ = rustix::io::write(&**bell, &1_u64.to_ne_bytes());
        }
    }

    /// Begins a sleep. Returns the file that becomes readable when the bell rings from now on.
    pub(crate) fn prepare(&mut self) -> Result<Arc<OwnedFd>, Error> {
        let bell = match &self.bell {
            Some(bell) => Arc::clone(bell),
            None => {
                let fd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
                    .map_err(Error::system("making an event"))?;
                Arc::clone(self.bell.insert(Arc::new(fd)))
            }
        };
        self.sleepers += 1;
        Ok(bell)
    }

    /// Whether the bell has rung, and at least one thread that slept at that time has not ended its
    /// sleep yet.
    pub(crate) fn is_rung(&self) -> bool {
        self.is_rung
    }

    /// Returns the number of rings that needed a system call.
    #[cfg(test)]
    pub(crate) fn writes(&self) -> u32 {
        self.writes
    }

    /// Ends a sleep.
    pub(crate) fn end(&mut self) {
        self.sleepers -= 1;
        if self.sleepers == 0
            && std::mem::take(&mut self.is_rung)
            && let Some(bell) = &self.bell
        {
            // The bell is readable, so the read succeeds.
            let _ = rustix::io::read(&**bell, &mut [0; 8]);
        }
    }
}

/// Sleeps until one of the files is readable, or until the deadline or the instant `until`. A
/// signal ends the sleep as well, and so does a day without an event.
pub(crate) fn poll_fds(fds: &[&OwnedFd], deadline: Deadline, until: Option<Instant>) -> Result<(), Error> {
    let left = deadline.remaining();
    let left = until.map_or(left, |until| left.min(until.saturating_duration_since(Instant::now())));
    // The sleep takes at most a day, so that the seconds fit a `Timespec`. Callers look again after
    // each sleep.
    let left = left.min(Duration::from_secs(24 * 3600));
    let timeout = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
    let mut polled: Vec<_> = fds.iter().map(|fd| PollFd::new(*fd, PollFlags::IN)).collect();
    match poll(&mut polled, Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(errno) => Err(Error::system("waiting for a completion")(errno)),
    }
}
