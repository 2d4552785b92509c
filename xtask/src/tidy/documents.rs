//! Module documentation, sources that are not built, and the links and tests that documents name.

use super::Finding;
use crate::markdown::{destination, links};
use crate::repo::{File, Repo};
use crate::rust::tokens;
use std::collections::HashSet;

/// The documents that the root must have.
const DOCUMENTS: &[&str] = &[
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "SECURITY.md",
    "STYLE.md",
];

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.rust() {
        check_first_line(file, &mut findings);
        check_is_built(repo, file, &mut findings);
    }
    let tests = functions(repo);
    for file in repo.files.iter().filter(|file| file.path.ends_with(".md")) {
        check_links(repo, file, &mut findings);
        check_tests(&tests, file, &mut findings);
    }
    if let Some(manifest) = repo.file("Cargo.toml") {
        for name in DOCUMENTS.iter().filter(|name| !repo.has(name)) {
            findings.push(Finding::new(manifest, 1, format!("{name} is missing")));
        }
    }
    findings
}

/// Checks that a module begins with a line of documentation. Build scripts are exempt.
fn check_first_line(file: &File, findings: &mut Vec<Finding>) {
    if file.name() != "build.rs" && !file.text.starts_with("//! ") {
        let message = "the first line is to say what the module is: `//! ...`";
        findings.push(Finding::new(file, 1, message));
    }
}

/// Checks that a source file is declared as a module, and therefore compiled.
fn check_is_built(repo: &Repo, file: &File, findings: &mut Vec<Finding>) {
    let Some((folder, inside)) = file.path.rsplit_once("/src/") else {
        return;
    };
    let is_root =
        matches!(inside, "lib.rs" | "main.rs") || inside.strip_prefix("bin/").is_some_and(|rest| !rest.contains('/'));
    if is_root {
        return;
    }
    let module = inside.trim_end_matches(".rs").trim_end_matches("/mod");
    let (parents, name) = match module.rsplit_once('/') {
        Some((parent, name)) => (vec![format!("{parent}.rs"), format!("{parent}/mod.rs")], name),
        None => (vec!["lib.rs".to_owned(), "main.rs".to_owned()], module),
    };
    let is_declared = parents.iter().any(|parent| {
        let parent = repo.file(&format!("{folder}/src/{parent}"));
        parent.is_some_and(|parent| declares(parent, name))
    });
    if !is_declared {
        let message = format!("no `mod {name};` declares this file: nobody builds it");
        findings.push(Finding::new(file, 1, message));
    }
}

fn declares(parent: &File, name: &str) -> bool {
    tokens(&parent.text).windows(3).any(|window| {
        let [keyword, module, end] = window else {
            return false;
        };
        keyword.is("mod") && module.text.trim_start_matches("r#") == name && end.is(";")
    })
}

/// Checks that links to files of the repository are valid.
fn check_links(repo: &Repo, file: &File, findings: &mut Vec<Finding>) {
    for link in links(&file.text) {
        let target = &file.text[link.target];
        if destination(&file.path, target).is_some_and(|(path, _)| !repo.has(&path)) {
            findings.push(Finding::new(file, link.line, format!("the link to {target} leads nowhere")));
        }
    }
}

/// Returns the names of all functions.
fn functions(repo: &Repo) -> HashSet<String> {
    let names = |file: &File| {
        let tokens = tokens(&file.text);
        let named = tokens.windows(2).filter(|window| window[0].is("fn")).map(|window| window[1].text.to_string());
        named.collect::<Vec<_>>()
    };
    repo.rust().flat_map(names).collect()
}

/// Checks tables with a column "shown by" in a document: the tests that they name must exist.
fn check_tests(tests: &HashSet<String>, file: &File, findings: &mut Vec<Finding>) {
    let mut in_table = false;
    for (number, line) in (1..).zip(file.text.lines()) {
        if !line.starts_with('|') {
            in_table = false;
        } else if line.ends_with("| shown by |") {
            in_table = true;
        } else if in_table {
            let last = line.strip_suffix(" |").unwrap_or(line).rsplit('|').next().unwrap_or_default();
            for name in last.split('`').skip(1).step_by(2).filter(|name| !tests.contains(*name)) {
                findings.push(Finding::new(file, number, format!("there is no test {name}")));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::said;
    use super::check;

    #[test]
    fn modules_need_a_documenting_first_line() {
        let files = [("x/build.rs", "fn main() {}\n"), ("x/src/lib.rs", "// X.\nmod a;\n"), ("x/src/a.rs", "//! A.\n")];
        assert_eq!(
            said(check, &files),
            ["x/src/lib.rs:1: error: the first line is to say what the module is: `//! ...`"]
        );
    }

    #[test]
    fn unbuilt_source_files_are_found() {
        let files = [
            ("x/src/lib.rs", "//! X.\npub mod a;\n// mod b;\n"),
            ("x/src/a.rs", "//! A.\nmod c;\nmod d;\n"),
            ("x/src/b.rs", "//! B.\n"),
            ("x/src/a/c.rs", "//! C.\n"),
            ("x/src/a/d/mod.rs", "//! D.\n"),
            ("x/src/bin/e.rs", "//! E.\n"),
        ];
        assert_eq!(said(check, &files), ["x/src/b.rs:1: error: no `mod b;` declares this file: nobody builds it"]);
    }

    #[test]
    fn missing_tests_in_tables_are_found() {
        let text = "| a | shown by |\n|---|---|\n| `x` | `b`, `c` |\n| `f` | |\n\n| d | `e` |\n";
        let files = [("docs/a.md", text), ("x/src/lib.rs", "//! X.\n#[test]\nfn b() {}\n")];
        assert_eq!(said(check, &files), ["docs/a.md:3: error: there is no test c"]);
    }

    #[test]
    fn broken_document_links_are_found() {
        let text = "[a](b.md#c) [d](../e/) [f](https://example.org/g.md) [h](#i)\n```\n[j](k.md)\n```\n[l](m.md)\n";
        let files = [("docs/a.md", text), ("docs/b.md", ""), ("e/x.c", "")];
        assert_eq!(said(check, &files), ["docs/a.md:5: error: the link to m.md leads nowhere"]);
    }

    #[test]
    fn missing_documents_are_found() {
        let found = said(check, &[("Cargo.toml", ""), ("README.md", "x")]);
        assert_eq!(found.len(), super::DOCUMENTS.len() - 1);
    }
}
