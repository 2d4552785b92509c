//! The calls that a process performs besides the calls of its objects and functions.

use obvia_rpc::co::pdu::{Context, Outcome};
use obvia_rpc::co::relay::Interface;
use obvia_rpc::co::{Exemption, IncomingCall};
use obvia_rpc::mgmt::Counters;
use obvia_rpc::security::Level;
use obvia_rpc::status::Status;
use obvia_rpc::uuid::{SyntaxId, Uuid};
use obvia_rpc::vi_call::{Answer, ServerCall, TargetId};
use obvia_via::window::Peer;
use std::any::Any;
use std::sync::{Arc, OnceLock};

/// A function that performs calls of a target.
pub(crate) type Perform = fn(&mut ServerCall<'_>) -> Answer;

/// The state that services keep for an association. It ends with the association.
pub(crate) type AssociationState = OnceLock<Box<dyn Any + Send + Sync>>;

/// The services of a process for its peers.
pub(crate) trait Services: Sync {
    /// Returns the function that performs calls of one of the runtime's own targets, whose
    /// generation is 0; `None` for targets in the object table, whose generation is never 0. Some
    /// of the runtime's targets are valid only on associations (`has_relay`), since only the relay
    /// of an association names them.
    fn performer(&self, target: TargetId, has_relay: bool) -> Option<Perform>;

    /// Returns the outcome of a presentation context for an interface of the services; `None` for
    /// all other interfaces.
    fn judge(&self, context: &Context) -> Option<Outcome>;

    /// Returns the target of a call of an interface of the services; `None` for all other
    /// interfaces.
    fn find(&self, object: Option<Uuid>, interface: SyntaxId) -> Option<Result<(TargetId, Interface), Status>>;

    /// Performs a call that arrives over an association and needs no target; `None` for all other
    /// calls. `note` records the call; if it returns an error, the call is refused. `client` is the
    /// peer, and the address at which the peer reaches this process.
    fn perform(
        &self,
        call: &IncomingCall<'_>,
        client: (&Peer, Option<&str>),
        state: &AssociationState,
        note: &dyn Fn() -> Result<(), Status>,
    ) -> Option<Result<Vec<u8>, Status>>;

    /// Returns the interfaces and methods whose least authentication level differs from that of all
    /// other calls.
    fn exemptions(&self, least: Option<Level>, activation: Option<Option<Level>>) -> Vec<Exemption>;

    /// Returns the counters of calls, if calls are counted.
    fn counters(&self) -> Option<Arc<Counters>>;
}
