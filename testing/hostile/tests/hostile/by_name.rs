//! Tests of peers that cannot receive file descriptors, and open the segments by their names.

use crate::peer::{AREA, AREA_LENGTH, Peer, SLEEP, await_end, connect, number_of, receive, send};
use crate::scene::{Meanwhile, Scene, Server, against_every_server};
use crate::segment::{Segment, memory_file};
use crate::wire::{self, Frame};
use rustix::fd::AsFd;
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use std::fs::File;
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;

against_every_server! {
    peers_without_descriptor_passing_are_served,
    peers_that_sleep_on_the_socket_are_woken_by_it,
    parked_servers_are_called_by_the_socket,
    areas_passed_by_name_are_opened,
    wrong_answers_to_segment_names_end_the_connection,
    missing_answers_to_segment_names_time_out,
    areas_and_regions_passed_as_descriptors_of_named_peers_are_refused,
    regions_by_name_are_for_virtual_machines,
    endless_socket_wake_ups_do_not_disturb_other_clients;
    but_java:
    the_servers_named_segment_is_read_only,
    the_clients_segment_is_sealed_once_it_is_mapped,
    greetings_by_name_with_descriptors_are_refused,
}

/// The opnum of a method with an array by reference.
const TOTAL: u16 = 26;

/// Returns the greeting of a peer that cannot receive file descriptors.
fn greeting() -> Vec<u8> {
    let mut greeting = wire::greeting(AREA_LENGTH as u64);
    // The flags also say that the peer may sleep.
    greeting[12] |= 5;
    greeting
}

/// Opens the files that the answer to a greeting names: the server's segment, and the peer's own.
#[track_caller]
fn names(socket: &UnixStream) -> [File; 2] {
    let mut bytes = [0; 48];
    let mut got = 0;
    while got < bytes.len() {
        got += std::io::Read::read(&mut &*socket, &mut bytes[got..]).unwrap();
    }
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!(bytes[..12], wire::greeting(0)[..12]);
    assert_eq!(word(36), 0);
    let files = [word(28), word(32)].map(|number| {
        let path = format!("/proc/{}/fd/{number}", word(24));
        File::options().read(true).write(true).open(path).unwrap()
    });
    for file in &files {
        let mut mark = [0; 8];
        std::os::unix::fs::FileExt::read_exact_at(file, &mut mark, 384).unwrap();
        assert_eq!(mark, bytes[40..48], "it is the segment that was meant");
    }
    files
}

fn greet(scene: &Scene) -> (UnixStream, [File; 2]) {
    let socket = connect(&scene.directory.socket("victim"));
    send(&socket, &greeting(), &[]).unwrap();
    let files = names(&socket);
    (socket, files)
}

/// Returns a peer, which has mapped both segments and resolved the object. Also returns the object.
#[track_caller]
fn bound(scene: &Scene) -> (Peer, wire::Target) {
    let (socket, [theirs, own]) = greet(scene);
    let own_segment = Segment::map(&own, AREA + AREA_LENGTH, true);
    // The segment for Java virtual machines is longer than these tests need.
    let length = theirs.metadata().unwrap().len().min(64 << 20);
    let theirs = Segment::map(&theirs, length as usize, false);
    send(&socket, &[1], &[]).unwrap();
    let mut peer = Peer::by_name(socket, own_segment, own.into(), theirs);
    peer.introduce();
    let object = peer.resolve("victim", wire::IVICTIM);
    (peer, object)
}

fn peers_without_descriptor_passing_are_served(server: Server) {
    let scene = Scene::of(server);
    let (mut peer, object) = bound(&scene);
    for turn in 0..50 {
        peer.assert_good(object);
        if turn % 10 == 0 {
            // The pause lets the server sleep.
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
    drop(peer);
    scene.assert_unharmed();
}

fn peers_that_sleep_on_the_socket_are_woken_by_it(server: Server) {
    let scene = Scene::of(server);
    let (mut peer, object) = bound(&scene);
    const TURNS: usize = 5;
    let mut calls = 0;
    for _ in 0..TURNS {
        peer.own.u32(SLEEP).store(1, Ordering::SeqCst);
        peer.post(wire::REQUEST, 3, object, &Frame::block(8).u32(0, 5).u32(4, 6).bytes);
        // The peer sleeps until the server rings, even if the server rings long after its response.
        let mut call = [7; 2];
        let count = std::io::Read::read(&mut &peer.socket, &mut call).unwrap();
        assert!(count > 0 && call[..count].iter().all(|byte| *byte == 0), "{count} bytes: {call:?}");
        calls += count;
        peer.own.u32(SLEEP).store(0, Ordering::SeqCst);
        assert_eq!(peer.message().kind, wire::RESPONSE);
    }
    // The server rings once for each response. After a response, the server may also check once
    // more whether the peer sleeps. If this check is so late that the peer already sleeps in the
    // next turn, the server rings again.
    assert!((TURNS..=2 * TURNS).contains(&calls), "{calls} rings for {TURNS} responses");
    drop(peer);
    scene.assert_unharmed();
}

fn parked_servers_are_called_by_the_socket(server: Server) {
    let scene = Scene::of(server);
    let (mut peer, object) = bound(&scene);
    for _ in (0..5).filter(|_| server.parks()) {
        peer.await_parked();
        peer.assert_good(object);
    }
    drop(peer);
    scene.assert_unharmed();
}

fn areas_passed_by_name_are_opened(server: Server) {
    let scene = Scene::of(server);
    let (mut peer, object) = bound(&scene);
    for length in [100_u32, 300_000, 100, 700_000] {
        // The method Fill returns this number of words.
        let results = peer.good(object, 6, &Frame::block(8).u32(0, length).bytes);
        assert!(results.len() >= 4 * length as usize, "{length} words take more than {} bytes", results.len());
    }
    peer.assert_good(object);
    drop(peer);
    scene.assert_unharmed();
}

#[track_caller]
fn assert_unwritable(file: &File, length: usize) {
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a fresh mapping at an address of the kernel's choice touches no memory in use.
    let mapped =
        unsafe { rustix::mm::mmap(std::ptr::null_mut(), length, protection, MapFlags::SHARED, file.as_fd(), 0) };
    assert_eq!(mapped.err(), Some(Errno::PERM));
    assert_eq!(rustix::io::pwrite(file, &[1; 64], 512).err(), Some(Errno::PERM));
    assert_eq!(rustix::fs::ftruncate(file, 0).err(), Some(Errno::PERM));
}

fn the_servers_named_segment_is_read_only(server: Server) {
    let scene = Scene::of(server);
    let (socket, [theirs, _own]) = greet(&scene);
    assert_unwritable(&theirs, AREA);
    drop(socket);
    scene.assert_unharmed();
}

fn the_clients_segment_is_sealed_once_it_is_mapped(server: Server) {
    let scene = Scene::of(server);
    let (socket, [_theirs, own]) = greet(&scene);
    assert_eq!(rustix::fs::ftruncate(&own, 0).err(), Some(Errno::PERM), "its size is fixed from the start");
    send(&socket, &[1], &[]).unwrap();
    let has_seals = || {
        let seals = rustix::fs::fcntl_get_seals(&own).unwrap();
        seals.contains(crate::segment::SEALS)
    };
    crate::scene::await_that("the segment is sealed", has_seals);
    assert_unwritable(&own, AREA);
    drop(socket);
    scene.assert_unharmed();
}

fn wrong_answers_to_segment_names_end_the_connection(server: Server) {
    let scene = Scene::of(server);
    for answer in [0, 2, 0xff] {
        let (socket, _files) = greet(&scene);
        send(&socket, &[answer], &[]).unwrap();
        await_end(&socket);
    }
    let (socket, _files) = greet(&scene);
    socket.shutdown(std::net::Shutdown::Write).unwrap();
    await_end(&socket);
    scene.assert_unharmed();
}

fn missing_answers_to_segment_names_time_out(server: Server) {
    let scene = Scene::of(server);
    let silent: Vec<_> = (0..20).map(|_| greet(&scene)).collect();
    silent.iter().for_each(|(socket, _)| await_end(socket));
    scene.assert_unharmed();
}

fn greetings_by_name_with_descriptors_are_refused(server: Server) {
    let scene = Scene::of(server);
    let (_, fd) = Segment::create(AREA + AREA_LENGTH);
    let socket = connect(&scene.directory.socket("victim"));
    send(&socket, &greeting(), &[fd.as_fd()]).unwrap();
    await_end(&socket);
    assert!(receive(&socket, &mut [0; 24]).is_none(), "it was greeted");
    scene.assert_unharmed();
}

fn areas_and_regions_passed_as_descriptors_of_named_peers_are_refused(server: Server) {
    let scene = Scene::of(server);
    let (mut peer, object) = bound(&scene);
    let file = memory_file(4096);
    peer.note(1, 4096, &[file.as_fd()]);
    peer.request_at(object, 3, [1, 0, 8]);
    peer.assert_cut_off();
    let (mut peer, _) = bound(&scene);
    peer.note(1, 4096, &[file.as_fd()]);
    // The runtime's own call by which the server takes over a region that was handed over.
    let answer = peer.call(wire::SYSTEM, 11, &1_u64.to_le_bytes());
    assert!(answer.kind == wire::FAULT || answer.first != 0, "{answer:?}");
    drop(peer);
    scene.assert_unharmed();
}

/// The length of the region in bytes. The mark follows the region in its file.
const REGION: usize = 8192;

/// Sends the name of a region: the number of a file descriptor, the ID of the process that has it,
/// and the mark.
fn name_region(peer: &Peer, descriptor: u64, process: u64, mark: u64) {
    // The region has number 1, and is read-only.
    let words = [1 << 32 | 1, REGION as u64, descriptor, process, mark];
    let note: Vec<u8> = [1].into_iter().chain(words.into_iter().flat_map(u64::to_le_bytes)).collect();
    send(&peer.socket, &note, &[]).unwrap();
}

fn regions_by_name_are_for_virtual_machines(server: Server) {
    const MARK: u64 = 0x1234_5678_9abc_def0;
    let scene = Scene::of(server);
    let file = memory_file(REGION as u64 + 8);
    rustix::io::pwrite(&file, &MARK.to_le_bytes(), REGION as u64).unwrap();
    rustix::io::pwrite(&file, &7_u32.to_le_bytes(), 0).unwrap();
    let (own, number) = (u64::from(std::process::id()), u64::from(number_of(file.as_fd())));
    let total = Frame::block(16).u32(0, 2048).u64(8, 1 << 48).bytes;
    let names = [
        (number, own, MARK, true),
        (number, own, MARK + 1, false),
        (number, 0, MARK, false),
        (number, 1, MARK, false),
        (number, u64::MAX, MARK, false),
        (number, 1 << 32 | own, MARK, false),
        (0xffff, own, MARK, false),
        (u64::MAX, own, MARK, false),
    ];
    for (number, process, mark, is_good) in names {
        let (mut peer, object) = bound(&scene);
        name_region(&peer, number, process, mark);
        let answer = peer.call(wire::SYSTEM, 11, &1_u64.to_le_bytes());
        if is_good && server == Server::Java {
            assert_eq!((answer.kind, answer.first), (wire::RESPONSE, 0), "{answer:x?}");
            assert_eq!(peer.good(object, TOTAL, &total), 7_u64.to_le_bytes());
        } else {
            assert!(answer.kind == wire::FAULT || answer.first != 0, "{number:x} of {process:x}: {answer:x?}");
            peer.refused(object, TOTAL, &total, wire::BAD_DATA);
        }
        peer.assert_good(object);
    }
    if server == Server::Java {
        // A truncated region ends the connection of its peer, and no other connection.
        let (mut peer, object) = bound(&scene);
        name_region(&peer, number, own, MARK);
        assert_eq!(peer.call(wire::SYSTEM, 11, &1_u64.to_le_bytes()).first, 0);
        rustix::fs::ftruncate(&file, 0).unwrap();
        peer.post(wire::REQUEST, TOTAL, object, &total);
        await_end(&peer.socket);
    }
    scene.assert_unharmed();
}

fn endless_socket_wake_ups_do_not_disturb_other_clients(server: Server) {
    let scene = Scene::of(server);
    // If the server parks its connections, it ends the connection of the peer that rings all the
    // time.
    let (peer, _) = bound(&scene);
    let (mut other, object) = bound(&scene);
    let socket = peer.socket.try_clone().unwrap();
    socket.set_nonblocking(true).unwrap();
    let ringing = Meanwhile::start(move || {
        let _ = send(&socket, &[0xa5; 4096], &[]);
    });
    for _ in 0..300 {
        other.assert_good(object);
    }
    drop(ringing);
    drop((peer, other));
    scene.assert_unharmed();
}
