//! `IActivation` and `IRemoteSCMActivator` (MS-DCOM 3.1.2.5.2): others have objects made of the classes that are registered here.

use super::classes::Activated;
use super::{answer, request, resolved};
use crate::error::{Result, code};
use crate::orpc::activation::{OutInterface, Properties, Property, PropsOutInfo, ScmReplyInfo};
use crate::orpc::activator::{RemoteActivation, RemoteActivationResults, Request, Response};
use crate::orpc::{Body, Decoder, OrpcThat, Resolved};
use crate::registry;
use crate::server::Caller;
use obvia_rpc::status::Status;
use std::sync::Arc;
use windows_core::{GUID, HRESULT, IUnknown};

/// The mode of a RemoteActivation that asks for the class object (MODE_GET_CLASS_OBJECT).
const CLASS_OBJECT: u32 = u32::MAX;

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
    super::headers::enter(&asked.this)?;
    let is_initialized = asked.object_name.is_some() || asked.storage.is_some();
    let wanted = if asked.mode == CLASS_OBJECT { Activated::ClassObject } else { Activated::Instance };
    let made =
        if is_initialized { Err(code::E_NOTIMPL.into()) } else { provide(caller, &asked.class, wanted, &asked.iids) };
    let Resolved { bindings, rem_unknown, authn_hint, version } = resolved(caller, &asked.protseqs);
    let (result, interfaces, oxid, bindings) = match made {
        Ok(interfaces) => (summary(&interfaces), interfaces, caller.runtime.oxid(), Some(bindings)),
        Err(error) => (error.code(), asked.iids.iter().map(|_| (error.code(), None)).collect(), 0, None),
    };
    let that = OrpcThat::default();
    let results = RemoteActivationResults {
        that,
        oxid,
        bindings,
        rem_unknown,
        authn_hint,
        version,
        result,
        interfaces,
        status: 0,
    };
    answer(|to| results.write(to))
}

/// Performs a call of `IRemoteSCMActivator`.
pub(super) fn perform(
    caller: &Arc<Caller>,
    opnum: u16,
    from: &mut Decoder<'_>,
) -> std::result::Result<Vec<u8>, Status> {
    let (this, properties, wanted) = match request(opnum, from)? {
        Request::GetClassObject { this, properties } => (this, properties, Activated::ClassObject),
        // No object of another host can be a part of one here.
        Request::CreateInstance { outer: Some(_), .. } => return refusal(code::CLASS_E_NOAGGREGATION),
        Request::CreateInstance { this, properties, .. } => (this, properties, Activated::Instance),
    };
    super::headers::enter(&this)?;
    let Some(properties) = properties else { return refusal(code::E_INVALIDARG) };
    match reply(caller, &properties, wanted) {
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

/// What is answered to properties: first the references, then how to get to this process.
fn reply(caller: &Arc<Caller>, properties: &[u8], wanted: Activated) -> Result<Vec<u8>> {
    let asked = Properties::from_request(properties)?;
    let instantiation = asked.instantiation()?;
    let is_initialized = |property: &Property| matches!(property, Property::Instance(instance) if instance.file.is_some() || instance.storage.is_some());
    if asked.list.iter().any(is_initialized) {
        return Err(code::E_NOTIMPL.into());
    }
    let protseqs = asked.scm_request().map(|request| request.protseqs.clone()).unwrap_or_default();
    let made = provide(caller, &instantiation.class, wanted, &instantiation.iids)?;
    let result = summary(&made);
    if result.is_err() {
        return Err(result.into());
    }
    let interfaces = instantiation.iids.iter().zip(made);
    let interfaces = interfaces.map(|(iid, (result, reference))| OutInterface { iid: *iid, result, reference });
    let Resolved { bindings, rem_unknown, authn_hint, version } = resolved(caller, &protseqs);
    let oxid = caller.runtime.oxid();
    let reply = ScmReplyInfo { oxid, bindings, rem_unknown, authn_hint, version };
    let out = PropsOutInfo { interfaces: interfaces.collect() };
    Ok(Properties::new(vec![Property::PropsOut(out), Property::ScmReply(reply)]).to_answer()?)
}

/// A class's object, or a new one of it: for each interface a reference, or why there is none.
fn provide(
    caller: &Arc<Caller>,
    class: &GUID,
    wanted: Activated,
    iids: &[GUID],
) -> Result<Vec<(HRESULT, Option<Vec<u8>>)>> {
    caller.runtime.rules().check_class(class, || caller.shown())?;
    let object = caller.runtime.classes().activate(class, wanted)?;
    let reference = |iid: &GUID| match marshal(caller, object.get(), iid) {
        Ok(reference) => (code::S_OK, Some(reference)),
        Err(error) => (error.code(), None),
    };
    Ok(iids.iter().map(reference).collect())
}

fn marshal(caller: &Arc<Caller>, object: &IUnknown, iid: &GUID) -> Result<Vec<u8>> {
    let info = registry::find(iid).map_err(|_| code::E_NOINTERFACE)?;
    caller.marshal(object, info)?.to_wire()
}

/// What became of the whole: it went well if one interface is there.
fn summary(interfaces: &[(HRESULT, Option<Vec<u8>>)]) -> HRESULT {
    let is_there = interfaces.iter().any(|(_, reference)| reference.is_some());
    let first = interfaces.first().map_or(code::E_NOINTERFACE, |(result, _)| *result);
    if is_there { code::S_OK } else { first }
}
