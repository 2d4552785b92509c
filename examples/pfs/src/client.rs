//! A client of a tree that another process serves. The client walks paths, and transfers whole
//! files and listings.

use crate::server::errno;
use crate::{IPfs, PFS_CREATE, PFS_ENTRY, PFS_KIND, PFS_READ, PFS_STAT, PFS_TRANSFER_MAX, PFS_TRUNCATE, PFS_WRITE};
use std::fmt;
use std::time::Instant;

/// The number of directory entries that one call requests.
const ENTRIES_AT_ONCE: usize = 256;

/// The error of a failed operation, with the name or the operation that the error concerns.
#[derive(Debug)]
pub struct Error {
    what: String,
    source: obvia::Error,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match errno(self.source.code()) {
            Some(errno) => write!(f, "{}: {errno}", self.what),
            None => write!(f, "{}: {}", self.what, self.source),
        }
    }
}

impl std::error::Error for Error {}

/// The result of a client's operation.
pub type Result<T> = std::result::Result<T, Error>;

/// A client of a tree, with its own file numbers and handles.
pub struct Client {
    pfs: IPfs,
    number: i32,
    /// The durations of the calls in nanoseconds; `None` if durations are not recorded.
    pub times: Option<Vec<u64>>,
}

impl Drop for Client {
    fn drop(&mut self) {
        // Errors are ignored: a server that has ended has no clients any more.
        let _ = self.pfs.pfs_detach(self.number);
    }
}

impl Client {
    /// Connects to the tree that is exported under a name.
    pub fn connect(name: &str) -> Result<Self> {
        let failed = |source| Error { what: name.to_owned(), source };
        let pfs: IPfs = obvia::connect(name).map_err(failed)?;
        let number = pfs.pfs_attach().map_err(failed)?;
        Ok(Self { pfs, number, times: None })
    }

    /// Makes a call, and records its duration if durations are recorded.
    fn call<T>(&mut self, what: &str, call: impl FnOnce(&IPfs, i32) -> obvia::Result<T>) -> Result<T> {
        let start = self.times.is_some().then(Instant::now);
        let outcome = call(&self.pfs, self.number);
        if let (Some(times), Some(start)) = (&mut self.times, start) {
            times.push(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
        }
        outcome.map_err(|source| Error { what: what.to_owned(), source })
    }

    /// Returns the file number of a name in a directory.
    pub fn lookup(&mut self, directory: i32, name: &[u8]) -> Result<i32> {
        self.call(&String::from_utf8_lossy(name), |pfs, client| pfs.pfs_lookup(client, directory, name))
    }

    /// Returns the file number of a path. A path starts at the directory `from`, or at the root if
    /// it begins with a slash.
    pub fn walk(&mut self, from: i32, path: &str) -> Result<i32> {
        let mut fobj = if path.starts_with('/') { 0 } else { from };
        for name in path.split('/').filter(|name| !name.is_empty()) {
            fobj = self.lookup(fobj, name.as_bytes())?;
        }
        Ok(fobj)
    }

    /// Returns the attributes of a file.
    pub fn stat(&mut self, fobj: i32) -> Result<PFS_STAT> {
        self.call("stat", |pfs, client| pfs.pfs_stat(client, fobj))
    }

    /// Returns the target of a symbolic link.
    pub fn readlink(&mut self, fobj: i32) -> Result<String> {
        let target = self.call("readlink", |pfs, client| pfs.pfs_readlink(client, fobj))?;
        Ok(target.to_string_lossy().into_owned())
    }

    /// Lists a directory.
    pub fn list(&mut self, directory: i32) -> Result<Vec<PFS_ENTRY>> {
        let handle = self.call("open", |pfs, client| pfs.pfs_open(client, directory, PFS_READ, 0))?;
        let (mut entries, mut pos) = (Vec::new(), 0);
        let mut part = vec![PFS_ENTRY::default(); ENTRIES_AT_ONCE];
        let outcome = loop {
            match self.call("list", |pfs, _| pfs.pfs_get_direntries(handle, &mut pos, &mut part)) {
                Ok(0) => break Ok(entries),
                Ok(got) => entries.extend(&part[..got as usize]),
                Err(error) => break Err(error),
            }
        };
        self.call("close", |pfs, _| pfs.pfs_close(handle))?;
        outcome
    }

    /// Reads a file from its beginning to its end, and calls `part` with each part.
    pub fn read(
        &mut self,
        fobj: i32,
        buffer: &mut [u8],
        mut part: impl FnMut(&[u8]) -> std::io::Result<()>,
    ) -> Result<u64> {
        let handle = self.call("open", |pfs, client| pfs.pfs_open(client, fobj, PFS_READ, 0))?;
        let mut pos = 0;
        let outcome = loop {
            match self.call("read", |pfs, _| pfs.pfs_read(handle, &mut pos, buffer)) {
                Ok(0) => break Ok(pos.cast_unsigned()),
                Ok(got) => {
                    if let Err(error) = part(&buffer[..got as usize]) {
                        let source = obvia::Error::new(obvia::code::E_FAIL, error.to_string());
                        break Err(Error { what: "output".to_owned(), source });
                    }
                }
                Err(error) => break Err(error),
            }
        };
        self.call("close", |pfs, _| pfs.pfs_close(handle))?;
        outcome
    }

    /// Creates or replaces a file with the contents of `source`.
    pub fn write(&mut self, directory: i32, name: &str, source: &mut impl std::io::Read) -> Result<u64> {
        let known = self.lookup(directory, name.as_bytes());
        let fobj = match known {
            Ok(fobj) => fobj,
            Err(_) => self.create(directory, name, PFS_KIND::PFS_FILE, 0o644)?,
        };
        let flags = PFS_WRITE | PFS_CREATE | PFS_TRUNCATE;
        let handle = self.call(name, |pfs, client| pfs.pfs_open(client, fobj, flags, 0o644))?;
        let (mut buffer, mut pos) = (vec![0; PFS_TRANSFER_MAX as usize / 4], 0_i64);
        let outcome = loop {
            match source.read(&mut buffer) {
                Ok(0) => break Ok(pos.cast_unsigned()),
                Ok(got) => {
                    if let Err(error) = self.call("write", |pfs, _| pfs.pfs_write(handle, &mut pos, &buffer[..got])) {
                        break Err(error);
                    }
                }
                Err(error) => {
                    let source = obvia::Error::new(obvia::code::E_FAIL, error.to_string());
                    break Err(Error { what: "input".to_owned(), source });
                }
            }
        };
        self.call("close", |pfs, _| pfs.pfs_close(handle))?;
        outcome
    }

    /// Creates a directory or an empty file.
    pub fn create(&mut self, directory: i32, name: &str, kind: PFS_KIND, mode: u32) -> Result<i32> {
        self.call(name, |pfs, client| pfs.pfs_create(client, directory, name.as_bytes(), kind, mode))
    }

    /// Removes a file or an empty directory.
    pub fn remove(&mut self, directory: i32, name: &str) -> Result<()> {
        self.call(name, |pfs, client| pfs.pfs_unlink(client, directory, name.as_bytes()))
    }

    /// Moves a file.
    pub fn rename(&mut self, from: (i32, &str), to: (i32, &str)) -> Result<()> {
        self.call(from.1, |pfs, client| pfs.pfs_rename(client, from.0, from.1.as_bytes(), to.0, to.1.as_bytes()))
    }
}

/// Returns the name of an entry.
pub fn name(entry: &PFS_ENTRY) -> &[u8] {
    entry.name.get(..entry.length as usize).unwrap_or(&entry.name)
}
