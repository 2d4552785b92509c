//! A simulated network in virtual time, in one process: the same seed causes the same faults.
//!
//! The network has two uses. [`trial()`](trial::trial) runs two VIs with a random workload over
//! random conditions, and checks every completion against the promises of the VI Architecture. A
//! trial has one thread and one clock, so the same seed gives the same run, to the last bit.
//! [`network`] makes a provider like any other, for tests that use only the general interface of
//! providers. Its NICs reach each other by wires with [`Conditions`]. Its clock advances when all
//! ports have done what they can, so a lost datagram costs no real time.
//!
//! ```
//! use obvia_via::provider::sim;
//! use obvia_via::wrap::Conditions;
//! use obvia_via::{Deadline, Nic, ViAttributes};
//!
//! let network = sim::network(7, &"loss=10%,reorder=5%,delay=1ms".parse::<Conditions>()?);
//! let (here, there) = (Nic::open(network.nic(0)), Nic::open(network.nic(1)));
//! let mut listener = there.listen("door")?;
//! let address = listener.address();
//! let asks = std::thread::spawn(move || {
//!     let tag = here.protection_tag();
//!     let mut vi = here.vi(ViAttributes::default(), &tag, None, None)?;
//!     vi.request(&address, b"hello", Deadline::after_secs(20)).map(|answer| (answer, vi))
//! });
//! let tag = there.protection_tag();
//! let mut vi = there.vi(ViAttributes::default(), &tag, None, None)?;
//! let request = listener.wait(Deadline::after_secs(20))?;
//! assert_eq!(request.private(), b"hello");
//! request.accept(&mut vi, b"welcome", Deadline::after_secs(20))?;
//! assert_eq!(asks.join().unwrap()?.0, b"welcome");
//! # Ok::<(), obvia_via::Error>(())
//! ```

mod listener;
mod net;
mod port;
pub mod trial;

use crate::attributes::Attributes;
use crate::memory::{MemoryHandle, Region};
use crate::notice::poll_fds;
use crate::reliable::{Answer, Link, Requesting, Settings};
use crate::spi::{Listening, Offer, Port, Provider};
use crate::sync::lock;
use crate::wrap::{Capture, Conditions, Counts, Random};
use crate::{Deadline, Error, Reliability};
use listener::{Inbox, Listeners};
use net::{Clock, Net, SimLink};
use port::{SimPort, nanoseconds};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The maximum speed of the clock relative to real time, while all ends wait for it.
const SPEED: u32 = 100;
/// The maximum length of a wire's datagram, in bytes.
const MTU: usize = 8000;

/// A simulated network. Clones refer to the same network.
#[derive(Clone, Debug)]
pub struct Network {
    core: Arc<Core>,
}

#[derive(Debug)]
struct Core {
    net: Net,
    settings: Settings,
    random: Mutex<Random>,
    conditions: Mutex<Conditions>,
    listeners: Listeners,
}

/// Makes a network whose wires have these conditions, with `seed` as their seed.
pub fn network(seed: u64, conditions: &Conditions) -> Network {
    Network::with(seed, conditions, Settings::default())
}

impl Network {
    /// Makes a network whose engines have these settings.
    pub fn with(seed: u64, conditions: &Conditions, settings: Settings) -> Self {
        Self { core: Arc::new(Core::new(Net::new(Clock::Settling(SPEED)), seed, conditions, settings)) }
    }

    /// Makes a NIC of the network. Providers with the same number are NICs of the same host.
    pub fn nic(&self, number: u16) -> Box<dyn Provider> {
        Box::new(Sim::new(&self.core, number.into(), true))
    }

    /// Returns the virtual time since the network was made.
    pub fn now(&self) -> Duration {
        self.core.net.now()
    }

    /// Sets the conditions of existing and future wires.
    pub fn set_conditions(&self, conditions: &Conditions) {
        let mut own = lock(&self.core.conditions);
        *own = Conditions { seed: own.seed, ..conditions.clone() };
        self.core.net.set_conditions(&own);
    }

    /// Cuts all existing connections between two NICs, or restores them.
    pub fn set_cut(&self, one: u16, other: u16, is_cut: bool) {
        self.core.net.set_cut([one.into(), other.into()], is_cut);
    }

    /// Kills a NIC: it falls silent without telling its peers, and cannot be reached until
    /// [`Self::restart`].
    pub fn kill(&self, nic: u16) {
        self.core.net.kill(nic.into());
    }

    /// Lets a killed NIC have connections again. Its earlier connections stay dead.
    pub fn restart(&self, nic: u16) {
        self.core.net.restart(nic.into());
    }

    /// Returns the network's counts of all datagrams.
    pub fn counts(&self) -> Counts {
        self.core.net.counts()
    }

    /// Captures every datagram that is sent from now on, with virtual times.
    pub fn capture(&self, capture: Capture) {
        self.core.net.capture(capture);
    }
}

fn attributes() -> Attributes {
    Attributes {
        provider: "sim",
        max_transfer: 16 << 20,
        max_segments: 64,
        queue_depth: 4096,
        rdma_write: true,
        rdma_read: true,
        reliability: &[Reliability::Unreliable, Reliability::ReliableDelivery, Reliability::ReliableReception],
    }
}

/// A NIC of the network.
#[derive(Debug)]
struct Sim {
    core: Arc<Core>,
    nic: usize,
    attributes: Attributes,
    handles: Mutex<u64>,
    // Whether the NIC has an attendant thread for ports that their owners do not call. NICs of
    // trials have none, because a trial has a single thread.
    is_attended: bool,
}

impl Core {
    fn new(net: Net, seed: u64, conditions: &Conditions, settings: Settings) -> Self {
        Self {
            net,
            settings,
            random: Mutex::new(Random::stream(seed, u64::MAX)),
            conditions: Mutex::new(Conditions { seed, ..conditions.clone() }),
            listeners: Listeners::default(),
        }
    }

    fn word(&self) -> u64 {
        lock(&self.random).word()
    }

    /// Lays a wire, and returns its ends in the order of `nics`.
    fn wire(&self, nics: [usize; 2]) -> Result<[SimLink; 2], Error> {
        let conditions = lock(&self.conditions).clone();
        self.net.wire(nics, [conditions.clone(), conditions], MTU)
    }
}

impl Sim {
    fn new(core: &Arc<Core>, nic: usize, is_attended: bool) -> Self {
        Self { core: Arc::clone(core), nic, attributes: attributes(), handles: Mutex::new(0), is_attended }
    }

    /// Returns the NIC and the inbox of an address.
    fn find(&self, address: &str) -> Result<(usize, Arc<Inbox>), Error> {
        let bad = || Error::BadAddress { text: address.to_owned(), why: "expected NUMBER/NAME" };
        let (nic, name) = address.split_once('/').ok_or_else(bad)?;
        let nic = usize::from(nic.parse::<u16>().map_err(|_| bad())?);
        let inbox = self.core.listeners.find(nic, name).ok_or_else(|| Error::NotFound { name: address.to_owned() })?;
        Ok((nic, inbox))
    }
}

impl Provider for Sim {
    fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    fn listen(&self, discriminator: &str) -> Result<Box<dyn Listening>, Error> {
        listener::listen(&self.core, self.nic, discriminator)
    }

    fn connect(&self, address: &str, own: &Offer, deadline: Deadline) -> Result<(Box<dyn Port>, Offer), Error> {
        let deadline = deadline.start();
        let (nic, inbox) = self.find(address)?;
        let net = &self.core.net;
        if net.is_dead(self.nic) {
            return Err(Error::BadState { what: "the NIC was killed, and has not been restarted" });
        }
        let mut requesting = Requesting::new(&self.core.settings, self.core.word(), address, own)?;
        let [mut link, theirs] = self.core.wire([self.nic, nic])?;
        link.attach();
        // A dead NIC takes no requests: datagrams to it are lost, as in any network.
        if !net.is_dead(nic) {
            inbox.enqueue(theirs, format!("nic {}", self.nic))?;
        }
        let mut datagram = vec![0; link.mtu()];
        loop {
            link.clear_bell();
            let now = nanoseconds(net.now());
            while let Some(length) = link.receive(&mut datagram)? {
                match requesting.handle(now, &datagram[..length], link.mtu()) {
                    None => {}
                    Some(Answer::Accepted(engine, offer)) => return Ok((Box::new(SimPort::new(engine, link)), offer)),
                    Some(Answer::Rejected(why)) => return Err(Error::Refused { why }),
                }
            }
            if let Some(request) = requesting.transmit(now) {
                // Without room, the request is repeated later.
                link.send(request)?;
            }
            link.settle(Some(Duration::from_nanos(requesting.due())));
            if deadline.is_over() {
                return Err(Error::TimedOut);
            }
            if let Some(until) = link.settled() {
                poll_fds(&[link.bell()], deadline, until)?;
            }
        }
    }

    fn needs_attendance(&self) -> bool {
        self.is_attended
    }

    fn register(&self, _: &Region) -> Result<Option<MemoryHandle>, Error> {
        // Handles are the same from run to run.
        let mut handles = lock(&self.handles);
        *handles += 1;
        Ok(Some(MemoryHandle([*handles, Random::stream(self.nic as u64, *handles).word()])))
    }
}

#[cfg(test)]
mod tests;
