//! The report: a table with a column for each system, JSON, and a plot.

use crate::case::{Load, Subject};
use crate::table::{ENTRIES, Entry, OBVIA};
use obvia_bench::report::{drawn, instability_warning, time};
use obvia_bench::{Error, Machine, Measured, Wait, is_unsteady, median, spread};
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
    #[serde(flatten)]
    subject: Subject,
    /// The time of a batch divided by its number of calls: the median over the batches. Calls of
    /// several callers overlap, so each of these calls takes longer than this time.
    per_call_ns: f64,
    /// The percentiles 10 and 90 of this time over the batches.
    per_call_p10_p90_ns: [f64; 2],
    /// The percentiles 50 and 99 of the times of calls that were timed one by one.
    latency_p50_ns: Option<f64>,
    latency_p99_ns: Option<f64>,
    /// The name of obvia's column with the same waiting policy, and the ratio of this row's time
    /// per call to the time in that column. `None` for obvia's own rows, and if obvia was not
    /// measured with this policy.
    baseline: Option<String>,
    ratio: Option<f64>,
    /// Whether the baseline's time per call varied by more than half between batches.
    is_baseline_unsteady: bool,
}

/// A case that failed.
#[derive(Debug, Serialize)]
struct Failure {
    #[serde(flatten)]
    subject: Subject,
    reason: String,
}

impl Report {
    /// Compiles a report of the results `measured` of the cases `subjects`, in the same order.
    pub(crate) fn new(machine: Machine, subjects: &[Subject], measured: Vec<Measured>) -> Self {
        let mut rows: Vec<Row> = Vec::new();
        let (mut failures, mut warnings) = (Vec::new(), Vec::new());
        for (subject, Measured { batches, stamped, failure, .. }) in subjects.iter().zip(measured) {
            let (subject, Subject { system, wait, load }) = (*subject, *subject);
            if let Some(reason) = failure {
                failures.push(Failure { subject, reason: reason.to_string() });
                continue;
            }
            let (Some(per_call_ns), Some(per_call_p10_p90_ns)) = (median(&batches), spread(&batches)) else { continue };
            // The time of calls without arguments between sides that poll varies only with the
            // machine.
            if (system, wait, load) == (OBVIA, Wait::Poll, ALONE) {
                warnings.extend(instability_warning(&column(system, wait), &batches));
            }
            let [latency_p50_ns, latency_p99_ns] = [0.5, 0.99].map(|quantile| stamped.quantile(quantile));
            rows.push(Row {
                subject,
                per_call_ns,
                per_call_p10_p90_ns,
                latency_p50_ns,
                latency_p99_ns,
                baseline: None,
                ratio: None,
                is_baseline_unsteady: false,
            });
        }
        let (baselines, others): (Vec<&mut Row>, Vec<_>) = rows.iter_mut().partition(|row| row.subject.system == OBVIA);
        for row in others {
            let subject = Subject { system: OBVIA, ..row.subject };
            if let Some(baseline) = baselines.iter().find(|other| other.subject == subject) {
                row.ratio = Some(row.per_call_ns / baseline.per_call_ns);
                row.baseline = Some(column(OBVIA, subject.wait));
                row.is_baseline_unsteady = is_unsteady(baseline.per_call_p10_p90_ns);
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
        let measured = self.rows.iter().map(|row| (row.subject, row.cell()));
        let failed = self.failures.iter().map(|failure| (failure.subject, "failed".to_owned()));
        let cells: Vec<(Subject, String)> = measured.chain(failed).collect();
        let mut loads: Vec<Load> = cells.iter().map(|(subject, _)| subject.load).collect();
        loads.sort_by_key(|load| (load.callers, load.clients, load.bytes));
        loads.dedup();
        let columns = ENTRIES.iter().flat_map(|entry| entry.waits.iter().map(|wait| (entry.name, *wait)));
        let is_used = |column: &_| cells.iter().any(|(subject, _)| (subject.system, subject.wait) == *column);
        let columns: Vec<(&str, Wait)> = columns.filter(is_used).collect();
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
            for (system, wait) in columns.iter().copied() {
                let cell = cells.iter().find(|(subject, _)| *subject == Subject { system, wait, load });
                let _ = write!(text, " {} |", cell.map_or("-", |(_, cell)| cell));
            }
            text.push('\n');
        }
        text.push_str(
            "\nEach cell is a median over the batches: the time of a batch divided by its number of calls. In parentheses \
             stands the ratio to the obvia that waits in the same way, with `?` if that time varied by more than half.\n",
        );
        for warning in &self.warnings {
            let _ = writeln!(text, "\nWARNING: {warning}");
        }
        for Failure { subject: Subject { system, wait, load }, reason } in &self.failures {
            let _ = writeln!(text, "\nFAILED: {}, {}: {reason}", column(system, *wait), case(*load));
        }
        text
    }

    /// Returns a chart of the calls with arrays by the only client, as SVG.
    pub(crate) fn plot(&self) -> Result<String, Error> {
        let is_drawn = |row: &&Row| row.subject.load.bytes > 0 && row.subject.load.clients == 1;
        let line = |row: &Row| {
            let Subject { system, wait, load } = row.subject;
            format!("{},{},{}\n", column(system, wait), load.bytes, row.per_call_ns)
        };
        let lines: String = self.rows.iter().filter(is_drawn).map(line).collect();
        drawn("An array there and back: time of a call against size", &self.machine, &lines)
    }
}

impl Row {
    fn cell(&self) -> String {
        let (mark, wait) = (if self.is_baseline_unsteady { "?" } else { "" }, self.subject.wait.name());
        let ratio = self.ratio.map(|ratio| format!(" ({ratio:.2}{mark} x {wait})")).unwrap_or_default();
        time(self.per_call_ns) + &ratio
    }
}

/// Returns the heading of a column. The policy is left out for a system with a single policy.
fn column(system: &str, wait: Wait) -> String {
    let has_several = Entry::named(system).is_ok_and(|entry| entry.waits.len() > 1);
    if has_several { format!("{system}, {}", wait.name()) } else { system.to_owned() }
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
            "| call | obvia, adaptive | obvia, poll | obvia, block | grpc | zbus | iceoryx2, poll |",
            "| null | 300 ns | 200 ns | 10.0 us | 50.0 us (5.00 x block) | - | 500 ns (2.50? x poll) |",
            "| 8 KiB | - | - | 12.0 us | 60.0 us (5.00 x block) | - | - |",
            "| null, 1 of 100 clients | - | - | - | 70.0 us | - | - |",
            "| 8 KiB, 4 callers | - | - | - | 55.0 us | - | - |",
            "| null, 4 callers | - | - | - | - | failed | - |",
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
        let spread = |row: usize| &document["rows"][row]["per_call_p10_p90_ns"];
        assert_eq!(
            (spread(1), spread(5)),
            (&serde_json::json!([50.0, 800.0]), &serde_json::json!([60_000.0, 60_000.0]))
        );
        assert_eq!([5, 8].map(|row| document["rows"][row]["is_baseline_unsteady"] == true), [false, true]);
        let row = &document["rows"][4];
        assert_eq!((row["per_call_ns"].as_f64(), row["latency_p99_ns"].as_f64()), (Some(50_000.0), Some(700.0)));
        let failure = serde_json::json!({
            "system": "zbus", "wait": "block", "bytes": 0, "callers": 4, "clients": 4, "reason": "as asked"
        });
        assert_eq!(document["failures"][0], failure);
    }
}
