//! The client's side: looks up the endpoints of an interface, or all entries of a host's mapper,
//! and changes entries.

use super::mapper::{Entry, NIL_LOOKUP, put_annotation, put_tower, read_heads, referent, tower};
use super::tower::{Tower, TowerError, Way};
use super::{HANDLE, REFERENT, op};
use crate::octets::{ByteOrder, Reader, Short, Writer};
use crate::status::Status;
use crate::uuid::Uuid;
use std::fmt;

/// The maximum number of towers that an ept_map requests.
const TOWERS_MAX: u32 = 4;
/// The maximum number of entries that one ept_lookup requests.
const ENTRIES_ASKED: u32 = 100;

/// The reason why a mapper's response yields no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MapError {
    /// The response breaks the rules of NDR.
    Malformed,
    /// The mapper returned an error, mostly [`super::NOT_REGISTERED`].
    Status(Status),
    /// A tower in the response is invalid.
    Tower(TowerError),
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => f.write_str("the endpoint mapper's response is malformed"),
            Self::Status(super::NOT_REGISTERED) => f.write_str("the endpoint mapper has no endpoint of the interface"),
            Self::Status(status) => write!(f, "the endpoint mapper returned an error: {status}"),
            Self::Tower(error) => write!(f, "the endpoint mapper's response is malformed: {error}"),
        }
    }
}

impl std::error::Error for MapError {}

impl From<Short> for MapError {
    fn from(_: Short) -> Self {
        Self::Malformed
    }
}

/// Returns the opnum and the arguments, in NDR little endian, of an ept_map for the interface of
/// `wanted`.
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

/// Reads the response of an ept_map: the endpoints, at least one.
///
/// # Errors
///
/// [`MapError::Malformed`] for results that are not NDR, [`MapError::Status`] for the mapper's
/// error or an empty list, and [`MapError::Tower`] for an invalid tower.
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

/// The position of a lookup that takes several calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lookup([u8; HANDLE]);

impl Default for Lookup {
    fn default() -> Self {
        Self(NIL_LOOKUP)
    }
}

/// Returns the opnum and the arguments, in NDR little endian, of an ept_lookup for all entries from
/// `lookup` on.
pub fn lookup_request(lookup: Lookup) -> (u16, Vec<u8>) {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, ByteOrder::Little);
    // The inquiry_type rpc_c_ep_all_elts, null pointers for object and interface, and the
    // vers_option rpc_c_vers_all.
    for word in [0, 0, 0, 1] {
        writer.u32(word);
    }
    writer.bytes(&lookup.0);
    writer.u32(ENTRIES_ASKED);
    (op::LOOKUP, bytes)
}

/// Reads the response of an ept_lookup. Returns the entries with valid towers of known protocol
/// sequences. Also returns the position at which the next call continues, or `None` if the lookup
/// is complete.
///
/// # Errors
///
/// [`MapError::Malformed`] for results that are not NDR, and [`MapError::Status`] for the mapper's
/// error. [`super::NOT_REGISTERED`] is no error: the mapper has no further entries.
pub fn looked_up(order: ByteOrder, results: &[u8]) -> Result<(Vec<Entry>, Option<Lookup>), MapError> {
    let mut reader = Reader::new(results, order);
    let lookup = Lookup(reader.take()?);
    let (count, _max, offset, actual) = (reader.u32()?, reader.u32()?, reader.u32()?, reader.u32()?);
    if count != actual || offset != 0 || count > ENTRIES_ASKED {
        return Err(MapError::Malformed);
    }
    let heads = read_heads(&mut reader, count as usize)?;
    let mut entries = Vec::new();
    for (object, _, annotation) in heads.into_iter().filter(|(_, has_tower, _)| *has_tower) {
        if let Ok(tower) = Tower::from_wire(tower(&mut reader)?) {
            entries.push(Entry { object, tower, annotation });
        }
    }
    reader.align(4)?;
    match Status(reader.u32()?) {
        Status(0) => Ok((entries, Some(lookup).filter(|lookup| *lookup != Lookup::default() && count > 0))),
        super::NOT_REGISTERED => Ok((Vec::new(), None)),
        status => Err(MapError::Status(status)),
    }
}

/// A change of the registered entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Adds entries. Existing entries of the same interfaces stay.
    Insert,
    /// Removes entries.
    Delete,
}

/// Returns the opnum and the arguments, in NDR little endian, of an ept_insert or ept_delete.
pub fn change_request(change: Change, entries: &[Entry]) -> (u16, Vec<u8>) {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, ByteOrder::Little);
    writer.u32(entries.len() as u32);
    writer.u32(entries.len() as u32);
    for (at, entry) in entries.iter().enumerate() {
        writer.align(4);
        writer.uuid(entry.object);
        writer.u32(referent(at));
        put_annotation(&mut writer, &entry.annotation);
    }
    for entry in entries {
        put_tower(&mut writer, &entry.tower.to_wire());
    }
    if change == Change::Delete {
        return (op::DELETE, bytes);
    }
    writer.align(4);
    writer.u32(0);
    (op::INSERT, bytes)
}

/// Reads the response of an ept_insert or ept_delete.
///
/// # Errors
///
/// [`MapError::Status`] for the mapper's error, and [`MapError::Malformed`] for results that are
/// too short.
pub fn changed(order: ByteOrder, results: &[u8]) -> Result<(), MapError> {
    match Reader::new(results, order).u32()? {
        0 => Ok(()),
        status => Err(MapError::Status(Status(status))),
    }
}
