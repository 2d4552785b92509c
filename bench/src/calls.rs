//! Call latency, the main measurement: calls of an object in another process.

mod attempt;
mod caller;
mod other;
mod rate;

pub use attempt::attempt;
pub use caller::{Caller, Callers, Client, Done, Request};
pub use rate::{Rate, cases as rates};

use crate::server::PATIENCE;
use crate::{Calls, Case, Error, Exchange, Label, Parent, Path, Payload, Placement, ServerProcess, Wait, cable};
use obvia::marshaling::{IMarshal, Passing, Specialised};
use obvia::{Access, ElementsMut, SharedMemory, Waiting};
use std::cell::OnceCell;
use std::convert::Infallible;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI64, AtomicU32};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

mod interface {
    obvia::include_idl!("bench");
}

use interface::{IBench, IBench_Impl};

/// The subcommand of [`serve`].
pub const SERVE: [&str; 2] = ["bench", "serve-calls"];

/// A method of the benchmark's interface.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Method {
    /// A method with an `[in, out]` array.
    MoveData,
    /// A method with an `[in, out]` array in memory that both sides map. The array is not copied.
    MoveShared,
    /// A method without arguments.
    Null,
    /// A method with four `[in]` integers and one `[out]` integer.
    PfsOpen,
    /// A method with an `[in]` object of the caller.
    Visit,
}

impl Method {
    /// Returns the name in reports.
    fn name(self) -> &'static str {
        match self {
            Self::MoveData => "MoveData",
            Self::MoveShared => "MoveShared",
            Self::Null => "null",
            Self::PfsOpen => "pfs_open",
            Self::Visit => "visit",
        }
    }

    /// Returns the size of the arguments, in bytes, for each of the method's cases. Arrays have the
    /// given sizes.
    fn loads(self, sizes: &[usize]) -> Vec<usize> {
        match self {
            Self::MoveData | Self::MoveShared => sizes.to_vec(),
            Self::Null | Self::Visit => vec![0],
            Self::PfsOpen => vec![PFS_OPEN_BYTES],
        }
    }
}

/// Starts the cases of the given methods and policies over a path. Arrays have the given sizes.
pub fn cases(
    path: Path,
    methods: &[Method],
    sizes: &[usize],
    waits: &[Wait],
    placement: Placement,
) -> Result<Vec<Box<dyn Case>>, Error> {
    let mut cases = Vec::new();
    for wait in waits.iter().copied().filter(|wait| *wait != Wait::Poll || !placement.is_one_cpu()) {
        for method in methods {
            for bytes in method.loads(sizes) {
                let label = Label { case: method.name(), bytes, at_once: 1, path, wait };
                cases.push(if other::is_other(path) {
                    other::case(label, placement)?
                } else {
                    case(*method, label, placement)?
                });
            }
        }
    }
    Ok(cases)
}

/// The size of the four integers of [`Method::PfsOpen`].
const PFS_OPEN_BYTES: usize = 16;

fn case(method: Method, label: Label, placement: Placement) -> Result<Box<dyn Case>, Error> {
    if method == Method::MoveShared {
        let remote = Remote::start(label.path, label.wait, placement)?;
        let bytes = label.bytes;
        return Ok(Box::new(Calls::new(label, MoveShared::new(remote, bytes)?)));
    }
    let remote = Remote::start(label.path, label.wait, placement)?;
    let bytes = label.bytes;
    Ok(match method {
        Method::Null => Box::new(Calls::new(label, Null { remote, seen: 1 })),
        Method::PfsOpen => Box::new(Calls::new(label, PfsOpen { remote, handles: 0 })),
        Method::Visit => Box::new(Calls::new(label, Visit { remote, visitor: Bench::default().into(), seen: 1 })),
        _ => Box::new(Calls::new(label, MoveData { remote, payload: Payload::new(bytes)? })),
    })
}

/// A connected object and its process.
struct Remote {
    // Field order matters: the object is released before its process ends.
    object: IBench,
    server: ServerProcess,
}

impl Remote {
    fn start(path: Path, wait: Wait, placement: Placement) -> Result<Self, Error> {
        let (mut server, address) = start(path, wait, Some(placement))?;
        let object: IBench = obvia::connect(&address).map_err(failed)?;
        let way = obvia::binding_of(&object).unwrap_or_default();
        if path == Path::CustomViShm && !way.starts_with(Path::NcacnViShm.name()) {
            return Err(Error::Failed { message: format!("the object is called by {way}") });
        }
        // The first call sets up a connection, with the policy that was just set.
        object.Null().map_err(failed)?;
        server.suspend()?;
        Ok(Self { object, server })
    }

    /// Checks that the server has counted exactly `calls` calls more than before.
    fn check_count(&self, seen: &mut i64, calls: u32) -> Result<(), Error> {
        let expected = *seen + i64::from(calls);
        *seen = self.object.Calls().map_err(failed)?;
        if *seen == expected {
            return Ok(());
        }
        Err(Error::Corrupt { what: "the count of calls", expected: expected as u64, found: *seen as u64 })
    }
}

/// Returns a unique server name.
pub(crate) fn name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("bench-{}-{}", std::process::id(), NEXT.fetch_add(1, Relaxed))
}

/// Starts a server process, and sets this process's policy. Returns the server and its address.
pub(crate) fn start(path: Path, wait: Wait, placement: Option<Placement>) -> Result<(ServerProcess, String), Error> {
    let name = name();
    let [bench, serve] = SERVE;
    let mut arguments = vec![bench, serve, &name, wait.name()];
    let cpu = placement.map(|placement| placement.server.to_string());
    if let Some(cpu) = &cpu {
        arguments.extend(["--cpu", cpu]);
    }
    // A network interface accepts the XDP program of only one process.
    let link = if path == Path::NcacnViXdp { cable::further()? } else { cable::link() };
    let [_, host] = link.addresses();
    let binding = match path {
        Path::NcacnViFabric => format!("{}:{host}[0,provider=tcp]", path.name()),
        Path::Ncalrpc => format!("{}:[{name}]", path.name()),
        Path::DcomLrpc => format!("ncalrpc:[{name},transfer=ndr]"),
        Path::DcomIpTcp | Path::CustomViShm => format!("ncacn_ip_tcp:{host}[,transfer=ndr]"),
        _ => format!("{}:{host}", path.name()),
    };
    if path != Path::NcacnViShm {
        arguments.extend(["--listen", &binding]);
    }
    if path == Path::CustomViShm {
        arguments.push("--over-vi");
    }
    let server = ServerProcess::start(&arguments, None)?;
    obvia::set_waiting(policy(wait));
    let address = if path == Path::NcacnViShm { name } else { server.address().to_owned() };
    Ok((server, address))
}

impl Drop for Remote {
    fn drop(&mut self) {
        // The server may have ended already.
        let _ = self.server.resume();
    }
}

/// Returns obvia's policy for a waiting policy of this crate.
pub fn policy(wait: Wait) -> Waiting {
    match wait {
        Wait::Adaptive => Waiting::Adaptive,
        Wait::Block => Waiting::Block,
        Wait::Poll | Wait::PollPause => Waiting::Poll,
    }
}

#[cold]
pub(crate) fn failed(error: obvia::Error) -> Error {
    Error::Failed { message: error.to_string() }
}

/// The time limit of a request to a thread that calls. The limit is long, because a request may be
/// a whole batch.
pub(crate) const REQUEST_MAX: Duration = PATIENCE.saturating_mul(6);

/// Starts a thread that calls the object at `address`.
pub(crate) fn caller(number: u32, address: &str) -> Result<Caller, Error> {
    let address = address.to_owned();
    Caller::start::<IBench>(number, move || obvia::connect(&address).map_err(failed))
}

impl Client for IBench {
    fn call(&mut self) -> Result<(), Error> {
        self.Null().map_err(failed)
    }

    fn verify(&mut self) -> Result<u64, Error> {
        self.Calls().map(i64::cast_unsigned).map_err(failed)
    }
}

struct Null {
    remote: Remote,
    // The server's count at the last check. Before the first check it is 1, because connecting
    // makes a call.
    seen: i64,
}

impl Exchange for Null {
    #[inline]
    fn call(&mut self) -> Result<(), Error> {
        self.remote.object.Null().map_err(failed)
    }

    fn verify(&mut self, calls: u32) -> Result<(), Error> {
        self.remote.check_count(&mut self.seen, calls)
    }

    fn server(&mut self) -> Option<&mut ServerProcess> {
        Some(&mut self.remote.server)
    }
}

struct Visit {
    remote: Remote,
    visitor: IBench,
    // The server's count at the last check. Before the first check it is 1, because connecting
    // makes a call.
    seen: i64,
}

impl Exchange for Visit {
    #[inline]
    fn call(&mut self) -> Result<(), Error> {
        self.remote.object.Visit(Some(&self.visitor)).map_err(failed)
    }

    fn verify(&mut self, calls: u32) -> Result<(), Error> {
        self.remote.check_count(&mut self.seen, calls)
    }

    fn server(&mut self) -> Option<&mut ServerProcess> {
        Some(&mut self.remote.server)
    }
}

struct PfsOpen {
    remote: Remote,
    handles: i32,
}

impl Exchange for PfsOpen {
    #[inline]
    fn call(&mut self) -> Result<(), Error> {
        self.handles = self.handles.wrapping_add(1);
        let handle = self.remote.object.pfs_open(1, self.handles, 3, 4).map_err(failed)?;
        if handle == self.handles.wrapping_add(8) {
            return Ok(());
        }
        Err(Error::Corrupt { what: "the handle", expected: self.handles.wrapping_add(8) as u64, found: handle as u64 })
    }

    fn verify(&mut self, _calls: u32) -> Result<(), Error> {
        Ok(())
    }

    fn server(&mut self) -> Option<&mut ServerProcess> {
        Some(&mut self.remote.server)
    }
}

struct MoveData {
    remote: Remote,
    payload: Payload,
}

impl Exchange for MoveData {
    #[inline]
    fn call(&mut self) -> Result<(), Error> {
        self.remote.object.MoveData(self.payload.words_mut()).map_err(failed)
    }

    fn verify(&mut self, calls: u32) -> Result<(), Error> {
        self.payload.verify(calls)
    }

    fn server(&mut self) -> Option<&mut ServerProcess> {
        Some(&mut self.remote.server)
    }
}

struct MoveShared {
    remote: Remote,
    shared: SharedMemory,
    words: usize,
    // The contents of the memory before the calls, from which the expected contents follow.
    payload: Payload,
}

impl MoveShared {
    fn new(remote: Remote, bytes: usize) -> Result<Self, Error> {
        let payload = Payload::new(bytes)?;
        let mut shared = SharedMemory::new(bytes, Access::Write).map_err(failed)?;
        let words = payload.words().len();
        elements(&mut shared, words)?.copy_from(0, payload.words());
        Ok(Self { remote, shared, words, payload })
    }
}

/// Returns the first words of shared memory.
fn elements(shared: &mut SharedMemory, words: usize) -> Result<ElementsMut<'_, u32>, Error> {
    shared.elements_mut(0, words).ok_or_else(|| failed(obvia::code::E_OUTOFMEMORY.into()))
}

impl Exchange for MoveShared {
    #[inline]
    fn call(&mut self) -> Result<(), Error> {
        self.remote.object.MoveShared(elements(&mut self.shared, self.words)?).map_err(failed)
    }

    fn verify(&mut self, calls: u32) -> Result<(), Error> {
        let mut shared = elements(&mut self.shared, self.words)?;
        shared.elements().copy_to(0, self.payload.words_mut());
        self.payload.verify(calls)?;
        shared.copy_from(0, self.payload.words());
        Ok(())
    }

    fn server(&mut self) -> Option<&mut ServerProcess> {
        Some(&mut self.remote.server)
    }
}

/// The called object.
#[obvia::object(IBench, IMarshal)]
#[derive(Default)]
struct Bench {
    is_over_vi: bool,
    counts: Mutex<Vec<Arc<Count>>>,
}

/// The number of calls that a thread has answered. Only one thread at a time writes the number. The
/// number has cache lines of its own, so that counting threads do not disturb each other.
#[derive(Default)]
#[repr(align(128))]
struct Count(AtomicI64);

thread_local! {
    /// The count of this thread, set when the thread answers its first call.
    static COUNT: OnceCell<Arc<Count>> = const { OnceCell::new() };
}

impl Bench {
    fn count(&self) {
        COUNT.with(|count| {
            let Count(count) = &**count.get_or_init(|| {
                let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
                // A new thread continues the count of a thread that has ended.
                let free = counts.iter_mut().find_map(|count| Arc::get_mut(count).is_some().then(|| Arc::clone(count)));
                free.unwrap_or_else(|| {
                    counts.push(Arc::default());
                    Arc::clone(&counts[counts.len() - 1])
                })
            });
            // Only this thread writes the count.
            count.store(count.load(Relaxed) + 1, Relaxed);
        });
    }
}

impl Specialised for Bench_Impl {
    fn is_called_there(&self, _: &Passing) -> bool {
        self.is_over_vi
    }
}

impl IBench_Impl for Bench_Impl {
    fn Null(&self) -> obvia::Result<()> {
        self.count();
        Ok(())
    }

    fn Visit(&self, visitor: Option<&IBench>) -> obvia::Result<()> {
        visitor.ok_or(obvia::code::E_POINTER)?;
        self.count();
        Ok(())
    }

    fn Calls(&self) -> obvia::Result<i64> {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(counts.iter().map(|count| count.0.load(Relaxed)).sum())
    }

    fn pfs_open(&self, client: i32, fobj: i32, flags: i32, mode: i32) -> obvia::Result<i32> {
        Ok(client.wrapping_add(fobj).wrapping_add(flags).wrapping_add(mode))
    }

    fn MoveData(&self, data: &mut [u32]) -> obvia::Result<()> {
        if let Some(first) = data.first_mut() {
            *first = crate::payload::count_call(*first);
        }
        Ok(())
    }

    fn MoveShared(&self, mut data: ElementsMut<'_, u32>) -> obvia::Result<()> {
        if let Some(first) = data.get(0) {
            data.set(0, crate::payload::count_call(first));
        }
        Ok(())
    }
}

/// Runs the server process of a case until the client ends. Exports the object by `name`, and also
/// over a network if `listen` is given. With `is_over_vi`, the object is called over virtual
/// interfaces regardless of the process's binding.
pub fn serve(
    name: &str,
    wait: Wait,
    cpu: Option<usize>,
    parent: u32,
    listen: Option<&str>,
    is_over_vi: bool,
) -> Result<Infallible, Error> {
    let parent = Parent::bind(parent, cpu)?;
    obvia::catch_signals().map_err(failed)?;
    obvia::set_waiting(policy(wait));
    let object = IBench::from(Bench { is_over_vi, ..Bench::default() });
    let _export = obvia::export(name, object).map_err(failed)?;
    match listen {
        Some(binding) => parent.ready_at(&obvia::listen(binding).map_err(failed)?)?,
        None => parent.ready()?,
    }
    serve_until_signal()
}

/// Serves until the client tells this process to end. The names of the process are then removed.
pub(crate) fn serve_until_signal() -> Result<Infallible, Error> {
    obvia::wait_for_signal().map_err(failed)?;
    std::process::exit(0)
}
