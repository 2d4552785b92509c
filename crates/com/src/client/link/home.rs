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
    /// Whether the channel must not be used further: a canceller may have interrupted it after its
    /// call, which would end the next call, or a call panicked, whose response may still come.
    pub(super) is_rung: bool,
}

impl From<Channel> for Connection {
    fn from(channel: Channel) -> Self {
        Self { channel, is_rung: false }
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

    /// Whether the peer ended the connection, as far as that can be told without waiting.
    pub(super) fn is_ended(&self) -> bool {
        // A connection in use counts as alive: if it has ended, its user notices.
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
                    "the process did not respond to another thread's query before the \
                    deadline",
                )
            })
        })?;
        let mut lent = Lent { home: self, connection: Some(connection) };
        work(lent.connection.as_mut().ok_or(code::E_UNEXPECTED)?)
    }
}

/// A connection in use; its drop puts it back, even when a call panics.
struct Lent<'a> {
    home: &'a Home,
    connection: Option<Connection>,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        // The response to the call that panicked may still come.
        if let Some(connection) = self.connection.as_mut().filter(|_| std::thread::panicking()) {
            connection.is_rung = true;
        }
        *lock(&self.home.idle) = self.connection.take();
        self.home.returned.notify_one();
    }
}
