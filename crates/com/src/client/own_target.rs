//! The client's half of the calls between runtimes, over a link.

use crate::client::link::Link;
use crate::orpc::ObjRef as Any;
use crate::protocol::objref::{Exported, ObjRef, parse};
use crate::protocol::own_calls::{
    Forms, OP_BINDINGS, OP_CONNECTIONS, OP_DESCRIBE, OP_FUNCTIONS, OP_INTERFACES, OP_KEEP, OP_LIST, OP_QUERY,
    OP_RELEASE_DATA, OP_RESOLVE, OP_TRANSFER, OP_UNMARSHAL, REFS_PER_QUERY, call, text,
};
use crate::protocol::place::Place;
use crate::types::error::{Error, Result, code};
use crate::types::guid;
use crate::types::registry::InterfaceInfo;
use obvia_rpc::vi_call::TargetId;
use windows_core::{GUID, IUnknown, Interface};

/// Queries the server for another interface of an object. The caller owns the returned references.
pub(crate) fn query_interface(link: &Link, through: TargetId, info: &InterfaceInfo) -> Result<TargetId> {
    link.bind(info)?;
    let request = query_of(through, &info.iid);
    found(&link.with_home(|home, deadline| call(home, deadline, OP_QUERY, &request))?)
}

fn query_of(through: TargetId, iid: &GUID) -> Vec<u8> {
    [through.word().to_le_bytes().as_slice(), &guid::to_wire(iid)].concat()
}

/// Returns the target in the answer to a query.
fn found(answer: &[u8]) -> Result<TargetId> {
    let word = *answer.first_chunk().ok_or(code::RPC_E_INVALID_DATA)?;
    Ok(TargetId::from_word(u64::from_le_bytes(word)))
}

/// Whether the interface that a reference states must be confirmed by the object's process. Calls
/// over shared memory and virtual interfaces name a target and no interface, so a false interface
/// would lead to a method of another interface.
pub(crate) fn must_confirm(link: &Link, reference: &ObjRef) -> bool {
    reference.iid != IUnknown::IID && !link.sends_interfaces()
}

/// Asks the object's process whether a target has the interface that a reference states. If so,
/// returns the number of references that this process then has. Otherwise gives the reference back,
/// and returns an error.
///
/// The home connection is not used, to avoid a deadlock: another thread's query may occupy it, and
/// the queried object may wait for the method that received this reference as an argument.
pub(crate) fn confirm(link: &Link, reference: &ObjRef) -> Result<u32> {
    let refuse = |_: &_| link.give_back(reference.target, reference.public_refs);
    let request = query_of(reference.target, &reference.iid);
    let found = link.long_call(OP_QUERY, &request).and_then(|answer| found(&answer)).inspect_err(refuse)?;
    if found == reference.target {
        return Ok(reference.public_refs.saturating_add(REFS_PER_QUERY));
    }
    link.give_back(found, REFS_PER_QUERY);
    let error = Error::new(code::RPC_E_INVALID_OBJREF, "the reference has another interface than its target");
    Err(error).inspect_err(refuse)
}

/// Asks the server to count `refs` references for the process whose OXID is in `to`: either this
/// process, or a third process to which this process is about to pass the pointer. For a third
/// process, `to` also has the process's place.
pub(crate) fn transfer(link: &Link, target: TargetId, to: (u64, Option<&Place>), refs: u32) -> Result<()> {
    let (oxid, place) = to;
    let mut request: Vec<u8> = [target.word(), oxid, u64::from(refs)].into_iter().flat_map(u64::to_le_bytes).collect();
    if let Some(place) = place {
        place.write(&mut request);
    }
    link.with_home(|home, deadline| call(home, deadline, OP_TRANSFER, &request))?;
    Ok(())
}

/// Resolves an object that the server exports by a name.
pub(crate) fn resolve(link: &Link, name: &str, info: &InterfaceInfo, forms: Forms) -> Result<Any> {
    link.bind(info)?;
    let mut request = Vec::with_capacity(24 + name.len());
    request.extend(guid::to_wire(&info.iid));
    request.extend((name.len() as u32).to_le_bytes());
    request.extend(u32::from(forms == Forms::All).to_le_bytes());
    request.extend(name.as_bytes());
    parse(&link.with_home(|home, deadline| call(home, deadline, OP_RESOLVE, &request))?)
}

/// Returns the names that the server exports: one per line, with name, interface and IID separated
/// by tabs.
pub(crate) fn list(link: &Link) -> Result<String> {
    let answer = link.with_home(|home, deadline| call(home, deadline, OP_LIST, &[]))?;
    text(answer)
}

/// Returns the IDL text of an interface from the server.
pub(crate) fn describe(link: &Link, iid: &GUID) -> Result<String> {
    let answer = link.with_home(|home, deadline| call(home, deadline, OP_DESCRIBE, &guid::to_wire(iid)))?;
    text(answer)
}

/// Returns the interfaces that the server knows: one per line, with name and IID separated by a
/// tab.
pub(crate) fn interfaces(link: &Link) -> Result<String> {
    let answer = link.with_home(|home, deadline| call(home, deadline, OP_INTERFACES, &[]))?;
    text(answer)
}

/// Returns the string bindings of the server: one per line, the best first.
pub(crate) fn bindings(link: &Link) -> Result<String> {
    let answer = link.with_home(|home, deadline| call(home, deadline, OP_BINDINGS, &[]))?;
    text(answer)
}

/// Returns the interfaces of functions that the server performs: one per line, with name, UUID,
/// version and object UUID separated by tabs.
pub(crate) fn functions(link: &Link) -> Result<String> {
    let answer = link.with_home(|home, deadline| call(home, deadline, OP_FUNCTIONS, &[]))?;
    text(answer)
}

/// Returns the connections of the server as text: a line with their number, and a line for each of
/// the newest connections. The fields of a line are separated by tabs: the connection's number,
/// process, user and host, whether the connection belongs to this process, and its number of
/// messages.
pub(crate) fn connections(link: &Link) -> Result<String> {
    let answer = link.with_home(|home, deadline| call(home, deadline, OP_CONNECTIONS, &[]))?;
    text(answer)
}

fn exported(answer: &[u8]) -> Result<Exported> {
    let word = |at: usize| answer.get(at..).and_then(|rest| rest.first_chunk()).copied().map(u64::from_le_bytes);
    let (target, oid) = word(0).zip(word(8)).ok_or(code::RPC_E_INVALID_DATA)?;
    Ok(Exported { oid, target: TargetId::from_word(target) })
}

/// Asks the server to make marshaled data for one of its interface pointers.
pub(crate) fn keep(link: &Link, target: TargetId) -> Result<Exported> {
    exported(&link.with_home(|home, deadline| call(home, deadline, OP_KEEP, &target.word().to_le_bytes()))?)
}

/// Asks the server to unmarshal data for this process. The caller owns the returned references.
pub(crate) fn unmarshal(link: &Link, data: TargetId, info: &InterfaceInfo) -> Result<Exported> {
    link.bind(info)?;
    let request = [data.word().to_le_bytes().as_slice(), &guid::to_wire(&info.iid)].concat();
    exported(&link.with_home(|home, deadline| call(home, deadline, OP_UNMARSHAL, &request))?)
}

/// Asks the server to release marshaled data.
pub(crate) fn release_data(link: &Link, data: TargetId) -> Result<()> {
    link.with_home(|home, deadline| call(home, deadline, OP_RELEASE_DATA, &data.word().to_le_bytes()))?;
    Ok(())
}
