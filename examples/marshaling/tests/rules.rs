//! Tests of COM's marshaling rules between processes.

mod server;

use marshaling::{IPoint, IStock, Point, register_point};
use obvia::marshaling::{Context, Flags, disconnect, marshal, release_marshal_data, unmarshal};
use obvia::{Result, code, u16cstr};
use server::Server;
use std::time::Duration;

fn code_of<T>(outcome: Result<T>) -> obvia::HRESULT {
    outcome.err().map_or(code::S_OK, |error| error.code())
}

#[test]
fn normal_marshal_data_is_unmarshaled_once_and_keeps_the_object_alive() {
    let server = Server::start(&[]);
    let data = server.write(Context::Local, Flags::NORMAL).unwrap();
    server.shop.Restock(u16cstr!("pears")).unwrap();
    server.await_left(2);
    let stock: IStock = unmarshal(&data).unwrap();
    assert_eq!(stock.Name().unwrap(), u16cstr!("apples"));
    assert!(!server.shop.IsIn(Some(&stock)).unwrap());
    assert_eq!(code_of(unmarshal::<IStock>(&data)), code::CO_E_OBJNOTCONNECTED);
    assert_eq!(code_of(release_marshal_data(&data)), code::CO_E_OBJNOTCONNECTED);
    assert_eq!(stock.Count().unwrap(), 0);
    drop(stock);
    server.await_left(1);
}

#[test]
fn released_marshal_data_releases_the_object() {
    let server = Server::start(&[]);
    for flags in [Flags::NORMAL, Flags::NORMAL | Flags::NO_PING, Flags::TABLE_STRONG] {
        let data = server.write(Context::Local, flags).unwrap();
        server.shop.Restock(u16cstr!("pears")).unwrap();
        server.await_left(2);
        release_marshal_data(&data).unwrap();
        server.await_left(1);
        assert_eq!(code_of(unmarshal::<IStock>(&data)), code::CO_E_OBJNOTCONNECTED);
    }
}

#[test]
fn table_marshal_data_is_unmarshaled_repeatedly() {
    let server = Server::start(&[]);
    let strong = server.write(Context::Local, Flags::TABLE_STRONG).unwrap();
    let weak = server.write(Context::Local, Flags::TABLE_WEAK).unwrap();
    let own = server.shop.Stock().unwrap();
    for _ in 0..3 {
        // An object has one identity, whichever reference is unmarshaled.
        assert_eq!(unmarshal::<IStock>(&strong).unwrap(), own);
        assert_eq!(unmarshal::<IStock>(&weak).unwrap(), own);
    }
    drop(own);
    server.shop.Restock(u16cstr!("pears")).unwrap();
    // The strong table reference keeps the object alive, so the weak one is still valid.
    assert_eq!(unmarshal::<IStock>(&weak).unwrap().Name().unwrap(), u16cstr!("apples"));
    release_marshal_data(&strong).unwrap();
    server.await_left(1);
    assert_eq!(code_of(unmarshal::<IStock>(&weak)), code::CO_E_OBJNOTCONNECTED);
    release_marshal_data(&weak).unwrap();
    assert_eq!(code_of(release_marshal_data(&weak)), code::CO_E_OBJNOTCONNECTED);
}

#[test]
fn calls_to_disconnected_objects_report_the_disconnection() {
    let server = Server::start(&[]);
    let stock = server.shop.Stock().unwrap();
    let [normal, weak] = [Flags::NORMAL, Flags::TABLE_WEAK].map(|flags| server.write(Context::Local, flags).unwrap());
    stock.Add(2).unwrap();
    server.shop.Disconnect().unwrap();
    assert_eq!(code_of(stock.Add(1)), code::RPC_E_DISCONNECTED);
    for data in [normal, weak] {
        assert_eq!(code_of(unmarshal::<IStock>(&data)), code::CO_E_OBJNOTCONNECTED);
    }
    // The disconnected object still exists, and may be marshaled again.
    let again = server.shop.Stock().unwrap();
    assert_ne!(again, stock);
    assert_eq!(again.Count().unwrap(), 2);
    // The old proxy's release does not affect the new reference.
    drop(stock);
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(again.Count().unwrap(), 2);
    assert_eq!(code_of(disconnect(&again)), code::E_INVALIDARG);
}

#[test]
fn proxies_can_be_marshaled() {
    let server = Server::start(&[]);
    let stock = server.shop.Stock().unwrap();
    let data = marshal(&stock, Context::Local, Flags::NORMAL).unwrap();
    assert_eq!(unmarshal::<IStock>(&data).unwrap(), stock);
    assert_eq!(code_of(unmarshal::<IStock>(&data)), code::CO_E_OBJNOTCONNECTED);
    for flags in [Flags::TABLE_STRONG, Flags::TABLE_WEAK] {
        assert_eq!(code_of(marshal(&stock, Context::Local, flags)), code::E_INVALIDARG);
    }
    let data = marshal(&stock, Context::Local, Flags::NORMAL).unwrap();
    drop(stock);
    server.shop.Restock(u16cstr!("pears")).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    server.await_left(2);
    drop(unmarshal::<IStock>(&data).unwrap());
    server.await_left(1);
}

#[test]
fn the_marshaling_context_selects_the_bindings() {
    let alone = Server::start(&[]);
    for context in [Context::DifferentMachine, Context::NoSharedMemory] {
        assert_eq!(code_of(alone.write(context, Flags::NORMAL)), code::RPC_S_NO_BINDINGS);
    }
    let heard = Server::start(&["ncacn_ip_tcp:127.0.0.1"]);
    for context in [Context::NoSharedMemory, Context::DifferentMachine, Context::InProcess, Context::CrossContext] {
        let data = heard.write(context, Flags::NORMAL).unwrap();
        assert_eq!(unmarshal::<IStock>(&data).unwrap().Name().unwrap(), u16cstr!("apples"), "{context:?}");
    }
}

#[test]
fn unmarshaling_in_the_own_process_returns_the_object_itself() {
    let stock = IStock::from(marshaling::Stock::new(u16cstr!("plums").to_ucstring()));
    for flags in [Flags::NORMAL, Flags::TABLE_STRONG, Flags::TABLE_WEAK] {
        let data = marshal(&stock, Context::InProcess, flags).unwrap();
        assert_eq!(unmarshal::<IStock>(&data).unwrap(), stock);
        assert_eq!(unmarshal::<IStock>(&data).is_ok(), flags != Flags::NORMAL);
        disconnect(&stock).unwrap();
        assert_eq!(code_of(unmarshal::<IStock>(&data)), code::CO_E_OBJNOTCONNECTED);
    }
    assert_eq!(code_of(marshal(&stock, Context::Local, Flags::TABLE_STRONG | Flags::TABLE_WEAK)), code::E_INVALIDARG);
}

#[test]
fn malformed_marshal_data_is_refused() {
    let stock = IStock::from(marshaling::Stock::new(u16cstr!("plums").to_ucstring()));
    let data = marshal(&stock, Context::InProcess, Flags::TABLE_STRONG).unwrap();
    for length in 0..data.len() {
        assert_eq!(code_of(unmarshal::<IStock>(&data[..length])), code::RPC_E_INVALID_OBJREF, "{length} bytes");
    }
    let mut long = data.clone();
    long.resize(1 << 20, 0);
    assert_eq!(code_of(unmarshal::<IStock>(&long)), code::RPC_E_INVALID_OBJREF);
    // The first byte of the IPID is changed. No marshal data of this process has the new IPID.
    let mut other = data.clone();
    other[48] ^= 0x40;
    assert_eq!(code_of(unmarshal::<IStock>(&other)), code::CO_E_OBJNOTCONNECTED);
    assert_eq!(unmarshal::<IStock>(&data).unwrap(), stock);
}

#[test]
fn objects_marshaled_by_value_are_copies() {
    // There is a single test, because registrations belong to the process.
    let server = Server::start(&["ncacn_ip_tcp:127.0.0.1"]);
    assert_eq!(code_of(server.shop.Entrance()), code::REGDB_E_CLASSNOTREG);
    let registered = register_point().unwrap();
    assert_eq!(code_of(register_point()), code::E_INVALIDARG);
    let entrance = server.shop.Entrance().unwrap();
    assert_eq!(entrance.Where().unwrap(), (3.0, 4.0));
    assert_eq!(entrance.Process().unwrap(), std::process::id());
    assert_eq!(server.shop.Distance(Some(&entrance)).unwrap(), 0.0);
    assert_eq!(server.shop.Distance(Some(&IPoint::from(Point { x: 0.0, y: 0.0 }))).unwrap(), 5.0);
    assert_eq!(code_of(server.shop.Distance(None)), code::E_POINTER);
    // The marshaled form is a custom OBJREF. It belongs to no process and holds no reference.
    let data = marshal(&entrance, Context::DifferentMachine, Flags::TABLE_STRONG).unwrap();
    for _ in 0..2 {
        assert_eq!(unmarshal::<IPoint>(&data).unwrap().Where().unwrap(), (3.0, 4.0));
    }
    release_marshal_data(&data).unwrap();
    assert_eq!(code_of(unmarshal::<IStock>(&data)), code::E_NOINTERFACE);
    assert_eq!(code_of(unmarshal::<IPoint>(&data[..data.len() - 1])), code::RPC_E_INVALID_DATA);
    let mut long = data.clone();
    long.resize(data.len() + (1 << 16), 0);
    assert_eq!(code_of(unmarshal::<IPoint>(&long)), code::RPC_E_INVALID_OBJREF);
    drop(registered);
    assert_eq!(code_of(unmarshal::<IPoint>(&data)), code::REGDB_E_CLASSNOTREG);
}
