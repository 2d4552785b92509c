//! The order of floors within a crate: no file names a file of a higher floor, and an `impl`
//! without a trait is on the floor of its type.

use super::Finding;
use crate::repo::{File, Repo};
use crate::rust::modules::{Arrow, Modules};

/// A crate's folder, and its floors from low to high. A floor has one or more modules. The modules
/// of a floor do not name each other. A module with a slash, such as `vi/state`, does not belong to
/// the floor of the module around it. The root of a crate is above all floors.
type Order = (&'static str, &'static [&'static [&'static str]]);

pub(super) const ORDERS: &[Order] = &[
    (
        "crates/via",
        &[
            &[
                "attributes",
                "budget",
                "counters",
                "deadline",
                "error",
                "host",
                "layout",
                "message",
                "region",
                "reliable/move_key",
                "sync",
                "wait",
            ],
            &["bell", "doorbell", "memory", "names", "notice", "random"],
            &["descriptor", "socket"],
            &["reliable/link"],
            &["reliable/guard"],
            &["spi"],
            &["vi/state"],
            &["wrap"],
            &["reliable"],
            &["completion"],
            &["nic/attendant"],
            &["nic/core"],
            &["vi"],
            &["connection"],
            &["nic"],
            &["window/mapping"],
            &["provider/shm/mapping"],
            &["window"],
            &["provider"],
            &["datagram"],
            &["stream"],
        ],
    ),
    ("crates/ndr", &[&["vartype", "reserved", "flat"], &["ndr"], &["serialization"]]),
    (
        "crates/rpc",
        &[
            &["uuid", "status", "security"],
            &["string_binding", "octets", "object_table", "counts"],
            &["vi_call"],
            &["epm", "mgmt"],
            &["co"],
            &["dg"],
        ],
    ),
    (
        "crates/com",
        &[
            &["types"],
            &["orpc"],
            &["access"],
            &["protocol"],
            &["transport"],
            &["client", "server"],
            &["runtime"],
            &["marshal"],
            &["services"],
            &["api"],
            &["rt"],
            &["abi"],
        ],
    ),
    (
        "crates/idl",
        &[
            &["text"],
            &["syntax"],
            &["model"],
            &["plan"],
            &["resolve"],
            &["compile"],
            &["description", "emit", "frames", "tools"],
        ],
    ),
    (
        "crates/cli",
        &[
            &["exit", "json", "print"],
            &["limit", "table", "credentials", "tlb", "trace"],
            &["describe"],
            &["values"],
            &["call"],
            &["bench", "classes", "completions", "epmapper", "idl", "ls", "manual", "register", "scm", "top", "wizard"],
            &["doctor"],
        ],
    ),
    (
        "xtask",
        &[
            &["outcome"],
            &["leftovers", "markdown", "repo", "temporary"],
            &["program", "rust"],
            &["server"],
            &["maven"],
            &["tools"],
            &["test/order"],
            &["workspace"],
            &["native", "offline"],
            &["icount"],
            &["tidy"],
            &[
                "bench_java",
                "bench_peers",
                "book",
                "conformance",
                "corpora",
                "demo",
                "fuzz",
                "fuzz_java",
                "loom",
                "miri",
                "reproduce_java",
                "sim",
                "soak",
            ],
            &["test"],
            &["bench_cpp", "bench_jrpc", "bench_web"],
        ],
    ),
];

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    ORDERS.iter().flat_map(|order| check_crate(repo, *order)).collect()
}

fn check_crate(repo: &Repo, (name, floors): Order) -> Vec<Finding> {
    let folder = format!("{name}/src/");
    let files: Vec<&File> = repo.rust().filter(|file| file.path.starts_with(&folder)).collect();
    let modules = Modules::read(&files, &folder);
    let places: Vec<Place> = files.iter().map(|file| Place::of(file, &folder, floors)).collect();
    let mut findings = Vec::new();
    for &module in floors.iter().copied().flatten() {
        let is_there =
            places.iter().any(|place| matches!(place, Place::Floor { module: known, .. } if *known == module));
        if let (false, Some(first)) = (is_there, files.first()) {
            let message = format!("{name} has no module {module}, which xtask/src/tidy/order.rs names");
            findings.push(Finding::new(first, 1, message));
        }
    }
    for (file, place) in files.iter().zip(&places) {
        if *place == Place::Nowhere && !file.is_test() {
            let message = "the module is on no floor of its crate; say in xtask/src/tidy/order.rs on which";
            findings.push(Finding::new(file, 1, message));
        }
    }
    for Arrow { from, to, line } in modules.arrows() {
        if let (Place::Floor { module, .. }, Place::Root) = (places[from], places[to]) {
            let path = &files[to].path;
            findings.push(Finding::new(files[from], line, format!("{module} is below {path}, and names its items")));
        }
        let (Place::Floor { number, module }, Place::Floor { number: above, module: other }) =
            (places[from], places[to])
        else {
            continue;
        };
        let path = &files[to].path;
        if number < above {
            findings.push(Finding::new(files[from], line, format!("{module} is below {other}, and names {path}")));
        } else if number == above && module != other {
            findings.push(Finding::new(files[from], line, format!("{module} is beside {other}, and names {path}")));
        }
    }
    for Arrow { from, to, line } in modules.impls() {
        if let (Place::Floor { module, .. }, Place::Floor { module: other, .. }) = (places[from], places[to])
            && module != other
        {
            let path = &files[to].path;
            let message = format!("an `impl` in {module} is of a type in {other}, whose methods belong to {path}");
            findings.push(Finding::new(files[from], line, message));
        }
    }
    findings
}

/// The place of a file within its crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The root of the crate.
    Root,
    Floor {
        number: usize,
        module: &'static str,
    },
    /// A module that is on no floor.
    Nowhere,
}

impl Place {
    fn of(file: &File, folder: &str, floors: &'static [&'static [&'static str]]) -> Self {
        let path = file.path.trim_start_matches(folder).trim_end_matches(".rs");
        if matches!(path, "lib" | "main") || path.starts_with("bin/") {
            return Self::Root;
        }
        let all =
            floors.iter().enumerate().flat_map(|(number, floor)| floor.iter().map(move |module| (number, *module)));
        let is_in =
            |module: &str| path.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let found = all.filter(|(_, module)| is_in(module)).max_by_key(|(_, module)| module.len());
        found.map_or(Self::Nowhere, |(number, module)| Self::Floor { number, module })
    }
}

#[cfg(test)]
mod tests {
    use super::{Order, check_crate};
    use crate::repo::Repo;

    const ORDER: Order = ("crates/x", &[&["low"], &["left", "right"], &["high/early"], &["high"]]);

    const SHORT: Order = ("crates/x", &[&["low"], &["high"]]);

    fn said(order: Order, files: &[(&str, &str)]) -> Vec<String> {
        check_crate(&Repo::of(files), order).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn imports_of_higher_floors_in_a_crate_are_found() {
        let files = [
            (
                "crates/x/src/lib.rs",
                "extern crate self as x; mod low; mod left; mod right; mod high; pub use high::High; pub fn own() {}\n#[macro_export] macro_rules! a_macro { () => {} }",
            ),
            ("crates/x/src/low.rs", "mod deep; pub struct Low;\nfn f() { crate::high::early::go(); }"),
            ("crates/x/src/low/deep.rs", "use super::Low;\nuse x::High;"),
            (
                "crates/x/src/left.rs",
                "use crate::{a_macro, low::Low};\nfn f() { crate::own(); crate::a_macro!(); }\nfn g() { x::a_macro!(); }",
            ),
            ("crates/x/src/right.rs", "pub struct Right; use crate::left::Left;"),
            ("crates/x/src/left/inner.rs", "pub struct Left;"),
            ("crates/x/src/high.rs", "mod early; use early::go; use crate::right::Right; pub struct High;"),
            ("crates/x/src/high/early.rs", "use crate::low::Low; pub fn go() {}"),
        ];
        assert_eq!(
            said(ORDER, &files),
            [
                "crates/x/src/low.rs:2: error: low is below high/early, and names crates/x/src/high/early.rs",
                "crates/x/src/low/deep.rs:2: error: low is below high, and names crates/x/src/high.rs",
                "crates/x/src/left.rs:2: error: left is below crates/x/src/lib.rs, and names its items",
                "crates/x/src/right.rs:1: error: right is beside left, and names crates/x/src/left.rs",
            ]
        );
    }

    #[test]
    fn methods_above_the_floor_of_their_type_are_found() {
        let files = [
            ("crates/x/src/lib.rs", "mod low; mod high;"),
            ("crates/x/src/low.rs", "mod deep; pub struct Low;"),
            ("crates/x/src/low/deep.rs", "use super::Low; impl Low {}"),
            (
                "crates/x/src/high.rs",
                "use crate::low::Low; impl Drop for Low {}\nimpl<F: Fn() -> u8> Low where for<'a> F: Sync {}",
            ),
        ];
        assert_eq!(
            said(SHORT, &files),
            ["crates/x/src/high.rs:2: error: an `impl` in high is of a type in low, whose methods belong to \
              crates/x/src/low.rs"]
        );
    }

    #[test]
    fn modules_without_a_floor_are_found() {
        let files =
            [("crates/x/src/main.rs", "mod new;"), ("crates/x/src/new.rs", ""), ("crates/x/src/low/tests.rs", "")];
        let found = said(SHORT, &files);
        assert_eq!(found.len(), 2);
        assert!(found[0].contains("crates/x has no module high"), "{found:?}");
        assert!(found[1].starts_with("crates/x/src/new.rs:1: error: the module is on no floor of its crate"));
    }
}
