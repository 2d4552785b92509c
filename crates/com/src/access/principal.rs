//! The callers of methods, as access rules see them.

use obvia_rpc::security::Authenticated;
use obvia_via::window::Peer;

/// The caller of a method.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Caller {
    /// The caller's process, if the kernel identifies it as a process of this host; otherwise the
    /// caller's host, by its address.
    pub peer: Peer,
    /// The authenticated principal and the protection of the call. `None` where no authentication
    /// took place: over shared memory and datagrams, and where neither side asked for security.
    pub authenticated: Option<Authenticated>,
}
