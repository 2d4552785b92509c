//! The processes that have hostile peers: a server, a client of a hostile server, and a client that nothing may disturb.
//!
//! Each ends when its standard input does, so none outlives its test.

mod client;
mod objects;

use obvia_hostile::IVictim;
use std::io::Read;

/// The name that the server exports.
const NAME: &str = "victim";

fn main() -> obvia::Result<()> {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("server") => serve(arguments.next()),
        Some("client") => client::visit(&arguments.collect::<Vec<_>>()),
        Some("listener") => client::hear(&arguments.next().unwrap_or_default()),
        Some("witness") => {
            let away = arguments.collect::<Vec<_>>();
            std::thread::spawn(|| {
                wait_for_end();
                std::process::exit(if client::calls() > 0 { 0 } else { 3 });
            });
            if away.is_empty() { client::witness() } else { client::witness_from_away(&away) }
        }
        _ => panic!("the first argument is server, client, listener or witness"),
    }
}

fn serve(binding: Option<String>) -> obvia::Result<()> {
    let _export = obvia::export(NAME, IVictim::from(objects::Victim))?;
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
