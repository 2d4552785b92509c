//! The handshake: the first connection to a process, over which both sides learn each other's
//! OXID.

use crate::client::address::{Address, Destination, Terms};
use crate::protocol::binding;
use crate::protocol::own_calls;
use crate::transport::local::LocalProcess;
use crate::transport::routes::Targets;
use crate::types::error::{Error, Result, code};
use crate::types::identity::{self, endpoint_of};
use obvia_rpc::vi_call::Channel;
use obvia_via::window::{Options, Peer};
use obvia_via::{Deadline, Waiting};
use std::sync::Arc;

/// A process that was reached, with its home connection.
pub(crate) struct Reached {
    pub(crate) oxid: u64,
    pub(crate) address: Address,
    pub(crate) home: Channel,
    /// The connection that the first call will use. `None` if the handshake has made no connection
    /// besides `home`, or if the server polls: each connection to such a server, except home
    /// connections, keeps one of the server's threads busy.
    pub(crate) channel: Option<Channel>,
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
/// The OXID that the server of a name claims proves nothing. Calls therefore go to the endpoint of
/// that OXID, which only the process itself serves. A server that claims another process's OXID
/// thus gets none of the calls to that process. If the kernel says that the process at the endpoint
/// is the process at the name, the connection to the name is the home connection. Over a network
/// this process knows only the server's address. The link is therefore for the OXID that the server
/// at this address claims.
pub(crate) fn reach<L>(
    local: &'static LocalProcess,
    to: Destination,
    deadline: Deadline,
    known: impl FnOnce(&Reached) -> Option<L>,
) -> Result<Outcome<L>> {
    let for_home = for_home(&local.options());
    let introduced = introduce(local, to, &for_home, deadline)?;
    if let Some(link) = known(&introduced) {
        return Ok(Outcome::Known(link));
    }
    let endpoint = Address::Name(endpoint_of(introduced.oxid));
    if introduced.address == endpoint || matches!(introduced.address, Address::Binding(_)) {
        return Ok(Outcome::New(Box::new(introduced)));
    }
    let introduce_at_endpoint = |options: &Options| {
        let found = introduce(local, Destination::of_program(endpoint.clone()), options, deadline)?;
        if found.oxid != introduced.oxid {
            return Err(Error::new(code::RPC_E_INVALID_DATA, "the endpoint leads to another process"));
        }
        Ok(found)
    };
    let Reached { oxid, address, home: channel, terms, .. } = introduce_at_endpoint(&local.options())?;
    // The connection to the name stays open until the other connections are made, so that the
    // server does not consider this client gone.
    let home = if is_one_process(&introduced.home.peer(), &channel.peer()) {
        introduced.home
    } else {
        introduce_at_endpoint(&for_home)?.home
    };
    let channel = channel.peer_may_sleep().then_some(channel);
    Ok(Outcome::New(Box::new(Reached { oxid, address, home, channel, terms })))
}

/// Whether the kernel has identified two peers as one process.
fn is_one_process(one: &Peer, other: &Peer) -> bool {
    matches!(one, Peer::Process { pid: 1.., .. }) && one == other
}

/// The outcome of a handshake.
pub(crate) enum Outcome<L> {
    /// The existing link to the process.
    Known(L),
    /// A process to which there is no link yet.
    New(Box<Reached>),
}

/// Opens a connection, and exchanges OXIDs with the process at the other end.
fn introduce(local: &'static LocalProcess, to: Destination, options: &Options, deadline: Deadline) -> Result<Reached> {
    let deadline = deadline.start();
    open(local, to, options, deadline, |home, targets| {
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

/// Connects to a server that need not be an obvia process. The client does not ask for the server's
/// OXID; the result has a random one.
pub(crate) fn connect_foreign(local: &'static LocalProcess, address: Address, deadline: Deadline) -> Result<Reached> {
    open(local, Destination::of_program(address), &local.options(), deadline, |_, _| identity::draw())
}

/// Opens the first connection to a process. `greet` returns the process's OXID.
fn open(
    local: &'static LocalProcess,
    to: Destination,
    options: &Options,
    deadline: Deadline,
    greet: impl FnOnce(&mut Channel, Option<&Arc<Targets>>) -> Result<u64>,
) -> Result<Reached> {
    let (address, terms) = to.terms()?;
    let (home, oxid) = address.connect(local, &terms, options, deadline, |home| greet(home, terms.targets.as_ref()))?;
    Ok(Reached { oxid, address, home, channel: None, terms })
}

#[cfg(test)]
mod tests {
    use super::is_one_process;
    use obvia_via::window::Peer;

    #[test]
    fn only_processes_that_the_kernel_identifies_are_known_to_be_one() {
        let process = |pid, uid, serial| Peer::Process { pid, uid, serial };
        assert!(is_one_process(&process(7, 1, 70), &process(7, 1, 70)));
        for other in [process(8, 1, 70), process(7, 2, 70), process(7, 1, 71), Peer::Host("host".to_owned())] {
            assert!(!is_one_process(&process(7, 1, 70), &other));
        }
        // The kernel identifies neither processes of other PID namespaces nor hosts.
        for unknown in [process(0, Peer::NOBODY, 0), Peer::Host("host".to_owned())] {
            assert!(!is_one_process(&unknown, &unknown));
        }
    }
}
