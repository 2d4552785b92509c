//! The network between both sides: the loopback device, or a cable.
//!
//! A cable is a pair of virtual Ethernet interfaces between two network namespaces, which stand for
//! two hosts. The first cable has to be laid before anything else, since it moves the process into
//! a namespace. A case that needs an interface of its own lays a further cable between the same two
//! hosts. When this process and its servers have ended, for whatever reason, the kernel removes
//! namespaces and cables.

use crate::Error;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::os::fd::AsRawFd;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::Relaxed;

/// The namespace of the server's side.
static SERVER: OnceLock<File> = OnceLock::new();
/// The number of cables laid.
static CABLES: AtomicU8 = AtomicU8::new(0);

/// The link between both sides.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Link {
    /// The loopback device.
    Loopback,
    /// A cable, by its number from 1 on.
    Cable(u8),
}

impl Link {
    /// Returns the addresses of the client's and the server's side.
    pub(crate) fn addresses(self) -> [Ipv4Addr; 2] {
        match self {
            Self::Loopback => [Ipv4Addr::LOCALHOST; 2],
            Self::Cable(number) => [1, 2].map(|side| Ipv4Addr::new(10, 77, number, side)),
        }
    }

    /// Returns the link of an address of either side.
    pub(crate) fn of(address: Ipv4Addr) -> Self {
        if address.is_loopback() { Self::Loopback } else { Self::Cable(address.octets()[2]) }
    }

    /// Returns the name of the link's interface, which is the same on both sides.
    pub(crate) fn interface(self) -> String {
        match self {
            Self::Loopback => "lo".to_owned(),
            Self::Cable(number) => format!("wire{number}"),
        }
    }
}

/// The names of two namespaces while the cable is laid, since `ip` needs names. A namespace
/// outlives its name as long as a process is in it or has its file open.
struct Names([String; 2]);

impl Drop for Names {
    fn drop(&mut self) {
        for name in &self.0 {
            // The command fails if the namespace was never created, which does no harm.
            let _ = ip(&["netns", "delete", name]);
        }
    }
}

/// Lays a cable, and moves the calling thread and all threads and processes that it starts from now
/// on to the client's end.
///
/// # Errors
///
/// [`Error::Failed`] without CAP_SYS_ADMIN and CAP_NET_ADMIN, [`Error::System`] without iproute2's
/// command `ip`, and [`Error::Usage`] if a cable was laid before.
pub fn set_up() -> Result<(), Error> {
    let names = Names(["client", "server"].map(|side| format!("obvia-{}-bench-{side}", std::process::id())));
    let [client, server] = &names.0;
    ip(&["netns", "add", client])?;
    ip(&["netns", "add", server])?;
    let open = |name: &String| {
        File::open(format!("/run/netns/{name}")).map_err(Error::system::<io::Error>("opening a network namespace"))
    };
    let (client, server) = (open(client)?, open(server)?);
    enter(&client).map_err(Error::system::<io::Error>("entering a network namespace"))?;
    SERVER.set(server).map_err(|_| Error::Usage { message: "there is a cable already".to_owned() })?;
    ip(&["link", "set", "lo", "up"])?;
    ip_at_server(&["link", "set", "lo", "up"])?;
    further().map(|_| ())
}

/// Lays a further cable beside the first.
///
/// # Errors
///
/// [`Error::Usage`] without a first cable, or if there are [`CABLES_MAX`].
pub(crate) fn further() -> Result<Link, Error> {
    let Some(server) = SERVER.get() else {
        return Err(Error::Usage { message: "that takes two hosts, or --cable, which stands for them".to_owned() });
    };
    let count = |laid: u8| (laid < CABLES_MAX).then_some(laid + 1);
    let Ok(before) = CABLES.fetch_update(Relaxed, Relaxed, count) else {
        return Err(Error::Usage { message: format!("more than {CABLES_MAX} cables: measure fewer cases at once") });
    };
    let link = Link::Cable(before + 1);
    let (name, [here, there]) = (&link.interface(), link.addresses());
    let space = format!("/proc/{}/fd/{}", std::process::id(), server.as_raw_fd());
    ip(&["link", "add", name, "type", "veth", "peer", "name", name, "netns", &space])?;
    ip(&["address", "add", &format!("{here}/24"), "dev", name])?;
    ip_at_server(&["address", "add", &format!("{there}/24"), "dev", name])?;
    ip(&["link", "set", name, "up"])?;
    ip_at_server(&["link", "set", name, "up"])?;
    Ok(link)
}

/// The maximum number of cables, which differ in one octet of their addresses.
const CABLES_MAX: u8 = 254;

fn ip_at_server(arguments: &[&str]) -> Result<(), Error> {
    at_server(|| Ok(ip(arguments))).map_err(Error::system("entering a network namespace"))?
}

fn ip(arguments: &[&str]) -> Result<(), Error> {
    let output = Command::new("ip").args(arguments).output().map_err(Error::system("running ip, of iproute2"))?;
    if output.status.success() {
        return Ok(());
    }
    let (line, why) = (arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim().to_owned());
    Err(Error::Failed { message: format!("laying a cable takes CAP_SYS_ADMIN and CAP_NET_ADMIN: ip {line}: {why}") })
}

/// Moves the calling thread to a network namespace.
fn enter(space: &File) -> io::Result<()> {
    Ok(move_into_link_name_space(space.as_fd(), Some(LinkNameSpaceType::Network))?)
}

/// Returns the shared link: the first cable if one was laid, otherwise the loopback device.
pub(crate) fn link() -> Link {
    if SERVER.get().is_some() { Link::Cable(1) } else { Link::Loopback }
}

/// Runs `work` on the server's side, for instance to create a socket or start a process. The
/// calling thread itself moves there and back: a child process of a temporary thread would be
/// killed at the thread's end.
pub(crate) fn at_server<T>(work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let Some(server) = SERVER.get() else { return work() };
    let home = File::open("/proc/thread-self/ns/net")?;
    enter(server)?;
    let outcome = work();
    enter(&home)?;
    outcome
}
