//! Tests the demo between two hosts: a server on one host, and on the other a client that reads
//! every file through calls and compares the contents with a direct read.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;
use torture::hosts::Hosts;
use torture::process::Directory;

/// The protocol sequences of this build, each with the options of the server's binding.
const PROTOCOLS: &[(&str, &str)] = &[
    #[cfg(feature = "fabric")]
    ("ncacn_vi_fabric", ",provider=tcp"),
    #[cfg(feature = "xdp")]
    ("ncacn_vi_xdp", ",interface=wire,mode=native"),
    ("ncacn_vi_udp", ""),
];
/// The time limits for a server until it listens, and for the demo until it has read all files.
const LISTENING_MAX: Duration = Duration::from_secs(60);
const DEMO_MAX: Duration = Duration::from_secs(300);

const DIRECTORIES: usize = 12;
const FILES_EACH: usize = 40;

/// Creates files of many lengths, from nothing to several packets, segments and calls. The contents
/// of each file identify the file and the offset.
fn make_tree(at: &Path) -> u64 {
    let mut bytes = 0;
    for directory in 0..DIRECTORIES {
        let folder = at.join(format!("directory {directory}/inner"));
        fs::create_dir_all(&folder).unwrap();
        for file in 0..FILES_EACH {
            let number = directory * FILES_EACH + file;
            let length = match file {
                0 => 0,
                1 => 1 << 20,
                _ => number * number % 70_001,
            };
            let content: Vec<u8> = (0..length).map(|at| (at / 251 + at * 7 + number * 13) as u8).collect();
            bytes += length as u64;
            let place = if file % 2 == 0 { folder.as_path() } else { at };
            fs::write(place.join(format!("file {number}")), content).unwrap();
        }
    }
    bytes
}

/// A child process. The process is killed when the value is dropped.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Started {
    /// Starts a program on a host, with the host's own runtime directory, because hosts share no
    /// names.
    fn on(hosts: &Hosts, host: usize, names: &Directory, program: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", hosts.name(host), program]).args(arguments);
        let command = command.env("OBVIA_RUNTIME_DIR", names.path()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        Self(command.spawn().unwrap())
    }

    /// Reads the output until `wanted` finds a value in a line, or until the output's end. Returns
    /// the output so far, and the value. Panics at the time limit.
    fn says<T: Send + 'static>(
        &mut self,
        limit: Duration,
        wanted: impl Fn(&str) -> Option<T> + Send + 'static,
    ) -> (String, Option<T>) {
        let out = self.0.stdout.take().unwrap();
        let (sender, result) = channel();
        std::thread::spawn(move || {
            let (mut all, mut found) = (String::new(), None);
            let mut lines = BufReader::new(out).lines().map_while(Result::ok);
            while found.is_none()
                && let Some(line) = lines.next()
            {
                found = wanted(&line);
                all = all + &line + "\n";
            }
            let _ = sender.send((all, found));
            // The rest of the output is read, too, because the program's writes to a closed pipe
            // would fail.
            lines.for_each(drop);
        });
        result.recv_timeout(limit).unwrap_or_else(|_| panic!("nothing within {limit:?}"))
    }
}

#[test]
#[ignore = "needs network namespaces: cargo xtask test net"]
fn every_file_is_read_on_another_host_over_each_protocol_sequence() {
    let directory = Directory::new();
    let tree = directory.path();
    let bytes = make_tree(tree);
    for (protocol, options) in PROTOCOLS {
        let Some(hosts) = Hosts::new() else { return };
        let names = [Directory::new(), Directory::new()];
        let listen = format!("{protocol}:{}[0{options}]", hosts.address(0));
        let arguments = ["--listen", &listen, tree.to_str().unwrap()];
        let mut server = Started::on(&hosts, 0, &names[0], env!("CARGO_BIN_EXE_pfs-server"), &arguments);
        let (said, binding) =
            server.says(LISTENING_MAX, |line| line.strip_prefix("listening on ").map(ToOwned::to_owned));
        let binding = binding.unwrap_or_else(|| panic!("{protocol}: the server says: {said}"));
        assert!(binding.starts_with(protocol), "{binding}");

        let arguments = ["--connect", &binding, tree.to_str().unwrap()];
        let mut demo = Started::on(&hosts, 1, &names[1], env!("CARGO_BIN_EXE_pfs-demo"), &arguments);
        let (said, _) = demo.says(DEMO_MAX, |_| None::<()>);
        let wanted = format!(
            "{} files in {} directories, {bytes} bytes: every SHA-256 equals that of a direct read.",
            DIRECTORIES * FILES_EACH,
            2 * DIRECTORIES + 1
        );
        assert!(demo.0.wait().unwrap().success() && said.contains(&wanted), "{protocol}: {said}, wanted {wanted}");
        println!("{protocol}: {wanted}");
    }
}
