//! The addresses of host names.
//!
//! The system's resolver waits for a name server, and an attacker may run that server. So each
//! look-up runs on a separate thread, for which the caller waits only until its deadline.

use crate::{Deadline, Error};
use std::cell::Cell;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};

/// The greatest number of threads that wait for the resolver.
const LOOKUPS_MAX: usize = 64;
/// The number of waiting threads at which look-ups for peers are refused. The remaining threads are
/// left for the program's own look-ups.
const LOOKUPS_OF_PEERS_MAX: usize = LOOKUPS_MAX / 2;
/// The number of threads that wait for the resolver.
static LOOKUPS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether a peer has chosen the host names that this thread looks up.
    static IS_OF_PEER: Cell<bool> = const { Cell::new(false) };
}

/// Runs `connect`, which connects to a host that a peer has chosen. Look-ups for peers never use
/// all threads, so the program's own look-ups get a thread even if those for peers never end.
pub fn of_peer<R>(connect: impl FnOnce() -> R) -> R {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            IS_OF_PEER.set(self.0);
        }
    }
    let _restore = Restore(IS_OF_PEER.replace(true));
    connect()
}

/// Returns the addresses of a port of a host, at least one. An IP address is returned at once,
/// without a look-up.
///
/// # Errors
///
/// [`Error::BadAddress`] for a host name that is unknown or has no address. The same error while
/// too many other names are being looked up. [`Error::TimedOut`] at the deadline. [`Error::System`]
/// when the system starts no thread.
pub fn addresses(host: &str, port: u16, deadline: Deadline) -> Result<Vec<SocketAddr>, Error> {
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    let name = host.to_owned();
    look_up(host, move || Ok((name.as_str(), port).to_socket_addrs()?.collect()), &LOOKUPS, deadline)
}

/// Runs `ask` on a new thread, unless `lookups` counts too many threads already.
fn look_up(
    host: &str,
    ask: impl FnOnce() -> io::Result<Vec<SocketAddr>> + Send + 'static,
    lookups: &'static AtomicUsize,
    deadline: Deadline,
) -> Result<Vec<SocketAddr>, Error> {
    let bad = |why| Error::BadAddress { text: host.to_owned(), why };
    let place = Place::take(lookups).ok_or_else(|| bad("too many other host names are being looked up"))?;
    let (tell, told) = mpsc::channel();
    let wait = move || {
        let found = ask();
        drop(place);
        // The receiver is gone if the caller's deadline has passed.
        drop(tell.send(found));
    };
    let thread = std::thread::Builder::new().name("obvia-resolve".to_owned());
    thread.spawn(wait).map_err(Error::io("starting a thread that looks up a host name"))?;
    match told.recv_timeout(deadline.remaining()) {
        Ok(Ok(found)) if !found.is_empty() => Ok(found),
        Ok(Ok(_)) => Err(bad("the host name has no address")),
        Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => Err(bad("the host name is unknown")),
        Err(RecvTimeoutError::Timeout) => Err(Error::TimedOut),
    }
}

/// A count of one in the limited number of threads that wait for the resolver. Dropping the value
/// lowers that number.
struct Place(&'static AtomicUsize);

impl Place {
    fn take(lookups: &'static AtomicUsize) -> Option<Self> {
        let most = if IS_OF_PEER.get() { LOOKUPS_OF_PEERS_MAX } else { LOOKUPS_MAX };
        let one_more = |count| (count < most).then_some(count + 1);
        lookups.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).ok().map(|_| Self(lookups))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Barrier};
    use std::time::Duration;

    #[test]
    fn a_resolver_that_does_not_answer_holds_nobody_beyond_the_deadline_and_few_threads() {
        static WAITING: AtomicUsize = AtomicUsize::new(0);
        let answer = Arc::new(Barrier::new(LOOKUPS_MAX + 1));
        let ask = || {
            let answer = Arc::clone(&answer);
            move || {
                answer.wait();
                Ok(vec![SocketAddr::from(([10, 0, 0, 1], 7))])
            }
        };
        let look = |limit| look_up("silent.example", ask(), &WAITING, Deadline::Within(limit).start());
        let of_peer = |limit| of_peer(|| look(limit));
        for _ in 0..LOOKUPS_OF_PEERS_MAX {
            assert!(matches!(of_peer(Duration::ZERO), Err(Error::TimedOut)));
        }
        // Look-ups for peers leave threads for the program's own look-ups.
        assert!(matches!(of_peer(ground::LATEST), Err(Error::BadAddress { .. })));
        for _ in LOOKUPS_OF_PEERS_MAX..LOOKUPS_MAX {
            assert!(matches!(look(Duration::ZERO), Err(Error::TimedOut)));
        }
        assert!(matches!(look(ground::LATEST), Err(Error::BadAddress { .. })));
        answer.wait();
        ground::until("the resolver has answered", || WAITING.load(Ordering::Relaxed) == 0);
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the system for the addresses of a host")]
    fn addresses_of_names_and_of_addresses_are_found() {
        let limit = Deadline::Within(ground::LATEST);
        assert!(addresses("localhost", 7, limit).unwrap().iter().all(|found| found.ip().is_loopback()));
        // An address needs no look-up.
        let past = Deadline::Within(Duration::ZERO);
        assert_eq!(addresses("::1", 7, past).unwrap(), ["[::1]:7".parse().unwrap()]);
        assert!(matches!(addresses("no host has spaces", 7, limit), Err(Error::BadAddress { .. })));
    }
}
