//! The demonstration in one command: serves a real tree in a process of its own, reads every file
//! through calls, compares the contents with those of a direct read, and measures the calls.

use pfs::client::{Client, name};
use pfs::{PFS_KIND, PFS_TRANSFER_MAX};
use sha2::{Digest, Sha256};
use std::io::{BufRead, BufReader, IsTerminal};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// The least number of files in the tree.
const FILES_MIN: usize = 2_000;
/// The numbers of files and of bytes after which the demo reads no further files.
const FILES_MAX: usize = 6_000;
const BYTES_MAX: u64 = 400 << 20;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// The first argument of the server process. This program is its own server, so that only one
/// program has to be built.
const SERVE: &str = "--serve";

/// The argument that makes this program end when its standard input ends.
const ATTENDED: &str = "--attended";

/// The time after which a server that has not ended by itself is killed.
const ENDING_MAX: Duration = Duration::from_secs(5);

/// The server process. The process ends by itself when its standard input ends: when this value is
/// dropped, or when this process ends.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let since = Instant::now();
        while matches!(self.0.try_wait(), Ok(None)) && since.elapsed() < ENDING_MAX {
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn count_files(directory: &Path, most: usize) -> usize {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return 0;
    };
    let mut count = 0;
    for entry in entries.flatten() {
        count += match entry.file_type() {
            Ok(kind) if kind.is_dir() => count_files(&entry.path(), most - count),
            Ok(kind) => usize::from(kind.is_file()),
            Err(_) => 0,
        };
        if count >= most {
            break;
        }
    }
    count
}

/// Finds a directory of this machine with enough files.
fn find_tree() -> Outcome<PathBuf> {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output();
    let sysroot = sysroot.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
    let home = std::env::var("CARGO_HOME").or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.cargo")));
    let candidates = [
        home.map(|home| format!("{home}/registry/src")).unwrap_or_default(),
        "/usr/share".to_owned(),
        "/usr/include".to_owned(),
        format!("{sysroot}/share/doc"),
        "/usr".to_owned(),
    ];
    let found = candidates.iter().map(Path::new).find(|path| count_files(path, FILES_MIN) >= FILES_MIN);
    Ok(found.ok_or("no directory of this machine has 2,000 files; name one: pfs-demo DIRECTORY")?.to_owned())
}

/// Starts a server. Returns the server, and its name or binding.
fn start_server(tree: &Path, name: &str, listen: Option<&str>) -> Outcome<(Server, String)> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(SERVE);
    if let Some(listen) = listen {
        command.args(["--listen", listen]);
    }
    // The terminal's signals reach this process alone. The end of this process ends the server.
    command.arg(tree).arg(name).stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
    let mut child = command.spawn()?;
    let stdout = child.stdout.take().ok_or("the server has no output")?;
    let (server, mut address) = (Server(child), name.to_owned());
    for line in BufReader::new(stdout).lines() {
        let line = line?;
        match line.strip_prefix("listening on ") {
            Some(binding) => address = binding.replace("0.0.0.0", "127.0.0.1"),
            None => return Ok((server, address)),
        }
    }
    Err("the server did not start".into())
}

const USAGE: &str = "usage: pfs-demo [--listen BINDING | --connect BINDING] [DIRECTORY]

Serves DIRECTORY, or one of this machine with many files, from a process of its own, and reads every file of it through calls:
through shared memory, or with --listen over a network (ncacn_vi_udp:127.0.0.1). With --connect it reads from a server that
runs already and serves the same DIRECTORY.";

/// The parsed command line.
#[derive(Default)]
struct Arguments {
    listen: Option<String>,
    connect: Option<String>,
    tree: Option<PathBuf>,
}

fn arguments() -> Outcome<Arguments> {
    let mut found = Arguments::default();
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().and_then(|value| value.into_string().ok()).ok_or(USAGE);
        match argument.to_str() {
            Some(ATTENDED) => pfs::service::end_with_input(),
            Some("--listen") => found.listen = Some(value()?),
            Some("--connect") => found.connect = Some(value()?),
            Some(option) if option.starts_with('-') => return Err(USAGE.into()),
            _ if found.tree.is_some() => return Err(USAGE.into()),
            _ => found.tree = Some(PathBuf::from(argument)),
        }
    }
    Ok(found)
}

#[derive(Default)]
struct Totals {
    files: usize,
    directories: usize,
    others: usize,
    bytes: u64,
    unreadable: usize,
}

struct Walk {
    client: Client,
    root: PathBuf,
    buffer: Vec<u8>,
    totals: Totals,
    started: Instant,
    reported: Instant,
}

impl Walk {
    fn report(&mut self, last: bool) {
        let terminal = std::io::stderr().is_terminal();
        let due = if terminal { Duration::from_millis(100) } else { Duration::from_secs(3) };
        if !last && self.reported.elapsed() < due {
            return;
        }
        self.reported = Instant::now();
        let Totals { files, directories, bytes, .. } = self.totals;
        let seconds = self.started.elapsed().as_secs_f64();
        let line = format!("{files} files, {directories} directories, {} MiB in {seconds:.1} s", bytes >> 20);
        if terminal {
            eprint!("\r{line}{}", if last { "\n" } else { "" });
        } else {
            eprintln!("{line}");
        }
    }

    fn directory(&mut self, fobj: i32, path: &Path) -> Outcome<()> {
        self.totals.directories += 1;
        let entries = match self.client.list(fobj) {
            Ok(entries) => entries,
            Err(error) if std::fs::read_dir(self.root.join(path)).is_err() => {
                let _ = error;
                self.totals.unreadable += 1;
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        for entry in entries {
            if self.totals.files >= FILES_MAX || self.totals.bytes >= BYTES_MAX {
                return Ok(());
            }
            let path = path.join(std::ffi::OsStr::from_bytes(name(&entry)));
            match entry.kind {
                PFS_KIND::PFS_DIRECTORY => {
                    let number = self.client.lookup(fobj, name(&entry))?;
                    self.directory(number, &path)?;
                }
                PFS_KIND::PFS_FILE => {
                    let number = self.client.lookup(fobj, name(&entry))?;
                    self.file(number, &path)?;
                }
                _ => self.totals.others += 1,
            }
        }
        Ok(())
    }

    /// Reads a file through calls and directly, and compares the contents.
    fn file(&mut self, fobj: i32, path: &Path) -> Outcome<()> {
        let mut digest = Sha256::new();
        let through = self.client.read(fobj, &mut self.buffer, |part| {
            digest.update(part);
            Ok(())
        });
        let direct = std::fs::read(self.root.join(path));
        match (through, direct) {
            (Ok(bytes), Ok(content)) => {
                if digest.finalize() != Sha256::digest(&content) {
                    return Err(
                        format!("{}: what came through calls is not what is in the file", path.display()).into()
                    );
                }
                self.totals.bytes += bytes;
                self.totals.files += 1;
            }
            (Err(_), Err(_)) => self.totals.unreadable += 1,
            (Err(error), Ok(_)) => return Err(format!("{}: {error}", path.display()).into()),
            (Ok(_), Err(error)) => return Err(format!("{}: {error}", path.display()).into()),
        }
        self.report(false);
        Ok(())
    }
}

fn demo() -> Outcome<()> {
    let Arguments { listen, connect, tree } = arguments()?;
    let is_named = tree.is_some() || connect.is_some();
    let tree = tree.map_or_else(find_tree, Ok)?;
    let (_server, address) = match connect {
        Some(binding) => {
            println!("Reading every file of {} through calls to {binding}.", tree.display());
            (None, binding)
        }
        None => {
            println!("Serving {} from a process of its own; reading every file of it through calls.", tree.display());
            let name = format!("pfs-demo-{}", std::process::id());
            let (server, address) = start_server(&tree, &name, listen.as_deref())?;
            (Some(server), address)
        }
    };
    let mut client = Client::connect(&address)?;
    client.times = Some(Vec::new());
    let buffer = vec![0; PFS_TRANSFER_MAX as usize / 4];
    let now = Instant::now();
    let mut walk = Walk { client, root: tree, buffer, totals: Totals::default(), started: now, reported: now };
    walk.directory(0, Path::new(""))?;
    walk.report(true);
    let Totals { files, directories, others, bytes, unreadable } = walk.totals;
    let mut times = walk.client.times.take().unwrap_or_default();
    times.sort_unstable();
    let percentile = |share: f64| times[((times.len() - 1) as f64 * share) as usize] as f64 / 1000.0;
    println!("{files} files in {directories} directories, {bytes} bytes: every SHA-256 equals that of a direct read.");
    if others + unreadable > 0 {
        println!("Passed over: {others} links and other files, {unreadable} that this user may not read.");
    }
    println!(
        "{} calls; each took {:.1} us (p50), {:.1} us (p90), {:.1} us (p99), {:.1} us (p99.9), file access included.",
        times.len(),
        percentile(0.5),
        percentile(0.9),
        percentile(0.99),
        percentile(0.999)
    );
    if files < FILES_MIN && !is_named {
        return Err(format!("only {files} files could be read").into());
    }
    Ok(())
}

fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|first| first == SERVE) {
        pfs::service::end_with_input();
        return pfs::service::run(std::env::args().skip(2));
    }
    match demo() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pfs-demo: {error}");
            ExitCode::FAILURE
        }
    }
}
