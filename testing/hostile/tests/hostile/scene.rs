//! The scene of a test: a runtime directory, a server, a witness, and checks that both are
//! unharmed.

use crate::peer::Peer;
use crate::wire::{self, Frame};
use ground::Folder;
use native_programs::java::Classes;
use native_programs::{CHECKED, Workshop, folder};
use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

pub(crate) use ground::LATEST as PATIENCE;
pub(crate) use ground::until as await_that;

/// The time to wait for an event that must not happen.
pub(crate) const MOMENT: Duration = Duration::from_millis(300);

/// A thread that repeats an action until it is dropped.
pub(crate) struct Meanwhile {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Meanwhile {
    pub(crate) fn start(mut act: impl FnMut() + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                act();
            }
        });
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for Meanwhile {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

/// A runtime directory, removed on drop.
pub(crate) struct Directory(Folder);

impl Directory {
    pub(crate) fn new() -> Self {
        Self(Folder::new("hostile"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns the socket's path of an exported name.
    pub(crate) fn socket(&self, name: &str) -> PathBuf {
        self.0.join(format!("{name}.sock"))
    }

    /// Returns the OXIDs of the processes that have endpoints.
    pub(crate) fn endpoints(&self) -> Vec<u64> {
        let files = std::fs::read_dir(self.path()).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let of = |name: String| u64::from_str_radix(name.strip_prefix("oxid-")?.strip_suffix(".sock")?, 16).ok();
        names.filter_map(of).collect()
    }
}

/// A process that ends when its standard input is closed; killed on drop.
pub(crate) struct Process {
    process: ground::Process,
    is_virtual_machine: bool,
}

impl Deref for Process {
    type Target = ground::Process;

    fn deref(&self) -> &Self::Target {
        &self.process
    }
}

impl DerefMut for Process {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.process
    }
}

impl Process {
    /// Starts a process with a file of accounts, and returns the first line of its output.
    pub(crate) fn with_accounts(directory: &Directory, accounts: &Path, arguments: &[&str]) -> (Self, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_obvia-hostile"));
        let mut process = Self::spawn(directory, command.args(arguments).env("OBVIA_ACCOUNTS", accounts));
        let said = process.line();
        (process, said)
    }

    pub(crate) fn start(directory: &Directory, arguments: &[&str]) -> Self {
        Self::spawn(directory, Command::new(env!("CARGO_BIN_EXE_obvia-hostile")).args(arguments))
    }

    #[track_caller]
    pub(crate) fn spawn(directory: &Directory, command: &mut Command) -> Self {
        let process = ground::Process::start(command.env("OBVIA_RUNTIME_DIR", directory.path()));
        Self { process, is_virtual_machine: false }
    }

    /// Waits until the process prints that it is ready.
    #[track_caller]
    pub(crate) fn await_ready(&mut self) {
        assert_eq!(self.line(), "ready");
    }

    /// Sends the process a line, and returns its output until the line `good`.
    #[track_caller]
    fn ask(&mut self, line: &str) -> Vec<String> {
        self.say(line);
        let mut said = vec![];
        while said.last().is_none_or(|line| line != GOOD) {
            let next = self.line();
            println!("{next}");
            said.push(next);
        }
        said
    }

    #[track_caller]
    pub(crate) fn assert_alive(&mut self) {
        let status = self.exit_status();
        assert!(status.is_none(), "the process has ended: {status:?}");
    }

    /// Counts the resources that peers can make the process allocate.
    pub(crate) fn census(&self) -> Census {
        let place = format!("/proc/{}", self.id());
        let entries = |what| std::fs::read_dir(format!("{place}/{what}")).into_iter().flatten().flatten();
        // Other threads of a Java virtual machine start and end at any time. The poller starts when
        // a connection is idle for the first time, for example because the witness got no processor
        // for some seconds.
        let is_counted = |task: &std::fs::DirEntry| {
            let name = std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
            !self.is_virtual_machine || name.starts_with("obvia") && name.trim_end() != "obvia-poller"
        };
        let maps = std::fs::read_to_string(format!("{place}/maps")).unwrap_or_default();
        let mappings = maps.lines().filter(|line| line.contains("/memfd:") || line.contains("/.obvia-")).count();
        Census { files: self.files().len(), threads: entries("task").filter(is_counted).count(), mappings }
    }

    /// Returns the names of the files to which the process's descriptors refer.
    fn files(&self) -> Vec<String> {
        let files = std::fs::read_dir(format!("/proc/{}/fd", self.id())).into_iter().flatten().flatten();
        let names = files.filter_map(|file| std::fs::read_link(file.path()).ok());
        // A Java virtual machine opens files of its own at any time. Each of its threads sleeps on
        // a descriptor, which the thread creates before its first sleep.
        let is_counted = |name: &String| {
            !self.is_virtual_machine || ["socket:", "/memfd:", "/dev/shm/"].iter().any(|kind| name.starts_with(kind))
        };
        names.map(|name| name.to_string_lossy().into_owned()).filter(is_counted).collect()
    }
}

/// The numbers of file descriptors, threads, and mappings of memory files of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Census {
    files: usize,
    threads: usize,
    mappings: usize,
}

/// The implementation of the client that visits hostile servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    /// A client in Rust, with one process for each visit.
    Rust,
    /// A client in C++, under sanitizers, with one process for all visits of a test.
    Cpp,
    /// A client in Java, with one virtual machine for all visits of many tests.
    Java,
}

/// The last line of a visit's output.
const GOOD: &str = "good";

/// Defines tests that call the given functions with a client: two tests for each function, with the
/// clients in Rust and C++, and one test that calls all functions with the client in Java.
macro_rules! by_every_client {
    ($($test:ident),* $(,)?) => {
        mod rust {
            $(#[test]
            fn $test() {
                super::$test($crate::scene::Client::Rust);
            })*
        }
        mod cpp {
            $(#[test]
            fn $test() {
                super::$test($crate::scene::Client::Cpp);
            })*
        }
        #[test]
        fn java() {
            $crate::scene::with_java($crate::scene::Client::Java, &[$((stringify!($test), $test)),*]);
        }
    };
}
pub(crate) use by_every_client;

/// The implementation of the server, and the owner of its server loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Server {
    Rust,
    /// A server in C++, under sanitizers.
    Cpp,
    /// The server in C++ with a server loop of its own.
    OwnLoop,
    /// A server in Java, with one virtual machine for many tests.
    Java,
}

impl Server {
    /// Whether the server parks its idle connections.
    pub(crate) fn parks(self) -> bool {
        matches!(self, Self::Rust | Self::Cpp)
    }

    /// Returns the server's command; `None` for Java without a JDK.
    pub(crate) fn command(self) -> Option<Command> {
        let of = |program: &Path, role| {
            let mut command = Command::new(program);
            command.arg(role);
            command
        };
        Some(match self {
            Self::Rust => of(Path::new(env!("CARGO_BIN_EXE_obvia-hostile")), "server"),
            Self::Cpp => of(&CPP, "server"),
            Self::OwnLoop => of(&CPP, "loop"),
            Self::Java => {
                let mut command = JAVA.as_ref()?.program("peer.Server");
                command.arg("victim");
                command
            }
        })
    }
}

static WORKSHOP: Workshop = Workshop::new(env!("CARGO_TARGET_TMPDIR"));

/// Builds a program in C++, under sanitizers.
fn native(name: &str, source: &str) -> PathBuf {
    let here = folder("testing/hostile");
    let interfaces = ["victim.idl", "mapped.idl"].map(|file| here.join(file));
    WORKSHOP.build(name, CHECKED, &interfaces, &[here.join("native").join(source)])
}

/// The server in C++.
static CPP: LazyLock<PathBuf> = LazyLock::new(|| native("hostile-native", "victim.cc"));

/// The client in C++.
static CPP_CLIENT: LazyLock<PathBuf> = LazyLock::new(|| native("hostile-visitor", "visitor.cc"));

/// The classes of the server and the client in Java; `None` without a JDK.
static JAVA: LazyLock<Option<Classes>> = LazyLock::new(|| {
    let home = folder("testing/hostile");
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostile-java");
    Classes::build(&place, &["victim.idl", "contexts.idl"].map(|file| home.join(file)), Some(&home.join("java")))
});

thread_local! {
    /// The scene of the last test with a Java virtual machine, which the next test uses again.
    static STAGE: RefCell<Option<Scene>> = const { RefCell::new(None) };
}

/// A test with a server or a client as argument, and its name.
pub(crate) type Named<T> = (&'static str, fn(T));

/// Runs tests in turn with one Java virtual machine, whose start takes long. After a failed test,
/// the next test starts a new virtual machine.
pub(crate) fn with_java<T: Copy>(java: T, tests: &[Named<T>]) {
    if JAVA.is_none() {
        return;
    }
    let mut failed = vec![];
    let mut attempt = |name: &'static str, act: &dyn Fn()| {
        let begun = Instant::now();
        let is_good = std::panic::catch_unwind(AssertUnwindSafe(act)).is_ok();
        println!("{name} {}: {:?}", if is_good { "went well" } else { "failed" }, begun.elapsed());
        if !is_good {
            failed.push(name);
        }
    };
    for (name, test) in tests {
        attempt(name, &|| test(java));
    }
    attempt("what is left in the end", &|| STAGE.take().iter_mut().for_each(Scene::end));
    assert!(failed.is_empty(), "failed: {failed:?}");
}

/// Runs tests in turn against the server in Java.
pub(crate) fn against_java(tests: &[Named<Server>]) {
    with_java(Server::Java, tests);
}

/// Defines tests that call the given functions with a server: a test for each function and native
/// server, and one test that calls all functions with the server in Java. The functions after
/// `but_java` need files that a Java virtual machine cannot receive.
macro_rules! against_every_server {
    ($($test:ident),* $(,)? $(; but_java: $($native:ident),* $(,)?)?) => {
        $crate::scene::against_every_server!(@ rust Rust $($test)* $($($native)*)?);
        $crate::scene::against_every_server!(@ cpp Cpp $($test)* $($($native)*)?);
        $crate::scene::against_every_server!(@ own_loop OwnLoop $($test)* $($($native)*)?);
        #[test]
        fn java() {
            $crate::scene::against_java(&[$((stringify!($test), $test)),*]);
        }
    };
    (@ $module:ident $server:ident $($test:ident)*) => {
        mod $module {
            $(#[test]
            fn $test() {
                super::$test($crate::scene::Server::$server);
            })*
        }
    };
}
pub(crate) use against_every_server;

/// A server and a witness.
pub(crate) struct Scene {
    pub(crate) kind: Server,
    pub(crate) server: Process,
    witness: Process,
    before: Census,
    pub(crate) directory: Directory,
    client: Client,
    /// The process that visits hostile servers, if it makes several visits.
    visitor: RefCell<Option<Process>>,
}

impl Scene {
    /// Starts a scene with a server in Rust.
    pub(crate) fn new() -> Self {
        Self::of(Server::Rust)
    }

    /// Starts a scene with a client that visits hostile servers.
    pub(crate) fn with(client: Client) -> Self {
        Self { client, ..Self::new() }
    }

    /// Whether the scene has a Java virtual machine, which several tests use.
    fn has_java(&self) -> bool {
        self.kind == Server::Java || self.client == Client::Java
    }

    /// Makes the client visit a hostile server, and returns its output. The words are the server's
    /// name and the client's other arguments.
    #[track_caller]
    pub(crate) fn visit(&self, words: &[&str]) -> Vec<String> {
        let several =
            |start: &dyn Fn() -> Process| self.visitor.borrow_mut().get_or_insert_with(start).ask(&words.join(" "));
        let said = match self.client {
            Client::Rust => Process::start(&self.directory, &[&["client"], words].concat()).finish(),
            Client::Cpp => several(&|| Process::spawn(&self.directory, &mut Command::new(&*CPP_CLIENT))),
            Client::Java => several(&|| {
                let classes = JAVA.as_ref().expect("there is a JDK");
                Process::spawn(&self.directory, &mut classes.program("peer.Visitor"))
            }),
        };
        assert_eq!(said.last().map(String::as_str), Some(GOOD), "{said:#?}");
        said
    }

    /// Ends the client, so that the next visit starts a new one.
    #[track_caller]
    pub(crate) fn forget_visits(&self) {
        if let Some(mut visitor) = self.visitor.take() {
            visitor.finish();
        }
    }

    pub(crate) fn of(kind: Server) -> Self {
        if let Some(scene) = STAGE.take() {
            assert_eq!(scene.kind, kind);
            return scene;
        }
        let directory = Directory::new();
        let mut server = Process::spawn(&directory, &mut kind.command().expect("there is a JDK"));
        server.is_virtual_machine = kind == Server::Java;
        server.await_ready();
        let mut witness = Process::start(&directory, &["witness"]);
        witness.await_ready();
        // The census to compare with is taken after a first client has ended, because serving that
        // client starts threads that stay.
        let (before, client, visitor) = (Census::default(), Client::Rust, RefCell::default());
        let mut scene = Self { kind, server, witness, before, directory, client, visitor };
        scene.assert_serving();
        let mut last = Census::default();
        await_that("the server comes to rest", || {
            let now = scene.server.census();
            let is_same = now == std::mem::replace(&mut last, now);
            sleep(Duration::from_millis(10));
            is_same && now.files > 0
        });
        scene.before = last;
        scene
    }

    /// Returns a client that has exchanged greetings.
    pub(crate) fn greeted(&self) -> Peer {
        Peer::connect(&self.directory.socket("victim"))
    }

    /// Returns a client, which has sent its bind and resolved the server's object. Also returns the
    /// object.
    pub(crate) fn bound(&self) -> (Peer, wire::Target) {
        let mut peer = self.greeted();
        peer.introduce();
        let object = peer.resolve("victim", wire::IVICTIM);
        (peer, object)
    }

    /// Returns the OXID of the process that exports a name.
    pub(crate) fn oxid_of(&self, name: &str) -> u64 {
        let (mut peer, _) = self.bound();
        peer.oxid_of(name)
    }

    /// Asserts that a new client is served.
    #[track_caller]
    pub(crate) fn assert_serving(&mut self) {
        self.server.assert_alive();
        let (mut peer, object) = self.bound();
        let answer = peer.call(object, 3, &Frame::block(8).u32(0, 40).u32(4, 2).bytes);
        assert_eq!((answer.kind, answer.first, &answer.frame[..4]), (wire::RESPONSE, 0, &42_u32.to_le_bytes()[..]));
    }

    /// Asserts that the server serves, the witness was not disturbed, and no resources of peers are
    /// left. The resources that a client in Java uses are checked after the last test.
    #[track_caller]
    pub(crate) fn assert_unharmed(mut self) {
        self.assert_serving();
        self.witness.assert_alive();
        if self.kind == Server::Java {
            self.assert_left();
        }
        if self.has_java() {
            STAGE.set(Some(self));
        } else {
            self.end();
        }
    }

    /// Waits until the server has released its peers' resources. A client that makes several visits
    /// must have ended before.
    #[track_caller]
    fn assert_left(&self) {
        let mut before = self.before;
        if self.kind != Server::Java {
            // Once a connection was parked, the server has two more threads and two more
            // descriptors, which wait for parked connections.
            before.threads += 2;
            before.files += 2;
        }
        let started = Instant::now();
        loop {
            let now = self.server.census();
            if now.files <= before.files && now.threads <= before.threads && now.mappings <= before.mappings {
                break;
            }
            assert!(
                started.elapsed() < PATIENCE,
                "the server had {before:?}, and has {now:?}: {:?}",
                self.server.files()
            );
            sleep(Duration::from_millis(20));
        }
    }

    #[track_caller]
    fn end(&mut self) {
        self.forget_visits();
        self.assert_left();
        self.witness.finish();
        self.server.finish();
    }
}
