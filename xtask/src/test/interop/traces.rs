//! Checks the captures of `obvia trace` with tshark.

use super::{built, smbtorture};
use crate::outcome::{Outcome, Problem};
use crate::program::Program;
use crate::server::{Names, Server};
use crate::temporary::Folder;
use std::collections::HashSet;
use std::path::Path;

/// The number of rounds of `interop-calls`.
const ROUNDS: &str = "3";
/// The packet types of PDUs: C706 12.6.4.
const REQUEST: &str = "0";
const RESPONSE: &str = "2";
/// The filter that must not match. The streams are synthesized, so even warnings are errors.
const WRONG: &str = "_ws.malformed || _ws.expert.severity==warning || _ws.expert.severity==error";
/// The presentation context of the runtime's own interface, which is the first context.
const RUNTIME: &str = "0";

/// The filters that have to match in a capture of datagrams, and their meanings.
const DATAGRAMS: [(&str, &str); 7] = [
    ("conv.opnum == 1", "question who the client is"),
    ("dcerpc.opnum == 0 && dcerpc.dg_flags1_idempotent == 1 && !conv", "idempotent call"),
    ("dcerpc.pkt_type == 2 && dcerpc.fragment.count", "results that were put together"),
    ("dcerpc.pkt_type == 9", "fack"),
    ("dcerpc.pkt_type == 1", "ping"),
    ("dcerpc.pkt_type == 4", "working"),
    ("dcerpc.pkt_type == 7", "ack"),
];

/// Tests calls with this project at both ends over both kinds of streams, and calls of other
/// clients.
pub(super) fn run() -> Outcome {
    let folder = Folder::new()?;
    for (name, binding) in [("tcp", "ncacn_ip_tcp:127.0.0.1[0]"), ("local", "ncalrpc:[echo]")] {
        let names = Names::new()?;
        let (capture, server) = traced(folder.path(), name, binding, &names)?;
        let calls =
            Program::new(&built("interop-calls"), &[&transferring(server.place(), "ndr"), ROUNDS, super::ASLEEP]);
        let calls = names.see(calls).variable("OBVIA_TRACE", capture.as_str());
        let said = calls.read()?;
        drop(server);
        let expected: usize = said.split(' ').next().and_then(|count| count.parse().ok()).unwrap_or_default();
        nothing(&capture, WRONG)?;
        for (kind, what) in [(REQUEST, "requests"), (RESPONSE, "responses")] {
            let found = calls_of(&capture, kind, |context| context != RUNTIME)?;
            if found != expected || expected == 0 {
                let why = format!("{capture}: {found} {what} are in the trace of {expected} calls by {name}");
                return Err(Problem::Failed(why));
            }
        }
    }
    datagrams(folder.path())?;
    let (capture, server) = traced(folder.path(), "foreign", "ncacn_ip_tcp:127.0.0.1[0]", &Names::new()?)?;
    let port = super::port_of(&server);
    super::succeeds(&smbtorture(port, ",bigendian", "%", &super::QUICK), "echo", &super::ECHO[..9])?;
    drop(server);
    nothing(&capture, WRONG)?;
    // Samba's test of `addone` alone makes more calls than this number.
    if calls_of(&capture, REQUEST, |_| true)? < 10 {
        return Err(Problem::Failed(format!("{capture}: the requests of a peer that writes no trace are missing")));
    }
    Ok(())
}

/// Tests the connectionless protocol between two programs of this project. tshark has to find each
/// kind of PDU that calls over a good network need.
fn datagrams(folder: &Path) -> Outcome {
    let names = Names::new()?;
    // The server's address differs from the client's, because tshark reassembles fragments by
    // hosts, regardless of ports.
    let (capture, server) = traced(folder, "datagrams", "ncadg_ip_udp:127.0.0.2[0]", &names)?;
    let calls = Program::new(&built("interop-calls"), &[server.place()]);
    names.see(calls).variable("OBVIA_TRACE", capture.as_str()).run()?;
    drop(server);
    nothing_is_malformed(&capture)?;
    DATAGRAMS.iter().try_for_each(|(filter, what)| finds(&capture, filter, what))
}

/// Fails if no packet matches the filter. `what` is the filter's meaning.
pub(super) fn finds(capture: &str, filter: &str, what: &str) -> Outcome {
    if tshark(capture, &["-Y", filter]).read()?.trim().is_empty() {
        return Err(Problem::Failed(format!("{capture}: tshark finds no {what}: {filter}")));
    }
    Ok(())
}

/// Starts a server with a trace. Returns the trace's file and the server.
pub(super) fn traced(folder: &Path, name: &str, binding: &str, names: &Names) -> Outcome<(String, Server)> {
    let capture = folder.join(format!("{name}.pcap")).display().to_string();
    let words = ["trace", "--pcap", &capture, "--", &built("interop-echo"), binding];
    let server = Server::start(&names.see(Program::new(&built("obvia"), &words)))?;
    Ok((capture, server))
}

/// Adds the option for a transfer syntax to a binding.
fn transferring(binding: &str, syntax: &str) -> String {
    binding.replace(']', &format!(",transfer={syntax}]"))
}

/// Returns tshark. It tries the protocol's heuristics before it decides by well-known ports.
fn tshark(capture: &str, arguments: &[&str]) -> Program {
    Program::new("tshark", &["-n", "-r", capture, "-o", "tcp.try_heuristic_first:TRUE"]).with(arguments)
}

/// Fails if tshark finds a malformed PDU or an error.
pub(super) fn nothing_is_malformed(capture: &str) -> Outcome {
    nothing(capture, "_ws.malformed || _ws.expert.severity==error")
}

/// Fails if a packet matches the filter.
pub(super) fn nothing(capture: &str, filter: &str) -> Outcome {
    let wrong = tshark(capture, &["-Y", filter]).read()?;
    if wrong.trim().is_empty() { Ok(()) } else { Err(Problem::Failed(format!("tshark finds wrong:\n{wrong}"))) }
}

/// Counts the calls for which tshark finds a PDU of the type `kind` in certain presentation
/// contexts. A stream and a call identifier together identify a call.
fn calls_of(capture: &str, kind: &str, counts: fn(&str) -> bool) -> Outcome<usize> {
    let fields = ["tcp.stream", "dcerpc.cn_call_id", "dcerpc.pkt_type", "dcerpc.cn_ctx_id"];
    let fields: Vec<&str> = fields.iter().flat_map(|field| ["-e", field]).collect();
    let filter = format!("dcerpc.pkt_type == {kind} && tcp");
    let said = tshark(capture, &["-Y", &filter, "-T", "fields"]).with(&fields).read()?;
    let mut calls = HashSet::new();
    for line in said.lines() {
        let mut columns = line.split('\t');
        let mut column = || columns.next().unwrap_or_default();
        // Several PDUs may be in one packet.
        let (stream, ids, kinds, contexts) = (column(), column(), column(), column());
        let units = ids.split(',').zip(kinds.split(',')).zip(contexts.split(','));
        calls.extend(
            units
                .filter(|((_, found), context)| *found == kind && counts(context))
                .map(|((id, _), _)| (stream.to_owned(), id.to_owned())),
        );
    }
    Ok(calls.len())
}
