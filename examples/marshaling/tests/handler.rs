//! Tests of a handler, which represents an object in a client.

mod server;

use marshaling::{IStock, register_cache};
use obvia::marshaling::{Context, Flags, marshal, unmarshal};
use obvia::u16cstr;
use server::Server;

/// There is a single test, because registrations belong to the process.
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

    // A client has one handler for an object, however it received the reference.
    assert_eq!(server.shop.Stock().unwrap(), stock);
    let data = server.write(Context::Local, Flags::TABLE_STRONG).unwrap();
    assert_eq!(unmarshal::<IStock>(&data).unwrap(), stock);
    // A handler is passed as a reference to its object.
    assert!(server.shop.IsIn(Some(&stock)).unwrap());
    let own = marshal(&stock, Context::Local, Flags::NORMAL).unwrap();
    assert_eq!(unmarshal::<IStock>(&own).unwrap(), stock);

    // After the registration is revoked, existing handlers stay, and new proxies get no handler.
    drop(registered);
    assert_eq!(server.shop.Stock().unwrap(), stock);
    drop(stock);
    let plain = server.shop.Stock().unwrap();
    plain.Name().unwrap();
    assert_eq!(plain.Asked().unwrap(), 4);
    drop(plain);

    // The drop of a handler releases the handler's references.
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
