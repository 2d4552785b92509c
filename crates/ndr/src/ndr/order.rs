//! The order of a frame's objects: FLAT orders them by their slots, NDR by the rules of C706
//! 14.3.12.3.

use crate::flat::OBJECT_HEADER;

/// The objects of a frame and their slots.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The offsets of the objects' bodies, in ascending order.
    pub(super) objects: Vec<u32>,
    /// The offset of each slot, and the number of the object to which the slot refers.
    pub(super) slots: Vec<(u32, u32)>,
}

/// The offset of an object that has no place yet.
const NOWHERE: u32 = u32::MAX;

/// Sorts objects into the order of their first slots in the frame.
pub(super) fn restore(frame: &mut Vec<u8>, block: usize, found: &mut Found) {
    if !found.slots.is_sorted() {
        found.slots.sort_unstable();
    }
    let mut next = 0;
    let is_in_order = found.slots.iter().all(|(_, object)| {
        next += u32::from(*object == next);
        *object < next
    });
    if !is_in_order {
        *frame = reordered(frame, block, found);
    }
}

fn reordered(frame: &[u8], block: usize, found: &Found) -> Vec<u8> {
    let Found { objects, slots } = found;
    let first = block.next_multiple_of(OBJECT_HEADER);
    let end = |object: usize| objects.get(object + 1).map_or(frame.len(), |next| *next as usize - OBJECT_HEADER);
    let mut made = Vec::with_capacity(frame.len());
    made.extend_from_slice(&frame[..first]);
    // The new offset of each object, and the objects in their new order.
    let mut places = vec![NOWHERE; objects.len()];
    let mut order: Vec<usize> = Vec::with_capacity(objects.len());
    let mut length = first;
    let mut looked = 0;
    let (mut from, mut range) = (0, 0..first);
    loop {
        let here = slots.partition_point(|(at, _)| (*at as usize) < range.start);
        for (at, object) in slots[here..].iter().take_while(|(at, _)| range.contains(&(*at as usize))) {
            let object = *object as usize;
            if places[object] == NOWHERE {
                let body = objects[object] as usize;
                // The offset is below the frame's length, so it fits 32 bits.
                places[object] = (length + OBJECT_HEADER) as u32;
                made.extend_from_slice(&frame[body - OBJECT_HEADER..end(object)]);
                length = made.len();
                order.push(object);
            }
            let slot = *at as usize - range.start + from;
            made[slot..slot + 8].copy_from_slice(&u64::from(places[object]).to_le_bytes());
        }
        let Some(object) = order.get(looked) else { return made };
        looked += 1;
        range = objects[*object] as usize..end(*object);
        from = places[*object] as usize;
    }
}
