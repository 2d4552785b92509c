//! Runs every client of the examples with its server.

use crate::outcome::{Outcome, Problem};
use crate::program::{Program, target};
use crate::repo::load;
use crate::server::{Names, Server};
use crate::workspace;

/// Runs each `NAME-client` of the examples with its `NAME-server`.
pub(super) fn run() -> Outcome {
    let names = clients(&load()?);
    if names.is_empty() {
        return Err(Problem::missing("no example has a client"));
    }
    workspace::build()?;
    names.iter().try_for_each(|name| run_client(name))
}

/// Returns the examples that have a client.
fn clients(repo: &crate::repo::Repo) -> Vec<String> {
    let find = |path: &str| {
        let name = path.strip_prefix("examples/")?.split('/').next()?;
        let client = format!("examples/{name}/src/bin/{name}-client.rs");
        (path == client).then(|| name.to_owned())
    };
    repo.files.iter().filter_map(|file| find(&file.path)).collect()
}

fn run_client(example: &str) -> Outcome {
    let path = |side| target().join(format!("debug/{example}-{side}")).display().to_string();
    let names = Names::new()?;
    let _server = Server::start(&names.see(Program::new(&path("server"), &[])))?;
    names.see(Program::new(&path("client"), &[])).run()
}

#[cfg(test)]
mod tests {
    use super::clients;
    use crate::repo::Repo;

    #[test]
    fn example_clients_are_found() {
        let repo = Repo::of(&[
            ("examples/calc/src/bin/calc-client.rs", ""),
            ("examples/calc/src/bin/calc-server.rs", ""),
            ("examples/pfs/src/bin/pfs-shell.rs", ""),
        ]);
        assert_eq!(clients(&repo), ["calc"]);
    }
}
