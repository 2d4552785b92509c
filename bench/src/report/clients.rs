//! The report about many clients.

use crate::clients::{Clients, Departure, Latency, Stage};
use std::fmt::Write;

/// The number of clients whose time of connecting is the base of the ratios.
const BASE: u32 = 100;

/// Returns the results as a table in Markdown, with a sentence about the departure.
pub fn clients_table(clients: &Clients) -> String {
    let mut text = String::from(
        "| clients | connect, us | ratio | KiB each | descriptors each | mappings each | threads | idle: CPU | wake-ups \
         a second | in turn: p50, us | p99, us | caller: p50, us | p99, us |\n",
    );
    text.push_str(&"|--:".repeat(13));
    text.push_str("|\n");
    // Writing to a string cannot fail, here and below.
    let [p50, p99] = microseconds(clients.alone, 3);
    let _ = writeln!(text, "| 0 |{} {p50} | {p99} |", " |".repeat(10));
    for stage in &clients.stages {
        let Stage { clients: number, connect_us, memory_kib, descriptors, segments, threads, .. } = stage;
        let ratio = ratio(&clients.stages, stage);
        let (cpu, wakeups) = (100.0 * stage.idle_cpu, stage.idle_wakeups);
        let [turn50, turn99] = microseconds(stage.in_turn, 0);
        let [p50, p99] = microseconds(stage.caller, 3);
        let _ = writeln!(
            text,
            "| {number} | {connect_us:.0} | {ratio:.2} | {memory_kib:.1} | {descriptors:.2} | {segments:.2} | {threads} | \
             {cpu:.2} % | {wakeups:.1} | {turn50} | {turn99} | {p50} | {p99} |"
        );
    }
    let Departure { seconds, memory_kib, left } = &clients.departure;
    let gone = format!("{seconds:.2} s after the clients had left");
    let _ = match left.as_slice() {
        [] => {
            writeln!(text, "\n{gone}, the server had {} KiB more than at first, and nothing else.", memory_kib.max(&0))
        }
        left => writeln!(text, "\n{gone}, there were left: {}.", left.join(", ")),
    };
    text
}

/// Returns the results as JSON: the fields of [`Clients`].
pub fn clients_json(clients: &Clients) -> String {
    let mut text = serde_json::to_string_pretty(clients).expect("names and numbers only");
    text.push('\n');
    text
}

/// Returns a stage's time of connecting, divided by that of the last stage with at most [`BASE`]
/// clients; 1 if there is no such stage.
fn ratio(stages: &[Stage], stage: &Stage) -> f64 {
    let base = stages.iter().rfind(|stage| stage.clients <= BASE).unwrap_or(stage);
    stage.connect_us / base.connect_us
}

fn microseconds(latency: Latency, digits: usize) -> [String; 2] {
    [latency.p50_ns, latency.p99_ns].map(|nanoseconds| format!("{:.digits$}", nanoseconds / 1e3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Machine;
    use crate::clients::Plan;
    use std::time::Duration;

    #[test]
    fn the_table_has_a_row_for_each_stage_and_compares_with_a_hundred_clients() {
        let latency = |p50_ns| Latency { p50_ns, p99_ns: 10.0 * p50_ns };
        let stage = |clients, connect_us| Stage {
            clients,
            connect_us,
            memory_kib: 23.96,
            descriptors: 2.0,
            segments: 4.0,
            threads: 7,
            idle_cpu: 0.001,
            idle_wakeups: 0.5,
            in_turn: latency(60_000.0),
            caller: latency(280.0),
        };
        let mut clients = Clients {
            machine: Machine::read(None),
            plan: Plan { processes: 1_000, connections: 1, rounds: 1, idle: Duration::ZERO },
            alone: latency(270.0),
            stages: vec![stage(10, 900.0), stage(100, 1_000.0), stage(1_000, 1_250.0)],
            departure: Departure { seconds: 0.5, memory_kib: -3, left: Vec::new() },
        };
        let table = clients_table(&clients);
        let lines: Vec<_> = table.lines().skip(2).collect();
        let expected = [
            "| 0 | | | | | | | | | | | 0.270 | 2.700 |",
            "| 10 | 900 | 0.90 | 24.0 | 2.00 | 4.00 | 7 | 0.10 % | 0.5 | 60 | 600 | 0.280 | 2.800 |",
            "| 100 | 1000 | 1.00 | 24.0 | 2.00 | 4.00 | 7 | 0.10 % | 0.5 | 60 | 600 | 0.280 | 2.800 |",
            "| 1000 | 1250 | 1.25 | 24.0 | 2.00 | 4.00 | 7 | 0.10 % | 0.5 | 60 | 600 | 0.280 | 2.800 |",
            "",
            "0.50 s after the clients had left, the server had 0 KiB more than at first, and nothing else.",
        ];
        assert_eq!(lines, expected);
        clients.departure.left = vec!["2 descriptors of the server".to_owned(), "the name x".to_owned()];
        assert!(clients_table(&clients).ends_with("there were left: 2 descriptors of the server, the name x.\n"));
        assert!(clients_json(&clients).contains("\"connect_us\": 1250.0"));
    }
}
