//! Bulk data over a TCP connection of the kernel.

use super::line::{ADDRESSES, Line};
use super::state::{LOOK, PATIENCE, State};
use crate::Error;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};

/// The length of a write and of a read, in bytes.
const PIECE: usize = 64 << 10;

/// Connects the line's hosts. Returns the client's and the server's end.
pub(super) fn connect(line: &Line) -> Result<(TcpStream, TcpStream), Error> {
    let entering = "entering a network namespace";
    let [_, server] = ADDRESSES;
    let listener = line.server.run(|| TcpListener::bind((server, 0))).map_err(Error::system(entering))?;
    let listener = listener.map_err(Error::system("listening"))?;
    let address = listener.local_addr().map_err(Error::system("reading a socket's address"))?;
    let client = line.client.run(|| TcpStream::connect_timeout(&address, PATIENCE)).map_err(Error::system(entering))?;
    let client = client.map_err(Error::system("connecting by TCP"))?;
    // The kernel's default may be another algorithm.
    sockopt::set_tcp_congestion(&client, "cubic").map_err(Error::system("choosing CUBIC for a TCP socket"))?;
    // The wait is limited, because the last packet of the handshake may be lost.
    let limit = Timespec { tv_sec: PATIENCE.as_secs().cast_signed(), tv_nsec: 0 };
    let arrived = poll(&mut [PollFd::new(&listener, PollFlags::IN)], Some(&limit));
    if arrived.map_err(Error::system("waiting for a TCP connection"))? == 0 {
        return Err(Error::Stalled { after: PATIENCE });
    }
    let (server, _) = listener.accept().map_err(Error::system("accepting a TCP connection"))?;
    let limited = client.set_write_timeout(Some(LOOK)).and_then(|()| server.set_read_timeout(Some(LOOK)));
    limited.map_err(Error::system("setting the time limit of a socket"))?;
    Ok((client, server))
}

/// Sends until the flow ends.
pub(super) fn send(mut client: TcpStream, state: &State) -> Result<(), Error> {
    let piece = vec![0; PIECE];
    while !state.has_ended() {
        unless_timed_out(client.write(&piece)).map_err(Error::system("sending by TCP"))?;
    }
    Ok(())
}

/// Receives until the flow ends.
pub(super) fn receive(mut server: TcpStream, state: &State) -> Result<(), Error> {
    let mut piece = vec![0; PIECE];
    while !state.has_ended() {
        let length = unless_timed_out(server.read(&mut piece)).map_err(Error::system("receiving by TCP"))?;
        state.received(length as u64);
    }
    Ok(())
}

/// Returns 0 bytes for a system call that reached its time limit or was interrupted.
fn unless_timed_out(outcome: std::io::Result<usize>) -> std::io::Result<usize> {
    match outcome {
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(0),
        outcome => outcome,
    }
}
