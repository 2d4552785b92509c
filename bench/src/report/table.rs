//! The report for people: a table of aligned columns.

use super::{Report, Row};
use std::fmt::Write;

const HEADINGS: [&str; 11] =
    ["case", "bytes", "path", "wait", "per call", "p50", "p90", "p99", "p99.9", "baseline", "ratio"];
/// Columns of words stand left, those of numbers right.
const WORDS: [bool; 11] = [true, false, true, true, false, false, false, false, false, false, false];

/// The report as lines of text, the machine first.
pub fn table(report: &Report) -> String {
    let mut lines = vec![HEADINGS.map(str::to_owned)];
    lines.extend(report.rows.iter().map(cells));
    let widths: [usize; 11] =
        std::array::from_fn(|column| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0));
    let mut text = format!("{}\n\n", report.machine);
    for line in &lines {
        let mut row = String::new();
        for (column, cell) in line.iter().enumerate() {
            let width = widths[column];
            // Writing to a string cannot fail, here and below.
            let _ = if WORDS[column] { write!(row, "{cell:<width$}  ") } else { write!(row, "{cell:>width$}  ") };
        }
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text.push_str(
        "\nRound trips. per call: median of batches without a clock inside, and what ratios are made of; \
         p50 to p99.9: calls stamped one by one.\n",
    );
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

fn cells(row: &Row) -> [String; 11] {
    let [p50, p90, p99, p999] = row.stamped_ns.map(time);
    [
        row.label.case.to_owned(),
        row.label.bytes.to_string(),
        row.label.path.name().to_owned(),
        row.label.wait.name().to_owned(),
        time(row.p50_ns),
        p50,
        p90,
        p99,
        p999,
        row.raw_p50_ns.map_or_else(|| "-".to_owned(), time),
        row.ratio_p50.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}")),
    ]
}

/// Three or four digits and a unit.
pub(super) fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        ns if ns < 999.5 => format!("{ns:.0} ns"),
        ns if ns < 9_995.0 => format!("{:.2} us", ns / 1e3),
        ns if ns < 99_950.0 => format!("{:.1} us", ns / 1e3),
        ns if ns < 999_500.0 => format!("{:.0} us", ns / 1e3),
        ns => format!("{:.2} ms", ns / 1e6),
    }
}
