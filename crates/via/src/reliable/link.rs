//! Links: the interface between an engine and a datagram network.

use super::move_key::MoveKey;
use crate::Error;
use rustix::fd::OwnedFd;
use std::fmt;
use std::sync::Arc;

/// The numbers of received datagrams with marks of explicit congestion notification (RFC 3168).
/// Both numbers wrap around.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// The number of datagrams whose mark says that the sender supports notification, or that the
    /// datagram met congestion.
    pub capable: u32,
    /// The number of datagrams whose mark says that the datagram met congestion.
    pub congested: u32,
}

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
    /// [`Error::TooLong`] for a datagram that is longer than the network accepts now; or another
    /// error of the network. The datagram counts as lost.
    fn send(&mut self, datagram: &[u8]) -> Result<bool, Error>;

    /// Receives the next datagram, if one has arrived, and returns its length.
    ///
    /// # Errors
    ///
    /// An error of the network.
    fn receive(&mut self, into: &mut [u8]) -> Result<Option<usize>, Error>;

    /// Returns a file that is readable from now on whenever a datagram has arrived. `None` if the
    /// link has to be polled.
    fn file(&self) -> Option<Arc<OwnedFd>>;

    /// Returns a file as [`Self::file`] does, for one sleep. [`Self::end_sleep`] always follows. If
    /// maintaining the file costs something for each datagram, the link has to maintain the file
    /// only between this call and [`Self::end_sleep`].
    fn prepare_sleep(&mut self) -> Option<Arc<OwnedFd>> {
        self.file()
    }

    /// Ends a prepared sleep, or cancels it.
    fn end_sleep(&mut self) {}

    /// Tells the link the ids of the connection: this end's and the peer's.
    fn opened(&mut self, _ids: [u64; 2]) {}

    /// Whether, since the last call, this link has got a report that the peer's port is closed. The
    /// next [`Self::receive`] of each other link of this NIC to that port then returns the report
    /// as a hint.
    fn take_report(&mut self) -> bool {
        false
    }

    /// Finds out, when the peer is silent, whether the network has given this end another address.
    fn find_moved(&mut self) {}

    /// Uses this key from now on, to seal this end's claims to have moved, and to verify the seals
    /// of the peer's claims.
    fn seal_moves(&mut self, _key: &MoveKey) {}

    /// Requires from now on that each claim that moves the connection has a seal, because the peer
    /// has shown that it has the key.
    fn require_seals(&mut self) {}

    /// Sends datagrams with or without marks from now on: see [`Marks`]. Does nothing if the
    /// network carries no marks.
    fn send_marks(&mut self, sends: bool) {
        let _ = sends;
    }

    /// Reads the marks of received datagrams from now on, or leaves them unread, which is faster.
    fn read_marks(&mut self, reads: bool) {
        let _ = reads;
    }

    /// Returns the marks read so far.
    fn marks(&self) -> Marks {
        Marks::default()
    }

    /// Returns the peer's name, for people.
    fn peer(&self) -> String;

    /// Returns the address of this end, as the peer sees it, if the address is known.
    fn local(&self) -> Option<String> {
        None
    }
}

/// Forwards the methods of [`Link`] about the wire and its peer to another link. `$link` is the
/// expression of that link, in which `$this` is `self`.
macro_rules! forward_wire {
    ($this:ident => $link:expr) => {
        fn mtu(&self) -> usize {
            let $this = self;
            ($link).mtu()
        }

        fn opened(&mut self, ids: [u64; 2]) {
            let $this = self;
            ($link).opened(ids);
        }

        fn take_report(&mut self) -> bool {
            let $this = self;
            ($link).take_report()
        }

        fn find_moved(&mut self) {
            let $this = self;
            ($link).find_moved();
        }

        fn seal_moves(&mut self, key: &$crate::reliable::MoveKey) {
            let $this = self;
            ($link).seal_moves(key);
        }

        fn require_seals(&mut self) {
            let $this = self;
            ($link).require_seals();
        }

        fn send_marks(&mut self, sends: bool) {
            let $this = self;
            ($link).send_marks(sends);
        }

        fn read_marks(&mut self, reads: bool) {
            let $this = self;
            ($link).read_marks(reads);
        }

        fn marks(&self) -> $crate::reliable::Marks {
            let $this = self;
            ($link).marks()
        }

        fn peer(&self) -> String {
            let $this = self;
            ($link).peer()
        }

        fn local(&self) -> Option<String> {
            let $this = self;
            ($link).local()
        }
    };
}

/// Forwards the methods of [`Link`] about sleep, as [`forward_wire`] forwards the methods about the
/// wire.
macro_rules! forward_sleep {
    ($this:ident => $link:expr) => {
        fn file(&self) -> Option<std::sync::Arc<rustix::fd::OwnedFd>> {
            let $this = self;
            ($link).file()
        }

        fn prepare_sleep(&mut self) -> Option<std::sync::Arc<rustix::fd::OwnedFd>> {
            let $this = self;
            ($link).prepare_sleep()
        }

        fn end_sleep(&mut self) {
            let $this = self;
            ($link).end_sleep();
        }
    };
}

pub(crate) use {forward_sleep, forward_wire};

impl<L: Link + ?Sized> Link for Box<L> {
    forward_wire!(link => **link);
    forward_sleep!(link => **link);

    fn send(&mut self, datagram: &[u8]) -> Result<bool, Error> {
        (**self).send(datagram)
    }

    fn receive(&mut self, into: &mut [u8]) -> Result<Option<usize>, Error> {
        (**self).receive(into)
    }
}
