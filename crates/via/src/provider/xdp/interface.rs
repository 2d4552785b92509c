//! The kernel's knowledge of an interface: its number, addresses and MTU, and its neighbours.
//!
//! The queries are ioctl(2) calls on a socket, so the network namespace of that socket counts:
//! netdevice(7), arp(7).

use super::frames::Mac;
use crate::Error;
use rustix::fd::{AsFd, BorrowedFd};
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater};
use std::io;
use std::net::Ipv4Addr;

// The commands of ioctl(2): linux/sockios.h.
const FLAGS: Opcode = 0x8913;
const ADDRESS: Opcode = 0x8915;
const MTU: Opcode = 0x8921;
const HARDWARE_ADDRESS: Opcode = 0x8927;
const NEIGHBOUR: Opcode = 0x8954;
const ETHTOOL: Opcode = 0x8946;
/// The command that asks for the kernel module: `ETHTOOL_GDRVINFO` of linux/ethtool.h.
const MODULE: u32 = 3;
/// The flag of an interface that is up: `IFF_UP`.
const IS_UP: i16 = 1;
/// The hardware type of Ethernet: `ARPHRD_ETHER` of linux/if_arp.h.
const ETHERNET: u16 = 1;
/// The address family of IPv4: `AF_INET`.
const INET: u16 = 2;
/// The flag of a neighbour whose Ethernet address is known: `ATF_COM`.
const IS_COMPLETE: i32 = 2;
/// The length of an interface's name, in bytes, including the zero at its end.
const NAME_BYTES: usize = 16;

/// `struct ifreq`, whose second half is a union: 24 bytes with room for the largest member.
#[repr(C, align(8))]
struct Request {
    name: [u8; NAME_BYTES],
    value: [u8; 24],
}

/// A query for the Ethernet address of a neighbour: `struct arpreq`.
#[repr(C)]
struct NeighbourRequest {
    protocol_address: [u8; 16],
    hardware_address: [u8; 16],
    flags: i32,
    mask: [u8; 16],
    interface: [u8; NAME_BYTES],
}

/// `struct ethtool_drvinfo`: the command, the name of the kernel module, and further details.
#[repr(C)]
struct ModuleRequest {
    command: u32,
    module: [u8; 32],
    rest: [u8; 160],
}

/// `struct ifreq` for ethtool's ioctl, which holds the address of a further structure.
#[repr(C)]
struct EthtoolRequest {
    name: [u8; NAME_BYTES],
    data: u64,
    rest: [u8; 16],
}

const _: () = assert!(size_of::<Request>() == 40);
const _: () = assert!(size_of::<ModuleRequest>() == 196);
const _: () = assert!(size_of::<EthtoolRequest>() == 40);
const _: () = assert!(size_of::<NeighbourRequest>() == 68);

/// An Ethernet interface.
#[derive(Clone, Debug)]
pub(super) struct Interface {
    pub(super) name: String,
    pub(super) index: u32,
    pub(super) mac: Mac,
    pub(super) mtu: usize,
    pub(super) address: Ipv4Addr,
    /// The kernel module that drives the interface; empty if the interface does not report it.
    pub(super) module: String,
}

impl Interface {
    /// Looks up an interface. The result has the given address, or else the interface's first IPv4
    /// address.
    pub(super) fn look_up(socket: impl AsFd, name: &str, address: Option<Ipv4Addr>) -> Result<Self, Error> {
        let socket = socket.as_fd();
        let bad = |why| Error::BadAddress { text: name.to_owned(), why };
        if name.is_empty() || name.len() >= NAME_BYTES || name.bytes().any(|byte| byte == 0 || byte == b'/') {
            return Err(bad("the name is not valid for an interface"));
        }
        let index = rustix::net::netdevice::name_to_index(socket, name)
            .map_err(|_| bad("no interface of this network namespace has that name"))?;
        let flags = ask::<FLAGS>(socket, name).map_err(Error::system("reading an interface's flags"))?;
        if i16::from_ne_bytes([flags[0], flags[1]]) & IS_UP == 0 {
            return Err(bad("the interface is down"));
        }
        let hardware =
            ask::<HARDWARE_ADDRESS>(socket, name).map_err(Error::system("reading an interface's Ethernet address"))?;
        if u16::from_ne_bytes([hardware[0], hardware[1]]) != ETHERNET {
            return Err(bad("the interface is not an Ethernet interface"));
        }
        let mut mac = [0; 6];
        mac.copy_from_slice(&hardware[2..8]);
        let mtu = ask::<MTU>(socket, name).map_err(Error::system("reading an interface's MTU"))?;
        let mtu = i32::from_ne_bytes([mtu[0], mtu[1], mtu[2], mtu[3]]);
        let address = match address {
            Some(address) => address,
            None => match ask::<ADDRESS>(socket, name) {
                // `struct sockaddr_in`: family, port, address.
                Ok(place) => Ipv4Addr::new(place[4], place[5], place[6], place[7]),
                Err(_) => return Err(bad("the interface has no IPv4 address")),
            },
        };
        let module = module(socket, name).unwrap_or_default();
        Ok(Self { name: name.to_owned(), index, mac, mtu: usize::try_from(mtu).unwrap_or(0), address, module })
    }

    /// Returns the Ethernet address of a host next to this interface, if the kernel knows it. The
    /// kernel learns the address when one of its own sockets sends a datagram to the host.
    pub(super) fn neighbour(&self, socket: impl AsFd, host: Ipv4Addr) -> Option<Mac> {
        let mut request = NeighbourRequest {
            protocol_address: [0; 16],
            hardware_address: [0; 16],
            flags: 0,
            mask: [0; 16],
            interface: name_bytes(&self.name),
        };
        request.protocol_address[..2].copy_from_slice(&INET.to_ne_bytes());
        request.protocol_address[4..8].copy_from_slice(&host.octets());
        // SAFETY: the call reads and writes one `struct arpreq`.
        let ioctl = unsafe { Updater::<NEIGHBOUR, NeighbourRequest>::new(&mut request) };
        // SAFETY: as above.
        unsafe { rustix::ioctl::ioctl(socket, ioctl) }.ok()?;
        let mut mac = [0; 6];
        mac.copy_from_slice(&request.hardware_address[2..8]);
        (request.flags & IS_COMPLETE != 0 && mac != [0; 6]).then_some(mac)
    }
}

/// Returns the names of all interfaces of the calling thread's network namespace: proc(5),
/// `net/dev`.
pub(super) fn names() -> io::Result<Vec<String>> {
    let table = std::fs::read_to_string("/proc/thread-self/net/dev")?;
    // The two heading lines have no colon behind their first word.
    let lines = table.lines().filter_map(|line| line.split_once(':'));
    Ok(lines.map(|(name, _)| name.trim().to_owned()).collect())
}

fn name_bytes(name: &str) -> [u8; NAME_BYTES] {
    let mut bytes = [0; NAME_BYTES];
    let length = name.len().min(NAME_BYTES - 1);
    bytes[..length].copy_from_slice(&name.as_bytes()[..length]);
    bytes
}

/// Returns the name of the kernel module that drives an interface, as `ethtool -i` does, if the
/// kernel reports it.
fn module(socket: BorrowedFd<'_>, name: &str) -> Option<String> {
    let mut answer = ModuleRequest { command: MODULE, module: [0; 32], rest: [0; 160] };
    let data = std::ptr::from_mut(&mut answer).expose_provenance() as u64;
    let mut request = EthtoolRequest { name: name_bytes(name), data, rest: [0; 16] };
    // SAFETY: the call reads and writes one `struct ifreq` and, with this command, one `struct
    // ethtool_drvinfo` at the address in it. The latter structure is `answer`, which outlives the
    // call and is read only afterwards.
    let ioctl = unsafe { Updater::<ETHTOOL, EthtoolRequest>::new(&mut request) };
    // SAFETY: as above.
    unsafe { rustix::ioctl::ioctl(socket, ioctl) }.ok()?;
    let name = answer.module.split(|byte| *byte == 0).next()?;
    Some(String::from_utf8_lossy(name).into_owned())
}

fn ask<const WHAT: Opcode>(socket: BorrowedFd<'_>, name: &str) -> Result<[u8; 24], Errno> {
    let mut request = Request { name: name_bytes(name), value: [0; 24] };
    // SAFETY: the queries of this file read and write one `struct ifreq`.
    let ioctl = unsafe { Updater::<WHAT, Request>::new(&mut request) };
    // SAFETY: as above.
    unsafe { rustix::ioctl::ioctl(socket, ioctl) }?;
    Ok(request.value)
}
