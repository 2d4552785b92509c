//! The report: rows with ratios to their baselines, as a table, as JSON and as a plot.

mod chart;
mod clients;
mod drawn;
mod goodput;
mod json;
mod load;
mod plot;
mod table;
mod timeline;

pub use clients::{clients_json, clients_table};
pub use drawn::drawn;
pub use goodput::{goodput_plot, goodput_tables};
pub use json::json;
pub use load::{load_json, load_percentiles, load_plot, load_table};
pub use plot::plot;
pub use table::{table, time};
pub use timeline::timeline;

use crate::{Label, Machine, Measured, Path, Placement, Wait, is_unsteady, median, raw, spread};

/// The maximum size of arguments that fit in the message's own cache line, in bytes.
const IN_LINE_BYTES: usize = 48;

/// The measured quantity, which determines the meaning of a row.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Measurement {
    /// Round trips of calls.
    CallLatency,
    /// Round trips of messages.
    SendLatency,
    /// One-way operations that move bytes, several of them outstanding.
    Bandwidth,
    /// Reads of a file in the page cache.
    Reread,
    /// Concurrent calls of several threads.
    CallRate,
    /// Round trips of calls over obvia's own transports, compared with those of DCOM.
    DcomOverVi,
}

/// The contents of a report.
#[derive(Debug)]
pub struct Report {
    /// The measured quantity.
    pub measurement: Measurement,
    /// The machine.
    pub machine: Machine,
    /// One row for each case, in the order of measurement.
    pub rows: Vec<Row>,
    /// The failed cases with their reasons.
    pub failures: Vec<(Label, String)>,
    /// Warnings about the reliability of the ratios.
    pub warnings: Vec<String>,
}

/// The results of one case.
#[derive(Clone, Debug)]
pub struct Row {
    /// The case's identity.
    pub label: Label,
    /// The nanoseconds per operation: the median of the batches.
    pub p50_ns: f64,
    /// The percentiles 50, 90, 99 and 99.9 of the times of the stamped calls, for which the clock
    /// is read before and after each call. `None` if calls cannot be stamped.
    pub stamped_ns: Option<[f64; 4]>,
    /// The baseline's `p50_ns`, if measured.
    pub raw_p50_ns: Option<f64>,
    /// The ratio `p50_ns / raw_p50_ns`.
    pub ratio_p50: Option<f64>,
}

impl Report {
    /// Compiles a report of the results.
    pub fn new(
        measurement: Measurement,
        machine: Machine,
        placement: Option<Placement>,
        measured: Vec<Measured>,
    ) -> Self {
        let mut rows = Vec::new();
        let mut failures = Vec::new();
        let mut warnings = Vec::new();
        for Measured { label, batches, stamped, failure } in measured {
            if let Some(failure) = failure {
                failures.push((label, failure.to_string()));
                continue;
            }
            let Some(p50_ns) = median(&batches) else {
                continue;
            };
            if label.path == Path::RawLine {
                let name = format!("{} ({})", label.path.name(), label.wait.name());
                warnings.extend(instability_warning(&name, &batches));
            }
            rows.push(Row {
                label,
                p50_ns,
                stamped_ns: (stamped.total() > 0)
                    .then(|| [0.5, 0.9, 0.99, 0.999].map(|quantile| stamped.quantile(quantile).unwrap_or(0.0))),
                raw_p50_ns: None,
                ratio_p50: None,
            });
        }
        let one_cpu = placement.is_some_and(Placement::is_one_cpu);
        for index in 0..rows.len() {
            let raw = match measurement {
                Measurement::CallLatency | Measurement::SendLatency => round_trip(&rows[index].label, &rows, one_cpu),
                Measurement::Bandwidth => one_way(&rows[index].label, &rows, one_cpu),
                Measurement::Reread => own_read(&rows[index].label, &rows),
                Measurement::CallRate => one_thread(&rows[index].label, &rows),
                Measurement::DcomOverVi => local_rpc(&rows[index].label, &rows),
            };
            let row = &mut rows[index];
            row.raw_p50_ns = raw;
            row.ratio_p50 = raw.map(|raw| row.p50_ns / raw);
        }
        Self { measurement, machine, rows, failures, warnings }
    }
}

/// Returns a warning if the time of the steadiest case varied much between rounds. The processors
/// of a virtual machine may move to physical processors that share other caches. The times of all
/// cases then change, but not in the same batch, so ratios are unreliable.
pub fn instability_warning(name: &str, batches: &[f64]) -> Option<String> {
    let spread = spread(batches)?;
    is_unsteady(spread).then(|| {
        let [low, high] = spread.map(table::time);
        format!(
            "the machine changed during the run: {name} took {low} to {high} per call; ratios are less sure, run it again"
        )
    })
}

/// Returns the time of a round trip's baseline: the best of any program with the same kind of
/// waiting.
fn round_trip(label: &Label, rows: &[Row], one_cpu: bool) -> Option<f64> {
    let in_line = label.bytes <= IN_LINE_BYTES;
    let path = if let Path::NcacnIpTcp | Path::DcomIpTcp = label.path {
        Path::Tcp
    } else if let Path::Ncalrpc | Path::DcomLrpc = label.path {
        Path::Unix
    } else if label.path.is_network() {
        if label.bytes > raw::UDP_BYTES_MAX { Path::Tcp } else { Path::Udp }
    } else if one_cpu {
        Path::Unix
    } else if label.wait == Wait::Block {
        Path::RawFutex
    } else if in_line {
        Path::RawLine
    } else {
        Path::RawCopy
    };
    let bytes = if in_line { 0 } else { label.bytes };
    let sleeps = label.wait == Wait::Block || one_cpu;
    rows.iter()
        .filter(|row| row.label.path == path && row.label.bytes == bytes)
        // Cases that sleep are compared with sleeping baselines. On one processor there are no
        // spinning baselines, so all cases are compared with sleeping ones.
        .filter(|row| (path != Path::Unix && !path.is_network()) || (row.label.wait == Wait::Block) == sleeps)
        .map(|row| row.p50_ns)
        .min_by(f64::total_cmp)
}

/// Returns the time of an object call's baseline: the standard's transport within the host, with
/// the same policy.
fn local_rpc(label: &Label, rows: &[Row]) -> Option<f64> {
    let is_standard = |row: &&Row| row.label.path == Path::DcomLrpc;
    let is_same = |row: &&Row| row.label.bytes == label.bytes && row.label.wait == label.wait;
    rows.iter().filter(is_standard).find(is_same).map(|row| row.p50_ns)
}

/// Returns the time of a one-way transfer's baseline: a TCP stream for networks, a copy within one
/// process for memory.
fn one_way(label: &Label, rows: &[Row], one_cpu: bool) -> Option<f64> {
    let path = if label.path.is_network() { Path::TcpStream } else { Path::Memcpy };
    let sleeps = label.wait == Wait::Block || one_cpu;
    rows.iter()
        .filter(|row| row.label.path == path && row.label.bytes == label.bytes)
        .filter(|row| path == Path::Memcpy || (row.label.wait == Wait::Block) == sleeps)
        .map(|row| row.p50_ns)
        .min_by(f64::total_cmp)
}

/// Returns the time of the baseline for reads by a server: a read by the client itself.
fn own_read(label: &Label, rows: &[Row]) -> Option<f64> {
    let own = |row: &&Row| row.label.path == Path::Pread && row.label.bytes == label.bytes;
    rows.iter().find(own).map(|row| row.p50_ns)
}

/// Returns the baseline of a call rate: the time of a call with one thread.
fn one_thread(label: &Label, rows: &[Row]) -> Option<f64> {
    let alone = |row: &&Row| (row.label.path, row.label.wait, row.label.at_once) == (label.path, label.wait, 1);
    rows.iter().find(alone).map(|row| row.p50_ns)
}

impl Row {
    /// Returns the number of outstanding operations; `None` for baselines, which have no window.
    fn at_once(&self) -> Option<u32> {
        (!self.label.path.is_baseline()).then_some(self.label.at_once)
    }

    /// Returns the bytes or calls per second; `None` if the measurement has no rates.
    fn rate(&self, measurement: Measurement) -> Option<f64> {
        match measurement {
            Measurement::CallLatency | Measurement::DcomOverVi | Measurement::SendLatency | Measurement::Reread => None,
            Measurement::Bandwidth => Some(self.label.bytes as f64 * 1e9 / self.p50_ns),
            Measurement::CallRate => Some(1e9 / self.p50_ns),
        }
    }
}

#[cfg(test)]
mod tests;
