//! Connections to a process that has no file descriptors left. The limit of descriptors holds for
//! the whole process, so these tests run in a process of their own, and take turns.

use ground::Folder;
use obvia_via::provider::shm::{Directory, Listener};
use obvia_via::stream::{Stream, StreamListener};
use obvia_via::window::{Options, Window};
use obvia_via::{Deadline, Error, Memory, layout};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::SealFlags;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketType,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

const LIMIT: Deadline = Deadline::Within(ground::LATEST);
const AREA: usize = 1 << 16;
const MAY_SLEEP: u32 = 1;
const BY_NAME: u32 = 4;
/// The message by which a client that opens segments by name confirms that it has mapped them.
const MAPPED: u8 = 1;
/// A number of file descriptors that is more than one connection needs.
const MANY: u64 = 20;

/// Returns the socket of a client that has sent its greeting. The greeting passes the client's
/// segment, or has the flag of clients that open segments by name.
fn client(folder: &Folder, is_by_name: bool) -> OwnedFd {
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
    rustix::net::connect(&socket, &SocketAddrUnix::new(folder.path().join("full.sock")).unwrap()).unwrap();
    let flags = if is_by_name { MAY_SLEEP | BY_NAME } else { MAY_SLEEP };
    let mut bytes = b"OBVI".to_vec();
    bytes.extend([2, layout::SLOT_COUNT, flags, AREA as u32, 0].iter().flat_map(|word| word.to_le_bytes()));
    let segment = Memory::shared(layout::AREA + AREA).unwrap();
    rustix::fs::fcntl_add_seals(segment.file().unwrap(), SealFlags::FUTURE_WRITE).unwrap();
    let files = [segment.file().unwrap()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if is_by_name {
        bytes.push(MAPPED);
    } else {
        control.push(SendAncillaryMessage::ScmRights(&files));
    }
    rustix::net::sendmsg(&socket, &[IoSlice::new(&bytes)], &mut control, SendFlags::empty()).unwrap();
    socket
}

/// The lock that a test holds during its turn. While a test limits the descriptors, other tests
/// could open no files.
static TURN: Mutex<()> = Mutex::new(());

/// Calls `work` while this process can open only `spare` more files.
fn with_descriptors<R>(spare: u64, work: impl FnOnce() -> R) -> R {
    let before = getrlimit(Resource::Nofile);
    let next = rustix::io::dup(std::io::stderr()).unwrap();
    let first = std::os::fd::AsRawFd::as_raw_fd(&next) as u64;
    drop(next);
    setrlimit(Resource::Nofile, Rlimit { current: Some(first + spare), ..before }).unwrap();
    let result = work();
    setrlimit(Resource::Nofile, before).unwrap();
    result
}

/// Whether the process has too few descriptors for an operation.
fn is_at_limit(error: &Error) -> bool {
    matches!(error, Error::System { source, .. } if Errno::from_io_error(source) == Some(Errno::MFILE))
}

/// Serves a client, with one more free descriptor at each attempt, until an attempt succeeds.
/// Returns the connection.
fn served_in_the_end(folder: &Folder, listener: &Listener, is_by_name: bool) -> Window {
    for spare in 1..MANY {
        let client = client(folder, is_by_name);
        let outcome = with_descriptors(spare, || listener.accept(LIMIT).unwrap().complete(&Options::default()));
        let error = match outcome {
            Ok(window) => return window,
            Err(error) => error,
        };
        assert!(is_at_limit(&error), "{spare} descriptors: {error}");
        let mut bytes = [0; 24];
        let (_, received) = rustix::net::recv(client.as_fd(), &mut bytes, RecvFlags::DONTWAIT).unwrap();
        assert_eq!((received, bytes[8], bytes[12]), (24, 0, Errno::MFILE.raw_os_error() as u8), "{spare} descriptors");
    }
    panic!("no connection with {MANY} descriptors");
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn clients_of_a_process_without_descriptors_are_refused_until_it_has_some() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Folder::new("via-descriptors");
    let listener = Directory::at(folder.path()).unwrap().bind("full").unwrap();
    // The first connection also opens files that the process keeps for all its connections.
    let _first = served_in_the_end(&folder, &listener, false);
    let _second = served_in_the_end(&folder, &listener, true);
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_stream_waits_in_the_queue_while_the_listener_reports_that_descriptors_are_missing() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Folder::new("via-descriptors-streams");
    let directory = Directory::at(folder.path()).unwrap();
    let tcp = StreamListener::bind("127.0.0.1", 0).unwrap();
    let local = StreamListener::bind_local(&directory, "full").unwrap();
    for listener in [&tcp, &local] {
        let client = match listener.address() {
            Some(address) => Stream::connect("127.0.0.1", address.port(), LIMIT),
            None => Stream::connect_local(&directory, "full", LIMIT),
        };
        let client = client.unwrap();
        let began = Instant::now();
        // A listener that tried again by itself would use up a processor and hide the shortage.
        let error = with_descriptors(0, || listener.accept(LIMIT)).unwrap_err();
        assert!(is_at_limit(&error), "{error}");
        assert!(began.elapsed() < ground::LATEST / 2, "the error comes after {:?}", began.elapsed());
        let server = listener.accept(LIMIT).unwrap();
        client.send(b"hello", LIMIT).unwrap();
        let mut bytes = [0; 5];
        assert_eq!((server.receive(&mut bytes, LIMIT).unwrap(), &bytes), (5, b"hello"));
    }
}
