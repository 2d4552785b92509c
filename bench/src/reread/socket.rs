//! The file server over a Unix stream socket.
//!
//! A message has the format of [`Wire`]: a sequence number, a count, and as many words as the count
//! says. A request has four words: the handle, the number of bytes, and the two halves of the
//! position. The answer contains the bytes that were read.

use super::Way;
use super::file::{Files, HANDLE};
use crate::payload::HEADER_WORDS;
use crate::raw::{Unix, Wire, bytes_of, bytes_of_mut};
use crate::{Error, Parent, ServerProcess, Watch};
use obvia::Elements;
use std::convert::Infallible;

/// The number of words in a request after the header.
const REQUEST_WORDS: usize = 4;

/// The client's side.
pub(super) struct Socket {
    wire: Wire<Unix>,
    server: ServerProcess,
    room: Vec<u32>,
    sequence: u32,
}

impl Socket {
    pub(super) fn new(wire: Wire<Unix>, server: ServerProcess, bytes: usize) -> Self {
        Self { wire, server, room: vec![0; HEADER_WORDS + bytes / 4], sequence: 0 }
    }
}

impl Way for Socket {
    #[inline]
    fn read<R>(&mut self, pos: usize, bytes: usize, look: impl FnOnce(Elements<'_, u8>) -> R) -> Result<R, Error> {
        self.sequence = self.sequence.wrapping_add(1);
        Ok(look(ask(&mut self.wire, &mut self.room, self.sequence, (pos, bytes), &mut self.server)?.into()))
    }

    fn server(&mut self) -> Option<&mut ServerProcess> {
        Some(&mut self.server)
    }
}

/// Reads `bytes` bytes at the position `pos` into `room`, which has to be long enough.
fn ask<'a>(
    wire: &mut Wire<Unix>,
    room: &'a mut [u32],
    sequence: u32,
    (pos, bytes): (usize, usize),
    server: &mut impl Watch,
) -> Result<&'a [u8], Error> {
    let pos = pos as u64;
    let (low, high) = (pos as u32, (pos >> 32) as u32);
    wire.send(&[sequence, REQUEST_WORDS as u32, HANDLE as u32, bytes as u32, low, high], server)?;
    let words = wire.receive(room, server)?;
    if room[0] != sequence {
        let (expected, found) = (sequence.into(), room[0].into());
        return Err(Error::Corrupt { what: "the sequence of an answer", expected, found });
    }
    Ok(bytes_of(&room[HEADER_WORDS..words]))
}

/// Answers until the client ends.
pub(super) fn serve(
    files: &Files,
    mut wire: Wire<Unix>,
    bytes_max: usize,
    mut parent: Parent,
) -> Result<Infallible, Error> {
    let mut room = vec![0; HEADER_WORDS + (bytes_max / 4).max(REQUEST_WORDS)];
    parent.ready()?;
    loop {
        answer(files, &mut wire, &mut room, &mut parent)?;
    }
}

fn answer(files: &Files, wire: &mut Wire<Unix>, room: &mut [u32], client: &mut impl Watch) -> Result<(), Error> {
    let words = wire.receive(&mut room[..HEADER_WORDS + REQUEST_WORDS], client)?;
    let [_, _, handle, bytes, low, high] = room[..words] else {
        let (expected, found) = (REQUEST_WORDS as u64, (words - HEADER_WORDS) as u64);
        return Err(Error::Corrupt { what: "the length of a request", expected, found });
    };
    let pos = (u64::from(high) << 32 | u64::from(low)) as i64;
    let data = bytes_of_mut(&mut room[HEADER_WORDS..]);
    let (expected, found) = (data.len() as u64, bytes.into());
    let data = data.get_mut(..bytes as usize).ok_or(Error::Corrupt { what: "bytes asked for", expected, found })?;
    let done = files.read(handle as i32, pos, data.into()).map_err(Error::system("reading the file"))?;
    // Blocks and file consist of whole words.
    room[1] = (done / 4) as u32;
    wire.send(&room[..HEADER_WORDS + done / 4], client)
}

#[cfg(test)]
mod tests {
    use super::super::file::{Source, check_all};
    use super::*;
    use crate::server::Patient;

    #[test]
    fn blocks_arrive_over_the_socket_and_overlong_ones_are_refused() {
        let source = Source::create(10_000).unwrap();
        let files = Files::open(source.path()).unwrap();
        let (mut wire, there) = Unix::pair(false).unwrap();
        let server = std::thread::spawn(move || {
            let mut wire = Wire::of(there, false).unwrap();
            let mut room = vec![0; HEADER_WORDS + 1024];
            (0..4).try_for_each(|_| answer(&files, &mut wire, &mut room, &mut Patient))
        });
        let mut room = vec![0; HEADER_WORDS + 1024];
        for (sequence, pos, bytes) in [(1, 0, 4096), (2, 4096, 4096), (3, 8192, 10_000 - 8192)] {
            let data = ask(&mut wire, &mut room, sequence, (pos, 4096), &mut Patient).unwrap();
            check_all(&data.into(), pos, bytes).unwrap();
        }
        assert!(ask(&mut wire, &mut room, 4, (0, 4100), &mut Patient).is_err());
        let outcome = server.join().unwrap();
        assert!(matches!(outcome, Err(Error::Corrupt { expected: 4096, found: 4100, .. })), "{outcome:?}");
    }
}
