//! Windows: connections whose messages pass through a peer's mapped memory.
//!
//! A window is a connection whose two segments are mapped for plain loads and stores, which the VI
//! Architecture calls programmed I/O. The sender builds a message in its own segment, and the
//! receiver reads the message there. [`crate::layout`] has the offsets. Between processes of one
//! host both sides map the same memory ([`crate::provider::shm`]). Over any other provider each
//! side has an image of the peer's segment, which the peer updates by RDMA writes ([`connect`],
//! [`accept`]). Between sides without memory in common, a [`Relay`] carries the messages
//! ([`relayed`]). Users of a window see no difference.

mod addresses;
mod area;
mod mapping;
mod mirror;
mod regions;
mod relay;
mod rx;
mod tx;

pub(crate) use mapping::Mapping;
pub use mirror::{accept, connect};
pub(crate) use regions::PeerRegion;
pub use regions::{
    OwnRegion, PeerRegionCache, PeerRegions, REGION_CACHES, REGION_MAX, REGIONS_MAX, RegionCache, cache_at,
};
pub use relay::{Inbox, Outgoing, Relay, relayed};
pub use rx::{Message, Rx};
pub use tx::Tx;

use crate::reliable::Guard;
use crate::wait::SpinBudget;
use crate::{Budget, Counters, Error, Waiting, doorbell, layout};
use area::area_max;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// The options that each side of a connection chooses for itself.
#[derive(Clone, Debug)]
pub struct Options {
    /// The wait policy of this side.
    pub waiting: Waiting,
    /// Whether this side will seldom send. If so, the other side sleeps between messages, even if
    /// its own policy is to poll.
    pub quiet: bool,
    /// The size of the first area in bytes, a multiple of 4096: frames up to this length need no
    /// second area.
    pub area: usize,
    /// The maximum length of a frame, sent or accepted, in bytes; at most `i32::MAX`.
    pub max_frame: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { waiting: Waiting::Adaptive, quiet: false, area: 256 << 10, max_frame: 256 << 20 }
    }
}

/// The peer of a connection.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Peer {
    /// A process of this host, as the kernel recorded it when the connection was made.
    Process {
        /// The process id; 0 where the kernel cannot tell.
        pid: u32,
        /// The user id when the connection was made; [`Peer::NOBODY`] where the kernel cannot tell.
        uid: u32,
        /// The serial number of the process: the inode number of its pidfd, which is unique across
        /// PID namespaces and never reused. Where the kernel has no such number (before Linux 6.9),
        /// the serial number is made from the process id. All processes of a user in other PID
        /// namespaces, whose id is 0, then have the same serial number.
        serial: u64,
    },
    /// A peer that was reached over a network, by the address of its host.
    Host(String),
}

impl Peer {
    /// The user id that no user has.
    pub const NOBODY: u32 = u32::MAX;
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process { pid, .. } => write!(f, "process {pid}"),
            Self::Host(host) => write!(f, "host {host}"),
        }
    }
}

/// The transport between a window's segments and the peer. A store into shared memory reaches the
/// peer without a carrier. The carrier does all other work, such as waking the peer or writing to
/// the peer's image by RDMA. A call between two polling processes over shared memory uses none of
/// the carrier's methods.
pub(crate) trait Carrier: Send + Sync + fmt::Debug {
    /// Whether this side sees the peer's messages only after a call of [`Self::fetch`].
    fn is_remote(&self) -> bool;
    /// Brings a message to a peer that does not poll the message's slot, by waking the peer, by
    /// RDMA or through a relay. `slot` is the offset of the slot in the own segment.
    fn carry(&self, wire: &Wire, slot: usize);
    /// Brings the changed credit word of the own segment to the peer.
    fn carry_credit(&self, wire: &Wire);
    /// Updates the image of the peer's segment with the messages that the peer has published.
    fn fetch(&self, wire: &Wire) -> Result<(), Error>;
    /// Updates the image of the peer's segment with the peer's credit word.
    fn fetch_credit(&self, wire: &Wire) -> Result<(), Error>;
    /// Announces a sleep, and returns the ticket for [`Self::sleep`]. The caller looks for a
    /// message again before it sleeps.
    fn prepare_sleep(&self, wire: &Wire) -> u32;
    /// Sleeps for at most `span`. Returns at once if a reason to wake has occurred since the sleep
    /// was announced.
    fn sleep(&self, wire: &Wire, ticket: u32, span: Duration) -> Result<(), Error>;
    /// Ends a sleep, or cancels an announced one.
    fn end_sleep(&self, wire: &Wire);
    /// Returns the carrier's way of waiting without a thread, if it has one.
    fn parking(&self) -> Option<&dyn Parking> {
        None
    }
    /// Wakes the thread that waits for the peer's messages, or resumes the parked connection.
    fn wake(&self, wire: &Wire);
    /// Makes a larger area for this side's frames, and passes it to the peer. If the last call for
    /// the same number failed, a carrier that waits for the peer may return the area of that call.
    fn make_area(&self, wire: &Wire, number: u32, length: usize) -> Result<Mapping, Error>;
    /// Takes over the peer's next area, which has at most `most` bytes.
    fn take_area(&self, number: u32, most: usize) -> Result<Mapping, Error>;
    /// From now on, makes areas of at most `most` bytes for the peer, where the peer cannot make
    /// areas itself. Takes the memory for areas of both directions from the budget, if any.
    fn grant_areas(&self, _most: usize, _budget: Option<Arc<dyn Budget>>) {}
    /// Whether both sides can map the same memory.
    fn shares_memory(&self) -> bool {
        false
    }
    /// Whether a [`Relay`] carries the messages.
    fn is_relayed(&self) -> bool {
        false
    }
    /// Passes a region of this process to the peer.
    fn pass_region(&self, _number: u32, _region: &OwnRegion) -> Result<(), Error> {
        Err(Error::Unsupported { provider: "of this connection", what: "regions that both sides map" })
    }
    /// Takes over the region of at most `most` bytes that the peer has just passed under this
    /// number.
    fn take_region(&self, _number: u16, _most: u64) -> Result<PeerRegion, Error> {
        Err(Error::Unsupported { provider: "of this connection", what: "regions that both sides map" })
    }
    /// Authenticates the connection's packets with `guard` from now on.
    fn guard(&self, _guard: Guard) -> Result<(), Error> {
        Err(Error::Unsupported { provider: "of this connection", what: "packets that are protected by a key" })
    }
    /// Fails with the reason when the carrier knows that the connection has ended.
    fn check(&self) -> Result<(), Error>;
    /// Whether the connection has ended, even if no thread waits for messages.
    fn has_ended(&self) -> bool {
        self.check().is_err()
    }
    /// Returns the peer.
    fn peer(&self) -> Peer;
    /// Returns the local host, by the address at which the peer reaches it, or `None` if no network
    /// is involved.
    fn local(&self) -> Option<&str>;
    /// Ends the connection from this side.
    fn end(&self, wire: &Wire);
    /// Ends the connection from any thread. [`Self::check`] then reports that the peer is silent.
    fn abandon(&self) {}
}

/// A carrier's way of waiting for the peer's next message without a thread.
pub(crate) trait Parking {
    /// Starts the threads that wait for parked connections, unless this process has started them.
    /// The calling thread must not have served a connection yet.
    fn begin(&self);
    /// Announces a wait without a thread to the peer, and consumes the calls of earlier waits.
    /// `next` is the number of the next message. The caller looks for that message again before it
    /// parks the connection. Returns false where the system lacks the means.
    ///
    /// # Errors
    ///
    /// If the peer is gone, or breaks the rules of the socket.
    fn prepare(&self, wire: &Wire, next: u32) -> Result<bool, Error>;
    /// Calls `resume` with the window, on another thread, when there is a message, or another
    /// reason to resume the connection.
    fn park(&self, wire: &Wire, window: Window, resume: Resume);
}

/// The function that resumes a parked connection, or that ends the connection if it gets an error.
pub(crate) type Resume = Box<dyn FnOnce(Window, Result<(), Box<Error>>) + Send>;

/// A connection that could not be parked.
#[derive(Debug)]
pub struct Unparked<T> {
    /// The connection.
    pub window: Window,
    /// The state that was passed with the connection.
    pub state: T,
    /// An error if the connection has to end.
    pub outcome: Result<(), Box<Error>>,
}

const CLOSED: u32 = 1;
const RUNG: u32 = 2;

/// The state that both halves of a connection, its alarms and the pulse thread share.
#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) own: Mapping,
    pub(crate) peer: Mapping,
    // Fields are dropped in the order of their declaration. The mappings can be of the carrier's
    // memory, so they are declared before the carrier.
    pub(crate) carrier: Box<dyn Carrier>,
    /// The reasons for which the waiting thread has to return without a message. A carrier may
    /// sleep on this word while it is 0.
    pub(crate) state: AtomicU32,
}

impl Wire {
    /// Fails if the waiting thread has to return without a message: the window was closed or
    /// interrupted, or the carrier knows that the connection has ended.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let state = self.state.load(Ordering::Acquire);
        if state & CLOSED != 0 {
            return Err(self.gone());
        }
        if state & RUNG != 0 {
            self.state.fetch_and(!RUNG, Ordering::AcqRel);
            return Err(Error::Cancelled);
        }
        self.carrier.check()
    }

    fn gone(&self) -> Error {
        match (self.carrier.check(), self.carrier.peer()) {
            (_, Peer::Process { pid, .. }) => Error::PeerGone { pid },
            (Err(error), _) => error,
            (Ok(()), Peer::Host(peer)) => Error::Disconnected { peer, why: crate::Ended::ByPeer },
        }
    }

    /// Whether there is a reason to return without a message.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.state.load(Ordering::Acquire) != 0
    }

    fn is_closed(&self) -> bool {
        self.state.load(Ordering::Acquire) & CLOSED != 0 || self.carrier.has_ended()
    }

    /// Restores an interruption that [`Self::check`] has reported, so that it ends the next wait.
    pub(crate) fn keep_ring(&self) {
        self.state.fetch_or(RUNG, Ordering::AcqRel);
    }

    /// Marks the connection as ended and wakes its waiting thread.
    pub(crate) fn close(&self) {
        self.interrupt(CLOSED);
    }

    fn interrupt(&self, why: u32) {
        doorbell::interrupt(&self.state, why);
        self.carrier.wake(self);
    }
}

/// The parts of a new window.
pub(crate) struct Ends {
    /// The own segment, longer than [`layout::AREA`]; area 0 is the part behind that offset.
    pub(crate) own: Mapping,
    /// The peer's segment up to area 0, or its image.
    pub(crate) peer: Mapping,
    /// The peer's area 0: a mapping of its own, or the part of `peer` behind [`layout::AREA`].
    pub(crate) area: Option<Mapping>,
    pub(crate) carrier: Box<dyn Carrier>,
}

/// A connection. Dropping the window ends the connection, and the peer learns of it as soon as
/// possible.
#[derive(Debug)]
pub struct Window {
    /// The half that sends.
    pub tx: Tx,
    /// The half that receives.
    pub rx: Rx,
    /// The peer's regions.
    pub regions: PeerRegions,
    wire: Arc<Wire>,
}

impl Window {
    /// Makes a connection from its segments.
    pub(crate) fn new(ends: Ends, peer_may_sleep: bool, options: &Options) -> Self {
        debug_assert!(ends.own.is_writable());
        let limit = options.max_frame.min(i32::MAX as usize);
        let Ends { own, peer, area, carrier } = ends;
        let wire = Arc::new(Wire { own, peer, carrier, state: AtomicU32::new(0) });
        let tx = Tx::new(Arc::clone(&wire), peer_may_sleep, limit);
        let rx = Rx::new(Arc::clone(&wire), area, SpinBudget::new(options.waiting), limit);
        Self { tx, rx, regions: PeerRegions::new(), wire }
    }

    /// Returns the state that the halves share.
    pub(crate) fn wire(&self) -> &Arc<Wire> {
        &self.wire
    }

    /// Returns the peer.
    pub fn peer(&self) -> Peer {
        self.wire.carrier.peer()
    }

    /// Whether the peer may sleep between messages. Otherwise the peer's policy is to poll.
    pub fn peer_may_sleep(&self) -> bool {
        self.tx.peer_may_sleep()
    }

    /// Returns the address at which the peer reaches this host over a network, if there is one.
    pub fn local(&self) -> Option<&str> {
        self.wire.carrier.local()
    }

    /// Whether a side has closed the connection, or the connection has ended for another reason.
    pub fn is_closed(&self) -> bool {
        self.wire.is_closed()
    }

    /// Whether regions can be passed to the peer.
    pub fn shares_memory(&self) -> bool {
        self.wire.carrier.shares_memory()
    }

    /// Whether a [`Relay`] carries the messages.
    pub fn is_relayed(&self) -> bool {
        self.wire.carrier.is_relayed()
    }

    /// From now on, makes larger areas for the peer's frames, if this side has to make them, as it
    /// does over a network. The memory for larger areas of both directions is taken from `budget`.
    /// If the budget has too little left, the side that needs an area gets [`Error::AreaRefused`].
    /// Only the first call has an effect. Before that call, a peer that asks for a larger area
    /// loses its connection.
    pub fn grant_areas(&self, budget: Option<Arc<dyn Budget>>) {
        self.wire.carrier.grant_areas(area_max(self.tx.frame_max()), budget);
    }

    /// Passes a region to the peer under a number that is not 0. The peer can use the region after
    /// it has admitted the region: see [`Tx::admit_region`].
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] where the two sides share no memory; another error when the peer is
    /// gone.
    pub fn pass_region(&self, number: u16, region: &OwnRegion) -> Result<(), Error> {
        self.wire.carrier.pass_region(u32::from(number), region)
    }

    /// Authenticates the connection's packets with `guard` from now on: see [`Guard`].
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] where the connection has no packets of its own, or has a guard
    /// already.
    pub fn guard(&self, guard: Guard) -> Result<(), Error> {
        self.wire.carrier.guard(guard)
    }

    /// Whether the connection can wait for messages without a thread. That is possible at the
    /// accepting end of a connection over shared memory, unless the policy is to poll.
    pub fn is_parkable(&self) -> bool {
        self.rx.may_sleep() && self.wire.carrier.parking().is_some()
    }

    /// Starts the threads that wait for parked connections, if they have not been started yet. Must
    /// be called by a thread that has not served a connection, because the new threads inherit that
    /// thread's attributes, such as the signal mask. Before this call, no connection can be parked.
    pub fn begin_parking(&self) {
        if let Some(parking) = self.wire.carrier.parking() {
            parking.begin();
        }
    }

    /// Waits for the next message without a thread. Calls `resume` with the state, on another
    /// thread, when the peer has sent a message or is gone, or an [`Alarm`] was rung. `resume` has
    /// to wait for the message as usual, since it may be called for other reasons. If `resume` gets
    /// an error, the connection has to end.
    ///
    /// # Errors
    ///
    /// [`Unparked`] if the connection has a message or an interruption, cannot be parked now or
    /// ever, or has to end.
    pub fn try_park<T: Send + 'static>(
        self,
        state: T,
        resume: fn(Self, T, Result<(), Box<Error>>),
    ) -> Result<(), Box<Unparked<T>>> {
        let outcome = match self.prepare_to_park() {
            Ok(true) => {
                self.park(Box::new(move |window, outcome| resume(window, state, outcome)));
                return Ok(());
            }
            Ok(false) => Ok(()),
            Err(why) => Err(why),
        };
        Err(Box::new(Unparked { window: self, state, outcome }))
    }

    /// See [`Rx::prepare_to_park`].
    pub(crate) fn prepare_to_park(&self) -> Result<bool, Box<Error>> {
        self.rx.prepare_to_park()
    }

    /// Parks the connection, after [`Self::prepare_to_park`] has returned true.
    pub(crate) fn park(self, resume: Resume) {
        let wire = Arc::clone(&self.wire);
        match wire.carrier.parking() {
            Some(parking) => parking.park(&wire, self, resume),
            None => resume(self, Ok(())),
        }
    }

    /// Returns the address of the state that all parts of the connection share.
    pub(crate) fn address(&self) -> *const () {
        Arc::as_ptr(&self.wire).cast()
    }

    /// Returns the present values of the connection's counters.
    pub fn counters(&self) -> Counters {
        let mut counters = Counters::default();
        self.tx.count(&mut counters);
        self.rx.count(&mut counters);
        counters
    }

    /// Returns a handle by which other threads interrupt a wait on this connection.
    pub fn alarm(&self) -> Alarm {
        Alarm { wire: Arc::downgrade(&self.wire) }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.wire.carrier.end(&self.wire);
    }
}

/// A handle that interrupts a connection's wait from another thread. The default handle belongs to
/// no connection.
#[derive(Clone, Debug, Default)]
pub struct Alarm {
    wire: Weak<Wire>,
}

impl Alarm {
    /// Ends the current or next wait of the connection with [`Error::Cancelled`].
    pub fn ring(&self) {
        if let Some(wire) = self.wire.upgrade() {
            wire.interrupt(RUNG);
        }
    }

    /// Ends the connection. Over a virtual interface, the owner then gets the error of a silent
    /// peer, not that of a peer that has left: the peer may connect again and continue.
    pub fn abandon(&self) {
        if let Some(wire) = self.wire.upgrade() {
            wire.carrier.abandon();
            wire.close();
        }
    }

    /// Whether the connection's owner has dropped the connection.
    ///
    /// The function takes no reference to the connection, so its return never ends the connection.
    /// The other functions of this type hold a reference while they run. If the owner drops the
    /// connection during their calls, the connection ends when the last of these calls returns.
    pub fn is_gone(&self) -> bool {
        self.wire.strong_count() == 0
    }

    /// Returns a number that shows progress: it changes with each message of the peer that this end
    /// processes. `None` if the connection is gone.
    ///
    /// The low half is the sequence number of the last message that this end has published. The
    /// high half is the sequence number of the peer's last message that this end has acknowledged.
    /// The number is exact on the thread that owns the connection.
    pub fn attended(&self) -> Option<u64> {
        let wire = self.wire.upgrade()?;
        let own = wire.own.view();
        let sequences =
            (0..layout::SLOT_COUNT).map(|at| own.load_u64(layout::slot_offset(at)).map(|first| first as u32));
        // Sequence numbers wrap around.
        let later = |a: u32, b: u32| if b.wrapping_sub(a).cast_signed() > 0 { b } else { a };
        let published = sequences.flatten().reduce(later)?;
        Some(u64::from(published) | u64::from(own.load_u32(layout::CONSUMED)?) << 32)
    }

    /// Whether the connection is over: its owner has dropped it, a side has closed it, or the peer
    /// has ended.
    pub fn is_closed(&self) -> bool {
        self.wire.upgrade().is_none_or(|wire| wire.is_closed())
    }
}
