//! The machine, and the processors of the two sides.

use crate::Error;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// The processors of client and server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Placement {
    /// The client's processor.
    pub client: usize,
    /// The server's processor.
    pub server: usize,
}

impl Placement {
    /// Returns the first two processors that this process may use. If there is only one, returns
    /// that processor twice.
    pub fn first_two() -> Result<Self, Error> {
        let allowed = sched_getaffinity(None).map_err(Error::system("reading the CPU affinity"))?;
        let mut usable = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
        let client = usable.next().unwrap_or(0);
        Ok(Self { client, server: usable.next().unwrap_or(client) })
    }

    /// Whether the two sides share one processor.
    pub fn is_one_cpu(self) -> bool {
        self.client == self.server
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.client, self.server)
    }
}

impl FromStr for Placement {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let usage = || Error::Usage { message: format!("`{text}` is no placement: give two CPU numbers, as in `0,1`") };
        let (client, server) = text.split_once(',').ok_or_else(usage)?;
        let cpu = |number: &str| number.trim().parse().ok().filter(|cpu| *cpu < CpuSet::MAX_CPU).ok_or_else(usage);
        Ok(Self { client: cpu(client)?, server: cpu(server)? })
    }
}

/// Pins the calling thread, and the threads that it starts from now on, to one processor.
pub fn pin(cpu: usize) -> Result<(), Error> {
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).map_err(Error::system("pinning to a CPU"))
}

/// The machine of the measurements.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// The model of the processor.
    pub cpu: String,
    /// The name and release of the kernel.
    pub kernel: String,
    /// The number of processors that this process may use.
    pub cores: usize,
    /// The processors of client and server, as in `0,1`, or `any`.
    pub placement: String,
}

impl Machine {
    /// Reads the machine's properties. The calling thread must not be pinned yet, because then the
    /// count of processors would be too small.
    pub fn read(placement: Option<Placement>) -> Self {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let cpuinfo = read("/proc/cpuinfo");
        let model = cpuinfo
            .lines()
            .find_map(|line| line.strip_prefix("model name")?.split_once(':'))
            .map_or(std::env::consts::ARCH, |(_, model)| model.trim());
        let kernel =
            read("/proc/sys/kernel/ostype").trim().to_owned() + " " + read("/proc/sys/kernel/osrelease").trim();
        Self {
            cpu: model.to_owned(),
            kernel,
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            placement: placement.map_or_else(|| "any".to_owned(), |placement| placement.to_string()),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cpu, kernel, cores, placement } = self;
        let place = if placement == "any" { "any CPU".to_owned() } else { format!("CPU {placement}") };
        write!(f, "{cpu}, {kernel}, {cores} cores, client and server on {place}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_parse_and_print() {
        let placement: Placement = "3, 1".parse().unwrap();
        assert_eq!(placement.to_string(), "3,1");
        assert!(!placement.is_one_cpu());
        assert!("0,0".parse::<Placement>().unwrap().is_one_cpu());
        for wrong in ["", "1", "1,", "a,b", "0,1,2", "0,99999"] {
            assert!(wrong.parse::<Placement>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_machine_description_names_kernel_cores_and_placement() {
        let machine = Machine::read(Some(Placement { client: 0, server: 0 }));
        assert!(machine.kernel.len() > 3 && machine.cores > 0);
        assert!(machine.to_string().contains(&machine.cpu));
        assert!(machine.to_string().ends_with("on CPU 0,0"), "{machine}");
        assert!(Machine::read(None).to_string().ends_with("on any CPU"));
    }
}
