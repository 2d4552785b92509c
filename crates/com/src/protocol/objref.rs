//! References to objects of obvia processes: standard OBJREFs (MS-DCOM 2.2.18.4), whose IPIDs
//! contain the target and the OXID.
//!
//! The string bindings lead to the process of the object, which is its own resolver. A binding for
//! shared memory has the name of the endpoint, a binding for a network has host and endpoint.

use crate::access;
use crate::orpc::{Client, DualStringArray, ObjRef as Any, SecurityBinding, StdObjRef};
use crate::types::error::{Error, Result, code};
use crate::types::guid;
use obvia_rpc::security::AuthType;
use obvia_rpc::string_binding::StringBinding;
use obvia_rpc::vi_call::TargetId;
use windows_core::GUID;

/// The greatest accepted length of a reference that contains a STDOBJREF.
pub(crate) const LENGTH_MAX: usize = 4096;

/// A reference to an object of an obvia process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ObjRef {
    /// The IID of the interface.
    pub(crate) iid: GUID,
    /// The number of public references that travel with the reference. The receiver must release
    /// them.
    pub(crate) public_refs: u32,
    /// The OXID of the process that has the object.
    pub(crate) oxid: u64,
    /// The OID of the object.
    pub(crate) oid: u64,
    /// The interface pointer's target in the object table of the process that has the object.
    pub(crate) target: TargetId,
    /// The string bindings of the process that has the object.
    pub(crate) bindings: Vec<StringBinding>,
    /// The authentication mechanisms for clients that are not obvia processes. Empty in a reference
    /// for an obvia process, since the string bindings for obvia processes contain the protection.
    pub(crate) securities: Vec<SecurityBinding>,
}

/// Returns an IPID that is unique across processes: the index and generation of the target, and the
/// OXID.
pub(crate) fn ipid(target: TargetId, oxid: u64) -> GUID {
    let mut bytes = [0; 16];
    bytes[0..8].copy_from_slice(&target.word().to_le_bytes());
    bytes[8..16].copy_from_slice(&oxid.to_le_bytes());
    guid::from_wire(bytes)
}

/// Splits an IPID of an obvia process into the target and the OXID.
pub(crate) fn split_ipid(ipid: &GUID) -> (TargetId, u64) {
    let value = u128::from_le_bytes(guid::to_wire(ipid));
    (TargetId::from_word(value as u64), (value >> 64) as u64)
}

fn bad(what: &str) -> Error {
    Error::new(code::RPC_E_INVALID_OBJREF, format!("the object reference is invalid: {what}"))
}

impl ObjRef {
    /// Returns the STDOBJREF with the references that travel with it.
    pub(crate) fn std(&self) -> StdObjRef {
        let Self { public_refs, oxid, oid, target, .. } = *self;
        StdObjRef { flags: 0, public_refs, oxid, oid, ipid: ipid(target, oxid) }
    }

    /// Encodes the reference.
    ///
    /// # Errors
    ///
    /// If the bindings exceed the length of a reference.
    pub(crate) fn to_wire(&self) -> Result<Vec<u8>> {
        self.to_wire_with(0, None)
    }

    /// Encodes the reference with flags (MS-DCOM 2.2.18.2), and with the handler class, if any, for
    /// clients that have that class.
    pub(crate) fn to_wire_with(&self, flags: u32, handler: Option<GUID>) -> Result<Vec<u8>> {
        let (iid, std) = (self.iid, StdObjRef { flags, ..self.std() });
        let resolver = DualStringArray { securities: self.securities.clone(), ..DualStringArray::new(&self.bindings) };
        let any = match handler {
            None => Any::Standard { iid, std, resolver },
            Some(clsid) => Any::Handler { iid, std, clsid, resolver },
        };
        Ok(any.to_bytes()?)
    }

    /// Decodes a reference; bytes that follow it are ignored.
    pub(crate) fn from_wire(bytes: &[u8]) -> Result<Self> {
        Self::from_any(&Any::from_bytes(bytes).map_err(|why| bad(&why.to_string()))?)
    }

    /// Converts an OBJREF of any form. It must contain a STDOBJREF of an obvia process.
    pub(crate) fn from_any(any: &Any) -> Result<Self> {
        let (std, resolver) = any.standard().ok_or_else(|| bad("it is a custom reference"))?;
        let (target, home) = split_ipid(&std.ipid);
        if home != std.oxid {
            return Err(bad("its IPID belongs to another process"));
        }
        let bindings: Vec<_> = resolver.string_bindings().collect();
        if bindings.is_empty() {
            return Err(bad("this process knows none of its bindings"));
        }
        let StdObjRef { public_refs, oxid, oid, .. } = *std;
        let securities = resolver.securities.clone();
        Ok(Self { iid: *any.iid(), public_refs, oxid, oid, target, bindings, securities })
    }
}

/// The greatest length of a custom marshaler's data, in bytes.
pub const DATA_MAX: usize = 1 << 16;

/// The greatest length of a reference of any form. A custom reference is the longest: a header and
/// the marshaler's data.
pub(crate) const REFERENCE_MAX: usize = DATA_MAX + 48;

/// Parses a reference of any form.
pub(crate) fn parse(bytes: &[u8]) -> Result<Any> {
    let bad = |what: String| Error::new(code::RPC_E_INVALID_OBJREF, format!("the object reference is invalid: {what}"));
    let too_long = |max| bad(format!("it has {} bytes; the limit is {max}", bytes.len()));
    if bytes.len() > REFERENCE_MAX {
        return Err(too_long(REFERENCE_MAX));
    }
    match Any::from_bytes(bytes).map_err(|why| bad(why.to_string()))? {
        custom @ Any::Custom { .. } => Ok(custom),
        _ if bytes.len() > LENGTH_MAX => Err(too_long(LENGTH_MAX)),
        standard => Ok(standard),
    }
}

/// An entry of the exports. References to the entry were counted when this value was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exported {
    pub(crate) oid: u64,
    pub(crate) target: TargetId,
}

/// Returns the security bindings in references for a client. Obvia processes get none, since their
/// string bindings contain the protection.
pub(crate) fn securities_for(client: Client) -> Vec<SecurityBinding> {
    if matches!(client, Client::Peer(_)) { securities() } else { Vec::new() }
}

/// Returns the security bindings for clients that are not obvia processes; none if this process has
/// no accounts.
pub(crate) fn securities() -> Vec<SecurityBinding> {
    let services: &[AuthType] = if access::has_accounts() { &[AuthType::SPNEGO, AuthType::NTLM] } else { &[] };
    services.iter().map(|kind| SecurityBinding { service: kind.0.into(), principal: String::new() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use obvia_rpc::string_binding::ProtocolSequence;

    fn sample() -> ObjRef {
        ObjRef {
            iid: GUID::from_u128(0x0123_4567_89ab_cdef_0011_2233_4455_6677),
            public_refs: 5,
            oxid: 0x1122_3344_5566_7788,
            oid: 42,
            target: TargetId { index: 7, generation: 3 },
            bindings: vec![
                StringBinding::new(ProtocolSequence::ViShm, "oxid-1122334455667788", ""),
                StringBinding::new(ProtocolSequence::ViUdp, "10.0.0.1", "5555"),
            ],
            securities: vec![SecurityBinding { service: 9, principal: String::new() }],
        }
    }

    #[test]
    fn objrefs_round_trip() {
        assert_eq!(ObjRef::from_wire(&sample().to_wire().unwrap()).ok(), Some(sample()));
    }

    #[test]
    fn every_shorter_form_is_refused() {
        let bytes = sample().to_wire().unwrap();
        for length in 0..bytes.len() {
            assert!(ObjRef::from_wire(&bytes[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn objrefs_with_wrong_signature_form_or_ipid_are_refused() {
        for at in [0, 4, 56] {
            let mut bytes = sample().to_wire().unwrap();
            bytes[at] ^= 0x40;
            assert!(ObjRef::from_wire(&bytes).is_err(), "byte {at}");
        }
    }
}
