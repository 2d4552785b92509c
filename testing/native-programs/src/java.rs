//! Builds of programs in Java with obvia-runtime, for tests.

use crate::cargo::profile_folder;
use crate::fresh::{keep_fresh, test};
use crate::{folder, run};
use obvia_idl::{Compiler, Language, compile_into};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest supported version of Java.
const VERSION: u32 = 25;

/// The modules that every program needs.
const MODULES: [&str; 3] = ["obvia-api", "obvia-runtime", "obvia-native"];

/// Options for virtual machines that run for a second or two: a quick compiler, and a collector
/// without threads.
const BRIEF: [&str; 2] = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

/// The variable with which tests start virtual machines without these options, as users do.
const AS_IS: &str = "OBVIA_JAVA_AS_IS";

/// Compiled classes, with the virtual machine and the class path.
#[derive(Debug)]
pub struct Classes {
    java: PathBuf,
    classes: PathBuf,
    path: String,
}

/// The compiled runtime, which all programs share.
struct Runtime {
    home: PathBuf,
    classes: PathBuf,
}

impl Classes {
    /// Compiles interfaces and the programs in a folder. Without a JDK that is new enough, reports
    /// that and returns `None`.
    ///
    /// # Panics
    ///
    /// Panics on errors and warnings of the compiler, and without a JDK if `CI` is set.
    pub fn build(place: &Path, interfaces: &[PathBuf], programs: Option<&Path>) -> Option<Self> {
        let compiler = Compiler::new();
        let interfaces: Vec<_> = interfaces.iter().map(|interface| (&compiler, interface.clone())).collect();
        Self::build_with(place, &interfaces, programs)
    }

    /// Compiles as [`Classes::build`] does, each interface by a compiler of its own.
    ///
    /// # Panics
    ///
    /// Panics as [`Classes::build`] does.
    pub fn build_with(place: &Path, interfaces: &[(&Compiler, PathBuf)], programs: Option<&Path>) -> Option<Self> {
        let runtime = Runtime::build()?;
        let beside = interfaces.iter().filter_map(|(_, interface)| interface.parent());
        let test = test();
        let files = [runtime.classes.as_path(), test.as_path()];
        let inputs: Vec<&Path> = beside.chain(programs).chain(files).collect();
        keep_fresh(place, &inputs, || {
            clear(place);
            let mut sources = programs.map(sources).unwrap_or_default();
            for (compiler, interface) in interfaces {
                let compiled = compile_into(compiler, Language::Java, interface, &place.join("source"));
                sources.extend(compiled.unwrap_or_else(|failure| panic!("{failure}")).files);
            }
            compile(runtime.compiler(), place, sources);
        });
        Some(runtime.with(place))
    }

    /// Compiles the programs in a folder, whose interfaces are written in Java; `None` without a
    /// JDK that is new enough.
    ///
    /// # Panics
    ///
    /// Panics as [`Classes::build`] does.
    pub fn process(place: &Path, programs: &Path) -> Option<Self> {
        let runtime = Runtime::build()?;
        let source = folder("java/obvia-processor/src");
        keep_fresh(place, &[programs, &source, &runtime.classes, &test()], || {
            clear(place);
            let processor = place.join("processor");
            let sources_of_processor = sources(&source.join("main/java"));
            run(compiler(&runtime.home).arg("-d").arg(&processor).args(sources_of_processor));
            let path = format!("{}:{}", processor.display(), source.join("main/resources").display());
            let mut compiler = runtime.compiler();
            compiler.args(["--processor-path", &path]);
            compile(compiler, place, sources(programs));
        });
        Some(runtime.with(place))
    }

    /// Returns the folder of the classes, and of the files that were generated with them.
    pub fn folder(&self) -> &Path {
        &self.classes
    }

    /// Returns the command of a short-lived program, by the name of its class.
    pub fn program(&self, class: &str) -> Command {
        if std::env::var_os(AS_IS).is_some() {
            return self.program_as_is(class);
        }
        let mut program = Command::new(&self.java);
        program.args(BRIEF).args(["-cp", &self.path, class]);
        program
    }

    /// Returns the command of a program without options of the virtual machine, as users start it.
    pub fn program_as_is(&self, class: &str) -> Command {
        let mut program = Command::new(&self.java);
        program.args(["-cp", &self.path, class]);
        program
    }

    /// Returns the command of a program that supports networks, and therefore loads the library in
    /// the folder `library`.
    pub fn networked(&self, library: &Path, class: &str) -> Command {
        let mut program = Command::new(&self.java);
        program.args(BRIEF).args(["--enable-native-access=ALL-UNNAMED", "-cp", &self.path, class]);
        program.env("OBVIA_NATIVE", library.join("libobvia_java.so"));
        program
    }
}

impl Runtime {
    /// Compiles the runtime's modules; `None` without a JDK that is new enough.
    fn build() -> Option<Self> {
        let home = home()?;
        let place = profile_folder().join("java-runtime");
        let sources_of = |module: &str| folder("java").join(module).join("src/main/java");
        let modules = MODULES.map(sources_of);
        let own = folder("testing/native-programs/src");
        let inputs: Vec<&Path> = modules.iter().chain([&own]).map(PathBuf::as_path).collect();
        keep_fresh(&place, &inputs, || {
            // Programs of other tests may be running: they load classes of the folder until its
            // replacement is complete.
            let replacement = place.with_extension("new");
            std::fs::create_dir_all(&replacement).expect("the folder for builds can be written to");
            clear(&replacement);
            compile(compiler(&home), &replacement, modules.iter().flat_map(|folder| sources(folder)).collect());
            replace(&place, &replacement);
        });
        Some(Self { home, classes: place.join("classes") })
    }

    /// Returns a compiler of programs that use the runtime.
    fn compiler(&self) -> Command {
        let mut compiler = compiler(&self.home);
        compiler.arg("-cp").arg(&self.classes);
        compiler
    }

    /// Returns the classes that were compiled to a folder, with the runtime.
    fn with(&self, place: &Path) -> Classes {
        let classes = place.join("classes");
        let path = format!("{}:{}", classes.display(), self.classes.display());
        let path = MODULES.iter().fold(path, |path, module| {
            format!("{path}:{}", folder("java").join(module).join("src/main/resources").display())
        });
        Classes { java: self.home.join("bin/java"), classes, path }
    }
}

/// Compiles sources to a folder's `classes`. Processes annotations if the compiler's options
/// contain a path of annotation processors.
fn compile(mut compiler: Command, place: &Path, sources: Vec<PathBuf>) {
    compiler.args(["-Xlint:all", "-Werror", "--release", &VERSION.to_string(), "-d"]).arg(place.join("classes"));
    // The command names a file that lists the sources, so that it stays short when a failed test
    // shows it.
    let list = place.join("sources");
    let lines = sources.iter().map(|source| format!("\"{}\"\n", source.display()));
    std::fs::write(&list, lines.collect::<String>()).expect("the folder for builds can be written to");
    run(compiler.arg(format!("@{}", list.display())));
}

/// Empties the folder of an earlier build.
fn clear(place: &Path) {
    let emptied = std::fs::remove_dir_all(place).and_then(|()| std::fs::create_dir(place));
    emptied.unwrap_or_else(|error| panic!("{}: {error}", place.display()));
}

/// Replaces a folder by another folder.
fn replace(place: &Path, replacement: &Path) {
    let former = place.with_extension("old");
    let _ = std::fs::remove_dir_all(&former);
    let replaced = std::fs::rename(place, &former).and_then(|()| std::fs::rename(replacement, place));
    replaced.unwrap_or_else(|error| panic!("{}: {error}", place.display()));
    let _ = std::fs::remove_dir_all(former);
}

fn compiler(home: &Path) -> Command {
    let mut compiler = Command::new(home.join("bin/javac"));
    compiler.args(BRIEF.map(|option| format!("-J{option}")));
    compiler
}

/// Finds a JDK; reports that there is none, or panics if `CI` is set.
fn home() -> Option<PathBuf> {
    let found = jdk();
    if found.is_none() {
        assert!(!ground::is_ci(), "there is no JDK {VERSION}: install one, or set JAVA_HOME");
        eprintln!("there is no JDK {VERSION}, so nothing is tested: install one, or set JAVA_HOME");
    }
    found
}

/// Finds a JDK that is new enough, not necessarily the machine's default.
fn jdk() -> Option<PathBuf> {
    let named = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    let installed = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten().map(|entry| entry.path());
    named.into_iter().chain(installed).find(|home| version(home).is_some_and(|version| version >= VERSION))
}

/// Returns the version in a JDK's file of properties: `JAVA_VERSION="25.0.3"`. A run of javac would
/// start a virtual machine for each test.
fn version(home: &Path) -> Option<u32> {
    let properties = std::fs::read_to_string(home.join("release")).ok().filter(|_| home.join("bin/javac").exists())?;
    let version = properties.lines().find_map(|line| line.strip_prefix("JAVA_VERSION=\""))?;
    version.split(['.', '-', '"']).next()?.parse().ok()
}

/// Returns the Java files below a folder, except module descriptions, because all are compiled as
/// one module.
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
