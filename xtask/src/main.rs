//! The project's chores, run as `cargo xtask COMMAND`. What a command does is said at the top of its file.

#![forbid(unsafe_code)]

mod repo;
mod rust;
mod tidy;

use std::fmt::Write;
use std::process::ExitCode;

/// What a command ends with: nothing more to say, or one line that says what went wrong.
type Outcome = Result<(), String>;

/// One command of `cargo xtask`.
struct Command {
    name: &'static str,
    usage: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Outcome,
}

const COMMANDS: &[Command] = &[Command {
    name: "tidy",
    usage: "",
    about: "check imports between floors, sizes, SAFETY comments, words, documents",
    run: tidy::main,
}];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (name, rest) = match arguments.split_first() {
        None => ("help", &[][..]),
        Some((name, rest)) => (name.as_str(), rest),
    };
    if matches!(name, "help" | "--help" | "-h") {
        print!("{}", help());
        return ExitCode::SUCCESS;
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        eprint!("xtask: there is no command {name:?}\n\n{}", help());
        return ExitCode::from(2);
    };
    match (command.run)(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask {name}: {message}");
            ExitCode::FAILURE
        }
    }
}

fn help() -> String {
    let mut text = String::from("usage: cargo xtask COMMAND\n\n");
    for Command {
        name, usage, about, ..
    } in COMMANDS
    {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {:<34} {about}", format!("{name} {usage}"));
    }
    text
}
