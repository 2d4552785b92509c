//! Tests that every refusal of a combination follows a rule and names a line, and that the
//! compilers of each language accept the output for all other combinations without warnings.

mod compiled;
mod emitted;

use constructs::combine::{Case, InterfaceKind, cases, file};
use constructs::parameters::{passing, ways};
use constructs::rule::Stage;
use constructs::rules::{is_accepted, of};
use ground::is_wide;
use obvia_idl::{Compiler, Diagnostic, emit};
use std::collections::BTreeSet;
use std::path::Path;

/// Returns the parts of the compiler that refuse a case, each with its first error. For a case of
/// [`InterfaceKind::Local`], `is_method` says whether the method is in an interface that other
/// processes call, instead of a `[local]` interface.
fn refusals(case: &Case, is_method: bool) -> Vec<(Stage, Diagnostic)> {
    let compilation = match Compiler::new().check_text(Path::new("x.idl"), &file(&[case], is_method)) {
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
    let ways = |case: &Case| if case.kind == InterfaceKind::Local { &[false, true][..] } else { &[false] };
    for (case, is_method) in refused.into_iter().flat_map(|case| ways(case).iter().map(move |way| (case, *way))) {
        let found = refusals(case, is_method);
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

/// Returns the words of the code in Rust and C for a file's text.
fn words(text: &str) -> BTreeSet<String> {
    let words_of = |stage| {
        let code = emitted::code(text, stage).unwrap_or_else(|errors| panic!("{errors:?}"));
        emitted::words(&code).map(|(_, word, _)| word.to_owned()).collect::<BTreeSet<_>>()
    };
    [Stage::Rust, Stage::C].into_iter().flat_map(words_of).collect()
}

#[test]
fn parameters_are_renamed_if_generated_variables_collide_with_constants() {
    // Names that end in `_wrong` are left out. A variable with such a name is a flag that says that
    // an expression has no value. The variable may hide a constant.
    let of_param =
        |word: &String| word.starts_with("zebra_") && word.len() > "zebra_".len() && !word.ends_with("_wrong");
    let ways = ways(Stage::C);
    let made: BTreeSet<String> = words(&passing(&ways, "zebra", "")).into_iter().filter(of_param).collect();
    assert!(made.contains("zebra_count") && made.contains("zebra_lent"), "{made:?}");
    for name in made {
        let found = words(&passing(&ways, "zebra", &format!("const long {name} = 1;\n")));
        assert!(found.contains("zebra_arg"), "{name}");
    }
}
