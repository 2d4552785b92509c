//! The connections that must still authenticate.

use crate::types::hosts;
use crate::types::threads::lock;
use obvia_via::datagram::Host;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

/// The greatest number of connections that wait at their gates, over all hosts and for one host. A
/// network of IPv6 with a prefix of 64 bits counts as a host, because a host may use all of its
/// addresses.
const WAITING_MAX: usize = 256;
pub(super) const WAITING_OF_HOST_MAX: usize = 128;

/// The number of connections that must still authenticate, by host.
#[derive(Default)]
pub(super) struct Waiting(Mutex<HashMap<Host, usize>>);

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, HashMap<Host, usize>> {
        lock(&self.0)
    }

    /// Counts one more connection.
    ///
    /// # Errors
    ///
    /// The limit that has been reached, for the client.
    fn enter(&self, host: Host) -> Result<(), &'static str> {
        let mut waiting = self.lock();
        let of_host = waiting.get(&host).copied().unwrap_or_default();
        if of_host >= WAITING_OF_HOST_MAX {
            return Err("too many connections from this host have not authenticated yet");
        }
        if waiting.values().sum::<usize>() >= WAITING_MAX {
            return Err("too many connections to this server have not authenticated yet");
        }
        waiting.insert(host, of_host + 1);
        Ok(())
    }

    fn leave(&self, host: Host) {
        let mut waiting = self.lock();
        if let Some(count) = waiting.get_mut(&host) {
            *count -= 1;
            if *count == 0 {
                waiting.remove(&host);
            }
        }
    }
}

/// Returns the host by which limits count the clients at an address.
pub(super) fn counted(address: &str) -> Host {
    hosts::counted(address).unwrap_or(Host::NONE)
}

/// A connection that is counted in `waiting` until this value is dropped.
pub(super) struct Counted {
    waiting: &'static Waiting,
    host: Host,
}

impl Counted {
    /// Counts a connection of the host with this address.
    ///
    /// # Errors
    ///
    /// As [`Waiting::enter`].
    pub(super) fn new(waiting: &'static Waiting, address: &str) -> Result<Self, &'static str> {
        let host = counted(address);
        waiting.enter(host).map(|()| Self { waiting, host })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.waiting.leave(self.host);
    }
}

#[cfg(test)]
mod tests {
    use super::{WAITING_MAX, WAITING_OF_HOST_MAX, Waiting, counted};

    #[test]
    fn unauthenticated_connections_are_limited_per_host() {
        let waiting = Waiting::default();
        let entered = |host: &str| (0..2 * WAITING_MAX).filter(|_| waiting.enter(counted(host)).is_ok()).count();
        assert_eq!(entered("10.0.0.1"), WAITING_OF_HOST_MAX);
        assert_eq!(entered("10.0.0.2"), WAITING_MAX - WAITING_OF_HOST_MAX);
        assert!(waiting.enter(counted("10.0.0.3")).is_err());
        waiting.leave(counted("10.0.0.1"));
        assert!(waiting.enter(counted("10.0.0.3")).is_ok());
        waiting.leave(counted("10.0.0.3"));
        assert_eq!(waiting.lock().len(), 2, "nothing is kept of who waits no more");
    }

    #[test]
    fn unauthenticated_connections_of_a_network_of_ipv6_are_those_of_one_host() {
        let waiting = Waiting::default();
        let enter = |number: &usize| waiting.enter(counted(&format!("2001:db8::{number:x}:1"))).is_ok();
        assert_eq!((0..2 * WAITING_MAX).filter(enter).count(), WAITING_OF_HOST_MAX);
        assert!(waiting.enter(counted("2001:db8:0:1::1")).is_ok());
        waiting.leave(counted("2001:db8::1"));
        assert!(waiting.enter(counted("2001:db8::2")).is_ok());
    }
}
