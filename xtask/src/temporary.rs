//! Folders for what is made while something runs.

use crate::{Outcome, Problem};
use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder outside the workspace that nobody else uses, removed when the value is dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// One for this user alone.
    pub(crate) fn new() -> Outcome<Self> {
        Self::with_mode(0o700)
    }

    /// One for temporary files of all users: tests have programs run as others.
    pub(crate) fn for_all() -> Outcome<Self> {
        Self::with_mode(0o1777)
    }

    fn with_mode(mode: u32) -> Outcome<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("obvia-xtask-{}-{count}", std::process::id()));
        // Whatever mask this process has.
        let made = DirBuilder::new().mode(0o700).create(&folder);
        let made = made.and_then(|()| fs::set_permissions(&folder, Permissions::from_mode(mode)));
        made.map_err(|error| Problem::Failed(format!("{}: {error}", folder.display())))?;
        Ok(Self(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Whatever is left lies in a folder for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}
