//! The send queue of a port: the operations that the endpoint performs, and the descriptors that
//! wait for room in the endpoint.

use super::super::contexts::PostedOperation;
use super::super::endpoint::{Endpoint, RemoteRange, Work};
use super::super::ffi;
use super::super::handle;
use super::{FabricPort, gone, pieces};
use crate::RemoteAddress;
use crate::descriptor::{Descriptor, Operation, Status};
use crate::error::Ended;
use crate::spi::{Refusal, Sink};
use rustix::io::Errno;

/// A send or an RDMA that was posted to the endpoint and is not complete.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sending {
    pub(super) operation: Operation,
    pub(super) length: u32,
    // The number of outstanding completions: one for the operation and, if the operation is
    // announced to the peer, one for the announcement.
    pub(super) left: u8,
    pub(super) error: u32,
}

impl FabricPort {
    /// Posts sends to the endpoint, as many as the endpoint has room for.
    pub(super) fn post_sends(&mut self, sink: &mut dyn Sink) {
        while self.announce() && self.sends.len() < self.depth {
            let number = self.sends_done + self.sends.len() as u64;
            let Some(descriptor) = sink.sending(number) else { return };
            if descriptor.operation() == Operation::Send && self.must_wait_for_writes() {
                return;
            }
            if self.refused.is_some() || !self.post_send(number, descriptor) {
                return;
            }
        }
    }

    /// Whether a message has to wait, because RDMA writes are running and the provider could
    /// deliver the message before them.
    fn must_wait_for_writes(&self) -> bool {
        self.writes > 0 && self.nic.capabilities.send_after_write == 0
    }

    fn post_send(&mut self, number: u64, descriptor: &Descriptor) -> bool {
        let (pieces, count) = pieces(descriptor);
        let length = descriptor.total();
        let immediate = descriptor.immediate().map(u64::from);
        let native = self.nic.capabilities.consumes != 0;
        let operation = descriptor.operation();
        if let Some(remote) = descriptor.remote()
            && !self.may_be_allowed(remote, length, operation)
        {
            self.refused = Some(number);
            return false;
        }
        let (work, notice) = match (operation, descriptor.remote()) {
            (Operation::RdmaWrite, Some(to)) => {
                let to = self.remote_range(to, length);
                let data = immediate.filter(|_| native);
                let announced = if self.nic.capabilities.data_bytes >= 8 { (length + 1) << 32 } else { 0 };
                let notice = immediate.filter(|_| !native).map(|immediate| immediate | announced);
                (Work::Write { to, data }, notice)
            }
            (Operation::RdmaRead, Some(from)) => (Work::Read { from: self.remote_range(from, length) }, None),
            _ => (Work::Send { data: immediate }, None),
        };
        // An RDMA read of no bytes is complete at once. With shm of libfabric 1.17, its completion
        // would never arrive.
        if length == 0 && operation == Operation::RdmaRead {
            self.sends.push_back(Sending { operation, length: 0, left: 0, error: 0 });
            return true;
        }
        let delivered = operation == Operation::RdmaWrite && length > 0 && self.nic.delivers;
        let context = self.contexts.context_of(PostedOperation::Send(number));
        // SAFETY: as in `post_receives`.
        let post = |endpoint: &mut Endpoint| unsafe { endpoint.post(work, &pieces[..count], delivered, context) };
        match self.endpoint.with(post).unwrap_or_else(gone) {
            Ok(true) => {
                self.writes += usize::from(operation == Operation::RdmaWrite);
                let left = 1 + u8::from(notice.is_some());
                self.sends.push_back(Sending { operation, length: length as u32, left, error: 0 });
                self.notice = notice;
                true
            }
            Ok(false) => {
                self.is_stalled = true;
                false
            }
            Err(_) => {
                self.is_lost = true;
                false
            }
        }
    }

    /// Returns the target of an RDMA.
    fn remote_range(&self, remote: RemoteAddress, length: u64) -> RemoteRange {
        let base = if self.nic.capabilities.virtual_address != 0 { handle::base(remote.handle) } else { 0 };
        RemoteRange { address: base.wrapping_add(remote.offset), length, key: remote.handle.0[0] }
    }

    /// Whether the handle is valid, and its contents do not rule out the RDMA. The peer checks
    /// every RDMA itself. This side checks, too, because some providers close the connection after
    /// the peer's refusal without reporting the reason.
    fn may_be_allowed(&self, remote: RemoteAddress, length: u64, operation: Operation) -> bool {
        let is_addressed = self.nic.capabilities.virtual_address != 0;
        handle::is_whole(remote.handle)
            && (is_addressed || handle::allows(remote.handle, remote.offset, length, operation == Operation::RdmaRead))
    }

    /// Announces the newest RDMA write to the peer, if it has immediate data and has not been
    /// announced. Returns `false` if the announcement is not possible now.
    fn announce(&mut self) -> bool {
        let Some(data) = self.notice else { return true };
        // A connection breaks when the peer refuses a write, so an announcement that follows a
        // refused write never arrives. A connectionless endpoint survives the refusal, so there the
        // announcement has to wait until the write is complete.
        if self.must_wait_for_writes() || (self.writes > 0 && !self.nic.is_msg()) {
            return false;
        }
        let number = self.sends_done + self.sends.len() as u64 - 1;
        let context = self.contexts.context_of(PostedOperation::Notice(number));
        // SAFETY: the operation has no memory, and the contexts live longer than the endpoint
        // (invariant).
        let post =
            |endpoint: &mut Endpoint| unsafe { endpoint.post(Work::Send { data: Some(data) }, &[], false, context) };
        match self.endpoint.with(post).unwrap_or_else(gone) {
            Ok(true) => self.notice = None,
            Ok(false) => {
                self.is_stalled = true;
                return false;
            }
            Err(_) => {
                self.is_lost = true;
                return false;
            }
        }
        true
    }
}

/// Returns the status of the oldest send and the reason for the end of the connection, by the
/// send's error. `None` when the error only says that the connection is over.
pub(super) fn refusal(send: Sending) -> Option<(Status, Ended)> {
    const OVER: [Errno; 9] = [
        Errno::CANCELED,
        Errno::SHUTDOWN,
        Errno::CONNRESET,
        Errno::CONNABORTED,
        Errno::NOTCONN,
        Errno::PIPE,
        Errno::TIMEDOUT,
        Errno::HOSTUNREACH,
        Errno::HOSTDOWN,
    ];
    if send.error == ffi::ob_error_truncated {
        return Some((Status::TooLong, Ended::TooLong));
    }
    let is_over = OVER.iter().any(|errno| errno.raw_os_error().unsigned_abs() == send.error);
    let is_rdma = matches!(send.operation, Operation::RdmaRead | Operation::RdmaWrite);
    (is_rdma && !is_over).then_some((Refusal::Protection.status(), Ended::Protection))
}
