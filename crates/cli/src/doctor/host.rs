//! The files and the environment of a host, which the checks of the report read.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// A function that returns the value of an environment variable, given its name.
type Variables = Box<dyn Fn(&str) -> Option<OsString>>;

/// A host. Tests replace its root directory and its environment.
pub(super) struct Host {
    root: PathBuf,
    variable: Variables,
}

impl Host {
    /// Returns the host of this process.
    pub(super) fn new() -> Self {
        Self { root: PathBuf::from("/"), variable: Box::new(|name| std::env::var_os(name)) }
    }

    /// Returns the path of a file, which is given without its leading slash.
    pub(super) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.join(path)
    }

    /// Returns the text of a file without the blanks around it; empty if the file cannot be read.
    pub(super) fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap_or_default().trim().to_owned()
    }

    /// Returns the number in a file, if the file has one.
    pub(super) fn number(&self, path: &str) -> Option<u64> {
        self.text(path).parse().ok()
    }

    /// Returns the sorted paths of a directory's entries; none if the directory cannot be read.
    pub(super) fn entries(&self, path: &str) -> Vec<PathBuf> {
        let read = std::fs::read_dir(self.path(path)).into_iter().flatten().flatten();
        let mut entries: Vec<PathBuf> = read.map(|entry| entry.path()).collect();
        entries.sort();
        entries
    }

    /// Returns the value of an environment variable, unless the value is empty.
    pub(super) fn variable(&self, name: &str) -> Option<OsString> {
        (self.variable)(name).filter(|value| !value.is_empty())
    }

    /// Returns the path of the first of several programs that is in `PATH` and can be executed, if
    /// there is one.
    pub(super) fn program(&self, names: &[&str]) -> Option<PathBuf> {
        let path = self.variable("PATH").unwrap_or_default();
        let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
        let is_in = |name: &&str| folders.iter().map(|folder| folder.join(name)).find(|path| is_program(path));
        names.iter().find_map(is_in)
    }

    /// Returns the soft and the hard value of a limit of this process; `u64::MAX` for no limit.
    /// `name` is the limit's name in `/proc/self/limits`. `None` for an unknown name.
    pub(super) fn limit(&self, name: &str) -> Option<(u64, u64)> {
        let text = self.text("proc/self/limits");
        let mut words = text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace();
        let mut number = || match words.next()? {
            "unlimited" => Some(u64::MAX),
            word => word.parse().ok(),
        };
        Some((number()?, number()?))
    }

    /// Whether this process has a capability, by its number in capabilities(7).
    pub(super) fn is_capable(&self, capability: u32) -> bool {
        let status = self.text("proc/self/status");
        let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
        effective
            .and_then(|text| u64::from_str_radix(text.trim(), 16).ok())
            .is_some_and(|set| set >> capability & 1 == 1)
    }

    /// Returns the major and the minor number of the kernel's version, if the version can be read.
    pub(super) fn kernel(&self) -> Option<(u32, u32)> {
        let release = self.text("proc/sys/kernel/osrelease");
        let mut parts = release.split(|letter: char| !letter.is_ascii_digit());
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    }
}

fn is_program(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Returns the major and the minor number of the version that a program prints; `None` if the
/// program fails or takes too long.
pub(super) fn version_of(program: &Path) -> Option<(u32, u32)> {
    // The tool runs in the root folder, where no files of a project select another version of the
    // tool.
    let mut command = Command::new(program);
    command.arg("--version").current_dir("/").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let mut output = child.stdout.take()?;
    let (sender, read) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let outcome = output.by_ref().take(VERSION_TEXT_MAX).read_to_end(&mut text);
        // The send fails if the receiver has reached its time limit.
        let _ = sender.send(outcome.map(|_| text));
    });
    let text = read.recv_timeout(VERSION_TIME_MAX);
    // The kill fails if the program has ended.
    let _ = child.kill();
    let _ = child.wait();
    version_in(&String::from_utf8_lossy(&text.ok()?.ok()?))
}

/// The limits on a program that prints its version: the time, and the length of its output in
/// bytes.
const VERSION_TIME_MAX: Duration = Duration::from_secs(10);
const VERSION_TEXT_MAX: u64 = 4096;

/// Returns the first two numbers in a text that have a dot between them, if there are any.
fn version_in(text: &str) -> Option<(u32, u32)> {
    text.split(|letter: char| !letter.is_ascii_digit() && letter != '.').find_map(|word| {
        let mut numbers = word.split('.');
        Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    })
}

/// Formats a number of bytes in the largest unit that the number reaches.
pub(super) fn bytes(number: u64) -> String {
    let units = [(1_u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.iter().find(|(size, _)| number >= *size) {
        _ if number == u64::MAX => "unlimited".to_owned(),
        Some((size, unit)) if number.is_multiple_of(*size) => format!("{} {unit}", number / size),
        Some((size, unit)) => format!("{:.1} {unit}", number as f64 / *size as f64),
        None => format!("{number} bytes"),
    }
}

/// Returns a path or a variable's value as a text.
pub(super) fn shown(path: impl AsRef<OsStr>) -> String {
    path.as_ref().to_string_lossy().into_owned()
}

#[cfg(test)]
pub(super) mod tests {
    use super::{Host, bytes, version_in};
    use std::path::PathBuf;

    /// A host that consists of the files in a folder, which is removed on drop.
    pub(in super::super) struct Fake(pub(in super::super) ground::Folder, pub(in super::super) Host);

    impl Host {
        /// Sets the only variable that the host has: `PATH`.
        pub(in super::super) fn set_path(&mut self, path: PathBuf) {
            self.variable = Box::new(move |name| (name == "PATH").then(|| path.clone().into()));
        }
    }

    impl Fake {
        pub(in super::super) fn new(files: &[(&str, &str)]) -> Self {
            let folder = ground::Folder::new("doctor");
            let host = Host { root: folder.path().to_owned(), variable: Box::new(|_| None) };
            for (path, text) in files {
                let path = folder.join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            Self(folder, host)
        }
    }

    #[test]
    fn limits_capabilities_and_versions_are_read_from_proc() {
        let limits = "Limit  Soft Limit  Hard Limit  Units\nMax open files   1024   524288   files\n\
                      Max locked memory   unlimited   unlimited   bytes\n";
        let Fake(_folder, host) = &Fake::new(&[
            ("proc/self/limits", limits),
            ("proc/self/status", "Name:\tobvia\nCapEff:\t0000000000003000\n"),
            ("proc/sys/kernel/osrelease", "6.12.1-rc3\n"),
        ]);
        assert_eq!(host.limit("Max open files"), Some((1024, 524_288)));
        assert_eq!(host.limit("Max locked memory"), Some((u64::MAX, u64::MAX)));
        assert_eq!(host.limit("Max cpu time"), None);
        assert_eq!([11, 12, 13, 14].map(|capability| host.is_capable(capability)), [false, true, true, false]);
        assert_eq!(host.kernel(), Some((6, 12)));
        let Fake(_folder, nothing) = &Fake::new(&[]);
        assert_eq!((nothing.kernel(), nothing.is_capable(1), nothing.number("proc/x")), (None, false, None));
    }

    #[test]
    fn versions_are_read_from_what_programs_print() {
        let colored = "\u{1b}[1mApache Maven 3.8.7\u{1b}[m\nMaven home: /usr";
        let texts = ["cargo 1.95.0 (f2d3ce0bd 2026-03-21)", "cmake version 4.1-rc2", colored, "none", ""];
        assert_eq!(texts.map(version_in), [Some((1, 95)), Some((4, 1)), Some((3, 8)), None, None]);
    }

    #[test]
    fn numbers_of_bytes_have_units() {
        assert_eq!([7, 1 << 10, 3 << 19, 5 << 30].map(bytes), ["7 bytes", "1 KiB", "1.5 MiB", "5 GiB"]);
        assert_eq!(bytes(u64::MAX), "unlimited");
    }
}
