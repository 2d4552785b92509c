//! The client's side: asking a host's mapper for the endpoint of an interface.

use super::mapper::{put_tower, tower};
use super::tower::{Tower, TowerError, Way};
use super::{HANDLE, REFERENT, op};
use crate::octets::{ByteOrder, Reader, Short, Writer};
use crate::status::Status;
use crate::uuid::Uuid;
use std::fmt;

/// Towers that are asked for at a time.
const TOWERS_MAX: u32 = 4;

/// Why a mapper's answer is of no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MapError {
    /// It breaks the rules of NDR.
    Malformed,
    /// The mapper says why not: mostly [`super::NOT_REGISTERED`].
    Status(Status),
    /// A tower in it is none.
    Tower(TowerError),
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => f.write_str("the endpoint mapper's answer is malformed"),
            Self::Status(super::NOT_REGISTERED) => f.write_str("the endpoint mapper knows no such interface"),
            Self::Status(status) => write!(f, "the endpoint mapper answers with {status}"),
            Self::Tower(error) => write!(f, "the endpoint mapper's answer: {error}"),
        }
    }
}

impl std::error::Error for MapError {}

impl From<Short> for MapError {
    fn from(_: Short) -> Self {
        Self::Malformed
    }
}

/// The opnum and the arguments, in NDR little endian, of the question for the endpoints of an interface.
pub fn map_request(wanted: &Tower, object: Option<Uuid>) -> (u16, Vec<u8>) {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, ByteOrder::Little);
    match object {
        Some(object) => {
            writer.u32(REFERENT);
            writer.uuid(object);
        }
        None => writer.u32(0),
    }
    writer.u32(REFERENT);
    put_tower(&mut writer, &wanted.to_wire());
    writer.align(4);
    writer.bytes(&[0; HANDLE]);
    writer.u32(TOWERS_MAX);
    (op::MAP, bytes)
}

/// The ways that the answer names; at least one.
///
/// # Errors
///
/// When there is none.
pub fn mapped(order: ByteOrder, results: &[u8]) -> Result<Vec<Way>, MapError> {
    let mut reader = Reader::new(results, order);
    reader.bytes(HANDLE)?;
    let (count, _max, offset, actual) = (reader.u32()?, reader.u32()?, reader.u32()?, reader.u32()?);
    if count != actual || offset != 0 || count > TOWERS_MAX {
        return Err(MapError::Malformed);
    }
    let there = (0..count).map(|_| reader.u32()).collect::<Result<Vec<_>, _>>()?;
    let mut towers = Vec::new();
    for _ in there.iter().filter(|referent| **referent != 0) {
        towers.push(tower(&mut reader)?);
    }
    reader.align(4)?;
    match reader.u32()? {
        0 if towers.is_empty() => Err(MapError::Status(super::NOT_REGISTERED)),
        0 => towers
            .into_iter()
            .map(|tower| Tower::from_wire(tower).map(|tower| tower.way).map_err(MapError::Tower))
            .collect(),
        status => Err(MapError::Status(Status(status))),
    }
}
