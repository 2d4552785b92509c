//! The predicted packet, recognized by comparing words: an RDMA write of one part with immediate
//! data, whose sender misses no packet.

use super::{Action, DATA, DATA_HEADER, IMMEDIATE, LAST, PLACE, PLACED, VERSION, seal};
use crate::memory::MemoryHandle;
use crate::reliable::crc::crc32c;
use crate::{Descriptor, RemoteAddress};

/// The number of bytes before the payload of an RDMA write's first part.
pub(in crate::reliable) const WRITE_HEADER: usize = DATA_HEADER + PLACE;
/// The number of words behind the checksum in the header of an RDMA write's first part.
const WRITE_WORDS: usize = (WRITE_HEADER - 4) / 8;
const _: () = assert!(4 + WRITE_WORDS * 8 == WRITE_HEADER);

/// The fields that a predicted packet must have.
#[derive(Clone, Copy, Debug)]
pub(in crate::reliable) struct Expected {
    /// The receiver's connection id.
    pub(in crate::reliable) to: u64,
    /// The packet's number.
    pub(in crate::reliable) number: u32,
    /// The acknowledgement.
    pub(in crate::reliable) ack: u32,
    /// The operation's number.
    pub(in crate::reliable) operation: u32,
}

/// The fields in which predicted packets may differ.
#[derive(Clone, Copy, Debug)]
pub(in crate::reliable) struct ExpectedWrite {
    pub(in crate::reliable) window: u32,
    pub(in crate::reliable) immediate: u32,
    pub(in crate::reliable) place: RemoteAddress,
}

impl Expected {
    /// Returns the first words behind the checksum, up to the acknowledgement. The selective
    /// acknowledgement, which is zero, follows.
    #[inline]
    fn words(self) -> [u64; 3] {
        let kind = u32::from_le_bytes([VERSION, DATA, Action::Write as u8, LAST | IMMEDIATE | PLACED]);
        [u64::from(kind) | self.to << 32, self.to >> 32 | u64::from(self.number) << 32, u64::from(self.ack)]
    }

    /// Reads a packet that matches the prediction. Such a packet passes all checks of
    /// [`super::parse`]. Returns `None` for any other datagram, which may still be a valid packet.
    #[inline]
    pub(in crate::reliable) fn parse(self, bytes: &[u8]) -> Option<(ExpectedWrite, &[u8])> {
        let (header, payload) = bytes.split_first_chunk::<WRITE_HEADER>()?;
        let (sum, words) = header.split_first_chunk::<4>()?;
        let (words, _) = words.as_chunks::<8>();
        let words: &[[u8; 8]; WRITE_WORDS] = words.try_into().ok()?;
        let [first, second, third, window, operation, total, handle @ .., offset] = words.map(u64::from_le_bytes);
        let is_it = [first, second, third] == self.words()
            && window as u32 == 0
            && operation == u64::from(self.operation)
            && u64::from(total as u32) == payload.len() as u64;
        if !is_it || u32::from_le_bytes(*sum) != crc32c(&bytes[4..]) {
            return None;
        }
        let place = RemoteAddress { handle: MemoryHandle(handle), offset };
        Some((ExpectedWrite { window: (window >> 32) as u32, immediate: (total >> 32) as u32, place }, payload))
    }

    /// Writes this packet for an RDMA write that fills `into`. `None` when the descriptor has no
    /// immediate data, or another length.
    #[inline]
    pub(in crate::reliable) fn put(self, into: &mut [u8], window: u32, descriptor: &Descriptor) -> Option<()> {
        let (place, immediate) = (descriptor.remote()?, descriptor.immediate()?);
        let (header, payload) = into.split_first_chunk_mut::<WRITE_HEADER>()?;
        let [first, second, third] = self.words();
        let words: [u64; WRITE_WORDS] = [
            first,
            second,
            third,
            u64::from(window) << 32,
            u64::from(self.operation),
            payload.len() as u64 | u64::from(immediate) << 32,
            place.handle.0[0],
            place.handle.0[1],
            place.offset,
        ];
        for (bytes, word) in header[4..].as_chunks_mut().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
        descriptor.gather(0, payload)?;
        seal(into);
        Some(())
    }
}
