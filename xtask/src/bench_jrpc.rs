//! `bench-jrpc`: measures the tables of the J-RPC paper, which are about calls between virtual
//! machines and about the marshalling of lists and arrays.

use crate::bench_java;
use crate::outcome::{Outcome, Problem};
use crate::program::{Program, target};
use std::fs;

const USAGE: &str = "usage: cargo xtask bench-jrpc [--quick]";

/// The arguments of `obvia bench call_lat` for the table of round trips. A quick run has further
/// arguments.
const CALLS: &[&str] = &[
    "--cases",
    "null,pfs_open,visit,MoveData",
    "--sizes",
    "8K",
    "--wait",
    "poll",
    "--paths",
    "raw_line,raw_copy,ncacn_vi_shm,java_vi_shm,java_rust_vi_shm,java_rmi",
];

pub(crate) fn main(arguments: &[String]) -> Outcome {
    let quick: &[&str] = match arguments {
        [] => &[],
        [option] if option == "--quick" => &["--quick"],
        _ => return Err(Problem::failed(USAGE)),
    };
    let home = bench_java::build()?;
    let folder = target().join("jrpc");
    fs::create_dir_all(&folder).map_err(|error| Problem::at(&folder, &error))?;
    let path = |name: &str| folder.join(name).display().to_string();
    let obvia = target().join("release/obvia").display().to_string();
    let calls = Program::new(&obvia, &["bench", "call_lat"]).with(CALLS).with(quick).read()?;
    Program::new(&home.join("bin/java").display().to_string(), &["--sun-misc-unsafe-memory-access=allow", "-cp"])
        .argument(bench_java::class_path())
        .with(&["obvia.bench.Tables", &folder.display().to_string()])
        .with(quick)
        .run()?;
    let [arrays, plot] = [path("arrays.csv"), path("arrays.svg")];
    let title = "An array of bytes: time to make a message of it, and to take it out, against its size";
    Program::new(&obvia, &["bench", "draw", &arrays, "--title", title, "--plot", &plot]).run()?;
    let tables = folder.join("tables.md");
    let measured = fs::read_to_string(&tables).map_err(|error| Problem::at(&tables, &error))?;
    let text = format!("## Table 2: round trips\n\n```\n{}\n```\n{measured}", calls.trim_end());
    fs::write(&tables, &text).map_err(|error| Problem::at(&tables, &error))?;
    println!("{text}\nThis is in {}; figure 7 is {plot}", tables.display());
    Ok(())
}
