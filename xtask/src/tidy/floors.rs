//! Dependencies between layers. They are read from each crate's manifest and from the paths in its
//! source.

use super::Finding;
use crate::repo::{File, Repo};
use crate::rust::{Kind, is_in, tests, tokens};

/// A crate and its permitted dependencies.
struct Floor {
    folder: &'static str,
    package: &'static str,
    /// The packages of this workspace on which the crate may depend. Every build script may depend
    /// on `obvia-idl`.
    dependencies: &'static [&'static str],
    /// The packages on which not even the crate's tests may depend.
    forbidden: &'static [&'static str],
}

const FLOORS: &[Floor] = &[
    Floor {
        folder: "crates/via",
        package: "obvia-via",
        dependencies: &[],
        forbidden: &["obvia-ndr", "obvia-rpc", "obvia", "obvia-idl", "obvia-bench"],
    },
    Floor {
        folder: "crates/ndr",
        package: "obvia-ndr",
        dependencies: &[],
        forbidden: &["obvia-via", "obvia-rpc", "obvia", "obvia-bench"],
    },
    Floor {
        folder: "crates/rpc",
        package: "obvia-rpc",
        dependencies: &["obvia-ndr", "obvia-via"],
        forbidden: &["obvia", "obvia-bench"],
    },
    Floor {
        folder: "crates/macros",
        package: "obvia-macros",
        dependencies: &[],
        forbidden: &["obvia-via", "obvia-ndr", "obvia-rpc", "obvia", "obvia-idl", "obvia-bench"],
    },
    Floor {
        folder: "crates/com",
        package: "obvia",
        dependencies: &["obvia-macros", "obvia-ndr", "obvia-rpc", "obvia-via"],
        forbidden: &["obvia-cli"],
    },
    Floor { folder: "crates/capi", package: "obvia-capi", dependencies: &["obvia"], forbidden: &["obvia-cli"] },
    Floor {
        folder: "crates/java",
        package: "obvia-java",
        dependencies: &["obvia", "obvia-idl"],
        forbidden: &["obvia-cli"],
    },
    Floor {
        folder: "crates/idl",
        package: "obvia-idl",
        dependencies: &["obvia-ndr"],
        forbidden: &["obvia-via", "obvia-rpc"],
    },
    Floor {
        folder: "crates/cli",
        package: "obvia-cli",
        dependencies: &["obvia", "obvia-bench", "obvia-idl"],
        forbidden: &[],
    },
    Floor { folder: "bench", package: "obvia-bench", dependencies: &["obvia", "obvia-via"], forbidden: &["obvia-cli"] },
    Floor { folder: "bench/counted", package: "obvia-icount", dependencies: &["obvia"], forbidden: &["obvia-bench"] },
    Floor { folder: "testing/matrix", package: "matrix", dependencies: &["obvia"], forbidden: &[] },
    Floor {
        folder: "testing/fuzz-targets",
        package: "obvia-fuzz-targets",
        dependencies: &["obvia", "obvia-idl", "obvia-ndr", "obvia-rpc", "obvia-via"],
        forbidden: &[],
    },
    Floor { folder: "testing/ground", package: "ground", dependencies: &[], forbidden: &[] },
    Floor {
        folder: "testing/native-programs",
        package: "native-programs",
        dependencies: &["obvia-idl", "ground"],
        forbidden: &[],
    },
    Floor {
        folder: "testing/interop",
        package: "interop",
        dependencies: &["obvia", "native-programs", "ground"],
        forbidden: &[],
    },
    Floor {
        folder: "testing/constructs",
        package: "constructs",
        dependencies: &["obvia-idl", "native-programs"],
        forbidden: &[],
    },
    Floor { folder: "testing/soundness", package: "soundness", dependencies: &["obvia", "ground"], forbidden: &[] },
    Floor { folder: "testing/torture", package: "torture", dependencies: &["obvia", "ground"], forbidden: &[] },
    Floor {
        folder: "testing/hostile",
        package: "obvia-hostile",
        dependencies: &["obvia"],
        forbidden: &["obvia-via", "obvia-rpc"],
    },
    Floor { folder: "testing/conformance", package: "obvia-conformance", dependencies: &["obvia-via"], forbidden: &[] },
    Floor { folder: "xtask", package: "xtask", dependencies: &[], forbidden: &[] },
];

/// The folder of the examples. They are like users' programs: of this project, they may depend only
/// on `obvia`.
const EXAMPLES: &str = "examples/";
const EXAMPLES_DEPENDENCIES: &[&str] = &["obvia"];

/// Modules of the standard library that a crate's source must not name. The text is the invariant
/// that the ban preserves.
const NO_PATHS: &[(&str, &[&str], &str)] = &[
    (
        "crates/ndr/src/",
        &["fs", "io", "net", "os", "process", "sync", "thread", "time"],
        "ndr never touches a wire and never blocks",
    ),
    ("crates/rpc/src/", &["fs", "net", "os", "process", "thread"], "rpc does no input or output of its own"),
    ("crates/idl/src/", &["net", "os", "thread"], "the compiler reads and writes files, nothing else"),
];

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for manifest in repo.files.iter().filter(|file| file.name() == "Cargo.toml") {
        let folder = manifest.path.trim_end_matches("Cargo.toml").trim_end_matches('/');
        if folder.is_empty() || ["bench/peers", "bindings/python", "testing/fuzz"].contains(&folder) {
            continue;
        }
        let floor = FLOORS.iter().find(|floor| floor.folder == folder);
        let dependencies = match floor {
            Some(floor) => floor.dependencies,
            None if folder.starts_with(EXAMPLES) => EXAMPLES_DEPENDENCIES,
            None => {
                let message = "this crate is on no floor; add it to FLOORS in xtask/src/tidy/floors.rs";
                findings.push(Finding::new(manifest, 1, message));
                continue;
            }
        };
        let forbidden = floor.map_or(&[][..], |floor| floor.forbidden);
        let bounds = Bounds { folder, dependencies, forbidden };
        bounds.check_manifest(manifest, &mut findings);
        let inside = format!("{folder}/");
        for file in repo.rust().filter(|file| file.path.starts_with(&inside)) {
            bounds.check_source(file, &mut findings);
        }
    }
    for file in repo.rust() {
        check_paths(file, &mut findings);
    }
    findings
}

/// The permitted dependencies of one crate.
struct Bounds<'a> {
    folder: &'a str,
    dependencies: &'a [&'a str],
    forbidden: &'a [&'a str],
}

impl Bounds<'_> {
    fn check_manifest(&self, manifest: &File, findings: &mut Vec<Finding>) {
        for (line, section, name) in dependencies(&manifest.text) {
            if !is_ours(name) {
                continue;
            }
            let allowed = match section {
                "build-dependencies" => name == "obvia-idl" || self.dependencies.contains(&name),
                "dev-dependencies" => !self.forbidden.contains(&name),
                _ => self.dependencies.contains(&name),
            };
            if !allowed {
                findings.push(Finding::new(manifest, line, self.complaint(name)));
            }
        }
    }

    fn check_source(&self, file: &File, findings: &mut Vec<Finding>) {
        let tokens = tokens(&file.text);
        let test_lines = tests(&tokens);
        let code: Vec<_> = tokens.iter().filter(|token| !token.is_comment()).collect();
        for (at, token) in code.iter().enumerate() {
            let name = token.text.replace('_', "-");
            let is_path =
                code.get(at + 1).is_some_and(|next| next.is(":")) && code.get(at + 2).is_some_and(|next| next.is(":"));
            let is_inner = at > 0 && code[at - 1].is(":");
            if token.kind != Kind::Ident || !is_path || is_inner || !is_ours(&name) {
                continue;
            }
            let is_test = file.is_test() || is_in(&test_lines, token.line);
            let allowed = if is_test {
                !self.forbidden.contains(&name.as_str())
            } else {
                self.dependencies.contains(&name.as_str())
                    || self.is_itself(&name)
                    || (file.name() == "build.rs" && name == "obvia-idl")
            };
            if !allowed {
                findings.push(Finding::new(file, token.line, self.complaint(&name)));
            }
        }
    }

    /// Whether a name is the name of the package's own library, which the package's programs may
    /// use.
    fn is_itself(&self, name: &str) -> bool {
        let floor = FLOORS.iter().find(|floor| floor.folder == self.folder);
        floor.is_some_and(|floor| floor.package == name)
    }

    fn complaint(&self, name: &str) -> String {
        let dependencies = match self.dependencies {
            [] => "crates outside this workspace".to_owned(),
            names => names.join(", "),
        };
        let folder = self.folder;
        format!("{folder} must not depend on {name}, only on {dependencies}")
    }
}

fn is_ours(name: &str) -> bool {
    name == "obvia-cli" || FLOORS.iter().any(|floor| floor.package == name)
}

/// Returns the dependencies in a manifest: line, section and name.
fn dependencies(manifest: &str) -> Vec<(usize, &str, &str)> {
    let mut found = Vec::new();
    let mut section = "";
    for (number, line) in (1..).zip(manifest.lines()) {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            // `[target.'cfg(loom)'.dependencies]` and `[dependencies.loom]` are sections, too.
            let mut parts = header.rsplit('.');
            let last = parts.next().unwrap_or_default();
            let before = parts.next().unwrap_or_default();
            section = if is_section(last) { last } else { "" };
            if is_section(before) {
                found.push((number, before, last));
            }
        } else if !section.is_empty() && !line.starts_with('#') {
            let name = line.split(['=', '.', ' ']).next().unwrap_or_default();
            if !name.is_empty() {
                found.push((number, section, name));
            }
        }
    }
    found
}

fn is_section(name: &str) -> bool {
    matches!(name, "dependencies" | "build-dependencies" | "dev-dependencies")
}

/// Checks a file for modules of the standard library that its layer must not use.
fn check_paths(file: &File, findings: &mut Vec<Finding>) {
    let tokens = tokens(&file.text);
    let test_lines = tests(&tokens);
    for (folder, modules, invariant) in NO_PATHS {
        if !file.path.starts_with(folder) || file.is_test() {
            continue;
        }
        for path in tokens.windows(4) {
            let [root, colon, _, module] = path else {
                continue;
            };
            let is_std = root.is("std") && colon.is(":");
            if is_std && modules.contains(&module.text) && !is_in(&test_lines, module.line) {
                let message = format!("std::{} has no place here: {invariant}", module.text);
                findings.push(Finding::new(file, module.line, message));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::said;
    use super::{check, dependencies};

    #[test]
    fn cargo_manifests_are_parsed() {
        let manifest = "[package]\nname = \"x\"\n[dependencies]\na.workspace = true\n# no\n\nb = \"1\"\n\
                        [target.'cfg(loom)'.dependencies]\nc = { version = \"1\" }\n[dev-dependencies.d]\nversion = \"1\"\n\
                        [build-dependencies]\ne = \"1\"";
        let names: Vec<_> = dependencies(manifest)
            .into_iter()
            .map(|(line, section, name)| format!("{line} {section} {name}"))
            .collect();
        let expected = [
            "4 dependencies a",
            "7 dependencies b",
            "9 dependencies c",
            "10 dev-dependencies d",
            "13 build-dependencies e",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_floor_must_not_depend_on_the_one_above() {
        let files = [
            ("crates/ndr/Cargo.toml", "[dependencies]\nserde = \"1\"\nobvia-via.workspace = true\n"),
            ("crates/ndr/src/lib.rs", "//! x\nuse core::fmt;\npub use obvia_rpc::Call;\n"),
            ("crates/rpc/Cargo.toml", "[dependencies]\nobvia-via = { path = \"../via\" }\n"),
            ("crates/rpc/src/lib.rs", "//! obvia::connect\nuse obvia_via::Vi; // obvia::x\n"),
        ];
        assert_eq!(
            said(check, &files),
            [
                "crates/ndr/Cargo.toml:3: error: crates/ndr must not depend on obvia-via, only on crates outside this workspace",
                "crates/ndr/src/lib.rs:3: error: crates/ndr must not depend on obvia-rpc, only on crates outside this workspace",
            ]
        );
    }

    #[test]
    fn build_scripts_may_depend_on_the_compiler_and_tests_on_more() {
        let files = [
            (
                "examples/x/Cargo.toml",
                "[dependencies]\nobvia = \"0\"\nobvia-idl = \"0\"\n[build-dependencies]\nobvia-idl = \"0\"",
            ),
            ("examples/x/build.rs", "fn main() { obvia_idl::build(\"x.idl\") }"),
            ("crates/rpc/Cargo.toml", "[dev-dependencies]\nobvia-idl = \"0\"\nobvia = \"0\""),
        ];
        assert_eq!(
            said(check, &files),
            [
                "examples/x/Cargo.toml:3: error: examples/x must not depend on obvia-idl, only on obvia",
                "crates/rpc/Cargo.toml:3: error: crates/rpc must not depend on obvia, only on obvia-ndr, obvia-via",
            ]
        );
    }

    #[test]
    fn crates_without_a_floor_are_found() {
        let found = said(check, &[("crates/core/Cargo.toml", "[package]")]);
        assert!(found[0].starts_with("crates/core/Cargo.toml:1: error: this crate is on no floor"));
    }

    #[test]
    fn input_and_output_in_layout_files_is_found() {
        let text = "//! x\nuse std::fmt;\nuse std::time::Instant;\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n";
        assert_eq!(
            said(check, &[("crates/ndr/src/flat.rs", text)]),
            ["crates/ndr/src/flat.rs:3: error: std::time has no place here: ndr never touches a wire and never blocks"]
        );
    }
}
