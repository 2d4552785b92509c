//! The subcommand `obvia completions`: scripts by which a shell completes the command's words.

use crate::print;
use clap::{Args, Command};
use clap_complete::Shell;
use std::process::ExitCode;

/// The arguments of `obvia completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  obvia completions bash > ~/.local/share/bash-completion/completions/obvia
  obvia completions fish > ~/.config/fish/completions/obvia.fish
  obvia completions zsh > \"${fpath[1]}/_obvia\"")]
pub(crate) struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script for the command `obvia`.
pub(crate) fn main(arguments: &Arguments, mut obvia: Command) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut obvia, "obvia", &mut script);
    print::line(String::from_utf8(script)?.trim_end())?;
    Ok(ExitCode::SUCCESS)
}
