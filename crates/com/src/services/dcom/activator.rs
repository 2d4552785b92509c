//! `IActivation` and `IRemoteSCMActivator` (MS-DCOM 3.1.2.5.2): clients activate the classes that
//! are registered in this process. If this process is the SCM, clients also activate the classes
//! whose servers it starts.

use super::answers::{answer, request, resolved};
use super::classes::Activated;
use crate::client::proxy::Wanted;
use crate::orpc::activation::{OutInterface, Properties, Property, PropsOutInfo, ScmReplyInfo};
use crate::orpc::activator::{RemoteActivation, RemoteActivationResults, Request, Response};
use crate::orpc::{Body, ComVersion, Decoder, OrpcThat, OrpcThis, Resolved};
use crate::protocol::orpc_headers;
use crate::runtime::{Runtime, response};
use crate::server::Caller;
use crate::services::dcom::classes::Classes;
use crate::services::dcom::request::{CLASS_OBJECT, asked};
use crate::services::scm;
use crate::types::error::{Result, code};
use obvia_rpc::status::Status;
use std::io::Write;
use std::sync::Arc;
use windows_core::{GUID, HRESULT, IUnknown};

/// Performs a call of `IActivation`.
pub(super) fn activate(
    caller: &Arc<Caller>,
    opnum: u16,
    from: &mut Decoder<'_>,
) -> std::result::Result<Vec<u8>, Status> {
    if opnum != 0 {
        return Err(Status::OP_RNG_ERROR);
    }
    let asked = RemoteActivation::read(from)?;
    orpc_headers::enter(&asked.this)?;
    let is_initialized = asked.object_name.is_some() || asked.storage.is_some();
    let made = if is_initialized { Err(code::E_NOTIMPL.into()) } else { provide(caller, &asked) };
    let results = made.unwrap_or_else(|error| failed_results(&asked, error.code()));
    answer(|to| results.write(to))
}

/// Returns the results of a failed activation.
fn failed_results(asked: &RemoteActivation, result: HRESULT) -> RemoteActivationResults {
    RemoteActivationResults {
        that: OrpcThat::default(),
        oxid: 0,
        bindings: None,
        rem_unknown: GUID::zeroed(),
        authn_hint: 0,
        version: ComVersion::OURS,
        result,
        interfaces: asked.iids.iter().map(|_| (result, None)).collect(),
        status: 0,
    }
}

/// Performs a call of `IRemoteSCMActivator`.
pub(super) fn perform(
    caller: &Arc<Caller>,
    opnum: u16,
    from: &mut Decoder<'_>,
) -> std::result::Result<Vec<u8>, Status> {
    let (this, properties, wanted) = match request(opnum, from)? {
        Request::GetClassObject { this, properties } => (this, properties, Activated::ClassObject),
        // Aggregation across processes is impossible.
        Request::CreateInstance { outer: Some(_), .. } => return refusal(code::CLASS_E_NOAGGREGATION),
        Request::CreateInstance { this, properties, .. } => (this, properties, Activated::Instance),
    };
    orpc_headers::enter(&this)?;
    let Some(properties) = properties else { return refusal(code::E_INVALIDARG) };
    match reply(caller, this, &properties, wanted) {
        Ok(properties) => {
            let response = Response { properties: Some(properties), ..Response::default() };
            answer(|to| response.write(to))
        }
        Err(error) => refusal(error.code()),
    }
}

fn refusal(result: HRESULT) -> std::result::Result<Vec<u8>, Status> {
    let response = Response { result, ..Response::default() };
    answer(|to| response.write(to))
}

/// Returns the activation properties that answer a request: first the references, then the bindings
/// of the process.
fn reply(caller: &Arc<Caller>, this: OrpcThis, properties: &[u8], wanted: Activated) -> Result<Vec<u8>> {
    let properties = Properties::from_request(properties)?;
    let instantiation = properties.instantiation()?;
    let is_initialized = |property: &Property| matches!(property, Property::Instance(instance) if instance.file.is_some() || instance.storage.is_some());
    if properties.list.iter().any(is_initialized) {
        return Err(code::E_NOTIMPL.into());
    }
    let protseqs = properties.scm_request().map(|request| request.protseqs.clone()).unwrap_or_default();
    let asked = asked(this, instantiation.class, wanted, instantiation.iids.clone(), protseqs);
    let RemoteActivationResults { oxid, bindings, rem_unknown, authn_hint, version, result, interfaces, .. } =
        provide(caller, &asked)?;
    if result.is_err() {
        return Err(result.into());
    }
    let interfaces = instantiation.iids.iter().zip(interfaces);
    let interfaces = interfaces.map(|(iid, (result, reference))| OutInterface { iid: *iid, result, reference });
    let bindings = bindings.unwrap_or_default();
    let reply = ScmReplyInfo { oxid, bindings, rem_unknown, authn_hint, version };
    let out = PropsOutInfo { interfaces: interfaces.collect() };
    Ok(Properties::new(vec![Property::PropsOut(out), Property::ScmReply(reply)]).to_answer()?)
}

/// Activates a class. Returns for each interface a reference or an error, and the bindings of the
/// process that has the object.
fn provide(caller: &Arc<Caller>, asked: &RemoteActivation) -> Result<RemoteActivationResults> {
    let runtime = Runtime::current()?;
    if scm::is_for(caller) && !Classes::of(runtime).has(&asked.class) {
        return scm::activate_for(caller, asked);
    }
    runtime.rules().check_class(&asked.class, || caller.shown())?;
    if let Some(forwarding) = caller.forwarding() {
        runtime.exporter().listen_like(&forwarding.heard).inspect_err(|error| {
            // The text is written here, since the client receives only the code of the error.
            let _ = writeln!(
                std::io::stderr(),
                "obvia: cannot listen on {} for {}: {error}",
                forwarding.heard.address,
                caller.peer
            );
        })?;
    }
    let wanted = if asked.mode == CLASS_OBJECT { Activated::ClassObject } else { Activated::Instance };
    let object = Classes::of(runtime).activate(&asked.class, wanted)?;
    let reference = |iid: &GUID| match marshal(caller, object.get(), iid) {
        Ok(reference) => (code::S_OK, Some(reference)),
        Err(error) => (error.code(), None),
    };
    let interfaces: Vec<_> = asked.iids.iter().map(reference).collect();
    let Resolved { bindings, rem_unknown, authn_hint, version } = resolved(runtime, caller, &asked.protseqs);
    let (that, result) = (OrpcThat::default(), summary(&interfaces));
    Ok(RemoteActivationResults {
        that,
        oxid: runtime.oxid(),
        bindings: Some(bindings),
        rem_unknown,
        authn_hint,
        version,
        result,
        interfaces,
        status: 0,
    })
}

fn marshal(caller: &Arc<Caller>, object: &IUnknown, iid: &GUID) -> Result<Vec<u8>> {
    let info = Wanted::Iid(*iid).info().map_err(|_| code::E_NOINTERFACE)?;
    let reference = response::marshal(caller, object, info)?;
    if ![Runtime::current()?.oxid(), caller.oxid].contains(&reference.oxid) {
        scm::note_third_process(caller, &reference)?;
    }
    reference.to_wire()
}

/// Returns the overall result: success if at least one interface was found, otherwise the result
/// for the first interface.
fn summary(interfaces: &[(HRESULT, Option<Vec<u8>>)]) -> HRESULT {
    let is_there = interfaces.iter().any(|(_, reference)| reference.is_some());
    let first = interfaces.first().map_or(code::E_NOINTERFACE, |(result, _)| *result);
    if is_there { code::S_OK } else { first }
}
