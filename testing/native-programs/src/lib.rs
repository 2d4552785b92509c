//! Programs in C and C++ with libobvia, and in Java, built for tests.

pub mod cargo;
mod fresh;
pub mod java;

use fresh::keep_fresh;
use obvia_idl::{Compiler, compile_into};
use std::ffi::{OsStr, OsString};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

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
pub const CHECKED: &[&str] =
    &["-O1", "-fsanitize=address,undefined", "-fno-sanitize=vptr", "-fno-sanitize-recover=all"];

/// Accesses of several threads that nothing orders are told.
pub const RACES_TOLD: &[&str] = &["-O1", "-fsanitize=thread"];

/// The folders of the project's headers.
const HEADER_FOLDERS: [&str; 2] = ["crates/capi/include", "bindings/cpp/include"];

/// The name of a program in the folder where it is built.
const PROGRAM: &str = "program";

/// How the names of files end that are included, and not compiled by themselves.
const HEADERS: [&str; 2] = ["h", "hpp"];

/// A folder of the project.
pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// What a program printed, which must come to a good end.
///
/// # Panics
///
/// Where it does not: this is for tests.
#[track_caller]
pub fn run(command: &mut Command) -> Vec<u8> {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?} cannot be run: {error}"));
    let Output { status, stdout, stderr } = output;
    assert!(status.success(), "{command:?}: {status}\n{}", String::from_utf8_lossy(&stderr));
    stdout
}

/// Where the tests of a crate build programs.
#[derive(Debug)]
pub struct Workshop {
    /// The folder that cargo has for what they make.
    tests: &'static str,
    library: OnceLock<PathBuf>,
}

impl Workshop {
    /// One in `CARGO_TARGET_TMPDIR`, which only the tests themselves know.
    pub const fn new(tests: &'static str) -> Self {
        Self { tests, library: OnceLock::new() }
    }

    /// The folder with libobvia.so and libobvia.a, which are built once.
    ///
    /// # Panics
    ///
    /// Where they cannot be built.
    pub fn library(&self) -> &Path {
        self.library.get_or_init(|| {
            let folder = cargo::build(&["--package", "obvia-capi"]);
            // The loader looks for the name that the library has in itself. Another test may make the link at the same time.
            let made = std::os::unix::fs::symlink("libobvia.so", folder.join("libobvia.so.0"));
            assert!(made.is_ok() || folder.join("libobvia.so.0").is_symlink(), "{}: {made:?}", folder.display());
            folder
        })
    }

    /// The folder with libobvia_java.so.
    ///
    /// # Panics
    ///
    /// Where it cannot be built.
    pub fn java_library(&self) -> PathBuf {
        cargo::build(&["--package", "obvia-java"])
    }

    /// A folder for what is built under a name.
    ///
    /// # Panics
    ///
    /// Where it cannot be made.
    pub fn place(&self, name: &str) -> PathBuf {
        let place = Path::new(self.tests).join(name);
        std::fs::create_dir_all(&place).expect("the folder for builds can be written to");
        place
    }

    /// A program in Rust, of a package of the project.
    ///
    /// # Panics
    ///
    /// Where it cannot be built.
    pub fn in_rust(&self, package: &str, name: &str) -> PathBuf {
        cargo::program(package, name)
    }

    /// Builds a program of interfaces and sources, with the shared library and what the compilers are to put in ([`CHECKED`]). A program
    /// that is newer than its sources stays.
    ///
    /// # Panics
    ///
    /// Where that fails.
    pub fn build(&self, name: &str, watch: &[&str], interfaces: &[PathBuf], sources: &[PathBuf]) -> PathBuf {
        let place = self.place(name);
        let headers = HEADER_FOLDERS.map(folder);
        let beside = interfaces.iter().chain(sources).filter_map(|file| file.parent());
        let library = self.library().join("libobvia.so");
        let inputs: Vec<&Path> =
            headers.iter().map(PathBuf::as_path).chain(beside).chain([library.as_path()]).collect();
        keep_fresh(&place, &inputs, || {
            let stubs = interfaces.iter().flat_map(|interface| compile(&Compiler::new(), interface, &place));
            let files: Vec<PathBuf> = stubs.chain(sources.iter().cloned()).collect();
            self.link(&place, watch, &files)
        });
        place.join(PROGRAM)
    }

    /// The same of sources in C and C++ alone, always.
    ///
    /// # Panics
    ///
    /// Where that fails.
    pub fn link(&self, place: &Path, watch: &[&str], files: &[PathBuf]) -> PathBuf {
        let program = place.join(PROGRAM);
        // There may be one of the same name in the other language.
        let object = |file: &PathBuf| {
            let mut object = place.join(file.file_name().expect("it has a name"));
            object.as_mut_os_string().push(".o");
            object
        };
        let compile = |file: &PathBuf| {
            let mut compile = Language::of(file).compiler();
            run(compile
                .args(watch)
                .args(["-g1", "-pthread", "-c", "-o"])
                .arg(object(file))
                .arg("-I")
                .arg(place)
                .arg(file));
        };
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..available_parallelism().map_or(1, NonZero::get) {
                scope.spawn(|| {
                    while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                        compile(file);
                    }
                });
            }
        });
        // Another process may be running the last one.
        let fresh = place.join(format!("{PROGRAM}-{}", std::process::id()));
        let mut link = CPP.command();
        link.args(watch).arg("-o").arg(&fresh).args(files.iter().map(object));
        let library = self.library().display();
        run(link.args([
            "-pthread",
            "-lobvia",
            &format!("-L{library}"),
            &format!("-Wl,--disable-new-dtags,-rpath,{library}"),
        ]));
        std::fs::rename(fresh, &program).expect("the folder for builds can be written to");
        program
    }
}

/// Compiles an interface, and returns the sources that it becomes.
///
/// # Panics
///
/// Where it is none.
pub fn compile(compiler: &Compiler, interface: &Path, place: &Path) -> Vec<PathBuf> {
    let compiled = compile_into(compiler, obvia_idl::Language::C, interface, place);
    let written = compiled.unwrap_or_else(|failure| panic!("{failure}")).files;
    written
        .into_iter()
        .filter(|file| !HEADERS.contains(&file.extension().and_then(OsStr::to_str).unwrap_or_default()))
        .collect()
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
        for name in HEADER_FOLDERS {
            command.arg("-I").arg(folder(name));
        }
        command
    }
}

/// A header as C has it when the preprocessor has been through it.
///
/// # Panics
///
/// Where it does not get through.
pub fn preprocessed(header: &Path) -> String {
    let text = run(C.compiler().args(["-E", "-x", "c"]).arg(header));
    String::from_utf8(text).expect("it is text")
}
