//! The state that the orders of tests (see `orders`) use and change.

use crate::events::Events;
use crate::tally::Tally;
use crate::{Factory, ICounter, IFactory};
use obvia::dcom::{ClassRegistration, IClassFactory};
use obvia::{Canceller, GUID, code};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// The class of factories. The class object is a factory, too.
pub const CLASS: GUID = GUID::from_u128(0x3f0d_52c1_77a4_4c1e_9a0b_0b51_2f6e_9d40);

static MADE: AtomicI64 = AtomicI64::new(0);

/// Returns the number of factories of the class, the class object included.
pub(crate) fn made() -> i64 {
    MADE.load(Ordering::SeqCst)
}

/// The objects of earlier orders.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) exports: Vec<obvia::Export>,
    /// The factory that was exported last.
    pub(crate) exported: Option<IFactory>,
    pub(crate) served_tally: Option<(Tally, obvia::Serving)>,
    pub(crate) bound_tally: Option<Tally>,
    pub(crate) events: Events,
    pub(crate) classes: Vec<ClassRegistration>,
    pub(crate) class_factory: Option<IClassFactory>,
    pub(crate) service: Option<obvia::scm::Service>,
    pub(crate) factory: Option<IFactory>,
    pub(crate) counters: Vec<ICounter>,
    pub(crate) own: Option<ICounter>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) canceller: Canceller,
}

/// Creates a factory for the class.
pub(crate) fn make() -> IFactory {
    MADE.fetch_add(1, Ordering::SeqCst);
    Factory::default().into()
}

impl State {
    pub(crate) fn factory(&self) -> obvia::Result<&IFactory> {
        Ok(self.factory.as_ref().ok_or(code::E_POINTER)?)
    }

    pub(crate) fn counter(&self) -> obvia::Result<&ICounter> {
        Ok(self.counters.first().ok_or(code::E_POINTER)?)
    }
}
