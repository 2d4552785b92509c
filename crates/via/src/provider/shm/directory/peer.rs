//! The process at the other end of a Unix socket.

use super::place::is_trusted;
use crate::Error;
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use std::io;
use std::mem::size_of;

/// Refuses a peer of another user. The superuser's processes may connect to those of every user.
/// The reverse is not implied: the directory's mode decides it.
pub(crate) fn check_peer(socket: &OwnedFd) -> Result<(), Error> {
    let (_, uid) = local_peer(socket)?;
    if is_trusted(uid) { Ok(()) } else { Err(Error::AccessDenied { uid }) }
}

/// Returns the process and the user at the other end of a Unix socket, as the kernel recorded them
/// at connect. The process is 0 when it has no number here, because it is in another PID name
/// space, such as that of another container.
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
