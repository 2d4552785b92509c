//! A file system in user space, directly on the kernel's FUSE device. It answers some operations
//! correctly, and never answers the others.
//!
//! The only directory has the same file under every name. This process's user owns the file. The
//! device is the standard input of a separate process: when that process ends, the kernel wakes
//! every process that waits for an answer.

use rustix::process::{Signal, set_parent_process_death_signal};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;

/// The size of the request buffer, in bytes. The kernel requires this size.
const REQUEST: usize = 1 << 17;
/// The size in bytes of a request's header: length, operation, number, node, user, group, process,
/// padding.
const HEADER: usize = 40;
/// The seconds for which the kernel caches an answer.
const VALID: u64 = 0;
/// The file's length in bytes, which is enough for any segment.
const LENGTH: u64 = 1 << 30;

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
/// The operations without an answer: FORGET, INTERRUPT, BATCH_FORGET.
const UNANSWERED: [u32; 3] = [2, 36, 42];
const UNKNOWN: i32 = -38;

/// Serves until the mount is gone. Operations in `silent` are never answered.
pub(crate) fn serve(silent: &[u32]) {
    // The process ends with its test, even if the test is killed. The end wakes the processes that
    // wait for answers.
    let with_parent = set_parent_process_death_signal(Some(Signal::KILL));
    with_parent.expect("the kernel tells of ends");
    let mut device = File::from(std::io::stdin().as_fd().try_clone_to_owned().expect("a device"));
    let mut request = vec![0; REQUEST];
    // The read fails when the mount is gone.
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
        // Writing the answer to an interrupted request fails.
        let _ = device.write(&[&head, &request[8..16], &body].concat());
    }
}

/// Reads the next request. Requests that were interrupted meanwhile (ENOENT) are skipped.
fn read(device: &mut File, request: &mut [u8]) -> std::io::Result<usize> {
    loop {
        match device.read(request) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Interrupted) => {}
            other => return other,
        }
    }
}

/// Returns the answer to INIT: version 7.31, no flags, and writes of at most a page.
fn init() -> Vec<u8> {
    let words = [7, 31, 0, 0, 0, 4096, 1, 0];
    words.iter().flat_map(|word: &u32| word.to_le_bytes()).chain([0; 32]).collect()
}

/// Returns the file's entry, which is the same for every name.
fn entry() -> Vec<u8> {
    let words = [2, 0, VALID, VALID, 0];
    words.iter().flat_map(|word: &u64| word.to_le_bytes()).chain(attributes(2)).collect()
}

/// Returns the attributes of the directory, which is node 1, or of the file.
fn attributes(node: u32) -> Vec<u8> {
    let user = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").expect("this process"));
    let (mode, length) = if node == 1 { (0o040_700, 0) } else { (0o100_600, LENGTH) };
    let long = [u64::from(node), length, length / 512, 0, 0, 0];
    let short = [0, 0, 0, mode, 1, user, 0, 0, 4096, 0];
    let long = long.iter().flat_map(|word: &u64| word.to_le_bytes());
    long.chain(short.iter().flat_map(|word: &u32| word.to_le_bytes())).collect()
}
