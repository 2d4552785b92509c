//! Tests of memory that calls pass by reference: invalid files, wrong numbers, references and
//! counts, memory that changes while a method reads it, and memory whose owner ends meanwhile.

use crate::peer::{AREA, Message, Peer, send};
use crate::races::{flip, hammer};
use crate::scene::{Meanwhile, Scene, Server, against_every_server, await_that};
use crate::segment::{SEALS, Segment, memory_file};
use crate::wire::{self, BAD_DATA, Frame, SYSTEM, Target};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags};
use rustix::io::Errno;

against_every_server! {
    files_that_are_no_memory_are_refused_as_regions,
    region_notes_that_contradict_their_file_are_refused,
    region_numbers_are_assigned_once,
    regions_over_the_limit_of_a_connection_are_refused,
    region_references_out_of_bounds_are_refused,
    read_only_regions_are_not_written,
    changing_region_references_stay_inside_regions,
    regions_are_readable_while_they_change_and_lose_pages,
    peers_that_end_while_their_region_is_read_leave_no_mappings,
    regions_of_hundreds_of_ended_peers_are_unmapped,
    regions_cannot_exhaust_the_address_space,
}

/// The opnums of the methods with arrays by reference.
const TOTAL: u16 = 26;
const DOUBLE: u16 = 27;
const SQUARES: u16 = 28;
const COPY: u16 = 29;
const LOOK: u16 = 30;
const STAIN: u16 = 31;
/// The opnum of the runtime's own call by which a server takes over and releases regions.
const REGIONS: u16 = 11;

/// The kinds of a region in the note that hands it over.
const READ: u32 = 1;
const WRITE: u32 = 2;

/// The seals of a writable region.
const FIXED: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

fn sealed(length: u64, seals: SealFlags) -> OwnedFd {
    let fd = memory_file(length);
    rustix::fs::fcntl_add_seals(&fd, seals).unwrap();
    fd
}

/// Returns a reference: the region's number in the upper 16 bits, the offset in the lower 48.
fn at(number: u64, offset: u64) -> u64 {
    number << 48 | offset
}

fn array(count: u32, reference: u64) -> Vec<u8> {
    Frame::block(16).u32(0, count).u64(8, reference).bytes
}

fn long_array(count: u64, reference: u64) -> Vec<u8> {
    Frame::block(16).u64(0, count).u64(8, reference).bytes
}

/// Makes the call by which the server takes over the region `number` and releases the regions
/// `ended`. If `number` is 0, the server takes over no region.
#[track_caller]
fn take(peer: &mut Peer, number: u64, ended: &[u64]) -> Message {
    let words: Vec<u8> = [number].iter().chain(ended).flat_map(|word| word.to_le_bytes()).collect();
    peer.call(SYSTEM, REGIONS, &words)
}

#[track_caller]
fn taken(peer: &mut Peer, number: u64, ended: &[u64]) {
    let answer = take(peer, number, ended);
    assert_eq!((answer.kind, answer.first), (wire::RESPONSE, 0), "region {number}, {ended:?} ended: {answer:x?}");
}

#[track_caller]
fn not_taken(peer: &mut Peer, number: u64, what: &str) {
    let answer = take(peer, number, &[]);
    assert!(answer.kind == wire::RESPONSE && answer.first >= 0x8000_0000, "{what}: {answer:x?}");
}

/// Hands over a valid region.
#[track_caller]
fn give(peer: &mut Peer, number: u16, length: usize, kind: u32) -> (Segment, OwnedFd) {
    let fd = memory_file(length as u64);
    let memory = Segment::map(&fd, length, true);
    rustix::fs::fcntl_add_seals(&fd, if kind == READ { SEALS } else { FIXED }).unwrap();
    peer.announce(number.into(), kind, length as u64, &[fd.as_fd()]);
    taken(peer, number.into(), &[]);
    (memory, fd)
}

#[track_caller]
fn total(peer: &mut Peer, object: Target, count: u32, reference: u64) -> u64 {
    u64::from_le_bytes(peer.good(object, TOTAL, &array(count, reference)).try_into().unwrap())
}

/// Asserts that the connection works, and that no region was mapped.
#[track_caller]
fn is_as_before(peer: &mut Peer, object: Target) {
    for number in 0..4 {
        peer.refused(object, TOTAL, &array(1, at(number, 0)), BAD_DATA);
    }
    peer.assert_good(object);
}

fn files_that_are_no_memory_are_refused_as_regions(server: Server) {
    let scene = Scene::of(server);
    let path = scene.directory.path().join("plain");
    std::fs::write(&path, [0; 8192]).unwrap();
    let plain = std::fs::File::options().read(true).write(true).open(&path).unwrap();
    let zero = std::fs::File::open("/dev/zero").unwrap();
    let program = std::fs::File::open("/proc/self/exe").unwrap();
    let directory = std::fs::File::open(scene.directory.path()).unwrap();
    let (reader, _writer) = std::io::pipe().unwrap();
    let mut files: Vec<(&str, OwnedFd)> = vec![
        ("a device", zero.into()),
        ("a directory", directory.into()),
        ("a pipe", reader.into()),
        ("too short", sealed(8191, SEALS)),
        ("empty", sealed(0, SEALS)),
    ];
    // A Java virtual machine cannot see seals, and survives without them.
    if server != Server::Java {
        files.extend([
            ("a plain file", plain.into()),
            ("a program", program.into()),
            ("no seals", memory_file(8192)),
            ("no seal against shrinking", sealed(8192, SealFlags::GROW | SealFlags::FUTURE_WRITE | SealFlags::SEAL)),
        ]);
    }
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING | MemfdFlags::HUGETLB;
    match rustix::fs::memfd_create("hostile", flags) {
        Ok(fd) if server != Server::Java => {
            rustix::fs::ftruncate(&fd, 2 << 20).unwrap();
            rustix::fs::fcntl_add_seals(&fd, FIXED).unwrap();
            files.push(("huge pages", fd));
        }
        Ok(_) => {}
        Err(errno) => println!("this kernel has no huge pages: {errno}"),
    }
    for (what, file) in &files {
        for kind in [READ, WRITE] {
            let (mut peer, object) = scene.bound();
            peer.announce(1, kind, 8192, &[file.as_fd()]);
            not_taken(&mut peer, 1, what);
            is_as_before(&mut peer, object);
        }
    }
    // A region that is announced as writable needs a writable file.
    let only_read = sealed(8192, FIXED);
    let reopened =
        std::fs::File::open(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&only_read))).unwrap();
    let mut files = vec![sealed(8192, SEALS), sealed(8192, FIXED | SealFlags::WRITE)];
    // A Java virtual machine opens the file again by its name, and so can write to it.
    if server != Server::Java {
        files.push(reopened.into());
    }
    for file in &files {
        let (mut peer, object) = scene.bound();
        peer.announce(1, WRITE, 8192, &[file.as_fd()]);
        not_taken(&mut peer, 1, "a file that is only read");
        is_as_before(&mut peer, object);
    }
    scene.assert_unharmed();
}

fn region_notes_that_contradict_their_file_are_refused(server: Server) {
    let scene = Scene::of(server);
    let good = sealed(8192, SEALS);
    let fd = good.as_fd();
    let notes: [(u32, u32, u64, &[BorrowedFd<'_>]); 13] = [
        (1, READ, 8192, &[]),
        (1, READ, 8192, &[fd, fd]),
        (1, READ, 8192, &[fd; 20]),
        (1, READ, 0, &[fd]),
        (1, READ, 8193, &[fd]),
        (1, READ, 1 << 46, &[fd]),
        (1, READ, (1 << 46) + 1, &[fd]),
        (1, READ, u64::MAX, &[fd]),
        (1, 0, 8192, &[fd]),
        (1, 3, 8192, &[fd]),
        (1, u32::MAX, 8192, &[fd]),
        (2, READ, 8192, &[fd]),
        (0x1_0001, READ, 8192, &[fd]),
    ];
    // To a Java virtual machine, a note names exactly one file.
    let can_be_told = |fds: &[BorrowedFd<'_>]| server != Server::Java || fds.len() <= 1;
    for (number, kind, length, fds) in notes.into_iter().filter(|note| can_be_told(note.3)) {
        let (mut peer, object) = scene.bound();
        peer.announce(number, kind, length, fds);
        not_taken(&mut peer, 1, &format!("number {number}, kind {kind}, length {length:x}, {} files", fds.len()));
        is_as_before(&mut peer, object);
    }
    // The notes are truncated, or are for no request.
    let (mut peer, object) = scene.bound();
    send(&peer.socket, &[1, 0, 0, 0, 1, 0, 0, 0], &[fd]).unwrap();
    not_taken(&mut peer, 1, "half of a note");
    peer.announce(0, READ, 8192, &[fd]);
    taken(&mut peer, 0, &[]);
    is_as_before(&mut peer, object);
    for words in [vec![], 0x1_0000_u64.to_le_bytes().to_vec(), u64::MAX.to_le_bytes().to_vec(), vec![0; 66 * 8]] {
        peer.refused(SYSTEM, REGIONS, &words, BAD_DATA);
    }
    // The notes exceed the limit of waiting notes.
    for number in 10..20 {
        peer.announce(number, READ, 8192, &[fd]);
    }
    not_taken(&mut peer, 20, "the note behind too many");
    is_as_before(&mut peer, object);
    drop(peer);
    scene.assert_unharmed();
}

fn region_numbers_are_assigned_once(server: Server) {
    let scene = Scene::of(server);
    let (mut peer, object) = scene.bound();
    let (memory, _) = give(&mut peer, 1, 4096, READ);
    memory.u32(0).store(7, std::sync::atomic::Ordering::SeqCst);
    peer.announce(1, READ, 8192, &[sealed(8192, SEALS).as_fd()]);
    not_taken(&mut peer, 1, "a number that is in use");
    assert_eq!(total(&mut peer, object, 1024, at(1, 0)), 7);
    peer.refused(object, TOTAL, &array(1025, at(1, 0)), BAD_DATA);
    // The released numbers are unknown, or are released twice.
    taken(&mut peer, 0, &[2, 0, 0xffff, 77]);
    assert_eq!(total(&mut peer, object, 1024, at(1, 0)), 7);
    taken(&mut peer, 0, &[1, 1]);
    taken(&mut peer, 0, &[1]);
    is_as_before(&mut peer, object);
    // The number is free again, for a shorter region.
    give(&mut peer, 1, 100, READ);
    assert_eq!(total(&mut peer, object, 25, at(1, 0)), 0);
    peer.refused(object, TOTAL, &array(26, at(1, 0)), BAD_DATA);
    drop(peer);
    scene.assert_unharmed();
}

fn regions_over_the_limit_of_a_connection_are_refused(server: Server) {
    let scene = Scene::of(server);
    let (mut peer, object) = scene.bound();
    let file = sealed(4096, SEALS);
    for number in (0xffff - 63)..=0xffff_u64 {
        peer.announce(number as u32, READ, 4096, &[file.as_fd()]);
        taken(&mut peer, number, &[]);
    }
    for number in 1..=20 {
        peer.announce(number, READ, 4096, &[file.as_fd()]);
        not_taken(&mut peer, number.into(), "one too many");
    }
    assert_eq!(total(&mut peer, object, 1024, at(0xffff, 0)), 0);
    peer.announce(5, READ, 4096, &[file.as_fd()]);
    taken(&mut peer, 5, &[0xffff]);
    peer.refused(object, TOTAL, &array(1, at(0xffff, 0)), BAD_DATA);
    assert_eq!(total(&mut peer, object, 1024, at(5, 0)), 0);
    drop(peer);
    scene.assert_unharmed();
}

fn region_references_out_of_bounds_are_refused(server: Server) {
    let scene = Scene::of(server);
    let (mut peer, object) = scene.bound();
    let (memory, _) = give(&mut peer, 7, 4096 + 12, WRITE);
    memory.u32(4096).store(5, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(total(&mut peer, object, 1027, at(7, 0)), 5);
    assert_eq!(total(&mut peer, object, 3, at(7, 4096)), 5);
    assert_eq!(total(&mut peer, object, 0, at(7, 4096 + 12)), 0);
    let elsewhere = [
        0,
        4,
        at(6, 0),
        at(8, 0),
        at(7, 1),
        at(7, 2),
        at(7, 4096 + 8),
        at(7, 4096 + 12),
        at(7, 4096 + 16),
        at(7, 1 << 46),
        at(7, (1 << 48) - 4),
        at(7, 0) - 4,
        at(0x8007, 0),
        at(0xffff, 0),
        u64::MAX,
        u64::MAX - 3,
    ];
    for reference in elsewhere {
        for opnum in [TOTAL, DOUBLE] {
            peer.refused(object, opnum, &array(3, reference), BAD_DATA);
        }
        peer.refused(object, SQUARES, &array(300, reference), BAD_DATA);
        for copy in [[reference, at(7, 0)], [at(7, 0), reference]] {
            // The copy's elements have two bytes, so that odd references fail.
            let frame = Frame::block(24).u32(0, 2100).u64(8, copy[0]).u64(16, copy[1]).bytes;
            peer.refused(object, COPY, &frame, BAD_DATA);
        }
        for opnum in [LOOK, STAIN] {
            peer.refused(object, opnum, &long_array(4200, reference), BAD_DATA);
        }
    }
    for count in [1028, 0x4000_0000, 0x4000_0001, 0x8000_0000, u32::MAX] {
        for opnum in [TOTAL, DOUBLE, SQUARES] {
            peer.refused(object, opnum, &array(count, at(7, 0)), BAD_DATA);
        }
    }
    for count in [4096 + 13, 1 << 48, 1 << 63, (1 << 63) + 1, u64::MAX, u64::MAX - 4096] {
        for opnum in [LOOK, STAIN] {
            peer.refused(object, opnum, &long_array(count, at(7, 0)), BAD_DATA);
        }
    }
    for length in [0, 8, 15, 24, 200] {
        peer.refused(object, TOTAL, &vec![0; length], BAD_DATA);
    }
    // Valid calls succeed: source and target of the copy overlap, and the other arrays have all
    // bytes of the region.
    peer.good(object, COPY, &Frame::block(24).u32(0, 1000).u64(8, at(7, 0)).u64(16, at(7, 2)).bytes);
    peer.good(object, DOUBLE, &array(1027, at(7, 0)));
    peer.good(object, STAIN, &long_array(4096 + 12, at(7, 0)));
    assert_eq!(peer.good(object, LOOK, &long_array(4096 + 12, at(7, 0)))[..4], 1_u32.to_le_bytes());
    assert_eq!(memory.read(4096 + 8, 4), [0xee; 4]);
    drop(peer);
    scene.assert_unharmed();
}

fn read_only_regions_are_not_written(server: Server) {
    let scene = Scene::of(server);
    let (mut peer, object) = scene.bound();
    let (memory, _) = give(&mut peer, 1, 4096, READ);
    // The files are writable, but are handed over for reading.
    let fd = sealed(4096, FIXED);
    peer.announce(2, READ, 4096, &[fd.as_fd()]);
    taken(&mut peer, 2, &[]);
    for number in [1, 2] {
        assert_eq!(total(&mut peer, object, 1024, at(number, 0)), 0);
        for opnum in [DOUBLE, SQUARES] {
            peer.refused(object, opnum, &array(100, at(number, 0)), BAD_DATA);
        }
        peer.refused(object, STAIN, &long_array(100, at(number, 0)), BAD_DATA);
        let copy = Frame::block(24).u32(0, 10).u64(8, at(number, 0)).u64(16, at(number, 0)).bytes;
        peer.refused(object, COPY, &copy, BAD_DATA);
    }
    assert_eq!(memory.read(0, 4096), [0; 4096]);
    drop(peer);
    scene.assert_unharmed();
}

/// The reference and the count in the frame change all the time. The use of an unchecked value
/// would access memory outside of the region.
fn changing_region_references_stay_inside_regions(server: Server) {
    let scene = Scene::of(server);
    let (mut peer, object) = scene.bound();
    give(&mut peer, 1, 4096, WRITE);
    give(&mut peer, 2, 64 << 10, WRITE);
    let frame = array(1024, at(1, 0));
    peer.own.write(AREA, &frame);
    let words = |count: &[u32], low: &[u32], high: &[u32]| {
        vec![(AREA, count.to_vec()), (AREA + 8, low.to_vec()), (AREA + 12, high.to_vec())]
    };
    let flipping = flip(
        peer.own,
        words(
            &[1024, 0, 1025, u32::MAX],
            &[0, 4, 2, 4096, u32::MAX],
            &[1 << 16, 2 << 16, 0, 3 << 16, u32::MAX, 1 << 16 | 1],
        ),
    );
    for opnum in [TOTAL, DOUBLE] {
        let (good, refused) = hammer(&mut peer, object, opnum, frame.len());
        assert!(good > 0 && refused > 0, "{good} calls went well, {refused} were refused: nothing was tried");
    }
    drop(flipping);
    peer.assert_good(object);
    drop(peer);
    scene.assert_unharmed();
}

fn regions_are_readable_while_they_change_and_lose_pages(server: Server) {
    const LENGTH: usize = 256 << 10;
    let scene = Scene::of(server);
    let (mut peer, object) = scene.bound();
    let (memory, file) = give(&mut peer, 1, LENGTH, WRITE);
    for length in [0, 4096, 2 * LENGTH as u64] {
        assert_eq!(rustix::fs::ftruncate(&file, length), Err(Errno::PERM));
    }
    let mut value = 1_u32;
    let changing = Meanwhile::start(move || {
        value = value.wrapping_mul(0x9e37_79b9).wrapping_add(1);
        memory.u32(value as usize % LENGTH / 4 * 4).store(value, std::sync::atomic::Ordering::Relaxed);
    });
    let losing = Meanwhile::start(move || {
        let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        rustix::fs::fallocate(&file, punch, 0, LENGTH as u64).unwrap();
    });
    for _ in 0..10 {
        peer.good(object, TOTAL, &array(LENGTH as u32 / 4, at(1, 0)));
        peer.good(object, DOUBLE, &array(LENGTH as u32 / 4, at(1, 0)));
        peer.good(object, LOOK, &long_array(4096, at(1, 8192)));
        peer.good(object, COPY, &Frame::block(24).u32(0, 30_000).u64(8, at(1, 0)).u64(16, at(1, 100_000)).bytes);
    }
    drop((changing, losing));
    drop(peer);
    scene.assert_unharmed();
}

fn peers_that_end_while_their_region_is_read_leave_no_mappings(server: Server) {
    const LENGTH: usize = 8 << 20;
    let scene = Scene::of(server);
    for _ in 0..10 {
        let (mut peer, object) = scene.bound();
        give(&mut peer, 1, LENGTH, WRITE);
        peer.post(wire::REQUEST, DOUBLE, object, &array(LENGTH as u32 / 4, at(1, 0)));
        // The peer ends before the method does, so the server possibly does not read these two
        // requests. If it reads them, the first one releases the region, and the second one finds
        // no region.
        peer.post(wire::REQUEST, REGIONS, SYSTEM, &[0_u64, 1].map(u64::to_le_bytes).concat());
        peer.post(wire::REQUEST, TOTAL, object, &array(LENGTH as u32 / 4, at(1, 0)));
    }
    scene.assert_unharmed();
}

fn regions_of_hundreds_of_ended_peers_are_unmapped(server: Server) {
    let scene = Scene::of(server);
    let file = sealed(1 << 20, SEALS);
    for round in 0..200 {
        let (mut peer, object) = scene.bound();
        for number in 1..=3 {
            peer.announce(number, READ, 1 << 20, &[file.as_fd()]);
            taken(&mut peer, number.into(), &[]);
        }
        assert_eq!(total(&mut peer, object, 1 << 18, at(2, 0)), 0);
        // Of three regions, one is released, one is refused, and one is announced without a
        // request.
        taken(&mut peer, 0, &[2]);
        peer.announce(4, READ, round + 1, &[memory_file(round).as_fd()]);
        not_taken(&mut peer, 4, "no seals, and too short");
        peer.announce(5, READ, 1 << 20, &[file.as_fd()]);
    }
    scene.assert_unharmed();
}

/// A file can have any length and yet no page, so long regions cost a peer no memory. The server
/// must keep some of its address space for other peers and for itself.
fn regions_cannot_exhaust_the_address_space(server: Server) {
    let scene = Scene::of(server);
    let mut peers = Vec::new();
    for length in (20..=46).rev() {
        let file = sealed(1 << length, SEALS);
        let (mut peer, object) = scene.bound();
        for number in 1..=8 {
            peer.announce(number, READ, 1 << length, &[file.as_fd()]);
            let answer = take(&mut peer, number.into(), &[]);
            assert_eq!(answer.kind, wire::RESPONSE);
        }
        peers.push((peer, object));
    }
    for (peer, object) in &mut peers {
        peer.assert_good(*object);
        let filled = peer.good(*object, 6, &Frame::block(4).u32(0, 50_000).bytes);
        assert_eq!(filled.len(), 16 + 200_000);
    }
    drop(peers);
    // Regions can be mapped again once the server has noticed the end of the connections.
    let (mut peer, object) = scene.bound();
    let (file, mut number) = (sealed(1 << 20, SEALS), 0);
    await_that("there is room again", || {
        number += 1;
        peer.announce(number, READ, 1 << 20, &[file.as_fd()]);
        take(&mut peer, number.into(), &[]).first == 0
    });
    assert_eq!(total(&mut peer, object, 1 << 18, at(number.into(), 0)), 0);
    drop(peer);
    scene.assert_unharmed();
}
