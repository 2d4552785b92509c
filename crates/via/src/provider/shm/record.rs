//! The layout of a VI's segment, and the forms of its records: offsets, sizes and words.
//!
//! One segment carries one direction, and only its owner can write it, as with windows
//! ([`crate::layout`]).
//!
//! ```text
//!      0  sleep word: 0 when the owner is awake, else the number of its sleep          (u32)
//!    128  acknowledgements: u64 records taken; u64 answers to RDMA (count << 8 | code);
//!         u32 state of the connection as the owner sees it; u32 regions opened to the peer so far
//!    256  unused, as is the rest of the page up to the ring
//!   4096  ring: slots of 128 bytes
//!         area: what does not fit a slot
//! ```
//!
//! A slot:
//!
//! ```text
//!      0  u32  number of the record, from 1, stored last, with release
//!      4  u8   kind
//!      5  u8   bit 0: immediate data; bit 1: the bytes lie in the area
//!      6  u16  zero
//!      8  u32  length of the whole message or RDMA
//!     12  u32  immediate data
//!     16  u32  bytes that come with this record
//!     20  u32  offset of these bytes in the area, if they lie there
//!     24  u64, u64, u64  RDMA only: the region's handle, and the offset in it
//!     24 or 48: the bytes, if they are in line
//! ```

use crate::RemoteAddress;
use crate::memory::MemoryHandle;
use crate::spi::Refusal;

/// The offset of the owner's sleep word.
pub(super) const SLEEP: usize = 0;
/// The offset of the count of records that the owner has taken.
pub(super) const TAKEN: usize = 128;
/// The offset of the owner's answers to RDMA.
pub(super) const ANSWERS: usize = 136;
/// The offset of the connection's state.
pub(super) const STATE: usize = 144;
/// The offset of the count of regions that the owner opened to its peer.
pub(super) const OPENED: usize = 148;
/// The offset of the ring.
pub(super) const RING: usize = 4096;
/// The size of a slot, in bytes.
pub(super) const SLOT: usize = 128;
/// The alignment of pieces in the area, in bytes: a cache line.
pub(super) const ALIGN: usize = 64;
/// The maximum number of slots of a ring.
pub(super) const SLOTS_MAX: u32 = 4096;
/// The maximum size of an area, in bytes.
pub(super) const AREA_MAX: usize = 64 << 20;

/// Returns the length of a segment, in bytes.
pub(super) const fn segment_length(slots: u32, area: usize) -> usize {
    RING + slots as usize * SLOT + area
}

const _: () = {
    assert!(RING.is_multiple_of(SLOT) && SLOT.is_multiple_of(ALIGN));
    assert!(OPENED + 4 <= RING);
};

/// The state of the connection, as one side tells the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ConnectionState(pub(super) u32);

impl ConnectionState {
    /// The connection is open.
    pub(super) const OPEN: Self = Self(0);
    /// The local side disconnected.
    pub(super) const CLOSED: Self = Self(1);
    /// A message of the peer found no receive descriptor.
    pub(super) const NOT_READY: Self = Self(2);
    /// A message of the peer was longer than the receive descriptor for it.
    pub(super) const TOO_LONG: Self = Self(3);
    /// An RDMA of the peer was not allowed.
    pub(super) const PROTECTION: Self = Self(4);
    /// The peer broke the rules.
    pub(super) const VIOLATION: Self = Self(5);

    pub(super) fn refused(why: Refusal) -> Self {
        match why {
            Refusal::ReceiverNotReady => Self::NOT_READY,
            Refusal::TooLong => Self::TOO_LONG,
            Refusal::Protection => Self::PROTECTION,
        }
    }
}

/// The outcome of an RDMA, in the low byte of [`ANSWERS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer(pub(super) u8);

impl Answer {
    /// The RDMA was performed.
    pub(super) const DONE: Self = Self(0);
    /// The region does not allow the RDMA.
    pub(super) const PROTECTION: Self = Self(1);
}

/// The kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// A message, or its beginning.
    Send = 1,
    /// An RDMA write, or its beginning.
    Write = 2,
    /// A request for an RDMA read.
    Read = 3,
    /// The next bytes of the message or RDMA write that has begun.
    More = 4,
    /// Bytes of the answer to an RDMA read of the peer.
    Data = 5,
    /// The immediate data of an RDMA write that its initiator performed itself.
    Landed = 6,
    /// A message in regions that are lent to the peer. The record holds references to its bytes.
    Lent = 7,
    /// The withdrawal of a lent region. The record names the region.
    Withdrawn = 8,
}

impl Kind {
    fn from_wire(byte: u8) -> Option<Self> {
        Some(match byte {
            1 => Self::Send,
            2 => Self::Write,
            3 => Self::Read,
            4 => Self::More,
            5 => Self::Data,
            6 => Self::Landed,
            7 => Self::Lent,
            8 => Self::Withdrawn,
            _ => return None,
        })
    }

    /// Whether a record of this kind names a position in the peer's memory.
    pub(super) fn has_place(self) -> bool {
        matches!(self, Self::Write | Self::Read)
    }

    /// Returns the offset of the inline bytes in the slot.
    pub(super) fn line_start(self) -> usize {
        if self.has_place() { 48 } else { 24 }
    }

    /// Returns the maximum number of inline bytes.
    pub(super) fn line_max(self) -> usize {
        SLOT - self.line_start()
    }
}

/// The words of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) kind: Kind,
    pub(super) immediate: Option<u32>,
    /// The length of the whole message or RDMA, in bytes.
    pub(super) whole: u32,
    /// The number of bytes that come with this record.
    pub(super) piece: u32,
    /// The offset of the bytes in the area; `None` for inline bytes.
    pub(super) area: Option<u32>,
    /// The position in the peer's memory; zero if the kind has none.
    pub(super) place: RemoteAddress,
}

/// The value of `place` in records that name no position in the peer's memory.
pub(super) const NOWHERE: RemoteAddress = RemoteAddress { handle: MemoryHandle([0; 2]), offset: 0 };

impl Record {
    /// Returns the words of the record with this number, the first word first.
    pub(super) fn to_words(self, number: u32) -> [u64; 6] {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let flags = u32::from(self.immediate.is_some()) | u32::from(self.area.is_some()) << 1;
        [
            pair(number, self.kind as u32 | flags << 8),
            pair(self.whole, self.immediate.unwrap_or(0)),
            pair(self.piece, self.area.unwrap_or(0)),
            self.place.handle.0[0],
            self.place.handle.0[1],
            self.place.offset,
        ]
    }

    /// Makes a record from words of the peer, each loaded once. `None` when the words contradict
    /// each other. The caller has to check whether the piece lies inside the peer's area, and
    /// whether a record of this kind may come at this point.
    pub(super) fn from_words(words: [u64; 6]) -> Option<Self> {
        let high = (words[0] >> 32) as u32;
        let (kind, flags) = (Kind::from_wire(high as u8)?, high >> 8);
        let (whole, immediate) = (words[1] as u32, (words[1] >> 32) as u32);
        let (piece, area) = (words[2] as u32, (words[2] >> 32) as u32);
        let has_immediate = flags & 1 != 0;
        let in_area = flags & 2 != 0;
        let may_have_immediate = matches!(kind, Kind::Send | Kind::Write | Kind::Landed | Kind::Lent);
        let has_bytes = !matches!(kind, Kind::Read | Kind::Landed);
        if flags > 3
            || (has_immediate && !may_have_immediate)
            || (kind == Kind::Landed && !has_immediate)
            || piece > whole
            || (!in_area && piece as usize > kind.line_max())
            || (!has_bytes && (piece > 0 || in_area))
            || (in_area && matches!(kind, Kind::Lent | Kind::Withdrawn))
            || (has_bytes && piece == 0 && (whole > 0 || matches!(kind, Kind::More)))
        {
            return None;
        }
        let place = if kind.has_place() {
            RemoteAddress { handle: MemoryHandle([words[3], words[4]]), offset: words[5] }
        } else {
            NOWHERE
        };
        let immediate = has_immediate.then_some(immediate);
        Some(Self { kind, immediate, whole, piece, area: in_area.then_some(area), place })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEND: Record =
        Record { kind: Kind::Send, immediate: Some(7), whole: 100, piece: 100, area: None, place: NOWHERE };

    #[test]
    fn records_round_trip() {
        let place = RemoteAddress { handle: MemoryHandle([1, u64::MAX]), offset: 3 };
        let write = Record { kind: Kind::Write, whole: 1 << 20, piece: 4096, area: Some(64), place, ..SEND };
        let read = Record { kind: Kind::Read, immediate: None, piece: 0, area: None, ..write };
        let nothing = Record { whole: 0, piece: 0, ..SEND };
        for record in [SEND, write, read, nothing] {
            assert_eq!(Record::from_words(record.to_words(9)), Some(record));
        }
    }

    #[test]
    fn records_with_contradictory_fields_are_refused() {
        let bad = [
            Record { piece: 101, ..SEND },
            Record { whole: 1000, piece: 105, ..SEND },
            Record { piece: 0, ..SEND },
            Record { kind: Kind::More, immediate: None, whole: 0, piece: 0, ..SEND },
            Record { kind: Kind::More, ..SEND },
            Record { kind: Kind::Data, ..SEND },
            Record { kind: Kind::Landed, ..SEND },
            Record { kind: Kind::Landed, immediate: None, piece: 0, ..SEND },
            Record { kind: Kind::Read, immediate: None, piece: 0, area: Some(0), ..SEND },
            Record { kind: Kind::Write, ..SEND },
        ];
        for record in bad {
            assert_eq!(Record::from_words(record.to_words(1)), None, "{record:?}");
        }
        let good = SEND.to_words(1);
        for kind in [0, 9, 255] {
            let mut words = good;
            words[0] = words[0] & !(0xff << 32) | kind << 32;
            assert_eq!(Record::from_words(words), None, "kind {kind}");
        }
        for bit in 42..64 {
            let mut words = good;
            words[0] |= 1 << bit;
            assert_eq!(Record::from_words(words), None, "bit {bit}");
        }
    }
}
