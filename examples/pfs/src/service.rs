//! The server program: `pfs-server`, and also the process that `pfs-demo` starts from its own
//! executable.

use crate::server::Pfs;
use crate::tree::Tree;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: pfs-server [--write] [--listen BINDING]... DIRECTORY [NAME]

Serves the files below DIRECTORY by NAME (\"pfs\" where none is given) until it is told to end.
With --write clients may change them. With --listen ncacn_vi_udp:0.0.0.0[5555] it is reached over the network
as well, by everybody who reaches the address.";

/// The parsed command line.
struct Arguments {
    write: bool,
    listen: Vec<String>,
    directory: String,
    name: String,
}

fn read(arguments: impl Iterator<Item = String>) -> Option<Arguments> {
    let (mut write, mut listen, mut rest) = (false, Vec::new(), Vec::new());
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--write" => write = true,
            "--listen" => listen.push(arguments.next()?),
            option if option.starts_with('-') => return None,
            _ => rest.push(argument),
        }
    }
    let mut rest = rest.into_iter();
    let (directory, name) = (rest.next()?, rest.next().unwrap_or_else(|| "pfs".to_owned()));
    rest.next().is_none().then_some(Arguments { write, listen, directory, name })
}

fn serve(Arguments { listen, directory, name, .. }: &Arguments, tree: Tree) -> obvia::Result<()> {
    obvia::catch_signals()?;
    let _export = obvia::export(name, crate::IPfs::from(Pfs(tree)))?;
    // Failed writes are ignored: if the reader of the output has ended, a signal will soon end the
    // server.
    let say = |line: String| drop(writeln!(std::io::stdout(), "{line}"));
    for binding in listen {
        say(format!("listening on {}", obvia::listen(binding)?));
    }
    say(format!("serving {directory} as {name}"));
    obvia::wait_for_signal()
}

/// Ends this process by SIGTERM when its standard input ends, that is, when the process at the
/// other end of the pipe ends or closes the pipe.
pub fn end_with_input() {
    std::thread::spawn(|| {
        // An error ends the input, too.
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TERM);
    });
}

/// Serves the tree that the command line names, until a signal ends the process.
pub fn run(arguments: impl Iterator<Item = String>) -> ExitCode {
    let Some(arguments) = read(arguments) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let directory = &arguments.directory;
    let tree = match Tree::new(Path::new(directory), arguments.write) {
        Ok(tree) => tree,
        Err(errno) => {
            eprintln!("pfs-server: {directory}: {errno}");
            return ExitCode::FAILURE;
        }
    };
    match serve(&arguments, tree) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pfs-server: {error}");
            ExitCode::FAILURE
        }
    }
}
