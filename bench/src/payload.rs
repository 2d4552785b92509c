//! The array that MoveData carries there and back, and the proof that it was really carried.

use crate::Error;

/// Words of a cache line.
const LINE_WORDS: usize = 16;
/// Words in front of the data that sockets use as header: sequence and count.
pub(crate) const HEADER_WORDS: usize = 2;

/// An `[in, out]` array of 32-bit words, its first on the start of a cache line.
///
/// Each call has the other side add one to the first word and bring back the rest as it was. [`Payload::verify`]
/// then finds the number of calls in the first word, and puts new values everywhere, so that a later answer
/// that is stale in any word is found out.
#[derive(Debug)]
pub struct Payload {
    // Invariant: `start >= HEADER_WORDS`, `words.len() == start + length`.
    words: Vec<u32>,
    start: usize,
    seed: u32,
}

impl Payload {
    /// An array of `bytes`, a multiple of four.
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

    /// The array.
    #[inline]
    pub fn words(&self) -> &[u32] {
        &self.words[self.start..]
    }

    /// The array, to be changed by a call.
    #[inline]
    pub fn words_mut(&mut self) -> &mut [u32] {
        &mut self.words[self.start..]
    }

    /// Header words and array in one piece.
    pub(crate) fn framed_mut(&mut self) -> &mut [u32] {
        &mut self.words[self.start - HEADER_WORDS..]
    }

    /// Checks that exactly `calls` calls have gone through the array since it was filled, then fills it anew.
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

/// What the object behind MoveData does to the array.
#[inline]
pub(crate) fn count_call(first: u32) -> u32 {
    first.wrapping_add(1)
}

/// The word that a seed has at a place.
pub(crate) fn pattern(seed: u32, index: usize) -> u32 {
    (index as u32 ^ seed.wrapping_mul(0x9e37_79b9)).wrapping_mul(0x85eb_ca6b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_on_a_line_and_counts_calls() {
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
    fn finds_a_lost_call_and_a_stale_word() {
        let mut payload = Payload::new(256).unwrap();
        assert!(payload.verify(1).is_err());
        let stale = payload.words()[63];
        payload.verify(0).unwrap();
        assert_ne!(payload.words()[63], stale);
        payload.words_mut()[63] = stale;
        assert!(payload.verify(0).is_err());
    }
}
