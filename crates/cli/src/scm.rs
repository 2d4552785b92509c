//! `obvia scm`: this user's service for activation, which starts servers on demand.

use crate::json;
use anyhow::Context;
use clap::Args;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::process::ExitCode;

/// The arguments of `obvia scm`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// What to listen on for other hosts, as a string binding: ncacn_ip_tcp:0.0.0.0[135,security=integrity]. They have those servers started
    /// whose registrations say so
    #[arg(long, value_name = "BINDING")]
    listen: Vec<String>,
}

pub(crate) fn main(Arguments { listen }: &Arguments) -> anyhow::Result<ExitCode> {
    // Before anybody is told that it serves: who ends it early ends it well.
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP]).context("waiting for signals")?;
    let service = obvia::scm::serve().map_err(|error| match obvia::scm::service() {
        Ok(Some(pid)) => anyhow::anyhow!("process {pid} is this user's service for activation already"),
        _ => anyhow::anyhow!("{error}"),
    })?;
    for binding in listen {
        json::line(&format!("listening on {}", obvia::listen(binding).with_context(|| binding.clone())?))?;
    }
    json::line("serving activation")?;
    // The first one will do. Servers go on.
    let _ = signals.forever().next();
    drop(service);
    Ok(ExitCode::SUCCESS)
}
