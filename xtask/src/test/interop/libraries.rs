//! Tests type libraries with widl. The library that widl writes for a file must have the same
//! contents as this project's library for that file. For a file that imports the library, widl must
//! write the same bytes with either library.

use super::built;
use crate::outcome::{Outcome, Problem};
use crate::program::Program;
use crate::repo::root;
use crate::temporary::Folder;
use crate::tools;
use std::path::Path;

pub(super) fn run() -> Outcome {
    let folder = Folder::new()?;
    let [ours, widls] = ["ours", "widls"].map(|name| folder.path().join(name));
    for folder in [&ours, &widls] {
        std::fs::create_dir(folder).map_err(|error| Problem::Failed(format!("{}: {error}", folder.display())))?;
        widl(folder, "stdole2", "widl/stdole2.idl")?;
    }
    let out = ours.display().to_string();
    Program::new(&built("obvia"), &["idl", "--language", "tlb", "--out", &out, &source("tones.idl")]).run()?;
    widl(&widls, "tones", "tones.idl")?;
    let mut said = Vec::new();
    for folder in [&ours, &widls] {
        said.push(Program::new(&built("obvia"), &["tlb", "tones.tlb"]).folder(folder).read()?);
        widl(folder, "user", "widl/user.idl")?;
    }
    if said[0] != said[1] {
        return Err(Problem::Failed(format!("of tones.idl the library says\n{}\nand widl's\n{}", said[0], said[1])));
    }
    let users = [&ours, &widls].map(|folder| std::fs::read(folder.join("user.tlb")).ok());
    if users[0].is_none() || users[0] != users[1] {
        return Err(Problem::failed(
            "what uses the library of tones.idl is not the same to widl when the library is its own",
        ));
    }
    Ok(())
}

/// Compiles a library with widl. Imported libraries must be in the same folder.
fn widl(folder: &Path, name: &str, file: &str) -> Outcome {
    let include = ["", "widl"].map(|folder| format!("-I{}", source(folder)));
    let words = ["-L.", "-t", "-o", &format!("{name}.tlb"), &source(file)];
    let widl = Program::new(tools::WIDL, &[&include[0], &include[1]]).with(&words).folder(folder);
    // widl writes the time of creation to its libraries. This variable fixes the time.
    widl.variable("WIDL_TIME_OVERRIDE", "0").run()
}

/// Returns the path of a source file of the libraries.
pub(super) fn source(name: &str) -> String {
    root().join("testing/vectors/typelib").join(name).display().to_string()
}
