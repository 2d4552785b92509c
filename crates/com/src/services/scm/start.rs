//! The call by which a client lets the SCM start the server of a class.

use crate::client::link::Link;
use crate::protocol::own_calls::{OP_START, text};
use crate::types::deadline;
use crate::types::error::{Error, Result, code};
use crate::types::guid;
use windows_core::{GUID, HRESULT};

/// The length of the header before the error text: the result, and whether a server was started.
const HEAD: usize = 16;

/// Asks the SCM to start a server of a class unless one runs, and waits until the server has
/// registered the class. Returns whether the SCM had to start one.
pub(crate) fn start(link: &Link, class: &GUID) -> Result<bool> {
    let patience = u64::try_from(deadline::of_thread().remaining().as_millis()).unwrap_or(u64::MAX);
    let request = [guid::to_wire(class).as_slice(), &patience.to_le_bytes()].concat();
    let answer = link.long_call(OP_START, &request)?;
    let (head, words) = answer.split_at_checked(HEAD).ok_or(code::RPC_E_INVALID_DATA)?;
    let result = head.first_chunk().copied().map(i32::from_le_bytes).map(HRESULT).ok_or(code::RPC_E_INVALID_DATA)?;
    if result.is_err() {
        return Err(Error::new(result, text(words.to_vec())?));
    }
    Ok(head.get(8) == Some(&1))
}
