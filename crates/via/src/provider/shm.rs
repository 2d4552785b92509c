//! Processes of one host, through sealed shared memory.
//!
//! Each side makes one anonymous segment (a memfd, so nothing is left behind when a process is killed), seals it against
//! shrinking, growing and foreign writes, and passes it over a Unix socket. From then on the socket carries no message: it is
//! the connection's *pulse*, whose end tells at once that the peer is gone, and the way by which larger areas are handed over.
//!
//! A [`Directory`] maps names to listening sockets. A [`Vi`] is one connection: [`Tx`] publishes messages in this side's segment,
//! [`Rx`] takes the peer's.

mod area;
mod directory;
mod futex;
mod greeting;
mod hello;
mod initiate;
mod mapping;
mod nic;
mod opened;
mod packet;
mod port;
mod pulse;
mod record;
mod respond;
mod ring;
mod rx;
mod table;
mod tx;
mod vi;
mod wire;

pub use directory::{Directory, Entry, Listener};
pub use greeting::Incoming;
pub use nic::{NicOptions, open};
pub use rx::{Message, Rx};
pub use tx::Tx;
pub use vi::{Alarm, Options, Vi};
