//! Routes: the descriptions of call targets for associations over streams.
//!
//! Over a virtual interface the number of a target suffices. Standard PDUs also name the interface
//! and the transfer syntax, by a presentation context, and an object by its IPID.

use crate::access::Protection;
use crate::protocol::binding::{self, Transfers};
use crate::protocol::objref;
use crate::protocol::orpc_headers::HEADERS;
use crate::protocol::own_calls;
use crate::types::registry::{self, InterfaceInfo};
use obvia_ndr::ndr::Plan;
use obvia_rpc::co::relay::{CallHeaders, Form, Interface, Route, Routes};
use obvia_rpc::uuid::{SyntaxId, Uuid};
use obvia_rpc::vi_call::TargetId;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::atomic::AtomicU32;
use std::sync::{PoisonError, RwLock};

/// The call targets in another process that this process uses, with their interfaces.
pub(crate) struct Targets {
    transfers: Transfers,
    protection: Option<Protection>,
    group: AtomicU32,
    known: RwLock<Known>,
}

#[derive(Default)]
struct Known {
    oxid: u64,
    interfaces: HashMap<TargetId, Called>,
}

/// The data about a target that its calls need.
struct Called {
    object: Option<Uuid>,
    syntax: SyntaxId,
    transfers: Vec<SyntaxId>,
    interface: Interface,
    /// The number of users of the target in this process, such as proxies.
    users: u32,
}

impl Targets {
    /// Makes an empty set for calls in these transfer syntaxes, with this protection.
    pub(crate) fn new(transfers: Transfers, protection: Option<Protection>) -> Self {
        Self { transfers, protection, group: AtomicU32::new(0), known: RwLock::default() }
    }

    /// Returns the protection of calls, if any.
    pub(crate) fn protection(&self) -> Option<&Protection> {
        self.protection.as_ref()
    }

    /// Returns the transfer syntaxes of calls.
    pub(crate) fn transfers(&self) -> Transfers {
        self.transfers
    }

    fn change(&self, change: impl FnOnce(&mut Known)) {
        change(&mut self.known.write().unwrap_or_else(PoisonError::into_inner));
    }

    /// Sets the OXID with which the process has introduced itself.
    pub(crate) fn set_process(&self, oxid: u64) {
        self.change(|known| known.oxid = oxid);
    }

    /// Adds a user of a target.
    pub(crate) fn insert(&self, target: TargetId, info: &InterfaceInfo, plan: Option<&'static Plan>) {
        self.change(|known| {
            let object = Some(Uuid(objref::ipid(target, known.oxid).to_u128()));
            let called = known.interfaces.entry(target).or_insert_with(|| Called {
                object,
                syntax: binding::syntax_of(info),
                transfers: self.transfers.proposed(Some(info)),
                interface: interface_of(info, plan),
                users: 0,
            });
            called.users += 1;
        });
    }

    /// Adds a user of functions of a server that is not an obvia process.
    pub(crate) fn insert_functions(&self, target: TargetId, object: Option<Uuid>, info: &'static InterfaceInfo) {
        self.insert(target, info, registry::plan(info));
        self.change(|known| {
            if let Some(called) = known.interfaces.get_mut(&target) {
                called.object = object;
            }
        });
    }

    /// Removes a user of a target.
    pub(crate) fn remove(&self, target: TargetId) {
        self.change(|known| {
            if let Entry::Occupied(mut called) = known.interfaces.entry(target) {
                called.get_mut().users -= 1;
                if called.get().users == 0 {
                    called.remove();
                }
            }
        });
    }
}

impl fmt::Debug for Targets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Targets").finish_non_exhaustive()
    }
}

impl Routes for Targets {
    fn find(&self, target: TargetId) -> Option<Route> {
        if target == own_calls::TARGET {
            let transfers = Transfers::FLAT.proposed(None);
            return Some(Route { object: None, syntax: binding::RUNTIME, interface: OWN, transfers });
        }
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let Called { object, syntax, transfers, interface, .. } = known.interfaces.get(&target)?;
        Some(Route { object: *object, syntax: *syntax, interface: *interface, transfers: transfers.clone() })
    }

    fn bind_interface(&self) -> SyntaxId {
        binding::RUNTIME
    }

    fn group(&self) -> &AtomicU32 {
        &self.group
    }
}

/// The description of the runtime's own interface.
pub(crate) const OWN: Interface = Interface { form: Form::Frames, objects: Some(&HEADERS) };

/// Returns the description of an interface for calls.
pub(crate) fn interface_of(info: &InterfaceInfo, plan: Option<&'static Plan>) -> Interface {
    let objects: Option<&'static dyn CallHeaders> = if info.plain { None } else { Some(&HEADERS) };
    Interface { form: plan.map_or(Form::Frames, Form::Planned), objects }
}
