//! Fuzzes the endpoint mapper and the management interface with stub data of requests, and a client
//! of the mapper with stub data of responses.

use obvia_rpc::ByteOrder;
use obvia_rpc::epm::{ANY_HOST, Caller, Entry, Mapper, Registrant, Tower, Way, changed, looked_up, mapped};
use obvia_rpc::mgmt::{self, Statistics};
use obvia_rpc::uuid::{NDR, Uuid};

pub fn run(bytes: &[u8]) {
    if let Ok(tower) = Tower::from_wire(bytes) {
        assert_eq!(Tower::from_wire(&tower.to_wire()), Ok(tower));
    }
    let [opnum, order, stub @ ..] = bytes else { return };
    let order = if order & 1 == 0 { ByteOrder::Little } else { ByteOrder::Big };
    let opnum = u16::from(opnum % 8);
    let mut mapper = Mapper::default();
    let tower = Tower { interface: NDR, transfer: NDR, way: Way::Tcp(ANY_HOST, 1) };
    let entry = Entry { object: Uuid(0), tower, annotation: "one".to_owned() };
    mapper.insert(Registrant::NOBODY, entry, false).unwrap();
    let caller = Caller { local: [127, 0, 0, 1], registrant: Some(Registrant(1)) };
    if let Ok(results) = mapper.call(opnum, &caller, order, stub) {
        // A successful response has to be readable for clients.
        let is_good = results[results.len() - 4..] == [0; 4];
        match opnum {
            2 => assert!(looked_up(ByteOrder::Little, &results).is_ok()),
            3 if is_good => assert!(mapped(ByteOrder::Little, &results).is_ok()),
            _ => {}
        }
    }
    // When the mapper forgets the caller, it removes the caller's entries, and no others.
    mapper.forget(Registrant(1));
    assert_eq!(mapper.entries().count(), 1);
    let _ = (mapped(order, stub), looked_up(order, stub).is_ok(), changed(order, stub));
    let _ = mgmt::interfaces(order, stub);
    let _ = mgmt::call(opnum, order, stub, &[NDR], Statistics::default());
}
