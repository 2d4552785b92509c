//! The `obvia` command: compiles interfaces, generates projects, inspects and calls running
//! objects, and measures.

#![forbid(unsafe_code)]
// All output goes through `print`, which escapes text from other processes.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod bench;
mod call;
mod classes;
mod completions;
mod credentials;
mod describe;
mod doctor;
mod epmapper;
mod exit;
mod idl;
mod json;
mod limit;
mod ls;
mod manual;
mod print;
mod register;
mod scm;
mod table;
mod tlb;
mod top;
mod trace;
mod values;
mod wizard;

use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

/// The first steps, at the end of the command's help.
const EXAMPLES: &str = "\
Examples:
  obvia doctor                          what this host has for obvia, and how to add the rest
  obvia new greeter --language rust     begin a project: an interface, a server, a client, a test
  obvia ls                              what this user's processes export
  obvia call greeter IGreeter.Add 2 3   call a method by hand";

fn after_help() -> String {
    format!("{EXAMPLES}\n\n{}", exit::HELP)
}

/// Calls methods of objects in other processes: through shared memory on this host, and over
/// networks on others.
#[derive(Debug, Parser)]
#[command(name = "obvia", version, propagate_version = true, after_help = after_help())]
struct Arguments {
    // For compatibility, the option is accepted before the subcommand. Subcommands that call
    // servers have an option of this name.
    #[arg(long, hide = true, value_name = "[DOMAIN/]USER")]
    user: Option<String>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure calls against the best that the machine can do
    Bench(bench::Arguments),
    /// Call a method of an exported object
    Call(call::Arguments),
    /// List the registered classes, and the processes that make objects of them
    Classes(classes::Arguments),
    /// Write a script by which a shell completes the command's words
    Completions(completions::Arguments),
    /// Show an interface of an exported object as IDL
    Describe(describe::Arguments),
    /// Examine what this host has for obvia, make calls over each transport, and say how to add the
    /// rest
    Doctor(doctor::Arguments),
    /// Serve the endpoint mapper of this host, which knows the endpoints of interfaces of functions
    Epmapper(epmapper::Arguments),
    /// Compile an interface
    Idl(idl::Arguments),
    /// List exported objects, and functions
    Ls(ls::Arguments),
    /// Write manual pages, for man(1)
    Manual(manual::Arguments),
    /// Begin a project in Rust, C, C++ or Java: an interface, an object, a server, a client, and a
    /// test
    New(wizard::new::Arguments),
    /// Register the server of a class: a program that is started on demand, a shared library, or
    /// another host
    Register(register::Arguments),
    /// Serve activation for this user: start servers on demand
    Scm(scm::Arguments),
    /// Show a type library as IDL
    Tlb(tlb::Arguments),
    /// Show what this user's servers do: their connections, and the calls of each in a second
    Top(top::Arguments),
    /// Run a program, and write its traffic by the standard's protocols to a file for Wireshark
    Trace(trace::Arguments),
    /// Remove a registration
    Unregister(register::Unregister),
    /// Generate a project for an IDL file: an object with methods to write, a server, a client,
    /// and a test
    Wizard(wizard::Arguments),
}

/// Runs the command with the arguments of the process, and returns its exit code.
pub fn main() -> ExitCode {
    let Arguments { user, command } = Arguments::parse();
    let known = credentials::User::of(user).set();
    match known.and_then(|()| run(command)) {
        Ok(code) => code,
        Err(error) => {
            print::note(&format!("obvia: {error:#}"));
            exit::code_of(&error)
        }
    }
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Bench(arguments) => bench::main(arguments),
        Command::Call(arguments) => call::main(arguments),
        Command::Classes(arguments) => classes::main(&arguments),
        Command::Completions(arguments) => completions::main(&arguments, Arguments::command()),
        Command::Describe(arguments) => describe::main(arguments),
        Command::Doctor(arguments) => doctor::main(&arguments),
        Command::Epmapper(arguments) => epmapper::main(&arguments),
        Command::Idl(arguments) => idl::main(&arguments),
        Command::Ls(arguments) => ls::main(arguments),
        Command::Manual(arguments) => manual::main(&arguments, Arguments::command()),
        Command::New(arguments) => wizard::new::main(&arguments),
        Command::Register(arguments) => register::main(&arguments),
        Command::Scm(arguments) => scm::main(&arguments),
        Command::Tlb(arguments) => tlb::main(&arguments),
        Command::Top(arguments) => top::main(&arguments),
        Command::Trace(arguments) => trace::main(&arguments),
        Command::Unregister(arguments) => register::unregister(&arguments),
        Command::Wizard(arguments) => wizard::main(&arguments),
    }
}

#[cfg(test)]
mod tests {
    use super::Arguments;
    use clap::{Command, CommandFactory};

    /// Returns the visible commands without an example in their help.
    fn without_example(command: &Command) -> Vec<String> {
        let has_example = command.get_after_help().is_some_and(|help| help.to_string().contains("Example"));
        let own = (!has_example).then(|| command.get_name().to_owned());
        let visible = command.get_subcommands().filter(|one| !one.is_hide_set());
        own.into_iter().chain(visible.flat_map(without_example)).collect()
    }

    #[test]
    fn the_help_of_every_command_has_an_example() {
        let command = Arguments::command();
        command.clone().debug_assert();
        assert_eq!(without_example(&command), Vec::<String>::new());
    }
}
