//! IDL files that other projects have written: the share that the compiler accepts, and the shares
//! of its outputs that gcc and rustc accept. `cargo xtask test --thorough idl` fetches the files.

use native_programs::cargo::{self, Libraries};
use native_programs::{Workshop, folder};
use obvia_idl::model::Model;
use obvia_idl::{Compiler, Failure, Language, compile_into};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

static WORKSHOP: Workshop = Workshop::new(env!("CARGO_TARGET_TMPDIR"));

/// The environment variable with the folder of the corpora.
const FOLDER: &str = "OBVIA_CORPORA";

/// Wine's IDL compiler.
const WIDL: &str = "x86_64-w64-mingw32-widl";

/// Files of one project.
struct Corpus {
    name: &'static str,
    roots: &'static [&'static str],
    /// The folders in which imports are found. They may belong to another corpus.
    include: &'static [&'static str],
    /// The least percentages: of files that the compiler accepts, of accepted files whose output
    /// gcc accepts, and of accepted files whose output rustc accepts.
    least: [usize; 3],
}

const CORPORA: [Corpus; 4] = [
    Corpus {
        name: "libwine-dev",
        roots: &["libwine-dev/usr/include/wine/wine/windows"],
        include: &["libwine-dev/usr/include/wine/wine/windows"],
        least: [98, 92, 98],
    },
    Corpus {
        name: "mingw-w64",
        roots: &["mingw-w64/mingw-w64-headers/include"],
        include: &["mingw-w64/mingw-w64-headers/include", "mingw-w64-common/usr/share/mingw-w64/include"],
        least: [93, 92, 98],
    },
    Corpus {
        name: "wine",
        roots: &["wine/dlls", "wine/programs", "wine/include/wine"],
        include: &["wine/include", "libwine-dev/usr/include/wine/wine/windows"],
        least: [95, 98, 97],
    },
    Corpus {
        name: "samba",
        roots: &["samba/testprogs/win32/midltests"],
        include: &["samba/testprogs/win32/midltests"],
        least: [76, 98, 96],
    },
];

/// A file, and the path for its outputs.
struct File {
    path: PathBuf,
    out: PathBuf,
}

/// The compilers' answers about a file. Each reason is one line.
enum Answer {
    /// A part that other files include. widl cannot compile it alone.
    Fragment,
    Refused(String),
    Accepted {
        c: Result<Methods, String>,
        rust: Result<Methods, String>,
    },
}

/// The numbers of methods in a file's own interfaces that other processes can call.
#[derive(Clone, Copy, Default)]
struct Methods {
    all: usize,
    /// The methods that the language passes.
    passed: usize,
}

impl Methods {
    fn of(model: &Model) -> Self {
        let own = model.interfaces.iter().filter(|found| !found.imported && !found.local && found.bare.is_none());
        let methods: Vec<_> = own.flat_map(|found| &found.methods).collect();
        Self { all: methods.len(), passed: methods.iter().filter(|method| !method.local).count() }
    }

    fn add(&mut self, more: Self) {
        self.all += more.all;
        self.passed += more.passed;
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().find(|line| line.contains("error")).or_else(|| text.lines().next());
    line.unwrap_or_default().trim().to_owned()
}

/// Returns the first error of a failure.
fn reason(failure: &Failure) -> String {
    failure.diagnostics.first().map_or_else(String::new, |error| format!("{}: {}", error.code, error.message))
}

/// Whether a file is written in MIDL 3, the dialect of WinRT. The compiler does not read this
/// dialect.
fn is_for_winrt(path: &Path) -> bool {
    let text = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let begins = |line: &str, words: &[&str]| words.iter().any(|word| line.trim_start().starts_with(word));
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("windows."))
        || text.contains("inspectable.idl")
        || text.contains("\"windows.")
        || text.lines().any(|line| begins(line, &["namespace ", "runtimeclass ", "apicontract ", "[contract"]))
}

/// Returns the names of the IDL files that other files include.
fn parts(paths: &[PathBuf]) -> HashSet<String> {
    let included = |line: &str| {
        let name = line.trim().strip_prefix("#include")?.trim().trim_matches(['"', '<', '>']).to_owned();
        name.ends_with(".idl").then_some(name)
    };
    let of = |path: &PathBuf| {
        let text = fs::read(path).unwrap_or_default();
        String::from_utf8_lossy(&text).lines().filter_map(included).collect::<Vec<_>>()
    };
    paths.iter().flat_map(of).collect()
}

/// Adds the IDL files below a folder to `found`.
fn find(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.map(|entry| entry.expect("the folder can be read").path()) {
        if path.is_dir() {
            find(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "idl") && !is_for_winrt(&path) {
            found.push(path);
        }
    }
}

/// Returns the folder for the outputs of the files in a folder.
fn out_of(folder: &Path, all: &Path) -> PathBuf {
    WORKSHOP.place("corpora").join(folder.strip_prefix(all).expect("it is below"))
}

/// Runs a compiler. Returns the first error if the compiler refuses its input.
fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?} cannot be run: {error}"));
    if output.status.success() { Ok(()) } else { Err(first_line(&String::from_utf8_lossy(&output.stderr))) }
}

/// Runs a compiler on an output, and replaces `result` if the compiler refuses its input.
fn check(result: &mut Result<Methods, String>, command: &mut Command) {
    if let Err(why) = run(command) {
        *result = Err(why);
    }
}

/// Compiles a file to C and Rust.
fn generate(file: &File, include: &[PathBuf], parts: &HashSet<String>) -> Answer {
    let own = file.path.parent().expect("a file is in a folder");
    let compiler = include.iter().fold(Compiler::new().permissive(true).include(own), Compiler::include);
    if let Err(failure) = compiler.check(&file.path) {
        let mut widl = Command::new(WIDL);
        widl.arg("-h").arg("-o").arg(file.out.join("fragment.h")).arg("-I").arg(own);
        include.iter().for_each(|folder| _ = widl.arg("-I").arg(folder));
        let widl = run(widl.arg(&file.path));
        let is_part = file.path.file_name().is_some_and(|name| parts.contains(&*name.to_string_lossy()));
        return if is_part && widl.is_err() { Answer::Fragment } else { Answer::Refused(reason(&failure)) };
    }
    let write = |language| match compile_into(&compiler, language, &file.path, &file.out) {
        Ok(compiled) => Ok(Methods::of(&compiled.compilation.model)),
        Err(failure) => Err(reason(&failure)),
    };
    Answer::Accepted { c: write(Language::C), rust: write(Language::Rust) }
}

/// Compiles a file's outputs.
fn compile(file: &File, answer: &mut Answer, include: &[PathBuf], libraries: &Libraries) {
    let Answer::Accepted { c, rust } = answer else { return };
    let stem = file.path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
    if c.is_ok() {
        let mut gcc = Command::new("gcc");
        gcc.args(["-std=c11", "-fsyntax-only"]).arg("-I").arg(&file.out);
        let own = ["crates/capi/include", "bindings/cpp/include"].map(folder);
        include.iter().chain(&own).for_each(|folder| _ = gcc.arg("-I").arg(folder));
        check(c, gcc.arg(file.out.join(format!("{stem}_stubs.c"))));
    }
    if rust.is_ok() {
        let main = file.out.join(format!("{stem}.main.rs"));
        fs::write(&main, format!("obvia::include_idl!(\"{stem}\");\n")).expect("the folder can be written to");
        let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        rustc.args(["--edition", "2024", "--crate-type", "lib", "--crate-name", "corpus", "--emit", "metadata"]);
        rustc.arg("-o").arg(file.out.join(format!("{stem}.rmeta")));
        libraries.give(&mut rustc, &["obvia"]);
        check(rust, rustc.env("OUT_DIR", &file.out).arg(main));
    }
}

/// Calls a function for each item, in two threads.
fn each<T: Send>(items: &mut [T], work: impl Fn(&mut T) + Sync) {
    let items: Vec<_> = items.iter_mut().map(std::sync::Mutex::new).collect();
    let next = AtomicUsize::new(0);
    let turn = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            work(&mut item.lock().expect("no thread has panicked"));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(turn);
        turn();
    });
}

/// Prints the failures and the counts of a corpus, and returns complaints about the shares that are
/// too small.
fn judge(corpus: &Corpus, answers: &[(File, Answer)]) -> Vec<String> {
    let (mut fragments, mut refused, mut outputs, mut methods) = (0, 0, [0, 0], [Methods::default(); 2]);
    for (file, answer) in answers {
        let name = file.path.file_name().expect("a file has a name").to_string_lossy();
        match answer {
            Answer::Fragment => fragments += 1,
            Answer::Refused(why) => {
                refused += 1;
                println!("{}: {name} is refused: {why}", corpus.name);
            }
            Answer::Accepted { c, rust } => {
                for (at, (result, language)) in [(c, "C"), (rust, "Rust")].into_iter().enumerate() {
                    match result {
                        Ok(found) => {
                            outputs[at] += 1;
                            methods[at].add(*found);
                        }
                        Err(why) => println!("{}: {name} in {language}: {why}", corpus.name),
                    }
                }
            }
        }
    }
    let counted = answers.len() - fragments;
    let accepted = counted - refused;
    println!(
        "{}: of {counted} files, beside {fragments} fragments, {accepted} are accepted; gcc accepts the output of {}, rustc that of {}",
        corpus.name, outputs[0], outputs[1]
    );
    let [c, rust] = methods;
    println!(
        "{}: of {} methods C passes {}; of {} methods Rust passes {}",
        corpus.name, c.all, c.passed, rust.all, rust.passed
    );
    let shares = [("accepted", accepted, counted), ("C", outputs[0], accepted), ("Rust", outputs[1], accepted)];
    let too_small = shares.iter().zip(corpus.least).filter(|((_, part, of), least)| part * 100 < of * least);
    too_small
        .map(|((what, part, of), least)| format!("{}: {what}: {part} of {of} are less than {least} %", corpus.name))
        .collect()
}

#[test]
#[ignore = "needs the files of other projects, and takes minutes"]
fn files_of_other_projects_are_accepted() {
    let all = PathBuf::from(std::env::var_os(FOLDER).expect("`cargo xtask test --thorough idl` names the folder"));
    let libraries = cargo::libraries("obvia");
    // An import must not find the output of an earlier run.
    fs::remove_dir_all(WORKSHOP.place("corpora")).expect("the folder for builds can be written to");
    let mut corpora = CORPORA.map(|corpus| {
        let mut paths = Vec::new();
        corpus.roots.iter().for_each(|root| find(&all.join(root), &mut paths));
        assert!(!paths.is_empty(), "{} has no files", corpus.name);
        paths.sort();
        let parts = parts(&paths);
        let file = |path: PathBuf| File { out: out_of(path.parent().expect("it is in a folder"), &all), path };
        let answers: Vec<(File, Answer)> = paths.into_iter().map(|path| (file(path), Answer::Fragment)).collect();
        (corpus, answers, parts)
    });
    for (corpus, answers, parts) in &mut corpora {
        let include: Vec<PathBuf> = corpus.include.iter().map(|folder| all.join(folder)).collect();
        each(answers, |(file, answer)| {
            fs::create_dir_all(&file.out).expect("the folder for builds can be written to");
            *answer = generate(file, &include, parts);
        });
    }
    // An output includes the outputs of imported files, so compilation begins when all outputs
    // exist.
    let mut too_small = Vec::new();
    for (corpus, answers, _) in &mut corpora {
        let include: Vec<PathBuf> = corpus.include.iter().map(|folder| out_of(&all.join(folder), &all)).collect();
        each(answers, |(file, answer)| compile(file, answer, &include, &libraries));
        too_small.extend(judge(corpus, answers));
    }
    assert!(too_small.is_empty(), "{too_small:#?}");
}
