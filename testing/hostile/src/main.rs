//! The processes that hostile peers attack: a server, a client of a hostile server, and a witness,
//! which is a client that must not be disturbed. Other roles are for tests of the call context, of
//! error information and of file systems.
//!
//! Servers and witnesses end when their standard input does, so that they do not outlive their
//! test.

mod client;
mod contexts;
mod fuse;
mod graphs;
mod objects;

use obvia::Interface;
use obvia_hostile::IVictim;
use obvia_hostile::contexts::IContexts;
use obvia_hostile::graphs::IGraphs;
use std::io::Read;

/// The exported name of the good server.
const NAME: &str = "victim";

fn main() -> obvia::Result<()> {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("server") => serve::<IVictim>(objects::Victim.into(), arguments.next()),
        Some("context-server") => serve::<IContexts>(contexts::ContextServer::default().into(), arguments.next()),
        Some("context-client") => {
            let servers: Vec<_> = arguments.collect();
            contexts::run(&servers[0], &servers[1])
        }
        Some("client") => client::visit(&arguments.collect::<Vec<_>>()),
        Some("graph-server") => serve::<IGraphs>(graphs::Graphs.into(), None),
        Some("graph-client") => graphs::visit(&arguments.next().unwrap_or_default()),
        Some("mapper") => {
            let name = arguments.next().unwrap_or_default();
            client::map(&name, arguments.next().as_deref() == Some("silent"))
        }
        Some("failure-reporter") => client::report_failures(&arguments.next().unwrap_or_default()),
        Some("file-system") => {
            fuse::serve(&arguments.map(|number| number.parse().expect("an operation")).collect::<Vec<_>>());
            Ok(())
        }
        Some("witness") => {
            let away = arguments.collect::<Vec<_>>();
            std::thread::spawn(|| {
                wait_for_end();
                std::process::exit(if client::calls() > 0 { 0 } else { 3 });
            });
            if away.is_empty() { client::witness() } else { client::witness_from_away(&away) }
        }
        _ => panic!("the first argument names one of these roles"),
    }
}

fn serve<T: Interface + obvia::Remote>(object: T, binding: Option<String>) -> obvia::Result<()> {
    let _export = obvia::export(NAME, object)?;
    match binding {
        Some(binding) => println!("ready {}", obvia::listen(&binding)?),
        None => println!("ready"),
    }
    wait_for_end();
    Ok(())
}

fn wait_for_end() {
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}
