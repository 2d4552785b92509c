//! Rows with ratios to the proper baseline, as a table, as JSON and as a plot.

mod json;
mod plot;
mod table;

pub use json::json;
pub use plot::plot;
pub use table::table;

use crate::{Label, Machine, Measured, Path, Placement, Wait, median};

/// Arguments of up to this many bytes travel in the line of the message itself.
const IN_LINE_BYTES: usize = 48;

/// All that is reported.
#[derive(Debug)]
pub struct Report {
    /// What it was measured on.
    pub machine: Machine,
    /// Where both sides ran.
    pub placement: Placement,
    /// One row a case, in the order measured.
    pub rows: Vec<Row>,
    /// Cases that failed, with the reason.
    pub failures: Vec<(Label, String)>,
    /// What the reader should know before trusting the ratios.
    pub warnings: Vec<String>,
}

/// One case.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its name.
    pub label: Label,
    /// Nanoseconds per call: the median over the batches.
    pub p50_ns: f64,
    /// Percentiles of the stamped calls, each with the clock read around it: 50, 90, 99, 99.9.
    pub stamped_ns: [f64; 4],
    /// `p50_ns` of the baseline, if that was measured.
    pub raw_p50_ns: Option<f64>,
    /// `p50_ns / raw_p50_ns`.
    pub ratio_p50: Option<f64>,
}

impl Report {
    /// Draws the results together.
    pub fn new(machine: Machine, placement: Placement, measured: Vec<Measured>) -> Self {
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
            warnings.extend(unsteady(&label, &batches));
            rows.push(Row {
                label,
                p50_ns,
                stamped_ns: [500, 900, 990, 999].map(|quantile| stamped.quantile(quantile).unwrap_or(0.0)),
                raw_p50_ns: None,
                ratio_p50: None,
            });
        }
        for index in 0..rows.len() {
            let raw = baseline(&rows[index].label, &rows, placement);
            let row = &mut rows[index];
            row.raw_p50_ns = raw;
            row.ratio_p50 = raw.map(|raw| row.p50_ns / raw);
        }
        Self { machine, placement, rows, failures, warnings }
    }
}

/// A warning when the line itself took very different times in different rounds: a virtual machine's processors move, and
/// with them the caches that they share. All cases change together then, but not at the same batch.
fn unsteady(label: &Label, batches: &[f64]) -> Option<String> {
    if label.path != Path::RawLine {
        return None;
    }
    let mut sorted = batches.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (sorted[sorted.len() / 10], sorted[sorted.len() - 1 - sorted.len() / 10]);
    (high > 1.5 * low).then(|| {
        format!(
            "the machine changed during the run: {} ({}) took {} to {} per call; ratios are less sure, run it again",
            label.path.name(),
            label.wait.name(),
            table::time(low),
            table::time(high)
        )
    })
}

/// The time of what a case is to be compared with: the best that any program could do that waits the same way.
fn baseline(label: &Label, rows: &[Row], placement: Placement) -> Option<f64> {
    let in_line = label.bytes <= IN_LINE_BYTES;
    let path = if matches!(label.path, Path::NcacnViUdp | Path::Udp) {
        Path::Udp
    } else if placement.is_one_cpu() {
        Path::Unix
    } else if label.wait == Wait::Block {
        Path::RawFutex
    } else if in_line {
        Path::RawLine
    } else {
        Path::RawCopy
    };
    let bytes = if in_line { 0 } else { label.bytes };
    let sleeps = label.wait == Wait::Block || placement.is_one_cpu();
    rows.iter()
        .filter(|row| row.label.path == path && row.label.bytes == bytes)
        // On one processor the spinning variants are others' business; whoever sleeps is compared with who sleeps.
        .filter(|row| path != Path::Unix || row.label.wait == Wait::Block)
        .filter(|row| path != Path::Udp || (row.label.wait == Wait::Block) == sleeps)
        .map(|row| row.p50_ns)
        .min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests;
