//! A network in virtual time, in one process: what goes wrong in it goes wrong the same way for the same seed.
//!
//! It has two uses. [`trial()`](trial::trial) runs two VIs with a random workload over random conditions, alone, in one thread and by one clock,
//! and holds everything that completes against what the VI Architecture promises: the same seed is the same run, to the last bit.
//! [`network`] is a provider like any other, for tests that know nothing of it: its NICs reach each other by wires with
//! [`Conditions`], its clock moves on when all ports have done what they can, and a lost datagram costs no real time.
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
use crate::wrap::{Capture, Conditions, Counts, Random};
use crate::{Deadline, Error, Reliability};
use listener::{Doors, Inbox};
use net::{Clock, Net, SimLink};
use port::{SimPort, nanoseconds};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How many times as fast as real time the clock runs at most while everybody waits for it.
const SPEED: u32 = 100;
/// The largest datagram of a wire.
const MTU: usize = 8000;

/// A simulated network. Clones are the same.
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
    doors: Doors,
}

/// Makes a network. All its wires have these conditions, but for their seed, which is `seed`.
pub fn network(seed: u64, conditions: &Conditions) -> Network {
    Network::with(seed, conditions, Settings::default())
}

impl Network {
    /// Makes a network whose ends behave so.
    pub fn with(seed: u64, conditions: &Conditions, settings: Settings) -> Self {
        Self { core: Arc::new(Core::new(Net::new(Clock::Settling(SPEED)), seed, conditions, settings)) }
    }

    /// A NIC of the network. Providers with the same number are the same host.
    pub fn nic(&self, number: u16) -> Box<dyn Provider> {
        Box::new(Sim::new(&self.core, number.into(), true))
    }

    /// Virtual time since the network was made.
    pub fn now(&self) -> Duration {
        self.core.net.now()
    }

    /// Other conditions from now on, for the wires that there are and those to come.
    pub fn set_conditions(&self, conditions: &Conditions) {
        let mut own = self.core.conditions.lock().unwrap_or_else(PoisonError::into_inner);
        *own = Conditions { seed: own.seed, ..conditions.clone() };
        self.core.net.set_conditions(&own);
    }

    /// Lets nothing through between two NICs any more, on the connections that there are, or mends that.
    pub fn set_cut(&self, one: u16, other: u16, is_cut: bool) {
        self.core.net.set_cut([one.into(), other.into()], is_cut);
    }

    /// Kills a NIC: it goes silent, without a word to its peers, and nobody reaches it until [`Self::restart`].
    pub fn kill(&self, nic: u16) {
        self.core.net.kill(nic.into());
    }

    /// Lets a NIC that was killed have connections again. Those that it had are dead.
    pub fn restart(&self, nic: u16) {
        self.core.net.restart(nic.into());
    }

    /// What became of all datagrams.
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
    // Whether NICs have a thread that looks after ports which nobody calls: trials have no other thread.
    is_attended: bool,
}

impl Core {
    fn new(net: Net, seed: u64, conditions: &Conditions, settings: Settings) -> Self {
        Self {
            net,
            settings,
            random: Mutex::new(Random::stream(seed, u64::MAX)),
            conditions: Mutex::new(Conditions { seed, ..conditions.clone() }),
            doors: Doors::default(),
        }
    }

    fn word(&self) -> u64 {
        self.random.lock().unwrap_or_else(PoisonError::into_inner).word()
    }

    /// Lays a wire; the end of the first NIC comes first.
    fn wire(&self, nics: [usize; 2]) -> Result<[SimLink; 2], Error> {
        let conditions = self.conditions.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.net.wire(nics, [conditions.clone(), conditions], MTU)
    }
}

impl Sim {
    fn new(core: &Arc<Core>, nic: usize, is_attended: bool) -> Self {
        Self { core: Arc::clone(core), nic, attributes: attributes(), handles: Mutex::new(0), is_attended }
    }

    /// The NIC and the name of an address.
    fn find(&self, address: &str) -> Result<(usize, Arc<Inbox>), Error> {
        let bad = || Error::BadAddress { text: address.to_owned(), why: "it is written NUMBER/NAME" };
        let (nic, name) = address.split_once('/').ok_or_else(bad)?;
        let nic = usize::from(nic.parse::<u16>().map_err(|_| bad())?);
        let inbox = self.core.doors.find(nic, name).ok_or_else(|| Error::NotFound { name: address.to_owned() })?;
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
        // The dead take no requests: what is sent to them is lost, as it is in any network.
        if !net.is_dead(nic) {
            inbox.knock(theirs, format!("nic {}", self.nic))?;
        }
        let mut datagram = vec![0; link.mtu()];
        loop {
            link.hush();
            let now = nanoseconds(net.now());
            while let Some(length) = link.receive(&mut datagram)? {
                match requesting.handle(now, &datagram[..length], link.mtu()) {
                    None => {}
                    Some(Answer::Accepted(engine, offer)) => return Ok((Box::new(SimPort::new(engine, link)), offer)),
                    Some(Answer::Rejected(why)) => return Err(Error::Refused { why }),
                }
            }
            if let Some(request) = requesting.transmit(now) {
                // It is repeated if there is no room.
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
        // The same from run to run.
        let mut handles = self.handles.lock().unwrap_or_else(PoisonError::into_inner);
        *handles += 1;
        Ok(Some(MemoryHandle([*handles, Random::stream(self.nic as u64, *handles).word()])))
    }
}

#[cfg(test)]
mod tests;
