//! Links: the interface between an engine and a datagram network.

use crate::Error;
use rustix::fd::OwnedFd;
use std::fmt;
use std::sync::Arc;

/// A wire for datagrams between two ends.
///
/// [`Error::NotFound`] from any method hints that nothing listens at the other end. The hint is no
/// proof: only silence ends a connection, and no error does.
pub trait Link: Send + fmt::Debug {
    /// Returns the maximum length of a datagram, in bytes.
    fn mtu(&self) -> usize;

    /// Sends one datagram, which may get lost. Returns `false` when there is no room now, and the
    /// caller has to try again later.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`] for a datagram that the network does not take, or takes no more, because
    /// of its length; or another error of the network. The datagram counts as lost.
    fn send(&mut self, datagram: &[u8]) -> Result<bool, Error>;

    /// Receives the next datagram, if one is there, and returns its length.
    ///
    /// # Errors
    ///
    /// An error of the network.
    fn receive(&mut self, into: &mut [u8]) -> Result<Option<usize>, Error>;

    /// Returns a file that is readable from now on whenever a datagram has arrived.
    fn file(&self) -> Option<Arc<OwnedFd>>;

    /// Returns a file as [`Self::file`] does, for one sleep. [`Self::end_sleep`] always follows. If
    /// maintaining the file costs something for each datagram, the link has to maintain it only
    /// between the two calls.
    fn prepare_sleep(&mut self) -> Option<Arc<OwnedFd>> {
        self.file()
    }

    /// Ends a prepared sleep, or cancels it.
    fn end_sleep(&mut self) {}

    /// Takes note of the connection's ids: of this end's and the peer's.
    fn opened(&mut self, _ids: [u64; 2]) {}

    /// Finds out whether the network has given this end another address, since the peer is silent.
    fn find_moved(&mut self) {}

    /// Returns the peer's name, for people.
    fn peer(&self) -> String;

    /// Returns the address of this end, as the peer sees it, where it is known.
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

    fn opened(&mut self, ids: [u64; 2]) {
        (**self).opened(ids);
    }

    fn find_moved(&mut self) {
        (**self).find_moved();
    }

    fn peer(&self) -> String {
        (**self).peer()
    }

    fn local(&self) -> Option<String> {
        (**self).local()
    }
}
