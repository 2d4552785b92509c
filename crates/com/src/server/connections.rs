//! The list of a process's connections, for observers. Calls neither read nor change it.

use obvia_via::window::{Alarm, Peer};
use std::sync::{Mutex, PoisonError};

/// The least number of entries at which the entries of ended connections are removed.
const SWEEP_MIN: usize = 64;

/// The connections that this process serves.
#[derive(Default)]
pub(crate) struct Connections(Mutex<List>);

#[derive(Default)]
struct List {
    /// The entries in the order of their numbers.
    known: Vec<Entry>,
    /// The number of the last entry that was added.
    last: u64,
    /// The length of the list at which the entries of ended connections are removed next.
    sweep_at: usize,
}

#[derive(Clone)]
struct Entry {
    number: u64,
    peer: Peer,
    alarm: Alarm,
}

/// The progress of one connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// The number of the connection, which no other connection of the process gets.
    pub(crate) number: u64,
    pub(crate) peer: Peer,
    /// A lower bound of the number of messages that were processed for the peer, modulo 2^32.
    pub(crate) messages: u32,
}

impl Connections {
    /// Adds a connection whose client has been let in.
    pub(super) fn add(&self, peer: Peer, alarm: Alarm) {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if list.known.len() >= list.sweep_at {
            list.sweep();
        }
        list.last += 1;
        let number = list.last;
        list.known.push(Entry { number, peer, alarm });
    }

    /// Returns the number of connections, and the progress of the newest ones, at most `most`, in
    /// the order of their numbers.
    pub(crate) fn newest(&self, most: usize) -> (usize, Vec<Progress>) {
        let (older, newest) = {
            let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            list.sweep();
            let older = list.known.len().saturating_sub(most);
            (older, list.known[older..].to_vec())
        };
        // The lock has been released above, because dropping an entry can end its connection.
        listing(older, newest)
    }
}

/// Returns the number of connections, of which `older` are not listed, and the progress of the
/// newest ones. Connections in `newest` that have ended do not count.
fn listing(older: usize, newest: Vec<Entry>) -> (usize, Vec<Progress>) {
    let newest: Vec<_> = newest.into_iter().filter_map(Entry::progress).collect();
    (older + newest.len(), newest)
}

impl List {
    /// Removes the entries of ended connections.
    fn sweep(&mut self) {
        self.known.retain(|entry| !entry.alarm.is_gone());
        self.sweep_at = SWEEP_MIN.max(2 * self.known.len());
    }
}

impl Entry {
    /// Returns the progress; `None` for an ended connection.
    fn progress(self) -> Option<Progress> {
        let attended = self.alarm.attended()?;
        let (published, acknowledged) = (attended as u32, (attended >> 32) as u32);
        let is_later = acknowledged.wrapping_sub(published).cast_signed() > 0;
        let messages = if is_later { acknowledged } else { published };
        Some(Progress { number: self.number, peer: self.peer, messages })
    }
}

#[cfg(test)]
mod tests {
    use super::{Connections, Entry, SWEEP_MIN, listing};
    use obvia_via::Deadline;
    use obvia_via::provider::shm::{self, Directory, NicOptions};
    use obvia_via::window::{self, Alarm, Options, Peer};

    const LIMIT: Deadline = Deadline::Within(ground::LATEST);

    #[test]
    fn entries_of_ended_connections_are_removed() {
        let connections = Connections::default();
        for _ in 0..10 * SWEEP_MIN {
            connections.add(Peer::Host("10.0.0.1".to_owned()), Alarm::default());
        }
        assert!(connections.0.lock().unwrap().known.len() <= SWEEP_MIN);
        assert_eq!(connections.newest(8), (0, Vec::new()));
    }

    #[test]
    fn connections_that_end_while_they_are_listed_do_not_count() {
        let ended = Entry { number: 5, peer: Peer::Host("10.0.0.1".to_owned()), alarm: Alarm::default() };
        assert_eq!(listing(4, vec![ended]), (4, Vec::new()));
    }

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn of_many_connections_the_newest_are_listed() {
        let folder = ground::Folder::new("com-connections");
        let directory = Directory::at(folder.path()).unwrap();
        let nic = shm::open(&NicOptions { directory: Some(directory), ..NicOptions::default() }).unwrap();
        let mut listener = nic.listen("listed").unwrap();
        let address = listener.address();
        let (_client, server) = std::thread::scope(|scope| {
            let client = scope.spawn(|| window::connect(&nic, &address, &Options::default(), LIMIT).unwrap());
            let request = listener.wait(LIMIT).unwrap();
            let server = window::accept(&nic, request, &Options::default(), LIMIT).unwrap();
            (client.join().unwrap(), server)
        });
        let connections = Connections::default();
        let peers = ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map(|host| Peer::Host(host.to_owned()));
        connections.add(peers[0].clone(), Alarm::default());
        for peer in &peers {
            connections.add(peer.clone(), server.alarm());
        }
        let (total, newest) = connections.newest(2);
        let listed: Vec<_> = newest.into_iter().map(|progress| (progress.number, progress.peer)).collect();
        assert_eq!((total, listed), (3, vec![(3, peers[1].clone()), (4, peers[2].clone())]));
        drop(server);
        assert_eq!(connections.newest(2), (0, Vec::new()));
    }
}
