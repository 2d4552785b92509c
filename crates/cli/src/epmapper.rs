//! The subcommand `obvia epmapper`: serves the endpoint mapper of the host.

use crate::print;
use clap::Args;
use std::process::ExitCode;

/// The arguments of `obvia epmapper`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  obvia epmapper --host 127.0.0.1 --port 1135
The command serves until SIGINT, SIGTERM or SIGHUP.")]
pub(crate) struct Arguments {
    /// The address to listen on, one of this host's
    #[arg(long, default_value = "0.0.0.0")]
    host: String,
    /// The port to listen on; 0 for any free one. Clients look for mappers at 135, which needs
    /// privileges
    #[arg(long, default_value_t = 135)]
    port: u16,
    /// The ncalrpc endpoint at which servers of this user register
    #[arg(long, default_value = "epmapper")]
    name: String,
}

pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let Arguments { host, port, name } = arguments;
    // Signals are caught before the bindings are printed: a script that has read the bindings may
    // send a signal, and the command then has to end normally.
    obvia::catch_signals()?;
    let [tcp, local] = [format!("ncacn_ip_tcp:{host}[{port}]"), format!("ncalrpc:[{name}]")];
    let mapper = obvia::serve_endpoint_mapper(&[&tcp, &local]).map_err(|error| {
        let help = "another program may already be this host's endpoint mapper, or the port may need privileges: see \
            --port";
        anyhow::anyhow!("cannot serve {tcp} or {local}: {error}\n{help}")
    })?;
    for binding in mapper.bindings() {
        print::line(&format!("serving {binding}"))?;
    }
    obvia::wait_for_signal()?;
    drop(mapper);
    Ok(ExitCode::SUCCESS)
}
