//! Rules for declarations that compile, but are likely to cause trouble: each with its remedy.

mod parameters;
mod rules;
mod types;

pub use rules::Rule;

use crate::compile::Compilation;
use crate::text::diagnostic::Diagnostic;
use crate::text::source::Span;

/// A finding of a rule.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// The finding in words.
    pub message: String,
    /// The declaration's place.
    pub span: Span,
}

impl Finding {
    /// Returns the finding as a warning.
    pub fn diagnostic(&self) -> Diagnostic {
        let warning = Diagnostic::warning(self.rule.code(), self.span, self.message.as_str());
        warning.help(format!("{}; {}", self.rule.why(), self.rule.remedy()))
    }
}

/// The findings so far.
#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, rule: Rule, span: Span, message: String) {
        self.0.push(Finding { rule, message, span });
    }
}

/// Returns the findings about the declarations of the compiled file, in the order of the source. An
/// imported file gets its findings when it is compiled itself.
pub fn lint(compilation: &Compilation) -> Vec<Finding> {
    let model = &compilation.model;
    let mut findings = Findings::default();
    for interface in model.interfaces.iter().filter(|interface| !interface.imported) {
        parameters::check(model, interface, &mut findings);
        if interface.plain && interface.bare.is_none() && interface.version == (0, 0) {
            findings.add(Rule::MissingVersion, interface.span, format!("`{}` has no version", interface.name));
        }
    }
    types::check(compilation, &mut findings);
    let libraries = model.libraries.iter().filter(|library| !library.imported);
    let named = libraries.map(|found| ("library", &found.name, &found.about, found.span));
    let classes = model.coclasses.iter().filter(|class| !class.imported);
    let classes = classes.map(|found| ("class", &found.name, &found.about, found.span));
    for (what, name, about, span) in named.chain(classes) {
        if about.uuid.is_none() {
            findings.add(Rule::MissingUuid, span, format!("the {what} `{name}` has no uuid"));
        }
    }
    let mut findings = findings.0;
    findings.sort_by_key(|finding| (finding.span.file, finding.span.start));
    findings.dedup_by(|a, b| a.message == b.message && a.rule == b.rule);
    findings
}
