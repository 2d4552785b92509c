//! The links of a process, by their peer process and place.

use crate::access::Protection;
use crate::client::address::Address;
use crate::client::handshake::Reached;
use crate::client::link::Link;
use crate::transport::network::level_of;
use crate::types::error::Result;
use crate::types::threads::lock;
use obvia_rpc::security::Level;
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_via::window::Peer;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// The place at which a link reaches its peer: protocol sequence, host and protection. A link that
/// was made by a name in the directory of this host has no place.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Place {
    protocol: ProtocolSequence,
    host: String,
    protection: Option<Protection>,
}

impl Place {
    fn of(reached: &Reached) -> Option<Self> {
        let Address::Binding(binding) = &reached.address else { return None };
        let host = match reached.home.peer() {
            Peer::Host(host) => host,
            Peer::Process { .. } => String::new(),
        };
        Some(Self { protocol: binding.protocol, host, protection: reached.terms.protection().cloned() })
    }

    fn level(&self) -> Option<Level> {
        self.protection.as_ref().map(Protection::level)
    }

    /// Whether the place matches a binding, with at least the protection that the binding asks for.
    fn serves(&self, binding: &StringBinding) -> bool {
        self.protocol == binding.protocol && self.host == binding.address && self.level() >= level_of(binding)
    }
}

/// The key of a link: the peer's OXID, and the place at which the link reaches the peer.
type Key = (u64, Option<Place>);

/// Returns the key of the link to a process that was reached.
pub(super) fn key_of(reached: &Reached) -> Key {
    (reached.oxid, Place::of(reached))
}

/// The existing links of the process.
#[derive(Default)]
pub(super) struct Links(Mutex<HashMap<Key, Arc<Link>>>);

impl Links {
    /// Returns the link to a process at a place, if there is one.
    pub(super) fn known(&self, key: &Key) -> Option<Arc<Link>> {
        lock(&self.0).get(key).filter(|known| !known.is_dead()).cloned()
    }

    /// Returns a link to a process, if there is one whose place matches a binding and whose
    /// protection is at least that of the binding.
    pub(super) fn known_by(&self, oxid: u64, binding: &StringBinding) -> Option<Arc<Link>> {
        let links = lock(&self.0);
        let mut all = links.iter().filter(|((known, _), link)| *known == oxid && !link.is_dead());
        let found = all.find(|((_, place), _)| place.as_ref().is_some_and(|place| place.serves(binding)));
        found.map(|(_, link)| Arc::clone(link))
    }

    /// Adds a link, unless another thread has added a link to the same process and place. Returns
    /// the link to use, and whether this is `fresh`, the new link.
    ///
    /// # Errors
    ///
    /// If the thread's limit or a canceller ended the comparison with the other links. An
    /// incomplete comparison proves nothing, so the link is not added.
    pub(super) fn add(&self, key: Key, mut fresh: Link) -> Result<(Arc<Link>, bool)> {
        loop {
            let others = self.to(key.0);
            fresh.join(&others)?;
            let mut links = lock(&self.0);
            if let Some(known) = links.get(&key).filter(|known| !known.is_dead()) {
                return Ok((Arc::clone(known), false));
            }
            // During the comparison above, another thread may have added a link to the same
            // process.
            let is_new = |link: &Arc<Link>| !others.iter().any(|other| Arc::ptr_eq(other, link));
            if links.iter().any(|((oxid, _), link)| *oxid == key.0 && !link.is_dead() && is_new(link)) {
                continue;
            }
            let fresh = Arc::new(fresh);
            // The replaced link, if any, has ended.
            let ended = links.insert(key, Arc::clone(&fresh));
            drop(links);
            drop(ended);
            return Ok((fresh, true));
        }
    }

    /// Returns the links to a process.
    pub(super) fn to(&self, oxid: u64) -> Vec<Arc<Link>> {
        let links = lock(&self.0);
        let all = links.iter().filter(|((known, _), link)| *known == oxid && !link.is_dead());
        all.map(|(_, link)| Arc::clone(link)).collect()
    }

    /// Returns the host name by which a process reaches this one over a network, and the level at
    /// which this process protects its calls to that process. If there are several links, the link
    /// with the highest level counts. `None` without a link over a network.
    pub(super) fn local_to(&self, oxid: u64) -> Option<(String, Option<Level>)> {
        let links = lock(&self.0);
        let locals = links
            .iter()
            .filter(|((known, _), _)| *known == oxid)
            .filter_map(|((_, place), link)| Some((link.local()?.to_owned(), place.as_ref().and_then(Place::level))));
        locals.max_by_key(|(_, level)| *level)
    }

    pub(super) fn all(&self) -> Vec<Arc<Link>> {
        lock(&self.0).values().cloned().collect()
    }

    /// Removes the links without users for which `is_useless` returns true. The result must be
    /// dropped while no lock is held.
    pub(super) fn take_unused(&self, is_useless: impl Fn(&Link) -> bool) -> Vec<Arc<Link>> {
        // The count is 1 for the table alone. Each user of the link adds 1.
        let unused = |link: &Arc<Link>| Arc::strong_count(link) == 1 && is_useless(link);
        let mut links = lock(&self.0);
        let keys: Vec<_> = links.iter().filter(|(_, link)| unused(link)).map(|(key, _)| key.clone()).collect();
        keys.iter().filter_map(|key| links.remove(key)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Links, Place};
    use crate::client::link::Link;
    use crate::types::deadline;
    use crate::types::error::code;
    use obvia_rpc::string_binding::ProtocolSequence;
    use std::time::Duration;

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn links_that_were_not_compared_before_the_deadline_are_not_added() {
        let links = Links::default();
        let (first, second) = (Link::to_itself(), Link::to_itself());
        let oxid = first.oxid();
        let place = Place { protocol: ProtocolSequence::ViShm, host: String::new(), protection: None };
        let key = || (oxid, Some(place.clone()));
        let (first, _) = links.add((oxid, None), first).unwrap();
        // The comparison of the links needs a mark, which comes over the home connection of
        // `first`. That connection is in use here, so the new thread waits for it until its
        // deadline.
        let late = first.with_home(|_, _| {
            std::thread::scope(|scope| {
                let add = || deadline::with_timeout(Duration::from_millis(50), || links.add(key(), second));
                Ok(scope.spawn(add).join().unwrap())
            })
        });
        assert_eq!(late.unwrap().err().unwrap().code(), code::RPC_E_TIMEOUT);
        let (third, is_new) = links.add(key(), Link::to_itself()).unwrap();
        assert!(is_new && third.leads_where(&first));
    }
}
