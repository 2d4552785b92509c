//! The C++ programs for measurements, built with g++ against libobvia, like the programs of users.

use crate::outcome::{Outcome, Problem};
use crate::program::{Program, target};
use crate::repo::root;
use crate::tools::{self, Tool};
use crate::workspace;
use std::fs;
use std::path::{Path, PathBuf};

/// Builds the optimized libobvia, and returns its folder.
pub(crate) fn release_library() -> Outcome<PathBuf> {
    Program::cargo(&["build", "--quiet", "--release", "--package", "obvia-capi"]).run()?;
    Ok(target().join("release"))
}

/// Compiles an interface, its stubs as C++, and a program from `sources`. The program loads
/// libobvia from the folder `library`. Intermediate files go to `folder`. Both folders must exist.
pub(crate) fn build(idl: &str, sources: &[&str], library: &Path, folder: &Path, binary: &Path) -> Outcome {
    tools::ensure(&[Tool::Cxx])?;
    // The debug build of the IDL compiler writes the same stubs as the release build.
    let compiler = workspace::command()?.display().to_string();
    let out = folder.display().to_string();
    Program::new(&compiler, &["idl", "--language", "c", "--out", &out, idl]).read()?;
    let stubs = folder.join(format!("{}_stubs.c", stem(idl))).display().to_string();
    let mut objects = Vec::new();
    for source in [stubs.as_str()].iter().chain(sources) {
        objects.push(compile(source, folder)?);
    }
    let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
    make_loadable(library)?;
    let library = library.display();
    Program::new("g++", &objects)
        .with(&["-o", &binary.display().to_string(), "-lobvia"])
        .argument(format!("-L{library}"))
        // RPATH takes precedence over LD_LIBRARY_PATH, in which cargo names the folders of other
        // builds.
        .argument(format!("-Wl,--disable-new-dtags,-rpath,{library}"))
        .run()
}

fn stem(path: &str) -> String {
    Path::new(path).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn compile(source: &str, folder: &Path) -> Outcome<String> {
    let object = folder.join(format!("{}.o", stem(source))).display().to_string();
    let include = |path: &str| format!("-I{}", root().join(path).display());
    // The reference figures were measured with -O2. The debug information has the names of the
    // functions.
    Program::new("g++", &["-O2", "-g", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-x", "c++", "-c", source])
        .argument(include("crates/capi/include"))
        .argument(include("bindings/cpp/include"))
        .argument(format!("-I{}", folder.display()))
        .with(&["-o", &object])
        .run()?;
    Ok(object)
}

/// Creates the link with the library's soname, because the loader looks for this name.
fn make_loadable(library: &Path) -> Outcome {
    let loaded = library.join("libobvia.so.0");
    let _ = fs::remove_file(&loaded);
    std::os::unix::fs::symlink("libobvia.so", &loaded)
        .map_err(|error| Problem::Failed(format!("{}: {error}", loaded.display())))
}
