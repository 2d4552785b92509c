//! Compiles the interfaces whose frames are fuzzed.

fn main() {
    obvia_idl::build("../matrix/idl/shapes.idl");
    obvia_idl::build("../../examples/notes/notes.idl");
}
