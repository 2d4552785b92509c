//! The list of a process's connections, for observers. Calls do not touch it.

use obvia_via::window::{Alarm, Peer};
use std::sync::{Mutex, PoisonError};

/// The least number of entries at which those of ended connections are removed.
const SWEEP_MIN: usize = 64;

/// The connections that this process serves.
#[derive(Default)]
pub(crate) struct Connections(Mutex<List>);

#[derive(Default)]
struct List {
    known: Vec<(Peer, Alarm)>,
    /// The number of entries at which those of ended connections are removed.
    sweep_at: usize,
}

impl Connections {
    /// Adds a connection that begins to be served.
    pub(super) fn add(&self, peer: Peer, alarm: Alarm) {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let List { known, sweep_at } = &mut *list;
        if known.len() >= *sweep_at {
            known.retain(|(_, alarm)| !alarm.is_gone());
            *sweep_at = SWEEP_MIN.max(2 * known.len());
        }
        known.push((peer, alarm));
    }

    /// Returns the peer of each connection, and the least number of messages that were processed
    /// for it, which wraps around.
    pub(crate) fn processed(&self) -> Vec<(Peer, u32)> {
        // The connections are looked at without the lock, since this may end one of them.
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).known.clone();
        let count = |(peer, alarm): (Peer, Alarm)| {
            let attended = alarm.attended()?;
            let (published, acknowledged) = (attended as u32, (attended >> 32) as u32);
            let is_later = acknowledged.wrapping_sub(published).cast_signed() > 0;
            Some((peer, if is_later { acknowledged } else { published }))
        };
        known.into_iter().filter_map(count).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Connections, SWEEP_MIN};
    use obvia_via::window::{Alarm, Peer};

    #[test]
    fn entries_of_ended_connections_are_removed() {
        let connections = Connections::default();
        for _ in 0..10 * SWEEP_MIN {
            connections.add(Peer::Host("10.0.0.1".to_owned()), Alarm::default());
        }
        assert!(connections.0.lock().unwrap().known.len() <= SWEEP_MIN);
        assert_eq!(connections.processed(), []);
    }
}
