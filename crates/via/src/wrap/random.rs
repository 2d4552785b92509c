//! Pseudo-random numbers: the same seed always yields the same numbers.
//!
//! The generator is xoshiro256++ 1.0 by David Blackman and Sebastiano Vigna ("Scrambled Linear
//! Pseudorandom Number Generators", ACM TOMS 47, 2021). Its reference code is in the public domain
//! at prng.di.unimi.it. As its authors advise, the seed is expanded by splitmix64 (Steele, Lea and
//! Flood, OOPSLA 2014). The numbers are not fit for secrets.

/// A stream of pseudo-random numbers.
#[derive(Clone, Debug)]
pub struct Random {
    state: [u64; 4],
}

/// Performs one step of splitmix64.
fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

impl Random {
    /// Makes the stream of a seed.
    pub fn new(mut seed: u64) -> Self {
        Self { state: std::array::from_fn(|_| splitmix(&mut seed)) }
    }

    /// Makes a separate stream for one of several users of a seed. One user's draws do not affect
    /// the others.
    pub fn stream(seed: u64, number: u64) -> Self {
        let mut other = number;
        Self::new(seed ^ splitmix(&mut other))
    }

    /// Returns the next 64 bits.
    pub fn word(&mut self) -> u64 {
        let [first, second, third, fourth] = &mut self.state;
        let result = first.wrapping_add(*fourth).rotate_left(23).wrapping_add(*first);
        let shifted = *second << 17;
        *third ^= *first;
        *fourth ^= *second;
        *second ^= *third;
        *first ^= *fourth;
        *third ^= shifted;
        *fourth = fourth.rotate_left(45);
        result
    }

    /// Returns a number below `limit`; 0 for a limit of 0. Takes the high bits of a product
    /// (Lemire, "Fast Random Integer Generation in an Interval", 2019), without the paper's
    /// correction. The bias is below `limit` / 2^64.
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.word()) * u128::from(limit)) >> 64) as u64
    }

    /// Returns a number from `least` to `most`, both included.
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below((most - least).saturating_add(1))
    }

    /// Returns `true` with a probability of `parts` in a million.
    pub fn happens(&mut self, parts: u32) -> bool {
        // For a probability of zero, no number is drawn, so conditions that are off do not change
        // the stream.
        parts > 0 && self.below(1_000_000) < u64::from(parts)
    }

    /// Fills `bytes` with random bytes.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.word().to_le_bytes()[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Random, splitmix};

    #[test]
    fn the_generator_yields_the_published_numbers() {
        // The first results of the reference implementation for the state 1, 2, 3, 4.
        let mut random = Random { state: [1, 2, 3, 4] };
        let expected = [
            41_943_041,
            58_720_359,
            3_588_806_011_781_223,
            3_591_011_842_654_386,
            9_228_616_714_210_784_205,
            9_973_669_472_204_895_162,
        ];
        assert_eq!(expected.map(|_| random.word()), expected);
        let mut seed = 1_477_776_061_723_855_037;
        let expected = [1_985_237_415_132_408_290, 2_979_275_885_539_914_483, 13_511_426_838_097_143_398];
        assert_eq!(expected.map(|_| splitmix(&mut seed)), expected);
    }

    #[test]
    fn random_events_happen_at_their_share() {
        let mut random = Random::new(7);
        let count = (0..100_000).filter(|_| random.happens(50_000)).count();
        assert!((4_700..5_300).contains(&count), "{count} of 100,000 are not 5 %");
        assert!((0..1000).all(|_| !random.happens(0)) && (0..1000).all(|_| random.happens(1_000_000)));
    }

    #[test]
    fn random_ranges_are_covered_completely() {
        let mut random = Random::new(8);
        let mut seen = [false; 4];
        for _ in 0..200 {
            seen[random.between(3, 6) as usize - 3] = true;
        }
        assert_eq!(seen, [true; 4]);
        assert_eq!(random.below(0), 0);
        assert_ne!(Random::stream(1, 1).word(), Random::stream(1, 2).word());
    }
}
