//! Installs obvia by CMake, and has programs in C++ and C use it that know nothing else of the project: those of
//! `examples/first`, as docs/cpp.md has them built, with the Rust ones of the README.

mod idl;
mod page;
mod pfs;

use super::examples::{Names, Server};
use super::readme;
use crate::program::{Program, target};
use crate::repo::root;
use crate::temporary::Folder;
use crate::{Outcome, Problem, tools};
use page::Page;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) fn run() -> Outcome {
    tools::cmake()?;
    let page = Page::read()?;
    let rust = readme::build()?;
    let outside = Outside::new()?;
    page.check_quotes(&rust.newcomer)?;
    let mut pairs = vec![Pair { server: rust.program("server"), client: rust.program("client") }];
    for variant in &VARIANTS {
        pairs.push(outside.build(variant, &page)?);
    }
    for folder in ["calc", "calc/c"] {
        pairs.push(outside.build_by_hand(folder, &page)?);
    }
    for pair in &pairs {
        check(&pair.server, &pairs, &rust.newcomer.printed)?;
    }
    pfs::check(&outside)?;
    idl::check(&outside)
}

/// A server and a client of the same making.
struct Pair {
    server: String,
    client: String,
}

/// Runs every client while a server serves.
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
    /// In `examples/first`.
    folder: &'static str,
    generator: &'static str,
    compilers: [&'static str; 2],
    /// What of CMakeLists.txt is replaced by what. A name in backticks is the page's text of this title.
    change: Option<[&'static str; 2]>,
}

const GCC: [&str; 2] = ["gcc", "g++"];
const CLANG: [&str; 2] = ["clang", "clang++"];
const MAKE: &str = "Unix Makefiles";
const NINJA: &str = "Ninja";
const FIND: &str = "find_package(obvia REQUIRED)\n";

const VARIANTS: [Variant; 7] = [
    Variant { name: "cpp", folder: "", generator: MAKE, compilers: GCC, change: None },
    Variant { name: "cpp-clang", folder: "", generator: NINJA, compilers: CLANG, change: None },
    Variant {
        name: "cpp-static",
        folder: "",
        generator: NINJA,
        compilers: GCC,
        change: Some(["obvia::obvia)", "obvia::obvia_static)"]),
    },
    Variant {
        name: "cpp-fetched",
        folder: "",
        generator: MAKE,
        compilers: GCC,
        change: Some([FIND, "`FetchContent`"]),
    },
    Variant { name: "c", folder: "c", generator: MAKE, compilers: GCC, change: None },
    Variant {
        name: "c-clang-static",
        folder: "c",
        generator: MAKE,
        compilers: CLANG,
        change: Some(["obvia::obvia)", "obvia::obvia_static)"]),
    },
    Variant {
        name: "c-part",
        folder: "c",
        generator: NINJA,
        compilers: CLANG,
        change: Some([FIND, "`add_subdirectory`"]),
    },
];

/// A folder outside the project, with an installed obvia and the programs' sources.
struct Outside {
    folder: Folder,
    prefix: PathBuf,
}

impl Outside {
    fn new() -> Outcome<Self> {
        let folder = Folder::new()?;
        let prefix = folder.path().join("prefix");
        let build = target().join("cmake");
        let cmake = |arguments: &[&str]| Program::new("cmake", arguments).argument(build.display().to_string());
        let cargo = format!("-DOBVIA_TARGET_DIR={}", target().display());
        cmake(&["-S", ".", &cargo, "-B"]).run()?;
        cmake(&["--build"]).run()?;
        // Where it was installed, and where it is in the end, are not the same: what is installed can be moved.
        let elsewhere = folder.path().join("elsewhere");
        let option = elsewhere.display().to_string();
        cmake(&["--install"]).with(&["--prefix", &option]).read()?;
        fs::rename(&elsewhere, &prefix).map_err(|error| failed(&prefix, &error))?;
        copy(&root().join("examples/first"), &folder.path().join("calc"))?;
        Ok(Self { folder, prefix })
    }

    /// Builds the programs as a variant has it.
    fn build(&self, variant: &Variant, page: &Page) -> Outcome<Pair> {
        let source = self.folder.path().join(variant.name);
        copy(&root().join("examples/first"), &source)?;
        let project = source.join(variant.folder);
        if let Some([from, to]) = variant.change {
            let to = if to.starts_with('`') { page.block(to)? } else { to.to_owned() };
            replace(&project.join("CMakeLists.txt"), from, &to)?;
            // As the page has it, where the project builds obvia itself.
            let beside = project.with_file_name("obvia");
            if !beside.exists() {
                std::os::unix::fs::symlink(root(), &beside).map_err(|error| failed(&beside, &error))?;
            }
        }
        let build = self.cmake(&project, variant.generator, variant.compilers)?;
        Ok(Pair { server: format!("{build}/server"), client: format!("{build}/client") })
    }

    /// Builds a project in a folder inside, whose path is returned.
    fn cmake(&self, project: &Path, generator: &str, [c, cxx]: [&str; 2]) -> Outcome<String> {
        let build = project.join("build").display().to_string();
        self.program("cmake", &["-G", generator, "-B", &build, "-S", "."])
            .folder(project)
            .variable("CC", c)
            .variable("CXX", cxx)
            // Generated code is to have no warnings.
            .variable("CFLAGS", STRICT)
            .variable("CXXFLAGS", STRICT)
            .argument(format!("-DOBVIA_TARGET_DIR={}", target().display()))
            .read()?;
        self.program("cmake", &["--build", &build]).run()?;
        Ok(build)
    }

    /// Builds the programs of a folder with the commands of the page.
    fn build_by_hand(&self, folder: &str, page: &Page) -> Outcome<Pair> {
        let source = self.folder.path().join(folder);
        let title = if folder == "calc" { "`g++`" } else { "`gcc`" };
        self.program("sh", &["-e", "-c", &page.block(title)?]).folder(&source).run()?;
        let path = |name: &str| source.join(name).display().to_string();
        Ok(Pair { server: path("server"), client: path("client") })
    }

    /// A program that finds the installed obvia, and nothing of the project.
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

fn failed(path: &Path, error: &std::io::Error) -> Problem {
    Problem::Failed(format!("{}: {error}", path.display()))
}

/// Replaces something in a file, which has it.
fn replace(path: &Path, from: &str, to: &str) -> Outcome {
    let text = fs::read_to_string(path).map_err(|error| failed(path, &error))?;
    if !text.contains(from) {
        return Err(Problem::Failed(format!("{} does not have {from:?}", path.display())));
    }
    fs::write(path, text.replace(from, to)).map_err(|error| failed(path, &error))
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) -> Outcome {
    let words = [from, to].map(|path| path.display().to_string());
    Program::new("cp", &["-R", &words[0], &words[1]]).read().map(drop)
}
