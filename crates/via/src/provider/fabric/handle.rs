//! Memory handles: a key of libfabric, and a word that describes the region.
//!
//! If peers name memory by address, the word holds the address; otherwise the word holds the
//! region's length and the peers' rights. The highest bits of the word are a checksum of the key
//! and of the other bits, which detects garbled handles. The key and the domain of the protection
//! tag protect the memory; the checksum does not.

use crate::{Access, MemoryHandle};

const BITS: u32 = 48;
const WRITE: u64 = 1 << 47;
const READ: u64 = 1 << 46;
const LENGTH: u64 = READ - 1;

/// Returns the checksum of a key and a word: 16 bits, by the mixing function of splitmix64 (Steele,
/// Lea and Flood, OOPSLA 2014).
fn sum(key: u64, word: u64) -> u64 {
    let mut mixed = key ^ word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)) >> BITS
}

fn whole(key: u64, word: u64) -> Option<MemoryHandle> {
    (word >> BITS == 0).then(|| MemoryHandle([key, word | (sum(key, word) << BITS)]))
}

fn word(handle: MemoryHandle) -> u64 {
    handle.0[1] & ((1 << BITS) - 1)
}

/// Makes the handle of memory that peers name by address. `None` when the address is too long.
pub(super) fn addressed(key: u64, base: u64) -> Option<MemoryHandle> {
    whole(key, base)
}

/// Makes the handle of memory that peers name by offset. `None` when the region is too long.
pub(super) fn offset(key: u64, length: u64, access: Access) -> Option<MemoryHandle> {
    let rights = if access.write { WRITE } else { 0 } | if access.read { READ } else { 0 };
    (length <= LENGTH).then(|| whole(key, length | rights)).flatten()
}

/// Whether the handle's checksum is right.
pub(super) fn is_whole(handle: MemoryHandle) -> bool {
    whole(handle.0[0], word(handle)) == Some(handle)
}

/// Returns the address in a handle.
pub(super) fn base(handle: MemoryHandle) -> u64 {
    word(handle)
}

/// Whether a handle without an address allows an RDMA.
pub(super) fn allows(handle: MemoryHandle, offset: u64, length: u64, reads: bool) -> bool {
    let word = word(handle);
    let end = offset.checked_add(length);
    word & if reads { READ } else { WRITE } != 0 && end.is_some_and(|end| end <= word & LENGTH)
}

#[cfg(test)]
mod tests {
    use super::{addressed, allows, base, is_whole, offset};
    use crate::{Access, MemoryHandle};

    #[test]
    fn garbled_memory_handles_are_refused() {
        let made = [addressed(77, 0x7fff_1234_5000), offset(77, 4096, Access::READ)];
        for handle in made.into_iter().flatten() {
            assert!(is_whole(handle));
            let MemoryHandle([key, word]) = handle;
            let garbled = (0..64).flat_map(|bit| [[key ^ (1 << bit), word], [key, word ^ (1 << bit)]]);
            // A checksum of 16 bits misses one garbled handle in 65,536.
            assert!(garbled.filter(|words| is_whole(MemoryHandle(*words))).count() == 0);
        }
    }

    #[test]
    fn memory_handles_encode_address_length_and_rights() {
        assert_eq!(base(addressed(5, 0x7000_0000_0000).unwrap()), 0x7000_0000_0000);
        assert_eq!(addressed(5, 1 << 48), None);
        assert_eq!(offset(5, 1 << 46, Access::BOTH), None);
        let handle = offset(5, 100, Access::WRITE).unwrap();
        assert!(allows(handle, 0, 100, false) && allows(handle, 100, 0, false));
        assert!(!allows(handle, 1, 100, false) && !allows(handle, u64::MAX, 2, false) && !allows(handle, 0, 1, true));
    }
}
