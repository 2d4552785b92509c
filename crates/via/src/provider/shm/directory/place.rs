//! The directory itself: opened once, and then checked and reached only by its descriptor.
//!
//! Other users may change the meaning of a path: the owner of a folder on the way to the directory
//! can replace that folder at any moment. The path is therefore used once, to open the directory,
//! and the check is made on the opened directory. Every file is reached from the descriptor. For
//! sockets, the kernel takes only a path: that path leads through the descriptor.

use super::mount;
use crate::error::Distrust;
use crate::{Error, error};
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags, Stat, inotify, openat, openat2, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::net::SocketAddrUnix;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

/// The maximum time that opening the directory may take.
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest path of a socket in bytes, from the kernel's `sockaddr_un`.
const PATH_MAX: usize = 107;
/// The flags for opening the directory. With `PATH`, the kernel asks nothing of the directory's
/// file system. With `NOFOLLOW`, the kernel refuses a link at the directory's path.
const OPENED: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// The mode bits that a directory of names must not have: only its owner writes to it.
const OTHERS_WRITE: u32 = 0o022;

/// An opened directory that only this user or the superuser may write to.
#[derive(Debug)]
pub(super) struct Place {
    path: PathBuf,
    directory: OwnedFd,
    /// Whether `/proc` shows this process its descriptors as files.
    is_reached_by_descriptor: bool,
}

impl Place {
    /// Opens a directory. Makes the directory if it is missing.
    ///
    /// A file system in user space (FUSE) may never answer, and then a system call on it waits
    /// without end. The calls are therefore made on another thread, unless the list of mounts shows
    /// that every file system on the path answers. A directory on FUSE is refused, unless the root
    /// is on FUSE, too.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        // A slash or a dot at the end of the path is removed, because either would make the kernel
        // follow a link at the end. The path also becomes independent of this process's working
        // directory.
        let path: PathBuf = std::path::absolute(path).map_err(|error| opening(path, error))?.components().collect();
        if let Some(directory) = Self::open_at_once(&path) {
            return Self::admitted(path, directory);
        }
        let (tell, told) = mpsc::channel();
        let of_thread = path.clone();
        let look = move || drop(tell.send(Self::open_by_any_way(of_thread)));
        let thread = std::thread::Builder::new().name("obvia-names".to_owned()).spawn(look);
        thread.map_err(|error| opening(&path, error))?;
        let late = || io::Error::new(io::ErrorKind::TimedOut, "its file system does not respond");
        told.recv_timeout(OPEN_TIMEOUT).unwrap_or_else(|_| Err(opening(&path, late())))
    }

    /// Opens a directory if every file system on its path is sure to answer.
    ///
    /// The list of mounts is only valid for paths without links, so the kernel is told to follow no
    /// link. Returns `None` if a file system may not answer, if the path has a link, if a folder is
    /// missing, or if the kernel lacks openat2(2).
    fn open_at_once(path: &Path) -> Option<OwnedFd> {
        let open = || openat2(CWD, path, OPENED, Mode::empty(), ResolveFlags::NO_SYMLINKS).ok();
        mount::is_reached_at_once(path).then(open).flatten()
    }

    fn open_by_any_way(path: PathBuf) -> Result<Self, Error> {
        // `create` also fails if a file of another kind is at the path. Its result is evaluated
        // only if the open fails.
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&path);
        let directory = match (openat(CWD, &path, OPENED, Mode::empty()), made) {
            (Ok(directory), _) => directory,
            (Err(Errno::NOTDIR | Errno::LOOP), made) if made.is_ok() || std::fs::symlink_metadata(&path).is_ok() => {
                return Err(Error::UnsafeDirectory { path, why: Distrust::NotADirectory });
            }
            (Err(_), Err(error)) => {
                return Err(Error::Names { doing: "creating the directory for names", path, source: error });
            }
            (Err(errno), Ok(())) => return Err(opening(&path, errno.into())),
        };
        Self::admitted(path, directory)
    }

    /// Checks an opened directory: its file system, which may have been mounted a moment ago, and
    /// then its owner and its mode.
    fn admitted(path: PathBuf, directory: OwnedFd) -> Result<Self, Error> {
        if mount::is_in_user_space(&directory) {
            return Err(Error::UnsafeDirectory { path, why: Distrust::InUserSpace });
        }
        let found = rustix::fs::fstat(&directory).map_err(|errno| opening(&path, errno.into()))?;
        let mode = found.st_mode & 0o7777;
        if !is_trusted(found.st_uid) {
            return Err(Error::UnsafeDirectory { path, why: Distrust::OfAnotherUser { uid: found.st_uid } });
        }
        if mode & OTHERS_WRITE != 0 {
            return Err(Error::UnsafeDirectory { path, why: Distrust::WritableByOthers { mode } });
        }
        let through = statat(CWD, through(&directory), AtFlags::empty());
        let is_reached_by_descriptor = through.is_ok_and(|through| is_same(&through, &found));
        Ok(Self { path, directory, is_reached_by_descriptor })
    }

    /// Returns the directory's path at the time of opening.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the directory was removed. No process finds a file that is made in a removed
    /// directory.
    pub(super) fn is_removed(&self) -> bool {
        rustix::fs::fstat(&self.directory).is_ok_and(|found| found.st_nlink == 0)
    }

    /// Returns a function that makes an error about a file of the directory.
    pub(super) fn error(&self, doing: &'static str, file: &str) -> impl Fn(Errno) -> Error + use<> {
        let path = self.path.join(file);
        move |errno| Error::Names { doing, path: path.clone(), source: errno.into() }
    }

    /// Opens a file. Does not follow a link, and does not wait.
    pub(super) fn file(&self, file: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        let always = OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        openat(&self.directory, file, flags | always, Mode::from_raw_mode(0o600))
    }

    /// Returns the status of a file; for a link, the status of the link itself.
    pub(super) fn found(&self, file: &str) -> Result<Stat, Errno> {
        statat(&self.directory, file, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Removes a file that is known to belong to this user's names.
    pub(super) fn remove(&self, file: &str) {
        // A file that is gone already needs no removal.
        let _ = unlinkat(&self.directory, file, AtFlags::empty());
    }

    /// Removes a socket of this user. The caller knows that no server listens at it.
    pub(super) fn remove_dead_socket(&self, file: &str) -> Result<(), Error> {
        match self.found(file) {
            Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(self.error("examining the socket of a name", file)(errno)),
            Ok(found) if is_own_socket(&found) => {
                self.remove(file);
                Ok(())
            }
            Ok(_) => Err(Error::ForeignFile { path: self.path.join(file), why: "it is not a socket of this user" }),
        }
    }

    /// Lets every user connect to a socket that was just made.
    pub(super) fn open_to_everybody(&self, file: &str) -> Result<(), Error> {
        let failed = self.error("admitting other users to a name", file);
        // The mode is set through an open file, so a link that has replaced the socket is not
        // followed.
        let socket = self.file(file, OFlags::PATH).map_err(&failed)?;
        if !is_own_socket(&rustix::fs::fstat(&socket).map_err(&failed)?) {
            return Err(Error::ForeignFile { path: self.path.join(file), why: "it is not a socket of this user" });
        }
        let everybody = Mode::from_raw_mode(0o666);
        let done = if self.is_reached_by_descriptor {
            rustix::fs::chmod(through(&socket), everybody)
        } else {
            // The file is this user's own, in a directory that no other user writes to.
            rustix::fs::chmodat(&self.directory, file, everybody, AtFlags::empty())
        };
        done.map_err(failed)
    }

    /// Returns the names of the files in the directory.
    pub(super) fn files(&self) -> Result<Vec<String>, Error> {
        let failed =
            |errno: Errno| Error::Names { doing: error::doing::READING, path: self.path.clone(), source: errno.into() };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let readable = openat(&self.directory, ".", flags, Mode::empty()).map_err(failed)?;
        let mut files = Vec::new();
        for entry in Dir::new(readable).map_err(failed)? {
            // A file name that is not UTF-8 cannot belong to a server's name.
            if let Ok(file) = entry.map_err(failed)?.file_name().to_str() {
                files.push(file.to_owned());
            }
        }
        Ok(files)
    }

    /// Returns a path of a file. The path leads through the directory's descriptor where `/proc`
    /// allows that.
    pub(super) fn way_to(&self, file: &str) -> Result<PathBuf, Error> {
        if self.is_reached_by_descriptor {
            return Ok(through(&self.directory).join(file));
        }
        // Without `/proc`, the path itself is used as long as it leads to the same directory.
        let failed = self.error("reaching", file);
        let found = statat(CWD, &self.path, AtFlags::SYMLINK_NOFOLLOW).map_err(&failed)?;
        let opened = rustix::fs::fstat(&self.directory).map_err(&failed)?;
        if is_same(&found, &opened) { Ok(self.path.join(file)) } else { Err(failed(Errno::STALE)) }
    }

    /// Returns the address of a socket in the directory; `None` when its path is too long for an
    /// address.
    pub(super) fn address(&self, file: &str) -> Result<Option<SocketAddrUnix>, Error> {
        let way = self.way_to(file)?;
        if way.as_os_str().len() > PATH_MAX {
            return Ok(None);
        }
        SocketAddrUnix::new(way).map(Some).map_err(self.error("forming the socket address of", file))
    }

    /// Returns a file descriptor that becomes readable when a file was made or written to.
    pub(super) fn watch(&self) -> Result<OwnedFd, Error> {
        let doing = error::Error::system("watching the directory for names");
        let watch = inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK).map_err(&doing)?;
        // A server locks its name first, and then listens.
        let wanted = inotify::WatchFlags::CREATE | inotify::WatchFlags::MODIFY;
        inotify::add_watch(&watch, self.way_to(".")?, wanted).map_err(&doing)?;
        Ok(watch)
    }
}

fn opening(path: &Path, source: io::Error) -> Error {
    Error::Names { doing: "opening the directory for names", path: path.to_owned(), source }
}

/// Returns the path under which this process sees the file of its own descriptor.
fn through(file: &impl AsFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_fd().as_raw_fd()))
}

/// Whether two statuses are of the same file.
pub(super) fn is_same(one: &Stat, other: &Stat) -> bool {
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
}

pub(super) fn is_own(found: &Stat, kind: FileType) -> bool {
    FileType::from_raw_mode(found.st_mode) == kind && found.st_uid == rustix::process::geteuid().as_raw()
}

pub(super) fn is_own_socket(found: &Stat) -> bool {
    is_own(found, FileType::Socket)
}

/// Whether a user has full control of this process anyway, as the process's own user and the
/// superuser have.
pub(in super::super) fn is_trusted(uid: u32) -> bool {
    uid == rustix::process::geteuid().as_raw() || uid == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn opening_an_existing_local_directory_starts_no_thread() {
        let folder = ground::Folder::new("via-place");
        // The folder for temporary files may be a link.
        let way = std::fs::canonicalize(folder.path()).unwrap();
        let root = openat2(CWD, "/", OPENED, Mode::empty(), ResolveFlags::NO_SYMLINKS);
        // The assertion holds only if the file systems of the tests' folders are sure to answer and
        // the kernel has openat2(2). Otherwise the thread is needed.
        if root.is_ok() && mount::is_reached_at_once(&way) {
            assert!(Place::open_at_once(&way).is_some());
        }
        // `open_at_once` refuses links, because they may lead anywhere, and missing folders, which
        // the thread makes.
        std::fs::create_dir(folder.join("names")).unwrap();
        symlink(folder.path(), folder.join("link")).unwrap();
        for other in ["link", "link/names", "missing"] {
            assert!(Place::open_at_once(&folder.join(other)).is_none(), "{other}");
            assert_eq!(Place::open(&folder.join(other)).is_ok(), other != "link", "{other}");
        }
    }
}
