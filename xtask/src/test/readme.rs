//! Builds the README's first program in a new crate, and compares the program's output with the
//! README.
//!
//! The line before a code block begins with the name, in backticks, of the file to which the block
//! belongs. The block after a line that ends in `prints:` is the output of the command in that
//! line.

use crate::outcome::{Outcome, Problem};
use crate::program::{Program, target};
use crate::repo::root;
use crate::server::{Names, Server};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub(super) fn run() -> Outcome {
    let newcomer = build()?;
    // The directory of names is private, because the user may have exported a calculator, too.
    let names = Names::new()?;
    let _server = Server::start(&names.see(Program::new(&program("server"), &[])))?;
    newcomer.compare(&names.see(Program::new(&program("client"), &[])).read()?)
}

/// Returns the path of a program that [`cargo`] has built.
pub(super) fn program(name: &str) -> String {
    built().join("debug").join(name).display().to_string()
}

/// Builds the first program beside a checkout of the project, as the README describes.
pub(super) fn build() -> Outcome<Newcomer> {
    let text = fs::read_to_string(root().join("README.md")).map_err(|error| wrong(&error))?;
    let newcomer = Newcomer::read("README.md", &text, FILES)?;
    let checkout = checkout().map_err(|error| wrong(&error))?;
    let crate_folder = checkout.with_file_name("calc");
    write(&newcomer.files, &crate_folder)?;
    keep_versions(&crate_folder)?;
    cargo(&["build", "--quiet"]).folder(&crate_folder).run()?;
    Ok(newcomer)
}

/// Returns cargo for projects that depend on the project at the path of [`checkout`]. These
/// projects share the build of their dependencies.
pub(super) fn cargo(words: &[&str]) -> Program {
    Program::cargo(words).variable("CARGO_TARGET_DIR", built().display().to_string())
}

/// Returns the target directory of all builds by [`cargo`].
pub(super) fn built() -> PathBuf {
    target().join("readme-target")
}

/// Returns a checkout beside the projects of pages: a folder with links to the entries of this
/// project. The folder itself is not a link, so its path is also its canonical path, and cargo
/// builds a project there only once.
pub(super) fn checkout() -> std::io::Result<PathBuf> {
    let folder = target().join("readme/obvia");
    fs::create_dir_all(&folder)?;
    for entry in fs::read_dir(root())? {
        let path = entry?.path();
        let link = folder.join(path.file_name().unwrap_or_default());
        match std::os::unix::fs::symlink(&path, link) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    Ok(folder)
}

/// Copies this project's lock file to another project, so that the dependencies of the other
/// project need not be resolved and downloaded.
pub(super) fn keep_versions(project: &Path) -> Outcome {
    fs::copy(root().join("Cargo.lock"), project.join("Cargo.lock")).map(drop).map_err(|error| wrong(&error))
}

/// Returns the problem that a project cannot be prepared.
pub(super) fn wrong(error: &std::io::Error) -> Problem {
    Problem::Failed(format!("preparing a project of a page: {error}"))
}

/// The files and the output that a page shows.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Newcomer {
    pub(super) files: Vec<(String, String)>,
    /// The line with the command that prints `printed`.
    pub(super) printing: String,
    pub(super) printed: String,
}

/// The files of the program.
const FILES: &[&str] = &["Cargo.toml", "calc.idl", "build.rs", "src/lib.rs", "src/bin/server.rs", "src/bin/client.rs"];

impl Newcomer {
    /// Takes the wanted files from a page, or from a part of a page.
    pub(super) fn read(page: &str, text: &str, wanted: &[&str]) -> Outcome<Self> {
        let mut files = Vec::new();
        let mut printed = None;
        for (title, block) in blocks(text) {
            if title.ends_with("prints:") {
                printed = Some((title.to_owned(), block));
                continue;
            }
            let name = title.strip_prefix('`').and_then(|rest| rest.split('`').next());
            if let Some(name) = name.filter(|name| wanted.contains(name)) {
                files.push((name.to_owned(), block));
            }
        }
        if let Some(missing) = wanted.iter().find(|name| !files.iter().any(|(file, _)| file == *name)) {
            return Err(Problem::Failed(format!("{page} does not show `{missing}`")));
        }
        let missing = || Problem::Failed(format!("{page} does not say what the client prints"));
        let (printing, printed) = printed.ok_or_else(missing)?;
        Ok(Self { files, printing, printed })
    }

    /// Checks that the client prints what the page promises.
    pub(super) fn compare(&self, printed: &str) -> Outcome {
        compare("the client", &self.printed, printed)
    }
}

/// Checks that a program prints what its page promises.
pub(super) fn compare(program: &str, promised: &str, printed: &str) -> Outcome {
    if printed.trim_end() == promised.trim_end() {
        return Ok(());
    }
    Err(Problem::Failed(format!("the page promises\n{promised}and {program} prints\n{printed}")))
}

/// Writes a project's files, which are given by their names and texts. An earlier run's project in
/// the folder is removed.
pub(super) fn write(files: &[(String, String)], folder: &Path) -> Outcome {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| wrong(&error))?;
    }
    for (name, text) in files {
        // The crate must not become a part of the workspace that contains its folder.
        let root = if name == "Cargo.toml" { "\n[workspace]\n" } else { "" };
        let file = folder.join(name);
        file.parent().map_or(Ok(()), fs::create_dir_all).map_err(|error| wrong(&error))?;
        fs::write(file, format!("{text}{root}")).map_err(|error| wrong(&error))?;
    }
    Ok(())
}

/// Returns the code blocks, each with the last non-empty line before it.
pub(super) fn blocks(text: &str) -> Vec<(&str, String)> {
    let mut blocks = Vec::new();
    let mut title = "";
    let mut block: Option<String> = None;
    for line in text.lines() {
        match &mut block {
            Some(lines) if line.starts_with("```") => {
                blocks.push((title, std::mem::take(lines)));
                block = None;
            }
            Some(lines) => {
                lines.push_str(line);
                lines.push('\n');
            }
            None if line.starts_with("```") => block = Some(String::new()),
            None if !line.trim().is_empty() => title = line.trim(),
            None => {}
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::{FILES, Newcomer, blocks};

    fn readme() -> String {
        let files = FILES.iter().map(|name| format!("`{name}`, so and so:\n\n```rust\nin {name}\n```\n\n"));
        format!("# x\n\n```\n$ other\n```\n{}`cargo run` prints:\n```\n5\n```\n", files.collect::<String>())
    }

    #[test]
    fn the_program_of_the_readme_is_found() {
        let newcomer = Newcomer::read("README.md", &readme(), FILES).unwrap();
        assert_eq!(newcomer.files.len(), FILES.len());
        assert_eq!(newcomer.files[2], ("build.rs".to_owned(), "in build.rs\n".to_owned()));
        assert_eq!(newcomer.printed, "5\n");
        assert_eq!(newcomer.printing, "`cargo run` prints:");
        assert_eq!(newcomer.compare("5"), Ok(()));
        assert!(newcomer.compare("6\n").is_err());
    }

    #[test]
    fn files_missing_in_the_readme_are_named() {
        let text = readme().replace("`calc.idl`", "`calc.txt`");
        let read = |text: &str| Newcomer::read("README.md", text, FILES);
        let error = read(&text).unwrap_err();
        assert_eq!(error.to_string(), "README.md does not show `calc.idl`");
        assert!(read(&readme().replace("prints:", "does:")).is_err());
    }

    #[test]
    fn code_blocks_are_found_with_their_titles() {
        assert_eq!(
            blocks("a\n\n```x\nb\n\nc\n```\n```\nd\n```"),
            [("a", "b\n\nc\n".to_owned()), ("a", "d\n".to_owned())]
        );
    }
}
