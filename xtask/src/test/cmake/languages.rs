//! Tests the examples that exist in Rust and in C++ with values: each client with each server.

use super::{GCC, NINJA, Outside, copy};
use crate::outcome::Outcome;
use crate::program::{Program, target};
use crate::repo::root;
use crate::server::{Names, Server};

pub(super) fn check(outside: &Outside) -> Outcome {
    ["calc", "ticker"].into_iter().try_for_each(|example| check_example(outside, example))
}

fn check_example(outside: &Outside, example: &str) -> Outcome {
    let folder = format!("{example}-in-cpp");
    let project = outside.folder.path().join(&folder);
    copy(&root().join("examples").join(example), &project)?;
    let in_cpp = outside.cmake(&folder, &project, NINJA, GCC, &[])?;
    let in_rust = target().join("debug").display().to_string();
    // The pair in Rust is tested with the other examples.
    for (server, client) in [(&in_rust, &in_cpp), (&in_cpp, &in_rust), (&in_cpp, &in_cpp)] {
        let names = Names::new()?;
        let _server = Server::start(&names.see(Program::new(&format!("{server}/{example}-server"), &[])))?;
        names.see(Program::new(&format!("{client}/{example}-client"), &[])).read()?;
    }
    Ok(())
}
