//! The handshake: the first connection to a process, over which both sides learn each other's
//! OXID.

use crate::client::address::{Address, Terms};
use crate::protocol::binding;
use crate::protocol::own_calls;
use crate::transport::local::LocalProcess;
use crate::transport::routes::Targets;
use crate::types::error::{Error, Result, code};
use crate::types::identity::{self, endpoint_of};
use obvia_rpc::vi_call::Channel;
use obvia_via::window::Options;
use obvia_via::{Deadline, Waiting};
use std::sync::Arc;

/// A process that was reached, with its home connection.
pub(crate) struct Reached {
    pub(crate) oxid: u64,
    pub(crate) address: Address,
    pub(crate) home: Channel,
    pub(crate) terms: Terms,
}

/// Returns the options of a home connection. Home connections are seldom used, and their latency
/// does not matter.
pub(super) fn for_home(options: &Options) -> Options {
    Options { waiting: Waiting::Adaptive, quiet: true, ..options.clone() }
}

/// Reaches the process at an exported name, at a process's endpoint or at a binding. If `known`
/// returns a link for the OXID that the server claims, that link is the result.
///
/// The OXID that the server of a name claims proves nothing. The home connection therefore leads to
/// the endpoint of that OXID, which only the process itself serves. A server that claims another
/// process's OXID thus gets none of the calls to that process. Over a network only the address is
/// known, and the link is for the OXID that is claimed at that host.
pub(crate) fn reach<L>(
    local: &'static LocalProcess,
    address: Address,
    deadline: Deadline,
    known: impl FnOnce(&Reached) -> Option<L>,
) -> Result<Outcome<L>> {
    let introduced = introduce(local, address, deadline)?;
    if let Some(link) = known(&introduced) {
        return Ok(Outcome::Known(link));
    }
    let endpoint = Address::Name(endpoint_of(introduced.oxid));
    if introduced.address == endpoint || matches!(introduced.address, Address::Binding(_)) {
        return Ok(Outcome::New(Box::new(introduced)));
    }
    let found = introduce(local, endpoint, deadline)?;
    if found.oxid != introduced.oxid {
        return Err(Error::new(code::RPC_E_INVALID_DATA, "the endpoint leads to another process"));
    }
    // The first connection ends after the second was made, so that the server does not consider
    // this client gone.
    drop(introduced);
    Ok(Outcome::New(Box::new(found)))
}

/// The outcome of a handshake.
pub(crate) enum Outcome<L> {
    /// The existing link to the process.
    Known(L),
    /// A process without a link.
    New(Box<Reached>),
}

/// Opens a home connection, and exchanges OXIDs with the process at the other end.
fn introduce(local: &'static LocalProcess, address: Address, deadline: Deadline) -> Result<Reached> {
    let deadline = deadline.start();
    open(local, address, &for_home(&local.options()), deadline, |home, targets| {
        let oxid = binding::introduce(home, local.oxid(), deadline)?;
        if let Some(targets) = targets {
            targets.set_process(oxid);
            // The server's answer to a call shows whether it accepted the authentication. Earlier
            // messages may not show it.
            if targets.protection().is_some() {
                own_calls::settle(home, deadline)?;
            }
        }
        Ok(oxid)
    })
}

/// Connects to a server that may be no obvia process. The server is not asked for an OXID: the
/// result has one of its own.
pub(crate) fn connect_foreign(local: &'static LocalProcess, address: Address, deadline: Deadline) -> Result<Reached> {
    open(local, address, &local.options(), deadline, |_, _| identity::draw())
}

/// Opens the first connection to a process. `greet` returns the process's OXID.
fn open(
    local: &'static LocalProcess,
    address: Address,
    options: &Options,
    deadline: Deadline,
    greet: impl FnOnce(&mut Channel, Option<&Arc<Targets>>) -> Result<u64>,
) -> Result<Reached> {
    let terms = address.terms()?;
    let (home, oxid) = address.connect(local, &terms, options, deadline, |home| greet(home, terms.targets.as_ref()))?;
    Ok(Reached { oxid, address, home, terms })
}
