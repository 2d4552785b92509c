//! What the reliability machinery needs of a network.

use crate::Error;
use rustix::fd::OwnedFd;
use std::sync::Arc;

/// A wire for datagrams between two ends: what the reliability machinery needs of a network.
pub trait Link: Send + std::fmt::Debug {
    /// The largest datagram, in bytes.
    fn mtu(&self) -> usize;

    /// Sends one datagram, which may get lost. `false`: there is no room now, try again later.
    ///
    /// # Errors
    ///
    /// When the wire is broken for good.
    fn send(&mut self, datagram: &[u8]) -> Result<bool, Error>;

    /// The next datagram, if one is there; its length.
    ///
    /// # Errors
    ///
    /// When the wire is broken for good.
    fn receive(&mut self, into: &mut [u8]) -> Result<Option<usize>, Error>;

    /// A file that is readable when a datagram came.
    fn file(&self) -> Option<Arc<OwnedFd>>;

    /// Who is at the other end, for people.
    fn peer(&self) -> String;
}
