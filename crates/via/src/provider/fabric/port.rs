//! Ports: descriptors become operations of an endpoint, whose completions complete the descriptors.

mod connection;
mod sending;

use super::NicState;
use super::contexts::{Contexts, PostedOperation};
use super::endpoint::{Endpoint, PIECES_MAX, Piece, Work};
use super::endpoint_pair::EndpointHandle;
use super::ffi::{self, Done, Iovec};
use super::registration::{TagDomain, piece_descriptor};
use super::side_channel::SideChannel;
use crate::Error;
use crate::descriptor::{Descriptor, Operation, Status};
use crate::error::Ended;
use crate::spi::{Port, Sink, Sleep};
use connection::FIRST_QUESTION_AFTER;
use rustix::event::epoll;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use sending::{Sending, refusal};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The maximum number of completions taken in one call.
const COMPLETIONS_MAX: usize = 64;
/// The interval between checks of the connection itself while no completion arrives.
const CHECK_INTERVAL: Duration = Duration::from_millis(1);
/// The minimum length of a sleep where no file announces completions, or while an operation waits
/// for room. Between the minimum and the maximum, a sleep is as long as the time since the last
/// completion.
const NAP_MIN: Duration = Duration::from_micros(50);
/// The maximum length of a sleep where no file announces completions, or while an operation waits
/// for room.
const NAP_MAX: Duration = Duration::from_millis(2);

/// The outcome of a receive.
#[derive(Clone, Copy, Debug)]
struct Received {
    length: u64,
    data: Option<u64>,
    error: u32,
    is_written: bool,
}

/// The state of the probe receive, which detects messages for which the user has posted no receive
/// descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProbeReceive {
    Off,
    Posted,
    /// A message arrived in the probe receive.
    Hit,
}

/// One end of a connection.
#[derive(Debug)]
pub(super) struct FabricPort {
    // Invariant: the endpoint is closed before the contexts are dropped, and before a descriptor
    // completes whose operation has not ended.
    endpoint: EndpointHandle,
    is_open: bool,
    contexts: Contexts,
    nic: Arc<NicState>,
    side_channel: SideChannel,
    tag: Arc<TagDomain>,
    peer: String,
    readiness: Option<Arc<OwnedFd>>,
    has_bell: bool,
    depth: usize,
    receives: VecDeque<Option<Received>>,
    receives_done: u64,
    sends: VecDeque<Sending>,
    sends_done: u64,
    // The data that announce the newest send to the peer. `None` unless that send is an RDMA write
    // with immediate data whose announcement has not been sent yet.
    notice: Option<u64>,
    writes: usize,
    // The number of a send whose memory handle is invalid. No later send is begun.
    refused: Option<u64>,
    probe: ProbeReceive,
    // Whether the endpoint lacked room for an operation when this side last posted operations.
    is_stalled: bool,
    is_lost: bool,
    checked: Instant,
    busy: Instant,
    // The number of the oldest send, the time at which this send became the oldest, and the time
    // after which the peer is asked whether the RDMA is allowed.
    oldest: (u64, Instant, Duration),
    // The time of the last request for a sign of life.
    asked: Instant,
    // Whether the last request for a sign of life is unanswered.
    waiting: bool,
}

impl FabricPort {
    /// Makes a port of an endpoint whose peer is set or connected.
    pub(super) fn new(
        nic: &Arc<NicState>,
        endpoint: EndpointHandle,
        side_channel: SideChannel,
        tag: Arc<TagDomain>,
        peer: String,
    ) -> Result<Self, Error> {
        let files = endpoint.with(|endpoint| {
            let events = endpoint.events.as_ref().map(|events| events.file()).transpose()?.flatten();
            Ok::<_, Error>((endpoint.completions.file()?, events))
        });
        let (bell, events) = files.transpose()?.unwrap_or_default();
        let has_bell = bell.is_some();
        let readiness = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(Error::system("making an event poll"))?;
        let watch = |file: &OwnedFd| {
            epoll::add(&readiness, file, epoll::EventData::new_u64(0), epoll::EventFlags::IN)
                .map_err(Error::system("watching a connection"))
        };
        for file in [bell.as_ref(), events.as_ref(), side_channel.file()].into_iter().flatten() {
            watch(file)?;
        }
        // The endpoint returned duplicates of its files. They may be closed now, because epoll goes
        // on watching the open files, which the endpoint keeps open.
        let depth = nic.attributes.queue_depth;
        let now = Instant::now();
        Ok(Self {
            endpoint,
            is_open: true,
            contexts: Contexts::new(depth as u64, ffi::ob_context_size),
            nic: Arc::clone(nic),
            side_channel,
            tag,
            peer,
            readiness: Some(Arc::new(readiness)),
            has_bell,
            depth,
            receives: VecDeque::with_capacity(depth),
            receives_done: 0,
            sends: VecDeque::with_capacity(depth),
            sends_done: 0,
            notice: None,
            writes: 0,
            refused: None,
            probe: ProbeReceive::Off,
            is_stalled: false,
            is_lost: false,
            checked: now,
            busy: now,
            oldest: (0, now, FIRST_QUESTION_AFTER),
            asked: now,
            waiting: false,
        })
    }

    /// Posts to the endpoint those receive descriptors that the endpoint does not have yet.
    fn post_receives(&mut self, sink: &mut dyn Sink) {
        if sink.receiving(self.receives.len()).is_some() && !self.cancel_probe() {
            return;
        }
        while self.is_open
            && self.receives.len() < self.depth
            && let Some(descriptor) = sink.receiving(self.receives.len())
        {
            let (mut pieces, count) = pieces(descriptor);
            pieces[count] = self.tag.overflow();
            let number = self.receives_done + self.receives.len() as u64;
            let context = self.contexts.context_of(PostedOperation::Receive(number));
            // SAFETY: the segments were checked when the descriptor was posted. The descriptor
            // stays in its queue, and keeps the memory of its regions, until the operation is
            // complete or the endpoint is closed (invariant). The contexts and the overflow outlive
            // the endpoint.
            let post =
                |endpoint: &mut Endpoint| unsafe { endpoint.post(Work::Receive, &pieces[..=count], false, context) };
            match self.endpoint.with(post).unwrap_or_else(gone) {
                Ok(true) => self.receives.push_back(None),
                Ok(false) => {
                    self.is_stalled = true;
                    return;
                }
                Err(_) => {
                    self.is_lost = true;
                    return;
                }
            }
        }
        self.post_probe();
    }

    /// Posts the probe receive if the user has posted no receive descriptor, so that a message
    /// without a descriptor is detected. Without any receive, libfabric would keep such a message,
    /// and its sender would never learn of the fault.
    fn post_probe(&mut self) {
        if !self.nic.has_probe_receive
            || !self.is_open
            || self.is_lost
            || self.probe != ProbeReceive::Off
            || !self.receives.is_empty()
        {
            return;
        }
        let (piece, context) = (self.tag.overflow(), self.contexts.context_of(PostedOperation::Probe));
        // SAFETY: the overflow and the contexts outlive the endpoint (invariant).
        let post = |endpoint: &mut Endpoint| unsafe { endpoint.post(Work::Receive, &[piece], false, context) };
        match self.endpoint.with(post).unwrap_or_else(gone) {
            Ok(true) => self.probe = ProbeReceive::Posted,
            Ok(false) => self.is_stalled = true,
            Err(_) => self.is_lost = true,
        }
    }

    /// Cancels the probe receive before a receive descriptor is posted. Returns `false` if a
    /// message has arrived in the probe receive.
    fn cancel_probe(&mut self) -> bool {
        if self.probe == ProbeReceive::Posted {
            let context = self.contexts.context_of(PostedOperation::Probe);
            self.endpoint.with(|endpoint| endpoint.cancel(context));
            while self.probe == ProbeReceive::Posted && self.take(COMPLETIONS_MAX) > 0 {}
        }
        self.probe == ProbeReceive::Off
    }

    /// Takes at most `most` completions from the endpoint. Returns the number taken.
    fn take(&mut self, most: usize) -> usize {
        for taken in 0..most {
            match self.endpoint.next() {
                Some(Ok(Some(done))) => self.record(&done),
                Some(Ok(None)) => return taken,
                Some(Err(_)) | None => {
                    self.is_lost = true;
                    return taken;
                }
            }
        }
        most
    }

    fn record(&mut self, done: &Done) {
        let error = if done.is_error != 0 { done.error.max(1) } else { 0 };
        let data = (done.has_data != 0).then_some(done.data);
        let operation = self.contexts.operation_of(done.context, self.receives_done, self.sends_done);
        if done.is_remote_write != 0 && (self.nic.capabilities.consumes == 0 || operation.is_none()) {
            if let Some(data) = data {
                self.side_channel.take_data(data);
            }
            return;
        }
        match operation {
            Some(PostedOperation::Receive(number)) => {
                let at = (number - self.receives_done) as usize;
                if let Some(receive) = self.receives.get_mut(at) {
                    let is_written = done.is_remote_write != 0;
                    *receive = Some(Received { length: done.length, data, error, is_written });
                }
            }
            Some(PostedOperation::Send(number) | PostedOperation::Notice(number)) => {
                if let Some(send) = self.sends.get_mut((number - self.sends_done) as usize) {
                    send.left = send.left.saturating_sub(1);
                    send.error = if send.error == 0 { error } else { send.error };
                    if send.operation == Operation::RdmaWrite && matches!(operation, Some(PostedOperation::Send(_))) {
                        self.writes = self.writes.saturating_sub(1);
                    }
                }
            }
            Some(PostedOperation::Control) => self.waiting = false,
            Some(PostedOperation::Probe) => {
                let canceled = Errno::CANCELED.raw_os_error().unsigned_abs();
                self.probe = if error == canceled { ProbeReceive::Off } else { ProbeReceive::Hit };
                // A truncated message was longer than the overflow, but still counts as a message.
                // Any other error ends the connection.
                self.is_lost |= error != 0 && error != canceled && error != ffi::ob_error_truncated;
            }
            None => self.is_lost |= error != 0,
        }
    }

    /// Completes the finished descriptors, in order.
    fn deliver(&mut self, sink: &mut dyn Sink) {
        while let Some(send) = self.sends.front().copied().filter(|send| send.left == 0 || send.error != 0) {
            if send.error != 0 {
                match refusal(send) {
                    Some((status, why)) => return self.end(sink, status, why, why != Ended::Silent),
                    None => self.is_lost = true,
                }
                break;
            }
            self.sends.pop_front();
            self.sends_done += 1;
            sink.complete(Status::Done, send.length);
        }
        while let Some(Some(received)) = self.receives.front().copied() {
            if received.error == ffi::ob_error_truncated {
                let _ = sink.begin_message(u32::MAX);
                return self.end(sink, Status::ConnectionLost, Ended::TooLong, true);
            }
            if received.error != 0 {
                self.is_lost = true;
                return;
            }
            let room = sink.receiving(0).map_or(0, Descriptor::total);
            if !received.is_written && received.length > room {
                let _ = sink.begin_message(u32::try_from(received.length).unwrap_or(u32::MAX));
                return self.end(sink, Status::ConnectionLost, Ended::TooLong, true);
            }
            let Some((operation, length)) = self.received_operation(received) else {
                return self.end(sink, Status::ConnectionLost, Ended::Violation, true);
            };
            self.receives.pop_front();
            self.receives_done += 1;
            let immediate = received.data.map(|data| data as u32);
            if sink.complete_receive(operation, length, immediate).is_err() {
                return self.end(sink, Status::ConnectionLost, Ended::ReceiverNotReady, true);
            }
        }
        if self.probe == ProbeReceive::Hit && self.receives.is_empty() && !self.is_lost {
            self.end(sink, Status::ConnectionLost, Ended::ReceiverNotReady, true);
        }
    }

    /// Returns the operation that consumed a receive, and the length of the operation's data.
    /// Returns `None` if the peer's claims are invalid, such as a length over the agreed maximum.
    fn received_operation(&self, received: Received) -> Option<(Operation, u32)> {
        let announced = received.data.map_or(0, |data| data >> 32);
        if announced > 0 && self.nic.capabilities.data_bytes >= 8 {
            let length = u32::try_from(announced - 1).ok()?;
            return (received.length == 0 && length <= self.nic.attributes.max_transfer)
                .then_some((Operation::RdmaWrite, length));
        }
        let operation = if received.is_written { Operation::RdmaWrite } else { Operation::Receive };
        Some((operation, u32::try_from(received.length).ok()?))
    }
}

/// Makes the error for an endpoint that was closed together with the endpoint of its peer, which is
/// in this process.
fn gone() -> Result<bool, Error> {
    Err(Error::BadState { what: "the endpoint is closed" })
}

/// Returns the memory of a descriptor, without empty segments.
fn pieces(descriptor: &Descriptor) -> ([Piece; PIECES_MAX], usize) {
    let none = (Iovec { start: std::ptr::null_mut(), length: 0 }, std::ptr::null_mut());
    let (mut pieces, mut count) = ([none; PIECES_MAX], 0);
    for segment in descriptor.segments().iter().filter(|segment| segment.length > 0).take(PIECES_MAX - 1) {
        // The offset is in bounds, as was checked when the descriptor was posted.
        let start = segment.region().memory().start().as_ptr().wrapping_add(segment.offset as usize);
        let iovec = Iovec { start: start.cast(), length: segment.length as usize };
        pieces[count] = (iovec, piece_descriptor(segment.region()));
        count += 1;
    }
    (pieces, count)
}

impl Port for FabricPort {
    fn receive_posted(&mut self, sink: &mut dyn Sink) {
        self.post_receives(sink);
    }

    fn progress(&mut self, now: Instant, sink: &mut dyn Sink) {
        if !self.is_open {
            return;
        }
        self.is_stalled = false;
        self.post_receives(sink);
        self.post_sends(sink);
        let taken = self.take(COMPLETIONS_MAX);
        if taken > 0 || self.probe == ProbeReceive::Hit || self.sends.front().is_some_and(|send| send.left == 0) {
            self.busy = now;
            self.deliver(sink);
            self.post_receives(sink);
            self.post_sends(sink);
        }
        let is_due = self.is_lost || self.side_channel.end_reason().is_some() || self.refused == Some(self.sends_done);
        if is_due || now.saturating_duration_since(self.checked) >= CHECK_INTERVAL {
            self.check_connection(now, sink);
        }
    }

    fn prepare_sleep(&mut self, now: Instant) -> Option<Sleep> {
        if !self.is_open {
            return Some(Sleep { fd: None, until: None });
        }
        if self.is_lost || self.side_channel.end_reason().is_some() {
            return None;
        }
        let may_sleep = |endpoint: &mut Endpoint| endpoint.completions.may_sleep(endpoint.events.as_ref());
        if self.has_bell && !self.endpoint.with(may_sleep).unwrap_or_default() {
            return None;
        }
        let fd = self.readiness.clone();
        // Without a file that announces completions, or while an operation waits for room, only a
        // call of the port makes progress.
        if !self.has_bell || self.is_stalled {
            let nap = now.saturating_duration_since(self.busy).clamp(NAP_MIN, NAP_MAX);
            return Some(Sleep { fd, until: Some(now + nap) });
        }
        Some(Sleep { fd, until: Some(now + self.nic.options.silence / 4) })
    }

    fn end_sleep(&mut self) {
        // The event that woke the thread may concern the connection, so the next `progress` has to
        // check the connection.
        self.checked = self.checked.checked_sub(CHECK_INTERVAL).unwrap_or(self.checked);
    }

    fn readiness(&self) -> Option<Arc<OwnedFd>> {
        self.readiness.clone().filter(|_| self.has_bell)
    }

    fn disconnect(&mut self) {
        self.close(Some(Ended::ByPeer));
    }

    fn peer(&self) -> String {
        self.peer.clone()
    }

    fn local(&self) -> Option<String> {
        self.endpoint.with(|endpoint| endpoint.local()).flatten().or_else(|| self.side_channel.local())
    }
}

impl Drop for FabricPort {
    fn drop(&mut self) {
        self.close(Some(Ended::ByPeer));
    }
}
