//! Tests the symbols of libobvia: the libraries define, and the headers declare, exactly the
//! symbols in `symbols.txt`.

use crate::program::WORKSHOP;
use native_programs::{folder, preprocessed, run};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The headers of programs, stubs and server loops.
const HEADERS: [&str; 7] =
    ["obvia.h", "obvia_automation.h", "obvia_stub.h", "obvia_table.h", "obvia_server.h", "ocidl.h", "obvia_events.h"];

/// Symbols, each with its kind and its name.
type Symbols = BTreeSet<String>;

fn listed() -> Symbols {
    include_str!("../../symbols.txt").lines().map(str::to_owned).collect()
}

fn assert_listed(found: &Symbols, whose: &str) {
    let listed = listed();
    let missing: Vec<_> = listed.difference(found).collect();
    let more: Vec<_> = found.difference(&listed).collect();
    assert!(missing.is_empty() && more.is_empty(), "{whose}: not there: {missing:?}; not in symbols.txt: {more:?}");
}

/// Returns the exported symbols of a library.
fn defined(library: &Path, options: &[&str]) -> Symbols {
    let mut nm = Command::new("nm");
    let text =
        run(nm.args(["--quiet", "--format=posix", "--extern-only", "--defined-only"]).args(options).arg(library));
    let symbol = |line: &str| {
        let (name, rest) = line.split_once(' ')?;
        let kind = match rest.get(..1)? {
            "T" => "function",
            "B" | "D" | "R" => "variable",
            other => other,
        };
        Some(format!("{kind} {name}"))
    };
    String::from_utf8_lossy(&text).lines().filter_map(symbol).collect()
}

#[test]
fn the_shared_library_exports_exactly_the_listed_symbols() {
    assert_listed(&defined(&WORKSHOP.library().join("libobvia.so"), &["--dynamic"]), "libobvia.so");
}

#[test]
fn the_static_library_defines_the_listed_symbols() {
    // The static library also defines the symbols of its Rust code, which are mangled or have other
    // prefixes.
    let mut found = defined(&WORKSHOP.library().join("libobvia.a"), &[]);
    let listed = listed();
    found.retain(|symbol| symbol.contains(" obvia_") || symbol.contains(" IID_") || listed.contains(symbol));
    assert_listed(&found, "libobvia.a");
}

#[test]
fn the_headers_declare_the_listed_symbols() {
    let include = folder("crates/capi/include");
    let declared = HEADERS.iter().flat_map(|header| {
        let text = preprocessed(&include.join(header));
        statements(&of_folder(&text, &include)).iter().filter_map(|words| declared(words)).collect::<Vec<_>>()
    });
    assert_listed(&declared.collect(), "the headers");
}

/// Returns the lines of a preprocessed text that come from a folder's files.
fn of_folder(text: &str, folder: &Path) -> String {
    let (mut is_theirs, mut theirs) = (false, String::new());
    for line in text.lines() {
        if let Some(note) = line.strip_prefix("# ") {
            is_theirs = note.split('"').nth(1).is_some_and(|file| Path::new(file).starts_with(folder));
        } else if is_theirs {
            theirs += line;
            theirs.push('\n');
        }
    }
    theirs
}

/// Returns the words of each statement and definition at the top level, without the content of
/// braces.
fn statements(text: &str) -> Vec<Vec<String>> {
    let (mut found, mut words, mut depth) = (Vec::new(), Vec::<String>::new(), 0);
    let mut is_in_word = false;
    for character in text.chars() {
        let continues = std::mem::replace(&mut is_in_word, character.is_alphanumeric() || character == '_');
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth > 0 || character.is_whitespace() {
            continue;
        }
        match words.last_mut() {
            _ if character == ';' || character == '}' => found.push(std::mem::take(&mut words)),
            Some(word) if continues && is_in_word => word.push(character),
            _ => words.push(character.to_string()),
        }
    }
    found
}

/// Returns the symbol that a statement declares without defining it.
fn declared(words: &[String]) -> Option<String> {
    let first = words.first()?;
    if ["static", "typedef", "_Static_assert"].contains(&first.as_str()) {
        return None;
    }
    let mut pairs = words.windows(2);
    let is_called = |pair: &&[String]| pair[1] == "(" && pair[0] != "(" && pair[0] != "__attribute__";
    if let Some(pair) = pairs.find(is_called) {
        return Some(format!("function {}", pair[0]));
    }
    (first == "extern").then(|| format!("variable {}", words[words.len() - 1]))
}

#[test]
fn external_declarations_are_distinguished_from_other_statements() {
    let text = "# 1 \"/there/x.h\" 1\nint other(void);\n# 2 \"/here/y.h\" 2\ntypedef int call(int);\nextern const int one;\n\
                struct s { int (*f)(void); };\nstatic inline int two(int a)\n{ if (a) { a(); } return 1; }\nstatic int x = {0};\n\
                _Static_assert(sizeof(int) == (4), \"\");\n__attribute__((cold)) s *three(int a,\n int b);\nvoid four(void);\n";
    let statements = statements(&of_folder(text, Path::new("/here")));
    let found: Vec<_> = statements.iter().filter_map(|words| declared(words)).collect();
    assert_eq!(found, ["variable one", "function three", "function four"]);
}

#[test]
fn every_header_is_installed() {
    let list = std::fs::read_to_string(folder("bindings/cmake/install.cmake")).expect("it is there");
    for header in std::fs::read_dir(folder("crates/capi/include")).expect("it is there") {
        let name = header.expect("readable").file_name().into_string().expect("it is text");
        assert!(
            list.contains(&format!("crates/capi/include/{name}\n")),
            "bindings/cmake/install.cmake leaves out {name}"
        );
        assert!(HEADERS.contains(&name.as_str()), "{name} is not among those whose symbols are compared");
    }
}
