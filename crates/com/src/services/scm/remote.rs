//! The SCM's service for clients of other hosts: activations by servers of this user, and resolver
//! calls. For an activation, the SCM starts the server if it does not run. Resolver calls are
//! forwarded to the servers.

mod pings;

pub(crate) use pings::PingSets;

use super::{by_server, class_endpoint, folders, unknown};
use crate::access;
use crate::client::address::Address;
use crate::client::link::Link;
use crate::orpc::activator::{ACTIVATION, RemoteActivation, RemoteActivationResults};
use crate::orpc::object_exporter::{self, Request, Resolve, Response};
use crate::orpc::rem_unknown::{self, InterfaceRef};
use crate::orpc::{Body, Calls, Decoder, Encoder, Forwarded, INVALID_OXID, ObjRef, OrpcThis, Resolved};
use crate::protocol::objref as protocol;
use crate::runtime::Runtime;
use crate::server::{Caller, is_cancelled};
use crate::services::dcom::{Activated, asked};
use crate::services::scm::forward;
use crate::services::scm::starter::Starter;
use crate::transport::network;
use crate::types::deadline;
use crate::types::error::{Error, Result, code};
use crate::types::identity::{self, endpoint_of, local_binding};
use obvia_rpc::ByteOrder;
use obvia_rpc::status::Status;
use obvia_rpc::string_binding::ProtocolSequence;
use obvia_via::Deadline;
use obvia_via::window::Peer;
use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;
use windows_core::GUID;

/// The time within which a server must answer a forwarded resolver call, ping or release.
const PATIENCE: Duration = Duration::from_secs(3);

/// Whether a resolver or activator call may be meant for a server of this user: this process is the
/// SCM, and the call comes from another host.
pub(crate) fn is_for(caller: &Caller) -> bool {
    let is_serving = Runtime::made().is_some_and(|runtime| Starter::of(runtime).is_serving());
    is_serving && caller.forwarding().is_none() && matches!(caller.peer, Peer::Host(_))
}

/// Returns the form in which a call of the client `caller` is forwarded.
fn forwarded(caller: &Caller, interface: GUID, opnum: u16, stub: Vec<u8>) -> Result<Forwarded> {
    let Peer::Host(host) = caller.peer.clone() else { return Err(code::E_ACCESSDENIED.into()) };
    // If several bindings have the address that the client used, it is not known which of them it
    // used. The binding with the greatest protection is taken.
    let ways = Runtime::current()?
        .bindings_of_caller(Some(caller))
        .into_iter()
        .filter(|way| way.protocol == ProtocolSequence::IpTcp);
    let way = ways.max_by_key(network::level_of);
    let text = "clients of other hosts can create objects only over ncacn_ip_tcp, by an SCM that listens there";
    let heard = way.ok_or_else(|| Error::new(code::E_ACCESSDENIED, text))?.to_string();
    Ok(Forwarded { interface, opnum, process: caller.process(), host, maker: caller.authenticated(), heard, stub })
}

/// Activates a class by its server, for a client of another host.
///
/// # Errors
///
/// REGDB_E_CLASSNOTREG for a class without program on this host; E_ACCESSDENIED, with an entry in
/// the audit log, where the registration does not admit the client; the error of the server or of
/// its start.
pub(crate) fn activate_for(caller: &Arc<Caller>, asked: &RemoteActivation) -> Result<RemoteActivationResults> {
    let class = &asked.class;
    let hidden = |error: Error| {
        // The client receives only the code. The texts of files and programs stay on this host. If
        // the client has cancelled the call, the error is a result of the cancellation, and is not
        // logged.
        if !is_cancelled() && error.code() != code::RPC_E_CALL_CANCELED {
            let peer = &caller.peer;
            let text = format!("obvia: cannot create an object of the class {{{class:?}}} for {peer}: {error}");
            let _ = writeln!(std::io::stderr(), "{text}");
        }
        Error::from(error.code())
    };
    let found = folders::find(class).map_err(hidden)?.filter(|(found, _)| found.program.is_some());
    let (found, _) = found.ok_or_else(|| unknown(class, "has no program on this host"))?;
    let shown = caller.shown();
    if !found.remote.iter().any(|line| line.applies_to(&shown)) {
        access::log_refused_class(shown, class);
        return Err(Error::new(
            code::E_ACCESSDENIED,
            "the registration does not permit this client to start the server",
        ));
    }
    let call = forwarded(caller, ACTIVATION.id, 0, asked.encode(ByteOrder::Little)?)?;
    let runtime = Runtime::current()?;
    let activate = || {
        let link = runtime.link_by_address(Address::Name(class_endpoint(class)))?;
        let stub = forward::forward(&link, &call, Some(&|| !is_cancelled()))?.map_err(faulted)?;
        let from = &mut Decoder::new(&stub, ByteOrder::Little);
        let made = RemoteActivationResults::read(asked.iids.len(), from)?;
        // A server that is about to end answers that the class is not registered. This answer
        // becomes an error, so that a new server is started.
        if made.result == code::REGDB_E_CLASSNOTREG { Err(made.result.into()) } else { Ok((link, made)) }
    };
    let (link, made) =
        by_server(activate, |deadline| Starter::of(runtime).start(runtime, class, deadline)).map_err(hidden)?;
    note_references(caller, link, &call, &asked.this, &made)?;
    Ok(made)
}

/// Records the references for the client in a server's answer to an activation. If the client does
/// not receive them, they are given back in the client's name.
fn note_references(
    caller: &Caller,
    link: Arc<Link>,
    call: &Forwarded,
    this: &OrpcThis,
    made: &RemoteActivationResults,
) -> Result<()> {
    let mut counted: HashMap<u64, Vec<InterfaceRef>> = HashMap::new();
    for (_, reference) in &made.interfaces {
        let reference = reference.as_ref().and_then(|reference| ObjRef::from_bytes(reference).ok());
        if let Some((std, _)) = reference.as_ref().and_then(ObjRef::standard) {
            let refs = InterfaceRef { ipid: std.ipid, public: std.public_refs, private: 0 };
            counted.entry(std.oxid).or_default().push(refs);
        }
    }
    for (oxid, refs) in counted {
        let link = (oxid == made.oxid).then(|| Arc::clone(&link));
        note_release(caller, (oxid, link), call.clone(), this, refs)?;
    }
    Ok(())
}

/// Records the reference to an object of a third process in the answer to a forwarded call. If the
/// client does not receive the answer, the reference is given back in the client's name.
pub(crate) fn note_third_process(client: &Caller, reference: &protocol::ObjRef) -> Result<()> {
    let (Some(forwarding), Peer::Host(host)) = (client.forwarding(), client.peer.clone()) else { return Ok(()) };
    let (process, maker, heard) = (client.process(), client.authenticated(), forwarding.heard.to_string());
    let call = Forwarded { interface: GUID::zeroed(), opnum: 0, process, host, maker, heard, stub: Vec::new() };
    let this = OrpcThis::new(GUID::from_u128(identity::draw()?.into()));
    let refs = InterfaceRef { ipid: reference.std().ipid, public: reference.public_refs, private: 0 };
    note_release(client, (reference.oxid, None), call, &this, vec![refs])
}

/// Records references to objects of one process, which are given back in the client's name if the
/// client of a forwarded call does not receive them. With the OXID of the process comes the link to
/// it, if there is one.
fn note_release(
    caller: &Caller,
    (oxid, link): (u64, Option<Arc<Link>>),
    call: Forwarded,
    this: &OrpcThis,
    refs: Vec<InterfaceRef>,
) -> Result<()> {
    let release = rem_unknown::Request::Release(refs);
    let stub = Encoder::encode(ByteOrder::Little, |to| {
        this.write(to);
        release.write(to);
    })?;
    let call = Forwarded { interface: rem_unknown::INTERFACE.id, opnum: release.opnum(), stub, ..call };
    let give_back = move || {
        let limit = Deadline::Within(PATIENCE).start();
        // There is only one attempt. A process that is gone counts no references any more. A
        // process that does not answer in time, or that is not of this user and host, may keep the
        // references.
        let _ = deadline::with(limit, || {
            let link = link.map_or_else(|| link_to(Runtime::current()?, oxid), Ok)?;
            forward::forward(&link, &call, None)
        });
    };
    caller.note(|sent| sent.others.push(Box::new(give_back)));
    Ok(())
}

/// Activates a class for a client that is an obvia process, and returns the reference.
///
/// # Errors
///
/// As for [`activate_for`]; E_NOINTERFACE where the object has no such interface.
pub(crate) fn reference_for(caller: &Arc<Caller>, class: GUID, wanted: Activated, iid: GUID) -> Result<Vec<u8>> {
    let this = OrpcThis::new(GUID::from_u128(identity::draw()?.into()));
    let made = activate_for(caller, &asked(this, class, wanted, vec![iid], Vec::new()))?;
    made.result.ok()?;
    let (result, reference) = made.interfaces.into_iter().next().ok_or(code::RPC_E_INVALID_DATA)?;
    reference.ok_or_else(|| result.into())
}

/// Returns the error for a fault with which the server has answered.
fn faulted(status: Status) -> Error {
    Error::new(code::RPC_E_SERVERFAULT, format!("the server answered with a fault: {status}"))
}

/// Returns the link to a process of this user.
fn link_to(runtime: &'static Runtime, oxid: u64) -> Result<Arc<Link>> {
    runtime.link_to(oxid, &[local_binding(endpoint_of(oxid))])
}

/// Forwards a resolver call to a process of this user.
///
/// # Errors
///
/// If the process is gone or does not answer.
fn resolver_call(caller: &Caller, oxid: u64, request: &Request) -> Result<Response> {
    let opnum = request.opnum();
    let stub = Encoder::encode(ByteOrder::Little, |to| request.write(to))?;
    let call = forwarded(caller, object_exporter::INTERFACE.id, opnum, stub)?;
    let deadline = Deadline::Within(deadline::of_thread().start().remaining().min(PATIENCE)).start();
    let stub = deadline::with(deadline, || forward::forward(&*link_to(Runtime::current()?, oxid)?, &call, None))?;
    let stub = stub.map_err(faulted)?;
    Response::read(opnum, &mut Decoder::new(&stub, ByteOrder::Little)).map_err(|_| code::RPC_E_INVALID_DATA.into())
}

/// Returns the bindings by which a client of another host reaches a process of this user.
///
/// # Errors
///
/// OR_INVALID_OXID for a process that is gone, or that cannot be reached over a network.
pub(crate) fn resolve_for(caller: &Caller, wanted: &Resolve) -> std::result::Result<Resolved, Status> {
    match resolver_call(caller, wanted.oxid, &Request::ResolveOxid2(wanted.clone())) {
        Ok(Response::ResolveOxid2(found)) => found,
        _ => Err(INVALID_OXID),
    }
}
