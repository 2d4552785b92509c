//! Tests that every refusal of a combination follows a rule and has a line, and that the compilers
//! of each language accept the output for all other combinations without warnings.

use constructs::combine::{Case, cases, file};
use constructs::names;
use constructs::rules::{Stage, is_accepted, of};
use ground::is_wide;
use native_programs::java::Classes;
use native_programs::{Workshop, cargo, folder};
use obvia_idl::{Compiler, Diagnostic, Language, compile_into, emit};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

static WORKSHOP: Workshop = Workshop::new(env!("CARGO_TARGET_TMPDIR"));

/// The options of C and C++ compilers that make every warning an error.
const STRICT: [&str; 4] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

/// Methods of a `[local]` interface that return something other than an HRESULT.
const DIRECT: &str = "\
    import \"unknwn.idl\";
    typedef struct Pair { long a; hyper b; } Pair;
    struct Hidden;
    struct Listed { long a; [unique] struct Listed *next; };
    typedef enum Colour { Red, Green } Colour;
    [object, local, uuid(c0135700-0000-4000-8007-000000000000)] interface IDirect : IUnknown {
        void *Alloc([in] unsigned long size);
        void Free([in] byte *memory);
        void Nothing();
        unsigned long Count([in] Pair *pair, [in, string] const wchar_t *text, [out] long *result);
        Pair Both([in] long returned);
        Colour Paint([in] Colour colour);
        boolean Is([in] IUnknown *one, [out] IUnknown **other);
        IDirect *Next();
        IUnknown *Any();
        struct Hidden *Show([in] struct Hidden *hidden);
        struct Listed *List([in] struct Listed *list);
        char *Text();
        const wchar_t *Name();
        const void **Places();
        HRESULT Put([in] const void *from, [in] unsigned long n, [in, size_is(n)] void *bytes, [out] void **to);
        HRESULT Usual([in] long a, [out, retval] long *b);
    }
    [object, local, uuid(c0135700-0000-4000-8007-000000000001)] interface IHeir : IDirect { float More(); }
";

/// A `[local]` interface whose methods can be called by name.
const BY_NAME: &str = "\
    import \"oaidl.idl\";
    [object, local, dual, uuid(c0135700-0000-4000-8007-000000000002)] interface IByName : IDispatch {
        HRESULT Nothing();
        HRESULT Sum([in] long a, [in] long b, [out, retval] long *sum);
    }
";

/// Returns the parts of the compiler that refuse a case, each with its first error.
fn refusals(case: &Case) -> Vec<(Stage, Diagnostic)> {
    let compilation = match Compiler::new().check_text(Path::new("x.idl"), &file(&[case])) {
        Ok(compilation) => compilation,
        Err(failure) => return vec![(Stage::Compiler, failure.diagnostics[0].clone())],
    };
    let outcomes = [
        (Stage::Rust, emit::rust::emit(&compilation).err()),
        (Stage::C, emit::c::emit(&compilation, "x").err()),
        (Stage::Java, emit::java::emit(&compilation, "x", None).err()),
    ];
    outcomes.into_iter().filter_map(|(stage, refused)| Some((stage, refused?.swap_remove(0)))).collect()
}

/// Whether some language must refuse a case.
fn is_refused(case: &Case) -> bool {
    [Stage::Rust, Stage::C, Stage::Java].into_iter().any(|stage| !is_accepted(case, stage))
}

#[test]
fn refused_constructs_are_reported_by_a_rule_with_a_line() {
    let mut wrong = Vec::new();
    let all = cases(is_wide());
    let refused: Vec<&Case> = all.iter().filter(|case| is_refused(case)).collect();
    // A suite in which most cases are refused would prove nothing.
    assert!(refused.len() * 2 < all.len(), "{} of {} are refused", refused.len(), all.len());
    for case in refused {
        let found = refusals(case);
        for stage in [Stage::Compiler, Stage::Rust, Stage::C, Stage::Java] {
            let said = found.iter().find(|(other, _)| *other == stage).map(|(_, said)| said);
            // After an error of the first stages the back ends do not run.
            let is_over = stage != Stage::Compiler && of(case, Stage::Compiler).next().is_some();
            let mut rules = of(case, stage).filter(|_| !is_over).peekable();
            match (said, rules.peek().is_some()) {
                (None, false) => {}
                (None, true) => wrong.push(format!("{} is not refused: {stage:?}", case.name)),
                (Some(said), _) => {
                    if said.span.is_none()
                        || !rules.any(|rule| rule.code == said.code && said.message.contains(rule.message))
                    {
                        wrong.push(format!("{} is refused: {stage:?}, {said:?}", case.name));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns the files with the cases that must work in a language, in a folder of their own.
fn files(stage: Stage, name: &str) -> (PathBuf, Vec<PathBuf>) {
    let place = WORKSHOP.place(name);
    let all = cases(is_wide());
    let accepted: Vec<&Case> = all.iter().filter(|case| is_accepted(case, stage)).collect();
    let mut texts = vec![("constructs.idl".to_owned(), file(&accepted))];
    // A quick run uses every third or fifth name. These names still stand in all places, and
    // declare things of each kind.
    let (turns, step, step_of_places) = if is_wide() { (names::KINDS, 1, 1) } else { (1, 5, 3) };
    texts.push(("names.idl".to_owned(), names::file(step_of_places)));
    texts.push(("made_up.idl".to_owned(), names::made_up(stage != Stage::Java, step_of_places)));
    texts.extend((0..turns).map(|turn| (format!("names{turn}.idl"), names::dangerous(turn, step))));
    if stage != Stage::Java {
        texts.push(("direct.idl".to_owned(), DIRECT.to_owned()));
    }
    if stage == Stage::Rust {
        texts.push(("by_name.idl".to_owned(), BY_NAME.to_owned()));
    }
    if stage == Stage::C {
        texts.push(("made_of_names.idl".to_owned(), made_of_names()));
    }
    let written = texts.into_iter().map(|(file, text)| {
        let path = place.join(file);
        fs::write(&path, text).expect("the folder for builds can be written to");
        path
    });
    let written = written.collect();
    (place, written)
}

/// Returns a file with those declarations whose names do not clash in C.
fn made_of_names() -> String {
    let whole = |part: &str| format!("import \"unknwn.idl\";\n{part}");
    let is_refused = |part: &names::MadeOfNames| {
        let text = whole(&part.text);
        let compilation = Compiler::new().check_text(Path::new("x.idl"), &text);
        let compilation = compilation.unwrap_or_else(|failure| panic!("{failure}{text}"));
        let errors = emit::c::emit(&compilation, "x").err().unwrap_or_default();
        assert!(errors.iter().all(|error| error.code == "taken-name"), "{errors:?}");
        !errors.is_empty()
    };
    let parts = names::made_of_names(is_wide());
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

/// Returns the code in Rust and C for a file's text, as words.
fn words(text: &str) -> Vec<String> {
    let compilation =
        Compiler::new().check_text(Path::new("x.idl"), text).unwrap_or_else(|failure| panic!("{failure}"));
    let rust = emit::rust::emit(&compilation).unwrap_or_else(|errors| panic!("{errors:?}"));
    let c = emit::c::emit(&compilation, "x").unwrap_or_else(|errors| panic!("{errors:?}"));
    let all = [rust, c.header, c.stubs, c.projection].concat();
    let is_in_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    all.split(|c| !is_in_word(c)).map(str::to_owned).collect()
}

#[test]
fn parameters_are_renamed_if_generated_variables_collide_with_constants() {
    let of_param = |word: &String| word.starts_with("zebra_") && word.len() > "zebra_".len();
    let made: BTreeSet<String> = words(&names::passing("zebra", "")).into_iter().filter(of_param).collect();
    assert!(made.contains("zebra_count") && made.contains("zebra_lent"), "{made:?}");
    for name in made {
        let found = words(&names::passing("zebra", &format!("const long {name} = 1;\n")));
        assert!(found.iter().any(|word| word == "zebra_arg"), "{name}");
    }
}

#[test]
fn rust_compiles_all_accepted_constructs() {
    let (place, files) = files(Stage::Rust, "constructs-rust");
    let mut modules = "#![deny(warnings)]\n".to_owned();
    for idl in files {
        compile_into(&Compiler::new(), Language::Rust, &idl, &place).unwrap_or_else(|failure| panic!("{failure}"));
        let stem = idl.file_stem().and_then(|stem| stem.to_str()).expect("it has a name");
        modules += &format!("pub mod {stem} {{\n    obvia::include_idl!(\"{stem}\");\n}}\n");
    }
    let main = place.join("lib.rs");
    fs::write(&main, modules).expect("the folder for builds can be written to");
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata", "--out-dir"]).arg(&place);
    cargo::libraries("obvia").give(&mut rustc, &["obvia", "windows_core"]);
    silent(rustc.env("OUT_DIR", &place).arg(main));
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
        let compiler = Compiler::new().test(is_wide() || !["constructs", "made_of_names"].contains(&stem));
        let written = compile_into(&compiler, Language::C, &idl, &place).unwrap_or_else(|failure| panic!("{failure}"));
        // The stubs include the header, and so does the header of values.
        let (stubs, values) = (format!("{stem}_stubs.c"), format!("{stem}_values.hpp"));
        let test = Some(format!("{stem}_test.cc")).filter(|file| written.files.contains(&place.join(file)));
        for (at, (c, cpp)) in compilers.iter().copied().enumerate() {
            // In a quick run, one of two compilers takes each source.
            let takes = |turn: usize| is_wide() || turn == at || compilers.len() == 1;
            let all = [(0, c, "c", Some(&stubs)), (1, cpp, "c++", Some(&stubs)), (0, cpp, "c++", Some(&values))];
            let sources = all.into_iter().chain([(1, cpp, "c++", test.as_ref())]).filter(|(turn, ..)| takes(*turn));
            for (_, compiler, language, source) in sources {
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
    // A missing JDK has already been reported.
    let _ = Classes::build(&place.join("built"), &files, None);
}
