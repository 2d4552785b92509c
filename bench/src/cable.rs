//! Where the network between both sides is: the loopback device, or a cable.
//!
//! The cable is a pair of virtual Ethernet interfaces between two network namespaces, which stand for two hosts. A process is
//! in one network, so there is one cable for a process: it is laid before anything else is done. When this process and its
//! servers have ended, in whatever way, the kernel takes namespaces and cable away.

use crate::Error;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::process::Command;
use std::sync::OnceLock;

/// The namespace of the server's side.
static SERVER: OnceLock<File> = OnceLock::new();
const CLIENT_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 77, 1, 1);
const SERVER_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 77, 1, 2);

/// The names of two namespaces while the cable is laid: `ip` knows them by nothing else. A namespace outlives its name for as long as
/// somebody is in it, or has its file.
struct Names([String; 2]);

impl Drop for Names {
    fn drop(&mut self) {
        for name in &self.0 {
            // Where it was not made there is nothing to remove.
            let _ = ip(&["netns", "delete", name]);
        }
    }
}

/// Lays a cable, and moves the calling thread, and all that it starts from now on, to the client's end.
///
/// # Errors
///
/// Where this user may not: it takes CAP_SYS_ADMIN and CAP_NET_ADMIN, and the command `ip` of iproute2. Where one is laid already.
pub fn lay() -> Result<(), Error> {
    let names = Names(["client", "server"].map(|side| format!("obvia-bench-{}-{side}", std::process::id())));
    let [client, server] = &names.0;
    ip(&["netns", "add", client])?;
    ip(&["netns", "add", server])?;
    ip(&["-n", client, "link", "add", "wire", "type", "veth", "peer", "name", "wire", "netns", server])?;
    for (name, address) in [(client, CLIENT_ADDRESS), (server, SERVER_ADDRESS)] {
        ip(&["-n", name, "address", "add", &format!("{address}/24"), "dev", "wire"])?;
        ip(&["-n", name, "link", "set", "lo", "up"])?;
        ip(&["-n", name, "link", "set", "wire", "up"])?;
    }
    let open = |name: &String| {
        File::open(format!("/run/netns/{name}")).map_err(Error::system::<io::Error>("opening a network namespace"))
    };
    let (client, server) = (open(client)?, open(server)?);
    enter(&client).map_err(Error::system::<io::Error>("entering a network namespace"))?;
    SERVER.set(server).map_err(|_| Error::Usage { message: "there is a cable already".to_owned() })
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

/// The addresses of the client's side and the server's.
pub(crate) fn addresses() -> [Ipv4Addr; 2] {
    if SERVER.get().is_some() { [CLIENT_ADDRESS, SERVER_ADDRESS] } else { [Ipv4Addr::LOCALHOST; 2] }
}

/// Does something on the server's side, such as making a socket or starting a process. The calling thread goes there and comes
/// back: what a thread of its own had started would be told to end with that.
pub(crate) fn at_server<T>(work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let Some(server) = SERVER.get() else { return work() };
    let home = File::open("/proc/thread-self/ns/net")?;
    enter(server)?;
    let outcome = work();
    enter(&home)?;
    outcome
}
