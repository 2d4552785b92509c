//! The objects and the checks in C++: built once, with gcc's sanitizers, against libobvia.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// What is compiled as C, and what as C++.
const INTERFACES: [&str; 3] = ["shapes", "values", "deep"];
const SOURCES: [&str; 4] = ["program", "check_shapes", "check_values", "check_deep"];
/// Faults that would pass unnoticed end the program. Objects of other languages have vtables and no C++ type.
const SANITIZED: [&str; 5] =
    ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize=vptr", "-fno-sanitize-recover=all"];

/// The program.
pub(crate) fn program() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(build)
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs a tool, and says what it said where it fails.
fn run(command: &mut Command) {
    let output = command.output();
    let output = output.unwrap_or_else(|error| panic!("{:?} cannot be run: {error}", command.get_program()));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{said}");
}

/// The folder that libobvia is in.
fn library() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    run(Command::new(cargo).args(["build", "--quiet", "--package", "obvia-capi", "--target-dir"]).arg(target));
    target.join("debug")
}

fn build() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("matrix-cpp");
    std::fs::create_dir_all(&folder).unwrap();
    let compile = |variable: &str, compiler: &str, standard: &str, source: &Path| {
        let object = folder.join(source.file_name().unwrap()).with_extension("o");
        let compiler = std::env::var_os(variable).unwrap_or_else(|| compiler.into());
        let mut command = Command::new(compiler);
        command.args([standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c"]).args(SANITIZED);
        for include in ["../../crates/capi/include", "../../bindings/cpp/include", "cpp"] {
            command.arg("-I").arg(here().join(include));
        }
        run(command.arg("-I").arg(&folder).arg(source).arg("-o").arg(&object));
        object
    };
    let mut objects = Vec::new();
    for name in INTERFACES {
        let idl = here().join("idl").join(name).with_extension("idl");
        let compilation = obvia_idl::Compiler::new().check(&idl).unwrap_or_else(|failure| panic!("{failure}"));
        let code = obvia_idl::emit::c::emit(&compilation, name).unwrap_or_else(|refused| panic!("{refused:?}"));
        std::fs::write(folder.join(format!("{name}.h")), code.header).unwrap();
        let stubs = folder.join(format!("{name}_stubs.c"));
        std::fs::write(&stubs, code.stubs).unwrap();
        // They include one another's headers, which are all there by the second one's turn.
        objects.push(compile("CC", "cc", "-std=c11", &stubs));
    }
    for name in SOURCES {
        objects.push(compile("CXX", "c++", "-std=c++17", &here().join("cpp").join(name).with_extension("cc")));
    }
    let (library, program) = (library(), folder.join("program"));
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let mut command = Command::new(compiler);
    command.args(SANITIZED).args(&objects).arg("-L").arg(&library).arg("-lobvia").arg("-o").arg(&program);
    run(command.arg(format!("-Wl,-rpath,{}", library.display())));
    program
}

/// Has the program check objects: by their names, or its own.
fn check(names: &[String]) {
    let output = Command::new(program()).arg("check").args(names).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && output.stdout == b"ok\n", "{names:?}: {}\n{said}", output.status);
}

#[test]
#[cfg_attr(miri, ignore = "starts a compiler")]
fn objects_in_cpp_do_what_is_expected_in_one_process() {
    check(&[]);
}

#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn cpp_calls_rust() {
    let networks = ["ncacn_vi_udp:127.0.0.1"].map(crate::server::Server::start_elsewhere);
    for server in std::iter::once(crate::server::Server::start()).chain(networks) {
        check(&["shapes", "values"].map(|object| server.address(object)));
    }
}

#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn cpp_calls_cpp() {
    let networks = ["ncacn_vi_udp:127.0.0.1"].map(crate::server::Server::start_cpp_elsewhere);
    for server in std::iter::once(crate::server::Server::start_cpp()).chain(networks) {
        check(&["shapes", "values", "deep"].map(|object| server.address(object)));
    }
}
