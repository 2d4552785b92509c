//! Activation properties (MS-DCOM 2.2.22): the properties of an activation request and of its
//! answer.
//!
//! Requests and answers travel as custom references. Each begins with a header that lists the
//! classes and sizes of the properties. The properties follow, each serialized separately
//! (MS-RPCE 2.2.6).

mod properties;

pub use properties::{
    ActivationContextInfo, InstanceInfo, InstantiationInfo, LocationInfo, OutInterface, PropsOutInfo, ScmReplyInfo,
    ScmRequestInfo, SecurityInfo, SpecialProperties,
};

use super::com_guid;
use super::objref::ObjRef;
use super::stub_data::{Body, Decoder, Encoder, Malformed};
use obvia_ndr::ndr::Order;
use obvia_ndr::serialization::{self, Values};
use obvia_rpc::ByteOrder;
use windows_core::GUID;

/// The class and the interface of the custom reference in a request (CLSID_ActivationPropertiesIn).
const CLSID_IN: GUID = com_guid(0x338);
const IID_IN: GUID = com_guid(0x1a2);
/// The class and the interface of the custom reference in an answer
/// (CLSID_ActivationPropertiesOut).
const CLSID_OUT: GUID = com_guid(0x339);
const IID_OUT: GUID = com_guid(0x1a3);

/// The greatest number of properties (MAX_ACTPROP_LIMIT, MS-DCOM 2.2.28.1); the least number is
/// one.
const PROPERTIES_MAX: usize = 10;
/// The number of bytes before a serialized value: the common header and the value's private header.
const HEADERS: usize = 16;
/// The origin of a call: another machine (MSHCTX_DIFFERENTMACHINE).
const DIFFERENT_MACHINE: u32 = 2;

/// An activation property. The property's class determines the variant.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Property {
    /// The class and the wanted interfaces.
    Instantiation(InstantiationInfo),
    /// The logon session, the partition, and other options of the activation.
    Special(SpecialProperties),
    /// The source of the object's initial state.
    Instance(InstanceInfo),
    /// The protocol sequences of the client.
    ScmRequest(ScmRequestInfo),
    /// The client's context.
    Context(ActivationContextInfo),
    /// The location properties, which servers ignore.
    Location(LocationInfo),
    /// The security properties, which servers ignore.
    Security(SecurityInfo),
    /// The bindings of the process that has the object.
    ScmReply(ScmReplyInfo),
    /// The references to the wanted interfaces.
    PropsOut(PropsOutInfo),
    /// A property of another class, or an unreadable property that servers ignore: the class and
    /// the serialized value.
    Other(GUID, Vec<u8>),
}

impl Property {
    /// Returns the class of the property (MS-DCOM 1.9).
    pub fn class(&self) -> GUID {
        com_guid(match self {
            Self::Instantiation(_) => 0x1ab,
            Self::Special(_) => 0x1b9,
            Self::Instance(_) => 0x1ad,
            Self::ScmRequest(_) => 0x1aa,
            Self::Context(_) => 0x1a5,
            Self::Location(_) => 0x1a4,
            Self::Security(_) => 0x1a6,
            Self::ScmReply(_) => 0x1b6,
            Self::PropsOut(_) => 0x339,
            Self::Other(class, _) => return *class,
        })
    }

    fn read(class: GUID, bytes: &[u8]) -> Result<Self, Malformed> {
        let other = || Self::Other(class, bytes.to_vec());
        if class != com_guid(class.data1) {
            return Ok(other());
        }
        Ok(match class.data1 {
            0x1ab => Self::Instantiation(read_value(bytes)?),
            0x1b9 => Self::Special(read_value(bytes)?),
            0x1ad => Self::Instance(read_value(bytes)?),
            0x1aa => Self::ScmRequest(read_value(bytes)?),
            0x1a5 => Self::Context(read_value(bytes)?),
            // A malformed property that servers ignore is no error.
            0x1a4 => read_value(bytes).map_or_else(|_| other(), Self::Location),
            0x1a6 => read_value(bytes).map_or_else(|_| other(), Self::Security),
            0x1b6 => Self::ScmReply(read_value(bytes)?),
            0x339 => Self::PropsOut(read_value(bytes)?),
            _ => other(),
        })
    }

    fn to_bytes(&self) -> Result<Vec<u8>, Malformed> {
        match self {
            Self::Instantiation(value) => write_value(value),
            Self::Special(value) => write_value(value),
            Self::Instance(value) => write_value(value),
            Self::ScmRequest(value) => write_value(value),
            Self::Context(value) => write_value(value),
            Self::Location(value) => write_value(value),
            Self::Security(value) => write_value(value),
            Self::ScmReply(value) => write_value(value),
            Self::PropsOut(value) => write_value(value),
            Self::Other(_, bytes) => Ok(bytes.clone()),
        }
    }
}

/// The properties of a request or an answer, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Properties {
    /// The context (MSHCTX) that the client claims to have; unused.
    pub destination: u32,
    /// The properties in their order: one to ten.
    pub list: Vec<Property>,
}

/// Returns the mandatory property of a kind, which is a variant of `Property`, or the error that
/// the property is missing.
macro_rules! find {
    ($properties:expr, $kind:ident) => {
        $properties
            .list
            .iter()
            .find_map(|property| if let Property::$kind(value) = property { Some(value) } else { None })
            .ok_or(Malformed::Missing { what: concat!("property ", stringify!($kind)) })
    };
}

impl Properties {
    /// Makes the properties of a request or an answer between two machines.
    pub fn new(list: Vec<Property>) -> Self {
        Self { destination: DIFFERENT_MACHINE, list }
    }

    /// Returns the class and the wanted interfaces.
    ///
    /// # Errors
    ///
    /// If the property is missing.
    pub fn instantiation(&self) -> Result<&InstantiationInfo, Malformed> {
        find!(self, Instantiation)
    }

    /// Returns the protocol sequences of the client.
    ///
    /// # Errors
    ///
    /// If the property is missing.
    pub fn scm_request(&self) -> Result<&ScmRequestInfo, Malformed> {
        find!(self, ScmRequest)
    }

    /// Returns the bindings of the process that has the object.
    ///
    /// # Errors
    ///
    /// If the property is missing.
    pub fn scm_reply(&self) -> Result<&ScmReplyInfo, Malformed> {
        find!(self, ScmReply)
    }

    /// Returns the references to the wanted interfaces.
    ///
    /// # Errors
    ///
    /// If the property is missing.
    pub fn props_out(&self) -> Result<&PropsOutInfo, Malformed> {
        find!(self, PropsOut)
    }

    /// Encodes a request: the bytes of a custom reference.
    ///
    /// # Errors
    ///
    /// If there are too many properties, or a property is too long.
    pub fn to_request(&self) -> Result<Vec<u8>, Malformed> {
        ObjRef::Custom { iid: IID_IN, clsid: CLSID_IN, data: self.to_bytes()? }.to_bytes()
    }

    /// Encodes an answer: the bytes of a custom reference. Clients expect [`Property::PropsOut`]
    /// first, then [`Property::ScmReply`].
    ///
    /// # Errors
    ///
    /// If there are too many properties, or a property is too long.
    pub fn to_answer(&self) -> Result<Vec<u8>, Malformed> {
        ObjRef::Custom { iid: IID_OUT, clsid: CLSID_OUT, data: self.to_bytes()? }.to_bytes()
    }

    /// Decodes a request.
    ///
    /// # Errors
    ///
    /// If the reference or a property is malformed.
    pub fn from_request(reference: &[u8]) -> Result<Self, Malformed> {
        Self::from_reference(reference, CLSID_IN)
    }

    /// Decodes an answer.
    ///
    /// # Errors
    ///
    /// If the reference or a property is malformed.
    pub fn from_answer(reference: &[u8]) -> Result<Self, Malformed> {
        Self::from_reference(reference, CLSID_OUT)
    }

    fn from_reference(reference: &[u8], expected: GUID) -> Result<Self, Malformed> {
        match ObjRef::from_bytes(reference)? {
            ObjRef::Custom { clsid, data, .. } if clsid == expected => Self::from_bytes(&data),
            _ => Err(Malformed::Missing { what: "custom reference with activation properties" }),
        }
    }

    /// Decodes the data of the custom reference: the size, the header, the properties.
    ///
    /// # Errors
    ///
    /// If the data is malformed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        let from = &mut Decoder::packed(bytes);
        let size = from.u32("dwSize")?;
        from.u32("dwReserved")?;
        let blob = from.bytes(size as usize, "CustomHeader")?;
        let header: CustomHeader = read_value(blob)?;
        let properties = &mut Decoder::packed(blob);
        properties.bytes(header.header_size, "CustomHeader")?;
        let mut list = Vec::with_capacity(header.properties.len());
        for (class, size) in header.properties {
            list.push(Property::read(class, properties.bytes(size as usize, "Property")?)?);
        }
        Ok(Self { destination: header.destination, list })
    }

    /// Encodes the data of the custom reference.
    ///
    /// # Errors
    ///
    /// If there are too many properties, or a property is too long.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Malformed> {
        let properties = self.list.iter().map(Property::to_bytes).collect::<Result<Vec<_>, _>>()?;
        let sizes = properties.iter().map(|property| property.len() as u32);
        let mut header = CustomHeader {
            total_size: 0,
            header_size: 0,
            destination: self.destination,
            properties: self.list.iter().map(Property::class).zip(sizes).collect(),
        };
        // The header contains its own length, which does not depend on the header's values.
        header.header_size = write_value(&header)?.len();
        header.total_size = header.header_size + properties.iter().map(Vec::len).sum::<usize>();
        let header_bytes = write_value(&header)?;
        Encoder::pack(|to| {
            to.u32(header.total_size as u32);
            to.u32(0);
            to.bytes(&header_bytes);
            properties.iter().for_each(|property| to.bytes(property));
        })
    }
}

/// The header before the properties: CustomHeader (MS-DCOM 2.2.22.1).
struct CustomHeader {
    total_size: usize,
    header_size: usize,
    destination: u32,
    /// The class and the size of each property.
    properties: Vec<(GUID, u32)>,
}

impl Body for CustomHeader {
    fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let (total_size, header_size) = (from.u32("totalSize")? as usize, from.u32("headerSize")? as usize);
        from.u32("dwReserved")?;
        let destination = from.u32("destCtx")?;
        let count = from.count(PROPERTIES_MAX, "cIfs")?;
        if count == 0 {
            return Err(from.wrong("cIfs", 0_u32));
        }
        from.guid("classInfoClsid")?;
        from.reference("pclsid")?;
        from.reference("pSizes")?;
        from.pointer("pdwReserved")?;
        let classes = from.array(count, 16, "pclsid", |from| from.guid("pclsid"))?;
        let sizes = from.array(count, 4, "pSizes", |from| from.u32("pSizes"))?;
        Ok(Self { total_size, header_size, destination, properties: classes.into_iter().zip(sizes).collect() })
    }

    fn write(&self, to: &mut Encoder<'_>) {
        to.u32(self.total_size as u32);
        to.u32(self.header_size as u32);
        to.u32(0);
        to.u32(self.destination);
        to.count(self.properties.len(), PROPERTIES_MAX, "cIfs");
        to.guid(&GUID::zeroed());
        to.pointer(true);
        to.pointer(true);
        to.pointer(false);
        to.array(&self.properties, |to, (class, _)| to.guid(class));
        to.array(&self.properties, |to, (_, size)| to.u32(*size));
    }
}

/// Decodes a serialized value, which ends where `bytes` ends. The length in the value's own header
/// is ignored, since some clients leave out the padding (MS-RPCE 2.2.6.2).
fn read_value<T: Body>(bytes: &[u8]) -> Result<T, Malformed> {
    let order = match Values::read(bytes)?.order() {
        Order::Little => ByteOrder::Little,
        Order::Big => ByteOrder::Big,
    };
    T::decode(order, bytes.get(HEADERS..).ok_or(serialization::Error::Short)?)
}

/// Encodes a serialized value with its headers and padding, little endian.
fn write_value<T: Body>(value: &T) -> Result<Vec<u8>, Malformed> {
    let value = value.encode(ByteOrder::Little)?;
    let mut bytes = Vec::new();
    serialization::write_header(Order::Little, &mut bytes);
    let written = serialization::write_value(Order::Little, &mut bytes, |out| {
        out.extend_from_slice(&value);
        Ok(())
    });
    let too_long = |_| Malformed::TooMany { what: "Property", count: value.len() as u64, max: u32::MAX.into() };
    written.map(|()| bytes).map_err(too_long)
}
