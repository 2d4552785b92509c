//! `IRemUnknown` and `IRemUnknown2` (MS-DCOM 3.1.1.5.6, 3.1.1.5.7): queries for further interfaces
//! of objects, and reference counting.
//!
//! A request names the IPID of the exporter's own `IRemUnknown`, and follows ORPCTHIS. A response
//! follows ORPCTHAT.

use super::objref::{StdObjRef, read_references, write_references};
use super::stub_data::{BadCall, Body, Calls, Decoder, Encoder, Malformed};
use super::{Interface, Method, com_guid};
use windows_core::{GUID, HRESULT};

/// The opnum of RemRelease.
pub(crate) const RELEASE: u16 = 5;

/// The interface `IRemUnknown`.
pub const INTERFACE: Interface = Interface {
    id: com_guid(0x131),
    name: "IRemUnknown",
    has_objects: true,
    methods: INTERFACE_2.methods.split_at(3).0,
};

/// The interface `IRemUnknown2`, which includes the methods of `IRemUnknown`.
pub const INTERFACE_2: Interface = Interface {
    id: com_guid(0x143),
    name: "IRemUnknown2",
    has_objects: true,
    methods: &[
        Method { opnum: 3, name: "RemQueryInterface" },
        Method { opnum: 4, name: "RemAddRef" },
        Method { opnum: 5, name: "RemRelease" },
        Method { opnum: 6, name: "RemQueryInterface2" },
    ],
};

/// REMINTERFACEREF (2.2.23): a number of references to an interface pointer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterfaceRef {
    /// The IPID of the interface pointer.
    pub ipid: GUID,
    /// The references that may be passed on.
    pub public: u32,
    /// The references that only their owner can release.
    pub private: u32,
}

/// REMQIRESULT (2.2.24): the result for a queried interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryResult {
    /// The result of the query: whether the object has the interface.
    pub result: HRESULT,
    /// The interface pointer, if the object has the interface.
    pub std: StdObjRef,
}

/// A call of `IRemUnknown` or `IRemUnknown2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Opnum 3: queries for further interfaces.
    QueryInterface {
        /// The IPID of one of the object's interface pointers.
        ipid: GUID,
        /// The number of public references for each interface.
        refs: u32,
        /// The IIDs of the wanted interfaces.
        iids: Vec<GUID>,
    },
    /// Opnum 4: adds references.
    AddRef(Vec<InterfaceRef>),
    /// Opnum 5: releases references.
    Release(Vec<InterfaceRef>),
    /// Opnum 6: queries for further interfaces of objects that may have custom references.
    QueryInterface2 {
        /// The IPID of one of the object's interface pointers.
        ipid: GUID,
        /// The IIDs of the wanted interfaces.
        iids: Vec<GUID>,
    },
}

impl Body for InterfaceRef {
    fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        Ok(Self { ipid: from.guid("ipid")?, public: from.u32("cPublicRefs")?, private: from.u32("cPrivateRefs")? })
    }

    fn write(&self, to: &mut Encoder<'_>) {
        to.guid(&self.ipid);
        to.u32(self.public);
        to.u32(self.private);
    }
}

/// The greatest number of elements that a count of 16 bits can state.
const COUNT_MAX: usize = u16::MAX as usize;

fn read_iids(from: &mut Decoder<'_>) -> Result<Vec<GUID>, Malformed> {
    let count = from.count16(COUNT_MAX, "cIids")?;
    from.array(count, 16, "iids", |from| from.guid("iids"))
}

fn write_iids(iids: &[GUID], to: &mut Encoder<'_>) {
    to.count16(iids.len(), COUNT_MAX, "cIids");
    to.array(iids, |to, iid| to.guid(iid));
}

fn read_refs(from: &mut Decoder<'_>) -> Result<Vec<InterfaceRef>, Malformed> {
    let count = from.count16(COUNT_MAX, "cInterfaceRefs")?;
    from.array(count, 24, "InterfaceRefs", InterfaceRef::read)
}

fn write_refs(refs: &[InterfaceRef], to: &mut Encoder<'_>) {
    to.count16(refs.len(), COUNT_MAX, "cInterfaceRefs");
    to.array(refs, |to, refs| refs.write(to));
}

impl Calls for Request {
    const INTERFACE: &'static Interface = &INTERFACE_2;

    fn opnum(&self) -> u16 {
        match self {
            Self::QueryInterface { .. } => 3,
            Self::AddRef(_) => 4,
            Self::Release(_) => RELEASE,
            Self::QueryInterface2 { .. } => 6,
        }
    }

    fn read(opnum: u16, from: &mut Decoder<'_>) -> Result<Self, BadCall> {
        Ok(match opnum {
            3 => {
                let (ipid, refs) = (from.guid("ripid")?, from.u32("cRefs")?);
                Self::QueryInterface { ipid, refs, iids: read_iids(from)? }
            }
            4 => Self::AddRef(read_refs(from)?),
            5 => Self::Release(read_refs(from)?),
            6 => Self::QueryInterface2 { ipid: from.guid("ripid")?, iids: read_iids(from)? },
            _ => return Err(BadCall::Opnum(opnum)),
        })
    }

    fn write(&self, to: &mut Encoder<'_>) {
        match self {
            Self::QueryInterface { ipid, refs, iids } => {
                to.guid(ipid);
                to.u32(*refs);
                write_iids(iids, to);
            }
            Self::AddRef(refs) | Self::Release(refs) => write_refs(refs, to),
            Self::QueryInterface2 { ipid, iids } => {
                to.guid(ipid);
                write_iids(iids, to);
            }
        }
    }
}

/// The response of an exporter. Each response ends with an HRESULT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Response {
    /// The response to opnum 3: one result for each interface; none where the whole call failed.
    QueryInterface(Vec<QueryResult>, HRESULT),
    /// The response to opnum 4: one result for each interface pointer.
    AddRef(Vec<HRESULT>, HRESULT),
    /// The response to opnum 5.
    Release(HRESULT),
    /// The response to opnum 6: for each interface, whether the object has it, and if so the bytes
    /// of the reference.
    QueryInterface2(Vec<(HRESULT, Option<Vec<u8>>)>, HRESULT),
}

impl Response {
    /// Decodes the results of a method for `asked` interfaces.
    ///
    /// # Errors
    ///
    /// If the results are malformed.
    pub fn read(opnum: u16, asked: usize, from: &mut Decoder<'_>) -> Result<Self, BadCall> {
        Ok(match opnum {
            3 => {
                let results = match from.pointer("ppQIResults")? {
                    true => from.array(asked, 48, "ppQIResults", QueryResult::read)?,
                    false => Vec::new(),
                };
                match read_result(from)? {
                    result if result.is_ok() && results.len() != asked => {
                        return Err(Malformed::Null { what: "ppQIResults" }.into());
                    }
                    result => Self::QueryInterface(results, result),
                }
            }
            4 => Self::AddRef(from.array(asked, 4, "pResults", read_result)?, read_result(from)?),
            5 => Self::Release(read_result(from)?),
            6 => {
                let results = from.array(asked, 4, "phr", read_result)?;
                let references = read_references(from, asked, "ppMIF")?;
                Self::QueryInterface2(results.into_iter().zip(references).collect(), read_result(from)?)
            }
            _ => return Err(BadCall::Opnum(opnum)),
        })
    }

    /// Encodes the results.
    pub fn write(&self, to: &mut Encoder<'_>) {
        let result = match self {
            Self::QueryInterface(results, result) => {
                to.pointer(!results.is_empty());
                if !results.is_empty() {
                    to.array(results, |to, result| result.write(to));
                }
                result
            }
            Self::AddRef(results, result) => {
                to.array(results, |to, result| write_result(*result, to));
                result
            }
            Self::Release(result) => result,
            Self::QueryInterface2(results, result) => {
                to.array(results, |to, (result, _)| write_result(*result, to));
                let references: Vec<_> = results.iter().map(|(_, reference)| reference.as_deref()).collect();
                write_references(&references, to);
                result
            }
        };
        write_result(*result, to);
    }
}

fn read_result(from: &mut Decoder<'_>) -> Result<HRESULT, Malformed> {
    from.u32("HRESULT").map(|result| HRESULT(result.cast_signed()))
}

fn write_result(result: HRESULT, to: &mut Encoder<'_>) {
    to.u32(result.0.cast_unsigned());
}

impl Body for QueryResult {
    fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        // The structure is aligned like its members.
        from.align(8, "REMQIRESULT")?;
        Ok(Self { result: read_result(from)?, std: StdObjRef::read(from)? })
    }

    fn write(&self, to: &mut Encoder<'_>) {
        to.align(8);
        write_result(self.result, to);
        self.std.write(to);
    }
}
