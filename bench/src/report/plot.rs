//! The report as a plot: latency or bandwidth against message size, or call rate against threads.

use super::chart::{Chart, Line, Mark, draw, size_name};
use super::table::time;
use super::{Measurement, Report, Row};
use crate::{Path, Wait};

/// The way in which an array is transferred to the other side.
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

    /// Returns the suffix of a line's name in the legend.
    fn words(self) -> &'static str {
        match self {
            Self::Copied => "",
            Self::Shared => ", shared",
            Self::Lent => ", lent",
        }
    }
}

/// The title, the axes and the points of a measurement's plot.
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

    /// Returns a row's point in the plot, if it has one.
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

    /// Formats a value of the vertical axis.
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

/// Returns the report as an SVG document; `None` if no case has a point in the plot.
pub fn plot(report: &Report) -> Option<String> {
    let measurement = report.measurement;
    draw(Chart {
        title: measurement.title(),
        origin: &report.machine.to_string(),
        across: measurement.across(),
        place: &|across| format!("{across} {}", measurement.across().trim_end_matches(", each way")),
        mark: &size_name,
        value: &|value| measurement.value(value),
        decade: &|value| measurement.decade(value),
        lines: lines(report),
    })
}

/// Returns a line for each path, policy and way of passing arrays.
fn lines(report: &Report) -> Vec<Line> {
    let mut all: Vec<Line> = Vec::new();
    for row in &report.rows {
        let Some(point) = report.measurement.point(row) else { continue };
        let (path, wait, by) = (row.label.path, row.label.wait, Passing::of(row.label.case));
        let name = format!("{} {}{}", path.name(), wait.name(), by.words());
        match all.iter_mut().find(|line| line.name == name) {
            Some(line) => line.points.push(point),
            None => all.push(Line {
                name,
                color: color(path),
                dashes: dashes(wait),
                mark: mark(path, by),
                points: vec![point],
            }),
        }
    }
    all
}

fn dashes(wait: Wait) -> &'static str {
    match wait {
        Wait::Poll => "none",
        Wait::PollPause => "1 3",
        Wait::Adaptive => "8 3",
        Wait::Block => "4 4",
    }
}

/// Returns a path's colour. The colour-blind can distinguish the colours. Paths that never share a
/// plot may have the same colour. Calls and messages over the same wire have the same colour, and
/// [`Mark`] distinguishes them.
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
        Path::DcomLrpc | Path::RawCopy | Path::Memcpy | Path::Pread | Path::System(_) => "#000000",
        Path::RawFutex => "#0072b2",
        Path::RawLine | Path::FiPingpong => "#999999",
        Path::NcacnIpTcp | Path::DcomIpTcp | Path::Tcp | Path::TcpStream => "#56b4e9",
        Path::NcadgIpUdp | Path::Udp => "#cc79a7",
        Path::Ncalrpc | Path::Unix => "#009e73",
    }
}

/// Returns a path's mark. obvia's own paths stand out from their baselines.
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

pub(super) fn decade_name(nanoseconds: f64) -> String {
    match nanoseconds {
        ns if ns < 999.0 => format!("{ns:.0} ns"),
        ns if ns < 999_000.0 => format!("{:.0} us", ns / 1e3),
        ns if ns < 999e6 => format!("{:.0} ms", ns / 1e6),
        ns => format!("{:.0} s", ns / 1e9),
    }
}

/// Formats a power of ten with a letter for the thousands.
fn counted(value: f64) -> String {
    match value {
        few if few < 999.0 => format!("{few:.0} "),
        value if value < 999e3 => format!("{:.0} k", value / 1e3),
        value if value < 999e6 => format!("{:.0} M", value / 1e6),
        value => format!("{:.0} G", value / 1e9),
    }
}
