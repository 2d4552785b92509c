//! The local process: the means by which this process reaches others and is reached.

use crate::transport::network::Network;
use crate::types::error::Result;
use crate::types::identity::draw;
use obvia_via::Waiting;
use obvia_via::provider::shm::Directory;
use obvia_via::window::Options;
use std::sync::atomic::{AtomicU8, Ordering};

static WAITING: AtomicU8 = AtomicU8::new(Waiting::Adaptive as u8);

/// Sets how this process waits on connections that are made from now on, as a client for replies
/// and as a server for calls.
///
/// The default is adaptive waiting: polling for some tens of microseconds, then sleeping.
pub fn set_waiting(waiting: Waiting) {
    WAITING.store(waiting as u8, Ordering::Relaxed);
}

/// The identity of this process, the directory of names, and the networks.
pub(crate) struct LocalProcess {
    oxid: u64,
    directory: Directory,
    network: Network,
}

impl LocalProcess {
    pub(crate) fn new() -> Result<Self> {
        Ok(Self { oxid: draw()?, directory: Directory::of_user()?, network: Network::default() })
    }

    pub(crate) fn oxid(&self) -> u64 {
        self.oxid
    }

    pub(crate) fn directory(&self) -> &Directory {
        &self.directory
    }

    pub(crate) fn network(&self) -> &Network {
        &self.network
    }

    /// Returns the options of new connections.
    pub(crate) fn options(&self) -> Options {
        let waiting = match WAITING.load(Ordering::Relaxed) {
            poll if poll == Waiting::Poll as u8 => Waiting::Poll,
            block if block == Waiting::Block as u8 => Waiting::Block,
            _ => Waiting::Adaptive,
        };
        Options { waiting, ..Options::default() }
    }
}
