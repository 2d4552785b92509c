//! Fuzzes the parser of network conditions: accepted conditions survive a round trip, and do not
//! make the simulated link panic.

use obvia_via::wrap::{Channel, Conditions};
use std::time::Duration;

pub fn run(input: &[u8]) {
    let Ok(conditions) = crate::text(input).parse::<Conditions>() else { return };
    assert_eq!(conditions.to_string().parse::<Conditions>().unwrap(), conditions);
    let mut channel = Channel::new(conditions, 1);
    for second in 0..20 {
        channel.offer(Duration::from_secs(second), &[second as u8; 30]);
    }
    while let Some(due) = channel.due() {
        assert!(channel.take(due).is_some());
    }
}
