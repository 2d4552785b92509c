//! Charts of memory use over time, with the garbage collector's runs.

use super::chart::{BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, escaped, head};
use super::drawn::COLORS;
use crate::{Error, Machine};
use std::fmt::Write;

/// The approximate number of labelled steps of an axis.
const STEPS: f64 = 5.0;
/// The height of the strokes that mark collections above the axis. The strokes of each line are
/// above those of the previous line.
const STROKE: f64 = 9.0;

/// A line of the chart.
struct Line<'a> {
    name: &'a str,
    color: &'static str,
    /// The points: milliseconds and bytes.
    points: Vec<(f64, f64)>,
    /// The times of collections.
    collections: Vec<f64>,
    /// The number of collections at the last point.
    count: u64,
}

/// An axis that begins at zero.
struct Axis {
    most: f64,
    step: f64,
}

impl Axis {
    /// Creates an axis that includes a value, with steps of 1, 2 or 5 times a power of ten.
    fn up_to(value: f64) -> Self {
        let rough = value.max(1.0) / STEPS;
        let decade = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0].map(|digit| digit * decade).into_iter().find(|step| *step >= rough);
        let step = step.unwrap_or(10.0 * decade);
        Self { most: (value.max(1.0) / step).ceil() * step, step }
    }

    fn steps(&self) -> impl Iterator<Item = f64> {
        (0..=(self.most / self.step).round() as u32).map(|count| f64::from(count) * self.step)
    }
}

fn x(across: &Axis, milliseconds: f64) -> f64 {
    LEFT + milliseconds / across.most * (WIDTH - LEFT - RIGHT)
}

fn y(up: &Axis, bytes: f64) -> f64 {
    HEIGHT - BOTTOM - bytes / up.most * (HEIGHT - TOP - BOTTOM)
}

/// Draws bytes against time, from lines `NAME,MILLISECONDS,BYTES,COLLECTIONS`. Each name has one
/// line in the chart. A stroke marks each increase of the count of collections.
pub fn timeline(title: &str, measured: &str) -> Result<String, Error> {
    let lines = lines(measured)?;
    let most = |pick: fn(&(f64, f64)) -> f64| lines.iter().flat_map(|line| &line.points).map(pick).fold(0.0, f64::max);
    let (across, up) = (Axis::up_to(most(|point| point.0)), Axis::up_to(most(|point| point.1)));
    let mut svg = String::new();
    head(&mut svg, title, &Machine::read(None).to_string());
    grid(&mut svg, &across, &up);
    for (index, line) in lines.iter().enumerate() {
        curve(&mut svg, &across, &up, line, index);
    }
    svg.push_str("</svg>\n");
    Ok(svg)
}

fn lines(measured: &str) -> Result<Vec<Line<'_>>, Error> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    for (index, text) in measured.lines().enumerate() {
        let wrong = || Error::Usage {
            message: format!("line {} is no NAME,MILLISECONDS,BYTES,COLLECTIONS: {text}", index + 1),
        };
        let (name, point, count) = sample(text).ok_or_else(wrong)?;
        let color = COLORS[lines.len() % COLORS.len()];
        let known = lines.iter().position(|line| line.name == name).unwrap_or_else(|| {
            lines.push(Line { name, color, points: Vec::new(), collections: Vec::new(), count });
            lines.len() - 1
        });
        let line = &mut lines[known];
        if count > line.count {
            line.collections.push(point.0);
        }
        line.count = count;
        line.points.push(point);
    }
    if lines.is_empty() {
        return Err(Error::Usage { message: "there is nothing to draw".to_owned() });
    }
    Ok(lines)
}

/// Parses the name, the point, and the count of collections of an input line.
fn sample(text: &str) -> Option<(&str, (f64, f64), u64)> {
    let mut words = text.rsplitn(4, ',');
    let count = words.next()?.parse().ok()?;
    let mut number = || words.next()?.parse().ok().filter(|number: &f64| (0.0..1e15).contains(number));
    let (bytes, milliseconds) = (number()?, number()?);
    Some((words.next()?, (milliseconds, bytes), count))
}

// Writing to a string cannot fail, so the functions below drop the results of `write!`.

fn grid(svg: &mut String, across: &Axis, up: &Axis) {
    let (left, right, top, bottom) = (LEFT, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM);
    for bytes in up.steps() {
        let y = y(up, bytes);
        let _ = writeln!(
            svg,
            r##"<line x1="{left}" y1="{y:.1}" x2="{right}" y2="{y:.1}" stroke="#ccc"/><text x="{x}" y="{below:.1}" text-anchor="end">{label}</text>"##,
            x = left - 8.0,
            below = y + 4.0,
            label = bytes_name(bytes),
        );
    }
    for milliseconds in across.steps() {
        let x = x(across, milliseconds);
        let _ = writeln!(
            svg,
            r##"<line x1="{x:.1}" y1="{top}" x2="{x:.1}" y2="{bottom}" stroke="#eee"/><text x="{x:.1}" y="{below}" text-anchor="middle">{label}</text>"##,
            below = bottom + 18.0,
            label = milliseconds / 1e3,
        );
    }
    let _ = writeln!(
        svg,
        r##"<path d="M{left} {top}V{bottom}H{right}" fill="none" stroke="#222"/><text x="{middle}" y="{foot}" text-anchor="middle">seconds; strokes at the foot: collections</text>"##,
        middle = f64::midpoint(left, right),
        foot = bottom + 42.0,
    );
}

fn curve(svg: &mut String, across: &Axis, up: &Axis, line: &Line<'_>, index: usize) {
    let Line { color, points, collections, .. } = line;
    let path: Vec<String> =
        points.iter().map(|(ms, bytes)| format!("{:.1},{:.1}", x(across, *ms), y(up, *bytes))).collect();
    let _ =
        writeln!(svg, r#"<g stroke="{color}" fill="none"><polyline points="{}" stroke-width="1.2"/>"#, path.join(" "));
    let foot = HEIGHT - BOTTOM - STROKE * index as f64;
    let strokes: String = collections.iter().map(|ms| format!("M{:.1} {foot}v-{STROKE}", x(across, *ms))).collect();
    if !strokes.is_empty() {
        let _ = writeln!(svg, r#"<path d="{strokes}"/>"#);
    }
    let (at, y) = (WIDTH - RIGHT + 16.0, TOP + 10.0 + 20.0 * index as f64);
    let _ = writeln!(
        svg,
        r##"<path d="M{at} {y}h28" stroke-width="2"/></g><text x="{text}" y="{below}" fill="#222">{name}</text>"##,
        text = at + 34.0,
        below = y + 4.0,
        name = escaped(line.name),
    );
}

fn bytes_name(bytes: f64) -> String {
    match bytes {
        bytes if bytes < 1e3 => format!("{bytes} B"),
        bytes if bytes < 1e6 => format!("{} KB", bytes / 1e3),
        bytes => format!("{} MB", bytes / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::{Axis, timeline};

    #[test]
    fn memory_is_drawn_over_time_with_collections() {
        let svg = timeline("held < all", "a,0,0,3\na,500,2000,3\nb,0,0,0\na,1000,900,5\nb,1000,1500,0\n").unwrap();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let count = |tag: &str| document.descendants().filter(|node| node.has_tag_name(tag)).count();
        assert_eq!(count("polyline"), 2);
        let line = document.descendants().find(|node| node.has_tag_name("polyline")).unwrap();
        assert_eq!(line.attribute("points"), Some("80.0,500.0 375.0,70.0 670.0,306.5"));
        assert!(svg.contains(r#"<path d="M670.0 500v-9"/>"#), "one stroke, where the count had grown: {svg}");
        assert!(svg.contains("<text x=\"72\" y=\"74.0\" text-anchor=\"end\">2 KB</text>"), "{svg}");
        assert!(svg.contains("held &lt; all"));
    }

    #[test]
    fn malformed_memory_samples_are_reported_with_their_line() {
        for (text, line) in
            [("a,1,2", 1), ("a,0,0,0\nb", 2), ("a,-1,0,0", 1), ("a,0,NaN,0", 1), ("a,0,inf,0", 1), ("a,0,0,-1", 1)]
        {
            let error = timeline("", text).unwrap_err().to_string();
            assert!(error.contains(&format!("line {line} is no NAME")), "{error}");
        }
        assert!(timeline("", "").is_err());
    }

    #[test]
    fn axes_have_round_steps() {
        let steps = |value: f64| (Axis::up_to(value).step, Axis::up_to(value).most);
        assert_eq!(steps(0.0), (0.2, 1.0));
        assert_eq!(steps(1000.0), (200.0, 1000.0));
        assert_eq!(steps(1001.0), (500.0, 1500.0));
        assert_eq!(steps(7.4e6), (2e6, 8e6));
    }
}
