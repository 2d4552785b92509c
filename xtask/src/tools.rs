//! External tools. A missing tool is installed if that needs no consent. Otherwise the command that
//! installs it is reported.
//!
//! A test run requests the tools of all its parts together, before any part runs, so that missing
//! tools are installed together.

use crate::maven::maven;
use crate::outcome::{Outcome, Problem};
use crate::program::{Program, target};
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

/// The toolchain for fuzzing and Miri.
const NIGHTLY: &str = "nightly";

/// The first numbers of mdBook's version.
const MDBOOK: &str = "0.5";

/// Wine's IDL compiler.
pub(crate) const WIDL: &str = "x86_64-w64-mingw32-widl";

/// The packages from PyPI that `testing/interop` uses.
const PYTHON_PACKAGES: [&str; 2] = ["impacket==0.13.1", "scapy==2.8.0"];

/// The libraries from Maven's central repository, each with its group, name and version.
const JINTEROP_JARS: [[&str; 3]; 3] = [
    ["org.kohsuke.jinterop", "j-interop", "2.0.8-kohsuke-1"],
    ["org.kohsuke.jinterop", "j-interopdeps", "2.0.8-kohsuke-1"],
    ["org.samba.jcifs", "jcifs", "1.3.14-kohsuke-1"],
];

/// A tool that a part needs besides Rust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tool {
    /// The runner of the tests in Rust.
    Nextest,
    /// The compilers of C and C++ with sanitizers.
    Cxx,
    /// CMake, its build tools, and both families of compilers.
    Cmake,
    Valgrind,
    /// The reader of line tables.
    Addr2line,
    /// The compiler of Cap'n Proto.
    Capnp,
    /// The tool that checks licences of crates.
    Deny,
    /// The program that makes a book of pages in Markdown.
    Mdbook,
    /// The tool that makes the kernel drop packets.
    Nft,
    /// The tool for network namespaces and their virtual cables.
    Ip,
    /// libfabric's headers and library.
    Libfabric,
    /// The programs and libraries that test the standard's protocols.
    InteropTools,
    /// The Java library j-interop, which tests the standard's protocols, with the libraries that it
    /// needs. Maven downloads the libraries, and needs a JDK for that.
    JInterop,
    Widl,
    Wine,
    Jdk,
    Nightly,
    /// Miri with its standard library.
    Miri,
    /// The tool that keeps processors busy.
    StressNg,
}

impl Tool {
    /// Returns the tool's programs, each with its Debian package. The programs have to support
    /// `--version`.
    const fn programs(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Cxx => &[("gcc", "gcc"), ("g++", "g++")],
            Self::Cmake => &[
                ("cmake", "cmake"),
                ("pkg-config", "pkg-config"),
                ("make", "make"),
                ("ninja", "ninja-build"),
                ("gcc", "gcc"),
                ("g++", "g++"),
                ("clang", "clang"),
            ],
            Self::Valgrind => &[("valgrind", "valgrind")],
            Self::Addr2line => &[("addr2line", "binutils")],
            Self::Capnp => &[("capnp", "capnproto")],
            Self::Nft => &[("nft", "nftables")],
            Self::InteropTools => {
                &[("smbtorture", "samba-testsuite"), ("tshark", "tshark"), ("rpcclient", "smbclient")]
            }
            Self::Wine => &[("wine", "wine wine64"), ("x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64-win32")],
            Self::Jdk => &[("mvn", "maven")],
            Self::StressNg => &[("stress-ng", "stress-ng")],
            Self::Nextest
            | Self::Deny
            | Self::Mdbook
            | Self::JInterop
            | Self::Ip
            | Self::Libfabric
            | Self::Widl
            | Self::Nightly
            | Self::Miri => &[],
        }
    }

    /// Returns the Debian packages that are missing.
    fn packages(self) -> Vec<String> {
        let has_version = |program: &str| Program::new(program, &["--version"]).succeeds();
        let missing = self.programs().iter().filter(|(program, _)| !has_version(program));
        let mut packages: Vec<&str> = missing.map(|(_, package)| *package).collect();
        match self {
            Self::Ip if !Program::new("ip", &["-Version"]).succeeds() => packages.push("iproute2"),
            Self::Libfabric if !has_libfabric() => packages.push("libfabric-dev"),
            Self::Widl | Self::Wine if !Program::new(WIDL, &["-V"]).succeeds() => packages.push("mingw-w64-tools"),
            Self::InteropTools if !has_python_of_samba() => packages.extend(["python3-samba", "python3-venv"]),
            Self::Jdk if find_jdk().is_none() => packages.push(JDK_PACKAGE),
            _ => {}
        }
        packages.iter().flat_map(|words| words.split(' ')).map(str::to_owned).collect()
    }

    /// Installs those parts of the tool that Debian does not have.
    fn install(self) -> Outcome {
        match self {
            Self::Nextest => cargo_tool("nextest", &["--no-default-features", "--features", "default-no-update"]),
            Self::Deny => cargo_tool("deny", &[]),
            Self::Mdbook => install_mdbook(),
            Self::InteropTools => install_python_tools(),
            Self::JInterop => install_jinterop(),
            Self::Nightly => nightly(),
            Self::Miri => miri(),
            _ => Ok(()),
        }
    }
}

/// Makes sure that tools are available.
///
/// # Errors
///
/// Reports the first tool that is missing and cannot be installed. All other tools are installed
/// nevertheless.
pub(crate) fn ensure(tools: &[Tool]) -> Outcome {
    let missing: BTreeSet<String> = tools.iter().flat_map(|tool| tool.packages()).collect();
    let debian = if missing.is_empty() { Ok(()) } else { install_packages(&missing) };
    let rest = tools.iter().map(|tool| tool.install()).collect::<Vec<_>>();
    // A package may be unknown to this version of Debian while the others are available.
    let debian = debian.and_then(|()| match tools.iter().flat_map(|tool| tool.packages()).next() {
        None => Ok(()),
        Some(package) => Err(missing_package(&package)),
    });
    rest.into_iter().fold(debian, Outcome::and)
}

/// Installs Debian packages.
fn install_packages(packages: &BTreeSet<String>) -> Outcome {
    let words: Vec<&str> = packages.iter().map(String::as_str).collect();
    let is_root = Program::new("id", &["-u"]).read().is_ok_and(|id| id.trim() == "0");
    if !is_root {
        return Err(missing_package(&words.join(" ")));
    }
    let _alone = alone();
    let apt = |words: &[&str]| Program::new("apt-get", words).variable("DEBIAN_FRONTEND", "noninteractive");
    // If the update fails and the package lists are too old, the installation below reports it.
    apt(&["update", "--quiet"]).succeeds();
    println!("    installing {}", words.join(" "));
    // An unavailable package must not prevent the installation of the others.
    if apt(&["install", "--quiet", "--yes", "--no-install-recommends"]).with(&words).read().is_err() {
        for word in &words {
            apt(&["install", "--quiet", "--yes", "--no-install-recommends", word]).succeeds();
        }
    }
    Ok(())
}

fn missing_package(package: &str) -> Problem {
    missing(package, &format!("sudo apt-get install {package}"), true)
}

/// Whether a C compiler finds libfabric's headers.
pub(crate) fn has_libfabric() -> bool {
    Program::new("cc", &["-fsyntax-only", "-include", "rdma/fabric.h", "-x", "c", "/dev/null"]).succeeds()
}

fn has_python_of_samba() -> bool {
    Program::new("/usr/bin/python3", &["-c", "import samba.dcerpc.echo, venv, ensurepip"]).succeeds()
}

/// Installs the program of a subcommand of cargo. Little optimization makes its build quick.
fn cargo_tool(command: &str, options: &[&str]) -> Outcome {
    if Program::cargo(&[command, "--version"]).succeeds() {
        return Ok(());
    }
    cargo_install(&format!("cargo-{command}"), options)
}

fn cargo_install(package: &str, options: &[&str]) -> Outcome {
    let install = Program::cargo(&["install", "--quiet", "--locked", package])
        .with(options)
        .variable("CARGO_TARGET_DIR", target().join("tools").join(package).display().to_string())
        .variable("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")
        .variable("CARGO_PROFILE_RELEASE_LTO", "off")
        .variable("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    install_with(package, &install, true)
}

/// Returns the path of mdBook, which is not a command of cargo.
pub(crate) fn mdbook() -> String {
    target().join("tools/bin/mdbook").display().to_string()
}

fn install_mdbook() -> Outcome {
    if Program::new(&mdbook(), &["--version"]).read().is_ok_and(|version| version.contains(MDBOOK)) {
        return Ok(());
    }
    let root = target().join("tools").display().to_string();
    cargo_install(
        "mdbook",
        &["--version", &format!("^{MDBOOK}"), "--no-default-features", "--features", "search", "--root", &root],
    )
}

/// Installs impacket and scapy in the project's own Python environment.
fn install_python_tools() -> Outcome {
    let python = interop_python();
    if Program::new(&python, &["-c", "import impacket, scapy"]).succeeds() {
        return Ok(());
    }
    let folder = interop_tools_folder().display().to_string();
    install_with("a Python environment", &Program::new("/usr/bin/python3", &["-m", "venv", &folder]), true)?;
    let pip = Program::new(&python, &["-m", "pip", "install", "--quiet"]).with(&PYTHON_PACKAGES);
    install_with("impacket and scapy", &pip, true)
}

fn interop_tools_folder() -> PathBuf {
    target().join("tools/judges")
}

/// Returns the Python program of the environment with the packages from PyPI.
pub(crate) fn interop_python() -> String {
    interop_tools_folder().join("bin/python3").display().to_string()
}

/// Downloads the Java libraries into the project's own folder.
fn install_jinterop() -> Outcome {
    let jars = jinterop_jars();
    for ([group, name, version], jar) in JINTEROP_JARS.iter().zip(&jars) {
        if jar.exists() {
            continue;
        }
        let artifact = format!("-Dartifact={group}:{name}:{version}");
        let folder = format!("-DoutputDirectory={}", jinterop_folder().display());
        let home = find_jdk().ok_or_else(|| missing_package(JDK_PACKAGE))?;
        let copy = maven(&home).with(&["--quiet", "dependency:copy", &artifact, &folder]);
        install_with(&format!("{name} {version}"), &copy, true)?;
    }
    Ok(())
}

fn jinterop_folder() -> PathBuf {
    target().join("tools/java-judges")
}

/// Returns the paths of the Java libraries.
pub(crate) fn jinterop_jars() -> [PathBuf; 3] {
    JINTEROP_JARS.map(|[_, name, version]| jinterop_folder().join(format!("{name}-{version}.jar")))
}

/// Returns cargo of the nightly toolchain.
pub(crate) fn nightly_cargo(arguments: &[&str]) -> Program {
    Program::cargo(arguments).variable("RUSTUP_TOOLCHAIN", NIGHTLY)
}

fn nightly() -> Outcome {
    if nightly_cargo(&["--version"]).succeeds() {
        return Ok(());
    }
    let install = Program::new("rustup", &["toolchain", "install", NIGHTLY, "--profile", "minimal"]);
    install_with("the nightly toolchain", &install, false)
}

/// Installs Miri, and Miri's build of the standard library.
fn miri() -> Outcome {
    nightly()?;
    if !nightly_cargo(&["miri", "--version"]).succeeds() {
        let install = Program::new("rustup", &["component", "add", "miri", "rust-src", "--toolchain", NIGHTLY]);
        install_with("Miri", &install, false)?;
    }
    let sysroot = Program::new("rustup", &["component", "add", "rust-src", "--toolchain", NIGHTLY]);
    let setup = nightly_cargo(&["miri", "setup"]);
    if setup.succeeds() || (sysroot.succeeds() && setup.succeeds()) {
        return Ok(());
    }
    Err(Problem::missing(format!("Miri's standard library: {}", setup.line())))
}

/// The minimum version of Java.
const JAVA: u32 = 25;

/// The Debian package of the JDK.
const JDK_PACKAGE: &str = "openjdk-25-jdk-headless";

/// Returns the home of a JDK that is new enough. It need not be the machine's default. Makes sure
/// that Maven is available, too.
pub(crate) fn jdk() -> Outcome<PathBuf> {
    let what = || missing(&format!("a JDK {JAVA}"), &format!("apt-get install {JDK_PACKAGE}, or set JAVA_HOME"), true);
    ensure(&[Tool::Jdk]).map_err(|_| what())?;
    find_jdk().ok_or_else(what)
}

fn find_jdk() -> Option<PathBuf> {
    jdks().into_iter().find(|home| java_version(home).is_some_and(|version| version >= JAVA))
}

/// Returns the folders that may be the home of a JDK.
fn jdks() -> Vec<PathBuf> {
    let named = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    let installed = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten().map(|entry| entry.path());
    let mut installed: Vec<_> = installed.collect();
    installed.sort();
    named.into_iter().chain(installed).collect()
}

/// Returns the version of a JDK from its release file; `None` if the JDK has no compiler or no
/// version.
fn java_version(home: &Path) -> Option<u32> {
    if !home.join("bin/javac").exists() {
        return None;
    }
    let release = std::fs::read_to_string(home.join("release")).ok()?;
    let version = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION=\""))?;
    version.split(['.', '"', '+', '-']).next()?.parse().ok()
}

/// Keeps concurrent processes from installing while the returned value lives. If the lock file
/// cannot be created or locked, installations may disturb each other, and then report errors.
fn alone() -> Option<File> {
    let folder = target();
    std::fs::create_dir_all(&folder).ok()?;
    let file = File::create(folder.join("installing.lock")).ok()?;
    file.lock().ok()?;
    Some(file)
}

/// Runs an installation. If the tool `is_required`, a CI run fails without it.
fn install_with(what: &str, install: &Program, is_required: bool) -> Outcome {
    let _alone = alone();
    install.run().map_err(|_| missing(what, &install.line(), is_required))
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
    fn the_version_of_a_jdk_is_read() {
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
