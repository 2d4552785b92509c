//! Tests structures that are larger than a thread's stack: see `programs/large.cc`.

use crate::program::{build, calls_its_server};

#[test]
fn structures_larger_than_a_stack_are_passed() {
    calls_its_server(&build("large", &["large.idl"], &["large.cc"]));
}
