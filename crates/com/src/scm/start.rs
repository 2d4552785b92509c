//! The call by which a client lets the SCM start the server of a class.

use crate::error::{Error, Result, code};
use crate::identity::is_of_own_user;
use crate::link::Link;
use crate::objref::guid_to_wire;
use crate::own_calls::{OP_START, call, guid_from, text};
use crate::runtime::Runtime;
use crate::server::stub_call::{answer, who};
use crate::stub::StubCall;
use crate::thread;
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::Answer;
use obvia_via::Deadline;
use std::time::Duration;
use windows_core::{GUID, HRESULT};

/// The length of the header before the error text: the result, and whether a server was started.
const HEAD: usize = 16;

/// Asks the SCM to start a server of a class unless one runs, and waits until it has registered the
/// class. Returns whether a start was needed.
pub(crate) fn start(link: &Link, class: &GUID) -> Result<bool> {
    let deadline = thread::deadline().start();
    let patience = u64::try_from(deadline.remaining().as_millis()).unwrap_or(u64::MAX);
    let request = [guid_to_wire(class).as_slice(), &patience.to_le_bytes()].concat();
    // The home connection is for calls that return at once.
    let mut channel = link.take_channel(deadline)?;
    let answer = call(&mut channel, OP_START, &request)?;
    link.return_channel(channel);
    let (head, words) = answer.split_at_checked(HEAD).ok_or(code::RPC_E_INVALID_DATA)?;
    let result = head.first_chunk().copied().map(i32::from_le_bytes).map(HRESULT).ok_or(code::RPC_E_INVALID_DATA)?;
    if result.is_err() {
        return Err(Error::new(result, text(words.to_vec())?));
    }
    Ok(head.get(8) == Some(&1))
}

pub(crate) fn serve_start(call: &mut StubCall<'_, '_>) -> std::result::Result<Answer, Status> {
    let frame = call.block(24)?;
    let (class, patience) = (guid_from(frame, 0)?, frame.load_u64(16).ok_or(Status::BAD_STUB_DATA)?);
    let caller = who()?;
    let outcome = if is_of_own_user(&caller.peer) {
        // The last tenth of the time is left for the transmission of the answer.
        let patience = Duration::from_millis(patience - patience / 10);
        Runtime::current()
            .and_then(|runtime| runtime.starter().start(runtime, &class, Deadline::Within(patience).start()))
    } else {
        Err(Error::new(code::E_ACCESSDENIED, "servers are started for processes of the same user and host"))
    };
    let (result, is_fresh, words) = match outcome {
        Ok(is_fresh) => (code::S_OK, is_fresh, String::new()),
        Err(error) => (error.code(), false, error.detail().unwrap_or_default().to_owned()),
    };
    let head = [result.0.to_le_bytes(), [0; 4], [u8::from(is_fresh), 0, 0, 0], [0; 4]].concat();
    answer(call, Ok([head.as_slice(), words.as_bytes()].concat()))
}
