//! CRC-32C (Castagnoli), RFC 3720 appendix B.4: tells intact datagrams from damaged ones.

use crc_fast::{CrcAlgorithm, checksum};

/// The maximum length, in bytes, of data whose CRC is computed by the processor's instruction. For
/// longer data, the crate is faster.
#[cfg(target_arch = "x86_64")]
const BY_INSTRUCTION_MAX: usize = 256;

/// Returns the CRC-32C of `bytes`.
#[inline]
pub(super) fn crc32c(bytes: &[u8]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if bytes.len() <= BY_INSTRUCTION_MAX && std::arch::is_x86_feature_detected!("sse4.2") {
        // SAFETY: the processor has the instruction, by the check above.
        return unsafe { by_instruction(bytes) };
    }
    by_crate(bytes)
}

/// Computes the CRC-32C by the crate, which names it after iSCSI and returns each checksum as 64
/// bits.
fn by_crate(bytes: &[u8]) -> u32 {
    checksum(CrcAlgorithm::Crc32Iscsi, bytes) as u32
}

/// Computes the CRC-32C by the processor's instruction, eight bytes at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.2")]
fn by_instruction(bytes: &[u8]) -> u32 {
    use std::arch::x86_64::{_mm_crc32_u8, _mm_crc32_u64};
    let (words, rest) = bytes.as_chunks::<8>();
    let wide = words.iter().fold(u64::from(u32::MAX), |crc, word| _mm_crc32_u64(crc, u64::from_le_bytes(*word)));
    // The upper half of the instruction's result is zero.
    !rest.iter().fold(wide as u32, |crc, byte| _mm_crc32_u8(crc, *byte))
}

#[cfg(test)]
mod tests {
    use super::{by_crate, crc32c};
    use std::ops::RangeInclusive;

    /// The values of RFC 3720 appendix B.4, and the check value of the catalogue of parametrised
    /// CRC algorithms.
    #[test]
    fn crc_values_equal_the_published_ones() {
        let rising: Vec<u8> = (0..32).collect();
        for (bytes, value) in [
            (&[0; 32][..], 0x8a91_36aa),
            (&[0xff; 32][..], 0x62a8_ab43),
            (&rising[..], 0x46dd_794e),
            (b"123456789", 0xe306_9283),
            (b"", 0),
        ] {
            assert_eq!(crc32c(bytes), value);
        }
    }

    /// The computation depends on the length and the address of the data. Each result is compared
    /// with the definition, bit by bit.
    #[test]
    fn crc_values_follow_the_definition_at_every_length_and_alignment() {
        for start in (0..64).step_by(if cfg!(miri) { 8 } else { 1 }) {
            let longest = match start {
                _ if cfg!(miri) => 64,
                4 => 65_507,
                _ => 700,
            };
            follows_the_definition(start, 0..=longest);
        }
    }

    fn follows_the_definition(start: usize, lengths: RangeInclusive<usize>) {
        let bytes: Vec<u8> = (0..65_600_u32).map(|at| (at.wrapping_mul(at) >> 3) as u8).collect();
        let (bytes, longest) = (&bytes[start..], *lengths.end());
        let mut remainder = u32::MAX;
        for length in lengths {
            if length < 3000 || length == longest {
                let bytes = &bytes[..length];
                assert_eq!([crc32c(bytes), by_crate(bytes)], [!remainder; 2], "{length} bytes from {start}");
            }
            remainder ^= u32::from(bytes[length]);
            for _ in 0..8 {
                remainder = (remainder >> 1) ^ ((remainder & 1) * 0x82f6_3b78);
            }
        }
    }
}
