//! The owners of received objects. The owner of a parameter frees everything that the parameter
//! reaches. If the parameters of two owners reach one object by full pointers, each owner gets a
//! copy of the object.

use super::survey::Place;
use crate::types::error::{Result, code};
use obvia_ndr::flat::check::{Checked, ROOM_MAX};
use obvia_ndr::flat::shape::Part;
use std::ops::Range;

/// The copies of a frame's objects, for all owners. An object to which no pointer leads gets no
/// copy.
#[derive(Default)]
pub(super) struct Copies {
    /// For each copy, the number of the frame's object from which the copy is made.
    pub(super) objects: Vec<usize>,
    /// The pointers in the block and in the copies, each with its target.
    pub(super) links: Vec<(Place, Target)>,
}

/// The target of a pointer, by its number.
#[derive(Clone, Copy)]
pub(super) enum Target {
    Copy(usize),
    /// A reference, by its number among the frame's slots with references.
    Reference(usize),
}

/// The assumed overhead of an allocation, in bytes: the allocator's data, and a pointer to the
/// allocation.
const ALLOCATION: usize = 64;

/// The number of the owner of all kept parameters. The number of any other owner is its parameter's
/// offset.
const KEPT: u32 = u32::MAX;

/// Returns the copies for the owners of a frame. `parts` are the parts of the block. The parts in
/// `kept` have one common owner, and each other part has an owner of its own. `rooms` are the sizes
/// of the objects in memory, in bytes.
///
/// # Errors
///
/// E_OUTOFMEMORY when the second and further copies of objects are too large in total.
pub(super) fn copies(found: &Checked, parts: &[Part], kept: &[Part], rooms: &[usize]) -> Result<Copies> {
    let owner = |at: u32| {
        let start = parts.iter().map(|part| part.at).filter(|start| *start <= at).max().unwrap_or(0);
        if kept.iter().any(|part| part.at == start) { KEPT } else { start }
    };
    let slots = slots_of(found);
    let of_block = || slots[0].clone().map(|slot| (slot, owner(found.slots[slot].at)));
    let mut owners: Vec<u32> = of_block().map(|(_, owner)| owner).collect();
    owners.sort_unstable();
    owners.dedup();
    let mut making = Making { found, rooms, numbers: numbers(found), made: vec![None; rooms.len()], more: 0 };
    let mut copies = Copies::default();
    for one in owners {
        let mut next = copies.objects.len();
        for (slot, _) in of_block().filter(|(_, owner)| *owner == one) {
            let place = Place { holder: None, at: found.slots[slot].at as usize };
            making.follow(&mut copies, slot, place, one)?;
        }
        while let Some(&object) = copies.objects.get(next) {
            for slot in slots[object + 1].clone() {
                let at = found.slots[slot].at - found.objects[object].body;
                making.follow(&mut copies, slot, Place { holder: Some(next), at: at as usize }, one)?;
            }
            next += 1;
        }
    }
    Ok(copies)
}

/// Returns the slots of the block, and then those of each object. In `found`, the slots of one
/// object follow each other.
fn slots_of(found: &Checked) -> Vec<Range<usize>> {
    let mut slots = vec![0..0; found.objects.len() + 1];
    let mut at = 0;
    while let Some(first) = found.slots.get(at) {
        let holder = found.objects.partition_point(|object| object.body <= first.at);
        let start = holder.checked_sub(1).map_or(0, |holder| found.objects[holder].body);
        let end = found.objects.get(holder).map_or(u32::MAX, |object| object.body);
        let count = found.slots[at..].iter().take_while(|slot| (start..end).contains(&slot.at)).count();
        slots[holder] = at..at + count;
        at += count;
    }
    slots
}

/// Returns, for each slot, how many slots with references precede it. For a slot with a reference
/// this is the reference's number.
fn numbers(found: &Checked) -> Vec<usize> {
    let counted = found.slots.iter().scan(0, |next, slot| {
        let number = *next;
        *next += usize::from(slot.iid.is_some());
        Some(number)
    });
    counted.collect()
}

struct Making<'a> {
    found: &'a Checked,
    rooms: &'a [usize],
    numbers: Vec<usize>,
    /// The last copy of each object, with its owner.
    made: Vec<Option<(u32, usize)>>,
    /// The total size, in bytes, of the second and further copies that have been made.
    more: usize,
}

impl Making<'_> {
    /// Adds the pointer of an owner at `place`. If the owner has no copy of the pointer's target
    /// yet, adds the copy.
    fn follow(&mut self, copies: &mut Copies, slot: usize, place: Place, owner: u32) -> Result<()> {
        let found = &self.found.slots[slot];
        if found.iid.is_some() {
            copies.links.push((place, Target::Reference(self.numbers[slot])));
            return Ok(());
        }
        let object = found.object as usize;
        let copy = match self.made[object] {
            Some((by, copy)) if by == owner => copy,
            earlier => {
                self.more += earlier.map_or(0, |_| self.rooms[object] + ALLOCATION);
                if self.more > ROOM_MAX {
                    return Err(code::E_OUTOFMEMORY.into());
                }
                let copy = copies.objects.len();
                self.made[object] = Some((owner, copy));
                copies.objects.push(object);
                copy
            }
        };
        copies.links.push((place, Target::Copy(copy)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use obvia_ndr::flat::check::check;
    use obvia_ndr::flat::shape::{Block, Class, Element, ElementType, Extent, Iid, Shape, What};
    use obvia_ndr::flat::{KIND_FIRST, KIND_INTERFACE};

    const fn node(at: u32) -> Part {
        Part { at, what: What::Pointer { class: Class::Full, to: Element::Own(0), extent: Extent::One } }
    }

    /// A structure with a full pointer to a structure of its type.
    static TYPES: [ElementType; 1] =
        [ElementType { size: 8, shape: Shape { runs: &[], parts: &[node(0)] }, tail: None }];
    /// Three parameters, each a pointer to such a structure.
    static BLOCK: Block = Block { size: 24, shape: Shape { runs: &[], parts: &[node(0), node(8), node(16)] } };

    /// Checks a frame of words.
    fn checked(words: &[u64], block: &'static Block, types: &'static [ElementType]) -> Checked {
        let frame: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        check(&frame, block, types, &[]).unwrap()
    }

    const HEADER: u64 = KIND_FIRST as u64 | 1 << 32;
    /// A frame with two structures that lead to each other. The first two parameters lead to the
    /// first structure, and the third parameter leads to the second structure.
    const RING: [u64; 7] = [32, 32, 48, HEADER, 48, HEADER, 32];

    /// Returns, for each copy, the number of the copied object, and the targets of all pointers.
    fn copied(kept: &[Part]) -> (Vec<usize>, Vec<usize>) {
        let found = checked(&RING, &BLOCK, &TYPES);
        let rooms = vec![8; found.objects.len()];
        let copies = copies(&found, BLOCK.shape.parts, kept, &rooms).unwrap();
        let target = |(_, target): &(Place, Target)| match target {
            Target::Copy(copy) => *copy,
            Target::Reference(_) => panic!("there is no reference"),
        };
        (copies.objects, copies.links.iter().map(target).collect())
    }

    #[test]
    fn every_owner_has_objects_of_its_own() {
        // With one owner, the targets are those of the three pointers in the block, and then those
        // of the pointers in the two copies.
        assert_eq!(copied(&[node(0), node(8), node(16)]), (vec![0, 1], vec![0, 0, 1, 1, 0]));
        // The second parameter has an owner of its own. Owners follow each other by their offsets,
        // and the kept parameters come last.
        assert_eq!(copied(&[node(0), node(16)]), (vec![0, 1, 0, 1], vec![0, 1, 0, 2, 3, 3, 2]));
        let (objects, targets) = copied(&[]);
        assert_eq!(objects, [0, 1, 0, 1, 1, 0]);
        assert_eq!(targets, [0, 1, 0, 2, 3, 2, 4, 5, 4]);
    }

    /// The first copies need no limit, because the check has accepted the frame and the sizes of
    /// its objects in memory.
    #[test]
    fn the_second_and_further_copies_are_limited() {
        let found = checked(&RING, &BLOCK, &TYPES);
        let limited = |room: usize, kept: &[Part]| copies(&found, BLOCK.shape.parts, kept, &[room; 2]).err();
        let refused = Some(code::E_OUTOFMEMORY.into());
        // Three owners need four further copies.
        assert_eq!(limited(ROOM_MAX / 4 - ALLOCATION, &[]), None);
        assert_eq!(limited(ROOM_MAX / 4 - ALLOCATION + 1, &[]), refused);
        // Two owners need two further copies, and one owner needs none.
        assert_eq!(limited(ROOM_MAX / 2 - ALLOCATION, &[node(0), node(8)]), None);
        assert_eq!(limited(ROOM_MAX / 2 - ALLOCATION + 1, &[node(0), node(8)]), refused);
        assert_eq!(limited(ROOM_MAX, BLOCK.shape.parts), None);
    }

    #[test]
    fn every_owner_has_references_of_its_own() {
        static HOLDER: [ElementType; 1] = [ElementType {
            size: 16,
            shape: Shape { runs: &[], parts: &[node(0), Part { at: 8, what: What::Object(Iid::Known(5)) }] },
            tail: None,
        }];
        let reference = u64::from(KIND_INTERFACE) | 8 << 32;
        // Two parameters lead to one structure, whose reference has eight bytes.
        let words = [32, 0, 32, HEADER, 0, 56, reference, 0];
        let found = checked(&words, &BLOCK, &HOLDER);
        let copies = copies(&found, BLOCK.shape.parts, &[], &vec![16; found.objects.len()]).unwrap();
        assert_eq!(copies.objects, [0, 0]);
        let references = copies.links.iter().filter_map(|(place, target)| match target {
            Target::Reference(number) => Some((place.holder, place.at, *number)),
            Target::Copy(_) => None,
        });
        assert!(references.eq([(Some(0), 8, 0), (Some(1), 8, 0)]));
    }
}
