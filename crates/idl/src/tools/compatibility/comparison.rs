//! The state of a comparison of two models: the findings, and the pairs that are still to compare.

use super::changes::Kind;
use super::names::Names;
use crate::model::{Declared, DispMembers, EnumId, InterfaceId, Model, Offered, StructId, Type, UnionId};
use crate::text::diagnostic::Diagnostic;
use crate::text::source::Span;
use crate::tools::declared::used_types;
use std::collections::{HashMap, HashSet};

/// A breaking change.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The kind of the change.
    pub kind: Kind,
    /// The change in words, with the declaration before and now.
    pub message: String,
    /// The changed declaration's place in the new file, or the place of the declaration around it.
    /// `None` if neither exists any more.
    pub span: Option<Span>,
}

impl Finding {
    /// Returns the finding as an error of the new file.
    pub fn diagnostic(&self) -> Diagnostic {
        let error = match self.span {
            Some(span) => Diagnostic::error(self.kind.code(), span, self.message.as_str()),
            None => Diagnostic::without_place(self.kind.code(), self.message.as_str()),
        };
        error.help(format!("{}; {}", self.kind.why(), self.kind.remedy()))
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

impl Pair {
    /// Returns the pair of two declared types. `None` if they are of different kinds.
    pub(super) const fn of(old: &Type, new: &Type) -> Option<Self> {
        match (old, new) {
            (Type::Struct(a), Type::Struct(b)) => Some(Self::Struct(*a, *b)),
            (Type::Union(a), Type::Union(b)) => Some(Self::Union(*a, *b)),
            (Type::Enum(a), Type::Enum(b)) => Some(Self::Enum(*a, *b)),
            _ => None,
        }
    }

    /// Returns the old type of the pair. `None` for a pair of interfaces.
    pub(super) const fn old_type(&self) -> Option<Type> {
        match self {
            Self::Struct(id, _) => Some(Type::Struct(*id)),
            Self::Union(id, _) => Some(Type::Union(*id)),
            Self::Enum(id, _) => Some(Type::Enum(*id)),
            Self::Interface(..) => None,
        }
    }
}

/// A comparison of two models.
pub(super) struct Comparison<'m> {
    pub(super) old: &'m Model,
    pub(super) new: &'m Model,
    pub(super) old_names: Names<'m>,
    pub(super) new_names: Names<'m>,
    pub(super) findings: Vec<Finding>,
    /// The types of the old model to which its methods lead.
    used: HashSet<&'m Type>,
    /// The interfaces of the old model that are called by name, or that type libraries describe.
    described: HashSet<InterfaceId>,
    /// The pairs that are still to compare. They are on the heap, because chains of types may be as
    /// long as a file.
    next: Vec<Pair>,
    /// All pairs that are, or will be, compared.
    known: HashSet<Pair>,
    /// The pair that is being compared.
    current: Option<Pair>,
    /// For each pair, the pairs of types and base interfaces on which the pair's fingerprints
    /// depend.
    parts: HashMap<Pair, Vec<Pair>>,
    /// The pairs for which there is a finding.
    changed: HashSet<Pair>,
}

impl<'m> Comparison<'m> {
    pub(super) fn new(old: &'m Model, new: &'m Model) -> Self {
        Self {
            old,
            new,
            old_names: Names::of(old),
            new_names: Names::of(new),
            findings: Vec::new(),
            used: used_types(old),
            described: described(old),
            next: Vec::new(),
            known: HashSet::new(),
            current: None,
            parts: HashMap::new(),
            changed: HashSet::new(),
        }
    }

    /// Adds a pair to compare, unless it is known.
    pub(super) fn pair(&mut self, pair: Pair) {
        if let Some(current) = self.current {
            self.parts.entry(current).or_default().push(pair);
        }
        if self.known.insert(pair) {
            self.next.push(pair);
        }
    }

    /// Returns the next pair to compare, if one is left.
    pub(super) fn next_pair(&mut self) -> Option<Pair> {
        self.current = self.next.pop();
        self.current
    }

    /// Returns all pairs that have been compared, or are still to compare.
    pub(super) fn pairs(&self) -> impl Iterator<Item = &Pair> {
        self.known.iter()
    }

    pub(super) fn report(&mut self, kind: Kind, span: Option<Span>, message: String) {
        self.changed.extend(self.current);
        self.findings.push(Finding { kind, message, span });
    }

    /// Whether there is a finding for a pair, or for one of its parts.
    pub(super) fn has_finding(&self, pair: Pair) -> bool {
        let (mut next, mut visited) = (vec![pair], HashSet::from([pair]));
        while let Some(pair) = next.pop() {
            if self.changed.contains(&pair) {
                return true;
            }
            next.extend(self.parts.get(&pair).into_iter().flatten().filter(|part| visited.insert(**part)));
        }
        false
    }

    /// Whether two interfaces correspond.
    pub(super) fn is_same_interface(&self, old: InterfaceId, new: InterfaceId) -> bool {
        self.new_names.counterpart(&self.old.interfaces[old.0]) == Some(new)
    }

    /// Whether the old or the new interface is called by name, or a type library described the old
    /// interface.
    pub(super) fn is_described(&self, old: InterfaceId, new: InterfaceId) -> bool {
        self.described.contains(&old) || self.new.interfaces[new.0].dual
    }

    /// Whether a method of the old model leads to a type.
    pub(super) fn is_used(&self, old: &Type) -> bool {
        self.used.contains(old)
    }
}

/// Returns the interfaces that are called by name, or that type libraries describe, with their
/// bases.
fn described(model: &Model) -> HashSet<InterfaceId> {
    let dual = (0..model.interfaces.len()).map(InterfaceId).filter(|id| model.interfaces[id.0].dual);
    let listed = model.libraries.iter().flat_map(|library| &library.declared).filter_map(|declared| match declared {
        Declared::Interface(id) => Some(*id),
        _ => None,
    });
    let offered = model.coclasses.iter().flat_map(|class| &class.interfaces).filter_map(|(offered, _)| match offered {
        Offered::Interface(id) => Some(*id),
        _ => None,
    });
    let members = model.dispinterfaces.iter().filter_map(|found| match found.members {
        Some(DispMembers::Of(id)) => Some(id),
        _ => None,
    });
    dual.chain(listed).chain(offered).chain(members).flat_map(|id| model.lineage(id)).collect()
}
