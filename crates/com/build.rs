//! Compiles the IDL files that the compiler has built in: the wire forms of Automation's types,
//! IClassFactory, and the interfaces of connection points.

fn main() {
    obvia_idl::build_bundled();
}
