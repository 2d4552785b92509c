//! Ports: descriptors become operations of an endpoint, whose completions complete the descriptors.

mod sending;
mod standing;

use super::NicState;
use super::endpoint::{Endpoint, PIECES_MAX, Piece, Work};
use super::ffi::{self, Done, Iovec};
use super::notes::{Notes, Slot};
use super::registration::{TagDomain, piece_descriptor};
use super::seat::Seat;
use super::voice::Voice;
use crate::Error;
use crate::descriptor::{Descriptor, Operation, Status};
use crate::error::Ended;
use crate::spi::{Port, Sink, Sleep};
use rustix::event::epoll;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use sending::{Sending, refusal};
use standing::DOUBT;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The maximum number of completions taken in one call.
const TURN: usize = 64;
/// The interval between checks of the connection itself while no completion arrives.
const LOOK: Duration = Duration::from_millis(1);
/// The bounds of a sleep where no file wakes the thread. Between them, a sleep is as long as the
/// time since the last completion.
const NAP_MIN: Duration = Duration::from_micros(50);
const NAP_MAX: Duration = Duration::from_millis(2);

/// The outcome of a receive.
#[derive(Clone, Copy, Debug)]
struct Received {
    length: u64,
    data: Option<u64>,
    error: u32,
    is_written: bool,
}

/// The state of the guard receive, which detects messages for which the user has posted no receive
/// descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guard {
    Off,
    Stands,
    /// A message arrived in the guard receive.
    Hit,
}

/// One end of a connection.
#[derive(Debug)]
pub(super) struct FabricPort {
    // Invariant: the endpoint is closed before the notes are dropped, and before a descriptor
    // completes whose operation has not ended.
    seat: Seat,
    is_open: bool,
    notes: Notes,
    nic: Arc<NicState>,
    voice: Voice,
    tag: Arc<TagDomain>,
    peer: String,
    ears: Option<Arc<OwnedFd>>,
    has_bell: bool,
    depth: usize,
    receives: VecDeque<Option<Received>>,
    receives_done: u64,
    sends: VecDeque<Sending>,
    sends_done: u64,
    // The data that announce the newest send to the peer, if that send is an RDMA write with
    // immediate data and its announcement has not been sent yet.
    notice: Option<u64>,
    writes: usize,
    // The number of a send whose memory handle is invalid. No later send is begun.
    refused: Option<u64>,
    guard: Guard,
    // Whether the endpoint lacked room for an operation.
    is_stalled: bool,
    is_lost: bool,
    looked: Instant,
    busy: Instant,
    // The number of the oldest send, the time at which it became the oldest, and the time that it
    // may take before the peer is asked whether the RDMA is allowed.
    oldest: (u64, Instant, Duration),
    // The time of the last request for a sign of life, and whether that request is unanswered.
    asked: Instant,
    waiting: bool,
}

impl FabricPort {
    /// Takes over an endpoint whose peer is set or connected.
    pub(super) fn new(
        nic: &Arc<NicState>,
        seat: Seat,
        voice: Voice,
        tag: Arc<TagDomain>,
        peer: String,
    ) -> Result<Self, Error> {
        let files = seat.with(|endpoint| {
            let events = endpoint.events.as_ref().map(|events| events.file()).transpose()?.flatten();
            Ok::<_, Error>((endpoint.completions.file()?, events))
        });
        let (bell, events) = files.transpose()?.unwrap_or_default();
        let has_bell = bell.is_some();
        let ears = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(Error::system("making an event poll"))?;
        let hear = |file: &OwnedFd| {
            epoll::add(&ears, file, epoll::EventData::new_u64(0), epoll::EventFlags::IN)
                .map_err(Error::system("watching a connection"))
        };
        for file in [bell.as_ref(), events.as_ref(), voice.file()].into_iter().flatten() {
            hear(file)?;
        }
        // The returned files are duplicates of the endpoint's, and may be closed now: epoll goes on
        // watching the open files of the endpoint.
        let depth = nic.attributes.queue_depth;
        let now = Instant::now();
        Ok(Self {
            seat,
            is_open: true,
            notes: Notes::new(depth as u64, ffi::ob_context_size),
            nic: Arc::clone(nic),
            voice,
            tag,
            peer,
            ears: Some(Arc::new(ears)),
            has_bell,
            depth,
            receives: VecDeque::with_capacity(depth),
            receives_done: 0,
            sends: VecDeque::with_capacity(depth),
            sends_done: 0,
            notice: None,
            writes: 0,
            refused: None,
            guard: Guard::Off,
            is_stalled: false,
            is_lost: false,
            looked: now,
            busy: now,
            oldest: (0, now, DOUBT),
            asked: now,
            waiting: false,
        })
    }

    /// Posts to the endpoint those receive descriptors that it does not have yet.
    fn post_receives(&mut self, sink: &mut dyn Sink) {
        if sink.receiving(self.receives.len()).is_some() && !self.stand_down() {
            return;
        }
        while self.is_open
            && self.receives.len() < self.depth
            && let Some(descriptor) = sink.receiving(self.receives.len())
        {
            let (mut pieces, count) = pieces(descriptor);
            pieces[count] = self.tag.overflow();
            let number = self.receives_done + self.receives.len() as u64;
            let place = self.notes.place(Slot::Receive(number));
            // SAFETY: the segments were checked when the descriptor was posted; it stays in its
            // queue, and keeps its regions' memory, until it is completed here or the endpoint is
            // gone (invariant), as do the notes and the overflow.
            let ask = |endpoint: &mut Endpoint| unsafe { endpoint.ask(Work::Receive, &pieces[..=count], false, place) };
            match self.seat.with(ask).unwrap_or_else(gone) {
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
        self.stand_guard();
    }

    /// Posts the guard receive if the user has posted no receive descriptor, so that a message
    /// without a descriptor is detected. Without any receive, libfabric would keep such a message,
    /// and its sender would never learn of the fault.
    fn stand_guard(&mut self) {
        if !self.nic.guards || !self.is_open || self.is_lost || self.guard != Guard::Off || !self.receives.is_empty() {
            return;
        }
        let (piece, place) = (self.tag.overflow(), self.notes.place(Slot::Guard));
        // SAFETY: the overflow and the notes live longer than the endpoint (invariant).
        let ask = |endpoint: &mut Endpoint| unsafe { endpoint.ask(Work::Receive, &[piece], false, place) };
        match self.seat.with(ask).unwrap_or_else(gone) {
            Ok(true) => self.guard = Guard::Stands,
            Ok(false) => self.is_stalled = true,
            Err(_) => self.is_lost = true,
        }
    }

    /// Cancels the guard receive before a receive descriptor is posted. Returns `false` if a
    /// message has arrived in the guard receive.
    fn stand_down(&mut self) -> bool {
        if self.guard == Guard::Stands {
            let place = self.notes.place(Slot::Guard);
            self.seat.with(|endpoint| endpoint.cancel(place));
            while self.guard == Guard::Stands && self.take(TURN) > 0 {}
        }
        self.guard == Guard::Off
    }

    /// Takes completions. Returns their number.
    fn take(&mut self, most: usize) -> usize {
        for taken in 0..most {
            match self.seat.next() {
                Some(Ok(Some(done))) => self.note(&done),
                Some(Ok(None)) => return taken,
                Some(Err(_)) | None => {
                    self.is_lost = true;
                    return taken;
                }
            }
        }
        most
    }

    fn note(&mut self, done: &Done) {
        let error = if done.is_error != 0 { done.error.max(1) } else { 0 };
        let data = (done.has_data != 0).then_some(done.data);
        let slot = self.notes.slot(done.context, self.receives_done, self.sends_done);
        if done.is_remote_write != 0 && (self.nic.capabilities.consumes == 0 || slot.is_none()) {
            if let Some(data) = data {
                self.voice.hear(data);
            }
            return;
        }
        match slot {
            Some(Slot::Receive(number)) => {
                let at = (number - self.receives_done) as usize;
                if let Some(receive) = self.receives.get_mut(at) {
                    let is_written = done.is_remote_write != 0;
                    *receive = Some(Received { length: done.length, data, error, is_written });
                }
            }
            Some(Slot::Send(number) | Slot::Notice(number)) => {
                if let Some(send) = self.sends.get_mut((number - self.sends_done) as usize) {
                    send.left = send.left.saturating_sub(1);
                    send.error = if send.error == 0 { error } else { send.error };
                    if send.operation == Operation::RdmaWrite && matches!(slot, Some(Slot::Send(_))) {
                        self.writes = self.writes.saturating_sub(1);
                    }
                }
            }
            Some(Slot::Control) => self.waiting = false,
            Some(Slot::Guard) => {
                let canceled = Errno::CANCELED.raw_os_error().unsigned_abs();
                self.guard = if error == canceled { Guard::Off } else { Guard::Hit };
                // A truncated message was even longer than the overflow, but is a message. Any
                // other error ends the connection.
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
            let Some((operation, length)) = self.what_came(received) else {
                return self.end(sink, Status::ConnectionLost, Ended::Violation, true);
            };
            self.receives.pop_front();
            self.receives_done += 1;
            let immediate = received.data.map(|data| data as u32);
            if sink.complete_receive(operation, length, immediate).is_err() {
                return self.end(sink, Status::ConnectionLost, Ended::ReceiverNotReady, true);
            }
        }
        if self.guard == Guard::Hit && self.receives.is_empty() && !self.is_lost {
            self.end(sink, Status::ConnectionLost, Ended::ReceiverNotReady, true);
        }
    }

    /// Returns the operation that consumed a receive, and its length. Returns `None` if the peer's
    /// claims are invalid, such as a length over the agreed maximum.
    fn what_came(&self, received: Received) -> Option<(Operation, u32)> {
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

/// Makes the error for an endpoint that the port of its peer, in this process, has closed together
/// with the peer's own endpoint.
fn gone() -> Result<bool, Error> {
    Err(Error::BadState { what: "the endpoint is closed" })
}

/// Returns the memory of a descriptor, without empty segments.
fn pieces(descriptor: &Descriptor) -> ([Piece; PIECES_MAX], usize) {
    let none = (Iovec { start: std::ptr::null_mut(), length: 0 }, std::ptr::null_mut());
    let (mut pieces, mut count) = ([none; PIECES_MAX], 0);
    for segment in descriptor.segments().iter().filter(|segment| segment.length > 0).take(PIECES_MAX - 1) {
        // In bounds, as was checked when the descriptor was posted.
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
        let taken = self.take(TURN);
        if taken > 0 || self.guard == Guard::Hit || self.sends.front().is_some_and(|send| send.left == 0) {
            self.busy = now;
            self.deliver(sink);
            self.post_receives(sink);
            self.post_sends(sink);
        }
        let is_due = self.is_lost || self.voice.tidings().is_some() || self.refused == Some(self.sends_done);
        if is_due || now.saturating_duration_since(self.looked) >= LOOK {
            self.look(now, sink);
        }
    }

    fn prepare_sleep(&mut self, now: Instant) -> Option<Sleep> {
        if !self.is_open {
            return Some(Sleep { fd: None, until: None });
        }
        if self.is_lost || self.voice.tidings().is_some() {
            return None;
        }
        let may_sleep = |endpoint: &mut Endpoint| endpoint.completions.may_sleep(endpoint.events.as_ref());
        if self.has_bell && !self.seat.with(may_sleep).unwrap_or_default() {
            return None;
        }
        let fd = self.ears.clone();
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
        self.looked = self.looked.checked_sub(LOOK).unwrap_or(self.looked);
    }

    fn readiness(&self) -> Option<Arc<OwnedFd>> {
        self.ears.clone().filter(|_| self.has_bell)
    }

    fn disconnect(&mut self) {
        self.close(Some(Ended::ByPeer));
    }

    fn peer(&self) -> String {
        self.peer.clone()
    }

    fn local(&self) -> Option<String> {
        self.seat.with(|endpoint| endpoint.local()).flatten().or_else(|| self.voice.local())
    }
}

impl Drop for FabricPort {
    fn drop(&mut self) {
        self.close(Some(Ended::ByPeer));
    }
}
