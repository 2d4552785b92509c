//! Processes of one host, through sealed shared memory.
//!
//! Each side makes one anonymous segment (a memfd, so nothing is left behind when a process is killed), seals it against
//! shrinking, growing and foreign writes, and passes it over a Unix socket. From then on the socket carries no message: it is
//! the connection's *pulse*, whose end tells at once that the peer is gone, and the way by which larger areas are handed over.
//!
//! A [`Directory`] maps names to listening sockets. There are two kinds of connection behind names, which do not get in each other's way:
//!
//! - A [`crate::window::Window`], for who builds and reads frames in place, as RPC does.
//! - [`open`] gives a [`crate::Nic`], whose [`crate::Vi`]s have descriptors, regions and RDMA.
//!
//! # Virtual interfaces with descriptors
//!
//! Each side publishes numbered records in a ring in its segment (`record.rs`, `ring.rs`): messages, and RDMA that the peer is to perform. Small
//! bytes are in the record, larger ones in the area behind the ring, in pieces; long messages whose segments are in regions that peers may read stay
//! where they are and are copied once, by the receiver (`lent.rs`). How many records were taken, what became of RDMA, and how the
//! connection stands are words in the first page. A sender whose peer does not take waits for room; unreliable ones drop.
//!
//! After its first RDMA on a region the initiator has that region's file and copies by itself from then on, as fast as memory goes and without
//! the target's part (`opened.rs` says what that allows a hostile peer). Before each stride it looks at the target's table of
//! registrations (`table.rs`): an ended one is left to the target, who refuses. A copy that is on its way while the registration ends may still
//! touch up to 256 KiB of the region; its file is used for nothing else, so nothing but these bytes can be hit.
//!
//! All three levels of reliability are there. Memory loses nothing, so reliable delivery and reception differ in one thing only:
//! with reception no RDMA is performed before everything posted earlier is known to be done. Sends of both are complete when the peer has
//! placed them. Unreliable sends are complete at once, and lost where ring or receive queue has no room; an unreliable RDMA that is refused
//! completes with the error and the connection goes on.
//!
//! Whoever sleeps does so on the socket, and is called by a byte on it once a sleep ([`crate::doorbell`]). Its end is the
//! end of the connection: an orderly one is written in the segment before, any other is a peer that fell silent.
//!
//! Whatever comes from the peer is loaded once, checked, and then used; what breaks the rules ends the connection with
//! [`crate::Ended::Violation`].

mod carrier;
mod directory;
mod futex;
mod greeting;
mod hello;
mod initiate;
mod lent;
mod mapping;
mod named;
mod nic;
mod opened;
mod packet;
mod port;
mod pulse;
mod received;
mod record;
mod respond;
mod ring;
mod table;
mod wire;

pub(crate) use directory::local_peer;
pub use directory::{Directory, Entry, Listener};
#[cfg(feature = "fabric")]
pub(crate) use directory::{NamedSocket, check_peer};
pub use greeting::Incoming;
pub(crate) use mapping::create_region;
pub use nic::{NicOptions, open};
