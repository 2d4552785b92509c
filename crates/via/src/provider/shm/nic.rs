//! The provider: opening, listening and connecting, for virtual interfaces with descriptors.

use super::directory::{self, Directory, check_peer};
use super::hello::{self, HelloResult, Introduction, Step};
use super::mapping;
use super::packet::Sent;
use super::port::ShmPort;
use super::ring::{Publisher, Shape, Taker};
use super::socket::peer_pid;
use super::table::{Entry, Table};
use super::wire::Wire;
use super::{opened, record};
use crate::attributes::{Attributes, Reliability};
use crate::memory::{Memory, MemoryHandle, Region};
use crate::nic::Nic;
use crate::notice::poll_fds;
use crate::spi::{Incoming, Listening, Offer, Port, Provider};
use crate::{Deadline, Error, Violation};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::OwnedFd;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The maximum number of data segments of a descriptor.
const SEGMENTS_MAX: usize = 64;
/// The maximum number of descriptors of a queue.
const QUEUE_DEPTH: usize = 4096;
/// The maximum number of connected peers that have not sent a request yet; further peers wait in
/// the kernel.
const SILENT_MAX: usize = 64;
/// The maximum time between a peer's connect and the arrival of its request.
const SILENT_FOR: Duration = Duration::from_secs(5);

/// The options of a NIC.
#[derive(Clone, Debug)]
pub struct NicOptions {
    /// The directory for the names of listeners. The default is the user's own.
    pub directory: Option<Directory>,
    /// The number of ring slots of a connection in each direction: the number of small messages
    /// that may be under way. Rounded up to a power of two, 2 to 4096.
    pub slots: u32,
    /// The size of a connection's area in each direction, for larger messages, in bytes. Rounded up
    /// to a multiple of 4096, at most 64 MiB.
    pub area: usize,
    /// The maximum length of a message or RDMA, in bytes.
    pub max_transfer: u32,
}

impl Default for NicOptions {
    fn default() -> Self {
        Self { directory: None, slots: 64, area: 512 << 10, max_transfer: 64 << 20 }
    }
}

/// Opens a NIC whose VIs reach processes of this host, including this one. Addresses and
/// discriminators are names in the directory.
///
/// # Errors
///
/// The errors of [`Directory::of_user`], or an error of the system if there is no memory left.
pub fn open(options: &NicOptions) -> Result<Nic, Error> {
    let directory = match &options.directory {
        Some(directory) => directory.clone(),
        None => Directory::of_user()?,
    };
    let shape = Shape {
        slots: options.slots.clamp(2, record::SLOTS_MAX).next_power_of_two(),
        area: options.area.clamp(1, record::AREA_MAX).next_multiple_of(4096),
    };
    let attributes = Attributes {
        provider: "shm",
        max_transfer: options.max_transfer,
        max_segments: SEGMENTS_MAX,
        queue_depth: QUEUE_DEPTH,
        rdma_write: true,
        rdma_read: true,
        reliability: &[Reliability::Unreliable, Reliability::ReliableDelivery, Reliability::ReliableReception],
    };
    let own = Own { shape, table: Table::new()? };
    Ok(Nic::open(Box::new(Shm { directory: directory.for_descriptors(), attributes, own: Arc::new(own) })))
}

/// The state that all connections of a NIC share.
#[derive(Debug)]
struct Own {
    shape: Shape,
    table: Table,
}

#[derive(Debug)]
struct Shm {
    directory: Directory,
    attributes: Attributes,
    own: Arc<Own>,
}

impl Provider for Shm {
    fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    fn listen(&self, discriminator: &str) -> Result<Box<dyn Listening>, Error> {
        let listener = self.directory.bind(discriminator)?;
        let (name, own) = (discriminator.to_owned(), Arc::clone(&self.own));
        Ok(Box::new(ShmListening { listener, name, silent: Vec::new(), own }))
    }

    fn connect(&self, address: &str, own: &Offer, deadline: Deadline) -> Result<(Box<dyn Port>, Offer), Error> {
        let deadline = deadline.start();
        let socket = self.directory.reach(address, None, deadline)?;
        let (segment, file) = mapping::create(self.own.shape.length())?;
        let gone = |socket: &OwnedFd| Error::PeerGone { pid: peer_pid(socket) };
        match hello::introduce(&socket, Step::Request, own, self.own.shape, &file, &self.own.table)? {
            Sent::Done => {}
            // A full socket without any earlier packet means that the user has too many files under
            // way in sockets.
            Sent::Full => return Err(Error::TimedOut),
            Sent::Gone => return Err(gone(&socket)),
        }
        drop(file);
        loop {
            match hello::receive(&socket, Step::Acceptance)? {
                HelloResult::Introduction(peer) => {
                    if peer.offer.reliability != own.reliability {
                        return Err(Violation::BadGreeting.into());
                    }
                    let offer = peer.offer.clone();
                    return Ok((connected(socket, own, segment, self.own.shape, *peer), offer));
                }
                HelloResult::Rejection(why) => return Err(Error::Refused { why }),
                HelloResult::End => return Err(gone(&socket)),
                HelloResult::Nothing if deadline.is_over() => return Err(Error::TimedOut),
                HelloResult::Nothing => poll_fds(&[&socket], deadline, None)?,
            }
        }
    }

    fn memory(&self, length: usize) -> Result<Memory, Error> {
        Memory::shared(length)
    }

    fn register(&self, region: &Region) -> Result<Option<MemoryHandle>, Error> {
        let access = region.access();
        if (access.read || access.write)
            && opened::seal(region)
            && let Some(entry) = self.own.table.enter()
        {
            // The set succeeds, because a region is registered once.
            let _ = region.provider.set(Box::new(entry));
        }
        Ok(None)
    }

    fn deregister(&self, region: &Arc<Region>) {
        if let Some(entry) = region.provider.get().and_then(|own| own.downcast_ref::<Entry>()) {
            self.own.table.leave(*entry);
        }
    }
}

/// Makes the port of a connection that both sides agreed on.
fn connected(
    socket: OwnedFd,
    own: &Offer,
    segment: mapping::Mapping,
    shape: Shape,
    peer: Introduction,
) -> Box<dyn Port> {
    let pid = peer_pid(&socket);
    let most = own.max_transfer.min(peer.offer.max_transfer);
    let (out, from) = (Publisher::new(segment, shape), Taker::new(peer.segment, peer.shape));
    Box::new(ShmPort::new(Wire::new(socket, own.reliability, most, out, from, peer.table), pid))
}

#[derive(Debug)]
struct ShmListening {
    listener: directory::Listener,
    name: String,
    silent: Vec<Silent>,
    own: Arc<Own>,
}

/// A connected peer that has not sent a request yet.
#[derive(Debug)]
struct Silent {
    socket: OwnedFd,
    until: Instant,
}

impl ShmListening {
    /// Accepts the sockets that wait in the kernel.
    fn admit(&mut self, now: Instant) -> Result<(), Error> {
        while self.silent.len() < SILENT_MAX {
            match self.listener.accept_stream(Deadline::At(now)) {
                Ok(socket) => {
                    // Peers of other users are dropped, also where the name is open to them.
                    if check_peer(&socket).is_ok() {
                        self.silent.push(Silent { socket, until: now + SILENT_FOR });
                    }
                }
                Err(Error::AccessDenied { .. }) => {}
                Err(Error::TimedOut) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Returns the next peer that has sent a request, if there is one.
    fn request(&mut self, now: Instant) -> Option<ShmIncoming> {
        let mut at = 0;
        while let Some(peer) = self.silent.get(at) {
            match hello::receive(&peer.socket, Step::Request) {
                Ok(HelloResult::Nothing) if now < peer.until => at += 1,
                Ok(HelloResult::Introduction(introduction)) => {
                    let Silent { socket, .. } = self.silent.remove(at);
                    if !has_hung_up(&socket) {
                        let (offer, pid) = (introduction.offer.clone(), peer_pid(&socket));
                        let own = Arc::clone(&self.own);
                        return Some(ShmIncoming { asks: Some((socket, introduction)), offer, pid, own });
                    }
                }
                _ => drop(self.silent.remove(at)),
            }
        }
        None
    }
}

/// Whether the peer has hung up since it connected.
fn has_hung_up(socket: &OwnedFd) -> bool {
    let mut polled = [PollFd::new(socket, PollFlags::RDHUP)];
    let at_once = rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut polled, Some(&at_once)).is_ok_and(|ready| ready > 0)
}

impl Listening for ShmListening {
    fn accept(&mut self, deadline: Deadline) -> Result<Box<dyn Incoming>, Error> {
        let deadline = deadline.start();
        loop {
            let now = Instant::now();
            self.admit(now)?;
            if let Some(incoming) = self.request(now) {
                return Ok(Box::new(incoming));
            }
            if deadline.is_over() {
                return Err(Error::TimedOut);
            }
            let mut files: Vec<&OwnedFd> = self.silent.iter().map(|peer| &peer.socket).collect();
            if files.len() < SILENT_MAX {
                files.push(self.listener.socket());
            }
            poll_fds(&files, deadline, self.silent.iter().map(|peer| peer.until).min())?;
        }
    }

    fn address(&self) -> String {
        self.name.clone()
    }
}

/// A peer's connection request.
struct ShmIncoming {
    // `None` once the request is answered.
    asks: Option<(OwnedFd, Box<Introduction>)>,
    offer: Offer,
    pid: u32,
    own: Arc<Own>,
}

impl fmt::Debug for ShmIncoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Incoming").field("pid", &self.pid).field("offer", &self.offer).finish_non_exhaustive()
    }
}

impl Incoming for ShmIncoming {
    fn offer(&self) -> &Offer {
        &self.offer
    }

    fn peer(&self) -> String {
        format!("process {}", self.pid)
    }

    fn accept(mut self: Box<Self>, own: &Offer, _deadline: Deadline) -> Result<Box<dyn Port>, Error> {
        let shape = self.own.shape;
        let (segment, file) = mapping::create(shape.length())?;
        let Some((socket, peer)) = self.asks.take() else {
            return Err(Error::BadState {
                what: "the request was already \
            answered",
            });
        };
        match hello::introduce(&socket, Step::Acceptance, own, shape, &file, &self.own.table)? {
            Sent::Done => Ok(connected(socket, own, segment, shape, *peer)),
            Sent::Full => Err(Error::TimedOut),
            Sent::Gone => Err(Error::PeerGone { pid: self.pid }),
        }
    }

    fn reject(mut self: Box<Self>, why: &str) {
        if let Some((socket, _)) = self.asks.take() {
            hello::reject(&socket, why);
        }
    }
}

impl Drop for ShmIncoming {
    fn drop(&mut self) {
        if let Some((socket, _)) = self.asks.take() {
            hello::reject(&socket, "the listener gave no reason");
        }
    }
}
