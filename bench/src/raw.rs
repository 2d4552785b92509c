//! The baselines: the best that two processes can do with bare memory, futexes and sockets.
//!
//! Deliberately, no baseline validates the peer's data, looks up objects, or has more than one
//! outstanding message. Each case has a server process of its own.

mod memcpy;
mod memory;
mod pingpong;
mod sockets;
mod stream;
mod waiting;

pub use pingpong::pingpongs;
pub(crate) use sockets::{Unix, Wire, bytes_of, bytes_of_mut};

use crate::{Calls, Case, Error, Exchange, Label, Parent, Path, Payload, Placement, ServerProcess, Wait};
use memory::{ClientEnd, ServerEnd};
use sockets::{Tcp, Transport, Udp};
use std::convert::Infallible;
use std::fmt;
use std::os::fd::{AsFd, OwnedFd};
use std::str::FromStr;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use waiting::{Pause, Sleep, Spin, Waiting};

/// The longest array in one datagram, without its header, in bytes.
pub(crate) const UDP_BYTES_MAX: usize = 65_507 - 8;
/// The subcommand of [`serve`].
pub const SERVE: [&str; 2] = ["bench", "serve-raw"];

/// The kind of a baseline's server process.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Kind {
    path: Path,
    wait: Wait,
}

impl Kind {
    const ALL: [Self; 13] = {
        const fn kind(path: Path, wait: Wait) -> Kind {
            Kind { path, wait }
        }
        [
            kind(Path::RawLine, Wait::Poll),
            kind(Path::RawLine, Wait::PollPause),
            kind(Path::RawCopy, Wait::Poll),
            kind(Path::RawCopy, Wait::PollPause),
            kind(Path::RawFutex, Wait::Block),
            kind(Path::Unix, Wait::Poll),
            kind(Path::Unix, Wait::Block),
            kind(Path::Udp, Wait::Poll),
            kind(Path::Udp, Wait::Block),
            kind(Path::Tcp, Wait::Poll),
            kind(Path::Tcp, Wait::Block),
            kind(Path::TcpStream, Wait::Poll),
            kind(Path::TcpStream, Wait::Block),
        ]
    };

    /// Whether the kind is measured with round trips of `bytes`. The cache line is measured without
    /// a payload, the copy only with one. Datagrams have a maximum length, and the stream has no
    /// round trips.
    fn carries(self, bytes: usize) -> bool {
        match self.path {
            Path::RawLine => bytes == 0,
            Path::RawCopy => bytes > 0,
            Path::Udp => bytes <= UDP_BYTES_MAX,
            Path::TcpStream => false,
            _ => true,
        }
    }

    /// Whether the kind works at a placement. Two sides that spin on the same processor would only
    /// wait for the end of each other's time slice.
    fn works(self, placement: Placement) -> bool {
        self.wait == Wait::Block || !placement.is_one_cpu()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path.name(), self.wait.name())
    }
}

impl FromStr for Kind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let named = |kind: &Self| kind.to_string() == text;
        Self::ALL
            .into_iter()
            .find(named)
            .ok_or_else(|| Error::Usage { message: format!("there is no baseline `{text}`") })
    }
}

/// The payload of a baseline, and its name in reports.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// The name of the case.
    pub case: &'static str,
    /// The bytes in each direction; 0 for none.
    pub bytes: usize,
}

/// Starts the baselines of the given paths that work at the placement, for round trips of the given
/// loads.
pub fn cases(paths: &[Path], loads: &[Load], placement: Placement) -> Result<Vec<Box<dyn Case>>, Error> {
    let mut cases = Vec::new();
    for load in loads {
        for kind in Kind::ALL {
            if paths.contains(&kind.path) && kind.works(placement) && kind.carries(load.bytes) {
                cases.push(case(kind, *load, placement.server)?);
            }
        }
    }
    Ok(cases)
}

/// Starts the one-way baselines of the given paths, for pieces of the given sizes in `depth`
/// places.
pub fn one_way_baselines(
    case: &'static str,
    paths: &[Path],
    sizes: &[usize],
    depth: u32,
    placement: Placement,
) -> Result<Vec<Box<dyn Case>>, Error> {
    let mut cases: Vec<Box<dyn Case>> = Vec::new();
    for bytes in sizes.iter().copied() {
        let label = |path, wait| Label { case, bytes, at_once: 1, path, wait };
        if paths.contains(&Path::Memcpy) {
            let exchange = memcpy::Memcpy::new(bytes, depth)?;
            cases.push(Box::new(Calls::new(label(Path::Memcpy, Wait::Poll), exchange)));
        }
        let streams = Kind::ALL.into_iter().filter(|kind| kind.path == Path::TcpStream && kind.works(placement));
        for kind in streams.filter(|kind| paths.contains(&kind.path)) {
            let (here, there) = Tcp::pair(kind.wait == Wait::Poll)?;
            let server = start(kind, placement.server, there)?;
            let exchange = stream::Streamed::new(here, server, bytes, depth)?;
            cases.push(Box::new(Calls::new(label(kind.path, kind.wait), exchange)));
        }
    }
    Ok(cases)
}

/// Starts the server process of a baseline, which shares `fd` with this process.
fn start(kind: Kind, cpu: usize, fd: OwnedFd) -> Result<ServerProcess, Error> {
    let [bench, serve] = SERVE;
    let arguments = [bench, serve, &kind.to_string(), "--cpu", &cpu.to_string()];
    let mut server = ServerProcess::start(&arguments, Some(fd))?;
    // Suspend the server at once: dozens of spinning servers would slow down the start of the next
    // servers.
    server.suspend()?;
    Ok(server)
}

fn case(kind: Kind, Load { case, bytes }: Load, cpu: usize) -> Result<Box<dyn Case>, Error> {
    let label = Label { case, bytes, at_once: 1, path: kind.path, wait: kind.wait };
    let start = |fd| start(kind, cpu, fd);
    let spinning = kind.wait == Wait::Poll;
    Ok(match (kind.path, kind.wait) {
        (Path::RawLine | Path::RawCopy, Wait::Poll) => memory_case::<Spin>(label, start)?,
        (Path::RawLine | Path::RawCopy, Wait::PollPause) => memory_case::<Pause>(label, start)?,
        (Path::RawFutex, _) => memory_case::<Sleep>(label, start)?,
        (Path::Unix, _) => {
            let (here, there) = Unix::pair(spinning)?;
            socket_case(label, here, start(there)?)?
        }
        (Path::Udp, _) => {
            let (here, there) = Udp::pair(spinning)?;
            socket_case(label, here, start(there)?)?
        }
        (Path::Tcp, _) => {
            let (here, there) = Tcp::pair(spinning)?;
            socket_case(label, here, start(there)?)?
        }
        _ => {
            return Err(Error::Usage { message: format!("{kind} makes no round trips") });
        }
    })
}

fn memory_case<W: Waiting + 'static>(
    label: Label,
    start: impl FnOnce(OwnedFd) -> Result<ServerProcess, Error>,
) -> Result<Box<dyn Case>, Error> {
    let payload = Payload::new(label.bytes)?;
    let (end, fd) = ClientEnd::<W>::create(label.bytes)?;
    let server = start(fd)?;
    Ok(if label.bytes == 0 {
        Box::new(Calls::new(label, Line { end, server }))
    } else {
        Box::new(Calls::new(label, Copied { end, server, payload }))
    })
}

fn socket_case<T: Transport + 'static>(
    label: Label,
    wire: Wire<T>,
    server: ServerProcess,
) -> Result<Box<dyn Case>, Error> {
    let payload = Payload::new(label.bytes)?;
    Ok(Box::new(Calls::new(label, Sent { wire, server, payload, sequence: 0 })))
}

/// A cache line in each direction. The sequence number proves that the server has answered this
/// call, not an earlier one.
struct Line<W> {
    end: ClientEnd<W>,
    server: ServerProcess,
}

impl<W: Waiting> Exchange for Line<W> {
    #[inline]
    fn call(&mut self) -> Result<(), Error> {
        self.end.null(&mut self.server)
    }

    fn verify(&mut self, calls: u32) -> Result<(), Error> {
        self.end.verify(calls)
    }

    fn server(&mut self) -> Option<&mut ServerProcess> {
        Some(&mut self.server)
    }
}

/// An array in each direction, through shared areas.
struct Copied<W> {
    end: ClientEnd<W>,
    server: ServerProcess,
    payload: Payload,
}

impl<W: Waiting> Exchange for Copied<W> {
    #[inline]
    fn call(&mut self) -> Result<(), Error> {
        self.end.move_data(self.payload.words_mut(), &mut self.server)
    }

    fn verify(&mut self, calls: u32) -> Result<(), Error> {
        self.end.verify(calls)?;
        self.payload.verify(calls)
    }

    fn server(&mut self) -> Option<&mut ServerProcess> {
        Some(&mut self.server)
    }
}

/// An array in each direction, through sockets.
struct Sent<T> {
    wire: Wire<T>,
    server: ServerProcess,
    payload: Payload,
    sequence: u32,
}

impl<T: Transport> Exchange for Sent<T> {
    #[inline]
    fn call(&mut self) -> Result<(), Error> {
        self.sequence = self.sequence.wrapping_add(1);
        let message = self.payload.framed_mut();
        message[0] = self.sequence;
        message[1] = (message.len() - 2) as u32;
        self.wire.send(message, &mut self.server)?;
        self.wire.receive(message, &mut self.server)?;
        if message[0] != self.sequence {
            return Err(Error::Corrupt {
                what: "the sequence number of a reply",
                expected: self.sequence.into(),
                found: message[0].into(),
            });
        }
        Ok(())
    }

    fn verify(&mut self, calls: u32) -> Result<(), Error> {
        if self.payload.words().is_empty() {
            return Ok(());
        }
        self.payload.verify(calls)
    }

    fn server(&mut self) -> Option<&mut ServerProcess> {
        Some(&mut self.server)
    }
}

/// Runs the server process of a baseline, which answers until the client ends. Standard input is
/// the descriptor that [`cases`] or [`one_way_baselines`] shares with this process. A process
/// serves only once.
pub fn serve(kind: Kind, cpu: usize, parent: u32) -> Result<Infallible, Error> {
    static SERVING: AtomicBool = AtomicBool::new(false);
    if SERVING.swap(true, Relaxed) {
        return Err(Error::Usage { message: "this process serves a baseline already".to_owned() });
    }
    let parent = Parent::bind(parent, Some(cpu))?;
    let shared = std::io::stdin().as_fd().try_clone_to_owned().map_err(Error::system("taking over standard input"))?;
    let spinning = kind.wait == Wait::Poll;
    let copying = kind.path != Path::RawLine;
    match (kind.path, kind.wait) {
        (Path::Unix, _) => Wire::<Unix>::of(shared, spinning)?.serve(parent),
        (Path::Udp, _) => Wire::<Udp>::of(shared, spinning)?.serve(parent),
        (Path::Tcp, _) => Wire::<Tcp>::of(shared, spinning)?.serve(parent),
        (Path::TcpStream, _) => stream::serve(Wire::of(shared, spinning)?, parent),
        (_, Wait::Poll) => serve_memory::<Spin>(shared, copying, parent),
        (_, Wait::PollPause) => serve_memory::<Pause>(shared, copying, parent),
        _ => serve_memory::<Sleep>(shared, copying, parent),
    }
}

/// Serves a segment. Only `serve` may call this.
fn serve_memory<W: Waiting>(shared: OwnedFd, copying: bool, parent: Parent) -> Result<Infallible, Error> {
    // SAFETY: `shared` is the standard input of this process. The process that started this one has
    // passed the file there: a segment that `memory_case` has created for this process alone.
    // `SERVING` lets only one call get this far, so no other `ServerEnd` is attached to the file.
    let end = unsafe { ServerEnd::<W>::attach(shared) }?;
    end.serve(copying, parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn baseline_kinds_parse_as_they_print() {
        for kind in Kind::ALL {
            assert_eq!(kind.to_string().parse::<Kind>().unwrap(), kind);
        }
        assert!("raw_line:block".parse::<Kind>().is_err());
    }

    #[test]
    fn spinning_needs_two_processors() {
        let one = Placement { client: 0, server: 0 };
        let left: Vec<_> = Kind::ALL.into_iter().filter(|kind| kind.works(one)).collect();
        assert!(left.iter().all(|kind| kind.wait == Wait::Block));
        assert_eq!(left.len(), 5);
    }
}
