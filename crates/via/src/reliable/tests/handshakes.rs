//! Beginning and ending of connections, and datagrams of strangers.

use super::{Faults, MTU, Net, Queues, carrying, offer, statuses};
use crate::attributes::Reliability::ReliableDelivery;
use crate::descriptor::{Descriptor, Status};
use crate::error::Ended;
use crate::reliable::packet::{self, BadPacket, Body, FURTHER_MAX, HEADER, Header, TOKEN};
use crate::reliable::{Answer, Answering, Dropped, Requesting, Settings};
use crate::spi::Offer;

#[test]
fn connection_rejections_carry_their_reason() {
    let mut requesting = Requesting::new(&Settings::default(), 5, "here", &offer(ReliableDelivery)).unwrap();
    let answering = Answering::from_datagram(requesting.transmit(0).unwrap()).unwrap();
    assert_eq!((answering.id(), answering.discriminator()), (5, "here"));
    assert_eq!(answering.offer(), &offer(ReliableDelivery));
    let no = answering.reject("not today");
    assert!(matches!(requesting.handle(0, &no, MTU), Some(Answer::Rejected(why)) if why == "not today"));
    let long = answering.reject(&"\u{e9}".repeat(300));
    assert!(matches!(requesting.handle(0, &long, MTU), Some(Answer::Rejected(why)) if why == "\u{e9}".repeat(128)));
}

#[test]
fn connection_requests_are_repeated_with_growing_intervals() {
    let mut requesting = Requesting::new(&Settings::default(), 5, "here", &offer(ReliableDelivery)).unwrap();
    let mut times = Vec::new();
    while times.len() < 7 {
        let due = requesting.due();
        assert!(requesting.transmit(due).is_some());
        assert!(requesting.transmit(due).is_none());
        times.push(due / 1_000_000);
    }
    assert_eq!(times, [0, 20, 60, 140, 300, 620, 940]);
}

#[test]
fn overlong_connection_requests_are_refused_at_once() {
    let private = Offer { private: vec![0; Offer::PRIVATE_MAX + 1], ..offer(ReliableDelivery) };
    assert!(Requesting::new(&Settings::default(), 5, "here", &private).is_err());
    let long = "x".repeat(257);
    assert!(Requesting::new(&Settings::default(), 5, &long, &offer(ReliableDelivery)).is_err());
    let (most, private) = ("x".repeat(256), Offer { private: vec![1; Offer::PRIVATE_MAX], ..offer(ReliableDelivery) });
    let mut requesting = Requesting::new(&Settings::default(), 5, &most, &private).unwrap();
    let answering = Answering::from_datagram(requesting.transmit(0).unwrap()).unwrap();
    assert_eq!((answering.discriminator(), answering.offer()), (&*most, &private));
}

#[test]
fn a_repeated_accept_recovers_a_lost_confirmation() {
    let mut net = Net::new(ReliableDelivery);
    net.faults.cut = [true, false];
    net.flush();
    net.faults.cut = [false; 2];
    assert!(!net.ends[1].engine.is_open());
    net.until(|[_, other]| other.engine.is_open());
    assert!(net.now < 100_000_000);
}

#[test]
fn data_sent_in_place_of_a_lost_confirmation_is_accepted_on_repetition() {
    let mut net = Net::new(ReliableDelivery);
    net.faults.cut = [true, false];
    net.flush();
    net.faults.cut = [false; 2];
    net.post_receive(1, 10);
    net.post(0, carrying(Descriptor::send(), b"data"));
    net.until(|[one, _]| one.queues.send.is_empty());
    assert_eq!(statuses(&net.ends[0].queues.sent), [Status::Done]);
    assert_eq!(net.ends[1].queues.received.len(), 1);
}

#[test]
fn datagrams_of_strangers_are_dropped() {
    let mut net = Net::new(ReliableDelivery);
    net.pass(1_000_000);
    let mut sink = Queues::new();
    let mut bytes = [0; MTU];
    let mut of = |to, body: &Body<'_>| {
        let header = Header { to, number: 0, ack: 0, sack: 0, window: 0 };
        let length = packet::write(&mut bytes, &header, body).unwrap();
        net.ends[0].engine.handle(net.now, &bytes[..length], &mut sink)
    };
    assert_eq!(of(0x9999, &Body::Close { reason: 0 }), Err(Dropped::Stray));
    assert_eq!(of(0x1111, &Body::Accept { from: 0x9999, offer: offer(ReliableDelivery) }), Err(Dropped::Stray));
    assert_eq!(of(0x1111, &Body::Reject { why: "no" }), Err(Dropped::Stray));
    assert_eq!(of(0x1111, &Body::Retry { token: [1; TOKEN] }), Err(Dropped::Stray));
    let token = [0; TOKEN];
    let request = Body::Request { from: 0x9999, token, discriminator: "", offer: offer(ReliableDelivery) };
    assert_eq!(of(0, &request), Err(Dropped::Stray));
    assert_eq!(net.ends[0].engine.handle(net.now, b"nonsense", &mut sink), Err(Dropped::Bad(BadPacket::Short)));
    assert_eq!(sink.ended, None);
    assert_eq!(net.ends[0].engine.statistics().dropped, 6);
}

#[test]
fn every_bit_of_a_packet_is_checked() {
    let header = Header { to: 1, number: 0, ack: 2, sack: 3, window: 4 };
    let mut bytes = [0; MTU];
    let length = packet::write(&mut bytes, &header, &Body::Probed { length: 5 }).unwrap();
    assert_eq!(packet::parse(&bytes[..length]), Ok((header, Body::Probed { length: 5 })));
    for bit in 0..8 * length {
        let mut damaged = bytes;
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(packet::parse(&damaged[..length]), Err(BadPacket::Damaged));
    }
    for shorter in 0..length {
        assert!(packet::parse(&bytes[..shorter]).is_err());
    }
}

#[test]
fn acknowledgements_have_words_for_the_packets_in_flight_and_no_more() {
    let header = Header { to: 1, number: 0, ack: 2, sack: 3, window: 4 };
    let words: Vec<u8> = (0..FURTHER_MAX + 8).map(|at| at as u8).collect();
    let mut bytes = [0; MTU];
    for count in [0, 8, 16, FURTHER_MAX] {
        let body = Body::Ack { further: &words[..count] };
        let length = packet::write(&mut bytes, &header, &body).unwrap();
        assert_eq!(packet::parse(&bytes[..length]), Ok((header, body)));
    }
    assert!(packet::write(&mut bytes, &header, &Body::Ack { further: &words }).is_err());
    packet::write(&mut bytes, &header, &Body::Ack { further: &[] }).unwrap();
    for count in [1, 7, 9, FURTHER_MAX + 8] {
        let length = packet::seal(&mut bytes[..HEADER + count]);
        assert_eq!(packet::parse(&bytes[..length]), Err(BadPacket::Fields));
    }
}

#[test]
fn a_disconnect_delivers_its_acknowledgements() {
    let mut net = Net::new(ReliableDelivery);
    net.pass(1_000_000);
    net.post_receive(1, 10);
    net.post(0, carrying(Descriptor::send(), b"last"));
    while net.ends[1].queues.received.is_empty() {
        assert!(net.step());
    }
    // The end disconnects before it acknowledges the message, so the packet that closes the
    // connection must carry the acknowledgement.
    net.ends[1].engine.disconnect();
    net.until(|[one, _]| one.queues.ended.is_some());
    assert_eq!(net.ends[0].queues.ended, Some(Ended::ByPeer));
    assert_eq!(statuses(&net.ends[0].queues.sent), [Status::Done]);
}

#[test]
fn a_lost_disconnect_is_repeated() {
    let mut net = Net::new(ReliableDelivery);
    net.pass(1_000_000);
    net.faults = Faults { cut: [false, true], ..Faults::default() };
    net.ends[1].engine.disconnect();
    net.pass(1_000_000);
    net.faults = Faults::default();
    assert_eq!(net.ends[0].queues.ended, None);
    net.post(0, carrying(Descriptor::send(), b"hello?"));
    net.until(|[one, _]| one.queues.ended.is_some());
    assert_eq!(net.ends[0].queues.ended, Some(Ended::ByPeer));
    assert_eq!(statuses(&net.ends[0].queues.sent), [Status::Flushed]);
}

#[test]
fn protocol_violations_break_the_connection() {
    let mut net = Net::new(ReliableDelivery);
    net.pass(1_000_000);
    let header = Header { to: 0x1111, number: 0, ack: 1000, sack: 0, window: 0 };
    let mut bytes = [0; MTU];
    let length = packet::write(&mut bytes, &header, &Body::Ack { further: &[] }).unwrap();
    net.deliver(1, &bytes[..length]);
    net.until(|ends| ends.iter().all(|end| end.queues.ended.is_some()));
    assert_eq!([net.ends[0].queues.ended, net.ends[1].queues.ended], [Some(Ended::Violation); 2]);
}
