//! The state of a comparison of two models: the findings, and the pairs that are still to compare.

use super::changes::Kind;
use super::names::Names;
use crate::model::{EnumId, InterfaceId, Model, StructId, UnionId};
use crate::text::diagnostic::Diagnostic;
use crate::text::source::Span;
use std::collections::HashSet;

/// A breaking change.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The kind of the change.
    pub kind: Kind,
    /// The change in words, with the declaration before and now.
    pub message: String,
    /// The changed declaration's place in the new file, or that of the declaration around it.
    /// `None` if nothing is left of it.
    pub span: Option<Span>,
}

impl Finding {
    /// Returns the finding as an error of the new file.
    pub fn diagnostic(&self) -> Diagnostic {
        let error = match self.span {
            Some(span) => Diagnostic::error(self.kind.code(), span, self.message.as_str()),
            None => Diagnostic::without_place(self.kind.code(), self.message.as_str()),
        };
        error.help(format!("{}; {}", self.kind.why(), self.kind.mend()))
    }
}

/// Two declarations that correspond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Pair {
    Struct(StructId, StructId),
    Union(UnionId, UnionId),
    Enum(EnumId, EnumId),
    Interface(InterfaceId, InterfaceId),
}

/// A comparison of two models.
pub(super) struct Comparison<'m> {
    pub(super) old: &'m Model,
    pub(super) new: &'m Model,
    pub(super) old_names: Names<'m>,
    pub(super) new_names: Names<'m>,
    pub(super) findings: Vec<Finding>,
    /// The pairs that are still to compare. They are on the heap, because chains of types may be as
    /// long as a file.
    next: Vec<Pair>,
    /// All pairs that are, or will be, compared.
    known: HashSet<Pair>,
}

impl<'m> Comparison<'m> {
    pub(super) fn new(old: &'m Model, new: &'m Model) -> Self {
        let (old_names, new_names) = (Names::of(old), Names::of(new));
        Self { old, new, old_names, new_names, findings: Vec::new(), next: Vec::new(), known: HashSet::new() }
    }

    /// Adds a pair to compare, unless it is known.
    pub(super) fn pair(&mut self, pair: Pair) {
        if self.known.insert(pair) {
            self.next.push(pair);
        }
    }

    /// Returns the next pair to compare.
    pub(super) fn next_pair(&mut self) -> Option<Pair> {
        self.next.pop()
    }

    /// Returns all pairs that have been compared, or are still to compare.
    pub(super) fn pairs(&self) -> impl Iterator<Item = &Pair> {
        self.known.iter()
    }

    pub(super) fn report(&mut self, kind: Kind, span: Option<Span>, message: String) {
        self.findings.push(Finding { kind, message, span });
    }
}
