//! ORPC: how objects are called by DCOM's protocol ([MS-DCOM]): its formats, its own interfaces, and the tables behind them.
//!
//! Nothing here does input or output or looks at a clock: bytes and times come from the caller. [`ObjRef`] is what travels for an
//! interface pointer, [`OrpcThis`] and [`OrpcThat`] what stands before the parameters of a call and its results, [`activation`] what is
//! asked and answered where an object is made. [`object_exporter`], [`rem_unknown`] and [`activator`] are the interfaces that every
//! process with objects has beside them. [`Oxids`] and [`References`] are what a server remembers, [`PingPlan`] what a client does.
//!
//! # Who counts
//!
//! What this process exports is counted by [`References`], for all clients:
//!
//! - An entry of the exports is an interface here, by an IPID that has its target and the OXID in it. Object and interface to target, and target
//!   to stubs, stay with the exports: no peer has a say in them.
//! - A process of obvia's is a [`Client::Process`] by its OXID. It does not ping: its connections tell when it is gone, and
//!   [`References::drop_client`] drops what it had at once.
//! - Another peer is a [`Client::Peer`], by its host and who it has proved to be; nobody notices when it dies, so what it has lives by pings. The
//!   finer the distinction, the better are peers protected from each other; where one peer is taken for two, what it gives back as the
//!   other is only dropped later.
//! - What [`References`] returns as dropped is what the exports take out of the object table, and drop without locks.
//! - The calls that processes of obvia make among themselves are their own `IRemUnknown`, and call the same methods of the same table.

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
pub use references::{Client, Dropped, Limits, PingAnswer, Pinging, References, Refs};
pub use stub_data::{BadCall, Body, Calls, Decoder, Encoder, Malformed};
pub use vi_reference::ViReference;

use obvia_rpc::status::Status;
use windows_core::GUID;

/// A GUID of the range that COM has for itself: 00000000-0000-0000-C000-000000000046 with another first part.
pub(crate) const fn com_guid(first: u32) -> GUID {
    GUID { data1: first, data2: 0, data3: 0, data4: [0xc0, 0, 0, 0, 0, 0, 0, 0x46] }
}

/// A method of one of ORPC's interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    /// Its number.
    pub opnum: u16,
    /// Its name in \[MS-DCOM\].
    pub name: &'static str,
}

/// One of the interfaces that make up ORPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its UUID; the version is 0.0.
    pub id: GUID,
    /// Its name.
    pub name: &'static str,
    /// Whether requests begin with ORPCTHIS and name an object: an ORPC interface, not one of RPC alone.
    pub has_objects: bool,
    /// Its methods.
    pub methods: &'static [Method],
}

/// The resolver does not know the OXID (OR_INVALID_OXID).
pub const INVALID_OXID: Status = Status(0x0000_0776);
/// The resolver does not know the OID (OR_INVALID_OID).
pub const INVALID_OID: Status = Status(0x0000_0777);
/// The resolver does not know the ping set (OR_INVALID_SET).
pub const INVALID_SET: Status = Status(0x0000_0778);
/// The resolver has no place for more (OR_NO_RESOURCES is not on the wire; this is RPC_S_OUT_OF_RESOURCES).
pub const OUT_OF_RESOURCES: Status = Status(0x0000_06b9);
