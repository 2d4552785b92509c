//! The method to call, as it is named on a command line.

use super::argument_text;
use clap::Args;
use std::path::PathBuf;

/// The arguments that select a method, and those of its call.
#[derive(Clone, Debug, Args)]
pub(crate) struct Target {
    /// The exported name, or for functions the server's string binding; `obvia ls` lists them
    pub(crate) name: String,
    /// The method; without an interface, one of the interface under which the object is exported;
    /// `First/Second` calls Second on the object that First returns; for objects that are called by
    /// name (IDispatch), `Property=` sets a property to the last argument
    #[arg(value_name = "[INTERFACE.]METHOD")]
    pub(crate) method: String,
    /// The [in] and [in, out] parameters in order, as JSON; bare words are strings, counts of
    /// arrays are left out; @FILE stands for the contents of a file, @- for the standard input;
    /// NaN, Infinity and -Infinity are numbers
    #[arg(value_name = "ARGS", allow_negative_numbers = true)]
    pub(crate) arguments: Vec<String>,
    /// An argument for the parameter of this name, where the object is called by name
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) named: Vec<String>,
    /// Take the interface from this IDL file instead of asking the server, which may be of another
    /// implementation
    #[arg(long, value_name = "FILE")]
    pub(crate) idl: Option<PathBuf>,
    /// Call by name, with the names of this type library instead of asking the object for them
    #[arg(long, value_name = "FILE", conflicts_with = "idl")]
    pub(crate) type_library: Option<PathBuf>,
}

impl Target {
    /// Replaces arguments of the form `@FILE` by the contents of the file.
    ///
    /// # Errors
    ///
    /// Fails when a file cannot be read, is too long, or is not in UTF-8.
    pub(crate) fn fetch(&mut self) -> anyhow::Result<()> {
        argument_text::fetch(&mut self.arguments)
    }
}
