//! Fuzzes the software wire of a VI with datagrams: an accepted packet survives a round trip. No
//! sequence of datagrams, even with the right id and checksum, makes an engine panic, send without
//! end, or access memory out of bounds. A listener answers no datagram with a longer one.

use obvia_via::provider::udp;
use obvia_via::reliable::{Answer, Answering, Engine, Judged, Moved, Requesting, Settings, Tokens, packet};
use obvia_via::spi::{Intent, Offer, Refusal, Sink};
use obvia_via::{Access, Descriptor, Ended, MemoryRegion, Operation, Region, Reliability, RemoteAddress, Status};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

const MTU: usize = 1400;
const ROOM: u32 = 4096;

/// Returns registered memory. All inputs share one region, because its contents do not matter.
fn region() -> &'static MemoryRegion {
    static REGION: OnceLock<MemoryRegion> = OnceLock::new();
    REGION.get_or_init(|| {
        let nic = udp::open(&udp::Options::default()).unwrap();
        nic.register(nic.memory(ROOM as usize).unwrap(), &nic.protection_tag(), Access::BOTH).unwrap()
    })
}

#[derive(Default)]
struct Queues {
    send: VecDeque<Box<Descriptor>>,
    receive: VecDeque<Box<Descriptor>>,
    posted: u64,
    completed: u64,
    message: Option<u32>,
    is_broken: bool,
}

impl Sink for Queues {
    fn sending(&self, index: u64) -> Option<&Descriptor> {
        let at = usize::try_from(index.checked_sub(self.completed)?).ok()?;
        self.send.get(at).map(|descriptor| &**descriptor)
    }

    fn posted(&self) -> u64 {
        self.posted
    }

    fn completed(&self) -> u64 {
        self.completed
    }

    fn complete(&mut self, _: Status, _: u32) {
        self.send.pop_front().expect("only what was posted is completed");
        self.completed += 1;
    }

    fn receives(&self) -> usize {
        self.receive.len()
    }

    fn receiving(&self, index: usize) -> Option<&Descriptor> {
        self.receive.get(index).map(|descriptor| &**descriptor)
    }

    fn begin_message(&mut self, length: u32) -> Result<(), Refusal> {
        assert!(self.message.is_none() && !self.is_broken);
        let room = self.receive.front().ok_or(Refusal::ReceiverNotReady)?.total();
        if room < u64::from(length) {
            self.receive.pop_front();
            return Err(Refusal::TooLong);
        }
        self.message = Some(length);
        Ok(())
    }

    fn fill_message(&mut self, offset: u32, bytes: &[u8]) {
        let length = self.message.expect("a message was begun");
        assert!(u64::from(offset) + bytes.len() as u64 <= u64::from(length));
    }

    fn end_message(&mut self, _: Option<u32>) {
        assert!(self.message.take().is_some());
        self.receive.pop_front().unwrap();
    }

    fn abandon_message(&mut self) {
        assert!(self.message.take().is_some());
    }

    fn complete_receive(&mut self, _: Operation, _: u32, _: Option<u32>) -> Result<(), Refusal> {
        self.receive.pop_front().map(drop).ok_or(Refusal::ReceiverNotReady)
    }

    fn remote(&self, place: RemoteAddress, length: u64, _: Intent) -> Result<Arc<Region>, Refusal> {
        let region = Descriptor::send().with_segment(region(), 0, 0).segments()[0].region().clone();
        // Half of the handles are valid.
        let is_good = place.handle.to_bytes()[0].is_multiple_of(2) && region.memory().holds(place.offset, length);
        if is_good { Ok(region) } else { Err(Refusal::Protection) }
    }

    fn broken(&mut self, _: Status, _: Ended) {
        assert!(!std::mem::replace(&mut self.is_broken, true), "a connection breaks once");
        self.completed += self.send.len() as u64;
        self.send.clear();
        self.receive.clear();
        self.message = None;
    }
}

impl Queues {
    fn post(&mut self, choice: u8) {
        if self.is_broken {
            return;
        }
        let place = RemoteAddress { handle: region().handle(), offset: 0 };
        let descriptor = match choice % 4 {
            0 => Descriptor::send(),
            1 => Descriptor::rdma_write(place),
            2 => Descriptor::rdma_read(place),
            _ => {
                self.receive.push_back(Descriptor::receive().with_segment(region(), 0, ROOM));
                return;
            }
        };
        self.send.push_back(descriptor.with_segment(region(), 0, ROOM));
        self.posted += 1;
    }
}

fn engine(is_asking: bool, reliability: Reliability) -> Box<Engine> {
    let offer = Offer { reliability, max_transfer: 1 << 16, private: Vec::new() };
    let settings = Settings::default();
    let mut requesting = Requesting::new(&settings, 1, "", &offer).unwrap();
    let answering = Answering::from_datagram(requesting.transmit(0).unwrap()).unwrap();
    let mut answered = answering.accept(&settings, 0, 1, &offer, MTU).unwrap();
    if !is_asking {
        return Box::new(answered);
    }
    let mut bytes = [0; MTU];
    let length = answered.transmit(0, &mut Queues::default(), &mut bytes).unwrap();
    match requesting.handle(0, &bytes[..length], MTU) {
        Some(Answer::Accepted(engine, _)) => engine,
        other => panic!("{other:?}"),
    }
}

pub fn run(bytes: &[u8]) {
    let Some((choice, mut rest)) = bytes.split_first() else { return };
    let reliability = if choice & 2 == 0 { Reliability::ReliableDelivery } else { Reliability::Unreliable };
    let (mut engine, mut queues) = (engine(choice & 1 == 0, reliability), Queues::default());
    let (mut now, mut outgoing, mut tokens) = (0_u64, [0; MTU], Tokens::new([7; 32]));
    while let Some(([how, length], after)) = rest.split_first_chunk() {
        let (datagram, after) = after.split_at(after.len().min(usize::from(*length)));
        rest = after;
        now += u64::from(how >> 3) * 1_000_000;
        let mut datagram = datagram.to_vec();
        if how & 1 == 0 && datagram.len() >= packet::HEADER {
            // Without a valid version, id and checksum, the engine drops the datagram at once.
            datagram[4] = packet::VERSION;
            datagram[8..16].copy_from_slice(&1_u64.to_le_bytes());
            packet::seal(&mut datagram);
        }
        if how & 2 == 0 {
            queues.post(*length);
        }
        if let Ok((header, body)) = packet::parse(&datagram)
            && body != packet::Body::Probe
        {
            let mut again = vec![0; datagram.len()];
            let length = packet::write(&mut again, &header, &body).unwrap();
            assert_eq!(again[..length], datagram);
        }
        let source = SocketAddr::from(([10, 0, 0, 1], 7));
        if let Some(Judged::Unproved(retry)) = tokens.judge(now, source, &datagram) {
            assert!(retry.len() <= datagram.len() && packet::parse(&retry).is_ok());
        }
        if let Ok((header, packet::Body::Moved { from, token, .. })) = packet::parse(&datagram) {
            match tokens.judge_moved(now, source, &token, [header.to, from]) {
                Some(Moved::Unproved(retry)) => assert!(retry.len() <= datagram.len() && packet::parse(&retry).is_ok()),
                Some(Moved::Proved(_)) => panic!("a token was guessed"),
                None => {}
            }
        }
        let _ = engine.handle(now, &datagram, &mut queues);
        engine.tick(now, &mut queues);
        let mut sent = 0;
        while let Some(length) = engine.transmit(now, &mut queues, &mut outgoing) {
            assert!(length <= MTU && packet::parse(&outgoing[..length]).is_ok());
            sent += 1;
            assert!(sent < 10_000, "it sends without end");
        }
    }
}
