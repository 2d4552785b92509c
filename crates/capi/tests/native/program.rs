//! Builds libobvia, and programs in C and C++ with it.

use obvia_idl::{Compiler, compile_into};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

/// A language that a file is compiled as: how its files' names end, what says so, and the compiler.
#[derive(Clone, Copy)]
struct Language {
    extension: &'static str,
    standard: &'static str,
    variable: &'static str,
    compiler: &'static str,
}

const C: Language = Language { extension: "c", standard: "-std=c11", variable: "CC", compiler: "cc" };
const CPP: Language = Language { extension: "cc", standard: "-std=c++17", variable: "CXX", compiler: "c++" };

/// Faults that would pass unnoticed end the program. Objects of other languages have vtables and no C++ type.
const SANITIZED: [&str; 4] = ["-O1", "-fsanitize=address,undefined", "-fno-sanitize=vptr", "-fno-sanitize-recover=all"];

/// A folder of this crate, or beside it.
pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// What a program printed, which must come to a good end.
pub(crate) fn run(command: &mut Command) -> Vec<u8> {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?} cannot be run: {error}"));
    let Output { status, stdout, stderr } = output;
    assert!(status.success(), "{command:?}: {status}\n{}", String::from_utf8_lossy(&stderr));
    stdout
}

/// The folder with what cargo builds for users.
fn built() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is in cargo's folder").join("debug")
}

fn cargo_build(arguments: &[&str]) {
    let built = built();
    let target = built.parent().expect("it is in cargo's folder");
    run(Command::new(env!("CARGO")).args(["build", "--quiet", "--target-dir"]).arg(target).args(arguments));
}

/// The folder with libobvia.so and libobvia.a, which are built once.
pub(crate) fn library() -> &'static Path {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
        cargo_build(&["--package", "obvia-capi"]);
        // The loader looks for the name that the library has in itself.
        let loaded = built().join("libobvia.so.0");
        if !loaded.is_symlink() {
            std::os::unix::fs::symlink("libobvia.so", &loaded).expect("cargo's folder can be written to");
        }
        built()
    });
    &FOLDER
}

/// A program in Rust, of another package.
pub(crate) fn in_rust(package: &str, name: &str) -> PathBuf {
    cargo_build(&["--package", package, "--bin", name]);
    built().join(name)
}

impl Language {
    fn of(file: &Path) -> Self {
        let is_its = |language: &Self| file.extension() == Some(OsStr::new(language.extension));
        [C, CPP].into_iter().find(is_its).unwrap_or_else(|| panic!("{}: neither C nor C++", file.display()))
    }

    /// Its compiler, or the one that is named instead.
    fn command(self) -> Command {
        Command::new(std::env::var_os(self.variable).unwrap_or_else(|| OsString::from(self.compiler)))
    }

    /// Its compiler, which is told where the headers are and minds everything.
    fn compiler(self) -> Command {
        let mut command = self.command();
        command.args([self.standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror"]);
        for name in ["include", "../../bindings/cpp/include"] {
            command.arg("-I").arg(folder(name));
        }
        command
    }
}

/// A header as C has it when the preprocessor has been through it.
pub(crate) fn preprocessed(header: &Path) -> String {
    let text = run(C.compiler().args(["-E", "-x", "c"]).arg(header));
    String::from_utf8(text).expect("it is text")
}

/// A folder for what is built under a name.
pub(crate) fn out(name: &str) -> PathBuf {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&out).expect("the folder for builds can be written to");
    out
}

/// Compiles an interface, and returns the sources that it becomes.
pub(crate) fn compile(compiler: &Compiler, interface: &Path, out: &Path) -> Vec<PathBuf> {
    let compiled = compile_into(compiler, obvia_idl::Language::C, interface, out);
    let written = compiled.unwrap_or_else(|failure| panic!("{failure}")).files;
    written.into_iter().filter(|file| file.extension() != Some(OsStr::new("h"))).collect()
}

/// Builds a program of interfaces and sources in `programs`, with the shared library.
pub(crate) fn build(name: &str, interfaces: &[&str], sources: &[&str]) -> PathBuf {
    let (out, programs) = (out(name), folder("tests/native/programs"));
    let interfaces = interfaces.iter().flat_map(|name| compile(&Compiler::new(), &programs.join(name), &out));
    let sources = sources.iter().map(|source| programs.join(source));
    let files: Vec<PathBuf> = sources.chain(interfaces).collect();
    link(&out, &files, &[])
}

/// Builds a program of sources, with the shared library; `options` are the compilers'.
pub(crate) fn link(out: &Path, files: &[PathBuf], options: &[&str]) -> PathBuf {
    let program = out.join("program");
    let mut link = CPP.command();
    link.args(SANITIZED).arg("-o").arg(&program);
    for file in files {
        let object = out.join(file.file_name().expect("it has a name")).with_extension("o");
        let mut compile = Language::of(file).compiler();
        compile.args(SANITIZED).args(options);
        run(compile.args(["-g", "-pthread", "-c", "-o"]).arg(&object).arg("-I").arg(out).arg(file));
        link.arg(object);
    }
    let library = library().display();
    run(link.args(["-pthread", "-lobvia", &format!("-L{library}"), &format!("-Wl,-rpath,{library}")]));
    program
}
