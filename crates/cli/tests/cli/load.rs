//! Tests of `obvia bench load` as users run it.

use crate::running::{Directory, Ran, Server};
use calc::{Entry, ITape, ITape_Impl, ITapeEvents};
use obvia::code;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The time limit of calls, in seconds, for runs whose calls are answered.
const LONG: &str = "60";

/// Runs the measurement without a warm-up, and returns the results.
fn measure(server: &Server, arguments: &[&str]) -> (Ran, Value) {
    let fixed = ["--warmup", "0", "--timeout", LONG, "--json", "-"];
    let ran = server.obvia(&[&["bench", "load"], arguments, &fixed].concat());
    let document = ran.json();
    (ran, document)
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn a_closed_loop_is_measured_and_written_in_all_forms() {
    let server = Server::calc();
    let file = |name: &str| server.directory.path().join(name).to_str().unwrap().to_owned();
    let (json, histogram, plot) = (file("out.json"), file("out.hgrm"), file("out.svg"));
    let files = ["--json", &json, "--histogram", &histogram, "--plot", &plot];
    let run = ["bench", "load", "calc", "Add", "2", "3", "--calls", "300", "--connections", "3", "--timeout", LONG];
    let table = server.obvia(&[&run[..], &files].concat()).good();
    let row = table.lines().find(|line| line.starts_with("ICalc2.Add")).unwrap_or_else(|| panic!("{table}"));
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells[..5], ["ICalc2.Add", "closed", "3", "300", "0"], "{table}");
    let document: Value = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    let wanted = json!({ "name": "calc", "method": "ICalc2.Add", "loop": "closed", "connections": 3, "calls": 300,
        "failed": 0, "unanswered": 0, "ended_by": "calls", "rate": null, "duration_s": null, "calls_max": 300, "late": null, "still_due": null,
        "error": null, "failures": [], "warmup_s": 1.0, "timeout_s": 60.0 });
    for (key, value) in wanted.as_object().unwrap() {
        assert_eq!(&document[key], value, "{key}: {document}");
    }
    let latency =
        ["min", "p50", "p90", "p99", "p99_9", "p99_99", "max"].map(|key| number(&document["latency_ns"][key]));
    assert!(latency[0] > 0.0 && latency.is_sorted(), "{document}");
    assert!(number(&document["calls_per_s"]) > 0.0 && number(&document["measured_s"]) > 0.0, "{document}");
    assert!(std::fs::read_to_string(plot).unwrap().ends_with("</svg>\n"));
    let lines = std::fs::read_to_string(histogram).unwrap();
    assert!(lines.contains("1/(1-Percentile)") && lines.contains("Total count    =          300]"), "{lines}");
    // The server also counts the calls of the warm-up, which are not measured.
    assert!(number(&server.call(&["Calls", "0", "--json"]).json()["calls"]) > 300.0);
}

#[test]
fn a_rate_shows_the_waits_that_a_slow_method_causes() {
    let server = Server::calc();
    // A call takes 20 ms at least, and one is due every 5 ms, so the last of 20 is 300 ms late.
    let wait = ["calc", "Wait", "20", "--calls", "20"];
    let (_, closed) = measure(&server, &wait);
    let (ran, open) = measure(&server, &[&wait[..], &["--rate", "200"]].concat());
    assert_eq!((ran.code, &open["loop"], &open["rate"]), (0, &json!("open"), &json!(200.0)), "{ran:?}");
    assert_eq!((&open["calls"], &open["still_due"]), (&json!(20), &json!(0)), "{open}");
    assert!(number(&open["latency_ns"]["max"]) > 300e6, "{open}");
    assert!(number(&open["latency_ns"]["p50"]) > number(&closed["latency_ns"]["p50"]), "{open} {closed}");
    assert!(number(&open["late"]) >= 10.0, "{open}");
    assert!(number(&open["calls_per_s"]) <= 200.0, "{open}");
}

#[test]
fn calls_that_a_slow_server_leaves_undone_are_reported() {
    let server = Server::calc();
    let run = ["bench", "load", "calc", "Wait", "100", "--rate", "100", "--duration", "1", "--warmup", "0"];
    let table = server.obvia(&[&run[..], &["--timeout", LONG]].concat()).good();
    assert!(table.contains("calls still due at the end, which are not in the percentiles"), "{table}");
    assert!(table.contains(" open "), "{table}");
}

#[test]
fn failures_are_counted_by_hresult() {
    let server = Server::calc();
    let (ran, document) = measure(&server, &["calc", "Add", "2147483647", "1", "--calls", "50"]);
    assert_eq!((ran.code, &document["calls"], &document["failed"]), (1, &json!(0), &json!(50)), "{ran:?}");
    let failure = json!([{ "hresult": "0x80070057", "message": "E_INVALIDARG", "count": 50 }]);
    assert_eq!((&document["failures"], &document["latency_ns"]), (&failure, &Value::Null), "{document}");
    let slow = ["bench", "load", "calc", "Wait", "600000", "--warmup", "0", "--timeout", "3", "--calls", "2"];
    let ran = server.obvia(&[&slow[..], &["--connections", "2"]].concat());
    assert!(
        ran.code == 4 && ran.out.contains("FAILED: 2 of 2 calls: ") && ran.out.contains("RPC_E_TIMEOUT"),
        "{ran:?}"
    );
}

#[test]
fn a_short_limit_of_calls_is_not_one_of_the_preparation() {
    let server = Server::calc();
    let ran = server.obvia(&["bench", "load", "calc", "Wait", "600000", "--timeout", "0.0001", "--calls", "1"]);
    // The call fails, after the connection was made and the interface's description was fetched.
    assert!(ran.out.contains("ICalc2.Wait") && ran.out.contains("FAILED: 1 of 1 calls: "), "{ran:?}");
    assert_eq!(ran.code, 4, "{ran:?}");
}

#[test]
fn files_that_cannot_be_written_are_reported_before_the_run() {
    let server = Server::calc();
    let file = |name: &str| server.directory.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(file("old.json"), "old").unwrap();
    let (old, new, missing) = (file("old.json"), file("new.hgrm"), file("missing/out.svg"));
    let calls = || number(&server.call(&["Calls", "0", "--json"]).json()["calls"]);
    let before = calls();
    let run = ["bench", "load", "calc", "Add", "2", "3", "--calls", "5", "--json", &old, "--histogram", &new];
    let said = server.obvia(&[&run[..], &["--plot", &missing]].concat()).bad_with(1);
    assert!(said.contains("missing/out.svg"), "{said}");
    assert_eq!((std::fs::read_to_string(&old).unwrap().as_str(), Path::new(&new).exists()), ("old", false));
    assert!(calls() - before <= 1.0, "no call of the run was made");
    server.obvia(&run).good();
    assert!(std::fs::read_to_string(&old).unwrap().starts_with('{') && Path::new(&new).exists());
}

#[test]
fn wrong_usage_and_missing_servers_are_told_apart() {
    let server = Server::calc();
    let load = |arguments: &[&str]| server.obvia(&[&["bench", "load"], arguments].concat());
    let wrong: [(&[&str], &str); 8] = [
        (&["calc", "Addd", "1", "2"], "ICalc2 has no method `Addd`"),
        (&["calc", "Add", "1"], "takes 2 arguments"),
        (&["calc", "Add", "1", "x"], "argument `b`"),
        (&["calc", "Add", "1", "2", "--rate", "0"], "--rate"),
        (&["calc", "Add", "1", "2", "--rate", "0.5", "--duration", "1"], "a `--duration` of at least 2"),
        (&["calc", "Add", "1", "2", "--calls", "0"], "--calls"),
        (&["calc", "Add", "1", "2", "--connections", "100000"], "--connections"),
        (&["calc", "Add", "1", "2", "--duration", "-1"], "--duration"),
    ];
    for (arguments, part) in wrong {
        let said = load(arguments).bad_with(2);
        assert!(said.contains(part), "{arguments:?}: {said}");
    }
    assert!(load(&["clac", "Add", "1", "2"]).bad_with(3).contains("did you mean"), "a name without a server");
}

#[test]
fn objects_among_the_results_are_released() {
    let server = Server::calc();
    let (ran, document) = measure(&server, &["calc", "Tape", "--calls", "100"]);
    assert_eq!((ran.code, &document["calls"]), (0, &json!(100)), "{ran:?}");
    let (ran, document) = measure(&server, &["calc", "Tape/Length", "--calls", "10"]);
    assert_eq!((ran.code, &document["method"], &document["calls"]), (0, &json!("ITape.Length"), &json!(10)), "{ran:?}");
}

/// Starts the measurement, and waits for the first report of answered calls.
fn endless(directory: &Directory, arguments: &[&str]) -> (Child, BufReader<std::process::ChildStderr>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_obvia"));
    command.args(["bench", "load"]).args(arguments).args(["--warmup", "0", "--duration", "3600", "--progress"]);
    command.env("OBVIA_RUNTIME_DIR", directory.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut reports = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains(" calls, ") || line.contains(" 0 calls, ") {
        line.clear();
        assert_ne!(reports.read_line(&mut line).unwrap(), 0, "the measurement has ended");
    }
    (child, reports)
}

/// Waits for the end of the measurement.
fn ended((mut child, mut reports): (Child, BufReader<std::process::ChildStderr>)) -> Ran {
    let (mut out, mut err) = (String::new(), String::new());
    reports.read_to_string(&mut err).unwrap();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    Ran { code: child.wait().unwrap().code().unwrap(), out, err }
}

#[test]
fn an_interrupted_run_reports_what_it_has_measured() {
    let server = Server::calc();
    let running = endless(&server.directory, &["calc", "Add", "2", "3", "--timeout", LONG, "--json", "-"]);
    kill_process(Pid::from_child(&running.0), Signal::INT).unwrap();
    let ran = ended(running);
    let document = ran.json();
    assert_eq!((ran.code, &document["ended_by"], &document["failed"]), (0, &json!("interrupt"), &json!(0)), "{ran:?}");
    assert!(number(&document["calls"]) > 0.0, "{document}");
}

#[obvia::object(ITape)]
struct Ribbon;

impl ITape_Impl for Ribbon_Impl {
    fn Length(&self) -> obvia::Result<u32> {
        Ok(7)
    }

    fn Read(&self, _: u32, _: &mut [Entry]) -> obvia::Result<u32> {
        Err(code::E_NOTIMPL.into())
    }

    fn All(&self) -> obvia::Result<Vec<Entry>> {
        Err(code::E_NOTIMPL.into())
    }

    fn Watch(&self, _: Option<&ITapeEvents>) -> obvia::Result<()> {
        Err(code::E_NOTIMPL.into())
    }

    fn Watcher(&self) -> obvia::Result<ITapeEvents> {
        Err(code::E_NOTIMPL.into())
    }
}

#[test]
#[ignore = "the server of tests elsewhere, in a process of its own"]
fn serve_a_tape_over_networks() {
    let _export = obvia::export("tape", ITape::from(Ribbon)).unwrap();
    let bindings =
        ["ncacn_vi_udp:127.0.0.1[0]", "ncacn_ip_tcp:127.0.0.1[0]"].map(|binding| obvia::listen(binding).unwrap());
    println!("\nserving tape\n{}", bindings.join("\n"));
    obvia::wait();
}

fn tape_server() -> Server {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "--nocapture", "load::serve_a_tape_over_networks"]);
    Server::start(command)
}

#[test]
fn the_end_of_the_server_ends_the_run_on_every_protocol_sequence() {
    for sequence in ["ncacn_vi_shm", "ncacn_vi_udp", "ncacn_ip_tcp"] {
        let mut server = tape_server();
        let named = |binding: String| binding.replace(']', ",name=tape]");
        let bindings = ["tape".to_owned(), named(server.line()), named(server.line())];
        let name = bindings.iter().find(|name| name.starts_with(sequence)).unwrap_or(&bindings[0]);
        let running =
            endless(&server.directory, &[name, "ITape.Length", "--connections", "2", "--timeout", "5", "--json", "-"]);
        server.end_by(Signal::KILL);
        let ran = ended(running);
        let document = ran.json();
        assert!([3, 4].contains(&ran.code), "{sequence}: {ran:?}");
        assert_eq!(document["ended_by"], "server", "{sequence}: {document}");
        assert!(number(&document["calls"]) > 0.0 && document["error"]["hresult"].is_string(), "{document}");
        assert!(ran.err.contains("the server of ITape.Length"), "{sequence}: {ran:?}");
    }
}

#[test]
fn a_stopped_server_ends_the_run_after_the_time_limit_of_a_call() {
    let server = Server::calc();
    let running = endless(&server.directory, &["calc", "Add", "2", "3", "--timeout", "1"]);
    let pid = Pid::from_raw(server.pid().cast_signed()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    let ran = ended(running);
    assert!(ran.code == 4 && ran.err.contains("stopped answering"), "{ran:?}");
    assert!(ran.out.contains("ICalc2.Add") && ran.out.contains("FAILED: "), "{ran:?}");
}
