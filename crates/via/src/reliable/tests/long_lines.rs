//! Lines with a long delay, a limited rate and losses: how much gets through.

use super::{Line, MILLISECOND, MTU, Net, place, region, with};
use crate::attributes::Reliability::ReliableDelivery;
use crate::descriptor::Descriptor;
use crate::memory::Access;
use crate::reliable::Settings;
use crate::reliable::packet::DATA_HEADER;

/// The rate of the line in bits per second, and the number of bytes that may wait for it: 20 ms.
const RATE: u64 = 100_000_000;
const QUEUE: u64 = 250_000;
/// The length of an operation, in bytes.
const LENGTH: u32 = 1 << 20;

/// Makes a connection over a line with that round trip in milliseconds, and a window that does not
/// limit it.
fn line(round_trip: u64) -> Net {
    let line = Line { delay: round_trip * MILLISECOND / 2, rate: RATE, queue: QUEUE };
    Net::over(ReliableDelivery, &Settings { window: 16 << 20, ..Settings::default() }, MTU, line)
}

/// Writes without a pause for a span of milliseconds. Returns the rate in Mbit/s at which data
/// arrived.
fn goodput(net: &mut Net, span: u64) -> f64 {
    let source = region(LENGTH as usize, Access::LOCAL);
    let arrived = |net: &Net| net.ends[1].engine.next_numbers()[1];
    let (before, limit) = (arrived(net), net.now + span * MILLISECOND);
    while net.now < limit {
        while net.ends[0].queues.send.len() < 16 {
            net.post(0, with(Descriptor::rdma_write(place(0)), &source, LENGTH));
        }
        assert!(net.step_to(limit));
    }
    let packets = f64::from(arrived(net) - before);
    packets * (MTU - DATA_HEADER) as f64 * 8.0 / (span as f64 * 1000.0)
}

#[test]
#[ignore = "prints a table"]
fn goodput_by_round_trip_and_loss() {
    println!("loss   1 ms   50 ms  100 ms  250 ms  (Mbit/s of {})", RATE / 1_000_000);
    for (loss, loses) in [("0 %", 0), ("1 %", 100), ("5 %", 20)] {
        let rates = [1, 50, 100, 250].map(|round_trip| {
            let mut net = line(round_trip);
            net.faults.loses = loses;
            goodput(&mut net, 30_000)
        });
        let [a, b, c, d] = rates;
        println!("{loss} {a:7.2} {b:7.2} {c:7.2} {d:7.2}");
    }
}
