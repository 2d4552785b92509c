//! A call to the service for activation: have the server of a class started.

use super::{answer, call, guid_from, text, who};
use crate::error::{Error, Result, code};
use crate::link::Link;
use crate::objref::guid_to_wire;
use crate::stub::StubCall;
use crate::thread;
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::Answer;
use obvia_via::Deadline;
use obvia_via::window::Peer;
use std::time::Duration;
use windows_core::{GUID, HRESULT};

pub(super) const OP_START: u16 = 20;

/// What an answer has before the words: the result, and whether a server was started.
const HEAD: usize = 16;

/// Has the service start a server of a class, if none runs, and waits until it has registered the class. Whether it had to be started.
pub(crate) fn start(link: &Link, class: &GUID) -> Result<bool> {
    let deadline = thread::deadline().start();
    let patience = u64::try_from(deadline.remaining().as_millis()).unwrap_or(u64::MAX);
    let request = [guid_to_wire(class).as_slice(), &patience.to_le_bytes()].concat();
    // The link's own connection is for calls that take no time.
    let mut channel = link.take_channel(deadline)?;
    let answer = call(&mut channel, OP_START, &request)?;
    link.give_back(channel);
    let (head, words) = answer.split_at_checked(HEAD).ok_or(code::RPC_E_INVALID_DATA)?;
    let result = head.first_chunk().copied().map(i32::from_le_bytes).map(HRESULT).ok_or(code::RPC_E_INVALID_DATA)?;
    if result.is_err() {
        return Err(Error::new(result, text(words.to_vec())?));
    }
    Ok(head.get(8) == Some(&1))
}

pub(super) fn serve_start(call: &mut StubCall<'_, '_>) -> std::result::Result<Answer, Status> {
    let frame = call.block(24)?;
    let (class, patience) = (guid_from(frame, 0)?, frame.load_u64(16).ok_or(Status::BAD_STUB_DATA)?);
    let caller = who()?;
    let outcome = match caller.peer {
        // The last tenth is for the answer's way.
        Peer::Process { .. } => {
            let patience = Duration::from_millis(patience - patience / 10);
            caller.runtime.starter().start(caller.runtime, &class, Deadline::Within(patience).start())
        }
        Peer::Host(_) => Err(Error::new(code::E_ACCESSDENIED, "servers are started for processes of the same host")),
    };
    let (result, is_fresh, words) = match outcome {
        Ok(is_fresh) => (code::S_OK, is_fresh, String::new()),
        Err(error) => (error.code(), false, error.detail().unwrap_or_default().to_owned()),
    };
    let head = [result.0.to_le_bytes(), [0; 4], [u8::from(is_fresh), 0, 0, 0], [0; 4]].concat();
    answer(call, Ok([head.as_slice(), words.as_bytes()].concat()))
}
