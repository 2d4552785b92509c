//! Tests of structures that change their owners. Miri finds the memory that is freed twice, or
//! never.

use super::private::PrivateFrame;
use super::*;
use crate::runtime::returned::Sender;
use obvia_ndr::flat::KIND_FIRST;
use obvia_ndr::flat::shape::{Class, Element, Expr, Extent, Int, Part, Shape, Tail, What};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

const fn pointer(at: u32, class: Class) -> Part {
    Part { at, what: What::Pointer { class, to: Element::Own(0), extent: Extent::One } }
}

/// A node with a full pointer.
#[repr(C)]
struct Node {
    number: u64,
    next: Cell<*const Self>,
}

// SAFETY: the element type describes a number and a pointer to another node.
unsafe impl Graph for Node {
    type Item<'a> = Self;
    const TYPES: &'static [ElementType] =
        &[ElementType { size: 16, shape: Shape { runs: &[(0, 8)], parts: &[pointer(8, Class::Full)] }, tail: None }];
    const ELEMENT: Element = Element::Own(0);
    const CAN_CHANGE: bool = true;
}

/// A type of the same structures with a unique pointer.
struct Tree;

// SAFETY: the element type describes a number and a pointer to another node.
unsafe impl Graph for Tree {
    type Item<'a> = Node;
    const TYPES: &'static [ElementType] =
        &[ElementType { size: 16, shape: Shape { runs: &[(0, 8)], parts: &[pointer(8, Class::Unique)] }, tail: None }];
    const ELEMENT: Element = Element::Own(0);
    const CAN_CHANGE: bool = false;
}

/// Three parameters that lead to nodes.
static BLOCK: Block = Block {
    size: 24,
    shape: Shape { runs: &[], parts: &[pointer(0, Class::Full), pointer(8, Class::Full), pointer(16, Class::Full)] },
};
const LAYOUT: Layout = Layout { block: &BLOCK, types: Node::TYPES };

/// Returns nodes with the numbers from `first` on, each of which leads to the next one.
fn nodes(first: u64, count: usize) -> Vec<Node> {
    let nodes: Vec<Node> = (first..).take(count).map(|number| Node { number, next: Cell::new(ptr::null()) }).collect();
    for (node, next) in nodes.iter().zip(&nodes[1..]) {
        node.next.set(next);
    }
    nodes
}

/// Makes a ring of nodes with the numbers from `first` on.
fn ring(first: u64, count: usize) -> Owned<Node> {
    let nodes = nodes(first, count);
    nodes[count - 1].next.set(&raw const nodes[0]);
    Owned::new(&nodes[0]).unwrap()
}

/// Returns the numbers from `first` on, until the list ends, or until it leads back to `first`.
fn numbers(first: *const Node) -> Vec<u64> {
    let (mut numbers, mut at) = (Vec::new(), first);
    while !at.is_null() && (numbers.is_empty() || at != first) {
        // SAFETY: the tests make valid lists.
        let node = unsafe { &*at };
        numbers.push(node.number);
        at = node.next.get();
    }
    numbers
}

/// Makes a place as in a caller's memory, with a ring of nodes that leads through the place.
fn place_in_ring(first: u64, count: usize) -> *mut u8 {
    let place = place_for::<Node>().unwrap();
    // SAFETY: the place is fresh.
    unsafe { lower(ring(first, count), place) };
    place
}

/// Asserts that a ring through a caller's memory has these numbers, and frees it.
#[track_caller]
fn assert_ring(place: *mut u8, expected: &[u64]) {
    assert_eq!(numbers(place.cast()), expected);
    // SAFETY: the place and all other nodes are allocations of their own.
    drop(unsafe { Owned::<Node>::adopt(place) });
}

#[test]
fn a_ring_leads_through_the_place_to_which_it_was_lowered() {
    assert_ring(place_in_ring(0, 1), &[0]);
    assert_ring(place_in_ring(0, 2), &[0, 1]);
    assert_ring(place_in_ring(0, 3), &[0, 1, 2]);
}

#[test]
fn slices_are_lowered_to_the_first_of_several_places() {
    let own = nodes(0, 1);
    own[0].next.set(&raw const own[0]);
    let places = places_for::<Node>(5).unwrap();
    // SAFETY: there are five fresh places at `places`.
    unsafe { lower_slice(OwnedSlice::<Node>::new(&own).unwrap(), places, 5) }.unwrap();
    assert_eq!(numbers(places.cast()), [0]);
    // SAFETY: the places are one allocation.
    drop(unsafe { OwnedSlice::<Node>::adopt(places, 5) });

    let place = place_for::<Node>().unwrap();
    // SAFETY: the place is fresh.
    let refused = unsafe { lower_slice(OwnedSlice::<Node>::new(&nodes(0, 2)).unwrap(), place, 1) };
    assert_eq!(refused.unwrap_err().code(), code::E_INVALIDARG);
    assert_ring(place, &[0]);
}

#[test]
fn structures_without_full_pointers_are_moved_as_they_are() {
    let list = nodes(4, 3);
    let place = place_for::<Tree>().unwrap();
    // SAFETY: the place is fresh.
    unsafe { lower(Owned::<Tree>::new(&list[0]).unwrap(), place) };
    assert_eq!(numbers(place.cast()), [4, 5, 6]);
    // SAFETY: the place has a structure, and all nodes are allocations of their own.
    drop(unsafe { Lifted::<Tree>::new(place) }.unwrap());
    assert_eq!(numbers(place.cast()), [4, 5, 6]);
    // SAFETY: the place has a structure, and all nodes are allocations of their own.
    drop(unsafe { Owned::<Tree>::adopt(place) });
}

#[test]
fn a_lifted_structure_is_put_back_whatever_the_method_did() {
    let run = |method: &mut dyn FnMut(&mut Owned<Node>)| {
        let place = place_in_ring(0, 2);
        // SAFETY: the place has a structure, and all nodes are allocations of their own.
        let mut lifted = unsafe { Lifted::<Node>::new(place) }.unwrap();
        assert_eq!(numbers(lifted.as_ptr().cast()), [0, 1]);
        let outcome = catch_unwind(AssertUnwindSafe(move || method(&mut lifted)));
        (place, outcome.is_ok())
    };
    let (place, _) = run(&mut |_| ());
    assert_ring(place, &[0, 1]);
    let (place, _) = run(&mut |node| *node = ring(5, 3));
    assert_ring(place, &[5, 6, 7]);
    let mut other = ring(8, 1);
    let (place, _) = run(&mut |node| std::mem::swap(node, &mut other));
    assert_ring(place, &[8]);
    assert_eq!(numbers(other.as_ptr().cast()), [0, 1]);
    let (place, returned) = run(&mut |node| {
        *node = ring(5, 2);
        panic!("the method panics");
    });
    assert!(!returned);
    assert_ring(place, &[5, 6]);
}

/// Returns a frame with a ring of two nodes. The first two parameters lead to the first node, and
/// the third parameter leads to the second node.
fn frame() -> Vec<u8> {
    let header = u64::from(KIND_FIRST) | 1 << 32;
    let words = [32, 32, 56, header, 0, 56, header, 1, 32];
    words.iter().flat_map(|word: &u64| word.to_le_bytes()).collect()
}

#[test]
fn the_owners_of_shared_objects_free_them_in_any_order() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let (mut private, found) = PrivateFrame::of_bytes(&frame(), LAYOUT, &[]).unwrap();
        let mut copies = private.copy_objects(&found, LAYOUT, &[], Sender::Callee(None)).unwrap();
        copies.keep();
        for number in order {
            // SAFETY: the block has three pointers.
            let first = unsafe { private.base().cast::<*mut u8>().wrapping_add(number).read() };
            assert_ring(first, if number == 2 { &[1, 0] } else { &[0, 1] });
        }
    }
}

#[test]
fn arguments_are_freed_once_whether_the_method_runs_or_not() {
    static KEPT: Block =
        Block { size: 24, shape: Shape { runs: &[], parts: &[pointer(0, Class::Full), pointer(16, Class::Full)] } };
    let kept = Layout { block: &KEPT, types: Node::TYPES };
    // SAFETY: the layout has the form that the compiler generates.
    let made = || unsafe { Arguments::of_bytes_to_change(&frame(), LAYOUT, kept) }.unwrap();
    drop(made());
    let mut arguments = made();
    arguments.release();
    // SAFETY: the parameter is a pointer.
    let [first, given, last] = [0, 8, 16].map(|at| unsafe { arguments.get::<*mut u8>(at) });
    // The method frees its argument before it reads the others.
    assert_ring(given, &[0, 1]);
    assert_eq!((numbers(first.cast()), numbers(last.cast())), (vec![0, 1], vec![1, 0]));
}

#[test]
fn rooms_are_freed_once() {
    let made = || {
        let mut image = Image::new(LAYOUT);
        let room = image.room::<Node>(0, 1, 16).unwrap();
        (image, room)
    };
    assert!(Image::new(LAYOUT).room::<Node>(0, 2, 16).is_err());
    drop(made());
    let (image, room) = made();
    // SAFETY: the room is the image's own.
    unsafe { (*room).next.set(ring(0, 2).into_raw().cast()) };
    // SAFETY: the image owns everything that it reaches.
    unsafe { image.free(LAYOUT, &[]) };
    // In this case the method has left no pointer to the room.
    let (mut image, _) = made();
    image.put(0, ptr::null::<Node>());
    // SAFETY: the image owns everything that it reaches.
    unsafe { image.free(LAYOUT, &[]) };
}

#[test]
fn pointers_to_parameters_stay_valid_while_others_are_stored() {
    let (mut image, list) = (Image::new(LAYOUT), ring(0, 2).into_raw());
    let first = image.place::<*mut u8>(0);
    image.put(8, list);
    // SAFETY: the place is a parameter of the image.
    unsafe { first.write(list) };
    // SAFETY: the image owns the list.
    unsafe { image.free(LAYOUT, &[]) };
}

/// Structures that end in an array differ in their lengths, so an array of such structures has at
/// most one element.
#[test]
fn arrays_have_at_most_one_structure_that_ends_in_an_array() {
    static OPEN: [ElementType; 1] = [ElementType {
        size: 4,
        shape: Shape { runs: &[(0, 4)], parts: &[] },
        tail: Some(Tail {
            at: 4,
            size: 4,
            shape: Shape { runs: &[(0, 4)], parts: &[] },
            count: Expr::Member(0, Int::U32),
            length: None,
        }),
    }];
    let given = [2_u32, 7, 8];
    // SAFETY: the address of an empty array is not used, and every other address leads to a
    // structure.
    let copied = |from: *const u32, count| unsafe { copy_elements(from.cast(), Element::Own(0), count, &OPEN) };
    let copy = copied(given.as_ptr(), 1).unwrap();
    // SAFETY: the copy has the number of elements, and two elements.
    assert_eq!(unsafe { copy.cast::<[u32; 3]>().read() }, given);
    // SAFETY: the copy is an allocation of its own.
    unsafe { free_elements(copy, Element::Own(0), 1, &OPEN) };
    assert!(copied(ptr::dangling(), 0).unwrap().is_null());
    assert_eq!(copied(given.as_ptr(), 2).unwrap_err().code(), code::E_INVALIDARG);
}
