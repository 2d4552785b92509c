//! The objects and the checks in C++ and C: built once, with gcc's sanitizers, against libobvia.

use crate::server::Server;
use obvia_idl::{Compiler, Language, compile_into};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// What is compiled: interfaces, and sources.
const INTERFACES: [&str; 3] = ["shapes.idl", "values.idl", "deep.idl"];
const SOURCES: [&str; 6] =
    ["program.cc", "check_shapes.cc", "check_values.cc", "check_deep.cc", "check_shapes.c", "deep.c"];
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
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    run(Command::new(env!("CARGO")).args(["build", "--quiet", "--package", "obvia-capi", "--target-dir"]).arg(target));
    let folder = target.join("debug");
    // The loader looks for the name that the library has in itself.
    let loaded = folder.join("libobvia.so.0");
    if !loaded.is_symlink() {
        std::os::unix::fs::symlink("libobvia.so", &loaded).expect("cargo's folder can be written to");
    }
    folder
}

/// A compiler, or the one that is named instead.
fn compiler(variable: &str, name: &str) -> Command {
    Command::new(std::env::var_os(variable).unwrap_or_else(|| name.into()))
}

fn build() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("matrix-native");
    std::fs::create_dir_all(&folder).unwrap();
    let mut sources: Vec<PathBuf> = SOURCES.iter().map(|source| here().join("native").join(source)).collect();
    for name in INTERFACES {
        let idl = here().join("idl").join(name);
        let compiled = compile_into(&Compiler::new(), Language::C, &idl, &folder);
        let written = compiled.unwrap_or_else(|failure| panic!("{failure}")).files;
        sources.extend(written.into_iter().filter(|file| file.extension() == Some("c".as_ref())));
    }
    let mut objects = Vec::new();
    for source in sources {
        let is_c = source.extension() == Some("c".as_ref());
        let mut object = source.file_name().unwrap().to_owned();
        object.push(".o");
        let object = folder.join(object);
        let mut command = if is_c { compiler("CC", "cc") } else { compiler("CXX", "c++") };
        command.arg(if is_c { "-std=c11" } else { "-std=c++17" }).args(["-Wall", "-Wextra", "-Wpedantic", "-Werror"]);
        for include in ["../../crates/capi/include", "../../bindings/cpp/include", "native"] {
            command.arg("-I").arg(here().join(include));
        }
        run(command.args(SANITIZED).arg("-I").arg(&folder).arg("-c").arg(&source).arg("-o").arg(&object));
        objects.push(object);
    }
    let (library, program) = (library(), folder.join("program"));
    let mut command = compiler("CXX", "c++");
    command.args(SANITIZED).args(&objects).arg("-L").arg(&library).arg("-lobvia").arg("-o").arg(&program);
    run(command.arg(format!("-Wl,-rpath,{}", library.display())));
    program
}

/// Has the program check objects: by their names, or its own.
fn check(names: &[String]) {
    comes_to_a_good_end(Command::new(program()).arg("check").args(names));
}

fn comes_to_a_good_end(command: &mut Command) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && output.stdout == b"ok\n", "{command:?}: {}\n{said}", output.status);
}

#[test]
#[cfg_attr(miri, ignore = "starts a compiler")]
fn objects_in_cpp_and_c_do_what_is_expected_in_one_process() {
    check(&[]);
}

#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn cpp_and_c_call_rust() {
    let networks = ["ncacn_vi_udp:127.0.0.1"].map(Server::start_elsewhere);
    for server in std::iter::once(Server::start()).chain(networks) {
        check(&["shapes", "values"].map(|object| server.address(object)));
    }
}

#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn cpp_and_c_call_cpp_and_c() {
    let networks = ["ncacn_vi_udp:127.0.0.1"].map(Server::start_native_elsewhere);
    for server in std::iter::once(Server::start_native()).chain(networks) {
        check(&["shapes", "values", "deep", "deep-in-c"].map(|object| server.address(object)));
    }
}

#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn who_is_short_of_memory_fails_that_call_and_leaves_nothing_behind() {
    let short = [("ASAN_OPTIONS", "allocator_may_return_null=1:max_allocation_size_mb=8")];
    for (servers, clients) in [(&short[..], &[][..]), (&[], &short)] {
        let server = Server::start_native_with(servers);
        let mut client = Command::new(program());
        comes_to_a_good_end(client.envs(clients.iter().copied()).arg("short").arg(server.address("shapes")));
    }
}
