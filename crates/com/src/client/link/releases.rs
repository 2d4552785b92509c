//! The references that are to be given back to a process.
//!
//! The sender of a reference may have invented the reference's count, and the server subtracts a
//! released count from all references of this process to the target. The references to a target are
//! therefore given back with its last proxy, so that an invented count cannot take the references
//! of the target's other proxies. Only a release that is already being sent when the first proxy of
//! its target is made can still take that proxy's references.

use super::Link;
use crate::client::address::Address;
use crate::protocol::own_calls;
use crate::types::deadline;
use crate::types::threads::lock;
use crate::types::upkeep;
use obvia_rpc::string_binding::ProtocolSequence;
use obvia_rpc::vi_call::TargetId;
use obvia_via::Deadline;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Duration;

/// The time limit of all releases to one process in a round of the janitor, and of each release.
/// The last release can begin just before the round's limit, so one process delays the janitor by
/// at most twice this time.
pub(crate) const RELEASE_TIMEOUT: Duration = Duration::from_secs(1);

/// The references to be given back to a process. A target has an entry in one of the maps at most.
#[derive(Default)]
pub(super) struct Releases {
    /// The targets that have proxies, with their counts.
    held: HashMap<TargetId, Held>,
    /// The counts that are sent next: those of targets without proxies.
    queue: HashMap<TargetId, u32>,
}

/// The number of a target's proxies, and the count that is given back with the last proxy.
#[derive(Default)]
struct Held {
    proxies: usize,
    refs: u32,
}

impl Releases {
    /// Adds a proxy. The first proxy of a target takes over the target's references in the queue.
    fn add_proxy(&mut self, target: TargetId) {
        let held = self.held.entry(target).or_default();
        held.proxies += 1;
        held.refs = held.refs.saturating_add(self.queue.remove(&target).unwrap_or_default());
    }

    /// Removes a proxy with its references. The last proxy of a target moves all references to the
    /// target to the queue.
    fn remove_proxy(&mut self, target: TargetId, refs: u32) {
        self.add(target, refs);
        if let Entry::Occupied(mut held) = self.held.entry(target) {
            held.get_mut().proxies -= 1;
            if held.get().proxies == 0 {
                let refs = held.remove().refs;
                self.add(target, refs);
            }
        }
    }

    /// Adds references. If their target has proxies, the references wait for the last of these
    /// proxies.
    fn add(&mut self, target: TargetId, refs: u32) {
        if refs == 0 {
            return;
        }
        let count = match self.held.get_mut(&target) {
            Some(held) => &mut held.refs,
            None => self.queue.entry(target).or_default(),
        };
        *count = count.saturating_add(refs);
    }

    /// Empties the queue, and returns its content.
    fn take(&mut self) -> Vec<(TargetId, u32)> {
        self.queue.drain().collect()
    }
}

impl Link {
    /// Whether no references wait to be sent. Proxies are not examined, because each of them keeps
    /// its link alive by a reference count.
    pub(crate) fn is_unused(&self) -> bool {
        lock(&self.process.releases).queue.is_empty()
    }

    /// Whether there are proxies for targets of the process. The janitor is woken when the last
    /// proxy is removed.
    pub(crate) fn has_proxies(&self) -> bool {
        !lock(&self.process.releases).held.is_empty()
    }

    /// Adds a proxy of a target. No references to the target are given back before
    /// [`Self::remove_proxy`].
    pub(crate) fn add_proxy(&self, target: TargetId) {
        lock(&self.process.releases).add_proxy(target);
    }

    /// Removes a proxy of a target, and gives the proxy's references back: with the last proxy if
    /// the target has other proxies, and soon otherwise.
    pub(crate) fn remove_proxy(&self, target: TargetId, refs: u32) {
        self.change_releases(|releases| releases.remove_proxy(target, refs));
    }

    /// Gives back references that belong to no proxy: with the last proxy if their target has
    /// proxies, and soon otherwise.
    pub(crate) fn give_back(&self, target: TargetId, refs: u32) {
        self.change_releases(|releases| releases.add(target, refs));
    }

    fn change_releases(&self, change: impl FnOnce(&mut Releases)) {
        let mut releases = lock(&self.process.releases);
        change(&mut releases);
        let is_janitor_due = !releases.queue.is_empty() || releases.held.is_empty();
        drop(releases);
        if is_janitor_due {
            upkeep::wake();
        }
    }

    /// Whether the server returns the references in one-way calls that it has refused: see
    /// [`own_calls::list_references`]. False over datagrams, which may overtake each other, and for
    /// servers that are not obvia processes, because these do not know the call.
    pub(crate) fn returns_refused_references(&self) -> bool {
        let is_ordered = match &self.address {
            Address::Name(_) => true,
            Address::Binding(binding) => binding.protocol != ProtocolSequence::IpUdp,
        };
        is_ordered && self.foreign.is_none()
    }

    /// Gives back the queued references, until `limit`. References that could not be sent are
    /// queued again. If their target has a proxy again, they wait for that proxy instead. The
    /// references of a dead link are dropped. Returns whether no references are left to be sent.
    pub(crate) fn flush_releases(&self, limit: Deadline) -> bool {
        let queued = lock(&self.process.releases).take();
        let unsent = self.release(&queued, limit);
        let is_done = unsent.is_empty() || self.is_dead();
        if !is_done {
            let mut releases = lock(&self.process.releases);
            unsent.iter().for_each(|&(target, refs)| releases.add(target, refs));
        }
        is_done
    }

    /// Gives back references until `limit`. Returns the part of `batch` that was not sent.
    pub(crate) fn release<'a>(&self, batch: &'a [(TargetId, u32)], limit: Deadline) -> &'a [(TargetId, u32)] {
        for (at, part) in batch.chunks(own_calls::RELEASES_MAX).enumerate() {
            let mut is_sent = false;
            // Once the release was sent, its references count as given back even if the answer is
            // late. Each part has a time limit of its own, since a release that ends without an
            // answer breaks the connection.
            let outcome = deadline::with(limit, || {
                self.with_home(|home, _| {
                    let own = Deadline::Within(RELEASE_TIMEOUT).start();
                    own_calls::release(home, own, part, &mut is_sent)
                })
            });
            if outcome.is_err() && !is_sent {
                return &batch[at * own_calls::RELEASES_MAX..];
            }
        }
        &[]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn references_are_not_given_back_after_the_limit_of_their_round() {
        let link = Link::to_itself();
        let (over, in_time) = (Deadline::At(Instant::now()), Deadline::Within(ground::LATEST));
        let batch = [(TargetId { index: 1, generation: 1 }, 1)];
        assert_eq!(link.release(&batch, over), batch);
        assert!(link.release(&batch, in_time).is_empty());
        let [(target, refs)] = batch;
        link.give_back(target, refs);
        assert!(!link.flush_releases(over) && !link.is_unused());
        assert!(link.flush_releases(in_time) && link.is_unused());
    }

    #[test]
    fn references_wait_for_the_last_proxy_of_their_target() {
        let (target, other) = (TargetId { index: 1, generation: 1 }, TargetId { index: 2, generation: 1 });
        let mut releases = Releases::default();
        releases.add(target, 1);
        releases.add(other, 2);
        releases.add_proxy(target);
        releases.add_proxy(target);
        assert_eq!(releases.take(), [(other, 2)]);
        releases.add(target, 3);
        releases.remove_proxy(target, 5);
        assert!(releases.take().is_empty());
        releases.remove_proxy(target, 5);
        assert_eq!(releases.take(), [(target, 14)]);
        assert!(releases.held.is_empty());
        // A proxy without references leaves nothing to be sent, and the sum of counts does not wrap
        // around.
        releases.add_proxy(target);
        releases.remove_proxy(target, 0);
        assert!(releases.take().is_empty());
        releases.add(target, u32::MAX);
        releases.add_proxy(target);
        releases.remove_proxy(target, u32::MAX);
        assert_eq!(releases.take(), [(target, u32::MAX)]);
    }

    #[test]
    fn an_unsent_release_does_not_end_a_proxy_that_was_made_meanwhile() {
        let target = TargetId { index: 1, generation: 1 };
        let mut releases = Releases::default();
        releases.add(target, 5);
        let unsent = releases.take();
        releases.add_proxy(target);
        unsent.into_iter().for_each(|(target, refs)| releases.add(target, refs));
        assert!(releases.take().is_empty());
        releases.remove_proxy(target, 5);
        assert_eq!(releases.take(), [(target, 10)]);
    }
}
