//! The parts of a test run, and the groups of the thorough run.

use super::{cmake, examples, interop, java, python, readme, tutorial, wizard};
use crate::outcome::Outcome;
use crate::tools::Tool;
use crate::workspace::{self, Ignored};
use crate::{bench_peers, book, conformance, corpora, fuzz, icount, loom, miri, sim, soak, tidy};

/// The duration of the soak test in a test run, in seconds.
const SOAK_SECONDS: u32 = 3;

/// A kind of check.
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) lane: Lane,
    /// The profile of cargo-nextest, if the part only runs tests in Rust.
    pub(super) profile: Option<&'static str>,
    /// Whether the part needs the build of the workspace.
    pub(super) needs_workspace: bool,
    /// Whether the part uses fixed ports, and therefore needs a network namespace of its own.
    pub(super) needs_network: bool,
    /// Whether the part is a group of the thorough run.
    pub(super) is_thorough: bool,
    pub(super) tools: &'static [Tool],
    pub(super) run: fn() -> Outcome,
}

/// The lane of a part, which depends on how the part spends most of its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// The part computes all the time.
    Computes,
    /// The part also waits for clocks and other programs.
    Waits,
    /// The part waits for clocks and other programs most of the time.
    Idles,
    /// The part measures times, and begins when all other parts have ended.
    Alone,
}

/// The default values of a part, which begins once the workspace is built.
const PART: Part = Part {
    name: "",
    about: "",
    lane: Lane::Computes,
    profile: None,
    needs_workspace: true,
    needs_network: false,
    is_thorough: false,
    tools: &[],
    run: || Ok(()),
};

/// The name of the part for which other parts wait.
pub(super) const BUILD: &str = "build";

/// The parts, in the order in which each lane runs them. Parts that do not need the build of the
/// workspace also run during the build. Of the other parts, the longest begin first, so that the
/// lanes end at about the same time.
pub(super) const PARTS: &[Part] = &[
    Part {
        name: BUILD,
        about: "builds libraries, programs and tests of the workspace, once for all parts",
        needs_workspace: false,
        tools: &[Tool::Libfabric],
        run: workspace::build,
        ..PART
    },
    Part {
        name: "tidy",
        about: "checks the rules about the source, formatting and lints",
        tools: &[Tool::Libfabric],
        run: tidy::quick,
        ..PART
    },
    Part {
        name: "unit",
        about: "runs the workspace's tests that have no part of their own, and the examples in documentation",
        profile: Some("default"),
        tools: &[Tool::Nextest, Tool::Cxx, Tool::Jdk, Tool::Libfabric, Tool::Ip],
        run: || workspace::test("default").and_then(|()| workspace::test_documentation()),
        ..PART
    },
    Part {
        name: "readme",
        about: "builds the programs of the README and the tutorial, and compares their output with the pages",
        needs_workspace: false,
        run: || readme::run().and_then(|()| tutorial::run()),
        ..PART
    },
    Part {
        name: "cmake",
        about: "builds programs in C++ and C with an installed obvia, and runs them against those in Rust",
        tools: &[Tool::Cmake],
        run: cmake::run,
        ..PART
    },
    Part {
        name: "python",
        about: "builds the Python package, and runs its tests with servers in Rust",
        run: python::run,
        ..PART
    },
    Part { name: "examples", about: "runs each example's client against its server", run: examples::run, ..PART },
    Part {
        name: "wizard",
        about: "builds and tests the projects in Rust that `obvia wizard` writes for the project's IDL files",
        run: wizard::run,
        ..PART
    },
    Part {
        name: "miri",
        about: "runs, under Miri, the unit tests of obvia-via's modules whose memory a peer may write",
        lane: Lane::Waits,
        needs_workspace: false,
        tools: &[Tool::Miri],
        run: miri::quick,
        ..PART
    },
    Part {
        name: "loom",
        about: "tries interleavings of accesses to shared words, with loom",
        lane: Lane::Waits,
        needs_workspace: false,
        run: loom::quick,
        ..PART
    },
    Part {
        name: "java",
        about: "builds the Java modules without a warning, and runs their tests",
        lane: Lane::Waits,
        tools: &[Tool::Jdk],
        run: java::run,
        ..PART
    },
    Part {
        name: "interop",
        about: "runs Samba, impacket, scapy, j-interop and tshark against the standard's protocols",
        lane: Lane::Idles,
        needs_network: true,
        tools: &[Tool::InteropTools, Tool::JInterop, Tool::Widl, Tool::Jdk, Tool::Ip],
        run: interop::run,
        ..PART
    },
    Part {
        name: "icount",
        about: "counts the instructions of calls in test builds, and compares them with their budgets",
        lane: Lane::Waits,
        tools: &[Tool::Valgrind, Tool::Cxx],
        run: icount::quick,
        ..PART
    },
    Part {
        name: "hostile",
        about: "attacks servers and clients: a hostile peer must lose its own connection and nothing else",
        lane: Lane::Waits,
        profile: Some("hostile"),
        tools: &[Tool::Nextest, Tool::Cxx, Tool::Jdk, Tool::Libfabric],
        run: || workspace::test("hostile"),
        ..PART
    },
    Part {
        name: "conformance",
        about: "tests the fifty statements about virtual interfaces with every provider",
        lane: Lane::Waits,
        profile: Some("conformance"),
        tools: &[Tool::Nextest, Tool::Libfabric, Tool::Ip],
        run: conformance::quick,
        ..PART
    },
    Part {
        name: "net",
        about: "calls between hosts by each protocol sequence, over good, bad and cut wires",
        lane: Lane::Idles,
        profile: Some("net"),
        tools: &[Tool::Nextest, Tool::Libfabric, Tool::Ip, Tool::Nft],
        run: || workspace::test_all("net", &[]).and_then(|()| workspace::needs_libfabric()),
        ..PART
    },
    Part {
        name: "kill",
        about: "kills processes in mid-call: they must leave nothing behind",
        lane: Lane::Idles,
        profile: Some("kill"),
        tools: &[Tool::Nextest, Tool::Libfabric],
        run: || workspace::test_all("kill", &[]),
        ..PART
    },
    Part {
        name: "soak-short",
        about: "runs many processes, threads and objects for some seconds",
        lane: Lane::Waits,
        profile: Some("soak"),
        tools: &[Tool::Nextest, Tool::Libfabric],
        run: || soak::run(SOAK_SECONDS),
        ..PART
    },
    Part {
        name: "sim",
        about: "runs virtual interfaces over a thousand simulated bad networks",
        lane: Lane::Waits,
        run: sim::quick,
        ..PART
    },
];

const GROUP: Part = Part { is_thorough: true, ..PART };

/// The slower groups of checks. Each takes an hour at most.
pub(super) const GROUPS: &[Part] = &[
    Part {
        name: "fuzz",
        about: "fuzzes each parser of untrusted bytes for a minute, optimised",
        needs_workspace: false,
        tools: &[Tool::Nightly],
        run: fuzz::thorough,
        ..GROUP
    },
    Part {
        name: "miri",
        about: "runs the unit tests of all modules with unsafe code under Miri, and tests of matrix within one process",
        needs_workspace: false,
        tools: &[Tool::Miri],
        run: miri::thorough,
        ..GROUP
    },
    Part {
        name: "loom",
        about: "tries more interleavings of accesses to shared words, with loom",
        needs_workspace: false,
        run: loom::thorough,
        ..GROUP
    },
    Part {
        name: "sim",
        about: "runs virtual interfaces over a hundred thousand simulated bad networks",
        needs_workspace: false,
        run: sim::thorough,
        ..GROUP
    },
    Part {
        name: "soak",
        about: "runs many processes, threads and objects for half an hour",
        profile: Some("soak-thorough"),
        tools: &[Tool::Nextest, Tool::Libfabric],
        run: soak::thorough,
        ..GROUP
    },
    Part {
        name: "conformance",
        about: "sends gigabytes through each provider, makes a thousand connections, and detects providers with flaws",
        tools: &[Tool::Nextest, Tool::Libfabric, Tool::Ip],
        run: conformance::thorough,
        ..GROUP
    },
    Part {
        name: "goodput",
        about: "sends bulk data over a simulated line beside the kernel's TCP, alone and in competition",
        lane: Lane::Alone,
        profile: Some("goodput"),
        needs_workspace: false,
        tools: &[Tool::Nextest, Tool::Ip],
        run: workspace::test_goodput,
        ..GROUP
    },
    Part {
        name: "java",
        about: "tests and fuzzes Java and the web server as users start them, and compares two builds of the artifacts",
        tools: &[Tool::Jdk],
        run: java::thorough,
        ..GROUP
    },
    Part {
        name: "hostile",
        about: "attacks Java as users start it, and clients and servers in C++",
        profile: Some("hostile-thorough"),
        tools: &[Tool::Nextest, Tool::Cxx, Tool::Jdk, Tool::Libfabric],
        run: || workspace::nextest("hostile-thorough", Ignored::Skip)?.variable("OBVIA_JAVA_AS_IS", "1").run(),
        ..GROUP
    },
    Part {
        name: "matrix",
        about: "builds every variant of CMake projects, and every project of the wizard in C++",
        tools: &[Tool::Cmake],
        run: cmake::thorough,
        ..GROUP
    },
    Part {
        name: "constructs",
        about: "compiles every construct of the IDL in every place, in every language, and large files",
        profile: Some("constructs"),
        tools: &[Tool::Nextest, Tool::Cxx, Tool::Jdk, Tool::Cmake],
        run: || workspace::test_widely("constructs"),
        ..GROUP
    },
    Part {
        name: "idl",
        about: "compiles the IDL files of Wine, mingw-w64 and Samba to C and Rust, and the output by gcc and rustc",
        profile: Some("idl"),
        tools: &[Tool::Nextest, Tool::Cxx, Tool::Widl],
        run: corpora::run,
        ..GROUP
    },
    Part {
        name: "floods",
        about: "floods servers with 100,000 datagrams, and connects 2,000 silent and slow strangers",
        profile: Some("floods"),
        tools: &[Tool::Nextest, Tool::Libfabric],
        run: || workspace::test("floods"),
        ..GROUP
    },
    Part {
        name: "dcom",
        about: "has a foreign DCOM client hold objects for eight minutes, by its pings alone and by its calls alone",
        needs_network: true,
        tools: &[Tool::JInterop, Tool::Jdk, Tool::Ip],
        run: interop::run_long,
        ..GROUP
    },
    Part {
        name: "peers",
        about: "lints, tests and tries the program that measures other systems beside obvia, and checks licences",
        lane: Lane::Alone,
        needs_workspace: false,
        tools: &[Tool::Capnp, Tool::Deny],
        run: bench_peers::thorough,
        ..GROUP
    },
    Part {
        name: "plain",
        about: "runs the part unit, built without any feature, as users build by default",
        needs_workspace: false,
        tools: &[Tool::Nextest, Tool::Cxx, Tool::Jdk],
        run: workspace::test_plain,
        ..GROUP
    },
    Part {
        name: "icount",
        about: "counts the instructions of calls in optimized builds, also those with long arrays",
        tools: &[Tool::Valgrind, Tool::Addr2line, Tool::Cxx],
        run: || icount::main(&[]),
        ..GROUP
    },
    Part {
        name: "docs",
        about: "builds the book and checks its links, and checks the crates that programs use for warnings of rustdoc",
        needs_workspace: false,
        tools: &[Tool::Mdbook],
        run: || book::build().and_then(|()| workspace::document()),
        ..GROUP
    },
    Part {
        name: "wine",
        about: "runs programs with stubs of widl under Wine (installs a gigabyte)",
        tools: &[Tool::InteropTools, Tool::Wine],
        run: || super::run_wine(&[]),
        ..GROUP
    },
];

#[cfg(test)]
mod tests {
    use super::{GROUPS, PARTS};

    #[test]
    fn each_test_part_and_group_is_documented() {
        let page = include_str!("../../../docs/dev-guide/ci.md");
        for part in PARTS.iter().chain(GROUPS) {
            assert!(
                page.contains(&format!("\n| `{}` | ", part.name)),
                "docs/dev-guide/ci.md has no row for {}",
                part.name
            );
        }
    }
}
