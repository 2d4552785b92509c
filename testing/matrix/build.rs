//! Compiles the interfaces.

fn main() {
    obvia_idl::build("idl/shapes.idl");
    obvia_idl::build("idl/values.idl");
}
