//! Activation properties (MS-DCOM 2.2.22): what a client asks of a new object, and what it is told about it.
//!
//! Both travel as custom references. In each is a header that says which properties follow and how long each is, then the properties,
//! each serialized for itself (MS-RPCE 2.2.6).

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

/// The class of a custom reference with what is asked (CLSID_ActivationPropertiesIn), and its interface.
const CLSID_IN: GUID = com_guid(0x338);
const IID_IN: GUID = com_guid(0x1a2);
/// The class of a custom reference with what is answered (CLSID_ActivationPropertiesOut), and its interface.
const CLSID_OUT: GUID = com_guid(0x339);
const IID_OUT: GUID = com_guid(0x1a3);

/// Properties that there may be (MAX_ACTPROP_LIMIT, MS-DCOM 2.2.28.1); there is one at least.
const PROPERTIES_MAX: usize = 10;
/// Bytes before a serialized value: the common header and its own.
const HEADERS: usize = 16;
/// Where a call comes from: another machine (MSHCTX_DIFFERENTMACHINE).
const DIFFERENT_MACHINE: u32 = 2;

/// A property, by the class that says what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Property {
    /// Which class, and which interfaces of it.
    Instantiation(InstantiationInfo),
    /// Miscellaneous wishes.
    Special(SpecialProperties),
    /// What the object is initialized from.
    Instance(InstanceInfo),
    /// Which protocol sequences the client has.
    ScmRequest(ScmRequestInfo),
    /// The client's context.
    Context(ActivationContextInfo),
    /// Where; servers ignore it.
    Location(LocationInfo),
    /// By whom; servers ignore it.
    Security(SecurityInfo),
    /// How to get to the process that has the object.
    ScmReply(ScmReplyInfo),
    /// The references.
    PropsOut(PropsOutInfo),
    /// Something else, or something to be ignored that is none of the above: its class and the serialized value.
    Other(GUID, Vec<u8>),
}

impl Property {
    /// The class that says what it is (MS-DCOM 1.9).
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
            // What is to be ignored is no reason to refuse.
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

/// All properties of a request or an answer, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Where the client is, as it says (MSHCTX); nothing that anybody looks at.
    pub destination: u32,
    /// The properties: one at least, ten at the most.
    pub list: Vec<Property>,
}

/// Looks for a property of a kind that has to be there.
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
    /// For or from another machine.
    pub fn new(list: Vec<Property>) -> Self {
        Self { destination: DIFFERENT_MACHINE, list }
    }

    /// Which class is asked for.
    ///
    /// # Errors
    ///
    /// When that is not said.
    pub fn instantiation(&self) -> Result<&InstantiationInfo, Malformed> {
        find!(self, Instantiation)
    }

    /// Which protocol sequences the client has.
    ///
    /// # Errors
    ///
    /// When that is not said.
    pub fn scm_request(&self) -> Result<&ScmRequestInfo, Malformed> {
        find!(self, ScmRequest)
    }

    /// How to get to the process that has the object.
    ///
    /// # Errors
    ///
    /// When that is not said.
    pub fn scm_reply(&self) -> Result<&ScmReplyInfo, Malformed> {
        find!(self, ScmReply)
    }

    /// The references.
    ///
    /// # Errors
    ///
    /// When there are none.
    pub fn props_out(&self) -> Result<&PropsOutInfo, Malformed> {
        find!(self, PropsOut)
    }

    /// As what is asked: the bytes of a custom reference.
    ///
    /// # Errors
    ///
    /// What there is too much of.
    pub fn to_request(&self) -> Result<Vec<u8>, Malformed> {
        ObjRef::Custom { iid: IID_IN, clsid: CLSID_IN, data: self.to_bytes()? }.to_bytes()
    }

    /// As what is answered: the bytes of a custom reference. Clients expect [`Property::PropsOut`] first, then [`Property::ScmReply`].
    ///
    /// # Errors
    ///
    /// What there is too much of.
    pub fn to_answer(&self) -> Result<Vec<u8>, Malformed> {
        ObjRef::Custom { iid: IID_OUT, clsid: CLSID_OUT, data: self.to_bytes()? }.to_bytes()
    }

    /// What is asked.
    ///
    /// # Errors
    ///
    /// What is wrong with the reference or the properties.
    pub fn from_request(reference: &[u8]) -> Result<Self, Malformed> {
        Self::from_reference(reference, CLSID_IN)
    }

    /// What is answered.
    ///
    /// # Errors
    ///
    /// What is wrong with the reference or the properties.
    pub fn from_answer(reference: &[u8]) -> Result<Self, Malformed> {
        Self::from_reference(reference, CLSID_OUT)
    }

    fn from_reference(reference: &[u8], expected: GUID) -> Result<Self, Malformed> {
        match ObjRef::from_bytes(reference)? {
            ObjRef::Custom { clsid, data, .. } if clsid == expected => Self::from_bytes(&data),
            _ => Err(Malformed::Missing { what: "custom reference with activation properties" }),
        }
    }

    /// Reads the data of the reference: how much there is, the header, the properties.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
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

    /// The data of the reference.
    ///
    /// # Errors
    ///
    /// What there is too much of.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Malformed> {
        let properties = self.list.iter().map(Property::to_bytes).collect::<Result<Vec<_>, _>>()?;
        let sizes = properties.iter().map(|property| property.len() as u32);
        let mut header = CustomHeader {
            total_size: 0,
            header_size: 0,
            destination: self.destination,
            properties: self.list.iter().map(Property::class).zip(sizes).collect(),
        };
        // It says its own length, which does not depend on what it says.
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

/// CustomHeader (MS-DCOM 2.2.22.1).
struct CustomHeader {
    total_size: usize,
    header_size: usize,
    destination: u32,
    /// Class and size of each.
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

/// Reads a serialized value. How long it is was said outside: some clients leave its padding out of the length in its own header, so
/// that is not looked at (MS-RPCE 2.2.6.2).
fn read_value<T: Body>(bytes: &[u8]) -> Result<T, Malformed> {
    let order = match Values::read(bytes)?.order() {
        Order::Little => ByteOrder::Little,
        Order::Big => ByteOrder::Big,
    };
    T::decode(order, bytes.get(HEADERS..).ok_or(serialization::Error::Short)?)
}

/// A serialized value with its headers and padding, little endian.
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
