//! Compiles the interfaces, and programs that call some of them with random values.

use obvia_idl::{Compiler, build, build_with};

fn main() {
    let tested = Compiler::new().test(true);
    build("idl/shapes.idl");
    build_with(&tested, "idl/values.idl");
    build_with(&tested, "idl/functions.idl");
    build("idl/clock.idl");
    // The next IDL file is generated from java-first/first/Ledger.java.
    build("idl/ledger.idl");
    build("../interop/idl/rpcecho.idl");
    // The C back end's golden IDL file. `crates/capi/tests/native/random_calls.rs` runs the
    // programs.
    build_with(&tested, "../../crates/idl/tests/c/plain.idl");
}
