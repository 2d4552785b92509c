//! The attendant: a thread that serves VIs while their owners compute, because acknowledgements and
//! RDMA must not wait for the owners.

use crate::Deadline;
use crate::notice::poll_fds;
use crate::spi::Sleep;
use crate::sync::lock;
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

/// The pause after a failed poll.
const TICK: Duration = Duration::from_millis(2);
/// The longest sleep of the thread when it has nothing to do.
const IDLE: Duration = Duration::from_secs(60);

/// The time of the attendant's next look at a VI.
pub(crate) enum Attention {
    /// When the file is readable, or at the given instant at the latest.
    Sleep(Sleep),
    /// After the given time.
    Later(Duration),
}

/// A VI, as the attendant sees it.
pub(crate) trait Attended: Send + Sync + fmt::Debug {
    /// Whether the VI has a port that needs service.
    fn has_port(&self) -> bool;

    /// Serves the VI, unless another thread does. Returns the time of the next look.
    fn attend(&self, now: Instant) -> Attention;
}

/// The VIs of a NIC that need the attendant, and the bell of the attendant's thread.
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
    /// Starts the thread. The thread ends when the NIC is gone.
    pub(crate) fn start() -> Self {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok();
        let shared = Arc::new(Shared { vis: Mutex::default(), bell, is_over: AtomicBool::new(false) });
        let theirs = Arc::clone(&shared);
        // If the thread cannot start, VIs still make progress whenever they are called.
        let _ = std::thread::Builder::new().name("obvia-nic".to_owned()).spawn(move || {
            while !theirs.is_over.load(Ordering::Acquire) {
                theirs.round();
            }
        });
        Self { shared }
    }

    pub(crate) fn add(&self, vi: Weak<dyn Attended>) {
        let mut vis = lock(&self.shared.vis);
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
        // Set before the ring: the thread consumes the ring and then looks at the flag.
        self.shared.is_over.store(true, Ordering::Release);
        self.shared.ring();
    }
}

impl Shared {
    fn ring(&self) {
        if let Some(bell) = &self.bell {
            // The write fails only when the bell is readable already.
            let _ = rustix::io::write(bell, &1_u64.to_ne_bytes());
        }
    }

    /// Serves every VI once, and sleeps until one of them is due.
    fn round(&self) {
        let vis: Vec<_> = {
            let mut vis = lock(&self.vis);
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
            // The read fails when the bell was not rung.
            let _ = rustix::io::read(bell, &mut count);
        }
    }
}
