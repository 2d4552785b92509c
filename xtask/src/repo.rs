//! The repository as the commands see it: the root, and the texts of the files.

use crate::outcome::{Outcome, Problem};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A text file. Its path is relative to the root, with `/` between the parts.
#[derive(Debug, Clone)]
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl File {
    /// Whether the file is Rust source. Expected compiler output does not count, because it is
    /// neither written by hand nor built.
    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs") && !self.path.contains("/tests/golden/")
    }

    /// Whether the whole file is test code.
    pub(crate) fn is_test(&self) -> bool {
        self.path.starts_with("tests/") || self.path.contains("/tests/") || self.path.ends_with("/tests.rs")
    }

    /// Returns the file's name without the folders.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}

/// All text files of the repository, including uncommitted ones, except those that git ignores.
#[derive(Debug, Default)]
pub(crate) struct Repo {
    pub(crate) files: Vec<File>,
}

impl Repo {
    /// Reads the repository from which this program was built.
    pub(crate) fn load() -> Result<Self, String> {
        let root = root();
        let listed = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(&root)
            .output()
            .map_err(|error| format!("git cannot be run: {error}; install git"))?;
        if !listed.status.success() {
            let complaint = String::from_utf8_lossy(&listed.stderr);
            return Err(format!("git ls-files: {}", complaint.trim()));
        }
        let names = String::from_utf8_lossy(&listed.stdout);
        let mut files = Vec::new();
        for path in names.split('\0').filter(|path| !path.is_empty()) {
            // Binary files, and deleted files whose deletion is not committed, are skipped.
            if let Ok(text) = std::fs::read_to_string(root.join(path)) {
                let path = path.to_owned();
                files.push(File { path, text });
            }
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { files })
    }

    /// Returns the Rust sources.
    pub(crate) fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.is_rust())
    }

    /// Returns the file at a path, if there is one.
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Whether a path is the path of a file, or of a folder that contains a file.
    pub(crate) fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        self.files
            .iter()
            .any(|file| file.path.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    }

    /// Creates a repository from a test's files.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|&(path, text)| File { path: path.to_owned(), text: text.to_owned() });
        Self { files: files.collect() }
    }
}

/// Reads the repository.
pub(crate) fn load() -> Outcome<Repo> {
    Repo::load().map_err(Problem::Failed)
}

/// Returns the folder of the workspace.
pub(crate) fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}
