//! Connection setup: VI Architecture 1.0, "Connection Management".

use crate::spi::{Incoming, Listening, Revocation};
use crate::vi::Vi;
use crate::{Deadline, Error, Reliability};
use std::sync::Arc;

/// A listener for connection requests of peers.
#[derive(Debug)]
pub struct Listener {
    pub(crate) inner: Box<dyn Listening>,
}

impl Listener {
    /// Waits for the next connection request.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] when no request arrives by the deadline.
    pub fn wait(&mut self, deadline: Deadline) -> Result<Request, Error> {
        Ok(Request { inner: self.inner.accept(deadline)? })
    }

    /// Returns the address that peers connect to.
    pub fn address(&self) -> String {
        self.inner.address()
    }
}

/// A peer's connection request. Dropping the request rejects the peer.
#[derive(Debug)]
pub struct Request {
    inner: Box<dyn Incoming>,
}

impl Request {
    /// Returns the reliability level of the peer's VI.
    pub fn reliability(&self) -> Reliability {
        self.inner.offer().reliability
    }

    /// Returns the private data that the peer sent along.
    pub fn private(&self) -> &[u8] {
        &self.inner.offer().private
    }

    /// Returns the peer's name, for logs.
    pub fn peer(&self) -> String {
        self.inner.peer()
    }

    /// Returns the handle by which another thread ends [`Self::accept`] while the peer is slow.
    /// `None` if the provider does not wait for the peer.
    pub fn revocation(&self) -> Option<Arc<Revocation>> {
        self.inner.revocation()
    }

    /// Connects the peer with an idle VI.
    ///
    /// # Errors
    ///
    /// [`Error::BadState`] when the VI is not idle. [`Error::Refused`] when the reliability levels
    /// differ; the peer is then rejected with the same reason. Another error when the peer is gone.
    pub fn accept(self, vi: &mut Vi, private: &[u8], deadline: Deadline) -> Result<(), Error> {
        let own = vi.offer(private)?;
        let peers = self.inner.offer().clone();
        if peers.reliability != own.reliability {
            let why =
                format!("the reliability levels of the two VIs differ: {} and {}", own.reliability, peers.reliability);
            self.inner.reject(&why);
            return Err(Error::Refused { why });
        }
        let port = self.inner.accept_tagged(vi.core.tag(), &own, deadline)?;
        vi.core.connected(port, own.max_transfer.min(peers.max_transfer));
        Ok(())
    }

    /// Rejects the peer, and tells it the reason.
    pub fn reject(self, why: &str) {
        self.inner.reject(why);
    }
}
