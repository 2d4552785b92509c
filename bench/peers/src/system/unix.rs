//! A Unix stream socket with a protocol of its own, without any framework. A message is a method, a
//! number of words, and the words.

use super::{Connection, Place, Ready, System, count, failed};
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

impl System for Unix {
    type Connection = Socket;

    fn serve(place: &Place, ready: Ready<'_>) -> Result<(), Error> {
        let listener = UnixListener::bind(&place.socket).map_err(Error::system("listening"))?;
        ready()?;
        let calls = Arc::new(AtomicU64::new(0));
        // Each connection has a thread, which sleeps in the kernel until a request arrives.
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
        Ok(Socket::of(stream, place.bytes))
    }
}

pub(crate) struct Socket {
    stream: UnixStream,
    /// The buffer of a message, header first. A request and its response use the same buffer.
    message: Vec<u32>,
}

impl Socket {
    fn of(stream: UnixStream, bytes: usize) -> Self {
        // The response of `calls` has two words.
        Self { stream, message: vec![0; HEADER + (bytes / 4).max(2)] }
    }

    /// Sends the message with `words` words after the header.
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
        let (method, words) = self.receive()?;
        if method == CALLS {
            let calls = calls.load(Relaxed);
            self.message[HEADER..HEADER + 2].copy_from_slice(&[calls as u32, (calls >> 32) as u32]);
            return self.send(CALLS, 2);
        }
        calls.fetch_add(1, Relaxed);
        count(&mut self.message[HEADER..HEADER + words]);
        self.send(method, words)
    }

    /// Makes a call. Checks the method and the length of its response.
    fn call(&mut self, method: u32, words: usize, expected: usize) -> Result<(), Error> {
        self.send(method, words).map_err(failed)?;
        let (answered, found) = self.receive().map_err(failed)?;
        let compare = |what, expected, found| {
            if expected == found { Ok(()) } else { Err(Error::Corrupt { what, expected, found }) }
        };
        compare("the method of a response", method.into(), answered.into())?;
        compare("the length of a response", expected as u64, found as u64)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(bytes: usize) -> (Socket, UnixStream) {
        let (own, other) = UnixStream::pair().unwrap();
        (Socket::of(own, bytes), other)
    }

    fn write(other: &mut UnixStream, words: &[u32]) {
        other.write_all(bytemuck::cast_slice(words)).unwrap();
    }

    #[test]
    fn messages_arrive_in_any_pieces() {
        let (mut socket, mut other) = pair(16);
        let message = [MOVE_DATA, 3, 7, 8, 9];
        let bytes: &[u8] = bytemuck::cast_slice(&message);
        std::thread::scope(|scope| {
            scope.spawn(|| bytes.chunks(3).for_each(|piece| other.write_all(piece).unwrap()));
            assert_eq!(socket.receive().unwrap(), (MOVE_DATA, 3));
        });
        assert_eq!(socket.message[HEADER..HEADER + 3], [7, 8, 9]);
    }

    #[test]
    fn messages_longer_than_the_array_are_refused() {
        let (mut socket, mut other) = pair(16);
        write(&mut other, &[MOVE_DATA, 5]);
        assert_eq!(socket.receive().unwrap_err().kind(), ErrorKind::InvalidData);
        drop(other);
    }

    #[test]
    fn responses_of_another_method_or_length_are_refused() {
        for (response, what) in [
            (&[CALLS, 0][..], "wrong answer: the method of a response is 1, expected 0"),
            (&[NULL, 1, 0], "wrong answer: the length of a response is 1, expected 0"),
        ] {
            let (mut socket, mut other) = pair(0);
            write(&mut other, response);
            assert_eq!(socket.null().unwrap_err().to_string(), what);
        }
    }

    #[test]
    fn a_server_increments_the_first_word_and_counts_calls() {
        let (mut socket, other) = pair(8);
        let (mut server, calls) = (Socket::of(other, 8), AtomicU64::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| (0..3).for_each(|_| server.answer(&calls).unwrap()));
            let mut words = [1, 2];
            socket.move_data(&mut words).unwrap();
            assert_eq!(words, [2, 2]);
            socket.null().unwrap();
            assert_eq!(socket.calls().unwrap(), 2);
        });
    }
}
