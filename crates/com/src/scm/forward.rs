//! The call by which the SCM forwards a call of a client of another host to a server process of the
//! same user.

use crate::dcom::service;
use crate::error::{Error, Result, code};
use crate::identity::is_of_own_user;
use crate::link::Link;
use crate::orpc::{Body, Forwarded};
use crate::own_calls::{OP_FORWARD, call};
use crate::server::stub_call::{answer, who};
use crate::stub::StubCall;
use crate::thread;
use obvia_rpc::ByteOrder;
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::Answer;

/// The length of the header before the results: the status and the length.
const HEAD: usize = 8;

/// Forwards a call. Returns its results, or the status of a fault.
pub(crate) fn forward(link: &Link, forwarded: &Forwarded) -> Result<std::result::Result<Vec<u8>, Status>> {
    let request = forwarded.encode(ByteOrder::Little)?;
    let deadline = thread::deadline().start();
    // An activation may take arbitrarily long.
    let mut channel = link.take_channel(deadline)?;
    let answer = call(&mut channel, OP_FORWARD, &request)?;
    link.return_channel(channel);
    let word = |at: usize| answer.get(at..).and_then(|rest| rest.first_chunk()).copied().map(u32::from_le_bytes);
    let (status, length) = word(0).zip(word(4)).ok_or(code::RPC_E_INVALID_DATA)?;
    if status != 0 {
        return Ok(Err(Status(status)));
    }
    let results = answer.get(HEAD..).and_then(|rest| rest.get(..length as usize));
    Ok(Ok(results.ok_or(code::RPC_E_INVALID_DATA)?.to_vec()))
}

pub(crate) fn serve_forward(call: &mut StubCall<'_, '_>) -> std::result::Result<Answer, Status> {
    let frame = call.frame(0)?;
    let mut request = vec![0; frame.len()];
    frame.copy_to(0, &mut request).ok_or(Status::BAD_STUB_DATA)?;
    let caller = who()?;
    // The caller's account of its client is trusted, so the caller must be of the same user.
    if !is_of_own_user(&caller.peer) {
        let refused = Error::new(code::E_ACCESSDENIED, "calls are passed on by processes of the same user and host");
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
