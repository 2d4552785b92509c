//! Two network namespaces with a cable between them.
//!
//! The namespaces have no names. Each belongs to a thread and is held open by a file. When this
//! process ends, even if it is killed, the kernel removes the namespaces and the cable.

use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};
use std::net::Ipv4Addr;
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use std::{io, thread};

/// The interface's name at both ends.
pub(crate) const INTERFACE: &str = "cable0";

/// One end: a network namespace with an interface and an address.
#[derive(Clone, Debug)]
pub(crate) struct End {
    space: Arc<OwnedFd>,
    address: Ipv4Addr,
}

/// Two ends of a cable.
#[derive(Debug)]
pub(crate) struct Cable {
    pub(crate) left: End,
    pub(crate) right: End,
}

impl Cable {
    /// Lays a cable. Fails when this process lacks the privileges.
    pub(crate) fn lay() -> io::Result<Self> {
        let ends = Self::between(new_space()?, new_space()?);
        let [_, other] = ends.places();
        let queues = "numtxqueues 1 numrxqueues 1";
        ends.left.ip(&format!("link add {INTERFACE} {queues} type veth peer {INTERFACE} {queues} netns {other}"))?;
        for end in [&ends.left, &ends.right] {
            end.ip("link set lo up")?;
            end.ip(&format!("addr add {}/24 dev {INTERFACE}", end.address))?;
            end.ip(&format!("link set {INTERFACE} up"))?;
        }
        Ok(ends)
    }

    fn between(left: OwnedFd, right: OwnedFd) -> Self {
        Self {
            left: End { space: Arc::new(left), address: Ipv4Addr::new(10, 77, 0, 1) },
            right: End { space: Arc::new(right), address: Ipv4Addr::new(10, 77, 0, 2) },
        }
    }

    /// Returns the paths by which other processes find the namespaces.
    pub(crate) fn places(&self) -> [String; 2] {
        let place = |end: &End| format!("/proc/{}/fd/{}", std::process::id(), end.space.as_raw_fd());
        [place(&self.left), place(&self.right)]
    }

    /// Opens a cable that another process has laid.
    pub(crate) fn at(places: [&str; 2]) -> io::Result<Self> {
        let [left, right] = places.map(std::fs::File::open);
        Ok(Self::between(left?.into(), right?.into()))
    }

    /// Runs a function at each end, at the same time.
    pub(crate) fn run<A: Send, B: Send>(
        &self,
        left: impl FnOnce() -> A + Send,
        right: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        thread::scope(|scope| {
            let left = scope.spawn(|| self.left.inside(left));
            let right = scope.spawn(|| self.right.inside(right));
            let (left, right) = (left.join(), right.join());
            (
                left.unwrap_or_else(|why| std::panic::resume_unwind(why)),
                right.unwrap_or_else(|why| std::panic::resume_unwind(why)),
            )
        })
    }
}

impl End {
    /// Returns the address of the interface.
    pub(crate) fn address(&self) -> Ipv4Addr {
        self.address
    }

    /// Moves the calling thread to this end, and runs a function.
    fn inside<T>(&self, does: impl FnOnce() -> T) -> T {
        move_into_link_name_space(self.space.as_fd(), Some(LinkNameSpaceType::Network)).expect("entering a namespace");
        does()
    }

    /// Runs a function at this end on the calling thread, and returns the thread to its namespace.
    pub(crate) fn visit<T>(&self, does: impl FnOnce() -> T) -> T {
        let home = std::fs::File::open("/proc/thread-self/ns/net").expect("the thread's namespace");
        let result = self.inside(does);
        move_into_link_name_space(home.as_fd(), Some(LinkNameSpaceType::Network)).expect("going home");
        result
    }

    /// Runs a function at this end, on a thread of its own.
    pub(crate) fn on_thread<T: Send>(&self, does: impl FnOnce() -> T + Send) -> T {
        thread::scope(|scope| {
            scope.spawn(|| self.inside(does)).join().unwrap_or_else(|why| std::panic::resume_unwind(why))
        })
    }

    /// Runs ip(8) at this end, and returns its output.
    pub(crate) fn ip(&self, arguments: &str) -> io::Result<String> {
        self.on_thread(|| {
            let output = Command::new("ip").args(arguments.split_whitespace()).output()?;
            if output.status.success() {
                return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
            }
            let words = format!("ip {arguments}: {}", String::from_utf8_lossy(&output.stderr));
            Err(io::Error::other(words))
        })
    }

    /// Whether the interface has an XDP program.
    pub(crate) fn has_program(&self) -> bool {
        self.ip(&format!("-details link show {INTERFACE}")).expect("ip link show").contains("prog/xdp")
    }
}

/// A rendezvous of two threads. The wait has a time limit, because the other thread may have
/// failed.
#[derive(Debug, Default)]
pub(crate) struct Meeting {
    came: Mutex<u64>,
    changed: Condvar,
}

impl Meeting {
    pub(crate) fn wait(&self) {
        let mut came = self.came.lock().expect("the other thread");
        *came += 1;
        let both = came.next_multiple_of(2);
        self.changed.notify_all();
        let waited = self.changed.wait_timeout_while(came, Duration::from_secs(60), |came| *came < both);
        assert!(!waited.expect("the other thread").1.timed_out(), "the other thread did not come");
    }
}

fn new_space() -> io::Result<OwnedFd> {
    thread::scope(|scope| {
        let made = scope.spawn(|| -> io::Result<OwnedFd> {
            // SAFETY: the flags unshare no file descriptors, and the network namespace changes for
            // this new thread alone.
            unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET) }?;
            Ok(std::fs::File::open("/proc/thread-self/ns/net")?.into())
        });
        made.join().expect("making a namespace")
    })
}
