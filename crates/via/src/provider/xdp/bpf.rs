//! The bpf system call: maps, the program, and its link to an interface.
//!
//! A map, a program or a link exists as long as one of its file descriptors is open. Nothing is
//! pinned, so the kernel removes the program from the interface when the process ends, even if the
//! process is killed.

use super::interface::Interface;
use super::program::{Instruction, assemble};
use super::{Mode, Refused};
use crate::Error;
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use rustix::io::Errno;
use std::io;

// The commands of bpf(2): `enum bpf_cmd` of linux/bpf.h.
const MAP_CREATE: i64 = 0;
const MAP_UPDATE: i64 = 2;
const MAP_DELETE: i64 = 3;
const PROGRAM_LOAD: i64 = 5;
const LINK_CREATE: i64 = 28;
const LINK_DETACH: i64 = 34;
// The types of maps, of the program and of its attachment: `enum bpf_map_type`, `enum
// bpf_prog_type` and `enum bpf_attach_type`.
const MAP_HASH: u32 = 1;
const MAP_SOCKETS: u32 = 17;
const PROGRAM_XDP: u32 = 6;
const ATTACH_XDP: u32 = 37;
// The modes of a link: linux/if_link.h.
const IN_KERNEL_STACK: u32 = 1 << 1;
const IN_INTERFACE: u32 = 1 << 2;

/// The driver of pairs of virtual Ethernet interfaces: veth(4).
const VIRTUAL_CABLE: &str = "veth";
/// The name that tools show for programs and maps.
const NAME: [u8; 16] = *b"obvia_xdp\0\0\0\0\0\0\0";
/// The maximum number of ports at once: one for each VI and listener.
pub(super) const PORTS_MAX: u32 = 16_384;
/// The licence of the program, which calls no helper function that requires another licence.
const LICENCE: &[u8] = b"MIT\0";
const LOG_BYTES: usize = 16 * 1024;

// The parts of `union bpf_attr` that the commands above use, with explicit padding.

#[repr(C)]
struct MapAttributes {
    kind: u32,
    key: u32,
    value: u32,
    entries: u32,
    flags: u32,
    inner: u32,
    node: u32,
    name: [u8; 16],
}

#[repr(C)]
struct ElementAttributes {
    map: u32,
    padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}

#[repr(C)]
struct ProgramAttributes {
    kind: u32,
    count: u32,
    instructions: u64,
    licence: u64,
    log_level: u32,
    log_size: u32,
    log: u64,
    kernel: u32,
    flags: u32,
    name: [u8; 16],
}

#[repr(C)]
struct LinkAttributes {
    program: u32,
    interface: u32,
    attach: u32,
    flags: u32,
}

#[repr(C)]
struct DetachAttributes {
    link: u32,
}

const _: () = assert!(size_of::<MapAttributes>() == 44);
const _: () = assert!(size_of::<ElementAttributes>() == 32);
const _: () = assert!(size_of::<ProgramAttributes>() == 64);
const _: () = assert!(size_of::<LinkAttributes>() == 16);

/// A program on an interface, and the maps that it uses.
#[derive(Debug)]
pub(super) struct Attached {
    ports: OwnedFd,
    sockets: OwnedFd,
    // The program leaves the interface when the last copy of this file is closed.
    link: OwnedFd,
    pub(super) mode: Mode,
    /// The reason why the program is not in the interface's driver, if [`Self::new`] chose the
    /// mode.
    pub(super) not_native: Option<io::Error>,
}

impl Attached {
    /// Loads the program and puts it on the interface. `None` means the best possible mode.
    pub(super) fn new(interface: &Interface, queue: u32, mode: Option<Mode>) -> Result<Self, Refused> {
        let Interface { index, address, .. } = *interface;
        let ports = map(MAP_HASH, PORTS_MAX, 1)?;
        let sockets = map(MAP_SOCKETS, queue.saturating_add(1), 4)?;
        let program = load(&assemble(address, ports.as_raw_fd(), sockets.as_raw_fd()))?;
        let attach = |flags| attach(program.as_fd(), index, flags);
        let (link, mode, not_native) = match mode {
            Some(Mode::Native) => (attach(IN_INTERFACE).map_err(native_refused)?, Mode::Native, None),
            Some(Mode::Generic) => (attach(IN_KERNEL_STACK).map_err(attach_refused)?, Mode::Generic, None),
            // A frame that comes through a virtual cable is already in a buffer of the kernel's
            // stack. The driver would put the frame into a queue of its own, and make another
            // buffer for the program.
            None if interface.module == VIRTUAL_CABLE => {
                let why =
                    io::Error::other("between virtual interfaces the kernel's stack takes less time than the driver");
                (attach(IN_KERNEL_STACK).map_err(attach_refused)?, Mode::Generic, Some(why))
            }
            None => match attach(IN_INTERFACE) {
                Ok(link) => (link, Mode::Native, None),
                // The other mode would be refused for the same reason.
                Err(errno @ (Errno::BUSY | Errno::PERM | Errno::ACCESS)) => return Err(attach_refused(errno)),
                Err(errno) => {
                    (attach(IN_KERNEL_STACK).map_err(attach_refused)?, Mode::Generic, Some(io::Error::from(errno)))
                }
            },
        };
        Ok(Self { ports, sockets, link, mode, not_native })
    }

    /// Passes the frames of a queue to a socket.
    pub(super) fn steer(&self, queue: u32, socket: BorrowedFd<'_>) -> Result<(), Error> {
        let value = socket.as_raw_fd().to_ne_bytes();
        update(&self.sockets, queue.to_ne_bytes(), &value).map_err(Error::system("entering a socket into the XSKMAP"))
    }

    /// Has the program take frames for this port from now on.
    pub(super) fn take_port(&self, port: u16) -> Result<(), Error> {
        update(&self.ports, key(port), &[1]).map_err(Error::system("entering a port for the XDP program"))
    }

    /// Has the program pass frames for this port to the kernel again.
    pub(super) fn give_port(&self, port: u16) {
        let key = key(port);
        let mut attributes = ElementAttributes {
            map: self.ports.as_raw_fd().cast_unsigned(),
            padding: 0,
            key: key.as_ptr().expose_provenance() as u64,
            value: 0,
            flags: 0,
        };
        // SAFETY: the key has four bytes, like all keys of the map, and outlives the call.
        let _ = unsafe { bpf(MAP_DELETE, &mut attributes) };
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        // A child process that another thread is just starting has copies of our files until it
        // runs its own program. The explicit detach frees the interface for the next user even
        // during that time.
        let mut attributes = DetachAttributes { link: self.link.as_raw_fd().cast_unsigned() };
        // SAFETY: the command reads no memory except for the attributes.
        let _ = unsafe { bpf(LINK_DETACH, &mut attributes) };
    }
}

/// Returns the map key of a port: network order in the first two bytes.
fn key(port: u16) -> [u8; 4] {
    u32::from(port.to_be()).to_ne_bytes()
}

fn map(kind: u32, entries: u32, value: u32) -> Result<OwnedFd, Refused> {
    let mut attributes = MapAttributes { kind, key: 4, value, entries, flags: 0, inner: 0, node: 0, name: NAME };
    // SAFETY: the command reads no memory except for the attributes.
    let map = unsafe { bpf(MAP_CREATE, &mut attributes) }.map_err(|errno| match errno {
        Errno::PERM => Refused::new("making a BPF map, which needs CAP_BPF and CAP_NET_ADMIN", errno),
        Errno::NOSYS => Refused::new("making a BPF map: the kernel is built without the bpf system call", errno),
        Errno::INVAL if kind == MAP_SOCKETS => {
            Refused::new("making an XSKMAP: the kernel is built without CONFIG_XDP_SOCKETS", errno)
        }
        _ => Refused::new("making a BPF map", errno),
    })?;
    owned(map)
}

fn update(map: &OwnedFd, key: [u8; 4], value: &[u8]) -> rustix::io::Result<()> {
    let mut attributes = ElementAttributes {
        map: map.as_raw_fd().cast_unsigned(),
        padding: 0,
        key: key.as_ptr().expose_provenance() as u64,
        value: value.as_ptr().expose_provenance() as u64,
        flags: 0,
    };
    // SAFETY: key and value have the sizes that the callers made the maps with, and outlive the
    // call.
    unsafe { bpf(MAP_UPDATE, &mut attributes) }.map(drop)
}

fn load(program: &[Instruction]) -> Result<OwnedFd, Refused> {
    let mut log = Vec::new();
    let fd = match try_load(program, &mut log) {
        Ok(fd) => fd,
        Err(errno @ (Errno::PERM | Errno::NOSYS)) => {
            let doing = "loading the XDP program, which needs CAP_BPF and CAP_NET_ADMIN";
            return Err(Refused::new(doing, errno));
        }
        Err(errno) => {
            // Loads the program once more, to get the verifier's message.
            log.resize(LOG_BYTES, 0);
            let _ = try_load(program, &mut log);
            let end = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
            let words = format!("{}: {}", io::Error::from(errno), String::from_utf8_lossy(&log[..end]).trim());
            return Err(Refused { doing: "verifying the XDP program", source: io::Error::other(words) });
        }
    };
    owned(fd)
}

fn try_load(program: &[Instruction], log: &mut [u8]) -> rustix::io::Result<i64> {
    let mut attributes = ProgramAttributes {
        kind: PROGRAM_XDP,
        count: program.len() as u32,
        instructions: program.as_ptr().expose_provenance() as u64,
        licence: LICENCE.as_ptr().expose_provenance() as u64,
        log_level: u32::from(!log.is_empty()),
        log_size: log.len() as u32,
        log: if log.is_empty() { 0 } else { log.as_mut_ptr().expose_provenance() as u64 },
        kernel: 0,
        flags: 0,
        name: NAME,
    };
    // SAFETY: program, licence and log have the lengths in the attributes and outlive the call; the
    // log is borrowed exclusively.
    unsafe { bpf(PROGRAM_LOAD, &mut attributes) }
}

fn attach(program: BorrowedFd<'_>, interface: u32, flags: u32) -> rustix::io::Result<OwnedFd> {
    let program = program.as_raw_fd().cast_unsigned();
    let mut attributes = LinkAttributes { program, interface, attach: ATTACH_XDP, flags };
    // SAFETY: the command reads no memory except for the attributes.
    let fd = unsafe { bpf(LINK_CREATE, &mut attributes) }?;
    owned(fd).map_err(|_| Errno::BADF)
}

fn native_refused(errno: Errno) -> Refused {
    match errno {
        Errno::OPNOTSUPP => Refused::new("attaching in native mode, which this interface does not support", errno),
        Errno::RANGE => Refused::new("attaching in native mode: the interface's MTU is too large for XDP", errno),
        _ => attach_refused(errno),
    }
}

fn attach_refused(errno: Errno) -> Refused {
    let doing = match errno {
        Errno::PERM => "attaching the XDP program, which needs CAP_NET_ADMIN and CAP_BPF",
        Errno::BUSY => "attaching the XDP program: the interface already has one, of this or another process",
        Errno::INVAL => "attaching the XDP program: the kernel has no BPF links for XDP, which need Linux 5.9",
        _ => "attaching the XDP program to the interface",
    };
    Refused::new(doing, errno)
}

/// Makes the system call.
///
/// # Safety
///
/// `attributes` must have the type that the command reads. The memory to which the attributes point
/// must be valid for as long as the command uses that memory.
unsafe fn bpf<T>(command: i64, attributes: &mut T) -> rustix::io::Result<i64> {
    let place = std::ptr::from_mut(attributes);
    // SAFETY: the kernel reads and writes size_of::<T> bytes at `place`, and the memory to which
    // the attributes point. By the caller's promise, that memory is valid.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, place, size_of::<T>()) };
    if result >= 0 {
        return Ok(result);
    }
    Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO))
}

/// Wraps the file that a command made. The kernel opens such files close-on-exec.
fn owned(fd: i64) -> Result<OwnedFd, Refused> {
    let fd = i32::try_from(fd).map_err(|_| Refused::new("opening a BPF object", Errno::BADF))?;
    // SAFETY: the kernel has just made the descriptor for this process, so nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
