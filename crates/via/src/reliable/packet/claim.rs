//! The body of a client's claim that it may have moved, and the claim's seal.

use super::request::{REJECTION_LENGTH, RETRY_LENGTH};
use super::{BadPacket, Body, HEADER, TOKEN, Token, u64_at};
use crate::reliable::move_key::CODE;

/// The length of a claim without a seal, in bytes.
pub(in crate::reliable) const MOVED_LENGTH: usize = HEADER + FIXED;
/// The length of a claim with a seal, in bytes.
pub(in crate::reliable) const SEALED_MOVED_LENGTH: usize = MOVED_LENGTH + 8 + CODE;
/// The length of a claim's body without a seal, in bytes.
const FIXED: usize = 8 + TOKEN;
// The answer to a packet whose source may be forged is no longer than the packet.
const _: () = assert!(RETRY_LENGTH <= MOVED_LENGTH && REJECTION_LENGTH <= MOVED_LENGTH);

/// The seal of a claim, which shows that the client has made the claim, and that the claim is not a
/// copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveSeal {
    /// The number of claims that the client has sealed before.
    pub number: u64,
    /// The code over the packet, without the checksum and the code itself.
    pub code: [u8; CODE],
}

/// Returns the part of a sealed claim that the code covers: all but the checksum and the code.
pub(in crate::reliable) fn sealed_part(claim: &[u8]) -> Option<&[u8]> {
    claim.get(4..claim.len().checked_sub(CODE)?)
}

/// Reads the body of a claim.
pub(super) fn read(rest: &[u8]) -> Result<Body<'_>, BadPacket> {
    let (fixed, seal) = rest.split_first_chunk::<FIXED>().ok_or(BadPacket::Short)?;
    let from = u64_at(fixed, 0).filter(|from| *from != 0).ok_or(BadPacket::Fields)?;
    let token = *fixed.last_chunk().ok_or(BadPacket::Short)?;
    let seal = match seal.split_first_chunk() {
        _ if seal.is_empty() => None,
        Some((number, code)) => {
            let code = *code.as_array().ok_or(BadPacket::Fields)?;
            Some(MoveSeal { number: u64::from_le_bytes(*number), code })
        }
        None => return Err(BadPacket::Fields),
    };
    Ok(Body::Moved { from, token, seal })
}

/// Adds the body of a claim.
pub(super) fn write(tail: &mut Vec<u8>, from: u64, token: &Token, seal: Option<MoveSeal>) {
    tail.extend(from.to_le_bytes());
    tail.extend(token);
    if let Some(MoveSeal { number, code }) = seal {
        tail.extend(number.to_le_bytes());
        tail.extend(code);
    }
}
