//! Virtual interfaces: memory, queues and wires that a process uses without asking its kernel.
//!
//! The crate is the lowest layer of obvia. It handles memory and wires, and never looks into a
//! payload. Only the layers above know the meaning of a message.
//!
//! The parts of this crate:
//!
//! - [`Nic`], [`Vi`], [`Descriptor`], [`CompletionQueue`] and the types that belong to them are the
//!   objects of the VI Architecture.
//! - [`spi`] is the interface that a provider implements to carry VIs.
//! - [`provider`] holds one module for each way to reach a peer. [`provider::shm`] reaches
//!   processes of the same host through sealed shared memory: [`provider::shm::open`] opens its
//!   NIC.
//! - [`window`] has connections whose messages pass through a peer's mapped memory.
//! - [`reliable`] makes VIs out of wires for datagrams.
//! - [`stream`] has byte streams that are no virtual interfaces, and [`datagram`] has datagram
//!   sockets without connections, for protocols of other parties.
//! - [`wrap`] puts faults, traces and captures around links and providers.
//! - [`wait`] has the policies by which a thread waits: polling, blocking, or adapting.
//! - [`region`] is memory that a peer may write at any time, readable only through checked loads.
//! - [`doorbell`] and [`layout`] are the words that the two sides of a connection share, and their
//!   protocol.
//!
//! # The objects
//!
//! A [`Nic`] is an opened provider. It registers [`Memory`] as [`MemoryRegion`]s, each with a
//! [`ProtectionTag`] and an [`Access`] for peers, and makes [`Vi`]s and [`CompletionQueue`]s. A VI
//! has a tag as well: the VI and its peer reach only regions of that tag. A VI has two work queues,
//! which two threads may own. A [`Descriptor`] is posted by value, and belongs to the queue until
//! it is done. The queue returns descriptors in the order in which they were posted, each with its
//! [`Status`].
//!
//! A VI is [`State::Idle`] until [`Vi::request`] or [`Request::accept`] connects it. A VI is
//! [`State::Broken`] when the connection ended for another reason than [`Vi::disconnect`]. The call
//! of [`Vi::disconnect`] makes a VI idle again. An invalid descriptor is refused when it is posted
//! ([`PostFault`]), and the connection continues. A failure between the two ends breaks a reliable
//! connection: the descriptor that failed gets the cause as its status, and the descriptors that
//! were posted after it are flushed.
//!
//! Destroying an object that is in use fails and hands the object back ([`InUse`]). Dropping the
//! object ends it even if it is in use. A wait ends at its [`Deadline`]. Some providers make
//! progress only when they are called. A thread of the NIC calls such providers for VIs whose
//! owners are busy.
//!
//! # Example
//!
//! ```
//! use obvia_via::{Deadline, Header, Kind, provider::shm, window::Options};
//!
//! # let folder = ground::Folder::new("via-doc");
//! let directory = shm::Directory::at(folder.path())?;
//! let listener = directory.bind("ping")?;
//! let server = std::thread::spawn(move || -> Result<(), obvia_via::Error> {
//!     let mut vi = listener.accept(Deadline::after_secs(60))?.complete(&Options::default())?;
//!     let message = vi.rx.receive(Deadline::after_secs(60))?;
//!     assert_eq!(message.frame().load_u32(0), Some(7));
//!     vi.tx.inline_frame(Deadline::after_secs(60))?[..4].copy_from_slice(&8_u32.to_le_bytes());
//!     vi.tx.send_inline(Header { kind: Kind::Response, ..message.header()? }, 4);
//!     vi.rx.receive(Deadline::after_secs(60)).err().map_or(Ok(()), |_| Ok(()))
//! });
//! let mut vi = directory.connect("ping", &Options::default(), Deadline::after_secs(60))?;
//! vi.tx.inline_frame(Deadline::after_secs(60))?[..4].copy_from_slice(&7_u32.to_le_bytes());
//! vi.tx.send_inline(Header { kind: Kind::Request, opnum: 3, first: 0, second: 0 }, 4);
//! let answer = vi.rx.receive(Deadline::after_secs(60))?;
//! assert_eq!(answer.frame().load_u32(0), Some(8));
//! assert_eq!((vi.counters().sent, vi.counters().received), (1, 1));
//! drop(vi);
//! server.join().unwrap()?;
//! # Ok::<(), obvia_via::Error>(())
//! ```

#[cfg(not(target_endian = "little"))]
compile_error!("the words of a shared segment are little endian, and so must the processor be");

#[cfg(not(loom))]
mod attributes;
#[cfg(not(loom))]
mod bell;
#[cfg(not(loom))]
mod budget;
#[cfg(not(loom))]
mod completion;
#[cfg(not(loom))]
mod connection;
#[cfg_attr(loom, allow(dead_code))]
mod counters;
#[cfg(not(loom))]
pub mod datagram;
mod deadline;
#[cfg(not(loom))]
mod descriptor;
pub mod doorbell;
#[cfg_attr(loom, allow(dead_code))]
mod error;
mod host;
pub mod layout;
#[cfg(not(loom))]
mod memory;
#[cfg_attr(loom, allow(dead_code))]
mod message;
#[cfg(not(loom))]
pub mod names;
#[cfg(not(loom))]
mod nic;
#[cfg(not(loom))]
mod notice;
#[cfg(not(loom))]
pub mod provider;
#[cfg(not(loom))]
mod random;
pub mod region;
#[cfg(not(loom))]
pub mod reliable;
#[cfg(not(loom))]
mod socket;
#[cfg(not(loom))]
pub mod spi;
#[cfg(not(loom))]
pub mod stream;
mod sync;
#[cfg(not(loom))]
mod vi;
#[cfg_attr(loom, expect(dead_code, reason = "who waits is left out of the model"))]
pub mod wait;
#[cfg(not(loom))]
pub mod window;
#[cfg(not(loom))]
pub mod wrap;

#[cfg(not(loom))]
pub use attributes::{Attributes, Reliability};
#[cfg(not(loom))]
pub use budget::{Budget, Reservation};
#[cfg(not(loom))]
pub use completion::{Completion, CompletionQueue};
#[cfg(not(loom))]
pub use connection::{Listener, Request};
pub use counters::Counters;
pub use deadline::{Deadline, Limit, Milliseconds, Seconds};
#[cfg(not(loom))]
pub use descriptor::{Descriptor, Operation, RemoteAddress, Segment, Status};
pub use error::{Distrust, Ended, Error, Violation};
#[cfg(not(loom))]
pub use memory::{Access, InUse, Memory, MemoryHandle, MemoryRegion, ProtectionTag, Region};
pub use message::{Header, Kind};
#[cfg(not(loom))]
pub use nic::Nic;
pub use region::RegionView;
#[cfg(not(loom))]
pub use vi::{PostError, PostFault, Queue, State, Vi, ViAttributes, ViId, WorkQueue};
pub use wait::Waiting;
