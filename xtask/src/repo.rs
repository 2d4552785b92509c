//! The repository as the commands see it: its root and the texts of its files.

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
    /// Whether the file is Rust source. Expected compiler output is not: it is neither written by
    /// hand nor built.
    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs") && !self.path.contains("/tests/golden/")
    }

    /// Whether the whole file is a test.
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
    /// Reads the repository that this program was built from.
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
            // Deleted but uncommitted files and binary files are skipped.
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

    /// Returns the file at a path.
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Whether a path is that of a file, or of a folder with a file in it.
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
