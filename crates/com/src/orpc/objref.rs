//! OBJREF (MS-DCOM 2.2.18): an interface pointer as bytes, in each of its four forms.

use super::bindings::DualStringArray;
use super::stub_data::{Body, Decoder, Encoder, Malformed};
use windows_core::GUID;

/// The first four bytes of every OBJREF: "MEOW".
const SIGNATURE: u32 = 0x574f_454d;
const STANDARD: u32 = 1;
const HANDLER: u32 = 2;
const CUSTOM: u32 = 4;
const EXTENDED: u32 = 8;
/// The signature that the extended form contains twice: "VYSN".
const EXTENDED_SIGNATURE: u32 = 0x4e53_5956;
/// The greatest length, in bytes, of the data in a custom reference, and of the context in an
/// extended reference.
const DATA_MAX: usize = 1 << 20;

/// The flag of an object that must not be pinged (SORF_NOPING, MS-DCOM 2.2.18.2).
pub const NO_PING: u32 = 0x0000_1000;

/// STDOBJREF (MS-DCOM 2.2.18.1): an interface pointer, its object and its process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StdObjRef {
    /// The flags: [`NO_PING`], and flags that have no meaning here.
    pub flags: u32,
    /// The number of public references that travel with the interface pointer. The receiver must
    /// release them.
    pub public_refs: u32,
    /// The OXID of the process that has the object.
    pub oxid: u64,
    /// The OID of the object.
    pub oid: u64,
    /// The IPID of the interface pointer.
    pub ipid: GUID,
}

impl Body for StdObjRef {
    fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        // The structure is aligned to 8, like its widest member.
        from.align(8, "STDOBJREF")?;
        Ok(Self {
            flags: from.u32("STDOBJREF.flags")?,
            public_refs: from.u32("cPublicRefs")?,
            oxid: from.u64("oxid")?,
            oid: from.u64("oid")?,
            ipid: from.guid("ipid")?,
        })
    }

    fn write(&self, to: &mut Encoder<'_>) {
        to.align(8);
        to.u32(self.flags);
        to.u32(self.public_refs);
        to.u64(self.oxid);
        to.u64(self.oid);
        to.guid(&self.ipid);
    }
}

/// An interface pointer as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjRef {
    /// OBJREF_STANDARD (2.2.18.4): the client calls the object by a proxy, without a handler class.
    Standard {
        /// The IID of the interface.
        iid: GUID,
        /// The STDOBJREF of the interface pointer.
        std: StdObjRef,
        /// The bindings of the resolver that knows the process.
        resolver: DualStringArray,
    },
    /// OBJREF_HANDLER (2.2.18.5): the client has a handler class for the object.
    Handler {
        /// The IID of the interface.
        iid: GUID,
        /// The STDOBJREF of the interface pointer.
        std: StdObjRef,
        /// The CLSID of the handler class.
        clsid: GUID,
        /// The bindings of the resolver that knows the process.
        resolver: DualStringArray,
    },
    /// OBJREF_CUSTOM (2.2.18.6): the unmarshaler class interprets the data.
    Custom {
        /// The IID of the interface.
        iid: GUID,
        /// The CLSID of the unmarshaler class.
        clsid: GUID,
        /// The data that the object's own marshaler has written.
        data: Vec<u8>,
    },
    /// OBJREF_EXTENDED (2.2.18.7): a standard reference with the context of the object.
    Extended {
        /// The IID of the interface.
        iid: GUID,
        /// The STDOBJREF of the interface pointer.
        std: StdObjRef,
        /// The bindings of the resolver that knows the process.
        resolver: DualStringArray,
        /// The GUID that identifies the kind of the context.
        context_id: GUID,
        /// The context (2.2.20), uninterpreted; never empty.
        context: Vec<u8>,
    },
}

impl ObjRef {
    /// Returns the IID of the reference's interface.
    pub fn iid(&self) -> &GUID {
        match self {
            Self::Standard { iid, .. }
            | Self::Handler { iid, .. }
            | Self::Custom { iid, .. }
            | Self::Extended { iid, .. } => iid,
        }
    }

    /// Returns the interface pointer and the bindings of its resolver; `None` for custom
    /// references.
    pub fn standard(&self) -> Option<(&StdObjRef, &DualStringArray)> {
        match self {
            Self::Standard { std, resolver, .. }
            | Self::Handler { std, resolver, .. }
            | Self::Extended { std, resolver, .. } => Some((std, resolver)),
            Self::Custom { .. } => None,
        }
    }

    /// Decodes a reference. Bytes that follow it are ignored.
    ///
    /// # Errors
    ///
    /// If the reference is malformed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        let from = &mut Decoder::packed(bytes);
        from.expect(SIGNATURE, "OBJREF.signature")?;
        let (flags, iid) = (from.u32("OBJREF.flags")?, from.guid("OBJREF.iid")?);
        if iid == GUID::zeroed() {
            return Err(from.wrong("OBJREF.iid", 0_u32));
        }
        match flags {
            STANDARD => {
                let std = StdObjRef::read(from)?;
                Ok(Self::Standard { iid, std, resolver: DualStringArray::read_packed(from)? })
            }
            HANDLER => {
                let (std, clsid) = (StdObjRef::read(from)?, from.guid("clsid")?);
                Ok(Self::Handler { iid, std, clsid, resolver: DualStringArray::read_packed(from)? })
            }
            CUSTOM => {
                let clsid = from.guid("clsid")?;
                // The lengths of the extension and of the data are ignored (2.2.18.6).
                from.bytes(8, "cbExtension")?;
                let data = from.rest();
                if data.len() > DATA_MAX {
                    let (what, count) = ("pObjectData", data.len() as u64);
                    return Err(Malformed::TooMany { what, count, max: DATA_MAX as u64 });
                }
                Ok(Self::Custom { iid, clsid, data: data.to_vec() })
            }
            EXTENDED => Self::read_extended(from, iid),
            _ => Err(from.wrong("OBJREF.flags", flags)),
        }
    }

    fn read_extended(from: &mut Decoder<'_>, iid: GUID) -> Result<Self, Malformed> {
        let std = StdObjRef::read(from)?;
        from.expect(EXTENDED_SIGNATURE, "Signature1")?;
        let resolver = DualStringArray::read_packed(from)?;
        from.expect(1, "nElms")?;
        from.expect(EXTENDED_SIGNATURE, "Signature2")?;
        let context_id = from.guid("dataID")?;
        let size = from.count(DATA_MAX, "cbSize")?;
        if size == 0 {
            return Err(from.wrong("cbSize", 0_u32));
        }
        from.expect(size.next_multiple_of(8) as u32, "cbRounded")?;
        let context = from.bytes(size.next_multiple_of(8), "Data")?[..size].to_vec();
        Ok(Self::Extended { iid, std, resolver, context_id, context })
    }

    /// Encodes the reference.
    ///
    /// # Errors
    ///
    /// If the data or the context is too long.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Malformed> {
        Encoder::pack(|to| {
            let flags = match self {
                Self::Standard { .. } => STANDARD,
                Self::Handler { .. } => HANDLER,
                Self::Custom { .. } => CUSTOM,
                Self::Extended { .. } => EXTENDED,
            };
            to.u32(SIGNATURE);
            to.u32(flags);
            to.guid(self.iid());
            match self {
                Self::Standard { std, resolver, .. } => {
                    std.write(to);
                    resolver.write_packed(to);
                }
                Self::Handler { std, clsid, resolver, .. } => {
                    std.write(to);
                    to.guid(clsid);
                    resolver.write_packed(to);
                }
                Self::Custom { clsid, data, .. } => {
                    to.guid(clsid);
                    to.u32(0);
                    // The field is reserved, and receivers ignore it (2.2.18.6). Its value here is
                    // the value that other implementations write.
                    to.check(data.len(), DATA_MAX, "pObjectData");
                    to.u32(data.len() as u32 + 8);
                    to.bytes(data);
                }
                Self::Extended { std, resolver, context_id, context, .. } => {
                    std.write(to);
                    to.u32(EXTENDED_SIGNATURE);
                    resolver.write_packed(to);
                    to.u32(1);
                    to.u32(EXTENDED_SIGNATURE);
                    to.guid(context_id);
                    to.count(context.len(), DATA_MAX, "cbSize");
                    let rounded = context.len().next_multiple_of(8);
                    to.u32(rounded as u32);
                    to.bytes(context);
                    to.zeros(rounded - context.len());
                }
            }
        })
    }
}

/// The greatest length of a reference in a parameter, in bytes.
const REFERENCE_MAX: usize = DATA_MAX + (1 << 16);

/// Decodes the target of a unique pointer to an MInterfacePointer (MS-DCOM 2.2.14). Returns the
/// bytes of an [`ObjRef`]; `None` for a null pointer.
pub(super) fn read_pointer(from: &mut Decoder<'_>, what: &'static str) -> Result<Option<Vec<u8>>, Malformed> {
    if from.pointer(what)? { read_reference(from, what).map(Some) } else { Ok(None) }
}

/// Decodes an MInterfacePointer: the length, which occurs both as the conformance and as a member,
/// and then the bytes.
pub(super) fn read_reference(from: &mut Decoder<'_>, what: &'static str) -> Result<Vec<u8>, Malformed> {
    let conformance = from.count(REFERENCE_MAX, what)?;
    let count = from.u32("ulCntData")?;
    if usize::try_from(count) != Ok(conformance) {
        return Err(from.wrong("ulCntData", count));
    }
    from.bytes(conformance, what).map(<[u8]>::to_vec)
}

pub(super) fn write_pointer(reference: Option<&[u8]>, to: &mut Encoder<'_>) {
    to.pointer(reference.is_some());
    if let Some(reference) = reference {
        write_reference(reference, to);
    }
}

pub(super) fn write_reference(reference: &[u8], to: &mut Encoder<'_>) {
    to.count(reference.len(), REFERENCE_MAX, "ulCntData");
    to.u32(reference.len() as u32);
    to.bytes(reference);
}

/// Decodes a conformant array of unique pointers to MInterfacePointer.
pub(super) fn read_references(
    from: &mut Decoder<'_>,
    count: usize,
    what: &'static str,
) -> Result<Vec<Option<Vec<u8>>>, Malformed> {
    let there = from.array(count, 4, what, |from| from.pointer(what))?;
    there.into_iter().map(|is_there| if is_there { read_reference(from, what).map(Some) } else { Ok(None) }).collect()
}

pub(super) fn write_references(references: &[Option<&[u8]>], to: &mut Encoder<'_>) {
    to.array(references, |to, reference| to.pointer(reference.is_some()));
    references.iter().flatten().for_each(|reference| write_reference(reference, to));
}
