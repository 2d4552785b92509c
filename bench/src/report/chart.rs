//! Line charts with two logarithmic axes, as SVG.

use std::fmt::Write;

pub(super) const WIDTH: f64 = 860.0;
pub(super) const HEIGHT: f64 = 560.0;
pub(super) const LEFT: f64 = 80.0;
pub(super) const RIGHT: f64 = 190.0;
pub(super) const TOP: f64 = 70.0;
pub(super) const BOTTOM: f64 = 60.0;

/// The contents of a chart.
pub(super) struct Chart<'a> {
    pub(super) title: &'a str,
    /// The subtitle: the origin of the values.
    pub(super) origin: &'a str,
    /// The label of the horizontal axis.
    pub(super) across: &'a str,
    /// Formats a point's horizontal value, with its unit.
    pub(super) place: &'a dyn Fn(f64) -> String,
    /// Formats a point's horizontal value as a mark of the axis. `None` leaves the mark out.
    pub(super) mark: &'a dyn Fn(f64) -> Option<String>,
    /// Formats a value of the vertical axis.
    pub(super) value: &'a dyn Fn(f64) -> String,
    /// Formats a power of ten of the vertical axis, in a shorter form than `value`.
    pub(super) decade: &'a dyn Fn(f64) -> String,
    pub(super) lines: Vec<Line>,
}

/// A line of a chart.
pub(super) struct Line {
    pub(super) name: String,
    pub(super) color: &'static str,
    /// The lengths of dashes and gaps, or `none`.
    pub(super) dashes: &'static str,
    pub(super) mark: Mark,
    /// The points. `draw` sorts them by the horizontal value.
    pub(super) points: Vec<(f64, f64)>,
}

/// The style of a line besides its colour.
pub(super) struct Mark {
    pub(super) thickness: f64,
    pub(super) radius: f64,
    pub(super) is_hollow: bool,
}

/// The ranges of the axes.
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

/// Returns a value's position between two ends on a logarithmic scale, from 0 to 1.
fn share(value: f64, (low, high): (f64, f64)) -> f64 {
    (value / low).ln() / (high / low).ln()
}

/// Returns the SVG document, or `None` if no line has a point.
pub(super) fn draw(mut chart: Chart<'_>) -> Option<String> {
    for line in &mut chart.lines {
        line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    // The legend lists the lines in the order of their right ends, topmost first.
    let end = |line: &Line| line.points.last().map_or(0.0, |point| point.1);
    chart.lines.sort_by(|a, b| end(b).total_cmp(&end(a)));
    let points = || chart.lines.iter().flat_map(|line| line.points.iter());
    points().next()?;
    let span = |pick: fn(&(f64, f64)) -> f64| {
        points().map(pick).fold((f64::MAX, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)))
    };
    let (low, high) = span(|point| point.1);
    let (smallest, largest) = span(|point| point.0);
    let axes = Axes {
        // The axis needs a length even if there is only one value.
        across: (smallest, largest.max(smallest * 2.0)),
        up: (10_f64.powf(low.log10().floor()), 10_f64.powf((high * 1.01).log10().ceil())),
    };
    let mut svg = String::new();
    head(&mut svg, chart.title, chart.origin);
    grid(&mut svg, &axes, &chart);
    for (index, line) in chart.lines.iter().enumerate() {
        curve(&mut svg, &axes, line, index, &chart);
    }
    svg.push_str("</svg>\n");
    Some(svg)
}

// Writing to a string cannot fail, so the functions below drop the results of `write!`.

/// Writes the beginning of a chart.
pub(super) fn head(svg: &mut String, title: &str, origin: &str) {
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
            r##"<text x="{left}" y="48" fill="#666">{origin}</text>"##,
            "\n",
        ),
        w = WIDTH,
        h = HEIGHT,
        left = LEFT,
        title = escaped(title),
        origin = escaped(origin),
    );
}

fn grid(svg: &mut String, axes: &Axes, chart: &Chart<'_>) {
    let (left, right, top, bottom) = (LEFT, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM);
    let mut decade = axes.up.0;
    while decade <= axes.up.1 * 1.001 {
        let y = axes.y(decade);
        let _ = writeln!(
            svg,
            r##"<line x1="{left}" y1="{y:.1}" x2="{right}" y2="{y:.1}" stroke="#ccc"/><text x="{x}" y="{below:.1}" text-anchor="end">{label}</text>"##,
            x = left - 8.0,
            below = y + 4.0,
            label = (chart.decade)(decade),
        );
        decade *= 10.0;
    }
    let mut sizes: Vec<f64> = chart.lines.iter().flat_map(|line| line.points.iter().map(|point| point.0)).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    for (size, label) in sizes.into_iter().filter_map(|size| Some((size, (chart.mark)(size)?))) {
        let x = axes.x(size);
        let _ = writeln!(
            svg,
            r##"<line x1="{x:.1}" y1="{top}" x2="{x:.1}" y2="{bottom}" stroke="#eee"/><text x="{x:.1}" y="{below}" text-anchor="middle">{label}</text>"##,
            below = bottom + 18.0,
        );
    }
    let _ = writeln!(
        svg,
        r##"<path d="M{left} {top}V{bottom}H{right}" fill="none" stroke="#222"/><text x="{middle}" y="{foot}" text-anchor="middle">{across}</text>"##,
        middle = f64::midpoint(left, right),
        foot = bottom + 42.0,
        across = chart.across,
    );
}

fn curve(svg: &mut String, axes: &Axes, line: &Line, index: usize, chart: &Chart<'_>) {
    let Line { color, dashes, mark: Mark { thickness, radius, is_hollow }, .. } = line;
    let name = escaped(&line.name);
    let fill = if *is_hollow { "#fff" } else { color };
    let dot = format!(r#"r="{radius}" fill="{fill}" stroke="{color}" stroke-width="1.5""#);
    let at = |(across, up): &(f64, f64)| format!("{:.1},{:.1}", axes.x(*across), axes.y(*up));
    let path: Vec<String> = line.points.iter().map(at).collect();
    let style = format!(r#"stroke="{color}" stroke-width="{thickness}" stroke-dasharray="{dashes}""#);
    let _ = writeln!(svg, r#"<g><polyline points="{}" fill="none" {style}/>"#, path.join(" "));
    for (across, up) in &line.points {
        let _ = writeln!(
            svg,
            r#"<circle cx="{:.1}" cy="{:.1}" {dot}><title>{name}, {}: {}</title></circle>"#,
            axes.x(*across),
            axes.y(*up),
            (chart.place)(*across),
            (chart.value)(*up),
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

/// Formats a size as the mark of an axis.
pub(super) fn size_name(bytes: f64) -> Option<String> {
    let units = [(1024.0 * 1024.0, "M"), (1024.0, "K")];
    let fitting = units.into_iter().find(|(unit, _)| bytes >= *unit && bytes % unit == 0.0);
    Some(fitting.map_or_else(|| bytes.to_string(), |(unit, letter)| format!("{}{letter}", bytes / unit)))
}

pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
