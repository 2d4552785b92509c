//! Installs obvia by CMake. Builds C++ and C programs that use no other part of the project: the
//! programs of `examples/first`, as docs/cpp.md describes. Tests them together with the README's
//! Rust programs.

mod idl;
mod languages;
mod page;
mod pfs;
mod wizard;

use super::readme;
use crate::outcome::{Outcome, Problem};
use crate::program::{Program, target};
use crate::repo::root;
use crate::server::{Names, Server};
use crate::temporary::Folder;
use crate::tools::{self, Tool};
use crate::workspace;
use page::Page;
use std::fs;
use std::path::{Path, PathBuf};

/// Runs the tests with the unoptimized obvia that the other parts use, too.
pub(super) fn run() -> Outcome {
    check_all(false)
}

/// Runs the tests with obvia as users of CMake get it, and with every project of the wizard.
pub(super) fn thorough() -> Outcome {
    check_all(true)
}

fn check_all(is_thorough: bool) -> Outcome {
    workspace::build()?;
    let outside = Outside::new(is_thorough)?;
    let page = Page::read()?;
    let newcomer = readme::build()?;
    page.check_quotes(&newcomer)?;
    let mut pairs = vec![Pair { server: readme::program("server"), client: readme::program("client") }];
    let variants = if is_thorough { &VARIANTS } else { &VARIANTS[..USUAL] };
    for variant in variants {
        pairs.push(outside.build(variant, &page)?);
    }
    for (folder, commands) in [("calc", "`g++`"), ("calc/c", "`gcc`")] {
        pairs.push(outside.build_by_hand(folder, &page.block(commands)?)?);
    }
    for pair in &pairs {
        check(&pair.server, &pairs, &newcomer.printed)?;
    }
    languages::check(&outside)?;
    pfs::check(&outside)?;
    wizard::check(&outside)?;
    idl::check(&outside)
}

/// A server and a client built in the same way.
struct Pair {
    server: String,
    client: String,
}

/// Runs every client with one server, and compares the output with the README.
fn check(server: &str, pairs: &[Pair], promised: &str) -> Outcome {
    let names = Names::new()?;
    let _server = Server::start(&names.see(Program::new(server, &[])))?;
    for Pair { client, .. } in pairs {
        let printed = names.see(Program::new(client, &[])).read()?;
        if printed.trim_end() != promised.trim_end() {
            let what = format!("{client} with {server} prints\n{printed}and the README promises\n{promised}");
            return Err(Problem::Failed(what));
        }
    }
    println!("      {} clients", pairs.len());
    Ok(())
}

/// A way to build the programs with CMake.
struct Variant {
    name: &'static str,
    /// The folder in `examples/first`.
    folder: &'static str,
    generator: &'static str,
    compilers: [&'static str; 2],
    library: Library,
}

/// The kind of library that programs link.
#[derive(Clone, Copy)]
enum Library {
    Shared,
    Static,
    /// The shared library, built as a part of the project. docs/cpp.md has the project's code after
    /// the line that begins with this text.
    Part(&'static str),
}
use Library::{Part, Shared, Static};

const GCC: [&str; 2] = ["gcc", "g++"];
const CLANG: [&str; 2] = ["clang", "clang++"];
const MAKE: &str = "Unix Makefiles";
const NINJA: &str = "Ninja";

/// The number of [`VARIANTS`] in a test run. These variants cover each generator, compiler,
/// language and kind of library.
const USUAL: usize = 4;

const VARIANTS: [Variant; 7] = [
    Variant { name: "cpp", folder: "", generator: MAKE, compilers: GCC, library: Shared },
    Variant { name: "cpp-clang", folder: "", generator: NINJA, compilers: CLANG, library: Shared },
    Variant { name: "cpp-fetched", folder: "", generator: MAKE, compilers: GCC, library: Part("`FetchContent`") },
    Variant { name: "c-clang-static", folder: "c", generator: MAKE, compilers: CLANG, library: Static },
    Variant { name: "cpp-static", folder: "", generator: NINJA, compilers: GCC, library: Static },
    Variant { name: "c", folder: "c", generator: MAKE, compilers: GCC, library: Shared },
    Variant { name: "c-part", folder: "c", generator: NINJA, compilers: CLANG, library: Part("`add_subdirectory`") },
];

/// A folder outside of the project, with an installed obvia and the programs' sources.
struct Outside {
    folder: Folder,
    prefix: PathBuf,
    /// CMake's options for projects that build obvia themselves.
    options: Vec<String>,
    is_thorough: bool,
}

impl Outside {
    fn new(is_thorough: bool) -> Outcome<Self> {
        tools::ensure(&[Tool::Cmake])?;
        let options = options(is_thorough);
        let folder = Folder::new()?;
        let prefix = folder.path().join("prefix");
        let build = target().join("cmake");
        let cmake = |arguments: &[&str]| {
            compiling(is_thorough, Program::new("cmake", arguments)).argument(build.display().to_string())
        };
        let words: Vec<&str> = options.iter().map(String::as_str).chain(["-S", ".", "-B"]).collect();
        cmake(&words).run()?;
        cmake(&["--build"]).run()?;
        // The installation is moved, which tests that it is relocatable.
        let elsewhere = folder.path().join("elsewhere");
        let option = elsewhere.display().to_string();
        cmake(&["--install"]).with(&["--prefix", &option]).read()?;
        fs::rename(&elsewhere, &prefix).map_err(|error| Problem::at(&prefix, &error))?;
        copy(&root().join("examples/first"), &folder.path().join("calc"))?;
        Ok(Self { folder, prefix, options, is_thorough })
    }

    /// Builds the programs of a variant.
    fn build(&self, variant: &Variant, page: &Page) -> Outcome<Pair> {
        let Variant { name, generator, compilers, .. } = *variant;
        let source = self.folder.path().join(name);
        copy(&root().join("examples/first"), &source)?;
        let project = source.join(variant.folder);
        let lists = project.join("CMakeLists.txt");
        let mut options = Vec::new();
        match variant.library {
            Shared => {}
            Static => replace(&lists, "obvia::obvia)", "obvia::obvia_static)")?,
            Part(title) => {
                replace(&lists, "find_package(obvia REQUIRED)\n", &page.block(title)?)?;
                let beside = project.with_file_name("obvia");
                std::os::unix::fs::symlink(root(), &beside).map_err(|error| Problem::at(&beside, &error))?;
                options.clone_from(&self.options);
            }
        }
        let build = self.cmake(name, &project, generator, compilers, &options)?;
        Ok(Pair { server: format!("{build}/server"), client: format!("{build}/client") })
    }

    /// Builds a project in a folder of its own, and returns the folder's path.
    fn cmake(
        &self,
        name: &str,
        project: &Path,
        generator: &str,
        [c, cxx]: [&str; 2],
        options: &[String],
    ) -> Outcome<String> {
        let build = self.folder.path().join("build").join(name).display().to_string();
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        self.program("cmake", &["-G", generator, "-B", &build, "-S", "."])
            .folder(project)
            .variable("CC", c)
            .variable("CXX", cxx)
            // Generated code must compile without warnings.
            .variable("CFLAGS", STRICT)
            .variable("CXXFLAGS", STRICT)
            .with(&options)
            .read()?;
        compiling(self.is_thorough, self.program("cmake", &["--build", &build])).run()?;
        Ok(build)
    }

    /// Builds the programs of a folder with shell commands.
    fn build_by_hand(&self, folder: &str, commands: &str) -> Outcome<Pair> {
        let source = self.folder.path().join(folder);
        self.program("sh", &["-e", "-c", commands]).folder(&source).run()?;
        let path = |name: &str| source.join(name).display().to_string();
        Ok(Pair { server: path("server"), client: path("client") })
    }

    /// Returns a program that finds the installed obvia, and no other part of the project.
    fn program(&self, name: &str, arguments: &[&str]) -> Program {
        let path = std::env::var("PATH").unwrap_or_default();
        let prefix = self.prefix.display();
        Program::new(name, arguments)
            .folder(self.folder.path())
            .variable("CMAKE_PREFIX_PATH", prefix.to_string())
            .variable("PKG_CONFIG_PATH", format!("{prefix}/lib/pkgconfig"))
            .variable("PATH", format!("{prefix}/bin:{path}"))
    }
}

const STRICT: &str = "-Wall -Wextra -Wpedantic -Werror";

/// Returns CMake's options: cargo's target folder and, unless the run is thorough, the profile and
/// the features of the test build.
fn options(is_thorough: bool) -> Vec<String> {
    let folder = format!("-DOBVIA_TARGET_DIR={}", target().display());
    if is_thorough {
        return vec![folder];
    }
    let features = workspace::features().join(";");
    vec![folder, "-DOBVIA_PROFILE=dev".to_owned(), format!("-DOBVIA_FEATURES={features}")]
}

/// Makes CMake's cargo reuse the test build if the run is not thorough.
fn compiling(is_thorough: bool, cmake: Program) -> Program {
    if is_thorough { cmake } else { workspace::linting(cmake) }
}

/// Replaces a text in a file. The file must contain the text.
fn replace(path: &Path, from: &str, to: &str) -> Outcome {
    let text = fs::read_to_string(path).map_err(|error| Problem::at(path, &error))?;
    if !text.contains(from) {
        return Err(Problem::Failed(format!("{} does not have {from:?}", path.display())));
    }
    fs::write(path, text.replace(from, to)).map_err(|error| Problem::at(path, &error))
}

/// Copies a folder recursively.
fn copy(from: &Path, to: &Path) -> Outcome {
    let words = [from, to].map(|path| path.display().to_string());
    Program::new("cp", &["-R", &words[0], &words[1]]).read().map(drop)
}
