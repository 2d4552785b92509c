//! Listening sockets: TCP sockets, and Unix sockets with names.

use crate::bell::await_events;
use crate::{Deadline, Error};
use rustix::event::{PollFd, PollFlags};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::SocketFlags;

/// Accepts a connection on a non-blocking listening socket. Fails with [`Error::TimedOut`] at the
/// deadline, and with [`Error::Cancelled`] after a shutdown of the socket.
pub(crate) fn accept(listener: &impl AsFd, deadline: Deadline) -> Result<OwnedFd, Error> {
    let deadline = deadline.start();
    loop {
        match rustix::net::accept_with(listener, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
            Ok(socket) => return Ok(socket),
            Err(Errno::INVAL) => return Err(Error::Cancelled),
            Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => {}
            Err(errno) => return Err(Error::system("accepting a connection")(errno)),
        }
        await_events(&mut [PollFd::new(listener, PollFlags::IN)], deadline)?;
    }
}
