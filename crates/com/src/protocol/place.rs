//! The origin of a connection, and the place from which a process is expected to connect.

use crate::orpc::ClientNumber;
use crate::types::threads::lock;
use obvia_rpc::string_binding::StringBinding;
use obvia_via::window::Peer;
use std::sync::Mutex;

/// The greatest length of all addresses together in a place's wire form, in bytes.
const HOSTS_MAX: usize = 1024;
/// The greatest number of addresses in a place's wire form.
const HOSTS_COUNT_MAX: usize = 64;

/// The origin of a connection. The kernel reports the process of this host that has connected; for
/// a connection over a network, the origin is the peer's host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A process of this host, by its serial number.
    Process(u64),
    Host(String),
}

impl Origin {
    pub(crate) fn of(peer: &Peer) -> Self {
        match peer {
            Peer::Process { serial, .. } => Self::Process(*serial),
            Peer::Host(host) => Self::Host(host.clone()),
        }
    }
}

/// The place of a process: the facts that are known about the process and its host. The process may
/// connect from this place by any transport.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// The serial number of the process, if the kernel of its host has reported the number.
    process: Option<u64>,
    /// Whether the process runs on this host.
    is_here: bool,
    /// The addresses of the process's host on networks.
    hosts: Vec<String>,
}

impl Place {
    /// The greatest length of the wire form, in bytes.
    pub(crate) const LENGTH_MAX: usize = 16 + HOSTS_MAX;

    /// Reads the wire form; `None` if it is malformed. An empty wire form means a process of this
    /// host.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.is_empty() {
            return Some(Self { is_here: true, ..Self::default() });
        }
        let (process, rest) = bytes.split_first_chunk().map(|(word, rest)| (u64::from_le_bytes(*word), rest))?;
        let (bits, rest) = rest.split_first_chunk().map(|(word, rest)| (u64::from_le_bytes(*word), rest))?;
        let hosts = str::from_utf8(rest.get(..bits as u32 as usize)?)
            .ok()?
            .lines()
            .take(HOSTS_COUNT_MAX)
            .map(str::to_owned)
            .collect();
        Some(Self { process: Some(process).filter(|&process| process != 0), is_here: bits >> 32 & 1 == 1, hosts })
    }

    /// Writes the wire form: the serial number, or 0; the length of the addresses, with bit 32 set
    /// for a process of this host; the addresses, one per line.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        let mut hosts = String::new();
        for host in self.hosts.iter().take(HOSTS_COUNT_MAX) {
            // The sum must be less than the limit, since a line feed follows each address.
            if hosts.len() + host.len() < HOSTS_MAX {
                hosts.extend([host.as_str(), "\n"]);
            }
        }
        let bits = hosts.len() as u64 | u64::from(self.is_here) << 32;
        bytes.extend([self.process.unwrap_or_default(), bits].into_iter().flat_map(u64::to_le_bytes));
        bytes.extend(hosts.as_bytes());
    }

    /// Returns the place of a process from the origins of its connections. With each origin comes
    /// the address at which the connection reaches this process over a network.
    pub(crate) fn of<'a>(sources: impl IntoIterator<Item = (&'a Origin, Option<&'a str>)>) -> Self {
        let mut place = Self::default();
        for (origin, local) in sources {
            match origin {
                Origin::Process(serial) => {
                    place.process = Some(*serial);
                    place.is_here = true;
                }
                Origin::Host(host) => {
                    place.is_here |= is_own_host(host, local);
                    place.hosts.push(host.clone());
                }
            }
        }
        place
    }

    /// Whether the process runs on this host.
    pub(crate) fn is_here(&self) -> bool {
        self.is_here
    }

    /// Adds the addresses in the bindings by which this process has reached the process.
    pub(crate) fn reached_by(mut self, ways: impl IntoIterator<Item = StringBinding>) -> Self {
        for way in ways {
            if !self.hosts.contains(&way.address) {
                self.hosts.push(way.address);
            }
        }
        self
    }

    /// Converts this place, which the peer has sent, from the peer's view to the view of this
    /// process. `local` is the address at which the peer reaches this process over a network.
    pub(crate) fn seen_by(self, peer: &Peer, local: Option<&str>) -> Self {
        let Peer::Host(host) = peer else { return self };
        let is_beside = self.is_here;
        let mut hosts = self.hosts;
        if is_beside && !hosts.contains(host) {
            hosts.push(host.clone());
        }
        // The process runs on this host if the peer lists this host's address for the process, or
        // if the peer runs on this host, too, and the process runs on the peer's host.
        let is_here = hosts.iter().any(|host| is_own_host(host, local));
        Self { process: self.process.filter(|_| is_here && is_beside), is_here, hosts }
    }

    /// Returns how closely an origin matches the place; `None` if no connection of the process can
    /// have this origin. `local` is the address at which the client reaches this process over a
    /// network.
    pub(crate) fn fit(&self, origin: &Origin, local: Option<&str>) -> Option<Fit> {
        match (origin, self.process) {
            (Origin::Process(serial), Some(process)) => (process == *serial).then_some(Fit::Process),
            (Origin::Process(_), None) => self.is_here.then_some(Fit::Host),
            (Origin::Host(host), _) if self.hosts.contains(host) => Some(Fit::Host),
            (Origin::Host(host), _) => (self.is_here && is_own_host(host, local)).then_some(Fit::OwnHost),
        }
    }

    /// Whether a new client with this origin may be the process that is expected at the place.
    /// [`Fit::OwnHost`] does not suffice: any process of this host may connect over a network.
    pub(crate) fn admits(&self, origin: &Origin, local: Option<&str>) -> bool {
        self.fit(origin, local).is_some_and(|fit| fit != Fit::OwnHost)
    }
}

/// The relation of a connection's origin to the place of a process. The closest relation comes
/// first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    /// The origin is the process itself.
    Process,
    /// The origin is some process of the place's host: the expected process or another one. The
    /// processes of one host cannot be told apart over a network. If a process of this host was
    /// reached over a network, its serial number is not known.
    Host,
    /// The origin is some process of this host that connects over a network. The place is on this
    /// host, and does not list the address of the connection.
    OwnHost,
}

/// The client that the last search found at the other end of a link, and the register's count of
/// changes at that time. While the count stays the same, a call that passes references over the
/// link needs neither to search the register nor to make the [`Place`] of the link's peer.
#[derive(Default)]
pub(crate) struct FoundClient(Mutex<Option<(u64, ClientNumber)>>);

impl FoundClient {
    /// Returns the client that was found last, unless the register has changed since. `changes` is
    /// the register's present count of changes.
    pub(crate) fn get(&self, changes: u64) -> Option<ClientNumber> {
        lock(&self.0).filter(|(known, _)| *known == changes).map(|(_, number)| number)
    }

    pub(crate) fn set(&self, changes: u64, number: ClientNumber) {
        *lock(&self.0) = Some((changes, number));
    }
}

/// Whether the address of a peer is also the address at which the peer reaches this process, so
/// that the peer runs on this host.
fn is_own_host(host: &str, local: Option<&str>) -> bool {
    local == Some(host)
}

#[cfg(test)]
mod tests {
    use super::{Fit, Origin, Place};
    use obvia_via::window::Peer;

    #[test]
    fn places_round_trip_with_as_many_addresses_as_fit() {
        let through = |place: &Place| {
            let mut bytes = Vec::new();
            place.write(&mut bytes);
            assert!(bytes.len() <= Place::LENGTH_MAX);
            // The request that contains the place is padded to a multiple of 8 bytes.
            bytes.resize(bytes.len().next_multiple_of(8), 0);
            Place::read(&bytes)
        };
        let hosts: Vec<_> = (0..200).map(|number| format!("10.0.0.{number}")).collect();
        for count in [0, 1, 3] {
            let place = Place { process: Some(7), is_here: count == 1, hosts: hosts[..count].to_vec() };
            assert_eq!(through(&place), Some(place));
        }
        let seen = through(&Place { hosts: hosts.clone(), ..Place::default() }).unwrap();
        assert!(seen.hosts.len() > 50 && hosts.starts_with(&seen.hosts));
        assert_eq!(Place::read(&[]), Some(Place { is_here: true, ..Place::default() }));
        let short = [[0; 8], 9_u64.to_le_bytes(), [b'a'; 8]].concat();
        assert!(Place::read(&short).is_none() && Place::read(&[0; 15]).is_none());
    }

    #[test]
    fn a_place_named_by_a_peer_is_seen_from_this_host() {
        let far = Peer::Host("far".to_owned());
        let near = Peer::Process { pid: 7, uid: 0, serial: 7 };
        let beside = Place { process: Some(9), is_here: true, hosts: Vec::new() };
        assert_eq!(beside.clone().seen_by(&near, None), beside);
        // The serial number of a process of another host means nothing on this host.
        let seen = beside.clone().seen_by(&far, Some("near"));
        assert_eq!(seen, Place { process: None, is_here: false, hosts: vec!["far".to_owned()] });
        // The peer runs on this host, although it has connected over a network.
        let seen = beside.seen_by(&Peer::Host("near".to_owned()), Some("near"));
        assert_eq!(seen, Place { process: Some(9), is_here: true, hosts: vec!["near".to_owned()] });
        // The peer sees a process of this host over a network.
        let here = Place { hosts: vec!["near".to_owned()], ..Place::default() };
        let seen = here.seen_by(&far, Some("near"));
        assert_eq!(seen.fit(&Origin::Process(3), None), Some(Fit::Host));
        assert_eq!(seen.fit(&Origin::Host("far".to_owned()), None), None);
    }

    #[test]
    fn a_process_of_this_host_is_not_expected_over_a_network() {
        let own = || Origin::Host("near".to_owned());
        let process = Place { process: Some(7), is_here: true, hosts: Vec::new() };
        assert_eq!(process.fit(&own(), Some("near")), Some(Fit::OwnHost));
        assert!(!process.admits(&own(), Some("near")) && !process.admits(&Origin::Process(8), None));
        assert!(process.admits(&Origin::Process(7), None));
        let unknown = Place { process: None, ..process };
        assert!(unknown.admits(&Origin::Process(8), None) && !unknown.admits(&own(), Some("near")));
        // The process was reached over a network at this host.
        let reached = Place { hosts: vec!["near".to_owned()], ..unknown };
        assert!(reached.admits(&own(), Some("near")) && reached.admits(&Origin::Process(8), None));
    }
}
