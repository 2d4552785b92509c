//! The IP addresses and ports that captures show for streams over Unix sockets.
//!
//! Unix sockets have no such addresses, so these are made up. An address contains the process id:
//! process 4711 has the address 127.0.18.103. A server has the protocol's well-known port, and each
//! stream of a client has a different port.

use crate::Error;
use crate::wrap::{Ends, SharedCapture};
use rustix::fd::AsFd;
use rustix::net::{SocketAddrUnix, getpeername, getsockname};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU16, Ordering};

/// The port by which packet tools recognize the protocol.
const SERVER_PORT: u16 = 135;
/// The first port for clients whose socket has no name. Named sockets have lower ports.
const NAMELESS: u16 = 1 << 15;

/// Returns a name for a client's socket that contains the stream's port, so that the server's
/// capture shows the same port. `None` if the process has no capture.
pub(super) fn of_client() -> Result<Option<SocketAddrUnix>, Error> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let Some(capture) = SharedCapture::of_process()? else { return Ok(None) };
    let number = NEXT.fetch_add(1, Ordering::Relaxed) % NAMELESS;
    let name = format!("{}{number}", names_of(capture, std::process::id()));
    SocketAddrUnix::new_abstract_name(name.as_bytes()).map(Some).map_err(Error::system("naming a client's socket"))
}

/// Returns the prefix of the names of a client's sockets.
fn names_of(capture: &SharedCapture, pid: u32) -> String {
    format!("{}/client/{pid}/", capture.id())
}

/// Returns the ends of a stream between this process and the process `peer`.
pub(super) fn of(
    capture: &SharedCapture,
    socket: &impl AsFd,
    peer: u32,
    is_client: bool,
) -> Result<Ends, rustix::io::Errno> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let own = std::process::id();
    let (client, name) = if is_client { (own, Some(getsockname(socket)?)) } else { (peer, getpeername(socket)?) };
    let name = name.and_then(|name| SocketAddrUnix::try_from(name).ok());
    let beginning = names_of(capture, client);
    let number = name.as_ref().and_then(SocketAddrUnix::abstract_name).and_then(|name| {
        let number: u16 = str::from_utf8(name.strip_prefix(beginning.as_bytes())?).ok()?.parse().ok()?;
        (number < NAMELESS).then_some(number)
    });
    let port = number.unwrap_or_else(|| NAMELESS | NEXT.fetch_add(1, Ordering::Relaxed));
    let [own_port, peer_port] = if is_client { [port, SERVER_PORT] } else { [SERVER_PORT, port] };
    Ok(Ends { own: end(own, own_port), peer: end(peer, peer_port) })
}

fn end(pid: u32, port: u16) -> SocketAddr {
    // A process id has at most 22 bits: proc(5), pid_max.
    let [_, high, middle, low] = pid.to_be_bytes();
    SocketAddr::from(([127, high, middle, low], port))
}
