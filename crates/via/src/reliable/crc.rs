//! CRC-32C (Castagnoli), RFC 3720 appendix B.4: tells intact datagrams from damaged ones.

use crc_fast::{CrcAlgorithm, checksum};

/// Returns the CRC-32C of `bytes`.
#[inline]
pub(super) fn crc32c(bytes: &[u8]) -> u32 {
    // The crate calls it by its use in iSCSI. It returns checksums of any width in 64 bits.
    checksum(CrcAlgorithm::Crc32Iscsi, bytes) as u32
}

#[cfg(test)]
mod tests {
    use super::crc32c;

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

    /// Longer data takes other ways of computation. Each is compared with the definition, bit by
    /// bit.
    #[test]
    fn crc_values_follow_the_definition_at_every_length() {
        let bytes: Vec<u8> = (0..3000_u32).map(|at| (at.wrapping_mul(at) >> 3) as u8).collect();
        let mut remainder = u32::MAX;
        for (length, byte) in bytes.iter().enumerate() {
            assert_eq!(crc32c(&bytes[..length]), !remainder, "{length} bytes");
            remainder ^= u32::from(*byte);
            for _ in 0..8 {
                remainder = (remainder >> 1) ^ ((remainder & 1) * 0x82f6_3b78);
            }
        }
    }
}
