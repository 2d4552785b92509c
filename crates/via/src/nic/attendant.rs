//! The thread that looks after VIs which nobody calls: acknowledgements and RDMA must go on while their owner computes.

use crate::Deadline;
use crate::notice::poll_fds;
use crate::spi::Sleep;
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// What to do when no time could be told.
const TICK: Duration = Duration::from_millis(2);
/// How long the thread sleeps when there is nothing to look after.
const IDLE: Duration = Duration::from_secs(60);

/// When the attendant is to look at a VI again.
pub(crate) enum Attention {
    /// When the file is readable, or it is time.
    Sleep(Sleep),
    /// After so long.
    Later(Duration),
}

/// A VI, as the attendant knows it.
pub(crate) trait Attended: Send + Sync + fmt::Debug {
    /// Whether there is a port to look after.
    fn has_port(&self) -> bool;

    /// The attendant's progress.
    fn attend(&self, now: Instant) -> Attention;
}

/// The VIs of a NIC that need it, and how to wake the thread.
#[derive(Debug)]
pub(crate) struct Attendant {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    vis: Mutex<Vec<Weak<dyn Attended>>>,
    bell: Option<OwnedFd>,
    is_over: AtomicBool,
}

impl Attendant {
    /// Starts the thread. It ends when the NIC is gone.
    pub(crate) fn start() -> Self {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok();
        let shared = Arc::new(Shared { vis: Mutex::default(), bell, is_over: AtomicBool::new(false) });
        let theirs = Arc::clone(&shared);
        // Without the thread VIs go on as long as they are called.
        let _ = std::thread::Builder::new().name("obvia-nic".to_owned()).spawn(move || {
            while !theirs.is_over.load(Ordering::Acquire) {
                theirs.round();
            }
        });
        Self { shared }
    }

    pub(crate) fn add(&self, vi: Weak<dyn Attended>) {
        let mut vis = self.shared.vis.lock().unwrap_or_else(PoisonError::into_inner);
        vis.retain(|other| other.strong_count() > 0 && !other.ptr_eq(&vi));
        vis.push(vi);
        drop(vis);
        self.ring();
    }

    /// Has the thread look at all its VIs.
    pub(crate) fn ring(&self) {
        self.shared.ring();
    }
}

impl Drop for Attendant {
    fn drop(&mut self) {
        // First: the thread takes the ring and looks.
        self.shared.is_over.store(true, Ordering::Release);
        self.shared.ring();
    }
}

impl Shared {
    fn ring(&self) {
        if let Some(bell) = &self.bell {
            // Fails only when it is readable already.
            let _ = rustix::io::write(bell, &1_u64.to_ne_bytes());
        }
    }

    /// Looks after every VI once, and sleeps until one of them needs it.
    fn round(&self) {
        let vis: Vec<_> = {
            let mut vis = self.vis.lock().unwrap_or_else(PoisonError::into_inner);
            vis.retain(|vi| vi.strong_count() > 0);
            vis.iter().filter_map(Weak::upgrade).collect()
        };
        let now = Instant::now();
        let mut until = now + IDLE;
        let mut files = Vec::new();
        for vi in vis.iter().filter(|vi| vi.has_port()) {
            match vi.attend(now) {
                Attention::Sleep(sleep) => {
                    files.extend(sleep.fd);
                    until = sleep.until.map_or(until, |due| until.min(due));
                }
                Attention::Later(after) => until = until.min(now + after),
            }
        }
        drop(vis);
        let fds: Vec<&OwnedFd> = files.iter().map(|file| &**file).chain(self.bell.as_ref()).collect();
        if poll_fds(&fds, Deadline::At(until), None).is_err() {
            std::thread::sleep(TICK);
        }
        if let Some(bell) = &self.bell {
            let mut count = [0; 8];
            // Nothing to read: it was not rung.
            let _ = rustix::io::read(bell, &mut count);
        }
    }
}
