//! The answer to the call by which a client lets the SCM start the server of a class.

use super::starter::Starter;
use crate::protocol::own_calls::guid_from;
use crate::runtime::Runtime;
use crate::server::own_call::{answer, block, current_caller};
use crate::types::error::{Error, code};
use crate::types::identity::is_of_own_user;
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::{Answer, ServerCall};
use obvia_via::Deadline;
use std::time::Duration;

pub(crate) fn serve_start(call: &mut ServerCall<'_>) -> std::result::Result<Answer, Status> {
    let frame = block(call, 24)?;
    let (class, patience) = (guid_from(frame, 0)?, frame.load_u64(16).ok_or(Status::BAD_STUB_DATA)?);
    let caller = current_caller()?;
    let outcome = if is_of_own_user(&caller.peer) {
        // A tenth of the client's time is kept for the transmission of the answer.
        let patience = Duration::from_millis(patience - patience / 10);
        Runtime::current()
            .and_then(|runtime| Starter::of(runtime).start(runtime, &class, Deadline::Within(patience).start()))
    } else {
        Err(Error::new(code::E_ACCESSDENIED, "only processes of the same user and host may start servers"))
    };
    let (result, is_fresh, words) = match outcome {
        Ok(is_fresh) => (code::S_OK, is_fresh, String::new()),
        Err(error) => (error.code(), false, error.detail().unwrap_or_default().to_owned()),
    };
    let head = [result.0.to_le_bytes(), [0; 4], [u8::from(is_fresh), 0, 0, 0], [0; 4]].concat();
    answer(call, Ok([head.as_slice(), words.as_bytes()].concat()))
}
