//! The runtime's own calls: for references, names, interfaces, activation and shared regions.
//!
//! The calls go to a target that every process has. Their frames are blocks without objects, or
//! plain bytes.

pub(crate) mod data;
pub(crate) mod forward;
mod proof;
pub(crate) mod start;

pub(crate) use proof::{OP_PROVE, attend, place_of, prove};

use crate::dcom::Activated;
use crate::error::{Error, Result, code};
use crate::link::Link;
use crate::marshaling::parse;
use crate::objref::{ObjRef, guid_from_wire, guid_to_wire};
use crate::orpc::{CallContext, Client, ObjRef as Any, Refs};
use crate::registry::{self, InterfaceInfo};
use crate::runtime::janitor;
use crate::scm;
use crate::server::{Caller, caller};
use crate::stub::{StubCall, no_results, results, serve};
use crate::thread::{self, ThreadLimit};
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::{Answer, Channel, ServerCall, TargetId};
use obvia_via::RegionView;
use obvia_via::window::REGIONS_MAX;
use std::sync::Arc;
use windows_core::{GUID, HRESULT};

/// The target of the runtime's own calls. No entry of the object table has generation 0.
pub(crate) const TARGET: TargetId = TargetId { index: 0, generation: 0 };
/// The references that one query returns, so that further copies of the pointer need no call.
pub(crate) const REFS_PER_QUERY: u32 = 5;

const OP_QUERY: u16 = 3;
const OP_RELEASE: u16 = 4;
const OP_TRANSFER: u16 = 5;
const OP_RESOLVE: u16 = 6;
const OP_LIST: u16 = 7;
const OP_DESCRIBE: u16 = 8;
const OP_INTERFACES: u16 = 9;
const OP_BINDINGS: u16 = 10;
const OP_REGIONS: u16 = 11;
const OP_FUNCTIONS: u16 = 12;
const OP_ACTIVATE: u16 = 13;
const OP_MARK: u16 = 17;
/// The opnum of a one-way call with the [`CallContext`] of the next call on the connection.
const OP_CONTEXT: u16 = 25;

/// The opnum of a one-way message that lists the references in the one-way call directly before it.
/// A long list takes several messages. The client of a one-way call learns of no refusal, and a
/// server that refuses a call knows no references in its arguments. The server of a refused call
/// gives these references back, as it gives back those of its proxies.
///
/// Number 27 is a call between virtual machines alone.
const OP_GIVEN: u16 = 26;

/// The greatest number of entries that one call releases. The exports are locked meanwhile, so
/// other calls wait.
pub(crate) const RELEASES_MAX: usize = 1024;

/// The greatest length of an answer to these calls, in bytes.
const ANSWER_MAX: usize = 1 << 20;

/// Performs a call of [`TARGET`].
pub(crate) fn perform(call: &mut ServerCall<'_>) -> Answer {
    let method = match call.opnum() {
        OP_QUERY => serve_query,
        OP_RELEASE => serve_release,
        OP_TRANSFER => serve_transfer,
        OP_RESOLVE => serve_resolve,
        OP_LIST => serve_list,
        OP_DESCRIBE => serve_describe,
        OP_INTERFACES => serve_interfaces,
        OP_BINDINGS => serve_bindings,
        OP_REGIONS => serve_regions,
        OP_FUNCTIONS => serve_functions,
        OP_ACTIVATE => serve_activate,
        start::OP_START => start::serve_start,
        forward::OP_FORWARD => forward::serve_forward,
        data::OP_KEEP => data::serve_keep,
        data::OP_UNMARSHAL => data::serve_unmarshal,
        data::OP_RELEASE_DATA => data::serve_release,
        OP_MARK => serve_mark,
        _ => return Answer::fault(Status::OP_RNG_ERROR),
    };
    serve(call, method)
}

/// Sends the context of the next call to the peer.
pub(crate) fn say_context(channel: &mut Channel, context: &CallContext) -> Result<()> {
    let length = context.length();
    context.write(channel.request(length, 0, ThreadLimit)?);
    channel.oneway(TARGET, OP_CONTEXT, length);
    Ok(())
}

/// Returns the context of the next call if this call carries one: `Some(None)` where its frame is
/// malformed, `None` for any other call.
pub(crate) fn context_in(call: &ServerCall<'_>) -> Option<Option<CallContext>> {
    if call.target() != TARGET.word() || call.opnum() != OP_CONTEXT {
        return None;
    }
    let mut bytes = [0; CallContext::LENGTH_MAX];
    let context = bytes.get_mut(..call.frame.len()).and_then(|bytes| call.frame.copy_to(0, bytes).map(|()| &*bytes));
    Some(context.and_then(CallContext::read))
}

/// Sends the references of the one-way call that was sent last.
pub(crate) fn tell_given(channel: &mut Channel, given: &[(TargetId, u64)]) -> Result<()> {
    for part in given.chunks(RELEASES_MAX) {
        let request = put_releases(part.iter().copied());
        channel.request(request.len(), 0, ThreadLimit)?.copy_from_slice(&request);
        channel.oneway(TARGET, OP_GIVEN, request.len());
    }
    Ok(())
}

/// Whether a call has the references of the call before it.
pub(crate) fn tells_given(call: &ServerCall<'_>) -> bool {
    call.target() == TARGET.word() && call.opnum() == OP_GIVEN
}

/// Gives the references in such a call back to the client, the process of their objects.
pub(crate) fn give_back(call: &mut ServerCall<'_>) -> Answer {
    serve(call, |call| {
        let given = releases_in(call.frame(0)?)?;
        let caller = who()?;
        if let Some(process) = caller.process() {
            let given = given.into_iter().map(|(target, refs)| (target, u32::try_from(refs).unwrap_or(u32::MAX)));
            caller.runtime.clients().owe(process, given);
            janitor::wake();
        }
        Ok(no_results(code::S_OK))
    })
}

fn call(channel: &mut Channel, opnum: u16, request: &[u8]) -> Result<Vec<u8>> {
    let deadline = thread::deadline();
    let length = request.len().next_multiple_of(8);
    let frame = channel.request(length, 0, deadline)?;
    frame[..request.len()].copy_from_slice(request);
    frame[request.len()..].fill(0);
    let reply = channel.call(TARGET, opnum, length, deadline)?;
    let result = HRESULT(reply.status.cast_signed());
    if result.is_err() {
        return Err(result.into());
    }
    if reply.frame.len() > ANSWER_MAX {
        return Err(code::RPC_E_INVALID_DATA.into());
    }
    let mut answer = vec![0; reply.frame.len()];
    reply.frame.copy_to(0, &mut answer).ok_or(code::RPC_E_INVALID_DATA)?;
    Ok(answer)
}

fn target_from(frame: RegionView<'_>, at: usize) -> std::result::Result<TargetId, Status> {
    frame.load_u64(at).map(TargetId::from_word).ok_or(Status::BAD_STUB_DATA)
}

fn guid_from(frame: RegionView<'_>, at: usize) -> std::result::Result<GUID, Status> {
    let mut bytes = [0; 16];
    frame.copy_to(at, &mut bytes).ok_or(Status::BAD_STUB_DATA)?;
    Ok(guid_from_wire(bytes))
}

fn who() -> std::result::Result<Arc<Caller>, Status> {
    caller().ok_or(Status::PROTOCOL_ERROR)
}

fn answer(call: &mut StubCall<'_, '_>, outcome: Result<Vec<u8>>) -> std::result::Result<Answer, Status> {
    let bytes = match outcome {
        Ok(bytes) => bytes,
        Err(error) => return Ok(no_results(error.code())),
    };
    let length = bytes.len().next_multiple_of(8);
    let frame = call.inner().reply(length, 0).map_err(|_| Status::REMOTE_NO_MEMORY)?;
    frame[..bytes.len()].copy_from_slice(&bytes);
    frame[bytes.len()..].fill(0);
    Ok(results(code::S_OK, length))
}

/// Queries the server for another interface of an object. The caller owns the returned references.
pub(crate) fn query_interface(link: &Link, through: TargetId, info: &InterfaceInfo) -> Result<TargetId> {
    link.bind(info)?;
    let mut request = Vec::with_capacity(24);
    request.extend(through.word().to_le_bytes());
    request.extend(guid_to_wire(&info.iid));
    let answer = link.with_home(|home| call(home, OP_QUERY, &request))?;
    let word = *answer.first_chunk().ok_or(code::RPC_E_INVALID_DATA)?;
    Ok(TargetId::from_word(u64::from_le_bytes(word)))
}

fn serve_query(call: &mut StubCall<'_, '_>) -> std::result::Result<Answer, Status> {
    let frame = call.block(24)?;
    let (through, iid) = (target_from(frame, 0)?, guid_from(frame, 8)?);
    let caller = who()?;
    let outcome = (|| {
        let exports = caller.runtime.exports();
        let object = exports.get(through)?.object;
        let info = registry::find(&iid).map_err(|_| code::E_NOINTERFACE)?;
        let found = exports.add(object.get(), info, caller.holder(), REFS_PER_QUERY.into())?;
        caller.note_sent(found.target, REFS_PER_QUERY.into());
        Ok(found.target.word().to_le_bytes().to_vec())
    })();
    answer(call, outcome)
}

/// Returns a frame with references: targets and counts.
fn put_releases(batch: impl Iterator<Item = (TargetId, u64)>) -> Vec<u8> {
    batch.flat_map(|(target, refs)| [target.word(), refs]).flat_map(u64::to_le_bytes).collect()
}

/// Reads the references in a frame.
fn releases_in(frame: RegionView<'_>) -> std::result::Result<Vec<(TargetId, u64)>, Status> {
    if frame.len() > RELEASES_MAX * 16 {
        return Err(Status::BAD_STUB_DATA);
    }
    let read = |at| Ok((target_from(frame, at)?, frame.load_u64(at + 8).ok_or(Status::BAD_STUB_DATA)?));
    (0..frame.len()).step_by(16).map(read).collect()
}

/// Releases references at the server. `is_sent` is set to whether the server may have received the
/// call.
pub(crate) fn release(link: &Link, batch: &[(TargetId, u32)], is_sent: &mut bool) -> Result<()> {
    let request = put_releases(batch.iter().map(|(target, refs)| (*target, u64::from(*refs))));
    link.with_home(|home| {
        *is_sent = true;
        call(home, OP_RELEASE, &request)
    })?;
    Ok(())
}

fn serve_release(call: &mut StubCall<'_, '_>) -> std::result::Result<Answer, Status> {
    let batch = releases_in(call.frame(0)?)?;
    let caller = who()?;
    caller.runtime.exports().release(caller.holder(), batch);
    caller.runtime.clients().wake_all();
    answer(call, Ok(Vec::new()))
}

/// Asks the server to count references for a third process, to which this process is about to pass
/// the pointer.
pub(crate) fn transfer(link: &Link, target: TargetId, to: u64, refs: u32) -> Result<()> {
    let mut request = Vec::with_capacity(24);
    request.extend(target.word().to_le_bytes());
    request.extend(to.to_le_bytes());
    request.extend(u64::from(refs).to_le_bytes());
    link.with_home(|home| call(home, OP_TRANSFER, &request))?;
    Ok(())
}

fn serve_transfer(call: &mut StubCall<'_, '_>) -> std::result::Result<Answer, Status> {
    let frame = call.block(24)?;
    let target = target_from(frame, 0)?;
    let to = frame.load_u64(8).ok_or(Status::BAD_STUB_DATA)?;
    let refs = frame.load_u64(16).ok_or(Status::BAD_STUB_DATA)?;
    let caller = who()?;
    let outcome = caller.runtime.exports().add_to(target, Client::Process(to), Refs::public(refs.min(1 << 20)));
    answer(call, outcome.map(|()| Vec::new()))
}

/// The forms of references that a client accepts for a named object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forms {
    /// The forms for obvia's own calls.
    Standard,
    /// All forms, including custom references.
    All,
}

/// Resolves an object that the server exports by a name.
pub(crate) fn resolve(link: &Link, name: &str, info: &InterfaceInfo, forms: Forms) -> Result<Any> {
    link.bind(info)?;
    let mut request = Vec::with_capacity(24 + name.len());
    request.extend(guid_to_wire(&info.iid));
    request.extend((name.len() as u32).to_le_bytes());
    request.extend(u32::from(forms == Forms::All).to_le_bytes());
    request.extend(name.as_bytes());
    parse(&link.with_home(|home| call(home, OP_RESOLVE, &request))?)
}

fn serve_resolve(call: &mut StubCall<'_, '_>) -> std::result::Result<Answer, Status> {
    let frame = call.frame(24)?;
    let iid = guid_from(frame, 0)?;
    let word = frame.load_u64(16).ok_or(Status::BAD_STUB_DATA)?;
    let (length, forms) = (word as u32, word >> 32);
    if length > 255 || forms > 1 {
        return Err(Status::BAD_STUB_DATA);
    }
    let mut name = vec![0; length as usize];
    frame.copy_to(24, &mut name).ok_or(Status::BAD_STUB_DATA)?;
    let name = String::from_utf8(name).map_err(|_| Status::BAD_STUB_DATA)?;
    let caller = who()?;
    let outcome = (|| {
        let object = caller.runtime.named(&name)?;
        caller.runtime.rules().check_name(&name, object.get(), || caller.shown())?;
        let info = registry::find(&iid).map_err(|_| code::E_NOINTERFACE)?;
        if forms == 1
            && let Some(reference) = caller.specialised(object.get(), info)?
        {
            return Ok(reference);
        }
        let handler = caller.runtime.handler_class_of(object.get(), caller.holder());
        caller.runtime.marshal_own(object.get(), info, caller.holder())?.to_wire_with(0, handler)
    })();
    answer(call, outcome)
}

/// Activates a class at the server. The object may belong to another process where the server is
/// the SCM of its host, which need not know the interface.
pub(crate) fn activate(link: &Link, class: &GUID, wanted: Activated, info: &InterfaceInfo) -> Result<ObjRef> {
    let unknown = match link.bind(info) {
        Err(error) if error.code() == code::E_NOINTERFACE => Some(error),
        bound => bound.map(|()| None)?,
    };
    let mut request = Vec::with_capacity(40);
    request.extend(guid_to_wire(class));
    request.extend(guid_to_wire(&info.iid));
    request.extend(u64::from(wanted == Activated::ClassObject).to_le_bytes());
    // A server may have to start. The home connection is for calls that return at once.
    let mut channel = link.take_channel(thread::deadline().start())?;
    let answer = call(&mut channel, OP_ACTIVATE, &request);
    link.give_back(channel);
    let reference = match (answer, unknown) {
        (Err(error), Some(unknown)) if error.code() == code::E_NOINTERFACE => return Err(unknown),
        (answer, unknown) => (ObjRef::from_wire(&answer?)?, unknown),
    };
    match reference {
        (reference, Some(unknown)) if reference.oxid == link.oxid() => Err(unknown),
        (reference, _) => Ok(reference),
    }
}

fn serve_activate(call: &mut StubCall<'_, '_>) -> std::result::Result<Answer, Status> {
    let frame = call.block(40)?;
    let (class, iid) = (guid_from(frame, 0)?, guid_from(frame, 16)?);
    let wanted = match frame.load_u64(32) {
        Some(0) => Activated::Instance,
        Some(1) => Activated::ClassObject,
        _ => return Err(Status::BAD_STUB_DATA),
    };
    let caller = who()?;
    let outcome = (|| {
        if scm::is_for(&caller) && !caller.runtime.classes().has(&class) {
            return scm::reference_for(&caller, class, wanted, iid);
        }
        let info = registry::find(&iid).map_err(|_| code::E_NOINTERFACE)?;
        caller.runtime.rules().check_class(&class, || caller.shown())?;
        let object = caller.runtime.classes().activate(&class, wanted)?;
        caller.marshal(object.get(), info)?.to_wire()
    })();
    answer(call, outcome)
}

/// Returns the names that the server exports: one per line, with name, interface and IID separated
/// by tabs.
pub(crate) fn list(link: &Link) -> Result<String> {
    let answer = link.with_home(|home| call(home, OP_LIST, &[]))?;
    text(answer)
}

fn serve_list(call: &mut StubCall<'_, '_>) -> std::result::Result<Answer, Status> {
    let caller = who()?;
    answer(call, Ok(caller.runtime.list_names().into_bytes()))
}

/// Returns the IDL text of an interface from the server.
pub(crate) fn describe(link: &Link, iid: &GUID) -> Result<String> {
    let answer = link.with_home(|home| call(home, OP_DESCRIBE, &guid_to_wire(iid)))?;
    text(answer)
}

fn serve_describe(call: &mut StubCall<'_, '_>) -> std::result::Result<Answer, Status> {
    let iid = guid_from(call.block(16)?, 0)?;
    let found = registry::find(&iid).map(|info| info.idl.as_bytes().to_vec());
    answer(call, found.map_err(|_| code::E_NOINTERFACE.into()))
}

/// Returns the interfaces that the server knows: one per line, with name and IID separated by a
/// tab.
pub(crate) fn interfaces(link: &Link) -> Result<String> {
    let answer = link.with_home(|home| call(home, OP_INTERFACES, &[]))?;
    text(answer)
}

fn serve_interfaces(call: &mut StubCall<'_, '_>) -> std::result::Result<Answer, Status> {
    let mut lines: Vec<String> =
        registry::known().iter().map(|info| format!("{}\t{:?}\n", info.name, info.iid)).collect();
    lines.sort();
    answer(call, Ok(lines.concat().into_bytes()))
}

/// Returns the string bindings of the server: one per line, the best first.
pub(crate) fn bindings(link: &Link) -> Result<String> {
    let answer = link.with_home(|home| call(home, OP_BINDINGS, &[]))?;
    text(answer)
}

fn serve_bindings(call: &mut StubCall<'_, '_>) -> std::result::Result<Answer, Status> {
    let caller = who()?;
    answer(call, Ok(caller.runtime.list_bindings(caller.oxid).into_bytes()))
}

/// Returns the interfaces of functions that the server performs: one per line, with name, UUID,
/// version and object UUID separated by tabs.
pub(crate) fn functions(link: &Link) -> Result<String> {
    let answer = link.with_home(|home| call(home, OP_FUNCTIONS, &[]))?;
    text(answer)
}

fn serve_functions(call: &mut StubCall<'_, '_>) -> std::result::Result<Answer, Status> {
    let caller = who()?;
    answer(call, Ok(caller.runtime.functions().list().into_bytes()))
}

/// Returns the server's mark for this process: the same over every link, and different for every
/// other process.
pub(crate) fn mark(link: &Link) -> Result<u64> {
    let answer = link.with_home(|home| call(home, OP_MARK, &[]))?;
    Ok(u64::from_le_bytes(*answer.first_chunk().ok_or(code::RPC_E_INVALID_DATA)?))
}

fn serve_mark(call: &mut StubCall<'_, '_>) -> std::result::Result<Answer, Status> {
    let caller = who()?;
    answer(call, Ok(caller.runtime.mark_for(caller.oxid).to_le_bytes().to_vec()))
}

/// Asks the server to map the region that was sent under this number, if any, after unmapping those
/// that have ended.
pub(crate) fn regions(channel: &mut Channel, new: Option<u16>, ended: &[u16]) -> Result<()> {
    let words = [new.unwrap_or(0)].into_iter().chain(ended.iter().copied());
    let request: Vec<u8> = words.flat_map(|number| u64::from(number).to_le_bytes()).collect();
    call(channel, OP_REGIONS, &request).map(drop)
}

fn serve_regions(call: &mut StubCall<'_, '_>) -> std::result::Result<Answer, Status> {
    let frame = call.frame(8)?;
    if frame.len() > (REGIONS_MAX + 1) * 8 {
        return Err(Status::BAD_STUB_DATA);
    }
    let number = |at: usize| {
        let word = frame.load_u64(at).ok_or(Status::BAD_STUB_DATA)?;
        u16::try_from(word).map_err(|_| Status::BAD_STUB_DATA)
    };
    for at in (8..frame.len()).step_by(8) {
        call.inner().forget_region(number(at)?);
    }
    let outcome = match number(0)? {
        0 => Ok(()),
        new => call.inner().admit_region(new).map_err(Error::from),
    };
    answer(call, outcome.map(|()| Vec::new()))
}

/// Waits until the server has processed all earlier messages of a channel.
pub(crate) fn settle(channel: &mut Channel) -> Result<()> {
    call(channel, OP_LIST, &[]).map(drop)
}

fn text(mut bytes: Vec<u8>) -> Result<String> {
    let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    bytes.truncate(end);
    String::from_utf8(bytes).map_err(|_| code::RPC_E_INVALID_DATA.into())
}
