//! What the reliability machinery needs of a network.

use crate::Error;
use rustix::fd::OwnedFd;
use std::fmt;
use std::sync::Arc;

/// A wire for datagrams between two ends: what the reliability machinery needs of a network.
///
/// [`Error::NotFound`] from any of its functions is a hint that nobody is at the other end. It is no proof, and neither it nor any
/// other error ends a connection: silence does.
pub trait Link: Send + fmt::Debug {
    /// The largest datagram, in bytes.
    fn mtu(&self) -> usize;

    /// Sends one datagram, which may get lost. `false`: there is no room now, try again later.
    ///
    /// # Errors
    ///
    /// Whatever the network says; the datagram is taken for lost.
    fn send(&mut self, datagram: &[u8]) -> Result<bool, Error>;

    /// The next datagram, if one is there; its length.
    ///
    /// # Errors
    ///
    /// Whatever the network says.
    fn receive(&mut self, into: &mut [u8]) -> Result<Option<usize>, Error>;

    /// A file that is readable when a datagram came, from now on.
    fn file(&self) -> Option<Arc<OwnedFd>>;

    /// The same for one sleep, until [`Self::end_sleep`], which follows in any case. A link whose file costs something for each
    /// datagram need not keep it up while nobody sleeps.
    fn prepare_sleep(&mut self) -> Option<Arc<OwnedFd>> {
        self.file()
    }

    /// A sleep is over, or did not happen.
    fn end_sleep(&mut self) {}

    /// Who is at the other end, for people.
    fn peer(&self) -> String;

    /// The address of this end, as the peer sees it; none where it is not known.
    fn local(&self) -> Option<String> {
        None
    }
}

impl<L: Link + ?Sized> Link for Box<L> {
    fn mtu(&self) -> usize {
        (**self).mtu()
    }

    fn send(&mut self, datagram: &[u8]) -> Result<bool, Error> {
        (**self).send(datagram)
    }

    fn receive(&mut self, into: &mut [u8]) -> Result<Option<usize>, Error> {
        (**self).receive(into)
    }

    fn file(&self) -> Option<Arc<OwnedFd>> {
        (**self).file()
    }

    fn prepare_sleep(&mut self) -> Option<Arc<OwnedFd>> {
        (**self).prepare_sleep()
    }

    fn end_sleep(&mut self) {
        (**self).end_sleep();
    }

    fn peer(&self) -> String {
        (**self).peer()
    }

    fn local(&self) -> Option<String> {
        (**self).local()
    }
}
