//! A directory tree. Its files are reached by numbers, and no name leads out of the tree.
//!
//! The kernel looks every name up relative to an open directory, with `openat2` and
//! RESOLVE_BENEATH: `..`, absolute paths and symbolic links cannot lead out of the tree, even if
//! another process changes the tree during a look-up.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The maximum number of files and directories with numbers for one client.
const OBJECTS_MAX: usize = 1 << 16;
/// The maximum number of open files of one client.
const OPEN_MAX: usize = 1 << 12;
/// The maximum number of clients of a tree.
const CLIENTS_MAX: usize = 1 << 12;

type Result<T> = std::result::Result<T, Errno>;

/// An entry of a directory: its kind and name.
pub type Entry = (FileType, CString);

/// The object of a file number: a path from the root, looked up anew on each use.
#[derive(Clone)]
struct Object {
    /// The path of the directory that contains the name. For the root, this path and the name are
    /// `.`.
    directory: CString,
    name: CString,
    parent: i32,
}

/// An open file.
pub struct Open {
    file: OwnedFd,
    /// The entries of a directory, as they were at its first listing.
    entries: Mutex<Option<Arc<Vec<Entry>>>>,
}

#[derive(Default)]
struct Client {
    objects: Vec<Object>,
    known: HashMap<(i32, CString), i32>,
    open: usize,
}

#[derive(Default)]
struct Tables {
    clients: HashMap<i32, Client>,
    last_client: i32,
    handles: HashMap<i32, (i32, Arc<Open>)>,
    last_handle: i32,
}

/// A tree.
pub struct Tree {
    root: OwnedFd,
    writable: bool,
    tables: Mutex<Tables>,
}

fn beneath(directory: BorrowedFd<'_>, name: &CStr, flags: OFlags, mode: Mode) -> Result<OwnedFd> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let flags = flags | OFlags::CLOEXEC;
    loop {
        match rustix::fs::openat2(directory, name, flags, mode, resolve) {
            // Another process renamed a directory during the look-up.
            Err(Errno::AGAIN | Errno::INTR) => {}
            outcome => return outcome,
        }
    }
}

/// Returns the path of an object from the root.
fn path(object: &Object) -> CString {
    match (object.directory.to_bytes(), object.name.to_bytes()) {
        (b".", _) => object.name.clone(),
        (directory, name) => {
            let joined = [directory, b"/", name].concat();
            // Neither part contains a zero.
            CString::new(joined).unwrap_or_default()
        }
    }
}

/// Checks that a name is a single component: not empty, not `..`, without slashes and zeros, and
/// not too long.
fn check_name(name: &[u8]) -> Result<CString> {
    if name.is_empty() || name == b".." || name.contains(&b'/') || name.len() > 255 {
        return Err(Errno::INVAL);
    }
    CString::new(name).map_err(|_| Errno::INVAL)
}

impl Tree {
    /// Opens the tree below a directory.
    pub fn new(root: &Path, writable: bool) -> Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(root, flags, Mode::empty())?;
        Ok(Self { root, writable, tables: Mutex::default() })
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates a client, and returns its number.
    pub fn attach(&self) -> Result<i32> {
        let mut tables = self.tables();
        if tables.clients.len() >= CLIENTS_MAX {
            return Err(Errno::USERS);
        }
        tables.last_client = tables.last_client.checked_add(1).ok_or(Errno::USERS)?;
        let number = tables.last_client;
        let root = Object { directory: c".".to_owned(), name: c".".to_owned(), parent: 0 };
        tables.clients.insert(number, Client { objects: vec![root], ..Client::default() });
        Ok(number)
    }

    /// Removes a client, and closes its open files.
    pub fn detach(&self, client: i32) -> Result<()> {
        let mut tables = self.tables();
        tables.clients.remove(&client).ok_or(Errno::BADF)?;
        tables.handles.retain(|_, (owner, _)| *owner != client);
        Ok(())
    }

    fn object(&self, client: i32, fobj: i32) -> Result<Object> {
        let tables = self.tables();
        let client = tables.clients.get(&client).ok_or(Errno::BADF)?;
        let at = usize::try_from(fobj).map_err(|_| Errno::BADF)?;
        client.objects.get(at).cloned().ok_or(Errno::BADF)
    }

    /// Returns the directory that contains an object, and the object.
    fn holder(&self, client: i32, fobj: i32) -> Result<(OwnedFd, Object)> {
        let object = self.object(client, fobj)?;
        let flags = OFlags::PATH | OFlags::DIRECTORY;
        Ok((beneath(self.root.as_fd(), &object.directory, flags, Mode::empty())?, object))
    }

    fn directory(&self, client: i32, fobj: i32) -> Result<OwnedFd> {
        let path = path(&self.object(client, fobj)?);
        beneath(self.root.as_fd(), &path, OFlags::PATH | OFlags::DIRECTORY, Mode::empty())
    }

    fn number(&self, client: i32, parent: i32, name: CString) -> Result<i32> {
        let directory = path(&self.object(client, parent)?);
        let mut tables = self.tables();
        let client = tables.clients.get_mut(&client).ok_or(Errno::BADF)?;
        if let Some(&known) = client.known.get(&(parent, name.clone())) {
            return Ok(known);
        }
        if client.objects.len() >= OBJECTS_MAX {
            return Err(Errno::NFILE);
        }
        let number = client.objects.len() as i32;
        client.known.insert((parent, name.clone()), number);
        client.objects.push(Object { directory, name, parent });
        Ok(number)
    }

    /// Returns the number of a name in a directory. The name `..` means the directory through which
    /// the client reached `directory`.
    pub fn lookup(&self, client: i32, directory: i32, name: &[u8]) -> Result<i32> {
        if name == b"." {
            self.object(client, directory)?;
            return Ok(directory);
        }
        if name == b".." {
            return Ok(self.object(client, directory)?.parent);
        }
        let name = check_name(name)?;
        let directory_fd = self.directory(client, directory)?;
        // The name has to exist. This look-up does not follow symbolic links. A link that leads out
        // of the tree is refused later, when it is followed.
        rustix::fs::statat(&directory_fd, &name, AtFlags::SYMLINK_NOFOLLOW)?;
        self.number(client, directory, name)
    }

    /// Opens a file, and returns its handle.
    pub fn open(&self, client: i32, fobj: i32, flags: i32, mode: i32) -> Result<i32> {
        let object = self.object(client, fobj)?;
        let (write, create, truncate) =
            (flags & crate::PFS_WRITE != 0, flags & crate::PFS_CREATE != 0, flags & crate::PFS_TRUNCATE != 0);
        if (write || create || truncate) && !self.writable {
            return Err(Errno::ROFS);
        }
        let mut wanted = match (write, flags & crate::PFS_READ != 0) {
            (true, true) => OFlags::RDWR,
            (true, false) => OFlags::WRONLY,
            (false, _) => OFlags::RDONLY,
        };
        wanted |= OFlags::NONBLOCK | OFlags::NOCTTY;
        if truncate {
            wanted |= OFlags::TRUNC;
        }
        let file = if create {
            let mode = Mode::from_raw_mode(u32::try_from(mode).map_err(|_| Errno::INVAL)? & 0o777);
            beneath(self.root.as_fd(), &path(&object), wanted | OFlags::CREATE, mode)?
        } else {
            beneath(self.root.as_fd(), &path(&object), wanted, Mode::empty())?
        };
        let mut tables = self.tables();
        let owner = tables.clients.get_mut(&client).ok_or(Errno::BADF)?;
        if owner.open >= OPEN_MAX {
            return Err(Errno::MFILE);
        }
        owner.open += 1;
        tables.last_handle = tables.last_handle.checked_add(1).ok_or(Errno::NFILE)?;
        let handle = tables.last_handle;
        tables.handles.insert(handle, (client, Arc::new(Open { file, entries: Mutex::default() })));
        Ok(handle)
    }

    fn handle(&self, handle: i32) -> Result<Arc<Open>> {
        self.tables().handles.get(&handle).map(|(_, open)| Arc::clone(open)).ok_or(Errno::BADF)
    }

    /// Closes a file.
    pub fn close(&self, handle: i32) -> Result<()> {
        let mut tables = self.tables();
        let (owner, _) = tables.handles.remove(&handle).ok_or(Errno::BADF)?;
        if let Some(owner) = tables.clients.get_mut(&owner) {
            owner.open -= 1;
        }
        Ok(())
    }

    /// Reads at an offset. Returns fewer bytes than requested only at the file's end, or before an
    /// error.
    pub fn read(&self, handle: i32, at: u64, into: &mut [u8]) -> Result<usize> {
        let open = self.handle(handle)?;
        let mut done = 0;
        while done < into.len() {
            match rustix::io::pread(&open.file, &mut into[done..], at + done as u64) {
                Ok(0) => break,
                Ok(read) => done += read,
                Err(Errno::INTR) => {}
                Err(errno) if done == 0 => return Err(errno),
                Err(_) => break,
            }
        }
        Ok(done)
    }

    /// Writes all bytes at an offset.
    pub fn write(&self, handle: i32, at: u64, data: &[u8]) -> Result<()> {
        let open = self.handle(handle)?;
        let mut done = 0;
        while done < data.len() {
            match rustix::io::pwrite(&open.file, &data[done..], at + done as u64) {
                Ok(0) => return Err(Errno::IO),
                Ok(written) => done += written,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }

    /// Returns sorted entries of a directory, without `.` and `..`, as they were at the handle's
    /// first listing.
    pub fn entries(&self, handle: i32, from: u64, most: usize) -> Result<Vec<Entry>> {
        let open = self.handle(handle)?;
        let mut entries = open.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.is_none() {
            *entries = Some(Arc::new(list(&open.file)?));
        }
        let all = entries.as_ref().map(Arc::clone).unwrap_or_default();
        drop(entries);
        let from = usize::try_from(from).unwrap_or(usize::MAX).min(all.len());
        Ok(all[from..all.len().min(from.saturating_add(most))].to_vec())
    }

    /// Returns the attributes of a file. Those of a symbolic link describe the link itself.
    pub fn stat(&self, client: i32, fobj: i32) -> Result<rustix::fs::Stat> {
        let (directory, object) = self.holder(client, fobj)?;
        rustix::fs::statat(&directory, &object.name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Returns the target of a symbolic link.
    pub fn readlink(&self, client: i32, fobj: i32) -> Result<CString> {
        let (directory, object) = self.holder(client, fobj)?;
        rustix::fs::readlinkat(&directory, &object.name, Vec::new())
    }

    fn writable_directory(&self, client: i32, directory: i32) -> Result<OwnedFd> {
        if !self.writable {
            return Err(Errno::ROFS);
        }
        self.directory(client, directory)
    }

    /// Creates a directory or an empty file.
    pub fn create(&self, client: i32, directory: i32, name: &[u8], is_directory: bool, mode: u32) -> Result<i32> {
        let name = check_name(name)?;
        let fd = self.writable_directory(client, directory)?;
        let mode = Mode::from_raw_mode(mode & 0o777);
        if is_directory {
            rustix::fs::mkdirat(&fd, &name, mode)?;
        } else {
            beneath(fd.as_fd(), &name, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL, mode)?;
        }
        self.number(client, directory, name)
    }

    /// Removes a file or an empty directory.
    pub fn unlink(&self, client: i32, directory: i32, name: &[u8]) -> Result<()> {
        let name = check_name(name)?;
        let fd = self.writable_directory(client, directory)?;
        match rustix::fs::unlinkat(&fd, &name, AtFlags::empty()) {
            Err(Errno::ISDIR) => rustix::fs::unlinkat(&fd, &name, AtFlags::REMOVEDIR),
            outcome => outcome,
        }
    }

    /// Moves a file, and replaces an existing one.
    pub fn rename(&self, client: i32, from: (i32, &[u8]), to: (i32, &[u8])) -> Result<()> {
        let (from_name, to_name) = (check_name(from.1)?, check_name(to.1)?);
        let from_fd = self.writable_directory(client, from.0)?;
        let to_fd = self.writable_directory(client, to.0)?;
        rustix::fs::renameat(&from_fd, &from_name, &to_fd, &to_name)
    }
}

fn list(directory: &OwnedFd) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => {
                let stat = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
                stat.map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode))
            }
            kind => kind,
        };
        entries.push((kind, name.to_owned()));
    }
    entries.sort_by(|a, b| a.1.cmp(&b.1));
    Ok(entries)
}

#[cfg(test)]
mod tests;
