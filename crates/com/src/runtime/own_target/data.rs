//! The calls between runtimes for marshaled data.

use crate::protocol::objref::Exported;
use crate::protocol::own_calls::{REFS_PER_QUERY, guid_from, target_from};
use crate::runtime::Runtime;
use crate::server::own_call::{answer, block, current_caller};
use crate::types::error::code;
use crate::types::registry;
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::{Answer, ServerCall};

fn put(found: Exported) -> Vec<u8> {
    [found.target.word().to_le_bytes(), found.oid.to_le_bytes()].concat()
}

pub(super) fn serve_keep(call: &mut ServerCall<'_>) -> std::result::Result<Answer, Status> {
    let target = target_from(block(call, 8)?, 0)?;
    let caller = current_caller()?;
    let outcome = (|| {
        caller.check_named(target)?;
        let exports = caller.exporter.exports();
        let (object, info) = (exports.get(target)?.object, exports.interface(target));
        // The caller may end before the data is unmarshaled, and the data may never be unmarshaled.
        // So the references are counted for a peer that must ping, and expire without pings.
        let maker = caller.authenticated();
        let holder = caller.exporter.peer(&caller.peer, maker.as_ref().map(|maker| &*maker.principal));
        let found = Runtime::current()?.keep_for(object.get(), info.ok_or(code::RPC_E_DISCONNECTED)?, holder)?;
        Ok(put(found))
    })();
    answer(call, outcome)
}

pub(super) fn serve_unmarshal(call: &mut ServerCall<'_>) -> std::result::Result<Answer, Status> {
    let frame = block(call, 24)?;
    let (data, iid) = (target_from(frame, 0)?, guid_from(frame, 8)?);
    let caller = current_caller()?;
    let outcome = (|| {
        let exports = caller.exporter.exports();
        let info = registry::find(&iid).map_err(|_| code::E_NOINTERFACE)?;
        let object = exports.unmarshal(data)?;
        let found = exports.add(&object, info, caller.holder(), REFS_PER_QUERY.into())?;
        caller.note_sent(found.target, REFS_PER_QUERY.into());
        Ok(put(found))
    })();
    answer(call, outcome)
}

pub(super) fn serve_release(call: &mut ServerCall<'_>) -> std::result::Result<Answer, Status> {
    let data = target_from(block(call, 8)?, 0)?;
    let caller = current_caller()?;
    answer(call, caller.exporter.exports().release_data(data).map(|()| Vec::new()))
}
