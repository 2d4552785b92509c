//! Tests arrays by reference and lent arrays, from C++ to C++: see `programs/regions.cc`.

use crate::program::{build, calls_its_server};

#[test]
fn cpp_arrays_are_passed_by_reference() {
    calls_its_server(&build("regions", &["regions.idl"], &["regions.cc"]));
}
