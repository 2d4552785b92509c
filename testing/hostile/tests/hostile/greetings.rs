//! Tests of invalid greetings and segments.

use crate::peer::{AREA, AREA_LENGTH, Peer, await_end, connect, name_segments, receive, receive_either, send};
use crate::scene::{Scene, Server, against_every_server};
use crate::segment::{SEALS, Segment, memory_file};
use crate::wire;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::io::Errno;

against_every_server! {
    bytes_behind_a_greeting_are_not_taken_for_an_area,
    greetings_with_wrong_fields_end_the_connection,
    segments_that_are_no_memory_files_are_refused,
    segments_shorter_than_announced_are_refused,
    partial_greetings_time_out,
    clients_without_a_greeting_time_out;
    but_java:
    greetings_of_a_wrong_length_are_turned_away,
    greetings_need_exactly_one_descriptor,
    segments_without_seals_are_refused,
    segments_of_huge_pages_are_turned_away,
    accepted_segments_cannot_be_truncated,
    the_servers_segment_is_read_only_for_clients,
}

/// Sends a greeting; the server must hang up without a greeting of its own.
#[track_caller]
fn is_turned_away(scene: &Scene, bytes: &[u8], fds: &[BorrowedFd<'_>]) {
    let socket = connect(&scene.directory.socket("victim"));
    if !bytes.is_empty() {
        send(&socket, bytes, fds).unwrap();
    }
    // The server opens the file by its name, so the file must stay open until the connection ends.
    let other = memory_file((AREA + (256 << 20)) as u64);
    if scene.kind == Server::Java && [good_greeting(), wire::greeting(256 << 20)].iter().any(|good| good == bytes) {
        // A Java virtual machine answers the greeting, and gets the names of the files.
        assert!(receive_either(&socket, &mut [0; 24]).is_some(), "a greeting");
        name_segments(&socket, [fds[0], other.as_fd()]);
    }
    await_end(&socket);
    assert!(receive(&socket, &mut [0; 24]).is_none(), "it was greeted");
}

fn sealed(length: u64, seals: SealFlags) -> OwnedFd {
    let fd = memory_file(length);
    rustix::fs::fcntl_add_seals(&fd, seals).unwrap();
    fd
}

fn good_segment() -> OwnedFd {
    sealed((AREA + AREA_LENGTH) as u64, SEALS)
}

fn good_greeting() -> Vec<u8> {
    wire::greeting(AREA_LENGTH as u64)
}

fn greetings_of_a_wrong_length_are_turned_away(server: Server) {
    let scene = Scene::of(server);
    let fd = good_segment();
    for length in [1, 8, 12, 23] {
        is_turned_away(&scene, &good_greeting()[..length], &[fd.as_fd()]);
    }
    scene.assert_unharmed();
}

fn bytes_behind_a_greeting_are_not_taken_for_an_area(server: Server) {
    let scene = Scene::of(server);
    let socket = connect(&scene.directory.socket("victim"));
    let (own, fd) = Segment::create(AREA + AREA_LENGTH);
    send(&socket, &[good_greeting(), vec![0xee; 4000]].concat(), &[fd.as_fd()]).unwrap();
    if server == Server::Java {
        // A server in Java mistakes the extra bytes for the names of files.
        await_end(&socket);
        scene.assert_unharmed();
        return;
    }
    let (area, passed) = Peer::greeting_of_peer(&socket).expect("the greeting itself was good");
    let theirs = Segment::map(passed.expect("a segment"), AREA + area, false);
    // The message lies in an area that the peer never passed. The server must not take the extra
    // bytes for the note that passes the area.
    own.write(crate::peer::slot(1) + 16, &[1_u32, 0, 64].map(u32::to_le_bytes).concat());
    own.u64(crate::peer::slot(1)).store(crate::peer::first_word(1, 3, 1, 255), std::sync::atomic::Ordering::SeqCst);
    let peer = Peer::of(socket, own, fd, theirs);
    peer.ring();
    await_end(&peer.socket);
    assert_eq!(theirs.u32(crate::peer::slot(1)).load(std::sync::atomic::Ordering::SeqCst), 0, "it was answered");
    drop(peer);
    scene.assert_unharmed();
}

fn greetings_with_wrong_fields_end_the_connection(server: Server) {
    let scene = Scene::of(server);
    let fd = good_segment();
    let wrong: [(usize, u32); 13] = [
        (0, 0),
        (0, u32::MAX),
        (4, 0),
        (4, 1),
        (4, 3),
        (8, 15),
        (8, u32::MAX),
        (12, 4),
        (16, 0),
        (16, 4097),
        (16, u32::MAX),
        (20, 1),
        (20, u32::MAX),
    ];
    // A Java virtual machine cannot receive files, and does not notice them.
    for (at, value) in wrong.into_iter().filter(|&word| server != Server::Java || word != (12, 4)) {
        let mut greeting = good_greeting();
        greeting[at..at + 4].copy_from_slice(&value.to_le_bytes());
        is_turned_away(&scene, &greeting, &[fd.as_fd()]);
    }
    scene.assert_unharmed();
}

fn greetings_need_exactly_one_descriptor(server: Server) {
    let scene = Scene::of(server);
    let fds: Vec<_> = (0..253).map(|_| good_segment()).collect();
    let fds: Vec<_> = fds.iter().map(AsFd::as_fd).collect();
    for count in [0, 2, 3, 253] {
        is_turned_away(&scene, &good_greeting(), &fds[..count]);
    }
    scene.assert_unharmed();
}

fn segments_that_are_no_memory_files_are_refused(server: Server) {
    let scene = Scene::of(server);
    let (reader, writer) = std::io::pipe().unwrap();
    let null = std::fs::File::open("/dev/null").unwrap();
    let zero = std::fs::File::open("/dev/zero").unwrap();
    let program = std::fs::File::open("/proc/self/exe").unwrap();
    let socket = connect(&scene.directory.socket("victim"));
    let path = scene.directory.path().join("plain");
    std::fs::write(&path, vec![0; AREA + AREA_LENGTH]).unwrap();
    let plain = std::fs::File::options().read(true).write(true).open(&path).unwrap();
    let directory = std::fs::File::open(scene.directory.path()).unwrap();
    let none = [&reader.as_fd(), &writer.as_fd(), &null.as_fd(), &zero.as_fd(), &program.as_fd(), &socket.as_fd()];
    for fd in none.into_iter().chain([&directory.as_fd()]) {
        is_turned_away(&scene, &good_greeting(), &[*fd]);
    }
    // A Java virtual machine accepts plain files, because another virtual machine can create no
    // others.
    if server != Server::Java {
        is_turned_away(&scene, &good_greeting(), &[plain.as_fd()]);
    }
    drop(socket);
    scene.assert_unharmed();
}

fn segments_without_seals_are_refused(server: Server) {
    let scene = Scene::of(server);
    let length = (AREA + AREA_LENGTH) as u64;
    let lacking = [
        SealFlags::empty(),
        SealFlags::SEAL,
        SealFlags::GROW,
        SealFlags::SHRINK,
        SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL,
        SealFlags::FUTURE_WRITE | SealFlags::GROW | SealFlags::SEAL,
    ];
    for seals in lacking {
        is_turned_away(&scene, &good_greeting(), &[sealed(length, seals).as_fd()]);
    }
    scene.assert_unharmed();
}

fn segments_shorter_than_announced_are_refused(server: Server) {
    let scene = Scene::of(server);
    for length in [0, 1, AREA as u64, (AREA + AREA_LENGTH - 1) as u64] {
        is_turned_away(&scene, &good_greeting(), &[sealed(length, SEALS).as_fd()]);
    }
    // The greeting has the largest valid area; the file is shorter.
    is_turned_away(&scene, &wire::greeting(256 << 20), &[good_segment().as_fd()]);
    scene.assert_unharmed();
}

/// An access to a huge page raises a bus error (SIGBUS) if the kernel has no huge page left.
fn segments_of_huge_pages_are_turned_away(server: Server) {
    let scene = Scene::of(server);
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING | MemfdFlags::HUGETLB;
    match rustix::fs::memfd_create("hostile", flags) {
        Ok(fd) => {
            rustix::fs::ftruncate(&fd, 2 << 20).unwrap();
            rustix::fs::fcntl_add_seals(&fd, SEALS).unwrap();
            is_turned_away(&scene, &good_greeting(), &[fd.as_fd()]);
        }
        Err(errno) => println!("this kernel has no huge pages: {errno}"),
    }
    scene.assert_unharmed();
}

fn accepted_segments_cannot_be_truncated(server: Server) {
    let scene = Scene::of(server);
    let (mut peer, object) = scene.bound();
    assert_eq!(rustix::fs::ftruncate(&peer.own_fd, 0), Err(Errno::PERM));
    assert_eq!(rustix::fs::ftruncate(&peer.own_fd, 1 << 30), Err(Errno::PERM));
    let punch = rustix::fs::FallocateFlags::PUNCH_HOLE | rustix::fs::FallocateFlags::KEEP_SIZE;
    assert_eq!(rustix::fs::fallocate(&peer.own_fd, punch, 0, 4096), Err(Errno::PERM));
    assert_eq!(rustix::fs::fcntl_add_seals(&peer.own_fd, SealFlags::empty()), Err(Errno::PERM));
    peer.assert_good(object);
    drop(peer);
    scene.assert_unharmed();
}

/// Clients cannot write to the server's segment.
fn the_servers_segment_is_read_only_for_clients(server: Server) {
    let scene = Scene::of(server);
    let socket = connect(&scene.directory.socket("victim"));
    send(&socket, &good_greeting(), &[good_segment().as_fd()]).unwrap();
    let mut greeting = [0; 24];
    let theirs = receive(&socket, &mut greeting).expect("a greeting");
    assert_eq!(rustix::fs::ftruncate(&theirs, 0), Err(Errno::PERM));
    assert_eq!(rustix::io::write(&theirs, &[0xff; 4096]), Err(Errno::PERM));
    assert_eq!(rustix::fs::fcntl_add_seals(&theirs, SealFlags::WRITE), Err(Errno::PERM));
    let writable = rustix::mm::ProtFlags::READ | rustix::mm::ProtFlags::WRITE;
    // SAFETY: a new mapping at an address of the kernel's choice touches no memory in use.
    let mapped = unsafe {
        rustix::mm::mmap(std::ptr::null_mut(), 4096, writable, rustix::mm::MapFlags::SHARED, theirs.as_fd(), 0)
    };
    assert_eq!(mapped.err(), Some(Errno::PERM));
    drop(socket);
    scene.assert_unharmed();
}

fn partial_greetings_time_out(server: Server) {
    let scene = Scene::of(server);
    let fd = good_segment();
    let socket = connect(&scene.directory.socket("victim"));
    send(&socket, &good_greeting()[..10], &[fd.as_fd()]).unwrap();
    let without = connect(&scene.directory.socket("victim"));
    send(&without, &good_greeting()[..10], &[]).unwrap();
    await_end(&socket);
    await_end(&without);
    scene.assert_unharmed();
}

fn clients_without_a_greeting_time_out(server: Server) {
    let scene = Scene::of(server);
    let silent: Vec<_> = (0..20).map(|_| connect(&scene.directory.socket("victim"))).collect();
    silent.iter().for_each(await_end);
    scene.assert_unharmed();
}
