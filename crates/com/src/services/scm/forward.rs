//! The call by which the SCM forwards a call of a client of another host to a server process of the
//! same user.

use crate::client::link::Link;
use crate::orpc::{Body, Forwarded};
use crate::protocol::own_calls::OP_FORWARD;
use crate::types::error::{Result, code};
use obvia_rpc::ByteOrder;
use obvia_rpc::status::Status;

/// The length of the header before the results: the status and the length.
const HEAD: usize = 8;

/// Forwards a call. The call is cancelled when `is_awaited`, if given, returns false. Returns the
/// call's results, or the status of a fault.
pub(crate) fn forward(
    link: &Link,
    forwarded: &Forwarded,
    is_awaited: Option<&dyn Fn() -> bool>,
) -> Result<std::result::Result<Vec<u8>, Status>> {
    let request = forwarded.encode(ByteOrder::Little)?;
    // The call does not use the home connection, since an activation can take arbitrarily long.
    let answer = match is_awaited {
        Some(is_awaited) => link.long_call_while(OP_FORWARD, &request, is_awaited),
        None => link.long_call(OP_FORWARD, &request),
    }?;
    let word = |at: usize| answer.get(at..).and_then(|rest| rest.first_chunk()).copied().map(u32::from_le_bytes);
    let (status, length) = word(0).zip(word(4)).ok_or(code::RPC_E_INVALID_DATA)?;
    if status != 0 {
        return Ok(Err(Status(status)));
    }
    let results = answer.get(HEAD..).and_then(|rest| rest.get(..length as usize));
    Ok(Ok(results.ok_or(code::RPC_E_INVALID_DATA)?.to_vec()))
}
