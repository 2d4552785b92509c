//! Compiles the benchmarks' interfaces.

fn main() {
    obvia_idl::build("bench.idl");
    obvia_idl::build("reread.idl");
}
