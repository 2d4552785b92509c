//! Tools from elsewhere: found, or installed where that can be done without asking, or named with the command that installs them.

use crate::program::{Program, target};
use crate::{Outcome, Problem};
use std::fs::File;
use std::path::{Path, PathBuf};

/// The toolchain that fuzzing and Miri need.
const NIGHTLY: &str = "nightly";

/// A cargo of the nightly toolchain.
pub(crate) fn nightly_cargo(arguments: &[&str]) -> Program {
    Program::cargo(arguments).variable("RUSTUP_TOOLCHAIN", NIGHTLY)
}

/// Makes sure that valgrind is there.
pub(crate) fn valgrind() -> Outcome {
    with_version("valgrind", "valgrind")
}

/// Makes sure that addr2line is there, which comes with the linker.
pub(crate) fn addr2line() -> Outcome {
    with_version("addr2line", "binutils")
}

/// Makes sure that nft is there, which has kernels lose packets.
pub(crate) fn nft() -> Outcome {
    with_version("nft", "nftables")
}

/// Makes sure that g++ is there.
pub(crate) fn cxx() -> Outcome {
    with_version("g++", "g++")
}

/// Makes sure that CMake and pkg-config are there, what CMake has build, and both compilers of C and C++.
pub(crate) fn cmake() -> Outcome {
    let programs = ["cmake", "pkg-config", "make", "ninja", "gcc", "g++", "clang"];
    programs.iter().try_for_each(|name| with_version(name, if *name == "ninja" { "ninja-build" } else { name }))
}

/// Whether a C compiler finds libfabric's headers.
pub(crate) fn has_libfabric() -> bool {
    Program::new("cc", &["-fsyntax-only", "-include", "rdma/fabric.h", "-x", "c", "/dev/null"]).succeeds()
}

/// Makes sure that libfabric is there, with what compiles against it.
pub(crate) fn libfabric() -> Outcome {
    if has_libfabric() {
        return Ok(());
    }
    apt("libfabric-dev")
}

/// Wine's compiler of IDL.
pub(crate) const WIDL: &str = "x86_64-w64-mingw32-widl";

/// The judges from PyPI, which `testing/interop` uses.
const PYTHON_JUDGES: [&str; 2] = ["impacket==0.13.1", "scapy==2.8.0"];

/// Makes sure that those are there who judge the standard path: from Debian, and from PyPI in an environment of the project's own.
pub(crate) fn judges() -> Outcome {
    with_version("smbtorture", "samba-testsuite")?;
    with_version("tshark", "tshark")?;
    with_version("rpcclient", "smbclient")?;
    if !Program::new("/usr/bin/python3", &["-c", "import samba.dcerpc.echo, venv, ensurepip"]).succeeds() {
        apt("python3-samba")?;
        apt("python3-venv")?;
    }
    let python = judges_python();
    if Program::new(&python, &["-c", "import impacket, scapy"]).succeeds() {
        return Ok(());
    }
    let folder = judges_folder().display().to_string();
    required("a Python environment", &Program::new("/usr/bin/python3", &["-m", "venv", &folder]))?;
    required("impacket and scapy", &Program::new(&python, &["-m", "pip", "install", "--quiet"]).with(&PYTHON_JUDGES))
}

/// Makes sure that widl is there, which comes with what makes programs of Windows.
pub(crate) fn widl() -> Outcome {
    if Program::new(WIDL, &["-V"]).succeeds() { Ok(()) } else { apt("mingw-w64-tools") }
}

/// Makes sure that Wine is there, and what makes programs for it.
pub(crate) fn wine() -> Outcome {
    let programs = [("wine", "--version"), ("x86_64-w64-mingw32-gcc", "--version"), (WIDL, "-V")];
    if programs.iter().all(|(program, version)| Program::new(program, &[version]).succeeds()) {
        return Ok(());
    }
    // What these recommend is another gigabyte.
    apt_with(&["--no-install-recommends", "wine", "wine64", "mingw-w64-tools", "gcc-mingw-w64-x86-64-win32"])
}

fn judges_folder() -> PathBuf {
    target().join("tools/judges")
}

/// The Python that has the judges from PyPI.
pub(crate) fn judges_python() -> String {
    judges_folder().join("bin/python3").display().to_string()
}

/// The first version of Java that the project is for.
const JAVA: u32 = 25;

/// The home of a JDK that is new enough, which need not be the machine's usual one; with Maven there, too.
pub(crate) fn jdk() -> Outcome<PathBuf> {
    with_version("mvn", "maven")?;
    let found = || jdks().into_iter().find(|home| java_version(home).is_some_and(|version| version >= JAVA));
    if let Some(home) = found() {
        return Ok(home);
    }
    let package = format!("openjdk-{JAVA}-jdk-headless");
    let what = || missing(&format!("a JDK {JAVA}"), &format!("apt-get install {package}, or set JAVA_HOME"), true);
    apt(&package).map_err(|_| what())?;
    found().ok_or_else(what)
}

/// Where JDKs may be.
fn jdks() -> Vec<PathBuf> {
    let named = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    let installed = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten().map(|entry| entry.path());
    let mut installed: Vec<_> = installed.collect();
    installed.sort();
    named.into_iter().chain(installed).collect()
}

/// The version of a JDK, as it says itself; `None` for what has no compiler.
fn java_version(home: &Path) -> Option<u32> {
    if !home.join("bin/javac").exists() {
        return None;
    }
    let release = std::fs::read_to_string(home.join("release")).ok()?;
    let version = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION=\""))?;
    version.split(['.', '"', '+', '-']).next()?.parse().ok()
}

/// Makes sure that the nightly toolchain is there.
pub(crate) fn nightly() -> Outcome {
    if nightly_cargo(&["--version"]).succeeds() {
        return Ok(());
    }
    let install = Program::new("rustup", &["toolchain", "install", NIGHTLY, "--profile", "minimal"]);
    optional("the nightly toolchain", &install)
}

/// Makes sure that Miri is there, and the standard library as it wants it.
pub(crate) fn miri() -> Outcome {
    nightly()?;
    if !nightly_cargo(&["miri", "--version"]).succeeds() {
        let install = Program::new("rustup", &["component", "add", "miri", "rust-src", "--toolchain", NIGHTLY]);
        optional("Miri", &install)?;
    }
    let sysroot = Program::new("rustup", &["component", "add", "rust-src", "--toolchain", NIGHTLY]);
    let setup = nightly_cargo(&["miri", "setup"]);
    if setup.succeeds() || (sysroot.succeeds() && setup.succeeds()) {
        return Ok(());
    }
    Err(Problem::missing(format!("Miri's standard library: {}", setup.line())))
}

/// Makes sure that a program is there which says its version when asked.
fn with_version(program: &str, package: &str) -> Outcome {
    if Program::new(program, &["--version"]).succeeds() { Ok(()) } else { apt(package) }
}

/// Installs a package of Debian's.
fn apt(package: &str) -> Outcome {
    apt_with(&[package])
}

/// Installs packages, with options.
fn apt_with(words: &[&str]) -> Outcome {
    let package = &words.join(" ");
    let is_root = Program::new("id", &["-u"]).read().is_ok_and(|id| id.trim() == "0");
    let install = Program::new("apt-get", &["install", "--quiet", "--yes"])
        .with(words)
        .variable("DEBIAN_FRONTEND", "noninteractive");
    if !is_root {
        return Err(missing(package, &format!("sudo apt-get install {package}"), true));
    }
    // A machine whose lists are too old is told so by the installation that follows.
    {
        let _alone = alone();
        Program::new("apt-get", &["update", "--quiet"]).succeeds();
    }
    required(package, &install)
}

/// Keeps the parts that run beside this one from installing as long as it is there. Where there can be no lock they may get into each
/// other's way, which the installation says.
fn alone() -> Option<File> {
    let folder = target();
    std::fs::create_dir_all(&folder).ok()?;
    let file = File::create(folder.join("installing.lock")).ok()?;
    file.lock().ok()?;
    Some(file)
}

fn required(what: &str, install: &Program) -> Outcome {
    let _alone = alone();
    install.run().map_err(|_| missing(what, &install.line(), true))
}

fn optional(what: &str, install: &Program) -> Outcome {
    let _alone = alone();
    install.run().map_err(|_| missing(what, &install.line(), false))
}

fn missing(what: &str, how: &str, required: bool) -> Problem {
    let what = format!("{what} is missing and could not be had; this installs it: {how}");
    Problem::Missing { what, required }
}

#[cfg(test)]
mod tests {
    use super::java_version;
    use crate::temporary::Folder;

    #[test]
    fn a_jdk_says_its_version() {
        let folder = Folder::new().unwrap();
        let home = folder.path();
        std::fs::write(home.join("release"), "IMPLEMENTOR=\"X\"\nJAVA_VERSION=\"25.0.3\"\n").unwrap();
        assert_eq!(java_version(home), None, "without a compiler");
        std::fs::create_dir(home.join("bin")).unwrap();
        std::fs::write(home.join("bin/javac"), "").unwrap();
        assert_eq!(java_version(home), Some(25));
        std::fs::write(home.join("release"), "JAVA_VERSION=\"26\"\n").unwrap();
        assert_eq!(java_version(home), Some(26));
    }
}
