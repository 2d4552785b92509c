//! The subcommand `obvia doctor`: examines what this host has for obvia, and makes calls over each
//! protocol sequence.

mod calls;
mod finding;
mod host;
mod machine;
mod tools;

use crate::print;
use clap::Args;
use finding::{Finding, State};
use host::Host;
use serde_json::{Value, json};
use std::process::ExitCode;

/// The arguments of `obvia doctor`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  obvia doctor             what works here, what is missing, and how to add it
  obvia doctor --all       the lines that are ok, too
  obvia doctor --json | jq '.findings[] | select(.state != \"ok\")'

The exit code is 0 if calls through shared memory work, and 1 otherwise. Behind `->` is a command for a shell that remedies
the finding above it; the commands for packages are those of Debian and Ubuntu.")]
pub(crate) struct Arguments {
    /// Show what is ok in full, instead of counting it
    #[arg(long)]
    all: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "all")]
    json: bool,
}

/// Examines the host, and prints the findings.
pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let host = Host::new();
    let examined =
        |checks: &[fn(&Host) -> Finding]| -> Vec<Finding> { checks.iter().map(|check| check(&host)).collect() };
    let calls = calls::examine(&host);
    let groups =
        [("calls", calls.findings), ("machine", examined(machine::CHECKS)), ("languages", examined(tools::CHECKS))];
    if arguments.json {
        let findings: Value =
            groups.iter().flat_map(|(group, list)| list.iter().map(move |one| one.json(group))).collect();
        print::document(&json!({ "works": calls.is_working, "findings": findings }))?;
    } else {
        report(&groups, arguments.all, calls.is_working)?;
    }
    Ok(if calls.is_working { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints the findings. Findings about calls are always shown.
fn report(groups: &[(&str, Vec<Finding>)], is_all: bool, is_working: bool) -> anyhow::Result<()> {
    for (group, findings) in groups {
        print::line(group)?;
        let is_shown = |finding: &&Finding| is_all || *group == "calls" || finding.state != State::Ok;
        for line in findings.iter().filter(is_shown).flat_map(Finding::lines) {
            print::line(&line)?;
        }
        let hidden: Vec<&str> =
            findings.iter().filter(|finding| !is_shown(finding)).map(|finding| finding.subject.as_str()).collect();
        if !hidden.is_empty() {
            let hidden = Finding::ok(&format!("{} more", hidden.len()), hidden.join(", "));
            hidden.lines().iter().try_for_each(|line| print::line(line))?;
        }
        print::line("")?;
    }
    print::line(if is_working {
        "Calls through shared memory work."
    } else {
        "Calls through shared memory do not work: see the first lines."
    })
}

#[cfg(test)]
mod tests {
    use super::host::tests::Fake;
    use super::{calls, machine, tools};
    use std::process::Command;

    #[test]
    fn commands_that_mend_are_commands_of_a_shell() {
        let source = "sys/devices/system/clocksource/clocksource0/current_clocksource";
        let limits = "Max open files   1024   524288   files\n";
        let hosts = [Fake::new(&[]), Fake::new(&[(source, "hpet"), ("proc/self/limits", limits)])];
        for Fake(_folder, host) in &hosts {
            let mut findings: Vec<_> = machine::CHECKS.iter().chain(tools::CHECKS).map(|check| check(host)).collect();
            findings.extend([calls::fabric(false), calls::xdp(host)]);
            for remedy in findings.iter().filter_map(|finding| finding.json("")["remedy"].as_str().map(str::to_owned)) {
                let checked = Command::new("bash").args(["-n", "-c", &remedy]).output().unwrap();
                assert!(checked.status.success() && checked.stderr.is_empty(), "{remedy}: {checked:?}");
                assert!(!remedy.contains("...") && !remedy.contains(" ("), "{remedy}");
            }
        }
    }
}
