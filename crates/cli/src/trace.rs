//! The subcommand `obvia trace`: runs a program that writes its traffic by the standard's protocols
//! to a file for Wireshark.

use anyhow::Context;
use clap::Args;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// The arguments of `obvia trace`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  obvia trace --pcap calls.pcap -- ./client 'ncacn_ip_tcp:10.0.0.1[5555]'
The file contains calls over ncacn_ip_tcp, ncalrpc and ncadg_ip_udp, and no calls through shared memory or over virtual interfaces.")]
pub(crate) struct Arguments {
    /// The file to create, for Wireshark and tshark
    #[arg(long, value_name = "FILE")]
    pcap: PathBuf,
    /// Stop writing at this size of the file; K, M and G are understood, in powers of 1024
    #[arg(long, value_name = "BYTES", default_value = "1G", value_parser = bytes)]
    limit: u64,
    /// The program to run, and its arguments; the program and its child processes write to the file
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    command: Vec<std::ffi::OsString>,
}

/// Parses a number of bytes, which may end in K, M or G.
fn bytes(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.char_indices().next_back() {
        Some((at, 'K')) => (&text[..at], 10),
        Some((at, 'M')) => (&text[..at], 20),
        Some((at, 'G')) => (&text[..at], 30),
        _ => (text, 0),
    };
    let number: u64 =
        digits.parse().map_err(|_| "expected a number of bytes, which may end in K, M or G, as in 64M".to_owned())?;
    number.checked_mul(1 << shift).ok_or_else(|| "the limit exceeds the size of any file".to_owned())
}

pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    // The path is absolute, because programs may change their working directory.
    let path = std::path::absolute(&arguments.pcap)?;
    obvia::trace::create(&path).with_context(|| format!("{}", path.display()))?;
    let mut command = Command::new(&arguments.command[0]);
    command.args(&arguments.command[1..]);
    command.env(obvia::trace::VARIABLE, &path).env(obvia::trace::LIMIT_VARIABLE, arguments.limit.to_string());
    // The program replaces this process, so that the program itself gets signals and determines the
    // exit code.
    let error = command.exec();
    // The program did not start, so the file is empty.
    let _ = std::fs::remove_file(&path);
    Err(error).with_context(|| format!("starting {}", arguments.command[0].display()))
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn trace_size_limits_are_parsed_with_units() {
        assert_eq!(["7", "2K", "64M", "1G"].map(bytes), [7, 2 << 10, 64 << 20, 1 << 30].map(Ok));
        for wrong in ["", "K", "1T", "-1", "1.5G", "99999999999G"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
