//! The array that MoveData carries in both directions, and the check of its words.

use crate::Error;

/// The number of words in a cache line.
const LINE_WORDS: usize = 16;
/// The number of header words before the data, for sockets: sequence and count.
pub(crate) const HEADER_WORDS: usize = 2;

/// An `[in, out]` array of 32-bit words that begins on a cache line.
///
/// Each call makes the other side increment the first word and return the others unchanged.
/// [`Payload::verify`] checks the number of calls in the first word, and the other words. It then
/// writes new values to all words, so that a later result with any stale word is detected.
#[derive(Debug)]
pub struct Payload {
    // Invariant: `start >= HEADER_WORDS`, `words.len() == start + length`.
    words: Vec<u32>,
    start: usize,
    seed: u32,
}

impl Payload {
    /// Creates an array of `bytes`, a multiple of four.
    pub fn new(bytes: usize) -> Result<Self, Error> {
        if !bytes.is_multiple_of(4) || bytes > i32::MAX as usize {
            return Err(Error::Usage { message: format!("{bytes} bytes: sizes are multiples of 4 below 2 GiB") });
        }
        let mut words = vec![0_u32; bytes / 4 + 2 * LINE_WORDS];
        let start = LINE_WORDS + words.as_ptr().align_offset(64).min(LINE_WORDS - 1);
        words.truncate(start + bytes / 4);
        let mut payload = Self { words, start, seed: 0 };
        payload.refill();
        Ok(payload)
    }

    /// Returns the array.
    #[inline]
    pub fn words(&self) -> &[u32] {
        &self.words[self.start..]
    }

    /// Returns the array for a call that changes it.
    #[inline]
    pub fn words_mut(&mut self) -> &mut [u32] {
        &mut self.words[self.start..]
    }

    /// Returns the header words and the array in one slice.
    pub(crate) fn framed_mut(&mut self) -> &mut [u32] {
        &mut self.words[self.start - HEADER_WORDS..]
    }

    /// Checks that exactly `calls` calls have changed the array since it was filled, and fills the
    /// array with new values.
    pub fn verify(&mut self, calls: u32) -> Result<(), Error> {
        let seed = self.seed;
        for (index, word) in self.words().iter().enumerate() {
            let counted = if index == 0 { calls } else { 0 };
            let expected = pattern(seed, index).wrapping_add(counted);
            if *word != expected {
                return Err(Error::Corrupt {
                    what: "a word of the array",
                    expected: expected.into(),
                    found: (*word).into(),
                });
            }
        }
        self.refill();
        Ok(())
    }

    fn refill(&mut self) {
        self.seed = self.seed.wrapping_add(1);
        let seed = self.seed;
        for (index, word) in self.words_mut().iter_mut().enumerate() {
            *word = pattern(seed, index);
        }
    }
}

/// Returns the value of the first word after one call of MoveData.
#[inline]
pub fn count_call(first: u32) -> u32 {
    first.wrapping_add(1)
}

/// The longest array, in bytes, that every path with arrays can carry.
const BYTES_MAX: usize = 32 << 20;

/// Parses a number of bytes, as in `64`, `8K`, `1M`: a multiple of 4, from 4 to [`BYTES_MAX`].
pub fn size(text: &str) -> Result<usize, String> {
    let (digits, unit) = match text.strip_suffix(['K', 'k']) {
        Some(digits) => (digits, 1 << 10),
        None => text.strip_suffix(['M', 'm']).map_or((text, 1), |digits| (digits, 1 << 20)),
    };
    let bytes: Option<usize> = digits.parse().ok().and_then(|number: usize| number.checked_mul(unit));
    bytes
        .filter(|bytes| (4..=BYTES_MAX).contains(bytes) && bytes.is_multiple_of(4))
        .ok_or_else(|| "expected a multiple of 4 bytes, from 4 to 32M".to_owned())
}

/// Returns the word at `index` in the pattern of a seed.
pub(crate) fn pattern(seed: u32, index: usize) -> u32 {
    (index as u32 ^ seed.wrapping_mul(0x9e37_79b9)).wrapping_mul(0x85eb_ca6b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_payload_is_line_aligned_and_counts_calls() {
        for bytes in [0, 4, 64, 68, 8192] {
            let mut payload = Payload::new(bytes).unwrap();
            assert_eq!(payload.words().len() * 4, bytes);
            assert_eq!(payload.words().as_ptr().align_offset(64), 0);
            if let Some(first) = payload.words_mut().first_mut() {
                *first = count_call(count_call(*first));
            }
            payload.verify(2).unwrap();
        }
        assert!(Payload::new(6).is_err());
    }

    #[test]
    fn sizes_are_read_with_units() {
        assert_eq!(size("64"), Ok(64));
        assert_eq!(size("8K"), Ok(8192));
        assert_eq!(size("1m"), Ok(1 << 20));
        for wrong in ["", "K", "0", "6", "-4", "33M", "99999999999999999999M", "8KB"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn payload_checks_detect_lost_calls_and_stale_words() {
        let mut payload = Payload::new(256).unwrap();
        assert!(payload.verify(1).is_err());
        let stale = payload.words()[63];
        payload.verify(0).unwrap();
        assert_ne!(payload.words()[63], stale);
        payload.words_mut()[63] = stale;
        assert!(payload.verify(0).is_err());
    }
}
