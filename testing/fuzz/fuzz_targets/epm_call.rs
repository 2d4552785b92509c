//! Feeds bytes to the endpoint mapper and the management interface as arguments, and to a client of the mapper as results.

#![no_main]

use libfuzzer_sys::fuzz_target;
use obvia_rpc::ByteOrder;
use obvia_rpc::epm::{ANY_HOST, Caller, Entry, Mapper, Tower, Way, mapped};
use obvia_rpc::mgmt::{self, Statistics};
use obvia_rpc::uuid::{NDR, Uuid};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(tower) = Tower::from_wire(bytes) {
        assert_eq!(Tower::from_wire(&tower.to_wire()), Ok(tower));
    }
    let [opnum, order, stub @ ..] = bytes else { return };
    let order = if order & 1 == 0 { ByteOrder::Little } else { ByteOrder::Big };
    let opnum = u16::from(opnum % 8);
    let mut mapper = Mapper::default();
    let tower = Tower { interface: NDR, transfer: NDR, way: Way::Tcp(ANY_HOST, 1) };
    mapper.insert(Entry { object: Uuid(0), tower, annotation: "one".to_owned() }, false).unwrap();
    let caller = Caller { local: [127, 0, 0, 1], may_register: true };
    if let Ok(results) = mapper.call(opnum, &caller, order, stub) {
        // What it answers is something that clients can read, if it answers that.
        if opnum == 3 && results[results.len() - 4..] == [0; 4] {
            assert!(mapped(ByteOrder::Little, &results).is_ok());
        }
    }
    let _ = mapped(order, stub);
    let _ = mgmt::call(opnum, order, stub, &[NDR], Statistics::default());
});
