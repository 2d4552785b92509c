//! The layout of a shared segment: offsets and sizes, without the algorithms.
//!
//! One segment carries one direction. Only its owner maps it writable: the segment is sealed
//! against further writable mappings before the peer sees it. The peer maps it read-only.
//!
//! ```text
//!      0  sleep flag: 1 while the owner sleeps, or is about to; 2 while it has to be called over
//!         the socket                                        (u32)
//!    128  bell: counts the owner's wake-ups of its peer     (u32, the word the peer sleeps on)
//!    256  consumed: messages the owner has taken            (u32, credit for the peer)
//!    384  mark: identifies the segment to a process that opens it by name (u64)
//!    512  16 slots of 128 bytes
//!   4096  area 0: frames that do not fit a slot
//! ```
//!
//! A slot:
//!
//! ```text
//!      0  u32  sequence number of the message, stored last, with release
//!      4  u16  opnum
//!      6  u8   kind
//!      7  u8   bytes of the frame in line (0 to 112), or 255: the frame lies in an area
//!      8  u32  request: index of the target; response: status
//!     12  u32  request: generation of the target; response: call id
//!     16       frame, 112 bytes; or u32 area, u32 offset, u32 length
//! ```
//!
//! Sequence numbers start at 1 and count by one; message `n` goes to slot `n % 16`. A slot's first
//! word holds only sequence numbers, so no payload can be mistaken for a message. The header and
//! the first 48 bytes of arguments share one cache line: a null call moves one line each way. Slots
//! are 128 bytes apart because prefetchers fetch lines in pairs.

/// The offset of the owner's sleep flag.
pub const SLEEP: usize = 0;
/// The offset of the owner's bell.
pub const BELL: usize = 128;
/// The offset of the owner's count of consumed messages.
pub const CONSUMED: usize = 256;
/// The offset of the mark.
pub const MARK: usize = 384;
/// The offset of slot 0.
pub const SLOTS: usize = 512;
/// The distance between two slots, in bytes.
pub const SLOT_SIZE: usize = 128;
/// The number of slots in a segment; a power of two.
pub const SLOT_COUNT: u32 = 16;
/// The offset of the frame in a slot.
pub const SLOT_FRAME: usize = 16;
/// The maximum length of an inline frame, in bytes.
pub const INLINE_MAX: usize = SLOT_SIZE - SLOT_FRAME;
/// The length byte of a slot whose frame lies in an area.
pub const IN_AREA: u8 = 255;
/// The offset of area 0.
pub const AREA: usize = 4096;
/// The alignment of frames in an area, in bytes.
pub const AREA_ALIGN: usize = 8;
/// The size of a cache line, in bytes. A sender places a frame so that the frame's largest part
/// begins at a line.
pub const LINE: usize = 64;

const _: () = {
    assert!(SLOTS + SLOT_SIZE * SLOT_COUNT as usize <= AREA);
    assert!(SLOT_COUNT.is_power_of_two());
    assert!(INLINE_MAX < IN_AREA as usize);
    assert!(SLOTS.is_multiple_of(SLOT_SIZE));
    assert!(SLEEP.is_multiple_of(4) && BELL.is_multiple_of(4) && SLEEP < BELL && BELL + 4 <= SLOTS);
};

/// Returns the offset of the slot of message `sequence`.
#[inline]
pub const fn slot_offset(sequence: u32) -> usize {
    SLOTS + (sequence & (SLOT_COUNT - 1)) as usize * SLOT_SIZE
}
