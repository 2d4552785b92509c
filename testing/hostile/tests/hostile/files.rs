//! Tests of invalid files that a server's environment names: the server reports the file and its
//! error, and ends.

use crate::scene::{Directory, PATIENCE};
use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// A function that creates a file, a folder or another entry at a path.
type Put = fn(&Path);

/// Starts a server, and returns its error output if the server ends by itself; `None` if it serves.
fn said_of(variable: &str, path: &Path, binding: &str) -> Option<String> {
    let directory = Directory::new();
    let mut server = Command::new(env!("CARGO_BIN_EXE_obvia-hostile"))
        .args(["server", binding])
        .env("OBVIA_RUNTIME_DIR", directory.path())
        .env(variable, path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The server prints that it is ready, or ends without output.
    let mut ready = [0; 5];
    let mut out = server.stdout.take().unwrap();
    let watch = watch(server.id());
    let serves = out.read_exact(&mut ready).is_ok();
    assert!(watch.send(()).is_ok(), "the server said nothing for {PATIENCE:?}");
    drop(server.stdin.take());
    let output = server.wait_with_output().unwrap();
    assert_eq!(output.status.success(), serves, "{output:?}");
    (!serves).then(|| String::from_utf8(output.stderr).unwrap())
}

/// Kills a process that does not print in time. A message by the returned sender stops the watch.
fn watch(process: u32) -> std::sync::mpsc::Sender<()> {
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        if told.recv_timeout(PATIENCE) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            drop(told);
            let process = rustix::process::Pid::from_raw(process.cast_signed()).unwrap();
            let _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
        }
    });
    tell
}

fn write(path: &Path, bytes: &[u8], mode: u32) {
    fs::write(path, bytes).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn pipe(path: &Path) {
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}

fn give_away(path: &Path) {
    chown(path, Some(65_534), None).unwrap();
}

/// Asserts that a server refuses each file soon, with a message that contains the words for the
/// file.
fn are_refused(variable: &str, binding: &str, files: &[(&str, Put, &str)]) {
    let directory = Directory::new();
    for (name, put, words) in files {
        let path = directory.path().join(name);
        put(&path);
        let began = Instant::now();
        let said = said_of(variable, &path, binding).unwrap_or_else(|| panic!("{name} is taken"));
        assert!(said.contains(words), "{name}: {said}");
        assert!(said.len() < 2000, "{name}: {} bytes", said.len());
        assert!(began.elapsed() < PATIENCE / 2, "{name} took {:?}", began.elapsed());
    }
}

const ACCOUNT: &[u8] = b"anna = 8846f7eaee8fb117ad06bdd830b7586c\n";
const GUARDED: &str = "ncacn_vi_udp:127.0.0.1[0,security=connect]";

#[test]
fn invalid_account_files_are_refused() {
    are_refused(
        "OBVIA_ACCOUNTS",
        GUARDED,
        &[
            ("pipe", pipe, "is not a regular file"),
            ("folder", |path| fs::create_dir(path).unwrap(), "is not a regular file"),
            ("device", |path| symlink("/dev/zero", path).unwrap(), "is not a regular file"),
            ("circle", |path| symlink(path, path).unwrap(), "levels of symbolic links"),
            ("readable", |path| write(path, ACCOUNT, 0o640), "other users can"),
            ("writable", |path| write(path, ACCOUNT, 0o602), "other users can"),
            ("long", |path| write(path, &ACCOUNT.repeat(30_000), 0o600), "is longer than"),
            ("bytes", |path| write(path, b"anna = \xff\xfe", 0o600), "line 1"),
            ("line", |path| write(path, &[ACCOUNT, b"otto 1\n"].concat(), 0o600), "line 2"),
            ("hash", |path| write(path, b"anna = 8846f7eaee8fb117ad06bdd830b7586", 0o600), "line 1"),
            ("escape", |path| write(path, b"\x1b]0;x\x07", 0o600), "line 1"),
        ],
    );
    if rustix::process::geteuid().is_root() {
        are_refused(
            "OBVIA_ACCOUNTS",
            GUARDED,
            &[(
                "foreign",
                |path| {
                    write(path, ACCOUNT, 0o600);
                    give_away(path);
                },
                "other users can",
            )],
        );
    }
}

/// Returns the header of a capture: libpcap's format with nanoseconds, packets that begin with IP.
fn capture() -> Vec<u8> {
    let mut header = vec![0x4d, 0x3c, 0xb2, 0xa1, 2, 0, 4, 0];
    header.extend([0; 8]);
    header.extend(65_535_u32.to_le_bytes());
    header.extend(101_u32.to_le_bytes());
    header
}

const STREAM: &str = "ncacn_ip_tcp:127.0.0.1[0]";

#[test]
fn invalid_trace_files_are_refused() {
    are_refused(
        "OBVIA_TRACE",
        STREAM,
        &[
            ("pipe", pipe, "it is not a regular file"),
            ("folder", |path| fs::create_dir(path).unwrap(), "OBVIA_TRACE"),
            ("link", |path| symlink("/etc/passwd", path).unwrap(), "OBVIA_TRACE"),
            ("missing", |_| (), "OBVIA_TRACE"),
            ("empty", |path| write(path, &[], 0o600), "it was not created by"),
            ("text", |path| write(path, &[b'#'; 100], 0o600), "it was not created by"),
            ("half", |path| write(path, &capture()[..20], 0o600), "it was not created by"),
        ],
    );
    if rustix::process::geteuid().is_root() {
        are_refused(
            "OBVIA_TRACE",
            STREAM,
            &[(
                "foreign",
                |path| {
                    write(path, &capture(), 0o600);
                    give_away(path);
                },
                "it belongs to another user",
            )],
        );
    }
}

/// The control for the tests above: valid files are accepted.
#[test]
fn valid_account_and_trace_files_are_accepted() {
    let directory = Directory::new();
    let [accounts, trace] = ["accounts", "trace"].map(|name| directory.path().join(name));
    write(&accounts, ACCOUNT, 0o600);
    assert_eq!(said_of("OBVIA_ACCOUNTS", &accounts, GUARDED), None);
    write(&trace, &capture(), 0o600);
    assert_eq!(said_of("OBVIA_TRACE", &trace, STREAM), None);
    assert_eq!(fs::read(&trace).unwrap(), capture(), "nothing was said");
}
