//! The home connection of a link, which one thread uses at a time.

use crate::client::canceller;
use crate::types::error::{Error, Result, code};
use crate::types::threads::lock;
use obvia_rpc::vi_call::Channel;
use obvia_via::Deadline;
use std::sync::{Condvar, Mutex, PoisonError};

/// A connection for the runtime's own calls.
pub(super) struct Connection {
    pub(super) channel: Channel,
    /// Whether the channel must be replaced before the next call. Either a canceller may have rung
    /// the channel's alarm too late, so that the ring would end the next call; or a call panicked,
    /// and its response may still come.
    pub(super) is_spent: bool,
}

impl From<Channel> for Connection {
    fn from(channel: Channel) -> Self {
        Self { channel, is_spent: false }
    }
}

/// The home connection of a link, which threads take and return.
pub(super) struct Home {
    /// The connection; `None` while a thread uses it.
    idle: Mutex<Option<Connection>>,
    returned: Condvar,
}

impl Home {
    pub(super) fn new(channel: Channel) -> Self {
        Self { idle: Mutex::new(Some(channel.into())), returned: Condvar::new() }
    }

    /// Whether the peer is known to have ended the connection. The function does not wait.
    pub(super) fn is_ended(&self) -> bool {
        // A connection in use counts as alive, because the thread that uses the connection notices
        // the end.
        lock(&self.idle).as_ref().is_some_and(|connection| connection.channel.is_ended())
    }

    /// Lends the connection to `work` as soon as no other thread uses it.
    ///
    /// # Errors
    ///
    /// RPC_E_TIMEOUT if another thread uses the connection until the deadline, RPC_E_CALL_CANCELED
    /// if one of the thread's cancellers ends the wait, and the errors of `work`.
    pub(super) fn lend<R>(&self, deadline: Deadline, work: impl FnOnce(&mut Connection) -> Result<R>) -> Result<R> {
        let connection = canceller::in_attempts(deadline, |deadline| {
            let is_in_use = |idle: &mut Option<Connection>| idle.is_none();
            let waited = self.returned.wait_timeout_while(lock(&self.idle), deadline.remaining(), is_in_use);
            let (mut idle, _) = waited.unwrap_or_else(PoisonError::into_inner);
            idle.take().ok_or_else(|| {
                Error::new(
                    code::RPC_E_TIMEOUT,
                    "the process did not respond to another thread's query before the deadline",
                )
            })
        })?;
        let mut lent = Lent { home: self, connection: Some(connection), was_panicking: std::thread::panicking() };
        work(lent.connection.as_mut().ok_or(code::E_UNEXPECTED)?)
    }
}

/// A connection in use. The drop returns the connection to its link, even when a call panics.
struct Lent<'a> {
    home: &'a Home,
    connection: Option<Connection>,
    /// Whether the thread was already panicking when it took the connection. Such an earlier panic
    /// leaves the connection usable.
    was_panicking: bool,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        if let Some(connection) = &mut self.connection {
            connection.is_spent |= std::thread::panicking() && !self.was_panicking;
        }
        *lock(&self.home.idle) = self.connection.take();
        self.home.returned.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::super::Link;
    use crate::protocol::own_calls;
    use crate::types::deadline;
    use crate::types::error::{Result, code};
    use crate::types::threads::lock;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    fn is_spent(link: &Link) -> bool {
        lock(&link.home.idle).as_ref().unwrap().is_spent
    }

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn a_call_begun_after_its_deadline_leaves_the_connection_usable() {
        let link = Link::to_itself();
        let late = deadline::with_deadline(Instant::now(), || link.with_home(own_calls::mark));
        assert_eq!(late.unwrap_err().code(), code::RPC_E_TIMEOUT);
        assert!(!lock(&link.home.idle).as_ref().unwrap().channel.is_closed());
    }

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn call_deadlines_include_the_wait_for_the_connection() {
        const LIMIT: Duration = Duration::from_millis(20);
        let link = Link::to_itself();
        let is_run = AtomicBool::new(false);
        let work = || {
            link.with_home(|_, _| {
                is_run.store(true, Ordering::Relaxed);
                Ok(())
            })
        };
        // The second thread's limit expires while this thread uses the connection.
        let hold = || {
            link.with_home(|_, _| {
                std::thread::scope(|scope| Ok(scope.spawn(|| deadline::with_timeout(LIMIT, work)).join().unwrap()))
            })
        };
        assert_eq!(hold().unwrap().unwrap_err().code(), code::RPC_E_TIMEOUT);
        assert!(!is_run.load(Ordering::Relaxed));
    }

    /// Makes a call when it is dropped.
    struct Calling<'a>(&'a Link);

    impl Drop for Calling<'_> {
        fn drop(&mut self) {
            self.0.with_home(own_calls::mark).unwrap();
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn a_panic_in_a_call_closes_the_connection() {
        let link = Link::to_itself();
        let panics_outside = || {
            let _calling = Calling(&link);
            panic!("the caller panics")
        };
        assert!(catch_unwind(AssertUnwindSafe(panics_outside)).is_err());
        assert!(!is_spent(&link));
        let panics = || link.with_home(|_, _| -> Result<()> { panic!("the call panics") });
        assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
        assert!(is_spent(&link));
        link.with_home(own_calls::mark).unwrap();
        assert!(!is_spent(&link));
    }
}
