//! The limits of the system that would end a measurement with many clients. They are checked before
//! the measurement begins.

use super::Plan;
use super::usage::field;
use crate::Error;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::read_to_string;

/// The amount of each resource that a process needs besides the amount for its connections.
const RESERVE: u64 = 100;
/// The maximum number of the server's mappings for each connection: one segment of each side.
const MAPPINGS: u64 = 2;
/// The number of a client process's threads besides those that call: the first thread, and the
/// threads of the runtime.
const THREADS: u64 = 4;
/// The memory of a connection at both ends, and of a client process.
const CONNECTION_KIB: u64 = 100;
const PROCESS_KIB: u64 = 4 << 10;

/// Raises this process's limit of open files to the maximum that the user may set. The processes
/// that it starts have the same limit.
pub fn raise_descriptors() -> Result<(), Error> {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit })
        .map_err(Error::system("raising the limit of open files"))
}

/// Verifies that the system allows the clients of a plan.
///
/// # Errors
///
/// [`Error::Usage`] names the first limit that is too low, and says how to raise it.
pub(super) fn check(plan: &Plan) -> Result<(), Error> {
    let short = needs(plan).into_iter().find(|need| need.most().is_some_and(|most| most < need.amount));
    short.map_or(Ok(()), |need| Err(need.refusal(plan.clients())))
}

/// The amount of a resource that the clients need.
struct Need {
    resource: &'static str,
    amount: u64,
    limit: Limit,
}

/// A limit of the system.
#[derive(Clone, Copy)]
enum Limit {
    /// The open files of a process.
    OpenFiles,
    /// A number that a file contains: the file, and the name of the setting.
    File(&'static str, &'static str),
    /// The maximum number of threads of the whole system, less the existing ones: the file with the
    /// maximum, and the name of the setting.
    Threads(&'static str, &'static str),
    /// The memory that is available.
    Memory,
}

fn needs(plan: &Plan) -> Vec<Need> {
    let [processes, clients] = [plan.processes, plan.clients()].map(u64::from);
    // A process has a home connection besides the connections of its threads.
    let connections = clients + processes;
    let threads = clients + processes * THREADS + RESERVE;
    let need = |resource, amount, limit| Need { resource, amount, limit };
    vec![
        need("open files of the server", connections + RESERVE, Limit::OpenFiles),
        need(
            "mappings of the server",
            MAPPINGS * connections + RESERVE,
            Limit::File("/proc/sys/vm/max_map_count", "vm.max_map_count"),
        ),
        need("threads of all clients", threads, Limit::Threads("/proc/sys/kernel/pid_max", "kernel.pid_max")),
        need("threads of all clients", threads, Limit::Threads("/proc/sys/kernel/threads-max", "kernel.threads-max")),
        need("KiB of memory", connections * CONNECTION_KIB + processes * PROCESS_KIB, Limit::Memory),
    ]
}

impl Need {
    /// Returns the amount that the system allows; `None` if there is no limit, or if the limit
    /// cannot be read.
    fn most(&self) -> Option<u64> {
        match self.limit {
            Limit::OpenFiles => getrlimit(Resource::Nofile).current,
            Limit::File(file, _) => read_number(file),
            Limit::Threads(file, _) => Some(read_number(file)?.saturating_sub(threads_now())),
            Limit::Memory => field(&read_to_string("/proc/meminfo").ok()?, "MemAvailable:")?.parse().ok(),
        }
    }

    fn refusal(&self, clients: u32) -> Error {
        let Self { resource, amount, limit } = *self;
        let most = self.most().unwrap_or_default();
        let mend = match limit {
            Limit::OpenFiles => format!("run `ulimit -n {amount}` first, as root where the hard limit is lower"),
            Limit::File(_, name) => format!("run `sudo sysctl -w {name}={amount}` first"),
            Limit::Threads(_, name) => {
                format!("run `sudo sysctl -w {name}={}` first", amount + threads_now())
            }
            Limit::Memory => "free memory, or measure fewer clients".to_owned(),
        };
        let message = format!("{clients} clients take some {amount} {resource}, and the system allows {most}: {mend}");
        Error::Usage { message }
    }
}

fn read_number(file: &str) -> Option<u64> {
    read_to_string(file).ok()?.trim().parse().ok()
}

/// Returns the number of threads on the system: the second number in the fourth field of
/// /proc/loadavg.
fn threads_now() -> u64 {
    let load = read_to_string("/proc/loadavg").unwrap_or_default();
    let all = load.split_whitespace().nth(3).and_then(|running| running.split_once('/'));
    all.and_then(|(_, all)| all.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn plan(processes: u32, connections: u32) -> Plan {
        Plan { processes, connections, rounds: 1, idle: Duration::ZERO }
    }

    #[test]
    fn a_limit_that_is_too_low_is_named_with_its_mend() {
        check(&plan(2, 2)).unwrap();
        // The plan exceeds every limit. Only the first limit is reported.
        let error = check(&plan(1_000, 4_000_000)).unwrap_err().to_string();
        assert!(error.starts_with("4000000000 clients take some 4000001100 open files of the server, "), "{error}");
        assert!(error.contains("run `ulimit -n 4000001100`"), "{error}");
        let needs = needs(&plan(1_000, 4_000_000));
        let refusals: Vec<_> = needs.iter().map(|need| need.refusal(1).to_string()).collect();
        for (refusal, mend) in refusals[1..].iter().zip([
            "sysctl -w vm.max_map_count=8000002100`",
            "sysctl -w kernel.pid_max=",
            "sysctl -w kernel.threads-max=",
            "free memory",
        ]) {
            assert!(refusal.contains(mend), "{refusal}");
        }
        assert!(needs.iter().all(|need| need.most().is_none_or(|most| most < need.amount)));
    }
}
