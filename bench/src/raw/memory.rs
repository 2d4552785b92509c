//! Two processes and one shared segment, with a line and an area in each direction. Each line and
//! each area is written by only one side.
//!
//! ```text
//! page 0           page 1           page 2 ...       then
//! request line     reply line       request area     reply area
//! u32 sequence     u32 sequence     the array        the array
//! u32 words
//! client writes    server writes    client writes    server writes
//! ```
//!
//! The writer of a message publishes the message by storing its sequence number last. From then on
//! the writer does not touch the line and the area until the other side has answered. This order
//! makes the copies below sound.

use super::waiting::Waiting;
use crate::payload::count_call;
use crate::{Error, Parent, Watch};
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};
use std::convert::Infallible;
use std::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

const PAGE: usize = 4096;
const REQUEST: usize = 0;
const REQUEST_WORDS: usize = REQUEST + 4;
const REPLY: usize = PAGE;
const AREAS: usize = 2 * PAGE;

/// The mapped segment.
#[derive(Debug)]
struct Segment {
    // Invariant 1: `start..start + AREAS + 2 * area` is mapped for reading and writing as long as
    // this value lives, and `start` is page-aligned. Invariant 2: `area` is a multiple of `PAGE`.
    start: NonNull<u8>,
    area: usize,
}

impl Segment {
    fn map(fd: BorrowedFd<'_>, area: usize) -> Result<Self, Error> {
        debug_assert!(area.is_multiple_of(PAGE));
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory in use. The
        // file is sealed against shrinking (by `create`; `attach` checks it), so the pages stay.
        // The mapping is populated, so that no page fault falls into a timed call.
        let start = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                AREAS + 2 * area,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED | MapFlags::POPULATE,
                fd,
                0,
            )
        };
        let start = start.map_err(Error::system("mapping shared memory"))?;
        let start = NonNull::new(start.cast()).expect("the kernel maps nothing at zero unasked");
        Ok(Self { start, area })
    }

    /// Returns a word of a line: `offset` is one of the constants above.
    #[inline]
    fn word(&self, offset: usize) -> &AtomicU32 {
        debug_assert!(offset + 4 <= AREAS && offset.is_multiple_of(4));
        // SAFETY: the offset is below `AREAS`, hence mapped (invariant 1).
        let place = unsafe { self.start.add(offset) };
        // SAFETY: the word is mapped as long as self is borrowed, and is aligned: `start` is
        // page-aligned and the offset is a multiple of four. Both sides access words of lines by
        // atomics only.
        unsafe { place.cast::<AtomicU32>().as_ref() }
    }

    #[inline]
    fn request_area(&self) -> NonNull<u32> {
        // SAFETY: `AREAS` lies within the mapping or at its end (invariant 1).
        unsafe { self.start.add(AREAS) }.cast()
    }

    #[inline]
    fn reply_area(&self) -> NonNull<u32> {
        // SAFETY: `AREAS + area` lies within the mapping or at its end (invariant 1).
        unsafe { self.start.add(AREAS + self.area) }.cast()
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: `map` has mapped this length, and nothing borrowed from the mapping outlives it.
        // Unmapping a whole mapping cannot fail.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), AREAS + 2 * self.area) };
    }
}

/// The client's end.
#[derive(Debug)]
pub(super) struct ClientEnd<W> {
    segment: Segment,
    sequence: u32,
    verified: u32,
    waiting: PhantomData<W>,
}

impl<W: Waiting> ClientEnd<W> {
    /// Creates a segment for arrays of up to `bytes`, and the file for the server to map.
    pub(super) fn create(bytes: usize) -> Result<(Self, OwnedFd), Error> {
        let area = bytes.next_multiple_of(PAGE);
        let fd = rustix::fs::memfd_create("obvia-bench", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)
            .map_err(Error::system("making shared memory"))?;
        rustix::fs::ftruncate(&fd, (AREAS + 2 * area) as u64).map_err(Error::system("sizing shared memory"))?;
        rustix::fs::fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)
            .map_err(Error::system("sealing shared memory"))?;
        let end = Self { segment: Segment::map(fd.as_fd(), area)?, sequence: 0, verified: 0, waiting: PhantomData };
        Ok((end, fd))
    }

    /// Exchanges a line in each direction.
    #[inline]
    pub(super) fn null(&mut self, watch: &mut impl Watch) -> Result<(), Error> {
        self.sequence = self.sequence.wrapping_add(1);
        W::publish(self.segment.word(REQUEST), self.sequence);
        W::until(self.segment.word(REPLY), self.sequence, watch)
    }

    /// Transfers the array in both directions. This side copies the array to the request area, the
    /// server copies it to the reply area, and this side copies it back.
    #[inline]
    pub(super) fn move_data(&mut self, data: &mut [u32], watch: &mut impl Watch) -> Result<(), Error> {
        assert!(size_of_val(data) <= self.segment.area, "the area is too small");
        let area = self.segment.request_area().as_ptr();
        // SAFETY: the area holds the data (asserted) and is not part of `data`, which is private.
        // No other access is concurrent: the server reads the area only between a request and its
        // reply, and the last reply has been received.
        unsafe { data.as_ptr().copy_to_nonoverlapping(area, data.len()) };
        self.segment.word(REQUEST_WORDS).store(data.len() as u32, Relaxed);
        self.null(watch)?;
        let area = self.segment.reply_area().as_ptr();
        // SAFETY: as above; the server writes the area only between a request and its reply, and
        // has replied: `until` has read, with acquire, the word that the server published with
        // release.
        unsafe { data.as_mut_ptr().copy_from_nonoverlapping(area, data.len()) };
        Ok(())
    }

    /// Checks that exactly `calls` calls have been answered since the last check.
    pub(super) fn verify(&mut self, calls: u32) -> Result<(), Error> {
        let expected = self.verified.wrapping_add(calls);
        let found = self.segment.word(REPLY).load(Relaxed);
        self.verified = found;
        if found == expected {
            return Ok(());
        }
        Err(Error::Corrupt {
            what: "the sequence number of the last reply",
            expected: expected.into(),
            found: found.into(),
        })
    }
}

/// The server's end.
#[derive(Debug)]
pub(super) struct ServerEnd<W> {
    segment: Segment,
    sequence: u32,
    waiting: PhantomData<W>,
}

impl<W: Waiting> ServerEnd<W> {
    /// Maps a segment that a client has created.
    ///
    /// # Safety
    ///
    /// The file must come from [`ClientEnd::create`], and no other `ServerEnd` may be attached to
    /// the file.
    pub(super) unsafe fn attach(fd: OwnedFd) -> Result<Self, Error> {
        let size = rustix::fs::fstat(&fd).map_err(Error::system("sizing shared memory"))?.st_size as usize;
        let areas = size.checked_sub(AREAS).filter(|areas| areas.is_multiple_of(2 * PAGE));
        let sealed = rustix::fs::fcntl_get_seals(&fd).is_ok_and(|seals| seals.contains(SealFlags::SHRINK));
        let areas = areas.filter(|_| sealed).ok_or(Error::Corrupt {
            what: "the size of the shared memory, or its seal,",
            expected: AREAS as u64,
            found: size as u64,
        })?;
        Ok(Self { segment: Segment::map(fd.as_fd(), areas / 2)?, sequence: 0, waiting: PhantomData })
    }

    /// Answers until the client ends.
    pub(super) fn serve(mut self, copying: bool, mut parent: Parent) -> Result<Infallible, Error> {
        parent.ready()?;
        if copying {
            loop {
                self.answer::<true>(&mut parent)?;
            }
        }
        loop {
            self.answer::<false>(&mut parent)?;
        }
    }

    #[inline]
    fn answer<const COPYING: bool>(&mut self, watch: &mut impl Watch) -> Result<(), Error> {
        self.sequence = self.sequence.wrapping_add(1);
        W::until(self.segment.word(REQUEST), self.sequence, watch)?;
        if COPYING {
            self.copy_across();
        }
        W::publish(self.segment.word(REPLY), self.sequence);
        Ok(())
    }

    #[inline]
    fn copy_across(&mut self) {
        let words = self.segment.word(REQUEST_WORDS).load(Relaxed) as usize;
        assert!(words * 4 <= self.segment.area, "the area is too small");
        let (request, reply) = (self.segment.request_area().as_ptr(), self.segment.reply_area().as_ptr());
        // SAFETY: both areas hold the words (asserted) and do not overlap. The client published the
        // request after writing it, and does not touch either area before it sees the reply, which
        // is yet to be published.
        unsafe { request.copy_to_nonoverlapping(reply, words) };
        if words > 0 {
            // SAFETY: as above; the area holds `words` words (asserted), at least one.
            let first = unsafe { reply.read() };
            // SAFETY: as above.
            unsafe { reply.write(count_call(first)) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::waiting::{Pause, Sleep, Spin};
    use super::*;
    use crate::Payload;
    use std::time::Duration;

    struct Patient(Duration);

    impl Watch for Patient {
        fn check(&mut self) -> Result<(), Error> {
            Ok(())
        }

        fn patience(&self) -> Option<Duration> {
            Some(self.0)
        }
    }

    fn calls_are_answered<W: Waiting>() {
        let (mut client, fd) = ClientEnd::<W>::create(8192).unwrap();
        std::thread::spawn(move || {
            // SAFETY: the file comes from `create`, and no other `ServerEnd` is attached to it.
            let mut server = unsafe { ServerEnd::<W>::attach(fd) }.unwrap();
            for _ in 0..50 {
                server.answer::<true>(&mut Patient(Duration::from_secs(10))).unwrap();
            }
        });
        let mut watch = Patient(Duration::from_secs(10));
        let mut payload = Payload::new(8192).unwrap();
        for calls in [20, 30] {
            for _ in 0..calls {
                client.move_data(payload.words_mut(), &mut watch).unwrap();
            }
            client.verify(calls).unwrap();
            payload.verify(calls).unwrap();
        }
    }

    #[test]
    fn memory_calls_are_answered_in_every_waiting_mode() {
        calls_are_answered::<Spin>();
        calls_are_answered::<Pause>();
        calls_are_answered::<Sleep>();
    }

    #[test]
    fn a_client_without_a_server_gives_up() {
        let mut watch = Patient(Duration::from_millis(1));
        let (mut spinning, _fd) = ClientEnd::<Spin>::create(0).unwrap();
        assert!(matches!(spinning.null(&mut watch), Err(Error::Stalled { .. })));
        let (mut sleeping, _fd) = ClientEnd::<Sleep>::create(0).unwrap();
        assert!(matches!(sleeping.null(&mut watch), Err(Error::Stalled { .. })));
    }

    #[test]
    fn unanswered_memory_calls_are_detected() {
        let (mut client, _fd) = ClientEnd::<Spin>::create(0).unwrap();
        client.verify(0).unwrap();
        assert!(client.verify(1).is_err());
    }
}
