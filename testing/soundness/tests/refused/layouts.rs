//! Safe code can make layouts, but cannot use them to turn numbers in a frame into pointers.

use obvia::rt::shape::{Block, Class, Element, Extent, Part, Shape, What};
use obvia::rt::{Arguments, Layout, StubCall};

static POINTER: [Part; 1] =
    [Part { at: 1, what: What::Pointer { class: Class::Full, to: Element::Char, extent: Extent::Text } }];
static PLAIN: Block = Block { size: 16, shape: Shape { runs: &[(0, 16)], parts: &[] } };
static OTHER: Block = Block { size: 16, shape: Shape { runs: &[], parts: &POINTER } };
const GIVEN: Layout = Layout { block: &PLAIN, types: &[] };
const KEPT: Layout = Layout { block: &OTHER, types: &[] };

fn receive(stub: &mut StubCall<'_, '_>) {
    drop(stub.arguments(KEPT)); //~ error[E0133]: call to unsafe function `obvia::marshal::graph::image::<impl obvia::rt::StubCall<'_, '_>>::arguments` is unsafe
    drop(stub.arguments_to_change(GIVEN, KEPT)); //~ error[E0133]: call to unsafe function `obvia::marshal::graph::image::<impl obvia::rt::StubCall<'_, '_>>::arguments_to_change` is unsafe
    drop(Arguments::of_bytes(&[0; 16], KEPT)); //~ error[E0133]: call to unsafe function `obvia::rt::Arguments::of_bytes` is unsafe and requires unsafe block
    drop(Arguments::of_bytes_to_change(&[0; 16], GIVEN, KEPT)); //~ error[E0133]: call to unsafe function `obvia::rt::Arguments::of_bytes_to_change` is unsafe and requires unsafe block
}

fn main() {}
