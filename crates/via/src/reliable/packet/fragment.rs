//! Fragments of data packets. A lost data packet may be too long for the current path. Then the
//! packet is sent again in fragments. Shorter data packets cannot replace the lost packet, because
//! the later packets already have the next numbers, and the next parts of the message.

use super::{BadPacket, Body, FRAGMENT, HANDSHAKE_MAX, HEADER, Header, put, put_header, seal, u32_at};

/// The length of all fragments but the last, in bytes.
pub(in crate::reliable) const FRAGMENT_BYTES: usize = 512;
/// The maximum length of a data packet that is sent in fragments, in bytes.
pub(in crate::reliable) const FRAGMENTED_MAX: usize = FRAGMENTS_MAX * FRAGMENT_BYTES;
/// The maximum number of fragments of a packet.
const FRAGMENTS_MAX: usize = 128;
/// The number of bytes before a fragment's content.
const FRAGMENT_HEADER: usize = HEADER + 8;
// Every path takes a fragment, including the bytes that a guard adds.
const _: () = assert!(FRAGMENT_HEADER + FRAGMENT_BYTES + 24 <= HANDSHAKE_MAX);

/// Reads the body of a fragment.
pub(super) fn read(rest: &[u8]) -> Result<Body<'_>, BadPacket> {
    let (index, length) = (u32_at(rest, 0).ok_or(BadPacket::Short)?, u32_at(rest, 4).ok_or(BadPacket::Short)?);
    let (begin, bytes) = ((index as usize).saturating_mul(FRAGMENT_BYTES), &rest[8..]);
    let left = (length as usize).checked_sub(begin).ok_or(BadPacket::Fields)?;
    let fits = length as usize <= FRAGMENTED_MAX && left > 0 && bytes.len() == left.min(FRAGMENT_BYTES);
    if fits { Ok(Body::Fragment { index, length, bytes }) } else { Err(BadPacket::Fields) }
}

/// Adds the body of a fragment.
pub(super) fn write(tail: &mut Vec<u8>, index: u32, length: u32, bytes: &[u8]) {
    tail.extend(index.to_le_bytes());
    tail.extend(length.to_le_bytes());
    tail.extend(bytes);
}

/// Replaces a data packet of `length` bytes by its fragment numbered `index`, which must exist.
/// Returns the length of the fragment's packet, and whether the fragment is the last.
pub(in crate::reliable) fn to_fragment(
    into: &mut [u8],
    header: &Header,
    (index, length): (u32, usize),
) -> (usize, bool) {
    let begin = index as usize * FRAGMENT_BYTES;
    let end = length.min(begin + FRAGMENT_BYTES);
    into.copy_within(begin..end, FRAGMENT_HEADER);
    put_header(into, header, FRAGMENT, 0, 0);
    put(into, HEADER, &index.to_le_bytes());
    put(into, HEADER + 4, &(length as u32).to_le_bytes());
    (seal(&mut into[..FRAGMENT_HEADER + end - begin]), end == length)
}

#[cfg(test)]
mod tests {
    use super::{FRAGMENT_BYTES, FRAGMENTED_MAX, to_fragment};
    use crate::reliable::packet::{BadPacket, Body, HEADER, Header, parse, seal, write};

    fn header() -> Header {
        Header { to: 9, number: 77, ack: 3, sack: 0, window: 1 << 16 }
    }

    #[test]
    fn fragments_together_are_the_packet() {
        let packet: Vec<u8> = (0..1300_u32).map(|at| ((at * 7) >> 3) as u8).collect();
        let (mut whole, mut index) = (Vec::<u8>::new(), 0);
        loop {
            let mut bytes = packet.clone();
            let (length, is_last) = to_fragment(&mut bytes, &header(), (index, packet.len()));
            let (read, body) = parse(&bytes[..length]).unwrap();
            let Body::Fragment { index: number, length: of, bytes: part } = body else { panic!("{body:?}") };
            assert_eq!((read, number, of as usize), (header(), index, packet.len()));
            whole.extend(part);
            let mut again = vec![0; length];
            assert_eq!(write(&mut again, &read, &body).unwrap(), length);
            assert_eq!(again, bytes[..length]);
            index += 1;
            if is_last {
                break;
            }
        }
        assert_eq!((whole == packet, index), (true, 3));
    }

    #[test]
    fn fragments_whose_fields_do_not_fit_are_refused() {
        let parsed = |index, length, count| {
            let mut bytes = vec![0; HEADER + 8 + count];
            let body = Body::Fragment { index, length, bytes: &vec![1; count] };
            let length = write(&mut bytes, &header(), &body).unwrap();
            parse(&bytes[..length]).map(drop)
        };
        let (one, most) = (FRAGMENT_BYTES, FRAGMENTED_MAX as u32);
        assert_eq!(parsed(127, most, one), Ok(()));
        for (index, length, count) in [
            (0, 0, 0),
            (0, 600, one - 1),
            (1, 600, 89),
            (2, 600, 0),
            (128, most, one),
            (0, most + 1, one),
            (u32::MAX, most, one),
        ] {
            assert_eq!(parsed(index, length, count), Err(BadPacket::Fields), "{index} {length} {count}");
        }
        let mut short = vec![0; HEADER + 7];
        super::put_header(&mut short, &header(), super::FRAGMENT, 0, 0);
        seal(&mut short);
        assert_eq!(parse(&short).map(drop), Err(BadPacket::Short));
    }
}
