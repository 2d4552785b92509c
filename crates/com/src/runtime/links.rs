//! The links of a process to others, by who they lead to and how.

use super::lock;
use crate::link::{Address, Link, Reached};
use crate::network::level_of;
use crate::security::Protection;
use obvia_rpc::security::Level;
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_via::window::Peer;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Where the other end of a link is, if it is not in the directory of this host: how it is reached, at which host, and how calls are protected.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Place {
    protocol: ProtocolSequence,
    host: String,
    protection: Option<Protection>,
}

impl Place {
    pub(super) fn of(address: &Address, reached: &Reached) -> Option<Self> {
        let Address::Binding(binding) = address else { return None };
        let host = match reached.home.peer() {
            Peer::Host(host) => host,
            Peer::Process { .. } => String::new(),
        };
        Some(Self { protocol: binding.protocol, host, protection: reached.protection().cloned() })
    }

    fn level(&self) -> Option<Level> {
        self.protection.as_ref().map(Protection::level)
    }

    /// Whether a binding leads there, and asks for no more protection.
    fn serves(&self, binding: &StringBinding) -> bool {
        self.protocol == binding.protocol && self.host == binding.address && self.level() >= level_of(binding)
    }
}

/// By process, and where that is.
type Key = (u64, Option<Place>);

/// The links that there are.
#[derive(Default)]
pub(super) struct Links(Mutex<HashMap<Key, Arc<Link>>>);

impl Links {
    /// The link to a process at a place, if there is one.
    pub(super) fn known(&self, key: &Key) -> Option<Arc<Link>> {
        lock(&self.0).get(key).filter(|known| !known.is_dead()).cloned()
    }

    /// A link to a process by a binding, or by a better protected one.
    pub(super) fn known_by(&self, oxid: u64, binding: &StringBinding) -> Option<Arc<Link>> {
        let links = lock(&self.0);
        let mut all = links.iter().filter(|((known, _), link)| *known == oxid && !link.is_dead());
        let found = all.find(|((_, place), _)| place.as_ref().is_some_and(|place| place.serves(binding)));
        found.map(|(_, link)| Arc::clone(link))
    }

    /// Adds a link, unless another thread was faster. Returns the one that is to be used, and whether it is this.
    pub(super) fn add(&self, key: Key, mut fresh: Link) -> (Arc<Link>, bool) {
        loop {
            let others = self.to(key.0);
            fresh.join(&others);
            let mut links = lock(&self.0);
            if let Some(known) = links.get(&key).filter(|known| !known.is_dead()) {
                return (Arc::clone(known), false);
            }
            // One may have come meanwhile that leads to the same process.
            let is_new = |link: &Arc<Link>| !others.iter().any(|other| Arc::ptr_eq(other, link));
            if links.iter().any(|((oxid, _), link)| *oxid == key.0 && !link.is_dead() && is_new(link)) {
                continue;
            }
            let fresh = Arc::new(fresh);
            // Another may have ended.
            let ended = links.insert(key, Arc::clone(&fresh));
            drop(links);
            drop(ended);
            return (fresh, true);
        }
    }

    /// The links by which a process is reached.
    fn to(&self, oxid: u64) -> Vec<Arc<Link>> {
        let links = lock(&self.0);
        let all = links.iter().filter(|((known, _), link)| *known == oxid && !link.is_dead());
        all.map(|(_, link)| Arc::clone(link)).collect()
    }

    /// The host that this process is to another, if it reaches that over a network, and the level at which it protects calls of it.
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

    /// Takes out links that nobody has in hand and that are of no use. They are to be dropped where no lock is held.
    pub(super) fn take_unused(&self, is_useless: impl Fn(&Link) -> bool) -> Vec<Arc<Link>> {
        // One: the table's. A user's would make it more.
        let unused = |link: &Arc<Link>| Arc::strong_count(link) == 1 && is_useless(link);
        let mut links = lock(&self.0);
        let keys: Vec<_> = links.iter().filter(|(_, link)| unused(link)).map(|(key, _)| key.clone()).collect();
        keys.iter().filter_map(|key| links.remove(key)).collect()
    }
}
