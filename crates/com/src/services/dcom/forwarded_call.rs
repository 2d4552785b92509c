//! The answer to the call by which the SCM forwards a call of a client of another host.

use super::service;
use crate::orpc::{Body, Forwarded};
use crate::server::own_call::{answer, current_caller, frame};
use crate::types::error::{Error, code};
use crate::types::identity::is_of_own_user;
use obvia_rpc::ByteOrder;
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::{Answer, ServerCall};

pub(crate) fn serve_forward(call: &mut ServerCall<'_>) -> std::result::Result<Answer, Status> {
    let frame = frame(call, 0)?;
    let mut request = vec![0; frame.len()];
    frame.copy_to(0, &mut request).ok_or(Status::BAD_STUB_DATA)?;
    let caller = current_caller()?;
    // The SCM's statements about its client are trusted, so the SCM must run as the same user or as
    // the superuser.
    if !is_of_own_user(&caller.peer) {
        let refused = Error::new(code::E_ACCESSDENIED, "only processes of the same user and host may forward calls");
        return answer(call, Err(refused));
    }
    let forwarded = Forwarded::decode(ByteOrder::Little, &request)?;
    let (status, results) = match service::perform_forwarded(&caller, &forwarded) {
        Ok(results) => (0, results),
        Err(status) => (status.0, Vec::new()),
    };
    let head = [status.to_le_bytes(), (results.len() as u32).to_le_bytes()].concat();
    answer(call, Ok([head, results].concat()))
}
