//! The results of commands.

use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

/// The reason why a command failed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// An error with its description.
    Failed(String),
    /// A tool, or the subject of the command, is missing.
    Missing {
        what: String,
        /// Whether the absence fails a CI run (`CI=true`).
        required: bool,
    },
}

impl Problem {
    pub(crate) fn failed(what: impl Into<String>) -> Self {
        Self::Failed(what.into())
    }

    /// Returns the problem that a file or folder cannot be used.
    pub(crate) fn at(path: &Path, error: &io::Error) -> Self {
        Self::Failed(format!("{}: {error}", path.display()))
    }

    pub(crate) fn missing(what: impl Into<String>) -> Self {
        let (what, required) = (what.into(), false);
        Self::Missing { what, required }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(what) | Self::Missing { what, .. } => f.write_str(what),
        }
    }
}

/// The result of a command.
pub(crate) type Outcome<T = ()> = Result<T, Problem>;

/// Returns the paths of a folder's entries, sorted.
pub(crate) fn entries(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let paths = fs::read_dir(folder).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    let mut paths: Vec<PathBuf> = paths.map_err(|error| Problem::at(folder, &error))?;
    paths.sort();
    Ok(paths)
}
