//! Output of a project's files. Existing files with other contents are replaced only on request.

use crate::print;
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};

/// A file of a project: its path in the project and its contents.
pub(super) struct File {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
}

impl File {
    pub(super) fn new(path: impl Into<PathBuf>, text: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), bytes: text.into() }
    }
}

/// Writes the files to a directory. Without `force`, writes nothing if one of them exists with
/// other contents.
pub(super) fn write(output: &Path, files: &[File], force: bool) -> anyhow::Result<()> {
    let mut missing = Vec::new();
    let mut different = Vec::new();
    for file in files {
        let path = output.join(&file.path);
        match std::fs::read(&path) {
            Ok(bytes) if bytes == file.bytes => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => missing.push((path, file)),
            // An unreadable file counts as one with other contents.
            _ => different.push((path, file)),
        }
    }
    if !force && !different.is_empty() {
        let paths: Vec<String> = different.iter().map(|(path, _)| format!("  {}", path.display())).collect();
        bail!(
            "nothing was written, because these files already exist:\n{}\nuse --force to replace them, or --output for \
                another directory",
            paths.join("\n")
        );
    }
    for (path, file) in missing.iter().chain(&different) {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be created", folder.display()))?;
        }
        let mut options = std::fs::OpenOptions::new();
        // Without `force`, a file that was created since the check is not overwritten.
        options.write(true).truncate(true).create(force).create_new(!force);
        let opened = options.open(path);
        let written = opened.and_then(|mut opened| std::io::Write::write_all(&mut opened, &file.bytes));
        written.with_context(|| format!("{} cannot be written", path.display()))?;
        print::line(&format!("wrote {}", path.display()))?;
    }
    Ok(())
}
