//! Tests of attacks that concern only a server in a Java virtual machine, which opens files by
//! their names, and cannot see whether they are sealed.

use crate::peer::{AREA, AREA_LENGTH, MARK, Peer, await_end, connect, name_segments, receive_either, send, send_names};
use crate::scene::{MOMENT, Scene, Server, against_java, await_that};
use crate::segment::{Segment, memory_file};
use crate::wire::{self, Frame, NOT_FOUND, Reference, Target};
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

#[test]
fn java() {
    against_java(&[
        ("segment_names_that_lead_nowhere_end_the_connection", segment_names_that_lead_nowhere_end_the_connection),
        ("pipes_named_as_segments_are_refused_at_once", pipes_named_as_segments_are_refused_at_once),
        ("truncated_segments_end_the_connection", truncated_segments_end_the_connection),
        (
            "clients_with_truncated_segments_lose_their_references",
            clients_with_truncated_segments_lose_their_references,
        ),
        ("truncated_areas_end_the_connection", truncated_areas_end_the_connection),
    ]);
}

/// Sends a greeting, and waits for the answer.
fn greet(scene: &Scene) -> std::os::unix::net::UnixStream {
    let socket = connect(&scene.directory.socket("victim"));
    send(&socket, &wire::greeting(AREA_LENGTH as u64), &[]).unwrap();
    assert!(receive_either(&socket, &mut [0; 24]).is_some(), "a greeting");
    socket
}

/// Creates valid files for both segments, without seals.
fn files() -> [OwnedFd; 2] {
    [AREA + AREA_LENGTH, AREA + (256 << 20)].map(|length| memory_file(length as u64))
}

fn segment_names_that_lead_nowhere_end_the_connection(server: Server) {
    let scene = Scene::of(server);
    let [own, theirs] = files();
    let good = [std::process::id(), own.as_raw_fd().cast_unsigned(), theirs.as_raw_fd().cast_unsigned(), 0];
    name_segments(&greet(&scene), [own.as_fd(), theirs.as_fd()]);
    let wrong = [
        (0, 0),
        (0, u32::MAX),
        (0, 1),
        // The process is the Java virtual machine itself.
        (0, scene.server.id()),
        (1, u32::MAX),
        (1, 0x7fff_ffff),
        (2, u32::MAX),
        (2, 0x8000_0000),
    ];
    for (at, value) in wrong {
        let mut words = good;
        words[at] = value;
        let socket = greet(&scene);
        send_names(&socket, words, MARK);
        await_end(&socket);
    }
    for mark in [[0; 8], [0xff; 8]] {
        let socket = greet(&scene);
        send_names(&socket, good, mark);
        await_end(&socket);
    }
    let socket = greet(&scene);
    send(&socket, &[0xee; 23], &[]).unwrap();
    socket.shutdown(std::net::Shutdown::Write).unwrap();
    await_end(&socket);
    scene.assert_unharmed();
}

/// Opening a pipe would wait for a writer.
fn pipes_named_as_segments_are_refused_at_once(server: Server) {
    let scene = Scene::of(server);
    let path = scene.directory.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    let pipe = std::fs::File::options().read(true).write(true).open(&path).unwrap();
    let [own, theirs] = files();
    for files in [[pipe.as_fd(), theirs.as_fd()], [own.as_fd(), pipe.as_fd()]] {
        let socket = greet(&scene);
        name_segments(&socket, files);
        await_end(&socket);
    }
    drop(pipe);
    scene.assert_unharmed();
}

/// Returns a peer whose files are not sealed, its object, and the files.
#[track_caller]
fn unsealed(scene: &Scene) -> (Peer, Target, [OwnedFd; 2]) {
    let files = files();
    let socket = greet(scene);
    name_segments(&socket, [files[0].as_fd(), files[1].as_fd()]);
    assert!(receive_either(&socket, &mut [0]).is_some(), "it has mapped both");
    let own = Segment::map(&files[0], AREA + AREA_LENGTH, true);
    let theirs = Segment::map(&files[1], AREA + AREA_LENGTH, false);
    let mut peer = Peer::by_name(socket, own, files[0].try_clone().unwrap(), theirs);
    peer.introduce();
    let object = peer.resolve("victim", wire::IVICTIM);
    (peer, object, files)
}

fn cut(file: &OwnedFd) {
    rustix::fs::ftruncate(file, 0).unwrap();
}

/// Truncates the files while the server sleeps, waits for a message, reads a message, or answers.
fn truncated_segments_end_the_connection(server: Server) {
    let scene = Scene::of(server);
    let values: Vec<u8> = (0..60_000_u32).flat_map(u32::to_le_bytes).collect();
    let frame = Frame::block(16).u32(0, 60_000).object(8, 16, 60_000, &values).bytes;
    for turn in 0..30_u64 {
        let (mut peer, object, files) = unsealed(&scene);
        if turn % 3 == 0 {
            std::thread::sleep(MOMENT / 3);
        } else {
            peer.own.write(AREA, &frame);
            peer.request_at(object, 5, [0, 0, frame.len() as u32]);
            std::thread::sleep(Duration::from_micros(turn * 37 % 1000));
        }
        cut(&files[turn as usize / 3 % 2]);
        cut(&files[1 - turn as usize / 3 % 2]);
        let _ = send(&peer.socket, &[0], &[]);
        await_end(&peer.socket);
    }
    scene.assert_unharmed();
}

fn clients_with_truncated_segments_lose_their_references(server: Server) {
    let scene = Scene::of(server);
    let (mut witness, _) = scene.bound();
    for number in 0..20 {
        let (mut peer, object, files) = unsealed(&scene);
        let made = peer.good(object, 15, &Frame::block(4).u32(0, number).bytes);
        let thing = Reference::target_of(&made[16..]).0;
        assert_eq!(witness.good(thing, 3, &[])[..4], number.to_le_bytes());
        cut(&files[0]);
        let _ = send(&peer.socket, &[0], &[]);
        await_that("what it held is dropped", || witness.call(thing, 3, &[]).first == NOT_FOUND);
    }
    drop(witness);
    scene.assert_unharmed();
}

fn truncated_areas_end_the_connection(server: Server) {
    let scene = Scene::of(server);
    for turn in 0..20 {
        let (mut peer, object) = scene.bound();
        let area = memory_file(1 << 20);
        peer.note(1, 1 << 20, &[area.as_fd()]);
        let values = vec![0; 4 * 200_000];
        let frame = Frame::block(16).u32(0, 200_000).object(8, 16, 200_000, &values).bytes;
        rustix::io::pwrite(&area, &frame, 0).unwrap();
        peer.request_at(object, 4, [1, 0, frame.len() as u32]);
        if turn % 2 == 0 {
            assert_eq!(peer.message().frame, [0; 8]);
            peer.request_at(object, 4, [1, 0, frame.len() as u32]);
        }
        cut(&area);
        // The server may have sent the answer before the area was truncated. Otherwise the
        // connection ends.
        let _ = peer.message_within(MOMENT);
        peer.request_at(object, 4, [1, 0, frame.len() as u32]);
        peer.assert_cut_off();
    }
    scene.assert_unharmed();
}
