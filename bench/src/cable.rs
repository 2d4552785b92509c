//! Where the network between both sides is: the loopback device, or a cable.
//!
//! The cable is a pair of virtual Ethernet interfaces between two network namespaces, which stand for two hosts. A process is
//! in one network, so there is one cable for a process: it is laid before anything else is done.

use crate::Error;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::process::Command;
use std::sync::OnceLock;

/// The namespace of the server's side. There is one for as long as [`Laid`] lives.
static SERVER: OnceLock<String> = OnceLock::new();
const CLIENT_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 77, 1, 1);
const SERVER_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 77, 1, 2);

/// A cable. It is gone with this value; servers are to be gone before.
#[derive(Debug)]
pub struct Laid {
    names: [String; 2],
}

/// Lays a cable, and moves the calling thread, and all that it starts from now on, to the client's end.
///
/// # Errors
///
/// Where this user may not: it takes CAP_SYS_ADMIN and CAP_NET_ADMIN, and the command `ip` of iproute2. Where one is laid already.
pub fn lay() -> Result<Laid, Error> {
    let names = ["client", "server"].map(|side| format!("obvia-bench-{}-{side}", std::process::id()));
    // From here on it is taken away whatever happens.
    let laid = Laid { names };
    let [client, server] = &laid.names;
    ip(&["netns", "add", client])?;
    ip(&["netns", "add", server])?;
    ip(&["-n", client, "link", "add", "wire", "type", "veth", "peer", "name", "wire", "netns", server])?;
    for (name, address) in [(client, CLIENT_ADDRESS), (server, SERVER_ADDRESS)] {
        ip(&["-n", name, "address", "add", &format!("{address}/24"), "dev", "wire"])?;
        ip(&["-n", name, "link", "set", "lo", "up"])?;
        ip(&["-n", name, "link", "set", "wire", "up"])?;
    }
    enter(client)?;
    SERVER.set(server.clone()).map_err(|_| Error::Usage { message: "there is a cable already".to_owned() })?;
    Ok(laid)
}

impl Drop for Laid {
    fn drop(&mut self) {
        for name in &self.names {
            // Where it was not made there is nothing to remove.
            let _ = ip(&["netns", "delete", name]);
        }
    }
}

fn ip(arguments: &[&str]) -> Result<(), Error> {
    let output = Command::new("ip").args(arguments).output().map_err(Error::system("running ip, of iproute2"))?;
    if output.status.success() {
        return Ok(());
    }
    let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(Error::Failed {
        message: format!("laying a cable takes CAP_SYS_ADMIN and CAP_NET_ADMIN: ip {}: {why}", arguments.join(" ")),
    })
}

/// Moves the calling thread to a network namespace.
fn enter(name: &str) -> Result<(), Error> {
    let entered = File::open(format!("/run/netns/{name}"))
        .and_then(|file| Ok(move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))?));
    entered.map_err(Error::system::<io::Error>("entering a network namespace"))
}

/// The addresses of the client's side and the server's.
pub(crate) fn addresses() -> [Ipv4Addr; 2] {
    if SERVER.get().is_some() { [CLIENT_ADDRESS, SERVER_ADDRESS] } else { [Ipv4Addr::LOCALHOST; 2] }
}

/// Does something, such as making a socket, on the server's side.
pub(crate) fn at_server<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    let Some(name) = SERVER.get() else { return work() };
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            enter(name).map_err(io::Error::other)?;
            work()
        });
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// This program again, on the server's side.
pub(crate) fn program() -> Command {
    // The link leads to the very file that runs here, even if another has taken its name meanwhile.
    let Some(name) = SERVER.get() else { return Command::new("/proc/self/exe") };
    let mut command = Command::new("ip");
    command.args(["netns", "exec", name, &format!("/proc/{}/exe", std::process::id())]);
    command
}
