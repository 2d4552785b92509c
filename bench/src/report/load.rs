//! The report about load: a table, JSON, percentiles for HdrHistogram's plotters, and a plot.

use super::chart::{Chart, Line, Mark, draw};
use super::plot::decade_name;
use super::table::{aligned, time};
use crate::load::{Ending, Failure, Load};
use crate::{Histogram, Machine};
use serde::Serialize;
use std::fmt::Write;

/// The percentiles of the report: their names in the table, and their values from 0 to 1.
const PERCENTILES: [(&str, f64); 5] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999)];
/// The greatest number of powers of ten in the plot. Each further 9 of the percentile, such as the
/// step from 99 % to 99.9 %, takes one power.
const DECADES_MAX: i32 = 7;

/// Returns the results as a table, with notes about the calls that the percentiles leave out.
pub fn load_table(load: &Load, method: &str) -> String {
    let plan = &load.plan;
    let mut columns = vec![
        ("method", method.to_owned()),
        ("loop", kind(load).to_owned()),
        ("connections", plan.connections.to_string()),
        ("calls", load.latency.total().to_string()),
        ("failed", load.failed().to_string()),
        ("calls/s", format!("{:.0}", load.rate())),
        ("min", load.latency.min().map_or_else(none, time)),
    ];
    columns.extend(PERCENTILES.map(|(name, share)| (name, load.latency.quantile(share).map_or_else(none, time))));
    columns.push(("max", load.latency.quantile(1.0).map_or_else(none, time)));
    let (headings, cells) = columns.into_iter().map(|(heading, cell)| (heading.to_owned(), cell)).unzip();
    // The first two columns are words, and the others numbers.
    let table = aligned(&[headings, cells], |column| column < 2);
    let mut text = format!("{}\n\n{table}\n", load.machine);
    text.push_str(match plan.rate {
        Some(_) => "Latencies count from the time when a call was due, also if it had to wait for a connection.\n",
        None => "Each connection made its next call when the last was answered, so a slow server got fewer calls.\n",
    });
    for note in notes(load) {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text, "NOTE: {note}");
    }
    let all = ended(load);
    for Failure { code, message, count } in &load.failures {
        let code = hresult(*code);
        let code = if message.contains(&code) { String::new() } else { format!(" [{code}]") };
        let message = message.replace('\n', " ");
        let _ = writeln!(text, "FAILED: {count} of {all} calls: {message}{code}");
    }
    text
}

/// Returns the number of calls that succeeded or failed.
fn ended(load: &Load) -> u64 {
    load.latency.total() + load.failed()
}

fn kind(load: &Load) -> &'static str {
    if load.plan.rate.is_some() { "open" } else { "closed" }
}

fn none() -> String {
    "-".to_owned()
}

/// Returns the facts that readers need to judge the percentiles.
fn notes(load: &Load) -> Vec<String> {
    let Load { plan, ended_by, late, still_due, unanswered, .. } = load;
    let missing = "which are not in the percentiles";
    let mut notes = Vec::new();
    if let Some(rate) = plan.rate {
        let done = ended(load);
        notes.push(format!("{late} of {done} calls were due while all connections were busy (rate: {rate} a second)"));
    }
    if *still_due > 0 {
        // A run that ended early leaves calls undone with every rate, so the rate is not the cause.
        let cause = match ended_by {
            Ending::Duration => "; the server, or the number of connections, does not suffice for this rate",
            _ => "",
        };
        notes.push(format!("calls still due at the end, {missing}: {still_due}{cause}"));
    }
    if *unanswered > 0 {
        notes.push(format!("calls without an answer when the run ended, {missing}: {unanswered}"));
    }
    if load.failed() > 0 {
        notes.push(format!("calls that failed, {missing}: {}", load.failed()));
    }
    if ended(load) + unanswered == 0 {
        notes.push("no call was measured; let the run last longer than its warm-up".to_owned());
    }
    if *ended_by == Ending::Interrupt {
        notes.push(format!("the run was interrupted after {:.1} s", load.measured.as_secs_f64()));
    }
    notes
}

#[derive(Serialize)]
struct Document<'a> {
    machine: &'a Machine,
    name: &'a str,
    method: &'a str,
    r#loop: &'static str,
    connections: u32,
    rate: Option<f64>,
    warmup_s: f64,
    duration_s: Option<f64>,
    calls_max: Option<u64>,
    timeout_s: f64,
    ended_by: &'static str,
    error: Option<ErrorLine>,
    measured_s: f64,
    calls: u64,
    failed: u64,
    unanswered: u64,
    late: Option<u64>,
    still_due: Option<u64>,
    calls_per_s: f64,
    failures: Vec<FailureLine<'a>>,
    latency_ns: Option<Latency>,
}

#[derive(Serialize)]
struct ErrorLine {
    hresult: String,
    message: String,
}

#[derive(Serialize)]
struct FailureLine<'a> {
    hresult: String,
    message: &'a str,
    count: u64,
}

impl<'a> FailureLine<'a> {
    fn of(Failure { code, message, count }: &'a Failure) -> Self {
        Self { hresult: hresult(*code), message, count: *count }
    }
}

fn hresult(code: i32) -> String {
    format!("{code:#010x}")
}

#[derive(Serialize)]
struct Latency {
    min: f64,
    mean: f64,
    p50: f64,
    p90: f64,
    p99: f64,
    p99_9: f64,
    p99_99: f64,
    max: f64,
}

impl Latency {
    fn of(histogram: &Histogram) -> Option<Self> {
        let [p50, p90, p99, p99_9, p99_99] = PERCENTILES.map(|(_, share)| histogram.quantile(share).unwrap_or(0.0));
        let (min, mean) = (histogram.min()?, histogram.mean()?.round());
        Some(Self { min, mean, p50, p90, p99, p99_9, p99_99, max: histogram.quantile(1.0)? })
    }
}

/// Returns the results as JSON. docs/load.md lists the keys. `name` is the server's name.
pub fn load_json(load: &Load, name: &str, method: &str) -> String {
    let plan = &load.plan;
    let document = Document {
        machine: &load.machine,
        name,
        method,
        r#loop: kind(load),
        connections: plan.connections,
        rate: plan.rate,
        warmup_s: plan.warmup.as_secs_f64(),
        duration_s: plan.duration.map(|duration| duration.as_secs_f64()),
        calls_max: plan.calls,
        timeout_s: plan.timeout.as_secs_f64(),
        ended_by: match load.ended_by {
            Ending::Duration => "duration",
            Ending::Calls => "calls",
            Ending::Interrupt => "interrupt",
            Ending::Server => "server",
        },
        error: load
            .lost
            .as_ref()
            .map(|error| ErrorLine { hresult: hresult(error.code().0), message: error.to_string() }),
        measured_s: load.measured.as_secs_f64(),
        calls: load.latency.total(),
        failed: load.failed(),
        unanswered: load.unanswered,
        late: plan.rate.map(|_| load.late),
        still_due: plan.rate.map(|_| load.still_due),
        calls_per_s: (load.rate() * 10.0).round() / 10.0,
        failures: load.failures.iter().map(FailureLine::of).collect(),
        latency_ns: Latency::of(&load.latency),
    };
    let mut text = serde_json::to_string_pretty(&document).expect("texts and finite numbers only");
    text.push('\n');
    text
}

/// Returns the percentiles in milliseconds as lines, in the form (`.hgrm`) that HdrHistogram writes
/// and its plotters read.
pub fn load_percentiles(load: &Load) -> String {
    let milliseconds = |nanoseconds: f64| nanoseconds / 1e6;
    let mut text = format!("{:>12} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    for point in load.latency.distribution() {
        let value = milliseconds(point.value_ns as f64);
        let _ = write!(text, "{value:12.6} {:2.12} {:10}", point.quantile, point.count);
        let _ = match point.quantile < 1.0 {
            true => writeln!(text, " {:14.2}", 1.0 / (1.0 - point.quantile)),
            false => writeln!(text, " {:>14}", "inf"),
        };
    }
    let (mean, deviation) = (milliseconds(load.latency.mean().unwrap_or(0.0)), milliseconds(load.latency.deviation()));
    let max = milliseconds(load.latency.quantile(1.0).unwrap_or(0.0));
    let _ = writeln!(text, "#[Mean    = {mean:12.6}, StdDeviation   = {deviation:12.6}]");
    let _ = writeln!(text, "#[Max     = {max:12.6}, Total count    = {:12}]", load.latency.total());
    text
}

/// Returns a plot of the latency against the percentile as SVG, or `None` if no call succeeded. The
/// horizontal axis has the same length for each further 9 of the percentile.
pub fn load_plot(load: &Load, name: &str, method: &str) -> Option<String> {
    let total = load.latency.total() as f64;
    let scale = (0..DECADES_MAX).flat_map(|power| [1.0, 2.0, 5.0].map(|step| step * 10_f64.powi(power)));
    // A percentile is meaningful only if at least one call is beyond it.
    let shown = scale.filter(|parts| *parts <= total.max(1.0));
    let points = shown.filter_map(|parts| Some((parts, load.latency.quantile(1.0 - 1.0 / parts)?.max(1.0))));
    let line = Line {
        name: format!("{} loop", kind(load)),
        color: "#d55e00",
        dashes: "none",
        mark: Mark { thickness: 2.0, radius: 3.0, is_hollow: false },
        points: points.collect(),
    };
    draw(Chart {
        title: &format!("{method} of {name}: latency by percentile, {:.0} calls a second", load.rate()),
        origin: &load.machine.to_string(),
        across: "percentile of the calls",
        place: &percentile,
        mark: &|parts| (is_power_of_ten(parts) || parts == 2.0).then(|| percentile(parts)),
        value: &time,
        decade: &decade_name,
        lines: vec![line],
    })
}

fn is_power_of_ten(parts: f64) -> bool {
    parts.log10().fract().abs() < 1e-9
}

/// Formats the percentile that one in `parts` calls exceeds: 99 % for 100.
fn percentile(parts: f64) -> String {
    // The number is rounded, because the difference is not exact.
    format!("{} %", ((1.0 - 1.0 / parts) * 1e10).round() / 1e8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Plan;
    use serde_json::Value;
    use std::time::Duration;

    /// Returns the results of a thousand calls of 1 to 1000 microseconds.
    fn load(rate: Option<f64>) -> Load {
        let mut latency = Histogram::new();
        (1..=1000).for_each(|microseconds| latency.record(Duration::from_micros(microseconds)));
        let second = Duration::from_secs(1);
        Load {
            machine: Machine {
                cpu: "A & B".to_owned(),
                kernel: "Linux 6".to_owned(),
                cores: 2,
                placement: "any".to_owned(),
            },
            plan: Plan {
                connections: 3,
                rate,
                warmup: second,
                duration: Some(10 * second),
                calls: None,
                timeout: 5 * second,
            },
            ended_by: Ending::Interrupt,
            lost: None,
            measured: 2 * second,
            latency,
            failures: vec![Failure { code: obvia::code::E_INVALIDARG.0, message: "E_INVALIDARG".to_owned(), count: 4 }],
            unanswered: 1,
            late: 7,
            still_due: 40,
        }
    }

    #[test]
    fn the_table_has_the_percentiles_and_says_what_is_not_in_them() {
        let table = load_table(&load(Some(900.0)), "ICalc.Add");
        let lines: Vec<&str> = table.lines().collect();
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
        assert_eq!(words(lines[2]), "method loop connections calls failed calls/s min p50 p90 p99 p99.9 p99.99 max");
        assert_eq!(words(lines[3]), "ICalc.Add open 3 1000 4 500 1.00 us 500 us 900 us 990 us 999 us 1.00 ms 1.00 ms");
        let notes = [
            "NOTE: 7 of 1004 calls were due while all connections were busy (rate: 900 a second)\n",
            "NOTE: calls still due at the end, which are not in the percentiles: 40\n",
            "NOTE: calls without an answer when the run ended, which are not in the percentiles: 1\n",
            "NOTE: the run was interrupted after 2.0 s\n",
        ];
        assert!(notes.iter().all(|note| table.contains(note)), "{table}");
        assert!(table.ends_with("FAILED: 4 of 1004 calls: E_INVALIDARG [0x80070057]\n"), "{table}");
        let whole = load_table(&Load { ended_by: Ending::Duration, ..load(Some(900.0)) }, "ICalc.Add");
        assert!(whole.contains(": 40; the server, or the number of connections, does not suffice"), "{whole}");
        assert!(!load_table(&load(None), "ICalc.Add").contains("a second"));
        assert!(!whole.contains("no call was measured"), "{whole}");
        let short = Load { latency: Histogram::new(), failures: Vec::new(), unanswered: 0, ..load(None) };
        assert!(load_table(&short, "ICalc.Add").contains("NOTE: no call was measured; "));
    }

    #[test]
    fn json_has_exactly_the_documented_keys() {
        let document: Value = serde_json::from_str(&load_json(&load(Some(900.0)), "calc", "ICalc.Add")).unwrap();
        let keys: Vec<&str> = document.as_object().unwrap().keys().map(String::as_str).collect();
        let mut expected = vec![
            "machine",
            "name",
            "method",
            "loop",
            "connections",
            "rate",
            "warmup_s",
            "duration_s",
            "calls_max",
            "timeout_s",
            "ended_by",
            "error",
            "measured_s",
            "calls",
            "failed",
            "unanswered",
            "late",
            "still_due",
            "calls_per_s",
            "failures",
            "latency_ns",
        ];
        let mut keys = keys;
        keys.sort_unstable();
        expected.sort_unstable();
        assert_eq!(keys, expected);
        assert_eq!(document["failures"][0]["hresult"], "0x80070057");
        assert_eq!((&document["calls"], &document["calls_per_s"]), (&Value::from(1000), &Value::from(500.0)));
        let latency = document["latency_ns"].as_object().unwrap();
        for (key, expected) in [("min", 1e3), ("mean", 500_500.0), ("p50", 500e3), ("p99_9", 999e3), ("max", 1e6)] {
            let found = latency[key].as_f64().unwrap();
            assert!((found / expected - 1.0).abs() <= 0.001, "{key}: {found}");
        }
        let closed: Value = serde_json::from_str(&load_json(&load(None), "calc", "ICalc.Add")).unwrap();
        assert!(["rate", "late", "still_due"].iter().all(|key| closed[key].is_null()), "{closed}");
    }

    #[test]
    fn percentile_lines_have_the_form_of_hdrhistogram() {
        let text = load_percentiles(&load(None));
        let mut lines = text.lines();
        let heading: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
        assert_eq!(heading, ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"]);
        assert_eq!(lines.next(), Some(""));
        let rows: Vec<Vec<&str>> = lines
            .clone()
            .take_while(|line| !line.starts_with('#'))
            .map(|line| line.split_whitespace().collect())
            .collect();
        assert!(rows.iter().all(|row| row.len() == 4) && rows.len() > 20, "{text}");
        let half = rows.iter().find(|row| row[1] == "0.500000000000").unwrap();
        assert_eq!((half[2], half[3]), ("500", "2.00"));
        assert!((half[0].parse::<f64>().unwrap() - 0.5).abs() < 0.001, "milliseconds: {half:?}");
        assert_eq!(rows.last().unwrap()[1..], ["1.000000000000", "1000", "inf"]);
        assert!(text.contains("#[Max     =") && text.contains("Total count    =         1000]"), "{text}");
    }

    #[test]
    fn the_plot_has_a_point_for_each_percentile_that_the_calls_suffice_for() {
        let svg = load_plot(&load(Some(900.0)), "calc", "ICalc.Add").unwrap();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let texts: Vec<&str> = document.descendants().filter_map(|node| node.text()).map(str::trim).collect();
        for text in ["ICalc.Add of calc: latency by percentile, 500 calls a second", "50 %", "99.9 %", "open loop"] {
            assert!(texts.contains(&text), "{text}: {texts:?}");
        }
        assert!(!texts.contains(&"99.99 %"), "a thousand calls do not suffice for it: {texts:?}");
        assert!(svg.contains("open loop, 90 %: 900 us"), "{svg}");
        let empty = Load { latency: Histogram::new(), ..load(None) };
        assert_eq!(load_plot(&empty, "calc", "ICalc.Add"), None);
    }
}
