//! The subcommand `obvia top`: the servers of this user, their connections, and the rate of calls
//! on each.

use crate::{print, table};
use clap::Args;
use obvia::{Connected, code};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The time limit of one look at all servers.
const LOOK_MAX: Duration = Duration::from_secs(10);

/// The arguments of `obvia top`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  obvia top                       until Ctrl-C, in a terminal
  obvia top --once                one table
  obvia top --once --json | jq '.[] | {names, calls_per_second}'

A server counts nothing for this: messages have numbers, and connections are asked for the last one. One-way calls and
the runtimes' own messages count, too. Servers in Java do not tell, and have the value `?`, or null in JSON.")]
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

/// A server process at one moment.
struct Server {
    names: Vec<String>,
    /// The connections of other processes than this one, or the reason why they are not known.
    connections: obvia::Result<Vec<Connected>>,
}

/// The servers by process id, and the time.
struct Look {
    at: Instant,
    servers: BTreeMap<u32, Server>,
}

/// A connection's client, by which connections of two moments belong together.
type Client = (Option<u32>, Option<String>);

/// The connections of one client to a server.
#[derive(Debug, PartialEq)]
struct Row {
    client: Client,
    connections: usize,
    calls_per_second: f64,
}

/// Measures once, or until a signal.
pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let is_terminal = std::io::stdout().is_terminal();
    let mut before = Look::take()?;
    loop {
        std::thread::sleep(arguments.interval.saturating_sub(before.at.elapsed()));
        let now = Look::take()?;
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

impl Look {
    fn take() -> anyhow::Result<Self> {
        let mut servers = BTreeMap::<u32, Server>::new();
        let at = Instant::now();
        let listed = obvia::with_timeout(LOOK_MAX, obvia::list)?;
        let of_process = listed.into_iter().filter_map(|listed| Some((listed.pid?, listed.name)));
        for (pid, name) in of_process {
            // The first name of a process leads to all its connections.
            let server =
                servers.entry(pid).or_insert_with(|| Server { names: Vec::new(), connections: of_others(&name) });
            server.names.push(name);
        }
        Ok(Self { at, servers })
    }
}

/// Returns the connections of a server, without those of this process.
fn of_others(name: &str) -> obvia::Result<Vec<Connected>> {
    let mut connections = obvia::with_timeout(LOOK_MAX, || obvia::connections(name))?;
    connections.retain(|connection| connection.pid != Some(std::process::id()));
    Ok(connections)
}

/// Returns a row for each client of a server. A connection is compared with that of the same place
/// among those of its client: connections are listed in the order of their begin.
fn rows(before: &[Connected], now: &[Connected], seconds: f64) -> Vec<Row> {
    let mut earlier = by_client(before);
    let rate = |(client, messages): (Client, Vec<u32>)| {
        let mut former = earlier.remove(&client).unwrap_or_default();
        // If a connection has ended, it is not known which one: the client's rate begins anew.
        if former.len() > messages.len() {
            former.clone_from(&messages);
        }
        let former = former.into_iter().chain(std::iter::repeat(0));
        let calls: f64 = messages.iter().zip(former).map(|(now, former)| f64::from(now.wrapping_sub(former))).sum();
        Row { client, connections: messages.len(), calls_per_second: calls / seconds }
    };
    by_client(now).into_iter().map(rate).collect()
}

/// Returns the counts of messages of each client's connections.
fn by_client(connections: &[Connected]) -> BTreeMap<Client, Vec<u32>> {
    let mut clients = BTreeMap::<Client, Vec<u32>>::new();
    for Connected { pid, host, messages, .. } in connections {
        clients.entry((*pid, host.clone())).or_default().push(*messages);
    }
    clients
}

fn show(before: &Look, now: &Look, is_json: bool) -> anyhow::Result<()> {
    let seconds = (now.at - before.at).as_secs_f64();
    let measured = now.servers.iter().map(|(pid, server)| {
        let former = before.servers.get(pid).and_then(|former| former.connections.as_ref().ok());
        // A server that has just begun is compared with itself.
        let rows =
            server.connections.as_ref().map(|connections| rows(former.unwrap_or(connections), connections, seconds));
        (*pid, server, rows)
    });
    if is_json {
        return print::document(&measured.map(|(pid, server, rows)| document(pid, server, rows)).collect::<Value>());
    }
    let mut lines = vec![["SERVER", "NAMES", "CLIENT", "CONNECTIONS", "CALLS/S"].map(str::to_owned)];
    for (pid, server, rows) in measured {
        lines.extend(server_lines(pid, server, rows));
    }
    if lines.len() == 1 {
        print::note("no name is exported: servers export names by obvia::export");
        return Ok(());
    }
    table::print(&lines, 5)
}

/// Returns a line for the server, and one for each client.
fn server_lines(pid: u32, server: &Server, rows: Result<Vec<Row>, &obvia::Error>) -> Vec<[String; 5]> {
    let names = server.names.join(",");
    let unknown = |why: &str| [pid.to_string(), names.clone(), why.to_owned(), "?".to_owned(), "?".to_owned()];
    let rows = match rows {
        Ok(rows) => rows,
        Err(error) if error.code() == code::E_ACCESSDENIED => return vec![unknown("of another user")],
        Err(_) => return vec![unknown("?")],
    };
    let (connections, calls) = total(&rows);
    let sum = [pid.to_string(), names.clone(), "all".to_owned(), connections.to_string(), format!("{calls:.0}")];
    let client = |row: Row| {
        let name = match row.client {
            (Some(pid), _) => format!("process {pid}"),
            (None, Some(host)) => host,
            (None, None) => "?".to_owned(),
        };
        [String::new(), String::new(), name, row.connections.to_string(), format!("{:.0}", row.calls_per_second)]
    };
    std::iter::once(sum).chain(rows.into_iter().map(client)).collect()
}

fn total(rows: &[Row]) -> (usize, f64) {
    (rows.iter().map(|row| row.connections).sum(), rows.iter().map(|row| row.calls_per_second).sum())
}

fn document(pid: u32, server: &Server, rows: Result<Vec<Row>, &obvia::Error>) -> Value {
    let sums = rows.as_ref().ok().map(|rows| total(rows));
    let client = |row: &Row| {
        let (pid, host) = &row.client;
        json!({
            "pid": pid, "host": host, "connections": row.connections, "calls_per_second": row.calls_per_second,
        })
    };
    json!({
        "pid": pid, "names": server.names, "connections": sums.map(|(connections, _)| connections),
        "calls_per_second": sums.map(|(_, calls)| calls),
        "clients": rows.as_ref().ok().map(|rows| rows.iter().map(client).collect::<Vec<_>>()),
        "error": rows.err().map(ToString::to_string),
    })
}

#[cfg(test)]
mod tests {
    use super::{Row, interval, rows};
    use obvia::Connected;
    use std::time::Duration;

    fn connection(pid: u32, messages: u32) -> Connected {
        Connected { pid: Some(pid), uid: Some(7), host: None, messages }
    }

    fn row(pid: u32, connections: usize, calls_per_second: f64) -> Row {
        Row { client: (Some(pid), None), connections, calls_per_second }
    }

    #[test]
    fn rates_are_differences_by_client() {
        let before = [connection(1, 10), connection(2, u32::MAX), connection(1, 5)];
        // The second connection's number wraps around; that of process 3 is new.
        let now = [connection(1, 30), connection(2, 1), connection(1, 5), connection(3, 8)];
        assert_eq!(rows(&before, &now, 2.0), [row(1, 2, 10.0), row(2, 1, 1.0), row(3, 1, 4.0)]);
    }

    #[test]
    fn a_client_with_fewer_connections_than_before_begins_anew() {
        let before = [connection(1, 900), connection(1, 5)];
        assert_eq!(rows(&before, &[connection(1, 7)], 1.0), [row(1, 1, 0.0)]);
    }

    #[test]
    fn intervals_have_bounds() {
        assert_eq!(interval("0.5"), Ok(Duration::from_millis(500)));
        assert!(["0", "-1", "x", "inf", "NaN", "1e9"].iter().all(|text| interval(text).is_err()));
    }
}
