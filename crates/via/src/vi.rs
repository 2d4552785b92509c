//! Virtual interfaces: two work queues and a connection.
//!
//! VI Architecture 1.0, "Virtual Interfaces". A VI is idle until it is connected. Descriptors
//! complete in the order in which they were posted to their queue. An error breaks the connection
//! and flushes both queues; after [`Vi::disconnect`] the VI is idle again. The methods of a queue
//! take it by `&mut`, so one thread owns each queue. The two queues of a VI may belong to two
//! threads ([`Vi::queues`]).

mod core;
mod queues;
pub(crate) mod state;
#[cfg(test)]
mod tests;

pub(crate) use self::core::ViCore;
pub use state::{PostError, PostFault, Queue, State, ViAttributes, ViId};

use crate::completion::CompletionQueue;
use crate::descriptor::Descriptor;
use crate::memory::{InUse, Tag};
use crate::nic::NicCore;
use crate::spi::Offer;
use crate::wait::SpinBudget;
use crate::{Deadline, Error};
use std::sync::Arc;
use std::time::Instant;

/// A virtual interface.
#[derive(Debug)]
pub struct Vi {
    /// The queue for sends and RDMA.
    pub send: WorkQueue,
    /// The queue for receives.
    pub receive: WorkQueue,
    pub(crate) core: Arc<ViCore>,
    pub(crate) ending: Ending,
}

/// A guard that ends the connection when the guard is dropped.
#[derive(Debug)]
pub(crate) struct Ending(Arc<ViCore>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.retire();
    }
}

/// A work queue of a VI.
#[derive(Debug)]
pub struct WorkQueue {
    which: Queue,
    core: Arc<ViCore>,
    budget: SpinBudget,
}

impl Vi {
    pub(crate) fn new(
        nic: Arc<NicCore>,
        attributes: ViAttributes,
        tag: Arc<Tag>,
        send: Option<&CompletionQueue>,
        receive: Option<&CompletionQueue>,
    ) -> Result<Self, Error> {
        let core = ViCore::new(nic, &attributes, tag, send, receive)?;
        let queue = |which| WorkQueue { which, core: Arc::clone(&core), budget: SpinBudget::new(attributes.waiting) };
        let ending = Ending(Arc::clone(&core));
        Ok(Self { send: queue(Queue::Send), receive: queue(Queue::Receive), core, ending })
    }

    /// Returns the name of the VI in the entries of completion queues.
    pub fn id(&self) -> ViId {
        self.core.id
    }

    /// Returns the state. First serves the VI, because that can show that the connection has ended.
    pub fn state(&self) -> State {
        self.core.look_after(Instant::now());
        self.core.state()
    }

    /// Returns the maximum length of a message or RDMA. While the VI is connected, that is the
    /// length on which both sides have agreed.
    pub fn max_transfer(&self) -> u32 {
        self.core.max_transfer()
    }

    /// Asks a listener for a connection, and waits for the answer. Returns the listener's private
    /// data.
    ///
    /// # Errors
    ///
    /// [`Error::BadState`] unless the VI is idle; [`Error::TooLong`] for too much private data;
    /// [`Error::NotFound`], [`Error::Refused`] or [`Error::TimedOut`] when there is no connection.
    /// The VI then stays idle, and the request can be repeated.
    pub fn request(&mut self, address: &str, private: &[u8], deadline: Deadline) -> Result<Vec<u8>, Error> {
        let offer = self.offer(private)?;
        let nic = &self.core.nic;
        let connected = nic.provider.connect_tagged(self.core.tag(), address, &offer, deadline);
        if let Err(Error::NotFound { .. }) = connected {
            // The process at the address may have died, which also concerns other connections to
            // that process.
            nic.look_at_all();
        }
        let (mut port, peers) = connected?;
        if peers.reliability != offer.reliability {
            port.disconnect();
            let why = format!(
                "the reliability levels of the two VIs differ: {} and {}",
                offer.reliability, peers.reliability
            );
            return Err(Error::Refused { why });
        }
        self.core.connected(port, offer.max_transfer.min(peers.max_transfer));
        Ok(peers.private)
    }

    /// Returns the terms that this VI offers to a peer.
    pub(crate) fn offer(&self, private: &[u8]) -> Result<Offer, Error> {
        if self.core.state() != State::Idle {
            return Err(Error::BadState {
                what: "the VI is connected, or was not disconnected after its last connection",
            });
        }
        if private.len() > Offer::PRIVATE_MAX {
            return Err(Error::TooLong { length: private.len() as u64, limit: Offer::PRIVATE_MAX as u64 });
        }
        Ok(Offer {
            reliability: self.core.reliability,
            max_transfer: self.core.own_max_transfer,
            private: private.to_vec(),
        })
    }

    /// Ends the connection and tells the peer. Posted descriptors complete as flushed, and the VI
    /// becomes idle.
    pub fn disconnect(&mut self) {
        self.core.disconnect();
    }

    /// Returns the two queues, for two threads.
    pub fn queues(&mut self) -> (&mut WorkQueue, &mut WorkQueue) {
        (&mut self.send, &mut self.receive)
    }

    /// Destroys the VI.
    ///
    /// # Errors
    ///
    /// The VI itself, unchanged, while it is connected, or while a queue holds descriptors, posted
    /// or completed.
    pub fn destroy(self) -> Result<(), InUse<Self>> {
        if self.core.is_unused() { Ok(()) } else { Err(InUse(self)) }
    }
}

impl WorkQueue {
    /// Posts a descriptor. [`Self::done`] or [`Self::wait`] returns it when it is completed.
    ///
    /// On a VI that is not connected, a receive waits for the connection, and any other descriptor
    /// completes with an error.
    ///
    /// # Errors
    ///
    /// The descriptor itself, and the reason why it was not posted.
    pub fn post(&mut self, descriptor: Box<Descriptor>) -> Result<(), PostError> {
        self.core.post(self.which, descriptor)
    }

    /// Returns the oldest completed descriptor, if there is one. Never blocks.
    pub fn done(&mut self) -> Option<Box<Descriptor>> {
        self.core.done(self.which, Instant::now()).ok().flatten()
    }

    /// Waits for the next completed descriptor.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] at the deadline. [`Error::Disconnected`] when the connection broke and
    /// no completed descriptor is left. [`Error::BadState`] when a completion queue announces this
    /// queue's completions: the caller then has to wait for the completion queue.
    pub fn wait(&mut self, deadline: Deadline) -> Result<Box<Descriptor>, Error> {
        if self.core.completes_elsewhere(self.which) {
            return Err(Error::BadState {
                what: "a completion queue announces the completions of this queue: wait for \
                the completion queue",
            });
        }
        let deadline = deadline.start();
        let mut polls = self.budget.begin();
        loop {
            let now = Instant::now();
            match self.core.done(self.which, now) {
                Ok(None) => {}
                Ok(Some(descriptor)) => {
                    self.budget.succeeded(polls);
                    return Ok(descriptor);
                }
                Err(why) => return Err(Error::Disconnected { peer: self.core.peer(), why }),
            }
            if deadline.is_over() {
                return Err(Error::TimedOut);
            }
            if !polls.go_on(|| now) {
                self.core.sleep(self.which, deadline)?;
                self.budget.slept(now.elapsed());
            }
        }
    }

    /// Returns the number of descriptors that are posted and not completed.
    pub fn posted(&self) -> usize {
        self.core.posted(self.which)
    }
}
