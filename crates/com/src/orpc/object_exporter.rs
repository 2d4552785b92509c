//! `IObjectExporter` (MS-DCOM 3.1.2.5.1): the bindings of processes, and the pings of objects.

use super::bindings::DualStringArray;
use super::headers::ComVersion;
use super::oxids::Resolved;
use super::stub_data::{BadCall, Body, Calls, Decoder, Encoder, Malformed};
use super::{Interface, Method};
use obvia_rpc::status::Status;
use windows_core::GUID;

/// `IObjectExporter`, the RPC interface of a resolver.
pub const INTERFACE: Interface = Interface {
    id: GUID::from_u128(0x99fc_fec4_5260_101b_bbcb_00aa_0021_347a),
    name: "IObjectExporter",
    has_objects: false,
    methods: &[
        Method { opnum: 0, name: "ResolveOxid" },
        Method { opnum: 1, name: "SimplePing" },
        Method { opnum: 2, name: "ComplexPing" },
        Method { opnum: 3, name: "ServerAlive" },
        Method { opnum: 4, name: "ResolveOxid2" },
        Method { opnum: 5, name: "ServerAlive2" },
    ],
};

/// The opnums of the methods by which a resolver shows that it is alive: ServerAlive and
/// ServerAlive2.
pub const SERVER_ALIVE: [u16; 2] = [3, 5];

/// The greatest number of protocol sequences in a client's list, which is more than exist.
const PROTSEQS_MAX: usize = 256;

/// A call of `IObjectExporter`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Opnum 0: resolves the bindings of a process.
    ResolveOxid(Resolve),
    /// Opnum 1: pings all objects of a ping set.
    SimplePing {
        /// The identifier of the ping set.
        set: u64,
    },
    /// Opnum 2: changes or makes a ping set, and pings its objects.
    ComplexPing(ComplexPing),
    /// Opnum 3: tests whether the resolver is alive.
    ServerAlive,
    /// Opnum 4: resolves the bindings and the version of a process.
    ResolveOxid2(Resolve),
    /// Opnum 5: returns the bindings of the resolver.
    ServerAlive2,
}

/// The arguments of ResolveOxid and ResolveOxid2 (3.1.2.5.1.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolve {
    /// The OXID of the process.
    pub oxid: u64,
    /// The tower identifiers of the client's protocol sequences.
    pub protseqs: Vec<u16>,
}

/// The arguments of ComplexPing (3.1.2.5.1.3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComplexPing {
    /// The identifier of the ping set; 0 to make a new set.
    pub set: u64,
    /// The sequence number of the change, which increases.
    pub sequence: u16,
    /// The objects that are added to the set.
    pub added: Vec<u64>,
    /// The objects that are removed from the set.
    pub removed: Vec<u64>,
}

impl Body for Resolve {
    fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let (oxid, count) = (from.u64("pOxid")?, from.count16(PROTSEQS_MAX, "cRequestedProtseqs")?);
        let protseqs = from.array(count, 2, "arRequestedProtseqs", |from| from.u16("arRequestedProtseqs"))?;
        Ok(Self { oxid, protseqs })
    }

    fn write(&self, to: &mut Encoder<'_>) {
        to.u64(self.oxid);
        to.count16(self.protseqs.len(), PROTSEQS_MAX, "cRequestedProtseqs");
        to.array(&self.protseqs, |to, protseq| to.u16(*protseq));
    }
}

impl Body for ComplexPing {
    fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let (set, sequence) = (from.u64("pSetId")?, from.u16("SequenceNum")?);
        let (added, removed) = (from.u16("cAddToSet")?, from.u16("cDelFromSet")?);
        let mut oids = |count: u16, what| match from.pointer(what)? {
            true => from.array(count.into(), 8, what, |from| from.u64(what)),
            false if count == 0 => Ok(Vec::new()),
            false => Err(Malformed::Null { what }),
        };
        Ok(Self { set, sequence, added: oids(added, "AddToSet")?, removed: oids(removed, "DelFromSet")? })
    }

    fn write(&self, to: &mut Encoder<'_>) {
        to.u64(self.set);
        to.u16(self.sequence);
        to.count16(self.added.len(), u16::MAX.into(), "cAddToSet");
        to.count16(self.removed.len(), u16::MAX.into(), "cDelFromSet");
        for oids in [&self.added, &self.removed] {
            to.pointer(!oids.is_empty());
            if !oids.is_empty() {
                to.array(oids, |to, oid| to.u64(*oid));
            }
        }
    }
}

impl Calls for Request {
    const INTERFACE: &'static Interface = &INTERFACE;

    fn opnum(&self) -> u16 {
        match self {
            Self::ResolveOxid(_) => 0,
            Self::SimplePing { .. } => 1,
            Self::ComplexPing(_) => 2,
            Self::ServerAlive => 3,
            Self::ResolveOxid2(_) => 4,
            Self::ServerAlive2 => 5,
        }
    }

    fn read(opnum: u16, from: &mut Decoder<'_>) -> Result<Self, BadCall> {
        Ok(match opnum {
            0 => Self::ResolveOxid(Resolve::read(from)?),
            1 => Self::SimplePing { set: from.u64("pSetId")? },
            2 => Self::ComplexPing(ComplexPing::read(from)?),
            3 => Self::ServerAlive,
            4 => Self::ResolveOxid2(Resolve::read(from)?),
            5 => Self::ServerAlive2,
            _ => return Err(BadCall::Opnum(opnum)),
        })
    }

    fn write(&self, to: &mut Encoder<'_>) {
        match self {
            Self::ResolveOxid(arguments) | Self::ResolveOxid2(arguments) => arguments.write(to),
            Self::SimplePing { set } => to.u64(*set),
            Self::ComplexPing(arguments) => arguments.write(to),
            Self::ServerAlive | Self::ServerAlive2 => {}
        }
    }
}

/// The response of a resolver. On the wire, each response ends with an error_status_t, which is 0
/// for success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Response {
    /// The response to opnum 0, which contains no version.
    ResolveOxid(Result<Resolved, Status>),
    /// The response to opnum 1.
    SimplePing(Status),
    /// The response to opnum 2.
    ComplexPing {
        /// The identifier of the ping set.
        set: u64,
        /// The backoff: the client may multiply its ping period by 2^`backoff`.
        backoff: u16,
        /// The status of the call.
        status: Status,
    },
    /// The response to opnum 3.
    ServerAlive(Status),
    /// The response to opnum 4.
    ResolveOxid2(Result<Resolved, Status>),
    /// The response to opnum 5: the version of the resolver, and its bindings without endpoints.
    ServerAlive2(Result<(ComVersion, DualStringArray), Status>),
}

/// The status of a successful call.
const OK: Status = Status(0);

impl Response {
    /// Decodes the results of a method.
    ///
    /// # Errors
    ///
    /// If the results are malformed.
    pub fn read(opnum: u16, from: &mut Decoder<'_>) -> Result<Self, BadCall> {
        Ok(match opnum {
            0 => Self::ResolveOxid(read_resolved(from, false)?),
            1 => Self::SimplePing(read_status(from)?),
            2 => {
                let (set, backoff) = (from.u64("pSetId")?, from.u16("pPingBackoffFactor")?);
                Self::ComplexPing { set, backoff, status: read_status(from)? }
            }
            3 => Self::ServerAlive(read_status(from)?),
            4 => Self::ResolveOxid2(read_resolved(from, true)?),
            5 => {
                let version = ComVersion::read(from)?;
                let bindings = DualStringArray::read_pointer(from, "ppdsaOrBindings")?;
                from.u32("pReserved")?;
                Self::ServerAlive2(or_status(from, "ppdsaOrBindings", bindings)?.map(|bindings| (version, bindings)))
            }
            _ => return Err(BadCall::Opnum(opnum)),
        })
    }

    /// Encodes the results.
    pub fn write(&self, to: &mut Encoder<'_>) {
        match self {
            Self::ResolveOxid(found) => write_resolved(found, to, false),
            Self::ResolveOxid2(found) => write_resolved(found, to, true),
            Self::SimplePing(status) | Self::ServerAlive(status) => to.u32(status.0),
            Self::ComplexPing { set, backoff, status } => {
                to.u64(*set);
                to.u16(*backoff);
                to.u32(status.0);
            }
            Self::ServerAlive2(found) => {
                let (version, bindings) = found.as_ref().map_or((ComVersion::OURS, None), |it| (it.0, Some(&it.1)));
                version.write(to);
                DualStringArray::write_pointer(bindings, to);
                to.u32(0);
                to.u32(found.as_ref().err().unwrap_or(&OK).0);
            }
        }
    }
}

fn read_status(from: &mut Decoder<'_>) -> Result<Status, Malformed> {
    from.u32("error_status_t").map(Status)
}

/// Decodes the status at the end of a response. Returns `value` if the status is success, otherwise
/// the status.
fn or_status<T>(from: &mut Decoder<'_>, what: &'static str, value: Option<T>) -> Result<Result<T, Status>, Malformed> {
    match read_status(from)? {
        OK => value.map(Ok).ok_or(Malformed::Null { what }),
        status => Ok(Err(status)),
    }
}

fn read_resolved(from: &mut Decoder<'_>, has_version: bool) -> Result<Result<Resolved, Status>, Malformed> {
    let bindings = DualStringArray::read_pointer(from, "ppdsaOxidBindings")?;
    let (rem_unknown, authn_hint) = (from.guid("pipidRemUnknown")?, from.u32("pAuthnHint")?);
    // The server of a response without version counts as a server of the first version, 5.1
    // (2.2.11).
    let version = if has_version { ComVersion::read(from)? } else { ComVersion { major: 5, minor: 1 } };
    let resolved = bindings.map(|bindings| Resolved { bindings, rem_unknown, authn_hint, version });
    or_status(from, "ppdsaOxidBindings", resolved)
}

fn write_resolved(found: &Result<Resolved, Status>, to: &mut Encoder<'_>, has_version: bool) {
    let resolved = found.as_ref().ok();
    DualStringArray::write_pointer(resolved.map(|it| &it.bindings), to);
    to.guid(&resolved.map_or_else(GUID::zeroed, |it| it.rem_unknown));
    to.u32(resolved.map_or(0, |it| it.authn_hint));
    if has_version {
        resolved.map_or(ComVersion::OURS, |it| it.version).write(to);
    }
    to.u32(found.as_ref().err().unwrap_or(&OK).0);
}
