//! Compiles the interfaces that every program has: what Automation's are on the wire, and
//! connection points.

fn main() {
    obvia_idl::build_brought();
}
