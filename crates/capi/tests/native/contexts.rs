//! Tests that a server in C++ keeps a context's state while a call uses it, even if another call
//! destroys the context: see `programs/contexts.cc`.

use crate::program::{build, calls_its_server};

#[test]
fn destroyed_contexts_live_until_the_calls_that_use_them_end() {
    calls_its_server(&build("contexts", &["contexts.idl"], &["contexts.cc"]));
}
