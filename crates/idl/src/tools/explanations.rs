//! Explanations of the codes of all findings: of the compiler, of the comparison and of the rules.

use super::compatibility::Kind;
use super::lint::Rule;

/// The page that explains the compiler's findings.
const PAGE: &str = include_str!("findings.md");

/// The explanation of the code of a compiler's finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The code.
    pub code: &'static str,
    /// The explanation in Markdown, with examples.
    pub text: &'static str,
}

impl Explanation {
    /// Returns the examples: a text with the mistake, and the same text without it.
    pub fn examples(&self) -> impl Iterator<Item = &'static str> {
        self.text.split("```").skip(1).step_by(2).map(|block| block.strip_prefix("c\n").unwrap_or(block))
    }
}

/// Returns the explanations of the compiler's findings, in the order of their codes.
pub fn explanations() -> impl Iterator<Item = Explanation> {
    PAGE.split("\n## ").skip(1).filter_map(|section| {
        let (code, text) = section.split_once('\n')?;
        Some(Explanation { code, text: text.trim() })
    })
}

/// Returns all codes.
pub fn codes() -> impl Iterator<Item = &'static str> {
    let tools = Kind::ALL.iter().map(|kind| kind.code()).chain(Rule::ALL.iter().map(|rule| rule.code()));
    explanations().map(|known| known.code).chain(tools)
}

/// Returns the explanation of a code as text. `None` for an unknown code.
pub fn explain(code: &str) -> Option<String> {
    let compiler = explanations().find(|known| known.code == code).map(|known| known.text.to_owned());
    let of = |what: &str, why: &str, remedy: &str| format!("{what}\n\nConsequence: {why}.\n\nRemedy: {remedy}.");
    let kind = || {
        let kind = Kind::ALL.iter().find(|kind| kind.code() == code)?;
        Some(of("A change of an IDL file that `obvia idl check` finds.", kind.why(), kind.remedy()))
    };
    let rule = || {
        let rule = Rule::ALL.iter().find(|rule| rule.code() == code)?;
        Some(of("A declaration that `obvia idl lint` finds.", rule.why(), rule.remedy()))
    };
    compiler.or_else(kind).or_else(rule)
}
