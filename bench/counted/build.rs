//! Compiles the interface that is called.

fn main() {
    obvia_idl::build("icount.idl");
}
