//! Making the packets that have to be sent now.

use super::{Engine, Phase, READS_MAX};
use crate::descriptor::{Descriptor, Operation, Status};
use crate::reliable::packet::{self, Action, Body, DATA_HEADER, DataHeader, FURTHER_MAX, HEADER, Header, PLACE};
use crate::reliable::path::Test;
use crate::reliable::sending::Piece;
use crate::spi::{Refusal, Sink};

/// The span, in nanoseconds, in which unreliable delivery sends a quarter of the peer's window.
const PACE: u64 = 1_000_000;

/// The silence divided by this number is the time to the next ping, for a side that has recently
/// sent data. That side probably waits for an answer.
const PAUSE_SHARE: u64 = 10;

impl Engine {
    fn header(&self, number: u64) -> Header {
        Header {
            to: self.peer_id,
            number: number as u32,
            ack: self.receiving.expected() as u32,
            sack: self.receiving.sack(),
            window: self.receiving.window,
        }
    }

    fn put(&self, into: &mut [u8], body: &Body<'_>) -> Option<usize> {
        // The write fails only if the link's datagrams are shorter than a handshake packet.
        packet::write(into, &self.header(0), body).ok()
    }

    /// Makes the next datagram that is to be sent now, and returns its length. The datagram counts
    /// as sent. Returns `None` if nothing is to be sent until a descriptor is posted, a datagram
    /// arrives, or the time of [`Engine::due`] has come. `into` has room for the link's longest
    /// datagram.
    pub fn transmit(&mut self, now: u64, sink: &mut dyn Sink, into: &mut [u8]) -> Option<usize> {
        self.catch_up(now, sink);
        if self.owes_nothing(now, sink.posted()) {
            return None;
        }
        match &mut self.phase {
            Phase::Opening(accept, repeat) => {
                return repeat.is_due(now).then(|| {
                    into[..accept.len()].copy_from_slice(accept);
                    accept.len()
                });
            }
            Phase::Over(Some(_)) => return self.transmit_close(into),
            Phase::Over(None) => {}
            Phase::Open | Phase::Refusing => {
                if let Some(length) = self.data_packet(now, sink, into) {
                    return Some(length);
                }
            }
        }
        self.control_packet(now, into)
    }

    /// Whether a quick check shows that no datagram has to be made and no timer is due. This is the
    /// usual case.
    #[inline]
    pub(in crate::reliable) fn owes_nothing(&self, now: u64, posted: u64) -> bool {
        let is_later = |due: Option<u64>| due.is_none_or(|due| now < due);
        self.is_open()
            && self.deferred.is_none()
            && self.own.next >= posted
            && !self.sending.has_repeats()
            && self.target.is_served()
            && self.target.refused.is_none()
            && self.probed.is_none()
            && is_later(self.receiving.ack_due())
            && is_later(self.sending.expires())
            && is_later(self.path.due())
            && now < self.liveness.ping
    }

    /// Makes the next packet that tells the peer that the connection is over. Returns `None` when
    /// no further one is due.
    pub fn transmit_close(&mut self, into: &mut [u8]) -> Option<usize> {
        let Phase::Over(Some(reason)) = self.phase else { return None };
        self.closes = self.closes.checked_sub(1)?;
        self.put(into, &Body::Close { reason })
    }

    /// Makes a data packet: a lost packet again, or else a new one. `None` if no data packet is to
    /// be sent now.
    fn data_packet(&mut self, now: u64, sink: &mut dyn Sink, into: &mut [u8]) -> Option<usize> {
        self.sending.look_again();
        if let Some((number, piece)) = self.sending.repeat(now) {
            return Some(self.make_again(now, number, piece, sink, into));
        }
        for _ in 0..2 {
            self.answers_next = !self.answers_next;
            let made =
                if self.answers_next { self.next_answer(now, sink, into) } else { self.next_own(now, sink, into) };
            if made.is_some() {
                return made;
            }
        }
        let is_due = self.target.refused.is_some() && !self.target.has_refused && self.target.is_served();
        if !is_due || !self.sending.has_room(now, DATA_HEADER) {
            return None;
        }
        self.target.has_refused = true;
        Some(self.make_new(now, Piece::Refuse, sink, into))
    }

    /// Makes the acknowledgement that is due; `None` if none is due. The caller is about to sleep,
    /// so no later packet will carry the acknowledgement.
    pub fn acknowledge_now(&mut self, into: &mut [u8]) -> Option<usize> {
        self.receiving.ack_due().filter(|_| !matches!(self.phase, Phase::Opening(..) | Phase::Over(Some(_))))?;
        self.put_ack(into)
    }

    fn put_ack(&mut self, into: &mut [u8]) -> Option<usize> {
        self.receiving.acknowledged();
        let mut words = [0; FURTHER_MAX];
        let (report, further) = (self.sending.ecn.report(), self.receiving.put_further(&mut words));
        self.put(into, &report.map_or(Body::Ack { further }, |marks| Body::Marked { marks, further }))
    }

    fn control_packet(&mut self, now: u64, into: &mut [u8]) -> Option<usize> {
        if let Some(length) = self.probed.take() {
            return self.put(into, &Body::Probed { length });
        }
        if self.receiving.ack_due().is_some_and(|due| due <= now) {
            return self.put_ack(into);
        }
        if matches!(self.phase, Phase::Over(_)) {
            return None;
        }
        match self.path.test(now, self.sending.trip.timeout()) {
            Some(Test::Probe(length)) if (HEADER..=into.len()).contains(&length) => {
                return Some(packet::write_probe(&mut into[..length], &self.header(0)));
            }
            Some(Test::Ping) => return self.put(into, &Body::Ping),
            _ => {}
        }
        if self.ping_at().is_some_and(|due| due <= now) {
            self.pinged(now);
            return self.put(into, &Body::Ping);
        }
        None
    }

    /// Notes that a data packet was made. The packet acknowledges all packets received so far,
    /// unless some of them are too far ahead or marks are to be reported. The packet needs an
    /// acknowledgement itself.
    pub(super) fn made(&mut self, now: u64) {
        self.statistics.sent += 1;
        if self.is_reliable {
            if !self.receiving.has_further() && !self.sending.ecn.has_news() {
                self.receiving.acknowledged();
            }
            self.liveness.waiting.get_or_insert(now);
            self.liveness.pause = self.silence / PAUSE_SHARE;
        }
    }

    /// Makes a packet again, or the next fragment of a packet that is longer than the path takes.
    fn make_again(&mut self, now: u64, number: u64, piece: Piece, sink: &mut dyn Sink, into: &mut [u8]) -> usize {
        let whole = self.make(number, piece, sink, into);
        if self.path.may_exceed(whole) && self.sending.suspects_length() {
            self.path.suspect();
            self.sending.packet_is(self.path.current());
        }
        let (mut length, mut is_last) = (whole, true);
        let is_fragmented = whole > self.path.current();
        if is_fragmented {
            let index = if self.fragment.0 == number { self.fragment.1 } else { 0 };
            (length, is_last) = packet::to_fragment(into, &self.header(number), (index, whole));
            self.fragment = (number, if is_last { 0 } else { index + 1 });
        }
        if is_last {
            self.sending.sent_again(now, number, is_fragmented);
        }
        self.made(now);
        length
    }

    fn make_new(&mut self, now: u64, piece: Piece, sink: &mut dyn Sink, into: &mut [u8]) -> usize {
        let length = self.make(self.sending.next(), piece, sink, into);
        self.sending.sent(now, piece, length);
        self.made(now);
        length
    }

    /// Makes the next part of the answers to the peer's reads.
    fn next_answer(&mut self, now: u64, sink: &mut dyn Sink, into: &mut [u8]) -> Option<usize> {
        let served = self.target.reads.get(self.target.read)?;
        let left = served.total - self.target.offset;
        let length = left.min((self.path.current() - DATA_HEADER) as u32);
        if !self.sending.has_room(now, DATA_HEADER + length as usize) {
            return None;
        }
        if !served.region.is_registered() {
            let number = served.number;
            self.target.reads.truncate(self.target.read);
            if self.target.refused.is_none() {
                self.refuse(number, Refusal::Protection, sink);
            }
            return None;
        }
        let serial = self.target.first_read + self.target.read as u64;
        let is_last = length == left;
        let piece = Piece::Answer { serial, offset: self.target.offset, length, is_last };
        if is_last {
            (self.target.read, self.target.offset) = (self.target.read + 1, 0);
        } else {
            self.target.offset += length;
        }
        Some(self.make_new(now, piece, sink, into))
    }

    /// Makes the next part of this side's operations.
    fn next_own(&mut self, now: u64, sink: &mut dyn Sink, into: &mut [u8]) -> Option<usize> {
        let (index, offset) = (self.own.next, self.own.offset);
        if index >= sink.posted() || !self.is_open() {
            return None;
        }
        let descriptor = sink.sending(index)?;
        let (operation, total) = (descriptor.operation(), descriptor.total() as u32);
        let is_read = operation == Operation::RdmaRead;
        if is_read && self.own.reads.len() >= READS_MAX {
            return None;
        }
        let is_placed = offset == 0 && operation != Operation::Send;
        let headers = DATA_HEADER + if is_placed { PLACE } else { 0 };
        let left = total - offset;
        let length = if is_read { total } else { left.min((self.path.current() - headers) as u32) };
        let on_wire = headers + if is_read { 0 } else { length as usize };
        let is_last = length == left;
        let piece = Piece::Own { index, offset, length, is_last };
        if !self.is_reliable {
            return self.unreliable(now, piece, on_wire, sink, into);
        }
        if !self.sending.has_room(now, on_wire) {
            return None;
        }
        let header = self.header(self.sending.next());
        let made = make_own(&header, descriptor, (index, offset, length, is_last), into);
        let on_wire = finish(&header, made, into);
        self.sending.sent(now, piece, on_wire);
        self.made(now);
        self.advance(length, is_last);
        if is_read {
            self.own.reads.push_back(index);
        }
        Some(on_wire)
    }

    pub(super) fn advance(&mut self, length: u32, is_last: bool) {
        if is_last {
            (self.own.next, self.own.offset) = (self.own.next + 1, 0);
        } else {
            self.own.offset += length;
        }
    }

    /// Makes a part of an operation of unreliable delivery. Such an operation is done once its last
    /// part was sent.
    fn unreliable(
        &mut self,
        now: u64,
        piece: Piece,
        on_wire: usize,
        sink: &mut dyn Sink,
        into: &mut [u8],
    ) -> Option<usize> {
        let Piece::Own { index, length, is_last, .. } = piece else { return None };
        let descriptor = sink.sending(index)?;
        let total = descriptor.total() as u32;
        if descriptor.operation() == Operation::RdmaRead {
            // An RDMA read is not performed: without acknowledgements, the loss of its answer would
            // stay unnoticed. A VI refuses such a read when it is posted.
            self.advance(length, is_last);
            sink.complete(Status::ConnectionLost, 0);
            self.statistics.completions += 1;
            return None;
        }
        if now >= self.budget_until {
            (self.budget, self.budget_until) = ((self.sending.window() / 4).max(on_wire as u64), now + PACE);
        }
        let budget = self.budget.checked_sub(on_wire as u64);
        self.is_held_up = budget.is_none();
        self.budget = budget?;
        let made = self.make(self.sending.next(), piece, sink, into);
        self.sending.skipped();
        self.made(now);
        self.advance(length, is_last);
        if is_last {
            sink.complete(Status::Done, total);
            self.statistics.completions += 1;
        }
        Some(made)
    }

    /// Returns the time at which a packet that pacing holds back may be sent, if there is such a
    /// packet.
    pub(super) fn paced_until(&self) -> Option<u64> {
        if self.is_reliable { self.sending.paced_until() } else { self.is_held_up.then_some(self.budget_until) }
    }

    /// Makes a data packet, for the first time or again, and returns its length.
    fn make(&self, number: u64, piece: Piece, sink: &dyn Sink, into: &mut [u8]) -> usize {
        let header = self.header(number);
        let made = match piece {
            Piece::Own { index, offset, length, is_last } => {
                let descriptor = sink.sending(index).filter(|_| self.is_open());
                descriptor.and_then(|descriptor| make_own(&header, descriptor, (index, offset, length, is_last), into))
            }
            Piece::Answer { serial, offset, length, is_last } => {
                self.make_answer(&header, (serial, offset, length, is_last), into)
            }
            Piece::Refuse => self.target.refused.map(|(operation, refusal)| {
                let immediate = Some(packet::refusal_code(refusal));
                packet::put_data(into, &header, &DataHeader { operation, immediate, ..plain(Action::Refuse) })
            }),
        };
        finish(&header, made, into)
    }

    fn make_answer(
        &self,
        header: &Header,
        (serial, offset, length, is_last): (u64, u32, u32, bool),
        into: &mut [u8],
    ) -> Option<usize> {
        let at = usize::try_from(serial.checked_sub(self.target.first_read)?).ok()?;
        let served = self.target.reads.get(at).filter(|served| served.region.is_registered())?;
        let operation = served.number;
        let data = DataHeader { operation, offset, total: served.total, is_last, ..plain(Action::Answer) };
        let begin = packet::put_data(into, header, &data);
        let end = begin + length as usize;
        served.region.memory().read(served.at + u64::from(offset), &mut into[begin..end])?;
        Some(end)
    }
}

/// Returns the header of a data packet that carries nothing.
fn plain(action: Action) -> DataHeader {
    DataHeader { action, operation: 0, offset: 0, total: 0, is_last: true, immediate: None, place: None }
}

/// Makes a part of the descriptor numbered `index`, and returns its length. `None` when there is no
/// such part.
#[inline]
fn make_own(
    header: &Header,
    descriptor: &Descriptor,
    (index, offset, length, is_last): (u64, u32, u32, bool),
    into: &mut [u8],
) -> Option<usize> {
    let action = match descriptor.operation() {
        Operation::Send => Action::Send,
        Operation::RdmaWrite => Action::Write,
        Operation::RdmaRead => Action::Read,
        Operation::Receive => return None,
    };
    let data = DataHeader {
        action,
        operation: index as u32,
        offset,
        total: descriptor.total() as u32,
        is_last,
        immediate: descriptor.immediate().filter(|_| is_last),
        place: descriptor.remote().filter(|_| offset == 0),
    };
    let begin = packet::put_data(into, header, &data);
    let length = if action == Action::Read { 0 } else { length as usize };
    descriptor.gather(u64::from(offset), &mut into[begin..begin + length])?;
    Some(begin + length)
}

/// Writes the checksum of the made packet. A packet that could not be made is replaced by one
/// without effect. Returns the length.
fn finish(header: &Header, made: Option<usize>, into: &mut [u8]) -> usize {
    let length = made.unwrap_or_else(|| packet::put_data(into, header, &plain(Action::Void)));
    packet::seal(&mut into[..length])
}
