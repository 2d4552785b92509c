//! How two processes get to know each other before the first call.

use crate::error::{Result, code};
use obvia_rpc::vi_call::Channel;
use obvia_via::Deadline;

/// Tells the peer who this process is, and learns who the peer is.
pub(crate) fn introduce(channel: &mut Channel, oxid: u64, deadline: Deadline) -> Result<u64> {
    let answer = channel.exchange_pdu(&oxid.to_le_bytes(), deadline)?;
    let oxid = answer.first_chunk().ok_or(code::RPC_E_INVALID_DATA)?;
    Ok(u64::from_le_bytes(*oxid))
}
