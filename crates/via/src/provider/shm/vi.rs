//! One connection: what its two halves share, how others interrupt it, and its options.

use super::greeting::peer_pid;
use super::mapping::Mapping;
use super::{Rx, Tx, futex, pulse};
use crate::wait::SpinBudget;
use crate::{Counters, Error, Waiting, layout};
use rustix::fd::OwnedFd;
use rustix::net::Shutdown;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};

/// What one side of a connection chooses.
#[derive(Clone, Debug)]
pub struct Options {
    /// How this side waits.
    pub waiting: Waiting,
    /// Whether this side will seldom send: then the other side sleeps between messages, whatever its own policy is.
    pub quiet: bool,
    /// Bytes of the first area, a multiple of 4096: frames up to this length need no second one.
    pub area: usize,
    /// The longest frame, in bytes, that is sent or accepted; at most `i32::MAX`.
    pub max_frame: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { waiting: Waiting::Adaptive, quiet: false, area: 256 << 10, max_frame: 256 << 20 }
    }
}

const CLOSED: u32 = 1;
const RUNG: u32 = 2;

/// What both halves of a connection, its alarms and the pulse thread share.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) own: Mapping,
    pub(super) peer: Mapping,
    pub(super) socket: OwnedFd,
    pub(super) pid: u32,
    state: AtomicU32,
}

impl Wire {
    /// Whether something other than a message wants the waiting thread.
    pub(super) fn check(&self) -> Result<(), Error> {
        let state = self.state.load(Ordering::Acquire);
        if state & CLOSED != 0 {
            return Err(Error::PeerGone { pid: self.pid });
        }
        if state & RUNG != 0 {
            self.state.fetch_and(!RUNG, Ordering::AcqRel);
            return Err(Error::Cancelled);
        }
        Ok(())
    }

    /// Marks the connection as ended and wakes its waiting thread.
    pub(super) fn close(&self) {
        self.interrupt(CLOSED);
    }

    fn interrupt(&self, why: u32) {
        self.state.fetch_or(why, Ordering::AcqRel);
        // A thread that waits on this connection sleeps on the peer's bell.
        futex::wake(self.peer.word(layout::BELL));
    }
}

/// A connection to a process of this host. Dropping it ends it, and the peer learns at once.
#[derive(Debug)]
pub struct Vi {
    /// The half that sends.
    pub tx: Tx,
    /// The half that receives.
    pub rx: Rx,
    wire: Arc<Wire>,
}

impl Vi {
    pub(super) fn new(
        socket: OwnedFd,
        own: Mapping,
        peer: Mapping,
        peer_may_sleep: bool,
        options: &Options,
    ) -> Result<Self, Error> {
        debug_assert!(own.is_writable() && !peer.is_writable());
        let limit = options.max_frame.min(i32::MAX as usize);
        let pid = peer_pid(&socket);
        let wire = Arc::new(Wire { own, peer, socket, pid, state: AtomicU32::new(0) });
        pulse::watch(&wire)?;
        let tx = Tx::new(Arc::clone(&wire), peer_may_sleep, limit);
        let rx = Rx::new(Arc::clone(&wire), SpinBudget::new(options.waiting), limit);
        Ok(Self { tx, rx, wire })
    }

    /// The peer's process id, as the kernel recorded it.
    pub fn peer_pid(&self) -> u32 {
        self.wire.pid
    }

    /// Whether the peer ended, or closed its side.
    pub fn is_closed(&self) -> bool {
        self.wire.state.load(Ordering::Acquire) & CLOSED != 0
    }

    /// What happened so far.
    pub fn counters(&self) -> Counters {
        let mut counters = Counters::default();
        self.tx.count(&mut counters);
        self.rx.count(&mut counters);
        counters
    }

    /// A handle by which other threads interrupt a wait on this connection.
    pub fn alarm(&self) -> Alarm {
        Alarm { wire: Arc::downgrade(&self.wire) }
    }
}

impl Drop for Vi {
    fn drop(&mut self) {
        // The pulse thread and alarms may keep the socket open a little longer; the peer need not wait for that.
        let _ = rustix::net::shutdown(&self.wire.socket, Shutdown::Both);
        pulse::forget(&self.wire);
    }
}

/// Interrupts a wait from another thread.
#[derive(Clone, Debug)]
pub struct Alarm {
    wire: Weak<Wire>,
}

impl Alarm {
    /// Ends the current or next wait of the connection with [`Error::Cancelled`].
    pub fn ring(&self) {
        if let Some(wire) = self.wire.upgrade() {
            wire.interrupt(RUNG);
        }
    }

    /// Whether the connection is gone: its owner dropped it, or the peer ended.
    pub fn is_closed(&self) -> bool {
        self.wire.upgrade().is_none_or(|wire| wire.state.load(Ordering::Acquire) & CLOSED != 0)
    }
}
