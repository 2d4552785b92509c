//! Tests with bytes of impacket and scapy, which `testing/interop/dcom_vectors.py` generates.

use super::{CID, CLSID, IID, IPID, OID, OXID, SET, array, std};
use crate::orpc::activation::{
    ActivationContextInfo, InstantiationInfo, LocationInfo, OutInterface, Properties, Property, PropsOutInfo,
    ScmReplyInfo, ScmRequestInfo, SecurityInfo, SpecialProperties,
};
use crate::orpc::activator::{self, RemoteActivation};
use crate::orpc::object_exporter::{self, ComplexPing, Resolve};
use crate::orpc::rem_unknown::{self, InterfaceRef};
use crate::orpc::{
    Body, Calls, ComVersion, Decoder, Encoder, Extent, Extents, INVALID_OID, ObjRef, OrpcThat, OrpcThis, Resolved,
};
use obvia_rpc::ByteOrder;
use windows_core::{GUID, HRESULT};

const VECTORS: &str = include_str!("../../../../../testing/vectors/orpc/dcom.txt");

fn vector(name: &str) -> Vec<u8> {
    let line = VECTORS.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    let digits = line.unwrap_or_else(|| panic!("there is no vector {name}"));
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

/// Whether two encodings are equal except for referent identifiers and the contents of padding.
fn is_same(ours: &[u8], theirs: &[u8]) -> bool {
    const PADDING: [u8; 5] = [0xaa, 0xab, 0xbf, 0xce, 0xfa];
    let mut at = 0;
    while at < ours.len().min(theirs.len()) {
        let word = |bytes: &[u8]| bytes.get(at..at + 4).map(|word| u32::from_le_bytes(word.try_into().unwrap()));
        let is_pointer = at % 4 == 0
            && word(ours).is_some_and(|word| (0x0002_0000..0x0002_0100).contains(&word))
            && word(theirs).is_some_and(|word| word != 0);
        if is_pointer {
            at += 4;
        } else if ours[at] == theirs[at] || ours[at] == 0 && PADDING.contains(&theirs[at]) {
            at += 1;
        } else {
            return false;
        }
    }
    ours.len() == theirs.len()
}

#[test]
fn objrefs_agree_with_impacket() {
    let (std, resolver) = (std(), array());
    let context = b"some context.".to_vec();
    let all = [
        ("objref_standard", ObjRef::Standard { iid: IID, std, resolver: resolver.clone() }),
        ("objref_handler", ObjRef::Handler { iid: IID, std, clsid: CLSID, resolver: resolver.clone() }),
        ("objref_custom", ObjRef::Custom { iid: IID, clsid: CLSID, data: b"any data".to_vec() }),
        ("objref_extended", ObjRef::Extended { iid: IID, std, resolver, context_id: CLSID, context }),
    ];
    for (name, reference) in all {
        assert_eq!(reference.to_bytes().unwrap(), vector(name), "{name}");
        assert_eq!(ObjRef::from_bytes(&vector(name)), Ok(reference), "{name}");
    }
}

/// Verifies that a call is decoded from the bytes of a vector, and is encoded as these bytes. If
/// `has_this` is true, an ORPCTHIS precedes the arguments.
fn check<C: Calls + PartialEq + std::fmt::Debug>(name: &str, call: &C, has_this: bool) {
    let theirs = vector(name);
    let from = &mut Decoder::new(&theirs, ByteOrder::Little);
    let this = OrpcThis::new(CID);
    if has_this {
        assert_eq!(OrpcThis::read(from), Ok(this.clone()), "{name}");
    }
    assert_eq!(&C::read(call.opnum(), from).unwrap(), call, "{name}");
    assert!(from.rest().len() < 4, "{name}: {:?}", from.rest());
    let ours = Encoder::encode(ByteOrder::Little, |to| {
        if has_this {
            this.write(to);
        }
        call.write(to);
    });
    let ours = ours.unwrap();
    assert!(is_same(&ours, &theirs), "{name}:\n{ours:02x?}\n{theirs:02x?}");
}

#[test]
fn resolver_calls_agree_with_impacket() {
    use object_exporter::Request;
    check("resolve_oxid", &Request::ResolveOxid(Resolve { oxid: OXID, protseqs: vec![7, 8] }), false);
    check("resolve_oxid2", &Request::ResolveOxid2(Resolve { oxid: OXID, protseqs: vec![7] }), false);
    check("simple_ping", &Request::SimplePing { set: SET }, false);
    check("server_alive2", &Request::ServerAlive2, false);
    let added = vec![OID, OID + 1];
    let new = ComplexPing { set: 0, sequence: 0, added: added.clone(), removed: Vec::new() };
    check("complex_ping_new", &Request::ComplexPing(new), false);
    let changed = ComplexPing { set: SET, sequence: 3, added, removed: vec![OID + 2] };
    check("complex_ping", &Request::ComplexPing(changed), false);
}

#[test]
fn resolver_responses_agree_with_impacket() {
    use object_exporter::Response;
    let version = ComVersion { major: 5, minor: 7 };
    let resolved = Resolved { bindings: array(), rem_unknown: IPID, authn_hint: 5, version };
    let all = [
        (4, "resolve_oxid2_results", Response::ResolveOxid2(Ok(resolved))),
        (2, "complex_ping_results", Response::ComplexPing { set: SET, backoff: 1, status: INVALID_OID }),
    ];
    for (opnum, name, response) in all {
        let theirs = vector(name);
        let read = Response::read(opnum, &mut Decoder::new(&theirs, ByteOrder::Little));
        assert_eq!(read.as_ref(), Ok(&response), "{name}");
        let ours = Encoder::encode(ByteOrder::Little, |to| response.write(to)).unwrap();
        assert!(is_same(&ours, &theirs), "{name}:\n{ours:02x?}\n{theirs:02x?}");
    }
}

#[test]
fn remote_unknown_calls_agree_with_impacket() {
    use rem_unknown::Request;
    let query = Request::QueryInterface { ipid: IPID, refs: 5, iids: vec![IID, CLSID] };
    check("rem_query_interface", &query, true);
    let refs = vec![InterfaceRef { ipid: IPID, public: 4, private: 1 }];
    check("rem_add_ref", &Request::AddRef(refs.clone()), true);
    check("rem_release", &Request::Release(refs), true);
}

#[test]
fn remote_unknown_responses_agree_with_impacket() {
    use rem_unknown::{QueryResult, Response};
    let mut theirs = vector("rem_query_interface_results");
    // ORPCTHAT and the pointer are followed by the conformance, which impacket treats as padding.
    theirs[12..16].copy_from_slice(&1_u32.to_le_bytes());
    let from = &mut Decoder::new(&theirs, ByteOrder::Little);
    let that = OrpcThat::read(from).unwrap();
    let response = Response::QueryInterface(vec![QueryResult { result: HRESULT(0), std: std() }], HRESULT(0));
    assert_eq!(Response::read(3, 1, from).as_ref(), Ok(&response));
    let ours = Encoder::encode(ByteOrder::Little, |to| {
        that.write(to);
        response.write(to);
    });
    let ours = ours.unwrap();
    assert!(is_same(&ours, &theirs), "{ours:02x?}\n{theirs:02x?}");
}

#[test]
fn activation_response_properties_agree_with_impacket() {
    let props = PropsOutInfo {
        interfaces: vec![OutInterface { iid: IID, result: HRESULT(0), reference: Some(b"a ref".to_vec()) }],
    };
    let version = ComVersion { major: 5, minor: 7 };
    let reply = ScmReplyInfo { oxid: OXID, bindings: array(), rem_unknown: IPID, authn_hint: 1, version };
    let expected = Properties::new(vec![Property::PropsOut(props), Property::ScmReply(reply)]);
    let as_written = ["props_out_info", "scm_reply_info"].map(vector);
    let classes = expected.list.iter().map(Property::class);
    let list = classes.zip(as_written).map(|(class, bytes)| Property::Other(class, bytes)).collect();
    let bytes = Properties::new(list).to_answer().unwrap();
    assert_eq!(Properties::from_answer(&bytes), Ok(expected));
}

#[test]
fn remote_activation_agrees_with_impacket() {
    let theirs = vector("remote_activation");
    let read = RemoteActivation::decode(ByteOrder::Little, &theirs).unwrap();
    // The call has an ORPCTHIS with an array of no extents.
    let expected = RemoteActivation {
        this: OrpcThis::new(GUID::zeroed()),
        class: CLSID,
        object_name: None,
        storage: None,
        impersonation: 2,
        mode: 0,
        iids: vec![IID],
        protseqs: vec![7],
    };
    assert_eq!(read, expected);
    let ours = expected.encode(ByteOrder::Little).unwrap();
    let (header, array) = (28, 16);
    assert!(is_same(&ours[header + 4..], &theirs[header + 4 + array..]), "{ours:02x?}\n{theirs:02x?}");
}

/// Returns the properties of a client's activation request.
fn activation(name: &str) -> Properties {
    let theirs = vector(name);
    let is_class_object = name.ends_with("get_class_object") || name.ends_with("GetClassObject");
    let opnum = if is_class_object { 3 } else { 4 };
    let call = activator::Request::read(opnum, &mut Decoder::new(&theirs, ByteOrder::Little)).unwrap();
    let properties = match &call {
        activator::Request::GetClassObject { this, properties } if is_class_object => (this, properties),
        activator::Request::CreateInstance { this, outer: None, properties } => (this, properties),
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(*properties.0, OrpcThis { flags: 1, ..OrpcThis::new(CID) });
    // The request with the properties is written as it was read.
    let ours = Encoder::encode(ByteOrder::Little, |to| call.write(to)).unwrap();
    assert!(
        is_same(&ours, &theirs[..ours.len()]) && theirs.len() - ours.len() < 4,
        "{name}:\n{ours:02x?}\n{theirs:02x?}"
    );
    let properties = Properties::from_request(properties.1.as_ref().unwrap()).unwrap();
    // The written properties can be read again.
    assert_eq!(Properties::from_request(&properties.to_request().unwrap()).as_ref(), Ok(&properties));
    properties
}

#[test]
fn activation_properties_agree_with_impacket() {
    for name in ["create_instance", "get_class_object"] {
        let expected = Properties::new(vec![
            Property::Instantiation(InstantiationInfo::new(CLSID, vec![IID])),
            Property::Context(ActivationContextInfo::default()),
            Property::Location(LocationInfo::default()),
            Property::ScmRequest(ScmRequestInfo { impersonation: 0, protseqs: vec![7] }),
        ]);
        assert_eq!(activation(name), expected);
    }
}

#[test]
fn activation_properties_agree_with_scapy() {
    for name in ["scapy_RemoteCreateInstance", "scapy_RemoteGetClassObject"] {
        let properties = activation(name);
        let context = properties.list.iter().find_map(|property| match property {
            Property::Context(ActivationContextInfo { client: Some(client), prototype: None }) => Some(client.clone()),
            _ => None,
        });
        let context = context.unwrap();
        let expected = Properties::new(vec![
            Property::Special(SpecialProperties { authn_level: 5, context: 16, flags: 2, ..Default::default() }),
            Property::Instantiation(InstantiationInfo {
                context: 16,
                ..InstantiationInfo::new(CLSID, vec![IID, CLSID, IPID])
            }),
            Property::Context(ActivationContextInfo { client: Some(context.clone()), prototype: None }),
            Property::Security(SecurityInfo { flags: 0, server: Some("server".to_owned()) }),
            Property::Location(LocationInfo::default()),
            Property::ScmRequest(ScmRequestInfo { impersonation: 2, protseqs: vec![7] }),
        ]);
        assert_eq!(properties, expected);
        // The client context is an IContext, with the class that marshals contexts (MS-DCOM 1.9).
        let class = GUID::from_u128(0x0000_033b_0000_0000_c000_0000_0000_0046);
        let iid = GUID::from_u128(0x0000_01c0_0000_0000_c000_0000_0000_0046);
        let context = ObjRef::from_bytes(&context).unwrap();
        assert!(matches!(&context, ObjRef::Custom { clsid, .. } if *clsid == class), "{context:?}");
        assert_eq!(*context.iid(), iid);
    }
}

#[test]
fn extents_agree_with_scapy() {
    let extents =
        Extents(vec![Extent { id: CLSID, data: b"hello".to_vec() }, Extent { id: IID, data: b"12345678".to_vec() }]);
    let this = OrpcThis { extents, ..OrpcThis::new(CID) };
    let theirs = vector("scapy_this_with_extents");
    assert_eq!(OrpcThis::decode(ByteOrder::Little, &theirs).as_ref(), Ok(&this));
    let ours = this.encode(ByteOrder::Little).unwrap();
    assert!(is_same(&ours, &theirs), "{ours:02x?}\n{theirs:02x?}");
}
