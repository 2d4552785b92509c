//! The order of the Java packages: no class names a class in a package of a higher floor, or in
//! another package of its own floor. Tests and benchmarks are exempt. So are names that are not in
//! class files, such as those in documentation.

use crate::outcome::{Outcome, Problem};
use crate::program::Program;
use crate::repo::root;
use std::collections::BTreeMap;
use std::path::Path;

/// The packages of all modules, from low to high. A floor has one or more packages, which do not
/// name each other.
const FLOORS: &[&[&str]] = &[
    &["obvia.spi"],
    &["obvia"],
    &["obvia.runtime.call"],
    &["obvia.runtime"],
    &["obvia.runtime.shm"],
    &["obvia.runtime.objects"],
    &["obvia.network", "obvia.rmi"],
    &["obvia.processor"],
    &["obvia.maven"],
];

/// The path of this file.
const OWN_PATH: &str = "xtask/src/test/java/packages.rs";

/// The module whose classes are checked although the module is not a library.
const NO_LIBRARY: &str = "obvia-maven-plugin";

/// Fails if a compiled class of a library or of the plug-in names a class of a higher floor, or of
/// another package on its own floor.
pub(super) fn check(home: &Path, libraries: &[String]) -> Outcome {
    let jdeps = Program::new(&home.join("bin/jdeps").display().to_string(), &["-verbose:class"]);
    let modules = libraries.iter().map(String::as_str).chain([NO_LIBRARY]);
    let classes = modules.map(|module| root().join("java").join(module).join("target/classes").display().to_string());
    let findings = findings(&classes.fold(jdeps, Program::argument).read()?, FLOORS);
    if findings.is_empty() {
        return Ok(());
    }
    Err(Problem::Failed(findings.join("\n")))
}

/// Returns the dependencies in jdeps's list of classes that the floors do not permit, one for each
/// pair of packages. Also returns the packages without a floor.
fn findings(listed: &str, floors: &[&[&str]]) -> Vec<String> {
    let floor = |package: &str| floors.iter().position(|floor| floor.contains(&package));
    let mut found = BTreeMap::new();
    let mut seen = Vec::new();
    for (from, to) in listed.lines().filter_map(arrow) {
        let (package, other) = (package(from), package(to));
        seen.push(package);
        match (floor(package), floor(other)) {
            (None, _) => {
                found.insert((package, ""), unplaced(package));
            }
            (_, None) if root_of(other) == root_of(package) => {
                found.insert((other, ""), unplaced(other));
            }
            (Some(own), Some(above)) if own <= above && package != other => {
                let place = if own < above { "below" } else { "beside" };
                found.entry((package, other)).or_insert_with(|| {
                    format!("{package} is {place} {other}: {from} names {to}; move one of the two classes, or change FLOORS in {OWN_PATH}")
                });
            }
            _ => {}
        }
    }
    let is_missing = |package: &&str| !seen.contains(package);
    let missing = floors.iter().copied().flatten().copied().filter(is_missing);
    let missing = missing.map(|package| format!("{package}, which {OWN_PATH} names, has no class"));
    found.into_values().chain(missing).collect()
}

fn unplaced(package: &str) -> String {
    format!("{package} is on no floor; say in {OWN_PATH} on which")
}

/// Returns the two classes in a line of jdeps's list, if the line is a dependency.
fn arrow(line: &str) -> Option<(&str, &str)> {
    let (from, to) = line.strip_prefix(' ')?.split_once(" -> ")?;
    Some((from.trim(), to.split_whitespace().next()?))
}

fn package(class: &str) -> &str {
    class.rsplit_once('.').map_or("", |(package, _)| package)
}

/// Returns the first part of a package's name.
fn root_of(package: &str) -> &str {
    package.split('.').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::findings;

    const FLOORS: &[&[&str]] = &[&["x.low"], &["x.left", "x.right"], &["x.high"]];

    const ADVICE: &str = "; move one of the two classes, or change FLOORS in xtask/src/test/java/packages.rs";

    #[test]
    fn packages_name_lower_floors_only() {
        let listed = "\
classes -> java.base
   x.high.Top                      -> java.lang.Object             java.base
   x.high.Top                      -> x.left.Left                  classes
   x.high.Top                      -> x.high.Top$Inner             classes
   x.left.Left                     -> x.low.Low                    classes
   x.right.Right                   -> x.low.Low$Nested             classes
   x.low.Low$Nested                -> x.high.Top                   classes
   x.low.Other                     -> x.high.Top                   classes
";
        assert_eq!(
            findings(listed, FLOORS),
            [format!("x.low is below x.high: x.low.Low$Nested names x.high.Top{ADVICE}")]
        );
    }

    #[test]
    fn packages_of_one_floor_form_no_circle() {
        let listed = "\
classes -> java.base
   x.high.Top                      -> x.left.Left                  classes
   x.left.Left                     -> x.right.Right                classes
   x.low.Low                       -> java.lang.Object             java.base
   x.right.Right                   -> x.left.Left                  classes
";
        assert_eq!(
            findings(listed, FLOORS),
            [
                format!("x.left is beside x.right: x.left.Left names x.right.Right{ADVICE}"),
                format!("x.right is beside x.left: x.right.Right names x.left.Left{ADVICE}"),
            ]
        );
    }

    #[test]
    fn each_package_is_on_a_floor() {
        let listed = "\
classes -> java.base
   x.high.Top                      -> x.left.Left                  classes
   x.left.Left                     -> x.new.New                    classes
   x.low.Low                       -> java.lang.Object             java.base
   x.low.Low                       -> x.other.Other                not found
   x.new.New                       -> java.lang.Object             java.base
";
        assert_eq!(
            findings(listed, FLOORS),
            [
                "x.new is on no floor; say in xtask/src/test/java/packages.rs on which",
                "x.other is on no floor; say in xtask/src/test/java/packages.rs on which",
                "x.right, which xtask/src/test/java/packages.rs names, has no class",
            ]
        );
    }
}
