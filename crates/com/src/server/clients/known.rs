//! A client of this process: its verified properties and the sources of its connections.

use super::{Arrival, GroupClient};
use crate::protocol::place::{Fit, Origin, Place};
use crate::types::hosts::SourceGroup;
use crate::types::processes::watch_living;
use obvia_rpc::co::Group;
use obvia_rpc::security::Principal;
use obvia_rpc::vi_call::TargetId;
use obvia_via::window::Peer;
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The greatest number of sources in `Known::further`. The oldest source is removed first.
pub(super) const FURTHER_MAX: usize = 8;

/// A client: its verified properties and the number of its connections.
pub(super) struct Known {
    pub(super) oxid: u64,
    pub(super) mark: MarkNumber,
    /// The source of the first connection.
    first: Source,
    /// The sources of later connections with other origins, which have proved the client's mark.
    /// The newest is last.
    further: VecDeque<Source>,
    sources: SourceGroup,
    /// The principal that has proved to own the process, if any.
    pub(super) owner: Option<Arc<Principal>>,
    /// The group of the client's associations, where the client has not introduced itself. The
    /// group is kept so that a returning client can join it.
    pub(super) group: Option<Arc<Group<GroupClient>>>,
    /// The number of all connections.
    pub(super) count: usize,
    /// The number of admitted connections. A connection is not admitted while its principal has not
    /// proved to own the process, or if the process belongs to another principal.
    pub(super) admitted: usize,
    /// The references in refused calls, which this process gives back once it has a link to the
    /// client.
    pub(super) to_return: Vec<(TargetId, u32)>,
    /// The time at which the client was last given references. References in responses do not
    /// count.
    pub(super) given: Option<Instant>,
    // Invariant: `None` while a connection is admitted. If `Some`, `Register::lost` has the client
    // under `Lost::since`.
    pub(super) lost: Option<Lost>,
}

/// A source of connections of a client.
pub(super) struct Source {
    origin: Origin,
    /// The id of the process that is the origin, if it has an id in this PID namespace; otherwise
    /// 0.
    pid: u32,
    /// The host name by which connections from this source reach this process.
    local: Option<String>,
}

/// The number from which a client's mark and the mark's key are computed. When the state of a
/// client ends, its remaining connections get another number. If a principal proves later to own
/// the process, its mark is then not known to the former owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MarkNumber(pub(super) u64);

/// The loss of a client.
pub(super) struct Lost {
    /// The time from which the client's patience counts: the time of the loss, or the time at which
    /// a process of this host was last given references.
    pub(super) since: Instant,
    /// The descriptor of the client's process, if the process runs on this host. The end of the
    /// process ends the client. `None` also if this process could not open the descriptor.
    pub(super) process: Option<OwnedFd>,
}

impl Source {
    /// Returns the source of a connection.
    pub(super) fn of(arrival: &Arrival<'_>) -> Self {
        let pid = if let Peer::Process { pid, .. } = arrival.peer { *pid } else { 0 };
        Self { origin: Origin::of(arrival.peer), pid, local: arrival.local.map(str::to_owned) }
    }
}

impl Known {
    /// Returns a client without connections.
    pub(super) fn new(oxid: u64, mark: MarkNumber, sources: SourceGroup, first: Source) -> Self {
        let (further, to_return, owner, group) = Default::default();
        let (count, admitted, given, lost) = (0, 0, None, None);
        Self { oxid, mark, first, further, sources, owner, group, count, admitted, to_return, given, lost }
    }

    fn sources(&self) -> impl DoubleEndedIterator<Item = &Source> {
        [&self.first].into_iter().chain(&self.further)
    }

    /// Whether the kernel vouches for the process: it has connected through shared memory.
    pub(super) fn is_process(&self) -> bool {
        self.sources().any(|source| matches!(source.origin, Origin::Process(_)))
    }

    /// Returns the value with which this client becomes lost, if it is a living process of this
    /// host that was given references less than `patience` ago.
    pub(super) fn given_lately(&self, now: Instant, patience: Duration) -> Option<Lost> {
        let given = self.given.filter(|given| now.saturating_duration_since(*given) < patience)?;
        let process = self.sources().rev().find_map(|source| match source.origin {
            Origin::Process(serial) => watch_living(source.pid, serial).transpose(),
            Origin::Host(_) => None,
        });
        Some(Lost { since: given, process: process?.ok() })
    }

    /// Whether the client has an admitted connection, or is lost.
    pub(super) fn has_entered(&self) -> bool {
        self.admitted > 0 || self.lost.is_some()
    }

    /// Returns the group of the first connection's source.
    pub(super) fn source_group(&self) -> &SourceGroup {
        &self.sources
    }

    /// Returns the host name by which the client reaches this process, if known.
    pub(super) fn local(&self) -> Option<&str> {
        self.sources().rev().find_map(|source| source.local.as_deref())
    }

    /// Counts an admitted connection. Returns whether the place of the client has changed.
    pub(super) fn open(&mut self, new: Source) -> bool {
        self.admitted += 1;
        let known = if self.first.origin == new.origin {
            Some(&mut self.first)
        } else {
            self.further.iter_mut().find(|source| source.origin == new.origin)
        };
        if let Some(source) = known {
            let has_moved = new.local.is_some() && source.local != new.local;
            if has_moved {
                source.local = new.local;
            }
            return has_moved;
        }
        if self.further.len() >= FURTHER_MAX {
            self.further.pop_front();
        }
        self.further.push_back(new);
        true
    }

    /// Ends the state of the client. `mark` is the new mark of its connections that are not
    /// admitted. Returns the former value of `lost`.
    pub(super) fn end(&mut self, mark: MarkNumber) -> Option<Lost> {
        self.mark = mark;
        self.owner = None;
        self.further.clear();
        self.to_return.clear();
        self.given = None;
        self.lost.take()
    }

    /// Whether a connection with this origin belongs to the client even if the connection does not
    /// prove the mark. There are two cases: the client's first connection has the same origin, or
    /// the origin is a process of this host that has proved the mark on an earlier connection. The
    /// kernel identifies such a process.
    pub(super) fn needs_no_proof(&self, origin: &Origin) -> bool {
        let is_process = matches!(origin, Origin::Process(_));
        self.first.origin == *origin || is_process && self.further.iter().any(|source| source.origin == *origin)
    }

    /// Returns the place of the client.
    pub(super) fn place(&self) -> Place {
        Place::of(self.sources().map(|source| (&source.origin, source.local.as_deref())))
    }

    /// Returns how well the client fits a place, if it does: see [`Place::fit`].
    pub(super) fn fit(&self, place: &Place) -> Option<Fit> {
        self.sources().filter_map(|source| place.fit(&source.origin, source.local.as_deref())).min()
    }
}
