//! VIs over a simulated network fulfil the statements of the conformance suite, on a good network
//! and on a network that is always bad.

use obvia_conformance::{Faults, Fixture, MissingFeature, Side, Wire, conformance};
use obvia_via::Nic;
use obvia_via::provider::sim::{Network, network};
use obvia_via::wrap::Conditions;
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};
use std::time::Duration;

struct Sim<const BAD: bool> {
    network: Network,
    nics: AtomicU16,
    names: AtomicU32,
}

/// Returns the conditions of a network with these faults.
fn conditions(faults: Faults) -> Conditions {
    let share = |thousandths: u32| format!("{}.{}%", thousandths / 10, thousandths % 10);
    let Faults { lost, doubled, delayed, corrupted } = faults;
    let (lost, doubled, delayed, corrupted) = (share(lost), share(doubled), share(delayed), share(corrupted));
    let text = format!("loss={lost},dup={doubled},reorder={delayed},corrupt={corrupted},delay=1ms");
    text.parse().expect("these are conditions")
}

impl<const BAD: bool> Fixture for Sim<BAD> {
    const MISSING: &'static [MissingFeature] = &[];
    // The network has virtual time, which runs faster than real time.
    const SILENCE: Duration = Duration::from_secs(5);
    const CROSSES_PROCESSES: bool = false;
    const IS_STEADY: bool = !BAD;

    fn new() -> Self {
        let faults = if BAD { Faults { lost: 20, doubled: 20, delayed: 20, corrupted: 5 } } else { Faults::default() };
        Self { network: network(7, &conditions(faults)), nics: AtomicU16::new(0), names: AtomicU32::new(0) }
    }

    fn nic(&self, _: Side) -> Nic {
        Nic::open(self.network.nic(self.nics.fetch_add(1, Ordering::Relaxed)))
    }

    fn discriminator(&self) -> String {
        format!("listener-{}", self.names.fetch_add(1, Ordering::Relaxed))
    }

    fn wire(&self) -> Option<&dyn Wire> {
        Some(self)
    }
}

impl<const BAD: bool> Wire for Sim<BAD> {
    fn disturb(&self, faults: Faults) {
        self.network.set_conditions(&conditions(faults));
    }

    fn cut(&self) {
        let nics = self.nics.load(Ordering::Relaxed);
        for one in 0..nics {
            (0..one).for_each(|other| self.network.set_cut(one, other, true));
        }
    }
}

conformance!(good, Sim<false>);
conformance!(bad, Sim<true>);
