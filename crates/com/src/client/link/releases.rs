//! The references that are to be given back to a process.

use super::Link;
use crate::client::address::Address;
use crate::protocol::own_calls;
use crate::types::deadline;
use crate::types::threads::lock;
use crate::types::upkeep;
use obvia_rpc::string_binding::ProtocolSequence;
use obvia_rpc::vi_call::TargetId;
use obvia_via::Deadline;
use std::time::Duration;

/// The limit of a round's releases to one process, and of each release. The last release may begin
/// just before the round's limit, so a process holds the janitor for at most twice this time.
pub(crate) const RELEASE_TIMEOUT: Duration = Duration::from_secs(1);

impl Link {
    /// Whether no references wait to be given back. Proxies hold a reference count of their link,
    /// so that the link's own count shows them.
    pub(crate) fn is_unused(&self) -> bool {
        lock(&self.process.releases).is_empty()
    }

    /// Queues references, if there are any, to be given back to the server soon, in a batch.
    pub(crate) fn release_later(&self, target: TargetId, refs: u32) {
        if refs > 0 {
            self.queue_releases(&[(target, refs)]);
            upkeep::wake();
        }
    }

    fn queue_releases(&self, batch: &[(TargetId, u32)]) {
        let mut queued = lock(&self.process.releases);
        for &(target, refs) in batch {
            let count = queued.entry(target).or_default();
            *count = count.saturating_add(refs);
        }
    }

    /// Removes the references to a target from the queue, and returns their count.
    pub(crate) fn take_releases(&self, target: TargetId) -> u32 {
        lock(&self.process.releases).remove(&target).unwrap_or_default()
    }

    /// Whether the server returns the references in one-way calls that it has refused: see
    /// [`own_calls::list_references`]. False over datagrams, which may overtake each other, and for
    /// servers that are no obvia processes, which know no such call.
    pub(crate) fn returns_refused_references(&self) -> bool {
        let is_ordered = match &self.address {
            Address::Name(_) => true,
            Address::Binding(binding) => binding.protocol != ProtocolSequence::IpUdp,
        };
        is_ordered && self.foreign.is_none()
    }

    /// Gives back the queued references, until `limit`. If some could not be sent, they stay in the
    /// queue while the link lives, and are dropped with a dead link. Returns whether the queue is
    /// empty.
    pub(crate) fn flush_releases(&self, limit: Deadline) -> bool {
        let queued: Vec<_> = std::mem::take(&mut *lock(&self.process.releases)).into_iter().collect();
        let unsent = self.release(&queued, limit);
        let is_done = unsent.is_empty() || self.is_dead();
        if !is_done {
            self.queue_releases(unsent);
        }
        is_done
    }

    /// Gives back references until `limit`. Returns those that were not sent.
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
        link.release_later(target, refs);
        assert!(!link.flush_releases(over) && !link.is_unused());
        assert!(link.flush_releases(in_time) && link.is_unused());
    }
}
