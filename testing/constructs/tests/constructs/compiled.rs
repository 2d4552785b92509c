//! Compilers accept the output for all cases that no rule refuses, without a warning. A thorough
//! run includes these tests.

use crate::emitted;
use constructs::combine::{Case, cases, file};
use constructs::rule::Stage;
use constructs::rules::{is_accepted, of};
use constructs::{made_of_names, names, parameters, texts};
use native_programs::java::Classes;
use native_programs::{Workshop, cargo, folder};
use obvia_idl::{Compiler, Language, compile_into, emit};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

static WORKSHOP: Workshop = Workshop::new(env!("CARGO_TARGET_TMPDIR"));

/// The options of C and C++ compilers that make every warning an error.
const STRICT: [&str; 4] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

/// The name of the file with the cases that only a permissive compiler accepts.
const PERMISSIVE: &str = "permissive";

/// A part of the error about a value of one of Automation's types.
const AUTOMATED: &str = "is one of Automation's types, which the C back end does not support yet";

/// Returns the compiler for a file.
fn compiler(stem: &str) -> Compiler {
    Compiler::new().permissive(stem == PERMISSIVE)
}

/// Returns a file with the cases that only a permissive compiler accepts for a language. C has no
/// values of some of Automation's types, so their cases are left out.
fn permissive(cases: &[Case], stage: Stage, place: &Path) -> String {
    let idl = place.join("one.idl");
    let is_refused = |case: &&Case| !is_accepted(case, stage) && of(case, Stage::Compiler).next().is_none();
    let is_possible = |case: &&Case| {
        if stage != Stage::C {
            return true;
        }
        fs::write(&idl, file(&[case], false)).expect("the folder for builds can be written to");
        let refused = compile_into(&compiler(PERMISSIVE), Language::C, &idl, place).err();
        refused.is_none_or(|failure| !failure.to_string().contains(AUTOMATED))
    };
    let found: Vec<&Case> = cases.iter().filter(is_refused).filter(is_possible).collect();
    assert!(found.len() > 100, "{} cases", found.len());
    file(&found, false)
}

/// Returns the files with the cases that must work in a language, in a folder of their own.
fn files(stage: Stage, name: &str) -> (PathBuf, Vec<PathBuf>) {
    let place = WORKSHOP.place(name);
    let cases = cases(true);
    let accepted: Vec<&Case> = cases.iter().filter(|case| is_accepted(case, stage)).collect();
    let mut all = vec![("constructs".to_owned(), file(&accepted, false))];
    all.push((PERMISSIVE.to_owned(), permissive(&cases, stage, &place)));
    all.push(("names".to_owned(), names::file()));
    all.push(("made_up".to_owned(), parameters::made_up(&emitted::variables_of_ways(stage))));
    all.push(("constants".to_owned(), texts::constants()));
    all.push(("typedefs".to_owned(), texts::TYPEDEFS.to_owned()));
    all.extend((0..names::KINDS).map(|turn| (format!("names{turn}"), names::dangerous(turn))));
    all.extend(names::KINDS_OF_WORDS.map(|kind| (format!("words{kind}"), emitted::declared(kind, stage))));
    match stage {
        Stage::Rust => all.push(("by_name".to_owned(), texts::BY_NAME.to_owned())),
        Stage::C => {
            all.push(("made_of_names".to_owned(), made_of_names()));
            all.extend(alike());
        }
        _ => all.push(("limits".to_owned(), texts::limits())),
    }
    if stage != Stage::Java {
        all.push(("direct".to_owned(), texts::DIRECT.to_owned()));
    }
    let written = all.into_iter().map(|(stem, text)| {
        let path = place.join(format!("{stem}.idl"));
        fs::write(&path, text).expect("the folder for builds can be written to");
        path
    });
    let written = written.collect();
    (place, written)
}

/// Returns the files with similar names. Each file imports the files before it.
fn alike() -> impl Iterator<Item = (String, String)> {
    texts::ALIKE.into_iter().enumerate().map(|(at, (stem, text))| {
        let imports = texts::ALIKE[..at].iter().map(|(stem, _)| format!("import \"{stem}.idl\";\n"));
        (stem.to_owned(), format!("import \"unknwn.idl\";\n{}{text}\n", imports.collect::<String>()))
    })
}

/// Returns a file with those declarations whose names do not clash in C.
fn made_of_names() -> String {
    let whole = |part: &str| format!("import \"unknwn.idl\";\n{part}");
    let is_refused = |part: &made_of_names::MadeOfNames| {
        let text = whole(&part.text);
        let compilation = Compiler::new().check_text(Path::new("x.idl"), &text);
        let compilation = compilation.unwrap_or_else(|failure| panic!("{failure}{text}"));
        let errors = emit::c::emit(&compilation, "x").err().unwrap_or_default();
        assert!(errors.iter().all(|error| error.code == "taken-name"), "{errors:?}");
        !errors.is_empty()
    };
    let parts = made_of_names::made_of_names();
    let wrong: Vec<&str> =
        parts.iter().filter(|part| is_refused(part) != part.is_refused).map(|part| part.text.as_str()).collect();
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    whole(&parts.iter().filter(|part| !part.is_refused).map(|part| part.text.as_str()).collect::<String>())
}

/// Runs a compiler, and checks that it succeeds without any output.
#[track_caller]
fn silent(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?} cannot be run: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    // The first errors are enough.
    let said: String = said.lines().take(60).map(|line| format!("{line}\n")).collect();
    assert!(output.status.success() && said.is_empty(), "{command:?}\n{said}");
}

#[test]
fn rust_compiles_all_accepted_constructs() {
    let (place, files) = files(Stage::Rust, "constructs-rust");
    let mut modules = "#![deny(warnings)]\n".to_owned();
    for idl in files {
        let stem = idl.file_stem().and_then(|stem| stem.to_str()).expect("it has a name");
        compile_into(&compiler(stem), Language::Rust, &idl, &place).unwrap_or_else(|failure| panic!("{failure}"));
        modules += &format!("pub mod {stem} {{\n    obvia::include_idl!(\"{stem}\");\n}}\n");
    }
    let main = place.join("lib.rs");
    fs::write(&main, modules).expect("the folder for builds can be written to");
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata", "--out-dir"]).arg(&place);
    cargo::libraries("obvia").give(&mut rustc, &["obvia"]);
    silent(rustc.env("OUT_DIR", &place).arg(main));
}

/// Returns a program that names each typedef that ends a line of an IDL file.
fn uses(idl: &Path, stem: &str) -> String {
    let text = fs::read_to_string(idl).expect("the file was written");
    let lines = text.lines().map(str::trim).filter(|line| line.starts_with("typedef "));
    let names = lines.filter_map(|line| {
        let name = line.strip_suffix(';')?.trim_end_matches("[3]").rsplit([' ', '*']).next()?;
        name.ends_with(|last: char| last.is_ascii_alphanumeric()).then_some(name)
    });
    let uses = names.enumerate().map(|(at, name)| format!("extern {name} *use{at};\n"));
    format!("#include \"{stem}.h\"\n{}", uses.collect::<String>())
}

/// Returns the available compilers for C and C++.
fn compilers() -> Vec<(&'static str, &'static str)> {
    let all = [("gcc", "g++"), ("clang", "clang++")];
    let is_there = |name: &str| Command::new(name).arg("--version").output().is_ok();
    let found: Vec<_> = all.into_iter().filter(|(c, cpp)| is_there(c) && is_there(cpp)).collect();
    assert!(!found.is_empty(), "there is neither gcc nor clang: install one");
    found
}

#[test]
fn c_and_cpp_compile_all_accepted_constructs() {
    let (place, files) = files(Stage::C, "constructs-c");
    let headers = ["crates/capi/include", "bindings/cpp/include"].map(folder);
    let compilers = compilers();
    for idl in files {
        let stem = idl.file_stem().and_then(|stem| stem.to_str()).expect("it has a name");
        let written = compile_into(&compiler(stem).test(true), Language::C, &idl, &place)
            .unwrap_or_else(|failure| panic!("{failure}"));
        // The stubs include the header, and so does the header of values.
        let (stubs, values) = (format!("{stem}_stubs.c"), format!("{stem}_values.hpp"));
        let test = Some(format!("{stem}_test.cc")).filter(|file| written.files.contains(&place.join(file)));
        for (at, (c, cpp)) in compilers.iter().copied().enumerate() {
            let all = [(c, "c", Some(&stubs)), (cpp, "c++", Some(&stubs)), (cpp, "c++", Some(&values))];
            for (compiler, language, source) in all.into_iter().chain([(cpp, "c++", test.as_ref())]) {
                let Some(source) = source else { continue };
                let standard = if language == "c" { "-std=c11" } else { "-std=c++17" };
                let mut command = Command::new(compiler);
                command.args(["-x", language, standard]).args(STRICT).arg("-I").arg(&place);
                if source.ends_with("hpp") {
                    command.args(["-include", source, "-o"]).arg(place.join(format!("{stem}_values.o")));
                } else {
                    command.arg("-o").arg(place.join(format!("{stem}_{language}.o")));
                }
                headers.iter().for_each(|folder| _ = command.arg("-I").arg(folder));
                let is_linked = at == 0 && (language == "c" || source.ends_with("hpp"));
                command.args(if is_linked { ["-O0", "-c"] } else { ["-O0", "-fsyntax-only"] });
                let empty = Path::new("/dev/null").to_owned();
                silent(command.arg(if source.ends_with("hpp") { empty } else { place.join(source) }));
            }
        }
        if ["constructs", "typedefs"].contains(&stem) {
            let program = place.join(format!("{stem}_uses.c"));
            fs::write(&program, uses(&idl, stem)).expect("the folder for builds can be written to");
            let (c, cpp) = compilers[0];
            for (compiler, language) in [(c, "c"), (cpp, "c++")] {
                let mut command = Command::new(compiler);
                command.args(["-x", language, "-fsyntax-only"]).args(STRICT).arg("-I").arg(&place);
                headers.iter().for_each(|folder| _ = command.arg("-I").arg(folder));
                silent(command.arg(&program));
            }
        }
        // Two files of a program may include the header of values.
        let [stubs, values, others] = ["c", "values", "others"].map(|what| place.join(format!("{stem}_{what}.o")));
        fs::copy(&values, &others).expect("the folder for builds can be written to");
        let (c, _) = compilers[0];
        let whole = place.join(format!("{stem}_whole.o"));
        silent(Command::new(c).args(["-nostdlib", "-r", "-o"]).arg(whole).args([stubs, values, others]));
    }
}

#[test]
fn java_compiles_all_accepted_constructs() {
    let (place, files) = files(Stage::Java, "constructs-java");
    let [usual, permissive] = [false, true].map(|is_permissive| Compiler::new().permissive(is_permissive));
    let compiler = |file: &PathBuf| if file.ends_with("permissive.idl") { &permissive } else { &usual };
    let files: Vec<_> = files.into_iter().map(|file| (compiler(&file), file)).collect();
    // A missing JDK has already been reported.
    let _ = Classes::build_with(&place.join("built"), &files, None);
}
