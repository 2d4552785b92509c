//! The runtime of this process, which is made here together with the services that it performs for
//! its peers.

use crate::marshal::own_idl;
use crate::protocol::own_calls::{self, OP_ACTIVATE, OP_FORWARD, OP_START};
use crate::runtime::own_target;
use crate::runtime::{Parts, Runtime, janitor};
use crate::server::services::{AssociationState, Perform, Services};
use crate::services::dcom::{activation_call, factory, forwarded_call, service};
use crate::services::management;
use crate::services::management::OwnInterfaces;
use crate::services::scm::start_call;
use crate::types::error::Result;
use obvia_rpc::co::pdu::{Context, Outcome};
use obvia_rpc::co::relay::Interface;
use obvia_rpc::co::{Exemption, IncomingCall};
use obvia_rpc::mgmt::Counters;
use obvia_rpc::security::Level;
use obvia_rpc::status::Status;
use obvia_rpc::uuid::{SyntaxId, Uuid};
use obvia_rpc::vi_call::TargetId;
use obvia_via::window::Peer;
use std::sync::Arc;

static PARTS: Parts = Parts {
    services: &ProcessServices,
    own_calls: &[
        (OP_ACTIVATE, activation_call::serve_activate),
        (OP_START, start_call::serve_start),
        (OP_FORWARD, forwarded_call::serve_forward),
    ],
    janitor: janitor::work,
    interfaces: || own_idl::events::INTERFACES.iter().copied().chain([&factory::INFO]).collect(),
};

/// Returns the runtime of this process, which is made at first use.
pub(crate) fn runtime() -> Result<&'static Runtime> {
    Runtime::of_process(&PARTS)
}

/// The services of every process: management and the endpoint map, DCOM's interfaces, and the
/// calls between runtimes.
struct ProcessServices;

impl Services for ProcessServices {
    fn performer(&self, target: TargetId, has_relay: bool) -> Option<Perform> {
        match target {
            own_calls::TARGET => Some(own_target::perform),
            TargetId { generation: 0, .. } if has_relay => Some(service::perform),
            _ => None,
        }
    }

    fn judge(&self, context: &Context) -> Option<Outcome> {
        management::judge(Runtime::made()?, context).or_else(|| service::judge(context))
    }

    fn find(
        &self,
        object: Option<Uuid>,
        interface: SyntaxId,
    ) -> Option<std::result::Result<(TargetId, Interface), Status>> {
        service::find(Runtime::made()?, object, interface)
    }

    fn perform(
        &self,
        call: &IncomingCall<'_>,
        client: (&Peer, Option<&str>),
        state: &AssociationState,
        note: &dyn Fn() -> std::result::Result<(), Status>,
    ) -> Option<std::result::Result<Vec<u8>, Status>> {
        management::perform(Runtime::made()?, call, client, state, note)
    }

    fn exemptions(&self, least: Option<Level>, activation: Option<Option<Level>>) -> Vec<Exemption> {
        service::exemptions(least, activation)
    }

    fn counters(&self) -> Option<Arc<Counters>> {
        Some(Arc::clone(OwnInterfaces::of(Runtime::made()?).counters()))
    }
}
