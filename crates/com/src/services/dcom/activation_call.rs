//! The call by which a client activates a class at another process.

use super::classes::Activated;
use crate::client::link::Link;
use crate::protocol::objref::ObjRef;
use crate::protocol::own_calls::{OP_ACTIVATE, guid_from};
use crate::runtime::{Runtime, response};
use crate::server::own_call::{answer, block, current_caller};
use crate::services::dcom::classes::Classes;
use crate::services::scm;
use crate::types::error::{Result, code};
use crate::types::guid;
use crate::types::registry;
use crate::types::registry::InterfaceInfo;
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::{Answer, ServerCall};
use windows_core::GUID;

/// Activates a class at the server. If the server is the SCM of its host, another process may have
/// the object, and the SCM need not know the interface.
pub(crate) fn activate(link: &Link, class: &GUID, wanted: Activated, info: &InterfaceInfo) -> Result<ObjRef> {
    let unknown = match link.bind(info) {
        Err(error) if error.code() == code::E_NOINTERFACE => Some(error),
        bound => bound.map(|()| None)?,
    };
    let mut request = Vec::with_capacity(40);
    request.extend(guid::to_wire(class));
    request.extend(guid::to_wire(&info.iid));
    request.extend(u64::from(wanted == Activated::ClassObject).to_le_bytes());
    // The call does not use the home connection: it can take long, since a server may have to
    // start.
    let reference = match (link.long_call(OP_ACTIVATE, &request), unknown) {
        (Err(error), Some(unknown)) if error.code() == code::E_NOINTERFACE => return Err(unknown),
        (answer, unknown) => (ObjRef::from_wire(&answer?)?, unknown),
    };
    match reference {
        (reference, Some(unknown)) if reference.oxid == link.oxid() => {
            link.give_back(reference.target, reference.public_refs);
            Err(unknown)
        }
        (reference, _) => Ok(reference),
    }
}

pub(crate) fn serve_activate(call: &mut ServerCall<'_>) -> std::result::Result<Answer, Status> {
    let frame = block(call, 40)?;
    let (class, iid) = (guid_from(frame, 0)?, guid_from(frame, 16)?);
    let wanted = match frame.load_u64(32) {
        Some(0) => Activated::Instance,
        Some(1) => Activated::ClassObject,
        _ => return Err(Status::BAD_STUB_DATA),
    };
    let caller = current_caller()?;
    let outcome = (|| {
        let runtime = Runtime::current()?;
        if scm::is_for(&caller) && !Classes::of(runtime).has(&class) {
            return scm::remote::reference_for(&caller, class, wanted, iid);
        }
        let info = registry::find(&iid).map_err(|_| code::E_NOINTERFACE)?;
        caller.exporter.rules().check_class(&class, || caller.shown())?;
        let object = Classes::of(runtime).activate(&class, wanted)?;
        response::marshal(&caller, object.get(), info)?.to_wire()
    })();
    answer(call, outcome)
}
