//! The report for programs.

use super::{Report, Row};
use crate::{Machine, Path, Wait};
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    machine: &'a Machine,
    rows: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    case: &'static str,
    bytes: usize,
    path: Path,
    wait: Wait,
    p50_ns: f64,
    p99_ns: f64,
    raw_p50_ns: Option<f64>,
    ratio_p50: Option<f64>,
}

/// The report as JSON: `{"machine": {...}, "rows": [{"case", "bytes", "path", "wait", "p50_ns", "p99_ns", "raw_p50_ns",
/// "ratio_p50"}]}`. A row whose baseline was not measured has null for the last two.
pub fn json(report: &Report) -> String {
    let document = Document { machine: &report.machine, rows: report.rows.iter().map(line).collect() };
    let mut text = serde_json::to_string_pretty(&document).expect("names and finite numbers only");
    text.push('\n');
    text
}

fn line(row: &Row) -> Line {
    Line {
        case: row.label.case,
        bytes: row.label.bytes,
        path: row.label.path,
        wait: row.label.wait,
        p50_ns: rounded(row.p50_ns, 10.0),
        p99_ns: rounded(row.stamped_ns[2], 10.0),
        raw_p50_ns: row.raw_p50_ns.map(|raw| rounded(raw, 10.0)),
        ratio_p50: row.ratio_p50.map(|ratio| rounded(ratio, 1e4)),
    }
}

fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}
