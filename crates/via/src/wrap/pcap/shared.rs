//! A capture that several processes write, and that the environment names. `obvia trace` makes the
//! capture, and all descendants of that command append to it.
//!
//! Packets are whole because each is one write to a file that is open for appending. When two
//! processes with the same capture exchange bytes, each captures what it sends. A process *claims*
//! its end by a name in the abstract namespace of Unix sockets. The name tells the other process of
//! the claim, and the kernel releases the name when the process ends.

use super::Capture;
use super::capture::file_header;
use super::packet::Ends;
use crate::Error;
use crate::host::mapped;
use rustix::fd::OwnedFd;
use rustix::fs::{FileType, Mode, OFlags, fstat};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A capture that other processes write as well.
#[derive(Debug)]
pub struct SharedCapture {
    capture: Capture,
    /// The prefix of the names of claims: identifies the file.
    id: String,
}

impl SharedCapture {
    /// The environment variable that names the capture of a process.
    pub const VARIABLE: &str = "OBVIA_TRACE";
    /// The environment variable with the maximum number of bytes of the capture; the default is
    /// [`Capture::LIMIT`].
    pub const LIMIT_VARIABLE: &str = "OBVIA_TRACE_LIMIT";

    /// Makes an empty capture that only this user can read and write.
    ///
    /// # Errors
    ///
    /// [`Error::System`] when the file exists already, or cannot be made.
    pub fn create(path: &Path) -> Result<(), Error> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let doing = "creating a capture file";
        let file = rustix::fs::open(path, flags, Mode::from_raw_mode(0o600)).map_err(Error::system(doing))?;
        std::fs::File::from(file).write_all(&file_header()).map_err(Error::io(doing))
    }

    /// Opens an existing capture. When the file has `limit` bytes or a write fails, this process
    /// stops writing, and reports that once on standard error.
    ///
    /// # Errors
    ///
    /// [`Error::UnsafeCapture`] for a file that was not made by [`Self::create`] and this user.
    pub fn join(path: &Path, limit: u64) -> Result<Self, Error> {
        let doing = "opening the capture that OBVIA_TRACE names";
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = rustix::fs::open(path, flags, Mode::empty()).map_err(Error::system(doing))?;
        let found = fstat(&file).map_err(Error::system(doing))?;
        let is_ours = found.st_uid == rustix::process::geteuid().as_raw();
        let mut begins = [0; 24];
        // A program that has more rights than its caller must not write to just any file that the
        // caller names.
        let why = if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
            "it is not a regular file"
        } else if !is_ours {
            "it belongs to another user"
        } else if rustix::io::pread(&file, &mut begins, 0) != Ok(begins.len()) || begins != file_header() {
            "it was not created by `obvia trace`"
        } else {
            let id = format!("obvia-trace/{:x}.{:x}", found.st_dev, found.st_ino);
            let file = SharedFile { file, path: path.to_owned(), limit };
            return Ok(Self { capture: Capture::go_on(Box::new(file), u64::MAX), id });
        };
        Err(Error::UnsafeCapture { path: path.to_owned(), why })
    }

    /// Returns the capture that the environment names, if any. The file is opened once.
    ///
    /// # Errors
    ///
    /// As [`Self::join`].
    pub fn of_process() -> Result<Option<&'static Self>, Error> {
        static OF_PROCESS: OnceLock<Option<SharedCapture>> = OnceLock::new();
        if let Some(found) = OF_PROCESS.get() {
            return Ok(found.as_ref());
        }
        let named = std::env::var_os(Self::VARIABLE).filter(|path| !path.is_empty());
        let joined = named.map(|path| Self::join(Path::new(&path), limit()?)).transpose()?;
        Ok(OF_PROCESS.get_or_init(|| joined).as_ref())
    }

    pub(super) fn capture(&self) -> &Capture {
        &self.capture
    }

    /// Returns a prefix, unique to this capture, for the names of sockets by which processes with
    /// the same capture recognize each other.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Claims the own end of `ends`: the owner of the returned socket captures the packets that
    /// this end sends.
    pub(super) fn claim(&self, protocol: &str, ends: Ends) -> Result<OwnedFd, Error> {
        let socket = datagrams()?;
        match rustix::net::bind(&socket, &self.name(protocol, ends)?) {
            // The name is in use if another conversation of the same two addresses has it, in this
            // process or in an earlier process.
            Ok(()) | Err(Errno::ADDRINUSE) => Ok(socket),
            Err(errno) => Err(Error::system("claiming an end of a trace")(errno)),
        }
    }

    /// Whether a process captures the packets that the own end of `ends` sends.
    pub(super) fn is_claimed(&self, protocol: &str, ends: Ends) -> bool {
        let Ok(socket) = datagrams() else { return false };
        self.name(protocol, ends).is_ok_and(|name| rustix::net::connect(&socket, &name).is_ok())
    }

    fn name(&self, protocol: &str, ends: Ends) -> Result<SocketAddrUnix, Error> {
        let mut name = format!("{}/{protocol}/", self.id).into_bytes();
        // In text form, two IPv6 addresses would exceed the length of a name.
        for end in [ends.own, ends.peer] {
            name.extend(mapped(end.ip()).octets());
            name.extend(end.port().to_be_bytes());
        }
        SocketAddrUnix::new_abstract_name(&name).map_err(Error::system("naming an end of a trace"))
    }
}

fn datagrams() -> Result<OwnedFd, Error> {
    rustix::net::socket_with(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None)
        .map_err(Error::system("making a socket"))
}

/// Returns the limit from the environment.
fn limit() -> Result<u64, Error> {
    let Some(text) = std::env::var_os(SharedCapture::LIMIT_VARIABLE).filter(|text| !text.is_empty()) else {
        return Ok(Capture::LIMIT);
    };
    let text = text.to_string_lossy();
    let wrong = |_| io::Error::new(io::ErrorKind::InvalidInput, format!("{text:?} is not a number of bytes"));
    text.parse().map_err(wrong).map_err(Error::io("reading OBVIA_TRACE_LIMIT"))
}

/// A file to which each write appends a packet.
struct SharedFile {
    file: OwnedFd,
    path: PathBuf,
    limit: u64,
}

impl SharedFile {
    fn append(&self, packet: &[u8]) -> io::Result<()> {
        let there = u64::try_from(fstat(&self.file)?.st_size).unwrap_or(u64::MAX);
        if there >= self.limit {
            return Err(io::Error::other(format!("the file has reached its limit of {} bytes", self.limit)));
        }
        match rustix::io::retry_on_intr(|| rustix::io::write(&self.file, packet))? {
            written if written == packet.len() => Ok(()),
            _ => Err(io::ErrorKind::StorageFull.into()),
        }
    }
}

impl Write for SharedFile {
    fn write(&mut self, packet: &[u8]) -> io::Result<usize> {
        if let Err(error) = self.append(packet) {
            // The traced program gets no error and continues, so this message is the only report.
            // If the message cannot be written either, there is no other way to report.
            let _ = writeln!(io::stderr(), "obvia: the trace {} ends here: {error}", self.path.display());
            return Err(error);
        }
        Ok(packet.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
