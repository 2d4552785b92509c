//! CRC-32C (Castagnoli), RFC 3720 appendix B.4: tells intact datagrams from damaged ones.

const POLYNOMIAL: u32 = 0x82f6_3b78;

/// `TABLES[k][b]` is the remainder of byte `b` followed by `k` zero bytes.
static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            remainder = if remainder & 1 == 1 { (remainder >> 1) ^ POLYNOMIAL } else { remainder >> 1 };
            bit += 1;
        }
        tables[0][byte] = remainder;
        byte += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[table - 1][byte];
            tables[table][byte] = (before >> 8) ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        table += 1;
    }
    tables
}

/// Returns the CRC-32C of `bytes`.
pub(super) fn crc32c(bytes: &[u8]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("sse4.2") {
        // SAFETY: the processor has the instruction, as the check above found.
        return unsafe { by_instruction(bytes) };
    }
    by_table(bytes)
}

/// Computes the CRC-32C with the processor's own instruction.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.2")]
fn by_instruction(bytes: &[u8]) -> u32 {
    use std::arch::x86_64::{_mm_crc32_u8, _mm_crc32_u64};
    let (words, rest) = bytes.as_chunks::<8>();
    let wide = words.iter().fold(u64::from(u32::MAX), |crc, word| _mm_crc32_u64(crc, u64::from_le_bytes(*word)));
    // The instruction leaves the upper half zero.
    !rest.iter().fold(wide as u32, |crc, byte| _mm_crc32_u8(crc, *byte))
}

/// Computes the CRC-32C with tables, eight bytes at a time.
fn by_table(bytes: &[u8]) -> u32 {
    let (words, rest) = bytes.as_chunks::<8>();
    let crc = words.iter().fold(u32::MAX, |crc, word| {
        let mixed = (u64::from_le_bytes(*word) ^ u64::from(crc)).to_le_bytes();
        (0..8).fold(0, |sum, at| sum ^ TABLES[7 - at][usize::from(mixed[at])])
    });
    !rest.iter().fold(crc, |crc, byte| (crc >> 8) ^ TABLES[0][usize::from(crc as u8 ^ byte)])
}

#[cfg(test)]
mod tests {
    use super::{by_table, crc32c};

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
            assert_eq!((crc32c(bytes), by_table(bytes)), (value, value));
        }
    }

    #[test]
    fn the_crc_instruction_and_table_agree_at_every_length() {
        let bytes: Vec<u8> = (0..300_u32).map(|at| (at.wrapping_mul(at) >> 3) as u8).collect();
        for length in 0..bytes.len() {
            assert_eq!(crc32c(&bytes[..length]), by_table(&bytes[..length]), "{length} bytes");
        }
    }
}
