//! Tests of IClassFactory, called by a client with its own protocol code, and by obvia's clients.

use super::stranger::{PATIENCE, Stranger, bound};
use obvia::dcom::IClassFactory;
use obvia::orpc::rem_unknown::{self, InterfaceRef, Request};
use obvia::orpc::{Body, Calls, Decoder, Encoder, ObjRef, OrpcThat, OrpcThis, StdObjRef};
use obvia::{GUID, IUnknown, Interface, code};
use obvia_rpc::ByteOrder;
use obvia_rpc::co::DirectCalls;
use obvia_rpc::string_binding::StringBinding;
use obvia_rpc::uuid::Uuid;
use torture::process::{Directory, LATEST, Process};
use torture::{ICounter, IFactory};

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");
/// The opnums of the methods on the wire (Windows' unknwn.idl).
const REMOTE_CREATE_INSTANCE: u16 = 3;
const REMOTE_LOCK_SERVER: u16 = 4;
/// The opnum of IFactory::Live.
const LIVE: u16 = 4;

/// Starts a server of the class without a class object of its own.
fn serve() -> (Process, StringBinding, Directory) {
    let directory = Directory::new();
    let mut process = directory.start(PROGRAM, &[]);
    process.good("register-factory");
    let binding = process.good("listen ncacn_ip_tcp:127.0.0.1").parse().unwrap();
    (process, binding, directory)
}

/// Calls a method, and returns the stub data that follows ORPCTHAT.
fn call(calls: &mut DirectCalls, ipid: GUID, opnum: u16, arguments: &[u8]) -> Vec<u8> {
    let mut stub = Encoder::encode(ByteOrder::Little, |to| OrpcThis::new(GUID::from_u128(9)).write(to)).unwrap();
    stub.extend_from_slice(arguments);
    let (order, stub) = calls.call_object(Uuid(ipid.to_u128()), (opnum, stub), PATIENCE).unwrap();
    assert_eq!(order, ByteOrder::Little);
    let from = &mut Decoder::new(&stub, order);
    OrpcThat::read(from).unwrap();
    stub[from.at()..].to_vec()
}

fn octets(guid: GUID) -> Vec<u8> {
    let GUID { data1, data2, data3, data4 } = guid;
    [&data1.to_le_bytes()[..], &data2.to_le_bytes(), &data3.to_le_bytes(), &data4].concat()
}

fn u32_at(results: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(results[at..at + 4].try_into().unwrap())
}

/// Creates an object by CreateInstance. The response has a referent ID, the OBJREF's length twice,
/// the OBJREF, and the HRESULT.
fn create(calls: &mut DirectCalls, factory: GUID, iid: GUID) -> Result<StdObjRef, u32> {
    let results = call(calls, factory, REMOTE_CREATE_INSTANCE, &octets(iid));
    let result = u32_at(&results, results.len() - 4);
    if u32_at(&results, 0) == 0 {
        assert_eq!(results.len(), 8);
        return Err(result);
    }
    assert_eq!((result, u32_at(&results, 4)), (0, u32_at(&results, 8)));
    let reference = ObjRef::from_bytes(&results[12..12 + u32_at(&results, 4) as usize]).unwrap();
    Ok(*reference.standard().unwrap().0)
}

fn lock(calls: &mut DirectCalls, factory: GUID, stays: u32) {
    assert_eq!(call(calls, factory, REMOTE_LOCK_SERVER, &stays.to_le_bytes()), [0; 4]);
}

/// Releases all public references of an interface pointer.
fn release(binding: &StringBinding, rem_unknown: GUID, ipid: GUID) {
    let request = Request::Release(vec![InterfaceRef { ipid, public: 100, private: 0 }]);
    let arguments = Encoder::encode(ByteOrder::Little, |to| request.write(to)).unwrap();
    call(&mut bound(binding, rem_unknown::INTERFACE.id), rem_unknown, request.opnum(), &arguments);
}

#[test]
fn foreign_clients_create_objects_by_class_object() {
    let (mut server, binding, _directory) = serve();
    let found = Stranger::new(&binding.to_string()).class_object(&[IClassFactory::IID, IUnknown::IID]).unwrap();
    assert_eq!((found.result, found.interfaces[0].0, found.interfaces[1].0), (code::S_OK, code::S_OK, code::S_OK));
    let factory = ObjRef::from_bytes(found.interfaces[0].1.as_ref().unwrap()).unwrap().standard().unwrap().0.ipid;
    let mut calls = bound(&binding, IClassFactory::IID);
    let before = server.number("made");
    let made = [0; 2].map(|_| create(&mut calls, factory, IFactory::IID).unwrap());
    assert_ne!(made[0].oid, made[1].oid);
    assert_eq!((made[0].oxid, server.number("made")), (found.oxid, before + 2));
    let live = call(&mut bound(&binding, IFactory::IID), made[0].ipid, LIVE, &[]);
    // The results are the number of counters, and the HRESULT.
    assert_eq!(live, [0; 12]);
    let unknown = create(&mut calls, factory, IUnknown::IID).unwrap();
    assert!(unknown.public_refs > 0);
    // The object lacks the first interface; the second one is unknown.
    for iid in [ICounter::IID, GUID::from_u128(5)] {
        assert_eq!(create(&mut calls, factory, iid), Err(code::E_NOINTERFACE.0.cast_unsigned()));
    }
    assert_eq!(server.number("made"), before + 4);
}

#[test]
fn server_locks_hold_while_their_client_lives() {
    let (mut server, binding, directory) = serve();
    let found = Stranger::new(&binding.to_string()).class_object(&[IClassFactory::IID]).unwrap();
    let factory = ObjRef::from_bytes(found.interfaces[0].1.as_ref().unwrap()).unwrap().standard().unwrap().0.ipid;
    let mut calls = bound(&binding, IClassFactory::IID);
    for stays in [1, 1, 0] {
        lock(&mut calls, factory, stays);
    }
    release(&binding, found.rem_unknown, factory);
    assert_eq!(server.number("exported"), 1);
    lock(&mut calls, factory, 0);
    server.becomes(LATEST, "exported", 0);
    // A client that does not ping is run down, with its locks.
    let again = Stranger::new(&binding.to_string()).class_object(&[IClassFactory::IID]).unwrap();
    let factory = ObjRef::from_bytes(again.interfaces[0].1.as_ref().unwrap()).unwrap().standard().unwrap().0.ipid;
    lock(&mut calls, factory, 1);
    server.good("pinging 20");
    server.becomes(LATEST, "exported", 0);
    // A killed client process of obvia is run down as well.
    let mut client = directory.start(PROGRAM, &[]);
    client.good(&format!("class-factory {binding}"));
    client.good("lock-server 1");
    assert_ne!(server.number("exported"), 0);
    client.kill();
    server.becomes(LATEST, "exported", 0);
}

#[test]
fn obvia_clients_create_objects_by_class_object() {
    let (mut server, binding, directory) = serve();
    // The callers connect by TCP, over shared memory, and in the server's own process.
    let mut client = directory.start(PROGRAM, &[]);
    for place in [format!(" {binding}"), String::new()] {
        client.good(&format!("class-factory{place}"));
        client.good("create");
        client.passes_objects();
        client.good("lock-server 1");
        client.good("lock-server 0");
        client.good("leave");
        server.becomes(LATEST, "exported", 0);
    }
    server.good("class-factory");
    for order in ["create", "lock-server 1", "lock-server 0", "lock-server 0"] {
        server.good(order);
    }
    server.good("make 1");
    assert_eq!(server.number("add 3"), 3);
}

#[test]
fn class_objects_refuse_callers_without_activation_permission() {
    let (mut server, binding, directory) = serve();
    let mut client = directory.start(PROGRAM, &[]);
    client.good(&format!("class-factory {binding}"));
    client.good("create");
    // The new rule holds for existing class objects as well.
    server.good("access class nobody");
    let why = client.bad("create");
    assert!(why.contains("E_ACCESSDENIED"), "{why}");
    server.good("class-factory");
    server.good("create");
}
