//! Who is told that frames came.
//!
//! A socket that sleeps has a file, which watches the queue that all sockets share. As long as one does, the kernel calls it for each
//! frame that comes and for each that was sent, before whoever sent it goes on, and every sleeper wakes for every frame. So nobody
//! watches while somebody polls: the *steward*, who puts frames for others into their inboxes and rings their bells. When it goes
//! to sleep, or its NIC's attendant finds that it stopped, those who want to watch do so again.

use rustix::event::epoll;
use rustix::fd::{BorrowedFd, OwnedFd};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The files of a queue's sockets, by their ports.
#[derive(Debug, Default)]
pub(super) struct Watchers {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    steward: Option<u16>,
    files: HashMap<u16, File>,
}

#[derive(Debug)]
struct File {
    ready: Arc<OwnedFd>,
    /// Whether somebody may sleep on it.
    is_wanted: bool,
    /// Whether it watches the queue.
    is_on: bool,
}

impl Watchers {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A socket's file, which nobody sleeps on yet.
    pub(super) fn add(&self, port: u16, ready: &Arc<OwnedFd>) {
        let file = File { ready: Arc::clone(ready), is_wanted: false, is_on: false };
        self.lock().files.insert(port, file);
    }

    /// The socket is closed.
    pub(super) fn remove(&self, port: u16, queue: BorrowedFd<'_>) {
        let mut inner = self.lock();
        inner.files.remove(&port);
        if inner.steward == Some(port) {
            inner.steward = None;
            inner.settle(queue);
        }
    }

    /// Somebody sleeps on a socket's file, or may from now on. The socket is no steward any more.
    ///
    /// `false`: there is no memory to watch the queue with.
    pub(super) fn want(&self, port: u16, queue: BorrowedFd<'_>) -> bool {
        let mut inner = self.lock();
        if inner.steward == Some(port) {
            inner.steward = None;
        }
        if let Some(file) = inner.files.get_mut(&port) {
            file.is_wanted = true;
        }
        inner.settle(queue)
    }

    /// A socket is polled, and its file slept on by nobody. Whether it is the steward from now on, who takes the frames of all.
    pub(super) fn take_over(&self, port: u16, queue: BorrowedFd<'_>) -> bool {
        let mut inner = self.lock();
        if let Some(file) = inner.files.get_mut(&port) {
            file.is_wanted = false;
        }
        let is_steward = *inner.steward.get_or_insert(port) == port;
        inner.settle(queue);
        is_steward
    }
}

impl Inner {
    /// Has those files watch the queue that are to, and no others. `false` when one could not be told.
    fn settle(&mut self, queue: BorrowedFd<'_>) -> bool {
        let mut is_settled = true;
        for file in self.files.values_mut() {
            let is_on = file.is_wanted && self.steward.is_none();
            if is_on && !file.is_on {
                let added = epoll::add(&file.ready, queue, epoll::EventData::new_u64(0), epoll::EventFlags::IN);
                is_settled &= added.is_ok();
                file.is_on = added.is_ok();
            } else if !is_on && file.is_on {
                // It is there.
                let _ = epoll::delete(&file.ready, queue);
                file.is_on = false;
            }
        }
        is_settled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
    use rustix::fd::AsFd;
    use rustix::time::Timespec;

    /// A queue that has something for ever, and the files of two sockets.
    fn scene() -> (OwnedFd, Watchers, [Arc<OwnedFd>; 2]) {
        let queue = eventfd(1, EventfdFlags::CLOEXEC).unwrap();
        let watchers = Watchers::default();
        let files = [1, 2].map(|port| {
            let file = Arc::new(epoll::create(epoll::CreateFlags::CLOEXEC).unwrap());
            watchers.add(port, &file);
            file
        });
        (queue, watchers, files)
    }

    fn are_told(files: &[Arc<OwnedFd>; 2]) -> [bool; 2] {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        files.each_ref().map(|file| poll(&mut [PollFd::new(&**file, PollFlags::IN)], Some(&now)).unwrap() == 1)
    }

    #[test]
    fn who_sleeps_is_told_while_nobody_polls() {
        let (queue, watchers, files) = scene();
        assert_eq!(are_told(&files), [false, false]);
        assert!(watchers.want(1, queue.as_fd()));
        assert_eq!(are_told(&files), [true, false]);
        assert!(watchers.take_over(2, queue.as_fd()));
        assert_eq!(are_told(&files), [false, false]);
        // Whoever goes to sleep while the steward polls hears of the queue when that one stops.
        assert!(watchers.want(1, queue.as_fd()));
        assert_eq!(are_told(&files), [false, false]);
        assert!(watchers.want(2, queue.as_fd()));
        assert_eq!(are_told(&files), [true, true]);
    }

    #[test]
    fn there_is_one_steward_and_a_closed_one_is_none() {
        let (queue, watchers, files) = scene();
        assert!(watchers.take_over(1, queue.as_fd()));
        assert!(!watchers.take_over(2, queue.as_fd()));
        assert!(watchers.want(2, queue.as_fd()));
        assert_eq!(are_told(&files), [false, false]);
        watchers.remove(1, queue.as_fd());
        assert_eq!(are_told(&files), [false, true]);
        assert!(watchers.take_over(2, queue.as_fd()));
    }
}
