//! Builds of programs in C and C++ with libobvia, and in Java, for tests.

pub mod cargo;
mod fresh;
pub mod java;

use fresh::{keep_fresh, test};
use obvia_idl::{Compiler, compile_into};
use std::ffi::{OsStr, OsString};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

/// A source language: the extension of its files, the option for the standard, the variable for the
/// compiler, and its default.
#[derive(Clone, Copy)]
struct Language {
    extension: &'static str,
    standard: &'static str,
    variable: &'static str,
    compiler: &'static str,
}

const C: Language = Language { extension: "c", standard: "-std=c11", variable: "CC", compiler: "cc" };
const CPP: Language = Language { extension: "cc", standard: "-std=c++17", variable: "CXX", compiler: "c++" };

/// The options of the sanitizers that end a program on hidden faults. The check `vptr` is off,
/// because objects of other languages have vtables but no C++ type. Optimization is off, because
/// optimizing the programs takes longer than running them.
pub const CHECKED: &[&str] =
    &["-O0", "-fsanitize=address,undefined", "-fno-sanitize=vptr", "-fno-sanitize-recover=all"];

/// The defaults of the leak sanitizer, which is part of [`CHECKED`].
const LEAKS: &str = "testing/native-programs/leaks.c";

/// The options of the sanitizer that reports data races.
pub const RACES_TOLD: &[&str] = &["-O1", "-fsanitize=thread"];

/// The folders of the project's headers.
const HEADER_FOLDERS: [&str; 2] = ["crates/capi/include", "bindings/cpp/include"];

/// The name of a program in the folder of its build.
const PROGRAM: &str = "program";

/// The extensions of files that are included instead of compiled.
const HEADERS: [&str; 2] = ["h", "hpp"];

/// Returns the path of a folder of the project.
pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// Runs a program, and returns its standard output.
///
/// # Panics
///
/// Panics if the program cannot be run, or fails.
#[track_caller]
pub fn run(command: &mut Command) -> Vec<u8> {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?} cannot be run: {error}"));
    let Output { status, stdout, stderr } = output;
    assert!(status.success(), "{command:?}: {status}\n{}", String::from_utf8_lossy(&stderr));
    stdout
}

/// The builder of a test crate's programs.
#[derive(Debug)]
pub struct Workshop {
    /// The crate's temporary folder, `CARGO_TARGET_TMPDIR`.
    tests: &'static str,
    library: OnceLock<PathBuf>,
}

impl Workshop {
    /// Creates a builder in `CARGO_TARGET_TMPDIR`, which only the tests themselves know.
    pub const fn new(tests: &'static str) -> Self {
        Self { tests, library: OnceLock::new() }
    }

    /// Builds libobvia.so and libobvia.a once, and returns their folder.
    ///
    /// # Panics
    ///
    /// Panics if the build fails.
    pub fn library(&self) -> &Path {
        self.library.get_or_init(|| {
            let folder = cargo::build(&["--package", "obvia-capi"]);
            // The loader looks for the library's soname. Another test may create the link at the
            // same time.
            let made = std::os::unix::fs::symlink("libobvia.so", folder.join("libobvia.so.0"));
            assert!(made.is_ok() || folder.join("libobvia.so.0").is_symlink(), "{}: {made:?}", folder.display());
            folder
        })
    }

    /// Builds libobvia_java.so, and returns its folder.
    ///
    /// # Panics
    ///
    /// Panics if the build fails.
    pub fn java_library(&self) -> PathBuf {
        cargo::build(&["--package", "obvia-java"])
    }

    /// Creates a folder for builds, with this name.
    ///
    /// # Panics
    ///
    /// Panics if the folder cannot be created.
    pub fn place(&self, name: &str) -> PathBuf {
        let place = Path::new(self.tests).join(name);
        std::fs::create_dir_all(&place).expect("the folder for builds can be written to");
        place
    }

    /// Builds a Rust program that belongs to a package of the project.
    ///
    /// # Panics
    ///
    /// Panics if the build fails.
    pub fn in_rust(&self, package: &str, name: &str) -> PathBuf {
        cargo::program(package, name)
    }

    /// Builds a program from interfaces and sources, with the shared library and the compiler
    /// options `watch` (such as [`CHECKED`]). A program that is newer than its sources is kept.
    ///
    /// # Panics
    ///
    /// Panics if the build fails.
    pub fn build(&self, name: &str, watch: &[&str], interfaces: &[PathBuf], sources: &[PathBuf]) -> PathBuf {
        let compiler = Compiler::new();
        let interfaces: Vec<_> = interfaces.iter().map(|interface| (&compiler, interface.clone())).collect();
        self.build_with(name, watch, &interfaces, sources)
    }

    /// Builds a program like [`build`](Self::build), with a compiler for each interface.
    ///
    /// # Panics
    ///
    /// Panics if the build fails.
    pub fn build_with(
        &self,
        name: &str,
        watch: &[&str],
        interfaces: &[(&Compiler, PathBuf)],
        sources: &[PathBuf],
    ) -> PathBuf {
        let place = self.place(name);
        let headers = HEADER_FOLDERS.map(folder);
        let beside = interfaces.iter().map(|(_, file)| file).chain(sources).filter_map(|file| file.parent());
        let library = self.library().join("libobvia.so");
        let (test, leaks) = (test(), folder(LEAKS));
        let files = [library.as_path(), test.as_path(), leaks.as_path()];
        let inputs: Vec<&Path> = headers.iter().map(PathBuf::as_path).chain(beside).chain(files).collect();
        keep_fresh(&place, &inputs, || {
            let stubs = interfaces.iter().flat_map(|(compiler, interface)| compile(compiler, interface, &place));
            let leaks = (watch == CHECKED).then(|| leaks.clone());
            let files: Vec<PathBuf> = stubs.chain(sources.iter().cloned()).chain(leaks).collect();
            self.link(&place, watch, &files);
        });
        place.join(PROGRAM)
    }

    /// Compiles sources in C and C++, and links a program.
    fn link(&self, place: &Path, watch: &[&str], files: &[PathBuf]) {
        // The object's name keeps the extension, because a file of the same stem may exist in the
        // other language.
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
        // The old program may be running in another process, so it is replaced by a rename.
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
        std::fs::rename(fresh, place.join(PROGRAM)).expect("the folder for builds can be written to");
    }
}

/// Compiles an interface, and returns the paths of the generated sources.
fn compile(compiler: &Compiler, interface: &Path, place: &Path) -> Vec<PathBuf> {
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

    /// Returns the command of the language's default compiler, or of the compiler that the
    /// environment variable names.
    fn command(self) -> Command {
        Command::new(std::env::var_os(self.variable).unwrap_or_else(|| OsString::from(self.compiler)))
    }

    /// Returns the command of the compiler with the project's headers and with all warnings as
    /// errors.
    fn compiler(self) -> Command {
        let mut command = self.command();
        command.args([self.standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror"]);
        for name in HEADER_FOLDERS {
            command.arg("-I").arg(folder(name));
        }
        command
    }
}

/// Returns a header as C sees it after the preprocessor.
///
/// # Panics
///
/// Panics if the preprocessor fails.
pub fn preprocessed(header: &Path) -> String {
    let text = run(C.compiler().args(["-E", "-x", "c"]).arg(header));
    String::from_utf8(text).expect("it is text")
}
