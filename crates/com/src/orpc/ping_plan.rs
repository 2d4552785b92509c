//! What a client says to a resolver so that its objects stay: who joined and who left since the last ping (MS-DCOM 3.2.6.1).
//!
//! There is one plan for each resolver. It keeps no time of its own and sends nothing: [`PingPlan::next`] says what to send, and
//! [`PingPlan::answered`] what became of it.

use super::object_exporter::ComplexPing;
use super::references::Pinging;
use super::{INVALID_OID, INVALID_SET};
use obvia_rpc::status::Status;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Objects that one ping adds or removes at the most, so that a ping stays one fragment or a few.
const CHANGES_MAX: usize = 1000;
/// How often a ping that failed is tried again in a period, and how soon in it a new object is told.
const RETRIES: u32 = 4;
/// The most that a server can stretch the period: 2 to the power of this. Its patience is three periods as a client has them.
const BACKOFF_MAX: u16 = 1;

/// A ping to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ping {
    /// The set is as it was: SimplePing.
    Simple {
        /// The set.
        set: u64,
    },
    /// The set changes, or is made: ComplexPing.
    Complex(ComplexPing),
}

/// The objects of one resolver's processes that this process refers to.
#[derive(Clone, Debug)]
pub struct PingPlan {
    /// Objects, and how many proxies want each.
    wanted: BTreeMap<u64, usize>,
    /// What the set has, as far as is known.
    told: BTreeSet<u64>,
    /// What was to come into it or to leave it by a ping without an answer: whether it did is not known, and it is said again.
    unsure: BTreeSet<u64>,
    /// 0 while there is none.
    set: u64,
    sequence: u16,
    /// Sent, and not answered yet.
    open: Option<Ping>,
    pinging: Pinging,
    backoff: u16,
    next: Option<Instant>,
    /// Pings in a row without an answer.
    missed: u32,
}

impl PingPlan {
    /// A plan without objects.
    pub fn new(pinging: Pinging) -> Self {
        Self {
            wanted: BTreeMap::new(),
            told: BTreeSet::new(),
            unsure: BTreeSet::new(),
            set: 0,
            sequence: 0,
            open: None,
            pinging,
            backoff: 0,
            next: None,
            missed: 0,
        }
    }

    /// A proxy for an object came to be. The object is told soon, together with others: who handed the reference on may be about to
    /// end, and its pings with it.
    pub fn join(&mut self, oid: u64, now: Instant) {
        *self.wanted.entry(oid).or_insert(0) += 1;
        let soon = now + self.pinging.period / RETRIES;
        let is_told = self.told.contains(&oid);
        self.next = Some(self.next.map_or(soon, |next| if is_told { next } else { next.min(soon) }));
    }

    /// One of the proxies for an object is gone.
    pub fn leave(&mut self, oid: u64) {
        let Some(count) = self.wanted.get_mut(&oid) else { return };
        *count -= 1;
        if *count == 0 {
            self.wanted.remove(&oid);
        }
    }

    /// When there is something to send next. `None` while there is nothing that the resolver would have to know.
    pub fn due(&self) -> Option<Instant> {
        self.next.filter(|_| self.open.is_none())
    }

    /// What to send now, if it is time. Until it is answered there is nothing more.
    pub fn next(&mut self, now: Instant) -> Option<Ping> {
        self.due().filter(|due| *due <= now)?;
        // A number is not used twice in a set: after the last one there is a new set, and the old one ends by itself.
        if self.sequence == u16::MAX {
            self.forget_set();
        }
        // Only a new set passes over what the resolver does not know, so all that can be goes into it at once.
        let max = if self.set == 0 { u16::MAX.into() } else { CHANGES_MAX };
        let is_told = |oid: &u64| self.told.contains(oid) && !self.unsure.contains(oid);
        let added: Vec<u64> = self.wanted.keys().filter(|oid| !is_told(oid)).take(max).copied().collect();
        let left = self.told.union(&self.unsure).filter(|oid| !self.wanted.contains_key(oid));
        let removed = left.take(max).copied().collect();
        let ping = ComplexPing { set: self.set, sequence: self.sequence + 1, added, removed };
        let ping = match ping {
            // A set that nothing was to be in, or is in any more, is nothing to be told of.
            ComplexPing { set: 0, added, .. } if added.is_empty() => {
                self.next = None;
                return None;
            }
            ComplexPing { set, added, removed, .. } if added.is_empty() && removed.is_empty() => Ping::Simple { set },
            ping => {
                self.sequence = ping.sequence;
                Ping::Complex(ping)
            }
        };
        self.open = Some(ping.clone());
        Some(ping)
    }

    /// What became of the ping that was sent: the set and the backoff factor of the answer, or its status; `None` where no answer came.
    pub fn answered(&mut self, answer: Option<Result<(u64, u16), Status>>, now: Instant) {
        let Some(ping) = self.open.take() else { return };
        match answer {
            Some(Ok((set, backoff))) => {
                self.missed = 0;
                if let Ping::Complex(ping) = ping {
                    self.set = set;
                    self.backoff = backoff.min(BACKOFF_MAX);
                    for oid in &ping.removed {
                        self.told.remove(oid);
                        self.unsure.remove(oid);
                    }
                    for oid in ping.added {
                        self.told.insert(oid);
                        self.unsure.remove(&oid);
                    }
                }
                let is_settled = self.unsure.is_empty() && self.told.iter().eq(self.wanted.keys());
                self.next = Some(if is_settled { now + self.period() } else { now });
                if is_settled && self.wanted.is_empty() {
                    // An empty set ends by itself.
                    self.forget_set();
                    self.next = None;
                }
            }
            failure => {
                // A new set that was made and not heard of ends by itself.
                if let Ping::Complex(ping) = ping
                    && self.set != 0
                {
                    self.unsure.extend(ping.added.into_iter().chain(ping.removed));
                }
                // The resolver has begun anew, or does not know an object and says not which: a new set takes those that it knows.
                if matches!(failure, Some(Err(INVALID_SET | INVALID_OID))) {
                    self.forget_set();
                }
                self.missed += 1;
                self.next = Some(now + self.period() / RETRIES);
            }
        }
    }

    fn forget_set(&mut self) {
        self.set = 0;
        self.sequence = 0;
        self.told.clear();
        self.unsure.clear();
    }

    fn period(&self) -> Duration {
        self.pinging.period * (1 << self.backoff)
    }

    /// Whether so many pings in a row got no answer that the resolver has given the objects up, if it lives.
    pub fn is_lost(&self) -> bool {
        self.missed > RETRIES * self.pinging.missed
    }
}
