//! The activation properties (MS-DCOM 2.2.22.2).

use super::HEADERS;
use crate::orpc::activator::{INTERFACES_MAX, PROTSEQS_MAX};
use crate::orpc::bindings::DualStringArray;
use crate::orpc::headers::ComVersion;
use crate::orpc::objref::{read_reference, read_references, write_reference, write_references};
use crate::orpc::stub_data::{Body, Decoder, Encoder, Malformed};
use windows_core::{GUID, HRESULT};

/// InstantiationInfoData (2.2.22.2.1): the class and the wanted interfaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstantiationInfo {
    /// The CLSID of the class.
    pub class: GUID,
    /// The contexts in which the object may run (CLSCTX); servers need not check them.
    pub context: u32,
    /// The activation flags (ACTVFLAGS).
    pub flags: u32,
    /// The IIDs of the wanted interfaces: at least one.
    pub iids: Vec<GUID>,
    /// The client's version of DCOM.
    pub version: ComVersion,
}

impl InstantiationInfo {
    /// Makes a request for interfaces of an object of a class.
    pub fn new(class: GUID, iids: Vec<GUID>) -> Self {
        Self { class, context: 0, flags: 0, iids, version: ComVersion::OURS }
    }

    /// Returns the value of the field `thisSize`: the length of the headers of a serialized value,
    /// the members, the array with its conformance, and the padding.
    fn serialized_length(&self) -> usize {
        HEADERS + (52 + 16 * self.iids.len()).next_multiple_of(8)
    }
}

impl Body for InstantiationInfo {
    fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let (class, context, flags) = (from.guid("classId")?, from.u32("classCtx")?, from.u32("actvflags")?);
        from.u32("fIsSurrogate")?;
        let count = from.count(INTERFACES_MAX, "cIID")?;
        if count == 0 {
            return Err(from.wrong("cIID", 0_u32));
        }
        from.u32("instFlag")?;
        from.reference("pIID")?;
        from.u32("thisSize")?;
        let version = ComVersion::read(from)?;
        let iids = from.array(count, 16, "pIID", |from| from.guid("pIID"))?;
        Ok(Self { class, context, flags, iids, version })
    }

    fn write(&self, to: &mut Encoder<'_>) {
        to.guid(&self.class);
        to.u32(self.context);
        to.u32(self.flags);
        to.u32(0);
        to.count(self.iids.len(), INTERFACES_MAX, "cIID");
        to.u32(0);
        to.pointer(true);
        to.u32(self.serialized_length() as u32);
        self.version.write(to);
        to.array(&self.iids, |to, iid| to.guid(iid));
    }
}

/// SpecialPropertiesData (2.2.22.2.2), in either of its two forms, which differ in reserved fields
/// only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecialProperties {
    /// The logon session for the object; 0xffff_ffff for any.
    pub logon: u32,
    /// Whether `logon` names a logon session.
    pub has_logon: bool,
    /// The default authentication level; servers need not check it.
    pub authn_level: u32,
    /// The partition, if one is given.
    pub partition: Option<GUID>,
    /// The contexts in which the object may run (CLSCTX), as first requested.
    pub context: u32,
    /// Bit 0: the client asks for activation in the console session.
    pub flags: u32,
}

impl Default for SpecialProperties {
    fn default() -> Self {
        Self { logon: u32::MAX, has_logon: false, authn_level: 0, partition: None, context: 0, flags: 0 }
    }
}

impl Body for SpecialProperties {
    fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let (logon, has_logon) = (from.u32("dwSessionId")?, from.u32("fRemoteThisSessionId")? != 0);
        from.u32("fClientImpersonating")?;
        let has_partition = from.u32("fPartitionIDPresent")? != 0;
        let authn_level = from.u32("dwDefaultAuthnLvl")?;
        let partition = Some(from.guid("guidPartition")?).filter(|_| has_partition);
        from.u32("dwPRTFlags")?;
        let (context, flags) = (from.u32("dwOrigClsctx")?, from.u32("dwFlags")?);
        // The bytes after these fields are reserved: 36 bytes in one form of the structure, 32 in
        // the other form.
        Ok(Self { logon, has_logon, authn_level, partition, context, flags })
    }

    fn write(&self, to: &mut Encoder<'_>) {
        to.u32(self.logon);
        to.u32(self.has_logon.into());
        to.u32(0);
        to.u32(self.partition.is_some().into());
        to.u32(self.authn_level);
        to.guid(&self.partition.unwrap_or_default());
        to.u32(0);
        to.u32(self.context);
        to.u32(self.flags);
        to.u32(0);
        to.u64(0);
        to.zeros(5 * 4);
    }
}

/// InstanceInfoData (2.2.22.2.3): the source of the object's initial state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstanceInfo {
    /// The name of the file with the initial state, if any.
    pub file: Option<String>,
    /// The mode in which the file is opened (STGM).
    pub mode: u32,
    /// A storage, as the bytes of a reference.
    pub storage: Option<Vec<u8>>,
}

impl Body for InstanceInfo {
    fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let (has_file, mode) = (from.pointer("fileName")?, from.u32("mode")?);
        let (has_table, has_storage) = (from.pointer("ifdROT")?, from.pointer("ifdStg")?);
        let file = if has_file { Some(from.text("fileName")?) } else { None };
        if has_table {
            // The reference to the running object table (ifdROT) precedes the storage. Servers
            // ignore this reference.
            read_reference(from, "ifdROT")?;
        }
        let storage = if has_storage { Some(read_reference(from, "ifdStg")?) } else { None };
        Ok(Self { file, mode, storage })
    }

    fn write(&self, to: &mut Encoder<'_>) {
        to.pointer(self.file.is_some());
        to.u32(self.mode);
        to.pointer(false);
        to.pointer(self.storage.is_some());
        if let Some(file) = &self.file {
            to.text(file, "fileName");
        }
        if let Some(storage) = &self.storage {
            write_reference(storage, to);
        }
    }
}

/// ScmRequestInfoData with customREMOTE_REQUEST_SCM_INFO (2.2.22.2.4): the protocol sequences of
/// the client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScmRequestInfo {
    /// The client's impersonation level, which servers ignore.
    pub impersonation: u32,
    /// The tower identifiers of the protocol sequences.
    pub protseqs: Vec<u16>,
}

impl Body for ScmRequestInfo {
    fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let is_reserved = from.pointer("pdwReserved")?;
        from.reference("remoteRequest")?;
        if is_reserved {
            from.u32("pdwReserved")?;
        }
        let impersonation = from.u32("ClientImpLevel")?;
        let count = from.count16(PROTSEQS_MAX, "cRequestedProtseqs")?;
        let protseqs = match from.pointer("pRequestedProtseqs")? {
            true => from.array(count, 2, "pRequestedProtseqs", |from| from.u16("pRequestedProtseqs"))?,
            false if count == 0 => Vec::new(),
            false => return Err(Malformed::Null { what: "pRequestedProtseqs" }),
        };
        Ok(Self { impersonation, protseqs })
    }

    fn write(&self, to: &mut Encoder<'_>) {
        to.pointer(false);
        to.pointer(true);
        to.u32(self.impersonation);
        to.count16(self.protseqs.len(), PROTSEQS_MAX, "cRequestedProtseqs");
        to.pointer(true);
        to.array(&self.protseqs, |to, protseq| to.u16(*protseq));
    }
}

/// ActivationContextInfoData (2.2.22.2.5): contexts, as the bytes of references.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActivationContextInfo {
    /// The client's context, as the bytes of a reference.
    pub client: Option<Vec<u8>>,
    /// The prototype of the object's context, as the bytes of a reference.
    pub prototype: Option<Vec<u8>>,
}

impl Body for ActivationContextInfo {
    fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        for what in ["clientOK", "bReserved1", "dwReserved1", "dwReserved2"] {
            from.u32(what)?;
        }
        let (has_client, has_prototype) = (from.pointer("pIFDClientCtx")?, from.pointer("pIFDPrototypeCtx")?);
        let mut context = |is_there, what| match is_there {
            true => read_reference(from, what).map(Some),
            false => Ok(None),
        };
        Ok(Self {
            client: context(has_client, "pIFDClientCtx")?,
            prototype: context(has_prototype, "pIFDPrototypeCtx")?,
        })
    }

    fn write(&self, to: &mut Encoder<'_>) {
        (0..4).for_each(|_| to.u32(0));
        to.pointer(self.client.is_some());
        to.pointer(self.prototype.is_some());
        for context in [&self.client, &self.prototype].into_iter().flatten() {
            write_reference(context, to);
        }
    }
}

/// LocationInfoData (2.2.22.2.6), which is mandatory and ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocationInfo {
    /// The name of a machine (machineName).
    pub machine: Option<String>,
    /// The id of a process on the machine (processId).
    pub process: u32,
    /// The id of an apartment of the process (apartmentId).
    pub apartment: u32,
    /// The id of a context in the apartment (contextId).
    pub context: u32,
}

impl Body for LocationInfo {
    fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let has_machine = from.pointer("machineName")?;
        let (process, apartment) = (from.u32("processId")?, from.u32("apartmentId")?);
        let context = from.u32("contextId")?;
        let machine = if has_machine { Some(from.text("machineName")?) } else { None };
        Ok(Self { machine, process, apartment, context })
    }

    fn write(&self, to: &mut Encoder<'_>) {
        to.pointer(self.machine.is_some());
        to.u32(self.process);
        to.u32(self.apartment);
        to.u32(self.context);
        if let Some(machine) = &self.machine {
            to.text(machine, "machineName");
        }
    }
}

/// SecurityInfoData with COSERVERINFO (2.2.22.2.7), which should not be sent and is ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SecurityInfo {
    /// A reserved field: zero.
    pub flags: u32,
    /// The name of the server, as the client uses it.
    pub server: Option<String>,
}

impl Body for SecurityInfo {
    fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let flags = from.u32("dwAuthnFlags")?;
        let has_server = from.pointer("pServerInfo")?;
        from.pointer("pdwReserved")?;
        if !has_server {
            return Ok(Self { flags, server: None });
        }
        from.u32("dwReserved1")?;
        let has_name = from.pointer("pwszName")?;
        from.pointer("pdwReserved")?;
        from.u32("dwReserved2")?;
        // The targets of the reserved pointers follow the name.
        let server = if has_name { Some(from.text("pwszName")?) } else { None };
        Ok(Self { flags, server })
    }

    fn write(&self, to: &mut Encoder<'_>) {
        to.u32(self.flags);
        to.pointer(self.server.is_some());
        to.pointer(false);
        if let Some(server) = &self.server {
            to.u32(0);
            to.pointer(true);
            to.pointer(false);
            to.u32(0);
            to.text(server, "pwszName");
        }
    }
}

/// ScmReplyInfoData with customREMOTE_REPLY_SCM_INFO (2.2.22.2.8): the bindings of the process that
/// has the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScmReplyInfo {
    /// The OXID of the process that has the object.
    pub oxid: u64,
    /// The bindings of the process, with endpoints.
    pub bindings: DualStringArray,
    /// The IPID of the process's `IRemUnknown`.
    pub rem_unknown: GUID,
    /// The least authentication level of the process (MS-RPCE 2.2.1.1.8); 1 means no
    /// authentication.
    pub authn_hint: u32,
    /// The version of the process.
    pub version: ComVersion,
}

impl Body for ScmReplyInfo {
    fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let is_reserved = from.pointer("pdwReserved")?;
        from.reference("remoteReply")?;
        if is_reserved {
            from.u32("pdwReserved")?;
        }
        let oxid = from.u64("Oxid")?;
        from.reference("pdsaOxidBindings")?;
        let (rem_unknown, authn_hint) = (from.guid("ipidRemUnknown")?, from.u32("authnHint")?);
        let version = ComVersion::read(from)?;
        Ok(Self { oxid, bindings: DualStringArray::read(from)?, rem_unknown, authn_hint, version })
    }

    fn write(&self, to: &mut Encoder<'_>) {
        to.pointer(false);
        to.pointer(true);
        to.u64(self.oxid);
        to.pointer(true);
        to.guid(&self.rem_unknown);
        to.u32(self.authn_hint);
        self.version.write(to);
        self.bindings.write(to);
    }
}

/// The result for a wanted interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutInterface {
    /// The IID of the wanted interface.
    pub iid: GUID,
    /// The result of the query: whether the object has the interface.
    pub result: HRESULT,
    /// The bytes of the reference, if the object has the interface.
    pub reference: Option<Vec<u8>>,
}

/// PropsOutInfo (2.2.22.2.9): the references to the wanted interfaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PropsOutInfo {
    /// The wanted interfaces in the order of the request; at least one.
    pub interfaces: Vec<OutInterface>,
}

impl Body for PropsOutInfo {
    fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let count = from.count(INTERFACES_MAX, "cIfs")?;
        if count == 0 {
            return Err(from.wrong("cIfs", 0_u32));
        }
        for what in ["piid", "phresults", "ppIntfData"] {
            from.reference(what)?;
        }
        let iids = from.array(count, 16, "piid", |from| from.guid("piid"))?;
        let results = from.array(count, 4, "phresults", |from| from.u32("phresults"))?;
        let references = read_references(from, count, "ppIntfData")?;
        let results = results.into_iter().map(|result| HRESULT(result.cast_signed()));
        let all = iids.into_iter().zip(results).zip(references);
        let interfaces = all.map(|((iid, result), reference)| OutInterface { iid, result, reference }).collect();
        Ok(Self { interfaces })
    }

    fn write(&self, to: &mut Encoder<'_>) {
        to.count(self.interfaces.len(), INTERFACES_MAX, "cIfs");
        (0..3).for_each(|_| to.pointer(true));
        to.array(&self.interfaces, |to, interface| to.guid(&interface.iid));
        to.array(&self.interfaces, |to, interface| to.u32(interface.result.0.cast_unsigned()));
        let references: Vec<_> = self.interfaces.iter().map(|interface| interface.reference.as_deref()).collect();
        write_references(&references, to);
    }
}
