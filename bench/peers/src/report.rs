//! The report: a table with a column for each system, JSON, and a plot.

use crate::case::{Load, Subject};
use crate::table::OBVIA;
use obvia_bench::report::{drawn, time};
use obvia_bench::{Error, Machine, Measured, Wait, median};
use serde::Serialize;
use std::fmt::Write;

/// The results of a run.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    machine: Machine,
    rows: Vec<Row>,
    failures: Vec<Failure>,
}

/// The results of a case.
#[derive(Debug, Serialize)]
struct Row {
    peer: &'static str,
    wait: Wait,
    bytes: usize,
    callers: u32,
    clients: u32,
    /// The time of a call: the median over the batches.
    p50_ns: f64,
    /// The 99th percentile of the calls that were timed one by one.
    p99_ns: Option<f64>,
    /// `p50_ns` divided by that of the adaptive obvia, if that was measured.
    ratio: Option<f64>,
}

/// A case that failed.
#[derive(Debug, Serialize)]
struct Failure {
    case: String,
    reason: String,
}

impl Report {
    /// Compiles the results of the given cases, which are in the same order.
    pub(crate) fn new(machine: Machine, subjects: &[Subject], measured: Vec<Measured>) -> Self {
        let mut rows: Vec<Row> = Vec::new();
        let mut failures = Vec::new();
        for (subject, Measured { batches, stamped, failure, .. }) in subjects.iter().zip(measured) {
            let Subject { peer, wait, load: Load { bytes, callers, clients } } = *subject;
            if let Some(reason) = failure {
                let case = format!("{}, {}", column(peer, wait), case(subject.load));
                failures.push(Failure { case, reason: reason.to_string() });
            } else if let Some(p50_ns) = median(&batches) {
                let p99_ns = stamped.quantile(0.99);
                rows.push(Row { peer, wait, bytes, callers, clients, p50_ns, p99_ns, ratio: None });
            }
        }
        let is_baseline = |row: &&Row| row.peer == OBVIA && row.wait == Wait::Adaptive;
        let baselines: Vec<(Load, f64)> = rows.iter().filter(is_baseline).map(|row| (row.load(), row.p50_ns)).collect();
        for row in &mut rows {
            let baseline = baselines.iter().find(|(load, _)| *load == row.load());
            row.ratio = baseline.map(|(_, baseline)| row.p50_ns / baseline);
        }
        Self { machine, rows, failures }
    }

    pub(crate) fn has_failures(&self) -> bool {
        !self.failures.is_empty()
    }

    /// Returns the report as JSON.
    pub(crate) fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("names and finite numbers only");
        text.push('\n');
        text
    }

    /// Returns the report in Markdown: a row for each kind of call, a column for each system.
    pub(crate) fn table(&self) -> String {
        let mut loads: Vec<Load> = Vec::new();
        let mut columns: Vec<(&str, Wait)> = Vec::new();
        for row in &self.rows {
            if !loads.contains(&row.load()) {
                loads.push(row.load());
            }
            if !columns.contains(&(row.peer, row.wait)) {
                columns.push((row.peer, row.wait));
            }
        }
        loads.sort_by_key(|load| (load.callers, load.clients, load.bytes));
        let heads = columns.iter().map(|(peer, wait)| format!(" {} |", column(peer, *wait)));
        // Writing to a string cannot fail, here and below.
        let mut text = format!(
            "{}\n\n| call |{}\n|---|{}\n",
            self.machine,
            heads.collect::<String>(),
            "--:|".repeat(columns.len())
        );
        for load in loads {
            let _ = write!(text, "| {} |", case(load));
            for (peer, wait) in &columns {
                let is_cell = |row: &&Row| row.peer == *peer && row.wait == *wait && row.load() == load;
                let _ = write!(text, " {} |", self.rows.iter().find(is_cell).map_or_else(|| "-".to_owned(), Row::cell));
            }
            text.push('\n');
        }
        text.push_str(
            "\nThe time of a call, the median of batches, and in parentheses its ratio to obvia, adaptive.\n",
        );
        for Failure { case, reason } in &self.failures {
            let _ = writeln!(text, "\nFAILED: {case}: {reason}");
        }
        text
    }

    /// Returns a chart of the calls with arrays by the only client, as SVG.
    pub(crate) fn plot(&self) -> Result<String, Error> {
        let is_drawn = |row: &&Row| row.bytes > 0 && row.clients == 1;
        let line =
            |row: &Row| format!("{},{},{}\n", column(row.peer, row.wait).replace(", ", " "), row.bytes, row.p50_ns);
        let lines: String = self.rows.iter().filter(is_drawn).map(line).collect();
        drawn("An array there and back: time of a call against size", &self.machine, &lines)
    }
}

impl Row {
    fn load(&self) -> Load {
        Load { bytes: self.bytes, callers: self.callers, clients: self.clients }
    }

    fn cell(&self) -> String {
        let ratio = self.ratio.map(|ratio| format!(" ({ratio:.2})")).unwrap_or_default();
        time(self.p50_ns) + &ratio
    }
}

/// Returns the heading of a column. The policy is left out for systems that know only one.
fn column(peer: &str, wait: Wait) -> String {
    if [OBVIA, "iceoryx2"].contains(&peer) { format!("{peer}, {}", wait.name()) } else { peer.to_owned() }
}

/// Describes a kind of calls.
fn case(Load { bytes, callers, clients }: Load) -> String {
    let what = match bytes {
        0 => "null".to_owned(),
        bytes if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        bytes if bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        bytes => format!("{bytes} B"),
    };
    match (callers, clients) {
        (1, 1) => what,
        (1, clients) => format!("{what}, 1 of {clients} clients"),
        (callers, _) => format!("{what}, {callers} callers"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use obvia_bench::{Histogram, Label, Path};
    use std::time::Duration;

    fn measured(failure: Option<Error>, took: f64) -> Measured {
        let mut stamped = Histogram::new();
        stamped.record(Duration::from_nanos(took as u64));
        let label = Label { case: "null", bytes: 0, at_once: 1, path: Path::Peer("x"), wait: Wait::Block };
        Measured { label, batches: vec![took, took + 1.0, took - 1.0], stamped, failure }
    }

    fn report() -> Report {
        let load = |bytes, callers, clients| Load { bytes, callers, clients };
        let subject = |peer, wait, load| Subject { peer, wait, load };
        let subjects = [
            subject(OBVIA, Wait::Adaptive, load(0, 1, 1)),
            subject(OBVIA, Wait::Adaptive, load(8192, 1, 1)),
            subject("grpc", Wait::Block, load(0, 1, 1)),
            subject("grpc", Wait::Block, load(8192, 1, 1)),
            subject("grpc", Wait::Block, load(0, 1, 100)),
            subject("zbus", Wait::Block, load(0, 4, 4)),
        ];
        let failure = || Some(Error::Failed { message: "as asked".to_owned() });
        let results =
            [(None, 200.0), (None, 2_000.0), (None, 50_000.0), (None, 60_000.0), (None, 70_000.0), (failure(), 1.0)];
        let measured = results.into_iter().map(|(failure, took)| measured(failure, took)).collect();
        let machine =
            Machine { cpu: "CPU".to_owned(), kernel: "Linux".to_owned(), cores: 2, placement: "0,1".to_owned() };
        Report::new(machine, &subjects, measured)
    }

    #[test]
    fn the_table_has_a_row_for_each_call_and_a_column_for_each_system() {
        let table = report().table();
        for line in [
            "| call | obvia, adaptive | grpc |",
            "| null | 200 ns (1.00) | 50.0 us (250.00) |",
            "| 8 KiB | 2.00 us (1.00) | 60.0 us (30.00) |",
            "| null, 1 of 100 clients | - | 70.0 us |",
            "FAILED: zbus, null, 4 callers: as asked",
        ] {
            assert!(table.lines().any(|found| found == line), "{line}: {table}");
        }
    }

    #[test]
    fn the_plot_has_a_line_for_each_system_with_arrays() {
        let svg = report().plot().unwrap();
        assert!(
            svg.contains("obvia adaptive, 8192 bytes: 2.00 us") && svg.contains(">grpc, 8192 bytes: 60.0 us"),
            "{svg}"
        );
        assert!(!svg.contains("zbus"));
    }

    #[test]
    fn json_has_ratios_and_failures() {
        let report = report();
        assert!(report.has_failures());
        let document: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
        assert_eq!((&document["rows"][3]["peer"], &document["rows"][3]["ratio"]), (&"grpc".into(), &30.0.into()));
        assert_eq!(document["rows"][4]["ratio"], serde_json::Value::Null);
        assert_eq!(document["failures"][0]["case"], "zbus, null, 4 callers");
    }
}
