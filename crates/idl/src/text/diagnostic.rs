//! Diagnostics: the message, the place and the advice of each finding.

mod excerpt;

use crate::text::source::{Sources, Span};
use annotate_snippets::{Group, Level, Renderer};
use excerpt::Excerpt;
use std::fmt;

/// The maximum number of errors, and of warnings, that are shown. Later findings mostly follow from
/// the first ones.
pub(crate) const DIAGNOSTICS_MAX: usize = 100;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// An error: no code is written.
    Error,
    /// A warning.
    Warning,
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The finding's severity.
    pub severity: Severity,
    /// The finding's stable name, such as `unknown-type`.
    pub code: &'static str,
    /// The message.
    pub message: String,
    /// The place. `None` for a finding that has no place in a file.
    pub span: Option<Span>,
    /// The text under the caret.
    pub label: String,
    /// Another relevant place, and its text.
    pub related: Option<(Span, String)>,
    /// The advice.
    pub help: Option<String>,
}

impl Diagnostic {
    pub(crate) fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Turns an error into a warning.
    pub(crate) fn soften(&mut self) {
        self.severity = Severity::Warning;
    }

    /// Returns an error at a place.
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

    /// Returns a warning at a place.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, span, message) }
    }

    /// Returns an error without a place.
    pub fn without_place(code: &'static str, message: impl Into<String>) -> Self {
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

    /// Sets the text under the caret.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Sets the advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets another relevant place.
    #[must_use]
    pub fn related(mut self, span: Span, why: impl Into<String>) -> Self {
        self.related = Some((span, why.into()));
        self
    }

    /// Returns the finding as text: the message, the source lines with carets, and the advice.
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
    /// The findings, in the order of the source. If there are too many, the last finding gives the
    /// number of the omitted findings.
    pub diagnostics: Vec<Diagnostic>,
    /// The files that the findings point into.
    pub sources: Sources,
}

impl Failure {
    /// Returns a failure with the first of these findings.
    pub fn new(diagnostics: Vec<Diagnostic>, sources: Sources) -> Self {
        Self { diagnostics: first_of(diagnostics, "errors"), sources }
    }
}

/// Limits a list of findings to [`DIAGNOSTICS_MAX`], and appends a finding that gives the number of
/// the omitted findings.
pub(crate) fn first_of(mut diagnostics: Vec<Diagnostic>, what: &str) -> Vec<Diagnostic> {
    let more = diagnostics.len().saturating_sub(DIAGNOSTICS_MAX);
    if more > 0 {
        let severity = diagnostics[0].severity;
        diagnostics.truncate(DIAGNOSTICS_MAX);
        let rest = Diagnostic::without_place("and-more", format!("and {more} more {what}, which are not shown"));
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

/// Returns the known word that is most like an unknown word. `None` if no known word is similar
/// enough.
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

/// Returns the number of letters to add, remove or change, ignoring case.
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
