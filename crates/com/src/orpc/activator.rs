//! `IActivation` and `IRemoteSCMActivator` (MS-DCOM 3.1.2.5.2): activation of objects with their
//! first references.

use super::bindings::DualStringArray;
use super::headers::{ComVersion, OrpcThat, OrpcThis};
use super::objref::{read_pointer, read_references, write_pointer, write_references};
use super::stub_data::{BadCall, Body, Calls, Decoder, Encoder, Malformed};
use super::{Interface, Method, com_guid};
use windows_core::{GUID, HRESULT};

/// `IActivation`: an RPC interface, although its method begins with ORPCTHIS.
pub const ACTIVATION: Interface = Interface {
    id: GUID::from_u128(0x4d9f_4ab8_7d1c_11cf_861e_0020_af6e_7c57),
    name: "IActivation",
    has_objects: false,
    methods: &[Method { opnum: 0, name: "RemoteActivation" }],
};

/// `IRemoteSCMActivator`, which is an RPC interface, too.
pub const SCM_ACTIVATOR: Interface = Interface {
    id: com_guid(0x1a0),
    name: "IRemoteSCMActivator",
    has_objects: false,
    methods: &[Method { opnum: 3, name: "RemoteGetClassObject" }, Method { opnum: 4, name: "RemoteCreateInstance" }],
};

/// The greatest number of interfaces in one request (MAX_REQUESTED_INTERFACES, MS-DCOM 2.2.28.1).
pub(super) const INTERFACES_MAX: usize = 0x8000;
/// The greatest number of protocol sequences in one request (MAX_REQUESTED_PROTSEQS).
pub(super) const PROTSEQS_MAX: usize = 0x8000;

/// The arguments of RemoteActivation (3.1.2.5.2.3.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteActivation {
    /// The ORPCTHIS of the call.
    pub this: OrpcThis,
    /// The CLSID of the class.
    pub class: GUID,
    /// The file that initializes the object.
    pub object_name: Option<String>,
    /// The storage that initializes the object, as the bytes of a reference.
    pub storage: Option<Vec<u8>>,
    /// The client's impersonation level, which servers ignore.
    pub impersonation: u32,
    /// 0xffff_ffff to ask for the class object; otherwise the mode in which the file is opened.
    pub mode: u32,
    /// The IIDs of the wanted interfaces: at least one.
    pub iids: Vec<GUID>,
    /// The tower identifiers of the client's protocol sequences.
    pub protseqs: Vec<u16>,
}

impl Body for RemoteActivation {
    fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let (this, class) = (OrpcThis::read(from)?, from.guid("Clsid")?);
        let object_name = if from.pointer("pwszObjectName")? { Some(from.text("pwszObjectName")?) } else { None };
        let storage = read_pointer(from, "pObjectStorage")?;
        let (impersonation, mode) = (from.u32("ClientImpLevel")?, from.u32("Mode")?);
        let count = from.count(INTERFACES_MAX, "Interfaces")?;
        if count == 0 {
            return Err(from.wrong("Interfaces", 0_u32));
        }
        from.reference("pIIDs")?;
        let iids = from.array(count, 16, "pIIDs", |from| from.guid("pIIDs"))?;
        let count = from.count16(PROTSEQS_MAX, "cRequestedProtseqs")?;
        let protseqs = from.array(count, 2, "aRequestedProtseqs", |from| from.u16("aRequestedProtseqs"))?;
        Ok(Self { this, class, object_name, storage, impersonation, mode, iids, protseqs })
    }

    fn write(&self, to: &mut Encoder<'_>) {
        self.this.write(to);
        to.guid(&self.class);
        to.pointer(self.object_name.is_some());
        if let Some(name) = &self.object_name {
            to.text(name, "pwszObjectName");
        }
        write_pointer(self.storage.as_deref(), to);
        to.u32(self.impersonation);
        to.u32(self.mode);
        to.count(self.iids.len(), INTERFACES_MAX, "Interfaces");
        to.pointer(true);
        to.array(&self.iids, |to, iid| to.guid(iid));
        to.count16(self.protseqs.len(), PROTSEQS_MAX, "cRequestedProtseqs");
        to.array(&self.protseqs, |to, protseq| to.u16(*protseq));
    }
}

/// The results of RemoteActivation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteActivationResults {
    /// The ORPCTHAT of the response.
    pub that: OrpcThat,
    /// The OXID of the process that has the object.
    pub oxid: u64,
    /// The bindings of the process, with endpoints; `None` where there is no object.
    pub bindings: Option<DualStringArray>,
    /// The IPID of the process's `IRemUnknown`.
    pub rem_unknown: GUID,
    /// The least authentication level of the process (MS-RPCE 2.2.1.1.8); 1 means no
    /// authentication.
    pub authn_hint: u32,
    /// The version of the process.
    pub version: ComVersion,
    /// Whether the activation succeeded.
    pub result: HRESULT,
    /// For each wanted interface, whether the object has it, and if so the bytes of the reference.
    pub interfaces: Vec<(HRESULT, Option<Vec<u8>>)>,
    /// The status of the call: an error_status_t.
    pub status: u32,
}

impl RemoteActivationResults {
    /// Decodes the results of a call. `asked` is the number of interfaces for which the call asked.
    ///
    /// # Errors
    ///
    /// If the results are malformed.
    pub fn read(asked: usize, from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let (that, oxid) = (OrpcThat::read(from)?, from.u64("pOxid")?);
        let bindings = DualStringArray::read_pointer(from, "ppdsaOxidBindings")?;
        let (rem_unknown, authn_hint) = (from.guid("pipidRemUnknown")?, from.u32("pAuthnHint")?);
        let (version, result) = (ComVersion::read(from)?, read_result(from, "phr")?);
        let references = read_references(from, asked, "ppInterfaceData")?;
        let results = from.array(asked, 4, "pResults", |from| read_result(from, "pResults"))?;
        let interfaces = results.into_iter().zip(references).collect();
        let status = from.u32("error_status_t")?;
        Ok(Self { that, oxid, bindings, rem_unknown, authn_hint, version, result, interfaces, status })
    }

    /// Encodes the results.
    pub fn write(&self, to: &mut Encoder<'_>) {
        self.that.write(to);
        to.u64(self.oxid);
        DualStringArray::write_pointer(self.bindings.as_ref(), to);
        to.guid(&self.rem_unknown);
        to.u32(self.authn_hint);
        self.version.write(to);
        to.u32(self.result.0.cast_unsigned());
        let references: Vec<_> = self.interfaces.iter().map(|(_, reference)| reference.as_deref()).collect();
        write_references(&references, to);
        to.array(&self.interfaces, |to, (result, _)| to.u32(result.0.cast_unsigned()));
        to.u32(self.status);
    }
}

fn read_result(from: &mut Decoder<'_>, what: &'static str) -> Result<HRESULT, Malformed> {
    from.u32(what).map(|result| HRESULT(result.cast_signed()))
}

/// A call of `IRemoteSCMActivator` (3.1.2.5.2.3.2, 3.1.2.5.2.3.3). The properties are the bytes of
/// a reference: [`super::activation::Properties`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Opnum 3: activates the class object.
    GetClassObject {
        /// The ORPCTHIS of the call.
        this: OrpcThis,
        /// The activation properties, as the bytes of a reference.
        properties: Option<Vec<u8>>,
    },
    /// Opnum 4: activates a new object.
    CreateInstance {
        /// The ORPCTHIS of the call.
        this: OrpcThis,
        /// The outer object for aggregation. No server accepts one.
        outer: Option<Vec<u8>>,
        /// The activation properties, as the bytes of a reference.
        properties: Option<Vec<u8>>,
    },
}

impl Calls for Request {
    const INTERFACE: &'static Interface = &SCM_ACTIVATOR;

    fn opnum(&self) -> u16 {
        match self {
            Self::GetClassObject { .. } => 3,
            Self::CreateInstance { .. } => 4,
        }
    }

    fn read(opnum: u16, from: &mut Decoder<'_>) -> Result<Self, BadCall> {
        if !matches!(opnum, 3 | 4) {
            return Err(BadCall::Opnum(opnum));
        }
        let this = OrpcThis::read(from)?;
        let outer = if opnum == 4 { read_pointer(from, "pUnkOuter")? } else { None };
        let properties = read_pointer(from, "pActProperties")?;
        Ok(match opnum {
            3 => Self::GetClassObject { this, properties },
            _ => Self::CreateInstance { this, outer, properties },
        })
    }

    fn write(&self, to: &mut Encoder<'_>) {
        let properties = match self {
            Self::GetClassObject { this, properties } => {
                this.write(to);
                properties
            }
            Self::CreateInstance { this, outer, properties } => {
                this.write(to);
                write_pointer(outer.as_deref(), to);
                properties
            }
        };
        write_pointer(properties.as_deref(), to);
    }
}

/// The response of both methods of `IRemoteSCMActivator`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// The ORPCTHAT of the response.
    pub that: OrpcThat,
    /// The references and the bindings of the object, as the bytes of a reference.
    pub properties: Option<Vec<u8>>,
    /// Whether the activation succeeded.
    pub result: HRESULT,
}

impl Body for Response {
    fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let that = OrpcThat::read(from)?;
        let properties = read_pointer(from, "ppActProperties")?;
        Ok(Self { that, properties, result: read_result(from, "HRESULT")? })
    }

    fn write(&self, to: &mut Encoder<'_>) {
        self.that.write(to);
        write_pointer(self.properties.as_deref(), to);
        to.u32(self.result.0.cast_unsigned());
    }
}
