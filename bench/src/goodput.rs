//! Goodput: the rate of bulk data over a line with a rate, a delay and losses, by obvia and by the
//! kernel's TCP.
//!
//! A point is a measurement under one set of conditions. Each point has two lines, with the same
//! losses. obvia sends over one line and TCP over the other at the same time, so that disturbances
//! of the machine affect both flows. Then two flows share one line.

mod flow;
mod lane;
mod line;
mod state;
mod tcp;
mod tun;
mod vi;

pub use flow::Transport;

use crate::{Error, Machine};
use flow::Flow;
use line::{Line, MTU};
use std::time::{Duration, Instant};

/// The conditions of a line, the same in both directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditions {
    /// The rate, in bits per second.
    pub rate: u64,
    /// The round-trip time of a packet and its answer, without transmission and queueing.
    pub round_trip: Duration,
    /// The share of packets that get lost at random, from 0 to 1.
    pub loss: f64,
}

impl Conditions {
    /// The minimum size of the queue: as a time, and in packets.
    const QUEUE_MIN: (Duration, u64) = (Duration::from_millis(50), 100);

    /// Returns the size of the queue in bytes: the bandwidth-delay product, unless it is less than
    /// the minimum.
    fn queue(&self) -> u64 {
        let (time, packets) = Self::QUEUE_MIN;
        self.bytes_in(self.round_trip.max(time).as_nanos() as u64).max(packets * MTU)
    }

    fn round_trip_ns(&self) -> u64 {
        self.round_trip.as_nanos() as u64
    }

    /// Returns the number of bytes that the line transmits in a time in nanoseconds.
    fn bytes_in(&self, time: u64) -> u64 {
        (u128::from(time) * u128::from(self.rate) / 8_000_000_000) as u64
    }

    /// Returns the time in nanoseconds in which the line transmits `bytes`.
    fn time_of(&self, bytes: u64) -> u64 {
        (u128::from(bytes) * 8_000_000_000 / u128::from(self.rate.max(1))) as u64
    }
}

/// The extent of a measurement.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The conditions of each point.
    pub points: Vec<Conditions>,
    /// The time for which the goodput of a point is measured. If 400 round trips take longer, the
    /// time of these round trips counts instead.
    pub time: Duration,
    /// The conditions of the line that two flows share, and the time for which the flows are
    /// measured.
    pub shared: Option<(Conditions, Duration)>,
    /// The seed of the losses.
    pub seed: u64,
}

impl Plan {
    /// The time from the start of a flow to its measurement: this number of round trips, within the
    /// limits of `WARM_UP`.
    const WARM_UP_TRIPS: u32 = 40;
    const WARM_UP: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(10));
    /// The time from the start of two flows on one line to their measurement. Losses are some
    /// seconds apart, and CUBIC needs several losses to shift rate from one flow to the other.
    const SHARED_WARM_UP: Duration = Duration::from_secs(30);

    /// The minimum number of measured round trips: on lines with long round trips, losses are rare.
    const MEASURED_TRIPS: u32 = 400;

    fn measured(&self, conditions: &Conditions) -> Duration {
        self.time.max(conditions.round_trip * Self::MEASURED_TRIPS)
    }

    fn warm_up(conditions: &Conditions) -> Duration {
        let (least, most) = Self::WARM_UP;
        (conditions.round_trip * Self::WARM_UP_TRIPS).clamp(least, most)
    }

    /// Returns the time that the measurement takes.
    pub fn duration(&self) -> Duration {
        let points: Duration = self.points.iter().map(|point| Self::warm_up(point) + self.measured(point)).sum();
        let shared = self.shared.map_or(Duration::ZERO, |(_, time)| Self::SHARED_WARM_UP + time);
        points + shared * PAIRS.len() as u32
    }
}

/// The flows that share a line.
const PAIRS: [[Transport; 2]; 3] =
    [[Transport::Obvia, Transport::Obvia], [Transport::Obvia, Transport::Tcp], [Transport::Tcp, Transport::Tcp]];

/// The results of a measurement.
#[derive(Debug)]
pub struct Goodput {
    /// The machine on which the flows run.
    pub machine: Machine,
    /// The goodput of single flows.
    pub points: Vec<Point>,
    /// The goodput of flows that share a line.
    pub sharings: Vec<Sharing>,
}

/// The goodput of two flows, each with a line of its own. Rates are in bits per second.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// The conditions of each of the two lines.
    pub conditions: Conditions,
    /// The rate of obvia.
    pub obvia: f64,
    /// The rate of TCP.
    pub tcp: f64,
}

impl Point {
    /// Returns the rate of one of the two transports.
    pub fn rate_of(&self, transport: Transport) -> f64 {
        match transport {
            Transport::Obvia => self.obvia,
            Transport::Tcp => self.tcp,
        }
    }

    /// Returns obvia's rate as a multiple of TCP's.
    pub fn ratio(&self) -> f64 {
        self.obvia / self.tcp
    }
}

/// The goodput of two flows that share a line.
#[derive(Clone, Copy, Debug)]
pub struct Sharing {
    /// The conditions of the line.
    pub conditions: Conditions,
    /// The flows. The second began as soon as the first was connected.
    pub flows: [Transport; 2],
    /// The rate of each flow, in bits per second.
    pub rates: [f64; 2],
}

/// Measures the flows of a plan. Calls `progress` after each step.
///
/// # Errors
///
/// [`Error::Failed`] or [`Error::System`] without root, without iproute2's command `ip`, without
/// /dev/net/tun, or if a flow fails.
pub fn measure(plan: &Plan, mut progress: impl FnMut(&str)) -> Result<Goodput, Error> {
    let machine = Machine::read(None);
    let (mut points, mut sharings) = (Vec::new(), Vec::new());
    for conditions in &plan.points {
        points.push(point(*conditions, plan, &mut progress)?);
    }
    if let Some((conditions, time)) = plan.shared {
        for flows in PAIRS {
            sharings.push(sharing(conditions, flows, time, plan.seed, &mut progress)?);
        }
    }
    Ok(Goodput { machine, points, sharings })
}

fn point(conditions: Conditions, plan: &Plan, progress: &mut impl FnMut(&str)) -> Result<Point, Error> {
    let lines = [Line::lay(conditions, plan.seed)?, Line::lay(conditions, plan.seed)?];
    let flows = [Flow::start(Transport::Obvia, &lines[0])?, Flow::start(Transport::Tcp, &lines[1])?];
    std::thread::sleep(Plan::warm_up(&conditions));
    let [obvia, tcp] = rates(flows, plan.measured(&conditions), progress)?;
    let [one, other] = lines;
    let ([one, _], [other, _]) = (one.end()?, other.end()?);
    let (loss, trip) = (conditions.loss * 100.0, conditions.round_trip.as_millis());
    progress(&format!("{loss} %, {trip} ms: obvia {} Mbit/s; {one}; TCP {} Mbit/s; {other}", mbit(obvia), mbit(tcp)));
    Ok(Point { conditions, obvia, tcp })
}

fn sharing(
    conditions: Conditions,
    flows: [Transport; 2],
    time: Duration,
    seed: u64,
    progress: &mut impl FnMut(&str),
) -> Result<Sharing, Error> {
    let line = Line::lay(conditions, seed)?;
    let pair = [Flow::start(flows[0], &line)?, Flow::start(flows[1], &line)?];
    std::thread::sleep(Plan::SHARED_WARM_UP);
    let rates = rates(pair, time, progress)?;
    let [there, _] = line.end()?;
    let [a, b] = flows.map(Transport::name);
    progress(&format!("{a} and {b}: {} and {} Mbit/s; {there}", mbit(rates[0]), mbit(rates[1])));
    Ok(Sharing { conditions, flows, rates })
}

/// Measures the rates of two flows in bits per second, and ends the flows. Reports the rates of
/// each [`STEP`] to `progress`.
fn rates(flows: [Flow; 2], time: Duration, progress: &mut impl FnMut(&str)) -> Result<[f64; 2], Error> {
    let look = || (Instant::now(), flows.each_ref().map(Flow::received));
    let began = look();
    let mut last = began;
    loop {
        let left = time.saturating_sub(began.0.elapsed());
        if left.is_zero() {
            break;
        }
        std::thread::sleep(left.min(STEP));
        let now = look();
        let [first, second] = between(last, now);
        progress(&format!("after {} s: {} and {}", (now.0 - began.0).as_secs(), mbit(first), mbit(second)));
        last = now;
    }
    flows.into_iter().map(Flow::end).fold(Ok(()), Result::and)?;
    Ok(between(began, last))
}

/// The interval between two reports of progress.
const STEP: Duration = Duration::from_secs(10);

/// Returns the rates between two times, from the bytes that each flow had received at either time.
fn between((began, before): (Instant, [u64; 2]), (ended, after): (Instant, [u64; 2])) -> [f64; 2] {
    let seconds = (ended - began).as_secs_f64();
    [0, 1].map(|flow: usize| (after[flow] - before[flow]) as f64 * 8.0 / seconds)
}

/// Returns a rate in Mbit/s as text, with at least three digits.
pub(crate) fn mbit(rate: f64) -> String {
    match rate / 1e6 {
        rate if rate < 9.995 => format!("{rate:.2}"),
        rate => format!("{rate:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Conditions, mbit};
    use std::time::Duration;

    #[test]
    fn queues_have_a_minimum_as_a_time_and_in_packets() {
        let queue = |rate, round_trip_ms| {
            Conditions { rate, round_trip: Duration::from_millis(round_trip_ms), loss: 0.0 }.queue()
        };
        assert_eq!(queue(100_000_000, 250), 3_125_000);
        assert_eq!(queue(100_000_000, 1), 625_000);
        assert_eq!(queue(1_000_000, 50), 150_000);
    }

    #[test]
    fn rates_are_rounded_to_three_digits() {
        assert_eq!([94_999_000.0, 9_999_000.0, 254_000.0].map(mbit), ["95.0", "10.0", "0.25"]);
    }
}
