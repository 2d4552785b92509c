//! The process at the other end of a Unix socket.

use super::place::is_trusted;
use crate::Error;
use crate::window::Peer;
use rustix::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use rustix::fs::{fstat, fstatfs};
use std::io;
use std::mem::size_of;

/// The type of the file system of pidfds, in which each process has its own inode number (Linux
/// 6.9; the kernel's `PID_FS_MAGIC`).
const PIDFS: u32 = 0x5049_4446;
/// The bit that marks a serial number made from a process id. Inode numbers count up from 1, and
/// never reach this bit.
const MADE: u64 = 1 << 63;

/// Refuses a peer of another user. The superuser's processes may connect to the processes of every
/// user. Other users' processes may connect to the superuser's only after
/// `Directory::open_to_all_users`.
pub(crate) fn check_peer(socket: &OwnedFd) -> Result<(), Error> {
    let (_, uid) = local_peer(socket)?;
    if is_trusted(uid) { Ok(()) } else { Err(Error::AccessDenied { uid }) }
}

/// Returns the process and the user at the other end of a Unix socket, as the kernel recorded them
/// at connect. The process id is 0 if the process has no id in this PID namespace, because the
/// process is in another namespace, such as that of another container.
pub(crate) fn local_peer(socket: &impl AsFd) -> Result<(u32, u32), Error> {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the descriptor is open as long as `socket` is borrowed. The kernel writes at most
    // `length` bytes, which `peer` has. Any bytes are a valid `ucred`, which is three numbers.
    let done = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut length,
        )
    };
    if done != 0 || length as usize != size_of::<libc::ucred>() {
        return Err(Error::io("reading the peer's credentials")(io::Error::last_os_error()));
    }
    Ok((peer.pid.unsigned_abs(), peer.uid))
}

/// Returns the process at the other end of a Unix socket, as the kernel recorded it at connect.
///
/// # Errors
///
/// The kernel's error, for example where this process has no descriptor left.
pub(crate) fn local_process(socket: &impl AsFd) -> Result<Peer, Error> {
    let (pid, uid) = local_peer(socket)?;
    let serial = serial_of(socket)?.unwrap_or_else(|| made_serial(pid, uid));
    Ok(Peer::Process { pid, uid, serial })
}

/// Returns the inode number of the pidfd of the process at the other end. `None` where the kernel
/// has no pidfds for sockets, or does not number them, or where the process is gone.
fn serial_of(socket: &impl AsFd) -> Result<Option<u64>, Error> {
    let mut descriptor: RawFd = -1;
    let mut length = size_of::<RawFd>() as libc::socklen_t;
    // SAFETY: the descriptor is open as long as `socket` is borrowed. The kernel writes at most
    // `length` bytes, which `descriptor` has. Any bytes are a valid number.
    let done = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERPIDFD,
            (&raw mut descriptor).cast(),
            &raw mut length,
        )
    };
    if done != 0 {
        let error = io::Error::last_os_error();
        // A shortage of resources is reported as an error. A serial number made from the process id
        // would differ from the pidfd's number, so one process would count as two.
        return match error.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM) => Err(Error::io("opening the peer's pidfd")(error)),
            _ => Ok(None),
        };
    }
    // SAFETY: the kernel has just made the descriptor for this process, and nothing else owns it.
    let process = unsafe { OwnedFd::from_raw_fd(descriptor) };
    Ok(number_of(&process))
}

/// Returns the inode number of a pidfd. `None` where the kernel does not number pidfds.
fn number_of(process: &impl AsFd) -> Option<u64> {
    let is_numbered = fstatfs(process).is_ok_and(|system| system.f_type as u32 == PIDFS);
    fstat(process).ok().filter(|_| is_numbered).map(|file| file.st_ino)
}

/// Returns the serial number of the process that a pidfd refers to, as a [`Peer::Process`] contains
/// it. `pid` is the id of the process. A later process with the same id has another serial number,
/// unless the kernel does not number processes.
pub fn serial_behind(process: &impl AsFd, pid: u32) -> u64 {
    number_of(process).unwrap_or_else(|| made_serial(pid, 0))
}

/// Returns the serial number of a process whose pidfd has no number. Processes without an id in
/// this PID namespace are told apart by their users.
fn made_serial(pid: u32, uid: u32) -> u64 {
    MADE | if pid == 0 { 1 << 62 | u64::from(uid) } else { u64::from(pid) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
    use rustix::process::{PidfdFlags, getpid, pidfd_open};

    #[test]
    fn made_serials_differ_between_processes_and_users() {
        let all = [made_serial(7, 1000), made_serial(8, 1000), made_serial(0, 0), made_serial(0, 7)];
        assert!((0..4).all(|at| !all[..at].contains(&all[at]) && all[at] & MADE != 0), "{all:x?}");
        assert_eq!(made_serial(7, 0), made_serial(7, 1000));
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn a_process_has_the_same_serial_on_all_of_its_sockets() {
        let own = || {
            let (one, _other) =
                socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
            local_process(&one).unwrap()
        };
        let Peer::Process { pid, serial, .. } = own() else { panic!("a local peer is a process") };
        assert_eq!((pid, own()), (std::process::id(), own()));
        assert_ne!(serial, 0);
        let process = pidfd_open(getpid(), PidfdFlags::empty()).unwrap();
        assert_eq!(serial_behind(&process, pid), serial);
    }
}
