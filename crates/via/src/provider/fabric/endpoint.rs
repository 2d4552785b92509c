//! Endpoints: passive ones, and ends of connections with their operations.

use super::ffi::{self, Handle, Iovec};
use super::objects::{Completions, Domain, EventQueue, Fabric, Info, Owned, Retired, check};
use super::segment;
use crate::Error;
use rustix::io::Errno;
use std::ffi::{CStr, c_int, c_void};
use std::ptr::null_mut;
use std::sync::Arc;

/// The maximum number of names tried for an endpoint. shm names its segments by process id and a
/// count, and the segments of killed processes stay behind. A later process with the same id finds
/// such a name busy, and tries the next name.
const NAMES: usize = 64;
const BUSY: c_int = Errno::BUSY.raw_os_error();

/// The source address that means any sender.
const UNSPECIFIED: u64 = u64::MAX;
/// The maximum length of an endpoint's name, in bytes.
pub(super) const NAME_MAX: usize = 256;

/// An endpoint that waits for connection requests.
#[derive(Debug)]
pub(super) struct Passive {
    object: Owned,
    pub(super) events: EventQueue,
}

impl Passive {
    pub(super) fn open(fabric: &Arc<Fabric>, info: &Info) -> Result<Self, Error> {
        let events = EventQueue::open(fabric)?;
        let mut found = null_mut();
        // SAFETY: the three handles are live objects, and `found` has room for the result.
        let result = unsafe { ffi::ob_passive(fabric.0.0, info.0, events.object.0, &mut found) };
        check("listening", result)?;
        Ok(Self { object: Owned(found), events })
    }

    pub(super) fn port(&self) -> Result<u16, Error> {
        let name = name(&self.object)?;
        // SAFETY: the pointer and the length are those of `name`, and the shim reads no more bytes.
        Ok(unsafe { ffi::ob_port(name.as_ptr().cast(), name.len()) })
    }

    pub(super) fn room(&self) -> usize {
        // SAFETY: `self.object` is a live endpoint.
        unsafe { ffi::ob_connection_data(self.object.0) }
    }

    pub(super) fn reject(&self, request: &Info, data: &[u8]) -> Result<(), Error> {
        // SAFETY: `self.object` and `request` are live objects, and `data` lives until the call
        // returns.
        let result = unsafe { ffi::ob_reject(self.object.0, request.0, data.as_ptr().cast(), data.len()) };
        check("rejecting a connection", result).map(|_| ())
    }
}

fn name(endpoint: &Owned) -> Result<Vec<u8>, Error> {
    let (mut name, mut length) = (vec![0_u8; NAME_MAX], NAME_MAX);
    // SAFETY: `endpoint` is a live endpoint. libfabric writes at most `length` bytes to `name`, and
    // the new length to `length`.
    let result = unsafe { ffi::ob_name(endpoint.0, name.as_mut_ptr().cast(), &mut length) };
    check("reading an endpoint's address", result)?;
    name.truncate(length);
    Ok(name)
}

/// One end of a connection. Dropping the endpoint ends all of its operations, so that libfabric no
/// longer touches their memory.
#[derive(Debug)]
pub(super) struct Endpoint {
    object: Owned,
    pub(super) completions: Completions,
    pub(super) events: Option<EventQueue>,
    peers: Option<Owned>,
    peer: u64,
    // The regions that peers can still write until the endpoint is closed. They are dropped last.
    _retired: Arc<Retired>,
}

/// A piece of memory, with libfabric's own descriptor of it.
pub(super) type Piece = (Iovec, Handle);

/// The target of an operation in the peer's memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct RemoteRange {
    pub(super) address: u64,
    pub(super) length: u64,
    pub(super) key: u64,
}

/// An operation of an endpoint.
#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    Receive,
    Send { data: Option<u64> },
    Write { to: RemoteRange, data: Option<u64> },
    Read { from: RemoteRange },
}

/// The maximum number of pieces of an operation.
pub(super) const PIECES_MAX: usize = 16;

/// The queues and the address vector of an endpoint.
#[derive(Debug)]
pub(super) struct Queues {
    completions: Completions,
    events: Option<EventQueue>,
    peers: Option<Owned>,
}

impl Queues {
    pub(super) fn open(domain: &Arc<Domain>, is_msg: bool, depth: usize) -> Result<Self, Error> {
        let completions = Completions::open(domain, depth)?;
        let events = is_msg.then(|| EventQueue::open(&domain.fabric)).transpose()?;
        let mut peers = None;
        if !is_msg {
            let mut found = null_mut();
            // SAFETY: the domain is live, and `found` has room for the result.
            let result = unsafe { ffi::ob_av(domain.object.0, &mut found) };
            check("opening an address vector", result)?;
            peers = Some(Owned(found));
        }
        Ok(Self { completions, events, peers })
    }
}

impl Endpoint {
    pub(super) fn open(domain: &Arc<Domain>, info: &Info, depth: usize) -> Result<Self, Error> {
        Self::of(Queues::open(domain, info.capabilities().is_msg != 0, depth)?, domain, info)
    }

    pub(super) fn of(queues: Queues, domain: &Arc<Domain>, info: &Info) -> Result<Self, Error> {
        let Queues { completions, events, peers } = queues;
        let event_queue = events.as_ref().map_or(null_mut(), |events| events.object.0);
        let (cq, av) = (completions.object.0, peers.as_ref().map_or(null_mut(), |peers| peers.0));
        let (mut found, mut result) = (null_mut(), -BUSY);
        for _ in 0..NAMES {
            // SAFETY: the handles are live objects, or null where the endpoint needs none, and
            // `found` has room for the result.
            result = unsafe { ffi::ob_endpoint(domain.object.0, info.0, event_queue, cq, av, &mut found) };
            if result != -BUSY {
                break;
            }
        }
        check("opening an endpoint", result)?;
        let retired = domain.enter();
        Ok(Self { object: Owned(found), completions, events, peers, peer: UNSPECIFIED, _retired: retired })
    }

    pub(super) fn name(&self) -> Result<Vec<u8>, Error> {
        name(&self.object)
    }

    /// Returns the local address of a connected endpoint, where it is an IP address.
    pub(super) fn local(&self) -> Option<String> {
        let name = self.name().ok().filter(|_| self.events.is_some())?;
        let mut room = [0_u8; 128];
        // SAFETY: the lengths are those of `name` and `room`. The shim writes a C string no longer
        // than `room`.
        unsafe { ffi::ob_address(name.as_ptr().cast(), name.len(), room.as_mut_ptr().cast(), room.len()) };
        let text = CStr::from_bytes_until_nul(&room).ok()?.to_str().ok()?;
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Sets the only peer of a connectionless endpoint. With libfabric's `shm`, checks the owner of
    /// the peer's segment as well.
    pub(super) fn set_peer(&mut self, name: &[u8], is_shm: bool) -> Result<(), Error> {
        let Some(peers) = &self.peers else { return Err(Error::BadState { what: "the endpoint has connections" }) };
        // Zeroes after the name terminate a name that is a text, and fill up an address of a fixed
        // size.
        let mut padded = [0_u8; NAME_MAX + 1];
        let Some(room) = padded.get_mut(..name.len()).filter(|room| room.len() <= NAME_MAX) else {
            return Err(Error::Violation(crate::Violation::BadGreeting));
        };
        room.copy_from_slice(name);
        let segment = is_shm.then(|| segment::own(name)).transpose()?;
        // SAFETY: `peers` is a live address vector. `padded` is at least as long as an address of
        // any format, and ends with zeroes.
        let result = unsafe { ffi::ob_av_insert(peers.0, padded.as_ptr().cast(), &mut self.peer) };
        check("naming a peer", result)?;
        // Another segment may have had the name at the time of the insertion, so the segment is
        // compared once more.
        if is_shm && segment::own(name).ok() != segment {
            return Err(Error::Violation(crate::Violation::BadGreeting));
        }
        Ok(())
    }

    pub(super) fn room(&self) -> usize {
        // SAFETY: `self.object` is a live endpoint.
        unsafe { ffi::ob_connection_data(self.object.0) }
    }

    pub(super) fn connect(&self, info: &Info, data: &[u8]) -> Result<(), Error> {
        // SAFETY: `self.object` and `info` are live objects, and `data` lives until the call
        // returns.
        let result = unsafe { ffi::ob_connect(self.object.0, info.0, data.as_ptr().cast(), data.len()) };
        check("requesting a connection", result).map(|_| ())
    }

    pub(super) fn accept(&self, data: &[u8]) -> Result<(), Error> {
        // SAFETY: `self.object` is a live endpoint, and `data` lives until the call returns.
        let result = unsafe { ffi::ob_accept(self.object.0, data.as_ptr().cast(), data.len()) };
        check("accepting a connection", result).map(|_| ())
    }

    pub(super) fn shutdown(&self) {
        // SAFETY: `self.object` is a live endpoint. An error means that the connection is over
        // already.
        let _ = unsafe { ffi::ob_shutdown(self.object.0) };
    }

    /// Cancels a receive. The completion says whether the cancellation came in time.
    pub(super) fn cancel(&self, context: *mut c_void) {
        // SAFETY: `self.object` is a live endpoint, and libfabric only compares the context. An
        // error means that the receive has already been consumed.
        let _ = unsafe { ffi::ob_cancel(self.object.0, context) };
    }

    /// Posts an operation. Returns `false` when the endpoint has no room for the operation now.
    ///
    /// # Safety
    ///
    /// The pieces must be readable and writable, and the context must have room for libfabric's own
    /// state, until the operation is complete or the endpoint is dropped.
    pub(super) unsafe fn post(
        &self,
        work: Work,
        pieces: &[Piece],
        delivered: bool,
        context: *mut c_void,
    ) -> Result<bool, Error> {
        let mut segments = [Iovec { start: null_mut(), length: 0 }; PIECES_MAX];
        let mut descriptors = [null_mut(); PIECES_MAX];
        let count = pieces.len().min(PIECES_MAX);
        for (at, (segment, descriptor)) in pieces.iter().take(count).enumerate() {
            (segments[at], descriptors[at]) = (*segment, *descriptor);
        }
        let (ep, iov, desc, delivered) =
            (self.object.0, segments.as_ptr(), descriptors.as_mut_ptr(), u8::from(delivered));
        let result = match work {
            // SAFETY: `ep` is a live endpoint, and `iov` and `desc` have `count` entries. By the
            // caller's promise, the memory and the context stay valid.
            Work::Receive => unsafe { ffi::ob_receive(ep, iov, desc, count, UNSPECIFIED, context) },
            Work::Send { data } => {
                let (value, has) = (data.unwrap_or_default(), u8::from(data.is_some()));
                // SAFETY: as for `Work::Receive`.
                unsafe { ffi::ob_send(ep, iov, desc, count, self.peer, value, has, delivered, context) }
            }
            Work::Write { to: RemoteRange { address, length, key }, data } => {
                let (value, has) = (data.unwrap_or_default(), u8::from(data.is_some()));
                // SAFETY: as for `Work::Receive`. The peer's side checks the access to its memory.
                unsafe {
                    ffi::ob_write(ep, iov, desc, count, self.peer, address, length, key, value, has, delivered, context)
                }
            }
            Work::Read { from: RemoteRange { address, length, key } } => {
                // SAFETY: as for `Work::Write`.
                unsafe { ffi::ob_read(ep, iov, desc, count, self.peer, address, length, key, context) }
            }
        };
        if result.unsigned_abs() == ffi::ob_error_again || result == -Errno::NOBUFS.raw_os_error() {
            return Ok(false);
        }
        check("posting to an endpoint", result).map(|_| true)
    }
}
