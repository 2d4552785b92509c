//! Compiles the interfaces that are called.

fn main() {
    obvia_idl::build("bench.idl");
    obvia_idl::build("reread.idl");
}
