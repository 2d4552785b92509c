//! Tests of connection points across processes, on every transport: sinks are called, and killed or
//! hanging sinks do not delay other sinks.

use std::time::{Duration, Instant};
use torture::process::{Directory, Process, same, within};

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");
/// The time limit until the references of ended processes are dropped, and until releases arrive.
const DROPPED: Duration = Duration::from_secs(20);
/// The bindings of the servers. With the empty one, clients connect to a name on the same host.
const WAYS: [&str; 6] = [
    "",
    "ncacn_vi_udp:127.0.0.1[0]",
    "ncacn_ip_tcp:127.0.0.1[0]",
    "ncacn_ip_tcp:127.0.0.1[0,transfer=ndr]",
    "ncacn_ip_tcp:127.0.0.1[0,transfer=ndr64]",
    "ncadg_ip_udp:127.0.0.1[0]",
];

/// A process with an announcer, and the name or binding for its clients.
struct Source {
    process: Process,
    place: String,
    directory: Directory,
    /// The runtime directory of clients that share no memory with the server; `None` if the clients
    /// use the server's directory.
    elsewhere: Option<Directory>,
}

impl Source {
    fn start(listening: &str) -> Self {
        Self::announce(listening, "announcer events")
    }

    fn announce(listening: &str, order: &str) -> Self {
        let directory = Directory::new();
        let mut process = directory.start(PROGRAM, &[]);
        process.good(order);
        let place = match listening {
            "" => "events".to_owned(),
            binding => process.good(&format!("listen {binding}")).replace(']', ",name=events]"),
        };
        let elsewhere = (!listening.is_empty()).then(Directory::new);
        Self { process, place, directory, elsewhere }
    }

    fn client(&self) -> Process {
        let mut client = self.elsewhere.as_ref().unwrap_or(&self.directory).start(PROGRAM, &[]);
        client.good(&format!("source {}", self.place));
        client
    }

    /// Starts a client with a connected sink.
    fn sink(&self) -> Process {
        let mut client = self.client();
        client.good("advise");
        client
    }
}

/// Waits until a process's sinks have received these announcements.
#[track_caller]
fn receives(process: &mut Process, wanted: &str) {
    let mut received = Vec::new();
    within(DROPPED, || {
        received.extend(process.good("received").split_whitespace().map(str::to_owned));
        same(received.join(" ").as_str(), wanted)
    });
}

#[test]
fn sinks_are_called_over_every_transport() {
    for way in WAYS {
        println!("{way}");
        let mut source = Source::start(way);
        let mut client = source.client();
        assert_eq!(client.good("points"), "1 0");
        client.good("advise");
        client.good("advise");
        assert_eq!(client.good("points"), "1 2");
        assert_eq!(source.process.number("announce 5"), 2);
        // The sinks are called while their process waits for its own call.
        assert_eq!(client.number("announce 6"), 2);
        assert_eq!(client.good("received"), "5 5 6 6");
        assert_eq!(source.process.number("post 7"), 0);
        receives(&mut client, "7 7");
        // A connection ends even if the call that ends it has missed its deadline.
        let refused = client.bad("unadvise-late");
        assert!(refused.contains("RPC_E_TIMEOUT"), "{refused}");
        assert_eq!(source.process.number("sinks"), 1);
        client.good("unadvise");
        assert_eq!(source.process.number("sinks"), 0);
        assert_eq!(source.process.number("announce 8"), 0);
        assert_eq!(client.good("received"), "");
        // The announcer stays exported, by two interfaces.
        source.process.becomes(DROPPED, "exported", 2);
        client.becomes(DROPPED, "exported", 0);
    }
}

#[test]
fn sinks_over_the_limit_of_the_point_are_refused() {
    let source = Source::start("");
    let mut client = source.client();
    for _ in 0..4 {
        client.good("advise");
    }
    let refused = client.bad("advise");
    assert!(refused.contains("CONNECT_E_ADVISELIMIT"), "{refused}");
    // The sinks of an ended process make room for new sinks, even if no event is announced after
    // the process has ended.
    client.kill();
    let mut next = source.client();
    within(DROPPED, || {
        next.say("advise");
        same(next.line().trim_end(), "ok")
    });
    assert_eq!(next.good("points"), "1 1");
}

#[test]
fn remote_sinks_can_disconnect_during_their_event() {
    let mut source = Source::start("");
    let mut client = source.client();
    client.good("advise once");
    assert_eq!(source.process.number("announce 1"), 1);
    assert_eq!(source.process.number("sinks"), 0);
    assert_eq!(source.process.number("announce 2"), 0);
    assert_eq!(client.good("received"), "1");
}

#[test]
fn killed_sinks_are_dropped_and_the_others_are_called() {
    for way in ["", "ncacn_ip_tcp:127.0.0.1[0]"] {
        let mut source = Source::start(way);
        let mut first = source.sink();
        let before = source.process.number("exported");
        let (mut killed, mut last) = (source.sink(), source.sink());
        assert_eq!(source.process.number("announce 1"), 3);
        killed.kill();
        assert_eq!(source.process.number("announce 2"), 2);
        assert_eq!(source.process.number("sinks"), 2);
        assert_eq!(source.process.number("announce 3"), 2);
        assert_eq!((first.good("received"), last.good("received")), ("1 2 3".to_owned(), "1 2 3".to_owned()));
        last.good("unadvise");
        last.finish();
        source.process.becomes(DROPPED, "exported", before);
        first.kill();
        assert_eq!(source.process.number("announce 4"), 0);
        assert_eq!(source.process.number("sinks"), 0);
    }
}

#[test]
fn hanging_sinks_do_not_delay_others_and_are_dropped() {
    // A timeout of five seconds is short enough for the test, and long enough for a live sink on a
    // busy machine.
    let mut source = Source::announce("", "announcer events 5000");
    let (hung, mut well) = (source.sink(), source.sink());
    hung.stop();
    let start = Instant::now();
    for value in 1..=6 {
        source.process.good(&format!("post {value}"));
        receives(&mut well, &value.to_string());
    }
    println!("posting took {:?}", start.elapsed());
    // The second unanswered event ends the sink's connection.
    source.process.becomes(DROPPED, "sinks", 1);
    assert_eq!(source.process.number("announce 7"), 1);
    assert_eq!(well.good("received"), "7");
    hung.go_on();
    let mut again = source.sink();
    assert_eq!(source.process.number("announce 8"), 2);
    assert_eq!(again.good("received"), "8");
}

/// All sinks of a process together get no more time for an event than a single sink.
#[test]
fn a_hanging_process_delays_an_event_once() {
    const LIMIT: Duration = Duration::from_secs(5);
    let mut source = Source::announce("", "announcer events 5000");
    let (mut hung, mut well) = (source.sink(), source.sink());
    hung.good("advise");
    hung.good("advise");
    assert_eq!(source.process.number("announce 1"), 4);
    hung.stop();
    let start = Instant::now();
    assert_eq!(source.process.number("announce 2"), 1);
    assert!(start.elapsed() < 2 * LIMIT, "{:?}", start.elapsed());
    // The second unanswered event ends the connections of all sinks of the process.
    assert_eq!(source.process.number("announce 3"), 1);
    assert_eq!(source.process.number("sinks"), 1);
    assert_eq!(well.good("received"), "1 2 3");
    hung.go_on();
}

/// If a process hangs, the call of its sink takes all the time that a remote caller grants. The
/// sinks of other processes then have no time to answer, so they must stay connected.
#[test]
fn callers_with_short_deadlines_disconnect_no_sinks() {
    let mut source = Source::start("");
    let (mut hung, mut well, mut caller) = (source.sink(), source.sink(), source.client());
    well.good("advise");
    hung.stop();
    caller.good("timeout 500");
    // The caller makes more calls than a sink may leave unanswered. The last call may still be
    // running after the loop.
    for value in 1..=4 {
        caller.say(&format!("announce {value}"));
        // The source stops waiting for the hung sink at the caller's deadline. Just before it, the
        // other sinks may still get the event, and the source's answer may still be in time.
        let answer = caller.line();
        assert!(answer.contains("RPC_E_TIMEOUT") || answer.starts_with("ok "), "{answer}");
    }
    assert_eq!(source.process.number("sinks"), 3);
    hung.kill();
    assert_eq!(source.process.number("announce 5"), 2);
    let received = well.good("received");
    assert_eq!(received.split(' ').filter(|value| *value == "5").count(), 2, "{received}");
}

/// A sink that fails with RPC_E_TIMEOUT has answered, so neither the sink nor its process counts as
/// hanging.
#[test]
fn sinks_that_fail_with_a_timeout_of_their_own_keep_no_event_from_others() {
    let mut source = Source::start("");
    let mut client = source.client();
    client.good("advise fails");
    client.good("advise");
    for value in 1..=3 {
        assert_eq!(source.process.number(&format!("announce {value}")), 1);
    }
    assert_eq!(source.process.number("sinks"), 1);
    assert_eq!(client.good("received"), "1 2 3");
}

#[test]
fn event_connections_end_with_a_killed_source() {
    for way in ["", "ncacn_ip_tcp:127.0.0.1[0]"] {
        let mut source = Source::start(way);
        let mut client = source.sink();
        source.process.kill();
        let start = Instant::now();
        let gone = client.bad("unadvise");
        assert!(gone.contains("RPC_E_DISCONNECTED") || gone.contains("RPC_S_SERVER_UNAVAILABLE"), "{gone}");
        client.good("leave");
        println!("{way}: it took {:?}", start.elapsed());
        client.becomes(DROPPED, "exported", 0);
    }
}
