//! Files of a file system in user space that does not answer: who asks for them waits as long as that likes, and no signal ends it.

use crate::peer::{AREA_LENGTH, await_end, connect, name_segments, receive_either, send};
use crate::scene::{PATIENCE, Scene, Server, against_every_server, await_that};
use crate::wire;
use ground::Folder;
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use std::ffi::{CStr, CString};
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

against_every_server! {
    files_of_a_file_system_that_hangs_cost_their_own_connection,
    names_on_a_file_system_that_hangs_are_refused_in_time;
    but_java:
    areas_of_a_file_system_that_hangs_cost_their_own_connection,
}

/// Operations of the protocol.
const LOOKUP: u32 = 1;
const GETATTR: u32 = 3;
const OPEN: u32 = 14;
const FLUSH: u32 = 25;
const STATFS: u32 = 17;
const OPENDIR: u32 = 27;
const ACCESS: u32 = 34;

/// The number of files that wait to be closed from which on the server receives no further files.
const DOUBTFUL_MAX: usize = 64;

/// A file system that never answers some operations, and others well.
///
/// Who waits for an answer cannot even be killed, so what may wait has to be declared before it, to be dropped behind it.
struct FileSystem {
    folder: Folder,
    daemon: Child,
    file: Option<OwnedFd>,
}

impl FileSystem {
    /// Mounts it where only this thread and its children see it; `None` where that cannot be done, which is said.
    fn mount(silent: &[u32]) -> Option<Self> {
        let folder = Folder::new("hostile-files");
        let device = match rustix::fs::open("/dev/fuse", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()) {
            Ok(device) => device,
            Err(errno) => return skip("opening /dev/fuse", &errno.into()),
        };
        if let Err(error) = leave_mounts().and_then(|()| mount(&device, &folder)) {
            // A device that can be opened comes with the right to mount wherever a run counts.
            assert!(std::env::var_os("CI").is_none(), "mounting: {error}");
            return skip("mounting", &error);
        }
        // The device is the daemon's alone, so that its end is the file system's.
        let numbers = silent.iter().map(u32::to_string);
        let daemon = Command::new(env!("CARGO_BIN_EXE_obvia-hostile"))
            .arg("file-system")
            .args(numbers)
            .stdin(Stdio::from(device))
            .spawn()
            .unwrap();
        Some(Self { folder, daemon, file: None })
    }

    /// A file that is open, by any name. It is closed when nobody waits for an answer any more.
    fn file(&mut self) -> BorrowedFd<'_> {
        let open = || std::fs::File::options().read(true).write(true).open(self.folder.join("file")).unwrap().into();
        let file: &OwnedFd = self.file.get_or_insert_with(open);
        file.as_fd()
    }

    /// Ends it: whoever waits for an answer goes on.
    fn end(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

impl Drop for FileSystem {
    fn drop(&mut self) {
        self.end();
        let path = CString::new(self.folder.path().as_os_str().as_bytes()).unwrap();
        // SAFETY: the path is a text that ends in zero.
        unsafe { libc::umount2(path.as_ptr(), libc::MNT_DETACH) };
    }
}

/// Prints the reason why nothing is tested. Other errors than a missing device or a missing right fail.
fn skip<T>(what: &str, error: &std::io::Error) -> Option<T> {
    let excuses = [libc::ENOENT, libc::ENXIO, libc::ENODEV, libc::EACCES, libc::EPERM];
    assert!(error.raw_os_error().is_some_and(|number| excuses.contains(&number)), "{what}: {error}");
    eprintln!("skipped: {what}: {error}");
    None
}

/// Gives this thread mounts of its own, which end with it and its children.
fn leave_mounts() -> std::io::Result<()> {
    // SAFETY: nothing but where paths lead changes, and that for this thread alone.
    if unsafe { libc::unshare(libc::CLONE_NEWNS) } != 0 {
        return Err(std::io::Error::last_os_error());
    }
    call_mount(c"none", c"/", c"none", libc::MS_REC | libc::MS_PRIVATE, c"")
}

fn mount(device: &OwnedFd, folder: &Folder) -> std::io::Result<()> {
    let path = CString::new(folder.path().as_os_str().as_bytes())?;
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let options =
        format!("fd={},rootmode=40000,user_id={user},group_id={group},default_permissions", device.as_raw_fd());
    call_mount(c"obvia", &path, c"fuse", libc::MS_NOSUID | libc::MS_NODEV, &CString::new(options)?)
}

fn call_mount(source: &CStr, target: &CStr, kind: &CStr, flags: libc::c_ulong, options: &CStr) -> std::io::Result<()> {
    let (source, target, kind) = (source.as_ptr(), target.as_ptr(), kind.as_ptr());
    // SAFETY: all are texts that end in zero and outlive the call.
    let done = unsafe { libc::mount(source, target, kind, flags, options.as_ptr().cast()) };
    if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// Sends greetings with such a file; the server must hang up, and go on to serve others.
fn files_of_a_file_system_that_hangs_cost_their_own_connection(server: Server) {
    let scene = Scene::of(server);
    let Some(mut files) = FileSystem::mount(&[FLUSH]) else { return scene.assert_unharmed() };
    let file = files.file();
    for count in [1, 2] {
        let socket = connect(&scene.directory.socket("victim"));
        if server == Server::Java {
            send(&socket, &wire::greeting(AREA_LENGTH as u64), &[]).unwrap();
            assert!(receive_either(&socket, &mut [0; 24]).is_some(), "a greeting");
            name_segments(&socket, [file; 2]);
        } else {
            send(&socket, &wire::greeting(AREA_LENGTH as u64), &vec![file; count]).unwrap();
        }
        await_end(&socket);
    }
    let (peer, _) = scene.bound();
    drop(peer);
    let open = || std::fs::read_dir(format!("/proc/{}/fd", scene.server.id())).unwrap().count();
    let before = open();
    if server != Server::Java {
        for _ in 0..DOUBTFUL_MAX {
            let socket = connect(&scene.directory.socket("victim"));
            send(&socket, &wire::greeting(AREA_LENGTH as u64), &[file; 2]).unwrap();
            await_end(&socket);
        }
        // The last greeting may have brought one file more than there was room for.
        assert!(open() <= before + DOUBTFUL_MAX + 1, "{} more files", open() - before);
    }
    drop(files);
    // The server refuses memory files, too, until it has closed those.
    await_that("the files are closed", || open() <= before);
    scene.assert_unharmed();
}

/// The same with areas of a peer that has been greeted.
fn areas_of_a_file_system_that_hangs_cost_their_own_connection(server: Server) {
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

/// The directory itself and one below it, where everything is answered, nothing but the way there, and nothing at all. The server says what is wrong in
/// time; it is gone when the file system lets it.
fn names_on_a_file_system_that_hangs_are_refused_in_time(server: Server) {
    for (silent, names, what) in [
        (&[][..], ".", "FUSE"),
        (&[GETATTR, OPEN, OPENDIR, ACCESS, STATFS], ".", "does not answer"),
        (&[LOOKUP], "names", "does not answer"),
    ] {
        let Some(mut files) = FileSystem::mount(silent) else { return };
        let mut command = server.command().expect("there is a JDK");
        command.env("OBVIA_RUNTIME_DIR", files.folder.join(names)).stdin(Stdio::null()).stdout(Stdio::null());
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
