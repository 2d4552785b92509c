//! Compiles the interface whose calls are counted.

fn main() {
    obvia_idl::build("icount.idl");
}
