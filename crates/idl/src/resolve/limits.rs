//! How much a file may ask for: few lines can declare types that are larger than any memory, or that take for ever to write out.
//!
//! Back ends go through everything that a type leads to, and through what it contains once for each time that it does. These limits keep
//! that in a proportion to the file.

use super::Resolver;
use crate::diagnostic::{Diagnostic, Severity};
use crate::model::{InterfaceId, Measure, Method, Model, Param, StructId, Type, UnionId};
use crate::plan::{in_place, kinds};
use crate::source::Span;

/// Bytes that a value may have, or all the values of a call.
const SIZE_MAX: u32 = 1 << 30;
/// Structures and unions that may lie in one another.
const DEPTH_MAX: u32 = 64;
/// Members that a structure may have, those of its members counted each time.
const WEIGHT_MAX: u32 = 1 << 14;
/// Arrays and pointers that a type may be of, typedefs counted.
const LEVELS_MAX: usize = 32;
/// Interfaces that an interface may extend, one through the other.
pub(super) const BASES_MAX: usize = 64;
/// Members that a structure may have itself, and arms a union.
pub(super) const MEMBERS_MAX: usize = 1024;
/// Parameters that a method may have.
pub(super) const PARAMETERS_MAX: usize = 250;
/// Members in all types of a file, and in all that its methods pass, whatever its length. One more is for each byte.
const FILE_LEAST: usize = 1 << 16;
/// Members that all types of a file lead to.
const REACH_MAX: usize = 1 << 20;

impl Resolver<'_> {
    /// What follows from what a structure or a union is made of, unless it is too much.
    pub(super) fn measured(&mut self, found: Option<Measure>, span: Span) -> Measure {
        let refused = match found {
            Some(found) if found.depth > DEPTH_MAX => {
                let error = Diagnostic::error("too-deep", span, "types lie too deep in one another");
                error.help(format!(
                    "at most {DEPTH_MAX} structures and unions contain one another; pointers lead further"
                ))
            }
            Some(found) if found.weight > WEIGHT_MAX => {
                let error = Diagnostic::error("too-large", span, "this type has too many members");
                let count = format!("at most {WEIGHT_MAX}, where those of members are counted each time");
                error.help(format!("{count}; put some behind a pointer"))
            }
            Some(found) if found.size <= SIZE_MAX => return found,
            _ => too_large(span),
        };
        // What contains it would be too large only because of it.
        if !std::mem::replace(&mut self.is_too_large, true) {
            self.say(refused);
        }
        Measure::default()
    }

    /// Whether a type has a size that can be, and is made of few enough others.
    pub(super) fn is_within_limits(&mut self, ty: &Type, span: Span) -> bool {
        if levels(ty) > LEVELS_MAX {
            let error = Diagnostic::error("too-deep", span, "this type has too many levels");
            self.say(
                error.help(format!("a type has at most {LEVELS_MAX} arrays and pointers, those of typedefs counted")),
            );
            return false;
        }
        let is_small = self.model.measure(ty).is_some_and(|found| found.size <= SIZE_MAX);
        if !is_small {
            self.say(too_large(span));
        }
        is_small
    }

    /// Refuses methods whose values are too many. A structure that a method points to may be declared behind it.
    pub(super) fn check_frames(&mut self) {
        let model = &self.model;
        let size = |param: &Param| u64::from(model.layout(in_place(model, param)).0);
        let is_large = |method: &&Method| method.params.iter().map(size).sum::<u64>() > SIZE_MAX.into();
        let methods = model.interfaces.iter().flat_map(|found| &found.methods);
        self.diagnostics.extend(methods.filter(is_large).map(|method| too_large(method.span)));
    }

    /// Refuses methods of other processes' objects whose parameters lead to types that nobody knows the content of, and methods of any
    /// that are given such by value.
    pub(super) fn check_contents(&mut self) {
        let is_unknown = |ty: &Type| match ty {
            Type::Struct(id) if !self.defined.contains(ty) => Some(*id),
            _ => None,
        };
        let opaque = self.model.refusals(is_unknown);
        let model = &self.model;
        for interface in &model.interfaces {
            for param in interface.methods.iter().flat_map(|method| &method.params) {
                let leads = if interface.local { &param.ty } else { model.innermost(&param.ty) };
                let Some(id) = opaque.get(leads).filter(|id| !interface.local || *leads == Type::Struct(**id)) else {
                    continue;
                };
                let name = &model.structs[id.0].name;
                let text = format!("`{}` leads to `{name}`, whose members are not declared", param.name);
                let error = Diagnostic::error("incomplete-type", param.span, text);
                let help = format!("declare `struct {name}` with its members, or import the file that does");
                self.diagnostics.push(error.help(help));
            }
        }
        self.model.opaque = opaque;
    }

    /// Refuses a file whose types and interfaces mean more than can be written out.
    pub(super) fn check_amount(&mut self, bytes: usize) {
        // A type that is too large has no measure.
        if self.diagnostics.iter().any(|found| found.severity == Severity::Error) {
            return;
        }
        let model = &self.model;
        let most = FILE_LEAST + bytes;
        if let Some(span) = first_beyond(most, weights(model)) {
            let text = "this is more than a file may declare, what types contain counted";
            let error = Diagnostic::error("too-large", span, text);
            return self.say(error.help(format!("types and methods have at most {most} members; use several files")));
        }
        if let Some(span) = first_beyond(REACH_MAX, reaches(model)) {
            let error = Diagnostic::error("too-large", span, "the types up to here lead to too many others");
            self.say(error.help(format!("what all types lead to has at most {REACH_MAX} members; use several files")));
        }
    }
}

fn too_large(span: Span) -> Diagnostic {
    let error = Diagnostic::error("too-large", span, "this is larger than a value can be");
    error.help(format!("a value has at most {SIZE_MAX} bytes, and so have all that a call passes"))
}

/// How many arrays and pointers a type is of, before there is a name.
fn levels(mut ty: &Type) -> usize {
    let mut levels = 0;
    loop {
        ty = match ty {
            Type::Fixed(element, _) => element,
            Type::Pointer(pointer) => &pointer.to,
            _ => return levels,
        };
        levels += 1;
    }
}

/// Where a sum gets too large.
fn first_beyond(most: usize, mut counts: impl Iterator<Item = (usize, Span)>) -> Option<Span> {
    let mut sum = 0_usize;
    counts
        .find(|(count, _)| {
            sum = sum.saturating_add(*count);
            sum > most
        })
        .map(|(_, span)| span)
}

/// Every structure and union, and where it is declared.
fn aggregates(model: &Model) -> impl Iterator<Item = (Type, Span)> {
    let structs = model.structs.iter().enumerate().map(|(at, found)| (Type::Struct(StructId(at)), found.span));
    let unions = model.unions.iter().enumerate().map(|(at, found)| (Type::Union(UnionId(at)), found.span));
    structs.chain(unions)
}

/// How many members types have, and what the methods of interfaces pass.
fn weights(model: &Model) -> impl Iterator<Item = (usize, Span)> {
    let weight = |ty: &Type| model.measure(ty).map_or(0, |found| found.weight as usize);
    let types = aggregates(model).map(move |(ty, span)| (weight(&ty), span));
    let passed = model.interfaces.iter().enumerate().map(move |(at, found)| {
        let methods = model.all_methods(InterfaceId(at));
        let params = methods.iter().flat_map(|method| &method.params);
        let direct: usize = params.map(|param| 1 + weight(in_place(model, param))).sum();
        let behind: usize = kinds(model, &methods).iter().map(weight).sum();
        (model.lineage(InterfaceId(at)).len() + methods.len() + direct + behind, found.span)
    });
    types.chain(passed)
}

/// How many members there are in what types lead to.
fn reaches(model: &Model) -> impl Iterator<Item = (usize, Span)> {
    aggregates(model).map(|(ty, span)| (model.reached(&ty).count(), span))
}
