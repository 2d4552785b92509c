//! A provider for processes of one host, over sealed shared memory.
//!
//! Each side makes one anonymous segment: a memfd, so nothing is left behind when a process is
//! killed. The side seals the segment against shrinking, growing and foreign writes, and passes the
//! segment over a Unix socket. From then on the socket carries no frames. The socket is the
//! connection's *pulse*: end of file on it shows at once that the peer is gone. The socket also
//! carries larger areas, and the calls to a peer that waits without a thread (`parking.rs`).
//!
//! A [`Directory`] maps names to listening sockets. Names lead to two kinds of connection, which do
//! not interfere with each other:
//!
//! - A [`crate::window::Window`], for users that build and read frames in place, as RPC does.
//! - [`open`] gives a [`crate::Nic`], whose [`crate::Vi`]s have descriptors, regions and RDMA.
//!
//! # Virtual interfaces with descriptors
//!
//! Each side publishes numbered records in a ring in its segment (`record.rs`, `ring.rs`):
//! messages, and RDMA that the peer has to perform. A short message lies in its record, a longer
//! one in the area behind the ring, in pieces. A long message whose segments are in regions that
//! peers may read stays where it is, and the receiver makes the only copy (`lent.rs`). The first
//! page has words for the number of records taken, the outcome of RDMA, and the state of the
//! connection. A sender whose peer does not take records waits for room; an unreliable sender drops
//! messages.
//!
//! After its first RDMA on a region, the initiator has that region's file. It then makes its copies
//! itself, at the speed of memory and without the target (`opened.rs` has the consequences of a
//! hostile peer). Before each piece of a copy, the initiator looks at the target's table of
//! registrations (`table.rs`). If the region's registration has ended, the initiator leaves the
//! RDMA to the target, which refuses it. A copy that is running while the registration ends may
//! still touch one piece, up to 256 KiB of the region. The region's file is used for nothing else,
//! so the copy touches no other data.
//!
//! All three levels of reliability are supported. Memory loses nothing, so reliable delivery and
//! reliable reception differ in one respect only: with reliable reception, no RDMA is performed
//! before all operations posted earlier are known to be done. Sends at both levels are complete
//! when the peer has placed them. Unreliable sends are complete at once, and lost if the ring or
//! the receive queue has no room. A refused unreliable RDMA completes with the error, and the
//! connection goes on.
//!
//! A thread sleeps on the socket, and a byte from the peer wakes the thread, at most once for each
//! sleep ([`crate::doorbell`]). End of file on the socket ends the connection. A side that
//! disconnects first writes to its segment that the connection is closed. Any other end counts as a
//! peer that fell silent.
//!
//! Each word of the peer is loaded once, checked, and then used. A breach of the rules ends the
//! connection with [`crate::Ended::Violation`].

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
mod parking;
mod port;
mod pulse;
mod received;
mod record;
mod respond;
mod ring;
mod sanitizer;
mod socket;
mod table;
mod wire;

pub use directory::{Directory, Entry, Listener, serial_behind};
#[cfg(feature = "fabric")]
pub(crate) use directory::{NamedSocket, check_peer};
pub(crate) use directory::{local_peer, local_process};
pub use greeting::{Incoming, Interrupter, Outgoing};
pub(crate) use mapping::create_region;
pub use nic::{NicOptions, open};
