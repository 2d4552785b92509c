//! The introduction of two virtual interfaces with descriptors: a request with an offer and a
//! segment, and its answer.
//!
//! ```text
//!      0  u32  "OVI2"
//!      4  u32  version, 1
//!      8  u8   1: request, 2: acceptance, 3: rejection
//!      9  u8, u16  zero
//!     12  u32  slots of the ring; zero in a rejection
//!     16  u32  bytes of the area; zero in a rejection
//!     20  u32  bytes of the table of registrations; zero in a rejection
//!     24       the offer (see `Offer`); in a rejection, its reason in UTF-8
//! ```
//!
//! Two files accompany each request and each acceptance: the segment and the table.

use super::mapping::{self, Mapping};
use super::packet::{self, Received, Sent};
use super::ring::Shape;
use super::table::{self, Table};
use crate::spi::Offer;
use crate::{Error, Violation};
use rustix::fd::{AsFd, OwnedFd};

/// The first word of a packet: "OVI2", little endian.
const MAGIC: u32 = 0x3249_564f;
const VERSION: u32 = 1;
const FIXED: usize = 24;
/// The length in bytes of the longest packet: the fixed part and an offer with the most private
/// data.
const LENGTH_MAX: usize = FIXED + 8 + Offer::PRIVATE_MAX;
/// The maximum number of bytes in the reason of a rejection.
const REASON_MAX: usize = 256;

/// The kind of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Step {
    Request = 1,
    Acceptance = 2,
    Rejection = 3,
}

/// A peer's introduction: its offer, and mappings of its memory.
#[derive(Debug)]
pub(super) struct Introduction {
    pub(super) offer: Offer,
    pub(super) segment: Mapping,
    pub(super) shape: Shape,
    pub(super) table: Mapping,
}

/// The result of reading the socket.
#[derive(Debug)]
pub(super) enum HelloResult {
    Nothing,
    End,
    Introduction(Box<Introduction>),
    Rejection(String),
}

fn head(step: Step, slots: u32, area: u32, table: u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(LENGTH_MAX);
    for word in [MAGIC, VERSION, step as u32, slots, area, table] {
        bytes.extend(word.to_le_bytes());
    }
    bytes
}

/// Sends this side's introduction.
pub(super) fn introduce(
    socket: &OwnedFd,
    step: Step,
    offer: &Offer,
    shape: Shape,
    segment: &OwnedFd,
    table: &Table,
) -> Result<Sent, Error> {
    // Areas and tables are limited to far fewer than 2^32 bytes.
    let mut bytes = head(step, shape.slots, shape.area as u32, table::LENGTH as u32);
    bytes.extend(offer.to_bytes());
    packet::send(socket, &bytes, &[segment.as_fd(), table.file()])
}

/// Rejects a peer. A failed send does not matter: the peer may have stopped listening.
pub(super) fn reject(socket: &OwnedFd, why: &str) {
    let mut bytes = head(Step::Rejection, 0, 0, 0);
    let mut end = why.len().min(REASON_MAX);
    while !why.is_char_boundary(end) {
        end -= 1;
    }
    bytes.extend(&why.as_bytes()[..end]);
    let _ = packet::send(socket, &bytes, &[]);
}

/// Reads the peer's next packet, which has to be of the kind `wanted` or a rejection.
pub(super) fn receive(socket: &OwnedFd, wanted: Step) -> Result<HelloResult, Error> {
    let mut bytes = [0; LENGTH_MAX];
    let (length, files) = match packet::receive(socket, &mut bytes)? {
        Received::Nothing => return Ok(HelloResult::Nothing),
        Received::End => return Ok(HelloResult::End),
        Received::Unfit => return Err(Violation::BadGreeting.into()),
        Received::Packet(length, files) => (length, files),
    };
    let (head, rest) = bytes[..length].split_at_checked(FIXED).ok_or(Violation::BadGreeting)?;
    let word = |index: usize| {
        let mut four = [0; 4];
        four.copy_from_slice(&head[index * 4..index * 4 + 4]);
        u32::from_le_bytes(four)
    };
    if word(0) != MAGIC || word(1) != VERSION {
        return Err(Violation::BadGreeting.into());
    }
    if word(2) == Step::Rejection as u32 && wanted == Step::Acceptance {
        return Ok(HelloResult::Rejection(String::from_utf8_lossy(rest).into_owned()));
    }
    let shape = Shape { slots: word(3), area: word(4) as usize };
    let table_length = word(5) as usize;
    if word(2) != wanted as u32 || !shape.is_possible() || !table::is_possible(table_length) {
        return Err(Violation::BadGreeting.into());
    }
    let offer = Offer::from_bytes(rest).ok_or(Violation::BadGreeting)?;
    let [segment, table]: [OwnedFd; 2] = files.try_into().map_err(|_| Violation::NoSegment)?;
    let segment = mapping::open(&segment, shape.length())?;
    let table = mapping::open(&table, table_length)?;
    Ok(HelloResult::Introduction(Box::new(Introduction { offer, segment, shape, table })))
}
