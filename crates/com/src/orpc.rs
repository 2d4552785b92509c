//! ORPC: calls of objects by DCOM's protocol ([MS-DCOM]): its formats, its own interfaces, and the
//! tables that these interfaces use.
//!
//! The module does no I/O and reads no clock: bytes and times come from the caller. [`ObjRef`] is
//! the wire form of an interface pointer. [`OrpcThis`] and [`OrpcThat`] precede the parameters and
//! the results of a call. [`activation`] has the properties of activation requests and answers.
//! Every process with objects performs the interfaces in [`object_exporter`], [`rem_unknown`] and
//! [`activator`], in addition to the interfaces of its objects. [`Oxids`] and [`References`] are
//! the tables of a server, and [`PingPlan`] is the state of a client.
//!
//! # Reference counting
//!
//! [`References`] counts the exports of this process, for all clients:
//!
//! - An entry of the exports is one interface of one object. Its IPID contains the entry's target
//!   and the OXID. The exports map objects and interfaces to targets, and targets to stubs; peers
//!   have no influence on these maps.
//! - An obvia process is a [`Client::Process`], with the number that this process has assigned to
//!   it. Such a client does not ping: the end of its connections reports that it is gone, and
//!   [`References::drop_client`] drops its references at once.
//! - Any other peer is a [`Client::Peer`], identified by its host and its authenticated principal.
//!   Its death is not reported, so its references expire unless it pings. A finer distinction would
//!   protect peers better from each other, but one process could then count as two peers.
//!   References that it received as one peer and released as the other peer would remain until they
//!   expire.
//! - [`References`] returns the entries that it has dropped. The exports remove these entries from
//!   the object table, and drop them while no lock is held.
//! - Obvia processes have calls of their own in place of `IRemUnknown`. These calls use the same
//!   methods of [`References`].

pub mod activation;
pub mod activator;
mod bindings;
mod call_context;
mod extents;
mod forwarded;
mod headers;
mod known_extents;
pub mod object_exporter;
mod objref;
mod oxids;
mod ping_plan;
mod references;
pub mod rem_unknown;
mod stub_data;
#[cfg(test)]
mod tests;
mod vi_reference;

pub use bindings::{DualStringArray, SecurityBinding, TowerBinding};
pub use call_context::CallContext;
pub use extents::{Extent, Extents};
pub use forwarded::Forwarded;
pub use headers::{ComVersion, OrpcThat, OrpcThis};
pub use known_extents::{ErrorInfo, TimeLeft, TraceContext};
pub use objref::{NO_PING, ObjRef, StdObjRef};
pub use oxids::{Oxids, Resolved};
pub use ping_plan::{Ping, PingPlan};
pub(crate) use references::is_older;
pub use references::{
    Client, ClientNumber, Dropped, Limits, PingAnswer, Pinging, References, Refs, SourceCounts, SourceLimits,
    SourcedClient,
};
pub use stub_data::{BadCall, Body, Calls, Decoder, Encoder, Malformed};
pub use vi_reference::ViReference;

use obvia_rpc::status::Status;
use windows_core::GUID;

/// Returns a GUID of COM's own range: 00000000-0000-0000-C000-000000000046 with another first part.
pub(crate) const fn com_guid(first: u32) -> GUID {
    GUID { data1: first, data2: 0, data3: 0, data4: [0xc0, 0, 0, 0, 0, 0, 0, 0x46] }
}

/// A method of one of ORPC's interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    /// The opnum of the method.
    pub opnum: u16,
    /// The method's name in \[MS-DCOM\].
    pub name: &'static str,
}

/// One of ORPC's interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The UUID of the interface, whose version is 0.0.
    pub id: GUID,
    /// The name of the interface.
    pub name: &'static str,
    /// Whether the interface is an ORPC interface, whose requests name an object and begin with
    /// ORPCTHIS. All other interfaces are RPC interfaces.
    pub has_objects: bool,
    /// The methods of the interface.
    pub methods: &'static [Method],
}

/// The resolver does not know the OXID (OR_INVALID_OXID).
pub const INVALID_OXID: Status = Status(0x0000_0776);
/// The resolver does not know the OID (OR_INVALID_OID).
pub const INVALID_OID: Status = Status(0x0000_0777);
/// The resolver does not know the ping set (OR_INVALID_SET).
pub const INVALID_SET: Status = Status(0x0000_0778);
/// The resolver has no room (RPC_S_OUT_OF_RESOURCES, because OR_NO_RESOURCES is never sent).
pub const OUT_OF_RESOURCES: Status = Status(0x0000_06b9);
