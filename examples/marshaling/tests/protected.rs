//! Where calls are to be protected, no object is called over what protects nothing.

use marshaling::{ITill, Till};
use obvia::marshaling::{Context, Flags, marshal};
use obvia::orpc::{ObjRef, ViReference};
use obvia::security::{AccountTable, set_accounts};

/// The protocol sequences of the ways to a till, as other hosts are told, and how calls by each are to be protected.
fn ways(till: &ITill) -> Vec<(String, Option<String>)> {
    let data = marshal(till, Context::DifferentMachine, Flags::NORMAL).unwrap();
    let Ok(ObjRef::Custom { data, .. }) = ObjRef::from_bytes(&data) else { panic!("it is a standard one") };
    let reference = ViReference::from_bytes(&data).unwrap();
    let ways = reference.ways.string_bindings();
    ways.map(|way| (way.protocol.to_string(), way.option("security").map(str::to_owned))).collect()
}

/// One test, since what is listened on is the process's.
#[test]
fn a_process_that_wants_proof_has_no_way_without() {
    let till = ITill::from(Till::new());
    obvia::listen("ncacn_ip_tcp:127.0.0.1").unwrap();
    let [shm, udp] = ["ncacn_vi_shm", "ncacn_vi_udp"].map(str::to_owned);
    assert_eq!(ways(&till), [(shm.clone(), None), (udp.clone(), None)]);
    set_accounts(AccountTable::default());
    obvia::listen("ncacn_ip_tcp:127.0.0.1[,security=privacy]").unwrap();
    // Between processes of this user there is the kernel.
    assert_eq!(ways(&till), [(shm, None), (udp, Some("privacy".to_owned()))]);
}
