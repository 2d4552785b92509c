//! Builds the program of docs/tutorial.md, and compares the output of its clients with the page.
//!
//! The line before a code block begins with the name, in backticks, of the file to which the block
//! belongs. If that line says `at its end`, the block is appended to the file. Otherwise it
//! replaces the file, so that the last version counts. The block after "`cargo run --bin NAME`
//! prints:" is the output of that client. Every client runs with the server of the last step, in
//! the order of the page. Versions of files that a later step replaces are not built.

use super::readme::{blocks, cargo, checkout, compare, keep_versions, program, write, wrong};
use crate::outcome::{Outcome, Problem};
use crate::program::Program;
use crate::repo::root;
use crate::server::{Names, Server};
use std::fs;

const PAGE: &str = "docs/tutorial.md";

/// The client of a step, and its output.
type Client = (String, String);

pub(super) fn run() -> Outcome {
    let text = fs::read_to_string(root().join(PAGE)).map_err(|error| wrong(&error))?;
    let (files, clients) = read(&with_own_ports(&text, std::process::id()));
    let programs = files.iter().filter(|(name, _)| name.starts_with("src/bin/")).count();
    if clients.is_empty() || clients.len() + 1 != programs {
        return Err(Problem::Failed(format!("{PAGE} has {programs} programs, and the output of {}", clients.len())));
    }
    let folder = checkout().map_err(|error| wrong(&error))?.with_file_name("weather");
    write(&files, &folder)?;
    keep_versions(&folder)?;
    cargo(&["build", "--quiet"]).folder(&folder).run()?;

    let names = Names::new()?;
    let run = |name: &str| names.see(Program::new(&program(name), &[]));
    let _server = Server::start(&run("station"))?;
    clients.iter().try_for_each(|(name, promised)| compare(name, promised, &run(name).read()?))
}

/// Returns the page with other ports, because the page's own ports may be in use. The ports follow
/// from the process ID, so that two runs on a host have different ports. They lie below the ports
/// that the kernel assigns.
fn with_own_ports(text: &str, process: u32) -> String {
    let first = 20_000 + process % 5000 * 2;
    text.replace("[5555", &format!("[{first}")).replace("[5556", &format!("[{}", first + 1))
}

/// Returns the files of the last step, and the clients.
fn read(text: &str) -> (Vec<(String, String)>, Vec<Client>) {
    let (mut files, mut clients) = (Vec::<(String, String)>::new(), Vec::new());
    for (title, block) in blocks(text) {
        let Some(name) = title.strip_prefix('`').and_then(|rest| rest.split('`').next()) else { continue };
        if let Some(client) = name.strip_prefix("cargo run --bin ") {
            clients.push((client.to_owned(), block));
            continue;
        }
        match files.iter_mut().find(|(file, _)| file == name) {
            Some((_, text)) if title.contains("at its end") => *text += &block,
            Some((_, text)) => *text = block,
            None => files.push((name.to_owned(), block)),
        }
    }
    (files, clients)
}

#[cfg(test)]
mod tests {
    use super::{read, with_own_ports};

    #[test]
    fn later_blocks_of_a_tutorial_replace_or_extend_a_file() {
        let page = "`a.idl`:\n\n```\none\n```\n\nText.\n\n`a.idl`, at its end:\n\n```c\ntwo\n```\n\n`b.rs`:\n```\nx\n```\n\
                    `b.rs`, again:\n```\ny\n```\n`cargo run --bin b` prints:\n\n```\n2\n```\nA command:\n\n```\nz\n```\n";
        let of = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        assert_eq!(read(page), (vec![of("a.idl", "one\ntwo\n"), of("b.rs", "y\n")], vec![of("b", "2\n")]));
    }

    #[test]
    fn tutorials_of_two_runs_have_different_ports() {
        assert_eq!(with_own_ports("h[5555] h[5556,x]", 7), "h[20014] h[20015,x]");
        assert_eq!(with_own_ports("h[5556]", 4999), "h[29999]");
    }
}
