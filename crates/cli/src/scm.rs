//! The subcommand `obvia scm`: serves activation for this user, by starting servers on demand.

use crate::print;
use anyhow::Context;
use clap::Args;
use std::process::ExitCode;

/// The arguments of `obvia scm`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  obvia scm --listen 'ncacn_ip_tcp:0.0.0.0[135,security=integrity]'
The command serves until SIGINT, SIGTERM or SIGHUP; the servers that it started continue to run.")]
pub(crate) struct Arguments {
    /// String binding to listen on for other hosts: ncacn_ip_tcp:0.0.0.0[135,security=integrity].
    /// Clients on those hosts can start the servers whose registrations allow it
    #[arg(long, value_name = "BINDING")]
    listen: Vec<String>,
    /// Options for sockets that systemd passes: ncacn_ip_tcp:[,security=integrity]
    #[arg(long, value_name = "BINDING", default_value = "ncacn_ip_tcp:")]
    passed: String,
}

pub(crate) fn main(Arguments { listen, passed }: &Arguments) -> anyhow::Result<ExitCode> {
    // Signals are caught before the bindings are printed: a script that has read the bindings may
    // send a signal, and the command then has to end normally.
    obvia::catch_signals()?;
    let service = obvia::scm::serve().map_err(|error| match obvia::scm::service() {
        Ok(Some(pid)) => anyhow::anyhow!("process {pid} is already this user's SCM"),
        _ => anyhow::anyhow!("{error}"),
    })?;
    let mut heard = obvia::listen_passed(passed).context("listening on the passed sockets")?;
    for binding in listen {
        heard.push(obvia::listen(binding).with_context(|| binding.clone())?);
    }
    for binding in heard {
        print::line(&format!("listening on {binding}"))?;
    }
    print::line("serving activation")?;
    obvia::wait_for_signal()?;
    drop(service);
    Ok(ExitCode::SUCCESS)
}
