//! The project's development tasks, run as `cargo xtask COMMAND`. Each command is described at the
//! top of its file.

#![forbid(unsafe_code)]

mod bench_cpp;
mod bench_java;
mod bench_jrpc;
mod bench_web;
mod conformance;
mod demo;
mod fuzz;
mod fuzz_java;
mod icount;
mod leftovers;
mod loom;
mod maven;
mod miri;
mod native;
mod offline;
mod program;
mod repo;
mod reproduce_java;
mod rust;
mod sim;
mod soak;
mod temporary;
mod test;
mod tidy;
mod tools;
mod workspace;

use std::fmt;
use std::process::ExitCode;

/// The reason why a command failed.
#[derive(Debug, PartialEq, Eq)]
enum Problem {
    /// An error with its description.
    Failed(String),
    /// A tool or the subject of the command is missing.
    Missing {
        what: String,
        /// Whether the absence fails a CI run (`CI=true`).
        required: bool,
    },
}

impl Problem {
    fn failed(what: impl Into<String>) -> Self {
        Self::Failed(what.into())
    }

    fn missing(what: impl Into<String>) -> Self {
        let (what, required) = (what.into(), false);
        Self::Missing { what, required }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(what) | Self::Missing { what, .. } => f.write_str(what),
        }
    }
}

/// The result of a command.
type Outcome<T = ()> = Result<T, Problem>;

/// A command of `cargo xtask`.
struct Command {
    name: &'static str,
    usage: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Outcome,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "bench-cpp",
        usage: "",
        about: "build what `obvia bench` measures in C++, beside the command",
        run: bench_cpp::main,
    },
    Command {
        name: "bench-java",
        usage: "",
        about: "build what `obvia bench` measures in Java, beside the command",
        run: bench_java::main,
    },
    Command {
        name: "bench-jrpc",
        usage: "[--quick]",
        about: "measure the tables of the J-RPC paper: calls, lists and arrays in Java",
        run: bench_jrpc::main,
    },
    Command {
        name: "bench-web",
        usage: "[--quick]",
        about: "replay a trace of HTTP requests, draw what memory kept requests take",
        run: bench_web::main,
    },
    Command {
        name: "conformance",
        usage: "[--full [BYTES]]",
        about: "every provider and the fifty statements; in full: 10 GB verified through each",
        run: conformance::main,
    },
    Command {
        name: "demo",
        usage: "[DIRECTORY]",
        about: "serve a real tree from a process of its own, read all of it, measure",
        run: demo::main,
    },
    Command {
        name: "fuzz",
        usage: "[--list] [--seconds N] [TARGET ...]",
        about: "feed nonsense to what reads other people's bytes (60 s each)",
        run: fuzz::main,
    },
    Command {
        name: "fuzz-java",
        usage: "[SECONDS]",
        about: "the same with what the runtime in Java reads, so long each (60 s)",
        run: fuzz_java::main,
    },
    Command {
        name: "icount",
        usage: "[--json FILE] [--bless]",
        about: "instructions that a call takes beside transport and method, and their budget",
        run: icount::main,
    },
    Command {
        name: "interop-wine",
        usage: "",
        about: "calls by and of programs whose stubs widl wrote, under Wine (installs it: a gigabyte)",
        run: test::run_wine,
    },
    Command {
        name: "loom",
        usage: "",
        about: "explore the interleavings of what threads and processes share",
        run: loom::main,
    },
    Command {
        name: "miri",
        usage: "",
        about: "run the unit tests where undefined behaviour is noticed",
        run: miri::main,
    },
    Command {
        name: "reproduce-java",
        usage: "",
        about: "build what is published of the Java side twice, with sources and Javadoc, and compare the bytes",
        run: reproduce_java::main,
    },
    Command {
        name: "sim",
        usage: "[--seeds N | --thorough] [--seed S] [--verbose]",
        about: "VIs over simulated bad networks, every promise checked (10,000 seeds)",
        run: sim::main,
    },
    Command {
        name: "soak",
        usage: "[--seconds N]",
        about: "many processes, threads and objects, every result checked (60 s)",
        run: soak::main,
    },
    Command {
        name: "test",
        usage: test::USAGE,
        about: "everything, or the parts named; `test --list` names them",
        run: test::main,
    },
    Command {
        name: "tidy",
        usage: "[--rules]",
        about: "imports between floors, sizes, SAFETY comments, words, documents, lints",
        run: tidy::main,
    },
];

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
        Err(problem) => {
            eprintln!("xtask {name}: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn help() -> String {
    let lines = COMMANDS.iter().map(|command| {
        let call = format!("{} {}", command.name, command.usage);
        format!("  {call:<33} {}\n", command.about)
    });
    format!("usage: cargo xtask COMMAND\n\n{}", lines.collect::<String>())
}
