//! Feeds text to the reader of a bad network's conditions: what it takes is the same when it is written and read again, and harms no link.

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
