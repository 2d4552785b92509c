//! The search for rings of pointers that must not share objects. In memory such a ring has a few
//! objects. In a frame, where each of these pointers leads to an object of its own, the ring would
//! have no end.

use super::Survey;
use crate::types::error::{Error, Result, code};
use std::collections::HashSet;

/// The number of objects at which a survey first looks for a ring. Smaller surveys make no search.
pub(super) const FIRST_LOOK: usize = 1024;
/// The ratio of the numbers of objects at two consecutive checks. All checks together thus visit at
/// most 4/3 as many objects as the survey has.
pub(super) const LATER_LOOK: usize = 4;

/// Checks that the object found last does not contain itself.
///
/// A survey finds near objects first, so the object found last is one of the most distant from the
/// root. If the survey follows a ring, the path from the root to this object visits the same
/// structures twice. The path is searched backwards, up to an object that several pointers may
/// share, because a survey finds such an object only once.
///
/// # Errors
///
/// E_INVALIDARG for a ring.
#[cold]
pub(super) fn check(survey: &Survey) -> Result<()> {
    let mut holders = vec![None; survey.objects.len()];
    for (place, target) in &survey.slots {
        if let Some(holder) = holders.get_mut(*target) {
            *holder = place.holder;
        }
    }
    let mut above = HashSet::new();
    let mut next = survey.objects.len().checked_sub(1);
    while let Some(index) = next
        && let Some(found) = survey.objects.get(index)
        && survey.shared.get(&survey.target(found.from, found.element, (found.count, found.room))) != Some(&index)
    {
        if !above.insert((found.from.addr(), found.element, found.count)) {
            let what = "pointers form a ring, but each must lead to a structure of its own";
            return Err(Error::new(code::E_INVALIDARG, what));
        }
        next = holders[index];
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Root, Survey};
    use crate::types::error::code;
    use obvia_ndr::flat::shape::{Class, Element, ElementType, Extent, Part, Shape, What};

    /// A structure with two pointers to structures of its kind.
    #[repr(C)]
    struct Node {
        next: *const Self,
        other: *const Self,
    }

    const fn pointer(at: u32, class: Class) -> Part {
        Part { at, what: What::Pointer { class, to: Element::Own(0), extent: Extent::One } }
    }

    fn nodes(other: Class) -> &'static [ElementType] {
        match other {
            Class::Full => &FULL,
            _ => &UNIQUE,
        }
    }

    const fn node(parts: &'static [Part]) -> ElementType {
        ElementType { size: 16, shape: Shape { runs: &[], parts }, tail: None }
    }

    static UNIQUE: [ElementType; 1] = [node(&[pointer(0, Class::Unique), pointer(8, Class::Unique)])];
    static FULL: [ElementType; 1] = [node(&[pointer(0, Class::Unique), pointer(8, Class::Full)])];

    /// Returns the number of objects that the first of the nodes `made` reaches.
    fn surveyed(made: &[Node], other: Class) -> Result<usize, windows_core::HRESULT> {
        let types = nodes(other);
        let root = Root { base: (&raw const made[0]).cast(), shape: &types[0].shape };
        // SAFETY: the nodes have the stated shape, and do not move.
        let survey = unsafe { Survey::of(root, types, 16, &[]) };
        survey.map(|survey| survey.objects.len()).map_err(|error| error.code())
    }

    /// Returns `count` nodes. `next` returns the numbers of the nodes to which a node's pointers
    /// lead.
    fn made(count: usize, next: impl Fn(usize) -> [Option<usize>; 2]) -> Vec<Node> {
        let mut made: Vec<Node> =
            (0..count).map(|_| Node { next: std::ptr::null(), other: std::ptr::null() }).collect();
        let base = made.as_mut_ptr();
        let to =
            |number: Option<usize>| number.map_or(std::ptr::null(), |number| base.wrapping_add(number).cast_const());
        for at in 0..count {
            let [next, other] = next(at).map(to);
            // SAFETY: the vector has `count` nodes, and `at` is less than `count`.
            unsafe { base.wrapping_add(at).write(Node { next, other }) };
        }
        made
    }

    #[test]
    fn rings_of_any_length_are_refused() {
        let is_quick = |length: &usize| !cfg!(miri) || *length < 100;
        for length in [1, 2, 3, 100, 1000, 5000].into_iter().filter(is_quick) {
            let ring = made(length, |at| [Some((at + 1) % length), None]);
            assert_eq!(surveyed(&ring, Class::Unique), Err(code::E_INVALIDARG), "{length}");
        }
        // A list leads to the ring. All nodes also lead to a node outside of the ring.
        let count = if cfg!(miri) { 50 } else { 5000 };
        let next = |at| if at == count - 1 { count / 2 } else { at + 1 };
        let far = made(count + 1, |at| if at == count { [None; 2] } else { [Some(next(at)), Some(count)] });
        assert_eq!(surveyed(&far, Class::Unique), Err(code::E_INVALIDARG));
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes in an interpreter")]
    fn long_lists_and_wide_trees_are_not_taken_for_rings() {
        let count = 100_000;
        let list = made(count, |at| [(at + 1 < count).then_some(at + 1), None]);
        assert_eq!(surveyed(&list, Class::Unique), Ok(count - 1));
        let tree = made(count, |at| [at * 2 + 1, at * 2 + 2].map(|to| (to < count).then_some(to)));
        assert_eq!(surveyed(&tree, Class::Unique), Ok(count - 1));
        // A node to which two unique pointers lead counts as two objects, and so does every node
        // after it.
        let twice = made(3000, |at| [(at + 1 < 3000).then_some(at + 1), (at == 0).then_some(1)]);
        assert_eq!(surveyed(&twice, Class::Unique), Ok(2 * 2999));
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes in an interpreter")]
    fn the_survey_of_full_pointer_rings_ends() {
        let both = made(100, |at| [(at + 1 < 100).then_some(at + 1), at.checked_sub(1)]);
        // Along `next`, 99 nodes follow the first node. The full pointers lead back to 99 nodes,
        // each found once. From each of these, `next` leads to further copies: 99 + 98 + ... + 1
        // objects.
        assert_eq!(surveyed(&both, Class::Full), Ok(99 + 99 + 4950));
    }
}
