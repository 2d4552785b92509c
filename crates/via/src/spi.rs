//! The service provider interface, between virtual interfaces and wires.
//!
//! A [`Provider`] opens connections. Each connection is a [`Port`], which belongs to one VI and is
//! called with that VI's lock held. A port gets the descriptors of the send queue in order, and
//! reports to a [`Sink`], which represents the VI's queues and the regions that the peer may reach.
//! The VI itself checks descriptors against local memory, orders completions, flushes, waits, and
//! serves completion queues. This work is the same for all providers, so ports do not deal with it.

use crate::attributes::{Attributes, Reliability};
use crate::descriptor::{Descriptor, RemoteAddress, Status};
use crate::error::Ended;
use crate::memory::{MemoryHandle, Region};
use crate::reliable::Guard;
use crate::{Deadline, Error, Memory, RegionView};
use rustix::fd::OwnedFd;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// A way to reach peers.
pub trait Provider: Send + Sync + fmt::Debug {
    /// Returns the capabilities of the provider.
    fn attributes(&self) -> &Attributes;

    /// Begins to listen. The provider defines the form of the discriminator, such as a name, a port
    /// or an address.
    ///
    /// # Errors
    ///
    /// [`Error::BadAddress`] or [`Error::BadName`] when the provider cannot interpret the
    /// discriminator; [`Error::NameInUse`], or an error of the system, when the discriminator is
    /// taken.
    fn listen(&self, discriminator: &str) -> Result<Box<dyn Listening>, Error>;

    /// Asks a listener for a connection, and waits for the answer. Returns the port and the
    /// listener's offer.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when nothing listens at the address, [`Error::Refused`] with the
    /// listener's reason, [`Error::TimedOut`] at the deadline.
    fn connect(&self, address: &str, own: &Offer, deadline: Deadline) -> Result<(Box<dyn Port>, Offer), Error>;

    /// As [`Self::connect`], for a VI of the protection tag `tag` ([`Region::tag`]). A provider
    /// overrides this function if it keeps the regions of different tags apart itself.
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

    /// Makes memory that suits the provider.
    ///
    /// # Errors
    ///
    /// An error of the system if there is no memory left.
    fn memory(&self, length: usize) -> Result<Memory, Error> {
        Memory::new(length)
    }

    /// Registers a region. Returns the region's handle if the provider makes the handles; otherwise
    /// the NIC makes one.
    ///
    /// # Errors
    ///
    /// An error of the provider, when it cannot register the region.
    fn register(&self, region: &Region) -> Result<Option<MemoryHandle>, Error> {
        let _ = region;
        Ok(None)
    }

    /// Ends a region's registration: its handle names no region any more. Posted descriptors may
    /// still point to the region.
    fn deregister(&self, region: &Arc<Region>) {
        let _ = region;
    }

    /// Whether ports make progress only when they are called. If so, the NIC's attendant calls the
    /// ports while the owners of their VIs do not.
    fn needs_attendance(&self) -> bool {
        true
    }
}

/// The terms that the two sides exchange when they connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The VI's reliability level, which must be the same on both sides.
    pub reliability: Reliability,
    /// The maximum length of the VI's messages, in bytes. The smaller value of the two sides
    /// applies.
    pub max_transfer: u32,
    /// The user's private data, at most [`Offer::PRIVATE_MAX`] bytes.
    pub private: Vec<u8>,
}

impl Offer {
    /// The maximum length of private data, in bytes.
    pub const PRIVATE_MAX: usize = 240;
    const FIXED: usize = 8;

    /// Returns the offer as bytes for a wire.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::FIXED + self.private.len());
        bytes.extend([self.reliability as u8, 0]);
        bytes.extend((self.private.len() as u16).to_le_bytes());
        bytes.extend(self.max_transfer.to_le_bytes());
        bytes.extend(&self.private);
        bytes
    }

    /// Reads an offer from a wire. `None` for malformed bytes.
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
    /// Waits for the next connection request.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] at the deadline. A malformed request is not an error.
    fn accept(&mut self, deadline: Deadline) -> Result<Box<dyn Incoming>, Error>;

    /// Returns the address that peers connect to.
    fn address(&self) -> String;
}

/// The handle by which another thread ends the acceptance of a connection.
#[derive(Debug, Default)]
pub struct Revocation(OnceLock<&'static str>);

impl Revocation {
    /// Ends the wait for the peer within less than a second. Has no effect after the connection was
    /// made.
    pub fn revoke(&self) {
        self.revoke_because("other connections need the place of this one, which is not complete");
    }

    /// As [`Self::revoke`], for the reason `why`, which is sent to the peer where that is possible.
    pub(crate) fn revoke_because(&self, why: &'static str) {
        // If the handle has a reason already, that reason stays.
        let _ = self.0.set(why);
    }

    /// Returns the reason for which the acceptance was revoked, if it was.
    pub fn reason(&self) -> Option<&'static str> {
        self.0.get().copied()
    }
}

/// A connection request that has not been answered. Dropping the request rejects the peer.
pub trait Incoming: Send + fmt::Debug {
    /// Returns the peer's offer.
    fn offer(&self) -> &Offer;

    /// Returns the peer's name, for logs: an address or a process.
    fn peer(&self) -> String;

    /// Accepts the request.
    ///
    /// # Errors
    ///
    /// An error if the peer is gone.
    fn accept(self: Box<Self>, own: &Offer, deadline: Deadline) -> Result<Box<dyn Port>, Error>;

    /// As [`Self::accept`], for a VI of the protection tag `tag`: see [`Provider::connect_tagged`].
    ///
    /// # Errors
    ///
    /// As [`Self::accept`].
    fn accept_tagged(self: Box<Self>, tag: u64, own: &Offer, deadline: Deadline) -> Result<Box<dyn Port>, Error> {
        let _ = tag;
        self.accept(own, deadline)
    }

    /// Returns the handle that ends [`Self::accept`] early. `None` if [`Self::accept`] does not
    /// wait for the peer, or cannot be ended.
    fn revocation(&self) -> Option<Arc<Revocation>> {
        None
    }

    /// Rejects the request, and tells the peer the reason.
    fn reject(self: Box<Self>, why: &str);
}

/// One end of a connection.
pub trait Port: Send + fmt::Debug {
    /// Begins the work of the descriptor last posted to the send queue: see [`Sink::posted`]. Must
    /// not block; [`Port::progress`] performs the remaining work later.
    fn submit(&mut self, now: Instant, sink: &mut dyn Sink) {
        self.progress(now, sink);
    }

    /// As [`Self::submit`], but without the time, because reading the clock would delay the send.
    /// Returns `true` if the descriptor's work is on its way and needs nothing else. Otherwise
    /// returns `false` with nothing changed, and the caller calls [`Self::submit`].
    fn submit_at_once(&mut self, sink: &mut dyn Sink) -> bool {
        let _ = sink;
        false
    }

    /// Takes note of a posted receive descriptor.
    fn receive_posted(&mut self, sink: &mut dyn Sink) {
        let _ = sink;
    }

    /// Takes the messages and RDMA that have arrived, sends the data that are due, and does the
    /// work of timers that have expired. Must not block.
    fn progress(&mut self, now: Instant, sink: &mut dyn Sink);

    /// As [`Self::progress`], for a caller that will answer the next message. The port can put off
    /// its other work until the answer is on its way, or until the next call of the port.
    fn progress_to_answer(&mut self, now: Instant, sink: &mut dyn Sink) {
        self.progress(now, sink);
    }

    /// Prepares for a sleep. Returns the file to sleep on, and the time by which the port has to be
    /// called again. Returns `None` if the port has work now.
    ///
    /// Several threads may sleep at a time. After each call that returned `Some`,
    /// [`Self::end_sleep`] is called once.
    fn prepare_sleep(&mut self, now: Instant) -> Option<Sleep>;

    /// Ends a prepared sleep, or cancels it.
    fn end_sleep(&mut self) {}

    /// Returns a file that is readable when a message arrived, whether or not a sleep was prepared.
    /// Returns `None` if only a call of the port shows whether a message arrived.
    fn readiness(&self) -> Option<Arc<OwnedFd>>;

    /// Ends the connection, and tells the peer if that is possible without waiting.
    fn disconnect(&mut self);

    /// Whether, since the last call of this function, the port has received news that concern the
    /// other connections to its peer. A caller that has no [`Sink`] for the port then has to do
    /// what [`Sink::look_at_all`] does.
    fn take_concern(&mut self) -> bool {
        false
    }

    /// Authenticates the connection's packets with `guard` from now on.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if this port has no packets of its own, or does not send lost packets
    /// again.
    fn guard(&mut self, guard: Guard) -> Result<(), Error> {
        let _ = guard;
        Err(Error::Unsupported { provider: "of this connection", what: "packets that are protected by a key" })
    }

    /// Returns the peer's name, for messages to people: over a network `host:port`.
    fn peer(&self) -> String;

    /// Returns the address at which the peer reaches this end, if the address is known: over a
    /// network `host:port`.
    fn local(&self) -> Option<String> {
        None
    }
}

/// The events that end a thread's sleep.
#[derive(Debug)]
pub struct Sleep {
    /// A file that wakes the thread by becoming readable.
    pub fd: Option<Arc<OwnedFd>>,
    /// The time by which [`Port::progress`] has to be called again.
    pub until: Option<Instant>,
}

/// The reason why a message or an RDMA of the peer was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No receive descriptor is posted.
    ReceiverNotReady,
    /// The receive descriptor has too little room. [`Sink::begin_message`] has completed that
    /// descriptor with an error.
    TooLong,
    /// The peer may not access the memory that the RDMA names.
    Protection,
}

impl Refusal {
    /// Returns the status of the peer's descriptor.
    pub fn status(self) -> Status {
        match self {
            Self::ReceiverNotReady => Status::ReceiverNotReady,
            Self::TooLong => Status::TooLong,
            Self::Protection => Status::RemoteProtection,
        }
    }
}

/// The kind of access by an RDMA of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    /// RDMA write.
    Write,
    /// RDMA read.
    Read,
}

/// A VI's queues and the regions that the VI's peer may reach, as the VI's port sees them.
///
/// Descriptors of the send queue are numbered from 0 in the order posted, for as long as the
/// connection lasts.
pub trait Sink {
    /// Returns the descriptor numbered `index` of the send queue, if it was posted and is not
    /// completed.
    fn sending(&self, index: u64) -> Option<&Descriptor>;

    /// Returns the number of descriptors posted to the send queue.
    fn posted(&self) -> u64;

    /// Returns the number of descriptors of the send queue that are completed.
    fn completed(&self) -> u64;

    /// Completes the oldest descriptor of the send queue that is not completed.
    fn complete(&mut self, status: Status, transferred: u32);

    /// Returns the number of receive descriptors that are posted and not completed.
    fn receives(&self) -> usize;

    /// Returns the receive descriptor at `index`, counted from the oldest that is not completed, if
    /// there is one. A provider needs this function if it posts receive descriptors to a lower
    /// layer, such as libfabric.
    fn receiving(&self, index: usize) -> Option<&Descriptor>;

    /// Begins a message of `length` bytes, for the oldest receive descriptor.
    ///
    /// # Errors
    ///
    /// [`Refusal::ReceiverNotReady`] if no descriptor is posted, [`Refusal::TooLong`] if the
    /// descriptor has too little room.
    fn begin_message(&mut self, length: u32) -> Result<(), Refusal>;

    /// Copies bytes of the current message to their place. Bytes outside of the message are left
    /// out.
    fn fill_message(&mut self, offset: u32, bytes: &[u8]);

    /// As [`Self::fill_message`], with the `length` bytes of `view` from `at` on. The peer may
    /// write these bytes during the copy. Bytes outside of the view are left out as well.
    fn fill_message_from(&mut self, offset: u32, view: RegionView<'_>, at: usize, length: usize) {
        let (mut buffer, mut done) = ([0; 1024], 0);
        while done < length {
            let some = &mut buffer[..(length - done).min(1024)];
            if view.copy_to(at.saturating_add(done), some).is_none() {
                return;
            }
            // Lengths of messages have 32 bits, and bytes beyond the message's length are left out.
            self.fill_message(offset.saturating_add(done as u32), some);
            done += some.len();
        }
    }

    /// Completes the current message.
    fn end_message(&mut self, immediate: Option<u32>);

    /// Forgets the current message, because unreliable delivery lost a part of it. The message's
    /// receive descriptor takes the next message.
    fn abandon_message(&mut self);

    /// Completes the oldest receive descriptor. Either its bytes are in place already, or an RDMA
    /// write with immediate data consumes the descriptor.
    ///
    /// # Errors
    ///
    /// [`Refusal::ReceiverNotReady`] if no descriptor is posted.
    fn complete_receive(
        &mut self,
        operation: crate::descriptor::Operation,
        length: u32,
        immediate: Option<u32>,
    ) -> Result<(), Refusal>;

    /// Looks up the region of an RDMA of the peer, and checks the whole RDMA before its first byte
    /// is touched.
    ///
    /// # Errors
    ///
    /// [`Refusal::Protection`] when the memory does not allow the RDMA.
    fn remote(&self, place: RemoteAddress, length: u64, intent: Intent) -> Result<Arc<Region>, Refusal>;

    /// Performs an RDMA write of the peer, after all bytes of the write have arrived.
    ///
    /// # Errors
    ///
    /// [`Refusal::Protection`], and nothing was written.
    fn write_remote(&mut self, place: RemoteAddress, bytes: &[u8]) -> Result<(), Refusal> {
        let region = self.remote(place, bytes.len() as u64, Intent::Write)?;
        region.memory().write(place.offset, bytes).ok_or(Refusal::Protection)
    }

    /// Performs an RDMA write of the peer with immediate data, after all bytes of the write have
    /// arrived.
    ///
    /// # Errors
    ///
    /// [`Refusal::ReceiverNotReady`] or [`Refusal::Protection`], and nothing was written.
    fn take_write(&mut self, place: RemoteAddress, bytes: &[u8], immediate: u32) -> Result<(), Refusal> {
        if self.receives() == 0 {
            return Err(Refusal::ReceiverNotReady);
        }
        self.write_remote(place, bytes)?;
        // The bytes of one packet always fit 32 bits.
        self.complete_receive(crate::descriptor::Operation::RdmaWrite, bytes.len() as u32, Some(immediate))
    }

    /// Makes the NIC look at all its VIs soon. A port calls this after news about its peer, such as
    /// a report that the peer is gone, because the news also concern the other connections to that
    /// peer.
    fn look_at_all(&mut self) {}

    /// Ends the connection. The oldest descriptor of the send queue gets `status`; the remaining
    /// descriptors are flushed. The port may still be called, so that it can report the end to the
    /// peer once more. The port's reports to this sink are ignored.
    fn broken(&mut self, status: Status, why: Ended);
}
