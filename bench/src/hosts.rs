//! Hosts: network namespaces, in which this process opens sockets and starts other processes.
//!
//! The kernel removes a namespace with its interfaces when no process runs in the namespace and no
//! process has the namespace's file open. That is the case when this process and its servers have
//! ended, for whatever reason.

use crate::Error;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::process::Command;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// A host: a network namespace.
#[derive(Debug)]
pub(crate) struct Host(File);

/// The names of two namespaces while they are created, since `ip` needs names. A namespace
/// continues to exist when its name is deleted.
struct Names([String; 2]);

impl Drop for Names {
    fn drop(&mut self) {
        for name in &self.0 {
            // The command fails if the namespace was never created, which does no harm.
            let _ = ip(&["netns", "delete", name]);
        }
    }
}

impl Host {
    /// Creates two hosts: the client's and the server's.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] without CAP_SYS_ADMIN and CAP_NET_ADMIN, and [`Error::System`] without
    /// iproute2's command `ip`.
    pub(crate) fn pair() -> Result<[Self; 2], Error> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let (process, pair) = (std::process::id(), NEXT.fetch_add(1, Relaxed));
        let names = Names(["client", "server"].map(|side| format!("obvia-{process}-bench-{pair}-{side}")));
        names.0.iter().try_for_each(|name| ip(&["netns", "add", name]))?;
        let open = |name: &String| {
            let space = File::open(format!("/run/netns/{name}"));
            space.map(Self).map_err(Error::system("opening a network namespace"))
        };
        Ok([open(&names.0[0])?, open(&names.0[1])?])
    }

    /// Moves the calling thread to the host. Threads and processes that the calling thread starts
    /// from now on run there, too.
    pub(crate) fn enter(&self) -> io::Result<()> {
        Ok(move_into_link_name_space(self.0.as_fd(), Some(LinkNameSpaceType::Network))?)
    }

    /// Runs `work` on the host. The calling thread itself moves to the host and back, because a
    /// child process of a temporary thread would be killed at the thread's end.
    pub(crate) fn run<T>(&self, work: impl FnOnce() -> T) -> io::Result<T> {
        let home = Self(File::open("/proc/thread-self/ns/net")?);
        self.enter()?;
        let outcome = work();
        home.enter()?;
        Ok(outcome)
    }

    /// Returns the path of the namespace, for `ip`.
    pub(crate) fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }
}

/// Runs the command `ip` on the calling thread's host.
pub(crate) fn ip(arguments: &[&str]) -> Result<(), Error> {
    let output = Command::new("ip").args(arguments).output().map_err(Error::system("running ip, of iproute2"))?;
    if output.status.success() {
        return Ok(());
    }
    let (line, why) = (arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim().to_owned());
    Err(Error::Failed { message: format!("simulating hosts takes CAP_SYS_ADMIN and CAP_NET_ADMIN: ip {line}: {why}") })
}
