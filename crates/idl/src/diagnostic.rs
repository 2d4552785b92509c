//! Diagnostics: what is wrong, where, and what to do about it.

mod excerpt;

use crate::source::{Sources, Span};
use annotate_snippets::{Group, Level, Renderer};
use excerpt::Excerpt;
use std::fmt;

/// Findings of one kind that are told: those behind them mostly follow from the first.
pub(crate) const TOLD_MAX: usize = 100;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Nothing is emitted.
    Error,
    /// Worth a look.
    Warning,
}

/// One finding.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Its stable name, such as `unknown-type`.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// Where; nowhere for files that cannot be read.
    pub span: Option<Span>,
    /// What is said under the caret.
    pub label: String,
    /// Another place that matters, and why.
    pub related: Option<(Span, String)>,
    /// What to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code,
            message: message.into(),
            span: Some(span),
            label: String::new(),
            related: None,
            help: None,
        }
    }

    /// A warning at a place.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, span, message) }
    }

    /// An error that is at no place.
    pub fn nowhere(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code,
            message: message.into(),
            span: None,
            label: String::new(),
            related: None,
            help: None,
        }
    }

    /// Says something under the caret.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Points at another place.
    #[must_use]
    pub fn related(mut self, span: Span, why: impl Into<String>) -> Self {
        self.related = Some((span, why.into()));
        self
    }

    /// The finding as text: the source line, a caret under the place, what to do.
    pub fn render(&self, sources: &Sources) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut group = Group::with_title(level.primary_title(self.message.as_str()).id(self.code));
        let primary = self.span.map(|span| (span, self.label.as_str()));
        let related = self.related.as_ref().map(|(span, why)| (*span, why.as_str()));
        let excerpts = Excerpt::of(sources, primary, related);
        for excerpt in &excerpts {
            group = excerpt.show(group);
        }
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        Renderer::plain().render(&[group]).to_string()
    }
}

/// The findings of a compilation that failed, with the sources that they point into.
#[derive(Debug)]
pub struct Failure {
    /// The findings, in the order of the source. Where there are very many, the last one says how many are left out.
    pub diagnostics: Vec<Diagnostic>,
    /// The files they point into.
    pub sources: Sources,
}

impl Failure {
    /// Of these findings, the first ones.
    pub(crate) fn new(diagnostics: Vec<Diagnostic>, sources: Sources) -> Self {
        Self { diagnostics: first_of(diagnostics, "errors"), sources }
    }
}

/// As many findings as are told, and one that says how many are left out.
pub(crate) fn first_of(mut diagnostics: Vec<Diagnostic>, what: &str) -> Vec<Diagnostic> {
    let more = diagnostics.len().saturating_sub(TOLD_MAX);
    if more > 0 {
        let severity = diagnostics[0].severity;
        diagnostics.truncate(TOLD_MAX);
        let rest = Diagnostic::nowhere("and-more", format!("and {more} more {what}, which are not shown"));
        diagnostics.push(Diagnostic { severity, ..rest });
    }
    diagnostics
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for diagnostic in &self.diagnostics {
            writeln!(f, "{}\n", diagnostic.render(&self.sources))?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

/// The known word that is most like an unknown one, if any is like it at all.
pub fn most_like<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (word.len() / 2).clamp(1, 3);
    known
        .into_iter()
        .filter(|candidate| candidate.len().abs_diff(word.len()) <= limit)
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|&(distance, _)| distance <= limit)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// How many letters must be added, removed or changed, ignoring case.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().map(|letter| letter.to_ascii_lowercase()).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().map(|letter| letter.to_ascii_lowercase()).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &other) in b.iter().enumerate() {
            let changed = diagonal + usize::from(letter != other);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
