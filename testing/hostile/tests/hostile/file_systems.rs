//! Tests of files on a FUSE file system that does not answer: a process that uses them may wait
//! without end, and no signal ends the wait.

use crate::peer::{AREA_LENGTH, await_end, connect, name_segments, receive_either, send};
use crate::scene::{PATIENCE, Scene, Server, against_every_server, await_that};
use crate::wire;
use ground::Folder;
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use std::ffi::{CStr, CString};
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

against_every_server! {
    segments_on_a_hanging_file_system_end_their_connection,
    segments_whose_pages_never_load_are_not_touched,
    runtime_directories_on_a_hanging_file_system_are_refused_in_time;
    but_java:
    areas_on_a_hanging_file_system_end_their_connection,
}

/// Operations of the FUSE protocol.
const LOOKUP: u32 = 1;
const GETATTR: u32 = 3;
const OPEN: u32 = 14;
const READ: u32 = 15;
const FLUSH: u32 = 25;
const STATFS: u32 = 17;
const OPENDIR: u32 = 27;
const ACCESS: u32 = 34;

/// The maximum number of a user's files that wait to be closed. At the maximum, a server refuses
/// all messages from processes of that user.
const DOUBTFUL_MAX: usize = 64;

/// A file system that never answers some operations, and answers the others correctly.
///
/// A process that waits for an answer cannot even be killed. A test has to declare such a process
/// before the file system, so that the process is dropped after the file system.
struct FileSystem {
    place: PathBuf,
    daemon: Child,
    file: Option<OwnedFd>,
    /// The folder with the mount point. It is removed last, when nothing is mounted in it any more.
    folder: Option<Folder>,
}

impl FileSystem {
    /// Mounts the file system in a folder of its own.
    fn mount(silent: &[u32]) -> Option<Self> {
        let folder = Folder::new("hostile-files");
        let mut mounted = Self::mount_at(folder.path(), silent)?;
        mounted.folder = Some(folder);
        Some(mounted)
    }

    /// Mounts the file system for this thread and its children only. Without the privileges,
    /// reports that and returns `None`.
    fn mount_at(place: &Path, silent: &[u32]) -> Option<Self> {
        let device = match rustix::fs::open("/dev/fuse", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()) {
            Ok(device) => device,
            Err(errno) => return skip("opening /dev/fuse", &errno.into()),
        };
        if let Err(error) = leave_mounts().and_then(|()| mount(&device, place)) {
            // A CI run has the right to mount.
            assert!(!ground::is_ci(), "mounting: {error}");
            return skip("mounting", &error);
        }
        // Only the daemon has the device, so the daemon's end is the end of the file system.
        let numbers = silent.iter().map(u32::to_string);
        let daemon = Command::new(env!("CARGO_BIN_EXE_obvia-hostile"))
            .arg("file-system")
            .args(numbers)
            .stdin(Stdio::from(device))
            .spawn()
            .unwrap();
        Some(Self { place: place.to_owned(), daemon, file: None, folder: None })
    }

    /// Opens the file, under any name. The descriptor is closed after the daemon's end, when no
    /// operation waits any more.
    fn file(&mut self) -> BorrowedFd<'_> {
        let open = || std::fs::File::options().read(true).write(true).open(self.place.join("file")).unwrap().into();
        let file: &OwnedFd = self.file.get_or_insert_with(open);
        file.as_fd()
    }

    /// Ends the daemon, which wakes the processes that wait for an answer.
    fn end(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

impl Drop for FileSystem {
    fn drop(&mut self) {
        self.end();
        let path = CString::new(self.place.as_os_str().as_bytes()).unwrap();
        // SAFETY: the path is a C string, which ends in zero and outlives the call.
        unsafe { libc::umount2(path.as_ptr(), libc::MNT_DETACH) };
    }
}

/// Prints the reason why a test is skipped. Panics at errors other than a missing device or a
/// missing right.
fn skip<T>(what: &str, error: &std::io::Error) -> Option<T> {
    let excuses = [libc::ENOENT, libc::ENXIO, libc::ENODEV, libc::EACCES, libc::EPERM];
    assert!(error.raw_os_error().is_some_and(|number| excuses.contains(&number)), "{what}: {error}");
    eprintln!("skipped: {what}: {error}");
    None
}

/// Gives this thread a mount namespace of its own, which ends with the thread and its children.
fn leave_mounts() -> std::io::Result<()> {
    // SAFETY: the call changes only the meaning of paths, and only for this thread.
    if unsafe { libc::unshare(libc::CLONE_NEWNS) } != 0 {
        return Err(std::io::Error::last_os_error());
    }
    call_mount(c"none", c"/", c"none", libc::MS_REC | libc::MS_PRIVATE, c"")
}

fn mount(device: &OwnedFd, place: &Path) -> std::io::Result<()> {
    let path = CString::new(place.as_os_str().as_bytes())?;
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let options =
        format!("fd={},rootmode=40000,user_id={user},group_id={group},default_permissions", device.as_raw_fd());
    call_mount(c"obvia", &path, c"fuse", libc::MS_NOSUID | libc::MS_NODEV, &CString::new(options)?)
}

fn call_mount(source: &CStr, target: &CStr, kind: &CStr, flags: libc::c_ulong, options: &CStr) -> std::io::Result<()> {
    let (source, target, kind) = (source.as_ptr(), target.as_ptr(), kind.as_ptr());
    // SAFETY: all arguments are C strings, which end in zero and outlive the call.
    let done = unsafe { libc::mount(source, target, kind, flags, options.as_ptr().cast()) };
    if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// Sends greetings with a file of the file system. The server must hang up, and go on to serve
/// other clients.
fn segments_on_a_hanging_file_system_end_their_connection(server: Server) {
    let scene = Scene::of(server);
    let Some(mut files) = FileSystem::mount(&[FLUSH]) else { return scene.assert_unharmed() };
    let file = files.file();
    for count in [1, 2] {
        let socket = connect(&scene.directory.socket("victim"));
        send_greeting(&socket, server, &vec![file; count]);
        await_end(&socket);
    }
    if server == Server::Java {
        // A server in Java receives no descriptors.
        drop(files);
        return scene.assert_unharmed();
    }
    let (peer, _) = scene.bound();
    drop(peer);
    let open = || std::fs::read_dir(format!("/proc/{}/fd", scene.server.id())).unwrap().count();
    let before = open();
    for _ in 0..DOUBTFUL_MAX {
        let socket = connect(&scene.directory.socket("victim"));
        send(&socket, &wire::greeting(AREA_LENGTH as u64), &[file; 2]).unwrap();
        await_end(&socket);
    }
    // The files of the last greeting may exceed the limit by one.
    assert!(open() <= before + DOUBTFUL_MAX + 1, "{} more files", open() - before);
    drop(files);
    // Until the server has closed these files, it refuses its own user's memory files, too.
    await_that("the files are closed", || open() <= before);
    scene.assert_unharmed();
}

/// Sends a greeting with a file that seems to lie in /dev/shm, like a memory file, because the
/// sender has mounted the file system there. Such a file can be opened and mapped, but no page of
/// it can be read.
fn segments_whose_pages_never_load_are_not_touched(server: Server) {
    let scene = Scene::of(server);
    let Some(mut files) = FileSystem::mount_at(Path::new("/dev/shm"), &[READ]) else { return scene.assert_unharmed() };
    let file = files.file();
    let socket = connect(&scene.directory.socket("victim"));
    send_greeting(&socket, server, &[file]);
    await_end(&socket);
    scene.assert_unharmed();
    drop(files);
}

/// Sends a greeting, with the files beside its bytes. To a Java virtual machine, sends the name of
/// the first file instead, for both segments.
fn send_greeting(socket: &UnixStream, server: Server, files: &[BorrowedFd<'_>]) {
    let greeting = wire::greeting(AREA_LENGTH as u64);
    if server == Server::Java {
        send(socket, &greeting, &[]).unwrap();
        assert!(receive_either(socket, &mut [0; 24]).is_some(), "a greeting");
        name_segments(socket, [files[0]; 2]);
    } else {
        send(socket, &greeting, files).unwrap();
    }
}

/// Exchanges valid greetings, and then sends files of the file system as areas.
fn areas_on_a_hanging_file_system_end_their_connection(server: Server) {
    let scene = Scene::of(server);
    let Some(mut files) = FileSystem::mount(&[FLUSH]) else { return scene.assert_unharmed() };
    let file = files.file();
    for announced in [1, 2] {
        let (mut peer, object) = scene.bound();
        peer.note(announced, 4096, &[file]);
        peer.request_at(object, 3, [1, 0, 8]);
        peer.assert_cut_off();
    }
    drop(files);
    scene.assert_unharmed();
}

/// Starts servers whose runtime directory is on the file system. In the first case all operations
/// are answered, and the server refuses a directory on FUSE. In the second case only the look-up of
/// the directory is answered. In the third case the look-up of a subdirectory is not answered. The
/// server must report the error in time, although its process ends only when the file system does.
fn runtime_directories_on_a_hanging_file_system_are_refused_in_time(server: Server) {
    for (silent, names, what) in [
        (&[][..], ".", "FUSE"),
        (&[GETATTR, OPEN, OPENDIR, ACCESS, STATFS], ".", "does not respond"),
        (&[LOOKUP], "names", "does not respond"),
    ] {
        let Some(mut files) = FileSystem::mount(silent) else { return };
        let mut command = server.command().expect("there is a JDK");
        command.env("OBVIA_RUNTIME_DIR", files.place.join(names)).stdin(Stdio::null()).stdout(Stdio::null());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || lines.into_iter().try_for_each(|line| tell.send(line)));
        let mut said = String::new();
        while !said.contains(what)
            && let Ok(line) = told.recv_timeout(PATIENCE)
        {
            said += &line;
        }
        let _ = child.kill();
        files.end();
        let _ = child.wait();
        assert!(said.contains(what), "{server:?}, {silent:?}: {said}");
    }
}
