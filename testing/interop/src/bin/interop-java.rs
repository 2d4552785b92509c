//! Compiles `interop-objects` in Java, and executes it. libobvia_java.so is built beside this
//! program.

use native_programs::folder;
use native_programs::java::Classes;
use std::os::unix::process::CommandExt;
use std::process::ExitCode;

fn main() -> ExitCode {
    let here = folder("testing/interop");
    let own = std::env::current_exe().unwrap_or_default();
    let built = own.parent().unwrap_or(&own);
    let place = built.join("interop-java-classes");
    let interfaces = [here.join("idl/objects.idl")];
    let Some(classes) = Classes::build(&place, &interfaces, Some(&here.join("java"))) else { return ExitCode::FAILURE };
    let error = classes.networked(built, "interop.Objects").args(std::env::args_os().skip(1)).exec();
    eprintln!("{error}");
    ExitCode::FAILURE
}
