//! The interfaces that this process has beside those that the program performs: management always, the endpoint map where it is asked to.

use crate::binding;
use crate::runtime::Runtime;
use obvia_rpc::co::IncomingCall;
use obvia_rpc::co::pdu::{Context, Outcome};
use obvia_rpc::epm::{self, Caller, Mapper, Registrant};
use obvia_rpc::mgmt::{self, Counters};
use obvia_rpc::status::Status;
use obvia_rpc::uuid::{NDR, SyntaxId};
use obvia_via::window::Peer;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// What is behind them.
#[derive(Default)]
pub(crate) struct OwnInterfaces {
    map: Mutex<Option<Arc<EndpointMap>>>,
    counters: Arc<Counters>,
}

/// The endpoint map of a host, which this process keeps.
#[derive(Default)]
pub(super) struct EndpointMap {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    mapper: Mapper,
    last: u64,
}

impl EndpointMap {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn with<R>(&self, work: impl FnOnce(&mut Mapper) -> R) -> R {
        work(&mut self.lock().mapper)
    }
}

impl OwnInterfaces {
    /// Where what clients over streams do is counted.
    pub(crate) fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }

    fn map(&self) -> MutexGuard<'_, Option<Arc<EndpointMap>>> {
        self.map.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts an endpoint map in place. `None` where there is one already.
    pub(super) fn open(&self) -> Option<Arc<EndpointMap>> {
        let mut map = self.map();
        if map.is_some() {
            return None;
        }
        Some(Arc::clone(map.insert(Arc::default())))
    }

    /// Takes it away again.
    pub(super) fn close(&self) {
        self.map().take();
    }
}

/// A connection as one that registers endpoints, which end with it.
pub(crate) struct Membership {
    map: Arc<EndpointMap>,
    registrant: Registrant,
}

impl Membership {
    fn new(map: &Arc<EndpointMap>) -> Self {
        let mut state = map.lock();
        state.last += 1;
        Self { map: Arc::clone(map), registrant: Registrant(state.last) }
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.map.with(|mapper| mapper.forget(self.registrant));
    }
}

/// What becomes of a context of one of these interfaces; `None` for all others.
pub(crate) fn judge(runtime: &Runtime, context: &Context) -> Option<Outcome> {
    let is_own = match context.interface {
        mgmt::INTERFACE => true,
        epm::INTERFACE => runtime.own_interfaces().map().is_some(),
        _ => false,
    };
    is_own.then(|| Outcome::choose(context, &[NDR]))
}

/// Performs a call of one of these interfaces; `None` for all others. The peer is a member from when it first registers something.
pub(crate) fn perform(
    runtime: &Runtime,
    call: &IncomingCall<'_>,
    (peer, local): (&Peer, Option<&str>),
    membership: &OnceLock<Membership>,
) -> Option<Result<Vec<u8>, Status>> {
    let IncomingCall { opnum, order, stub, .. } = *call;
    match call.presentation.interface {
        mgmt::INTERFACE => {
            let statistics = runtime.own_interfaces().counters.statistics();
            Some(mgmt::call(opnum, order, stub, &interfaces(runtime), statistics))
        }
        epm::INTERFACE => {
            let Some(map) = runtime.own_interfaces().map().clone() else { return Some(Err(Status::UNK_IF)) };
            // Who comes through a socket is one of this host, and noticed when it ends.
            let registrant = is_of_own_user(peer)
                .then(|| membership.get_or_init(|| Membership::new(&map)))
                .filter(|membership| Arc::ptr_eq(&membership.map, &map))
                .map(|membership| membership.registrant);
            let local = local.and_then(|host| host.parse().ok()).unwrap_or(Ipv4Addr::LOCALHOST);
            let caller = Caller { local: local.octets(), registrant };
            Some(map.with(|mapper| mapper.call(opnum, &caller, order, stub)))
        }
        _ => None,
    }
}

/// The interfaces that this process has for strangers.
fn interfaces(runtime: &Runtime) -> Vec<SyntaxId> {
    let mut all: Vec<_> = runtime.functions().all().into_iter().map(|(info, _)| binding::syntax_of(info)).collect();
    // Those that are performed for several objects are next to each other.
    all.dedup();
    all.extend(runtime.own_interfaces().map().is_some().then_some(epm::INTERFACE));
    all.push(mgmt::INTERFACE);
    all
}

/// Whether somebody could act as this process anyway.
fn is_of_own_user(peer: &Peer) -> bool {
    let own = rustix::process::geteuid().as_raw();
    matches!(peer, Peer::Process { uid, .. } if *uid == own || *uid == 0)
}
