//! The words of generated code. Declarations with these names must work, too.

use constructs::names;
use constructs::parameters::{passing, ways};
use constructs::rule::Stage;
use obvia_idl::{Compilation, Compiler, Diagnostic, emit};
use std::collections::{BTreeSet, HashSet};
use std::path::Path;

/// The names that the files of [`passing`] and [`names::declared`] declare. The names of generated
/// items contain them.
const OWN: [&str; 7] = ["IWays", "IWords", "Padded", "Leads", "Arms", "Flags", "Bare"];

/// The names of the items that generated code in Rust has once in a file.
const OF_FILES: [&str; 4] = ["INTERFACES", "TYPES__", "DECLARED__", "borrowed__"];

fn check(text: &str) -> Option<Compilation> {
    Compiler::new().check_text(Path::new("x.idl"), text).ok()
}

/// Returns the code in a language for a file's text.
///
/// # Errors
///
/// Returns the diagnostics of the declarations that the back end refuses.
pub fn code(text: &str, stage: Stage) -> Result<String, Vec<Diagnostic>> {
    let compilation = check(text).unwrap_or_else(|| panic!("{text}"));
    match stage {
        Stage::Rust => emit::rust::emit(&compilation),
        Stage::C => emit::c::emit(&compilation, "x").map(|made| [made.header, made.stubs, made.projection].concat()),
        Stage::Java => {
            let made = emit::java::emit(&compilation, "x", None)?;
            Ok(made.files.into_iter().map(|(_, text)| text).collect())
        }
        Stage::Compiler => panic!("the first stages write no code"),
    }
}

/// Returns the words of code. Each word stands between the text before it and the text after it in
/// the same line. Strings, comments and directives are left out.
pub fn words(code: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    let lines = code.lines().map(str::trim).filter(|line| !line.starts_with(['/', '*', '#']));
    let is_in_word = |one: char| one.is_ascii_alphanumeric() || one == '_';
    lines.flat_map(|line| line.split('"').step_by(2)).flat_map(move |line| {
        let words = line.split(move |one| !is_in_word(one)).filter(|word| !word.is_empty());
        let words = words.map(move |word| {
            let start = word.as_ptr().addr() - line.as_ptr().addr();
            (&line[..start], word, &line[start + word.len()..])
        });
        words.filter(|(_, word, _)| !word.starts_with(|first: char| first.is_ascii_digit()))
    })
}

/// Returns the words of code that can be names of variables. Some of them are names of other items.
fn variables(code: &str) -> BTreeSet<String> {
    let ends = [" = ", ": ", ";", ",", ")", "[", "|", " ->", " : "];
    let is_variable = |(before, word, after): &(&str, &str, &str)| {
        word.starts_with(|first: char| first.is_ascii_lowercase() || first == '_')
            && before.ends_with(['|', '(', ' ', '*', '&'])
            && ends.iter().any(|end| after.starts_with(end))
    };
    words(code).filter(is_variable).map(|(_, word, _)| word.to_owned()).collect()
}

/// Returns each way of passing a parameter, with the names of the variables in the code for this
/// way. Only names that a parameter can have are returned.
pub fn variables_of_ways(stage: Stage) -> Vec<(&'static str, BTreeSet<String>)> {
    let code_of = |ways: &[&str]| {
        code(&passing(ways, "zebra", ""), stage).unwrap_or_else(|errors| panic!("{ways:?}: {errors:?}"))
    };
    // The code for types and interfaces is the same for all ways.
    let rest = code_of(&[]);
    let rest: HashSet<&str> = rest.lines().collect();
    let of = |way: &'static str| {
        let code = code_of(&[way]);
        let own: Vec<&str> = code.lines().filter(|line| !rest.contains(line)).collect();
        let mut found = variables(&own.join("\n"));
        // A parameter cannot have a word of IDL as its name, nor the name of another parameter of
        // the method.
        found.retain(|name| !name.contains("zebra") && check(&passing(&[way], name, "")).is_some());
        (way, found)
    };
    ways(stage).into_iter().map(of).collect()
}

/// Returns a file with declarations of one kind. Their names are the words of generated code,
/// except for the words that the language's back end refuses as names.
///
/// # Panics
///
/// Panics if the back end refuses a word that is not in [`OF_FILES`] and contains none of [`OWN`],
/// or if the back end reports another error.
pub fn declared(kind: usize, stage: Stage) -> String {
    let ways = ways(stage);
    let sample = passing(&ways, "zebra", &names::declared(&BTreeSet::new(), kind, false));
    let code_of_sample = code(&sample, stage).unwrap_or_else(|errors| panic!("{errors:?}"));
    let own: BTreeSet<&str> = words(&sample).map(|(_, word, _)| word).collect();
    let of = |word: &str| names::declared(&[word.to_owned()].into(), kind, false);
    // Names that begin with underscores are left out, because C reserves them. The names of known
    // types are left out, because they keep their meaning.
    let is_type = |word: &str| check(&format!("import \"oaidl.idl\"; typedef {word} zebra;")).is_some();
    let is_free =
        |word: &str| !own.contains(word) && !word.starts_with('_') && !names::is_dangerous(word) && !is_type(word);
    let is_name = |word: &str| check(&format!("import \"oaidl.idl\";\n{}", of(word))).is_some();
    let found: BTreeSet<&str> = words(&code_of_sample).map(|(_, word, _)| word).collect();
    let found = found.into_iter().filter(|word| is_free(word) && is_name(word));
    let mut found: BTreeSet<String> = found.map(str::to_owned).collect();
    loop {
        let text = passing(&ways, "zebra", &names::declared(&found, kind, stage == Stage::Rust));
        let Err(errors) = code(&text, stage) else { return text };
        let is_refused = |word: &&String| errors.iter().any(|error| error.message.contains(&format!("`{word}`")));
        let refused: BTreeSet<String> = found.iter().filter(is_refused).cloned().collect();
        let is_made = |word: &String| OF_FILES.contains(&word.as_str()) || OWN.iter().any(|own| word.contains(own));
        let is_right = !refused.is_empty() && errors.iter().all(|error| error.code == "taken-name");
        assert!(is_right && refused.iter().all(is_made), "{stage:?}: {refused:?}, {errors:?}");
        found.retain(|word| !refused.contains(word));
    }
}
