//! Tests of `obvia register`, `unregister`, `classes` and `scm`: registrations, and activation.

use crate::running::{Directory, Ran, calc_client, calc_server};
use ground::{Process, until};
use rustix::process::Signal;
use serde_json::json;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

const CALC: &str = "0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a20";
const OTHER: &str = "0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a21";

/// A user, with one folder for the user's registrations and one for the system's.
struct User {
    directory: Directory,
}

impl User {
    fn new() -> Self {
        Self { directory: Directory::new() }
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn variables(&self) -> [(&'static str, String); 1] {
        let folders = ["own", "system"].map(|name| self.folder(name).display().to_string());
        [("OBVIA_CLASSES", folders.join(":"))]
    }

    fn obvia(&self, arguments: &[&str]) -> Ran {
        let [(name, value)] = self.variables();
        self.directory.obvia_with(&[(name, &value)], arguments)
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).env("OBVIA_RUNTIME_DIR", self.directory.path()).envs(self.variables());
        command
    }

    fn write(&self, folder: &str, id: &str, text: &str) -> PathBuf {
        fs::create_dir_all(self.folder(folder)).unwrap();
        let path = self.folder(folder).join(format!("{id}.class"));
        fs::write(&path, text).unwrap();
        path
    }

    /// Starts the service for activation, and returns when the service accepts calls.
    fn service(&self) -> Process {
        let mut service = Process::start(&mut self.command(env!("CARGO_BIN_EXE_obvia"), &["scm"]));
        assert_eq!(service.line(), "serving activation");
        service
    }

    /// Returns the process ID of a class's server.
    fn server(&self, class: &str) -> Option<u64> {
        let classes = self.obvia(&["classes", "--json"]).json();
        let found = classes.as_array().unwrap().iter().find(|entry| entry["class"] == class).cloned();
        found.and_then(|entry| entry["pid"].as_u64())
    }
}

#[test]
fn classes_are_registered_listed_and_taken_back() {
    let user = User::new();
    let none = user.obvia(&["classes"]);
    assert_eq!((none.code, none.out.as_str()), (0, ""));
    let own = user.folder("own").join(format!("{CALC}.class"));
    let words = [
        "register",
        "--class",
        CALC,
        "--name",
        "Calc.1",
        "--idle-timeout",
        "5",
        "--remote",
        "account anna",
        "--",
        "/bin/true",
        "--class",
        "a b",
    ];
    let said = user.obvia(&words).good();
    assert_eq!(said, format!("{CALC} by {}\n", own.display()));
    let text = fs::read_to_string(&own).unwrap();
    let expected = format!(
        "class = {CALC}\nname = Calc.1\nprogram = /bin/true\nargument = --class\nargument = a b\nidle-timeout = 5\n\
         remote = account anna\n"
    );
    assert_eq!(text, expected);
    // The user's own registration hides the system's registration of the same class.
    user.write("system", CALC, &format!("class = {CALC}\nlibrary = /opt/calc.so\n"));
    let system = user.write("system", OTHER, &format!("class = {OTHER}\nlibrary = /opt/calc.so\nhost = db.example\n"));
    let listed = user.obvia(&["classes"]).good();
    let lines: Vec<Vec<&str>> = listed.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[1], [CALC, "Calc.1", "-", "program", "/bin/true"]);
    assert_eq!(lines[2], [OTHER, "-", "-", "library", "/opt/calc.so,", "host", "db.example"]);
    let classes = user.obvia(&["classes", "--json"]).json();
    let program = json!({
        "path": "/bin/true", "arguments": ["--class", "a b"], "environment": [], "start_timeout": 30, "idle_timeout": 5,
    });
    assert_eq!((&classes[0]["program"], &classes[1]["program"]), (&program, &json!(null)));
    assert_eq!((&classes[0]["remote"], &classes[1]["remote"]), (&json!(["account anna"]), &json!([])));
    assert_eq!(classes[1]["file"], json!(system));
    let said = user.obvia(&["unregister", "calc.1"]).good();
    assert_eq!(said, format!("{CALC} is no longer registered by {}\n", own.display()));
    let why = user.obvia(&["unregister", OTHER]).bad();
    assert!(why.contains("this user has no registration of") && why.contains("system/"), "{why}");
    let why = user.obvia(&["unregister", "calc.1"]).bad();
    assert!(why.contains("no class is registered by the name `calc.1`"), "{why}");
}

#[test]
fn registration_files_are_all_checked_before_any_is_installed() {
    let user = User::new();
    let right = user.write("made", "right", &format!("# A comment.\nclass = {CALC}\nprogram = /opt/calc\n"));
    let wrong = user.write("made", "wrong", &format!("class = {OTHER}\nprogram = calc\n"));
    let [right, wrong] = [right, wrong].map(|path| path.display().to_string());
    let why = user.obvia(&["register", &right, &wrong]).bad();
    assert!(why.contains(&format!("{wrong}: line 2: `program = calc` is not an absolute path")), "{why}");
    assert_eq!(user.obvia(&["classes"]).out, "");
    user.obvia(&["register", &right]).good();
    assert!(user.obvia(&["classes"]).good().contains("/opt/calc"));
    // A wrong registration is listed with the error and its line.
    user.write("own", OTHER, "class = 1\n");
    let listed = user.obvia(&["classes"]);
    assert!(listed.code == 1 && listed.out.contains("error: ") && listed.out.contains("line 1: "), "{listed:?}");
    for nothing in ["/no/such", "/etc/passwd", "/"] {
        let why = user.obvia(&["register", "--class", OTHER, "--", nothing]).bad_with(2);
        assert!(why.contains(nothing), "{why}");
    }
    let why = user.obvia(&["register", "--class", OTHER, "--library", "/no/such.so"]).bad_with(2);
    assert!(why.contains("the library /no/such.so does not exist"), "{why}");
    let why = user.obvia(&["register", "--class", OTHER]).bad_with(2);
    assert!(why.contains("write --library FILE, --host HOST, or -- PROGRAM"), "{why}");
    for about_program in [["--environment", "A=B"], ["--remote", "everybody"]] {
        let words = [&["register", "--class", OTHER, "--library", "a"][..], &about_program].concat();
        let why = user.obvia(&words).bad();
        assert!(why.contains("need a program"), "{why}");
    }
    let refused = user.obvia(&["register", "--class", OTHER, "--remote", "all", "--", "a"]);
    let why = refused.err;
    assert!(refused.code == 2 && why.contains("`all` does not name clients of other hosts"), "{why}");
}

#[test]
fn registration_files_writable_by_other_users_are_refused() {
    let user = User::new();
    let path = user.write("own", CALC, &format!("class = {CALC}\nprogram = /opt/calc\n"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    let listed = user.obvia(&["classes"]);
    assert!(listed.code == 1 && listed.out.contains("other users can write it"), "{listed:?}");
}

#[test]
fn the_socket_passed_to_the_activation_service_accepts_remote_hosts() {
    let (user, other) = (User::new(), User::new());
    let server = calc_server().display().to_string();
    user.obvia(&[
        "register",
        "--class",
        CALC,
        "--remote",
        "everybody",
        "--idle-timeout",
        "1",
        "--",
        &server,
        "--class",
    ])
    .good();
    // As systemd does, the shell passes the socket as descriptor 3, and the service's process ID in
    // LISTEN_PID: the service has the shell's ID, because `exec` keeps it.
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = socket.local_addr().unwrap();
    let binding = format!("ncacn_ip_tcp:127.0.0.1[{}]", place.port());
    let as_systemd = r#"exec 3<&0 </dev/null; LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@""#;
    let mut service = {
        let mut command = user.command("sh", &["-c", as_systemd, env!("CARGO_BIN_EXE_obvia"), "scm"]);
        Process::start_with_input(&mut command, OwnedFd::from(socket).into())
    };
    assert_eq!(service.line(), format!("listening on {binding}"));
    other.obvia(&["register", "--class", CALC, "--host", &binding]).good();
    let output = other.command(calc_client(), &["--class"]).output().unwrap();
    let (out, why) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.starts_with("2 + 3 = 5\n"), "{out}{why}");
    // The server has not inherited the socket: after the service's end, nothing listens on it.
    drop(service);
    assert!(TcpStream::connect(place).is_err());
}

/// A function that creates an invalid file, or an object other than a file, at the path of a
/// registration.
type Put = fn(&Path);

/// Invalid registrations, with the texts that the service logs about them.
const SPOILT: [(&str, Put); 11] = [
    // The service logs nothing about a class without a registration.
    ("", |_| ()),
    ("is not a regular file", |path| fs::create_dir(path).unwrap()),
    ("is not a regular file", |path| {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    }),
    ("is not a regular file", |path| symlink("/dev/zero", path).unwrap()),
    ("symbolic link", |path| symlink(path, path).unwrap()),
    ("is longer than", |path| fs::File::create(path).unwrap().set_len(1 << 40).unwrap()),
    ("line 1: the text is not UTF-8", |path| fs::write(path, b"\xff\xfe").unwrap()),
    ("line 1: `class = \\u{1b}]0;x\\u{7}`", |path| fs::write(path, b"class = \x1b]0;x\x07").unwrap()),
    ("is the registration of", |path| fs::write(path, format!("class = {OTHER}\nprogram = /bin/true\n")).unwrap()),
    ("other users can write it", |path| {
        fs::write(path, "class").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o646)).unwrap();
    }),
    ("other users can write it", |path| {
        fs::write(path, "class").unwrap();
        // Only the superuser can change a file's owner.
        if chown(path, Some(65_534), None).is_err() {
            fs::set_permissions(path, fs::Permissions::from_mode(0o664)).unwrap();
        }
    }),
];

#[test]
fn corrupt_registrations_are_ignored_until_they_are_repaired() {
    let (user, other) = (User::new(), User::new());
    let server = calc_server().display().to_string();
    let program =
        ["register", "--class", CALC, "--remote", "everybody", "--idle-timeout", "1", "--", &server, "--class"];
    user.obvia(&program).good();
    let path = user.folder("own").join(format!("{CALC}.class"));
    let good = fs::read(&path).unwrap();
    let log = user.folder("log");
    let mut command = user.command(env!("CARGO_BIN_EXE_obvia"), &["scm", "--listen", "ncacn_ip_tcp:127.0.0.1[0]"]);
    let mut service = Process::start(command.stderr(fs::File::create(&log).unwrap()));
    let binding = service.line().strip_prefix("listening on ").unwrap().to_owned();
    assert_eq!(service.line(), "serving activation");
    other.obvia(&["register", "--class", CALC, "--host", &binding]).good();
    let ask = || other.command(calc_client(), &["--class"]).output().unwrap();
    let folder = user.directory.path().display().to_string();
    for (words, put) in SPOILT {
        let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir(&path));
        put(&path);
        let before = fs::read(&log).unwrap().len();
        let output = ask();
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{words}");
        // Clients of other hosts learn neither paths nor contents of this host's files.
        assert!(!why.contains(&folder) && !why.contains("line 1"), "{why}");
        let said = String::from_utf8_lossy(&fs::read(&log).unwrap()[before..]).into_owned();
        assert!(said.contains(words) && said.is_empty() == words.is_empty(), "{words}: {said}");
    }
    fs::remove_file(&path).unwrap();
    fs::write(&path, good).unwrap();
    let output = ask();
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && out.starts_with("2 + 3 = 5\n"), "{output:?}");
}

#[test]
fn passed_descriptors_that_are_no_listening_sockets_are_refused() {
    let user = User::new();
    let as_systemd = r#"exec 3</dev/null; LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@""#;
    let output = user.command("sh", &["-c", as_systemd, env!("CARGO_BIN_EXE_obvia"), "scm"]).output().unwrap();
    let why = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && why.contains("it does not listen for TCP connections"), "{why}");
}

#[test]
fn a_calculator_is_started_on_demand() {
    let user = User::new();
    let server = calc_server().display().to_string();
    user.obvia(&["register", "--class", CALC, "--idle-timeout", "1", "--", &server, "--class"]).good();
    let client = || user.command(calc_client(), &["--class"]).output().unwrap();
    let alone = client();
    let why = String::from_utf8_lossy(&alone.stderr).into_owned();
    assert!(!alone.status.success() && why.contains("the SCM that would start it does not run"), "{why}");
    let mut service = user.service();
    let why = user.obvia(&["scm"]).bad();
    assert_eq!(why, format!("obvia: process {} is already this user\'s SCM\n", service.id()));
    let output = client();
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && out.starts_with("2 + 3 = 5\n"), "{out}");
    assert!(user.server(CALC).is_some());
    // The service exports no name.
    assert_eq!(user.obvia(&["ls", "--json"]).json(), json!([]));
    service.signal(Signal::TERM);
    assert!(service.await_end().success());
    until("the server ends", || user.server(CALC).is_none());
}
