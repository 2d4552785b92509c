//! Tests of the formats in both byte orders, and of their errors.

use super::{CID, CLSID, IID, IPID, OXID, SET, array, std};
use crate::orpc::activation::{
    InstanceInfo, InstantiationInfo, OutInterface, Properties, Property, PropsOutInfo, ScmReplyInfo, SecurityInfo,
    SpecialProperties,
};
use crate::orpc::activator::{self, RemoteActivation, RemoteActivationResults};
use crate::orpc::rem_unknown::{self, QueryResult};
use crate::orpc::{
    BadCall, Body, Calls, ComVersion, Decoder, DualStringArray, Encoder, ErrorInfo, Extent, Extents, Forwarded,
    INVALID_OXID, Malformed, ObjRef, OrpcThat, OrpcThis, Resolved, StdObjRef, TimeLeft, TraceContext, object_exporter,
};
use obvia_rpc::ByteOrder;
use obvia_rpc::security::{AuthType, Authenticated, Level, Principal};
use obvia_rpc::status::Status;
use obvia_rpc::string_binding::StringBinding;
use std::sync::Arc;
use std::time::Duration;
use windows_core::HRESULT;

const ORDERS: [ByteOrder; 2] = [ByteOrder::Little, ByteOrder::Big];

/// Verifies that a value is the same after encoding and decoding, and that no shorter part of the
/// encoded bytes can be decoded.
fn round_trips<T: PartialEq + std::fmt::Debug, E: std::fmt::Debug>(
    value: &T,
    write: impl Fn(&T, &mut Encoder<'_>),
    read: impl Fn(&mut Decoder<'_>) -> Result<T, E>,
) {
    for order in ORDERS {
        let bytes = Encoder::encode(order, |to| write(value, to)).unwrap();
        let from = &mut Decoder::new(&bytes, order);
        assert_eq!(&read(from).unwrap(), value);
        assert_eq!(from.rest(), []);
        for length in 0..bytes.len() {
            let shorter = read(&mut Decoder::new(&bytes[..length], order));
            assert!(shorter.is_err(), "{length} bytes of {}: {shorter:?}", bytes.len());
        }
    }
}

fn body_round_trips<T: Body + PartialEq + std::fmt::Debug>(value: &T) {
    round_trips(value, T::write, T::read);
}

fn extents() -> Extents {
    let trace = TraceContext { trace: 7, parent: 9, flags: 1, state: "a=b".to_owned() };
    let unknown = Extent { id: IID, data: vec![1, 2, 3] };
    Extents(vec![TimeLeft(Duration::from_millis(1500)).to_extent(), unknown, trace.to_extent()])
}

#[test]
fn orpc_headers_round_trip() {
    body_round_trips(&OrpcThis::new(CID));
    body_round_trips(&OrpcThis { extents: extents(), ..OrpcThis::new(CID) });
    body_round_trips(&OrpcThat { flags: 3, extents: extents() });
    // The field after the header is at a multiple of 8, whether the header has extents or not.
    let length = |this: OrpcThis| this.encode(ByteOrder::Little).unwrap().len();
    assert_eq!(length(OrpcThis::new(CID)), 32);
    assert_eq!(length(OrpcThis { extents: extents(), ..OrpcThis::new(CID) }) % 8, 0);
}

#[test]
fn known_extents_are_found_among_unknown_ones() {
    let all = extents();
    assert_eq!(TimeLeft::find(&all), Ok(Some(TimeLeft(Duration::from_millis(1500)))));
    let trace = TraceContext::find(&all).unwrap();
    assert_eq!((trace.trace, trace.parent, trace.flags, trace.state.as_str()), (7, 9, 1, "a=b"));
    assert_eq!(TimeLeft::find(&Extents::default()), Ok(None));
    assert_eq!(TraceContext::find(&Extents::default()), None);
    let short = Extents(vec![Extent { id: TimeLeft::ID, data: vec![1; 7] }]);
    assert!(matches!(TimeLeft::find(&short), Err(Malformed::Short { .. })));
    assert_eq!(TimeLeft(Duration::MAX).to_extent().data, [0xff; 8]);
}

#[test]
fn trace_contexts_have_the_w3c_text_form() {
    let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let trace: TraceContext = text.parse().unwrap();
    assert_eq!((trace.trace >> 96, trace.parent, trace.flags), (0x4bf9_2f35, 0x00f0_67aa_0ba9_02b7, 1));
    assert_eq!(trace.to_string(), text);
    let extent = trace.to_extent();
    assert_eq!(extent.data[..6], [0, 1, 0x4b, 0xf9, 0x2f, 0x35]);
    assert_eq!(TraceContext::find(&Extents(vec![extent])), Some(trace));
    for wrong in [
        "",
        "00",
        "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-+1",
    ] {
        assert!(wrong.parse::<TraceContext>().is_err(), "{wrong}");
    }
}

#[test]
fn error_information_is_read_aligned_or_not() {
    let info = ErrorInfo {
        iid: IID,
        source: Some("calc".to_owned()),
        description: Some("division by zero: 1 / 0".to_owned()),
        help_file: None,
        help_context: 3,
    };
    let extent = info.to_extent().unwrap();
    assert_eq!(ErrorInfo::find(&Extents(vec![extent.clone()])), Ok(Some(info)));
    // The reference has a header of 48 bytes. Each part of the data begins at a multiple of 4.
    let ObjRef::Custom { data, .. } = ObjRef::from_bytes(&extent.data).unwrap() else { panic!("{extent:?}") };
    assert_eq!((data.len(), &data[24..28]), (24 + 4 + 12 + 12 + 4 + 12 + 48 + 4, &[0xff; 4][..]));
    for length in 48..extent.data.len() {
        let cut = Extent { id: ErrorInfo::ID, data: extent.data[..length].to_vec() };
        assert!(ErrorInfo::find(&Extents(vec![cut])).is_err(), "{length} bytes");
    }
    // A long text is truncated, but not within a character.
    let long = ErrorInfo { description: Some("\u{1f600}".repeat(5000)), ..ErrorInfo::default() };
    let found = ErrorInfo::find(&Extents(vec![long.to_extent().unwrap()])).unwrap().unwrap();
    assert_eq!(found.description, Some("\u{1f600}".repeat(2048)));
}

#[test]
fn string_bindings_round_trip_through_dual_string_arrays() {
    let texts = [
        "ncacn_ip_tcp:10.0.0.1[5000]",
        "ncalrpc:[calc]",
        "ncacn_vi_shm:oxid-12",
        "ncacn_vi_udp:fe80::1[9,name=calc]",
        "ncacn_ip_tcp:server",
    ];
    let bindings: Vec<StringBinding> = texts.iter().map(|text| text.parse().unwrap()).collect();
    let array = DualStringArray::new(&bindings);
    assert_eq!(array.strings.iter().map(|it| it.tower).collect::<Vec<_>>(), [7, 0x10, 0xf5, 0xf8, 7]);
    assert_eq!(array.strings[0].address, "10.0.0.1[5000]");
    body_round_trips(&array);
    assert_eq!(array.string_bindings().collect::<Vec<_>>(), bindings);
    // The array now has an unsupported protocol sequence and an invalid address.
    let mut more = array;
    more.strings[0].tower = 0x1f;
    more.strings[1].address = "[".to_owned();
    assert_eq!(more.string_bindings().count(), 3);
}

#[test]
fn forwarded_calls_carry_the_identity_of_the_caller() {
    let principal = Arc::new(Principal { domain: "BANK".to_owned(), user: "anna".to_owned() });
    let maker = Authenticated { principal, kind: AuthType::NTLM, level: Level::Privacy };
    let call = Forwarded {
        interface: CLSID,
        opnum: 4,
        process: Some(OXID),
        host: "10.0.0.7".to_owned(),
        maker: Some(maker),
        heard: "ncacn_ip_tcp:10.0.0.1[135,security=privacy]".to_owned(),
        stub: b"anything".to_vec(),
    };
    body_round_trips(&call);
    body_round_trips(&Forwarded { process: None, maker: None, stub: Vec::new(), ..call.clone() });
    // There is no authentication level 7.
    let mut bytes = call.encode(ByteOrder::Little).unwrap();
    let level = bytes.windows(4).rposition(|word| word == 6_u32.to_le_bytes()).unwrap();
    bytes[level] = 7;
    let wrong = Forwarded::decode(ByteOrder::Little, &bytes);
    assert!(matches!(wrong, Err(Malformed::Wrong { what: "level", value: 7, .. })), "{wrong:?}");
}

#[test]
fn the_smallest_dual_string_array_has_the_standards_bytes() {
    let bytes = DualStringArray::default().encode(ByteOrder::Little).unwrap();
    assert_eq!(bytes, [4, 0, 0, 0, 4, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    // Wine writes an array without any words.
    assert_eq!(DualStringArray::decode(ByteOrder::Little, &[0; 8]), Ok(DualStringArray::default()));
    let outside = [2, 0, 0, 0, 2, 0, 3, 0, 0, 0, 0, 0];
    let wrong = Malformed::Wrong { what: "wSecurityOffset", at: 0, value: 3 };
    assert_eq!(DualStringArray::decode(ByteOrder::Little, &outside), Err(wrong));
    let endless = [2, 0, 0, 0, 2, 0, 2, 0, 7, 0, 65, 0];
    assert_eq!(DualStringArray::decode(ByteOrder::Little, &endless), Err(Malformed::Text { what: "aNetworkAddr" }));
}

#[test]
fn malformed_objrefs_are_refused() {
    let bytes = ObjRef::Standard { iid: IID, std: std(), resolver: array() }.to_bytes().unwrap();
    for length in 0..bytes.len() {
        assert!(ObjRef::from_bytes(&bytes[..length]).is_err(), "{length} bytes");
    }
    for (at, what) in [(0, "OBJREF.signature"), (4, "OBJREF.flags")] {
        let mut wrong = bytes.clone();
        wrong[at] ^= 0x40;
        let said = ObjRef::from_bytes(&wrong).unwrap_err();
        assert!(matches!(said, Malformed::Wrong { what: field, .. } if field == what), "{said}");
    }
    let mut nobody = bytes;
    nobody[8..24].fill(0);
    assert!(ObjRef::from_bytes(&nobody).is_err());
}

#[test]
fn remote_unknown_responses_round_trip() {
    use object_exporter::Response as Exporter;
    let resolved = Resolved { bindings: array(), rem_unknown: IPID, authn_hint: 1, version: ComVersion::OURS };
    let first = Resolved { version: ComVersion { major: 5, minor: 1 }, ..resolved.clone() };
    let answers = [
        (0, Exporter::ResolveOxid(Ok(first))),
        (0, Exporter::ResolveOxid(Err(INVALID_OXID))),
        (1, Exporter::SimplePing(Status(0x778))),
        (2, Exporter::ComplexPing { set: SET, backoff: 0, status: Status(0) }),
        (3, Exporter::ServerAlive(Status(0))),
        (4, Exporter::ResolveOxid2(Ok(resolved))),
        (4, Exporter::ResolveOxid2(Err(INVALID_OXID))),
        (5, Exporter::ServerAlive2(Ok((ComVersion::OURS, array())))),
        (5, Exporter::ServerAlive2(Err(Status::ACCESS_DENIED))),
    ];
    for (opnum, answer) in &answers {
        round_trips(answer, Exporter::write, |from| Exporter::read(*opnum, from));
    }
    use rem_unknown::Response as Unknown;
    let (yes, no) = (HRESULT(0), HRESULT(0x8000_4002_u32.cast_signed()));
    let results = vec![QueryResult { result: yes, std: std() }, QueryResult { result: no, std: StdObjRef::default() }];
    let answers = [
        (3, 2, Unknown::QueryInterface(results, yes)),
        (3, 2, Unknown::QueryInterface(Vec::new(), no)),
        (4, 2, Unknown::AddRef(vec![yes, no], yes)),
        (5, 2, Unknown::Release(yes)),
        (6, 2, Unknown::QueryInterface2(vec![(yes, Some(vec![1, 2, 3])), (no, None)], yes)),
    ];
    for (opnum, asked, answer) in &answers {
        round_trips(answer, Unknown::write, |from| Unknown::read(*opnum, *asked, from));
    }
    // An answer for more interfaces than were queried is malformed.
    let bytes = Encoder::encode(ByteOrder::Little, |to| answers[0].2.write(to)).unwrap();
    assert!(Unknown::read(3, 1, &mut Decoder::new(&bytes, ByteOrder::Little)).is_err());
}

#[test]
fn remote_activation_calls_round_trip() {
    let activation = RemoteActivation {
        this: OrpcThis::new(CID),
        class: CLSID,
        object_name: Some("object.file".to_owned()),
        storage: Some(vec![1, 2, 3]),
        impersonation: 2,
        mode: 0xffff_ffff,
        iids: vec![IID, CLSID],
        protseqs: vec![7, 8, 9],
    };
    body_round_trips(&activation);
    let (yes, no) = (HRESULT(0), HRESULT(0x8000_4002_u32.cast_signed()));
    let results = RemoteActivationResults {
        that: OrpcThat::default(),
        oxid: OXID,
        bindings: Some(array()),
        rem_unknown: IPID,
        authn_hint: 5,
        version: ComVersion::OURS,
        result: yes,
        interfaces: vec![(yes, Some(vec![7; 5])), (no, None)],
        status: 0,
    };
    round_trips(&results, RemoteActivationResults::write, |from| RemoteActivationResults::read(2, from));
    let create = activator::Request::CreateInstance {
        this: OrpcThis::new(CID),
        outer: Some(vec![1; 3]),
        properties: Some(vec![2; 9]),
    };
    let get = activator::Request::GetClassObject { this: OrpcThis::new(CID), properties: None };
    for call in [create, get] {
        round_trips(&call, Calls::write, |from| activator::Request::read(call.opnum(), from));
    }
    body_round_trips(&activator::Response { properties: Some(vec![3; 4]), ..Default::default() });
}

#[test]
fn activation_properties_round_trip() {
    let reference = ObjRef::Standard { iid: IID, std: std(), resolver: array() }.to_bytes().unwrap();
    let version = ComVersion::OURS;
    let reply = ScmReplyInfo { oxid: OXID, bindings: array(), rem_unknown: IPID, authn_hint: 1, version };
    let no = HRESULT(0x8000_4002_u32.cast_signed());
    let interfaces = vec![
        OutInterface { iid: IID, result: HRESULT(0), reference: Some(reference.clone()) },
        OutInterface { iid: CLSID, result: no, reference: None },
    ];
    let instance = InstanceInfo { file: Some("file".to_owned()), mode: 2, storage: Some(reference) };
    let special = SpecialProperties { logon: 3, has_logon: true, partition: Some(IID), ..Default::default() };
    let answer = Properties::new(vec![
        Property::PropsOut(PropsOutInfo { interfaces }),
        Property::ScmReply(reply),
        Property::Instance(instance),
        Property::Special(special),
        Property::Security(SecurityInfo::default()),
        Property::Other(OTHER, vec![1; 24]),
    ]);
    let bytes = answer.to_answer().unwrap();
    let read = Properties::from_answer(&bytes).unwrap();
    assert_eq!(read, answer);
    assert!(read.props_out().is_ok() && read.scm_reply().is_ok());
    assert_eq!(read.instantiation(), Err(Malformed::Missing { what: "property Instantiation" }));
    for length in 0..bytes.len() {
        assert!(Properties::from_answer(&bytes[..length]).is_err(), "{length} bytes");
    }
    // The bytes of an answer are rejected as a request.
    assert!(Properties::from_request(&bytes).is_err());
}

/// The class of a property that the standard does not define.
const OTHER: windows_core::GUID = IID;

#[test]
fn activation_properties_state_their_length() {
    let asked = Properties::new(vec![Property::Instantiation(InstantiationInfo::new(CLSID, vec![IID]))]);
    let bytes = asked.to_bytes().unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    // The fields are dwSize and dwReserved, the serialization headers of CustomHeader, then its
    // totalSize and headerSize.
    let (total, header) = (word(24), word(28));
    assert_eq!((word(0), total), (bytes.len() - 8, bytes.len() - 8));
    let serialized = &bytes[8 + header..];
    // The field thisSize follows the class, the flags and the counts: 16 + 5 * 4 + 4 bytes, after
    // 16 bytes of headers.
    assert_eq!(u32::from_le_bytes(serialized[16 + 40..16 + 44].try_into().unwrap()) as usize, serialized.len());
    assert_eq!((header % 8, serialized.len() % 8), (0, 0));
    let none = Properties::new(Vec::new()).to_bytes().unwrap();
    assert!(Properties::from_bytes(&none).is_err());
    let many = vec![Property::Other(OTHER, Vec::new()); 11];
    assert!(matches!(Properties::new(many).to_bytes(), Err(Malformed::TooMany { what: "cIfs", count: 11, max: 10 })));
}

#[test]
fn counts_are_checked_before_memory_is_allocated() {
    // The count says 65535 interfaces, but only 4 bytes follow.
    let bytes = [&[0; 20][..], &[0xff, 0xff, 0, 0, 0xff, 0xff, 0, 0, 1, 2, 3, 4]].concat();
    let read = rem_unknown::Request::read(3, &mut Decoder::new(&bytes, ByteOrder::Little));
    assert_eq!(read, Err(BadCall::Malformed(Malformed::Short { what: "iids", at: 28 })));
    let read = object_exporter::Request::read(6, &mut Decoder::new(&[], ByteOrder::Little));
    assert_eq!(read, Err(BadCall::Opnum(6)));
    assert_eq!(Status::from(BadCall::Opnum(6)), Status::OP_RNG_ERROR);
}

#[test]
fn com_versions_are_compared_for_compatibility() {
    let minor = |minor| ComVersion { major: 5, minor };
    assert!(minor(7).performs(minor(1)) && minor(7).performs(minor(7)));
    assert!(!minor(6).performs(minor(7)) && !minor(7).performs(ComVersion { major: 4, minor: 1 }));
}
