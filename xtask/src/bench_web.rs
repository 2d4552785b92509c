//! `bench-web`: replays a trace of HTTP requests with handlers that retain the requests, and draws
//! the memory use of the handlers over time.

use crate::outcome::{Outcome, Problem};
use crate::program::{Program, target};
use crate::repo::root;
use crate::server::Names;
use crate::test::web;
use crate::{tools, workspace};
use std::fs;

const USAGE: &str = "usage: cargo xtask bench-web [--quick]";

/// The number of generated requests per second. The run takes half a minute, or some seconds with
/// `--quick`.
const RATE: &str = "160";
const QUICK_RATE: &str = "800";

pub(crate) fn main(arguments: &[String]) -> Outcome {
    let rate = match arguments {
        [] => RATE,
        [option] if option == "--quick" => QUICK_RATE,
        _ => return Err(Problem::failed(USAGE)),
    };
    let home = tools::jdk()?;
    workspace::build()?;
    web::build(&home)?;
    let folder = target().join("web");
    let path = |name: &str| folder.join(name).display().to_string();
    let names = Names::new()?;
    let program = Program::new(&home.join("bin/java").display().to_string(), &["-cp", &web::class_path()]);
    let run = program.with(&["obvia.web.Web", "occupancy", "--rate", rate, "--out", &folder.display().to_string()]);
    let table = names.see(run.folder(root().join(web::FOLDER))).read()?;
    let title =
        "A handler that keeps requests: bytes of received frames that it holds, while generated requests arrive";
    let obvia = target().join("debug/obvia").display().to_string();
    let [samples, plot, written] = [path("occupancy.csv"), path("occupancy.svg"), path("occupancy.md")];
    Program::new(&obvia, &["bench", "draw", "--over-time", &samples, "--title", title, "--plot", &plot]).run()?;
    fs::write(&written, &table).map_err(|error| Problem::Failed(format!("{written}: {error}")))?;
    println!("{table}\nThis is in {written}; the picture is {plot}");
    Ok(())
}
