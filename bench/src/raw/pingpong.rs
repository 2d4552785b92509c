//! libfabric without obvia: libfabric's own program `fi_pingpong` over connections of the provider
//! `tcp`, which obvia uses, too.
//!
//! The program is started for each batch, at both ends. It reports the one-way time of a message,
//! half a round trip, by its own clock. It spins on its completion queue.

use crate::cable::{self, Link};
use crate::server::PATIENCE;
use crate::{Case, Error, Histogram, Label, Path, Placement, Wait, machine};
use std::io::{ErrorKind, Read};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = "fi_pingpong";
/// The number of rounds from one batch to the next. A batch in each round would take too long,
/// because the start of both ends takes half a second.
const EVERY: u32 = 5;
/// The interval at which a started process is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Creates a case for each size, or returns `None` if the program is not installed.
pub fn pingpongs(sizes: &[usize], placement: Placement) -> Result<Option<Vec<Box<dyn Case>>>, Error> {
    match Command::new(PROGRAM).arg("-h").stdout(Stdio::null()).stderr(Stdio::null()).status() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        outcome => drop(outcome.map_err(Error::system("running fi_pingpong"))?),
    }
    if placement.is_one_cpu() {
        // Two sides that spin cannot share one processor.
        return Ok(Some(Vec::new()));
    }
    let label = |bytes| Label { case: "send", bytes, at_once: 1, path: Path::FiPingpong, wait: Wait::Poll };
    let case = |bytes: &usize| Box::new(Pingpong { label: label(*bytes), placement }) as Box<dyn Case>;
    Ok(Some(sizes.iter().map(case).collect()))
}

#[derive(Debug)]
struct Pingpong {
    label: Label,
    placement: Placement,
}

/// A process that is killed when its `End` is dropped.
#[derive(Debug)]
struct End(Child);

impl Drop for End {
    fn drop(&mut self) {
        // Both calls fail only if the process has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Pingpong {
    fn start(&self, cpu: usize, port: u16, calls: u32, more: &[&str]) -> Result<End, Error> {
        let mut program = Command::new(PROGRAM);
        program
            .args(["-p", "tcp", "-e", "msg", "-I", &calls.to_string(), "-S", &self.label.bytes.to_string()])
            .args([if more.is_empty() { "-B" } else { "-P" }, &port.to_string()])
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        // The program inherits the processor of the thread that starts it.
        machine::pin(cpu)?;
        let child = program.spawn();
        machine::pin(self.placement.client)?;
        child.map(End).map_err(Error::system("running fi_pingpong"))
    }
}

/// Returns a free port of the server's side.
fn free_port(link: Link) -> Result<u16, Error> {
    let [_, server] = link.addresses();
    cable::at_server(|| TcpListener::bind((server, 0))?.local_addr())
        .map(|address| address.port())
        .map_err(Error::system("looking for a free port"))
}

/// Polls until there is a result. A program without a result at the time limit counts as hung.
fn poll<T>(mut look: impl FnMut() -> Result<Option<T>, Error>) -> Result<T, Error> {
    let since = Instant::now();
    while since.elapsed() < 2 * PATIENCE {
        if let Some(found) = look()? {
            return Ok(found);
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    Err(Error::Stalled { after: 2 * PATIENCE })
}

/// Whether a listener exists on a port in a process's network: proc(5), `/proc/net/tcp`.
fn is_listening(pid: u32, port: u16) -> bool {
    let table = std::fs::read_to_string(format!("/proc/{pid}/net/tcp")).unwrap_or_default();
    let local = format!(":{port:04X}");
    table
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .any(|columns| columns.get(1).is_some_and(|address| address.ends_with(&local)) && columns.get(3) == Some(&"0A"))
}

/// Reads the one-way time of a message, in microseconds, from the table that the program prints:
/// the column `usec/xfer`.
fn microseconds(table: &str) -> Option<f64> {
    let column = table.lines().next()?.split_whitespace().position(|heading| heading == "usec/xfer")?;
    let value: f64 = table.lines().nth(1)?.split_whitespace().nth(column)?.parse().ok()?;
    (value.is_finite() && value > 0.0).then_some(value)
}

impl Case for Pingpong {
    fn label(&self) -> &Label {
        &self.label
    }

    fn calls_min(&self) -> u32 {
        100
    }

    fn is_due(&self, round: u32) -> bool {
        round.is_multiple_of(EVERY)
    }

    fn warm_up(&mut self, _calls: u32) -> Result<(), Error> {
        // Each batch starts new processes, so nothing would stay warm.
        Ok(())
    }

    fn batch(&mut self, calls: u32) -> Result<Duration, Error> {
        let link = cable::link();
        let [_, address] = link.addresses();
        let port = free_port(link)?;
        let mut server = cable::at_server(|| Ok(self.start(self.placement.server, port, calls, &[])))
            .map_err(Error::system("entering a network namespace"))??;
        poll(|| {
            if let Ok(Some(status)) = server.0.try_wait() {
                return Err(Error::PeerDied { status: Some(status) });
            }
            Ok(is_listening(server.0.id(), port).then_some(()))
        })?;
        let mut client = self.start(self.placement.client, port, calls, &[&address.to_string()])?;
        poll(|| client.0.try_wait().map_err(Error::system("waiting for fi_pingpong")))?;
        let mut table = String::new();
        if let Some(stdout) = &mut client.0.stdout {
            stdout.read_to_string(&mut table).map_err(Error::system("reading from fi_pingpong"))?;
        }
        let one_way = microseconds(&table).ok_or_else(|| Error::Failed {
            message: format!("fi_pingpong ended without a result: {}", table.trim()),
        })?;
        Ok(Duration::from_secs_f64(2e-6 * one_way * f64::from(calls)))
    }

    /// Records nothing: the program does not report the times of single messages.
    fn stamped(&mut self, _calls: u32, _into: &mut Histogram) -> Result<(), Error> {
        Ok(())
    }

    fn verify(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn resume(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn suspend(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pingpong_times_are_parsed_from_the_table() {
        let table = "bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec\n\
                     64      100     =100     12k         0.00s      3.49      18.34       0.05\n";
        assert_eq!(microseconds(table), Some(18.34));
        for wrong in ["", "bytes usec/xfer\n", "bytes usec/xfer\n64 -1\n", "bytes usec/xfer\n64 inf\n", "bytes\n64\n"] {
            assert_eq!(microseconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn listening_ports_are_found_in_the_network_of_a_process() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(is_listening(std::process::id(), port));
        let silent = ground::SilentPort::new();
        assert!(!is_listening(std::process::id(), silent.number()));
    }
}
