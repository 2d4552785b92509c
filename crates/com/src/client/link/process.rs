//! The state that the links to one process share. A process may be reached by several bindings, but
//! each of its objects has one proxy manager. Each of the manager's interface proxies uses the link
//! by which this process received the interface.

use super::Link;
use super::releases::Releases;
use crate::access::Protection;
use crate::client::canceller;
use crate::client::proxy::ManagerPointer;
use crate::protocol::own_calls;
use crate::types::deadline;
use crate::types::error::{Result, code};
use crate::types::processes::has_ended;
use crate::types::threads::lock;
use obvia_rpc::security::Level;
use obvia_rpc::string_binding::StringBinding;
use obvia_via::Deadline;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

#[cfg(test)]
mod tests;

/// The time that a process may take to send its mark: see [`own_calls::mark`]. This time is shorter
/// than the time limit for an attempt at one binding, so that the wait for a silent process leaves
/// time to make a new link.
const PATIENCE: Duration = Duration::from_secs(1);

/// The mark of a link's process.
#[derive(Default)]
pub(super) struct Mark {
    pub(super) known: Option<u64>,
    /// The key with which this process proves the mark, if the other process has sent the key.
    pub(super) key: Option<u128>,
    /// The time when this process first asked for the mark.
    asked: Option<Instant>,
}

/// The state of a process whose objects this process uses. All links to the process share it.
#[derive(Default)]
pub(super) struct Process {
    /// The proxy managers for objects of the process, by OID.
    pub(super) managers: Mutex<HashMap<u64, ManagerPointer>>,
    /// The references to be given back to the process.
    pub(super) releases: Mutex<Releases>,
    /// The bindings by which this process has reached the other process.
    pub(super) ways: Mutex<Vec<StringBinding>>,
    /// The bindings that the other process sent last, as its own.
    pub(super) others: Mutex<Vec<StringBinding>>,
}

impl Link {
    /// Returns an identifier of the process, valid while a link to it exists. A peer that only
    /// claims another process's OXID has a different identifier.
    pub(crate) fn process(&self) -> usize {
        Arc::as_ptr(&self.process).addr()
    }

    /// Whether another link leads to the same process.
    pub(crate) fn leads_where(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.process, &other.process)
    }

    /// Adopts the process state of one of `others` that leads to the same process. This must happen
    /// before the first use of the link. Equal OXIDs are no proof that two links lead to the same
    /// process: a peer could claim the OXID of another process, and would receive calls of that
    /// process's objects. Equal marks are a proof, since a process sends its mark for this process
    /// to no other process. Over unencrypted networks a process sends a second mark. An attacker
    /// who reads the network and acts as a server can use that second mark to pretend to be the
    /// process, but only towards links that have reached the process without encryption. A server
    /// that this process reaches over another transport cannot know that this process is the same
    /// client. It sends another mark until this process has [proved](Self::prove_process) its
    /// identity.
    ///
    /// # Errors
    ///
    /// If the thread's limit or a canceller ended the comparison.
    pub(crate) fn join(&mut self, others: &[Arc<Self>]) -> Result<()> {
        for other in others {
            if self.trusts_as(other)
                && let Some(mark) = other.mark()?
                && (self.mark()? == Some(mark) || self.has_proved(mark, other)?)
            {
                self.process = Arc::clone(&other.process);
                self.note_way();
                break;
            }
        }
        Ok(())
    }

    /// Whether this link and `other` are trusted alike, so that they may share a process state: one
    /// of them uses shared memory, where the kernel vouches for the peer, or both have the same
    /// protection level.
    fn trusts_as(&self, other: &Self) -> bool {
        let level = |link: &Self| link.terms.protection().map(Protection::level);
        self.is_private() || other.is_private() || level(self) == level(other)
    }

    /// Returns the mark by which the process at the other end is recognised. If the process sends
    /// no mark within [`PATIENCE`], returns `None`, and the process counts as a separate one.
    ///
    /// # Errors
    ///
    /// If a canceller ended the wait for the mark, or if the thread's time limit did. A wait that
    /// begins [`PATIENCE`] or more after the first request does not fail when the limit ends it.
    fn mark(&self) -> Result<Option<u64>> {
        let (known, asked) = {
            let mut mark = lock(&self.mark);
            (mark.known, *mark.asked.get_or_insert_with(Instant::now))
        };
        if known.is_some() {
            return Ok(known);
        }
        let own = deadline::of_thread().start();
        let is_late = asked.elapsed() >= PATIENCE;
        // For a process that has been silent before, the wait takes at most half of the remaining
        // time. The rest is for the call that needs the new link.
        let span = if is_late { own.remaining() / 2 } else { own.remaining() };
        let limit = Deadline::Within(span.min(PATIENCE)).start();
        // The call is made without the lock, since a thread that waits for the lock cannot be
        // cancelled. So two threads may both ask for the mark.
        let (mark, key) = match deadline::with(limit, || self.with_home(own_calls::mark)) {
            Ok(answer) => answer,
            Err(error) if error.code() == code::RPC_E_TIMEOUT && own.is_over() && !is_late => return Err(error),
            Err(_) => return canceller::check_cancellers().map(|()| None),
        };
        let mut state = lock(&self.mark);
        (state.known, state.key) = (Some(mark), key);
        Ok(Some(mark))
    }

    /// Whether the process should be asked for its mark before the mark is needed: the link is
    /// encrypted and leads to an obvia process, and the process has not been asked yet. With the
    /// mark's key, further connections of the link prove the mark, so that the process recognises
    /// this process at another address. Over a network a process sends the key only if the link is
    /// encrypted, or if this process runs on the same host.
    pub(crate) fn wants_mark(&self) -> bool {
        let is_encrypted = self.terms.protection().map(Protection::level) == Some(Level::Privacy);
        is_encrypted && self.foreign.is_none() && lock(&self.mark).asked.is_none()
    }

    /// Asks the process for its mark.
    pub(crate) fn learn_mark(&self) {
        // A failure is ignored: without the mark, this process merely counts as a new client when
        // its address changes.
        let _ = self.mark();
    }

    /// Proves to the server that this process is the client to which the server has sent `mark`
    /// over another link. Returns whether the server has accepted the proof within [`PATIENCE`].
    /// Returns false if the server has sent no key of the mark.
    ///
    /// # Errors
    ///
    /// If a canceller ended the wait for the answer.
    fn has_proved(&mut self, mark: u64, other: &Self) -> Result<bool> {
        let Some(key) = lock(&other.mark).key else { return Ok(false) };
        let limit = Deadline::Within(deadline::of_thread().start().remaining().min(PATIENCE)).start();
        match self.prove_process(key, limit) {
            Ok(is_proved) => {
                if is_proved {
                    let mut state = lock(&self.mark);
                    (state.known, state.key) = (Some(mark), Some(key));
                }
                Ok(is_proved)
            }
            Err(_) => canceller::check_cancellers().map(|()| false),
        }
    }

    /// Whether the process at the other end of a link has ended. Callers must have seen the end of
    /// the home connection first. `None` over a network: the peer's OXID is its own claim there,
    /// and connections may end although their processes live.
    pub(crate) fn has_process_ended(&self) -> Option<bool> {
        self.is_private().then(|| self.pidfd.as_ref().is_none_or(has_ended))
    }

    /// Returns the bindings by which this process has reached the peer. Unlike [`Self::bindings`],
    /// the result has no bindings that the peer has sent.
    pub(crate) fn ways(&self) -> Vec<StringBinding> {
        lock(&self.process.ways).clone()
    }

    pub(super) fn note_way(&self) {
        let own = self.binding();
        let mut ways = lock(&self.process.ways);
        if !ways.contains(&own) {
            ways.push(own);
        }
    }
}
