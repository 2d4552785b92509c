//! The pings of a client to a resolver, which keep alive the objects that the client refers to. A
//! ping lists the objects that were added and removed since the last ping (MS-DCOM 3.2.6.1).
//!
//! There is one plan for each resolver. A plan reads no clock and sends nothing: [`PingPlan::next`]
//! returns the ping to send, and [`PingPlan::answered`] takes the result.

use super::object_exporter::ComplexPing;
use super::references::Pinging;
use super::{INVALID_OID, INVALID_SET};
use obvia_rpc::status::Status;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// The greatest number of objects that one ping of an existing set adds, and that it removes. The
/// limit keeps the ping to a few fragments.
const CHANGES_MAX: usize = 1000;
/// The number of attempts per period after a failed ping. The ping that adds a new object to the
/// set is sent within `1 / RETRIES` of a period.
const RETRIES: u32 = 4;
/// The greatest backoff that the client follows, as an exponent of 2. With the exponent 2, four
/// periods would pass between pings, but the server waits for three unmodified periods only.
const BACKOFF_MAX: u16 = 1;

/// A ping to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ping {
    /// SimplePing: the set is unchanged.
    Simple {
        /// The identifier of the ping set.
        set: u64,
    },
    /// ComplexPing: the set is changed or made.
    Complex(ComplexPing),
}

/// The pings to one resolver, and the objects of its processes to which this process has
/// references.
#[derive(Clone, Debug)]
pub struct PingPlan {
    /// The objects with the number of proxies for each.
    wanted: BTreeMap<u64, usize>,
    /// The objects that the resolver's set contains, by the answers that have arrived.
    told: BTreeSet<u64>,
    /// The objects that a failed or unanswered ping was to add or remove. The set may or may not
    /// contain them, so the next ping repeats the change.
    unsure: BTreeSet<u64>,
    /// The identifier of the ping set; 0 while there is no set.
    set: u64,
    sequence: u16,
    /// The ping that was sent and has not been answered.
    open: Option<Ping>,
    pinging: Pinging,
    backoff: u16,
    next: Option<Instant>,
    /// The number of consecutive pings that failed or were not answered.
    missed: u32,
}

impl PingPlan {
    /// Makes a plan without objects.
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

    /// Adds a proxy for an object. If the set does not contain the object yet, the next ping is
    /// sent soon and adds the object. The process that passed the reference on may end, and then no
    /// longer pings the object.
    pub fn join(&mut self, oid: u64, now: Instant) {
        *self.wanted.entry(oid).or_insert(0) += 1;
        let soon = now + self.pinging.period / RETRIES;
        let is_told = self.told.contains(&oid);
        self.next = Some(self.next.map_or(soon, |next| if is_told { next } else { next.min(soon) }));
    }

    /// Removes a proxy for an object.
    pub fn leave(&mut self, oid: u64) {
        let Some(count) = self.wanted.get_mut(&oid) else { return };
        *count -= 1;
        if *count == 0 {
            self.wanted.remove(&oid);
        }
    }

    /// Returns the time of the next ping; `None` while no ping is needed, or while an answer is
    /// awaited.
    pub fn due(&self) -> Option<Instant> {
        self.next.filter(|_| self.open.is_none())
    }

    /// Returns the ping to send now, if one is due. No further ping is due until [`Self::answered`]
    /// gets the result of this ping.
    pub fn next(&mut self, now: Instant) -> Option<Ping> {
        self.due().filter(|due| *due <= now)?;
        // A sequence number is used only once in a set. After the last number a new set is made,
        // and the old set expires.
        if self.sequence == u16::MAX {
            self.forget_set();
        }
        // Resolvers ignore unknown objects only in the ping that makes the set. Therefore this ping
        // adds all objects if possible.
        let max = if self.set == 0 { u16::MAX.into() } else { CHANGES_MAX };
        let is_told = |oid: &u64| self.told.contains(oid) && !self.unsure.contains(oid);
        let added: Vec<u64> = self.wanted.keys().filter(|oid| !is_told(oid)).take(max).copied().collect();
        let left = self.told.union(&self.unsure).filter(|oid| !self.wanted.contains_key(oid));
        let removed = left.take(max).copied().collect();
        let ping = ComplexPing { set: self.set, sequence: self.sequence + 1, added, removed };
        let ping = match ping {
            // No set is made while there is no object to ping.
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

    /// Takes the result of the last ping: the set and the backoff in the answer, or the status of a
    /// failure; `None` if no answer arrived.
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
                    // The set is empty now, and expires without further pings.
                    self.forget_set();
                    self.next = None;
                }
            }
            failure => {
                // If the ping was to make a set, the resolver may have made a set whose identifier
                // has not arrived here. That set expires. If the ping was to change the existing
                // set, it is uncertain whether the change was made.
                if let Ping::Complex(ping) = ping
                    && self.set != 0
                {
                    self.unsure.extend(ping.added.into_iter().chain(ping.removed));
                }
                // The resolver has restarted, or does not know one of the objects. A new set will
                // contain the objects that the resolver knows.
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

    /// Whether so many consecutive pings failed or were not answered that even a living resolver
    /// has dropped the objects.
    pub fn is_lost(&self) -> bool {
        self.missed > RETRIES * self.pinging.missed
    }
}
