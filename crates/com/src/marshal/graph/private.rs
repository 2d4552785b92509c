//! Received frames in private memory: checked, and converted to structures with pointers.

use super::memory::Allocations;
use super::owners::{self, Target};
use super::survey::Place;
use super::{Layout, invalid};
use crate::client::proxy::Wanted;
use crate::marshal::parameters;
use crate::marshal::reply::settle_return;
use crate::runtime::Runtime;
use crate::runtime::returned::Sender;
use crate::types::deadline;
use crate::types::error::{Result, code};
use crate::types::memory::{allocate_zeroed, release};
use obvia_ndr::flat::KIND_FIRST;
use obvia_ndr::flat::check::{Checked, Object, check};
use obvia_ndr::flat::shape::{ElementType, Part};
use obvia_via::RegionView;
use std::collections::HashMap;
use windows_core::{GUID, IUnknown, Interface};

/// A frame in private memory, aligned for its contents.
pub(super) struct PrivateFrame {
    // Invariant: has at least `length` bytes.
    memory: Zeros,
    pub(super) length: usize,
}

/// Zeroed memory that is freed on drop. Untouched pages cost no memory.
struct Zeros(*mut u8);

impl Zeros {
    fn new(bytes: usize) -> Result<Self> {
        Ok(Self(allocate_zeroed(bytes)?.cast()))
    }
}

impl Drop for Zeros {
    fn drop(&mut self) {
        // SAFETY: the memory is from `allocate_zeroed`, and is not used again.
        unsafe { release(self.0.cast()) };
    }
}

impl PrivateFrame {
    /// Copies a frame and checks the copy.
    pub(super) fn of(frame: RegionView<'_>, layout: Layout, outer: &[i64]) -> Result<(Self, Checked)> {
        let mut private = Self::zeros(frame.len(), layout.types)?;
        frame.copy_to(0, private.bytes()).ok_or(code::RPC_E_INVALID_DATA)?;
        private.checked(layout, outer)
    }

    /// Copies and checks a frame that no other process can change.
    pub(super) fn of_bytes(frame: &[u8], layout: Layout, outer: &[i64]) -> Result<(Self, Checked)> {
        let mut private = Self::zeros(frame.len(), layout.types)?;
        private.bytes().copy_from_slice(frame);
        private.checked(layout, outer)
    }

    fn zeros(length: usize, types: &'static [ElementType]) -> Result<Self> {
        // The last object in the frame can be smaller than its type in C, so some spare bytes
        // follow.
        let spare = types.iter().map(|ty| ty.memory(0)).max().unwrap_or_default();
        Ok(Self { memory: Zeros::new(length + spare)?, length })
    }

    fn checked(self, layout: Layout, outer: &[i64]) -> Result<(Self, Checked)> {
        let mut private = self;
        let found = check(private.bytes(), layout.block, layout.types, outer).map_err(invalid)?;
        Ok((private, found))
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: by its invariant, `memory` has `length` bytes. They are initialised, and
        // the reference is exclusive through `&mut self`.
        unsafe { std::slice::from_raw_parts_mut(self.memory.0, self.length) }
    }

    pub(super) fn base(&mut self) -> *mut u8 {
        self.memory.0
    }

    /// Unmarshals the references under one deadline, in the order of their slots.
    fn references(&mut self, found: &Checked, sender: Sender<'_>) -> Result<Vec<IUnknown>> {
        let slots: Vec<_> = found.slots.iter().filter_map(|slot| Some((slot.object, slot.iid?))).collect();
        if slots.is_empty() {
            return Ok(Vec::new());
        }
        let make = |(object, iid): (u32, u128)| {
            let object = found.objects[object as usize];
            let bytes = &self.bytes()[object.body as usize..(object.body + object.bytes) as usize];
            let wanted = Wanted::Iid(GUID::from_u128(iid));
            let made = Runtime::current().and_then(|runtime| parameters::unmarshal(runtime, bytes, wanted, sender));
            settle_return(sender);
            made
        };
        // If one reference fails, the others are unmarshaled nevertheless, so that the counts of
        // all references go back to the sender.
        let made: Vec<_> = deadline::for_all_steps(|| slots.into_iter().map(make).collect());
        made.into_iter().collect()
    }

    /// Copies the objects that need more memory than they have in the frame.
    fn make_room(&mut self, found: &Checked, types: &'static [ElementType]) -> Result<Vec<Wide>> {
        let mut wider = Vec::new();
        for (index, room) in rooms(found, types).into_iter().enumerate() {
            let object = found.objects[index];
            if room > object.bytes as usize {
                let memory = Zeros::new(memory(object, room, types))?;
                let body = &self.bytes()[object.body as usize..(object.body + object.bytes) as usize];
                // SAFETY: `memory` has at least `body.len()` bytes.
                unsafe { memory.0.copy_from_nonoverlapping(body.as_ptr(), body.len()) };
                wider.push(Wide { index, memory });
            }
        }
        Ok(wider)
    }

    /// Converts the slots to pointers in place. Returns the objects that were copied out of the
    /// frame, and the interface pointers. Both must live as long as the frame.
    pub(super) fn link(
        &mut self,
        found: &Checked,
        types: &'static [ElementType],
    ) -> Result<(Vec<Wide>, Vec<IUnknown>)> {
        let references = self.references(found, Sender::Caller)?;
        let wider = self.make_room(found, types)?;
        let mut objects = references.iter();
        let base = self.base();
        let moved: HashMap<usize, *mut u8> = wider.iter().map(|wide| (wide.index, wide.memory.0)).collect();
        let address = |index: usize| {
            let in_place = || base.wrapping_add(found.objects[index].body as usize);
            moved.get(&index).copied().unwrap_or_else(in_place)
        };
        for slot in &found.slots {
            let target = match slot.iid {
                None => address(slot.object as usize),
                Some(_) => objects.next().map_or(std::ptr::null_mut(), |object| object.as_raw().cast()),
            };
            let place =
                if wider.is_empty() { Place { holder: None, at: slot.at as usize } } else { place_of(found, slot.at) };
            let holder = place.holder.map_or(base, address);
            // SAFETY: the check has verified that the slot is within its holder; the layout of
            // frames aligns it.
            unsafe { holder.wrapping_add(place.at).cast::<*mut u8>().write(target) };
        }
        Ok((wider, references))
    }

    /// Copies every object to which a pointer leads, once for each of the object's
    /// [owners](super::owners), and converts the slots to pointers. Each copy is an allocation of
    /// its own.
    ///
    /// The copies own the interface pointers in them.
    pub(super) fn copy_objects(
        &mut self,
        found: &Checked,
        layout: Layout,
        kept: &[Part],
        sender: Sender<'_>,
    ) -> Result<Allocations> {
        let references = self.references(found, sender)?;
        let rooms = rooms(found, layout.types);
        let plan = owners::copies(found, layout.block.shape.parts, kept, &rooms)?;
        let mut copies = Allocations::default();
        for object in plan.objects {
            let room = rooms[object];
            let object = found.objects[object];
            let memory = copies.add(memory(object, room, layout.types))?;
            let body = &self.bytes()[object.body as usize..(object.body + object.bytes) as usize];
            // SAFETY: the copy has room for at least `body.len()` bytes.
            unsafe { memory.copy_from_nonoverlapping(body.as_ptr(), body.len()) };
        }
        for (place, target) in plan.links {
            let target = match target {
                Target::Copy(copy) => copies.memory[copy],
                Target::Reference(number) => {
                    copies.references.push(references[number].clone());
                    references[number].as_raw().cast()
                }
            };
            // SAFETY: the check has verified that the slot is within its holder.
            unsafe { copies.slot(place, self.base()).write(target) };
        }
        Ok(copies)
    }
}

/// A copy of an object, with more memory than the object has in the frame.
pub(super) struct Wide {
    /// The number of the object in the frame.
    index: usize,
    memory: Zeros,
}

/// Returns the object that contains a slot of a frame, and the slot's offset in the object.
fn place_of(found: &Checked, at: u32) -> Place {
    let holder = found.objects.partition_point(|object| object.body <= at).checked_sub(1);
    let start = holder.map_or(0, |holder| found.objects[holder].body);
    Place { holder, at: (at - start) as usize }
}

/// Returns the size in memory of every object. An array may have room for more elements than the
/// frame contains.
fn rooms(found: &Checked, types: &'static [ElementType]) -> Vec<usize> {
    let mut rooms: Vec<usize> = found.objects.iter().map(|object| object.bytes as usize).collect();
    let wider = found.slots.iter().map(|slot| (slot.object, slot.room)).chain(found.tails.iter().copied());
    for (index, room) in wider {
        let object = found.objects[index as usize];
        if room > object.count
            && let Some(own) = object.kind.checked_sub(KIND_FIRST)
        {
            // `bytes` returns a size, because the check has accepted the count.
            rooms[index as usize] = types[own as usize].bytes(room as usize).unwrap_or(object.bytes as usize);
        }
    }
    rooms
}

/// Returns the size of the memory for an object that needs `room` bytes: see
/// [`ElementType::memory`].
fn memory(object: Object, room: usize, types: &'static [ElementType]) -> usize {
    let own = object.kind.checked_sub(KIND_FIRST).and_then(|own| types.get(own as usize));
    own.map_or(room, |own| own.memory(room))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::objref::ObjRef;
    use crate::services::process;
    use crate::types::identity;
    use obvia_ndr::flat::check::Slot;
    use obvia_rpc::string_binding::StringBinding;
    use obvia_rpc::vi_call::TargetId;
    use std::net::TcpListener;
    use std::time::{Duration, Instant};

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn the_references_in_a_frame_share_one_deadline() {
        const LIMIT: Duration = Duration::from_secs(1);
        const COUNT: u32 = 60;
        // The listener accepts connections, and never answers.
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = silent.local_addr().unwrap().port();
        let binding: StringBinding = format!("ncacn_ip_tcp:127.0.0.1[{port}]").parse().unwrap();
        process::runtime().unwrap();
        let (mut bytes, mut found) = (Vec::new(), Checked::default());
        for number in 0..COUNT {
            let (iid, target) = (IUnknown::IID, TargetId { index: 1, generation: 1 });
            let (oxid, bindings, securities) = (identity::draw().unwrap(), vec![binding.clone()], Vec::new());
            let reference = ObjRef { iid, public_refs: 0, oxid, oid: 1, target, bindings, securities };
            let reference = reference.to_wire().unwrap();
            let (body, length) = (bytes.len() as u32, reference.len() as u32);
            found.slots.push(Slot { at: 0, object: number, room: length, iid: Some(iid.to_u128()) });
            found.objects.push(Object { body, bytes: length, count: length, kind: 0 });
            bytes.extend(reference);
        }
        let mut frame = PrivateFrame::zeros(bytes.len(), &[]).unwrap();
        frame.bytes().copy_from_slice(&bytes);
        let begun = Instant::now();
        let made = deadline::with_timeout(LIMIT, || frame.references(&found, Sender::Callee(None)));
        assert!(made.is_err());
        assert!(begun.elapsed() < LIMIT * COUNT / 2, "{:?}", begun.elapsed());
    }
}
