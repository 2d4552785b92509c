//! The call by which a client authenticates on a connection over a network, before any other call.

use super::{answer, call};
use crate::error::{Result, code};
use crate::security::Protection;
use crate::stub::{StubCall, serve};
use obvia_rpc::security::proof::{LEG_MAX, Next};
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::{Answer, Channel, ServerCall};
use obvia_via::window::Peer;
use std::net::IpAddr;

pub(crate) const OP_PROVE: u16 = 24;

/// Authenticates this process, and verifies that the server knows the password, too.
pub(crate) fn prove(channel: &mut Channel, protection: &Protection) -> Result<()> {
    let Peer::Host(host) = channel.peer() else { return Err(code::E_UNEXPECTED.into()) };
    let mut prover = protection.prove(&place_of(&host))?;
    let mut leg = prover.begin()?;
    loop {
        match prover.answer(&call(channel, OP_PROVE, &leg)?)? {
            Next::Leg(next) => leg = next,
            Next::Proved(guard) => return Ok(guard.map_or(Ok(()), |guard| channel.guard(guard))?),
        }
    }
}

/// Returns the name of a host in the authentication, which is the same on both sides even if their
/// notations differ.
pub(crate) fn place_of(host: &str) -> String {
    let (address, _zone) = host.split_once('%').unwrap_or((host, ""));
    address.parse::<IpAddr>().map_or_else(|_| host.to_owned(), |address| address.to_canonical().to_string())
}

/// Answers a leg of an authentication with the result of `judge`.
pub(crate) fn attend(
    call: &mut ServerCall<'_>,
    judge: impl FnOnce(&[u8], &ServerCall<'_>) -> Result<Vec<u8>>,
) -> Answer {
    serve(call, |call: &mut StubCall<'_, '_>| {
        let frame = call.frame(0)?;
        if frame.len() > LEG_MAX.next_multiple_of(8) {
            return Err(Status::BAD_STUB_DATA);
        }
        let mut leg = vec![0; frame.len()];
        frame.copy_to(0, &mut leg).ok_or(Status::BAD_STUB_DATA)?;
        let outcome = judge(&leg, call.inner());
        answer(call, outcome)
    })
}
