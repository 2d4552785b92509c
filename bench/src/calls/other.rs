//! Calls between programs in other languages. Client and server are processes other than this one.
//! The client makes calls on request and reports their times: see bench/cpp/under_bench.h and its
//! Java counterpart.

use crate::server::PATIENCE;
use crate::{Case, Error, Histogram, Label, Path, Placement, ServerProcess, Watch};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

/// The client program and the server program of a path.
struct Programs {
    /// The client program. It is also the server if `serve` is given.
    name: &'static str,
    /// The xtask command that builds the program.
    built_by: &'static str,
    /// The server program's first argument, or `None` if this program is the server.
    serve: Option<&'static str>,
    /// The client program's first argument.
    call: &'static str,
}

impl Programs {
    const CPP: Self = Self { name: "obvia-bench-cpp", built_by: "bench-cpp", serve: Some("serve"), call: "call" };
    const JAVA: Self = Self { name: "obvia-bench-java", built_by: "bench-java", ..Self::CPP };

    fn of(path: Path) -> Option<Self> {
        match path {
            Path::CppViShm => Some(Self::CPP),
            Path::JavaViShm => Some(Self::JAVA),
            Path::JavaRustViShm => Some(Self { serve: None, ..Self::JAVA }),
            Path::JavaRmi => Some(Self { serve: Some("serve-rmi"), call: "call-rmi", ..Self::JAVA }),
            _ => None,
        }
    }

    fn find(&self) -> Result<PathBuf, Error> {
        let own = std::env::current_exe().map_err(Error::system("looking for this program"))?;
        let program = own.with_file_name(self.name);
        if program.is_file() {
            return Ok(program);
        }
        let message = format!("there is no {}, which `cargo xtask {}` builds", program.display(), self.built_by);
        Err(Error::Usage { message })
    }
}

/// Whether the client of a path is a program in another language.
pub(super) fn is_other(path: Path) -> bool {
    Programs::of(path).is_some()
}

/// Starts a case.
pub(super) fn case(label: Label, placement: Placement) -> Result<Box<dyn Case>, Error> {
    let programs = Programs::of(label.path).expect("it was asked before");
    let program = programs.find()?;
    let wait = label.wait.name();
    let start = |arguments: &[&str], cpu: usize, stdin| {
        let cpu = cpu.to_string();
        let arguments = [arguments, &[wait, "--cpu", &cpu]].concat();
        ServerProcess::start_program(&program, &arguments, stdin, || Ok(())).map(|(process, ())| process)
    };
    let (server, name) = match programs.serve {
        None => super::start(Path::NcacnViShm, label.wait, Some(placement))?,
        Some(serve) => {
            let name = super::name();
            let server = start(&[serve, &name], placement.server, None)?;
            let address = if server.address().is_empty() { name } else { server.address().to_owned() };
            (server, address)
        }
    };
    let (here, there) = UnixStream::pair().map_err(Error::system("making a Unix socket"))?;
    here.set_read_timeout(Some(PATIENCE)).map_err(Error::system("setting up a socket"))?;
    let bytes = label.bytes.to_string();
    let client = start(&[programs.call, &name, label.case, &bytes], placement.client, Some(there.into()))?;
    let mut case = Other { label, client, server, wire: BufReader::new(here) };
    // Suspend the server at once: spinning servers would slow down the start of the next servers.
    case.suspend()?;
    Ok(Box::new(case))
}

#[derive(Debug)]
struct Other {
    label: Label,
    // The client needs no suspension: it blocks while it has no request.
    client: ServerProcess,
    server: ServerProcess,
    wire: BufReader<UnixStream>,
}

impl Other {
    /// Sends a question to the client and returns its answer.
    fn ask(&mut self, question: &str) -> Result<String, Error> {
        let mut answer = String::new();
        let asked = writeln!(self.wire.get_mut(), "{question}");
        match asked.and_then(|()| self.wire.read_line(&mut answer)) {
            Ok(1..) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Err(Error::Stalled { after: PATIENCE }),
            // The client ended: either the answer is empty, or the question could not be sent.
            _ => return Err(self.client.check().err().unwrap_or(Error::PeerDied { status: None })),
        }
        match answer.trim_end().strip_prefix("failed: ") {
            Some(why) => Err(Error::Failed { message: why.to_owned() }),
            None => Ok(answer),
        }
    }
}

fn time(text: &str) -> Result<Duration, Error> {
    let nanoseconds = text.trim_end().parse().map_err(|_| Error::Failed { message: format!("`{text}` is no time") })?;
    Ok(Duration::from_nanos(nanoseconds))
}

impl Case for Other {
    fn label(&self) -> &Label {
        &self.label
    }

    fn batch(&mut self, calls: u32) -> Result<Duration, Error> {
        time(&self.ask(&format!("batch {calls}"))?)
    }

    fn stamped(&mut self, calls: u32, into: &mut Histogram) -> Result<(), Error> {
        let times = self.ask(&format!("stamped {calls}"))?;
        times.split_whitespace().try_for_each(|text| time(text).map(|time| into.record(time)))
    }

    fn verify(&mut self) -> Result<(), Error> {
        self.ask("verify").map(drop)
    }

    fn resume(&mut self) -> Result<(), Error> {
        self.server.resume()
    }

    fn suspend(&mut self) -> Result<(), Error> {
        self.server.suspend()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_times_are_parsed_or_refused() {
        assert_eq!(time("1234\n").unwrap(), Duration::from_nanos(1234));
        for wrong in ["", "-1", "1.5", "12 13"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
