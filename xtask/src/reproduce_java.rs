//! `reproduce-java`: builds the published Java artifacts twice, in folders with different names,
//! and compares the bytes. The build includes the Javadoc, which must have no warnings.

use crate::maven::maven;
use crate::outcome::{Outcome, Problem, entries};
use crate::program::Program;
use crate::repo::load;
use crate::temporary::Folder;
use crate::tools;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The licence files that every jar with classes contains.
const LICENCES: [&str; 2] = ["META-INF/LICENSE-APACHE", "META-INF/LICENSE-MIT"];

pub(crate) fn main(arguments: &[String]) -> Outcome {
    if !arguments.is_empty() {
        return Err(Problem::failed("usage: cargo xtask reproduce-java"));
    }
    let home = tools::jdk()?;
    let folders = [Folder::new()?, Folder::new()?];
    let [first, second] = [build(folders[0].path(), &home)?, build(folders[1].path(), &home)?];
    for (name, bytes) in &first {
        if second.get(name) != Some(bytes) {
            return Err(Problem::Failed(format!("{name} is not the same when it is built again")));
        }
        println!("{name}: {} bytes, the same twice", bytes.len());
    }
    let names = |jars: &BTreeMap<String, Vec<u8>>| jars.keys().cloned().collect::<Vec<_>>();
    if first.is_empty() || names(&first) != names(&second) {
        return Err(Problem::failed("two builds made different jars, or none"));
    }
    first
        .keys()
        .filter(|name| !name.ends_with("-javadoc.jar"))
        .try_for_each(|name| check(folders[0].path(), name, &home))
}

/// Builds a copy of the sources. Returns the contents of the jars by their paths.
fn build(folder: &Path, home: &Path) -> Outcome<BTreeMap<String, Vec<u8>>> {
    let repo = load()?;
    for file in repo.files.iter().filter(|file| file.path.starts_with("java/") || file.path.starts_with("LICENSE-")) {
        let path = folder.join(&file.path);
        let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, &file.text));
        written.map_err(|error| Problem::at(&path, &error))?;
    }
    maven(home)
        .with(&[
            "--quiet",
            "--file",
            "java/pom.xml",
            "--activate-profiles",
            "release",
            "--define",
            "skipTests",
            "package",
        ])
        .folder(folder)
        .run()?;
    let mut jars = BTreeMap::new();
    for module in entries(&folder.join("java"))? {
        let built = entries(&module.join("target")).unwrap_or_default();
        for path in built.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "jar")) {
            let bytes = fs::read(&path).map_err(|error| Problem::at(&path, &error))?;
            let name = path.strip_prefix(folder).unwrap_or(&path);
            jars.insert(name.display().to_string(), bytes);
        }
    }
    Ok(jars)
}

/// Checks that a jar contains the licence files.
fn check(folder: &Path, jar: &str, home: &Path) -> Outcome {
    let program = home.join("bin/jar").display().to_string();
    let listed = Program::new(&program, &["--list", "--file", jar]).folder(folder).read()?;
    match LICENCES.iter().find(|licence| !listed.lines().any(|line| line == **licence)) {
        None => Ok(()),
        Some(missing) => Err(Problem::Failed(format!("{jar} has no {missing}"))),
    }
}
