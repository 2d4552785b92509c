//! DCOM's clients that others wrote, and objects of this project's: impacket at each level of authentication, scapy, and Samba's tests of the
//! resolver, with tshark as the witness of all that was said.

use super::super::examples::Server;
use super::traces::{finds, nothing_is_malformed};
use super::{USER, built, has_usual_port, python, succeeds};
use crate::Outcome;
use crate::program::Program;
use crate::temporary::Folder;
use std::path::Path;

/// Where the clients look for the server, and nowhere else.
const BINDING: &str = "ncacn_ip_tcp:127.0.0.1[135]";
/// How often clients have to ping, in milliseconds.
const PERIOD: &str = "500";

/// What tshark has to find in what is said without protection: filters, and what they mean.
const SAID: [(&str, &str); 5] = [
    ("dcom.objref.flags == 1 && isystemactivator", "reference of the standard form in the answer to an activation"),
    ("isystemactivator.properties.scmresp.oxid", "process that has the object, in the answer to an activation"),
    ("dcom.objref.flags == 1 && remact", "reference in the answer to an older activation"),
    ("remunk && dcom.hresult == 0", "answer about further interfaces or references"),
    ("oxid.opnum == 2 && dcerpc.pkt_type == 2", "answer to a ping"),
];

pub(super) fn run() -> Outcome {
    if !has_usual_port("DCOM") {
        return Ok(());
    }
    let folder = Folder::new()?;
    for level in ["none", "connect", "integrity", "privacy"] {
        let capture = impacket(folder.path(), level)?;
        nothing_is_malformed(&capture)?;
        if level == "none" {
            SAID.iter().try_for_each(|(filter, what)| finds(&capture, filter, what))?;
        }
    }
    let (capture, server) = serve(folder.path(), "others")?;
    python("dcom_scapy.py", &["127.0.0.1"]).run()?;
    let tests = ["ServerAlive", "ServerAlive2"];
    let names = tests.map(|test| format!("rpc.oxidresolve.oxidresolver.{test}"));
    let resolver = Program::new("smbtorture", &["ncacn_ip_tcp:127.0.0.1", "-U", "%"]);
    succeeds(&resolver.with(&names.each_ref().map(String::as_str)), "oxidresolver", &tests)?;
    drop(server);
    nothing_is_malformed(&capture)
}

/// What traces a server of objects to a file.
fn command(folder: &Path, name: &str) -> (String, Vec<String>) {
    let capture = folder.join(format!("{name}.pcap")).display().to_string();
    let [user, password] = USER;
    let server = built("interop-objects");
    let words = ["trace", "--pcap", &capture, "--", &server, "--user", user, password, "--pinging", PERIOD, BINDING];
    let words = words.iter().map(|&word| word.to_owned()).collect();
    (capture, words)
}

/// impacket, which starts the server itself: the server tells it how many objects there are.
fn impacket(folder: &Path, level: &str) -> Outcome<String> {
    let (capture, words) = command(folder, level);
    let [user, password] = USER;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let client = python("dcom_impacket.py", &["127.0.0.1", user, password, level, &built("obvia")]);
    client.with(&words).run()?;
    Ok(capture)
}

fn serve(folder: &Path, name: &str) -> Outcome<(String, Server)> {
    let (capture, words) = command(folder, name);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Ok((capture, Server::start(&Program::new(&built("obvia"), &words))?))
}
