//! TUN devices: network interfaces whose packets this process sends and receives.

use crate::Error;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, ioctl, opcode};
use std::os::fd::OwnedFd;

/// The request TUNSETIFF of linux/if_tun.h.
const SET_INTERFACE: Opcode = opcode::write::<i32>(b'T', 202);
/// The device passes IP packets, and adds no header to them: IFF_TUN and IFF_NO_PI of
/// linux/if_tun.h.
const PLAIN_PACKETS: u16 = 0x0001 | 0x1000;

/// The kernel's `struct ifreq`: a name, and a union. TUNSETIFF uses the union's flags.
#[repr(C)]
struct InterfaceRequest {
    name: [u8; 16],
    flags: u16,
    unused: [u8; 22],
}

const _: () = assert!(size_of::<InterfaceRequest>() == 40);

/// Creates an interface in the calling thread's network namespace. Each read or write of the
/// returned device is one packet. Reads do not wait. The interface exists until the device is
/// closed.
///
/// # Errors
///
/// [`Error::System`] without /dev/net/tun, without CAP_NET_ADMIN, or if the name is longer than 15
/// bytes.
pub(super) fn create(interface: &str) -> Result<OwnedFd, Error> {
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let device = rustix::fs::open("/dev/net/tun", flags, Mode::empty())
        .map_err(Error::system("opening /dev/net/tun, which needs root and the kernel's module tun"))?;
    let mut request = InterfaceRequest { name: [0; 16], flags: PLAIN_PACKETS, unused: [0; 22] };
    // The last byte stays zero, because it ends the name.
    let named = request.name[..15].get_mut(..interface.len());
    named
        .ok_or(Errno::NAMETOOLONG)
        .map_err(Error::system("naming a TUN device"))?
        .copy_from_slice(interface.as_bytes());
    // SAFETY: TUNSETIFF reads and writes one `struct ifreq` of 40 bytes, and `InterfaceRequest` has
    // its size and layout. Each of its bytes may have any value.
    let request = unsafe { Updater::<SET_INTERFACE, InterfaceRequest>::new(&mut request) };
    // SAFETY: the request borrows the structure that its opcode expects, as above, until the call
    // returns.
    unsafe { ioctl(&device, request) }.map_err(Error::system("creating a TUN device, which needs CAP_NET_ADMIN"))?;
    Ok(device)
}
