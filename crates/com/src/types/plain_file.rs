//! Files with configuration or accounts, which must not be writable for other users.

use crate::types::error::{Error, Result, code};
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The greatest length of a file, in bytes.
const LENGTH_MAX: u64 = 1 << 20;

/// The permitted readers of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readers {
    Everybody,
    /// The owner only, since the file contains secrets.
    Owner,
}

/// Makes an error about a file.
pub(crate) fn about(path: &Path, what: impl std::fmt::Display) -> Error {
    Error::new(code::E_INVALIDARG, format!("{}: {what}", path.display()))
}

/// Whether the error means that a file or folder does not exist.
pub(crate) fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Reads a file of this user or root. `None` if the file does not exist.
///
/// # Errors
///
/// E_INVALIDARG where another user can write the file, or can read it although `readers` forbids
/// that; where the file is not a regular file, is not UTF-8 or is too long; where it cannot be
/// read.
pub(crate) fn read(path: &Path, readers: Readers) -> Result<Option<String>> {
    // The flag NONBLOCK is set, since a pipe of that name must not block the reader.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = match rustix::fs::open(path, flags, Mode::empty()).map_err(io::Error::from) {
        Ok(file) => File::from(file),
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(about(path, error)),
    };
    let found = file.metadata().map_err(|error| about(path, error))?;
    let own = rustix::process::geteuid().as_raw();
    if !found.is_file() {
        return Err(about(path, "is not a regular file"));
    }
    let (others, wrong) = match readers {
        Readers::Everybody => (0o022, "write it: the file has to belong to this user or root, with mode 644"),
        Readers::Owner => (0o077, "read or write it: the file has to belong to this user or root, with mode 600"),
    };
    if ![own, 0].contains(&found.uid()) || found.mode() & others != 0 {
        return Err(about(path, format!("other users can {wrong}")));
    }
    let mut bytes = Vec::new();
    let length = (&file).take(LENGTH_MAX + 1).read_to_end(&mut bytes).map_err(|error| about(path, error))?;
    if length as u64 > LENGTH_MAX {
        return Err(about(path, format!("is longer than {LENGTH_MAX} bytes")));
    }
    let line = |at: usize| bytes[..at].iter().filter(|&&byte| byte == b'\n').count() + 1;
    let text = std::str::from_utf8(&bytes)
        .map_err(|error| about(path, format!("line {}: the text is not UTF-8", line(error.valid_up_to()))))?;
    Ok(Some(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{Readers, read};
    use ground::Folder;
    use rustix::process::Uid;
    use std::os::unix::fs::{PermissionsExt, chown};

    /// A program can run with the rights of another user than its caller. It must not trust a file
    /// of the caller, since the caller has chosen the environment of the program.
    #[test]
    fn plain_files_must_belong_to_the_effective_user() {
        if !rustix::process::geteuid().is_root() {
            return eprintln!("skipped: only the superuser can have another's rights");
        }
        let folder = Folder::new("com-plain-file");
        let path = folder.join("accounts");
        std::fs::write(&path, "x").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        let other = Uid::from_raw(65_534);
        chown(&path, Some(other.as_raw()), None).unwrap();
        // Only the effective user of this thread is changed, which the kernel permits.
        let as_of = std::thread::spawn(move || {
            rustix::thread::set_thread_res_uid(other, Uid::ROOT, Uid::ROOT).unwrap();
            read(&path, Readers::Owner)
        });
        let error = as_of.join().unwrap().expect_err("a file of the caller's");
        assert!(error.to_string().contains("other users can"), "{error}");
    }
}
