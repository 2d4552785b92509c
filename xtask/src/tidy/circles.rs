//! Imports within a crate: files must not name each other in circles. A circle is permitted if it
//! consists of a file and of files in the folder with this file's name.

use super::Finding;
use crate::repo::{File, Repo};
use crate::rust::modules::{Arrow, Modules, circles};

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for manifest in repo.files.iter().filter(|file| file.name() == "Cargo.toml") {
        let crate_folder = manifest.path.trim_end_matches("Cargo.toml");
        let folder = format!("{crate_folder}src/");
        let files: Vec<&File> = repo.rust().filter(|file| file.path.starts_with(&folder)).collect();
        let modules = Modules::read(&files, &folder);
        let arrows = modules.arrows();
        let found = forbidden_cycles(&files, &arrows);
        found.iter().for_each(|cycle| findings.push(finding(cycle, &files, &arrows)));
    }
    findings
}

/// Returns the cycles that are not permitted. If one file of a cycle is the parent of all its other
/// files, only the cycles that remain without that parent are returned.
fn forbidden_cycles(files: &[&File], arrows: &[Arrow]) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    for cycle in circles(files.len(), arrows) {
        let is_parent =
            |&parent: &usize| cycle.iter().all(|&file| file == parent || is_above(files[parent], files[file]));
        let Some(parent) = cycle.iter().copied().find(is_parent) else {
            found.push(cycle);
            continue;
        };
        let is_other = |file: usize| file != parent && cycle.contains(&file);
        let others = arrows.iter().filter(|arrow| is_other(arrow.from) && is_other(arrow.to));
        found.extend(forbidden_cycles(files, &others.copied().collect::<Vec<_>>()));
    }
    found
}

/// Whether `above` is the parent file of the folder that contains `below`, or of a folder above
/// that folder.
fn is_above(above: &File, below: &File) -> bool {
    let folder = above.path.trim_end_matches(".rs");
    let folder = folder.trim_end_matches("/lib").trim_end_matches("/main").trim_end_matches("/mod");
    below.path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Describes a cycle: each dependency, with its line.
fn finding(cycle: &[usize], files: &[&File], arrows: &[Arrow]) -> Finding {
    let inside: Vec<_> =
        arrows.iter().filter(|arrow| cycle.contains(&arrow.from) && cycle.contains(&arrow.to)).collect();
    let lines = inside
        .iter()
        .map(|arrow| format!("\n    {}:{} names {}", files[arrow.from].path, arrow.line, files[arrow.to].path));
    let message = format!("{} files name each other in a circle:{}", cycle.len(), lines.collect::<String>());
    Finding::new(files[cycle[0]], 1, message)
}

#[cfg(test)]
mod tests {
    use super::super::said;
    use super::check;

    #[test]
    fn import_cycles_are_reported_with_their_arrows() {
        let files = [
            ("crates/x/Cargo.toml", "[package]"),
            ("crates/x/src/lib.rs", "mod a; mod b; mod c; pub use a::A;"),
            ("crates/x/src/a.rs", "use crate::b::B;\npub struct A;"),
            ("crates/x/src/b.rs", "pub struct B;\nfn f(a: crate::A) {}"),
            ("crates/x/src/c.rs", "mod d; use d::D; pub struct C;"),
            ("crates/x/src/c/d.rs", "use super::C; pub struct D;"),
        ];
        assert_eq!(
            said(check, &files),
            ["crates/x/src/a.rs:1: error: 2 files name each other in a circle:\n    \
              crates/x/src/a.rs:1 names crates/x/src/b.rs\n    crates/x/src/b.rs:2 names crates/x/src/a.rs"]
        );
        assert!(said(check, &files[..3]).is_empty());
    }

    #[test]
    fn import_cycles_through_a_parent_are_reported() {
        let files = [
            ("crates/x/Cargo.toml", "[package]"),
            ("crates/x/src/lib.rs", "mod c; mod y; pub struct L;"),
            ("crates/x/src/c.rs", "mod d; use d::D; pub struct C; fn f(l: crate::L) {}"),
            ("crates/x/src/c/d.rs", "use crate::y::Y; pub struct D;"),
            ("crates/x/src/y.rs", "use crate::c::C; pub struct Y; fn f(l: crate::L) {}"),
        ];
        assert_eq!(
            said(check, &files),
            ["crates/x/src/c.rs:1: error: 3 files name each other in a circle:\n    \
              crates/x/src/c.rs:1 names crates/x/src/c/d.rs\n    crates/x/src/c/d.rs:1 names crates/x/src/y.rs\n    \
              crates/x/src/y.rs:1 names crates/x/src/c.rs"]
        );
        assert!(said(check, &files[..4]).is_empty());
    }
}
