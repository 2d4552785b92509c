//! The subcommand `obvia idl fmt`: brings IDL files into a normal form.

use super::findings;
use crate::{exit, print};
use anyhow::Context;
use clap::Args;
use obvia_idl::tools::format::format;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The arguments of `obvia idl fmt`.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  0  every file has the normal form now, or had it already with --check
  1  --check: a file does not have it
  2  a file has syntax errors or cannot be read or written, or the usage is wrong

Examples:
  obvia idl fmt calc.idl notes.idl    rewrites the files
  obvia idl fmt --check calc.idl      reports whether the file would change
  obvia idl fmt - < calc.idl          prints the normal form")]
pub(super) struct Arguments {
    /// The files to rewrite; `-` formats the standard input to the standard output
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Change no file, only report those that do not have the normal form
    #[arg(long)]
    check: bool,
}

/// The outcome for a file, from good to bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Good = 0,
    Differs = 1,
    Faulty = 2,
}

pub(super) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    if arguments.files.len() > 1 && arguments.files.iter().any(|file| is_standard(file)) {
        return Err(exit::usage("`-` must be the only file: the standard output holds one file"));
    }
    let mut worst = Outcome::Good;
    for file in &arguments.files {
        let outcome = one(file, arguments.check).unwrap_or_else(|error| {
            print::note(&format!("obvia: {error:#}"));
            Outcome::Faulty
        });
        worst = worst.max(outcome);
    }
    Ok(ExitCode::from(worst as u8))
}

/// Formats a file.
fn one(file: &Path, is_check: bool) -> anyhow::Result<Outcome> {
    let text = read(file)?;
    let made = match format(file, &text) {
        Ok(made) => made,
        Err(failure) => {
            findings::report(&failure, false)?;
            return Ok(Outcome::Faulty);
        }
    };
    if is_check {
        if made == text {
            return Ok(Outcome::Good);
        }
        print::note(&format!("{} does not have the normal form: run `obvia idl fmt` on it", file.display()));
        return Ok(Outcome::Differs);
    }
    if is_standard(file) {
        // The text is the caller's own, so nothing is escaped.
        std::io::stdout().lock().write_all(made.as_bytes()).context("the standard output cannot be written")?;
    } else if made != text {
        replace(file, &made).with_context(|| format!("{} cannot be written", file.display()))?;
        print::line(&format!("formatted {}", file.display()))?;
    }
    Ok(Outcome::Good)
}

/// Replaces the content of a file atomically, so that no program reads only a part of the content.
/// If the file is a symbolic link, replaces the content of the link's target.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let target = std::fs::canonicalize(file)?;
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let beside = target.with_file_name(name);
    let permissions = std::fs::metadata(&target)?.permissions();
    let written = std::fs::File::create_new(&beside).and_then(|mut made| {
        made.set_permissions(permissions)?;
        made.write_all(text.as_bytes())?;
        std::fs::rename(&beside, &target)
    });
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written
}

fn is_standard(file: &Path) -> bool {
    file == Path::new("-")
}

fn read(file: &Path) -> anyhow::Result<String> {
    let bytes = if is_standard(file) {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(file)
    };
    let bytes = bytes.with_context(|| format!("{} cannot be read", file.display()))?;
    String::from_utf8(bytes).with_context(|| format!("{} is not UTF-8: convert it first", file.display()))
}
