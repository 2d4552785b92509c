//! The network between both sides: the loopback device, or a cable.
//!
//! A cable is a pair of virtual Ethernet interfaces between two network namespaces, which represent
//! two hosts. The first cable has to be laid before anything else, because laying it moves the
//! process into a namespace. A case that needs an interface of its own lays a further cable between
//! the same two hosts. When this process and its servers have ended, for whatever reason, the
//! kernel removes the namespaces and cables.

use crate::Error;
use crate::hosts::{Host, ip};
use std::io;
use std::net::Ipv4Addr;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::Relaxed;

/// The host of the server's side; not set if no cable was laid.
static SERVER: OnceLock<Host> = OnceLock::new();
/// The number of cables laid.
static CABLES: AtomicU8 = AtomicU8::new(0);

/// The link between both sides.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Link {
    /// The loopback device.
    Loopback,
    /// The cable with this number. The first cable has the number 1.
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

    /// Returns the link that has the given address on one of its sides.
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

/// Lays a cable. Moves the calling thread, with all threads and processes that it starts from now
/// on, to the client's end.
///
/// # Errors
///
/// [`Error::Failed`] without CAP_SYS_ADMIN and CAP_NET_ADMIN, [`Error::System`] without iproute2's
/// command `ip`, and [`Error::Usage`] if a cable was laid before.
pub fn set_up() -> Result<(), Error> {
    let [client, server] = Host::pair()?;
    client.enter().map_err(Error::system("entering a network namespace"))?;
    SERVER.set(server).map_err(|_| Error::Usage { message: "there is a cable already".to_owned() })?;
    ip(&["link", "set", "lo", "up"])?;
    ip_at_server(&["link", "set", "lo", "up"])?;
    further().map(|_| ())
}

/// Lays a further cable beside the first.
///
/// # Errors
///
/// [`Error::Usage`] without a first cable, or if there are [`CABLES_MAX`] already;
/// [`Error::Failed`] or [`Error::System`] if the command `ip` fails.
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
    ip(&["link", "add", name, "type", "veth", "peer", "name", name, "netns", &server.path()])?;
    ip(&["address", "add", &format!("{here}/24"), "dev", name])?;
    ip_at_server(&["address", "add", &format!("{there}/24"), "dev", name])?;
    ip(&["link", "set", name, "up"])?;
    ip_at_server(&["link", "set", name, "up"])?;
    Ok(link)
}

/// The maximum number of cables. The addresses of cables differ in one octet.
const CABLES_MAX: u8 = 254;

fn ip_at_server(arguments: &[&str]) -> Result<(), Error> {
    at_server(|| Ok(ip(arguments))).map_err(Error::system("entering a network namespace"))?
}

/// Returns the shared link: the first cable if one was laid, otherwise the loopback device.
pub(crate) fn link() -> Link {
    if SERVER.get().is_some() { Link::Cable(1) } else { Link::Loopback }
}

/// Runs `work` on the server's side, for instance to create a socket or start a process.
pub(crate) fn at_server<T>(work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let Some(server) = SERVER.get() else { return work() };
    server.run(work)?
}
