//! Names: a directory of listening sockets. The names of dead processes do not count.
//!
//! A name is a socket file, and beside it a lock file that its server holds locked. The kernel
//! releases the lock when the server ends, however it ends. A name is therefore alive while its
//! lock is held. The next server of the name takes the lock and replaces the socket. A server that
//! cannot hold such a lock, such as a Java virtual machine, keeps its name as long as its socket
//! answers.
//!
//! The module removes and writes only files of this user that are known to be a lock or a socket
//! of a name: see `lock.rs`.

mod listener;
mod lock;
mod mount;
mod peer;
mod place;
#[cfg(test)]
mod tests;

use super::greeting::Outgoing;
use crate::error::doing;
use crate::sync::lock;
use crate::window::{Options, Window};
use crate::{Deadline, Error};
use listener::Held;
pub use listener::Listener;
use lock::Found;
pub use peer::serial_behind;
pub(crate) use peer::{check_peer, local_peer, local_process};
use place::Place;
pub(super) use place::is_trusted;
use rustix::fd::OwnedFd;
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// The maximum number of dead names that one listing of the directory removes. The next listing
/// removes more.
const SWEPT_MAX: usize = 16;
/// The maximum time to wait for the lock of a name while no server listens at the name's socket.
const LOCK_TIMEOUT: Deadline = Deadline::after_secs(3);
/// The reason for refusing a name that is too long for a socket's address.
const TOO_LONG: &str = "it does not fit the 107 bytes of a socket's path";
/// The maximum number of connections in the queue of a listener.
const BACKLOG: i32 = 128;

/// The directory with the names of one user's servers.
#[derive(Clone, Debug)]
pub struct Directory {
    path: PathBuf,
    place: Arc<Mutex<Arc<Place>>>,
    service: Service,
    /// Whether names are open to all users.
    is_open: Arc<AtomicBool>,
    /// The names that this process serves through this value and its clones. Entries of names that
    /// it no longer serves are removed by the next bind.
    held: Arc<Mutex<Vec<Weak<Held>>>>,
}

/// The kind of a name's listener. Names of different kinds do not collide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Service {
    /// Connections with a window in each direction: [`Window`].
    Windows,
    /// Connections of virtual interfaces with descriptors: [`super::open`].
    Descriptors,
    /// Streams of bytes: [`crate::stream`].
    Streams,
}

impl Service {
    const ALL: [Self; 3] = [Self::Windows, Self::Descriptors, Self::Streams];

    /// Returns the endings of the file names of a name's socket and lock.
    fn endings(self) -> (&'static str, &'static str) {
        match self {
            Self::Windows => (".sock", ".lock"),
            Self::Descriptors => (".vi-sock", ".vi-lock"),
            Self::Streams => (".lrpc-sock", ".lrpc-lock"),
        }
    }

    fn socket(self) -> Result<OwnedFd, Error> {
        let kind = match self {
            Self::Windows | Self::Streams => SocketType::STREAM,
            Self::Descriptors => SocketType::SEQPACKET,
        };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        rustix::net::socket_with(AddressFamily::UNIX, kind, flags, None).map_err(Error::system("making a socket"))
    }
}

/// A name with a live server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The name.
    pub name: String,
    /// The process that serves the name, if its lock file could be read.
    pub pid: Option<u32>,
}

impl Directory {
    /// Opens the directory of this user: `$OBVIA_RUNTIME_DIR`; else `obvia` under
    /// `$XDG_RUNTIME_DIR` or `/run/user/UID`; else `/tmp/obvia-UID`.
    ///
    /// # Errors
    ///
    /// As [`Self::at`].
    pub fn of_user() -> Result<Self, Error> {
        let uid = rustix::process::geteuid().as_raw();
        let run = PathBuf::from(format!("/run/user/{uid}"));
        let path = if let Some(path) = std::env::var_os("OBVIA_RUNTIME_DIR").filter(|path| !path.is_empty()) {
            PathBuf::from(path)
        } else if let Some(path) = std::env::var_os("XDG_RUNTIME_DIR").filter(|path| !path.is_empty()) {
            PathBuf::from(path).join("obvia")
        } else if run.is_dir() {
            run.join("obvia")
        } else {
            PathBuf::from(format!("/tmp/obvia-{uid}"))
        };
        Self::at(path)
    }

    /// Opens a directory of the caller's choice. Makes the directory if it is missing. A directory
    /// of the superuser is accepted as well: it has the names of servers for other users.
    ///
    /// The directory is opened and checked once. If the path leads to another directory afterwards,
    /// this value still uses the directory that it opened. If the opened directory was removed, the
    /// next use opens the path again, and checks the directory found there.
    ///
    /// # Errors
    ///
    /// [`Error::UnsafeDirectory`] when the directory belongs to another user, when other users may
    /// write to it, when it lies on a file system in user space (FUSE) that is not the root's, or
    /// when the path leads to a file that is no directory, such as a link to a directory;
    /// [`Error::Names`] when the directory can neither be opened nor made, or when its file system
    /// does not answer in time.
    pub fn at(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let place = Place::open(&path.into())?;
        let path = place.path().to_owned();
        let place = Arc::new(Mutex::new(Arc::new(place)));
        Ok(Self { path, place, service: Service::Windows, is_open: Arc::default(), held: Arc::default() })
    }

    /// Returns the directory's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the opened directory. Opens the path again when the directory was removed.
    fn place(&self) -> Result<Arc<Place>, Error> {
        let known = Arc::clone(&lock(&self.place));
        if !known.is_removed() {
            return Ok(known);
        }
        // The open is made without the lock. If a file system hangs, threads then wait for it at
        // the same time, and not one after the other.
        let opened = Place::open(&self.path)?;
        let mut place = lock(&self.place);
        // Another thread may have opened the directory meanwhile.
        if place.is_removed() {
            *place = Arc::new(opened);
        }
        Ok(Arc::clone(&place))
    }

    /// Lets processes of every user connect to the names that are served from now on through this
    /// value and its clones. Peers of other users get windows and streams, but no virtual
    /// interfaces with descriptors. The directory's mode still limits access.
    pub fn open_to_all_users(&self) {
        self.is_open.store(true, Ordering::Release);
    }

    /// Returns the same directory for the names of virtual interfaces with descriptors.
    pub(super) fn for_descriptors(&self) -> Self {
        Self { service: Service::Descriptors, ..self.clone() }
    }

    /// Returns the same directory for the names of streams.
    pub(crate) fn for_streams(&self) -> Self {
        Self { service: Service::Streams, ..self.clone() }
    }

    /// Returns a file descriptor that becomes readable when a name may have been added.
    ///
    /// # Errors
    ///
    /// [`Error::System`] when the system cannot watch the directory; the errors of [`Self::at`]
    /// when the directory was removed and cannot be opened anew.
    pub fn watch(&self) -> Result<OwnedFd, Error> {
        self.place()?.watch()
    }

    /// Serves a name.
    ///
    /// # Errors
    ///
    /// [`Error::NameInUse`] when a live process serves the name; [`Error::BadName`] when the text
    /// cannot be a name; [`Error::ForeignFile`] when a file of another program is in the place of a
    /// file of the name; [`Error::Names`] when this user cannot make files in the directory.
    pub fn bind(&self, name: &str) -> Result<Listener, Error> {
        let files = self.files_of(name)?;
        let address = files.address()?;
        // Binding is a good moment to remove the files of dead servers; a failure does not matter
        // here.
        let _ = self.list();
        if files.answers() {
            return Err(Error::NameInUse { name: name.to_owned(), pid: files.owner() });
        }
        let file_lock = files.lock(LOCK_TIMEOUT)?;
        let file = files.socket_file();
        // The lock is held here and no server answered: the server that made this file is dead.
        files.place.remove_dead_socket(&file)?;
        let listener = self.service.socket()?;
        let binding = files.place.error("binding", &file);
        rustix::net::bind(&listener, &address).map_err(&binding)?;
        let made = files.place.found(&file).map_err(&binding)?;
        let is_open = self.is_open.load(Ordering::Acquire);
        if is_open {
            files.place.open_to_everybody(&file)?;
        }
        rustix::net::listen(&listener, BACKLOG).map_err(&binding)?;
        let held = Arc::new(Held { files, made, lock: file_lock, is_nameless: AtomicBool::new(false) });
        let mut known = lock(&self.held);
        known.retain(|held| held.strong_count() > 0);
        known.push(Arc::downgrade(&held));
        Ok(Listener { listener, is_open, held })
    }

    /// Gives up every name that is served through this value and its clones, for all kinds of
    /// listeners. No file of these names remains in the directory. A process calls this function
    /// last.
    pub fn give_up_names(&self) {
        let held = std::mem::take(&mut *lock(&self.held));
        held.iter().filter_map(Weak::upgrade).for_each(|held| held.give_up());
    }

    /// Connects to the server of a name.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when no server has the name; [`Error::TimedOut`] when the server does
    /// not greet by the deadline; [`Error::AccessDenied`] when the server runs as another user.
    pub fn connect(&self, name: &str, options: &Options, deadline: Deadline) -> Result<Window, Error> {
        let deadline = deadline.start();
        self.dial(name, deadline)?.complete(options, deadline)
    }

    /// Begins a connection to the server of a name. [`Outgoing::complete`] makes the connection.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when no server has the name; [`Error::TimedOut`] when the server does
    /// not accept by the deadline; [`Error::AccessDenied`] when the server runs as another user.
    pub fn dial(&self, name: &str, deadline: Deadline) -> Result<Outgoing, Error> {
        Ok(Outgoing { socket: Arc::new(self.reach(name, None, deadline)?) })
    }

    /// Returns a socket that is connected to the server of a name, after a check of the server's
    /// user. If `own` is given, the socket is bound to that address.
    pub(crate) fn reach(&self, name: &str, own: Option<&SocketAddrUnix>, deadline: Deadline) -> Result<OwnedFd, Error> {
        let files = self.files_of(name)?;
        let address = files.address()?;
        let socket = self.service.socket()?;
        if let Some(own) = own {
            rustix::net::bind(&socket, own).map_err(Error::system("giving a socket an address"))?;
        }
        loop {
            match rustix::net::connect(&socket, &address) {
                Ok(()) => break,
                Err(Errno::NOENT | Errno::CONNREFUSED) => {
                    return Err(Error::NotFound { name: name.to_owned() });
                }
                // The listener's queue is full (the socket does not block), or a signal interrupted
                // the call.
                Err(Errno::AGAIN | Errno::INTR) if !deadline.is_over() => {
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
                Err(Errno::AGAIN | Errno::INTR) => return Err(Error::TimedOut),
                Err(errno) => return Err(files.place.error(doing::CONNECTING, &files.socket_file())(errno)),
            }
        }
        check_peer(&socket)?;
        Ok(socket)
    }

    /// Returns the names with live servers, sorted. Removes the files of dead servers of all kinds.
    ///
    /// # Errors
    ///
    /// [`Error::Names`] when the directory cannot be read; the errors of [`Self::at`] when the
    /// directory was removed and cannot be opened anew.
    pub fn list(&self) -> Result<Vec<Entry>, Error> {
        let (mut entries, mut swept) = (Vec::new(), 0);
        for file in self.place()?.files()? {
            // A file whose name is not that of a lock belongs to another program.
            let Some(files) = Service::ALL.into_iter().find_map(|service| {
                let name = file.strip_suffix(service.endings().1)?;
                Self { service, ..self.clone() }.files_of(name).ok()
            }) else {
                continue;
            };
            let is_served = files.is_served();
            if is_served && files.service == self.service {
                let pid = files.owner();
                entries.push(Entry { name: files.name, pid });
            } else if !is_served && swept < SWEPT_MAX {
                swept += 1;
                files.sweep();
            }
        }
        entries.sort();
        Ok(entries)
    }

    /// Whether a live server has the name.
    pub fn is_served(&self, name: &str) -> bool {
        self.files_of(name).is_ok_and(|files| files.is_served())
    }

    /// Returns the socket of a name, for a provider that takes no locks.
    #[cfg(feature = "fabric")]
    pub(crate) fn socket(&self, name: &str, ending: &str) -> Result<NamedSocket, Error> {
        let NameFiles { place, name, .. } = self.files_of(name)?;
        let file = format!("{name}{ending}");
        match place.address(&file)? {
            Some(_) => Ok(NamedSocket { place, file }),
            None => Err(Error::BadName { name, why: TOO_LONG }),
        }
    }

    /// Returns the directory and the file names of a name.
    fn files_of(&self, name: &str) -> Result<NameFiles, Error> {
        let bad = |why| Error::BadName { name: name.to_owned(), why };
        if name.is_empty() || name.starts_with('.') {
            return Err(bad("a name must have at least one character and must not begin with a dot"));
        }
        if let Some(_wrong) = name.chars().find(|&c| c == '/' || c.is_control() || c.is_whitespace()) {
            return Err(bad("a name must not contain a slash, a space or a control character"));
        }
        Ok(NameFiles { place: self.place()?, name: name.to_owned(), service: self.service })
    }
}

/// The file of a socket in a directory.
#[cfg(feature = "fabric")]
#[derive(Debug)]
pub(crate) struct NamedSocket {
    place: Arc<Place>,
    file: String,
}

#[cfg(feature = "fabric")]
impl NamedSocket {
    /// Returns a path to the socket that is valid as long as this value lives.
    pub(crate) fn path(&self) -> Result<PathBuf, Error> {
        self.place.way_to(&self.file)
    }

    /// Removes the socket if it belongs to this user. The caller ensures that no server listens at
    /// the socket any more.
    pub(crate) fn remove_dead(&self) -> Result<(), Error> {
        self.place.remove_dead_socket(&self.file)
    }
}

/// The directory of a name's two files, and the values from which their file names are made.
#[derive(Debug)]
struct NameFiles {
    place: Arc<Place>,
    name: String,
    service: Service,
}

impl NameFiles {
    fn socket_file(&self) -> String {
        format!("{}{}", self.name, self.service.endings().0)
    }

    fn lock_file(&self) -> String {
        format!("{}{}", self.name, self.service.endings().1)
    }

    fn address(&self) -> Result<SocketAddrUnix, Error> {
        let too_long = || Error::BadName { name: self.name.clone(), why: TOO_LONG };
        self.place.address(&self.socket_file())?.ok_or_else(too_long)
    }

    /// Whether a live server has the name.
    fn is_served(&self) -> bool {
        match self.look() {
            None | Some((_, Found::Foreign { .. })) => false,
            Some((file, _)) => {
                let lock = rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared);
                drop(file);
                lock == Err(Errno::WOULDBLOCK) || self.answers()
            }
        }
    }

    /// Whether a server listens at the socket of the name. The server sees a client that connects
    /// and leaves.
    fn answers(&self) -> bool {
        let (Ok(socket), Ok(address)) = (self.service.socket(), self.address()) else { return false };
        // A socket of another type belongs to another program, which may be running.
        matches!(rustix::net::connect(&socket, &address), Ok(()) | Err(Errno::AGAIN | Errno::PROTOTYPE))
    }
}
