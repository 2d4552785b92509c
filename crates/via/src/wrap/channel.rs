//! One direction of a network under given conditions. The caller passes the time to each call.
//!
//! A channel never reads a clock: the same seed, datagrams and times always have the same outcome.
//! [`super::FaultLink`] runs it in real time, [`crate::provider::sim`] in virtual time.

use super::conditions::Conditions;
use super::random::Random;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

/// One direction of a network.
#[derive(Debug)]
pub struct Channel {
    conditions: Conditions,
    random: Random,
    is_cut: bool,
    flying: BinaryHeap<Reverse<Flying>>,
    flying_bytes: usize,
    numbered: u64,
    // The time at which the wire will have sent all datagrams offered so far.
    wire_free: Duration,
    // The arrival time of the last datagram that was not reordered.
    last_due: Duration,
    spare: Vec<Vec<u8>>,
    counts: Counts,
}

/// A datagram on its way. Datagrams due at the same time arrive in the order of their offers.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Flying {
    due: Duration,
    number: u64,
    bytes: Vec<u8>,
}

/// The outcomes of the datagrams of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of datagrams offered, including refused ones.
    pub offered: u64,
    /// The number of datagrams that found no room, and stayed with the sender.
    pub refused: u64,
    /// The number of datagrams lost by chance.
    pub lost: u64,
    /// The number of datagrams lost in a cut.
    pub cut: u64,
    /// The number of datagrams lost because too many were waiting.
    pub overflowed: u64,
    /// The number of additional copies.
    pub duplicated: u64,
    /// The number of copies held back.
    pub reordered: u64,
    /// The number of arriving copies with wrong bits.
    pub corrupted: u64,
    /// The number of arriving copies that are cut short.
    pub truncated: u64,
    /// The number of copies that arrived, damaged ones included.
    pub arrived: u64,
}

impl Counts {
    /// Returns the sums of the counts of both values.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            offered: self.offered + other.offered,
            refused: self.refused + other.refused,
            lost: self.lost + other.lost,
            cut: self.cut + other.cut,
            overflowed: self.overflowed + other.overflowed,
            duplicated: self.duplicated + other.duplicated,
            reordered: self.reordered + other.reordered,
            corrupted: self.corrupted + other.corrupted,
            truncated: self.truncated + other.truncated,
            arrived: self.arrived + other.arrived,
        }
    }
}

impl Channel {
    /// The maximum number of datagrams on their way; further ones are lost, as in a router.
    pub const FLYING_MAX: usize = 1 << 14;
    /// The maximum number of bytes on their way.
    pub const FLYING_BYTES_MAX: usize = 64 << 20;
    /// The minimum time for which a reordered datagram is held back.
    const HOLD: Duration = Duration::from_micros(50);
    /// The maximum number of buffers kept for the next datagrams.
    const SPARE_MAX: usize = 256;

    /// Makes a channel with these conditions. `number` distinguishes channels that share a seed.
    pub fn new(conditions: Conditions, number: u64) -> Self {
        Self {
            random: Random::stream(conditions.seed, number),
            conditions,
            is_cut: false,
            flying: BinaryHeap::new(),
            flying_bytes: 0,
            numbered: 0,
            wire_free: Duration::ZERO,
            last_due: Duration::ZERO,
            spare: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// Returns the conditions.
    pub fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    /// Sets other conditions from now on. The seed in them has no effect.
    pub fn set_conditions(&mut self, conditions: Conditions) {
        self.conditions = conditions;
    }

    /// Returns the outcomes so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Cuts the channel or restores it, independently of the cuts in its conditions. Datagrams on
    /// their way still arrive.
    pub fn set_cut(&mut self, is_cut: bool) {
        self.is_cut = is_cut;
    }

    /// Whether the channel is cut now.
    pub fn is_cut(&self, now: Duration) -> bool {
        self.is_cut || self.conditions.cuts.iter().any(|cut| cut.holds(now))
    }

    /// Sends a datagram. Returns `false` when there is no room now.
    pub fn offer(&mut self, now: Duration, datagram: &[u8]) -> bool {
        self.counts.offered += 1;
        if self.random.happens(self.conditions.busy.parts_per_million()) {
            self.counts.refused += 1;
            return false;
        }
        if self.is_cut(now) {
            self.counts.cut += 1;
            return true;
        }
        let Some(sent) = self.serialise(now, datagram.len()) else {
            self.counts.overflowed += 1;
            return true;
        };
        if self.random.happens(self.conditions.loss.parts_per_million()) {
            self.counts.lost += 1;
            return true;
        }
        self.launch(sent, datagram);
        if self.random.happens(self.conditions.duplicate.parts_per_million()) {
            self.counts.duplicated += 1;
            self.launch(sent, datagram);
        }
        true
    }

    /// Returns the time at which the wire will have sent a datagram. `None` if the queue for the
    /// wire has no room for the datagram.
    fn serialise(&mut self, now: Duration, length: usize) -> Option<Duration> {
        if self.conditions.rate == 0 {
            return Some(now);
        }
        let takes = |bytes: u64| {
            let nanos = u128::from(bytes) * 8 * 1_000_000_000 / u128::from(self.conditions.rate);
            Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
        };
        let start = self.wire_free.max(now);
        if start - now > takes(self.conditions.queue) {
            return None;
        }
        self.wire_free = start.saturating_add(takes(length as u64));
        Some(self.wire_free)
    }

    fn launch(&mut self, sent: Duration, datagram: &[u8]) {
        if self.flying.len() >= Self::FLYING_MAX || self.flying_bytes + datagram.len() > Self::FLYING_BYTES_MAX {
            self.counts.overflowed += 1;
            return;
        }
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.clear();
        bytes.extend_from_slice(datagram);
        self.spoil(&mut bytes);
        let jitter = self.some_time(self.conditions.jitter);
        let due = sent.saturating_add(self.conditions.delay).saturating_add(jitter);
        let due = if self.random.happens(self.conditions.reorder.parts_per_million()) {
            self.counts.reordered += 1;
            let span = (self.conditions.delay + self.conditions.jitter).saturating_mul(2).max(Self::HOLD * 4);
            due.saturating_add(Self::HOLD + self.some_time(span))
        } else {
            self.last_due = due.max(self.last_due);
            self.last_due
        };
        self.flying_bytes += bytes.len();
        self.flying.push(Reverse(Flying { due, number: self.numbered, bytes }));
        self.numbered += 1;
    }

    /// Draws a random time from zero to `most`.
    fn some_time(&mut self, most: Duration) -> Duration {
        if most.is_zero() {
            return Duration::ZERO;
        }
        Duration::from_nanos(self.random.between(0, u64::try_from(most.as_nanos()).unwrap_or(u64::MAX)))
    }

    fn spoil(&mut self, bytes: &mut Vec<u8>) {
        if self.random.happens(self.conditions.truncate.parts_per_million()) && !bytes.is_empty() {
            bytes.truncate(self.random.below(bytes.len() as u64) as usize);
            self.counts.truncated += 1;
        }
        if self.random.happens(self.conditions.corrupt.parts_per_million()) && !bytes.is_empty() {
            corrupt(&mut self.random, bytes);
            self.counts.corrupted += 1;
        }
    }

    /// Returns the arrival time of the next datagram, if one is on its way.
    pub fn due(&self) -> Option<Duration> {
        self.flying.peek().map(|Reverse(flying)| flying.due)
    }

    /// Takes the next datagram that has arrived. The caller may return the datagram's memory by
    /// [`Self::recycle`], which saves an allocation.
    pub fn take(&mut self, now: Duration) -> Option<Vec<u8>> {
        if self.due()? > now {
            return None;
        }
        let Reverse(flying) = self.flying.pop()?;
        self.flying_bytes -= flying.bytes.len();
        self.counts.arrived += 1;
        Some(flying.bytes)
    }

    /// Puts back a datagram that found no room at its destination, as the next one.
    pub fn put_back(&mut self, bytes: Vec<u8>) {
        self.flying_bytes += bytes.len();
        self.counts.arrived -= 1;
        self.flying.push(Reverse(Flying { due: Duration::ZERO, number: 0, bytes }));
    }

    /// Takes back the memory of a datagram.
    pub fn recycle(&mut self, bytes: Vec<u8>) {
        if self.spare.len() < Self::SPARE_MAX {
            self.spare.push(bytes);
        }
    }

    /// Loses all datagrams on their way.
    pub fn clear(&mut self) {
        self.counts.cut += self.flying.len() as u64;
        self.flying.clear();
        self.flying_bytes = 0;
    }
}

/// Corrupts bytes in a way that CRC-32C always detects: up to three bits, or a burst of at most 32
/// bits.
fn corrupt(random: &mut Random, bytes: &mut [u8]) {
    let bits = bytes.len() as u64 * 8;
    if random.below(4) == 0 {
        let start = random.below(bytes.len() as u64) as usize;
        let end = bytes.len().min(start + 1 + random.below(4) as usize);
        // The first byte of the burst always changes.
        bytes[start] ^= 1 + random.below(255) as u8;
        for byte in &mut bytes[start + 1..end] {
            *byte = random.word() as u8;
        }
        return;
    }
    let flip = |bytes: &mut [u8], bit: u64| bytes[(bit / 8) as usize] ^= 1 << (bit % 8);
    let first = random.below(bits);
    flip(bytes, first);
    // No other flip hits the first bit, which therefore stays flipped.
    for _ in 0..random.below(3).min(bits - 1) {
        let other = (first + 1 + random.below(bits - 1)) % bits;
        flip(bytes, other);
    }
}

#[cfg(test)]
mod tests {
    use super::{Channel, corrupt};
    use crate::wrap::Random;
    use std::time::Duration;

    const NOW: Duration = Duration::from_secs(1);

    fn channel(text: &str) -> Channel {
        Channel::new(text.parse().unwrap(), 0)
    }

    /// Sends numbers, a microsecond apart, and returns the arriving datagrams with their times.
    fn pass(channel: &mut Channel, count: u32) -> Vec<(Duration, Vec<u8>)> {
        let mut now = NOW;
        for number in 0..count {
            assert!(channel.offer(now, &number.to_le_bytes()));
            now += Duration::from_micros(1);
        }
        let mut arrived = Vec::new();
        while let Some(due) = channel.due() {
            assert_eq!(channel.take(due - Duration::from_nanos(1)), None, "nothing comes early");
            arrived.push((due, channel.take(due).unwrap()));
        }
        arrived
    }

    fn number(bytes: &[u8]) -> u32 {
        u32::from_le_bytes(bytes.try_into().unwrap())
    }

    #[test]
    fn a_channel_without_faults_changes_nothing() {
        let arrived = pass(&mut channel(""), 1000);
        for (number, (at, bytes)) in (0_u32..).zip(&arrived) {
            assert_eq!((*at, &bytes[..]), (NOW + Duration::from_micros(number.into()), &number.to_le_bytes()[..]));
        }
        assert_eq!(arrived.len(), 1000);
    }

    #[test]
    fn network_conditions_are_applied_and_counted() {
        let mut lossy = channel("loss=10%,seed=1");
        let left = pass(&mut lossy, 10_000).len() as u64;
        assert!((8_800..9_200).contains(&left) && lossy.counts().lost == 10_000 - left, "{left}");

        let mut double = channel("dup=10%,seed=1");
        let all = pass(&mut double, 10_000).len() as u64;
        assert!((10_800..11_200).contains(&all) && double.counts().duplicated == all - 10_000, "{all}");

        let mut mixed = channel("reorder=10%,jitter=3us,seed=1");
        let arrived = pass(&mut mixed, 10_000);
        let early = arrived.windows(2).filter(|pair| number(&pair[1].1) < number(&pair[0].1)).count();
        assert!(early > 500 && (800..1200).contains(&mixed.counts().reordered), "{early}");

        let mut short = channel("trunc=10%,seed=1");
        let cut = pass(&mut short, 10_000).iter().filter(|(_, bytes)| bytes.len() < 4).count() as u64;
        assert!((800..1200).contains(&cut) && cut == short.counts().truncated);

        let mut wrong = channel("corrupt=10%,seed=1");
        let arrived = pass(&mut wrong, 10_000);
        let changed = (0_u32..).zip(&arrived).filter(|(number, (_, bytes))| bytes[..] != number.to_le_bytes()).count();
        assert!((800..1200).contains(&changed) && changed as u64 == wrong.counts().corrupted);

        let mut busy = channel("busy=50%,seed=1");
        let sent = (0..1000).filter(|_| busy.offer(NOW, b"x")).count() as u64;
        assert!((400..600).contains(&sent) && busy.counts().refused == 1000 - sent);
    }

    #[test]
    fn delay_jitter_and_rate_postpone_datagrams() {
        let arrived = pass(&mut channel("delay=1ms,jitter=1ms,seed=3"), 1000);
        let took = |(number, (at, _)): (u32, &(Duration, Vec<u8>))| *at - NOW - Duration::from_micros(number.into());
        let times: Vec<_> = (0_u32..).zip(&arrived).map(took).collect();
        assert!(times.iter().all(|time| (Duration::from_millis(1)..=Duration::from_millis(2)).contains(time)));
        assert!(arrived.windows(2).all(|pair| number(&pair[0].1) < number(&pair[1].1)), "jitter keeps the order");

        // 1 Mbit/s carries four bytes in 32 us; ten datagrams may wait.
        let mut slow = channel("rate=1Mbit,queue=40B");
        let arrived = pass(&mut slow, 100);
        for (nth, (at, _)) in (1_u32..).zip(&arrived).take(10) {
            assert_eq!(*at - NOW, Duration::from_micros(32) * nth);
        }
        assert!(arrived.len() < 20 && arrived.len() as u64 + slow.counts().overflowed == 100);
    }

    #[test]
    fn a_cut_channel_passes_no_datagrams() {
        let mut channel = channel("cut=10us+20us");
        let early = NOW.checked_sub(NOW).unwrap();
        for micros in 0..40 {
            channel.offer(early + Duration::from_micros(micros), &[micros as u8]);
        }
        let arrived: Vec<u8> = std::iter::from_fn(|| channel.take(NOW)).map(|bytes| bytes[0]).collect();
        assert_eq!(arrived, (0..10).chain(30..40).collect::<Vec<_>>());
        channel.set_cut(true);
        channel.offer(NOW, b"x");
        channel.set_cut(false);
        channel.offer(NOW, b"y");
        assert_eq!((channel.take(NOW), channel.take(NOW)), (Some(b"y".to_vec()), None));
        assert_eq!(channel.counts().cut, 21);
    }

    #[test]
    fn channel_faults_follow_from_the_seed() {
        let text = "loss=9%,dup=9%,reorder=9%,corrupt=9%,trunc=9%,delay=1ms,jitter=1ms,rate=10Mbit";
        let fate = |seed| pass(&mut channel(&format!("{text},seed={seed}")), 1000);
        assert_eq!(fate(1), fate(1));
        assert_ne!(fate(1), fate(2));
    }

    #[test]
    fn corruption_always_changes_something() {
        let mut random = Random::new(5);
        for length in (1..9).cycle().take(20_000) {
            let mut bytes = vec![0x5a; length];
            corrupt(&mut random, &mut bytes);
            assert_ne!(bytes, vec![0x5a; length]);
        }
    }

    #[test]
    fn a_datagram_put_back_is_taken_next() {
        let mut channel = channel("");
        channel.offer(NOW, b"1");
        channel.offer(NOW, b"2");
        let first = channel.take(NOW).unwrap();
        channel.put_back(first);
        assert_eq!((channel.take(NOW).unwrap(), channel.take(NOW).unwrap()), (b"1".to_vec(), b"2".to_vec()));
    }
}
