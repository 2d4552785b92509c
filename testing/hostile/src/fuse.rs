//! A file system in user space, over the kernel's device alone: it answers well, or never.
//!
//! It has one directory, where every name leads to the same file of the superuser's or this user's. The device is the standard input, so that a
//! process of its own is the file system: when that ends, however it ends, the kernel has everybody who waits for an answer go on.

use rustix::process::{Signal, set_parent_process_death_signal};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;

/// The longest request, as the kernel demands room for it.
const REQUEST: usize = 1 << 17;
/// What stands before every request: length, operation, number, node, user, group, process, padding.
const HEADER: usize = 40;
/// Seconds that the kernel keeps what it was told.
const VALID: u64 = 0;
/// The file's length.
const LENGTH: u64 = 1 << 20;

const LOOKUP: u32 = 1;
const GETATTR: u32 = 3;
const SETATTR: u32 = 4;
const OPEN: u32 = 14;
const STATFS: u32 = 17;
const READ: u32 = 15;
const RELEASE: u32 = 18;
const FLUSH: u32 = 25;
const INIT: u32 = 26;
const OPENDIR: u32 = 27;
const READDIR: u32 = 28;
const RELEASEDIR: u32 = 29;
const ACCESS: u32 = 34;
const CREATE: u32 = 35;
/// Those that nobody waits for: FORGET, INTERRUPT, BATCH_FORGET.
const UNANSWERED: [u32; 3] = [2, 36, 42];
const UNKNOWN: i32 = -38;

/// Serves until the mount is gone. Operations with these numbers are never answered.
pub(crate) fn serve(silent: &[u32]) {
    // A test that is killed ends it, and with it whoever waits for its answers.
    let with_parent = set_parent_process_death_signal(Some(Signal::KILL));
    with_parent.expect("the kernel tells of ends");
    let mut device = File::from(std::io::stdin().as_fd().try_clone_to_owned().expect("a device"));
    let mut request = vec![0; REQUEST];
    // The kernel says that a request was taken back, and that the mount is gone, by errors.
    while let Ok(length) = read(&mut device, &mut request) {
        let word = |at: usize| u32::from_le_bytes(request[at..at + 4].try_into().expect("four bytes"));
        let (operation, node) = (word(4), word(16));
        if length < HEADER || UNANSWERED.contains(&operation) || silent.contains(&operation) {
            continue;
        }
        let (error, body) = match operation {
            INIT => (0, init()),
            LOOKUP => (0, entry()),
            GETATTR | SETATTR => (0, [&VALID.to_le_bytes()[..], &[0; 8], &attributes(node)].concat()),
            OPEN | OPENDIR => (0, vec![0; 16]),
            CREATE => (0, [entry(), vec![0; 16]].concat()),
            READ => (0, vec![7; (word(HEADER + 16) as usize).min(4096)]),
            STATFS => (0, vec![0; 80]),
            READDIR | RELEASE | RELEASEDIR | FLUSH | ACCESS => (0, vec![]),
            _ => (UNKNOWN, vec![]),
        };
        let head = [(16 + body.len() as u32).to_le_bytes(), error.to_le_bytes()].concat();
        // A request that was interrupted needs no answer any more.
        let _ = device.write(&[&head, &request[8..16], &body].concat());
    }
}

/// The next request. One that was taken back meanwhile (ENOENT) is none.
fn read(device: &mut File, request: &mut [u8]) -> std::io::Result<usize> {
    loop {
        match device.read(request) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Interrupted) => {}
            other => return other,
        }
    }
}

/// Version 7.31, no flags, and writes of a page at most.
fn init() -> Vec<u8> {
    let words = [7, 31, 0, 0, 0, 4096, 1, 0];
    words.iter().flat_map(|word: &u32| word.to_le_bytes()).chain([0; 32]).collect()
}

/// The file, by whatever name.
fn entry() -> Vec<u8> {
    let words = [2, 0, VALID, VALID, 0];
    words.iter().flat_map(|word: &u64| word.to_le_bytes()).chain(attributes(2)).collect()
}

/// Those of the directory, which is node 1, or of the file.
fn attributes(node: u32) -> Vec<u8> {
    let user = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").expect("this process"));
    let (mode, length) = if node == 1 { (0o040_700, 0) } else { (0o100_600, LENGTH) };
    let long = [u64::from(node), length, length / 512, 0, 0, 0];
    let short = [0, 0, 0, mode, 1, user, 0, 0, 4096, 0];
    let long = long.iter().flat_map(|word: &u64| word.to_le_bytes());
    long.chain(short.iter().flat_map(|word: &u32| word.to_le_bytes())).collect()
}
