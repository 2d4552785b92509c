//! The subcommand `obvia new`: a project with a small interface whose methods are written.

use super::answers::Answers;
use super::idl::Idl;
use super::origin::Origin;
use super::{c, cpp, java, names, rust};
use crate::exit;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;

/// The arguments of `obvia new`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  obvia new greeter --language rust --obvia ~/src/obvia
  obvia new greeter --language java --output ~/src/greeter

The projects of all languages have the same interface, with a call back to the client. Each project has UUIDs of its
own; to call a server of another project, copy that project's IDL file. `obvia wizard` writes a project for an IDL file that you have.")]
pub(crate) struct Arguments {
    /// The name of the project, under which its object is exported
    name: String,
    /// The language of the project
    #[arg(short, long, value_enum)]
    language: Language,
    /// Write the project to this directory [default: the name]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// The directory of obvia: a checkout, or for C and C++ an installation [default: the one that
    /// this command belongs to, or for C and C++ an installed one]
    #[arg(long, value_name = "DIR")]
    obvia: Option<PathBuf>,
    /// Replace existing files
    #[arg(long)]
    force: bool,
}

/// The language of a new project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Language {
    /// Rust, with cargo
    Rust,
    /// C, with CMake
    C,
    /// C++, with CMake
    Cpp,
    /// Java, with Maven
    Java,
}

/// Writes a new project.
pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let name = &arguments.name;
    let idl = Idl::begin(name).map_err(|error| exit::usage(format!("{error:#}")))?;
    if matches!(arguments.language, Language::C | Language::Cpp) {
        names::check_header(name).map_err(exit::usage)?;
    }
    if arguments.language == Language::C && name == "component" {
        return Err(exit::usage(
            "a project in C cannot be called `component`, because its object's header has that name",
        ));
    }
    // The last interface of the file is the object's; the first is the interface of its watchers.
    let interface = *idl.interfaces().last().ok_or_else(|| exit::usage("the new IDL file has no interface"))?;
    // The names that the wizard proposes for C++ are valid in C and Java, too.
    let language = if arguments.language == Language::Rust { super::Language::Rust } else { super::Language::Cpp };
    let class = names::class(language, idl.model(), interface);
    let answers = Answers {
        idl,
        interface,
        language,
        class,
        name: name.clone(),
        output: arguments.output.clone().unwrap_or_else(|| PathBuf::from(name)),
        transports: Vec::new(),
        origin: Origin::find(arguments.obvia.as_deref())?,
        is_example: true,
        is_over_vi: false,
    };
    let files = match arguments.language {
        Language::Rust => rust::files(&answers)?,
        Language::C => c::files(&answers),
        Language::Cpp => cpp::files(&answers),
        Language::Java => java::files(&answers)?,
    };
    super::write(&answers, &files, arguments.force)?;
    super::name_readme(&answers.output)?;
    Ok(ExitCode::SUCCESS)
}
