//! Serves a directory tree: `pfs-server [--write] DIRECTORY [NAME]`.

use pfs::server::Pfs;
use pfs::tree::Tree;
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: pfs-server [--write] DIRECTORY [NAME]

Serves the files below DIRECTORY by NAME (\"pfs\" where none is given) until it is told to end.
With --write clients may change them.";

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let write = arguments.iter().position(|argument| argument == "--write");
    if let Some(at) = write {
        arguments.remove(at);
    }
    let (directory, name) = match arguments.as_slice() {
        [directory] if !directory.starts_with('-') => (directory.as_str(), "pfs"),
        [directory, name] => (directory.as_str(), name.as_str()),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    let tree = match Tree::new(Path::new(directory), write.is_some()) {
        Ok(tree) => tree,
        Err(errno) => {
            eprintln!("pfs-server: {directory}: {errno}");
            return ExitCode::FAILURE;
        }
    };
    match obvia::export(name, pfs::IPfs::from(Pfs(tree))) {
        Ok(_export) => {
            println!("serving {directory} as {name}");
            obvia::wait()
        }
        Err(error) => {
            eprintln!("pfs-server: {error}");
            ExitCode::FAILURE
        }
    }
}
