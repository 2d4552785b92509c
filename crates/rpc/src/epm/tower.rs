//! Towers (C706 appendix L): an interface, its transfer syntax and the way to it, as bytes.

use crate::octets::{ByteOrder, Reader, Short, Writer};
use crate::uuid::{SyntaxId, Uuid};
use std::fmt;

/// A floor's left side for interfaces and transfer syntaxes.
const UUID: u8 = 0x0d;
/// For the connection-oriented protocol, over whatever lies below.
const CONNECTION: u8 = 0x0b;
/// For the connectionless protocol.
const DATAGRAMS: u8 = 0x0a;
/// For calls inside of a host.
const LOCAL: u8 = 0x0c;
const TCP: u8 = 0x07;
const UDP: u8 = 0x08;
const IP: u8 = 0x09;
const NAME: u8 = 0x10;
/// Floors that a tower may have.
const FLOORS_MAX: u16 = 16;
/// The longest name of a socket.
const NAME_MAX: usize = 255;

/// What is wrong with a tower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TowerError {
    /// It ends before its floors do.
    Short,
    /// It has more floors than towers have, or fewer than two.
    Floors(u16),
    /// Its first two floors are not UUIDs with versions.
    Syntax,
    /// The way that it describes is none that there is here.
    Protocol,
}

impl fmt::Display for TowerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short => f.write_str("the tower ends before its floors do"),
            Self::Floors(count) => write!(f, "a tower does not have {count} floors"),
            Self::Syntax => f.write_str("the tower's first floors are no interface and transfer syntax"),
            Self::Protocol => f.write_str("the tower's protocol sequence is not known"),
        }
    }
}

impl std::error::Error for TowerError {}

impl From<Short> for TowerError {
    fn from(_: Short) -> Self {
        Self::Short
    }
}

/// The address that stands for none in particular.
pub const ANY_HOST: [u8; 4] = [0; 4];

/// How a tower leads to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// `ncacn_ip_tcp`: the host's IPv4 address, [`ANY_HOST`] where any will do, and the port; 0 where it is asked for.
    Tcp([u8; 4], u16),
    /// `ncadg_ip_udp`: the same.
    Udp([u8; 4], u16),
    /// `ncalrpc`: the name of the socket; empty where it is asked for.
    Local(String),
}

impl Way {
    /// Whether both are of the same protocol sequence.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

/// An interface, its transfer syntax and the way to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tower {
    /// The interface.
    pub interface: SyntaxId,
    /// The transfer syntax.
    pub transfer: SyntaxId,
    /// The way.
    pub way: Way,
}

/// A floor: what it is about, and its value.
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
    /// Reads a tower. Its numbers are little endian but for addresses, whatever the stub data's are.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
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

    /// Its bytes.
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

/// The UUID that stands for no object.
pub(super) const NIL: Uuid = Uuid(0);
