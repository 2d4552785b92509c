//! Programs in Java with obvia-runtime, built for tests.

use crate::{folder, run};
use ground::once_a_run;
use obvia_idl::{Compiler, Language, compile_into};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The first version of Java that the runtime is for.
const VERSION: u32 = 25;

/// What every program has.
const MODULES: [&str; 3] = ["obvia-api", "obvia-runtime", "obvia-native"];

/// What virtual machines do without that run for a second or two: a compiler that works longer than what it makes, threads of a collector.
const BRIEF: [&str; 2] = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

/// Classes that were compiled, and what runs them.
#[derive(Debug)]
pub struct Classes {
    java: PathBuf,
    classes: PathBuf,
    path: String,
}

impl Classes {
    /// Compiles interfaces and the programs in a folder, with the runtime; `None` where there is no JDK that is new enough, which is said.
    ///
    /// # Panics
    ///
    /// Where they do not compile without a warning; and where there is no JDK, but `CI` says that everything is to be tested.
    pub fn build(place: &Path, interfaces: &[PathBuf], programs: Option<&Path>) -> Option<Self> {
        let home = home()?;
        made_in(place, || {
            let mut sources = programs.map(sources).unwrap_or_default();
            for interface in interfaces {
                let compiled = compile_into(&Compiler::new(), Language::Java, interface, &place.join("source"));
                sources.extend(compiled.unwrap_or_else(|failure| panic!("{failure}")).files);
            }
            compile(&home, place, sources, None);
        });
        Some(Self::at(&home, place))
    }

    /// Compiles the programs in a folder, whose interfaces are written in Java, with the runtime; `None` where there is no JDK that is new enough.
    ///
    /// # Panics
    ///
    /// As [`Classes::build`].
    pub fn process(place: &Path, programs: &Path) -> Option<Self> {
        let home = home()?;
        made_in(place, || {
            let processor = place.join("processor");
            let mut compiler = compiler(&home);
            compiler
                .args(["-proc:none", "-d"])
                .arg(&processor)
                .args(sources(&folder("java/obvia-processor/src/main/java")));
            run(&mut compiler);
            let resources = folder("java/obvia-processor/src/main/resources");
            let path = format!("{}:{}", processor.display(), resources.display());
            compile(&home, place, sources(programs), Some(&path));
        });
        Some(Self::at(&home, place))
    }

    fn at(home: &Path, place: &Path) -> Self {
        let classes = place.join("classes");
        let path = MODULES.iter().fold(classes.display().to_string(), |path, module| {
            format!("{path}:{}", folder("java").join(module).join("src/main/resources").display())
        });
        Self { java: home.join("bin/java"), classes, path }
    }

    /// The folder of the classes, and of what was made with them.
    pub fn folder(&self) -> &Path {
        &self.classes
    }

    /// A program that ends soon, by the name of its class.
    pub fn program(&self, class: &str) -> Command {
        let mut program = Command::new(&self.java);
        program.args(BRIEF).args(["-cp", &self.path, class]);
        program
    }

    /// The same without any option of the virtual machine's, as users start it.
    pub fn program_as_is(&self, class: &str) -> Command {
        let mut program = Command::new(&self.java);
        program.args(["-cp", &self.path, class]);
        program
    }

    /// A program that uses networks, by the library in a folder.
    pub fn networked(&self, library: &Path, class: &str) -> Command {
        let mut program = Command::new(&self.java);
        program.args(BRIEF).args(["--enable-native-access=ALL-UNNAMED", "-cp", &self.path, class]);
        program.env("OBVIA_NATIVE", library.join("libobvia_java.so"));
        program
    }
}

/// Has a folder be made anew.
fn made_in(place: &Path, make: impl FnOnce()) {
    let name = place.file_name().and_then(OsStr::to_str).expect("the folder has a plain name");
    let tests = place.parent().expect("it is in the folder for tests");
    std::fs::create_dir_all(tests).expect("the folder for builds can be written to");
    once_a_run(tests, name, || {
        let _ = std::fs::remove_dir_all(place);
        make();
    });
}

fn compile(home: &Path, place: &Path, mut sources: Vec<PathBuf>, processors: Option<&str>) {
    for module in MODULES {
        sources.extend(self::sources(&folder("java").join(module).join("src/main/java")));
    }
    let mut compiler = compiler(home);
    compiler.args(["-Xlint:all", "-Werror", "--release", &VERSION.to_string(), "-d"]);
    compiler.arg(place.join("classes")).args(sources);
    compiler.args(processors.map_or_else(|| vec!["-proc:none"], |path| vec!["--processor-path", path]));
    run(&mut compiler);
}

fn compiler(home: &Path) -> Command {
    let mut compiler = Command::new(home.join("bin/javac"));
    compiler.args(BRIEF.map(|option| format!("-J{option}")));
    compiler
}

/// The home of a JDK; where there is none, that is said.
fn home() -> Option<PathBuf> {
    let found = jdk();
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none(), "there is no JDK {VERSION}: install one, or set JAVA_HOME");
        eprintln!("there is no JDK {VERSION}, so nothing is tested: install one, or set JAVA_HOME");
    }
    found
}

/// The home of a JDK that is new enough, which need not be the machine's usual one.
fn jdk() -> Option<PathBuf> {
    let named = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    let installed = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten().map(|entry| entry.path());
    named.into_iter().chain(installed).find(|home| version(home).is_some_and(|version| version >= VERSION))
}

/// The version of a JDK, as it says itself: `javac 25.0.3`.
fn version(home: &Path) -> Option<u32> {
    let said = Command::new(home.join("bin/javac")).arg("-version").output().ok()?.stdout;
    String::from_utf8(said).ok()?.trim().strip_prefix("javac ")?.split(['.', '-']).next()?.parse().ok()
}

/// The Java files below a folder, without descriptions of modules: all is compiled as one.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files = Vec::new();
    for path in entries.map(|entry| entry.expect("readable").path()) {
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|found| found == "java") && !path.ends_with("module-info.java") {
            files.push(path);
        }
    }
    files
}
