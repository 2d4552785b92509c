//! The group `idl`: the IDL compiler on files that other projects have written. The files come from
//! Debian's packages and from the sources of packages, and stay in the folder of tools.

use crate::outcome::{Outcome, Problem, entries};
use crate::program::{Program, target};
use crate::workspace::{Ignored, nextest};
use std::fs;
use std::path::{Path, PathBuf};

/// The binary packages whose files are read.
const PACKAGES: [&str; 2] = ["libwine-dev", "mingw-w64-common"];
/// The packages whose sources are read, each with the files that are unpacked: IDL files, and the
/// side files or headers that they need.
const SOURCES: [(&str, [&str; 2]); 3] =
    [("mingw-w64", ["*.idl", "*.h"]), ("wine", ["*.idl", "*.h"]), ("samba", ["*.idl", "*.acf"])];

/// Runs the tests of the profile `idl`.
pub(crate) fn run() -> Outcome {
    let folder = fetch()?;
    nextest("idl", Ignored::Only)?.variable("OBVIA_CORPORA", folder.display().to_string()).run()
}

/// Downloads the packages that are missing. Returns the folder that has a folder for each package.
fn fetch() -> Outcome<PathBuf> {
    let folder = target().join("tools/corpora");
    for package in PACKAGES {
        unpack(&folder, package, |download, unpacked| {
            Program::new("apt-get", &["--quiet", "download", package]).folder(download).read()?;
            Program::new("dpkg-deb", &["--extract", &only_file(download)?, unpacked]).read()
        })?;
    }
    for (package, files) in SOURCES {
        unpack(&folder, package, |download, unpacked| {
            sources(download)?.with(&["--tar-only", "source", package]).folder(download).read()?;
            let tar = ["--extract", "--strip-components=1", "--directory", unpacked, "--file", &only_file(download)?];
            Program::new("tar", &tar).argument("--wildcards").with(&files).read()
        })?;
    }
    Ok(folder)
}

/// Makes the folder of a package, unless the folder exists. `get` downloads into the first folder,
/// and unpacks into the second one.
fn unpack(folder: &Path, package: &str, get: impl FnOnce(&Path, &str) -> Outcome<String>) -> Outcome {
    let ready = folder.join(package);
    if ready.exists() {
        return Ok(());
    }
    println!("    fetching the IDL files of {package}");
    let [download, unpacked] = ["download", "unpacked"].map(|what| folder.join(format!("{package}.{what}")));
    for folder in [&download, &unpacked] {
        // An interrupted run may have left files.
        let _ = fs::remove_dir_all(folder);
        fs::create_dir_all(folder).map_err(|error| Problem::at(folder, &error))?;
    }
    get(&download, &unpacked.display().to_string())?;
    fs::rename(&unpacked, &ready).map_err(|error| Problem::at(&ready, &error))?;
    fs::remove_dir_all(&download).map_err(|error| Problem::at(&download, &error))
}

/// Returns the path of the only archive in a folder.
fn only_file(folder: &Path) -> Outcome<String> {
    let files: Vec<PathBuf> = entries(folder)?.into_iter().filter(|path| path.is_file()).collect();
    match &files[..] {
        [file] => Ok(file.display().to_string()),
        _ => Err(Problem::Failed(format!("{}: {} files were downloaded", folder.display(), files.len()))),
    }
}

/// Returns `apt-get` with this machine's list of repositories, changed to provide source packages.
/// The package lists are in a folder of their own, so that `apt-get` needs no permission.
fn sources(folder: &Path) -> Outcome<Program> {
    let (own, lists) = (folder.join("sources"), folder.join("lists"));
    for folder in [&own, &lists.join("partial")] {
        fs::create_dir_all(folder).map_err(|error| Problem::at(folder, &error))?;
    }
    let listed = fs::read_dir("/etc/apt/sources.list.d").into_iter().flatten().flatten().map(|entry| entry.path());
    for file in listed.chain([PathBuf::from("/etc/apt/sources.list")]) {
        let (Ok(text), Some(name)) = (fs::read_to_string(&file), file.file_name()) else { continue };
        let target = own.join(name);
        fs::write(&target, of_sources(&text)).map_err(|error| Problem::at(&target, &error))?;
    }
    let apt = Program::new("apt-get", &["--quiet", "-o", "Dir::Etc::SourceList=-", "-o"])
        .argument(format!("Dir::Etc::SourceParts={}", own.display()))
        .argument("-o")
        .argument(format!("Dir::State::Lists={}", lists.display()));
    apt.with(&["update"]).read()?;
    Ok(apt)
}

/// Returns a list of repositories with source packages in place of binary packages. The list has
/// one of two formats: lines that begin with `deb`, or fields, one of which is `Types`.
fn of_sources(text: &str) -> String {
    let line = |line: &str| match line.strip_prefix("deb ") {
        Some(rest) => format!("deb-src {rest}\n"),
        None if line.starts_with("Types:") => "Types: deb-src\n".to_owned(),
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::of_sources;

    #[test]
    fn package_sources_of_both_formats_become_those_of_source_packages() {
        let lines = "# deb x\ndeb https://example.org a main\ndeb-src https://example.org a main\n";
        let expected = "# deb x\ndeb-src https://example.org a main\ndeb-src https://example.org a main\n";
        assert_eq!(of_sources(lines), expected);
        let fields = "Types: deb\nURIs: https://example.org\nSuites: a\n";
        assert_eq!(of_sources(fields), "Types: deb-src\nURIs: https://example.org\nSuites: a\n");
    }
}
