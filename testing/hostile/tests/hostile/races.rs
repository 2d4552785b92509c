//! Tests of bytes that change during and after their check. The results may be wrong or refused,
//! but no other harm may be done.

use crate::peer::{AREA, Peer, SLEEP, first_word, slot};
use crate::scene::{Meanwhile, PATIENCE, Scene, Server, against_every_server};
use crate::segment::Segment;
use crate::wire::{self, Frame, Target, mark};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

against_every_server! {
    changing_counts_and_offsets_stay_inside_the_frame,
    changing_matching_counts_stay_inside_the_frame,
    changing_values_are_checked_where_they_are_used,
    strings_that_lose_their_zero_are_not_read_beyond_their_length,
    changing_references_are_refused_or_read_consistently,
    changing_slot_words_end_at_most_the_connection,
}

/// The duration of each of these tests, enough for some thousands of calls.
const WHILE: Duration = Duration::from_millis(1500);

/// Keeps writing values to 32-bit words of a segment, with the right value in every other turn.
pub(crate) fn flip(segment: Segment, words: Vec<(usize, Vec<u32>)>) -> Meanwhile {
    let mut turn = 0_usize;
    Meanwhile::start(move || {
        for _ in 0..1000 {
            turn = turn.wrapping_add(1);
            for (offset, values) in &words {
                // The first value is the right one. Every second turn stores it, because otherwise
                // no frame would pass the check.
                let value = if turn.is_multiple_of(2) { values[0] } else { values[(turn / 2) % values.len()] };
                segment.u32(*offset).store(value, Ordering::Relaxed);
            }
        }
    })
}

/// Makes a call repeatedly with a frame in the area, while words of the frame change. Some calls
/// must succeed, and some must be refused.
fn calls_on_moving_ground(server: Server, opnum: u16, frame: &Frame, words: &[(usize, &[u32])]) {
    let scene = Scene::of(server);
    let (mut peer, object) = scene.bound();
    peer.own.write(AREA, &frame.bytes);
    let words = words.iter().map(|(at, values)| (AREA + at, values.to_vec())).collect();
    let flipping = flip(peer.own, words);
    let (good, refused) = hammer(&mut peer, object, opnum, frame.bytes.len());
    drop(flipping);
    assert!(good > 0 && refused > 0, "{good} calls went well, {refused} were refused: nothing was tried");
    peer.assert_good(object);
    drop(peer);
    scene.assert_unharmed();
}

/// Makes calls for a while, with the frame in the area. Returns the numbers of successful and of
/// refused calls.
pub(crate) fn hammer(peer: &mut Peer, object: Target, opnum: u16, length: usize) -> (usize, usize) {
    let (mut good, mut refused) = (0, 0);
    let started = Instant::now();
    while started.elapsed() < WHILE || (good == 0 || refused == 0) && started.elapsed() < PATIENCE {
        peer.request_at(object, opnum, [0, 0, length as u32]);
        let answer = peer.message();
        match answer.kind {
            wire::RESPONSE => good += 1,
            wire::FAULT => refused += 1,
            other => panic!("an answer of kind {other}"),
        }
    }
    (good, refused)
}

fn array(count: u32) -> Frame {
    let values: Vec<u8> = (0..count).flat_map(u32::to_le_bytes).collect();
    Frame::block(16).u32(0, count).object(8, 16, count as usize, &values)
}

fn changing_counts_and_offsets_stay_inside_the_frame(server: Server) {
    let counts: &[u32] = &[40, 0, 39, 41, 4000, 0x3fff_ffff, 0x8000_0000, u32::MAX];
    let slots: &[u32] = &[24, 0, 16, 32, 4096, 0x8000_0000, u32::MAX - 7];
    calls_on_moving_ground(server, 4, &array(40), &[(0, counts), (8, slots), (12, &[0, 0, 1, u32::MAX]), (20, counts)]);
}

fn changing_matching_counts_stay_inside_the_frame(server: Server) {
    let counts: &[u32] = &[4000, 3000, 5000, 60_000, 0x2000_0000];
    calls_on_moving_ground(server, 5, &array(4000), &[(0, counts), (20, counts)]);
}

fn changing_values_are_checked_where_they_are_used(server: Server) {
    let marks = [mark(1, 4, 1), mark(0, 2, 2), mark(1, 1, 3)].concat();
    let frame = Frame::block(16).u32(0, 3).object(8, 17, 3, &marks);
    let colors: &[u32] = &[4, 0, 3, 255, u32::MAX];
    let flags: &[u32] = &[1, 2, 255, 0x0101, u32::MAX];
    calls_on_moving_ground(server, 12, &frame, &[(24, flags), (28, colors), (44, colors), (56, flags)]);
}

fn strings_that_lose_their_zero_are_not_read_beyond_their_length(server: Server) {
    let text = [vec![b'x'; 127], vec![0]].concat();
    let last = u32::from_le_bytes(*b"xxx\0");
    let counts: &[u32] = &[128, 127, 0, 1, 4000, u32::MAX];
    let frame = Frame::block(8).object(0, 2, 128, &text);
    calls_on_moving_ground(server, 9, &frame, &[(12, counts), (16 + 124, &[last, u32::MAX, 0x7878_7878])]);
}

fn changing_references_are_refused_or_read_consistently(server: Server) {
    let endpoint = "oxid-0000000000000001".to_owned();
    let reference = wire::Reference { iid: wire::ITHING, refs: 5, oxid: 1, oid: 1, target: (0, 1), endpoint };
    let bytes = reference.to_wire();
    let frame = Frame::block(8).object(0, 1, bytes.len(), &bytes);
    let scene = Scene::of(server);
    let (mut peer, object) = scene.bound();
    peer.own.write(AREA, &frame.bytes);
    let length = bytes.len() as u32;
    let at = |offset: usize| AREA + 16 + offset;
    let flipping = flip(
        peer.own,
        vec![
            (AREA + 12, vec![length, 0, 4096, u32::MAX]),
            (at(0), vec![0x574f_454d, 0]),
            (at(64), vec![u32::from(bytes[64]) | u32::from(bytes[65]) << 8, u32::MAX, 0xffff_0000]),
            (at(72), vec![0x0069_0078, 0xd800_d800, 0]),
        ],
    );
    let started = Instant::now();
    while started.elapsed() < WHILE {
        peer.request_at(object, 14, [0, 0, frame.bytes.len() as u32]);
        assert_eq!(peer.message().kind, wire::FAULT);
    }
    drop(flipping);
    peer.assert_good(object);
    drop(peer);
    scene.assert_unharmed();
}

fn changing_slot_words_end_at_most_the_connection(server: Server) {
    let scene = Scene::of(server);
    let started = Instant::now();
    let mut turn = 0_u32;
    while started.elapsed() < WHILE {
        let (mut peer, object) = scene.bound();
        let (own, at) = (peer.own, slot(peer.next));
        let frame = array(4).bytes;
        own.write(at + 16, &frame);
        let second = u64::from(object.0) | u64::from(object.1) << 32;
        let next = peer.next;
        // The due slot is rewritten all the time: kinds, lengths, targets, and offsets of a frame
        // in an area.
        let flipping = Meanwhile::start(move || {
            for _ in 0..1000 {
                turn = turn.wrapping_mul(0x9e37_79b9).wrapping_add(0x7f4a_7c15);
                let kind = [wire::REQUEST, wire::ONEWAY, wire::REQUEST, wire::PDU][turn as usize >> 28 & 3];
                let length = [frame.len() as u8, 0, 112, 255][turn as usize >> 26 & 3];
                own.u32(at + 16).store([4, 0, 1][turn as usize >> 8 & 1], Ordering::Relaxed);
                own.u32(at + 20).store([0, 1 << 18, u32::MAX - 7, 8][turn as usize >> 9 & 3], Ordering::Relaxed);
                own.u32(at + 24).store([24, 8, u32::MAX, 0][turn as usize >> 11 & 3], Ordering::Relaxed);
                own.u64(at + 8).store(second ^ u64::from(turn >> 13 & 1), Ordering::Relaxed);
                own.u64(at).store(first_word(next, (turn >> 16 & 31) as u16, kind, length), Ordering::Release);
                own.u32(SLEEP).store(turn, Ordering::Relaxed);
            }
        });
        turn = turn.wrapping_add(77);
        peer.ring();
        // The outcome is an answer or the end of the connection. A one-way message has neither.
        let _ = peer.message_within(Duration::from_millis(5));
        drop(flipping);
    }
    scene.assert_unharmed();
}
