//! A copy from one buffer of the client to another: the lower bound for moving bytes within one
//! machine's memory.

use crate::{Error, Exchange, ServerProcess, places};
use std::hint::black_box;

/// Copies a piece from the source to the target, at each place of a window in turn.
#[derive(Debug)]
pub(super) struct Memcpy {
    source: Vec<u8>,
    target: Vec<u8>,
    bytes: usize,
    next: usize,
    seed: u32,
}

impl Memcpy {
    /// Creates buffers for pieces of `bytes`, with the places of a window of `depth` pieces.
    pub(super) fn new(bytes: usize, depth: u32) -> Result<Self, Error> {
        if bytes == 0 {
            return Err(Error::Usage { message: "nothing cannot be copied: give a size".to_owned() });
        }
        let length = places::length(bytes, depth)?;
        let mut source = vec![0; length];
        places::fill(&mut source, 1);
        // The target is filled, so that its pages are mapped before the first timed copy.
        Ok(Self { source, target: vec![0xff; length], bytes, next: 0, seed: 1 })
    }
}

impl Exchange for Memcpy {
    #[inline]
    fn call(&mut self) -> Result<(), Error> {
        let place = self.next..self.next + self.bytes;
        // Without `black_box`, the compiler could omit copies that later copies overwrite.
        black_box(&mut self.target)[place.clone()].copy_from_slice(&black_box(&self.source)[place]);
        self.next += self.bytes;
        if self.next == self.source.len() {
            self.next = 0;
        }
        Ok(())
    }

    fn verify(&mut self, calls: u32) -> Result<(), Error> {
        let places = self.source.len() / self.bytes;
        for _ in calls as usize..places {
            self.call()?;
        }
        places::check(&self.target, self.seed)?;
        self.seed = self.seed.wrapping_add(1);
        places::fill(&mut self.source, self.seed);
        Ok(())
    }

    fn server(&mut self) -> Option<&mut ServerProcess> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_fill_every_place_and_a_missing_copy_is_detected() {
        let mut copies = Memcpy::new(64, 4).unwrap();
        for _ in 0..6 {
            copies.call().unwrap();
        }
        copies.verify(6).unwrap();
        copies.verify(0).unwrap();
        assert!(copies.verify(4).is_err(), "none was made of what was filled in last");
    }
}
