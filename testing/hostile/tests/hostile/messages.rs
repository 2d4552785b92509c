//! Tests of wrong slots, lengths, offsets and shared words.

use crate::peer::{AREA, AREA_LENGTH, BELL, CONSUMED, Peer, SLEEP, first_word, slot};
use crate::scene::{Meanwhile, Scene, Server, against_every_server};
use crate::segment::Segment;
use crate::wire::{self, Frame, Target};
use rustix::fd::AsFd;
use std::sync::atomic::Ordering;

against_every_server! {
    messages_with_sequence_numbers_out_of_order_are_ignored,
    repeated_messages_are_answered_once,
    requests_without_reading_responses_affect_only_their_sender,
    messages_of_unknown_kinds_end_the_connection,
    cancels_of_unknown_calls_are_ignored,
    impossible_slot_lengths_end_the_connection,
    frames_outside_the_area_end_the_connection,
    frames_at_the_end_of_the_area_and_overlapping_frames_are_read,
    unknown_area_numbers_end_the_connection,
    areas_that_contradict_their_note_end_the_connection,
    frames_beyond_the_announced_area_end_the_connection,
    frames_in_a_replaced_area_end_the_connection,
    false_consumed_counts_affect_only_their_sender,
    needless_doorbell_rings_do_not_disturb_other_clients,
    messages_without_doorbell_rings_are_served_at_the_next_ring,
    random_socket_bytes_do_not_disturb_other_clients,
    false_calls_of_parked_servers_start_nothing,
    floods_of_false_calls_end_the_connection,
    files_that_no_message_asks_for_do_not_end_parked_connections,
    messages_that_are_taken_back_do_not_disturb_the_server,
    words_changed_while_the_server_is_parked_are_checked,
    clients_killed_while_the_server_is_parked_leave_nothing,
    clients_that_claim_to_be_parked_are_not_called,
    bytes_other_than_calls_end_parked_connections,
    half_closing_the_socket_ends_the_connection,
}

fn add() -> Vec<u8> {
    Frame::block(8).u32(0, 5).u32(4, 6).bytes
}

fn words(target: Target) -> u64 {
    u64::from(target.0) | u64::from(target.1) << 32
}

/// Writes a request to a slot with a sequence number that is not due.
fn misnumbered(peer: &Peer, object: Target, place: u32, sequence: u32) {
    peer.raw(place, first_word(sequence, 3, wire::REQUEST, 8), words(object), &add());
}

fn messages_with_sequence_numbers_out_of_order_are_ignored(server: Server) {
    let scene = Scene::of(server);
    let (mut peer, object) = scene.bound();
    let due = peer.next;
    // Each message goes to the slot of the due message, and to the slot of its own number.
    for sequence in [due + 16, due + 1600, due.wrapping_sub(16), due ^ 0x8000_0000, 0, u32::MAX, due + 1] {
        misnumbered(&peer, object, due, sequence);
        misnumbered(&peer, object, sequence, sequence);
    }
    peer.assert_silent();
    // The slots get their old sequence numbers back, and the connection goes on.
    (0..16).filter(|&place| place != due).for_each(|place| misnumbered(&peer, object, place, 0));
    peer.assert_good(object);
    peer.assert_good(object);
    drop(peer);
    scene.assert_unharmed();
}

fn repeated_messages_are_answered_once(server: Server) {
    let scene = Scene::of(server);
    let (mut peer, object) = scene.bound();
    let sequence = peer.post(wire::REQUEST, 3, object, &add());
    assert_eq!(peer.message().second, sequence);
    for _ in 0..5 {
        misnumbered(&peer, object, sequence, sequence);
    }
    peer.assert_silent();
    peer.assert_good(object);
    drop(peer);
    scene.assert_unharmed();
}

fn requests_without_reading_responses_affect_only_their_sender(server: Server) {
    let scene = Scene::of(server);
    let (mut peer, object) = scene.bound();
    for _ in 0..2000 {
        peer.post(wire::REQUEST, 3, object, &add());
        peer.post(wire::REQUEST, 6, object, &Frame::block(4).u32(0, 30_000).bytes);
    }
    drop(peer);
    scene.assert_unharmed();
}

/// Asserts that `act` ends the connection.
#[track_caller]
fn is_cut_off(scene: &Scene, act: impl FnOnce(&mut Peer, Target)) {
    let (mut peer, object) = scene.bound();
    act(&mut peer, object);
    peer.assert_cut_off();
}

fn messages_of_unknown_kinds_end_the_connection(server: Server) {
    let scene = Scene::of(server);
    for kind in [0, wire::RESPONSE, wire::FAULT, 7, 8, 0x80, 0xff] {
        is_cut_off(&scene, |peer, object| {
            peer.post(kind, 3, object, &add());
        });
    }
    scene.assert_unharmed();
}

fn cancels_of_unknown_calls_are_ignored(server: Server) {
    let scene = Scene::of(server);
    let (mut peer, object) = scene.bound();
    for call in [0, 1, 99, u32::MAX] {
        peer.post(wire::CANCEL, 3, (call, call), &add());
    }
    peer.assert_good(object);
    drop(peer);
    scene.assert_unharmed();
}

fn impossible_slot_lengths_end_the_connection(server: Server) {
    let scene = Scene::of(server);
    for length in [113, 128, 200, 254] {
        is_cut_off(&scene, |peer, object| {
            let first = first_word(peer.next, 3, wire::REQUEST, length);
            peer.raw(peer.next, first, words(object), &add());
        });
    }
    scene.assert_unharmed();
}

fn frames_outside_the_area_end_the_connection(server: Server) {
    let scene = Scene::of(server);
    let end = AREA_LENGTH as u32;
    let places = [
        [0, end, 8],
        [0, end - 8, 16],
        [0, 0, end + 1],
        [0, 0, u32::MAX],
        [0, u32::MAX, 1],
        [0, u32::MAX - 7, u32::MAX],
        [0, u32::MAX - 7, 8],
        [0, 0x8000_0000, 0x8000_0000],
        [0, 4, 8],
        [0, 1, 1],
        [0, end + 8, 0],
    ];
    for place in places {
        is_cut_off(&scene, |peer, object| peer.request_at(object, 3, place));
    }
    scene.assert_unharmed();
}

fn frames_at_the_end_of_the_area_and_overlapping_frames_are_read(server: Server) {
    let scene = Scene::of(server);
    let (mut peer, object) = scene.bound();
    let end = AREA_LENGTH as u32;
    peer.own.write(crate::peer::AREA + AREA_LENGTH - 8, &add());
    peer.request_at(object, 3, [0, end - 8, 8]);
    assert_eq!(peer.message().frame, 11_u64.to_le_bytes());
    peer.request_at(object, 3, [0, end, 0]);
    let answer = peer.message();
    assert_eq!((answer.kind, answer.first), (wire::FAULT, wire::BAD_DATA));
    // The second frame lies inside of the first one.
    let sum = Frame::block(16).u32(0, 4).object(8, 16, 4, &[1_u32, 2, 3, 4].map(u32::to_le_bytes).concat()).bytes;
    peer.own.write(crate::peer::AREA, &sum);
    peer.request_at(object, 4, [0, 0, sum.len() as u32]);
    assert_eq!(peer.message().frame, 10_u64.to_le_bytes());
    peer.request_at(object, 3, [0, 24, 8]);
    assert_eq!(peer.message().frame, 3_u64.to_le_bytes());
    drop(peer);
    scene.assert_unharmed();
}

fn unknown_area_numbers_end_the_connection(server: Server) {
    let scene = Scene::of(server);
    for number in [1, 2, 7, u32::MAX] {
        is_cut_off(&scene, |peer, object| peer.request_at(object, 3, [number, 0, 8]));
    }
    scene.assert_unharmed();
}

fn areas_that_contradict_their_note_end_the_connection(server: Server) {
    let scene = Scene::of(server);
    let fd = || crate::segment::memory_file(1 << 20);
    // The notes have these errors, in this order: a number other than the request's, no length, a
    // length beyond the limit (twice), a length beyond the file's end, no seals, no file, and too
    // many files.
    let notes: [&dyn Fn(&mut Peer); 8] = [
        &|peer| {
            peer.hand_over(2, 1 << 20);
        },
        &|peer| peer.note(1, 0, &[crate::segment::Segment::create(1 << 20).1.as_fd()]),
        &|peer| peer.note(1, 1 << 40, &[crate::segment::Segment::create(1 << 20).1.as_fd()]),
        &|peer| peer.note(1, u64::MAX, &[crate::segment::Segment::create(1 << 20).1.as_fd()]),
        &|peer| peer.note(1, 2 << 20, &[crate::segment::Segment::create(1 << 20).1.as_fd()]),
        &|peer| peer.note(1, 1 << 20, &[fd().as_fd()]),
        &|peer| peer.note(1, 1 << 20, &[]),
        &|peer| peer.note(1, 1 << 20, &[fd().as_fd(), fd().as_fd(), fd().as_fd()]),
    ];
    // A Java virtual machine cannot see seals, and gets exactly one file name with each note. So
    // only the first five notes have errors for it.
    let noted = if server == Server::Java { 5 } else { notes.len() };
    for note in &notes[..noted] {
        is_cut_off(&scene, |peer, object| {
            note(peer);
            peer.request_at(object, 3, [1, 0, 8]);
        });
    }
    scene.assert_unharmed();
}

fn frames_beyond_the_announced_area_end_the_connection(server: Server) {
    let scene = Scene::of(server);
    let (mut peer, object) = scene.bound();
    let area = peer.hand_over(1, 5000);
    area.write(4992, &add());
    peer.request_at(object, 3, [1, 4992, 8]);
    assert_eq!(peer.message().frame, 11_u64.to_le_bytes());
    // The rest of the area's last page is mapped, but is not part of the area.
    peer.request_at(object, 3, [1, 5000, 8]);
    peer.assert_cut_off();
    drop(peer);
    scene.assert_unharmed();
}

fn frames_in_a_replaced_area_end_the_connection(server: Server) {
    let scene = Scene::of(server);
    is_cut_off(&scene, |peer, object| {
        let area = peer.hand_over(1, 8192);
        area.write(0, &add());
        peer.request_at(object, 3, [1, 0, 8]);
        assert_eq!(peer.message().frame, 11_u64.to_le_bytes());
        peer.request_at(object, 3, [0, 0, 8]);
    });
    scene.assert_unharmed();
}

fn false_consumed_counts_affect_only_their_sender(server: Server) {
    let scene = Scene::of(server);
    let (mut peer, object) = scene.bound();
    for consumed in [0, 1, 1000, 0x7fff_ffff, 0x8000_0000, u32::MAX] {
        peer.own.u32(CONSUMED).store(consumed, Ordering::SeqCst);
        // The replies need areas: larger and larger ones at first, and then a smaller one.
        for count in [10, 30_000, 60_000, 100_000, 10_000] {
            let frame = Frame::block(4).u32(0, count).bytes;
            peer.post(wire::REQUEST, 6, object, &frame);
            peer.post(wire::ONEWAY, 6, object, &frame);
            while peer.message_within(crate::scene::MOMENT).is_some_and(|answer| answer.sequence < peer.next - 1) {
                peer.own.u32(CONSUMED).store(consumed, Ordering::SeqCst);
            }
        }
    }
    drop(peer);
    scene.assert_unharmed();
}

fn needless_doorbell_rings_do_not_disturb_other_clients(server: Server) {
    let scene = Scene::of(server);
    let (mut peer, object) = scene.bound();
    let own = peer.own;
    let mut value = 1_u32;
    let ringing = Meanwhile::start(move || {
        value = value.wrapping_mul(0x9e37_79b9).wrapping_add(1);
        own.u32(BELL).store(value, Ordering::SeqCst);
        own.u32(SLEEP).store(value >> 7, Ordering::SeqCst);
        let _ = rustix::thread::futex::wake(own.u32(BELL), rustix::thread::futex::Flags::empty(), 1);
    });
    for _ in 0..300 {
        peer.assert_good(object);
    }
    drop(ringing);
    drop(peer);
    scene.assert_unharmed();
}

fn messages_without_doorbell_rings_are_served_at_the_next_ring(server: Server) {
    let scene = Scene::of(server);
    let (mut peer, object) = scene.bound();
    for _ in 0..5 {
        let sequence = peer.next;
        peer.own.write(slot(sequence) + 16, &add());
        peer.own.u64(slot(sequence) + 8).store(words(object), Ordering::Relaxed);
        peer.own.u64(slot(sequence)).store(first_word(sequence, 3, wire::REQUEST, 8), Ordering::Release);
        peer.next += 1;
        // The server may be asleep.
        let early = peer.message_within(crate::scene::MOMENT);
        peer.ring();
        assert_eq!(early.unwrap_or_else(|| peer.message()).frame, 11_u64.to_le_bytes());
    }
    drop(peer);
    scene.assert_unharmed();
}

fn random_socket_bytes_do_not_disturb_other_clients(server: Server) {
    let scene = Scene::of(server);
    let (mut peer, object) = scene.bound();
    peer.socket.set_nonblocking(true).unwrap();
    let fd = crate::segment::memory_file(4096);
    while crate::peer::send(&peer.socket, &[0xa5; 4096], &[fd.as_fd()]).is_ok() {}
    peer.request_at(object, 3, [1, 0, 8]);
    peer.assert_cut_off();
    drop(peer);
    scene.assert_unharmed();
}

fn false_calls_of_parked_servers_start_nothing(server: Server) {
    let scene = Scene::of(server);
    if !server.parks() {
        return scene.assert_unharmed();
    }
    let (mut peer, object) = scene.bound();
    for calls in [1, 3, 40] {
        peer.await_parked();
        for _ in 0..calls {
            peer.send_on_socket(&wire::CALL_NOTE);
            assert!(peer.is_peer_parked());
        }
        peer.assert_silent();
        assert!(peer.is_peer_parked());
        peer.assert_good(object);
    }
    // The peer also sends the note while the server serves the connection.
    for _ in 0..300 {
        peer.send_on_socket(&wire::CALL_NOTE);
        peer.assert_good(object);
    }
    drop(peer);
    scene.assert_unharmed();
}

/// Each note that calls a parked peer takes time from the threads that wait for the connections of
/// all peers.
fn floods_of_false_calls_end_the_connection(server: Server) {
    let scene = Scene::of(server);
    if !server.parks() {
        return scene.assert_unharmed();
    }
    let (mut peer, _) = scene.bound();
    let (mut other, object) = scene.bound();
    peer.await_parked();
    let socket = peer.socket.try_clone().unwrap();
    let calling = Meanwhile::start(move || {
        let _ = crate::peer::send(&socket, &wire::CALL_NOTE, &[]);
    });
    for _ in 0..5 {
        other.await_parked();
        other.assert_good(object);
    }
    peer.assert_cut_off();
    drop(calling);
    drop(peer);
    scene.assert_unharmed();
}

/// A call can fail after the hand-over of an area or a region, and before the message that names
/// the area or region is sent. The file of the area or region then stays in the socket.
fn files_that_no_message_asks_for_do_not_end_parked_connections(server: Server) {
    let scene = Scene::of(server);
    let (mut peer, object) = scene.bound();
    if server.parks() {
        peer.await_parked();
        for number in 1..7 {
            peer.hand_over(number, 4096);
        }
        for _ in 0..3 {
            peer.assert_silent();
            peer.assert_good(object);
        }
    }
    drop(peer);
    scene.assert_unharmed();
}

fn messages_that_are_taken_back_do_not_disturb_the_server(server: Server) {
    let scene = Scene::of(server);
    let (mut peer, object) = scene.bound();
    for _ in (0..30).filter(|_| server.parks()) {
        peer.await_parked();
        let due = peer.own.u64(slot(peer.next));
        let former = due.load(Ordering::SeqCst);
        let publish = || peer.raw(peer.next, first_word(peer.next, 3, wire::REQUEST, 8), words(object), &add());
        publish();
        due.store(former, Ordering::SeqCst);
        // If the server has already taken the message, it ignores the repetition.
        publish();
        peer.next += 1;
        assert_eq!(peer.message().frame, 11_u64.to_le_bytes());
        peer.assert_good(object);
    }
    drop(peer);
    scene.assert_unharmed();
}

fn words_changed_while_the_server_is_parked_are_checked(server: Server) {
    let scene = Scene::of(server);
    for kind in [wire::REQUEST, 0xff].into_iter().filter(|_| server.parks()) {
        let (mut peer, object) = scene.bound();
        peer.await_parked();
        let due = peer.next;
        for value in [1, 2, 3, u32::MAX, 0] {
            for word in [SLEEP, BELL, CONSUMED] {
                peer.own.u32(word).store(value, Ordering::SeqCst);
                peer.send_on_socket(&wire::CALL_NOTE);
            }
            // The message is not the one that is due.
            peer.own.u64(slot(due)).store(first_word(due.wrapping_add(value | 1), 3, kind, 8), Ordering::SeqCst);
            peer.send_on_socket(&wire::CALL_NOTE);
        }
        peer.assert_silent();
        assert!(peer.is_peer_parked());
        if kind == wire::REQUEST {
            peer.assert_good(object);
        } else {
            peer.raw(due, first_word(due, 3, kind, 8), words(object), &add());
            peer.assert_cut_off();
        }
    }
    scene.assert_unharmed();
}

fn clients_killed_while_the_server_is_parked_leave_nothing(server: Server) {
    let scene = Scene::of(server);
    for half in [None, Some(std::net::Shutdown::Write), Some(std::net::Shutdown::Both)] {
        let peers: Vec<_> = (0..20).filter(|_| server.parks()).map(|_| scene.bound().0).collect();
        for peer in &peers {
            peer.await_parked();
            half.map_or(Ok(()), |half| peer.socket.shutdown(half)).unwrap();
        }
        // A process that is killed closes all its sockets.
        drop(peers);
    }
    scene.assert_unharmed();
}

/// A client never parks, so a server wakes it by the bell alone.
fn clients_that_claim_to_be_parked_are_not_called(server: Server) {
    let scene = Scene::of(server);
    if server.parks() {
        let socket = crate::peer::connect(&scene.directory.socket("victim"));
        let (own, fd) = Segment::create(AREA + AREA_LENGTH);
        // The flag 1 says that the client may sleep.
        let mut greeting = wire::greeting(AREA_LENGTH as u64);
        greeting[12] |= 1;
        crate::peer::send(&socket, &greeting, &[fd.as_fd()]).unwrap();
        let (area, passed) = Peer::greeting_of_peer(&socket).unwrap();
        let theirs = Segment::map(passed.unwrap(), AREA + area, false);
        own.u32(SLEEP).store(crate::peer::PARKED, Ordering::SeqCst);
        let mut peer = Peer::of(socket, own, fd, theirs);
        peer.introduce();
        let object = peer.resolve("victim", wire::IVICTIM);
        peer.assert_good(object);
        assert_ne!(peer.theirs.u32(BELL).load(Ordering::SeqCst), 0, "the server rings");
        peer.socket.set_nonblocking(true).unwrap();
        let read = std::io::Read::read(&mut &peer.socket, &mut [0; 16]);
        assert_eq!(read.unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    }
    scene.assert_unharmed();
}

fn bytes_other_than_calls_end_parked_connections(server: Server) {
    let scene = Scene::of(server);
    let file = crate::segment::memory_file(4096);
    let with_file = |peer: &Peer| {
        crate::peer::send(&peer.socket, &wire::CALL_NOTE, &[file.as_fd()]).unwrap();
    };
    let unknown = |peer: &Peer| peer.send_on_socket(&[9; 16]);
    let cut = |peer: &Peer| peer.send_on_socket(&wire::CALL_NOTE[..5]);
    let attacks: [&dyn Fn(&Peer); 3] = [&with_file, &unknown, &cut];
    for attack in attacks.into_iter().filter(|_| server.parks()) {
        let (mut peer, _) = scene.bound();
        peer.await_parked();
        attack(&peer);
        peer.assert_cut_off();
    }
    scene.assert_unharmed();
}

fn half_closing_the_socket_ends_the_connection(server: Server) {
    let scene = Scene::of(server);
    let (mut peer, object) = scene.bound();
    peer.assert_good(object);
    peer.socket.shutdown(std::net::Shutdown::Write).unwrap();
    peer.assert_cut_off();
    drop(peer);
    scene.assert_unharmed();
}
