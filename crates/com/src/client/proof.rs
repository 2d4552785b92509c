//! The call by which a client authenticates on a connection over a network, before any other call.

use crate::access::Protection;
use crate::protocol::own_calls::{OP_PROVE, call, place_of};
use crate::types::error::{Result, code};
use obvia_rpc::security::proof::Next;
use obvia_rpc::vi_call::Channel;
use obvia_via::Deadline;
use obvia_via::window::Peer;

/// Authenticates this process, and verifies that the server knows the password, too.
pub(crate) fn prove(channel: &mut Channel, protection: &Protection, deadline: Deadline) -> Result<()> {
    let Peer::Host(host) = channel.peer() else { return Err(code::E_UNEXPECTED.into()) };
    let mut prover = protection.prove(&place_of(&host))?;
    let mut leg = prover.begin()?;
    loop {
        match prover.answer(&call(channel, deadline, OP_PROVE, &leg)?)? {
            Next::Leg(next) => leg = next,
            Next::Proved(guard) => return Ok(guard.map_or(Ok(()), |guard| channel.guard(guard))?),
        }
    }
}
