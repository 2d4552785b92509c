//! The sleep of threads that wait for completions of a VI.

use super::{Inner, ViCore};
use crate::notice::poll_fds;
use crate::spi::Sleep;
use crate::vi::state::{Queue, State};
use crate::{Deadline, Error};
use rustix::fd::OwnedFd;
use std::sync::MutexGuard;
use std::sync::atomic::Ordering;
use std::time::Instant;

impl ViCore {
    /// Ends a thread's sleep. `connection` is the number of the connection whose port was prepared
    /// for the sleep, if any.
    pub(super) fn wake(&self, connection: Option<u64>) -> MutexGuard<'_, Inner> {
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
        let mut inner = self.lock();
        if let Some(connection) = connection {
            inner.end_sleep(connection);
        }
        inner.attendance.covered = None;
        // The attendant may have left the VI to this thread. But this thread may now return without
        // serving the VI, because the completion that it waits for has arrived already. So the
        // attendant is woken.
        self.relieve(&mut inner);
        inner
    }

    /// Sleeps until a descriptor of the queue may have completed.
    pub(crate) fn sleep(&self, which: Queue, deadline: Deadline) -> Result<(), Error> {
        let mut inner = self.lock();
        let notice = inner.queues.line(which).notice.prepare()?;
        let is_over = !inner.queues.line(which).done.is_empty() || matches!(inner.queues.state, State::Broken(_));
        let sleep = match &mut inner.port {
            Some(port) => port.prepare_sleep(Instant::now()),
            None => Some(Sleep { fd: None, until: None }),
        };
        inner.attendance.covered = sleep.as_ref().map(|sleep| sleep.until);
        // If the port has work to do, `sleep` is `None`: the port was not prepared, and no sleep of
        // the port has to be ended.
        let connection = sleep.as_ref().filter(|_| inner.port.is_some()).map(|_| inner.connection);
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        drop(inner);
        let outcome = match sleep {
            Some(sleep) if !is_over => poll_with(&notice, &sleep, deadline),
            _ => Ok(()),
        };
        self.wake(connection).queues.line(which).notice.end();
        outcome
    }

    /// Sleeps until a receive has completed, the connection has ended, or a thread has rung. Does
    /// the port's work that becomes due during this time, without waking the attendant.
    ///
    /// `is_over` names a further reason for the end of the sleep. A thread that makes `is_over`
    /// true must call [`Self::ring`] after that. No such change is lost: `is_over` is called with
    /// the VI locked, and the lock is held until the sleep is announced. So no thread can ring
    /// between the two.
    ///
    /// Returns early while the port has work to do, so that other threads get the lock of the VI:
    /// the caller calls again.
    pub(crate) fn await_receive(&self, deadline: Deadline, is_over: impl Fn() -> bool) -> Result<(), Error> {
        let deadline = deadline.start();
        let mut inner = self.lock();
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        let outcome = loop {
            let receive = &mut inner.queues.receive;
            let may_sleep = receive.done.is_empty() && !receive.notice.is_rung() && !is_over();
            if !may_sleep || inner.queues.state != State::Connected || deadline.is_over() {
                break Ok(());
            }
            // The sleep is announced only for the time of the system call. Otherwise this thread
            // would ring its own bell for the completions that it causes itself. That would cost a
            // system call for each received message.
            let notice = match inner.queues.receive.notice.prepare() {
                Ok(notice) => notice,
                Err(error) => break Err(error),
            };
            let sleep = inner.port.as_mut().and_then(|port| port.prepare_sleep(Instant::now()));
            let Some(sleep) = sleep else {
                inner.queues.receive.notice.end();
                inner.progress_to_answer(Instant::now());
                break Ok(());
            };
            inner.attendance.covered = Some(sleep.until);
            let connection = inner.connection;
            drop(inner);
            let slept = poll_with(&notice, &sleep, deadline);
            inner = self.lock();
            inner.end_sleep(connection);
            inner.attendance.covered = None;
            let is_rung = inner.queues.receive.notice.is_rung();
            inner.queues.receive.notice.end();
            if slept.is_err() || is_rung {
                break slept;
            }
            inner.progress_to_answer(Instant::now());
        };
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
        // The thread may not serve the VI again for a long time, so the attendant is woken.
        self.relieve(&mut inner);
        outcome
    }
}

/// Sleeps on a bell, and on the file of a prepared port if there is one.
fn poll_with(notice: &OwnedFd, sleep: &Sleep, deadline: Deadline) -> Result<(), Error> {
    match &sleep.fd {
        Some(file) => poll_fds(&[file, notice], deadline, sleep.until),
        None => poll_fds(&[notice], deadline, sleep.until),
    }
}

/// Whether a thread that sleeps until `known` wakes at `due` or earlier. A `known` of `None` means
/// that no time wakes the thread. A `due` of `None` means that the thread need not wake.
pub(super) fn is_covered(known: Option<Instant>, due: Option<Instant>) -> bool {
    due.is_none_or(|due| known.is_some_and(|known| known <= due))
}
