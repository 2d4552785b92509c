//! Wake-ups of sockets when frames arrive.
//!
//! A sleeping socket has a file, which watches the queue that all sockets share. While a file
//! watches the queue, the kernel notifies the file of each frame received or sent. The sending
//! thread waits for the notification, and every sleeper wakes for every frame. So no file watches
//! while a thread polls the *steward*: a socket that puts frames for other sockets into their
//! inboxes and rings their bells. When the steward goes to sleep, or its NIC's attendant finds that
//! no thread polls it any more, the other files watch again.

use crate::sync::lock;
use rustix::event::epoll;
use rustix::fd::{BorrowedFd, OwnedFd};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

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
    /// Whether a thread may sleep on the file.
    is_wanted: bool,
    /// Whether the file watches the queue.
    is_on: bool,
}

impl Watchers {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        lock(&self.inner)
    }

    /// Adds a socket's file, on which no thread sleeps yet.
    pub(super) fn add(&self, port: u16, ready: &Arc<OwnedFd>) {
        let file = File { ready: Arc::clone(ready), is_wanted: false, is_on: false };
        self.lock().files.insert(port, file);
    }

    /// Removes the file of a closed socket.
    pub(super) fn remove(&self, port: u16, queue: BorrowedFd<'_>) {
        let mut inner = self.lock();
        inner.files.remove(&port);
        if inner.steward == Some(port) {
            inner.steward = None;
            inner.settle(queue);
        }
    }

    /// Notes that a thread sleeps on a socket's file, or may do so from now on. The socket is no
    /// steward any more.
    ///
    /// Returns `false` when the system has no memory to watch the queue.
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

    /// Notes that a socket is polled, and that no thread sleeps on its file. Returns whether the
    /// socket is the steward from now on. The steward takes the frames of all sockets.
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
    /// Registers the queue with the files that have to watch it, and removes the queue from the
    /// other files. Returns `false` if the queue could not be registered with a file.
    fn settle(&mut self, queue: BorrowedFd<'_>) -> bool {
        let mut is_settled = true;
        for file in self.files.values_mut() {
            let is_on = file.is_wanted && self.steward.is_none();
            if is_on && !file.is_on {
                let added = epoll::add(&file.ready, queue, epoll::EventData::new_u64(0), epoll::EventFlags::IN);
                is_settled &= added.is_ok();
                file.is_on = added.is_ok();
            } else if !is_on && file.is_on {
                // The file is registered, so the call succeeds.
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

    /// Makes a queue that is always readable, and the files of two sockets.
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
    fn sleeping_sockets_watch_the_queue_while_no_steward_polls() {
        let (queue, watchers, files) = scene();
        assert_eq!(are_told(&files), [false, false]);
        assert!(watchers.want(1, queue.as_fd()));
        assert_eq!(are_told(&files), [true, false]);
        assert!(watchers.take_over(2, queue.as_fd()));
        assert_eq!(are_told(&files), [false, false]);
        // If a socket goes to sleep while the steward polls, the socket's file watches the queue
        // once the steward stops.
        assert!(watchers.want(1, queue.as_fd()));
        assert_eq!(are_told(&files), [false, false]);
        assert!(watchers.want(2, queue.as_fd()));
        assert_eq!(are_told(&files), [true, true]);
    }

    #[test]
    fn a_queue_has_one_steward_and_replaces_a_closed_one() {
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
