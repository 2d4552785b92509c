//! The report as a picture, both axes logarithmic, as SVG: latency or bandwidth against message size, or calls against threads.

use super::table::time;
use super::{Measurement, Report, Row};
use crate::{Path, Wait};
use std::fmt::Write;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 560.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 190.0;
const TOP: f64 = 70.0;
const BOTTOM: f64 = 60.0;

/// One line of the plot.
struct Series {
    path: Path,
    wait: Wait,
    by: Passing,
    /// What is on the two axes, by the first.
    points: Vec<(f64, f64)>,
}

/// How an array comes to the other side.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passing {
    Copied,
    Shared,
    Lent,
}

impl Passing {
    fn of(case: &str) -> Self {
        match case {
            "MoveShared" | "pfs_read_shared" => Self::Shared,
            "pfs_read_lent" => Self::Lent,
            _ => Self::Copied,
        }
    }

    /// What the legend says of it.
    fn words(self) -> &'static str {
        match self {
            Self::Copied => "",
            Self::Shared => ", shared",
            Self::Lent => ", lent",
        }
    }
}

/// What a plot shows of a measurement.
impl Measurement {
    fn title(self) -> &'static str {
        match self {
            Self::CallLatency => "MoveData, and messages of its size: round trip against size of the array",
            Self::DcomOverVi => "MoveData of an object: one way, half a round trip, against size of the array",
            Self::SendLatency => "Send: round trip against size of the message",
            Self::Bandwidth => "RDMA: bytes per second against size of the operation",
            Self::Reread => "Reading a file in the page cache: time against size of the block",
            Self::CallRate => "Calls per second against threads that call",
        }
    }

    fn across(self) -> &'static str {
        match self {
            Self::CallLatency | Self::DcomOverVi | Self::SendLatency => "bytes, each way",
            Self::Bandwidth | Self::Reread => "bytes",
            Self::CallRate => "threads",
        }
    }

    /// Where a row is on the plot, if it is.
    fn point(self, row: &Row) -> Option<(f64, f64)> {
        let bytes = row.label.bytes as f64;
        match self {
            Self::CallLatency => {
                ["MoveData", "MoveShared", "send"].contains(&row.label.case).then_some((bytes, row.p50_ns))
            }
            Self::DcomOverVi => Some((bytes, row.p50_ns / 2.0)),
            Self::SendLatency | Self::Reread => Some((bytes, row.p50_ns)),
            Self::Bandwidth => Some((bytes, row.rate(self)?)),
            Self::CallRate => Some((f64::from(row.label.at_once), row.rate(self)?)),
        }
        .filter(|(across, _)| *across > 0.0)
        .map(|(across, up)| (across, up.max(1.0)))
    }

    /// A value of the upright axis, in words; powers of ten shorter.
    fn value(self, value: f64) -> String {
        match self {
            Self::CallLatency | Self::DcomOverVi | Self::SendLatency | Self::Reread => time(value),
            Self::Bandwidth => format!("{:.0} MB/s", value / 1e6),
            Self::CallRate => format!("{value:.0} calls/s"),
        }
    }

    fn decade(self, value: f64) -> String {
        match self {
            Self::CallLatency | Self::DcomOverVi | Self::SendLatency | Self::Reread => decade_name(value),
            Self::Bandwidth => counted(value) + "B/s",
            Self::CallRate => counted(value) + "/s",
        }
    }
}

/// The stretch of values that the axes show.
struct Axes {
    across: (f64, f64),
    up: (f64, f64),
}

impl Axes {
    fn x(&self, across: f64) -> f64 {
        LEFT + share(across, self.across) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, up: f64) -> f64 {
        HEIGHT - BOTTOM - share(up, self.up) * (HEIGHT - TOP - BOTTOM)
    }
}

/// How far a value is between two ends, on a logarithmic scale.
fn share(value: f64, (low, high): (f64, f64)) -> f64 {
    (value / low).ln() / (high / low).ln()
}

/// The report as an SVG document; nothing when no case with a payload or several threads was measured.
pub fn plot(report: &Report) -> Option<String> {
    let series = series(report);
    let points = || series.iter().flat_map(|one| one.points.iter());
    points().next()?;
    let span = |pick: fn(&(f64, f64)) -> f64| {
        points().map(pick).fold((f64::MAX, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)))
    };
    let (low, high) = span(|point| point.1);
    let (smallest, largest) = span(|point| point.0);
    let axes = Axes {
        // A single value still needs an axis of some length.
        across: (smallest, largest.max(smallest * 2.0)),
        up: (10_f64.powf(low.log10().floor()), 10_f64.powf((high * 1.01).log10().ceil())),
    };
    let mut svg = String::new();
    head(&mut svg, report);
    grid(&mut svg, &axes, &series, report.measurement);
    for (index, one) in series.iter().enumerate() {
        curve(&mut svg, &axes, one, index, report.measurement);
    }
    svg.push_str("</svg>\n");
    Some(svg)
}

fn series(report: &Report) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for row in &report.rows {
        let Some(point) = report.measurement.point(row) else { continue };
        let (path, wait, by) = (row.label.path, row.label.wait, Passing::of(row.label.case));
        match all.iter_mut().find(|one| (one.path, one.wait, one.by) == (path, wait, by)) {
            Some(one) => one.points.push(point),
            None => all.push(Series { path, wait, by, points: vec![point] }),
        }
    }
    for one in &mut all {
        one.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    // The legend stands in the order of the lines' right ends, topmost first.
    let end = |one: &Series| one.points.last().map_or(0.0, |point| point.1);
    all.sort_by(|a, b| end(b).total_cmp(&end(a)));
    all
}

// Writing to a string cannot fail: the results of `write!` are dropped in the functions below.

fn head(svg: &mut String, report: &Report) {
    let _ = write!(
        svg,
        concat!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" "#,
            r##"font-family="sans-serif" font-size="12" fill="#222">"##,
            "\n",
            r#"<title>{title}</title>"#,
            "\n",
            r##"<rect width="{w}" height="{h}" fill="#fff"/>"##,
            "\n",
            r#"<text x="{left}" y="28" font-size="16">{title}</text>"#,
            "\n",
            r##"<text x="{left}" y="48" fill="#666">{machine}</text>"##,
            "\n",
        ),
        w = WIDTH,
        h = HEIGHT,
        left = LEFT,
        title = report.measurement.title(),
        machine = escaped(&report.machine.to_string()),
    );
}

fn grid(svg: &mut String, axes: &Axes, series: &[Series], measurement: Measurement) {
    let (left, right, top, bottom) = (LEFT, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM);
    let mut decade = axes.up.0;
    while decade <= axes.up.1 * 1.001 {
        let y = axes.y(decade);
        let _ = writeln!(
            svg,
            r##"<line x1="{left}" y1="{y:.1}" x2="{right}" y2="{y:.1}" stroke="#ccc"/><text x="{x}" y="{below:.1}" text-anchor="end">{label}</text>"##,
            x = left - 8.0,
            below = y + 4.0,
            label = measurement.decade(decade),
        );
        decade *= 10.0;
    }
    let mut sizes: Vec<f64> = series.iter().flat_map(|one| one.points.iter().map(|point| point.0)).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    for size in sizes {
        let x = axes.x(size);
        let _ = writeln!(
            svg,
            r##"<line x1="{x:.1}" y1="{top}" x2="{x:.1}" y2="{bottom}" stroke="#eee"/><text x="{x:.1}" y="{below}" text-anchor="middle">{label}</text>"##,
            below = bottom + 18.0,
            label = size_name(size),
        );
    }
    let _ = writeln!(
        svg,
        r##"<path d="M{left} {top}V{bottom}H{right}" fill="none" stroke="#222"/><text x="{middle}" y="{foot}" text-anchor="middle">{across}</text>"##,
        middle = f64::midpoint(left, right),
        foot = bottom + 42.0,
        across = measurement.across(),
    );
}

fn curve(svg: &mut String, axes: &Axes, one: &Series, index: usize, measurement: Measurement) {
    let color = color(one.path);
    let dashes = match one.wait {
        Wait::Poll => "none",
        Wait::PollPause => "1 3",
        Wait::Adaptive => "8 3",
        Wait::Block => "4 4",
    };
    let Mark { thickness, radius, is_hollow } = mark(one.path, one.by);
    let fill = if is_hollow { "#fff" } else { color };
    let dot = format!(r#"r="{radius}" fill="{fill}" stroke="{color}" stroke-width="1.5""#);
    let at = |(across, up): &(f64, f64)| format!("{:.1},{:.1}", axes.x(*across), axes.y(*up));
    let line: Vec<String> = one.points.iter().map(at).collect();
    let name = format!("{} {}{}", one.path.name(), one.wait.name(), one.by.words());
    let style = format!(r#"stroke="{color}" stroke-width="{thickness}" stroke-dasharray="{dashes}""#);
    let _ = writeln!(svg, r#"<g><polyline points="{}" fill="none" {style}/>"#, line.join(" "));
    for (across, up) in &one.points {
        let _ = writeln!(
            svg,
            r#"<circle cx="{:.1}" cy="{:.1}" {dot}><title>{name}, {across} {}: {}</title></circle>"#,
            axes.x(*across),
            axes.y(*up),
            measurement.across().trim_end_matches(", each way"),
            measurement.value(*up),
        );
    }
    let (x, y) = (WIDTH - RIGHT + 16.0, TOP + 10.0 + 20.0 * index as f64);
    let _ = writeln!(
        svg,
        r#"<path d="M{x} {y}h28" {style}/><circle cx="{middle}" cy="{y}" {dot}/><text x="{text}" y="{below}">{name}</text></g>"#,
        middle = x + 14.0,
        text = x + 34.0,
        below = y + 4.0,
    );
}

/// Colours that stay apart for the colour-blind. Those that never are in one plot may share one, and calls and messages over the same wire
/// do, which [`Mark`] tells apart.
fn color(path: Path) -> &'static str {
    match path {
        Path::NcacnViShm | Path::ViShm => "#d55e00",
        Path::CppViShm | Path::CustomViShm => "#882255",
        Path::JavaViShm => "#117733",
        Path::JavaRustViShm => "#44aa99",
        Path::JavaRmi => "#332288",
        Path::NcacnViUdp | Path::ViUdp => "#e69f00",
        Path::NcacnViXdp | Path::ViXdp => "#009e73",
        Path::NcacnViFabric | Path::ViFabric => "#0072b2",
        Path::DcomLrpc | Path::RawCopy | Path::Memcpy | Path::Pread => "#000000",
        Path::RawFutex => "#0072b2",
        Path::RawLine | Path::FiPingpong => "#999999",
        Path::NcacnIpTcp | Path::DcomIpTcp | Path::Tcp | Path::TcpStream => "#56b4e9",
        Path::NcadgIpUdp | Path::Udp => "#cc79a7",
        Path::Ncalrpc | Path::Unix => "#009e73",
    }
}

/// What a line looks like beside its colour: obvia's own stand out from what they are compared with.
struct Mark {
    thickness: f64,
    radius: f64,
    is_hollow: bool,
}

fn mark(path: Path, by: Passing) -> Mark {
    match path {
        Path::ViShm | Path::ViUdp | Path::ViXdp | Path::ViFabric => {
            Mark { thickness: 2.0, radius: 4.0, is_hollow: true }
        }
        _ if by == Passing::Shared => Mark { thickness: 1.5, radius: 6.0, is_hollow: false },
        _ if by == Passing::Lent => Mark { thickness: 1.5, radius: 7.0, is_hollow: true },
        path if path.is_baseline() => Mark { thickness: 1.5, radius: 2.5, is_hollow: false },
        _ => Mark { thickness: 3.0, radius: 4.0, is_hollow: false },
    }
}

fn decade_name(nanoseconds: f64) -> String {
    match nanoseconds {
        ns if ns < 999.0 => format!("{ns:.0} ns"),
        ns if ns < 999_000.0 => format!("{:.0} us", ns / 1e3),
        ns if ns < 999e6 => format!("{:.0} ms", ns / 1e6),
        ns => format!("{:.0} s", ns / 1e9),
    }
}

/// A power of ten as a number with a letter for its thousands.
fn counted(value: f64) -> String {
    match value {
        few if few < 999.0 => format!("{few:.0} "),
        value if value < 999e3 => format!("{:.0} k", value / 1e3),
        value if value < 999e6 => format!("{:.0} M", value / 1e6),
        value => format!("{:.0} G", value / 1e9),
    }
}

fn size_name(bytes: f64) -> String {
    let units = [(1024.0 * 1024.0, "M"), (1024.0, "K")];
    let fitting = units.into_iter().find(|(unit, _)| bytes >= *unit && bytes % unit == 0.0);
    fitting.map_or_else(|| bytes.to_string(), |(unit, letter)| format!("{}{letter}", bytes / unit))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
