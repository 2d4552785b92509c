//! The counting program in C++: built with gcc, as its users build theirs, and whose an instruction of it is.

use super::callgrind::Name;
use super::floor::Floor;
use crate::program::{Program, target};
use crate::repo::root;
use crate::{Outcome, Problem, tools};
use std::fs;
use std::path::{Path, PathBuf};

/// The sources, and the stubs that the compiler writes.
const SOURCES: [&str; 2] = ["bench/cpp/icount.cc", "bench/cpp/object.cc"];

/// Compiles the interface, its stubs as C++, and the program.
pub(super) fn build(folder: &Path) -> Outcome<PathBuf> {
    tools::cxx()?;
    Program::cargo(&["build", "--quiet", "--release", "--package", "obvia-capi"]).run()?;
    let out = folder.display().to_string();
    let idl = ["idl", "--language", "c", "--out", &out, "bench/icount.idl"];
    Program::cargo(&["run", "--quiet", "--package", "obvia-cli", "--"]).with(&idl).folder(root()).read()?;
    let include = |path: &str| format!("-I{}", root().join(path).display());
    let compile = |source: &str, language: &str| -> Outcome<String> {
        let stem = Path::new(source).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let object = folder.join(format!("{stem}.o")).display().to_string();
        // As the figures that they are compared with were counted: -O2. Lines, so that functions have names.
        Program::new("g++", &["-O2", "-g", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-x", language, "-c", source])
            .argument(include("crates/capi/include"))
            .argument(include("bindings/cpp/include"))
            .argument(format!("-I{out}"))
            .with(&["-o", &object])
            .folder(root())
            .run()?;
        Ok(object)
    };
    let stubs = folder.join("icount_stubs.c").display().to_string();
    let mut objects = vec![compile(&stubs, "c++")?];
    for source in SOURCES {
        objects.push(compile(source, "c++")?);
    }
    let library = target().join("release");
    // The loader looks for the name that the library has in itself.
    let loaded = library.join("libobvia.so.0");
    let _ = fs::remove_file(&loaded);
    std::os::unix::fs::symlink("libobvia.so", &loaded)
        .map_err(|error| Problem::Failed(format!("{}: {error}", loaded.display())))?;
    let library = library.display();
    let binary = folder.join("icount-cpp");
    let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
    Program::new("g++", &objects)
        .with(&[
            "-o",
            &binary.display().to_string(),
            "-lobvia",
            &format!("-L{library}"),
            &format!("-Wl,-rpath,{library}"),
        ])
        .run()?;
    Ok(binary)
}

/// Where a call is handed over to the transport, with all that these call.
const HAND_OVER: [&str; 2] = ["obvia_exchange", "obvia_reply_and_wait"];

/// Whose an instruction is, by the function that it is in: stubs have names, and what they call belongs to them, but for the
/// hand-over to the transport.
pub(super) fn floor_of((object, function): &Name, binary: &str) -> Option<Floor> {
    if object == binary {
        let is_stub = ["_proxy(", "_prepare(", "_elsewhere(", "_stub(", "_turn(", "_refill("]
            .iter()
            .any(|part| function.contains(part));
        let is_loop = function.starts_with("serve_connection");
        return Some(if is_stub || is_loop { Floor::Generated } else { Floor::User });
    }
    HAND_OVER.contains(&function.as_str()).then_some(Floor::Transport)
}

#[cfg(test)]
mod tests {
    use super::{Floor, floor_of};

    #[test]
    fn stubs_and_the_loop_count() {
        let of = |object: &str, function: &str| floor_of(&(object.to_owned(), function.to_owned()), "/x/icount-cpp");
        assert_eq!(of("/x/icount-cpp", "IStubs_null_proxy(IStubs*)'2"), Some(Floor::Generated));
        assert_eq!(of("/x/icount-cpp", "IStubs_null_stub(void*, obvia_call*)"), Some(Floor::Generated));
        assert_eq!(of("/x/icount-cpp", "serve_connection"), Some(Floor::Generated));
        assert_eq!(of("/x/icount-cpp", "(anonymous namespace)::Stubs::null()"), Some(Floor::User));
        assert_eq!(of("/x/icount-cpp", "main"), Some(Floor::User));
        assert_eq!(of("/y/libobvia.so", "obvia_exchange"), Some(Floor::Transport));
        assert_eq!(of("/y/libobvia.so", "obvia_reply_frame"), None);
        assert_eq!(of("/lib/libc.so.6", "memcpy"), None);
    }
}
