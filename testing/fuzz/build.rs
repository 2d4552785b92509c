//! Compiles the interfaces whose frames are fuzzed, and writes the table of targets: the modules in `src/targets`.

use std::path::Path;
use std::{env, fs};

const TARGETS: &str = "src/targets";

fn main() {
    obvia_idl::build("../matrix/idl/shapes.idl");
    obvia_idl::build("../../examples/notes/notes.idl");
    println!("cargo::rerun-if-changed={TARGETS}");
    let files = fs::read_dir(TARGETS).expect("targets").map(|entry| entry.expect("a target").path());
    let mut names: Vec<_> = files.map(|file| file.file_stem().expect("a name").display().to_string()).collect();
    names.sort();
    let rows: String = names.iter().map(|name| format!("    (\"{name}\", {name}::run),\n")).collect();
    let table = format!("pub const TARGETS: &[(&str, fn(&[u8]))] = &[\n{rows}];\n");
    let folder = env::var_os("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&folder).join("targets.rs"), table).expect("the table is written");
}
