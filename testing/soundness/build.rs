//! Compiles the interfaces.

fn main() {
    obvia_idl::build("idl/soundness.idl");
    obvia_idl::build("idl/other.idl");
}
