//! Virtual interfaces: memory, queues and wires that a process uses without asking its kernel.
//!
//! This is the ground floor of obvia. It knows memory and wires and never looks into a payload:
//! what a message means is the business of the floors above.
//!
//! Top floor first:
//!
//! - [`Nic`], [`Vi`], [`Descriptor`], [`CompletionQueue`] and their kin are the objects of the VI Architecture.
//! - [`spi`] is what a provider implements to carry them.
//! - [`provider`] holds one module for each way to reach a peer. [`provider::shm`] reaches processes of the
//!   same host through sealed shared memory: [`provider::shm::open`] opens its NIC.
//! - [`reliable`] is the machinery that makes VIs of wires for datagrams.
//! - [`stream`] has connections that are no virtual interfaces, and [`datagram`] sockets that have none, for protocols that are not ours.
//! - [`wrap`] puts faults, traces and captures around links and providers.
//! - [`wait`] says how a thread waits: polling, blocking, or adapting.
//! - [`region`] is memory that a peer may write at any time, readable only through checked loads.
//! - [`doorbell`] and [`layout`] are the words that the two sides of a connection share, and their protocol.
//!
//! # The objects
//!
//! A [`Nic`] is an opened provider. It registers [`Memory`] as [`MemoryRegion`]s, each with a [`ProtectionTag`] and an [`Access`] for
//! peers, and makes [`Vi`]s and [`CompletionQueue`]s. A VI has a tag as well: only regions of that tag are in its reach, and in its
//! peer's. It has two work queues, which two threads may have; a [`Descriptor`] is posted by value, belongs to the queue until
//! it is done, and comes back from it with a [`Status`], in the order posted.
//!
//! A VI is [`State::Idle`] until it is connected, by [`Vi::request`] or [`Request::accept`], and [`State::Broken`] when the connection
//! ended for another reason than [`Vi::disconnect`], which makes it idle again. What is wrong with a descriptor by itself is said
//! when it is posted ([`PostFault`]) and costs nothing; what is wrong between the two ends breaks a reliable connection: the
//! descriptor says what it was, those behind it are flushed.
//!
//! Everything that is in use refuses to be destroyed and comes back ([`InUse`]); dropping ends it all the same. Waiting ends by its
//! [`Deadline`]; where a provider makes progress only when it is called, a thread of the NIC calls it for VIs whose owners do
//! something else.
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
pub mod layout;
#[cfg(not(loom))]
mod memory;
#[cfg_attr(loom, allow(dead_code))]
mod message;
#[cfg(not(loom))]
mod nic;
#[cfg(not(loom))]
mod notice;
#[cfg(not(loom))]
pub mod provider;
pub mod region;
#[cfg(not(loom))]
pub mod reliable;
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
pub use completion::{Completion, CompletionQueue};
#[cfg(not(loom))]
pub use connection::{Listener, Request};
pub use counters::Counters;
pub use deadline::{Deadline, Limit, Seconds};
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
