//! The answers to the call by which a client authenticates on a connection over a network.

use super::own_call::{answer, frame, serve};
use crate::types::error::Result;
use obvia_rpc::security::proof::LEG_MAX;
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::{Answer, ServerCall};

/// Answers a leg of an authentication with the result of `judge`.
pub(crate) fn attend(
    call: &mut ServerCall<'_>,
    judge: impl FnOnce(&[u8], &ServerCall<'_>) -> Result<Vec<u8>>,
) -> Answer {
    serve(call, |call: &mut ServerCall<'_>| {
        let frame = frame(call, 0)?;
        if frame.len() > LEG_MAX.next_multiple_of(8) {
            return Err(Status::BAD_STUB_DATA);
        }
        let mut leg = vec![0; frame.len()];
        frame.copy_to(0, &mut leg).ok_or(Status::BAD_STUB_DATA)?;
        let outcome = judge(&leg, call);
        answer(call, outcome)
    })
}
