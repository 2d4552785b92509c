//! What a provider implements, and what the queues offer it: the seam between virtual interfaces and wires.
//!
//! A [`Provider`] opens connections; each connection is a [`Port`], which belongs to one VI and is called with that VI's lock
//! held. A port is handed the descriptors of the send queue in order, and reports what happens to a [`Sink`]: the VI's queues and
//! the regions that it may reach. Checks of descriptors against local memory, order of completions, flushing, waiting and
//! completion queues are not a port's business: they are the same for all.

use crate::attributes::{Attributes, Reliability};
use crate::descriptor::{Descriptor, RemoteAddress, Status};
use crate::error::Ended;
use crate::memory::{MemoryHandle, Region};
use crate::reliable::Guard;
use crate::{Deadline, Error, Memory, RegionView};
use rustix::fd::OwnedFd;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// A way to reach peers.
pub trait Provider: Send + Sync + fmt::Debug {
    /// What it can do.
    fn attributes(&self) -> &Attributes;

    /// Begins to listen. The discriminator's form is the provider's: a name, a port, an address.
    ///
    /// # Errors
    ///
    /// When it is malformed or taken.
    fn listen(&self, discriminator: &str) -> Result<Box<dyn Listening>, Error>;

    /// Asks a listener for a connection, and waits for its answer. Returns what the listener offered.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where nobody listens, [`Error::Refused`] with the listener's reason, [`Error::TimedOut`].
    fn connect(&self, address: &str, own: &Offer, deadline: Deadline) -> Result<(Box<dyn Port>, Offer), Error>;

    /// The same for a VI of this protection tag ([`Region::tag`]), for providers that keep the regions of tags apart themselves.
    ///
    /// # Errors
    ///
    /// As [`Self::connect`].
    fn connect_tagged(
        &self,
        tag: u64,
        address: &str,
        own: &Offer,
        deadline: Deadline,
    ) -> Result<(Box<dyn Port>, Offer), Error> {
        let _ = tag;
        self.connect(address, own, deadline)
    }

    /// Memory that suits the provider.
    ///
    /// # Errors
    ///
    /// When the system has none.
    fn memory(&self, length: usize) -> Result<Memory, Error> {
        Memory::new(length)
    }

    /// A region was registered. A provider with handles of its own returns one; otherwise the NIC makes it.
    ///
    /// # Errors
    ///
    /// When it cannot be registered.
    fn register(&self, region: &Region) -> Result<Option<MemoryHandle>, Error> {
        let _ = region;
        Ok(None)
    }

    /// A region's registration ended: its handle names nothing any more. Descriptors that are posted may still point to it.
    fn deregister(&self, region: &Arc<Region>) {
        let _ = region;
    }

    /// Whether ports make progress only while somebody calls them: then the NIC looks after those that nobody calls.
    fn needs_attendance(&self) -> bool {
        true
    }
}

/// What the two sides tell each other when they connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The VI's reliability level; both must have the same.
    pub reliability: Reliability,
    /// The longest message that it takes; the smaller of the two holds.
    pub max_transfer: u32,
    /// Whatever the user wants to tell; at most [`Offer::PRIVATE_MAX`] bytes.
    pub private: Vec<u8>,
}

impl Offer {
    /// The longest private data.
    pub const PRIVATE_MAX: usize = 240;
    const FIXED: usize = 8;

    /// The offer as bytes for a wire.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::FIXED + self.private.len());
        bytes.extend([self.reliability as u8, 0]);
        bytes.extend((self.private.len() as u16).to_le_bytes());
        bytes.extend(self.max_transfer.to_le_bytes());
        bytes.extend(&self.private);
        bytes
    }

    /// An offer from a wire. `None` when it is none.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (fixed, private) = bytes.split_at_checked(Self::FIXED)?;
        let length = usize::from(u16::from_le_bytes([fixed[2], fixed[3]]));
        if fixed[1] != 0 || length > Self::PRIVATE_MAX || private.len() != length {
            return None;
        }
        let max_transfer = u32::from_le_bytes([fixed[4], fixed[5], fixed[6], fixed[7]]);
        Some(Self { reliability: Reliability::from_wire(fixed[0])?, max_transfer, private: private.to_vec() })
    }
}

/// A listener.
pub trait Listening: Send + fmt::Debug {
    /// Waits for the next request.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`]. A peer that sends nonsense is not an error.
    fn accept(&mut self, deadline: Deadline) -> Result<Box<dyn Incoming>, Error>;

    /// The address that peers connect to.
    fn address(&self) -> String;
}

/// A request for a connection that has not been answered. Dropping it rejects it.
pub trait Incoming: Send + fmt::Debug {
    /// What the peer offers.
    fn offer(&self) -> &Offer;

    /// Who asks, for logs: an address or a process.
    fn peer(&self) -> String;

    /// Accepts.
    ///
    /// # Errors
    ///
    /// When the peer is gone by now.
    fn accept(self: Box<Self>, own: &Offer, deadline: Deadline) -> Result<Box<dyn Port>, Error>;

    /// The same for a VI of this protection tag: see [`Provider::connect_tagged`].
    ///
    /// # Errors
    ///
    /// As [`Self::accept`].
    fn accept_tagged(self: Box<Self>, tag: u64, own: &Offer, deadline: Deadline) -> Result<Box<dyn Port>, Error> {
        let _ = tag;
        self.accept(own, deadline)
    }

    /// Rejects, with a reason that the peer gets.
    fn reject(self: Box<Self>, why: &str);
}

/// One end of a connection.
pub trait Port: Send + fmt::Debug {
    /// A descriptor was posted to the send queue: see [`Sink::posted`]. Must not block; whatever cannot be done now is done in
    /// [`Port::progress`].
    fn submit(&mut self, now: Instant, sink: &mut dyn Sink) {
        self.progress(now, sink);
    }

    /// The same, before the time is known: whether the descriptor is on its way, as nothing else was to be done. `false`, and nothing was
    /// changed: [`Self::submit`] follows.
    fn submit_at_once(&mut self, sink: &mut dyn Sink) -> bool {
        let _ = sink;
        false
    }

    /// A receive descriptor was posted.
    fn receive_posted(&mut self, sink: &mut dyn Sink) {
        let _ = sink;
    }

    /// Takes what came, sends what is to be sent, and does what time demands. Must not block.
    fn progress(&mut self, now: Instant, sink: &mut dyn Sink);

    /// As [`Self::progress`], for whoever answers what comes: what else it brought may wait until the answer is on its way, or
    /// for the next call.
    fn progress_to_answer(&mut self, now: Instant, sink: &mut dyn Sink) {
        self.progress(now, sink);
    }

    /// Prepares for a sleep: what to sleep on, and when to call again at the latest. `None` when there is something to do now.
    ///
    /// Several threads may sleep at a time. Each `Some` is followed by one [`Self::end_sleep`].
    fn prepare_sleep(&mut self, now: Instant) -> Option<Sleep>;

    /// A sleep that was prepared is over, or did not happen.
    fn end_sleep(&mut self) {}

    /// A file that is readable when a message came, whether or not a sleep was prepared; `None` where only calling tells.
    fn readiness(&self) -> Option<Arc<OwnedFd>>;

    /// Ends the connection, and tells the peer if that is possible without waiting.
    fn disconnect(&mut self);

    /// Has nobody but the two ends send packets of the connection from now on.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] where packets are not under this port's control, or get lost for good.
    fn guard(&mut self, guard: Guard) -> Result<(), Error> {
        let _ = guard;
        Err(Error::Unsupported { provider: "of this connection", what: "packets under a key" })
    }

    /// Who is at the other end, for messages to people: over a network `host:port`.
    fn peer(&self) -> String;

    /// The address of this end, as the peer reaches it: over a network `host:port`.
    fn local(&self) -> Option<String> {
        None
    }
}

/// What a thread sleeps on.
#[derive(Debug)]
pub struct Sleep {
    /// Wakes the thread by becoming readable.
    pub fd: Option<Arc<OwnedFd>>,
    /// When [`Port::progress`] is due at the latest.
    pub until: Option<Instant>,
}

/// Why a message or an RDMA of the peer was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No receive descriptor is posted.
    ReceiverNotReady,
    /// The receive descriptor has too little room. It has been completed with that error.
    TooLong,
    /// The memory that it names does not allow it.
    Protection,
}

impl Refusal {
    /// The status of the peer's descriptor.
    pub fn status(self) -> Status {
        match self {
            Self::ReceiverNotReady => Status::ReceiverNotReady,
            Self::TooLong => Status::TooLong,
            Self::Protection => Status::RemoteProtection,
        }
    }
}

/// What a peer wants to do with a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    /// RDMA write.
    Write,
    /// RDMA read.
    Read,
}

/// A VI's queues and the regions that its peer may reach, as its port uses them.
///
/// Descriptors of the send queue are numbered from 0 in the order posted, and counted for as long as the connection lasts.
pub trait Sink {
    /// The descriptor numbered `index` of the send queue, if it was posted and is not completed.
    fn sending(&self, index: u64) -> Option<&Descriptor>;

    /// How many descriptors were posted to the send queue.
    fn posted(&self) -> u64;

    /// How many of them are completed.
    fn completed(&self) -> u64;

    /// Completes the oldest descriptor of the send queue that is not completed.
    fn complete(&mut self, status: Status, transferred: u32);

    /// Receive descriptors that are posted and not taken.
    fn receives(&self) -> usize;

    /// The receive descriptor at `index`, counted from the oldest that is not completed: for providers that post them themselves.
    fn receiving(&self, index: usize) -> Option<&Descriptor>;

    /// Begins a message of `length` bytes: it goes to the oldest receive descriptor.
    ///
    /// # Errors
    ///
    /// No descriptor, or too little room.
    fn begin_message(&mut self, length: u32) -> Result<(), Refusal>;

    /// Puts bytes of the message that was begun in their place; what lies outside of it is left out.
    fn fill_message(&mut self, offset: u32, bytes: &[u8]);

    /// As [`Self::fill_message`], from memory that the peer may write meanwhile: `length` bytes of it, from `at` on. What lies
    /// outside of the view is left out as well.
    fn fill_message_from(&mut self, offset: u32, view: RegionView<'_>, at: usize, length: usize) {
        let (mut buffer, mut done) = ([0; 1024], 0);
        while done < length {
            let some = &mut buffer[..(length - done).min(1024)];
            if view.copy_to(at.saturating_add(done), some).is_none() {
                return;
            }
            // A message has a length of 32 bits, and what is outside of it is left out.
            self.fill_message(offset.saturating_add(done as u32), some);
            done += some.len();
        }
    }

    /// Completes the message that was begun.
    fn end_message(&mut self, immediate: Option<u32>);

    /// Forgets the message that was begun: the descriptor is the next one's. Unreliable delivery lost a part.
    fn abandon_message(&mut self);

    /// Completes the oldest receive descriptor, whose bytes are in place already or which an RDMA write with immediate
    /// data consumes.
    ///
    /// # Errors
    ///
    /// No descriptor.
    fn complete_receive(
        &mut self,
        operation: crate::descriptor::Operation,
        length: u32,
        immediate: Option<u32>,
    ) -> Result<(), Refusal>;

    /// Looks up the region of an RDMA of the peer, which is checked as a whole before its first byte is touched.
    ///
    /// # Errors
    ///
    /// [`Refusal::Protection`].
    fn remote(&self, place: RemoteAddress, length: u64, intent: Intent) -> Result<Arc<Region>, Refusal>;

    /// Performs an RDMA write of the peer whose bytes have all come.
    ///
    /// # Errors
    ///
    /// [`Refusal::Protection`]: nothing was written.
    fn write_remote(&mut self, place: RemoteAddress, bytes: &[u8]) -> Result<(), Refusal> {
        let region = self.remote(place, bytes.len() as u64, Intent::Write)?;
        region.memory().write(place.offset, bytes).ok_or(Refusal::Protection)
    }

    /// Performs an RDMA write of the peer with immediate data, whose bytes have all come.
    ///
    /// # Errors
    ///
    /// No descriptor, or [`Refusal::Protection`]: nothing was written.
    fn take_write(&mut self, place: RemoteAddress, bytes: &[u8], immediate: u32) -> Result<(), Refusal> {
        if self.receives() == 0 {
            return Err(Refusal::ReceiverNotReady);
        }
        self.write_remote(place, bytes)?;
        // What was written is as long as a packet at most.
        self.complete_receive(crate::descriptor::Operation::RdmaWrite, bytes.len() as u32, Some(immediate))
    }

    /// The connection is over. Descriptors that are left are flushed: the oldest of the send queue gets `status`. The port is still
    /// called, so that it can tell the peer once more; whatever it reports then is ignored.
    fn broken(&mut self, status: Status, why: Ended);
}
