//! Names: a directory of listening sockets, in which the names of dead processes do not count.
//!
//! A name is a socket file, and beside it a lock file that its server holds locked. The kernel drops the lock when the server
//! ends, however it ends, so a name is alive while its lock is held; the next server of the name takes the lock and
//! replaces the socket. A server that cannot hold such a lock, as a virtual machine cannot, has its name as long as its socket answers.

use super::greeting::Incoming;
use crate::stream::accept;
use crate::window::{Options, Window};
use crate::{Deadline, Error};
use rustix::fd::OwnedFd;
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};
use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The longest path of a socket, from the kernel's `sockaddr_un`.
const PATH_MAX: usize = 107;
/// Dead names that one look at the directory removes; the next look removes more.
const SWEPT_MAX: usize = 16;
/// The longest wait for a lock whose holder does not answer at the name.
const PATIENCE: Deadline = Deadline::after_secs(3);
/// Connections that wait to be accepted.
const BACKLOG: i32 = 128;

/// Where the names of one user's servers are.
#[derive(Clone, Debug)]
pub struct Directory {
    path: PathBuf,
    service: Service,
    /// Whether names are for everybody.
    is_open: Arc<AtomicBool>,
}

/// What listens behind a name. Names of one kind do not collide with names of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Service {
    /// Connections with a window each way: [`Vi`].
    Windows,
    /// Connections of virtual interfaces with descriptors: [`super::open`].
    Descriptors,
    /// Streams of bytes: [`crate::stream`].
    Streams,
}

impl Service {
    /// How the file names of a name's socket and lock end.
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

/// A name that is being served.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The name.
    pub name: String,
    /// The process that serves it, where it could be read.
    pub pid: Option<u32>,
}

impl Directory {
    /// The directory of this user: `$OBVIA_RUNTIME_DIR`, else `obvia` under `$XDG_RUNTIME_DIR` or `/run/user/UID`, else
    /// `/tmp/obvia-UID`.
    ///
    /// # Errors
    ///
    /// [`Error::UnsafeDirectory`] when it belongs to another user or others may write to it.
    pub fn of_user() -> Result<Self, Error> {
        let uid = rustix::process::getuid().as_raw();
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

    /// A directory of the caller's choice, made when missing. The superuser's will do, too: it has names of servers that are there for others.
    ///
    /// # Errors
    ///
    /// As [`Self::of_user`].
    pub fn at(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&path)
            .map_err(Error::io("making the directory for names"))?;
        let found = fs::symlink_metadata(&path).map_err(Error::io("looking at the directory for names"))?;
        let why = if !found.is_dir() {
            "it is not a directory"
        } else if !is_trusted(found.uid()) {
            "it belongs to another user"
        } else if found.mode() & 0o022 != 0 {
            "others may write to it"
        } else {
            return Ok(Self { path, service: Service::Windows, is_open: Arc::default() });
        };
        Err(Error::UnsafeDirectory { path, why })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Has names that are served from now on be for processes of every user, as far as the directory lets them in: connections, and streams.
    pub fn open_to_all_users(&self) {
        self.is_open.store(true, Ordering::Release);
    }

    /// The same directory, for the names of virtual interfaces with descriptors.
    pub(super) fn for_descriptors(&self) -> Self {
        Self { service: Service::Descriptors, ..self.clone() }
    }

    /// The same directory, for the names of streams.
    pub(crate) fn for_streams(&self) -> Self {
        Self { service: Service::Streams, ..self.clone() }
    }

    /// Serves a name.
    ///
    /// # Errors
    ///
    /// [`Error::NameInUse`] when a live process serves it, [`Error::BadName`] when it cannot be a name.
    pub fn bind(&self, name: &str) -> Result<Listener, Error> {
        let address = self.address(name)?;
        // A good moment to look for what dead servers left behind; whether it works does not matter here.
        let _ = self.list();
        if self.answers(name) {
            return Err(Error::NameInUse { name: name.to_owned(), pid: self.owner(name) });
        }
        let lock = self.lock(name, PATIENCE)?;
        let socket = self.socket(name);
        // The lock is ours and nobody answered, so whoever made this file is dead.
        let _ = fs::remove_file(&socket);
        let listener = self.service.socket()?;
        rustix::net::bind(&listener, &address).map_err(Error::system("binding a name"))?;
        let is_open = self.is_open.load(Ordering::Acquire);
        if is_open {
            let everybody = fs::Permissions::from_mode(0o666);
            fs::set_permissions(&socket, everybody).map_err(Error::io("letting everybody connect to a name"))?;
        }
        rustix::net::listen(&listener, BACKLOG).map_err(Error::system("listening on a name"))?;
        let (lock_path, is_nameless) = (self.lock_path(name), AtomicBool::new(false));
        Ok(Listener { listener, is_open, socket, lock_path, lock, is_nameless })
    }

    /// Connects to the server of a name.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when nobody serves it, [`Error::TimedOut`] when its server does not greet by the deadline,
    /// [`Error::AccessDenied`] when it runs as another user.
    pub fn connect(&self, name: &str, options: &Options, deadline: Deadline) -> Result<Window, Error> {
        let deadline = deadline.start();
        let socket = self.reach(name, None, deadline)?;
        Incoming { socket, is_open: false }.request(options, deadline)
    }

    /// A socket that is connected to the server of a name, who is somebody to talk to. It may have an address of its own.
    pub(crate) fn reach(&self, name: &str, own: Option<&SocketAddrUnix>, deadline: Deadline) -> Result<OwnedFd, Error> {
        let address = self.address(name)?;
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
                // The queue of the listener is full (the socket does not block), or a signal came.
                Err(Errno::AGAIN | Errno::INTR) if !deadline.is_over() => {
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
                Err(Errno::AGAIN | Errno::INTR) => return Err(Error::TimedOut),
                Err(errno) => return Err(Error::system("connecting to a name")(errno)),
            }
        }
        check_peer(&socket)?;
        Ok(socket)
    }

    /// The names that are being served, sorted.
    ///
    /// # Errors
    ///
    /// Only when the directory cannot be read.
    pub fn list(&self) -> Result<Vec<Entry>, Error> {
        let doing = "reading the directory for names";
        let (mut entries, mut swept) = (Vec::new(), 0);
        let (_, lock_ending) = self.service.endings();
        for file in fs::read_dir(&self.path).map_err(Error::io(doing))? {
            let file = file.map_err(Error::io(doing))?.file_name();
            let Some(name) = file.to_str().and_then(|file| file.strip_suffix(lock_ending)) else {
                continue;
            };
            if self.is_served(name) {
                entries.push(Entry { name: name.to_owned(), pid: self.owner(name) });
            } else if swept < SWEPT_MAX {
                swept += 1;
                self.sweep(name);
            }
        }
        entries.sort();
        Ok(entries)
    }

    /// Removes the files of a name whose server ended without doing so.
    fn sweep(&self, name: &str) {
        // With the lock held they are nobody's. A server that wants the name meanwhile waits a moment, and then finds
        // that the lock it opened is gone.
        if let Ok(_lock) = self.lock(name, Deadline::after_secs(0)) {
            let _ = fs::remove_file(self.socket(name));
            let _ = fs::remove_file(self.lock_path(name));
        }
    }

    /// Whether somebody serves a name.
    pub fn is_served(&self, name: &str) -> bool {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let Ok(file) = rustix::fs::open(self.lock_path(name), flags, Mode::empty()) else {
            return false;
        };
        let lock = rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared);
        drop(file);
        lock == Err(Errno::WOULDBLOCK) || self.answers(name)
    }

    /// Whether somebody listens at the socket of a name, and takes us for a client that has thought better of it.
    fn answers(&self, name: &str) -> bool {
        let (Ok(socket), Ok(address)) = (self.service.socket(), self.address(name)) else { return false };
        matches!(rustix::net::connect(&socket, &address), Ok(()) | Err(Errno::AGAIN))
    }

    fn owner(&self, name: &str) -> Option<u32> {
        fs::read_to_string(self.lock_path(name)).ok()?.trim().parse().ok()
    }

    /// Takes the lock of a name and writes this process into it.
    fn lock(&self, name: &str, patience: Deadline) -> Result<OwnedFd, Error> {
        let path = self.lock_path(name);
        let in_use = || Error::NameInUse { name: name.to_owned(), pid: self.owner(name) };
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let deadline = patience.start();
        // A lock file that its last owner removes between our open and our lock is no lock; then open again.
        for _ in 0..16 {
            let file = rustix::fs::open(&path, flags, Mode::from_raw_mode(0o600))
                .map_err(Error::system("opening the lock of a name"))?;
            // `list` locks a name for a moment: shared to look, exclusive to remove a dead server's files. Its thread may be stopped meanwhile.
            // A server that holds the lock answers soon.
            while let Err(errno) = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                if errno != Errno::WOULDBLOCK {
                    return Err(Error::system("locking a name")(errno));
                }
                if deadline.is_over() || self.answers(name) {
                    return Err(in_use());
                }
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
            // Virtual machines have no call for that lock, but for this one. Ours goes when this process closes any
            // file of the name, so it counts while the name is taken; afterwards the socket answers.
            if rustix::fs::fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
                return Err(in_use());
            }
            let ours = rustix::fs::fstat(&file).map_err(Error::system("locking a name"))?;
            let there = fs::symlink_metadata(&path);
            if there.is_ok_and(|there| there.ino() == ours.st_ino && there.dev() == ours.st_dev) {
                rustix::fs::ftruncate(&file, 0).map_err(Error::system("locking a name"))?;
                let pid = format!("{}\n", std::process::id());
                rustix::io::pwrite(&file, pid.as_bytes(), 0).map_err(Error::system("locking a name"))?;
                return Ok(file);
            }
        }
        Err(in_use())
    }

    fn socket(&self, name: &str) -> PathBuf {
        self.path.join(format!("{name}{}", self.service.endings().0))
    }

    fn lock_path(&self, name: &str) -> PathBuf {
        self.path.join(format!("{name}{}", self.service.endings().1))
    }

    fn address(&self, name: &str) -> Result<SocketAddrUnix, Error> {
        let bad = |why| Error::BadName { name: name.to_owned(), why };
        if name.is_empty() || name.starts_with('.') {
            return Err(bad("a name has at least one character and does not begin with a dot"));
        }
        if let Some(_wrong) = name.chars().find(|&c| c == '/' || c.is_control() || c.is_whitespace()) {
            return Err(bad("a name has no slash, space or control character"));
        }
        let path = self.socket(name);
        if path.as_os_str().len() > PATH_MAX {
            return Err(bad("with its directory it is longer than the 107 bytes of a socket's path"));
        }
        SocketAddrUnix::new(path).map_err(Error::system("making the address of a name"))
    }
}

/// Refuses a peer of another user. The superuser's processes may talk to everybody's, and everybody to theirs is not
/// given: that is decided by the directory's mode.
pub(super) fn check_peer(socket: &OwnedFd) -> Result<(), Error> {
    let (_, uid) = local_peer(socket)?;
    if is_trusted(uid) { Ok(()) } else { Err(Error::AccessDenied { uid }) }
}

/// Whether a user could do to this process whatever it likes anyway: its own, and the superuser.
fn is_trusted(uid: u32) -> bool {
    uid == rustix::process::getuid().as_raw() || uid == 0
}

/// Process and user at the other end of a Unix socket, as the kernel recorded them at connect.
pub(crate) fn local_peer(socket: &OwnedFd) -> Result<(u32, u32), Error> {
    let peer = sockopt::socket_peercred(socket).map_err(Error::system("asking who the peer is"))?;
    Ok((peer.pid.as_raw_pid().unsigned_abs(), peer.uid.as_raw()))
}

/// A name being served. Dropping it ends that, and the name disappears; connections that were made go on.
#[derive(Debug)]
pub struct Listener {
    listener: OwnedFd,
    /// Whether processes of every user may connect.
    is_open: bool,
    socket: PathBuf,
    lock_path: PathBuf,
    lock: OwnedFd,
    /// Whether the lock is another server's by now, and the files are.
    is_nameless: AtomicBool,
}

impl Listener {
    /// Waits for a peer to connect.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] after the deadline; [`Error::Cancelled`] after [`Self::close`].
    pub fn accept(&self, deadline: Deadline) -> Result<Incoming, Error> {
        Ok(Incoming { socket: accept(&self.listener, deadline)?, is_open: self.is_open })
    }

    /// The same, for a stream: a peer of another user is refused at once, unless the name is for everybody.
    pub(crate) fn accept_stream(&self, deadline: Deadline) -> Result<OwnedFd, Error> {
        let socket = accept(&self.listener, deadline)?;
        if !self.is_open {
            check_peer(&socket)?;
        }
        Ok(socket)
    }

    /// The socket that peers connect to.
    pub(super) fn socket(&self) -> &OwnedFd {
        &self.listener
    }

    /// Ends a wait in [`Self::accept`] from another thread, and refuses further peers. The name is free when this returns.
    pub fn close(&self) {
        let _ = rustix::net::shutdown(&self.listener, rustix::net::Shutdown::Both);
        self.give_up_name();
    }

    fn give_up_name(&self) {
        if self.is_nameless.swap(true, Ordering::Relaxed) {
            return;
        }
        // Both while the lock is still held, so no other server's files are removed.
        let _ = fs::remove_file(&self.socket);
        let _ = fs::remove_file(&self.lock_path);
        let _ = rustix::fs::flock(&self.lock, FlockOperation::Unlock);
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.give_up_name();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::net::UnixListener;
    use std::process::{Command, Stdio};

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no sockets")]
    fn a_name_whose_server_holds_no_lock_lives_as_long_as_its_socket_answers() {
        let path = ground::Folder::new("via-directory");
        let directory = Directory::at(path.path()).unwrap();
        let server = UnixListener::bind(path.join("java.sock")).unwrap();
        fs::write(path.join("java.lock"), "4711\n").unwrap();
        let entry = Entry { name: "java".to_owned(), pid: Some(4711) };
        assert_eq!(directory.list().unwrap(), [entry]);
        assert!(matches!(directory.bind("java"), Err(Error::NameInUse { pid: Some(4711), .. })));
        drop(server);
        assert!(!directory.is_served("java"));
        drop(directory.bind("java").unwrap());
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri starts no processes")]
    fn a_name_that_a_virtual_machine_is_just_taking_is_in_use() {
        const LOCK: &str = "VIA_TEST_LOCK";
        if let Some(path) = std::env::var_os(LOCK) {
            let file = fs::File::options().write(true).open(path).unwrap();
            rustix::fs::fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
            println!("held");
            let _ = std::io::stdin().read_line(&mut String::new());
            return;
        }
        let path = ground::Folder::new("via-directory");
        let directory = Directory::at(path.path()).unwrap();
        fs::write(path.join("java.lock"), "").unwrap();
        let name = "provider::shm::directory::tests::a_name_that_a_virtual_machine_is_just_taking_is_in_use";
        let mut holder = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture"])
            .env(LOCK, path.join("java.lock"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(holder.stdout.take().unwrap()).lines();
        assert!(lines.by_ref().map_while(Result::ok).any(|line| line.contains("held")));
        assert!(matches!(directory.bind("java"), Err(Error::NameInUse { .. })));
        drop(holder.stdin.take());
        assert!(holder.wait().unwrap().success());
        drop(directory.bind("java").unwrap());
    }
}
