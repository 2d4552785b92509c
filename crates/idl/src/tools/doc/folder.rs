//! The folder of a reference. A run replaces the files that the marker lists, and refuses a folder
//! with any other file.

use super::page::Page;
use std::collections::HashSet;
use std::fmt;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The marker file: its presence shows that this tool made the folder. The marker lists the other
/// files.
const MARKER: &str = ".obvia-idl-doc";
/// The name of the next marker until the marker is complete. An interrupted run leaves this file
/// behind.
const NEXT: &str = ".obvia-idl-doc.new";
/// The maximum length of a marker in bytes.
const LENGTH_MAX: u64 = 64 << 20;
/// The first line of a marker.
const HEAD: &str = "Made by obvia idl doc, which replaces and removes these files:";

/// An error while a reference is written.
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
    /// The path leads to a file.
    NoFolder {
        /// The path.
        path: PathBuf,
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
                "{} contains {file:?}, which `obvia idl doc` did not write: remove it, or name a new or empty folder",
                folder.display()
            ),
            Self::NoFolder { path } => write!(f, "{} is a file: name a new or empty folder", path.display()),
            Self::Unwritable { path, error } => write!(f, "{} cannot be written: {error}", path.display()),
        }
    }
}

impl std::error::Error for WriteError {}

/// Writes pages to a new or empty folder, or to a folder that an earlier run made. Files of the
/// earlier run that this run does not write are removed.
///
/// # Errors
///
/// [`WriteError::Foreign`] if the folder has a file that no earlier run made, and
/// [`WriteError::NoFolder`] if the path leads to a file; in both cases nothing is written.
/// [`WriteError::Unwritable`] if the system refuses to read, write or remove a file, or to create
/// the folder. A later run can replace the files of a run that failed or was interrupted.
pub fn write(pages: &[Page], folder: &Path) -> Result<(), WriteError> {
    std::fs::create_dir_all(folder).map_err(|error| match folder.is_file() {
        true => WriteError::NoFolder { path: folder.to_owned() },
        false => refused(folder)(error),
    })?;
    let mut present = old_pages(folder)?;
    // The marker is written first, and lists the files of the earlier run and of this run. So if
    // this run is interrupted, the next run can replace the folder.
    let names: HashSet<&str> = pages.iter().map(|page| page.name.as_str()).collect();
    present.retain(|name| !names.contains(name.as_str()));
    let all = pages.iter().map(|page| page.name.as_str()).chain(present.iter().map(String::as_str));
    mark(folder, all)?;
    // Old files are removed first: on a file system that ignores case, removing `Foo.html` later
    // would remove the new `FOO.html`.
    for name in present {
        let path = folder.join(name);
        std::fs::remove_file(&path).map_err(refused(&path))?;
    }
    for page in pages {
        let path = folder.join(&page.name);
        replace(&path, &page.text).map_err(refused(&path))?;
    }
    mark(folder, pages.iter().map(|page| page.name.as_str()))
}

fn refused(path: &Path) -> impl FnOnce(io::Error) -> WriteError {
    let path = path.to_owned();
    move |error| WriteError::Unwritable { path, error }
}

/// Returns the files of a folder without the markers.
///
/// # Errors
///
/// [`WriteError::Foreign`] if the folder has a file that no earlier run made.
/// [`WriteError::Unwritable`] if the system refuses to read the folder or its marker.
fn old_pages(folder: &Path) -> Result<Vec<String>, WriteError> {
    let foreign = |file: String| WriteError::Foreign { folder: folder.to_owned(), file };
    let marker = folder.join(MARKER);
    let listed = earlier(&marker).map_err(refused(&marker))?;
    let mut present = Vec::new();
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(refused(folder))? {
        let entry = entry.map_err(refused(folder))?;
        let name = entry.file_name().into_string();
        let name = name.map_err(|name| foreign(name.to_string_lossy().into_owned()))?;
        found.push((name, entry));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    for (name, entry) in found {
        let is_own = match (name.as_str(), &listed) {
            (MARKER, listed) => listed.is_some(),
            (NEXT, _) => entry.file_type().map_err(refused(&entry.path()))?.is_file(),
            (_, listed) => listed.as_ref().is_some_and(|listed| listed.contains(&name)),
        };
        if !is_own {
            return Err(foreign(name));
        }
        present.extend((name != MARKER && name != NEXT).then_some(name));
    }
    Ok(present)
}

/// Writes the marker. A failure leaves the earlier marker as it was.
fn mark<'n>(folder: &Path, names: impl Iterator<Item = &'n str>) -> Result<(), WriteError> {
    let next = folder.join(NEXT);
    replace(&next, &listed(names)).map_err(refused(&next))?;
    let marker = folder.join(MARKER);
    std::fs::rename(&next, &marker).map_err(refused(&marker))
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

/// Returns the names of the files that an earlier run made. `None` without a marker of this tool.
fn earlier(marker: &Path) -> io::Result<Option<HashSet<String>>> {
    // Opening a FIFO would wait for its writer.
    match std::fs::symlink_metadata(marker) {
        Ok(found) if found.is_file() && found.len() <= LENGTH_MAX => {}
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut bytes = Vec::new();
    std::fs::File::open(marker)?.take(LENGTH_MAX).read_to_end(&mut bytes)?;
    let Ok(text) = String::from_utf8(bytes) else { return Ok(None) };
    let mut lines = text.lines();
    Ok((lines.next() == Some(HEAD)).then(|| lines.map(str::to_owned).collect()))
}
