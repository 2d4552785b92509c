//! System calls that have no safe interface: for the socket of a listener, and for marks of
//! datagrams.
//!
//! A host may have several addresses, and a peer accepts answers only from the address that it sent
//! to. So a listener's socket reports the address to which each datagram was sent, and answers from
//! that address.

use crate::Error;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::net::sockopt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};

/// The length of an IPv6 socket address in bytes. An IPv4 socket address is shorter.
const ADDRESS: usize = size_of::<libc::sockaddr_in6>();
/// The length of the header of a control message, in bytes.
const CONTROL_HEADER: usize = size_of::<libc::cmsghdr>();
/// The length of the longest control message, which has the local address, in bytes.
const CONTROL: usize = CONTROL_HEADER + size_of::<libc::in6_pktinfo>();

// Control messages are read and written byte by byte, as the kernel lays them out on systems of 64
// bits.
const _: () = assert!(size_of::<usize>() == 8 && CONTROL_HEADER == 16);

/// The bits of a mark in the IP header: RFC 3168, 5.
const MARK: u8 = 0b11;
/// The mark of a sender that supports notification.
pub(super) const CAPABLE: u8 = 0b10;
/// The mark of congestion.
pub(super) const CONGESTED: u8 = 0b11;

/// A received datagram.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    /// The length, in bytes.
    pub(super) length: usize,
    pub(super) from: SocketAddr,
    /// The address of this host that the datagram was sent to.
    pub(super) at: SocketAddr,
}

/// A socket that receives from any peer.
#[derive(Debug)]
pub(super) struct ListeningSocket {
    fd: OwnedFd,
    local: SocketAddr,
}

impl ListeningSocket {
    pub(super) fn bind(address: SocketAddr, buffer: usize) -> Result<Self, Error> {
        let socket = UdpSocket::bind(address).map_err(|source| match source.kind() {
            io::ErrorKind::AddrInUse => Error::NameInUse { name: address.to_string(), pid: None },
            _ => Error::System { doing: "binding a UDP socket", source },
        })?;
        // Set after the bind: if the option were set before, the bind could join another listener's
        // port. From now on only sockets of this user may join this port.
        sockopt::set_socket_reuseport(&socket, true).map_err(Error::system("sharing a UDP port"))?;
        socket.set_nonblocking(true).map_err(Error::io("making a UDP socket non-blocking"))?;
        let local = socket.local_addr().map_err(Error::io("reading a socket's address"))?;
        let fd = OwnedFd::from(socket);
        enlarge(&fd, buffer);
        let (level, option) = match local {
            SocketAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_PKTINFO),
            SocketAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO),
        };
        set_option(&fd, level, option, 1).map_err(Error::io("asking for the local addresses of datagrams"))?;
        Ok(Self { fd, local })
    }

    pub(super) fn local(&self) -> SocketAddr {
        self.local
    }

    /// Returns the file that is readable when a datagram has arrived.
    pub(super) fn file(&self) -> &OwnedFd {
        &self.fd
    }

    /// Receives the next datagram, if one has arrived. Bytes beyond `into` are lost.
    pub(super) fn receive(&self, into: &mut [u8]) -> Option<Arrived> {
        let (mut name, mut control) = ([0; ADDRESS], [0; CONTROL]);
        let mut part = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
        let mut message = header(&raw mut part);
        (message.msg_name, message.msg_namelen) = ((&raw mut name).cast(), ADDRESS as libc::socklen_t);
        (message.msg_control, message.msg_controllen) = ((&raw mut control).cast(), CONTROL);
        // SAFETY: each pointer in `message` leads to a buffer of the length in `message`, and
        // nothing else uses the buffers during the call.
        let length = unsafe { libc::recvmsg(self.fd.as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT) };
        let length = usize::try_from(length).ok()?;
        Some(Arrived { length, from: read_address(&name)?, at: self.read_control(&control) })
    }

    /// Sends a datagram from this address of the host. The datagram may get lost, like any other.
    pub(super) fn send(&self, datagram: &[u8], to: SocketAddr, from: SocketAddr) {
        let ((mut name, name_length), (mut control, control_length)) = (write_address(to), write_control(from));
        let mut part = libc::iovec { iov_base: datagram.as_ptr().cast_mut().cast(), iov_len: datagram.len() };
        let mut message = header(&raw mut part);
        (message.msg_name, message.msg_namelen) = ((&raw mut name).cast(), name_length as libc::socklen_t);
        (message.msg_control, message.msg_controllen) = ((&raw mut control).cast(), control_length);
        // SAFETY: each pointer in `message` leads to a buffer of the length in `message`, and the
        // call only reads the buffers.
        let _ = unsafe { libc::sendmsg(self.fd.as_raw_fd(), &raw const message, libc::MSG_DONTWAIT) };
    }

    /// Reads the local address of a datagram. Falls back to the socket's address if the kernel
    /// reports none, or reports an address that several hosts have.
    fn read_control(&self, control: &[u8; CONTROL]) -> SocketAddr {
        let data = &control[CONTROL_HEADER..];
        let found: Option<(IpAddr, u32)> = match (word(control, 8), word(control, 12)) {
            (libc::IPPROTO_IP, libc::IP_PKTINFO) => {
                data[4..].first_chunk::<4>().map(|ip| (Ipv4Addr::from(*ip).into(), 0))
            }
            (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => {
                let interface = word(control, CONTROL_HEADER + 16).cast_unsigned();
                data.first_chunk::<16>().map(|ip| (Ipv6Addr::from(*ip).into(), interface))
            }
            _ => None,
        };
        match found {
            Some((IpAddr::V6(ip), interface)) if !is_of_several(ip.to_canonical()) => {
                // Only link-local addresses have a zone.
                let zone = if ip.is_unicast_link_local() { interface } else { 0 };
                SocketAddrV6::new(ip, self.local.port(), 0, zone).into()
            }
            Some((IpAddr::V4(ip), _)) => SocketAddr::new(ip.into(), self.local.port()),
            _ => self.local,
        }
    }
}

/// Sets an option of a socket.
fn set_option(fd: &OwnedFd, level: i32, option: i32, value: i32) -> io::Result<()> {
    let length = size_of::<i32>() as libc::socklen_t;
    // SAFETY: the pointer leads to `value`, which has `length` bytes, and the call only reads them.
    let done = unsafe { libc::setsockopt(fd.as_raw_fd(), level, option, (&raw const value).cast(), length) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Enlarges a socket's buffers to `buffer` bytes, or to the maximum that the system permits.
pub(super) fn enlarge(fd: &OwnedFd, buffer: usize) {
    if sockopt::set_socket_recv_buffer_size_force(fd, buffer).is_err() {
        // The peer learns of a smaller buffer as a smaller window.
        let _ = sockopt::set_socket_recv_buffer_size(fd, buffer);
    }
    if sockopt::set_socket_send_buffer_size_force(fd, buffer).is_err() {
        let _ = sockopt::set_socket_send_buffer_size(fd, buffer);
    }
}

/// Has the kernel report the marks of received datagrams, also those of an IPv4 peer on an IPv6
/// socket. If the kernel cannot report marks, the datagrams count as unmarked.
pub(super) fn ask_for_marks(fd: &OwnedFd) {
    let _ = set_option(fd, libc::IPPROTO_IP, libc::IP_RECVTOS, 1);
    let _ = set_option(fd, libc::IPPROTO_IPV6, libc::IPV6_RECVTCLASS, 1);
}

/// Has the kernel send datagrams with a mark, of which only the two bits of RFC 3168 are set. If
/// the kernel cannot set a mark, the datagrams have none.
pub(super) fn send_mark(fd: &OwnedFd, mark: u8) {
    let _ = set_option(fd, libc::IPPROTO_IP, libc::IP_TOS, mark.into());
    let _ = set_option(fd, libc::IPPROTO_IPV6, libc::IPV6_TCLASS, mark.into());
}

/// Receives the next datagram of a connected socket. Returns its length and its mark.
pub(super) fn receive_marked(fd: &OwnedFd, into: &mut [u8]) -> io::Result<(usize, u8)> {
    let mut control = [0; CONTROL];
    let mut part = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let mut message = header(&raw mut part);
    (message.msg_control, message.msg_controllen) = ((&raw mut control).cast(), CONTROL);
    // SAFETY: each pointer in `message` leads to a buffer of the length in `message`, and nothing
    // else uses the buffers during the call.
    let length = unsafe { libc::recvmsg(fd.as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT) };
    let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
    // The mark is the first byte of the control message for IPv4, and the first word of the control
    // message for IPv6.
    let mark = match (word(&control, 8), word(&control, 12)) {
        (libc::IPPROTO_IP, libc::IP_TOS) => control[CONTROL_HEADER],
        (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => word(&control, CONTROL_HEADER) as u8,
        _ => 0,
    };
    Ok((length, mark & MARK))
}

/// Returns the word at this offset of a control message.
fn word(control: &[u8; CONTROL], at: usize) -> i32 {
    i32::from_ne_bytes([control[at], control[at + 1], control[at + 2], control[at + 3]])
}

/// Returns the header of a message of one part, without an address and control messages.
fn header(part: *mut libc::iovec) -> libc::msghdr {
    // SAFETY: a `msghdr` has only pointers, lengths and flags, for which zeros are valid values.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    (message.msg_iov, message.msg_iovlen) = (part, 1);
    message
}

/// Reads a socket address: `sockaddr_in` or `sockaddr_in6`. `None` for any other address family.
fn read_address(name: &[u8; ADDRESS]) -> Option<SocketAddr> {
    let port = u16::from_be_bytes([name[2], name[3]]);
    match i32::from(u16::from_ne_bytes([name[0], name[1]])) {
        libc::AF_INET => Some(SocketAddr::new(Ipv4Addr::from(*name[4..].first_chunk::<4>()?).into(), port)),
        libc::AF_INET6 => {
            let zone = u32::from_ne_bytes(*name[24..].first_chunk()?);
            Some(SocketAddrV6::new(Ipv6Addr::from(*name[8..].first_chunk::<16>()?), port, 0, zone).into())
        }
        _ => None,
    }
}

/// Returns a socket address as the kernel reads it, and its length.
fn write_address(address: SocketAddr) -> ([u8; ADDRESS], usize) {
    let mut name = [0; ADDRESS];
    name[2..4].copy_from_slice(&address.port().to_be_bytes());
    let (family, length) = match address {
        SocketAddr::V4(address) => {
            name[4..8].copy_from_slice(&address.ip().octets());
            (libc::AF_INET, size_of::<libc::sockaddr_in>())
        }
        SocketAddr::V6(address) => {
            name[8..24].copy_from_slice(&address.ip().octets());
            name[24..].copy_from_slice(&address.scope_id().to_ne_bytes());
            (libc::AF_INET6, ADDRESS)
        }
    };
    name[..2].copy_from_slice(&(family as u16).to_ne_bytes());
    (name, length)
}

/// Returns the control message that makes `from` a datagram's source, and the message's length.
fn write_control(from: SocketAddr) -> ([u8; CONTROL], usize) {
    let mut control = [0; CONTROL];
    let data = &mut control[CONTROL_HEADER..];
    let (level, kind, length) = match from {
        SocketAddr::V4(address) => {
            data[4..8].copy_from_slice(&address.ip().octets());
            (libc::IPPROTO_IP, libc::IP_PKTINFO, size_of::<libc::in_pktinfo>())
        }
        SocketAddr::V6(address) => {
            data[..16].copy_from_slice(&address.ip().octets());
            data[16..].copy_from_slice(&address.scope_id().to_ne_bytes());
            (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, size_of::<libc::in6_pktinfo>())
        }
    };
    let length = CONTROL_HEADER + length;
    control[..8].copy_from_slice(&length.to_ne_bytes());
    control[8..12].copy_from_slice(&level.to_ne_bytes());
    control[12..16].copy_from_slice(&kind.to_ne_bytes());
    (control, length)
}

/// Whether several hosts have the address.
fn is_of_several(ip: IpAddr) -> bool {
    ip.is_multicast() || ip == IpAddr::V4(Ipv4Addr::BROADCAST)
}
