//! `IRemUnknown` and `IRemUnknown2` (MS-DCOM 3.1.1.5.6, 3.1.1.5.7): clients query objects for
//! further interfaces, and change their reference counts.

use super::answers::{answer, request};
use crate::client::proxy::Wanted;
use crate::orpc::rem_unknown::{InterfaceRef, QueryResult, Request, Response};
use crate::orpc::{Body, Decoder, OrpcThat, OrpcThis, Refs, StdObjRef};
use crate::protocol::objref::{self, ObjRef, securities_for};
use crate::protocol::orpc_headers;
use crate::runtime::Runtime;
use crate::server::Caller;
use crate::types::error::{Error, Result, code};
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::TargetId;
use std::sync::Arc;
use windows_core::{GUID, HRESULT};

/// Performs a call of `IRemUnknown` or `IRemUnknown2`.
pub(super) fn perform(
    caller: &Arc<Caller>,
    opnum: u16,
    from: &mut Decoder<'_>,
) -> std::result::Result<Vec<u8>, Status> {
    orpc_headers::enter(&OrpcThis::read(from)?)?;
    let response = match request(opnum, from)? {
        Request::QueryInterface { ipid, refs, iids } => {
            let found = iids.iter().map(|iid| query(caller, &ipid, iid, refs));
            let (results, result) = outcome(found, |found| match found {
                Ok(reference) => QueryResult { result: code::S_OK, std: reference.std() },
                Err(error) => QueryResult { result: error.code(), std: StdObjRef::default() },
            });
            Response::QueryInterface(results, result)
        }
        Request::AddRef(refs) => {
            let (results, result) = outcome(refs.iter().map(|refs| add(caller, refs)), code_of);
            Response::AddRef(results, result)
        }
        Request::Release(refs) => {
            release(caller, &refs);
            Response::Release(code::S_OK)
        }
        Request::QueryInterface2 { ipid, iids } => {
            let found = iids.iter().map(|iid| query(caller, &ipid, iid, 1)?.to_wire());
            let (results, result) = outcome(found, |found| match found {
                Ok(reference) => (code::S_OK, Some(reference)),
                Err(error) => (error.code(), None),
            });
            Response::QueryInterface2(results, result)
        }
    };
    answer(|to| {
        OrpcThat::default().write(to);
        response.write(to);
    })
}

fn code_of(done: Result<()>) -> HRESULT {
    done.map_or_else(|error| error.code(), |()| code::S_OK)
}

/// Returns the results of all items, and the result of the call: S_OK if no item failed, S_FALSE if
/// some items failed, and the first error if all items failed.
fn outcome<T, R>(done: impl Iterator<Item = Result<T>>, tell: impl Fn(Result<T>) -> R) -> (Vec<R>, HRESULT) {
    let (mut count, mut errors, mut first) = (0, 0, code::S_OK);
    let told = done
        .map(|one| {
            count += 1;
            if let Err(error) = &one {
                errors += 1;
                first = if errors == 1 { error.code() } else { first };
            }
            tell(one)
        })
        .collect();
    let result = match errors {
        0 => code::S_OK,
        _ if errors < count => code::S_FALSE,
        _ => first,
    };
    (told, result)
}

/// Returns the target of an IPID of this process.
fn target(caller: &Caller, ipid: &GUID) -> Result<TargetId> {
    let (target, oxid) = objref::split_ipid(ipid);
    let is_own = oxid == caller.exporter.oxid() && target.generation != 0;
    if is_own { Ok(target) } else { Err(code::RPC_E_INVALID_OBJECT.into()) }
}

/// Returns `refs` references to a further interface of an object.
fn query(caller: &Arc<Caller>, ipid: &GUID, iid: &GUID, refs: u32) -> Result<ObjRef> {
    let runtime = Runtime::current()?;
    let through = target(caller, ipid)?;
    let object = runtime.exports().get(through).map_err(|_| code::RPC_E_INVALID_OBJECT)?.object;
    caller.check_named(through)?;
    let info = Wanted::Iid(*iid).info().map_err(|_| code::E_NOINTERFACE)?;
    let (holder, refs) = (caller.holder(), refs.max(1));
    let found = runtime.exports().add(object.get(), info, holder, refs.into())?;
    caller.note_sent(found.target, refs.into());
    let (oxid, bindings, securities) = (runtime.oxid(), runtime.bindings_for(holder), securities_for(holder));
    Ok(ObjRef { iid: *iid, public_refs: refs, oxid, oid: found.oid, target: found.target, bindings, securities })
}

fn counts(refs: &InterfaceRef) -> Refs {
    Refs { public: refs.public.into(), private: refs.private.into() }
}

fn add(caller: &Caller, refs: &InterfaceRef) -> Result<()> {
    let target = target(caller, &refs.ipid)?;
    let named = caller.check_named(target);
    let added = named.and_then(|()| caller.exporter.exports().add_to(target, caller.holder(), counts(refs)));
    // RPC_E_DISCONNECTED means that the object is gone, or was never exported.
    added.map_err(
        |error| if error.code() == code::RPC_E_DISCONNECTED { Error::from(code::CO_E_OBJNOTREG) } else { error },
    )
}

fn release(caller: &Caller, refs: &[InterfaceRef]) {
    let known = refs.iter().filter_map(|refs| Some((target(caller, &refs.ipid).ok()?, counts(refs))));
    caller.exporter.exports().release_refs(caller.holder(), known.collect::<Vec<_>>());
}
