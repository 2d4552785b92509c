//! Compiles what Automation's interfaces are on the wire.

fn main() {
    obvia_idl::build_automation();
}
