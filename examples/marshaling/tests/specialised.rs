//! Tests of an object that is called over virtual interfaces, while its process listens on TCP
//! alone.

mod server;

use ground::{Process, until};
use marshaling::{IPoint, IShop, ITill, Till, tills};
use obvia::marshaling::{Context, Flags, unmarshal};
use obvia::orpc::{DualStringArray, ObjRef, ViReference};
use obvia::{IUnknown, Interface, Remote, code};
use server::Server;
use std::process::Command;
use std::time::Duration;

const TCP: &str = "ncacn_ip_tcp:127.0.0.1";
/// The number of tills in a server without clients: the shop's till, and an exported one.
const TILLS: i32 = 2;

fn protocol<I: Remote>(object: &I) -> String {
    obvia::binding_of(object).map_or_else(String::new, |binding| binding.split(':').next().unwrap_or("").to_owned())
}

fn await_tills(shop: &IShop, count: i32) {
    until(&format!("there are {count} tills"), || shop.Tills().unwrap() == count);
}

fn write(shop: &IShop, context: Context, flags: Flags) -> Vec<u8> {
    shop.WriteTill(context as u32, flags.number()).unwrap()
}

/// Returns the IID and the VI reference in a till's marshal data.
fn parts(data: &[u8]) -> (obvia::GUID, ViReference) {
    let ObjRef::Custom { iid, clsid, data } = ObjRef::from_bytes(data).unwrap() else { panic!("it is a standard one") };
    assert_eq!(clsid, ViReference::CLASS);
    (iid, ViReference::from_bytes(&data).unwrap())
}

#[test]
fn specialised_objects_are_called_over_shared_memory() {
    let server = Server::start(&[TCP]);
    let shop: IShop = server.connect("");
    let till = shop.Till().unwrap();
    assert_eq!((protocol(&shop), protocol(&till)), ("ncacn_ip_tcp".to_owned(), "ncacn_vi_shm".to_owned()));
    assert_eq!(till.Pay(2).unwrap(), 2);
    // Other interfaces of the object use the same transport. In its own process, the object is
    // unmarshaled as itself.
    let point: IPoint = till.cast().unwrap();
    assert_eq!(protocol(&point), "ncacn_vi_shm");
    assert_eq!(point.Where().unwrap(), (3.0, 4.0));
    assert_eq!(shop.WayTo(Some(&till)).unwrap().to_string_lossy(), "");
    // A connection by name uses the same transport.
    let named: ITill = server.connect("-till");
    assert_eq!((protocol(&named), named.Pay(1).unwrap()), ("ncacn_vi_shm".to_owned(), 1));
}

#[test]
fn specialised_objects_are_called_over_udp_without_shared_memory() {
    let elsewhere = Server::start_elsewhere(&[TCP]);
    let shop = &elsewhere.shop;
    let till = shop.Till().unwrap();
    assert_eq!((protocol(shop), protocol(&till)), ("ncacn_ip_tcp".to_owned(), "ncacn_vi_udp".to_owned()));
    // The address is the address at which the process is reached over TCP.
    assert!(obvia::binding_of(&till).unwrap().contains(":127.0.0.1["));
    assert_eq!(till.Pay(2).unwrap(), 2);
    // The server's calls back to an object of this process use the same transport.
    let own = ITill::from(Till::new());
    let way = shop.WayTo(Some(&own)).unwrap().to_string_lossy();
    assert!(way.starts_with("ncacn_vi_udp:127.0.0.1["), "{way}");
    drop(own);
    until("the server has given it back", || tills() == 0);
    shop.ChangeTill().unwrap();
    await_tills(shop, TILLS + 1);
    assert_eq!(till.Pay(3).unwrap(), 5);
    drop(till);
    await_tills(shop, TILLS);
}

#[test]
fn standard_and_custom_references_identify_one_object() {
    let server = Server::start(&[TCP]);
    let shop: IShop = server.connect("");
    let table = write(&shop, Context::DifferentMachine, Flags::TABLE_STRONG);
    // Marshal data for a table is a standard OBJREF.
    assert!(matches!(ObjRef::from_bytes(&table), Ok(ObjRef::Standard { .. })));
    for is_standard_first in [true, false] {
        let (mut standard, mut custom) = (None, None);
        for is_standard in [is_standard_first, !is_standard_first] {
            if is_standard {
                standard = Some(unmarshal::<ITill>(&table).unwrap());
            } else {
                custom = Some(shop.Till().unwrap());
            }
        }
        let (standard, custom) = (standard.unwrap(), custom.unwrap());
        assert_eq!((protocol(&standard), protocol(&custom)), ("ncacn_ip_tcp".to_owned(), "ncacn_vi_shm".to_owned()));
        assert_eq!(standard, custom);
        assert_eq!(standard.cast::<IUnknown>().unwrap().as_raw(), custom.cast::<IUnknown>().unwrap().as_raw());
        // Each proxy makes its queries and calls by its own transport.
        let points: [IPoint; 2] = [standard.cast().unwrap(), custom.cast().unwrap()];
        assert_eq!(points.each_ref().map(protocol), ["ncacn_ip_tcp", "ncacn_vi_shm"]);
        for point in &points {
            assert_eq!(point.Where().unwrap(), (3.0, 4.0));
        }
        let before = standard.Pay(0).unwrap();
        assert_eq!((custom.Pay(1).unwrap(), standard.Pay(1).unwrap()), (before + 1, before + 2));
        drop(points);
        let left = if is_standard_first {
            drop(standard);
            custom
        } else {
            drop(custom);
            standard
        };
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(left.Pay(0).unwrap(), before + 2);
    }
    // The references on both transports are released.
    obvia::marshaling::release_marshal_data(&table).unwrap();
    shop.ChangeTill().unwrap();
    await_tills(&shop, TILLS);
}

#[test]
fn killed_clients_leave_no_references() {
    let server = Server::start(&[TCP]);
    let mut client = Process::start(Command::new(env!("CARGO_BIN_EXE_shop-client")).arg(server.place()));
    assert!(client.line().starts_with("shop: ncacn_ip_tcp:127.0.0.1["));
    assert!(client.line().starts_with("till: ncacn_vi_shm:"));
    client.say("");
    assert_eq!(client.line(), "1");
    server.shop.ChangeTill().unwrap();
    await_tills(&server.shop, TILLS + 1);
    client.kill();
    await_tills(&server.shop, TILLS);
}

#[test]
fn the_standard_reference_is_used_if_no_virtual_interface_connects() {
    let server = Server::start(&[TCP]);
    let shop: IShop = server.connect("");
    let data = write(&shop, Context::DifferentMachine, Flags::NORMAL);
    let (iid, mut reference) = parts(&data);
    // The first binding has no listener, and the second is not one for virtual interfaces, so calls
    // fall back to TCP.
    let dead = ["ncacn_vi_udp:127.0.0.1[9]", TCP].map(|way| way.parse().unwrap());
    reference.ways = DualStringArray::new(&dead);
    let made = ObjRef::Custom { iid, clsid: ViReference::CLASS, data: reference.to_bytes().unwrap() };
    let till: ITill = unmarshal(&made.to_bytes().unwrap()).unwrap();
    assert_eq!(protocol(&till), "ncacn_ip_tcp");
    assert_eq!(till.Pay(1).unwrap(), 1);
    // Both marshal data contain the same standard reference, which has now been used up.
    assert_eq!(unmarshal::<ITill>(&data).unwrap_err().code(), code::CO_E_OBJNOTCONNECTED);
    // The failed binding is not tried again for a while. The object keeps its identity
    // nevertheless.
    assert_eq!(shop.Till().unwrap(), till);
}
