//! Making connections: VI Architecture 1.0, "Connection Management".

use crate::spi::{Incoming, Listening};
use crate::vi::Vi;
use crate::{Deadline, Error, Reliability};

/// Waits for peers that want a connection.
#[derive(Debug)]
pub struct Listener {
    pub(crate) inner: Box<dyn Listening>,
}

impl Listener {
    /// Waits for the next request.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`].
    pub fn wait(&mut self, deadline: Deadline) -> Result<Request, Error> {
        Ok(Request { inner: self.inner.accept(deadline)? })
    }

    /// The address that peers connect to.
    pub fn address(&self) -> String {
        self.inner.address()
    }
}

/// A peer that waits for an answer. Dropping it rejects it.
#[derive(Debug)]
pub struct Request {
    inner: Box<dyn Incoming>,
}

impl Request {
    /// The reliability level that the peer's VI has.
    pub fn reliability(&self) -> Reliability {
        self.inner.offer().reliability
    }

    /// What the peer tells.
    pub fn private(&self) -> &[u8] {
        &self.inner.offer().private
    }

    /// Who asks, for logs.
    pub fn peer(&self) -> String {
        self.inner.peer()
    }

    /// Connects the peer with an idle VI.
    ///
    /// # Errors
    ///
    /// [`Error::BadState`] when the VI is not idle, [`Error::Refused`] when its reliability level is another than the peer's: the peer
    /// learns that too; or when the peer is gone by now.
    pub fn accept(self, vi: &mut Vi, private: &[u8], deadline: Deadline) -> Result<(), Error> {
        let own = vi.offer(private)?;
        let peers = self.inner.offer().clone();
        if peers.reliability != own.reliability {
            let why = format!("one VI has {}, the other {}", own.reliability, peers.reliability);
            self.inner.reject(&why);
            return Err(Error::Refused { why });
        }
        let port = self.inner.accept_tagged(vi.core.tag(), &own, deadline)?;
        vi.core.connected(port, own.max_transfer.min(peers.max_transfer));
        Ok(())
    }

    /// Rejects the peer, who gets the reason.
    pub fn reject(self, why: &str) {
        self.inner.reject(why);
    }
}
