//! Tests of the units: the bytes of the standard's structures, both byte orders, and malformed
//! units.

use super::*;
use crate::status::Status;
use crate::uuid::{FLAT, NDR, SyntaxId, Uuid};

fn bytes(hex: &[&str]) -> Vec<u8> {
    let digits = hex.concat().replace(' ', "");
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

fn bind() -> Bind {
    let mapper = SyntaxId { uuid: Uuid(0xe1af_8308_5d1f_11c9_91a4_0800_2b14_a0fa), version: 3 };
    let contexts = vec![Context { id: 0, interface: mapper, transfers: vec![NDR] }];
    let sizes = FragmentSizes { sent: 5840, received: 4280 };
    Bind { alters: false, flags: 0, call_id: 1, sizes, group: 0, contexts }
}

fn ack() -> BindAck {
    BindAck {
        alters: false,
        flags: flags::MULTIPLEX,
        call_id: 7,
        sizes: FragmentSizes::GREATEST,
        group: 0x1234,
        secondary_address: "135".to_owned(),
        outcomes: vec![Outcome::accepted(FLAT), Outcome::refused(NO_TRANSFER_SYNTAX)],
    }
}

/// A bind to the endpoint mapper, written byte by byte from C706 12.6.4.3 and the structures that
/// it refers to.
const BIND_LITTLE: [&str; 4] = [
    "05000b03 10000000 48000000 01000000",
    "d016b810 00000000 01000000",
    "00000100 0883afe1 1f5dc911 91a40800 2b14a0fa 03000000",
    "045d888a eb1cc911 9fe80800 2b104860 02000000",
];
const BIND_BIG: [&str; 4] = [
    "05000b03 00000000 00480000 00000001",
    "16d010b8 00000000 01000000",
    "00000100 e1af8308 5d1f11c9 91a40800 2b14a0fa 00000003",
    "8a885d04 1ceb11c9 9fe80800 2b104860 00000002",
];

#[test]
fn bind_pdus_have_the_standards_layout() {
    assert_eq!(bind().to_wire(), bytes(&BIND_LITTLE));
    assert_eq!(Bind::from_wire(&bytes(&BIND_LITTLE)), Ok(bind()));
    assert_eq!(Bind::from_wire(&bytes(&BIND_BIG)), Ok(bind()));
}

#[test]
fn request_pdus_have_the_standards_layout() {
    let object = Some(Uuid(0x0123_4567_89ab_cdef_0011_2233_4455_6677));
    let request = Request { alloc_hint: 3, context_id: 1, opnum: 0x0203, object, stub: b"abc" };
    let mut written = Vec::new();
    request.write(&mut written, &Header::new(PduType::REQUEST, flags::WHOLE, 9));
    let little =
        ["05000083 10000000 2b000000 09000000", "03000000 01000302", "67452301 ab89efcd 00112233 44556677 616263"];
    assert_eq!(written, bytes(&little));
    assert_eq!(Request::read(&Unit::open(&written).unwrap()), Ok(request));
    let big =
        ["05000083 00000000 002b0000 00000009", "00000003 00010203", "01234567 89abcdef 00112233 44556677 616263"];
    assert_eq!(Request::read(&Unit::open(&bytes(&big)).unwrap()), Ok(request));
}

#[test]
fn response_and_fault_pdus_have_the_standards_layout() {
    let response = Response { alloc_hint: 2, context_id: 1, cancels: 3, stub: b"xy" };
    let mut written = Vec::new();
    response.write(&mut written, &Header::new(PduType::RESPONSE, flags::WHOLE, 9));
    assert_eq!(written, bytes(&["05000203 10000000 1a000000 09000000", "02000000 01000300 7879"]));
    assert_eq!(Response::read(&Unit::open(&written).unwrap()), Ok(response));

    let fault = Fault { context_id: 1, cancels: 0, status: Status::OP_RNG_ERROR };
    written.clear();
    fault.write(&mut written, &Header::new(PduType::FAULT, flags::WHOLE | flags::DID_NOT_EXECUTE, 9));
    let expected = ["05000323 10000000 20000000 09000000", "20000000 01000000 0200011c 00000000"];
    assert_eq!(written, bytes(&expected));
    assert_eq!(Fault::read(&Unit::open(&written).unwrap()), Ok(fault));
}

#[test]
fn security_trailers_are_found_behind_their_padding() {
    let hex =
        ["05000203 10000000 2c000400 09000000", "02000000 01000000 7879 0000 0000 0000", "0a050600 07000000 deadbeef"];
    let whole = bytes(&hex);
    let unit = Unit::open(&whole).unwrap();
    let head = TrailerHead { kind: 10, level: 5, padding: 6, context_id: 7 };
    assert_eq!(unit.trailer, Some(Trailer { head, at: 32, token: &[0xde, 0xad, 0xbe, 0xef] }));
    assert_eq!(unit.sealed(), Ok(24..32));
    assert_eq!(Response::read(&unit).unwrap().stub, b"xy");
}

#[test]
fn security_trailers_that_do_not_fit_are_refused() {
    let good = bytes(&["05000203 10000000 24000400 09000000", "02000000 01000000", "0a050000 07000000 deadbeef"]);
    assert!(Unit::open(&good).is_ok());
    for (at, value, why) in [
        (10, 13, PduError::Length(36)),
        // The padding is longer than the body.
        (26, 9, PduError::Trailer),
    ] {
        let mut bad = good.clone();
        bad[at] = value;
        assert_eq!(Unit::open(&bad).map(drop), Err(why), "byte {at}");
    }
    // The unit lacks the eight bytes between the header and the stub data, so no range can be
    // encrypted.
    let mut bad = good[..16].to_vec();
    bad.extend(&good[24..]);
    bad[8] = 28;
    assert_eq!(Unit::open(&bad).unwrap().sealed(), Err(PduError::Trailer));
}

#[test]
fn pdus_round_trip() {
    assert_eq!(Bind::from_wire(&bind().to_wire()), Ok(bind()));
    for address in ["", "1", "12", "135", "oxid-0123456789abcdef"] {
        let ack = BindAck { secondary_address: address.to_owned(), ..ack() };
        assert_eq!(BindAck::from_wire(&ack.to_wire()), Ok(ack));
    }
    let nak = BindNak::new(5, BindNak::VERSION);
    let mut written = Vec::new();
    nak.write(&mut written);
    assert_eq!(written, bytes(&["05000d03 10000000 18000000 05000000", "0400 01 0500 000000"]));
    assert_eq!(BindNak::read(&Unit::open(&written).unwrap()), Ok(nak));
}

#[test]
fn secondary_addresses_that_are_no_text_are_refused() {
    let longest = BindAck { secondary_address: "x".repeat(65_000), ..ack() };
    assert_eq!(BindAck::from_wire(&longest.to_wire()).as_ref(), Ok(&longest));
    for wrong in [vec![0xff], vec![0xff; 65_000], b"oxid-\xc3".to_vec()] {
        let text = "x".repeat(wrong.len());
        let mut bytes = BindAck { secondary_address: text, ..ack() }.to_wire();
        bytes[26..26 + wrong.len()].copy_from_slice(&wrong);
        assert_eq!(BindAck::from_wire(&bytes), Err(PduError::Address));
    }
}

#[test]
fn padding_behind_a_pdu_is_ignored() {
    let mut bytes = ack().to_wire();
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    assert_eq!(BindAck::from_wire(&bytes), Ok(ack()));
}

#[test]
fn malformed_pdu_headers_are_refused() {
    let good = bind().to_wire();
    let patched = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        Bind::from_wire(&bytes)
    };
    assert_eq!(patched(0, 4), Err(PduError::Version(4, 0)));
    assert_eq!(patched(1, 2), Err(PduError::Version(5, 2)));
    assert_eq!(patched(2, 12), Err(PduError::Type(PduType::BIND_ACK)));
    assert_eq!(patched(4, 0x11), Err(PduError::Representation(0x11, 0)));
    assert_eq!(patched(5, 1), Err(PduError::Representation(0x10, 1)));
    assert_eq!(patched(8, 15), Err(PduError::Length(15)));
    assert_eq!(patched(24, 65), Err(PduError::TooMany(65)));
    assert_eq!(patched(30, 65), Err(PduError::TooMany(65)));
}

#[test]
fn every_truncated_pdu_is_refused() {
    for bytes in [bind().to_wire(), ack().to_wire()] {
        for length in 0..bytes.len() {
            let mut short = bytes[..length].to_vec();
            assert!(Bind::from_wire(&short).is_err() && BindAck::from_wire(&short).is_err(), "{length} bytes");
            if length >= Header::SIZE {
                // The same unit with a matching length field.
                short[8..10].copy_from_slice(&(length as u16).to_le_bytes());
                assert!(Bind::from_wire(&short).is_err() && BindAck::from_wire(&short).is_err(), "{length} bytes");
            }
        }
    }
}
