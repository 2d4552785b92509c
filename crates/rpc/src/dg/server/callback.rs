//! Callbacks, which ask a client to confirm its call and to identify itself (C706 10.3, appendix
//! P). The server keeps no state for a callback: the answer contains all data that its verification
//! needs.
//!
//! A code is a keyed hash, which changes with time. A callback is a call of a separate activity,
//! whose UUID is the client's activity masked by a code of the client's address. The callback's
//! sequence number is a code of the client's activity and address. A response repeats both fields.
//! From them the server recovers the client's activity, and knows that the callback has arrived at
//! the response's source address.

use crate::dg::conversation::Question;
use crate::dg::pdu::Header;
use crate::security::hmac;
use crate::uuid::Uuid;
use hmac::{Hmac, Mac};
use md5::Md5;
use obvia_via::datagram::Place;
use std::fmt;
use std::time::{Duration, Instant};

/// The time after which the codes change. The previous codes are accepted, too.
const PERIOD: Duration = Duration::from_secs(2);
/// The longest time between a callback and an answer that is accepted.
pub(super) const ANSWERED_WITHIN: Duration = Duration::from_secs(2 * PERIOD.as_secs());
/// The bits of a UUID that are not masked: its version and its variant (RFC 9562 4.1, 4.2). So a
/// masked UUID is a valid UUID.
const UNMASKED: u128 = 0xf << 76 | 0b11 << 62;

/// The callbacks of a server.
pub(super) struct Callbacks {
    secret: [u8; 16],
    boot: u32,
    /// The beginning of the first period.
    begin: Option<Instant>,
}

impl fmt::Debug for Callbacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Callbacks").field("boot", &self.boot).finish_non_exhaustive()
    }
}

impl Callbacks {
    /// Creates the callbacks of a server with a boot time. An attacker who knows the secret can
    /// confirm calls of other clients.
    pub(super) fn new(secret: [u8; 16], boot: u32) -> Self {
        Self { secret, boot, begin: None }
    }

    /// Appends the callback that asks the client at an address about an activity. `is_simple`
    /// selects the operation that older clients support.
    pub(super) fn write(&mut self, now: Instant, to: Place, activity: Uuid, is_simple: bool, bytes: &mut Vec<u8>) {
        let codes = self.codes(now, to);
        let asking = codes.mask(activity);
        let question = Question { activity, boot: self.boot };
        question.write((asking, codes.sequence(activity)), is_simple, bytes);
    }

    /// Returns the activity about which a callback asked, given the header of the response. `None`
    /// if no callback with this header was sent to the address in this period or the previous one.
    pub(super) fn activity(&mut self, now: Instant, from: Place, header: &Header) -> Option<Uuid> {
        let codes = self.codes(now, from);
        let previous = codes.period.checked_sub(1).map(|period| Codes { period, ..codes });
        [Some(codes), previous].into_iter().flatten().find_map(|codes| {
            let activity = codes.mask(header.activity);
            codes.has_sequence(activity, header.sequence).then_some(activity)
        })
    }

    /// Returns the codes of an address in the current period.
    fn codes(&mut self, now: Instant, place: Place) -> Codes {
        let begin = *self.begin.get_or_insert(now);
        let period = now.saturating_duration_since(begin).as_secs() / PERIOD.as_secs();
        Codes { secret: self.secret, period, place: place.octets() }
    }
}

/// The codes of an address in a period.
#[derive(Clone, Copy)]
struct Codes {
    secret: [u8; 16],
    period: u64,
    place: [u8; 18],
}

impl Codes {
    /// Converts the client's activity to the callback's activity, and the reverse.
    fn mask(&self, activity: Uuid) -> Uuid {
        let mask: [u8; 16] = self.code(&[]).finalize().into_bytes().into();
        Uuid(activity.0 ^ u128::from_le_bytes(mask) & !UNMASKED)
    }

    /// Returns the callback's sequence number for the client's activity.
    fn sequence(&self, activity: Uuid) -> u32 {
        let [first, second, third, fourth, ..]: [u8; 16] =
            self.code(&activity.0.to_le_bytes()).finalize().into_bytes().into();
        u32::from_le_bytes([first, second, third, fourth])
    }

    /// Whether `sequence` is the sequence number of the callback about an activity. The check takes
    /// the same time for all numbers.
    fn has_sequence(&self, activity: Uuid, sequence: u32) -> bool {
        self.code(&activity.0.to_le_bytes()).verify_truncated_left(&sequence.to_le_bytes()).is_ok()
    }

    /// Returns the code of the address and of the bytes `further`.
    fn code(&self, further: &[u8]) -> Hmac<Md5> {
        hmac(&self.secret, &[&self.period.to_le_bytes(), &self.place, further])
    }
}
