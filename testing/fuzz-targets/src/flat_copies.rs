//! Fuzzes the copies of received objects that have different owners. The method owns some
//! arguments, and the test frees each of them alone, as a method would. The runtime frees the other
//! arguments.
//!
//! The first byte chooses the method, and the second one the owners; the rest is the frame of the
//! method's request.

use crate::flat_check::{METHODS, layout};
use obvia::rt::shape::{Block, Shape};
use obvia::rt::{Arguments, Image, Layout};
use std::sync::LazyLock;

/// The number of sets of parameters. Parameters whose numbers differ by a multiple of four are in
/// the same sets.
const SETS: usize = 16;
/// The bit of the second byte for a request that is refused before the method runs.
const IS_REFUSED: u8 = 0x80;
/// The bit of the second byte for a method that frees its last argument first.
const IS_REVERSED: u8 = 0x40;

/// The layouts of sets of parameters, for each method.
static PARTS: LazyLock<Vec<Layout>> = LazyLock::new(|| {
    let methods = (0..METHODS).map(layout);
    methods.flat_map(|whole| (0..SETS).map(move |set| part(whole, |at| set >> (at % 4) & 1 == 1))).collect()
});

/// Returns the layout of the parameters that `is_chosen` accepts by their numbers.
fn part(whole: Layout, is_chosen: impl Fn(usize) -> bool) -> Layout {
    let Shape { runs, parts } = whole.block.shape;
    let chosen: Vec<_> = parts.iter().enumerate().filter(|(at, _)| is_chosen(*at)).map(|(_, part)| *part).collect();
    let shape = Shape { runs, parts: Vec::leak(chosen) };
    Layout { block: Box::leak(Box::new(Block { size: whole.block.size, shape })), types: whole.types }
}

pub fn run(input: &[u8]) {
    let [method, owners, frame @ ..] = input else { return };
    let method = *method % METHODS;
    let sets = &PARTS[usize::from(method) * SETS..][..SETS];
    let (whole, kept) = (layout(method), usize::from(*owners) % SETS);
    // SAFETY: the compiler generated the layout, and the kept parameters are a part of it.
    let made = unsafe { Arguments::of_bytes_to_change(frame, whole, sets[kept]) };
    let Ok(mut arguments) = made else { return };
    if owners & IS_REFUSED != 0 {
        return;
    }
    arguments.release();
    let mut image = Image::new(whole);
    // SAFETY: `place(0)` points to the arguments' block, which has `whole.block.size` bytes.
    let copied = unsafe { image.put_from(0, arguments.place::<u8>(0), whole.block.size as usize) };
    assert_eq!(copied, Ok(()));
    let mut given: Vec<usize> = (0..4).filter(|at| kept >> at & 1 == 0).collect();
    if owners & IS_REVERSED != 0 {
        given.reverse();
    }
    for at in given {
        // SAFETY: the method owns what these arguments reach, and no other argument reaches it.
        unsafe { image.free(sets[1 << at], &[]) };
    }
}
