//! Towers (C706 appendix L): an interface, its transfer syntax and its endpoint, in wire format.

use crate::octets::{ByteOrder, Reader, Short, Writer};
use crate::uuid::{SyntaxId, Uuid};
use std::fmt;

/// The protocol identifier of interfaces and transfer syntaxes.
const UUID: u8 = 0x0d;
/// The protocol identifier of the connection-oriented protocol.
const CONNECTION: u8 = 0x0b;
/// The protocol identifier of the connectionless protocol.
const DATAGRAMS: u8 = 0x0a;
/// The protocol identifier of calls within a host.
const LOCAL: u8 = 0x0c;
const TCP: u8 = 0x07;
const UDP: u8 = 0x08;
const IP: u8 = 0x09;
const NAME: u8 = 0x10;
/// The maximum number of a tower's floors.
const FLOORS_MAX: u16 = 16;
/// The longest name of a socket, in bytes.
const NAME_MAX: usize = 255;

/// The reason why a tower is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TowerError {
    /// The tower ends before its last floor.
    Short,
    /// The tower has fewer than two floors, or more than the maximum.
    Floors(u16),
    /// The first two floors are not UUIDs with versions.
    Syntax,
    /// The protocol sequence is unknown.
    Protocol,
}

impl fmt::Display for TowerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short => f.write_str("the tower is truncated"),
            Self::Floors(count) => write!(f, "the tower has an invalid number of floors: {count}"),
            Self::Syntax => f.write_str("the tower's first two floors are not an interface and a transfer syntax"),
            Self::Protocol => f.write_str("the tower's protocol sequence is unknown"),
        }
    }
}

impl std::error::Error for TowerError {}

impl From<Short> for TowerError {
    fn from(_: Short) -> Self {
        Self::Short
    }
}

/// The unspecified address.
pub const ANY_HOST: [u8; 4] = [0; 4];

/// The protocol sequence and the endpoint of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// `ncacn_ip_tcp`: the host's IPv4 address, or [`ANY_HOST`], and the port; the port is 0 in an
    /// ept_map's argument.
    Tcp([u8; 4], u16),
    /// `ncadg_ip_udp`: address and port, as for TCP.
    Udp([u8; 4], u16),
    /// `ncalrpc`: the name of the socket; empty in an ept_map's argument.
    Local(String),
}

impl Way {
    /// Whether the two endpoints have the same protocol sequence.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

/// An interface, its transfer syntax and its endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tower {
    /// The interface.
    pub interface: SyntaxId,
    /// The transfer syntax.
    pub transfer: SyntaxId,
    /// The protocol sequence and the endpoint.
    pub way: Way,
}

/// A floor's left side, the protocol identifier, and its right side, the address data.
type Floor<'a> = (&'a [u8], &'a [u8]);

fn floor<'a>(reader: &mut Reader<'a>) -> Result<Floor<'a>, Short> {
    let length = reader.u16()?;
    let left = reader.bytes(length.into())?;
    let length = reader.u16()?;
    Ok((left, reader.bytes(length.into())?))
}

fn put_floor(writer: &mut Writer<'_>, left: &[u8], right: &[u8]) {
    writer.u16(left.len() as u16);
    writer.bytes(left);
    writer.u16(right.len() as u16);
    writer.bytes(right);
}

fn syntax((left, right): Floor<'_>) -> Result<SyntaxId, TowerError> {
    let mut reader = Reader::new(left, ByteOrder::Little);
    if reader.u8()? != UUID {
        return Err(TowerError::Syntax);
    }
    let (uuid, major) = (reader.uuid()?, reader.u16()?);
    let minor = Reader::new(right, ByteOrder::Little).u16()?;
    Ok(SyntaxId { uuid, version: u32::from(major) | u32::from(minor) << 16 })
}

fn put_syntax(writer: &mut Writer<'_>, syntax: SyntaxId) {
    let mut left = vec![UUID];
    left.extend(syntax.uuid.to_wire());
    left.extend((syntax.version as u16).to_le_bytes());
    put_floor(writer, &left, &((syntax.version >> 16) as u16).to_le_bytes());
}

fn host(address: &[u8]) -> Result<[u8; 4], TowerError> {
    address.first_chunk().copied().ok_or(TowerError::Short)
}

impl Tower {
    /// Reads a tower. All numbers except addresses and ports are little endian, regardless of the
    /// stub data's byte order.
    ///
    /// # Errors
    ///
    /// [`TowerError`] if the tower is invalid.
    pub fn from_wire(bytes: &[u8]) -> Result<Self, TowerError> {
        let mut reader = Reader::new(bytes, ByteOrder::Little);
        let count = reader.u16()?;
        if !(2..=FLOORS_MAX).contains(&count) {
            return Err(TowerError::Floors(count));
        }
        let (interface, transfer) = (syntax(floor(&mut reader)?)?, syntax(floor(&mut reader)?)?);
        let floors = (2..count).map(|_| floor(&mut reader)).collect::<Result<Vec<_>, _>>()?;
        let way = match floors[..] {
            [([CONNECTION], _), ([TCP], [high, low]), ([IP], address)] => {
                Way::Tcp(host(address)?, u16::from_be_bytes([*high, *low]))
            }
            [([DATAGRAMS], _), ([UDP], [high, low]), ([IP], address)] => {
                Way::Udp(host(address)?, u16::from_be_bytes([*high, *low]))
            }
            [([LOCAL], _), ([NAME], name), ..] => {
                let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
                let name = str::from_utf8(name).ok().filter(|name| name.len() <= NAME_MAX);
                Way::Local(name.ok_or(TowerError::Protocol)?.to_owned())
            }
            _ => return Err(TowerError::Protocol),
        };
        Ok(Self { interface, transfer, way })
    }

    /// Returns the tower in wire format.
    pub fn to_wire(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes, ByteOrder::Little);
        writer.u16(match self.way {
            Way::Tcp(..) | Way::Udp(..) => 5,
            Way::Local(_) => 4,
        });
        put_syntax(&mut writer, self.interface);
        put_syntax(&mut writer, self.transfer);
        match &self.way {
            Way::Tcp(host, port) => {
                put_floor(&mut writer, &[CONNECTION], &[0, 0]);
                put_floor(&mut writer, &[TCP], &port.to_be_bytes());
                put_floor(&mut writer, &[IP], host);
            }
            Way::Udp(host, port) => {
                put_floor(&mut writer, &[DATAGRAMS], &[0, 0]);
                put_floor(&mut writer, &[UDP], &port.to_be_bytes());
                put_floor(&mut writer, &[IP], host);
            }
            Way::Local(name) => {
                put_floor(&mut writer, &[LOCAL], &[0, 0]);
                put_floor(&mut writer, &[NAME], &[name.as_bytes(), &[0]].concat());
            }
        }
        bytes
    }
}

/// The UUID that means no object.
pub(super) const NIL: Uuid = Uuid(0);
