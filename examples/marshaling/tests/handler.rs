//! Tests of a handler, which represents an object in a client.

mod server;

use marshaling::{IStock, register_cache};
use obvia::marshaling::{Context, Flags, marshal, unmarshal};
use obvia::u16cstr;
use server::Server;

/// A single test, because registrations belong to the process.
#[test]
fn a_handler_answers_some_calls_and_forwards_the_rest() {
    let server = Server::start(&[]);
    let plain = server.shop.Stock().unwrap();
    for asked in 1..3 {
        assert_eq!(plain.Name().unwrap(), u16cstr!("apples"));
        assert_eq!(plain.Asked().unwrap(), asked);
    }
    drop(plain);

    let registered = register_cache().unwrap();
    let stock = server.shop.Stock().unwrap();
    for _ in 0..3 {
        assert_eq!(stock.Name().unwrap(), u16cstr!("apples"));
        assert_eq!(stock.Asked().unwrap(), 3);
    }
    stock.Add(7).unwrap();
    assert_eq!(stock.Count().unwrap(), 7);

    // An object has one handler, however the client got it.
    assert_eq!(server.shop.Stock().unwrap(), stock);
    let data = server.write(Context::Local, Flags::TABLE_STRONG).unwrap();
    assert_eq!(unmarshal::<IStock>(&data).unwrap(), stock);
    // A handler is passed as a reference to its object.
    assert!(server.shop.IsIn(Some(&stock)).unwrap());
    let own = marshal(&stock, Context::Local, Flags::NORMAL).unwrap();
    assert_eq!(unmarshal::<IStock>(&own).unwrap(), stock);

    // Revocation of the registration keeps existing handlers; only new proxies get none.
    drop(registered);
    assert_eq!(server.shop.Stock().unwrap(), stock);
    drop(stock);
    let plain = server.shop.Stock().unwrap();
    plain.Name().unwrap();
    assert_eq!(plain.Asked().unwrap(), 4);
    drop(plain);

    // The handler's references are released with it.
    let registered = register_cache().unwrap();
    let stock = server.shop.Stock().unwrap();
    obvia::marshaling::release_marshal_data(&data).unwrap();
    server.shop.Restock(u16cstr!("pears")).unwrap();
    server.await_left(2);
    assert_eq!(stock.Count().unwrap(), 7);
    drop(stock);
    server.await_left(1);
    drop(registered);
}
