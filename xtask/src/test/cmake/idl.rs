//! Tests `obvia_add_idl()`: the conditions under which it recompiles, and its error messages.

use super::{MAKE, NINJA, Outside};
use crate::outcome::{Outcome, Problem};
use crate::program::Program;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const PROJECT: &str = "cmake_minimum_required(VERSION 3.16)
project(rules LANGUAGES C)
find_package(obvia REQUIRED)
add_library(rules OBJECT)
obvia_add_idl(rules whole.idl parts/part.idl INCLUDE parts)
target_link_libraries(rules PRIVATE obvia::obvia)
";
const WHOLE: &str = "import \"part.idl\";
[object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a20)]
interface IWhole : IUnknown { HRESULT Put([in] const long values[ROOM]); }
";

/// Mistakes in CMakeLists.txt, each with a part of its error message.
const MISTAKES: [(&str, &str); 4] = [
    ("add_library(x OBJECT)\nobvia_add_idl(x missing.idl)", "there is no file"),
    ("add_library(x OBJECT)\nobvia_add_idl(x)", "no IDL file is named"),
    ("add_library(x INTERFACE)\nobvia_add_idl(x whole.idl)", "an INTERFACE library has nothing"),
    ("obvia_add_idl(x whole.idl)", "there is no such target"),
];

pub(super) fn check(outside: &Outside) -> Outcome {
    for generator in [MAKE, NINJA] {
        let folder = outside.folder.path().join(format!("rules-{}", &generator[..1]));
        Project { outside, folder, generator }.check_imports()?;
    }
    for (at, (line, said)) in MISTAKES.iter().enumerate() {
        let folder = outside.folder.path().join(format!("mistake-{at}"));
        let project = Project { outside, folder, generator: NINJA };
        project.write("CMakeLists.txt", &format!("project(x NONE)\nfind_package(obvia REQUIRED)\n{line}\n"))?;
        project.write("whole.idl", "")?;
        complains(&project.configure(), said)?;
    }
    Ok(())
}

/// A project that compiles IDL files.
struct Project<'a> {
    outside: &'a Outside,
    folder: PathBuf,
    generator: &'static str,
}

impl Project<'_> {
    /// Checks that a file is recompiled if and only if one of its imports has changed.
    fn check_imports(&self) -> Outcome {
        self.write("CMakeLists.txt", PROJECT)?;
        self.write("whole.idl", WHOLE)?;
        self.write("parts/part.idl", "const long ROOM = 5;\n")?;
        self.configure().read()?;
        self.build().read()?;
        let made = self.made()?;
        self.build().read()?;
        if self.made()? != made {
            return Err(Problem::Failed(format!("{}: compiled again, with nothing changed", self.folder.display())));
        }
        self.write("parts/part.idl", "const long ROOM = 7;\n")?;
        self.build().read()?;
        let changed = self.made()?.1;
        if !made.1.contains("values[5]") || !changed.contains("values[7]") {
            let what = format!("{}: an import changed, and what was made is\n{changed}", self.folder.display());
            return Err(Problem::Failed(what));
        }
        self.write("parts/part.idl", "const long ROOM = ;\n")?;
        if self.generator == MAKE {
            complains(&self.build(), "part.idl:1:")?;
        } else if self.build().succeeds() {
            return Err(Problem::Failed(format!("{}: an IDL file that is wrong was compiled", self.folder.display())));
        }
        self.write("parts/part.idl", "const long ROOM = 9;\n")?;
        self.build().read().map(drop)
    }

    fn write(&self, name: &str, text: &str) -> Outcome {
        let path = self.folder.join(name);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&path, text)).map_err(|error| Problem::at(&path, &error))
    }

    fn configure(&self) -> Program {
        self.outside.program("cmake", &["-G", self.generator, "-B", "build", "-S", "."]).folder(&self.folder)
    }

    fn build(&self) -> Program {
        self.outside.program("cmake", &["--build", "build"]).folder(&self.folder)
    }

    /// Returns the header with its modification time.
    fn made(&self) -> Outcome<(SystemTime, String)> {
        let path = self.folder.join("build/rules_idl/whole.h");
        let read = |path: &Path| Ok((fs::metadata(path)?.modified()?, fs::read_to_string(path)?));
        read(&path).map_err(|error| Problem::at(&path, &error))
    }
}

/// Checks that a program fails with a message.
fn complains(program: &Program, why: &str) -> Outcome {
    let said = match program.read() {
        Err(problem) => problem.to_string(),
        Ok(printed) => {
            return Err(Problem::Failed(format!("{}: {why:?} was to be said, not\n{printed}", program.line())));
        }
    };
    // CMake wraps its messages, so line breaks do not count.
    if said.split_whitespace().collect::<Vec<_>>().join(" ").contains(why) {
        return Ok(());
    }
    Err(Problem::Failed(format!("{}: {why:?} was to be said, not\n{said}", program.line())))
}
