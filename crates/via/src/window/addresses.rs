//! The address space for the regions of peers, with limits for each peer and for all peers
//! together.

use super::Peer;
use crate::Error;
use crate::sync::lock;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The maximum size of all peers' regions that a process keeps mapped, in bytes: half of its
/// address space. A region counts with its whole size, whether its pages are used or not. The other
/// half of the address space is for all other memory of the process.
const TOTAL_MAX: u64 = 1 << 46;
/// The maximum size of the regions of one peer process.
const PEER_MAX: u64 = TOTAL_MAX / 8;
/// The maximum size of the regions that a peer passes over one connection.
pub(super) const CONNECTION_MAX: u64 = PEER_MAX / 4;

/// The address space of peers' regions in this process.
static SPACE: Space = Space::new(TOTAL_MAX, PEER_MAX);

/// Takes address space for a region of a peer, if the limits leave room for the region.
pub(super) fn take(peer: Peer, length: usize) -> Result<Addresses, Error> {
    SPACE.take(peer, length as u64)
}

/// The part of the address space that a region takes, for as long as the value lives.
#[derive(Debug)]
pub(super) struct Addresses {
    space: &'static Space,
    peer: Peer,
    length: u64,
}

impl Drop for Addresses {
    fn drop(&mut self) {
        let mut taken = lock(&self.space.taken);
        taken.total -= self.length;
        if let Some(of_peer) = taken.by_peer.get_mut(&self.peer) {
            *of_peer -= self.length;
            if *of_peer == 0 {
                taken.by_peer.remove(&self.peer);
            }
        }
    }
}

#[derive(Debug)]
struct Space {
    total_max: u64,
    peer_max: u64,
    taken: Mutex<Taken>,
}

/// The sums of the lengths taken. Where the kernel does not number processes, a user's processes in
/// other PID namespaces count as one peer (see [`Peer`]).
#[derive(Debug)]
struct Taken {
    total: u64,
    by_peer: BTreeMap<Peer, u64>,
}

impl Space {
    const fn new(total_max: u64, peer_max: u64) -> Self {
        Self { total_max, peer_max, taken: Mutex::new(Taken { total: 0, by_peer: BTreeMap::new() }) }
    }

    fn take(&'static self, peer: Peer, length: u64) -> Result<Addresses, Error> {
        // A mapping takes whole pages, and no processor has pages of more than 64 KiB.
        let length = length.next_multiple_of(64 << 10);
        let mut taken = lock(&self.taken);
        let of_peer = taken.by_peer.get(&peer).copied().unwrap_or(0);
        let limit = (self.peer_max - of_peer).min(self.total_max - taken.total);
        if length > limit {
            return Err(Error::TooLong { length, limit });
        }
        taken.total += length;
        taken.by_peer.insert(peer.clone(), of_peer + length);
        Ok(Addresses { space: self, peer, length })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: u32) -> Peer {
        Peer::Process { pid, uid: 1000, serial: 0 }
    }

    /// Returns the limit by which a request was refused, if it was.
    fn limit(outcome: Result<Addresses, Error>) -> Option<u64> {
        match outcome {
            Err(Error::TooLong { limit, .. }) => Some(limit),
            Err(other) => panic!("{other}"),
            Ok(_) => None,
        }
    }

    #[test]
    fn one_peer_takes_no_address_space_from_others() {
        static SPACE: Space = Space::new(1 << 30, 1 << 28);
        assert_eq!(limit(SPACE.take(process(1), (1 << 28) + 1)), Some(1 << 28));
        let taken = SPACE.take(process(1), 1 << 28).unwrap();
        assert_eq!(limit(SPACE.take(process(1), 1)), Some(0));
        let others: Vec<_> = (2..=4).map(|pid| SPACE.take(process(pid), 1 << 28).unwrap()).collect();
        drop(taken);
        SPACE.take(process(1), 1 << 28).unwrap();
        drop(others);
        assert!(lock(&SPACE.taken).by_peer.is_empty());
    }

    #[test]
    fn peers_take_at_most_the_total_together() {
        static SPACE: Space = Space::new(3 << 20, 2 << 20);
        let one = SPACE.take(process(1), 2 << 20).unwrap();
        let other = SPACE.take(process(2), 1 << 20).unwrap();
        assert_eq!(limit(SPACE.take(process(2), 1)), Some(0));
        assert_eq!(limit(SPACE.take(process(3), u64::MAX - (1 << 20))), Some(0));
        drop(one);
        assert_eq!(limit(SPACE.take(process(3), 2 << 20)), None);
        drop(other);
        assert_eq!(lock(&SPACE.taken).total, 0);
    }

    #[test]
    fn lengths_count_in_whole_pages() {
        static SPACE: Space = Space::new(128 << 10, 128 << 10);
        let byte = SPACE.take(process(1), 1).unwrap();
        assert_eq!(limit(SPACE.take(process(2), (64 << 10) + 1)), Some(64 << 10));
        drop(byte);
    }
}
