//! Plans: a seed decides how bad the network is, which side posts what and when, and what goes
//! wrong.

use crate::Reliability;
use crate::reliable::Settings;
use crate::wrap::{Conditions, Cut, Random, Share};
use std::time::Duration;

/// A whole trial.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) reliability: Reliability,
    /// The conditions of the datagrams that each side sends.
    pub(super) conditions: [Conditions; 2],
    pub(super) mtu: usize,
    pub(super) settings: Settings,
    /// The connections of the two VIs, one after the other.
    pub(super) rounds: Vec<Round>,
}

/// One connection.
#[derive(Debug)]
pub(super) struct Round {
    /// The work of each side.
    pub(super) sides: [Work; 2],
    /// The side that requests the connection.
    pub(super) asks: usize,
    /// Whether the VIs have different reliability levels.
    pub(super) is_mismatched: bool,
    /// The accident, and its time.
    pub(super) accident: Option<(Duration, Accident)>,
    /// The times at which old datagrams arrive again.
    pub(super) resends: Vec<Duration>,
}

/// The work of one side on a connection. Times count from the beginning of the connection.
#[derive(Debug, Default)]
pub(super) struct Work {
    pub(super) operations: Vec<Operation>,
    pub(super) receives: Vec<Receive>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub(super) at: Duration,
    pub(super) kind: Kind,
    pub(super) length: u32,
    pub(super) segments: u32,
    pub(super) immediate: Option<u32>,
    pub(super) fault: Option<Fault>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Send,
    Write,
    Read,
}

/// The fault of an RDMA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The handle names no region.
    Handle,
    /// The RDMA begins in the region and ends outside.
    Bounds,
    /// The region does not allow the RDMA.
    Access,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Receive {
    pub(super) at: Duration,
    pub(super) room: u32,
    pub(super) segments: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Accident {
    /// A disconnection by this side.
    Disconnect(usize),
    /// The death of this side's NIC, which is restarted for the next round.
    Kill(usize),
    /// A cut: no datagram gets through any more, in either direction.
    Cut,
    /// A change of the route: long datagrams no longer get through, in either direction.
    Shorten,
}

impl Operation {
    /// Whether the operation consumes a receive of the peer.
    pub(super) fn consumes(&self) -> bool {
        self.kind == Kind::Send || (self.kind == Kind::Write && self.immediate.is_some())
    }
}

impl Plan {
    pub(super) fn of(seed: u64) -> Self {
        let mut random = Random::stream(seed, 0x706c_616e);
        let reliability = match random.below(5) {
            0 => Reliability::Unreliable,
            1 | 2 => Reliability::ReliableDelivery,
            _ => Reliability::ReliableReception,
        };
        let settings = Settings {
            silence: Duration::from_millis(random.between(1000, 5000)),
            window: [1 << 14, 1 << 16, 1 << 20][random.below(3) as usize],
            ..Settings::default()
        };
        let severity = random.below(4);
        let conditions = [0, 1].map(|_| conditions(&mut random, severity, seed));
        let rounds = 1 + random.below(2);
        let rounds = (0..rounds).map(|_| Round::of(&mut random, reliability)).collect();
        Self { reliability, conditions, mtu: random.between(1200, 9000) as usize, settings, rounds }
    }

    /// Returns the share of round trips that fail, in parts per million.
    pub(super) fn failing(&self) -> u64 {
        let through = |conditions: &Conditions| {
            let bad = [conditions.loss, conditions.corrupt, conditions.truncate, conditions.busy];
            bad.iter()
                .fold(1_000_000, |left, share| left * u64::from(1_000_000 - share.parts_per_million()) / 1_000_000)
        };
        1_000_000 - through(&self.conditions[0]) * through(&self.conditions[1]) / 1_000_000
    }

    /// Whether a live peer may count as gone. A peer counts as gone after at least four unanswered
    /// signs of life. Where few round trips fail, a live peer must not count as gone.
    pub(super) fn may_seem_silent(&self) -> bool {
        let is_long = |cut: &Cut| cut.length.is_none_or(|length| length > self.settings.silence / 8);
        self.failing() > 20_000 || self.conditions.iter().any(|one| one.rate > 0 || one.cuts.iter().any(is_long))
    }

    /// Returns the time after the last planned event by which everything must be over.
    pub(super) fn time_limit(&self) -> Duration {
        // A generous limit: several times the time to notice a silent peer, and a minute for
        // transfers at the slowest rate with losses.
        self.settings.silence * 4 + Duration::from_secs(60)
    }
}

/// Makes the conditions of one direction. Severity 0 is perfect, 1 is an ordinary network, 2 is
/// bad, and 3 has one very bad property.
fn conditions(random: &mut Random, severity: u64, seed: u64) -> Conditions {
    let mut conditions = Conditions { seed, ..Conditions::default() };
    conditions.delay = Duration::from_micros([0, 20, 1000, 30_000][random.below(4) as usize]);
    conditions.jitter = conditions.delay / 4;
    let shares = [
        &mut conditions.loss,
        &mut conditions.duplicate,
        &mut conditions.reorder,
        &mut conditions.corrupt,
        &mut conditions.truncate,
        &mut conditions.busy,
    ];
    match severity {
        0 => {}
        1 => shares.into_iter().for_each(|share| *share = Share::parts(random.below(2_000) as u32)),
        2 => shares.into_iter().for_each(|share| *share = Share::parts(random.below(60_000) as u32)),
        _ => {
            let index = random.below(6) as usize;
            for (_, share) in shares.into_iter().enumerate().filter(|(number, _)| *number == index) {
                *share = Share::parts(random.below(250_000) as u32);
            }
        }
    }
    if severity > 1 && random.below(4) == 0 {
        conditions.rate = random.between(4, 200) * 1_000_000;
    }
    if severity > 1 && random.below(4) == 0 {
        let after = Duration::from_millis(random.below(300));
        conditions.cuts.push(Cut { after, length: Some(Duration::from_millis(random.below(1500))) });
    }
    conditions
}

impl Round {
    fn of(random: &mut Random, reliability: Reliability) -> Self {
        let mut sides = [0, 1].map(|_| Work { operations: operations(random, reliability), receives: Vec::new() });
        for side in 0..2 {
            sides[side].receives = receives(random, &sides[1 - side].operations, reliability);
        }
        let accident = match random.below(10) {
            0 | 1 => Some(Accident::Disconnect(random.below(2) as usize)),
            2 => Some(Accident::Kill(random.below(2) as usize)),
            3 => Some(Accident::Cut),
            4 => Some(Accident::Shorten),
            _ => None,
        };
        let some_time = |random: &mut Random| Duration::from_micros(random.below(400_000));
        let accident = accident.map(|accident| (some_time(random), accident));
        let mut resends: Vec<_> = (0..random.below(12)).map(|_| some_time(random)).collect();
        resends.sort();
        Self { sides, asks: random.below(2) as usize, is_mismatched: random.below(40) == 0, accident, resends }
    }
}

fn length(random: &mut Random) -> u32 {
    let most = [0, 1, 64, 1200, 5000, 65_536][random.below(6) as usize];
    random.between(0, most) as u32
}

fn operations(random: &mut Random, reliability: Reliability) -> Vec<Operation> {
    let count = [0, 1, 5, 20, 40][random.below(5) as usize];
    let is_careless = random.below(8) == 0;
    let mut at = Duration::ZERO;
    let mut one = |random: &mut Random| {
        if random.below(3) == 0 {
            at += Duration::from_micros(random.below(20_000));
        }
        let kind = match random.below(10) {
            0..=5 => Kind::Send,
            6 | 7 if reliability.is_reliable() => Kind::Read,
            _ => Kind::Write,
        };
        let has_immediate = kind != Kind::Read && random.below(2) == 0;
        let is_wrong = kind != Kind::Send && is_careless && random.below(6) == 0;
        let fault = [Fault::Handle, Fault::Bounds, Fault::Access][random.below(3) as usize];
        Operation {
            at,
            kind,
            length: length(random),
            segments: random.between(1, 4) as u32,
            immediate: has_immediate.then_some(random.word() as u32),
            fault: is_wrong.then_some(fault),
        }
    };
    (0..count).map(|_| one(random)).collect()
}

/// Returns the receives for the peer's operations, mostly in time and large enough.
fn receives(random: &mut Random, peers: &[Operation], reliability: Reliability) -> Vec<Receive> {
    let consuming: Vec<_> = peers.iter().filter(|operation| operation.consumes()).collect();
    let longest = consuming.iter().map(|operation| operation.length).max().unwrap_or(0);
    let mut receives: Vec<_> = consuming
        .iter()
        .map(|operation| {
            // If a message gets lost silently, another message takes its receive.
            let least = if reliability.is_reliable() { operation.length } else { longest };
            let room = least + random.below(100) as u32;
            Receive { at: Duration::ZERO, room, segments: random.between(1, 4) as u32 }
        })
        .collect();
    match random.below(8) {
        // There are too few receives, or some are posted too late.
        0 => {
            let mut at = Duration::ZERO;
            for receive in &mut receives {
                at += Duration::from_micros(random.below(10_000));
                receive.at = at;
            }
            let count = random.below(receives.len() as u64 + 1) as usize;
            receives.truncate(count);
        }
        // One receive is too small.
        1 if !receives.is_empty() => {
            let victim = random.below(receives.len() as u64) as usize;
            receives[victim].room = random.below(u64::from(receives[victim].room) + 1) as u32;
        }
        _ => {
            for _ in 0..random.below(4) {
                receives.push(Receive { at: Duration::ZERO, room: longest, segments: 1 });
            }
        }
    }
    receives
}
