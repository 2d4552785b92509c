//! The index of findings: every code is explained. If an explanation has examples, the first has
//! the finding, and the second has no finding.

use obvia_idl::Compiler;
use obvia_idl::tools::explanations::{codes, explain, explanations};
use std::collections::{BTreeSet, HashSet};
use std::path::Path;

/// Returns the codes of findings that occur in the compiler's source.
fn given_codes() -> BTreeSet<String> {
    let files = ground::files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "rs");
    let mut codes = BTreeSet::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("readable");
        for call in ["Diagnostic::error(", "Diagnostic::warning(", "Diagnostic::without_place(", "self.unknown("] {
            for rest in text.split(call).skip(1) {
                let code = rest.trim_start().strip_prefix('"').and_then(|rest| rest.split('"').next());
                codes.extend(code.map(str::to_owned));
            }
        }
    }
    codes
}

#[test]
fn each_code_of_the_compiler_is_explained() {
    let known: BTreeSet<String> = explanations().map(|known| known.code.to_owned()).collect();
    let given = given_codes();
    assert!(given.len() > 80, "{given:?}");
    let missing: Vec<_> = given.difference(&known).collect();
    let stale: Vec<_> = known.difference(&given).collect();
    assert!(missing.is_empty() && stale.is_empty(), "missing {missing:?}, stale {stale:?}");
}

#[test]
fn examples_are_wrong_and_then_right() {
    let mut wrong = Vec::new();
    let mut examples = 0;
    for known in explanations() {
        let found: Vec<_> = known.examples().map(findings).collect();
        match &found[..] {
            [] => {}
            [bad, good] if *bad == [known.code] && good.is_empty() => examples += 1,
            other => wrong.push(format!("{}: {other:?}", known.code)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(examples > 50, "{examples}");
}

/// Returns the codes of a text's errors and warnings, without repetitions.
fn findings(text: &str) -> Vec<&'static str> {
    let mut codes: Vec<_> = match Compiler::new().check_text(Path::new("no-such-folder/x.idl"), text) {
        Ok(compilation) => compilation.warnings.iter().map(|finding| finding.code).collect(),
        Err(failure) => failure.diagnostics.iter().map(|finding| finding.code).collect(),
    };
    codes.dedup();
    codes
}

#[test]
fn codes_are_unique_and_explained() {
    let mut known = HashSet::new();
    for code in codes() {
        assert!(known.insert(code), "{code} has two meanings");
        assert!(explain(code).is_some_and(|text| text.len() > 20), "{code}");
    }
    assert_eq!(explain("no-such-code"), None);
}
