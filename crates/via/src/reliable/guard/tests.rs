//! Tests of protected datagrams.

use super::*;
use rustix::fd::OwnedFd;
use std::collections::VecDeque;
use std::sync::Arc;

/// The datagrams that an end has sent, and those that are on the way to it.
#[derive(Debug, Default)]
struct Wire {
    sent: Vec<Vec<u8>>,
    coming: VecDeque<Vec<u8>>,
    has_move_key: bool,
    requires_seals: bool,
}

impl Link for Wire {
    fn mtu(&self) -> usize {
        1472
    }
    fn send(&mut self, datagram: &[u8]) -> Result<bool, Error> {
        self.sent.push(datagram.to_vec());
        Ok(true)
    }
    fn receive(&mut self, into: &mut [u8]) -> Result<Option<usize>, Error> {
        Ok(self.coming.pop_front().map(|datagram| {
            into[..datagram.len()].copy_from_slice(&datagram);
            datagram.len()
        }))
    }
    fn file(&self) -> Option<Arc<OwnedFd>> {
        None
    }
    fn seal_moves(&mut self, _: &MoveKey) {
        self.has_move_key = true;
    }
    fn require_seals(&mut self) {
        assert!(self.has_move_key);
        self.requires_seals = true;
    }
    fn peer(&self) -> String {
        String::new()
    }
}

/// A toy cipher that shows what a code covers: adds up bytes, and inverts them.
#[derive(Debug)]
struct Toy(u8, u8);

fn toy_tag(key: u8, nonce: Nonce, bytes: &[u8]) -> [u8; TAG] {
    let start = u64::from(key) << 48 ^ u64::from(nonce.base) << 24 ^ nonce.sequence;
    let sum = bytes.iter().fold(start, |sum, byte| sum.wrapping_mul(257).wrapping_add(u64::from(*byte)));
    u128::from(sum).to_le_bytes()
}

impl Cipher for Toy {
    fn seal(&mut self, nonce: Nonce, datagram: &mut [u8]) -> [u8; TAG] {
        let tag = toy_tag(self.0, nonce, datagram);
        datagram.iter_mut().for_each(|byte| *byte = !*byte);
        tag
    }
    fn open(&mut self, nonce: Nonce, datagram: &mut [u8], tag: &[u8; TAG]) -> bool {
        datagram.iter_mut().for_each(|byte| *byte = !*byte);
        toy_tag(self.1, nonce, datagram) == *tag
    }
}

fn guard(keys: (u8, u8), peer_has_keys: bool) -> Guard {
    Guard { cipher: Box::new(Toy(keys.0, keys.1)), peer_has_keys, moves: MoveKey::new(&[7; 32]) }
}

fn end(keys: (u8, u8), peer_has_keys: bool, numbers: [u32; 2]) -> Guarded<Wire> {
    let mut end = Guarded::new(Wire::default());
    end.guard(guard(keys, peer_has_keys), numbers).unwrap();
    end
}

/// Makes two ends with guards. The first end knows that its peer has the keys, and has sent 5
/// data packets and taken 3.
fn pair() -> (Guarded<Wire>, Guarded<Wire>) {
    (end((1, 2), true, [5, 3]), end((2, 1), false, [2, 5]))
}

/// Passes datagrams to an end. Returns those that the end accepts.
fn taken(end: &mut Guarded<Wire>, datagrams: &[Vec<u8>]) -> Vec<Vec<u8>> {
    end.link.coming.extend(datagrams.iter().cloned());
    let mut into = vec![0; 1472];
    let mut all = Vec::new();
    while !end.link.coming.is_empty() {
        all.extend(end.take(&mut into, || 3).unwrap().map(|length| into[..length].to_vec()));
    }
    all
}

fn sent(end: &mut Guarded<Wire>, datagram: &[u8]) -> Vec<u8> {
    assert!(end.send(datagram).unwrap());
    end.link.sent.pop().unwrap()
}

#[test]
fn only_sealed_datagrams_are_accepted() {
    let (mut one, mut other) = pair();
    let sealed = sent(&mut one, b"first");
    assert_eq!(sealed.len(), 5 + OVERHEAD);
    let mut changed: Vec<_> = (0..sealed.len()).map(|at| sealed.clone().tap(at)).collect();
    changed.extend([b"first".to_vec(), vec![], vec![0; OVERHEAD - 1]]);
    assert_eq!(taken(&mut other, &changed), Vec::<Vec<u8>>::new());
    assert_eq!(taken(&mut other, &[sealed]), [b"first"]);
}

trait Tap {
    fn tap(self, at: usize) -> Self;
}

impl Tap for Vec<u8> {
    fn tap(mut self, at: usize) -> Self {
        self[at] ^= 1;
        self
    }
}

#[test]
fn an_end_seals_after_the_first_sealed_datagram_of_its_peer() {
    let (mut one, mut other) = pair();
    assert_eq!(sent(&mut other, b"plain"), b"plain");
    assert!(taken(&mut one, &[b"plain".to_vec()]).is_empty(), "the beginner takes nothing else any more");
    let first = sent(&mut one, b"first");
    assert_eq!(taken(&mut other, &[first]), [b"first"]);
    let answer = sent(&mut other, b"answer");
    assert_ne!(answer, b"answer");
    assert_eq!(taken(&mut one, &[answer]), [b"answer"]);
}

#[test]
fn claims_need_a_seal_once_the_peer_has_shown_its_keys() {
    let (mut one, mut other) = pair();
    assert!(one.link.requires_seals && other.link.has_move_key);
    assert_eq!(taken(&mut other, &[b"plain".to_vec()]), Vec::<Vec<u8>>::new());
    assert!(!other.link.requires_seals);
    let first = sent(&mut one, b"first");
    assert_eq!(taken(&mut other, &[first]), [b"first"]);
    assert!(other.link.requires_seals);
}

#[test]
fn sealed_datagrams_can_be_reordered_but_not_replayed() {
    let (mut one, mut other) = pair();
    let mut all: Vec<_> = (0..20_001_u32).map(|number| sent(&mut one, &number.to_le_bytes())).collect();
    let oldest = all.remove(0);
    for burst in all.chunks_mut(4096) {
        burst.reverse();
        assert_eq!(taken(&mut other, burst).len(), burst.len(), "each is taken once");
        assert!(taken(&mut other, burst).is_empty(), "each has come");
    }
    assert!(taken(&mut other, &all).is_empty());
    assert!(taken(&mut other, &[oldest]).is_empty(), "what is too old to be told counts as having come");
    let next = sent(&mut one, b"next");
    assert_eq!(taken(&mut other, &[next.clone(), next]), [b"next"]);
}

#[test]
fn a_gap_in_the_sequences_leaves_no_bit_of_an_earlier_round() {
    for gap in [1, 63, 64, 65, WINDOW - 1, WINDOW, WINDOW + 64, 10 * WINDOW + 7] {
        let mut seen = Seen::new();
        (0..2 * WINDOW).for_each(|sequence| seen.note(sequence));
        let highest = 2 * WINDOW - 1 + gap;
        seen.note(highest);
        let start = highest + 1 - WINDOW;
        for sequence in start..highest {
            assert_eq!(seen.has(sequence), sequence < 2 * WINDOW, "{sequence} after a gap of {gap}");
        }
        assert!(seen.has(highest) && seen.has(start - 1) && !seen.has(highest + 1));
    }
}

/// One end took a forged packet before it had the keys.
#[test]
fn ends_with_different_key_start_numbers_accept_no_datagrams() {
    let (mut one, _) = pair();
    let mut other = end((2, 1), false, [2, 6]);
    let sealed = sent(&mut one, b"first");
    assert!(taken(&mut other, &[sealed]).is_empty());
}

#[test]
fn a_connection_has_one_guard() {
    let (mut one, _) = pair();
    assert!(one.guard(guard((3, 3), true), [0, 0]).is_err());
}
