//! Tests of the units: the bytes that C706 12.5 specifies, in both byte orders, and malformed
//! units.

use super::{Cancel, CancelAck, Fack, Header, NO_HINT, PduError, PduType, flags, read_status, write_status};
use crate::octets::ByteOrder;
use crate::status::Status;
use crate::uuid::{SyntaxId, Uuid};

const REQUEST: Header = Header {
    kind: PduType::REQUEST,
    flags: flags::FRAGMENT | flags::LAST | flags::IDEMPOTENT,
    flags2: 0,
    order: ByteOrder::Little,
    serial: 0x0102,
    object: Uuid(0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f),
    interface: SyntaxId { uuid: Uuid(0x60a1_5ec5_4de8_11d7_a637_0050_56a2_0182), version: 0x0002_0001 },
    activity: Uuid(0x1111_2222_3333_4444_5555_6666_7777_8888),
    boot: 0x0a0b_0c0d,
    sequence: 7,
    opnum: 3,
    interface_hint: NO_HINT,
    activity_hint: 0x0304,
    fragment: 5,
    auth: 0,
};

/// The request, little endian, and its body.
const BYTES: [u8; 83] = [
    4, 0, 0x26, 0, 0x10, 0, 0, 1, // version, type, flags, representation, serial number's upper half
    3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15, // object
    0xc5, 0x5e, 0xa1, 0x60, 0xe8, 0x4d, 0xd7, 0x11, 0xa6, 0x37, 0, 0x50, 0x56, 0xa2, 1, 0x82, // interface
    0x22, 0x22, 0x11, 0x11, 0x33, 0x33, 0x44, 0x44, 0x55, 0x55, 0x66, 0x66, 0x77, 0x77, 0x88, 0x88, // activity
    0x0d, 0x0c, 0x0b, 0x0a, 1, 0, 2, 0, 7, 0, 0, 0, // boot time, version, sequence
    3, 0, 0xff, 0xff, 4, 3, 3, 0, 5, 0, 0,
    2, // opnum, hints, length, fragment, authentication, serial number's lower half
    1, 2, 3,
];

#[test]
fn datagram_headers_have_the_standards_layout() {
    let mut bytes = vec![9];
    REQUEST.write(&mut bytes, &[1, 2, 3]);
    assert_eq!(bytes[1..], BYTES);
    assert_eq!(Header::read(&BYTES), Ok((REQUEST, [1, 2, 3].as_slice())));
    let big = Header { order: ByteOrder::Big, ..REQUEST };
    bytes.clear();
    big.write(&mut bytes, &[]);
    assert_eq!(
        (bytes[4], &bytes[8..12], &bytes[56..60], &bytes[76..78]),
        (0, &[0, 1, 2, 3][..], &[10, 11, 12, 13][..], &[0, 5][..])
    );
    assert_eq!(Header::read(&bytes), Ok((big, [].as_slice())));
    // Bytes after the body are ignored.
    let longer = [BYTES.as_slice(), &[7; 9]].concat();
    assert_eq!(Header::read(&longer), Ok((REQUEST, [1, 2, 3].as_slice())));
}

#[test]
fn malformed_datagram_pdus_are_refused_with_the_reason() {
    for length in 0..Header::SIZE {
        assert_eq!(Header::read(&BYTES[..length]), Err(PduError::Short));
    }
    let changed = |at: usize, value: u8| {
        let mut bytes = BYTES;
        bytes[at] = value;
        Header::read(&bytes).map(|_| ()).unwrap_err()
    };
    assert_eq!(changed(0, 5), PduError::Version(5));
    assert_eq!(changed(1, 11), PduError::Type(PduType(11)));
    assert_eq!(changed(4, 0x20), PduError::Representation(0x20, 0));
    assert_eq!(changed(5, 1), PduError::Representation(0x10, 1));
    assert_eq!(changed(74, 4), PduError::Length(4));
}

#[test]
fn facks_list_the_received_fragments() {
    let mut fack = Fack::new(64, 1464, 0x1234);
    assert!(fack.insert(1) && fack.insert(33) && !fack.insert(256));
    let header = Header { kind: PduType::FACK, flags: 0, ..REQUEST };
    let mut bytes = Vec::new();
    fack.write(&mut bytes, &header);
    let body = [1, 0, 64, 0, 0xb8, 5, 0, 0, 0xb8, 5, 0, 0, 0x34, 0x12, 2, 0, 2, 0, 0, 0, 2, 0, 0, 0];
    assert_eq!(bytes[80..], body);
    let read = |header: &Header, body: &[u8]| Fack::read(header, body);
    assert_eq!(read(&header, &body), Ok(Some(fack)));
    assert!(fack.has(1) && fack.has(33) && !fack.has(0) && !fack.has(2) && !fack.has(1000));
    assert_eq!(read(&header, &[]), Ok(None));
    assert_eq!(read(&header, &body[..23]), Err(PduError::Short));
    assert_eq!(read(&header, &[2; 24]), Err(PduError::Body(2)));
    bytes.clear();
    let big = Header { order: ByteOrder::Big, ..header };
    fack.write(&mut bytes, &big);
    assert_eq!(read(&big, &bytes[80..]), Ok(Some(fack)));
    // A mask that is longer than the supported length.
    let mut longer = [0xff; 16 + 4 * 20];
    longer[0] = 0;
    longer[14..16].copy_from_slice(&[20, 0]);
    let many = read(&header, &longer).unwrap().unwrap();
    assert!((0..256).all(|behind| many.has(behind)) && !many.has(256));
}

#[test]
fn cancel_and_status_pdus_round_trip() {
    let mut bytes = Vec::new();
    Cancel { id: 9 }.write(&mut bytes, &REQUEST);
    let (header, body) = Header::read(&bytes).unwrap();
    assert_eq!((header.kind, body), (PduType::CL_CANCEL, [0, 0, 0, 0, 9, 0, 0, 0].as_slice()));
    assert_eq!(Cancel::read(&header, body), Ok(Cancel { id: 9 }));
    assert_eq!(Cancel::read(&header, &[1, 0, 0, 0]), Err(PduError::Body(1)));
    bytes.clear();
    let ack = CancelAck { id: 9, is_accepted: true };
    ack.write(&mut bytes, &REQUEST);
    let (header, body) = Header::read(&bytes).unwrap();
    assert_eq!((header.kind, body), (PduType::CANCEL_ACK, [0, 0, 0, 0, 9, 0, 0, 0, 1].as_slice()));
    assert_eq!(CancelAck::read(&header, body), Ok(Some(ack)));
    assert_eq!(CancelAck::read(&header, &[]), Ok(None));
    assert_eq!(CancelAck::read(&header, &body[..8]), Err(PduError::Short));
    let status = Status::WRONG_BOOT_TIME;
    assert_eq!(write_status(status), [6, 0, 1, 0x1c]);
    assert_eq!(read_status(&header, &write_status(status)), Ok(status));
    assert_eq!(read_status(&header, &[1]), Err(PduError::Short));
}
