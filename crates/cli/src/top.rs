//! The subcommand `obvia top`: the servers of this user, their connections, and the rate of calls
//! on each.

use crate::{print, table};
use clap::Args;
use obvia::{Connected, code};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The time limit of one round of questions to all servers.
const LOOK_MAX: Duration = Duration::from_secs(5);
/// The time limit of one server's answer.
const ANSWER_MAX: Duration = Duration::from_secs(1);

/// The arguments of `obvia top`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  obvia top                       until Ctrl-C, in a terminal
  obvia top --once                one table
  obvia top --once --json | jq '.[] | {names, calls_per_second}'

A server counts nothing for this: messages have numbers, and connections are asked for the last one. One-way calls and
the runtimes' own messages count, too; if a client's connection ends between two measurements, its calls in that time
are not counted. Servers in Java do not report it, and have the value `?`, or null in JSON.")]
pub(crate) struct Arguments {
    /// Measure once, and end
    #[arg(long)]
    once: bool,
    /// The time between two measurements in seconds
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = interval)]
    interval: Duration,
    /// Print JSON
    #[arg(long, requires = "once")]
    json: bool,
}

fn interval(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.05..=3600.0).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("must be between 0.05 and 3600".to_owned())
    }
}

/// The servers by process id.
type Look = BTreeMap<u32, Server>;

/// A server process at one moment.
struct Server {
    names: Vec<String>,
    /// The state of the connections, or the reason why the state is unknown.
    state: obvia::Result<State>,
}

/// The state of a server's connections.
struct State {
    /// The time of the answer.
    at: Instant,
    /// The number of connections of other processes than this one.
    total: u64,
    /// The newest of these connections, in the order of their numbers.
    newest: Vec<Connected>,
}

/// A client: the ID of its process if known, and the name of its host if known.
type Client = (Option<u32>, Option<String>);

/// The connections of one client to a server.
#[derive(Debug, PartialEq)]
struct Row {
    client: Client,
    connections: usize,
    calls_per_second: f64,
}

/// The measurement of one server.
#[derive(Debug, PartialEq)]
struct Measured {
    total: u64,
    rows: Vec<Row>,
}

/// Measures once, or until a signal or the end of the output's reader.
pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let is_terminal = std::io::stdout().is_terminal();
    let mut begin = Instant::now();
    let mut before = look()?;
    loop {
        if print::wait_for_end_of_reader(arguments.interval.saturating_sub(begin.elapsed()))? {
            return Ok(ExitCode::SUCCESS);
        }
        begin = Instant::now();
        let now = look()?;
        if !arguments.once && is_terminal {
            print::clear()?;
        }
        show(&before, &now, arguments.json)?;
        if arguments.once {
            return Ok(ExitCode::SUCCESS);
        }
        before = now;
    }
}

/// Asks each server for the state of its connections.
fn look() -> anyhow::Result<Look> {
    let end = Instant::now() + LOOK_MAX;
    let mut names = BTreeMap::<u32, Vec<String>>::new();
    for (name, pid) in obvia::names()? {
        names.entry(pid.unwrap_or(0)).or_default().push(name);
    }
    // The directory has no process ID for a name whose process is in another PID namespace.
    names.remove(&0);
    let mut servers = Look::new();
    let mut left = u32::try_from(names.len())?;
    for (pid, names) in names {
        // Each server gets an equal share of the remaining time, so a server that does not answer
        // leaves time for the others.
        let share = end.saturating_duration_since(Instant::now()) / left;
        left -= 1;
        let state = obvia::with_deadline(Instant::now() + share.min(ANSWER_MAX), || State::of(&names[0]));
        servers.insert(pid, Server { names, state });
    }
    Ok(servers)
}

impl State {
    /// Returns the state of the server that exports a name, without the connections of this
    /// process.
    fn of(name: &str) -> obvia::Result<Self> {
        let obvia::Connections { total, mut newest } = obvia::connections(name)?;
        let at = Instant::now();
        let listed = newest.len();
        newest.retain(|connection| !connection.is_own);
        let own = (listed - newest.len()) as u64;
        Ok(Self { at, total: total.saturating_sub(own), newest })
    }

    /// Measures the calls of each client between two states.
    fn since(&self, before: &Self) -> Measured {
        let seconds = self.at.saturating_duration_since(before.at).as_secs_f64().max(f64::MIN_POSITIVE);
        let former: HashMap<u64, u32> =
            before.newest.iter().map(|connection| (connection.number, connection.messages)).collect();
        let oldest = before.newest.first().map_or(0, |connection| connection.number);
        let mut clients = BTreeMap::<Client, (usize, f64)>::new();
        for Connected { number, pid, host, messages, .. } in &self.newest {
            let calls = match former.get(number) {
                Some(former) => {
                    let more = messages.wrapping_sub(*former);
                    // A lower count belongs to a new connection: the server's process is another
                    // process with the same id.
                    if more.cast_signed() < 0 { *messages } else { more }
                }
                // The previous list was full, and had no room for this connection.
                None if *number < oldest => 0,
                None => *messages,
            };
            let (connections, sum) = clients.entry((*pid, host.clone())).or_default();
            *connections += 1;
            *sum += f64::from(calls);
        }
        let row = |(client, (connections, calls))| Row { client, connections, calls_per_second: calls / seconds };
        Measured { total: self.total, rows: clients.into_iter().map(row).collect() }
    }
}

impl Measured {
    fn calls_per_second(&self) -> f64 {
        self.rows.iter().map(|row| row.calls_per_second).sum()
    }

    /// Returns the number of connections that the server did not list.
    fn unlisted(&self) -> u64 {
        let listed: usize = self.rows.iter().map(|row| row.connections).sum();
        self.total.saturating_sub(listed as u64)
    }
}

fn show(before: &Look, now: &Look, is_json: bool) -> anyhow::Result<()> {
    let measured = now.iter().map(|(pid, server)| {
        let former = before.get(pid).and_then(|former| former.state.as_ref().ok());
        // A server without an earlier state is compared with itself.
        let measured = server.state.as_ref().map(|state| state.since(former.unwrap_or(state)));
        (*pid, server, measured)
    });
    if is_json {
        return print::document(&measured.map(|(pid, server, found)| document(pid, server, found)).collect::<Value>());
    }
    let mut lines = vec![["SERVER", "NAMES", "CLIENT", "CONNECTIONS", "CALLS/S"].map(str::to_owned)];
    for (pid, server, measured) in measured {
        lines.extend(server_lines(pid, server, measured));
    }
    if lines.len() == 1 {
        print::note("no name is exported: servers export names by obvia::export");
        return Ok(());
    }
    table::print(&lines, 5)
}

/// Returns a line for the server, one for each client, and one for the unlisted connections, if
/// any.
fn server_lines(pid: u32, server: &Server, measured: Result<Measured, &obvia::Error>) -> Vec<[String; 5]> {
    let names = server.names.join(",");
    let unknown = |why: &str| [pid.to_string(), names.clone(), why.to_owned(), "?".to_owned(), "?".to_owned()];
    let measured = match measured {
        Ok(measured) => measured,
        Err(error) if error.code() == code::E_ACCESSDENIED => return vec![unknown("of another user")],
        Err(_) => return vec![unknown("?")],
    };
    let (unlisted, calls) = (measured.unlisted(), measured.calls_per_second());
    let mut lines = vec![[pid.to_string(), names, "all".to_owned(), measured.total.to_string(), format!("{calls:.0}")]];
    let mut add = |client: String, connections: String, calls: String| {
        lines.push([String::new(), String::new(), client, connections, calls]);
    };
    for row in measured.rows {
        let client = match row.client {
            (Some(pid), _) => format!("process {pid}"),
            (None, Some(host)) => host,
            (None, None) => "?".to_owned(),
        };
        add(client, row.connections.to_string(), format!("{:.0}", row.calls_per_second));
    }
    if unlisted > 0 {
        add("older connections".to_owned(), unlisted.to_string(), "?".to_owned());
    }
    lines
}

fn document(pid: u32, server: &Server, measured: Result<Measured, &obvia::Error>) -> Value {
    let client = |row: &Row| {
        let (pid, host) = &row.client;
        json!({
            "pid": pid, "host": host, "connections": row.connections, "calls_per_second": row.calls_per_second,
        })
    };
    let found = measured.as_ref().ok();
    json!({
        "pid": pid, "names": server.names, "connections": found.map(|found| found.total),
        "unlisted": found.map(Measured::unlisted),
        "calls_per_second": found.map(Measured::calls_per_second),
        "clients": found.map(|found| found.rows.iter().map(client).collect::<Vec<_>>()),
        "error": measured.as_ref().err().map(ToString::to_string),
    })
}

#[cfg(test)]
mod tests {
    use super::{Measured, Row, State, interval};
    use obvia::Connected;
    use std::time::{Duration, Instant};

    fn connection(number: u64, pid: u32, messages: u32) -> Connected {
        Connected { number, pid: Some(pid), uid: Some(7), host: None, is_own: false, messages }
    }

    fn row(pid: u32, connections: usize, calls_per_second: f64) -> Row {
        Row { client: (Some(pid), None), connections, calls_per_second }
    }

    /// Returns the rows for two lists of connections, the second of which was made some seconds
    /// after the first.
    fn measured(before: &[Connected], now: &[Connected], seconds: u64) -> Vec<Row> {
        let at = Instant::now();
        let state = |at, newest: &[Connected]| State { at, total: newest.len() as u64, newest: newest.to_vec() };
        state(at + Duration::from_secs(seconds), now).since(&state(at, before)).rows
    }

    #[test]
    fn rates_are_differences_by_client() {
        let before = [connection(1, 1, 10), connection(2, 2, u32::MAX), connection(3, 1, 5)];
        // The count of the second connection wraps around; the connection of process 3 is new.
        let now = [connection(1, 1, 30), connection(2, 2, 1), connection(3, 1, 5), connection(4, 3, 8)];
        assert_eq!(measured(&before, &now, 2), [row(1, 2, 10.0), row(2, 1, 1.0), row(3, 1, 4.0)]);
    }

    #[test]
    fn connections_are_compared_with_themselves_when_another_has_ended() {
        let before = [connection(1, 1, 900), connection(2, 1, 5)];
        assert_eq!(measured(&before, &[connection(2, 1, 5), connection(3, 1, 3)], 1), [row(1, 2, 3.0)]);
        assert_eq!(measured(&before, &[connection(2, 1, 7)], 1), [row(1, 1, 2.0)]);
        // A lower count belongs to another connection.
        assert_eq!(measured(&before, &[connection(1, 1, 4), connection(2, 1, 5)], 1), [row(1, 2, 4.0)]);
    }

    #[test]
    fn connections_that_were_not_listed_before_have_no_rate() {
        let before = [connection(8, 1, 1)];
        assert_eq!(
            measured(&before, &[connection(7, 2, 1000), connection(8, 1, 3)], 1),
            [row(1, 1, 2.0), row(2, 1, 0.0)]
        );
        let full = Measured { total: 5000, rows: vec![row(1, 4096, 2.0)] };
        assert_eq!(full.unlisted(), 904);
    }

    #[test]
    fn intervals_have_bounds() {
        assert_eq!(interval("0.5"), Ok(Duration::from_millis(500)));
        assert!(["0", "-1", "x", "inf", "NaN", "1e9"].iter().all(|text| interval(text).is_err()));
    }
}
