//! The server's side: what is registered, and who asks for it.

use super::tower::{ANY_HOST, NIL, Tower, Way};
use super::{CANNOT_PERFORM, HANDLE, INVALID_ENTRY, NOT_REGISTERED, REFERENT, TOWER_MAX, op};
use crate::octets::{ByteOrder, Reader, Writer};
use crate::status::Status;
use crate::uuid::{SyntaxId, Uuid};

/// Entries that a mapper may have.
pub const ENTRIES_MAX: usize = 4096;
/// Entries that one answer has at the most.
const ANSWERED_MAX: usize = 500;
/// Bytes of an annotation with its end (EPT_MAX_ANNOTATION_SIZE).
const ANNOTATION_MAX: usize = 64;
/// The upper half of the UUIDs of lookup handles.
const LOOKUP: u128 = 0x3c5e_9a01_77d2_4b1f << 64;

/// Something that is registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The object; nil for all.
    pub object: Uuid,
    /// The interface and the way to it. An unspecified host stands for the one that is asked.
    pub tower: Tower,
    /// What users are told about it.
    pub annotation: String,
}

/// Who calls.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    /// The host's IPv4 address as the caller reached it.
    pub local: [u8; 4],
    /// Whether it may change what is registered: such as one on the same host.
    pub may_register: bool,
}

/// What is registered at a host.
///
/// A lookup that takes several calls is kept in its handle, which says the number of the next entry. So nothing has to be kept for
/// callers who never come back, and whoever makes a handle up just begins elsewhere.
#[derive(Debug, Default)]
pub struct Mapper {
    // Invariant: by number, each higher than those before it.
    entries: Vec<(u64, Entry)>,
    last: u64,
}

/// What is looked for (C706: inquiry_type and vers_option).
struct Inquiry {
    object: Option<Uuid>,
    interface: Option<SyntaxId>,
    versions: u32,
}

impl Inquiry {
    fn read(reader: &mut Reader<'_>) -> Result<Self, Status> {
        let kind = reader.u32()?;
        let object = pointer(reader, Reader::uuid)?;
        let interface = pointer(reader, Reader::syntax)?;
        let versions = reader.u32()?;
        if kind > 3 || (kind & 1 != 0 && interface.is_none()) || (kind & 2 != 0 && object.is_none()) {
            return Err(Status::BAD_STUB_DATA);
        }
        Ok(Self { object: object.filter(|_| kind & 2 != 0), interface: interface.filter(|_| kind & 1 != 0), versions })
    }

    fn is_for(&self, entry: &Entry) -> bool {
        self.object.is_none_or(|object| entry.object == object)
            && self.interface.is_none_or(|wanted| is_version(self.versions, wanted, entry.tower.interface))
    }
}

/// Whether a version will do.
fn is_version(option: u32, wanted: SyntaxId, found: SyntaxId) -> bool {
    let major = |syntax: SyntaxId| syntax.version as u16;
    let minor = |syntax: SyntaxId| (syntax.version >> 16) as u16;
    let is_major = major(found) == major(wanted);
    wanted.uuid == found.uuid
        && match option {
            2 => is_major && minor(found) >= minor(wanted),
            3 => found.version == wanted.version,
            4 => is_major,
            5 => (major(found), minor(found)) <= (major(wanted), minor(wanted)),
            _ => true,
        }
}

/// What a full or unique pointer leads to.
fn pointer<'a, T>(
    reader: &mut Reader<'a>,
    read: impl Fn(&mut Reader<'a>) -> Result<T, crate::octets::Short>,
) -> Result<Option<T>, Status> {
    reader.align(4)?;
    Ok(if reader.u32()? == 0 { None } else { Some(read(reader)?) })
}

/// The bytes of a tower that a pointer leads to.
pub(super) fn tower<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], crate::octets::Short> {
    reader.align(4)?;
    let (max, length) = (reader.u32()?, reader.u32()?);
    // Both say the same. What is longer than any tower is as good as cut off.
    let length = usize::try_from(length).ok().filter(|&it| max == length && it <= TOWER_MAX);
    let bytes = reader.bytes(length.ok_or(crate::octets::Short)?)?;
    Ok(bytes)
}

/// The number in a lookup handle: 0 for a new lookup.
fn lookup(reader: &mut Reader<'_>) -> Result<u64, Status> {
    reader.align(4)?;
    let (attributes, uuid) = (reader.u32()?, reader.uuid()?);
    match (attributes, uuid.0 >> 64) {
        (0, 0) if uuid == NIL => Ok(0),
        (0, prefix) if prefix == LOOKUP >> 64 => Ok(uuid.0 as u64),
        _ => Err(Status::CONTEXT_MISMATCH),
    }
}

fn put_lookup(writer: &mut Writer<'_>, next: Option<u64>) {
    writer.u32(0);
    writer.uuid(next.map_or(NIL, |number| Uuid(LOOKUP | u128::from(number))));
}

pub(super) fn put_tower(writer: &mut Writer<'_>, tower: &[u8]) {
    writer.align(4);
    writer.u32(tower.len() as u32);
    writer.u32(tower.len() as u32);
    writer.bytes(tower);
}

/// The number of a pointer to a tower. Pointers are full: the same number twice would mean the same tower.
fn referent(at: usize) -> u32 {
    REFERENT + 4 * at as u32
}

/// An array of which a part is there: how long it could be, where the part begins, how long that is.
fn put_array(writer: &mut Writer<'_>, max: u32, count: usize) {
    writer.u32(max);
    writer.u32(0);
    writer.u32(count as u32);
}

impl Mapper {
    /// Registers an entry, in the place of any that says the same of interface, object and protocol sequence when `replaces` is set.
    ///
    /// # Errors
    ///
    /// [`CANNOT_PERFORM`] when there are too many.
    pub fn insert(&mut self, mut entry: Entry, replaces: bool) -> Result<(), Status> {
        self.entries.retain(|(_, known)| {
            let is_same = known.object == entry.object && known.tower.interface == entry.tower.interface;
            !(*known == entry || replaces && is_same && known.tower.way.is_like(&entry.tower.way))
        });
        if self.entries.len() == ENTRIES_MAX {
            return Err(CANNOT_PERFORM);
        }
        entry.annotation.truncate(entry.annotation.floor_char_boundary(ANNOTATION_MAX - 1));
        self.last += 1;
        self.entries.push((self.last, entry));
        Ok(())
    }

    /// Removes an entry, whatever its annotation is.
    ///
    /// # Errors
    ///
    /// [`NOT_REGISTERED`] when there is none.
    pub fn remove(&mut self, object: Uuid, tower: &Tower) -> Result<(), Status> {
        let before = self.entries.len();
        self.entries.retain(|(_, known)| known.object != object || known.tower != *tower);
        if self.entries.len() == before { Err(NOT_REGISTERED) } else { Ok(()) }
    }

    /// What is registered.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().map(|(_, entry)| entry)
    }

    /// Performs a method: arguments in NDR, results in NDR little endian.
    ///
    /// # Errors
    ///
    /// The status of the fault, for what is no call.
    pub fn call(&mut self, opnum: u16, caller: &Caller, order: ByteOrder, stub: &[u8]) -> Result<Vec<u8>, Status> {
        let mut reader = Reader::new(stub, order);
        let mut results = Vec::new();
        let mut writer = Writer::new(&mut results, ByteOrder::Little);
        let status = match opnum {
            op::INSERT | op::DELETE => self.change(opnum, caller, &mut reader)?,
            op::LOOKUP => self.lookup(caller, &mut reader, &mut writer)?,
            op::MAP => self.map(caller, &mut reader, &mut writer)?,
            op::LOOKUP_HANDLE_FREE => {
                lookup(&mut reader)?;
                writer.bytes(&[0; HANDLE]);
                None
            }
            _ => return Err(Status::OP_RNG_ERROR),
        };
        writer.align(4);
        writer.u32(status.map_or(0, |status| status.0));
        Ok(results)
    }

    /// ept_insert and ept_delete. What they do, they do wholly or not at all.
    fn change(&mut self, opnum: u16, caller: &Caller, reader: &mut Reader<'_>) -> Result<Option<Status>, Status> {
        let entries = read_entries(reader)?;
        let replaces = opnum == op::INSERT && reader.align(4).and_then(|()| reader.u32())? != 0;
        if !caller.may_register {
            return Ok(Some(CANNOT_PERFORM));
        }
        let Some(entries) = entries else {
            return Ok(Some(INVALID_ENTRY));
        };
        if opnum == op::DELETE {
            let is_known =
                |entry: &Entry| self.entries().any(|known| known.object == entry.object && known.tower == entry.tower);
            if !entries.iter().all(is_known) {
                return Ok(Some(NOT_REGISTERED));
            }
            return Ok(entries.iter().find_map(|entry| self.remove(entry.object, &entry.tower).err()));
        }
        if self.entries.len() + entries.len() > ENTRIES_MAX {
            return Ok(Some(CANNOT_PERFORM));
        }
        Ok(entries.into_iter().find_map(|entry| self.insert(entry, replaces).err()))
    }

    /// ept_lookup.
    fn lookup(
        &self,
        caller: &Caller,
        reader: &mut Reader<'_>,
        writer: &mut Writer<'_>,
    ) -> Result<Option<Status>, Status> {
        let inquiry = Inquiry::read(reader)?;
        let (from, max) = (lookup(reader)?, reader.u32()?);
        let found = self.entries.iter().filter(|(number, entry)| *number >= from && inquiry.is_for(entry));
        let (found, next) = some(found, max);
        put_lookup(writer, next);
        writer.u32(found.len() as u32);
        put_array(writer, max, found.len());
        for (at, entry) in found.iter().enumerate() {
            writer.align(4);
            writer.uuid(entry.object);
            writer.u32(referent(at));
            writer.u32(0);
            writer.u32(entry.annotation.len() as u32 + 1);
            writer.bytes(entry.annotation.as_bytes());
            writer.u8(0);
        }
        for entry in &found {
            put_tower(writer, &told(&entry.tower, caller).to_wire());
        }
        Ok(found.is_empty().then_some(NOT_REGISTERED))
    }

    /// ept_map.
    fn map(&self, caller: &Caller, reader: &mut Reader<'_>, writer: &mut Writer<'_>) -> Result<Option<Status>, Status> {
        let object = pointer(reader, Reader::uuid)?.unwrap_or(NIL);
        let wanted = pointer(reader, tower)?.ok_or(Status::BAD_STUB_DATA)?;
        let (from, max) = (lookup(reader)?, reader.u32()?);
        let wanted = Tower::from_wire(wanted);
        let is_wanted = |entry: &Entry| {
            wanted.as_ref().is_ok_and(|wanted| {
                let Tower { interface, transfer, way } = &entry.tower;
                is_version(2, wanted.interface, *interface)
                    && *transfer == wanted.transfer
                    && way.is_like(&wanted.way)
                    && (entry.object == object || entry.object == NIL)
            })
        };
        let found = self.entries.iter().filter(|(number, entry)| *number >= from && is_wanted(entry));
        let (found, next) = some(found, max);
        put_lookup(writer, next);
        writer.u32(found.len() as u32);
        put_array(writer, max, found.len());
        (0..found.len()).for_each(|at| writer.u32(referent(at)));
        for entry in &found {
            put_tower(writer, &told(&entry.tower, caller).to_wire());
        }
        Ok(found.is_empty().then_some(NOT_REGISTERED))
    }
}

/// The first of what was found, and the number to go on from: as long as answers are full, there may be more.
fn some<'a>(found: impl Iterator<Item = &'a (u64, Entry)>, max: u32) -> (Vec<&'a Entry>, Option<u64>) {
    let max = usize::try_from(max).unwrap_or(usize::MAX).min(ANSWERED_MAX);
    let found: Vec<_> = found.take(max).collect();
    let next = found.last().filter(|_| found.len() == max).map(|(number, _)| number + 1);
    (found.into_iter().map(|(_, entry)| entry).collect(), next)
}

/// A tower with an address in it that the caller can use.
fn told(tower: &Tower, caller: &Caller) -> Tower {
    match tower.way {
        Way::Tcp(ANY_HOST, port) => Tower { way: Way::Tcp(caller.local, port), ..tower.clone() },
        _ => tower.clone(),
    }
}

/// The entries of ept_insert and ept_delete; `None` where one is of a kind that is not known here.
fn read_entries(reader: &mut Reader<'_>) -> Result<Option<Vec<Entry>>, Status> {
    let (count, max) = (reader.u32()?, reader.u32()?);
    let count = usize::try_from(count).ok().filter(|&it| max == count && it <= ENTRIES_MAX);
    let mut heads = Vec::new();
    for _ in 0..count.ok_or(Status::BAD_STUB_DATA)? {
        reader.align(4)?;
        let (object, has_tower) = (reader.uuid()?, reader.u32()? != 0);
        let (offset, length) = (reader.u32()?, reader.u32()? as usize);
        if offset != 0 || length > ANNOTATION_MAX || !has_tower {
            return Err(Status::BAD_STUB_DATA);
        }
        let text = reader.bytes(length)?.split(|byte| *byte == 0).next().unwrap_or_default();
        heads.push((object, String::from_utf8_lossy(text).into_owned()));
    }
    let mut entries = Some(Vec::with_capacity(heads.len()));
    for (object, annotation) in heads {
        match (Tower::from_wire(tower(reader)?), &mut entries) {
            (Ok(tower), Some(entries)) => entries.push(Entry { object, tower, annotation }),
            _ => entries = None,
        }
    }
    Ok(entries)
}
