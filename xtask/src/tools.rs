//! Tools from elsewhere: found, or installed where that can be done without asking, or named with the command that installs them.
//!
//! A test run asks for those of all its parts at once, before any part runs: what is missing is then installed in one go.

use crate::maven::maven;
use crate::program::{Program, target};
use crate::{Outcome, Problem};
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

/// The toolchain that fuzzing and Miri need.
const NIGHTLY: &str = "nightly";

/// Wine's compiler of IDL.
pub(crate) const WIDL: &str = "x86_64-w64-mingw32-widl";

/// The judges from PyPI, which `testing/interop` uses.
const PYTHON_JUDGES: [&str; 2] = ["impacket==0.13.1", "scapy==2.8.0"];

/// The judges from Maven's central repository: groups, names and versions.
const JAVA_JUDGES: [[&str; 3]; 3] = [
    ["org.kohsuke.jinterop", "j-interop", "2.0.8-kohsuke-1"],
    ["org.kohsuke.jinterop", "j-interopdeps", "2.0.8-kohsuke-1"],
    ["org.samba.jcifs", "jcifs", "1.3.14-kohsuke-1"],
];

/// What a part needs beside Rust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tool {
    /// Runs the tests in Rust.
    Nextest,
    /// Compilers of C and C++, with sanitizers.
    Cxx,
    /// CMake, all that it has build, and both families of compilers.
    Cmake,
    Valgrind,
    /// Reads line tables.
    Addr2line,
    /// Has kernels lose packets.
    Nft,
    /// Network namespaces and the wires between them.
    Ip,
    /// Headers and library.
    Libfabric,
    /// The programs and libraries that judge the standard's protocols.
    Judges,
    /// The libraries in Java that do: a client of DCOM. After the JDK, whose Maven loads them.
    JavaJudges,
    Widl,
    Wine,
    Jdk,
    Nightly,
    /// With its standard library.
    Miri,
    /// Keeps processors busy.
    StressNg,
}

impl Tool {
    /// Programs that say their version when asked, and Debian's packages that have them.
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
            Self::Nft => &[("nft", "nftables")],
            Self::Judges => &[("smbtorture", "samba-testsuite"), ("tshark", "tshark"), ("rpcclient", "smbclient")],
            Self::Wine => &[("wine", "wine wine64"), ("x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64-win32")],
            Self::Jdk => &[("mvn", "maven")],
            Self::StressNg => &[("stress-ng", "stress-ng")],
            Self::Nextest | Self::JavaJudges | Self::Ip | Self::Libfabric | Self::Widl | Self::Nightly | Self::Miri => {
                &[]
            }
        }
    }

    /// Debian's packages that are missing.
    fn packages(self) -> Vec<String> {
        let has_version = |program: &str| Program::new(program, &["--version"]).succeeds();
        let missing = self.programs().iter().filter(|(program, _)| !has_version(program));
        let mut packages: Vec<&str> = missing.map(|(_, package)| *package).collect();
        match self {
            Self::Ip if !Program::new("ip", &["-Version"]).succeeds() => packages.push("iproute2"),
            Self::Libfabric if !has_libfabric() => packages.push("libfabric-dev"),
            Self::Widl | Self::Wine if !Program::new(WIDL, &["-V"]).succeeds() => packages.push("mingw-w64-tools"),
            Self::Judges if !has_python_of_samba() => packages.extend(["python3-samba", "python3-venv"]),
            Self::Jdk if find_jdk().is_none() => packages.push(JDK_PACKAGE),
            _ => {}
        }
        packages.iter().flat_map(|words| words.split(' ')).map(str::to_owned).collect()
    }

    /// Installs the rest, which is not Debian's.
    fn install(self) -> Outcome {
        match self {
            Self::Nextest => nextest(),
            Self::Judges => python_judges(),
            Self::JavaJudges => java_judges(),
            Self::Nightly => nightly(),
            Self::Miri => miri(),
            _ => Ok(()),
        }
    }
}

/// Makes sure that these are there.
///
/// # Errors
///
/// The first that is missing and can't be installed. The others are installed all the same.
pub(crate) fn ensure(tools: &[Tool]) -> Outcome {
    let missing: BTreeSet<String> = tools.iter().flat_map(|tool| tool.packages()).collect();
    let debian = if missing.is_empty() { Ok(()) } else { install_packages(&missing) };
    let rest = tools.iter().map(|tool| tool.install()).collect::<Vec<_>>();
    // A package may be unknown to this machine's Debian while the others are there.
    let debian = debian.and_then(|()| match tools.iter().flat_map(|tool| tool.packages()).next() {
        None => Ok(()),
        Some(package) => Err(missing_package(&package)),
    });
    rest.into_iter().fold(debian, Outcome::and)
}

/// Installs Debian's packages.
fn install_packages(packages: &BTreeSet<String>) -> Outcome {
    let words: Vec<&str> = packages.iter().map(String::as_str).collect();
    let is_root = Program::new("id", &["-u"]).read().is_ok_and(|id| id.trim() == "0");
    if !is_root {
        return Err(missing_package(&words.join(" ")));
    }
    let _alone = alone();
    let apt = |words: &[&str]| Program::new("apt-get", words).variable("DEBIAN_FRONTEND", "noninteractive");
    // A machine whose lists are too old is told so by the installation that follows.
    apt(&["update", "--quiet"]).succeeds();
    println!("    installing {}", words.join(" "));
    // One that cannot be had must not keep the others away.
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

/// Installs cargo-nextest: not for publishing, so without what the linker would do for its speed.
fn nextest() -> Outcome {
    if Program::cargo(&["nextest", "--version"]).succeeds() {
        return Ok(());
    }
    let install = Program::cargo(&["install", "--quiet", "--locked", "cargo-nextest"])
        .with(&["--no-default-features", "--features", "default-no-update"])
        .variable("CARGO_TARGET_DIR", target().join("tools/nextest").display().to_string())
        .variable("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")
        .variable("CARGO_PROFILE_RELEASE_LTO", "off")
        .variable("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    install_with("cargo-nextest", &install, true)
}

/// Installs impacket and scapy in an environment of the project's own.
fn python_judges() -> Outcome {
    let python = judges_python();
    if Program::new(&python, &["-c", "import impacket, scapy"]).succeeds() {
        return Ok(());
    }
    let folder = judges_folder().display().to_string();
    install_with("a Python environment", &Program::new("/usr/bin/python3", &["-m", "venv", &folder]), true)?;
    let pip = Program::new(&python, &["-m", "pip", "install", "--quiet"]).with(&PYTHON_JUDGES);
    install_with("impacket and scapy", &pip, true)
}

fn judges_folder() -> PathBuf {
    target().join("tools/judges")
}

/// The Python that has the judges from PyPI.
pub(crate) fn judges_python() -> String {
    judges_folder().join("bin/python3").display().to_string()
}

/// Loads the judges in Java into a folder of the project's own.
fn java_judges() -> Outcome {
    let jars = java_judges_jars();
    for ([group, name, version], jar) in JAVA_JUDGES.iter().zip(&jars) {
        if jar.exists() {
            continue;
        }
        let artifact = format!("-Dartifact={group}:{name}:{version}");
        let folder = format!("-DoutputDirectory={}", java_judges_folder().display());
        let home = find_jdk().ok_or_else(|| missing_package(JDK_PACKAGE))?;
        let copy = maven(&home).with(&["--quiet", "dependency:copy", &artifact, &folder]);
        install_with(&format!("{name} {version}"), &copy, true)?;
    }
    Ok(())
}

fn java_judges_folder() -> PathBuf {
    target().join("tools/java-judges")
}

/// What the judges in Java are loaded from.
pub(crate) fn java_judges_jars() -> [PathBuf; 3] {
    JAVA_JUDGES.map(|[_, name, version]| java_judges_folder().join(format!("{name}-{version}.jar")))
}

/// A cargo of the nightly toolchain.
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

/// Installs Miri, and the standard library as it wants it.
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

/// The first version of Java that the project is for.
const JAVA: u32 = 25;

/// Debian's package of it.
const JDK_PACKAGE: &str = "openjdk-25-jdk-headless";

/// The home of a JDK that is new enough, which need not be the machine's usual one; with Maven there, too.
pub(crate) fn jdk() -> Outcome<PathBuf> {
    let what = || missing(&format!("a JDK {JAVA}"), &format!("apt-get install {JDK_PACKAGE}, or set JAVA_HOME"), true);
    ensure(&[Tool::Jdk]).map_err(|_| what())?;
    find_jdk().ok_or_else(what)
}

fn find_jdk() -> Option<PathBuf> {
    jdks().into_iter().find(|home| java_version(home).is_some_and(|version| version >= JAVA))
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

/// Keeps the processes that run beside this one from installing as long as it is there. Where there can be no lock they may get into
/// each other's way, which the installation says.
fn alone() -> Option<File> {
    let folder = target();
    std::fs::create_dir_all(&folder).ok()?;
    let file = File::create(folder.join("installing.lock")).ok()?;
    file.lock().ok()?;
    Some(file)
}

/// Runs what installs something. A run that counts fails without it where it `is_required`.
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
