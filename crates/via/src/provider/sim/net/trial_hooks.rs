//! The network's services for trials, besides carrying datagrams: a trace, repeated datagrams, and
//! forgeries.

use super::{Net, State};
use crate::reliable::packet::{self, Body};
use crate::wrap::Counts;
use std::collections::VecDeque;
use std::fmt::Write as _;

/// The state that only trials use.
#[derive(Default)]
pub(super) struct TrialHooks {
    // The latest datagrams, with the end that sent each.
    pub(super) recent: VecDeque<(usize, Vec<u8>)>,
    // The maximum number of datagrams in `recent`.
    pub(super) recent_max: usize,
    pub(super) trace: Option<String>,
    pub(super) forger: Option<Forger>,
    // The maximum length of datagrams that get through.
    pub(super) longest: Option<usize>,
    fault: Option<&'static str>,
}

/// A function that may replace a datagram by another.
pub(in crate::provider::sim) type Forger = Box<dyn FnMut(&[u8]) -> Option<Vec<u8>> + Send>;

impl std::fmt::Debug for TrialHooks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TrialHooks").field("fault", &self.fault).finish_non_exhaustive()
    }
}

impl Net {
    /// Keeps the latest `recent_max` datagrams for [`Self::resend_recent`], and records a trace if
    /// wanted.
    pub(in crate::provider::sim) fn record_datagrams(&self, recent_max: usize, is_traced: bool) {
        let mut state = self.state();
        state.trial_hooks.recent_max = recent_max;
        state.trial_hooks.trace = is_traced.then(String::new);
    }

    /// Passes every datagram to a forger.
    pub(in crate::provider::sim) fn forge_with(&self, forger: Forger) {
        self.state().trial_hooks.forger = Some(forger);
    }

    /// Loses all datagrams of more than `longest` bytes from now on.
    pub(in crate::provider::sim) fn shorten(&self, longest: usize) {
        self.state().trial_hooks.longest = Some(longest);
    }

    /// Sends one of the latest datagrams, of any connection, again over the wire numbered `wire`.
    /// `pick` selects the datagram.
    pub(in crate::provider::sim) fn resend_recent(&self, wire: u64, pick: u64) {
        let mut guard = self.state();
        let state = &mut *guard;
        let index = pick.checked_rem(state.trial_hooks.recent.len() as u64);
        let Some((end, datagram)) = index.and_then(|index| state.trial_hooks.recent.get(index as usize)) else {
            return;
        };
        if let Some(wire) = state.wires.get_mut(&wire) {
            wire.channels[*end].offer(state.now, datagram);
        }
        let (end, length) = (*end, datagram.len());
        state.note(|| format!("{end} -> a ghost of {length} bytes"));
    }

    /// Adds a line to the trace.
    pub(in crate::provider::sim) fn note(&self, text: &str) {
        self.state().note(|| text.to_owned());
    }

    pub(in crate::provider::sim) fn trace(&self) -> String {
        self.state().trial_hooks.trace.clone().unwrap_or_default()
    }

    /// Records a fault of an engine, which the trial reports: for instance that the engine never
    /// stops sending.
    pub(in crate::provider::sim) fn report_fault(&self, what: &'static str) {
        self.state().trial_hooks.fault = Some(what);
    }

    pub(in crate::provider::sim) fn fault(&self) -> Option<&'static str> {
        self.state().trial_hooks.fault
    }
}

impl State {
    pub(super) fn note(&mut self, text: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trial_hooks.trace {
            let micros = self.now.as_nanos() as f64 / 1000.0;
            // Writing to a string cannot fail.
            let _ = writeln!(trace, "{micros:>14.3} us {}", text());
        }
    }
}

/// Describes a datagram, for traces.
pub(super) fn describe(datagram: &[u8]) -> String {
    match packet::parse(datagram) {
        Ok((header, Body::Data(data, payload))) => {
            let (action, operation, place) = (data.action, data.operation, data.offset);
            let (number, ack, total) = (header.number, header.ack, data.total);
            let length = payload.len();
            format!("packet {number}: {action:?} of operation {operation}, {length} at {place} of {total}, ack {ack}")
        }
        Ok((header, Body::Fragment { index, length, .. })) => {
            format!("packet {}: fragment {index} of {length} bytes, ack {}", header.number, header.ack)
        }
        Ok((header, body)) => format!("{body:?}, ack {}", header.ack),
        Err(why) => format!("{why:?}"),
    }
}

/// Describes what the network did to a datagram, for traces.
pub(super) fn fate(before: Counts, after: Counts) -> String {
    let fates = [
        (before.refused, after.refused, "no room"),
        (before.lost, after.lost, "lost"),
        (before.cut, after.cut, "cut off"),
        (before.overflowed, after.overflowed, "too many"),
        (before.duplicated, after.duplicated, "doubled"),
        (before.reordered, after.reordered, "held back"),
        (before.corrupted, after.corrupted, "damaged"),
        (before.truncated, after.truncated, "cut short"),
    ];
    fates.iter().filter(|(before, after, _)| after > before).map(|(_, _, name)| format!("  ({name})")).collect()
}
