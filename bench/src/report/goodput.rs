//! Tables and the plot of goodput.

use super::chart::{Chart, Line, Mark, draw, size_name};
use crate::goodput::{Goodput, Point, Sharing, Transport, mbit};
use std::fmt::Write;

/// Returns the results as two tables in Markdown. A ratio is obvia's rate divided by TCP's.
pub fn goodput_tables(goodput: &Goodput) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail, here and below.
    if !goodput.points.is_empty() {
        text.push_str("| loss | round trip | obvia, Mbit/s | TCP, Mbit/s | ratio |\n|--:|--:|--:|--:|--:|\n");
    }
    for point in &goodput.points {
        let (loss, trip) = (percent(point), milliseconds(point));
        let (obvia, tcp) = (mbit(point.obvia), mbit(point.tcp));
        let _ = writeln!(text, "| {loss} | {trip} ms | {obvia} | {tcp} | {:.2} |", point.ratio());
    }
    if !goodput.sharings.is_empty() {
        text.push_str("\n| flows on one line | first, Mbit/s | second, Mbit/s | shares |\n|---|--:|--:|--:|\n");
    }
    for Sharing { flows: [a, b], rates, .. } in &goodput.sharings {
        let share = (100.0 * rates[0] / (rates[0] + rates[1])).round();
        let [first, second] = rates.map(mbit);
        let (a, b) = (a.name(), b.name());
        let _ = writeln!(text, "| {a}, {b} | {first} | {second} | {share}:{} |", 100.0 - share);
    }
    text.trim_start().to_owned()
}

/// Returns a chart of goodput against round trips, with a line for each transport and loss; `None`
/// without a point.
pub fn goodput_plot(goodput: &Goodput) -> Option<String> {
    let rate = goodput.points.first()?.conditions.rate;
    let mut lines: Vec<Line> = Vec::new();
    for transport in [Transport::Obvia, Transport::Tcp] {
        for point in &goodput.points {
            let name = format!("{}, loss {}", transport.name(), percent(point));
            let place = (milliseconds(point), point.rate_of(transport).max(1.0));
            match lines.iter_mut().find(|line| line.name == name) {
                Some(line) => line.points.push(place),
                None => lines.push(line(transport, &lines, name, place)),
            }
        }
    }
    draw(Chart {
        title: &format!("Goodput of one flow against round trip, over a line of {} Mbit/s", mbit(rate as f64)),
        origin: &goodput.machine.to_string(),
        across: "ms of round trip",
        place: &|trip| format!("{trip} ms of round trip"),
        mark: &size_name,
        value: &|rate| format!("{} Mbit/s", mbit(rate)),
        decade: &|rate| format!("{} Mbit/s", rate / 1e6),
        lines,
    })
}

/// Begins a line of the chart. Colours distinguish transports, and dashes distinguish losses.
fn line(transport: Transport, before: &[Line], name: String, first: (f64, f64)) -> Line {
    const DASHES: [&str; 4] = ["none", "8 3", "4 4", "1 3"];
    let (color, thickness) = match transport {
        Transport::Obvia => ("#e69f00", 3.0),
        Transport::Tcp => ("#56b4e9", 1.5),
    };
    let index = before.iter().filter(|line| line.color == color).count();
    let mark = Mark { thickness, radius: 4.0, is_hollow: transport == Transport::Tcp };
    Line { name, color, dashes: DASHES[index % DASHES.len()], mark, points: vec![first] }
}

fn percent(point: &Point) -> String {
    // The number is rounded, because 0.07 times 100 is more than 7 as a floating-point number.
    format!("{} %", (point.conditions.loss * 1e6).round() / 1e4)
}

fn milliseconds(point: &Point) -> f64 {
    point.conditions.round_trip.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Machine;
    use crate::goodput::Conditions;
    use std::time::Duration;

    fn goodput() -> Goodput {
        let conditions = |loss, milliseconds| Conditions {
            rate: 100_000_000,
            round_trip: Duration::from_millis(milliseconds),
            loss,
        };
        let points =
            [(0.0, 1, 95e6, 95e6), (0.0, 250, 90e6, 84e6), (0.07, 1, 0.19e6, 0.2e6), (0.07, 250, 0.1e6, 0.4e6)];
        let points = points.map(|(loss, trip, obvia, tcp)| Point { conditions: conditions(loss, trip), obvia, tcp });
        let flows = [Transport::Obvia, Transport::Tcp];
        let sharings = vec![Sharing { conditions: conditions(0.0, 50), flows, rates: [57e6, 38e6] }];
        Goodput { machine: Machine::read(None), points: points.into(), sharings }
    }

    #[test]
    fn goodput_tables_have_a_row_for_each_point_and_each_sharing() {
        let expected = "\
| loss | round trip | obvia, Mbit/s | TCP, Mbit/s | ratio |
|--:|--:|--:|--:|--:|
| 0 % | 1 ms | 95.0 | 95.0 | 1.00 |
| 0 % | 250 ms | 90.0 | 84.0 | 1.07 |
| 7 % | 1 ms | 0.19 | 0.20 | 0.95 |
| 7 % | 250 ms | 0.10 | 0.40 | 0.25 |

| flows on one line | first, Mbit/s | second, Mbit/s | shares |
|---|--:|--:|--:|
| obvia, TCP | 57.0 | 38.0 | 60:40 |
";
        assert_eq!(goodput_tables(&goodput()), expected);
        assert!(goodput_tables(&Goodput { points: Vec::new(), ..goodput() }).starts_with("| flows on one line"));
    }

    #[test]
    fn goodput_is_drawn_with_a_line_for_each_transport_and_loss() {
        let svg = goodput_plot(&goodput()).unwrap();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let lines = document.descendants().filter(|node| node.has_tag_name("polyline"));
        assert_eq!(lines.map(|line| line.attribute("points").unwrap().split(' ').count()).collect::<Vec<_>>(), [2; 4]);
        for name in ["obvia, loss 0 %", "obvia, loss 7 %", "TCP, loss 0 %", "TCP, loss 7 %"] {
            assert!(svg.contains(&format!(">{name}</text>")), "{name}");
        }
        assert!(svg.contains("<title>TCP, loss 7 %, 250 ms of round trip: 0.40 Mbit/s</title>"), "{svg}");
        assert!(goodput_plot(&Goodput { points: Vec::new(), ..goodput() }).is_none());
    }
}
