//! What the service does for clients of other hosts: objects are made for them by servers of this user, which it starts where they do not run,
//! and which it passes calls of the resolver on to.

mod pings;

pub(crate) use pings::PingSets;

use super::{by_server, class_endpoint, folders, unknown};
use crate::dcom::{Activated, asked};
use crate::error::{Error, Result, code};
use crate::link::{Address, Link, endpoint_of, local_binding};
use crate::orpc::activator::{ACTIVATION, RemoteActivation, RemoteActivationResults};
use crate::orpc::object_exporter::{self, Request, Resolve, Response};
use crate::orpc::{Body, Calls, Decoder, Encoder, Forwarded, INVALID_OXID, OrpcThis, Resolved};
use crate::runtime::{self, Runtime};
use crate::security;
use crate::server::Caller;
use crate::{network, system, thread};
use obvia_rpc::ByteOrder;
use obvia_rpc::status::Status;
use obvia_rpc::string_binding::ProtocolSequence;
use obvia_via::Deadline;
use obvia_via::window::Peer;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;
use windows_core::GUID;

/// How long a server may take to say how it is reached, or that it was pinged.
const PATIENCE: Duration = Duration::from_secs(3);

/// Whether this process is the service, and a call of the resolver or activator comes from another host: what it does not have itself, servers of
/// this user may.
pub(crate) fn is_for(caller: &Caller) -> bool {
    let is_serving = caller.runtime.starter().is_serving();
    is_serving && caller.told().is_none() && matches!(caller.peer, Peer::Host(_))
}

/// A call that is passed on for a client.
fn forwarded(caller: &Caller, interface: GUID, opnum: u16, stub: Vec<u8>) -> Result<Forwarded> {
    let Peer::Host(host) = caller.peer.clone() else { return Err(code::E_ACCESSDENIED.into()) };
    // Of several that lead to the same address it is not known which one the client has taken.
    let ways = caller.runtime.heard_by(Some(caller)).into_iter().filter(|way| way.protocol == ProtocolSequence::IpTcp);
    let way = ways.max_by_key(network::level_of);
    let text = "clients of other hosts have objects made over ncacn_ip_tcp, by the service that listens there";
    let heard = way.ok_or_else(|| Error::new(code::E_ACCESSDENIED, text))?.to_string();
    Ok(Forwarded { interface, opnum, process: caller.process(), host, maker: caller.authenticated(), heard, stub })
}

/// Has an object of a class made by its server, for a client of another host.
///
/// # Errors
///
/// REGDB_E_CLASSNOTREG for a class that has no program on this host; E_ACCESSDENIED, and a line in the log, where its registration does not
/// say that this client may have it started; or why there is no server.
pub(crate) fn activate_for(caller: &Arc<Caller>, asked: &RemoteActivation) -> Result<RemoteActivationResults> {
    let class = &asked.class;
    let told = |error: Error| {
        // The client is told no more than the code: what files and programs say is no business of other hosts.
        let _ = writeln!(std::io::stderr(), "obvia: no object of {{{class:?}}} for {}: {error}", caller.peer);
        Error::from(error.code())
    };
    let found = folders::find(class).map_err(told)?.filter(|(found, _)| found.program.is_some());
    let (found, _) = found.ok_or_else(|| unknown(class, "has no program on this host"))?;
    let shown = caller.shown();
    if !found.remote.iter().any(|line| line.applies_to(&shown)) {
        security::log_refused_class(shown, class);
        return Err(Error::new(
            code::E_ACCESSDENIED,
            "the registration does not say that this client may have it started",
        ));
    }
    let call = forwarded(caller, ACTIVATION.id, 0, asked.encode(ByteOrder::Little)?)?;
    let runtime = caller.runtime;
    let activate = || {
        let link = runtime.link_by_address(Address::Name(class_endpoint(class)))?;
        let stub = system::forward::forward(&link, &call)?.map_err(faulted)?;
        let from = &mut Decoder::new(&stub, ByteOrder::Little);
        let made = RemoteActivationResults::read(asked.iids.len(), from)?;
        // A process that is about to end has no classes any more.
        if made.result == code::REGDB_E_CLASSNOTREG { Err(made.result.into()) } else { Ok(made) }
    };
    by_server(activate, |deadline| runtime.starter().start(runtime, class, deadline)).map_err(told)
}

/// The same for a client that is a process of obvia's: the reference.
///
/// # Errors
///
/// As for [`activate_for`]; or why the object has no such interface.
pub(crate) fn reference_for(caller: &Arc<Caller>, class: GUID, wanted: Activated, iid: GUID) -> Result<Vec<u8>> {
    let this = OrpcThis::new(GUID::from_u128(runtime::draw()?.into()));
    let made = activate_for(caller, &asked(this, class, wanted, vec![iid], Vec::new()))?;
    made.result.ok()?;
    let (result, reference) = made.interfaces.into_iter().next().ok_or(code::RPC_E_INVALID_DATA)?;
    reference.ok_or_else(|| result.into())
}

/// What the server answered with instead of results.
fn faulted(status: Status) -> Error {
    Error::new(code::RPC_E_SERVERFAULT, format!("the server answered with a fault: {status}"))
}

/// The link to a process of this user.
fn link_to(runtime: &'static Runtime, oxid: u64) -> Result<Arc<Link>> {
    runtime.link_to(oxid, &[local_binding(endpoint_of(oxid))])
}

/// Passes a call of the resolver on to a process of this user.
///
/// # Errors
///
/// Where the process is not there, or does not answer.
fn resolver_call(caller: &Caller, oxid: u64, request: &Request) -> Result<Response> {
    let opnum = request.opnum();
    let stub = Encoder::encode(ByteOrder::Little, |to| request.write(to))?;
    let call = forwarded(caller, object_exporter::INTERFACE.id, opnum, stub)?;
    let deadline = Deadline::Within(thread::deadline().start().remaining().min(PATIENCE)).start();
    let stub = thread::with(deadline, || system::forward::forward(&*link_to(caller.runtime, oxid)?, &call))?;
    let stub = stub.map_err(faulted)?;
    Response::read(opnum, &mut Decoder::new(&stub, ByteOrder::Little)).map_err(|_| code::RPC_E_INVALID_DATA.into())
}

/// How a process of this user is reached by a client of another host.
///
/// # Errors
///
/// OR_INVALID_OXID for one that is not there, or that no network leads to.
pub(crate) fn resolve_for(caller: &Caller, wanted: &Resolve) -> std::result::Result<Resolved, Status> {
    match resolver_call(caller, wanted.oxid, &Request::ResolveOxid2(wanted.clone())) {
        Ok(Response::ResolveOxid2(found)) => found,
        _ => Err(INVALID_OXID),
    }
}
