//! Common ground for tests: folders of a test's own, ports without a listener, other programs,
//! threads that race, and waits for events.
//!
//! Several processes, of several checkouts and users, run tests at the same time, on machines that
//! may stop any thread for seconds. So a folder's name contains the process ID, and a port without
//! a listener is bound until the test ends. Tests wait for events. The limit of a wait only ends
//! tests that hang.

mod process;
mod race;
mod wait;

pub use process::Process;
pub use race::race;
pub use wait::{LATEST, poll, takes_less, until, within};

use rustix::net::{AddressFamily, SocketType};
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{fs, fs::File, io};

/// Whether tests with many variants run all of them, as in a thorough run.
pub fn is_wide() -> bool {
    std::env::var_os("OBVIA_WIDE_TESTS").is_some_and(|value| value == "1")
}

/// Returns a name that no other process and no other test of this process uses:
/// `obvia-PROCESS-WHAT-NUMBER`. A file that already has the name was left by a dead process.
pub fn fresh_name(what: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("obvia-{}-{what}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A folder that only this user may access, empty at first. The folder is removed when this value
/// is dropped.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Makes a folder under the system's folder for temporary files.
    ///
    /// # Panics
    ///
    /// When the folder cannot be made.
    pub fn new(what: &str) -> Self {
        let path = std::env::temp_dir().join(fresh_name(what));
        // Removes the folder of an earlier process that had the same ID and was killed.
        let _ = fs::remove_dir_all(&path);
        let made = fs::DirBuilder::new().mode(0o700).create(&path);
        made.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self(path)
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the path of an entry in the folder.
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.join(name)
    }
}

impl AsRef<Path> for Folder {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A process that has just been killed may still be writing into the folder.
        if fs::remove_dir_all(&self.0).is_err() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

/// The right of a test to run. Of several tests, which may be in different processes, only one has
/// the right at a time. The right ends when this value is dropped, or with the process.
#[derive(Debug)]
pub struct Turn(File);

impl Turn {
    /// Waits for the right to run. Tests that exclude each other pass the same name, and the
    /// build's folder for tests. The lock is on a file in that folder. The file is never removed.
    ///
    /// # Panics
    ///
    /// When the file cannot be locked.
    pub fn take(folder: &Path, name: &str) -> Self {
        let path = folder.join(format!("{name}.turn"));
        let file = File::options().create(true).truncate(false).write(true).open(&path);
        let file = file.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        file.lock().unwrap();
        Self(file)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Returns the files below a folder of a repository that have this extension. Build folders and
/// hidden folders are left out.
pub fn files_below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("readable").path();
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() && name != "target" && !name.to_string_lossy().starts_with('.') {
            found.append(&mut files_below(&path, extension));
        } else if path.extension().is_some_and(|own| own == extension) {
            found.push(path);
        }
    }
    found
}

/// Whether this is a CI run (`CI=true`). A test that lacks a requirement fails in a CI run, and is
/// skipped in other runs.
pub fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| value == "true")
}

/// Returns the kernel's ID of the calling thread.
pub fn thread_number() -> u32 {
    rustix::thread::gettid().as_raw_pid().cast_unsigned()
}

/// Whether a thread of this process sleeps in the kernel: the thread neither runs nor is ready to
/// run.
pub fn is_asleep(thread: u32) -> bool {
    state(Path::new(&format!("/proc/self/task/{thread}"))) == Some('S')
}

/// Returns the states of a process's threads, such as `S` for asleep and `T` for stopped:
/// proc_pid_stat(5). Threads that have ended are left out.
pub fn thread_states(process: u32) -> String {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    threads.filter_map(|thread| state(&thread.path())).filter(|state| !matches!(state, 'Z' | 'X')).collect()
}

/// Returns the state of the thread with this folder in `/proc`.
fn state(folder: &Path) -> Option<char> {
    let stat = fs::read_to_string(folder.join("stat")).ok()?;
    // The name, in parentheses, may have any character.
    stat.rsplit_once(") ")?.1.chars().next()
}

/// A port of this host without a listener, for connections or for datagrams. No other process gets
/// the port as long as this value lives.
#[derive(Debug)]
pub struct SilentPort {
    number: u16,
    _connections: OwnedFd,
    _datagrams: UdpSocket,
}

impl SilentPort {
    /// Reserves a free port.
    ///
    /// # Panics
    ///
    /// When no port is free.
    #[expect(clippy::new_without_default, reason = "takes a port")]
    pub fn new() -> Self {
        poll("a port is free for connections and datagrams", || Self::take().ok())
    }

    fn take() -> io::Result<Self> {
        let any = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
        // The socket is bound but does not listen, so the kernel refuses connections.
        let connections = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None)?;
        rustix::net::bind(&connections, &any)?;
        let place = SocketAddrV4::try_from(rustix::net::getsockname(&connections)?)?;
        let datagrams = UdpSocket::bind(place)?;
        // The socket is connected to itself, so the kernel refuses datagrams of other sockets.
        datagrams.connect(place)?;
        Ok(Self { number: place.port(), _connections: connections, _datagrams: datagrams })
    }

    /// Returns the port's number.
    pub fn number(&self) -> u16 {
        self.number
    }

    /// Returns the port with the host's address.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::{Folder, SilentPort, Turn, is_asleep, thread_number, until};
    use std::io::ErrorKind;
    use std::net::{TcpStream, UdpSocket};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    #[test]
    fn test_folders_are_unique_and_removed_on_drop() {
        let (one, other) = (Folder::new("ground"), Folder::new("ground"));
        let path = one.path().to_owned();
        assert!(path.is_dir() && path != other.path());
        std::fs::write(one.join("file"), "x").unwrap();
        drop(one);
        assert!(!path.exists() && other.path().is_dir());
    }

    #[test]
    fn turns_exclude_each_other() {
        let folder = Folder::new("ground");
        let first = Turn::take(folder.path(), "turn");
        std::thread::scope(|scope| {
            let next = scope.spawn(|| drop(Turn::take(folder.path(), "turn")));
            std::thread::sleep(Duration::from_millis(20));
            assert!(!next.is_finished());
            drop(first);
        });
    }

    #[test]
    fn silent_ports_refuse_connections_and_datagrams() {
        let port = SilentPort::new();
        assert_eq!(TcpStream::connect(port.address()).unwrap_err().kind(), ErrorKind::ConnectionRefused);
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(port.address()).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        socket.send(b"?").unwrap();
        assert_eq!(socket.recv(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionRefused);
        assert!(UdpSocket::bind(port.address()).is_err());
    }

    #[test]
    fn waiting_threads_count_as_asleep() {
        assert!(!is_asleep(thread_number()));
        let ((tell, number), (end, is_over)) = (channel(), channel::<()>());
        let thread = std::thread::spawn(move || {
            tell.send(thread_number()).unwrap();
            let _ = is_over.recv();
        });
        let number = number.recv().unwrap();
        until("it waits", || is_asleep(number));
        drop(end);
        thread.join().unwrap();
    }
}
