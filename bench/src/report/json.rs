//! The report as JSON, for programs.

use super::{Measurement, Report, Row};
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
    p99_ns: Option<f64>,
    raw_p50_ns: Option<f64>,
    ratio_p50: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_per_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calls_per_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    threads: Option<u32>,
}

/// Returns the report as JSON: `{"machine": {...}, "rows": [{"case", "bytes", "path", "wait",
/// "p50_ns", "p99_ns", "raw_p50_ns", "ratio_p50"}]}`. `raw_p50_ns` and `ratio_p50` are null if the
/// baseline was not measured, and `p99_ns` is null if calls could not be stamped.
///
/// Rows of a bandwidth also have `bytes_per_s` and, except for baselines, `depth`; rows of a call
/// rate also have `calls_per_s` and `threads`.
pub fn json(report: &Report) -> String {
    let document = Document {
        machine: &report.machine,
        rows: report.rows.iter().map(|row| line(report.measurement, row)).collect(),
    };
    let mut text = serde_json::to_string_pretty(&document).expect("names and finite numbers only");
    text.push('\n');
    text
}

fn line(measurement: Measurement, row: &Row) -> Line {
    let rate = |wanted| row.rate(measurement).filter(|_| measurement == wanted).map(|rate| rounded(rate, 1.0));
    let at_once = |wanted| row.at_once().filter(|_| measurement == wanted);
    Line {
        case: row.label.case,
        bytes: row.label.bytes,
        path: row.label.path,
        wait: row.label.wait,
        p50_ns: rounded(row.p50_ns, 10.0),
        p99_ns: row.stamped_ns.map(|[_, _, p99, _]| rounded(p99, 10.0)),
        raw_p50_ns: row.raw_p50_ns.map(|raw| rounded(raw, 10.0)),
        ratio_p50: row.ratio_p50.map(|ratio| rounded(ratio, 1e4)),
        bytes_per_s: rate(Measurement::Bandwidth),
        depth: at_once(Measurement::Bandwidth),
        calls_per_s: rate(Measurement::CallRate),
        threads: at_once(Measurement::CallRate),
    }
}

fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}
