//! The events of traces, over a provider that answers every send with the sent message.

use super::super::pair::pair;
use super::{Event, EventKind, Trace, TracedLink, TracedProvider};
use crate::attributes::Attributes;
use crate::error::Ended;
use crate::reliable::Link;
use crate::spi::{Incoming, Listening, Offer, Port, Provider, Refusal, Sink, Sleep};
use crate::{Access, Deadline, Descriptor, Error, Nic, Region, Reliability, RemoteAddress, Status, Vi, ViAttributes};
use rustix::fd::OwnedFd;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Instant;

#[derive(Debug)]
struct Echo(Attributes);

#[derive(Debug)]
struct EchoPort(u64);

impl Provider for Echo {
    fn attributes(&self) -> &Attributes {
        &self.0
    }

    fn listen(&self, discriminator: &str) -> Result<Box<dyn Listening>, Error> {
        Err(Error::NotFound { name: discriminator.to_owned() })
    }

    fn connect(&self, address: &str, own: &Offer, _: Deadline) -> Result<(Box<dyn Port>, Offer), Error> {
        if address == "myself" {
            return Ok((Box::new(EchoPort(0)), own.clone()));
        }
        Err(Error::NotFound { name: address.to_owned() })
    }

    fn needs_attendance(&self) -> bool {
        false
    }
}

impl Port for EchoPort {
    fn progress(&mut self, _: Instant, sink: &mut dyn Sink) {
        while let Some(descriptor) = sink.sending(self.0) {
            self.0 += 1;
            let mut bytes = vec![0; descriptor.total() as usize];
            descriptor.gather(0, &mut bytes).unwrap();
            let (length, immediate, remote) = (bytes.len() as u32, descriptor.immediate(), descriptor.remote());
            if let Some(place) = remote {
                let reached = sink.remote(place, u64::from(length), crate::spi::Intent::Write);
                sink.complete(reached.map_or_else(Refusal::status, |_| Status::Done), length);
                continue;
            }
            match sink.begin_message(length) {
                Ok(()) => {
                    sink.fill_message(0, &bytes);
                    sink.end_message(immediate);
                    sink.complete(Status::Done, length);
                }
                Err(refusal) => sink.broken(refusal.status(), Ended::ReceiverNotReady),
            }
        }
    }

    fn prepare_sleep(&mut self, _: Instant) -> Option<Sleep> {
        Some(Sleep { fd: None, until: None })
    }

    fn readiness(&self) -> Option<Arc<OwnedFd>> {
        None
    }

    fn disconnect(&mut self) {}

    fn peer(&self) -> String {
        "myself".to_owned()
    }
}

fn attributes() -> Attributes {
    Attributes {
        provider: "echo",
        max_transfer: 100,
        max_segments: 1,
        queue_depth: 10,
        rdma_write: true,
        rdma_read: false,
        reliability: &[Reliability::ReliableDelivery],
    }
}

fn connected(trace: &Trace) -> (Nic, Vi, crate::MemoryRegion) {
    let nic = Nic::open(Box::new(TracedProvider::new(Box::new(Echo(attributes())), trace.clone())));
    let tag = nic.protection_tag();
    let region = nic.register(nic.memory(100).unwrap(), &tag, Access::WRITE).unwrap();
    let mut vi = nic.vi(ViAttributes::default(), &tag, None, None).unwrap();
    vi.request("nobody", b"", Deadline::after_secs(1)).unwrap_err();
    vi.request("myself", b"", Deadline::after_secs(1)).unwrap();
    (nic, vi, region)
}

/// Returns the events without their times.
fn said(trace: &Trace) -> Vec<String> {
    trace.events().iter().map(|Event { who, what, .. }| format!("{who}: {what}")).collect()
}

#[test]
fn a_connection_s_life_is_noted_in_order() {
    let trace = Trace::new(100);
    let (_nic, mut vi, region) = connected(&trace);
    vi.receive.post(Descriptor::receive().with_segment(&region, 50, 50)).unwrap();
    vi.send.post(Descriptor::send().with_segment(&region, 0, 5).with_immediate(7)).unwrap();
    let place = |offset| RemoteAddress { handle: region.handle(), offset };
    vi.send.post(Descriptor::rdma_write(place(96)).with_segment(&region, 0, 5)).unwrap();
    vi.send.post(Descriptor::send()).unwrap();
    vi.disconnect();
    let handle = format!("{:x}:{:x}", region.handle().0[0], region.handle().0[1]);
    let expected = [
        "echo: requests a connection to nobody".to_owned(),
        "echo: fails to connect: no process serves the name \"nobody\"".to_owned(),
        "echo: requests a connection to myself".to_owned(),
        "port to myself: is connected".to_owned(),
        "port to myself: receive posted, 0 in the queue".to_owned(),
        "port to myself: receive posted, 1 in the queue".to_owned(),
        "port to myself: #0 Send of 5 bytes posted with 0x00000007".to_owned(),
        "port to myself: message of 5 bytes: taken".to_owned(),
        "port to myself: message received with 0x00000007".to_owned(),
        "port to myself: #0 done, 5 bytes".to_owned(),
        format!("port to myself: #1 RdmaWrite of 5 bytes posted at {handle}+0x60"),
        format!(
            "port to myself: peer's Write of 5 bytes at {handle}+0x60: refused, the peer's memory does not allow the access"
        ),
        "port to myself: #1 the peer's memory does not allow the access, 5 bytes".to_owned(),
        "port to myself: #2 Send of 0 bytes posted".to_owned(),
        "port to myself: message of 0 bytes: refused, the peer had no receive posted".to_owned(),
        "port to myself: the connection is broken: a message found no receive descriptor; the peer had no receive posted".to_owned(),
        "port to myself: disconnects".to_owned(),
    ];
    assert_eq!(said(&trace), expected);
    assert!(trace.events().windows(2).all(|pair| pair[0].at <= pair[1].at));
}

#[test]
fn traced_vis_behave_like_untraced_ones() {
    let (_nic, mut vi, region) = connected(&Trace::new(0));
    region.memory().write(0, b"hello").unwrap();
    vi.receive.post(Descriptor::receive().with_segment(&region, 50, 50)).unwrap();
    vi.send.post(Descriptor::send().with_segment(&region, 0, 5).with_immediate(7)).unwrap();
    let got = vi.receive.wait(Deadline::after_secs(5)).unwrap();
    let mut bytes = [0; 5];
    region.memory().read(50, &mut bytes).unwrap();
    assert_eq!((got.length(), got.immediate(), &bytes), (5, Some(7), b"hello"));
}

#[test]
fn a_full_trace_forgets_the_oldest() {
    let trace = Trace::new(2);
    for count in 0..5 {
        trace.note("x", EventKind::ReceivePosted(count));
    }
    assert_eq!(
        (said(&trace), trace.forgotten()),
        (vec!["x: receive posted, 3 in the queue".into(), "x: receive posted, 4 in the queue".into()], 3)
    );
    assert!(trace.to_string().starts_with("(3 earlier events)\n"));
}

#[derive(Clone)]
struct Paper(Arc<Mutex<String>>, usize);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut text = self.0.lock().unwrap();
        if text.len() > self.1 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        text.push_str(std::str::from_utf8(bytes).unwrap());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn trace_streams_get_every_event_until_they_fail() {
    let text = Arc::new(Mutex::new(String::new()));
    let trace = Trace::to(1, Box::new(Paper(Arc::clone(&text), 200)));
    for count in 0..100 {
        trace.note("x", EventKind::ReceivePosted(count));
    }
    let text = text.lock().unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[1].ends_with(" us x: receive posted, 1 in the queue") && (3..20).contains(&lines.len()), "{text}");
    assert_eq!(trace.events().len(), 1);
}

#[test]
fn traces_note_sent_and_received_datagrams() {
    let trace = Trace::new(10);
    let (mut here, mut there) = pair();
    here.room = 1;
    let mut link = TracedLink::new(here, trace.clone());
    assert!(link.send(&[0xab; 5]).unwrap() && !link.send(&[]).unwrap());
    there.send(&[1; 41]).unwrap();
    let mut buffer = [0; 100];
    assert_eq!((link.receive(&mut buffer).unwrap(), link.receive(&mut buffer).unwrap()), (Some(41), None));
    let expected = [
        "link to the other end: -> 5 bytes abababab ab".to_owned(),
        "link to the other end: no room for 0 bytes".to_owned(),
        format!("link to the other end: <- 41 bytes{} ...", " 01010101".repeat(10)),
    ];
    assert_eq!(said(&trace), expected);
}

/// A provider that only records the calls that reach it.
#[derive(Debug)]
struct LoggedProvider(Attributes, Arc<Mutex<Vec<String>>>);

impl LoggedProvider {
    fn say(&self, text: String) {
        self.1.lock().unwrap().push(text);
    }
}

impl Provider for LoggedProvider {
    fn attributes(&self) -> &Attributes {
        &self.0
    }

    fn listen(&self, _: &str) -> Result<Box<dyn Listening>, Error> {
        Ok(Box::new(LoggedListening(Arc::clone(&self.1))))
    }

    fn connect(&self, _: &str, _: &Offer, _: Deadline) -> Result<(Box<dyn Port>, Offer), Error> {
        Err(Error::TimedOut)
    }

    fn connect_tagged(&self, tag: u64, _: &str, _: &Offer, _: Deadline) -> Result<(Box<dyn Port>, Offer), Error> {
        self.say(format!("connect {tag}"));
        Err(Error::TimedOut)
    }

    fn deregister(&self, region: &Arc<Region>) {
        self.say(format!("deregister {}", region.tag()));
    }
}

#[derive(Debug)]
struct LoggedListening(Arc<Mutex<Vec<String>>>);

impl Listening for LoggedListening {
    fn accept(&mut self, _: Deadline) -> Result<Box<dyn Incoming>, Error> {
        let offer = Offer { reliability: Reliability::ReliableDelivery, max_transfer: 9, private: Vec::new() };
        Ok(Box::new(LoggedIncoming(Arc::clone(&self.0), offer)))
    }

    fn address(&self) -> String {
        "here".to_owned()
    }
}

#[derive(Debug)]
struct LoggedIncoming(Arc<Mutex<Vec<String>>>, Offer);

impl Incoming for LoggedIncoming {
    fn offer(&self) -> &Offer {
        &self.1
    }

    fn peer(&self) -> String {
        "somebody".to_owned()
    }

    fn accept(self: Box<Self>, _: &Offer, _: Deadline) -> Result<Box<dyn Port>, Error> {
        Err(Error::TimedOut)
    }

    fn accept_tagged(self: Box<Self>, tag: u64, _: &Offer, _: Deadline) -> Result<Box<dyn Port>, Error> {
        self.0.lock().unwrap().push(format!("accept {tag}"));
        Err(Error::TimedOut)
    }

    fn reject(self: Box<Self>, _: &str) {}
}

#[test]
fn traced_providers_forward_tags_and_region_ends() {
    let (heard, trace): (Arc<Mutex<Vec<_>>>, _) = (Arc::default(), Trace::new(10));
    let inner = LoggedProvider(attributes(), Arc::clone(&heard));
    let nic = Nic::open(Box::new(TracedProvider::new(Box::new(inner), trace)));
    let tag = nic.protection_tag();
    let region = nic.register(nic.memory(64).unwrap(), &tag, Access::WRITE).unwrap();
    nic.vi(ViAttributes::default(), &tag, None, None)
        .unwrap()
        .request("there", b"", Deadline::after_secs(1))
        .unwrap_err();
    let mut vi = nic.vi(ViAttributes::default(), &tag, None, None).unwrap();
    let mut listener = nic.listen("").unwrap();
    listener.wait(Deadline::after_secs(1)).unwrap().accept(&mut vi, b"", Deadline::after_secs(1)).unwrap_err();
    drop(region);
    let heard: Vec<String> = heard.lock().unwrap().clone();
    let (what, tags): (Vec<_>, Vec<_>) = heard.iter().filter_map(|said| said.split_once(' ')).unzip();
    assert_eq!(what, ["connect", "accept", "deregister"]);
    assert!(tags.iter().all(|tag| *tag == tags[0]), "{tags:?}");
}

#[test]
fn foreign_text_cannot_forge_trace_lines() {
    let trace = Trace::new(10);
    trace.note("x\n1.000 us y", EventKind::NotConnected("no\n    9.000 us z: is connected\u{1b}[2J\u{9b}".to_owned()));
    trace.note("x", EventKind::LinkFailed("\r\0".to_owned()));
    let text = trace.to_string();
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.chars().all(|letter| letter == '\n' || !letter.is_control()), "{text:?}");
}
