//! The calls for marshaled data.

use super::{REFS_PER_QUERY, answer, call, guid_from, target_from, who};
use crate::error::{Result, code};
use crate::exports::Exported;
use crate::link::Link;
use crate::objref::guid_to_wire;
use crate::registry::{self, InterfaceInfo};
use crate::stub::StubCall;
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::{Answer, TargetId};

pub(super) const OP_KEEP: u16 = 14;
pub(super) const OP_UNMARSHAL: u16 = 15;
pub(super) const OP_RELEASE_DATA: u16 = 16;

fn exported(answer: &[u8]) -> Result<Exported> {
    let word = |at: usize| answer.get(at..).and_then(|rest| rest.first_chunk()).copied().map(u64::from_le_bytes);
    let (target, oid) = word(0).zip(word(8)).ok_or(code::RPC_E_INVALID_DATA)?;
    Ok(Exported { oid, target: TargetId::from_word(target) })
}

fn put(found: Exported) -> Vec<u8> {
    [found.target.word().to_le_bytes(), found.oid.to_le_bytes()].concat()
}

/// Asks the server to make marshaled data for one of its interface pointers.
pub(crate) fn keep(link: &Link, target: TargetId) -> Result<Exported> {
    exported(&link.with_home(|home| call(home, OP_KEEP, &target.word().to_le_bytes()))?)
}

pub(super) fn serve_keep(call: &mut StubCall<'_, '_>) -> std::result::Result<Answer, Status> {
    let target = target_from(call.block(8)?, 0)?;
    let caller = who()?;
    let outcome = (|| {
        let exports = caller.runtime.exports();
        let (object, info) = (exports.get(target)?.object, exports.interface(target));
        // The caller may end before the data is unmarshaled, and the data may never be unmarshaled.
        // Its references expire like those of peers that must ping.
        let maker = caller.authenticated();
        let holder = caller.runtime.peer(&caller.peer, maker.as_ref().map(|maker| &*maker.principal));
        let found = caller.runtime.keep_for(object.get(), info.ok_or(code::RPC_E_DISCONNECTED)?, holder)?;
        Ok(put(found))
    })();
    answer(call, outcome)
}

/// Unmarshals data for this process. The caller owns the returned references.
pub(crate) fn unmarshal(link: &Link, data: TargetId, info: &InterfaceInfo) -> Result<Exported> {
    link.bind(info)?;
    let request = [data.word().to_le_bytes().as_slice(), &guid_to_wire(&info.iid)].concat();
    exported(&link.with_home(|home| call(home, OP_UNMARSHAL, &request))?)
}

pub(super) fn serve_unmarshal(call: &mut StubCall<'_, '_>) -> std::result::Result<Answer, Status> {
    let frame = call.block(24)?;
    let (data, iid) = (target_from(frame, 0)?, guid_from(frame, 8)?);
    let caller = who()?;
    let outcome = (|| {
        let exports = caller.runtime.exports();
        let info = registry::find(&iid).map_err(|_| code::E_NOINTERFACE)?;
        let object = exports.unmarshal(data)?;
        let found = exports.add(&object, info, caller.holder(), REFS_PER_QUERY.into())?;
        caller.note_sent(found.target, REFS_PER_QUERY.into());
        Ok(put(found))
    })();
    answer(call, outcome)
}

/// Asks the server to release marshaled data.
pub(crate) fn release(link: &Link, data: TargetId) -> Result<()> {
    link.with_home(|home| call(home, OP_RELEASE_DATA, &data.word().to_le_bytes()))?;
    Ok(())
}

pub(super) fn serve_release(call: &mut StubCall<'_, '_>) -> std::result::Result<Answer, Status> {
    let data = target_from(call.block(8)?, 0)?;
    let caller = who()?;
    let outcome = caller.runtime.exports().release_data(data);
    caller.runtime.clients().wake_all();
    answer(call, outcome.map(|()| Vec::new()))
}
