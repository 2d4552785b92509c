//! Test that the Java back end's output compiles against the runtime without a warning.

use native_programs::folder;
use native_programs::java::Classes;
use std::path::Path;

#[test]
fn the_code_compiles_without_a_warning() {
    let interfaces = [
        "crates/idl/tests/golden/java/forms.idl",
        "crates/idl/tests/golden/java/trees.idl",
        "crates/idl/tests/golden/post.idl",
        "examples/calc/calc.idl",
        "examples/pfs/pfs.idl",
        "testing/hostile/victim.idl",
    ];
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("java");
    // Without a JDK, the build reports that or panics.
    let _ = Classes::build(&place, &interfaces.map(folder), None);
}
