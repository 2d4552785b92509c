//! Charts of other programs' measurements, in the style of the reports.

use super::chart::{Chart, Line, Mark, draw, size_name};
use super::plot::decade_name;
use super::table::time;
use crate::{Error, Machine};

/// Colours that the colour-blind can distinguish. Further lines have the same colours with dashes.
pub(super) const COLORS: [&str; 7] = ["#d55e00", "#0072b2", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"];
const DASHES: [&str; 3] = ["none", "4 4", "8 3"];

/// Draws times against sizes, from lines `NAME,BYTES,NANOSECONDS` that were measured on `machine`.
/// Each name has one line in the chart.
pub fn drawn(title: &str, machine: &Machine, measured: &str) -> Result<String, Error> {
    let mut lines: Vec<Line> = Vec::new();
    for (index, text) in measured.lines().enumerate() {
        let wrong = || Error::Usage { message: format!("line {} is no NAME,BYTES,NANOSECONDS: {text}", index + 1) };
        let (name, point) = point(text).ok_or_else(wrong)?;
        match lines.iter_mut().find(|line| line.name == name) {
            Some(line) => line.points.push(point),
            None => lines.push(Line {
                name: name.to_owned(),
                color: COLORS[lines.len() % COLORS.len()],
                dashes: DASHES[lines.len() / COLORS.len() % DASHES.len()],
                mark: Mark { thickness: 2.0, radius: 3.0, is_hollow: false },
                points: vec![point],
            }),
        }
    }
    let origin = machine.to_string();
    let chart = Chart {
        title,
        origin: &origin,
        across: "bytes",
        place: &|bytes| format!("{bytes} bytes"),
        mark: &size_name,
        value: &time,
        decade: &decade_name,
        lines,
    };
    draw(chart).ok_or_else(|| Error::Usage { message: "there is nothing to draw".to_owned() })
}

/// Parses the name and the point of an input line. Returns `None` for a malformed line, and for
/// values that a logarithmic axis cannot show.
fn point(text: &str) -> Option<(&str, (f64, f64))> {
    let mut words = text.rsplitn(3, ',');
    let mut number = || words.next()?.parse().ok().filter(|number: &f64| number.is_normal() && *number > 0.0);
    let (up, across) = (number()?, number()?);
    Some((words.next()?, (across, up)))
}
