//! The arguments that name an IDL file, for the tools that check it first.

use clap::Args;
use obvia_idl::{Compilation, Compiler, Failure};
use std::path::{Path, PathBuf};

/// The file, and the files that belong to it.
#[derive(Debug, Args)]
pub(super) struct Input {
    /// The IDL file
    pub(super) file: PathBuf,
    /// Look for imports in this directory too
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Take additional attributes from this file, instead of the file with FILE's name and .acf
    #[arg(long, value_name = "FILE")]
    acf: Option<PathBuf>,
    /// Accept unknown attributes
    #[arg(long)]
    permissive: bool,
}

impl Input {
    /// Checks the file.
    pub(super) fn check(&self) -> Result<Compilation, Failure> {
        self.acf.iter().fold(self.compiler(), Compiler::acf).check(&self.file)
    }

    /// Checks another file, with the same directories.
    pub(super) fn check_other(&self, file: &Path) -> Result<Compilation, Failure> {
        self.compiler().check(file)
    }

    /// Checks a text as if it were the content of the file.
    pub(super) fn check_text(&self, text: &str) -> Result<Compilation, Failure> {
        self.compiler().check_text(&self.file, text)
    }

    fn compiler(&self) -> Compiler {
        self.include.iter().fold(Compiler::new().permissive(self.permissive), Compiler::include)
    }
}
