//! The project's development tasks, run as `cargo xtask COMMAND`. The top of a command's file
//! describes the command.

#![forbid(unsafe_code)]

mod bench_cpp;
mod bench_java;
mod bench_jrpc;
mod bench_peers;
mod bench_web;
mod book;
mod conformance;
mod corpora;
mod demo;
mod fuzz;
mod fuzz_java;
mod icount;
mod leftovers;
mod loom;
mod markdown;
mod maven;
mod miri;
mod native;
mod offline;
mod outcome;
mod program;
mod repo;
mod reproduce_java;
mod rust;
mod server;
mod sim;
mod soak;
mod temporary;
mod test;
mod tidy;
mod tools;
mod workspace;

use outcome::Outcome;
use std::process::ExitCode;

/// A command of `cargo xtask`.
struct Command {
    name: &'static str,
    usage: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Outcome,
}

impl Command {
    /// Returns the command line without `cargo xtask`.
    fn call(&self) -> String {
        format!("{} {}", self.name, self.usage)
    }
}

const COMMANDS: &[Command] = &[
    Command {
        name: "bench-cpp",
        usage: "",
        about: "build the programs in C++ that `obvia bench` measures, beside the command",
        run: bench_cpp::main,
    },
    Command {
        name: "bench-java",
        usage: "",
        about: "build the programs in Java that `obvia bench` measures, beside the command",
        run: bench_java::main,
    },
    Command {
        name: "bench-jrpc",
        usage: "[--quick]",
        about: "measure the tables of the J-RPC paper: calls, lists and arrays in Java",
        run: bench_jrpc::main,
    },
    Command {
        name: "bench-peers",
        usage: "[OPTION ...]",
        about: "measure calls of other systems beside obvia's (`cargo xtask bench-peers help` lists the options)",
        run: bench_peers::main,
    },
    Command {
        name: "bench-web",
        usage: "[--quick]",
        about: "replay a trace of HTTP requests, and draw the memory that kept requests take",
        run: bench_web::main,
    },
    Command {
        name: "book",
        usage: "",
        about: "build the documentation as a book with mdBook (installs it), and check its links",
        run: book::main,
    },
    Command {
        name: "conformance",
        usage: "[--full [BYTES]]",
        about: "test the fifty statements with every provider (in full: 10 GB verified through each)",
        run: conformance::main,
    },
    Command {
        name: "demo",
        usage: "[DIRECTORY]",
        about: "serve a directory tree from a process of its own, read all of it, and measure calls",
        run: demo::main,
    },
    Command {
        name: "fuzz",
        usage: "[--list] [--seconds N] [TARGET ...]",
        about: "fuzz each parser of untrusted bytes (60 s each)",
        run: fuzz::main,
    },
    Command {
        name: "fuzz-java",
        usage: "[SECONDS]",
        about: "fuzz each parser of the runtime in Java (60 s each)",
        run: fuzz_java::main,
    },
    Command {
        name: "icount",
        usage: "[--json FILE] [--bless]",
        about: "count the instructions of a call without transport and method, and compare them with the budget",
        run: icount::main,
    },
    Command {
        name: "interop-wine",
        usage: "",
        about: "run programs with stubs of widl under Wine (installs it: a gigabyte)",
        run: test::run_wine,
    },
    Command {
        name: "loom",
        usage: "",
        about: "explore interleavings of accesses to shared words, with loom",
        run: loom::main,
    },
    Command {
        name: "miri",
        usage: "",
        about: "run unit tests under Miri, which detects undefined behaviour",
        run: miri::main,
    },
    Command {
        name: "reproduce-java",
        usage: "",
        about: "build the published artifacts in Java twice, with sources and Javadoc, and compare the bytes",
        run: reproduce_java::main,
    },
    Command {
        name: "sim",
        usage: "[--seeds N | --thorough] [--seed S] [--verbose]",
        about: "run virtual interfaces over simulated bad networks, and check every promise (10,000 seeds)",
        run: sim::main,
    },
    Command {
        name: "soak",
        usage: "[--seconds N]",
        about: "run many processes, threads and objects, and check every result (60 s)",
        run: soak::main,
    },
    Command {
        name: "test",
        usage: test::USAGE,
        about: "run all parts of the tests, or those named (`test --list` names them)",
        run: test::main,
    },
    Command {
        name: "tidy",
        usage: "[--rules|--draw]",
        about: "check imports between floors, sizes, SAFETY comments, words, documents and lints",
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
    if rest.iter().any(|argument| matches!(argument.as_str(), "--help" | "-h")) {
        println!("usage: cargo xtask {}\n\n{}", command.call(), command.about);
        return ExitCode::SUCCESS;
    }
    match (command.run)(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("xtask {name}: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn help() -> String {
    let lines = COMMANDS.iter().map(|command| format!("  {:<33} {}\n", command.call(), command.about));
    format!("usage: cargo xtask COMMAND\n\n{}", lines.collect::<String>())
}
