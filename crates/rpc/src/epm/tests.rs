//! Tests of the endpoint mapper: the bytes of the standard's structures, lookups that take several
//! calls, and malformed arguments.

use super::*;
use crate::octets::{ByteOrder, Reader, Writer};
use crate::uuid::NDR;

const NAMED: SyntaxId = SyntaxId { uuid: Uuid(0x0123_4567_89ab_cdef_0011_2233_4455_6677), version: 0x0003_0002 };
const ME: Registrant = Registrant(7);
const HERE: Caller = Caller { local: [10, 1, 2, 3], registrant: Some(ME) };

fn tower(version: u32, way: Way) -> Tower {
    Tower { interface: SyntaxId { version, ..NAMED }, transfer: NDR, way }
}

fn entry(object: u128, tower: Tower, annotation: &str) -> Entry {
    Entry { object: Uuid(object), tower, annotation: annotation.to_owned() }
}

fn tcp(port: u16) -> Way {
    Way::Tcp(ANY_HOST, port)
}

fn bytes(hex: &[&str]) -> Vec<u8> {
    let digits = hex.concat().replace(' ', "");
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

/// A tower, floor by floor after C706 appendix L.
const TOWER: [&str; 6] = [
    "0500",
    "1300 0d 67452301 ab89efcd 00112233 44556677 0200 0200 0300",
    "1300 0d 045d888a eb1cc911 9fe80800 2b104860 0200 0200 0000",
    "0100 0b 0200 0000",
    "0100 07 0200 1388",
    "0100 09 0400 0a010203",
];

#[test]
fn towers_have_the_standards_layout() {
    let one = tower(0x0003_0002, Way::Tcp([10, 1, 2, 3], 5000));
    assert_eq!(one.to_wire(), bytes(&TOWER));
    assert_eq!(Tower::from_wire(&bytes(&TOWER)).as_ref(), Ok(&one));
    let datagrams = tower(1, Way::Udp([10, 1, 2, 3], 5000));
    // The protocol identifiers differ: connectionless instead of connection-oriented, and UDP
    // instead of TCP.
    let differ: Vec<_> = one.to_wire().into_iter().zip(datagrams.to_wire()).filter(|(tcp, udp)| tcp != udp).collect();
    assert!(differ.ends_with(&[(0x0b, 0x0a), (0x07, 0x08)]), "{differ:?}");
    let local = tower(1, Way::Local("name".to_owned()));
    for tower in [datagrams, local] {
        assert_eq!(Tower::from_wire(&tower.to_wire()), Ok(tower));
    }
}

#[test]
fn malformed_towers_are_refused() {
    let good = bytes(&TOWER);
    for length in 0..good.len() {
        assert_eq!(Tower::from_wire(&good[..length]), Err(TowerError::Short), "{length} bytes");
    }
    let patched = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        Tower::from_wire(&bytes)
    };
    assert_eq!(patched(0, 17), Err(TowerError::Floors(17)));
    assert_eq!(patched(0, 1), Err(TowerError::Floors(1)));
    assert_eq!(patched(4, 0x0c), Err(TowerError::Syntax));
    // Invalid: UDP in the port's floor of a connection-oriented tower, and a tower that ends after
    // its port.
    assert_eq!(patched(61, 0x08), Err(TowerError::Protocol));
    assert_eq!(patched(0, 4), Err(TowerError::Protocol));
}

fn ask(mapper: &mut Mapper, wanted: &Tower, object: Option<Uuid>) -> Result<Vec<Way>, MapError> {
    let (opnum, stub) = map_request(wanted, object);
    mapped(ByteOrder::Little, &mapper.call(opnum, &HERE, ByteOrder::Little, &stub).unwrap())
}

#[test]
fn endpoints_are_found_by_interface_version_object_and_protocol() {
    let mut mapper = Mapper::default();
    mapper.insert(ME, entry(0, tower(0x0003_0002, tcp(5000)), ""), false).unwrap();
    mapper.insert(ME, entry(7, tower(0x0003_0002, tcp(5007)), ""), false).unwrap();
    mapper.insert(ME, entry(0, tower(0x0003_0002, Way::Local("here".to_owned())), ""), false).unwrap();
    let local = |port| Way::Tcp(HERE.local, port);
    let none = Err(MapError::Status(NOT_REGISTERED));
    assert_eq!(ask(&mut mapper, &tower(0x0003_0002, tcp(0)), None), Ok(vec![local(5000)]));
    assert_eq!(ask(&mut mapper, &tower(0x0002_0002, tcp(0)), None), Ok(vec![local(5000)]));
    assert_eq!(ask(&mut mapper, &tower(0x0004_0002, tcp(0)), None), none);
    assert_eq!(ask(&mut mapper, &tower(0x0003_0001, tcp(0)), None), none);
    assert_eq!(ask(&mut mapper, &tower(2, tcp(0)), Some(Uuid(7))), Ok(vec![local(5000), local(5007)]));
    let socket = Ok(vec![Way::Local("here".to_owned())]);
    assert_eq!(ask(&mut mapper, &tower(2, Way::Local(String::new())), None), socket);
}

/// Returns the arguments of a lookup of all entries.
fn lookup(handle: &[u8], max: u32) -> Vec<u8> {
    let mut stub = Vec::new();
    let mut writer = Writer::new(&mut stub, ByteOrder::Little);
    for number in [0, 0, 0, 1] {
        writer.u32(number);
    }
    writer.bytes(handle);
    writer.u32(max);
    stub
}

#[test]
fn mapper_lookups_continue_where_they_stopped() {
    let mut mapper = Mapper::default();
    for port in 1..=5 {
        mapper.insert(ME, entry(0, tower(u32::from(port), tcp(port)), &format!("number {port}")), false).unwrap();
    }
    let mut handle = vec![0; HANDLE];
    let mut counts = Vec::new();
    loop {
        let results = mapper.call(op::LOOKUP, &HERE, ByteOrder::Little, &lookup(&handle, 2)).unwrap();
        handle = results[..HANDLE].to_vec();
        let mut reader = Reader::new(&results[HANDLE..], ByteOrder::Little);
        counts.push(reader.u32().unwrap());
        if handle.iter().all(|byte| *byte == 0) {
            break;
        }
        // Entries that are added or removed between the calls do not disturb the lookup.
        let (opnum, stub) = change_request(Change::Delete, &[entry(0, tower(4, tcp(4)), "")]);
        mapper.call(opnum, &HERE, ByteOrder::Little, &stub).unwrap();
    }
    assert_eq!(counts, [2, 2, 0]);
    handle[7] = 1;
    assert_eq!(mapper.call(op::LOOKUP, &HERE, ByteOrder::Little, &lookup(&handle, 2)), Err(Status::CONTEXT_MISMATCH));
}

/// Returns the arguments of an ept_insert or ept_delete of one entry.
fn change(tower: &Tower, annotation: &str) -> Vec<u8> {
    change_all(&[(0, tower)], annotation)
}

/// Returns the arguments of an ept_insert or ept_delete of entries with these objects and towers.
fn change_all(entries: &[(u128, &Tower)], annotation: &str) -> Vec<u8> {
    let mut stub = Vec::new();
    let mut writer = Writer::new(&mut stub, ByteOrder::Little);
    writer.u32(entries.len() as u32);
    writer.u32(entries.len() as u32);
    for (at, (object, _)) in entries.iter().enumerate() {
        writer.align(4);
        writer.uuid(Uuid(*object));
        writer.u32(mapper::referent(at));
        writer.u32(0);
        writer.u32(annotation.len() as u32);
        writer.bytes(annotation.as_bytes());
    }
    for (_, tower) in entries {
        mapper::put_tower(&mut writer, &tower.to_wire());
    }
    writer.align(4);
    writer.u32(1);
    stub
}

#[test]
fn only_local_registrants_can_change_the_mapper() {
    let mut mapper = Mapper::default();
    let status = |results: Vec<u8>| Status(u32::from_le_bytes(*results.first_chunk().unwrap()));
    let mut call = |opnum, caller: &Caller, port| {
        let stub = change(&tower(1, tcp(port)), "clock\0");
        status(mapper.call(opnum, caller, ByteOrder::Little, &stub).unwrap())
    };
    let stranger = Caller { registrant: None, ..HERE };
    assert_eq!(call(op::INSERT, &stranger, 1), CANNOT_PERFORM);
    assert_eq!(call(op::DELETE, &HERE, 1), NOT_REGISTERED);
    assert_eq!(call(op::INSERT, &HERE, 1), Status(0));
    // The new entry replaces the old one.
    assert_eq!(call(op::INSERT, &HERE, 2), Status(0));
    assert_eq!(call(op::DELETE, &HERE, 1), NOT_REGISTERED);
    assert_eq!(call(op::DELETE, &HERE, 2), Status(0));
    assert_eq!(mapper.entries().count(), 0);
}

#[test]
fn replacing_entries_does_not_count_against_the_limit() {
    let mut mapper = Mapper::default();
    for number in 0..REGISTERED_MAX as u128 {
        mapper.insert(ME, entry(number, tower(1, tcp(1)), ""), false).unwrap();
    }
    let all: Vec<_> = mapper.entries().cloned().collect();
    let mut insert = |objects: &[u128]| {
        let tower = tower(1, tcp(2));
        let entries: Vec<_> = objects.iter().map(|object| (*object, &tower)).collect();
        let results = mapper.call(op::INSERT, &HERE, ByteOrder::Little, &change_all(&entries, "clock\0")).unwrap();
        (Status(u32::from_le_bytes(*results.first_chunk().unwrap())), mapper.entries().cloned().collect::<Vec<_>>())
    };
    // A call that fails at its last entry changes nothing.
    assert_eq!(insert(&[0, 1, u128::MAX]), (CANNOT_PERFORM, all));
    let (status, after) = insert(&[0, 1, 1]);
    assert_eq!((status, after.len()), (Status(0), REGISTERED_MAX));
    let moved = after.iter().filter(|entry| entry.tower == tower(1, tcp(2))).map(|entry| entry.object.0);
    assert_eq!(moved.collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn annotations_are_cut_and_mapper_entries_are_limited() {
    let mut mapper = Mapper::default();
    mapper.insert(ME, entry(0, tower(1, tcp(1)), &"ä".repeat(40)), false).unwrap();
    assert_eq!(mapper.entries().next().unwrap().annotation, "ä".repeat(31));
    let put =
        |mapper: &mut Mapper, who, object| mapper.insert(Registrant(who), entry(object, tower(1, tcp(1)), ""), false);
    for number in 1..REGISTERED_MAX as u128 {
        put(&mut mapper, ME.0, number).unwrap();
    }
    assert_eq!(put(&mut mapper, ME.0, u128::MAX), Err(CANNOT_PERFORM));
    // An entry that replaces itself needs no room.
    assert_eq!(put(&mut mapper, ME.0, 1), Ok(()));
    for number in REGISTERED_MAX..ENTRIES_MAX {
        put(&mut mapper, 100 + (number / REGISTERED_MAX) as u64, number as u128).unwrap();
    }
    assert_eq!(put(&mut mapper, 99, 0), Err(CANNOT_PERFORM));
    mapper.forget(ME);
    assert_eq!(mapper.entries().count(), ENTRIES_MAX - REGISTERED_MAX);
    put(&mut mapper, 99, 0).unwrap();
}

#[test]
fn only_the_registrant_can_change_a_mapper_entry() {
    let mut mapper = Mapper::default();
    let status = |caller: &Caller, mapper: &mut Mapper, change, port| {
        let (opnum, stub) = change_request(change, &[entry(0, tower(1, tcp(port)), "clock")]);
        changed(ByteOrder::Little, &mapper.call(opnum, caller, ByteOrder::Little, &stub).unwrap())
    };
    let other = Caller { registrant: Some(Registrant(8)), ..HERE };
    assert_eq!(status(&HERE, &mut mapper, Change::Insert, 1), Ok(()));
    assert_eq!(status(&other, &mut mapper, Change::Insert, 2), Ok(()));
    assert_eq!(status(&other, &mut mapper, Change::Delete, 1), Err(MapError::Status(NOT_REGISTERED)));
    assert_eq!(ask(&mut mapper, &tower(1, tcp(0)), None), Ok(vec![Way::Tcp(HERE.local, 1), Way::Tcp(HERE.local, 2)]));
    mapper.forget(Registrant(8));
    assert_eq!(ask(&mut mapper, &tower(1, tcp(0)), None), Ok(vec![Way::Tcp(HERE.local, 1)]));
    assert_eq!(status(&HERE, &mut mapper, Change::Delete, 1), Ok(()));
    assert_eq!(mapper.entries().count(), 0);
}

#[test]
fn mapper_clients_list_all_entries_and_refuse_malformed_results() {
    let mut mapper = Mapper::default();
    let all: Vec<Entry> = (1..=250)
        .map(|port| entry(u128::from(port), tower(1, Way::Tcp([10, 0, 0, 1], port)), &format!("number {port}")))
        .collect();
    all.iter().for_each(|one| mapper.insert(ME, one.clone(), false).unwrap());
    let (mut found, mut next) = (Vec::new(), Some(Lookup::default()));
    let mut first = Vec::new();
    while let Some(lookup) = next {
        let (opnum, stub) = lookup_request(lookup);
        let results = mapper.call(opnum, &HERE, ByteOrder::Little, &stub).unwrap();
        let (some, more) = looked_up(ByteOrder::Little, &results).unwrap();
        first = if found.is_empty() { results } else { first };
        found.extend(some);
        next = more;
    }
    assert_eq!(found, all);
    for length in (0..first.len()).step_by(97) {
        assert_eq!(looked_up(ByteOrder::Little, &first[..length]), Err(MapError::Malformed), "{length} bytes");
    }
}

#[test]
fn malformed_mapper_arguments_end_in_faults() {
    let mut mapper = Mapper::default();
    mapper.insert(ME, entry(0, tower(1, tcp(1)), "one"), false).unwrap();
    let (_, map) = map_request(&tower(1, tcp(0)), Some(Uuid(1)));
    let arguments =
        [(op::MAP, map), (op::LOOKUP, lookup(&[0; HANDLE], 1)), (op::INSERT, change(&tower(1, tcp(1)), "clock\0"))];
    for (opnum, stub) in arguments {
        for length in 0..stub.len() {
            let outcome = mapper.call(opnum, &HERE, ByteOrder::Little, &stub[..length]);
            assert_eq!(outcome, Err(Status::BAD_STUB_DATA), "{length} bytes for {opnum}");
        }
    }
    assert_eq!(mapper.call(9, &HERE, ByteOrder::Little, &[]), Err(Status::OP_RNG_ERROR));
    assert_eq!(mapped(ByteOrder::Little, &[0; 20]), Err(MapError::Malformed));
}
