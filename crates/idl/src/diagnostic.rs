//! Diagnostics: what is wrong, where, and what to do about it.

use crate::source::{Sources, Span};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::fmt;

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
        if let Some(span) = self.span {
            let file = sources.file(span.file);
            let path = file.path.display().to_string();
            let snippet = Snippet::source(file.text.as_str()).path(path).annotation(
                AnnotationKind::Primary
                    .span(range(span, &file.text))
                    .label((!self.label.is_empty()).then_some(self.label.as_str())),
            );
            let context = |sources: &Sources, other: Span, why: &str| {
                AnnotationKind::Context.span(range(other, &sources.file(other.file).text)).label(why.to_owned())
            };
            match &self.related {
                Some((other, why)) if other.file == span.file => {
                    group = group.element(snippet.annotation(context(sources, *other, why)));
                }
                Some((other, why)) => {
                    let file = sources.file(other.file);
                    let second = Snippet::source(file.text.as_str()).path(file.path.display().to_string());
                    group = group.element(snippet).element(second.annotation(context(sources, *other, why)));
                }
                None => group = group.element(snippet),
            }
        }
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        Renderer::plain().render(&[group]).to_string()
    }
}

fn range(span: Span, text: &str) -> std::ops::Range<usize> {
    let start = (span.start as usize).min(text.len());
    start..(span.end as usize).clamp(start, text.len())
}

/// The findings of a compilation that failed, with the sources that they point into.
#[derive(Debug)]
pub struct Failure {
    /// The findings, in the order of the source.
    pub diagnostics: Vec<Diagnostic>,
    /// The files they point into.
    pub sources: Sources,
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
