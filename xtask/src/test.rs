//! `test`: runs all checks of the project, or the named parts, and prints a summary.

mod cmake;
pub(crate) mod examples;
mod interop;
mod java;
mod lanes;
mod load;
mod options;
pub(crate) mod order;
mod parts;
mod python;
mod readme;
mod repeat;
mod report;
mod tutorial;
pub(crate) mod web;
mod wizard;

pub(crate) use self::interop::run_wine;
pub(crate) use self::options::USAGE;

use crate::outcome::{Outcome, Problem};
use crate::program::is_ci;
use crate::tools::{self, Tool};
use crate::{leftovers, offline};
use load::Load;
use options::Options;
use parts::{GROUPS, PARTS, Part};
use report::{Verdict, summary, work_so_far};
use std::time::Instant;

pub(crate) fn main(arguments: &[String]) -> Outcome {
    let options = Options::read(arguments)?;
    if options.is_list {
        print!("{}", list());
        return Ok(());
    }
    if let Some(file) = &options.verdict {
        return write_verdict(file, &choose(&options.names, options.is_thorough)?);
    }
    leftovers::sweep();
    if let Some(seed) = options.shuffle {
        println!("The order is that of --shuffle {seed}");
    }
    if let Some(count) = options.repeat {
        return repeat::run(count, &options);
    }
    let parts = choose(&options.names, options.is_thorough)?;
    let _load = prepare(&parts, options.has_load)?;
    if options.is_fetch {
        return if parts.iter().any(|part| part.tools.contains(&Tool::Jdk)) { java::prepare() } else { Ok(()) };
    }
    let started = Instant::now();
    let ran = lanes::run(&parts, options.shuffle)?;
    println!("{}", summary(&ran, started.elapsed()));
    leftovers::sweep();
    let failed: Vec<_> = ran.iter().filter(|one| matches!(one.verdict, Verdict::Failed(_))).collect();
    if failed.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = failed.iter().map(|one| one.name).collect();
    Err(Problem::Failed(format!("failed: {}", names.join(", "))))
}

/// Installs the tools that the parts need, and starts the load on the machine if it is requested.
fn prepare(parts: &[&Part], has_load: bool) -> Outcome<Option<Load>> {
    let started = Instant::now();
    println!("==> tools: all that the parts need from elsewhere");
    let mut tools: Vec<Tool> = parts.iter().flat_map(|part| part.tools).copied().collect();
    tools.extend(has_load.then_some(Tool::StressNg));
    tools.sort_unstable();
    tools.dedup();
    // Failures are only printed here, because the parts report the tools that they miss.
    if let Err(problem) = tools::ensure(&tools) {
        println!("    {problem}");
    }
    offline::fetch(&tools);
    println!("<== tools in {:.1} s\n", started.elapsed().as_secs_f64());
    has_load.then(Load::start).transpose()
}

/// Returns the output of `--list`.
fn list() -> String {
    let line = |part: &Part| format!("  {:<12} {}\n", part.name, part.about);
    let [parts, groups] = [PARTS, GROUPS].map(|all| all.iter().map(line).collect::<String>());
    format!("parts:\n{parts}\ngroups of --thorough:\n{groups}")
}

/// Runs parts for another process, and writes the verdict on each to a file.
fn write_verdict(file: &str, parts: &[&'static Part]) -> Outcome {
    for part in parts {
        let verdict = Verdict::of((part.run)(), is_ci());
        std::fs::write(file, verdict.written(work_so_far()))
            .map_err(|error| Problem::failed(format!("{file}: {error}")))?;
    }
    Ok(())
}

/// Returns the named parts, or the named groups of the thorough run; all of them if no name is
/// given.
fn choose(names: &[String], is_thorough: bool) -> Outcome<Vec<&'static Part>> {
    let (all, kind) = if is_thorough { (GROUPS, "group") } else { (PARTS, "part") };
    if names.is_empty() {
        return Ok(all.iter().collect());
    }
    let find = |name: &String| {
        let known = || all.iter().map(|part| part.name).collect::<Vec<_>>().join(", ");
        let part = all.iter().find(|part| part.name == name);
        part.ok_or_else(|| Problem::Failed(format!("there is no {kind} {name:?}; there are {}", known())))
    };
    names.iter().map(find).collect()
}

#[cfg(test)]
mod tests {
    use super::{PARTS, choose};
    use crate::outcome::Problem;

    #[test]
    fn test_parts_are_chosen_by_name() {
        let names = |names: &[&str], is_thorough| {
            let names: Vec<_> = names.iter().map(ToString::to_string).collect();
            choose(&names, is_thorough).map(|parts| parts.iter().map(|part| part.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&["unit", "tidy"], false), Ok(vec!["unit", "tidy"]));
        assert_eq!(names(&["soak"], true), Ok(vec!["soak"]));
        assert_eq!(names(&[], false).unwrap().len(), PARTS.len());
        let Err(Problem::Failed(what)) = names(&["untidy"], false) else { panic!("untidy is a part") };
        assert!(what.contains("part \"untidy\"; there are build, tidy, "), "{what}");
        assert!(names(&["soak"], false).is_err());
    }
}
