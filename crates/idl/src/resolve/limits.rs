//! Limits for the size of a file's declarations. A few lines can declare types that exceed any
//! memory, or that take too long to write out.
//!
//! Back ends visit all types that a type leads to. They visit a type again for each member that
//! contains it by value. The limits bound this work in proportion to the file.

use super::Resolver;
use crate::model::{
    InterfaceId, Measure, Method, Model, Object, Opaque, Param, StructId, Type, UnionId, Unsupported, Value,
};
use crate::plan::{in_place, kinds};
use crate::text::diagnostic::{Diagnostic, Severity};
use crate::text::source::Span;

/// The maximum size in bytes of a single value, and of all values of a call together.
const SIZE_MAX: u32 = 1 << 30;
/// The maximum depth of nested structures and unions.
const DEPTH_MAX: u32 = 64;
/// The maximum number of members of a structure. Members of nested structures count each time.
const WEIGHT_MAX: u32 = 1 << 14;
/// The maximum number of arrays and pointers in a type, including the arrays and pointers of
/// typedefs.
pub(super) const LEVELS_MAX: usize = 32;
/// The maximum number of base interfaces of an interface.
pub(super) const BASES_MAX: usize = 64;
/// The maximum number of direct members of a structure, and of arms of a union.
pub(super) const MEMBERS_MAX: usize = 1024;
/// The maximum number of parameters of a method.
pub(super) const PARAMETERS_MAX: usize = 250;
/// The number of members that every file may have, counting all its types and all values that its
/// methods pass. Each byte of the file permits one further member.
const FILE_LEAST: usize = 1 << 16;
/// The maximum number of bytes of text in all constants and default values of a file. A constant
/// may name another constant, so a few bytes of a file can add a long text.
const TEXTS_MAX: usize = 1 << 20;
/// The weight of an interface, in members. Each base interface adds the same weight, because
/// generated code repeats the declarations and conversions of base interfaces.
const BASE_WEIGHT: usize = 8;
/// The maximum number of types to which the structures and unions of a file lead. A type counts
/// once for each structure and each union that leads to it.
const REACH_MAX: usize = 1 << 20;
/// The maximum number of types to which the pointers in an interface's frames lead. The tables of
/// generated code refer to these types by 16-bit numbers.
const KINDS_MAX: usize = 1 << 16;

impl Resolver<'_> {
    /// Checks the measure of a structure or a union against the limits. Returns an empty measure if
    /// a limit is exceeded.
    pub(super) fn measured(&mut self, found: Option<Measure>, span: Span) -> Measure {
        let refused = match found {
            Some(found) if found.depth > DEPTH_MAX => {
                let error = Diagnostic::error("too-deep", span, "types are nested too deeply");
                error.help(format!(
                    "structures and unions nest at most {DEPTH_MAX} deep; use a pointer for a deeper one"
                ))
            }
            Some(found) if found.weight > WEIGHT_MAX => {
                let error = Diagnostic::error("too-large", span, "this type has too many members");
                error.help(format!(
                    "a type has at most {WEIGHT_MAX} members, where those of contained types count each time; \
                     put some behind a pointer"
                ))
            }
            Some(found) if found.size <= SIZE_MAX => return found,
            _ => too_large(span),
        };
        // Only the first type is reported: the types that contain it would be too large because of
        // it.
        if !std::mem::replace(&mut self.is_too_large, true) {
            self.report(refused);
        }
        Measure::default()
    }

    /// Whether the texts of all constants and default values so far, with `value` added, are within
    /// the limit. Reports an error at the first value that exceeds the limit.
    pub(super) fn check_text_length(&mut self, value: &Value, span: Span) -> bool {
        let Value::Text(text) = value else { return true };
        let is_first = self.texts <= TEXTS_MAX;
        self.texts = self.texts.saturating_add(text.len());
        if is_first && self.texts > TEXTS_MAX {
            let error = Diagnostic::error("too-large", span, "the texts of the constants up to here are too long");
            self.report(error.help(format!(
                "all constants and default values have at most {TEXTS_MAX} bytes of text, and each use of a text counts"
            )));
        }
        self.texts <= TEXTS_MAX
    }

    /// Whether a type's size and depth are within the limits. Reports an error if not.
    pub(super) fn check_type_limits(&mut self, ty: &Type, span: Span) -> bool {
        if levels(ty) > LEVELS_MAX {
            self.report(too_deep(span));
            return false;
        }
        let is_small = self.model.measure(ty).is_some_and(|found| found.size <= SIZE_MAX);
        if !is_small {
            self.report(too_large(span));
        }
        is_small
    }

    /// Reports methods whose values are too large. Runs last, because a method may point to a
    /// structure that is declared after it.
    pub(super) fn check_frames(&mut self) {
        let model = &self.model;
        let size = |param: &Param| u64::from(model.layout(in_place(model, param)).0);
        let is_large = |method: &&Method| method.params.iter().map(size).sum::<u64>() > SIZE_MAX.into();
        let methods = model.interfaces.iter().flat_map(|found| &found.methods);
        self.diagnostics.extend(methods.filter(is_large).map(|method| too_large(method.span)));
    }

    /// Reports methods whose parameters lead to values that no call can carry. `[local]` methods
    /// may use such types, and pointers to structures with unknown contents.
    pub(super) fn check_contents(&mut self) {
        let is_unknown = |ty: &Type| match ty {
            Type::Struct(_) if !self.defined.contains(ty) => Some(Opaque::UNDECLARED),
            ty => self.here_only.get(ty).copied(),
        };
        let opaque = self.model.refusals(|ty| Some(Opaque { of: ty.clone(), why: is_unknown(ty)? }));
        let own = |ty: &Type| self.unsupported.get(ty).cloned();
        let mut unsupported = self.model.refusals(|ty| own(ty).or_else(|| bare_member(&self.model, ty)));
        // AUTOMATION is the only reason that counts in [local] interfaces. If a type has several
        // reasons, AUTOMATION therefore replaces the others.
        unsupported.extend(self.model.refusals(|ty| own(ty).filter(|why| *why == Unsupported::AUTOMATION)));
        let model = &self.model;
        let methods = model.interfaces.iter().flat_map(|interface| &interface.methods);
        for method in methods.flat_map(|method| method.travels_as.as_deref().into_iter().chain([method])) {
            // A parameter with a reason in `unsupported` is refused for that reason.
            for param in method.params.iter().filter(|param| param.unsupported.is_none()) {
                // A permissive compiler treats other methods with such parameters as [local], too.
                let is_here = method.local || self.permissive;
                let leads = if is_here { &param.ty } else { model.innermost(&param.ty) };
                let is_wrong = |found: &&Opaque| !is_here || found.of == *leads && found.why == Opaque::UNDECLARED;
                let Some(found) = opaque.get(leads).filter(is_wrong) else { continue };
                let name = match &found.of {
                    Type::Union(id) => &model.unions[id.0].name,
                    Type::Struct(id) => &model.structs[id.0].name,
                    _ => continue,
                };
                let text = format!("`{}` leads to `{name}`, {}", param.name, found.why);
                self.diagnostics.push(match found.why {
                    Opaque::UNDECLARED => Diagnostic::error("incomplete-type", param.span, text)
                        .help(format!("declare `struct {name}` with its members, or import the file that does")),
                    _ => Diagnostic::warning("incomplete-type", param.span, text)
                        .help("declare the method [local], or pass a type with a declared size"),
                });
            }
        }
        self.model.opaque = opaque;
        self.model.unsupported = unsupported;
    }

    /// Reports a file whose types and interfaces are too large to be written out.
    pub(super) fn check_amount(&mut self, bytes: usize) {
        // A type that was refused for its size has no measure.
        if self.diagnostics.iter().any(|found| found.severity == Severity::Error) {
            return;
        }
        let model = &self.model;
        let most = FILE_LEAST + bytes;
        if let Some(span) = first_beyond(most, weights(model)) {
            let text = "the types and methods of the file have too many members up to here";
            let error = Diagnostic::error("too-large", span, text);
            return self.report(error.help(format!(
                "in a file of this length, types and methods have at most {most} members together, and members of contained types count each time; \
                 split the file into several that do not import one another"
            )));
        }
        if let Some(span) = first_beyond(REACH_MAX, reach_counts(model)) {
            let error = Diagnostic::error("too-large", span, "the types up to here refer to too many other types");
            return self.report(error.help(format!(
                "all types together refer to at most {REACH_MAX} types, directly or indirectly; let fewer types point to one another"
            )));
        }
        let is_large = |(at, _): &(usize, _)| kinds(model, &model.all_methods(InterfaceId(*at))).len() > KINDS_MAX;
        if let Some((_, found)) = model.interfaces.iter().enumerate().find(is_large) {
            let text = format!("the methods of interface `{}` lead to too many types", found.name);
            let error = Diagnostic::error("too-large", found.span, text);
            self.report(error.help(format!(
                "the pointers of an interface lead to at most {KINDS_MAX} types; split the interface into several"
            )));
        }
    }
}

/// Returns the error for a type with more than [`LEVELS_MAX`] arrays and pointers.
pub(super) fn too_deep(span: Span) -> Diagnostic {
    let error = Diagnostic::error("too-deep", span, "this type has too many levels");
    error.help(format!("a type has at most {LEVELS_MAX} arrays and pointers, those of typedefs counted"))
}

fn too_large(span: Span) -> Diagnostic {
    let error = Diagnostic::error("too-large", span, "the values here are too large");
    error.help(format!(
        "a value has at most {SIZE_MAX} bytes, and all values of a call together, too; pass a part at a time"
    ))
}

/// Returns the reason for a type that has a pointer to an object of a bare interface. `None` for
/// other types.
fn bare_member(model: &Model, ty: &Type) -> Option<Unsupported> {
    let interface = model.inner(ty).into_iter().find_map(|inner| match model.innermost(inner) {
        Type::Interface(Object::Known(id)) if model.interfaces[id.0].bare.is_some() => Some(*id),
        _ => None,
    })?;
    Some(Unsupported::Bare { of: ty.clone(), interface })
}

/// Counts the arrays and pointers around a type's innermost type.
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

/// Returns the place of the first count with which the sum of the counts exceeds `most`, if there
/// is one.
fn first_beyond(most: usize, mut counts: impl Iterator<Item = (usize, Span)>) -> Option<Span> {
    let mut sum = 0_usize;
    counts
        .find(|(count, _)| {
            sum = sum.saturating_add(*count);
            sum > most
        })
        .map(|(_, span)| span)
}

/// Returns every structure and union with its place in the source.
fn aggregates(model: &Model) -> impl Iterator<Item = (Type, Span)> {
    let structs = model.structs.iter().enumerate().map(|(at, found)| (Type::Struct(StructId(at)), found.span));
    let unions = model.unions.iter().enumerate().map(|(at, found)| (Type::Union(UnionId(at)), found.span));
    structs.chain(unions)
}

/// Returns the weight of each type and of each interface, in members. The weight of an interface
/// counts its bases, its methods, and the values that the methods pass.
fn weights(model: &Model) -> impl Iterator<Item = (usize, Span)> {
    let weight = |ty: &Type| model.measure(ty).map_or(0, |found| found.weight as usize);
    let types = aggregates(model).map(move |(ty, span)| (weight(&ty), span));
    let passed = model.interfaces.iter().enumerate().map(move |(at, found)| {
        let methods = model.all_methods(InterfaceId(at));
        let params = methods.iter().flat_map(|method| &method.params);
        let direct: usize = params.map(|param| 1 + weight(in_place(model, param))).sum();
        let behind: usize = kinds(model, &methods).iter().map(weight).sum();
        let bases = BASE_WEIGHT * model.lineage(InterfaceId(at)).len();
        (bases + methods.len() + direct + behind, found.span)
    });
    types.chain(passed)
}

/// Returns the number of types that each structure and union leads to.
fn reach_counts(model: &Model) -> impl Iterator<Item = (usize, Span)> {
    aggregates(model).map(|(ty, span)| (model.reachable(&ty).count(), span))
}
