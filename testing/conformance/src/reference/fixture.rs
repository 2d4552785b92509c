//! Fixtures for the reference provider and its wrong variants.

use super::{Flaw, Memory, Network, attributes};
use crate::{Faults, Fixture, MissingFeature, Side, Wire};
use obvia_via::{Attributes, Nic, Reliability};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A flaw of the reference provider, and the features that it lacks.
pub trait Wrong: fmt::Debug + Send + Sync + 'static {
    /// The flaw.
    const FLAW: Flaw;
    /// The features that the provider lacks.
    const MISSING: &'static [MissingFeature] = &[];
}

/// Opens NICs of the reference provider with the flaw of `W`.
#[derive(Debug)]
pub struct Flawed<W> {
    network: Arc<Network>,
    next: AtomicU64,
    wrong: PhantomData<W>,
}

/// Opens NICs of the reference provider without a flaw.
pub type Reference = Flawed<flaws::None>;

impl<W: Wrong> Fixture for Flawed<W> {
    const MISSING: &'static [MissingFeature] = W::MISSING;
    const SILENCE: Duration = Duration::from_millis(500);
    const CROSSES_PROCESSES: bool = false;

    fn new() -> Self {
        Self { network: Arc::default(), next: AtomicU64::new(0), wrong: PhantomData }
    }

    fn nic(&self, _: Side) -> Nic {
        let all = attributes();
        let has = |lack| !W::MISSING.contains(&lack);
        let levels: &'static [Reliability] =
            if has(MissingFeature::Level(Reliability::Unreliable)) { all.reliability } else { &all.reliability[1..] };
        let attributes = Attributes {
            rdma_write: has(MissingFeature::RdmaWrite),
            rdma_read: has(MissingFeature::RdmaRead),
            reliability: levels,
            ..all
        };
        Nic::open(Box::new(Memory { attributes, network: Arc::clone(&self.network), flaw: W::FLAW }))
    }

    fn discriminator(&self) -> String {
        format!("listener-{}", self.next.fetch_add(1, Ordering::Relaxed))
    }

    fn wire(&self) -> Option<&dyn Wire> {
        Some(self)
    }
}

impl<W: Wrong> Wire for Flawed<W> {
    fn disturb(&self, _: Faults) {
        // The packets pass through lists of this process. No packet is lost, doubled, delayed or
        // changed, so the faults have no effect.
    }

    fn cut(&self) {
        self.network.is_cut.store(true, Ordering::Release);
    }
}

/// A type for each [`Flaw`].
pub mod flaws {
    use super::{Flaw, MissingFeature, Reliability, Wrong};

    macro_rules! flaws {
        ($($name:ident)*) => {$(
            #[doc = concat!("[`Flaw::", stringify!($name), "`].")]
            #[derive(Debug)]
            pub struct $name;

            impl Wrong for $name {
                const FLAW: Flaw = Flaw::$name;
            }
        )*};
    }
    flaws! {
        None DropsImmediate Miscounts Reorders DeliversTwice LosesCredit Truncates WaitsForReceive EndsOneSide GoesOn
        WritesBeforeCheck ChecksNoRight ConsumesAlways AcknowledgesEarly WritesLate ReadsStale LeavesQuietly WaitsForEver
        LeaksFiles Starves
    }

    /// A provider without a flaw, which supports neither RDMA nor unreliable delivery.
    #[derive(Debug)]
    pub struct Plain;

    impl Wrong for Plain {
        const FLAW: Flaw = Flaw::None;
        const MISSING: &'static [MissingFeature] =
            &[MissingFeature::RdmaWrite, MissingFeature::RdmaRead, MissingFeature::Level(Reliability::Unreliable)];
    }
}
