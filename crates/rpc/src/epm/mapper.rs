//! The server's side: the registered entries, and the methods of the mapper's interface.

use super::tower::{ANY_HOST, NIL, Tower, Way};
use super::{CANNOT_PERFORM, HANDLE, INVALID_ENTRY, NOT_REGISTERED, REFERENT, TOWER_MAX, op};
use crate::octets::{ByteOrder, Reader, Writer};
use crate::status::Status;
use crate::uuid::{SyntaxId, Uuid};

/// The maximum number of a mapper's entries.
pub const ENTRIES_MAX: usize = 4096;
/// The maximum number of one registrant's entries.
pub const REGISTERED_MAX: usize = 256;
/// The maximum number of entries in one response.
const ANSWERED_MAX: usize = 500;
/// The longest annotation with its terminator, in bytes (EPT_MAX_ANNOTATION_SIZE).
const ANNOTATION_MAX: usize = 64;
/// The upper half of the UUID in each lookup handle.
const LOOKUP: u128 = 0x3c5e_9a01_77d2_4b1f << 64;

/// A registered entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The object's UUID, or nil for all objects.
    pub object: Uuid,
    /// The interface and its endpoint. An unspecified host means the mapper's own host.
    pub tower: Tower,
    /// The description for users.
    pub annotation: String,
}

/// The owner of an entry. Entries that the host itself inserts belong to [`Self::NOBODY`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registrant(pub u64);

impl Registrant {
    /// The owner of the entries that the host itself inserts. No caller has this value.
    pub const NOBODY: Self = Self(0);
}

/// The caller of a method.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    /// The host's IPv4 address by which the caller reached the mapper.
    pub local: [u8; 4],
    /// The owner of the entries that the caller may change; `None` for a caller that may change no
    /// entries, such as a caller on another host.
    pub registrant: Option<Registrant>,
}

/// The entries registered at a host.
///
/// If a lookup takes several calls, its handle holds the number of the next entry. Therefore the
/// mapper keeps no state for lookups that clients do not continue, and a forged handle only makes
/// the lookup begin at another entry.
#[derive(Debug, Default)]
pub struct Mapper {
    // Invariant: sorted by number, in ascending order without duplicates.
    entries: Vec<Numbered>,
    last: u64,
}

#[derive(Clone, Debug)]
struct Numbered {
    number: u64,
    registrant: Registrant,
    entry: Entry,
}

impl Numbered {
    fn is(&self, registrant: Registrant, object: Uuid, tower: &Tower) -> bool {
        self.registrant == registrant && self.entry.object == object && self.entry.tower == *tower
    }
}

/// The criteria of a lookup (C706: inquiry_type and vers_option).
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

/// Whether `found` is the interface `wanted`, in a version that the vers_option `option` accepts
/// for the version of `wanted`.
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

/// Reads a full or unique pointer and its referent; `None` for a null pointer.
fn pointer<'a, T>(
    reader: &mut Reader<'a>,
    read: impl Fn(&mut Reader<'a>) -> Result<T, crate::octets::Short>,
) -> Result<Option<T>, Status> {
    reader.align(4)?;
    Ok(if reader.u32()? == 0 { None } else { Some(read(reader)?) })
}

/// Reads the tower that a pointer refers to.
pub(super) fn tower<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], crate::octets::Short> {
    reader.align(4)?;
    let (max, length) = (reader.u32()?, reader.u32()?);
    // The conformance and the length have to agree. A tower that is too long is refused like a
    // truncated one.
    let length = usize::try_from(length).ok().filter(|&it| max == length && it <= TOWER_MAX);
    let bytes = reader.bytes(length.ok_or(crate::octets::Short)?)?;
    Ok(bytes)
}

/// The handle of a lookup that has not begun or is complete.
pub(super) const NIL_LOOKUP: [u8; HANDLE] = [0; HANDLE];

/// Reads the number in a lookup handle: 0 for a new lookup.
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

/// Returns the referent identifier of a tower's pointer. Full pointers with equal identifiers are
/// aliases, so each tower has its own identifier.
pub(super) fn referent(at: usize) -> u32 {
    REFERENT + 4 * at as u32
}

/// Writes an annotation with its terminator.
pub(super) fn put_annotation(writer: &mut Writer<'_>, text: &str) {
    let text = &text[..text.floor_char_boundary(ANNOTATION_MAX - 1)];
    writer.u32(0);
    writer.u32(text.len() as u32 + 1);
    writer.bytes(text.as_bytes());
    writer.u8(0);
}

/// Writes the header of a conformant varying array: maximum count, offset and actual count.
fn put_array(writer: &mut Writer<'_>, max: u32, count: usize) {
    writer.u32(max);
    writer.u32(0);
    writer.u32(count as u32);
}

impl Mapper {
    /// Registers an entry, which replaces an equal entry of the registrant. With `replaces`, the
    /// entry also replaces the registrant's entries of the same interface, object and protocol
    /// sequence. Entries of other registrants stay.
    ///
    /// # Errors
    ///
    /// [`CANNOT_PERFORM`] if the mapper or the registrant has its maximum of entries.
    pub fn insert(&mut self, registrant: Registrant, mut entry: Entry, replaces: bool) -> Result<(), Status> {
        entry.annotation.truncate(entry.annotation.floor_char_boundary(ANNOTATION_MAX - 1));
        self.entries.retain(|known| {
            let Entry { object, tower, .. } = &known.entry;
            let is_like = *object == entry.object && tower.interface == entry.tower.interface;
            let is_same = is_like && *tower == entry.tower;
            let goes = is_same || replaces && is_like && tower.way.is_like(&entry.tower.way);
            !(goes && known.registrant == registrant)
        });
        if self.room_for(registrant) == 0 {
            return Err(CANNOT_PERFORM);
        }
        self.last += 1;
        self.entries.push(Numbered { number: self.last, registrant, entry });
        Ok(())
    }

    /// Returns the number of further entries that a registrant may insert.
    fn room_for(&self, registrant: Registrant) -> usize {
        let room = ENTRIES_MAX - self.entries.len();
        if registrant == Registrant::NOBODY {
            return room;
        }
        let own = self.entries.iter().filter(|known| known.registrant == registrant).count();
        room.min(REGISTERED_MAX.saturating_sub(own))
    }

    /// Removes all entries of a registrant.
    pub fn forget(&mut self, registrant: Registrant) {
        self.entries.retain(|known| known.registrant != registrant);
    }

    /// Returns the registered entries.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().map(|known| &known.entry)
    }

    /// Executes a method: arguments in NDR, results in NDR little endian.
    ///
    /// # Errors
    ///
    /// The fault's status: [`Status::OP_RNG_ERROR`] for an unknown opnum, [`Status::BAD_STUB_DATA`]
    /// for malformed arguments, [`Status::CONTEXT_MISMATCH`] for a handle that is not the mapper's.
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
                writer.bytes(&NIL_LOOKUP);
                None
            }
            _ => return Err(Status::OP_RNG_ERROR),
        };
        writer.align(4);
        writer.u32(status.map_or(0, |status| status.0));
        Ok(results)
    }

    /// Executes ept_insert or ept_delete, either for all entries or for none.
    fn change(&mut self, opnum: u16, caller: &Caller, reader: &mut Reader<'_>) -> Result<Option<Status>, Status> {
        let entries = read_entries(reader)?;
        let replaces = opnum == op::INSERT && reader.align(4).and_then(|()| reader.u32())? != 0;
        let Some(registrant) = caller.registrant else {
            return Ok(Some(CANNOT_PERFORM));
        };
        let Some(entries) = entries else {
            return Ok(Some(INVALID_ENTRY));
        };
        if opnum == op::DELETE {
            let is_known = |Entry { object, tower, .. }: &Entry| {
                self.entries.iter().any(|known| known.is(registrant, *object, tower))
            };
            if !entries.iter().all(is_known) {
                return Ok(Some(NOT_REGISTERED));
            }
            self.entries.retain(|known| !entries.iter().any(|it| known.is(registrant, it.object, &it.tower)));
            return Ok(None);
        }
        // The limit bounds the work, because each insertion reads all entries.
        if entries.len() > REGISTERED_MAX {
            return Ok(Some(CANNOT_PERFORM));
        }
        // New entries may replace existing entries and each other, so the required room is not
        // known before the insertion. If an entry does not fit, the registrant's previous entries
        // are restored.
        let own = |known: &Numbered| known.registrant == registrant;
        let before: Vec<Numbered> = self.entries.iter().filter(|known| own(known)).cloned().collect();
        let failed = entries.into_iter().find_map(|entry| self.insert(registrant, entry, replaces).err());
        if failed.is_some() {
            self.entries.retain(|known| !own(known));
            self.entries.extend(before);
            self.entries.sort_by_key(|known| known.number);
        }
        Ok(failed)
    }

    /// Executes ept_lookup.
    fn lookup(
        &self,
        caller: &Caller,
        reader: &mut Reader<'_>,
        writer: &mut Writer<'_>,
    ) -> Result<Option<Status>, Status> {
        let inquiry = Inquiry::read(reader)?;
        let (from, max) = (lookup(reader)?, reader.u32()?);
        let found = self.entries.iter().filter(|known| known.number >= from && inquiry.is_for(&known.entry));
        let (found, next) = first_entries(found, max);
        put_lookup(writer, next);
        writer.u32(found.len() as u32);
        put_array(writer, max, found.len());
        for (at, entry) in found.iter().enumerate() {
            writer.align(4);
            writer.uuid(entry.object);
            writer.u32(referent(at));
            put_annotation(writer, &entry.annotation);
        }
        for entry in &found {
            put_tower(writer, &tower_for(&entry.tower, caller).to_wire());
        }
        Ok(found.is_empty().then_some(NOT_REGISTERED))
    }

    /// Executes ept_map.
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
        let found = self.entries.iter().filter(|known| known.number >= from && is_wanted(&known.entry));
        let (found, next) = first_entries(found, max);
        put_lookup(writer, next);
        writer.u32(found.len() as u32);
        put_array(writer, max, found.len());
        (0..found.len()).for_each(|at| writer.u32(referent(at)));
        for entry in &found {
            put_tower(writer, &tower_for(&entry.tower, caller).to_wire());
        }
        Ok(found.is_empty().then_some(NOT_REGISTERED))
    }
}

/// Returns the first of the entries `found`: at most `max`, and at most [`ANSWERED_MAX`]. If this
/// limit is reached, also returns the number at which the lookup continues.
fn first_entries<'a>(found: impl Iterator<Item = &'a Numbered>, max: u32) -> (Vec<&'a Entry>, Option<u64>) {
    let max = usize::try_from(max).unwrap_or(usize::MAX).min(ANSWERED_MAX);
    let found: Vec<_> = found.take(max).collect();
    let next = found.last().filter(|_| found.len() == max).map(|known| known.number + 1);
    (found.into_iter().map(|known| &known.entry).collect(), next)
}

/// Returns the tower for a caller: the address by which the caller has reached the mapper replaces
/// [`ANY_HOST`].
fn tower_for(tower: &Tower, caller: &Caller) -> Tower {
    match tower.way {
        Way::Tcp(ANY_HOST, port) => Tower { way: Way::Tcp(caller.local, port), ..tower.clone() },
        Way::Udp(ANY_HOST, port) => Tower { way: Way::Udp(caller.local, port), ..tower.clone() },
        _ => tower.clone(),
    }
}

/// The part of an entry before its tower: the object, whether a tower follows, the annotation.
type Head = (Uuid, bool, String);

/// Reads the heads of `count` entries; their towers follow.
pub(super) fn read_heads(reader: &mut Reader<'_>, count: usize) -> Result<Vec<Head>, crate::octets::Short> {
    let mut heads = Vec::new();
    for _ in 0..count {
        reader.align(4)?;
        let (object, has_tower) = (reader.uuid()?, reader.u32()? != 0);
        let (offset, length) = (reader.u32()?, reader.u32()? as usize);
        if offset != 0 || length > ANNOTATION_MAX {
            return Err(crate::octets::Short);
        }
        let text = reader.bytes(length)?.split(|byte| *byte == 0).next().unwrap_or_default();
        heads.push((object, has_tower, String::from_utf8_lossy(text).into_owned()));
    }
    Ok(heads)
}

/// Reads the entries of ept_insert or ept_delete; `None` if a tower is invalid or has an unknown
/// protocol sequence.
fn read_entries(reader: &mut Reader<'_>) -> Result<Option<Vec<Entry>>, Status> {
    let (count, max) = (reader.u32()?, reader.u32()?);
    let count = usize::try_from(count).ok().filter(|&it| max == count && it <= ENTRIES_MAX);
    let heads = read_heads(reader, count.ok_or(Status::BAD_STUB_DATA)?)?;
    let mut entries = Some(Vec::with_capacity(heads.len()));
    for (object, has_tower, annotation) in heads {
        if !has_tower {
            return Err(Status::BAD_STUB_DATA);
        }
        match (Tower::from_wire(tower(reader)?), &mut entries) {
            (Ok(tower), Some(entries)) => entries.push(Entry { object, tower, annotation }),
            _ => entries = None,
        }
    }
    Ok(entries)
}
