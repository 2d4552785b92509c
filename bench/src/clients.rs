//! Many clients of one server: the cost of each when it connects, calls, is idle and leaves.
//!
//! A client is a connection over which a thread of its own makes calls. A process has one or more
//! clients. One more client, the *caller*, is a thread of this process. The times of its calls show
//! how much the other clients slow the server down.

mod client;
mod limits;
mod usage;

pub use client::{SERVE, serve};
pub use limits::raise_descriptors;

use crate::calls::{Caller, Done, REQUEST_MAX, Request, caller, start};
use crate::{Error, Histogram, Machine, Path, ServerProcess, Wait, median};
use client::ClientProcess;
use serde::Serialize;
use std::time::{Duration, Instant};
use usage::{Activity, Usage};

/// The number of the caller's calls in a batch. The calls follow one another.
const CALLS: u32 = 20_000;
/// The longest time until a server has parked the connections of silent clients, or has noticed
/// that clients are gone.
const SETTLING_MAX: Duration = Duration::from_secs(30);
/// The interval without activity after which the server counts as settled: no thread starts, ends
/// or wakes up.
const SETTLED: Duration = Duration::from_millis(250);

/// The extent of a measurement.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Plan {
    /// The number of client processes.
    pub processes: u32,
    /// The number of clients in each process.
    pub connections: u32,
    /// The number of calls that each client makes when its turn comes.
    pub rounds: u32,
    /// The time for which the server is observed while nothing happens.
    #[serde(skip)]
    pub idle: Duration,
}

impl Plan {
    /// Returns the number of clients.
    pub fn clients(&self) -> u32 {
        self.processes.saturating_mul(self.connections)
    }

    /// Returns the numbers of clients at which the server is measured: powers of ten, and the
    /// number of all clients.
    fn stages(&self) -> Vec<u32> {
        let tens = std::iter::successors(Some(10_u32), |stage| stage.checked_mul(10));
        tens.take_while(|stage| *stage < self.clients()).chain([self.clients()]).collect()
    }

    /// Returns the number of clients in the process `index` if all processes together have
    /// `clients` clients.
    fn share(&self, index: u32, clients: u32) -> u32 {
        clients / self.processes + u32::from(index < clients % self.processes)
    }
}

/// The median and the 99th percentile of the times of calls, in nanoseconds.
#[derive(Clone, Copy, Debug, Serialize)]
#[expect(missing_docs, reason = "the names of percentiles")]
pub struct Latency {
    pub p50_ns: f64,
    pub p99_ns: f64,
}

impl Latency {
    fn of(calls: &Histogram) -> Self {
        let at = |quantile| calls.quantile(quantile).unwrap_or(f64::NAN);
        Self { p50_ns: at(0.5), p99_ns: at(0.99) }
    }
}

/// The measurements of the server with a certain number of clients.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Stage {
    /// The number of clients beside the caller.
    pub clients: u32,
    /// The median time of connecting and the first call, over the last fifth of the new clients.
    pub connect_us: f64,
    /// The growth of the server's memory (Pss without files) for each client, in KiB.
    pub memory_kib: f64,
    /// The growth of the number of the server's descriptors for each client.
    pub descriptors: f64,
    /// The growth of the number of the server's mapped segments for each client.
    pub segments: f64,
    /// The number of the server's threads.
    pub threads: u64,
    /// The server's share of a processor while nothing happens.
    pub idle_cpu: f64,
    /// The wake-ups of the server's threads in a second while nothing happens.
    pub idle_wakeups: f64,
    /// The times of the clients' calls, one client after the other. Each client was silent before
    /// its calls, and no other client calls at the same time.
    pub in_turn: Latency,
    /// The times of the caller's calls while all other clients are idle.
    pub caller: Latency,
}

/// The measurements at the end of all clients. Every second client process is killed.
#[derive(Clone, Debug, Serialize)]
pub struct Departure {
    /// The time from the end of the first client until the server has released all resources.
    pub seconds: f64,
    /// The growth of the server's memory from before the first client to after the last, in KiB.
    pub memory_kib: i64,
    /// The resources that the server has not released, apart from memory, and the names that the
    /// server has not removed.
    pub left: Vec<String>,
}

/// The results of a measurement.
#[derive(Debug, Serialize)]
pub struct Clients {
    /// The machine on which the clients and the server run.
    pub machine: Machine,
    /// The extent of the measurement.
    pub plan: Plan,
    /// The times of the caller's calls before any other client connects.
    pub alone: Latency,
    /// The stages, in ascending order of their numbers of clients.
    pub stages: Vec<Stage>,
    /// The measurements at the end of all clients.
    pub departure: Departure,
}

/// Measures, and passes a description of each step to `progress`.
///
/// # Errors
///
/// [`Error::Usage`] if a limit of the system allows fewer clients: the message names the limit and
/// says how to raise it. Other errors if the server or a client fails.
pub fn measure(plan: &Plan, progress: impl Fn(&str)) -> Result<Clients, Error> {
    limits::raise_descriptors()?;
    limits::check(plan)?;
    let machine = Machine::read(None);
    let (server, address) = start(Path::NcacnViShm, Wait::Adaptive, None)?;
    let mut run = Run::new(*plan, server, address)?;
    // The caller is silent first. Its next call makes the server start the threads that the server
    // needs for itself, so these threads are part of the usage `before`.
    run.settle()?;
    let alone = run.calls_of_caller()?;
    run.settle()?;
    let before = Usage::of(run.server.id())?;
    let mut stages = Vec::new();
    for clients in plan.stages() {
        progress(&format!("{clients} clients"));
        stages.push(run.stage(clients, before)?);
    }
    progress("the clients leave");
    let mut departure = run.depart(before)?;
    departure.left.extend(run.end()?);
    Ok(Clients { machine, plan: *plan, alone, stages, departure })
}

/// A running measurement.
struct Run {
    plan: Plan,
    // Field order matters: the clients leave before the server's process ends. The caller's thread
    // is joined after the end of the server, because the thread may be waiting for a response.
    processes: Vec<ClientProcess>,
    server: ServerProcess,
    caller: Caller,
    address: String,
}

impl Run {
    fn new(plan: Plan, server: ServerProcess, address: String) -> Result<Self, Error> {
        let caller = caller(0, &address)?;
        let mut run = Self { plan, processes: Vec::new(), server, caller, address };
        run.caller.result(&mut run.server, REQUEST_MAX)?;
        Ok(run)
    }

    /// Measures the server with `clients` clients. `before` is the server's usage without clients.
    fn stage(&mut self, clients: u32, before: Usage) -> Result<Stage, Error> {
        let connects = self.connect(clients)?;
        self.settle()?;
        let in_turn = self.in_turn()?;
        self.settle()?;
        let id = self.server.id();
        let usage = Usage::of(id)?;
        let (earlier, began) = (Activity::of(id)?, Instant::now());
        std::thread::sleep(self.plan.idle);
        let (now, took) = (Activity::of(id)?, began.elapsed().as_secs_f64());
        let caller = self.calls_of_caller()?;
        let each = |now: u64, before: u64| (now as f64 - before as f64) / f64::from(clients);
        let last = connects.len().div_ceil(5).max(10).min(connects.len());
        Ok(Stage {
            clients,
            connect_us: median(&connects[connects.len() - last..]).unwrap_or(f64::NAN),
            memory_kib: each(usage.memory_kib, before.memory_kib),
            descriptors: each(usage.descriptors, before.descriptors),
            segments: each(usage.segments, before.segments),
            threads: usage.threads,
            idle_cpu: now.processor.saturating_sub(earlier.processor).as_secs_f64() / took,
            idle_wakeups: now.wakeups.saturating_sub(earlier.wakeups) as f64 / took,
            in_turn,
            caller,
        })
    }

    /// Connects clients until there are `clients` in all. Returns the time that each new client
    /// took, in microseconds.
    fn connect(&mut self, clients: u32) -> Result<Vec<f64>, Error> {
        let mut connects = Vec::new();
        for index in 0..self.plan.processes {
            let share = self.plan.share(index, clients);
            if share > 0 && self.processes.len() <= index as usize {
                self.processes.push(ClientProcess::start(&self.address)?);
            }
            let Some(process) = self.processes.get_mut(index as usize) else { continue };
            while process.clients() < share {
                connects.push(process.connect()?.as_secs_f64() * 1e6);
            }
        }
        Ok(connects)
    }

    /// Has each client make its calls, one client after the other.
    fn in_turn(&mut self) -> Result<Latency, Error> {
        let mut calls = Histogram::new();
        for process in &mut self.processes {
            for took in process.call(self.plan.rounds)? {
                calls.record(took);
            }
        }
        Ok(Latency::of(&calls))
    }

    fn calls_of_caller(&mut self) -> Result<Latency, Error> {
        // The first calls do not count: their connection was idle.
        let requests = [Request::Batch(CALLS / 10), Request::Stamped(CALLS)];
        let mut latency = None;
        for request in requests {
            self.caller.request(request);
            if let Done::Stamped(calls) = self.caller.result(&mut self.server, REQUEST_MAX)? {
                latency = Some(Latency::of(&calls));
            }
        }
        latency.ok_or_else(|| Error::Failed { message: "the calls were not stamped".to_owned() })
    }

    /// Waits until the server has parked all connections and has nothing left to do.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] if threads of the server still serve connections after [`SETTLING_MAX`].
    fn settle(&self) -> Result<(), Error> {
        let began = Instant::now();
        let mut last = Activity::of(self.server.id())?;
        loop {
            std::thread::sleep(SETTLED);
            let now = Activity::of(self.server.id())?;
            let (serving, is_late) = (now.serving, began.elapsed() > SETTLING_MAX);
            // A thread that the runtime needs for itself may wake from time to time.
            if serving == 0 && (is_late || (now.threads, now.wakeups) == (last.threads, last.wakeups)) {
                return Ok(());
            }
            if is_late {
                let message = format!("the server has not come to rest: {serving} of its threads serve connections");
                return Err(Error::Failed { message });
            }
            last = now;
        }
    }

    /// Ends all clients, and waits until the server has released their threads and files.
    fn depart(&mut self, before: Usage) -> Result<Departure, Error> {
        let began = Instant::now();
        let processes = std::mem::take(&mut self.processes);
        for (process, is_killed) in processes.iter().zip([false, true].into_iter().cycle()) {
            process.leave(is_killed)?;
        }
        processes.into_iter().try_for_each(ClientProcess::end)?;
        loop {
            let now = Usage::of(self.server.id())?;
            let left = now.beyond(&before);
            let took = began.elapsed();
            if left.is_empty() || took > SETTLING_MAX {
                let memory_kib = now.memory_kib.cast_signed() - before.memory_kib.cast_signed();
                return Ok(Departure { seconds: took.as_secs_f64(), memory_kib, left });
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Ends the server. Returns the names that the server has not removed.
    fn end(self) -> Result<Vec<String>, Error> {
        let Self { server, caller, address, .. } = self;
        drop(server);
        drop(caller);
        let directory = obvia::directory_of_names().map_err(crate::calls::failed)?;
        let entries = std::fs::read_dir(&directory).map_err(Error::system("reading the directory of names"))?;
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        Ok(names.filter(|name| name.contains(&address)).map(|name| format!("the name {name}")).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_spread_over_the_processes_stage_by_stage() {
        let plan = Plan { processes: 3, connections: 40, rounds: 1, idle: Duration::ZERO };
        assert_eq!(plan.stages(), [10, 100, 120]);
        let shares = |clients| [0, 1, 2].map(|index| plan.share(index, clients));
        assert_eq!([shares(10), shares(100), shares(120)], [[4, 3, 3], [34, 33, 33], [40, 40, 40]]);
        assert_eq!(Plan { processes: 10, connections: 1, ..plan }.stages(), [10]);
        assert_eq!(Plan { processes: 1, connections: 2, ..plan }.stages(), [2]);
    }
}
