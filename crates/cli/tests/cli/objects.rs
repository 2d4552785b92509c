//! Tests of `obvia ls`, `describe` and `call` as users run them, against the calculator of the
//! examples.

use crate::running::{Directory, Server};
use calc::{Entry, ITapeEvents, ITapeEvents_Impl};
use serde_json::json;
use std::process::Command;
use std::time::{Duration, Instant};

#[test]
fn an_empty_listing_is_reported() {
    let directory = Directory::new();
    let listed = directory.obvia(&["ls"]);
    assert_eq!((listed.code, listed.out.as_str()), (0, ""));
    assert!(listed.err.contains("no name is exported"), "{listed:?}");
    assert_eq!(directory.obvia(&["ls", "--json"]).json(), json!([]));
}

#[test]
fn exported_names_are_listed() {
    let server = Server::calc();
    let pid = server.pid().to_string();
    let table = server.obvia(&["ls"]).good();
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    let expected = [["NAME", "PID", "INTERFACE", "PROTOCOL"], ["calc", &pid, "ICalc2", "ncacn_vi_shm"]];
    assert_eq!(rows, expected);
    let columns: Vec<_> = table.lines().zip(["INTERFACE", "ICalc2"]).map(|(line, cell)| line.find(cell)).collect();
    assert_eq!(columns[0], columns[1], "{table}");
    assert!(server.obvia(&["ls", "-v"]).good().contains("5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7a13"));
    let listed = server.obvia(&["ls", "--json"]).json();
    let bindings = listed[0]["bindings"].clone();
    let expected = json!([{
        "name": "calc",
        "pid": server.pid(),
        "interface": "ICalc2",
        "iid": "5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7a13",
        "protocols": ["ncacn_vi_shm"],
        "bindings": bindings,
        "over": "ncacn_vi_shm",
    }]);
    assert_eq!(listed, expected);
    // The binding leads to the same process as the name.
    let binding = bindings[0].as_str().unwrap();
    assert!(binding.starts_with("ncacn_vi_shm:"), "{binding}");
    assert_eq!(server.obvia(&["ls", binding, "--json"]).json()[0]["name"], "calc");
}

#[test]
fn a_running_server_describes_its_interfaces() {
    let server = Server::calc();
    let text = server.obvia(&["describe", "calc"]).good();
    assert!(text.contains("interface ICalc2 : ICalc {"), "{text}");
    assert!(text.contains("HRESULT Add([in] long a, [in] long b, [out, retval] long *sum);"), "{text}");
    let tape = server.obvia(&["describe", "calc", "ITape", "--json"]).json();
    assert_eq!(tape["interface"], "ITape");
    assert_eq!(tape["methods"][1]["name"], "Read");
    assert_eq!(tape["methods"][1]["opnum"], 4);
    let by_iid = server.obvia(&["describe", "calc", "{5F0E4C52-0A34-4AC4-8D6C-2C9F3A1F7A11}", "--json"]).json();
    assert_eq!(by_iid, tape);
    // The server's fingerprint equals the one computed from the IDL file.
    let compiled = server.obvia(&["idl", "--check", "--json", calc_idl()]).json();
    assert_eq!(compiled["interfaces"][1]["name"], "ITape");
    assert_eq!(compiled["interfaces"][1]["fingerprint"], tape["fingerprint"]);
}

fn calc_idl() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/calc/calc.idl")
}

#[test]
fn numbers_and_enumerations_are_passed() {
    let server = Server::calc();
    assert_eq!(server.call(&["ICalc2.Nothing"]).good(), "done\n");
    assert_eq!(server.call(&["ICalc2.Nothing", "--json"]).json(), json!({}));
    assert_eq!(server.call(&["Add", "2", "3"]).good(), "sum = 5\n");
    assert_eq!(server.call(&["ICalc2.Add", "-2", "-3", "--json"]).json(), json!({ "sum": -5 }));
    // An object has the base interfaces of the exported interface as well.
    assert_eq!(server.call(&["ICalc.Add", "0x10", "1"]).good(), "sum = 17\n");
    assert_eq!(server.call(&["Compute", "MULTIPLY", "6", "7"]).good(), "result = 42.0\n");
    assert_eq!(server.call(&["Compute", "2", "6.5", "-1e3"]).good(), "result = 1006.5\n");
    assert_eq!(server.call(&["Compute", "DIVIDE", "1", "0"]).good(), "result = inf\n");
    // The two calls of Add are counted.
    assert_eq!(server.call(&["Calls", "100", "--json"]).json(), json!({ "calls": 103, "many": true }));
}

#[test]
fn array_arguments_determine_their_counts() {
    let server = Server::calc();
    assert_eq!(server.call(&["Sum", "[1, 2, 2147483647]"]).good(), "sum = 2147483650\n");
    assert_eq!(server.call(&["Sum", "[]"]).good(), "sum = 0\n");
    assert_eq!(server.call(&["Scale", "1.5", "[1, 2, 3]"]).good(), "values = [1.5,3.0,4.5]\n");
    assert_eq!(server.call(&["Grid", "3", "2", "[1, 2, 3, 4, 5, -6]"]).good(), "sum = 9\n");
    let many: Vec<i32> = (0..20_000).collect();
    let many = serde_json::to_string(&many).unwrap();
    assert_eq!(server.call(&["Sum", &many]).good(), "sum = 199990000\n");
}

#[test]
fn string_arguments_can_be_unquoted() {
    let server = Server::calc();
    assert_eq!(server.call(&["Name", "en"]).good(), "name = \"calculator\"\n");
    assert_eq!(server.call(&["Name", "\"de\"", "--json"]).json(), json!({ "name": "Taschenrechner \u{1f9ee}" }));
    assert_eq!(server.call(&["Shout", "quiet words"]).good(), "loud = \"QUIET WORDS\"\nletters = 11\n");
    assert_eq!(server.call(&["Shout", "123"]).good(), "loud = \"123\"\nletters = 3\n");
    assert_eq!(server.call(&["Shout", "null"]).good(), "loud = \"\"\nletters = 0\n");
}

#[test]
fn structure_arguments_are_json_objects() {
    let server = Server::calc();
    let entry = r#"{ "operation": "ADD", "left": 1, "right": 2, "result": 3, "marked": true }"#;
    assert_eq!(server.call(&["Percent", "50", entry]).good(), "result = 1.5\n");
    assert_eq!(server.call(&["Percent", "100", "null"]).good(), "result = 0.0\n");
    server.call(&["Compute", "ADD", "100", "2"]).good();
    server.call(&["Compute", "SUBTRACT", "5", "7"]).good();
    let first = json!({ "operation": "ADD", "left": 100.0, "right": 2.0, "result": 102.0, "marked": true });
    let second = json!({ "operation": "SUBTRACT", "left": 5.0, "right": 7.0, "result": -2.0, "marked": false });
    // The room for results is an argument, because no [in] array implies it.
    let read = server.call(&["Tape/Read", "1", "9", "--json"]).json();
    assert_eq!(read, json!({ "entries": [second], "got": 1 }));
    let all = server.call(&["Tape/All", "--json"]).json();
    assert_eq!(all, json!({ "entries": [first, second] }));
}

#[test]
fn returned_objects_are_described_released_and_callable() {
    let server = Server::calc();
    let tape = json!({ "interface": "ITape", "iid": "5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7a11", "released": true });
    assert_eq!(server.call(&["Tape", "--json"]).json(), json!({ "tape": tape }));
    let line = "tape = ITape {5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7a11}, released\n";
    assert_eq!(server.call(&["ICalc.Tape"]).good(), line);
    assert_eq!(server.call(&["Ask", "ITape", "--json"]).json(), json!({ "object": tape }));
    let asked = server.call(&["Ask", "5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7a11", "--json"]);
    assert_eq!(asked.json(), json!({ "object": tape }));
    assert_eq!(server.call(&["ICalc.Tape/ITape.Length"]).good(), "length = 0\n");
    assert_eq!(server.call(&["Tape/Watch", "null"]).good(), "done\n");
    let error = server.call(&["Tape/Watch", "{}"]).bad();
    assert!(error.contains("argument `events`: an object cannot be passed here, only null"), "{error}");
    let error = server.call(&["Tape/ICalc.Add", "1", "2"]).bad();
    assert!(error.contains("the object has no interface ICalc"), "{error}");
    let error = server.call(&["Nothing/Add", "1", "2"]).bad();
    assert!(error.contains("ICalc2.Nothing returned no object"), "{error}");
}

#[test]
fn failed_calls_are_reported_with_their_hresult() {
    let server = Server::calc();
    assert_eq!(server.call(&["Add", "2147483647", "1"]).bad(), "obvia: ICalc2.Add failed: E_INVALIDARG [0x80070057]\n");
    let failed = server.call(&["Add", "2147483647", "1", "--json"]);
    let error = json!({ "method": "ICalc2.Add", "hresult": "0x80070057", "message": "E_INVALIDARG" });
    assert_eq!((failed.code, failed.json()), (1, json!({ "error": error })));
    let none = server.call(&["Ask", "5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7a10"]).bad();
    assert!(none.contains("E_NOINTERFACE"), "{none}");
    assert!(server.call(&["Tape/Watcher"]).bad().contains("E_POINTER"));
    assert!(server.call(&["Crash"]).bad().contains("E_UNEXPECTED"));
    let (wait, start) = (Duration::from_secs(600), Instant::now());
    let milliseconds = wait.as_millis().to_string();
    assert!(server.call(&["Wait", &milliseconds, "--timeout", "0.1"]).bad().contains("RPC_E_TIMEOUT"));
    assert!(start.elapsed() < wait, "it was waited for: {:?}", start.elapsed());
    assert_eq!(server.call(&["Add", "1", "1"]).good(), "sum = 2\n");
}

#[test]
fn misspelled_names_get_a_suggestion() {
    let server = Server::calc();
    let said = |arguments: &[&str], wanted: &[&str]| {
        let error = server.obvia(arguments).bad();
        for part in wanted {
            assert!(error.contains(part), "{arguments:?}: {error}");
        }
    };
    said(
        &["call", "clac", "Add"],
        &["no process exports `clac`; did you mean `calc`?", "the exported names are: calc"],
    );
    said(&["describe", "other"], &["no process exports `other`\n", "the exported names are: calc"]);
    said(&["describe", "calc", "ITpae"], &["did you mean `ITape`?", "ICalc, ICalc2, ITape, ITapeEvents"]);
    said(&["call", "calc", "Ad", "1", "2"], &["ICalc2 has no method `Ad`; did you mean `Add`?", "Calls"]);
    let add = "HRESULT Add([in] long a, [in] long b, [out, retval] long *sum);";
    said(&["call", "calc", "Add", "1"], &["takes 2 arguments: a, b; 1 given", add]);
    said(&["call", "calc", "Add", "1", "2", "3"], &["takes 2 arguments: a, b; 3 given", add]);
    said(&["call", "calc", "Add", "1", "x"], &["argument `b`: expected an integer, found \"x\"", add]);
    said(&["call", "calc", "Add", "1", "2147483648"], &["argument `b`: 2147483648 is outside of the range of long"]);
    said(&["call", "calc", "Compute", "DVIDE", "1", "2"], &["did you mean `DIVIDE`?"]);
    said(&["call", "calc", "Sum", "[1, true]"], &["argument `values`: [1]: expected an integer, found true"]);
    said(&["call", "calc", "Sum", "1"], &["argument `values`: expected an array, found 1"]);
    said(&["call", "calc", "Grid", "3", "3", "[1]"], &["argument `cells`: ", "require 9 elements, but 1 are given"]);
    said(&["call", "calc", "Percent", "101", "null"], &["argument `percent`: 101 is not between 0 and 100"]);
    said(&["call", "calc", "Percent", "1", r#"{"operation": 1}"#], &["member `left` of Entry is missing"]);
    said(&["call", "calc", "Ask", "IWhat"], &["argument `iid`: expected a GUID"]);
    let nobody = Directory::new().obvia(&["call", "calc", "Add"]).bad();
    assert!(nobody.contains("no process exports `calc` or any other name"), "{nobody}");
}

#[obvia::object(ITapeEvents)]
struct Printer;

impl ITapeEvents_Impl for Printer_Impl {
    fn Printed(&self, entry: &Entry) -> obvia::Result<()> {
        println!("printed {:?} {}", entry.operation, entry.result);
        Ok(())
    }

    fn Hint(&self, code: i32) -> obvia::Result<()> {
        println!("hint {code}");
        Ok(())
    }
}

#[test]
#[ignore = "the server of a test below, in a process of its own"]
fn serve_a_printer() {
    export_a_printer();
}

#[test]
#[ignore = "the server of tests elsewhere, in a process of its own"]
fn serve_a_printer_over_networks() {
    let _export = obvia::export("printer", ITapeEvents::from(Printer)).unwrap();
    let bindings =
        ["ncacn_vi_udp:127.0.0.1[0]", "ncacn_ip_tcp:127.0.0.1[0]"].map(|binding| obvia::listen(binding).unwrap());
    obvia::listen("ncalrpc:[printer]").unwrap();
    println!("\nserving printer\n{}", bindings.join("\n"));
    obvia::wait();
}

/// Returns the error of an export under an invalid name.
pub(crate) fn export_as(name: &str) -> obvia::Error {
    obvia::export(name, ITapeEvents::from(Printer)).map(drop).unwrap_err()
}

/// Serves a printer until the process is killed.
pub(crate) fn export_a_printer() -> ! {
    let _export = obvia::export("printer", ITapeEvents::from(Printer)).unwrap();
    // A newline comes first, because the test framework has printed the test's name without one.
    println!("\nserving printer");
    obvia::wait()
}

#[test]
fn oneway_methods_run_although_the_command_does_not_wait() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "--nocapture", "objects::serve_a_printer"]);
    let mut server = Server::start(command);
    assert_eq!(server.obvia(&["call", "printer", "ITapeEvents.Hint", "7"]).good(), "done\n");
    assert_eq!(server.line(), "hint 7");
    let entry = r#"{"operation": "DIVIDE", "left": 1, "right": 2, "result": 0.5, "marked": false}"#;
    assert_eq!(server.obvia(&["call", "printer", "Printed", entry]).good(), "done\n");
    assert!(server.line().ends_with("0.5"));
}
