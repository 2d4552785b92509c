//! The reference provider: a minimal provider within one process, which shows what all providers
//! must do.
//!
//! Two ports exchange packets through two lists. Each list has a lock of its own, under which no
//! other lock is taken, so no deadlock is possible. A [`Flaw`] makes the provider wrong in one
//! point.

mod fixture;
mod port;

pub use fixture::{Flawed, Reference, Wrong, flaws};

use obvia_via::spi::{Incoming, Listening, Offer, Port, Provider};
use obvia_via::{Attributes, Deadline, Error, Reliability};
use port::{Direction, MemoryPort};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

/// The one point in which a provider is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// No flaw.
    None,
    /// Immediate data does not arrive.
    DropsImmediate,
    /// Lengths of received messages are one too large.
    Miscounts,
    /// Two messages that are under way at the same time arrive in the wrong order.
    Reorders,
    /// One message in ten arrives twice.
    DeliversTwice,
    /// One acknowledgement in ten gives no credit back.
    LosesCredit,
    /// A message that is too long for its receive is truncated.
    Truncates,
    /// A message waits for a receive descriptor, instead of breaking the connection.
    WaitsForReceive,
    /// The side that refused an operation does not end its connection.
    EndsOneSide,
    /// After a descriptor has failed, the descriptors that were posted after it are performed.
    GoesOn,
    /// An RDMA write is checked piece by piece, so the pieces before the forbidden one are written.
    WritesBeforeCheck,
    /// Peers that may read a region may also write it.
    ChecksNoRight,
    /// An RDMA write without immediate data consumes a receive.
    ConsumesAlways,
    /// A send is complete as soon as it is on its way.
    AcknowledgesEarly,
    /// RDMA writes are performed after the sends that were posted after them.
    WritesLate,
    /// An RDMA read completes with the bytes of the previous read, if both reads have the same
    /// length.
    ReadsStale,
    /// The peer is not told of a disconnect.
    LeavesQuietly,
    /// A cut wire is never noticed.
    WaitsForEver,
    /// Every connection leaves a file open.
    LeaksFiles,
    /// Every fourth connection is not served any more after its second message.
    Starves,
}

/// The state that the NICs of a fixture share.
#[derive(Debug, Default)]
pub(crate) struct Network {
    listeners: Mutex<HashMap<String, Sender<ConnectRequest>>>,
    pub(crate) is_cut: Arc<AtomicBool>,
    connections: AtomicU64,
}

/// The provider.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) attributes: Attributes,
    pub(crate) network: Arc<Network>,
    pub(crate) flaw: Flaw,
}

/// Attributes with all features.
pub(crate) fn attributes() -> Attributes {
    Attributes {
        provider: "reference",
        max_transfer: 1 << 20,
        max_segments: 32,
        queue_depth: 1024,
        rdma_write: true,
        rdma_read: true,
        reliability: &[Reliability::Unreliable, Reliability::ReliableDelivery, Reliability::ReliableReception],
    }
}

/// A connection request.
#[derive(Debug)]
struct ConnectRequest {
    offer: Offer,
    // Whether the requesting side has given up. The listening side accepts under this lock.
    gone: Arc<Mutex<bool>>,
    answer: Sender<Answer>,
}

#[derive(Debug)]
enum Answer {
    Accepted(MemoryPort, Offer),
    Rejected(String),
}

impl Provider for Memory {
    fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    fn listen(&self, discriminator: &str) -> Result<Box<dyn Listening>, Error> {
        let mut listeners = self.network.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        if listeners.contains_key(discriminator) {
            return Err(Error::NameInUse { name: discriminator.to_owned(), pid: None });
        }
        let (request, requests) = channel();
        listeners.insert(discriminator.to_owned(), request);
        let (network, flaw) = (Arc::clone(&self.network), self.flaw);
        Ok(Box::new(MemoryListener { name: discriminator.to_owned(), requests, network, flaw }))
    }

    fn connect(&self, address: &str, own: &Offer, deadline: Deadline) -> Result<(Box<dyn Port>, Offer), Error> {
        let nobody = || Error::NotFound { name: address.to_owned() };
        let listeners = self.network.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        let listener = listeners.get(address).cloned().ok_or_else(nobody)?;
        drop(listeners);
        let gone = Arc::new(Mutex::new(false));
        let (answer, answers) = channel();
        listener.send(ConnectRequest { offer: own.clone(), gone: Arc::clone(&gone), answer }).map_err(|_| nobody())?;
        let mut answer = answers.recv_timeout(deadline.remaining());
        if answer.is_err() {
            // The listening side holds this lock while it answers. So an answer that was sent
            // before this thread gets the lock still counts as in time.
            *gone.lock().unwrap_or_else(PoisonError::into_inner) = true;
            answer = answers.try_recv().map_err(|_| RecvTimeoutError::Timeout);
        }
        match answer {
            Ok(Answer::Accepted(port, offer)) => Ok((Box::new(port), offer)),
            Ok(Answer::Rejected(why)) => Err(Error::Refused { why }),
            Err(_) => Err(Error::TimedOut),
        }
    }
}

#[derive(Debug)]
struct MemoryListener {
    name: String,
    requests: Receiver<ConnectRequest>,
    network: Arc<Network>,
    flaw: Flaw,
}

impl Listening for MemoryListener {
    fn accept(&mut self, deadline: Deadline) -> Result<Box<dyn Incoming>, Error> {
        let request = self.requests.recv_timeout(deadline.remaining()).map_err(|_| Error::TimedOut)?;
        let (network, flaw) = (Arc::clone(&self.network), self.flaw);
        Ok(Box::new(MemoryIncoming { request, network, flaw, is_answered: false }))
    }

    fn address(&self) -> String {
        self.name.clone()
    }
}

impl Drop for MemoryListener {
    fn drop(&mut self) {
        self.network.listeners.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.name);
        while let Ok(request) = self.requests.try_recv() {
            let _ = request.answer.send(Answer::Rejected("the listener is gone".to_owned()));
        }
    }
}

#[derive(Debug)]
struct MemoryIncoming {
    request: ConnectRequest,
    network: Arc<Network>,
    flaw: Flaw,
    is_answered: bool,
}

impl Incoming for MemoryIncoming {
    fn offer(&self) -> &Offer {
        &self.request.offer
    }

    fn peer(&self) -> String {
        "this process".to_owned()
    }

    fn accept(mut self: Box<Self>, own: &Offer, _: Deadline) -> Result<Box<dyn Port>, Error> {
        self.is_answered = true;
        let number = self.network.connections.fetch_add(1, Ordering::Relaxed);
        let (there, back) = (Direction::new()?, Direction::new()?);
        let port = |own: &Arc<Direction>, peers: &Arc<Direction>| {
            let is_cut = Arc::clone(&self.network.is_cut);
            MemoryPort::new(
                Arc::clone(own),
                Arc::clone(peers),
                self.request.offer.reliability,
                self.flaw,
                number,
                is_cut,
            )
        };
        let theirs = port(&there, &back);
        let gone = self.request.gone.lock().unwrap_or_else(PoisonError::into_inner);
        if *gone || self.request.answer.send(Answer::Accepted(theirs, own.clone())).is_err() {
            return Err(Error::TimedOut);
        }
        Ok(Box::new(port(&back, &there)))
    }

    fn reject(mut self: Box<Self>, why: &str) {
        self.is_answered = true;
        let _ = self.request.answer.send(Answer::Rejected(why.to_owned()));
    }
}

impl Drop for MemoryIncoming {
    fn drop(&mut self) {
        if !self.is_answered {
            let _ = self.request.answer.send(Answer::Rejected("the listener did not want it".to_owned()));
        }
    }
}
