//! The virtual clock and the wires, without any protocol on them.

use super::{Clock, Net, SimLink};
use crate::reliable::Link;
use crate::wrap::Conditions;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;
use std::time::{Duration, Instant};

const MS: Duration = Duration::from_millis(1);

fn wire(net: &Net, nics: [usize; 2], text: &str) -> [SimLink; 2] {
    let conditions: Conditions = text.parse().unwrap();
    let links = net.wire(nics, [conditions.clone(), conditions], 1500).unwrap();
    links.iter().for_each(SimLink::attach);
    links
}

fn receive(link: &mut SimLink) -> Option<Vec<u8>> {
    let mut buffer = [0; 1500];
    link.receive(&mut buffer).unwrap().map(|length| buffer[..length].to_vec())
}

fn is_rung(link: &SimLink) -> bool {
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    let ready = poll(&mut [PollFd::new(link.bell(), PollFlags::IN)], Some(&at_once)).unwrap();
    ready == 1
}

#[test]
fn manual_virtual_time_advances_from_event_to_event() {
    let net = Net::new(Clock::ByHand);
    let [mut here, mut there] = wire(&net, [0, 1], "delay=3ms");
    assert!(!net.advance(), "nothing will ever happen");
    here.send(b"x").unwrap();
    assert_eq!(receive(&mut there), None);
    there.settle(Some(2 * MS));
    assert!(net.advance() && net.now() == 2 * MS && receive(&mut there).is_none());
    there.settle(None);
    assert!(net.advance() && net.now() == 3 * MS);
    assert_eq!(receive(&mut there), Some(b"x".to_vec()));
}

#[test]
fn virtual_time_waits_for_all_busy_ends() {
    let net = Net::new(Clock::Settling(1_000_000));
    let [mut here, there] = wire(&net, [0, 1], "delay=3ms");
    here.send(b"x").unwrap();
    here.settle(None);
    std::thread::sleep(MS);
    assert_eq!((net.now(), here.settled()), (Duration::ZERO, Some(None)), "there is still busy");
    there.settle(Some(MS));
    std::thread::sleep(MS);
    there.settled();
    assert!(net.now() == MS && is_rung(&there) && !is_rung(&here));
    there.clear_bell();
    assert!(there.settled().is_none(), "it is due");
    there.settle(None);
    std::thread::sleep(MS);
    there.settled();
    assert!(net.now() == 3 * MS && is_rung(&there));
}

#[test]
fn wires_of_a_nic_that_was_killed_are_never_mended() {
    let net = Net::new(Clock::ByHand);
    let [mut old, mut end] = wire(&net, [0, 1], "");
    net.kill(1);
    net.set_cut([0, 1], false);
    net.restart(1);
    net.set_cut([1, 0], true);
    let [mut new, mut other] = wire(&net, [0, 1], "");
    net.set_cut([0, 1], false);
    old.send(b"x").unwrap();
    new.send(b"y").unwrap();
    net.advance_to(MS);
    assert_eq!((receive(&mut end), receive(&mut other)), (None, Some(b"y".to_vec())));
}

#[test]
fn virtual_time_respects_its_speed_limit() {
    let began = Instant::now();
    let net = Net::new(Clock::Settling(10));
    let [here, there] = wire(&net, [0, 1], "");
    there.settle(None);
    // Ten hours of virtual time are an hour of real time at this speed, so this time is not over
    // when the next line runs.
    here.settle(Some(36_000_000 * MS));
    let allowed = here.settled().unwrap().unwrap();
    assert!(allowed >= began + 3_600_000 * MS, "it says until when to sleep");
    here.settle(Some(200 * MS));
    while let Some(until) = here.settled() {
        std::thread::sleep(until.unwrap().saturating_duration_since(Instant::now()));
    }
    assert!(net.now() == 200 * MS && began.elapsed() >= 20 * MS);
}

#[test]
fn immediate_arrivals_wake_the_receiver_at_once() {
    let net = Net::new(Clock::Settling(1));
    let [mut here, mut there] = wire(&net, [0, 1], "");
    there.settle(None);
    here.send(b"x").unwrap();
    assert!(is_rung(&there) && there.settled().is_none());
    assert_eq!(receive(&mut there), Some(b"x".to_vec()));
}

#[test]
fn killed_nics_neither_send_nor_receive_until_rewired() {
    let net = Net::new(Clock::ByHand);
    let [mut here, mut there] = wire(&net, [0, 1], "");
    let [mut other, mut third] = wire(&net, [0, 2], "");
    here.send(b"on its way").unwrap();
    net.kill(1);
    here.send(b"x").unwrap();
    there.send(b"y").unwrap();
    other.send(b"z").unwrap();
    net.set_cut([0, 1], false);
    here.send(b"x").unwrap();
    assert_eq!((receive(&mut here), receive(&mut there), receive(&mut third)), (None, None, Some(b"z".to_vec())));
    net.restart(1);
    let [mut here, mut there] = wire(&net, [0, 1], "");
    here.send(b"again").unwrap();
    assert_eq!(receive(&mut there), Some(b"again".to_vec()));
}

#[test]
fn simulated_cuts_affect_one_pair() {
    let net = Net::new(Clock::ByHand);
    let [mut here, mut there] = wire(&net, [0, 1], "");
    let [mut other, mut third] = wire(&net, [0, 2], "");
    net.set_cut([1, 0], true);
    here.send(b"x").unwrap();
    other.send(b"y").unwrap();
    assert_eq!((receive(&mut there), receive(&mut third)), (None, Some(b"y".to_vec())));
    net.set_cut([0, 1], false);
    here.send(b"z").unwrap();
    assert_eq!(receive(&mut there), Some(b"z".to_vec()));
    net.set_conditions(&"loss=100%".parse().unwrap());
    here.send(b"w").unwrap();
    assert_eq!((receive(&mut there), net.counts().lost, net.counts().cut), (None, 1, 1));
}

#[test]
fn standing_answers_reply_and_unused_wires_are_removed() {
    let net = Net::new(Clock::ByHand);
    let [mut here, there] = wire(&net, [0, 1], "delay=1ms");
    there.answer_always((*b"no").into());
    assert!(net.advance());
    assert_eq!(receive(&mut here), Some(b"no".to_vec()));
    here.send(b"but").unwrap();
    assert!(net.advance() && net.advance());
    assert_eq!((net.now(), receive(&mut here)), (3 * MS, Some(b"no".to_vec())));
    let offered = net.counts().offered;
    drop(here);
    assert!(net.state().wires.is_empty());
    assert_eq!(net.counts().offered, offered);
}
