//! Files that a peer passed: how memory files are recognised, and how other files are closed.
//!
//! The file system decides how long the closing of a file takes. To close a file on a file system
//! in user space (FUSE), the kernel asks the file system's daemon, and waits for the answer in a
//! state that no signal ends. A peer can be that daemon. Only memory files have seals, which the
//! kernel reads without the file system. A separate thread therefore closes every other file.

use super::directory::{is_trusted, local_peer};
use crate::Violation;
use crate::sync::lock;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags};
use rustix::process::{Resource, getrlimit};
use std::collections::VecDeque;
use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The limit of a user's files that wait to be closed. At this number, messages from processes of
/// the user are refused. The message that reaches the limit may exceed it, by up to 252 files.
const FILES_TO_CLOSE_MAX: usize = 64;

/// The divisor of this process's limit of descriptors. The quotient is the number of descriptors
/// that files from untrusted users may occupy until they are closed, but never less than
/// [`LIMIT_MIN`].
const SHARE: usize = 4;

/// The maximum number of files that a message can have (SCM_MAX_FD of Linux). The buffer for files
/// has room for all of them. Otherwise, the kernel would close the files that do not fit, on the
/// thread that receives the message.
const FILES_MAX: usize = 253;

/// The lower bound of the limit of descriptors: room for two messages. The room for the second
/// message is only for users without waiting files.
const LIMIT_MIN: usize = 2 * FILES_MAX;

/// Files that are to be closed.
#[derive(Debug)]
struct FilesToClose {
    /// Each file, with the user whose process passed it. The first entry has no file while a thread
    /// is closing that file.
    files: VecDeque<(Option<u32>, Option<OwnedFd>)>,
    /// Whether a thread is closing the files.
    is_closing: bool,
}

impl FilesToClose {
    /// Returns the number of files from a user.
    fn count_of(&self, user: Option<u32>) -> usize {
        self.files.iter().filter(|(owner, _)| *owner == user).count()
    }
}

static FILES_TO_CLOSE: Mutex<FilesToClose> = Mutex::new(FilesToClose { files: VecDeque::new(), is_closing: false });

/// The number of files that are to be closed, which can be read without the lock.
static WAITING: AtomicUsize = AtomicUsize::new(0);

fn files_to_close() -> MutexGuard<'static, FilesToClose> {
    lock(&FILES_TO_CLOSE)
}

/// The descriptors that files of peers occupy, and those that are reserved for messages.
#[derive(Debug)]
struct Room {
    taken: AtomicUsize,
    /// The limit of descriptors, as it was when `share` was last called.
    limit: AtomicUsize,
    /// The function that returns this process's share of descriptors for the files.
    share: fn() -> usize,
    /// The number of threads that wait for room. While a thread waits, later threads queue behind
    /// that thread.
    queued: AtomicUsize,
    /// A lock whose holder is the first of the threads that wait for room.
    first: Mutex<()>,
    /// A lock that the first waiting thread holds while it looks for room. Threads that give
    /// descriptors back take this lock, too, so that no notification is missed.
    look: Mutex<()>,
    given_back: Condvar,
}

static ROOM: Room =
    Room::new(LIMIT_MIN, || getrlimit(Resource::Nofile).current.map_or(usize::MAX, |most| most as usize) / SHARE);

impl Room {
    const fn new(limit: usize, share: fn() -> usize) -> Self {
        Self {
            taken: AtomicUsize::new(0),
            limit: AtomicUsize::new(limit),
            share,
            queued: AtomicUsize::new(0),
            first: Mutex::new(()),
            look: Mutex::new(()),
            given_back: Condvar::new(),
        }
    }

    /// Reserves descriptors for a message, if room for one more message remains afterwards and no
    /// thread waits for room. Returns whether they were reserved.
    fn reserve(&self) -> bool {
        let limit = self.limit.load(Ordering::Relaxed);
        self.queued.load(Ordering::SeqCst) == 0 && self.take_if(|taken| taken + 2 * FILES_MAX <= limit)
    }

    /// Reserves descriptors for a message if `is_allowed` accepts the number of taken descriptors.
    /// Returns whether they were reserved.
    fn take_if(&self, is_allowed: impl Fn(usize) -> bool) -> bool {
        let more = |taken| is_allowed(taken).then_some(taken + FILES_MAX);
        self.taken.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more).is_ok()
    }

    /// Reserves descriptors for a message from `user` where room is short. `waiting` returns the
    /// number of files that wait to be closed, and the number of those that the user passed.
    /// Returns whether the descriptors were reserved.
    ///
    /// Only a user without waiting files gets the room for the last message, and only while no
    /// other message is being received: the files of the other message could be this user's, too.
    /// One user alone therefore never takes all of the room.
    ///
    /// The own user of this process and the superuser are not limited. Both can do anything to this
    /// process anyway, and files of other users must not cause a refusal of their messages.
    fn reserve_last(&self, user: Option<u32>, waiting: impl Fn(Option<u32>) -> (usize, usize)) -> bool {
        if user.is_some_and(is_trusted) {
            self.taken.fetch_add(FILES_MAX, Ordering::Relaxed);
            return true;
        }
        // The process may have changed its limit of descriptors since `share` was last called.
        let limit = (self.share)().max(LIMIT_MIN);
        self.limit.store(limit, Ordering::Relaxed);
        self.queued.fetch_add(1, Ordering::SeqCst);
        let first = lock(&self.first);
        let mut look = lock(&self.look);
        let is_reserved = loop {
            let (all, own) = waiting(user);
            let needed = if own == 0 { FILES_MAX } else { 2 * FILES_MAX };
            if all + needed > limit {
                break false;
            }
            if self.take_if(|taken| taken + 2 * FILES_MAX <= limit || own == 0 && taken == all) {
                break true;
            }
            // Receiving never blocks, so other threads return their reservations soon.
            look = self.given_back.wait(look).unwrap_or_else(PoisonError::into_inner);
        };
        drop((look, first));
        self.queued.fetch_sub(1, Ordering::SeqCst);
        is_reserved
    }

    fn give_back(&self, count: usize) {
        // `taken` is lowered before `queued` is read, and a waiting thread raises `queued` before
        // it reads `taken`. So either the waiting thread sees the new value of `taken`, or this
        // thread sees that a thread waits. The waiting thread holds `look` until its wait begins,
        // so it gets a notification that is sent after this thread has locked `look`.
        self.taken.fetch_sub(count, Ordering::SeqCst);
        if self.queued.load(Ordering::SeqCst) > 0 {
            drop(lock(&self.look));
            self.given_back.notify_all();
        }
    }
}

/// The descriptors that are reserved for a message, until the value is dropped.
#[derive(Debug)]
struct Reserved<'a> {
    room: &'a Room,
    /// The descriptors that this message still reserves. Those of files that wait to be closed are
    /// given back by [`close_all`].
    count: usize,
}

impl<'a> Reserved<'a> {
    /// Reserves descriptors for a message from `user`, if there is room: see
    /// [`Room::reserve_last`].
    fn new(
        room: &'a Room,
        user: impl FnOnce() -> Option<u32>,
        waiting: impl Fn(Option<u32>) -> (usize, usize),
    ) -> Option<Self> {
        let is_reserved = room.reserve() || room.reserve_last(user(), waiting);
        is_reserved.then(|| Self { room, count: FILES_MAX })
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

/// Receives a message, if one has arrived. Does not wait for a message to arrive. Where descriptors
/// are short, waits until other threads have given their reservations back.
///
/// # Errors
///
/// The outer result has the socket's errors, and [`Errno::MFILE`] when this process has no
/// descriptor left for a file. The inner result has [`Violation::NotSealed`] when a file beside the
/// message is no memory file, [`Violation::NoSegment`] when the system does not deliver a file, and
/// [`Violation::TooManyFiles`] while too many files of the peer's user wait to be closed; the
/// message is then not read.
pub(super) fn receive(socket: &OwnedFd, bytes: &mut [u8]) -> Result<Result<Message, Violation>, Errno> {
    let is_many = WAITING.load(Ordering::Relaxed) >= FILES_TO_CLOSE_MAX;
    if is_many && files_to_close().count_of(user_of(socket)) >= FILES_TO_CLOSE_MAX {
        return Ok(Err(Violation::TooManyFiles));
    }
    let waiting = |user| {
        let files_to_close = files_to_close();
        (files_to_close.files.len(), files_to_close.count_of(user))
    };
    let Some(mut reserved) = Reserved::new(&ROOM, || user_of(socket), waiting) else {
        return Ok(Err(Violation::TooManyFiles));
    };
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES_MAX))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    let got = rustix::net::recvmsg(socket, &mut [IoSliceMut::new(bytes)], &mut control, flags)?;
    let files = take(&mut control, socket, &mut reserved);
    if got.flags.contains(ReturnFlags::CTRUNC) {
        // The kernel has kept a file back. If this process has a free descriptor, the reason is a
        // rule of the system, and not a lack of descriptors.
        return rustix::io::fcntl_dupfd_cloexec(socket, 0).map(|_| Err(Violation::NoSegment));
    }
    let is_cut = got.flags.contains(ReturnFlags::TRUNC);
    Ok(files.map(|files| Message { length: got.bytes, is_cut, files }))
}

/// Takes the files out of a message's control data. Allocates nothing if the message has no files.
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

/// Returns a peer's file if it is a memory file, regardless of its seals. Any other file is left to
/// the closing thread. Does not wait.
fn memory_file(file: OwnedFd, socket: &OwnedFd, reserved: &mut Reserved<'_>) -> Option<OwnedFd> {
    if rustix::fs::fcntl_get_seals(&file).is_ok() {
        return Some(file);
    }
    let user = user_of(socket);
    let mut files_to_close = files_to_close();
    files_to_close.files.push_back((user, Some(file)));
    reserved.count -= 1;
    WAITING.fetch_add(1, Ordering::Relaxed);
    if !files_to_close.is_closing {
        let thread = std::thread::Builder::new().name("obvia-close".to_owned());
        // Without a thread, the files stay open until the next file to close arrives.
        files_to_close.is_closing = thread.spawn(close_all).is_ok();
    }
    None
}

/// Closes files until none is left. While a close hangs, the files behind it in the queue stay
/// open. The users that passed these files have less room for messages until the files are closed.
/// Messages of other users are refused only if these files take all of the room. For that, the
/// files must be of several users, or of a user that is not limited: see [`Room::reserve_last`].
fn close_all() {
    let mut files_to_close = files_to_close();
    while let Some((_, file)) = files_to_close.files.front_mut() {
        let file = file.take();
        drop(files_to_close);
        drop(file);
        files_to_close = self::files_to_close();
        files_to_close.files.pop_front();
        WAITING.fetch_sub(1, Ordering::Relaxed);
        drop(files_to_close);
        // The lock is released first: a thread that waits for room counts the remaining files when
        // it is woken.
        ROOM.give_back(1);
        files_to_close = self::files_to_close();
    }
    files_to_close.is_closing = false;
}

#[cfg(test)]
mod tests {
    use super::{FILES_MAX, FilesToClose, LIMIT_MIN, ROOM, Reserved, Room, Violation, memory_file, receive};
    use rustix::fs::{MemfdFlags, memfd_create};
    use rustix::net::{
        AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, sockopt,
    };
    use std::collections::VecDeque;
    use std::fs::File;
    use std::io::{IoSlice, Read, Write};
    use std::mem::MaybeUninit;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::sync::atomic::Ordering;
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
    fn received_files_other_than_memory_are_closed() {
        let (_near, far) = sockets();
        let memory = memfd_create("test", MemfdFlags::CLOEXEC).unwrap();
        let mut reserved = Reserved::new(&ROOM, || Some(0), |_| (0, 0)).unwrap();
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
    fn files_waiting_for_close_are_counted_per_user() {
        let waits = Some(File::open("/dev/null").unwrap().into());
        let files = VecDeque::from([(Some(1), None), (Some(2), waits), (Some(1), None)]);
        let files_to_close = FilesToClose { files, is_closing: true };
        assert_eq!([Some(1), Some(2), Some(3), None].map(|user| files_to_close.count_of(user)), [2, 1, 0, 0]);
    }

    const OTHER: Option<u32> = Some(u32::MAX - 1);

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn one_user_cannot_exhaust_the_file_limit() {
        let room = Room::new(LIMIT_MIN, || 5 * FILES_MAX);
        // The first user passes files, none of which is closed.
        let mut waiting = 0;
        while let Some(mut reserved) = Reserved::new(&room, || OTHER, |_| (waiting, waiting)) {
            reserved.count = 0;
            waiting += FILES_MAX;
        }
        assert_eq!(waiting, 4 * FILES_MAX);
        for user in [Some(u32::MAX - 2), None, Some(0)] {
            assert!(Reserved::new(&room, || user, |_| (waiting, 0)).is_some(), "{user:?}");
        }
        // A file of a second user takes the last room.
        waiting += 1;
        room.taken.fetch_add(1, Ordering::Relaxed);
        assert!(Reserved::new(&room, || None, |_| (waiting, 0)).is_none());
        assert!(Reserved::new(&room, || Some(rustix::process::geteuid().as_raw()), |_| (waiting, 0)).is_some());
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn a_message_waits_for_room_of_earlier_received_files() {
        let room = Room::new(LIMIT_MIN, || 0);
        let first = Reserved::new(&room, || None, |_| (0, 0)).unwrap();
        std::thread::scope(|scope| {
            let room = &room;
            let waits =
                [OTHER, None].map(|user| scope.spawn(move || Reserved::new(room, || user, |_| (0, 0)).is_some()));
            let begun = Instant::now();
            while room.queued.load(Ordering::SeqCst) < waits.len() {
                assert!(begun.elapsed() < Duration::from_secs(60), "no message waits");
                std::thread::yield_now();
            }
            drop(first);
            assert_eq!(waits.map(|waits| waits.join().unwrap()), [true, true]);
        });
        assert_eq!(room.taken.load(Ordering::Relaxed), 0);
    }

    /// Returns the two ends of a TCP connection. Closing the first end takes `time`, because the
    /// second end does not read.
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
        // From now on the message holds the only descriptor of the socket, so that closing the
        // descriptor waits.
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
