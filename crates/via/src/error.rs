//! Errors of connections, and their causes.

use rustix::io::Errno;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// The reason why an operation on a connection, a listener or a directory failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused an action.
    System {
        /// The action that failed, in the present participle: "creating a segment".
        doing: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// No server has this name.
    NotFound {
        /// The requested name.
        name: String,
    },
    /// Another live process serves this name.
    NameInUse {
        /// The requested name.
        name: String,
        /// The id of the process that serves the name, if this process could read the id.
        pid: Option<u32>,
    },
    /// A name that cannot be used as a file name, or is too long for a socket address.
    BadName {
        /// The given name.
        name: String,
        /// The reason why the name cannot be used.
        why: &'static str,
    },
    /// The directory for names belongs to another user, or other users may write to it.
    UnsafeDirectory {
        /// The directory.
        path: PathBuf,
        /// The reason why the directory cannot be trusted.
        why: Distrust,
    },
    /// The directory for names, or a file in it, could not be used.
    Names {
        /// The action that failed, in the present participle: "creating the directory for names".
        doing: &'static str,
        /// The path of the directory or file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The path for a name's file holds a file of another program.
    ForeignFile {
        /// The file.
        path: PathBuf,
        /// The property by which the file differs from a name's file.
        why: &'static str,
    },
    /// The peer runs as another user.
    AccessDenied {
        /// The peer's user id.
        uid: u32,
    },
    /// The peer ended, or closed the connection.
    PeerGone {
        /// The peer's process id.
        pid: u32,
    },
    /// The deadline passed.
    TimedOut,
    /// The wait was cancelled by another thread of this process.
    Cancelled,
    /// A frame exceeds the limit of this connection.
    TooLong {
        /// The requested length in bytes.
        length: u64,
        /// The maximum length in bytes.
        limit: u64,
    },
    /// A limit on memory leaves no room for a longer area. The connection continues, with frames
    /// that fit its present area.
    AreaRefused {
        /// The length of the frame in bytes.
        length: u64,
        /// Whether the limit is the peer's. Otherwise it is this process's limit for its peers.
        by_peer: bool,
    },
    /// The peer broke the rules of the connection, which is closed.
    Violation(Violation),
    /// The server has reached a limit of the system, and so cannot take the connection.
    PeerAtLimit {
        /// The server's process ID; 0 where it is not known.
        pid: u32,
        /// The error that the server's system returned.
        source: io::Error,
    },
    /// The listener refused the connection.
    Refused {
        /// The listener's reason.
        why: String,
    },
    /// The provider cannot interpret an address or a discriminator.
    BadAddress {
        /// The given text.
        text: String,
        /// The reason why the text cannot be interpreted.
        why: &'static str,
    },
    /// A text that does not describe the conditions of a network.
    BadConditions {
        /// The faulty part of the text.
        item: String,
        /// The reason why that part is invalid.
        why: &'static str,
    },
    /// A capture of packets reached its limit.
    CaptureFull {
        /// The number of packets left out.
        missed: u64,
    },
    /// The file that the environment names as capture was not made as a capture, or belongs to
    /// another user.
    UnsafeCapture {
        /// The path of the file.
        path: PathBuf,
        /// The reason why the file is not used.
        why: &'static str,
    },
    /// The provider does not support a requested feature.
    Unsupported {
        /// The provider's name.
        provider: &'static str,
        /// The feature that the provider does not support.
        what: &'static str,
    },
    /// The operation is not valid in this state. Nothing was changed.
    BadState {
        /// The reason why the operation is not valid.
        what: &'static str,
    },
    /// The connection of a VI is over.
    Disconnected {
        /// The peer's name.
        peer: String,
        /// The reason why the connection ended.
        why: Ended,
    },
    /// The relay of a window has failed. In most cases the peer is the cause.
    Relay {
        /// The relay's error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A completion queue was full when descriptors completed. The completions are in the queues of
    /// their VIs.
    Overflow {
        /// The number of completions that were not entered.
        missed: u64,
    },
}

/// The reason why a directory for names cannot be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Distrust {
    /// The path is a file or a link.
    NotADirectory,
    /// The directory belongs to neither this user nor the superuser.
    OfAnotherUser {
        /// The owner's user id.
        uid: u32,
    },
    /// The directory lies on a file system in user space (FUSE) other than that of the process's
    /// root directory. The program behind such a file system may never answer, and it can report
    /// any user as the owner of a file.
    InUserSpace,
    /// Users other than the owner may make files in the directory.
    WritableByOthers {
        /// The directory's mode.
        mode: u32,
    },
}

impl fmt::Display for Distrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotADirectory => f.write_str("it is a file or a link, not a directory"),
            Self::OfAnotherUser { uid } => write!(
                f,
                "it belongs to user {uid}. Have that user or the superuser remove it, or set OBVIA_RUNTIME_DIR, for \
                    servers and clients, to a directory of this user. For names that several users share, both the \
                    directory and the servers have to belong to the superuser"
            ),
            Self::InUserSpace => f.write_str(
                "its file system is a program (FUSE), which may never respond. Set OBVIA_RUNTIME_DIR, for servers and \
                    clients, to a directory on another file system, such as one below /run or /dev/shm",
            ),
            Self::WritableByOthers { mode } => write!(
                f,
                "other users may write to it. Its mode is {mode:04o} and has to be 0700, or 0711 if it serves other \
                    users"
            ),
        }
    }
}

/// The reason why the connection of a VI ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// The local side disconnected.
    Here,
    /// The peer disconnected.
    ByPeer,
    /// The peer does not answer any more.
    Silent,
    /// The peer's host, or a device on the way to it, does not know the connection.
    Reset,
    /// A message found no receive descriptor.
    ReceiverNotReady,
    /// A message was longer than the receive descriptor that it found.
    TooLong,
    /// An RDMA was not allowed.
    Protection,
    /// The peer broke the rules of the wire.
    Violation,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Here => "this side disconnected",
            Self::ByPeer => "the peer disconnected",
            Self::Silent => "the peer no longer responds",
            Self::Reset => "the connection was reset",
            Self::ReceiverNotReady => "a message found no receive descriptor",
            Self::TooLong => "a message was longer than the receive descriptor that it found",
            Self::Protection => "an RDMA operation was not allowed",
            Self::Violation => "the peer broke the protocol",
        })
    }
}

/// A rule of the protocol that a peer broke. The breach ends the connection with that peer, and no
/// other connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Violation {
    /// The greeting has the wrong magic number, flags or sizes.
    BadGreeting,
    /// The greeting has another version of the protocol.
    OtherVersion {
        /// The peer's version.
        theirs: u32,
        /// The version of this process.
        own: u32,
    },
    /// The greeting carried no file descriptor, or more than one.
    NoSegment,
    /// The segment is not sealed against shrinking, growing and foreign writes.
    NotSealed,
    /// The peer's user has passed too many files that are not memory files, and this process has
    /// not closed them yet.
    TooManyFiles,
    /// The segment or area is smaller than announced.
    ShortSegment,
    /// The message kind does not exist.
    BadKind(u8),
    /// An inline frame claims more bytes than a slot holds.
    BadInlineLength(u8),
    /// A frame lies outside its area.
    BadAreaRange {
        /// The claimed offset.
        offset: u32,
        /// The claimed length.
        length: u32,
    },
    /// A message names an area that the peer never passed.
    UnknownArea(u32),
    /// The credit word counts messages that were never sent.
    BadCredit(u32),
    /// A slot shows a sequence number that is neither the last nor the next.
    BadSequence(u32),
    /// The peer has called a connection that waits without a thread, but has not sent the messages
    /// for which it called.
    FalseCalls,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadGreeting => write!(f, "its greeting does not belong to this protocol"),
            Self::OtherVersion { theirs, own } => {
                write!(f, "it uses version {theirs} of the protocol, and this process version {own}: ")?;
                write!(f, "build both with the same version of obvia")
            }
            Self::NoSegment => write!(f, "its greeting has no segment"),
            Self::NotSealed => write!(f, "its segment is not sealed"),
            Self::TooManyFiles => write!(f, "too many files of its user wait to be closed"),
            Self::ShortSegment => write!(f, "its segment is shorter than announced"),
            Self::BadKind(kind) => write!(f, "message kind {kind} does not exist"),
            Self::BadInlineLength(length) => {
                write!(f, "an in-line frame of {length} bytes does not fit a slot")
            }
            Self::BadAreaRange { offset, length } => {
                write!(f, "a frame of {length} bytes at offset {offset} lies outside its area")
            }
            Self::UnknownArea(area) => write!(f, "area {area} was never passed"),
            Self::BadCredit(word) => write!(f, "the credit word {word} counts messages that were never sent"),
            Self::BadSequence(word) => write!(f, "sequence number {word:#x} is neither the last one nor the next"),
            Self::FalseCalls => write!(f, "it calls this process for messages that it does not send"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System { doing, source } => write!(f, "{doing}: {source}{}", limit(source)),
            Self::PeerAtLimit { pid, source } => {
                write!(f, "the server process {pid} has no room for the connection: {source}")?;
                match Errno::from_io_error(source) {
                    Some(Errno::USERS) => f.write_str(IN_SETUP),
                    Some(Errno::AGAIN) => f.write_str(NO_THREAD),
                    _ => f.write_str(limit(source)),
                }
            }
            Self::NotFound { name } => write!(f, "no process serves the name {name:?}"),
            Self::NameInUse { name, pid: Some(pid) } => write!(f, "the name {name:?} is served by process {pid}"),
            Self::NameInUse { name, pid: None } => {
                write!(f, "the name {name:?} is served by another process")
            }
            Self::BadName { name, why } => write!(f, "{name:?} cannot be a name: {why}"),
            Self::UnsafeDirectory { path, why } => {
                write!(f, "the directory {} cannot be trusted: {why}", path.display())
            }
            Self::Names { doing, path, source } => {
                write!(f, "{doing} {}: {source}{}{}", path.display(), advice(doing, source), limit(source))
            }
            Self::ForeignFile { path, why } => {
                let path = path.display();
                write!(f, "{path} belongs to another program: {why}. Choose another name, or another OBVIA_RUNTIME_DIR")
            }
            Self::AccessDenied { uid } => {
                write!(f, "the peer runs as user {uid}, and that user has no access")
            }
            // A process ID of 0 means that the ID is not known: see the directory's `local_peer`.
            Self::PeerGone { pid: 0 } => write!(f, "the peer process ended or closed the connection"),
            Self::PeerGone { pid } => {
                write!(f, "the peer process {pid} ended or closed the connection")
            }
            Self::TimedOut => write!(f, "the deadline passed"),
            Self::Cancelled => write!(f, "the call was cancelled"),
            Self::TooLong { length, limit } => {
                write!(f, "a frame of {length} bytes is longer than the limit of {limit} bytes")
            }
            Self::AreaRefused { length, by_peer } => {
                let whose = if *by_peer { "the peer" } else { "this process" };
                write!(f, "{whose} has no memory left for a message of {length} bytes: it limits this memory ")?;
                f.write_str("for each host and in all, and a limit is reached. End connections that had long ")?;
                f.write_str("messages, or pass less in a call")
            }
            Self::Violation(violation) => write!(f, "the peer broke the protocol: {violation}"),
            Self::Refused { why } => write!(f, "the connection was refused: {why}"),
            Self::BadAddress { text, why } => write!(f, "{text:?} is not a valid address: {why}"),
            Self::BadConditions { item, why } => write!(f, "{item:?} is not a valid condition of a network: {why}"),
            Self::CaptureFull { missed } => {
                write!(f, "the capture reached its limit, and {missed} packets are missing: set a higher limit")
            }
            Self::UnsafeCapture { path, why } => {
                write!(f, "the capture {} that OBVIA_TRACE names cannot be written: {why}", path.display())
            }
            Self::Unsupported { provider, what } => write!(f, "the provider {provider} does not support {what}"),
            Self::BadState { what } => f.write_str(what),
            Self::Disconnected { peer, why } => write!(f, "the connection with {peer} ended: {why}"),
            Self::Relay { source } => source.fmt(f),
            Self::Overflow { missed } => {
                write!(f, "the completion queue was full: {missed} completions are only in the queues of their VIs")
            }
        }
    }
}

/// Actions on a directory for names. `advice` has specific advice for errors of these actions.
pub(crate) mod doing {
    /// Connecting to a server.
    pub(crate) const CONNECTING: &str = "connecting to";
    /// Listing the names.
    pub(crate) const READING: &str = "reading the directory for names";
}

/// Returns the advice for an error of a directory for names.
fn advice(doing: &str, error: &io::Error) -> &'static str {
    match (error.kind(), doing) {
        (io::ErrorKind::PermissionDenied, doing::CONNECTING) => {
            ". The server belongs to another user, and does not admit other users: see \
                obvia::security::admit_other_users"
        }
        (io::ErrorKind::PermissionDenied, doing::READING) => {
            ". Other users cannot list the names in this directory, but can connect to a name that they know"
        }
        (io::ErrorKind::PermissionDenied, _) => {
            ". In a directory of the superuser, only servers of the superuser can have names. For other servers set \
                OBVIA_RUNTIME_DIR, for servers and clients, to a directory of this user"
        }
        (io::ErrorKind::ReadOnlyFilesystem, _) => {
            ". Set XDG_RUNTIME_DIR or OBVIA_RUNTIME_DIR, for servers and clients, to a directory that this user can \
                write to"
        }
        _ => "",
    }
}

/// Returns a text about the limit of the system that caused an error. The text names the limit, and
/// says how to raise it.
fn limit(error: &io::Error) -> &'static str {
    match Errno::from_io_error(error) {
        Some(Errno::MFILE) => {
            ". The process has as many open files as it may, and each connection takes one: raise the limit by \
                `ulimit -n`, or by LimitNOFILE= in units of systemd"
        }
        Some(Errno::NFILE) => ". The system has as many open files as it may: raise fs.file-max by sysctl",
        Some(Errno::NOMEM) => {
            ". Memory is exhausted, or the process has as many mappings as it may, of which each connection through \
                shared memory takes two: raise vm.max_map_count by sysctl"
        }
        Some(Errno::NOSPC) => {
            ". Shared memory is exhausted, or the user watches as many connections as it may: raise \
                fs.epoll.max_user_watches by sysctl"
        }
        _ => "",
    }
}

/// The advice when a limit of the system keeps a thread from starting.
const NO_THREAD: &str = ". The system starts no further thread for the process: raise kernel.threads-max and \
                         kernel.pid_max by sysctl, the user's limit by `ulimit -u`, or TasksMax= in units of systemd";

/// The advice when a server has the maximum number of connections in setup.
const IN_SETUP: &str = ". Too many connections of processes of other users have not introduced themselves to it yet: \
                        connect again in a second";

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::System { source, .. } | Self::Names { source, .. } | Self::PeerAtLimit { source, .. } => Some(source),
            Self::Relay { source } => Some(&**source),
            _ => None,
        }
    }
}

impl Error {
    /// Wraps an error number of the system.
    pub(crate) fn system(doing: &'static str) -> impl Fn(rustix::io::Errno) -> Self {
        move |errno| Self::System { doing, source: errno.into() }
    }

    /// Wraps an error of the standard library.
    pub(crate) fn io(doing: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::System { doing, source }
    }
}

impl From<Violation> for Error {
    fn from(violation: Violation) -> Self {
        Self::Violation(violation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_at_a_limit_of_the_system_say_how_to_raise_it() {
        let limits = [
            (Errno::MFILE, "ulimit -n"),
            (Errno::NFILE, "fs.file-max"),
            (Errno::NOMEM, "vm.max_map_count"),
            (Errno::NOSPC, "fs.epoll.max_user_watches"),
        ];
        let at_limit = |errno: Errno| Error::PeerAtLimit { pid: 7, source: errno.into() }.to_string();
        for (errno, mend) in limits {
            assert!(at_limit(errno).starts_with("the server process 7 has no room for the connection: "));
            assert!(at_limit(errno).contains(mend), "{}", at_limit(errno));
            let text = Error::system("creating a segment")(errno).to_string();
            assert!(text.starts_with("creating a segment: ") && text.contains(mend), "{text}");
            let names = Error::Names { doing: doing::READING, path: PathBuf::new(), source: errno.into() };
            assert!(names.to_string().contains(mend), "{names}");
        }
        assert!(at_limit(Errno::USERS).ends_with("connect again in a second"), "{}", at_limit(Errno::USERS));
        assert!(at_limit(Errno::AGAIN).contains("ulimit -u"), "{}", at_limit(Errno::AGAIN));
        let other = Error::system("creating a segment")(Errno::INVAL).to_string();
        assert_eq!(other, format!("creating a segment: {}", io::Error::from(Errno::INVAL)));
    }
}
