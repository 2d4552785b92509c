//! Fuzzes the reading of frames as values, by callers and objects without generated code. The
//! values of an accepted frame are made, and their number must stay within the limits.
//!
//! The first byte chooses the method and its message, the rest is the frame.

use obvia_idl::Compiler;
use obvia_idl::frames::{self, Frames, Layout, Make};
use obvia_idl::model::{Base, EnumId, InterfaceId, Model, StructId, UnionId};
use std::path::Path;
use std::sync::LazyLock;

/// The maximum number of bytes that are read more than once.
const REPEATED_MAX: usize = 1 << 20;
/// The maximum number of values to which one byte of a frame can belong, because structures, arrays
/// and unions are nested.
const VALUES_OF_BYTE: usize = 8;

/// The methods of the matrix's interface `IShapes`, which has structures with pointers.
static METHODS: LazyLock<Vec<Frames<'static>>> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../matrix/idl/shapes.idl");
    let model = Compiler::new().check(&path).expect("an IDL file of the repository").model;
    let model: &'static Model = Box::leak(Box::new(model));
    let at = model.interfaces.iter().position(|interface| interface.name == "IShapes").expect("it has this interface");
    let methods = model.all_methods(InterfaceId(at));
    let layout = Layout::new(model, &methods);
    methods.into_iter().map(|method| Frames::new(layout.clone(), method)).collect()
});

/// A maker of values, which only counts the values.
#[derive(Default)]
struct Counter {
    made: usize,
    open: usize,
}

impl Counter {
    fn one(&mut self) -> Option<()> {
        self.made += 1;
        Some(())
    }
}

impl Make for Counter {
    type Value = ();
    type Structure = ();
    const DEPTH_MAX: usize = frames::DEPTH_MAX;

    fn null(&mut self) -> Option<()> {
        self.one()
    }

    fn base(&mut self, base: Base, bytes: &[u8]) -> Option<()> {
        bytes.get(..base.size() as usize)?;
        self.one()
    }

    fn enumeration(&mut self, _: EnumId, _: i32) -> Option<()> {
        self.one()
    }

    fn text(&mut self, _: String) -> Option<()> {
        self.one()
    }

    fn list(&mut self, _: Vec<()>) -> Option<()> {
        self.one()
    }

    fn bytes(&mut self, _: Base, _: &[u8]) -> Option<()> {
        None
    }

    fn structure(&mut self, _: StructId, _: Option<usize>) -> Option<()> {
        self.open += 1;
        assert!(self.open <= Self::DEPTH_MAX, "a structure is nested too deeply");
        self.one()
    }

    fn member(&mut self, (): &mut (), _: &str, (): ()) -> Option<()> {
        Some(())
    }

    fn finish(&mut self, (): ()) -> Option<()> {
        self.open -= 1;
        Some(())
    }

    fn again(&mut self, _: usize) -> Option<()> {
        self.one()
    }

    fn too_deep(&mut self) -> Option<()> {
        None
    }

    fn union(&mut self, _: UnionId, _: i64, _: bool, _: Option<(&str, ())>) -> Option<()> {
        self.one()
    }

    fn object(&mut self, _: &[u8]) -> Option<()> {
        self.one()
    }
}

pub fn run(input: &[u8]) {
    let Some((choice, frame)) = input.split_first() else { return };
    let (is_request, method) = (choice & 0x80 == 0, &METHODS[usize::from(choice & 0x7f) % METHODS.len()]);
    let mut counter = Counter::default();
    // The sizes that depend on the other message get small numbers.
    let outer = |index: usize| Some(index as i64);
    let Ok(mut reading) = method.read(is_request, frame, &outer, &mut counter) else { return };
    let plan = method.plan();
    let read = if is_request { plan.arguments() } else { plan.results() };
    let is_complete = read.into_iter().all(|index| reading.value(index).is_some());
    let left = reading.remaining().count();
    assert!(!is_complete || left == 0, "{left} references are left");
    let most = VALUES_OF_BYTE * (frame.len() + REPEATED_MAX);
    assert!(counter.made <= most, "{} values of {} bytes", counter.made, frame.len());
}
