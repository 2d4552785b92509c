//! Messages over sockets, with blocking or spinning system calls.
//!
//! A message is an array of words in native byte order, because both ends are on one machine. The
//! words are a sequence number, a count, and as many words of the array as the count says.

use crate::payload::{HEADER_WORDS, count_call};
use crate::{Error, Parent, Stalling, Watch, cable};
use std::convert::Infallible;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// The number of spinning system calls between two checks whether the other side has ended or
/// stalls.
const SPINS: u32 = 1 << 12;
/// The time between two checks whether the other side has ended or stalls, while a system call
/// blocks.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// The longest message that a server accepts, in words: 64 MiB, of which only the used part takes
/// memory.
const WORDS_MAX: usize = 1 << 24;

/// A kind of socket. Both operations may transfer only a part of the bytes.
pub(crate) trait Transport: Sized {
    fn of(fd: OwnedFd) -> Self;
    fn set_waiting(&self, spinning: bool) -> io::Result<()>;
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize>;
}

/// A Unix stream socket.
#[derive(Debug)]
pub(crate) struct Unix(UnixStream);

impl Unix {
    /// Creates the client's and the server's end.
    pub(crate) fn pair(spinning: bool) -> Result<(Wire<Self>, OwnedFd), Error> {
        let (here, there) = UnixStream::pair().map_err(Error::system("making a Unix socket"))?;
        Ok((Wire::of(here.into(), spinning)?, there.into()))
    }
}

impl Transport for Unix {
    fn of(fd: OwnedFd) -> Self {
        Self(fd.into())
    }

    fn set_waiting(&self, spinning: bool) -> io::Result<()> {
        self.0.set_nonblocking(spinning)?;
        self.0.set_read_timeout(Some(POLL_INTERVAL))?;
        self.0.set_write_timeout(Some(POLL_INTERVAL))
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self.0.read(room)? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            count => Ok(count),
        }
    }
}

/// UDP between both sides. Lost datagrams are not retransmitted: while only one datagram is
/// outstanding, none is dropped.
#[derive(Debug)]
pub(super) struct Udp(UdpSocket);

impl Udp {
    /// Creates the client's and the server's end.
    pub(crate) fn pair(spinning: bool) -> Result<(Wire<Self>, OwnedFd), Error> {
        let connected = || {
            let [client, server] = cable::link().addresses();
            let here = UdpSocket::bind((client, 0))?;
            let there = cable::at_server(|| UdpSocket::bind((server, 0)))?;
            here.connect(there.local_addr()?)?;
            there.connect(here.local_addr()?)?;
            Ok((here, there))
        };
        let (here, there) = connected().map_err(Error::system::<io::Error>("making UDP sockets"))?;
        Ok((Wire::of(here.into(), spinning)?, there.into()))
    }
}

impl Transport for Udp {
    fn of(fd: OwnedFd) -> Self {
        Self(fd.into())
    }

    fn set_waiting(&self, spinning: bool) -> io::Result<()> {
        self.0.set_nonblocking(spinning)?;
        self.0.set_read_timeout(Some(POLL_INTERVAL))?;
        self.0.set_write_timeout(Some(POLL_INTERVAL))
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send(bytes)
    }

    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.0.recv(room)
    }
}

/// TCP between both sides, with TCP_NODELAY. The system chooses the sizes of the buffers: fixed
/// sizes from 256 KiB to 4 MiB made streams no faster.
#[derive(Debug)]
pub(super) struct Tcp(TcpStream);

impl Tcp {
    /// Creates the client's and the server's end.
    pub(crate) fn pair(spinning: bool) -> Result<(Wire<Self>, OwnedFd), Error> {
        let connected = || {
            let [_, server] = cable::link().addresses();
            let listener = cable::at_server(|| TcpListener::bind((server, 0)))?;
            let here = TcpStream::connect(listener.local_addr()?)?;
            let own = here.local_addr()?;
            loop {
                let (there, peer) = listener.accept()?;
                // Any process on this host may connect, so the peer is checked. The call of
                // `accept` does not block, because this end's connection is queued already.
                if peer == own {
                    return Ok((here, there));
                }
            }
        };
        let (here, there) = connected().map_err(Error::system::<io::Error>("making TCP sockets"))?;
        Ok((Wire::of(here.into(), spinning)?, there.into()))
    }
}

impl Transport for Tcp {
    fn of(fd: OwnedFd) -> Self {
        Self(fd.into())
    }

    fn set_waiting(&self, spinning: bool) -> io::Result<()> {
        self.0.set_nodelay(true)?;
        self.0.set_nonblocking(spinning)?;
        self.0.set_read_timeout(Some(POLL_INTERVAL))?;
        self.0.set_write_timeout(Some(POLL_INTERVAL))
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self.0.read(room)? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            count => Ok(count),
        }
    }
}

/// One end of a socket that carries messages.
#[derive(Debug)]
pub(crate) struct Wire<T> {
    transport: T,
    spinning: bool,
}

impl<T: Transport> Wire<T> {
    /// Wraps a file descriptor.
    pub(crate) fn of(fd: OwnedFd, spinning: bool) -> Result<Self, Error> {
        let transport = T::of(fd);
        transport.set_waiting(spinning).map_err(Error::system("setting up a socket"))?;
        Ok(Self { transport, spinning })
    }

    /// Sends a whole message.
    pub(crate) fn send(&mut self, message: &[u32], watch: &mut impl Watch) -> Result<(), Error> {
        let bytes = bytes_of(message);
        let mut done = 0;
        while done < bytes.len() {
            done += self.persist(watch, |transport| transport.write(&bytes[done..]))?;
        }
        Ok(())
    }

    /// Receives a whole message into `room`, which has to be long enough. Returns the message's
    /// length in words.
    pub(crate) fn receive(&mut self, room: &mut [u32], watch: &mut impl Watch) -> Result<usize, Error> {
        let mut done = 0;
        loop {
            done += self.persist(watch, |transport| transport.read(&mut bytes_of_mut(room)[done..]))?;
            if done < HEADER_WORDS * 4 {
                continue;
            }
            let words = HEADER_WORDS + room[1] as usize;
            if words > room.len() {
                return Err(Error::Corrupt {
                    what: "the length of a message",
                    expected: room.len() as u64,
                    found: words as u64,
                });
            }
            if done >= words * 4 {
                return Ok(words);
            }
        }
    }

    /// Receives the available bytes, at least one. Returns their number.
    pub(super) fn receive_some(&mut self, room: &mut [u8], watch: &mut impl Watch) -> Result<usize, Error> {
        self.persist(watch, |transport| transport.read(room))
    }

    /// Repeats an operation until it has transferred at least one byte.
    fn persist(
        &mut self,
        watch: &mut impl Watch,
        mut operation: impl FnMut(&mut T) -> io::Result<usize>,
    ) -> Result<usize, Error> {
        let mut stalling = Stalling::default();
        let mut attempts = 0_u32;
        loop {
            match operation(&mut self.transport) {
                Ok(count) => return Ok(count),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    attempts = attempts.wrapping_add(1);
                    if !self.spinning || attempts.is_multiple_of(SPINS) {
                        stalling.check(watch)?;
                    }
                }
                Err(error) => {
                    // If the peer has ended, report its end, which explains the failure better.
                    watch.check()?;
                    return Err(Error::system("using a socket")(error));
                }
            }
        }
    }

    /// Answers until the client ends.
    pub(super) fn serve(mut self, mut parent: Parent) -> Result<Infallible, Error> {
        parent.ready()?;
        let mut room = vec![0; WORDS_MAX];
        loop {
            self.answer(&mut room, &mut parent)?;
        }
    }

    fn answer(&mut self, room: &mut [u32], watch: &mut impl Watch) -> Result<(), Error> {
        let words = self.receive(room, watch)?;
        if let Some(first) = room[..words].get_mut(HEADER_WORDS) {
            *first = count_call(*first);
        }
        self.send(&room[..words], watch)
    }
}

pub(crate) fn bytes_of(words: &[u32]) -> &[u8] {
    // SAFETY: the result borrows the same memory for the same time. Every byte of an initialized
    // u32 is an initialized u8, a u8 needs no alignment, and the size of an existing slice is
    // valid.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}

pub(crate) fn bytes_of_mut(words: &mut [u32]) -> &mut [u8] {
    // SAFETY: as in `bytes_of`, and any four bytes are a valid u32, so that all writes leave the
    // words valid.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Payload;
    use crate::server::Patient;

    fn calls_are_answered<T: Transport + Send + 'static>(here: Wire<T>, there: OwnedFd, bytes: usize) {
        let (mut here, spinning) = (here, false);
        let server = std::thread::spawn(move || {
            let mut there = Wire::<T>::of(there, spinning).unwrap();
            let mut room = vec![0; bytes / 4 + HEADER_WORDS];
            for _ in 0..5 {
                there.answer(&mut room, &mut Patient).unwrap();
            }
        });
        let mut payload = Payload::new(bytes).unwrap();
        for sequence in 1..=5 {
            let message = payload.framed_mut();
            message[0] = sequence;
            message[1] = (bytes / 4) as u32;
            here.send(message, &mut Patient).unwrap();
            let words = here.receive(message, &mut Patient).unwrap();
            assert_eq!((words, message[0]), (bytes / 4 + 2, sequence));
        }
        payload.verify(5).unwrap();
        server.join().unwrap();
    }

    #[test]
    fn socket_calls_are_answered_when_blocking_and_when_spinning() {
        for spinning in [false, true] {
            let (here, there) = Unix::pair(spinning).unwrap();
            calls_are_answered(here, there, 1 << 20);
            let (here, there) = Tcp::pair(spinning).unwrap();
            calls_are_answered(here, there, 1 << 20);
            let (here, there) = Udp::pair(spinning).unwrap();
            calls_are_answered(here, there, 8192);
        }
    }

    #[test]
    fn a_message_longer_than_the_room_is_refused() {
        let (mut here, there) = Unix::pair(false).unwrap();
        let mut there = Wire::<Unix>::of(there, false).unwrap();
        here.send(&[1, 1000, 5], &mut Patient).unwrap();
        let outcome = there.receive(&mut [0; 3], &mut Patient);
        assert!(matches!(outcome, Err(Error::Corrupt { found: 1002, .. })), "{outcome:?}");
    }
}
