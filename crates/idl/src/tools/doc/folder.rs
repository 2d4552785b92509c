//! The folder of a reference. Files that an earlier run made are replaced; others are not touched.

use super::page::Page;
use std::collections::HashSet;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The file by which a folder is known to be made by this tool. It lists the other files.
const MARKER: &str = ".obvia-idl-doc";
/// The first line of that file.
const HEAD: &str = "Made by obvia idl doc, which replaces and removes these files:";

/// An error at the writing of a reference.
#[derive(Debug)]
#[non_exhaustive]
pub enum WriteError {
    /// The folder has files, and no earlier run made it.
    Foreign {
        /// The folder.
        folder: PathBuf,
        /// The name of one of its files.
        file: String,
    },
    /// A file cannot be read, written or removed, or the folder cannot be created.
    Unwritable {
        /// The path.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign { folder, file } => write!(
                f,
                "{} has the file {file:?}, which no earlier run of `obvia idl doc` made: name a new or an empty folder",
                folder.display()
            ),
            Self::Unwritable { path, error } => write!(f, "{} cannot be written: {error}", path.display()),
        }
    }
}

impl std::error::Error for WriteError {}

/// Writes pages to a new or empty folder, or to one that an earlier run made. Files of the earlier
/// run that are no pages any more are removed.
///
/// # Errors
///
/// [`WriteError::Foreign`] if the folder has a file that no earlier run made; then nothing is
/// written. [`WriteError::Unwritable`] if the system refuses to write.
pub fn write(pages: &[Page], folder: &Path) -> Result<(), WriteError> {
    let refused = |path: &Path| {
        let path = path.to_owned();
        move |error| WriteError::Unwritable { path, error }
    };
    std::fs::create_dir_all(folder).map_err(refused(folder))?;
    let marker = folder.join(MARKER);
    let earlier = earlier(&marker).map_err(refused(&marker))?;
    let mut present = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(refused(folder))? {
        let name = entry.map_err(refused(folder))?.file_name();
        present.push(name.to_string_lossy().into_owned());
    }
    present.sort();
    if let Some(file) = present.iter().find(|name| *name != MARKER && !earlier.contains(*name)) {
        return Err(WriteError::Foreign { folder: folder.to_owned(), file: file.clone() });
    }
    // The list is written first, with the files of both runs: a run that is interrupted leaves a
    // folder that the next one can replace.
    let names: HashSet<&str> = pages.iter().map(|page| page.name.as_str()).collect();
    let stale: Vec<&String> = present.iter().filter(|name| *name != MARKER && !names.contains(name.as_str())).collect();
    let all = pages.iter().map(|page| page.name.as_str()).chain(stale.iter().map(|name| name.as_str()));
    replace(&marker, &listed(all)).map_err(refused(&marker))?;
    // Old files go first, since a new one may differ from them only in capital letters.
    for name in stale {
        let path = folder.join(name);
        std::fs::remove_file(&path).map_err(refused(&path))?;
    }
    for page in pages {
        let path = folder.join(&page.name);
        replace(&path, &page.text).map_err(refused(&path))?;
    }
    replace(&marker, &listed(pages.iter().map(|page| page.name.as_str()))).map_err(refused(&marker))
}

/// Writes a file anew. A link in its place is removed, and not followed.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    std::fs::File::create_new(path)?.write_all(text.as_bytes())
}

fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    std::iter::once(HEAD).chain(names).map(|line| format!("{line}\n")).collect()
}

/// Returns the names of the files that an earlier run made.
fn earlier(marker: &Path) -> io::Result<HashSet<String>> {
    let text = match std::fs::read_to_string(marker) {
        Ok(text) => text,
        // A marker that is no text is not this tool's.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData) => {
            return Ok(HashSet::new());
        }
        Err(error) => return Err(error),
    };
    let mut lines = text.lines();
    if lines.next() != Some(HEAD) {
        return Ok(HashSet::new());
    }
    Ok(lines.map(str::to_owned).collect())
}
