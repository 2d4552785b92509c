//! The subcommand `obvia idl`: compiles an interface, or shows its canonical text. Its own
//! subcommands are tools for IDL files.

mod check;
mod doc;
mod dump;
mod explain;
mod findings;
mod fmt;
mod input;
mod lint;

use crate::{exit, print};
use anyhow::Context;
use clap::{Args, Subcommand, ValueEnum};
use obvia_idl::model::InterfaceId;
use obvia_idl::{Compilation, Compiled, Compiler, Failure, canonical, compile_into};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The arguments of `obvia idl`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  obvia idl calc.idl                             writes calc.rs
  obvia idl --language c --output gen calc.idl   writes gen/calc.h, calc_stubs.c and calc_values.hpp
  obvia idl --check calc.idl                     reports its errors
  obvia idl check calc.idl --against old.idl     reports changes that break programs made from old.idl
  obvia idl fmt calc.idl                         brings it into a normal form
  obvia idl lint calc.idl                        reports declarations that are likely to cause trouble
  obvia idl doc calc.idl --output reference      writes pages about its declarations
  obvia idl dump --json calc.idl                 prints its declarations
  obvia idl --explain no-uuid                    explains the code of an error

For a file that has the name of a tool, write ./check.")]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, disable_help_subcommand = true)]
pub(crate) struct Arguments {
    /// Explain the code of a finding, such as unknown-type, and show an example
    #[arg(long, value_name = "CODE", exclusive = true)]
    explain: Option<String>,
    #[command(subcommand)]
    tool: Option<Tool>,
    #[command(flatten)]
    compile: Option<Compile>,
}

/// The tools for IDL files.
#[derive(Debug, Subcommand)]
enum Tool {
    /// Find changes that break programs made from an older version of a file
    Check(check::Arguments),
    /// Write a reference of files in HTML
    Doc(doc::Arguments),
    /// Print the checked declarations of a file as JSON
    Dump(dump::Arguments),
    /// Bring files into a normal form
    Fmt(fmt::Arguments),
    /// Report declarations that are likely to cause trouble
    Lint(lint::Arguments),
}

/// The arguments of the compiler.
#[derive(Debug, Args)]
struct Compile {
    /// The file to compile
    file: PathBuf,
    /// Look for imports in this directory too
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Define a macro before each file: NAME=TEXT, or NAME, which stands for 1
    #[arg(short = 'D', long = "define", value_name = "MACRO")]
    define: Vec<String>,
    /// Take additional attributes from this file, instead of the file with FILE's name and .acf
    #[arg(long, value_name = "FILE")]
    acf: Option<PathBuf>,
    /// The language of the output, which determines the files: NAME.rs; NAME.h, NAME_stubs.c and
    /// NAME_values.hpp; a file for each class in Java; NAME.pyi; or NAME.tlb
    #[arg(short, long, value_enum, default_value = "rust")]
    language: Language,
    /// The package of classes in Java [default: FILE's name]
    #[arg(long, value_name = "NAME")]
    java_package: Option<String>,
    /// Write a program that tests the interfaces by random calls too: NAME_test.rs or NAME_test.cc
    #[arg(long)]
    test: bool,
    /// Write the files to this directory
    #[arg(short, long, alias = "out", value_name = "DIR", default_value = ".")]
    output: PathBuf,
    /// Write a rule for make or ninja, of the written and the read files, to this file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["check", "text"])]
    depfile: Option<PathBuf>,
    /// Write nothing, only report errors and warnings
    #[arg(long)]
    check: bool,
    /// Accept what other compilers accept, with a warning: unknown attributes, and interfaces and
    /// methods that cannot be called from other processes
    #[arg(long)]
    permissive: bool,
    /// Write nothing, print the canonical text and the fingerprint of each interface
    #[arg(long)]
    text: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The output of the compiler.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Language {
    /// Rust, for the crate obvia
    Rust,
    /// C and C++, for libobvia
    C,
    /// Java, for obvia-runtime
    Java,
    /// Types for editors and type checkers of Python, whose package obvia needs no generated code
    Python,
    /// A type library of the file's `library` statement
    Tlb,
}

pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    if let Some(code) = &arguments.explain {
        return explain::main(code);
    }
    match (&arguments.tool, &arguments.compile) {
        (Some(Tool::Check(arguments)), _) => check::main(arguments),
        (Some(Tool::Doc(arguments)), _) => doc::main(arguments),
        (Some(Tool::Dump(arguments)), _) => dump::main(arguments),
        (Some(Tool::Fmt(arguments)), _) => fmt::main(arguments),
        (Some(Tool::Lint(arguments)), _) => lint::main(arguments),
        (None, Some(arguments)) => write(arguments),
        (None, None) => Err(exit::usage("FILE is missing")),
    }
}

fn write(arguments: &Compile) -> anyhow::Result<ExitCode> {
    match compile(arguments) {
        Ok(done) => {
            if let Some(path) = &arguments.depfile {
                std::fs::write(path, rule(&done)).with_context(|| format!("{} cannot be written", path.display()))?;
            }
            report(arguments, &done)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(failure) => {
            findings::report(&failure, arguments.json)?;
            Ok(ExitCode::FAILURE)
        }
    }
}

fn compile(arguments: &Compile) -> Result<Compiled, Failure> {
    let compiler = Compiler::new().permissive(arguments.permissive).test(arguments.test);
    let compiler = arguments.include.iter().fold(compiler, Compiler::include);
    let compiler = arguments.define.iter().fold(compiler, Compiler::define);
    let compiler = arguments.acf.iter().fold(compiler, Compiler::acf);
    let compiler = arguments.java_package.iter().fold(compiler, Compiler::java_package);
    if arguments.check || arguments.text {
        return Ok(Compiled { compilation: compiler.check(&arguments.file)?, files: Vec::new() });
    }
    // If this fails, the error is reported when a file is written.
    let _ = std::fs::create_dir_all(&arguments.output);
    let language = match arguments.language {
        Language::Rust => obvia_idl::Language::Rust,
        Language::C => obvia_idl::Language::C,
        Language::Java => obvia_idl::Language::Java,
        Language::Python => obvia_idl::Language::Python,
        Language::Tlb => obvia_idl::Language::TypeLibrary,
    };
    compile_into(&compiler, language, &arguments.file, &arguments.output)
}

/// Returns a rule for make and ninja: the written files depend on the read ones.
fn rule(done: &Compiled) -> String {
    let names = |paths: &[&Path]| {
        let escaped = paths.iter().map(|path| {
            let text = path.to_string_lossy().replace('$', "$$");
            text.replace('#', "\\#").replace(' ', "\\ ")
        });
        escaped.collect::<Vec<_>>().join(" ")
    };
    let written: Vec<&Path> = done.files.iter().map(PathBuf::as_path).collect();
    let sources = done.compilation.sources.files().iter().filter(|file| file.role.is_on_disk());
    let read: Vec<&Path> = sources.map(|file| file.path.as_path()).collect();
    format!("{}: {}\n", names(&written), names(&read))
}

/// Returns the interfaces that the file itself declares.
fn own(compilation: &Compilation) -> impl Iterator<Item = InterfaceId> {
    let all = compilation.model.interfaces.iter().enumerate();
    all.filter(|(_, interface)| !interface.imported).map(|(at, _)| InterfaceId(at))
}

fn report(arguments: &Compile, done: &Compiled) -> anyhow::Result<()> {
    let Compiled { compilation, files } = done;
    let model = &compilation.model;
    if arguments.json {
        let interfaces: Value = own(compilation)
            .map(|id| {
                let found = &model.interfaces[id.0];
                json!({
                    "name": found.name,
                    "iid": obvia::dynamic::guid::to_text(&obvia::GUID::from_u128(found.uuid)),
                    "fingerprint": format!("{:032x}", canonical::fingerprint(model, id)),
                    "text": canonical::text(model, id),
                })
            })
            .collect();
        let diagnostics = findings::json(&compilation.warnings, &compilation.sources);
        return print::document(&json!({ "diagnostics": diagnostics, "written": files, "interfaces": interfaces }));
    }
    findings::print(&compilation.warnings, &compilation.sources);
    if arguments.text {
        for id in own(compilation) {
            print::line(&format!("// {:032x}", canonical::fingerprint(model, id)))?;
            print::line(&canonical::text(model, id))?;
        }
    }
    if arguments.depfile.is_some() {
        return Ok(());
    }
    files.iter().try_for_each(|path| print::line(&format!("wrote {}", path.display())))
}
