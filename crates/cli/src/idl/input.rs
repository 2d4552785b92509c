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
    /// Define a macro before each file: NAME=TEXT, or NAME, which stands for 1
    #[arg(short = 'D', long = "define", value_name = "MACRO")]
    define: Vec<String>,
    /// Take additional attributes from this file, instead of the file with FILE's name and .acf
    #[arg(long, value_name = "FILE")]
    acf: Option<PathBuf>,
    /// Accept what other compilers accept
    #[arg(long)]
    permissive: bool,
}

impl Input {
    /// Checks the file.
    pub(super) fn check(&self) -> Result<Compilation, Failure> {
        self.check_other(&self.file)
    }

    /// Checks another file, with the same options.
    pub(super) fn check_other(&self, file: &Path) -> Result<Compilation, Failure> {
        self.compiler().check(file)
    }

    /// Checks bytes as if they were a file called `-` beside the file.
    pub(super) fn check_bytes(&self, bytes: Vec<u8>) -> Result<Compilation, Failure> {
        self.compiler().check_bytes(&self.file.with_file_name("-"), bytes)
    }

    fn compiler(&self) -> Compiler {
        let compiler = self.include.iter().fold(Compiler::new().permissive(self.permissive), Compiler::include);
        let compiler = self.define.iter().fold(compiler, Compiler::define);
        self.acf.iter().fold(compiler, Compiler::acf)
    }
}
