//! Files that a peer passed: which are memory, and how others are closed.
//!
//! Closing a file takes as long as its file system likes. For a file system in user space (FUSE),
//! the kernel asks its daemon and waits for the answer in a state that no signal ends, and a peer
//! can be that daemon. Only memory files have seals, which the kernel reads without the file
//! system. A separate thread therefore closes every other file.

use super::directory::{is_trusted, local_peer};
use crate::Violation;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags};
use rustix::process::{Resource, getrlimit};
use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The number of a user's files waiting to be closed at which messages from processes of that user
/// are refused. The last message before may exceed it.
const DOUBTFUL_MAX: usize = 64;

/// The share of this process's descriptors that files from untrusted users may occupy until they
/// are closed: one in this number.
const SHARE: usize = 4;

/// The most files that a message can have (SCM_MAX_FD of Linux). The kernel would close files
/// without room on the thread that receives the message.
const FILES_MAX: usize = 253;

/// Files that are to be closed.
#[derive(Debug)]
struct Doubtful {
    /// Each file, with the user whose process passed it.
    files: Vec<(Option<u32>, OwnedFd)>,
    /// Whether a thread closes them.
    is_attended: bool,
}

impl Doubtful {
    /// Whether a user may pass further files.
    fn has_room_for(&self, user: impl FnOnce() -> Option<u32>) -> bool {
        if self.files.len() < DOUBTFUL_MAX {
            return true;
        }
        let user = user();
        self.files.iter().filter(|(owner, _)| *owner == user).count() < DOUBTFUL_MAX
    }
}

static DOUBTFUL: Mutex<Doubtful> = Mutex::new(Doubtful { files: Vec::new(), is_attended: false });

/// The number of files that are to be closed, for a look without the lock.
static WAITING: AtomicUsize = AtomicUsize::new(0);

fn doubtful() -> MutexGuard<'static, Doubtful> {
    DOUBTFUL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The descriptors that files of peers occupy, and those that are reserved for messages.
#[derive(Debug)]
struct Room {
    taken: AtomicUsize,
    limit: OnceLock<usize>,
}

static ROOM: Room = Room { taken: AtomicUsize::new(0), limit: OnceLock::new() };

impl Room {
    /// Returns the limit of descriptors. Two messages can always be received at once.
    fn limit(&self) -> usize {
        let share = || getrlimit(Resource::Nofile).current.map_or(usize::MAX, |most| most as usize) / SHARE;
        *self.limit.get_or_init(|| share().max(2 * FILES_MAX))
    }

    /// Reserves descriptors for a message. Returns false where there are too few.
    fn reserve(&self) -> bool {
        let more = |taken: usize| (taken + FILES_MAX <= self.limit()).then_some(taken + FILES_MAX);
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    fn give_back(&self, count: usize) {
        self.taken.fetch_sub(count, Ordering::Relaxed);
    }
}

/// The descriptors that are reserved for a message, until the value is dropped.
#[derive(Debug)]
struct Reserved<'a> {
    room: &'a Room,
    /// The number of descriptors, without those of files that wait to be closed. The latter are
    /// given back when their files have been closed.
    count: usize,
}

impl<'a> Reserved<'a> {
    /// Reserves descriptors for a message from `user`.
    ///
    /// Files from this process's own user and the superuser are not limited here: both can do
    /// anything to this process anyway, and must not lose by the files of others.
    fn new(room: &'a Room, user: impl FnOnce() -> Option<u32>, waiting: impl Fn() -> usize) -> Option<Self> {
        if !room.reserve() {
            if user().is_some_and(is_trusted) {
                room.taken.fetch_add(FILES_MAX, Ordering::Relaxed);
            } else {
                // Other threads return their reservations soon, since no receipt waits.
                while waiting() + FILES_MAX <= room.limit() {
                    if room.reserve() {
                        return Some(Self { room, count: FILES_MAX });
                    }
                    std::thread::yield_now();
                }
                return None;
            }
        }
        Some(Self { room, count: FILES_MAX })
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        self.room.give_back(self.count);
    }
}

/// Returns the user of the peer, as the kernel recorded it at connect, if the kernel can tell.
fn user_of(socket: &OwnedFd) -> Option<u32> {
    local_peer(socket).ok().map(|(_, user)| user)
}

/// A message from a peer.
#[derive(Debug)]
pub(super) struct Message {
    /// The number of bytes.
    pub(super) length: usize,
    /// Whether the message had more bytes than there was room for.
    pub(super) is_cut: bool,
    /// The memory files beside the message.
    pub(super) files: Vec<OwnedFd>,
}

/// Receives a message, if one has arrived, without waiting.
///
/// # Errors
///
/// The outer result has the socket's errors. The inner one has [`Violation::NotSealed`] when a file
/// beside the message is no memory file, [`Violation::NoSegment`] when this process has no
/// descriptor left for a file, and [`Violation::TooManyFiles`], without a look at the message,
/// while too many files of the peer's user wait to be closed.
pub(super) fn receive(socket: &OwnedFd, bytes: &mut [u8]) -> Result<Result<Message, Violation>, Errno> {
    let waiting = || WAITING.load(Ordering::Relaxed);
    if waiting() >= DOUBTFUL_MAX && !doubtful().has_room_for(|| user_of(socket)) {
        return Ok(Err(Violation::TooManyFiles));
    }
    let Some(mut reserved) = Reserved::new(&ROOM, || user_of(socket), waiting) else {
        return Ok(Err(Violation::TooManyFiles));
    };
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES_MAX))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    let got = rustix::net::recvmsg(socket, &mut [IoSliceMut::new(bytes)], &mut control, flags)?;
    let files = take(&mut control, socket, &mut reserved);
    if got.flags.contains(ReturnFlags::CTRUNC) {
        return Ok(Err(Violation::NoSegment));
    }
    let is_cut = got.flags.contains(ReturnFlags::TRUNC);
    Ok(files.map(|files| Message { length: got.bytes, is_cut, files }))
}

/// Takes the files out of a message's control data. Without files this allocates nothing.
fn take(
    control: &mut RecvAncillaryBuffer<'_>,
    socket: &OwnedFd,
    reserved: &mut Reserved<'_>,
) -> Result<Vec<OwnedFd>, Violation> {
    let (mut files, mut are_memory) = (Vec::new(), true);
    for message in control.drain() {
        let RecvAncillaryMessage::ScmRights(passed) = message else { continue };
        for file in passed {
            match memory_file(file, socket, reserved) {
                Some(file) => files.push(file),
                None => are_memory = false,
            }
        }
    }
    if are_memory { Ok(files) } else { Err(Violation::NotSealed) }
}

/// Returns a peer's file if it is a memory file, whatever its seals are. Does not wait.
fn memory_file(file: OwnedFd, socket: &OwnedFd, reserved: &mut Reserved<'_>) -> Option<OwnedFd> {
    if rustix::fs::fcntl_get_seals(&file).is_ok() {
        return Some(file);
    }
    let user = user_of(socket);
    let mut doubtful = doubtful();
    doubtful.files.push((user, file));
    reserved.count -= 1;
    WAITING.fetch_add(1, Ordering::Relaxed);
    if !doubtful.is_attended {
        let thread = std::thread::Builder::new().name("obvia-close".to_owned());
        // Without a thread, the files stay open until the next doubtful file arrives.
        doubtful.is_attended = thread.spawn(close_all).is_ok();
    }
    None
}

/// Closes files until none is left. A close that hangs keeps the files behind it open. Peers that
/// keep to the protocol pass memory files only, so other users do not lose by it.
fn close_all() {
    loop {
        let mut doubtful = doubtful();
        let next = doubtful.files.pop();
        doubtful.is_attended = next.is_some();
        drop(doubtful);
        if next.is_none() {
            return;
        }
        drop(next);
        WAITING.fetch_sub(1, Ordering::Relaxed);
        ROOM.give_back(1);
    }
}

#[cfg(test)]
mod tests {
    use super::{DOUBTFUL_MAX, Doubtful, FILES_MAX, ROOM, Reserved, Room, Violation, memory_file, receive};
    use rustix::fs::{MemfdFlags, memfd_create};
    use rustix::net::{
        AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, sockopt,
    };
    use std::fs::File;
    use std::io::{IoSlice, Read, Write};
    use std::mem::MaybeUninit;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    fn sockets() -> (OwnedFd, OwnedFd) {
        rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap()
    }

    fn send(socket: &OwnedFd, files: &[BorrowedFd<'_>]) {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES_MAX))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        assert!(control.push(SendAncillaryMessage::ScmRights(files)));
        rustix::net::sendmsg(socket, &[IoSlice::new(&[0])], &mut control, SendFlags::empty()).unwrap();
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn files_that_are_no_memory_are_closed() {
        let (_near, far) = sockets();
        let memory = memfd_create("test", MemfdFlags::CLOEXEC).unwrap();
        let mut reserved = Reserved::new(&ROOM, || None, || 0).unwrap();
        let mut memory_file = |file, far: &OwnedFd| memory_file(file, far, &mut reserved);
        assert!(memory_file(memory, &far).is_some());
        for _ in 0..100 {
            let (mut out, into) = std::io::pipe().unwrap();
            assert!(memory_file(into.into(), &far).is_none());
            // The read ends when no process has the other end open any more.
            assert_eq!(out.read(&mut [0]).unwrap(), 0);
        }
        assert!(memory_file(File::open("/dev/null").unwrap().into(), &far).is_none());
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn a_users_files_that_wait_to_be_closed_are_no_other_users_loss() {
        let file = || File::open("/dev/null").unwrap().into();
        let files = (0..DOUBTFUL_MAX).map(|_| (Some(1), file())).collect();
        let mut doubtful = Doubtful { files, is_attended: true };
        assert!(!doubtful.has_room_for(|| Some(1)));
        assert!(doubtful.has_room_for(|| Some(2)) && doubtful.has_room_for(|| None));
        doubtful.files.pop();
        assert!(doubtful.has_room_for(|| Some(1)));
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn untrusted_users_leave_descriptors_for_others() {
        let room = Room { taken: AtomicUsize::new(0), limit: OnceLock::from(2 * FILES_MAX) };
        let (own, other) = (rustix::process::geteuid().as_raw(), u32::MAX - 1);
        let full = || 2 * FILES_MAX;
        let mut first = Reserved::new(&room, || Some(other), full).unwrap();
        let second = Reserved::new(&room, || None, full).unwrap();
        assert!(Reserved::new(&room, || Some(other), full).is_none() && Reserved::new(&room, || None, full).is_none());
        assert!(Reserved::new(&room, || Some(own), full).is_some() && Reserved::new(&room, || Some(0), full).is_some());
        // One file of a message waits to be closed.
        first.count -= 1;
        drop((first, second));
        let third = Reserved::new(&room, || None, full).unwrap();
        assert!(Reserved::new(&room, || None, full).is_none());
        room.give_back(1);
        let fourth = Reserved::new(&room, || None, full).unwrap();
        assert_eq!(room.taken.load(Ordering::Relaxed), 2 * FILES_MAX);
        // Messages that other threads are about to receive are awaited.
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| Reserved::new(&room, || None, || 0).is_some());
            drop((third, fourth));
            assert!(waits.join().unwrap());
        });
        assert_eq!(room.taken.load(Ordering::Relaxed), 0);
    }

    /// A TCP socket whose close waits for this long, since its peer does not read.
    fn lingering(time: Duration) -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let far = listener.accept().unwrap().0;
        near.set_nonblocking(true).unwrap();
        while near.write(&[0; 65536]).is_ok() {}
        near.set_nonblocking(false).unwrap();
        sockopt::set_socket_linger(&near, Some(time)).unwrap();
        (near, far)
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn surplus_files_are_not_closed_by_the_thread_that_receives_them() {
        const LINGERS: Duration = Duration::from_secs(600);
        let (near, far) = sockets();
        let memory = memfd_create("test", MemfdFlags::CLOEXEC).unwrap();
        let (socket, other_end) = lingering(LINGERS);
        send(&near, &[memory.as_fd(), memory.as_fd(), socket.as_fd()]);
        // The message then has the only descriptor, whose close waits.
        drop(socket);
        let begun = Instant::now();
        assert_eq!(receive(&far, &mut [0]).unwrap().unwrap_err(), Violation::NotSealed);
        assert!(begun.elapsed() < LINGERS / 2);
        // A reset ends the wait of the thread that closes the socket.
        sockopt::set_socket_linger(&other_end, Some(Duration::ZERO)).unwrap();
        drop(other_end);
        send(&near, &[memory.as_fd(); FILES_MAX]);
        assert_eq!(receive(&far, &mut [0]).unwrap().unwrap().files.len(), FILES_MAX);
    }
}
