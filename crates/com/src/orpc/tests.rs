//! Tests of formats and calls, with the bytes of other implementations and of this one.

mod formats;
mod vectors;

use super::bindings::{DualStringArray, SecurityBinding, TowerBinding};
use super::objref::StdObjRef;
use windows_core::GUID;

const CID: GUID = GUID::from_u128(0x0011_2233_4455_6677_8899_aabb_ccdd_eeff);
const CLSID: GUID = GUID::from_u128(0x0d4f_4c52_0a34_4ac4_8d6c_2c9f_3a1f_7a10);
const IID: GUID = GUID::from_u128(0x0d4f_4c52_0a34_4ac4_8d6c_2c9f_3a1f_7a11);
const IPID: GUID = GUID::from_u128(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10);
const OXID: u64 = 0x1122_3344_5566_7788;
const OID: u64 = 0x99aa_bbcc_ddee_ff00;
const SET: u64 = 0x0102_0304_0506_0708;

fn std() -> StdObjRef {
    StdObjRef { flags: 0, public_refs: 5, oxid: OXID, oid: OID, ipid: IPID }
}

fn array() -> DualStringArray {
    let binding = |tower, address: &str| TowerBinding { tower, address: address.to_owned() };
    let security = |service, principal: &str| SecurityBinding { service, principal: principal.to_owned() };
    DualStringArray {
        strings: vec![binding(7, "127.0.0.1[5000]"), binding(0x1f, "elsewhere")],
        securities: vec![security(10, ""), security(9, "host/server")],
    }
}
