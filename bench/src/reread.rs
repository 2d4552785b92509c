//! Reads of a file in the page cache: by the client itself, and by a file server over obvia and
//! over a Unix socket.

mod file;
mod socket;

use crate::calls::{failed, name, policy, serve_until_signal};
use crate::raw::Unix;
use crate::{Calls, Case, Error, Exchange, Label, Parent, Path, Placement, ServerProcess, Wait};
use file::{Files, HANDLE, Source, check_all, check_ends};
use obvia::{Access, Elements, ElementsMut, Lending, SharedMemory};
use socket::Socket;
use std::convert::Infallible;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

mod interface {
    obvia::include_idl!("reread");
}

use interface::{IReread, IReread_Impl};

/// The subcommand of [`serve`].
pub const SERVE: [&str; 2] = ["bench", "serve-reread"];
/// The default sizes of blocks, in bytes.
pub const SIZES: [usize; 2] = [4 << 10, 64 << 10];
/// The available paths.
pub const PATHS: [Path; 3] = [Path::Pread, Path::NcacnViShm, Path::Unix];
/// The length of the file in bytes, which is more than the nearer caches have. A longer block makes
/// the file longer.
const FILE_BYTES: usize = 4 << 20;
/// The longest block that the server lends, in bytes: longer blocks do not fit the lent memory and
/// would be copied.
const LENT_BYTES_MAX: usize = 64 << 10;
/// The alignment of buffers: a page, because the pages of the cached file are aligned, too.
const PAGE: usize = 4096;

/// The way in which the bytes get from the server to the client: a method of the interface.
#[derive(Clone, Copy)]
enum Method {
    Copied,
    Shared,
    Lent,
}

impl Method {
    const ALL: [Self; 3] = [Self::Copied, Self::Shared, Self::Lent];

    fn name(self) -> &'static str {
        match self {
            Self::Copied => "pfs_read",
            Self::Shared => "pfs_read_shared",
            Self::Lent => "pfs_read_lent",
        }
    }

    /// Whether blocks of `bytes` bytes can be transferred this way.
    fn has(self, bytes: usize) -> bool {
        !matches!(self, Self::Lent) || bytes <= LENT_BYTES_MAX
    }
}

/// Starts the cases of the given paths, sizes of blocks, and policies.
pub fn cases(
    paths: &[Path],
    sizes: &[usize],
    waits: &[Wait],
    placement: Placement,
) -> Result<Vec<Box<dyn Case>>, Error> {
    let longest = sizes.iter().copied().max().unwrap_or(0);
    let source = Source::create(longest.max(FILE_BYTES))?;
    let waits = waits.iter().copied().filter(|wait| *wait != Wait::Poll || !placement.is_one_cpu());
    let mut cases: Vec<Box<dyn Case>> = Vec::new();
    for bytes in sizes.iter().copied() {
        let blocks = source.length() / bytes.max(1);
        let label = |method: Method, path, wait| Label { case: method.name(), bytes, at_once: 1, path, wait };
        if paths.contains(&Path::Pread) {
            let way = Own { files: Files::open(source.path())?, buffer: Buffer::new(bytes) };
            cases.push(case(label(Method::Copied, Path::Pread, Wait::Poll), way, blocks));
        }
        for wait in waits.clone() {
            if paths.contains(&Path::NcacnViShm) {
                for method in Method::ALL.into_iter().filter(|method| method.has(bytes)) {
                    let label = label(method, Path::NcacnViShm, wait);
                    cases.push(called(method, label, Remote::start(&source, wait, placement)?, blocks)?);
                }
            }
            // A socket has no adaptive policy.
            if paths.contains(&Path::Unix) && wait != Wait::Adaptive {
                let (wire, there) = Unix::pair(wait == Wait::Poll)?;
                let server = start(&source, wait, placement, &["--bytes-max", &bytes.to_string()], Some(there))?;
                let way = Socket::new(wire, server, bytes);
                cases.push(case(label(Method::Copied, Path::Unix, wait), way, blocks));
            }
        }
    }
    // All processes have opened the file by now, so the drop of `source` may remove it.
    Ok(cases)
}

fn case(label: Label, way: impl Way + 'static, blocks: usize) -> Box<dyn Case> {
    let bytes = label.bytes;
    Box::new(Calls::new(label, Reread { way, bytes, blocks, next: 0 }))
}

fn called(method: Method, label: Label, remote: Remote, blocks: usize) -> Result<Box<dyn Case>, Error> {
    let bytes = label.bytes;
    Ok(match method {
        Method::Copied => case(label, Copied { remote, buffer: Buffer::new(bytes) }, blocks),
        Method::Shared => {
            let shared = SharedMemory::new(bytes, Access::Write).map_err(failed)?;
            case(label, Shared { remote, shared }, blocks)
        }
        Method::Lent => case(label, Lent { remote }, blocks),
    })
}

/// A way to read a block. The bytes are passed to `look`.
trait Way {
    fn read<R>(&mut self, pos: usize, bytes: usize, look: impl FnOnce(Elements<'_, u8>) -> R) -> Result<R, Error>;

    fn server(&mut self) -> Option<&mut ServerProcess>;
}

/// Reads block after block, over and over.
struct Reread<W> {
    way: W,
    bytes: usize,
    blocks: usize,
    next: usize,
}

impl<W> Reread<W> {
    fn next(&mut self) -> usize {
        let pos = self.next * self.bytes;
        self.next = (self.next + 1) % self.blocks;
        pos
    }
}

impl<W: Way> Exchange for Reread<W> {
    #[inline]
    fn call(&mut self) -> Result<(), Error> {
        let (pos, bytes) = (self.next(), self.bytes);
        self.way.read(pos, bytes, |data| check_ends(&data, pos, bytes))?
    }

    /// Checks all bytes of one more block. Each earlier read has checked the first and the last
    /// bytes of its own block.
    fn verify(&mut self, _calls: u32) -> Result<(), Error> {
        let (pos, bytes) = (self.next(), self.bytes);
        self.way.read(pos, bytes, |data| check_all(&data, pos, bytes))?
    }

    fn server(&mut self) -> Option<&mut ServerProcess> {
        self.way.server()
    }
}

/// Page-aligned memory of this process.
struct Buffer {
    // Invariant: `memory` has `bytes` bytes from `start` on.
    memory: Vec<u8>,
    start: usize,
    bytes: usize,
}

impl Buffer {
    fn new(bytes: usize) -> Self {
        let memory = vec![0; bytes + PAGE];
        let start = memory.as_ptr().align_offset(PAGE).min(PAGE);
        Self { memory, start, bytes }
    }

    fn all(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..][..self.bytes]
    }
}

/// Reads by the client's process itself.
struct Own {
    files: Files,
    buffer: Buffer,
}

impl Way for Own {
    #[inline]
    fn read<R>(&mut self, pos: usize, _bytes: usize, look: impl FnOnce(Elements<'_, u8>) -> R) -> Result<R, Error> {
        let buffer = self.buffer.all();
        let done = self.files.read(HANDLE, pos as i64, (&mut *buffer).into());
        let done = done.map_err(Error::system("reading the file"))?;
        Ok(look(buffer[..done].into()))
    }

    fn server(&mut self) -> Option<&mut ServerProcess> {
        None
    }
}

/// A connected server and its process.
struct Remote {
    // Field order matters: the object is released before its process ends.
    object: IReread,
    server: ServerProcess,
}

impl Remote {
    fn start(source: &Source, wait: Wait, placement: Placement) -> Result<Self, Error> {
        let name = name();
        let mut server = start(source, wait, placement, &["--name", &name], None)?;
        obvia::set_waiting(policy(wait));
        server.resume()?;
        let object: IReread = obvia::connect(&name).map_err(failed)?;
        // The first call sets up a connection, with the policy that was just set.
        object.pfs_read(HANDLE, 0, &mut []).map_err(failed)?;
        server.suspend()?;
        Ok(Self { object, server })
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        // The server may have ended already.
        let _ = self.server.resume();
    }
}

/// Starts a server process and suspends it.
fn start(
    source: &Source,
    wait: Wait,
    placement: Placement,
    more: &[&str],
    stdin: Option<OwnedFd>,
) -> Result<ServerProcess, Error> {
    let [bench, serve] = SERVE;
    let (path, cpu) = (source.path().to_string_lossy(), placement.server.to_string());
    let arguments = [&[bench, serve, &path, wait.name(), "--cpu", &cpu], more].concat();
    let mut server = ServerProcess::start(&arguments, stdin)?;
    server.suspend()?;
    Ok(server)
}

/// Reads by calls that copy the bytes to the client's own memory.
struct Copied {
    remote: Remote,
    buffer: Buffer,
}

impl Way for Copied {
    #[inline]
    fn read<R>(&mut self, pos: usize, _bytes: usize, look: impl FnOnce(Elements<'_, u8>) -> R) -> Result<R, Error> {
        let buffer = self.buffer.all();
        let done = self.remote.object.pfs_read(HANDLE, pos as i64, buffer).map_err(failed)?;
        Ok(look(buffer[..done as usize].into()))
    }

    fn server(&mut self) -> Option<&mut ServerProcess> {
        Some(&mut self.remote.server)
    }
}

/// Reads by the server into memory that both processes map.
struct Shared {
    remote: Remote,
    shared: SharedMemory,
}

impl Way for Shared {
    #[inline]
    fn read<R>(&mut self, pos: usize, bytes: usize, look: impl FnOnce(Elements<'_, u8>) -> R) -> Result<R, Error> {
        let none = || failed(obvia::code::E_INVALIDARG.into());
        let into = self.shared.elements_mut(0, bytes).ok_or_else(none)?;
        let done = self.remote.object.pfs_read_shared(HANDLE, pos as i64, into).map_err(failed)?;
        Ok(look(self.shared.elements(0, done as usize).ok_or_else(none)?))
    }

    fn server(&mut self) -> Option<&mut ServerProcess> {
        Some(&mut self.remote.server)
    }
}

/// Reads by calls that return memory that the server lends.
struct Lent {
    remote: Remote,
}

impl Way for Lent {
    #[inline]
    fn read<R>(&mut self, pos: usize, bytes: usize, look: impl FnOnce(Elements<'_, u8>) -> R) -> Result<R, Error> {
        let lent = self.remote.object.pfs_read_lent(HANDLE, pos as i64, bytes as u32).map_err(failed)?;
        Ok(look(lent.elements()))
    }

    fn server(&mut self) -> Option<&mut ServerProcess> {
        Some(&mut self.remote.server)
    }
}

/// The server's object.
#[obvia::object(IReread)]
struct Server {
    files: Files,
}

fn refused(error: io::Error) -> obvia::Error {
    obvia::Error::new(obvia::code::E_FAIL, error.to_string())
}

impl IReread_Impl for Server_Impl {
    fn pfs_read(&self, handle: i32, pos: i64, data: &mut [u8]) -> obvia::Result<u32> {
        self.files.read(handle, pos, data.into()).map(|done| done as u32).map_err(refused)
    }

    fn pfs_read_shared(&self, handle: i32, pos: i64, data: ElementsMut<'_, u8>) -> obvia::Result<u32> {
        self.files.read(handle, pos, data).map(|done| done as u32).map_err(refused)
    }

    fn pfs_read_lent(&self, handle: i32, pos: i64, len: u32, data: &mut Lending<'_, u8>) -> obvia::Result<()> {
        let bytes = self.files.left(pos, len as usize);
        let done = data.fill_with(bytes, |into| self.files.read(handle, pos, into.into())).map_err(refused)?;
        // The file may have been truncated since it was opened.
        if done == bytes { Ok(()) } else { Err(refused(io::ErrorKind::UnexpectedEof.into())) }
    }
}

/// The transport of a server process.
#[derive(Clone, Debug)]
pub enum Over {
    /// Calls of the object that is exported by this name.
    Name(String),
    /// The Unix socket at standard input, with blocks of at most this many bytes.
    Socket(usize),
}

/// Runs the server process of a case: reads from a file until the client ends.
pub fn serve(file: &std::path::Path, wait: Wait, over: Over, cpu: usize, parent: u32) -> Result<Infallible, Error> {
    let parent = Parent::bind(parent, Some(cpu))?;
    let files = Files::open(file)?;
    match over {
        Over::Name(name) => {
            obvia::catch_signals().map_err(failed)?;
            obvia::set_waiting(policy(wait));
            let _export = obvia::export(&name, IReread::from(Server { files })).map_err(failed)?;
            parent.ready()?;
            serve_until_signal()
        }
        Over::Socket(bytes_max) => {
            let stdin = std::io::stdin().as_fd().try_clone_to_owned();
            let stdin = stdin.map_err(Error::system("taking over standard input"))?;
            socket::serve(&files, crate::raw::Wire::of(stdin, wait == Wait::Poll)?, bytes_max, parent)
        }
    }
}
