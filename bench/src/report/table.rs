//! The report as a text table with aligned columns.

use super::{Measurement, Report, Row};
use std::fmt::Write;

/// A column: its heading, whether its cells are words, and its contents. Words are aligned left,
/// and numbers right.
type Column = (&'static str, bool, fn(Measurement, &Row) -> String);

/// The columns before and after the columns that are specific to a measurement.
const FIRST: [Column; 4] = [
    ("case", true, |_, row| row.label.case.to_owned()),
    ("bytes", false, |_, row| row.label.bytes.to_string()),
    ("path", true, |_, row| row.label.path.name().to_owned()),
    ("wait", true, |_, row| row.label.wait.name().to_owned()),
];
const LAST: [Column; 6] = [
    ("p50", false, |_, row| stamped(row, 0)),
    ("p90", false, |_, row| stamped(row, 1)),
    ("p99", false, |_, row| stamped(row, 2)),
    ("p99.9", false, |_, row| stamped(row, 3)),
    ("baseline", false, |_, row| row.raw_p50_ns.map_or_else(|| "-".to_owned(), time)),
    ("ratio", false, |_, row| row.ratio_p50.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"))),
];

fn columns(measurement: Measurement) -> Vec<Column> {
    let per_operation: fn(Measurement, &Row) -> String = |_, row| time(row.p50_ns);
    let at_once: fn(Measurement, &Row) -> String =
        |_, row| row.at_once().map_or_else(|| "-".to_owned(), |number| number.to_string());
    let of_its_own: &[Column] = match measurement {
        Measurement::CallLatency | Measurement::DcomOverVi => &[("per call", false, per_operation)],
        Measurement::Reread => &[("per read", false, per_operation)],
        Measurement::SendLatency => &[("round trip", false, per_operation)],
        Measurement::Bandwidth => &[
            ("depth", false, at_once),
            ("each", false, per_operation),
            ("MB/s", false, |measurement, row| rate(row.rate(measurement), 1e6)),
        ],
        Measurement::CallRate => &[
            ("threads", false, at_once),
            ("per call", false, per_operation),
            ("calls/s", false, |measurement, row| rate(row.rate(measurement), 1.0)),
        ],
    };
    [&FIRST, of_its_own, &LAST].concat()
}

fn stamped(row: &Row, which: usize) -> String {
    row.stamped_ns.map_or_else(|| "-".to_owned(), |stamped| time(stamped[which]))
}

fn rate(rate: Option<f64>, unit: f64) -> String {
    rate.map_or_else(|| "-".to_owned(), |rate| format!("{:.0}", rate / unit))
}

/// Returns the explanation of the columns.
fn legend(measurement: Measurement) -> &'static str {
    match measurement {
        Measurement::CallLatency => {
            "Round trips. per call: median of batches without a clock inside, and what ratios are made of; \
             p50 to p99.9: calls stamped one by one."
        }
        Measurement::DcomOverVi => {
            "Round trips. per call: median of batches without a clock inside, and what ratios are made of: to dcom_lrpc, DCOM's way \
             to a local server; p50 to p99.9: calls stamped one by one."
        }
        Measurement::SendLatency => {
            "round trip: median of batches without a clock inside, and what ratios are made of; \
             p50 to p99.9: round trips stamped one by one."
        }
        Measurement::Reread => {
            "per read: median of batches without a clock inside, and what ratios are made of; p50 to p99.9: reads stamped one by \
             one. Ratios are to the process's own pread(2)."
        }
        Measurement::Bandwidth => {
            "each: median over batches of their time, to the end of the last operation, by the number of operations, and what \
             ratios are made of; p50 to p99.9: how long each operation held up the next, stamped one by one."
        }
        Measurement::CallRate => {
            "per call: median over batches of their time by the calls of all threads together. Ratios are to one thread: 0.50 \
             says twice as many calls. p50 to p99.9: how long each call took its thread, stamped one by one."
        }
    }
}

/// Returns the report as lines of text, the machine first.
pub fn table(report: &Report) -> String {
    let columns = columns(report.measurement);
    let mut lines = vec![columns.iter().map(|(heading, ..)| (*heading).to_owned()).collect::<Vec<_>>()];
    lines
        .extend(report.rows.iter().map(|row| columns.iter().map(|(.., cell)| cell(report.measurement, row)).collect()));
    let mut text = format!("{}\n\n{}", report.machine, aligned(&lines, |column| columns[column].1));
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(text, "\n{}", legend(report.measurement));
    for warning in &report.warnings {
        let _ = writeln!(text, "NOTE: {warning}");
    }
    for (label, failure) in &report.failures {
        let _ = writeln!(
            text,
            "FAILED: {} of {} bytes over {} ({}): {failure}",
            label.case,
            label.bytes,
            label.path.name(),
            label.wait.name()
        );
    }
    text
}

/// Returns lines, which all have the same number of cells, as text with aligned columns. `is_words`
/// returns whether a column's cells are words. Words are aligned left, and numbers right.
pub(super) fn aligned(lines: &[Vec<String>], is_words: impl Fn(usize) -> bool) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for line in lines {
        let cells = line.iter().zip(&widths).enumerate();
        let padded = cells.map(
            |(column, (cell, &width))| {
                if is_words(column) { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            },
        );
        text.push_str(padded.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// Formats a time with three or four digits and a unit.
pub fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        ns if ns < 999.5 => format!("{ns:.0} ns"),
        ns if ns < 9_995.0 => format!("{:.2} us", ns / 1e3),
        ns if ns < 99_950.0 => format!("{:.1} us", ns / 1e3),
        ns if ns < 999_500.0 => format!("{:.0} us", ns / 1e3),
        ns if ns < 9_995e3 => format!("{:.2} ms", ns / 1e6),
        ns if ns < 99_950e3 => format!("{:.1} ms", ns / 1e6),
        ns if ns < 999_500e3 => format!("{:.0} ms", ns / 1e6),
        ns => format!("{:.2} s", ns / 1e9),
    }
}
