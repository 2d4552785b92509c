//! A one-way TCP stream: the sender writes pieces one after the other, and the receiver reads
//! whatever arrives.
//!
//! A piece begins with a header of two words: the number of bytes that follow, and the number of
//! places that the receiver has for pieces. A header with the length [`END`] is not followed by a
//! piece. The receiver answers such a header with the number of pieces that it has received since
//! the previous header of this kind.

use super::sockets::{Tcp, Wire};
use crate::{Error, Exchange, Parent, ServerProcess, Watch, places};
use std::convert::Infallible;

/// The length that marks a header without a piece.
const END: u32 = u32::MAX;
const HEADER: usize = 8;
const PAGE: usize = 4096;
/// The minimum room for one read of the receiver in bytes, so that a read yields several small
/// pieces.
const TAKE_MIN: usize = 64 << 10;
/// The maximum length of a piece in bytes, and the maximum number of places. Only this program
/// itself connects, but a defect must not take all memory.
const PIECE_MAX: usize = 1 << 30;
const PLACES_MAX: usize = 1 << 16;

/// The sending side of the stream.
#[derive(Debug)]
pub(super) struct Streamed {
    wire: Wire<Tcp>,
    server: ServerProcess,
    // The pieces from `start` on, each after its header.
    source: Vec<u32>,
    start: usize,
    words: usize,
    next: usize,
    outstanding: u32,
}

impl Streamed {
    pub(super) fn new(wire: Wire<Tcp>, server: ServerProcess, bytes: usize, depth: u32) -> Result<Self, Error> {
        let count = places::count(bytes, depth);
        let source = source(bytes, count)?;
        let start = first_page(&source);
        Ok(Self { wire, server, source, start, words: (bytes + HEADER) / 4, next: start, outstanding: 0 })
    }
}

/// Returns the offset of the first page boundary in memory, in elements. Registered regions are
/// page-aligned, too, and alignment affects the time of copies considerably.
fn first_page<T>(memory: &[T]) -> usize {
    memory.as_ptr().align_offset(PAGE).min(PAGE / size_of::<T>())
}

/// Creates `count` pieces with their headers, from the first page on.
fn source(bytes: usize, count: usize) -> Result<Vec<u32>, Error> {
    if bytes == 0 || bytes > PIECE_MAX || !bytes.is_multiple_of(4) || count > PLACES_MAX {
        return Err(Error::Usage { message: format!("{bytes} bytes: pieces are multiples of 4, up to 1 GiB") });
    }
    let words = (bytes + HEADER) / 4 * count;
    let mut source = vec![0x5555_5555; PAGE / 4 + words];
    let start = first_page(&source);
    source.truncate(start + words);
    for piece in source[start..].chunks_mut((bytes + HEADER) / 4) {
        piece[..2].copy_from_slice(&[bytes as u32, count as u32]);
    }
    Ok(source)
}

impl Exchange for Streamed {
    #[inline]
    fn call(&mut self) -> Result<(), Error> {
        self.wire.send(&self.source[self.next..self.next + self.words], &mut self.server)?;
        self.outstanding += 1;
        self.next += self.words;
        if self.next == self.source.len() {
            self.next = self.start;
        }
        Ok(())
    }

    fn complete(&mut self) -> Result<(), Error> {
        let sent = std::mem::take(&mut self.outstanding);
        complete(&mut self.wire, sent, &mut self.server)
    }

    /// Checks nothing: the system guarantees the stream's contents, and each batch has checked its
    /// number of pieces.
    fn verify(&mut self, _calls: u32) -> Result<(), Error> {
        Ok(())
    }

    fn server(&mut self) -> Option<&mut ServerProcess> {
        Some(&mut self.server)
    }
}

/// Waits until the receiver has all pieces, and checks their number.
fn complete(wire: &mut Wire<Tcp>, sent: u32, watch: &mut impl Watch) -> Result<(), Error> {
    wire.send(&[END, 0], watch)?;
    let (mut answer, mut done) = ([0; 4], 0);
    while done < answer.len() {
        done += wire.receive_some(&mut answer[done..], watch)?;
    }
    let found = u32::from_ne_bytes(answer);
    if found == sent {
        return Ok(());
    }
    Err(Error::Corrupt { what: "the count of pieces", expected: sent.into(), found: found.into() })
}

/// Runs the receiving side until the client ends.
pub(super) fn serve(mut wire: Wire<Tcp>, mut parent: Parent) -> Result<Infallible, Error> {
    parent.ready()?;
    let mut sink = Sink::default();
    loop {
        sink.take(&mut wire, &mut parent)?;
    }
}

/// The state of the received stream.
#[derive(Debug, Default)]
struct Sink {
    room: Vec<u8>,
    // The offset in the room at which the next bytes are stored.
    at: usize,
    // The incomplete header, and the number of its received bytes.
    header: [u8; HEADER],
    header_done: usize,
    // The number of missing bytes of the current piece.
    left: usize,
    pieces: u32,
}

impl Sink {
    /// Processes the available bytes, and answers a request for the count.
    fn take(&mut self, wire: &mut Wire<Tcp>, watch: &mut impl Watch) -> Result<(), Error> {
        if self.room.len() < TAKE_MIN {
            self.room.resize(TAKE_MIN, 0);
        }
        if self.at == self.room.len() {
            self.at = first_page(&self.room);
        }
        let came = wire.receive_some(&mut self.room[self.at..], watch)?;
        let end = self.at + came;
        while self.at < end {
            if self.left > 0 {
                let now = self.left.min(end - self.at);
                (self.at, self.left) = (self.at + now, self.left - now);
                continue;
            }
            let now = (HEADER - self.header_done).min(end - self.at);
            let bytes = &self.room[self.at..self.at + now];
            self.header[self.header_done..self.header_done + now].copy_from_slice(bytes);
            (self.at, self.header_done) = (self.at + now, self.header_done + now);
            if self.header_done == HEADER {
                self.header_done = 0;
                self.begin_piece(wire, watch)?;
            }
        }
        Ok(())
    }

    fn begin_piece(&mut self, wire: &mut Wire<Tcp>, watch: &mut impl Watch) -> Result<(), Error> {
        let word = |at: usize| {
            let bytes = [self.header[at], self.header[at + 1], self.header[at + 2], self.header[at + 3]];
            u32::from_ne_bytes(bytes)
        };
        let (bytes, count) = (word(0), word(4) as usize);
        if bytes == END {
            return wire.send(&[std::mem::take(&mut self.pieces)], watch);
        }
        let bytes = bytes as usize;
        if bytes > PIECE_MAX || count > PLACES_MAX {
            let (expected, found) = (PIECE_MAX as u64, bytes as u64);
            return Err(Error::Corrupt { what: "the length of a piece", expected, found });
        }
        self.pieces = self.pieces.wrapping_add(1);
        self.left = bytes;
        let length = bytes.saturating_mul(count).saturating_add(PAGE);
        if length > self.room.len() {
            self.room.resize(length, 0);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Patient;

    /// Sends `sent` pieces to a sink, and checks that the sink has counted `counted` pieces.
    fn streamed(bytes: usize, sent: u32, counted: u32) -> Result<(), Error> {
        let (mut here, there) = Tcp::pair(false).unwrap();
        let receiver = std::thread::spawn(move || {
            let (mut wire, mut sink) = (Wire::of(there, false).unwrap(), Sink::default());
            // The loop ends when the sender closes its end.
            while sink.take(&mut wire, &mut Patient).is_ok() {}
        });
        let source = source(bytes, 3)?;
        for piece in source[first_page(&source)..].chunks((bytes + HEADER) / 4).cycle().take(sent as usize) {
            here.send(piece, &mut Patient).unwrap();
        }
        let outcome = complete(&mut here, counted, &mut Patient);
        drop(here);
        receiver.join().unwrap();
        outcome
    }

    #[test]
    fn pieces_of_any_size_are_counted() {
        for bytes in [4, 64, 8192, 3 << 20] {
            streamed(bytes, 10, 10).unwrap();
        }
        assert!(matches!(streamed(64, 9, 10), Err(Error::Corrupt { found: 9, .. })));
        assert!(source(0, 1).is_err() && source(6, 1).is_err());
    }
}
