//! The tools that build programs in each language.

use super::finding::Finding;
use super::host::{Host, shown, version_of};
use crate::wizard::origin::Origin;
use std::path::{Path, PathBuf};

/// The findings about tools, in the order of the report.
pub(super) const CHECKS: &[fn(&Host) -> Finding] = &[cargo, c_compiler, cpp_compiler, cmake, package, jdk, maven];

/// Looks for one of several programs.
fn program(host: &Host, subject: &str, names: &[&str], cost: &str) -> Finding {
    match host.program(names) {
        Some(path) => Finding::ok(subject, shown(path)),
        None => Finding::missing(subject, format!("no {} in PATH", names.join(", ")), cost),
    }
}

/// Looks for a program, and asks it for its version.
fn versioned(host: &Host, subject: &str, name: &str, least: (u32, u32), cost: &str) -> Finding {
    let Some(path) = host.program(&[name]) else { return program(host, subject, &[name], cost) };
    let shown = shown(&path);
    match version_of(&path) {
        Some((major, minor)) if (major, minor) < least => {
            Finding::missing(subject, format!("{major}.{minor}, {shown}"), cost)
        }
        Some((major, minor)) => Finding::ok(subject, format!("{major}.{minor}, {shown}")),
        None => Finding::missing(subject, format!("{shown} does not print its version"), cost),
    }
}

fn cargo(host: &Host) -> Finding {
    let cost = "Programs in Rust need cargo, with Rust 1.95 or newer.";
    let finding = versioned(host, "Rust", "cargo", (1, 95), cost);
    match host.program(&["rustup"]) {
        Some(_) => finding.remedy("rustup update stable && rustup default stable"),
        None => finding.remedy("sudo apt install rustup && rustup default stable"),
    }
}

fn c_compiler(host: &Host) -> Finding {
    let cost = "Programs in C need a compiler, and Rust links by it.";
    program(host, "C compiler", &["cc", "gcc", "clang"], cost).remedy("sudo apt install gcc")
}

fn cpp_compiler(host: &Host) -> Finding {
    program(host, "C++ compiler", &["c++", "g++", "clang++"], "Programs in C++ need a compiler.")
        .remedy("sudo apt install g++")
}

fn cmake(host: &Host) -> Finding {
    let cost = "Projects in C and C++ are built by CMake 3.16 or later.";
    versioned(host, "CMake", "cmake", (3, 16), cost).remedy("sudo apt install cmake")
}

/// Looks for the package that `find_package(obvia)` finds.
fn package(host: &Host) -> Finding {
    let subject = "CMake package";
    let prefixes = host.variable("CMAKE_PREFIX_PATH").unwrap_or_default();
    let prefixes = std::env::split_paths(&prefixes).chain([host.path("usr/local"), host.path("usr")]);
    let found = prefixes.into_iter().find(|prefix| matches!(Origin::at(prefix), Some(Origin::Installation(_))));
    match (found, Origin::find(None)) {
        (Some(prefix), _) | (None, Ok(Origin::Installation(prefix))) => Finding::ok(subject, shown(prefix)),
        (None, Ok(Origin::Checkout(path))) => {
            Finding::ok(subject, format!("the checkout {}, as a part of each project", path.display()))
        }
        _ => {
            let cost = "Programs in C and C++ find no library libobvia.";
            let remedy = "cmake -S . -B build && cmake --build build && cmake --install build --prefix ~/obvia && export \
                        CMAKE_PREFIX_PATH=~/obvia";
            Finding::missing(subject, "not in CMAKE_PREFIX_PATH, /usr/local or /usr", cost)
                .remedy(remedy)
                .hint("In the folder of the checkout:")
        }
    }
}

/// The oldest JDK that the Java side works with.
const JDK: u32 = 25;

/// Looks for the JDK that Maven uses, and for another one if that JDK is missing or too old.
fn jdk(host: &Host) -> Finding {
    let subject = "JDK";
    let cost = "Programs in Java need JDK 25 or newer.";
    let (used, by) = match host.variable("JAVA_HOME") {
        Some(home) => (Some(PathBuf::from(home)), "JAVA_HOME"),
        None => (host.program(&["javac"]).and_then(|javac| home_of(&javac)), "PATH"),
    };
    let version = used.as_deref().and_then(version);
    if let (Some(home), Some(version @ JDK..)) = (&used, version) {
        return Finding::ok(subject, format!("{version}, {} by {by}", home.display()));
    }
    let found = version.map_or_else(|| format!("none by {by}"), |version| format!("{version} by {by}"));
    let is_new = |home: &PathBuf| self::version(home).is_some_and(|version| version >= JDK);
    match host.entries("usr/lib/jvm").into_iter().find(is_new) {
        Some(home) => Finding::limited(subject, found, cost).remedy(format!("export JAVA_HOME='{}'", home.display())),
        None => {
            let found = format!("{found}, none in /usr/lib/jvm");
            Finding::missing(subject, found, cost).remedy("sudo apt install openjdk-25-jdk-headless")
        }
    }
}

/// Returns the home of a JDK from the path of its compiler, if the compiler exists.
fn home_of(javac: &Path) -> Option<PathBuf> {
    Some(javac.canonicalize().ok()?.parent()?.parent()?.to_owned())
}

/// Returns the version of the JDK in a directory; `None` without a compiler.
fn version(home: &Path) -> Option<u32> {
    if !home.join("bin/javac").exists() {
        return None;
    }
    let release = std::fs::read_to_string(home.join("release")).ok()?;
    let version = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION=\""))?;
    version.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

fn maven(host: &Host) -> Finding {
    let cost = "Projects in Java are built by Maven 3.8 or newer.";
    versioned(host, "Maven", "mvn", (3, 8), cost).remedy("sudo apt install maven")
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::super::host::tests::Fake;
    use super::{CHECKS, jdk, versioned};
    use std::process::Command;

    #[test]
    fn a_new_jdk_beside_the_used_one_is_named() {
        let home = |name: &str, version: &str| {
            [
                (format!("usr/lib/jvm/{name}/bin/javac"), String::new()),
                (format!("usr/lib/jvm/{name}/release"), format!("IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"{version}\"\n")),
            ]
        };
        let files: Vec<_> = [home("a", "17.0.1"), home("b", "25-ea"), home("c", "26.0.3")].concat();
        let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let Fake(folder, host) = &Fake::new(&files);
        let finding = jdk(host);
        assert_eq!(finding.state, State::Limited);
        let remedy = format!("-> export JAVA_HOME='{}'", folder.join("usr/lib/jvm/b").display());
        assert!(finding.lines().iter().any(|line| line.ends_with(&remedy)), "{:?}", finding.lines());
        let old = Fake::new(&files[..2]);
        assert_eq!(jdk(&old.1).state, State::Missing);
    }

    #[test]
    fn tools_of_old_versions_and_files_that_cannot_run_are_missing() {
        let print = |text: &str| format!("#!/bin/sh\necho '{text}'\n");
        let texts = ["x 1.94.9", "x 1.95", "x 2.0.1", "x"].map(print);
        let names = ["old", "least", "new", "silent"];
        let paths = names.map(|name| format!("bin/{name}"));
        let mut files: Vec<_> = paths.iter().map(String::as_str).zip(texts.iter().map(String::as_str)).collect();
        files.push(("bin/text", "2.0"));
        let Fake(folder, host) = &mut Fake::new(&files);
        // Another process writes the programs. If this process wrote a file, a child process of
        // another test could inherit the open file, and a file that is open for writing cannot be
        // executed.
        let programs = folder.join("programs");
        std::fs::create_dir(&programs).unwrap();
        for name in names {
            let mut install = Command::new("install");
            install.args(["-m", "755"]).arg(folder.join("bin").join(name)).arg(programs.join(name));
            assert!(install.status().unwrap().success());
        }
        std::fs::copy(folder.join("bin/text"), programs.join("text")).unwrap();
        host.set_path(programs);
        let state = |name: &str| versioned(host, "x", name, (1, 95), "").state;
        assert_eq!(
            ["old", "least", "new", "silent", "text", "none"].map(state),
            [State::Missing, State::Ok, State::Ok, State::Missing, State::Missing, State::Missing]
        );
    }

    #[test]
    fn tools_that_are_not_in_the_path_are_missing() {
        let Fake(_folder, host) = &Fake::new(&[]);
        for check in CHECKS {
            let finding = check(host);
            assert!(finding.state == State::Missing || finding.subject == "CMake package", "{finding:?}");
        }
    }
}
