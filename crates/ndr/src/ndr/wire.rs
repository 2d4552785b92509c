//! Properties of a type's form in NDR and NDR64: C706 14.2 and 14.3, MS-RPCE 2.2.5.

use super::plan::{Type, TypeId, What, Wire};

/// The alignment of an `MInterfacePointer`: MS-DCOM 2.2.14.
pub(super) const MINTERFACEPOINTER_ALIGN: u32 = 4;

/// Returns the size of a pointer and of a count, in bytes.
pub(super) const fn word(is_wide: bool) -> u32 {
    if is_wide { 8 } else { 4 }
}

/// Returns the form of a type with `size` bytes in memory. `known` contains the types of its parts.
pub(super) fn of(known: &[Type], size: u32, what: &What, is_wide: bool) -> Wire {
    let part = |id: TypeId| known[id as usize].wire(is_wide);
    let number = |align, size| Wire { align, least: size, is_copied: true };
    let word = word(is_wide);
    match what {
        What::Number => number(size, size),
        What::Guid => number(4, 16),
        What::Enum if is_wide => number(4, 4),
        What::Enum => Wire { align: 2, least: 2, is_copied: false },
        // On the wire, values other than 1 can also mean true.
        What::Boolean => Wire { align: 1, least: 1, is_copied: false },
        What::Pointer(..) => Wire { align: word, least: word, is_copied: false },
        What::Array { count, element } => {
            let element = part(*element);
            Wire { least: element.least.saturating_mul(*count), ..*element }
        }
        What::Varying { element, .. } => {
            Wire { align: word.max(part(*element).align), least: 2 * word, is_copied: false }
        }
        What::Struct { members, tail } => {
            let mut wire = Wire { align: 1, least: 0, is_copied: tail.is_none() };
            let mut end = 0;
            for (at, id) in members {
                let member = part(*id);
                wire.align = wire.align.max(member.align);
                wire.least = wire.least.saturating_add(member.least);
                // Gaps are not copied, since they may hold private data.
                wire.is_copied &= member.is_copied && end == *at;
                end = at.saturating_add(known[*id as usize].size);
            }
            if let Some(tail) = tail {
                wire.align = wire.align.max(part(tail.element).align);
                wire.least = wire.least.saturating_add(word);
            }
            wire.is_copied &= end == size;
            wire
        }
        What::Union(union) => {
            let tag = part(union.tag);
            let arm = |arm: Option<TypeId>| arm.map(part).copied().unwrap_or_default();
            let align = union.all_arms().fold(tag.align, |align, found| align.max(arm(found).align));
            let least = union.all_arms().map(|found| arm(found).least).min().unwrap_or(0);
            Wire { align, least: tag.least.saturating_add(least), is_copied: false }
        }
    }
}
