//! The interfaces of this process besides the program's interfaces: management always, and the
//! endpoint map where the process is a mapper.

use crate::protocol::binding;
use crate::runtime::Runtime;
use crate::server::services;
use crate::types::identity::is_of_own_user;
use obvia_rpc::co::IncomingCall;
use obvia_rpc::co::pdu::{Context, Outcome};
use obvia_rpc::epm::{self, Caller, Mapper, Registrant};
use obvia_rpc::mgmt::{self, Counters};
use obvia_rpc::status::Status;
use obvia_rpc::uuid::{NDR, SyntaxId};
use obvia_via::window::Peer;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The state of the two interfaces: the counters of the management interface, and the endpoint map.
#[derive(Default)]
pub(crate) struct OwnInterfaces {
    map: Mutex<Option<Arc<EndpointMap>>>,
    counters: Arc<Counters>,
}

/// The endpoint map of a host, in the process that is its mapper.
#[derive(Default)]
pub(crate) struct EndpointMap {
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

    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut Mapper) -> R) -> R {
        work(&mut self.lock().mapper)
    }
}

impl OwnInterfaces {
    /// Returns the state of the interfaces of this process.
    pub(crate) fn of(runtime: &Runtime) -> &'static Self {
        runtime.extension()
    }

    /// Returns the counters of the calls over streams.
    pub(crate) fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }

    fn map(&self) -> MutexGuard<'_, Option<Arc<EndpointMap>>> {
        self.map.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes this process the mapper of its host by an empty endpoint map. `None` if it has an
    /// endpoint map already.
    pub(crate) fn open(&self) -> Option<Arc<EndpointMap>> {
        let mut map = self.map();
        if map.is_some() {
            return None;
        }
        Some(Arc::clone(map.insert(Arc::default())))
    }

    /// Removes the endpoint map, so that this process is no longer the mapper.
    pub(crate) fn close(&self) {
        self.map().take();
    }
}

/// The right of a connection to register endpoints. The endpoints are removed when this value is
/// dropped with the connection.
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

/// Returns the outcome of a presentation context for the management interface, or for the interface
/// of the endpoint map if this process is the mapper; `None` for all other interfaces.
pub(crate) fn judge(runtime: &Runtime, context: &Context) -> Option<Outcome> {
    let is_one = match context.interface {
        mgmt::INTERFACE => true,
        epm::INTERFACE => OwnInterfaces::of(runtime).map().is_some(),
        _ => false,
    };
    is_one.then(|| Outcome::choose(context, &[NDR]))
}

/// Performs a call of the management interface or of the endpoint map; `None` for all other
/// interfaces. `note` records the call; if it returns an error, the call is refused. If the peer
/// runs as this user or as the superuser, its first call of the endpoint map makes its
/// [`Membership`].
pub(crate) fn perform(
    runtime: &Runtime,
    call: &IncomingCall<'_>,
    (peer, local): (&Peer, Option<&str>),
    state: &services::AssociationState,
    note: &dyn Fn() -> Result<(), Status>,
) -> Option<Result<Vec<u8>, Status>> {
    let IncomingCall { opnum, order, stub, .. } = *call;
    match call.presentation.interface {
        mgmt::INTERFACE => {
            let statistics = || OwnInterfaces::of(runtime).counters.statistics();
            Some(note().and_then(|()| mgmt::call(opnum, order, stub, &interfaces(runtime), statistics())))
        }
        epm::INTERFACE => {
            let Some(map) = OwnInterfaces::of(runtime).map().clone() else { return Some(Err(Status::UNK_IF)) };
            if let Err(status) = note() {
                return Some(Err(status));
            }
            // A peer that can register endpoints is connected through a Unix socket. The socket
            // closes when the peer's process ends.
            let registrant = is_of_own_user(peer)
                .then(|| state.get_or_init(|| Box::new(Membership::new(&map))))
                .and_then(|state| state.downcast_ref::<Membership>())
                .filter(|membership| Arc::ptr_eq(&membership.map, &map))
                .map(|membership| membership.registrant);
            let local = local.and_then(|host| host.parse().ok()).unwrap_or(Ipv4Addr::LOCALHOST);
            let caller = Caller { local: local.octets(), registrant };
            Some(map.with(|mapper| mapper.call(opnum, &caller, order, stub)))
        }
        _ => None,
    }
}

/// Returns the interfaces of this process for clients that are not obvia processes.
fn interfaces(runtime: &Runtime) -> Vec<SyntaxId> {
    let mut all: Vec<_> = runtime.functions().all().into_iter().map(|(info, _)| binding::syntax_of(info)).collect();
    // An interface that is registered for several object UUIDs has several entries, which are
    // adjacent.
    all.dedup();
    all.extend(OwnInterfaces::of(runtime).map().is_some().then_some(epm::INTERFACE));
    all.push(mgmt::INTERFACE);
    all
}
