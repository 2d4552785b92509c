//! Selective acknowledgements.

/// A selective acknowledgement: bit `i` of word `k` is set if packet `ack + 1 + 64 * k + i` has
/// arrived. The first word is in the header, the others are behind it in a [`super::Body::Ack`] or
/// [`super::Body::Marked`].
#[derive(Clone, Copy, Debug)]
pub(in crate::reliable) struct Sack<'a> {
    pub(in crate::reliable) first: u64,
    pub(in crate::reliable) further: &'a [u8],
}

impl Sack<'_> {
    /// The acknowledgement of no further packet.
    pub(in crate::reliable) const NONE: Self = Self { first: 0, further: &[] };

    /// Returns the words that are not zero, with the numbers of their first bits.
    pub(in crate::reliable) fn words(self) -> impl Iterator<Item = (u64, u64)> {
        let further = self.further.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
        let words = std::iter::once(self.first).chain(further);
        (0..).step_by(64).zip(words).filter(|(_, word)| *word != 0)
    }

    /// Returns the number after the last set bit, or 0 if no bit is set.
    #[inline]
    pub(in crate::reliable) fn end(self) -> u64 {
        if self.first == 0 && self.further.is_empty() {
            return 0;
        }
        self.words().last().map_or(0, |(begin, word)| begin + 64 - u64::from(word.leading_zeros()))
    }
}
