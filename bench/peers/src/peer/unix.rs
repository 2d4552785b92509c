//! A Unix stream socket with a protocol of its own, without any framework: a method and a length,
//! and then as many words.

use super::{Connection, PATIENCE, Peer, Place, Ready, count, failed};
use obvia_bench::Error;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// The words of a message before its array: the method, and the length of the array in words.
const HEADER: usize = 2;
const NULL: u32 = 0;
const CALLS: u32 = 1;
const MOVE_DATA: u32 = 2;

pub(crate) struct Unix;

impl Peer for Unix {
    type Connection = Socket;

    fn serve(place: &Place, ready: Ready<'_>) -> Result<(), Error> {
        let listener = UnixListener::bind(&place.socket).map_err(Error::system("listening"))?;
        ready()?;
        let calls = Arc::new(AtomicU64::new(0));
        // A thread for each connection: it sleeps in the kernel until a request arrives.
        for stream in listener.incoming() {
            let mut socket = Socket::of(stream.map_err(Error::system("accepting a client"))?, place.bytes);
            let calls = calls.clone();
            // The thread ends with its connection.
            std::thread::spawn(move || while socket.answer(&calls).is_ok() {});
        }
        Ok(())
    }

    fn connect(place: &Place, _number: u32) -> Result<Self::Connection, Error> {
        let stream = UnixStream::connect(&place.socket).map_err(Error::system("connecting"))?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(Error::system("limiting waits"))?;
        Ok(Socket::of(stream, place.bytes))
    }
}

pub(crate) struct Socket {
    stream: UnixStream,
    /// A message, header first. A request and its response have the same room.
    message: Vec<u32>,
}

impl Socket {
    fn of(stream: UnixStream, bytes: usize) -> Self {
        // The response of `calls` has two words.
        Self { stream, message: vec![0; HEADER + (bytes / 4).max(2)] }
    }

    /// Sends the message with `words` words behind the header, in one system call if it fits.
    fn send(&mut self, method: u32, words: usize) -> io::Result<()> {
        self.message[0] = method;
        self.message[1] = words as u32;
        self.stream.write_all(bytemuck::cast_slice(&self.message[..HEADER + words]))
    }

    /// Receives a message. Returns its method and the number of its words.
    fn receive(&mut self) -> io::Result<(u32, usize)> {
        let mut done = 0;
        loop {
            let room: &mut [u8] = bytemuck::cast_slice_mut(&mut self.message);
            done += match self.stream.read(&mut room[done..]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let (method, words) = (self.message[0], self.message[1] as usize);
            if done >= HEADER * 4 && words > self.message.len() - HEADER {
                return Err(ErrorKind::InvalidData.into());
            }
            if done >= HEADER * 4 && done >= (HEADER + words) * 4 {
                return Ok((method, words));
            }
        }
    }

    fn answer(&mut self, calls: &AtomicU64) -> io::Result<()> {
        match self.receive()? {
            (NULL, _) => {
                calls.fetch_add(1, Relaxed);
                self.send(NULL, 0)
            }
            (CALLS, _) => {
                let calls = calls.load(Relaxed);
                self.message[HEADER..HEADER + 2].copy_from_slice(&[calls as u32, (calls >> 32) as u32]);
                self.send(CALLS, 2)
            }
            (method, words) => {
                count(&mut self.message[HEADER..HEADER + words]);
                self.send(method, words)
            }
        }
    }

    /// Makes a call. Checks the method and the length of its response.
    fn call(&mut self, method: u32, words: usize, expected: usize) -> Result<(), Error> {
        self.send(method, words).map_err(failed)?;
        let (answered, found) = self.receive().map_err(failed)?;
        if (answered, found) == (method, expected) {
            return Ok(());
        }
        Err(Error::Corrupt { what: "the length of a response", expected: expected as u64, found: found as u64 })
    }
}

impl Connection for Socket {
    fn null(&mut self) -> Result<(), Error> {
        self.call(NULL, 0, 0)
    }

    fn move_data(&mut self, words: &mut [u32]) -> Result<(), Error> {
        let array = HEADER..HEADER + words.len();
        self.message[array.clone()].copy_from_slice(words);
        self.call(MOVE_DATA, words.len(), words.len())?;
        words.copy_from_slice(&self.message[array]);
        Ok(())
    }

    fn calls(&mut self) -> Result<u64, Error> {
        self.call(CALLS, 0, 2)?;
        Ok(u64::from(self.message[HEADER]) | u64::from(self.message[HEADER + 1]) << 32)
    }
}
