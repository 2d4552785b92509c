//! The ways in which the elements of arrays reach the peer: [zero_copy], [map] and [lend].

use super::{Resolver, find, has};
use crate::model::{Direction, Extent, Model, Param, PointerClass, Transfer, Type};
use crate::plan::{is_any_bits, is_plain};
use crate::syntax::ast::Param as ParamSyntax;
use crate::text::diagnostic::Diagnostic;
use crate::text::source::Span;

/// The maximum number of read arrays, and of written arrays, that a method may pass by reference.
const REFERENCES_MAX: usize = 4;
/// The default room in bytes for the elements that a method lends.
const LENT_BYTES: u32 = 4096;
/// The maximum number of lent elements for which a reply may have room.
const LENT_MAX: i64 = 1 << 24;

impl Resolver<'_> {
    /// Returns the transfer that a parameter's attributes select.
    pub(super) fn transfer(&mut self, param: &ParamSyntax, direction: Direction, ty: &Type) -> Transfer {
        let attributes = &param.attributes;
        let chosen: Vec<&str> = ["zero_copy", "map", "lend"].into_iter().filter(|name| has(attributes, name)).collect();
        let span = param.declarator.span;
        let transfer = match chosen[..] {
            [] => Transfer::Frame,
            ["lend"] => self.lend(param, direction, ty),
            ["map"] => self.by_reference("map", Transfer::Map, span, ty),
            ["zero_copy"] => self.by_reference("zero_copy", Transfer::ZeroCopy, span, ty),
            _ => {
                let text = format!("an array has at most one of [{}]", chosen.join("], ["));
                self.report(Diagnostic::error("bad-transfer", span, text).help("keep one of them"));
                Transfer::Frame
            }
        };
        if !chosen.contains(&"lend")
            && let Some(attribute) = find(attributes, "prealloc")
        {
            let error = Diagnostic::error("bad-transfer", attribute.span, "[prealloc] is for [lend] parameters");
            self.report(error.help("write [lend] with it, or remove it"));
        }
        transfer
    }

    fn by_reference(&mut self, name: &str, transfer: Transfer, span: Span, ty: &Type) -> Transfer {
        let why = match ty {
            Type::Pointer(pointer) if pointer.extent == Extent::Text => {
                "is a string, whose end is checked, and a process that shares it may change it after the check"
            }
            Type::Pointer(pointer) if !matches!(pointer.extent, Extent::Counted { .. }) => "is no array with [size_is]",
            Type::Pointer(pointer) if pointer.class != PointerClass::Ref => "may be null",
            Type::Pointer(pointer) if !is_any_bits(&self.model, &pointer.to) => {
                "has elements that are checked, and a process that shares them may change them after the check"
            }
            Type::Pointer(_) => return transfer,
            _ => "is no array with [size_is]",
        };
        self.refuse_transfer(name, span, why)
    }

    fn lend(&mut self, param: &ParamSyntax, direction: Direction, ty: &Type) -> Transfer {
        let span = param.declarator.span;
        let Some(element) = lent_element(&self.model, direction, ty) else {
            return self.refuse_transfer("lend", span, "is not of the form [out, lend, size_is(, *count)] T **array");
        };
        if !is_any_bits(&self.model, &element) {
            let why = "has elements that are checked, which only a copy can be";
            return self.refuse_transfer("lend", span, why);
        }
        let usual = (LENT_BYTES / self.model.layout(&element).0.max(1)).max(1);
        let Some(attribute) = find(&param.attributes, "prealloc") else { return Transfer::Lend(usual) };
        match attribute.arguments.as_slice() {
            [Some(number)] => match self.evaluate_int(number) {
                Some(room) if (1..=LENT_MAX).contains(&room) => Transfer::Lend(room as u32),
                Some(_) => {
                    let text = "[prealloc] is outside of its limits";
                    let error = Diagnostic::error("bad-transfer", attribute.span, text);
                    self.report(error.help(format!("write a number between 1 and {LENT_MAX}")));
                    Transfer::Lend(usual)
                }
                None => Transfer::Lend(usual),
            },
            _ => {
                let error = Diagnostic::error("bad-transfer", attribute.span, "[prealloc] needs a number of elements");
                self.report(error.help("write [prealloc(1024)]"));
                Transfer::Lend(usual)
            }
        }
    }

    fn refuse_transfer(&mut self, name: &str, span: Span, why: &str) -> Transfer {
        let text = format!("this parameter cannot have [{name}]: it {why}");
        self.report(Diagnostic::error("bad-transfer", span, text).help(format!("remove [{name}]")));
        Transfer::Frame
    }

    /// Checks the rules that concern all parameters of a method together.
    pub(super) fn check_transfers(&mut self, params: &[Param]) {
        for is_written in [false, true] {
            let referred = params.iter().filter(|param| matches!(param.transfer, Transfer::ZeroCopy | Transfer::Map));
            if let Some(param) = referred.filter(|param| param.direction.is_out() == is_written).nth(REFERENCES_MAX) {
                let what = if is_written { "written" } else { "read" };
                let text = format!("a method has at most {REFERENCES_MAX} arrays by reference that are {what}");
                self.report(
                    Diagnostic::error("bad-transfer", param.span, text).help("remove [zero_copy] or [map] here"),
                );
            }
        }
        let transferred = params.iter().find(|param| param.transfer != Transfer::Frame);
        let objects = params.iter().find(|param| crate::plan::may_be_objects(&self.model, param));
        if let (Some(transferred), Some(other)) = (transferred, objects) {
            let text = format!(
                "`{}` has [zero_copy], [map] or [lend], so the method cannot have `{}`",
                transferred.name, other.name
            );
            let help = "put interface pointers and structures with pointers into a method of their own";
            self.report(Diagnostic::error("bad-transfer", other.span, text).help(help));
        }
        let Some(lent) = params.iter().find(|param| matches!(param.transfer, Transfer::Lend(_))) else { return };
        let is_behind = |param: &&Param| {
            param.direction.is_out() && param.name != lent.name && !crate::plan::is_in_block(&self.model, param)
        };
        if let Some(other) = params.iter().find(is_behind) {
            let text = format!("`{}` is lent, so the method cannot have the result `{}`", lent.name, other.name);
            let help = "the other results of a method that lends are values";
            self.report(Diagnostic::error("bad-transfer", other.span, text).help(help));
        }
    }
}

/// Returns the element type of an array that a method may lend. `None` for other types.
fn lent_element(model: &Model, direction: Direction, ty: &Type) -> Option<Type> {
    let Type::Pointer(outer) = ty else { return None };
    let Type::Pointer(inner) = &outer.to else { return None };
    let Extent::Counted { size, length: None } = &inner.extent else { return None };
    let is_it = direction == Direction::Out
        && outer.class == PointerClass::Ref
        && outer.extent == Extent::One
        && is_plain(model, &inner.to)
        && size.plain().is_some_and(|size| size.deref);
    is_it.then(|| inner.to.clone())
}
