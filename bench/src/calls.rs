//! The cases that all this is about: calls of an object in another process.

mod rate;

pub use rate::cases as rates;

use crate::{Calls, Case, Error, Exchange, Label, Parent, Path, Payload, Placement, ServerProcess, Wait, cable};
use obvia::Waiting;
use std::cell::OnceCell;
use std::convert::Infallible;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI64, AtomicU32};
use std::sync::{Arc, Mutex, PoisonError};

mod interface {
    obvia::include_idl!("bench");
}

use interface::{IBench, IBench_Impl};

/// The subcommand that [`serve`] stands behind.
pub const SERVE: [&str; 2] = ["bench", "serve-calls"];

/// A method that is called.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Method {
    /// An `[in, out]` array.
    MoveData,
    /// Nothing in, nothing out.
    Null,
    /// Four integers in, one out.
    PfsOpen,
}

/// Starts the cases of these methods and policies over a path; MoveData in these sizes.
pub fn cases(
    path: Path,
    methods: &[Method],
    sizes: &[usize],
    waits: &[Wait],
    placement: Placement,
) -> Result<Vec<Box<dyn Case>>, Error> {
    let mut cases = Vec::new();
    for wait in waits.iter().copied().filter(|wait| *wait != Wait::Poll || !placement.is_one_cpu()) {
        let label = |case, bytes| Label { case, bytes, at_once: 1, path, wait };
        if methods.contains(&Method::Null) {
            let exchange = Null { remote: Remote::start(path, wait, placement)?, seen: 1 };
            cases.push(boxed(label("null", 0), exchange));
        }
        if methods.contains(&Method::PfsOpen) {
            let exchange = PfsOpen { remote: Remote::start(path, wait, placement)?, handles: 0 };
            cases.push(boxed(label("pfs_open", PFS_OPEN_BYTES), exchange));
        }
        for bytes in sizes.iter().copied().filter(|_| methods.contains(&Method::MoveData)) {
            let exchange = MoveData { remote: Remote::start(path, wait, placement)?, payload: Payload::new(bytes)? };
            cases.push(boxed(label("MoveData", bytes), exchange));
        }
    }
    Ok(cases)
}

/// Four integers.
const PFS_OPEN_BYTES: usize = 16;

fn boxed(label: Label, exchange: impl Exchange + 'static) -> Box<dyn Case> {
    Box::new(Calls::new(label, exchange))
}

/// A connected object and its process.
struct Remote {
    // In this order: the object is let go while its process can still hear of it.
    object: IBench,
    server: ServerProcess,
}

impl Remote {
    fn start(path: Path, wait: Wait, placement: Placement) -> Result<Self, Error> {
        let (mut server, address) = start(path, wait, Some(placement))?;
        let object: IBench = obvia::connect(&address).map_err(failed)?;
        // The first call takes a connection, with the policy just set.
        object.Null().map_err(failed)?;
        server.rest()?;
        Ok(Self { object, server })
    }
}

/// Starts a server process, and sets this one's policy. The second value is what to connect to.
fn start(path: Path, wait: Wait, placement: Option<Placement>) -> Result<(ServerProcess, String), Error> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("bench-{}-{}", std::process::id(), NEXT.fetch_add(1, Relaxed));
    let [bench, serve] = SERVE;
    let mut arguments = vec![bench, serve, &name, wait.name()];
    let cpu = placement.map(|placement| placement.server.to_string());
    if let Some(cpu) = &cpu {
        arguments.extend(["--cpu", cpu]);
    }
    // An interface takes the program of one process.
    let link = if path == Path::NcacnViXdp { cable::further()? } else { cable::link() };
    let [_, host] = link.addresses();
    let options = if path == Path::NcacnViFabric { "[0,provider=tcp]" } else { "" };
    let binding = format!("{}:{host}{options}", path.name());
    if path != Path::NcacnViShm {
        arguments.extend(["--listen", &binding]);
    }
    let server = ServerProcess::start(&arguments, None)?;
    obvia::set_waiting(policy(wait));
    let address = if path == Path::NcacnViShm { name } else { server.address().to_owned() };
    Ok((server, address))
}

impl Drop for Remote {
    fn drop(&mut self) {
        // A server that is gone has nothing to be told.
        let _ = self.server.resume();
    }
}

/// A policy as the library under test has it.
pub(crate) fn policy(wait: Wait) -> Waiting {
    match wait {
        Wait::Adaptive => Waiting::Adaptive,
        Wait::Block => Waiting::Block,
        Wait::Poll | Wait::PollPause => Waiting::Poll,
    }
}

#[cold]
fn failed(error: obvia::Error) -> Error {
    Error::Failed { message: error.to_string() }
}

struct Null {
    remote: Remote,
    // Calls that the server had counted when it was asked last; connecting makes the first.
    seen: i64,
}

impl Exchange for Null {
    #[inline]
    fn call(&mut self) -> Result<(), Error> {
        self.remote.object.Null().map_err(failed)
    }

    fn verify(&mut self, calls: u32) -> Result<(), Error> {
        let expected = self.seen + i64::from(calls);
        self.seen = self.remote.object.Calls().map_err(failed)?;
        if self.seen == expected {
            return Ok(());
        }
        Err(Error::Corrupt { what: "the count of calls", expected: expected as u64, found: self.seen as u64 })
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

/// The object called.
#[windows_core::implement(IBench)]
#[derive(Default)]
struct Bench {
    counts: Mutex<Vec<Arc<Count>>>,
}

/// Calls that one thread has answered. On lines of its own: threads that count must not hinder each other.
#[derive(Default)]
#[repr(align(128))]
struct Count(AtomicI64);

thread_local! {
    /// This thread's, once it has answered a call of the process's only object.
    static COUNT: OnceCell<Arc<Count>> = const { OnceCell::new() };
}

impl Bench {
    fn count(&self) {
        COUNT.with(|count| {
            let Count(count) = &**count.get_or_init(|| {
                let count = Arc::<Count>::default();
                self.counts.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&count));
                count
            });
            // Only this thread writes it.
            count.store(count.load(Relaxed) + 1, Relaxed);
        });
    }
}

impl IBench_Impl for Bench_Impl {
    fn Null(&self) -> obvia::Result<()> {
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
}

/// The server process of a case: exports the object by `name`, and over a network if it is told to, until the client is gone.
pub fn serve(
    name: &str,
    wait: Wait,
    cpu: Option<usize>,
    parent: u32,
    listen: Option<&str>,
) -> Result<Infallible, Error> {
    let parent = Parent::bind(parent, cpu)?;
    obvia::set_waiting(policy(wait));
    let _export = obvia::export(name, IBench::from(Bench::default())).map_err(failed)?;
    match listen {
        Some(binding) => parent.ready_at(&obvia::listen(binding).map_err(failed)?)?,
        None => parent.ready()?,
    }
    obvia::wait()
}
