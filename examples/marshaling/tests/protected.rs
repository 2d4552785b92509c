//! Tests that no object is called without the protection that the object's process requires.

use marshaling::{ITill, Till};
use obvia::marshaling::{Context, Flags, marshal};
use obvia::orpc::{ObjRef, ViReference};
use obvia::security::{AccountTable, set_accounts};

/// Returns the protocol sequences in a till's reference for other hosts, each with the
/// authentication level that it requires.
fn ways(till: &ITill) -> Vec<(String, Option<String>)> {
    let data = marshal(till, Context::DifferentMachine, Flags::NORMAL).unwrap();
    let Ok(ObjRef::Custom { data, .. }) = ObjRef::from_bytes(&data) else { panic!("it is a standard one") };
    let reference = ViReference::from_bytes(&data).unwrap();
    let ways = reference.ways.string_bindings();
    ways.map(|way| (way.protocol.to_string(), way.option("security").map(str::to_owned))).collect()
}

/// There is a single test, because bindings belong to the process.
#[test]
fn processes_that_require_authentication_offer_no_other_bindings() {
    let till = ITill::from(Till::new());
    obvia::listen("ncacn_ip_tcp:127.0.0.1").unwrap();
    let [shm, udp] = ["ncacn_vi_shm", "ncacn_vi_udp"].map(str::to_owned);
    assert_eq!(ways(&till), [(shm.clone(), None), (udp.clone(), None)]);
    set_accounts(AccountTable::default());
    obvia::listen("ncacn_ip_tcp:127.0.0.1[,security=privacy]").unwrap();
    // Calls between processes of this user need no authentication: the kernel separates users.
    assert_eq!(ways(&till), [(shm, None), (udp, Some("privacy".to_owned()))]);
}
