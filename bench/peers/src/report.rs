//! The report: a table with a column for each system, JSON, and a plot.

use crate::case::{Load, Subject};
use crate::table::OBVIA;
use obvia_bench::report::{drawn, instability_warning, time};
use obvia_bench::{Error, Machine, Measured, Wait, median};
use serde::Serialize;
use std::fmt::Write;

/// Calls without arguments by the only client.
const ALONE: Load = Load { bytes: 0, callers: 1, clients: 1 };

/// The results of a run.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    machine: Machine,
    rows: Vec<Row>,
    failures: Vec<Failure>,
    /// Warnings about the reliability of the ratios.
    warnings: Vec<String>,
}

/// The results of a case.
#[derive(Debug, Serialize)]
struct Row {
    system: &'static str,
    wait: Wait,
    bytes: usize,
    callers: u32,
    clients: u32,
    /// The time of a batch divided by its number of calls: the median over the batches. Calls of
    /// several callers overlap, so each takes longer.
    per_call_ns: f64,
    /// The percentiles 50 and 99 of the calls that were timed one by one.
    latency_p50_ns: Option<f64>,
    latency_p99_ns: Option<f64>,
    /// The name of the obvia that waits in the same way, and the ratio of the times per call, if it
    /// was measured. obvia itself has none.
    baseline: Option<String>,
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
        let (mut failures, mut warnings) = (Vec::new(), Vec::new());
        for (subject, Measured { batches, stamped, failure, .. }) in subjects.iter().zip(measured) {
            let Subject { system, wait, load } = *subject;
            if let Some(reason) = failure {
                let case = format!("{}, {}", column(system, wait), case(load));
                failures.push(Failure { case, reason: reason.to_string() });
                continue;
            }
            let Some(per_call_ns) = median(&batches) else { continue };
            // Calls without arguments between sides that poll vary only with the machine.
            if (system, wait, load) == (OBVIA, Wait::Poll, ALONE) {
                warnings.extend(instability_warning(&column(system, wait), &batches));
            }
            let Load { bytes, callers, clients } = load;
            let [latency_p50_ns, latency_p99_ns] = [0.5, 0.99].map(|quantile| stamped.quantile(quantile));
            let (baseline, ratio) = (None, None);
            rows.push(Row {
                system,
                wait,
                bytes,
                callers,
                clients,
                per_call_ns,
                latency_p50_ns,
                latency_p99_ns,
                baseline,
                ratio,
            });
        }
        let (baselines, others): (Vec<&mut Row>, Vec<_>) = rows.iter_mut().partition(|row| row.system == OBVIA);
        for row in others {
            let is_baseline = |other: &&&mut Row| (other.load(), other.wait) == (row.load(), row.wait);
            if let Some(baseline) = baselines.iter().find(is_baseline) {
                row.ratio = Some(row.per_call_ns / baseline.per_call_ns);
                row.baseline = Some(column(baseline.system, baseline.wait));
            }
        }
        Self { machine, rows, failures, warnings }
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
            if !columns.contains(&(row.system, row.wait)) {
                columns.push((row.system, row.wait));
            }
        }
        loads.sort_by_key(|load| (load.callers, load.clients, load.bytes));
        let heads = columns.iter().map(|(system, wait)| format!(" {} |", column(system, *wait)));
        // Writing to a string cannot fail, here and below.
        let mut text = format!(
            "{}\n\n| call |{}\n|---|{}\n",
            self.machine,
            heads.collect::<String>(),
            "--:|".repeat(columns.len())
        );
        for load in loads {
            let _ = write!(text, "| {} |", case(load));
            for (system, wait) in &columns {
                let is_cell = |row: &&Row| row.system == *system && row.wait == *wait && row.load() == load;
                let _ = write!(text, " {} |", self.rows.iter().find(is_cell).map_or_else(|| "-".to_owned(), Row::cell));
            }
            text.push('\n');
        }
        text.push_str(
            "\nThe time of a batch divided by its number of calls, the median of batches; in parentheses, the ratio to the \
             obvia that waits in the same way.\n",
        );
        for warning in &self.warnings {
            let _ = writeln!(text, "\nWARNING: {warning}");
        }
        for Failure { case, reason } in &self.failures {
            let _ = writeln!(text, "\nFAILED: {case}: {reason}");
        }
        text
    }

    /// Returns a chart of the calls with arrays by the only client, as SVG.
    pub(crate) fn plot(&self) -> Result<String, Error> {
        let is_drawn = |row: &&Row| row.bytes > 0 && row.clients == 1;
        let line = |row: &Row| format!("{},{},{}\n", column(row.system, row.wait), row.bytes, row.per_call_ns);
        let lines: String = self.rows.iter().filter(is_drawn).map(line).collect();
        drawn("An array there and back: time of a call against size", &self.machine, &lines)
    }
}

impl Row {
    fn load(&self) -> Load {
        Load { bytes: self.bytes, callers: self.callers, clients: self.clients }
    }

    fn cell(&self) -> String {
        let ratio = self.ratio.map(|ratio| format!(" ({ratio:.2} x {})", self.wait.name())).unwrap_or_default();
        time(self.per_call_ns) + &ratio
    }
}

/// Returns the heading of a column. The policy is left out for systems that know only one.
fn column(system: &str, wait: Wait) -> String {
    if [OBVIA, "iceoryx2"].contains(&system) { format!("{system}, {}", wait.name()) } else { system.to_owned() }
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

    fn measured(batches: Vec<f64>, failure: Option<Error>) -> Measured {
        let mut stamped = Histogram::new();
        stamped.record(Duration::from_nanos(700));
        let label = Label { case: "null", bytes: 0, at_once: 1, path: Path::System("x"), wait: Wait::Block };
        Measured { label, batches, stamped, failure }
    }

    fn report() -> Report {
        let load = |bytes, callers, clients| Load { bytes, callers, clients };
        let cases = [
            (OBVIA, Wait::Adaptive, ALONE, 300.0),
            (OBVIA, Wait::Poll, ALONE, 200.0),
            (OBVIA, Wait::Block, ALONE, 10_000.0),
            (OBVIA, Wait::Block, load(8192, 1, 1), 12_000.0),
            ("grpc", Wait::Block, ALONE, 50_000.0),
            ("grpc", Wait::Block, load(8192, 1, 1), 60_000.0),
            ("grpc", Wait::Block, load(8192, 4, 4), 55_000.0),
            ("grpc", Wait::Block, load(0, 1, 100), 70_000.0),
            ("iceoryx2", Wait::Poll, ALONE, 500.0),
            ("zbus", Wait::Block, load(0, 4, 4), 1.0),
        ];
        let subjects = cases.map(|(system, wait, load, _)| Subject { system, wait, load });
        let measured = cases.map(|(system, wait, _, took)| {
            let failure = (system == "zbus").then(|| Error::Failed { message: "as asked".to_owned() });
            let changed = if wait == Wait::Poll && system == OBVIA { 4.0 } else { 1.0 };
            measured(vec![took, took * changed, took / changed], failure)
        });
        let machine =
            Machine { cpu: "CPU".to_owned(), kernel: "Linux".to_owned(), cores: 2, placement: "0,1".to_owned() };
        Report::new(machine, &subjects, measured.into())
    }

    #[test]
    fn the_table_has_a_row_for_each_call_and_a_column_for_each_system() {
        let table = report().table();
        for line in [
            "| call | obvia, adaptive | obvia, poll | obvia, block | grpc | iceoryx2, poll |",
            "| null | 300 ns | 200 ns | 10.0 us | 50.0 us (5.00 x block) | 500 ns (2.50 x poll) |",
            "| 8 KiB | - | - | 12.0 us | 60.0 us (5.00 x block) | - |",
            "| null, 1 of 100 clients | - | - | - | 70.0 us | - |",
            "| 8 KiB, 4 callers | - | - | - | 55.0 us | - |",
            "FAILED: zbus, null, 4 callers: as asked",
        ] {
            assert!(table.lines().any(|found| found == line), "{line}: {table}");
        }
    }

    #[test]
    fn a_machine_that_changes_during_the_run_is_reported() {
        let report = report();
        assert!(
            report.table().contains("\nWARNING: the machine changed during the run: obvia, poll took 50 ns to 800 ns")
        );
        assert_eq!(report.warnings.len(), 1);
    }

    #[test]
    fn the_plot_has_the_arrays_of_the_only_client() {
        let svg = report().plot().unwrap();
        let mut points: Vec<&str> = svg.match_indices(" bytes: ").map(|(at, _)| &svg[at - 4..at + 15]).collect();
        points.sort_unstable();
        assert_eq!(points, ["8192 bytes: 12.0 us", "8192 bytes: 60.0 us"]);
        assert!(svg.contains("obvia, block, 8192") && svg.contains("grpc, 8192"), "{svg}");
    }

    #[test]
    fn json_has_ratios_with_their_baselines_and_failures() {
        let report = report();
        assert!(report.has_failures());
        let document: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
        let found = |row: usize| {
            let row = &document["rows"][row];
            (row["system"].as_str().unwrap(), row["baseline"].as_str(), row["ratio"].as_f64())
        };
        assert_eq!(found(0), (OBVIA, None, None));
        assert_eq!(found(5), ("grpc", Some("obvia, block"), Some(5.0)));
        assert_eq!(found(7), ("grpc", None, None));
        assert_eq!(found(8), ("iceoryx2", Some("obvia, poll"), Some(2.5)));
        let row = &document["rows"][4];
        assert_eq!((row["per_call_ns"].as_f64(), row["latency_p99_ns"].as_f64()), (Some(50_000.0), Some(700.0)));
        assert_eq!(document["failures"][0]["case"], "zbus, null, 4 callers");
    }
}
