//! The body of a connection request, and its token.

use super::{BadPacket, Body, DISCRIMINATOR_MAX, HEADER, put, seal, u16_at, u64_at};
use crate::spi::Offer;

/// The length of a token, in bytes.
pub const TOKEN: usize = 28;
/// The length of a packet that has a token and nothing else, in bytes.
pub(in crate::reliable) const RETRY_LENGTH: usize = HEADER + TOKEN;
/// The length of a request's body up to its discriminator, in bytes.
pub(super) const FIXED: usize = TOKEN_AT + TOKEN;
/// The offset of the token in a request's body, in bytes.
const TOKEN_AT: usize = 12;
/// The length of a rejection without a text, in bytes.
pub(in crate::reliable) const REJECTION_LENGTH: usize = HEADER;
// The answer to a packet whose source may be forged is no longer than the packet.
const _: () = assert!(RETRY_LENGTH <= HEADER + FIXED);

/// Bytes by which a requesting side shows that it has received them at its address. Only the
/// accepting side knows the meaning of the bytes. All bytes are zero when there is no token.
pub type Token = [u8; TOKEN];

/// Reads the body of a request.
pub(super) fn read(rest: &[u8]) -> Result<Body<'_>, BadPacket> {
    let from = u64_at(rest, 0).filter(|from| *from != 0).ok_or(BadPacket::Fields)?;
    let length = u16_at(rest, 8).filter(|length| *length <= DISCRIMINATOR_MAX).ok_or(BadPacket::Fields)?;
    if u16_at(rest, 10) != Some(0) {
        return Err(BadPacket::Fields);
    }
    let (token, rest) = rest[TOKEN_AT..].split_first_chunk().ok_or(BadPacket::Short)?;
    let (discriminator, offer) = rest.split_at_checked(length).ok_or(BadPacket::Short)?;
    let discriminator = std::str::from_utf8(discriminator).map_err(|_| BadPacket::Fields)?;
    let offer = Offer::from_bytes(offer).ok_or(BadPacket::Fields)?;
    Ok(Body::Request { from, token: *token, discriminator, offer })
}

/// Adds the body of a request. The caller has checked the lengths of its parts.
pub(super) fn write(tail: &mut Vec<u8>, from: u64, token: &Token, discriminator: &str, offer: &Offer) {
    tail.extend(from.to_le_bytes());
    tail.extend((discriminator.len() as u32).to_le_bytes());
    tail.extend(token);
    tail.extend(discriminator.as_bytes());
    tail.extend(offer.to_bytes());
}

/// Replaces the token of a request.
pub(in crate::reliable) fn set_token(request: &mut [u8], token: &Token) {
    put(request, HEADER + TOKEN_AT, token);
    seal(request);
}
