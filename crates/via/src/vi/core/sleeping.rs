//! The sleep of threads that wait for completions of a VI.

use super::{Inner, ViCore};
use crate::notice::poll_fds;
use crate::spi::Sleep;
use crate::vi::state::{Queue, State};
use crate::{Deadline, Error};
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
        // The attendant may have left the VI to this thread, and is woken: this thread may return
        // without serving the VI, because its completion has arrived already.
        self.relieve(&mut inner);
        inner
    }

    /// Sleeps until something may have completed.
    pub(crate) fn sleep(&self, which: Queue, deadline: Deadline) -> Result<(), Error> {
        let mut inner = self.lock();
        let notice = inner.queues.line(which).notice.prepare()?;
        let is_over = !inner.queues.line(which).done.is_empty() || matches!(inner.queues.state, State::Broken(_));
        let sleep = match &mut inner.port {
            Some(port) => port.prepare_sleep(Instant::now()),
            None => Some(Sleep { fd: None, until: None }),
        };
        inner.attendance.covered = sleep.as_ref().map(|sleep| sleep.until);
        // A port that has work to do was not prepared for the sleep.
        let connection = sleep.as_ref().filter(|_| inner.port.is_some()).map(|_| inner.connection);
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        drop(inner);
        let outcome = match sleep {
            Some(sleep) if !is_over => {
                let files = [sleep.fd.as_deref().unwrap_or(&notice), &*notice];
                poll_fds(&files[usize::from(sleep.fd.is_none())..], deadline, sleep.until)
            }
            _ => Ok(()),
        };
        self.wake(connection).queues.line(which).notice.end();
        outcome
    }

    /// Sleeps until a receive has completed, the connection has ended, or a thread has rung. Does
    /// the work of the port that falls due meanwhile, without waking the attendant.
    ///
    /// `is_over` names a further reason for the end of the sleep. A thread that changes its result
    /// has to ring afterwards: see [`Self::ring`]. No such change is lost, because `is_over` is
    /// called with the VI locked, after the sleep was announced.
    pub(crate) fn await_receive(&self, deadline: Deadline, is_over: impl Fn() -> bool) -> Result<(), Error> {
        let deadline = deadline.start();
        let mut inner = self.lock();
        let notice = inner.queues.receive.notice.prepare()?;
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        let outcome = loop {
            let receive = &inner.queues.receive;
            let may_sleep = receive.done.is_empty() && !receive.notice.is_rung() && !is_over();
            if !may_sleep || inner.queues.state != State::Connected || deadline.is_over() {
                break Ok(());
            }
            let Some(port) = &mut inner.port else { break Ok(()) };
            if let Some(Sleep { fd, until }) = port.prepare_sleep(Instant::now()) {
                inner.attendance.covered = Some(until);
                let connection = inner.connection;
                drop(inner);
                let files = [fd.as_deref().unwrap_or(&notice), &*notice];
                let slept = poll_fds(&files[usize::from(fd.is_none())..], deadline, until);
                inner = self.lock();
                inner.end_sleep(connection);
                inner.attendance.covered = None;
                if slept.is_err() {
                    break slept;
                }
            }
            if inner.queues.receive.done.is_empty() {
                inner.progress_to_answer(Instant::now());
            }
        };
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
        // The thread now leaves the VI, perhaps for a long time.
        self.relieve(&mut inner);
        inner.queues.receive.notice.end();
        outcome
    }
}

/// Whether a thread that sleeps until `known` wakes before `due`. `None` stands for no time.
pub(super) fn is_covered(known: Option<Instant>, due: Option<Instant>) -> bool {
    due.is_none_or(|due| known.is_some_and(|known| known <= due))
}
