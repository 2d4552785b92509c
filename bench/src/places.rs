//! Places: the memory of outstanding pieces of data, one after the other.

use crate::Error;
use crate::payload::pattern;

/// The maximum memory of one side's places in bytes. It is far more than any cache. A single piece
/// may be larger.
const BYTES_MAX: usize = 16 << 20;

/// Returns the number of places for a window of `depth` pieces of `bytes` bytes. The number is the
/// same at the source and at the target, and in all cases with this size and depth, so that all of
/// them use the same amount of memory.
pub(crate) fn count(bytes: usize, depth: u32) -> usize {
    (BYTES_MAX / bytes.max(1)).clamp(1, depth.max(1) as usize)
}

/// Returns the length of all places together, in bytes.
pub(crate) fn length(bytes: usize, depth: u32) -> Result<usize, Error> {
    let length = bytes.checked_mul(count(bytes, depth)).filter(|length| u32::try_from(*length).is_ok());
    length.ok_or_else(|| Error::Usage { message: format!("{bytes} bytes: pieces are shorter than 4 GiB") })
}

/// Fills bytes with a pattern that differs for each seed and each place.
pub(crate) fn fill(bytes: &mut [u8], seed: u32) {
    for (index, word) in bytes.chunks_mut(4).enumerate() {
        word.copy_from_slice(&pattern(seed, index).to_le_bytes()[..word.len()]);
    }
}

/// Checks bytes against the pattern, and reports the first difference.
pub(crate) fn check(bytes: &[u8], seed: u32) -> Result<(), Error> {
    for (index, word) in bytes.chunks(4).enumerate() {
        let wanted = pattern(seed, index).to_le_bytes();
        if word != &wanted[..word.len()] {
            let mut found = [0; 4];
            found[..word.len()].copy_from_slice(word);
            return Err(Error::Corrupt {
                what: "a word of the data",
                expected: u32::from_le_bytes(wanted).into(),
                found: u32::from_le_bytes(found).into(),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_pieces_have_fewer_places_in_memory() {
        assert_eq!((count(64, 16), length(64, 16).unwrap()), (16, 1024));
        assert_eq!(count(1 << 20, 256), 16);
        assert_eq!(count(8 << 20, 16), 2);
        assert_eq!(count(1 << 30, 16), 1);
        assert!(length(5 << 30, 1).is_err());
    }

    #[test]
    fn data_checks_detect_another_seed_and_a_changed_byte() {
        let mut bytes = [0; 103];
        fill(&mut bytes, 7);
        check(&bytes, 7).unwrap();
        assert!(check(&bytes, 8).is_err());
        bytes[102] ^= 1;
        assert!(check(&bytes, 7).is_err());
    }
}
