//! Parameters of methods and functions.

use super::automation::is_automation;
use super::ranges::unchecked_range;
use super::types::{Context, Place, has_text, is_sized_text, objects_by_iid, void_pointer};
use super::values::{Variable, sizes_test_for_null};
use super::{Resolver, attributes, has};
use crate::model::{Direction, Extent, Param, Pointer, PointerClass, Type};
use crate::syntax::ast::{Ident, Param as ParamSyntax};
use crate::text::diagnostic::Diagnostic;
use crate::text::source::Span;

impl Resolver<'_> {
    pub(super) fn params(&mut self, params: &[&ParamSyntax], local: bool) -> Vec<Param> {
        let params: Vec<ParamSyntax> = params
            .iter()
            .map(|param| {
                let (spec, declarator) = self.of_memory(&param.spec, &param.declarator);
                ParamSyntax { attributes: param.attributes.clone(), spec, declarator }
            })
            .collect();
        let variables: Vec<Variable> = params
            .iter()
            .map(|param| Variable {
                name: param.declarator.name.name.clone(),
                ty: self.scalar_type(&param.spec, &param.declarator),
            })
            .collect();
        let mut made: Vec<Param> = Vec::new();
        for param in &params {
            let name = &param.declarator.name;
            self.check_attributes(&param.attributes, &attributes::PARAMETER);
            if let Some(first) = made.iter().find(|other| other.name == name.name) {
                self.report(two_parameters(name, first.span));
            }
            let mut direction = direction(param);
            let context = Context { variables: &variables, of: "the method", local };
            let ty = self.full_type(&param.spec, &param.declarator, &param.attributes, Place::Param, &context);
            let Some(ty) = ty else { continue };
            let is_void = !local && ty != Type::Void && *self.model.innermost(&ty) == Type::Void;
            // `full_type` has reported [string] without characters, so [utf8] must not cause a
            // second error.
            let is_bad_string = has(&param.attributes, "string") && !has_text(&ty) && !is_automation(&param.spec);
            let mut unsupported = self.transformation_of(&param.spec);
            if is_void && unsupported.is_none() {
                self.report(void_pointer(param.declarator.span));
                unsupported = Some("leads to an unknown number of bytes".to_owned());
            }
            if local && direction.is_out() && !matches!(ty, Type::Pointer(_) | Type::Fixed(..)) {
                direction = Direction::In;
            }
            self.check_out(param, direction, &ty, local);
            let range = self.limits(&param.attributes, &param.spec, direction, &ty);
            let switch = self.switch(&param.attributes, &ty, &param.declarator, &variables, "the method", local);
            let transfer = self.transfer(param, direction, &ty);
            let (ty, varying) = self.type_and_varying(&param.attributes, direction, ty, &context);
            let memory = if is_automation(&param.spec) { self.memory(&param.spec) } else { None };
            let automation = memory.and_then(|_| self.automation_reason(param));
            let unsupported = unsupported.or(automation);
            let unsupported = unsupported.or_else(|| self.unsupported_value(param, &ty, &variables));
            let variant = self.variant(param, &ty, memory);
            made.push(Param {
                name: name.name.clone(),
                code: String::new(),
                direction,
                retval: has(&param.attributes, "retval"),
                ty,
                named: self.named_by(&param.spec),
                boxed: false,
                range,
                utf8: has(&param.attributes, "utf8") && !is_bad_string,
                switch,
                varying,
                transfer,
                memory,
                variant,
                unsupported,
                span: name.span,
            });
        }
        self.check_transfers(&made);
        made
    }

    /// Adds a reference pointer to the types of parameters that need such a pointer: see
    /// [`Param::boxed`]. Requires that all structures are known.
    pub(super) fn box_open_structures(&mut self) {
        let structs = &self.model.structs;
        let is_open = |pointer: &Pointer| {
            pointer.extent == Extent::One
                && matches!(&pointer.to, Type::Struct(id) if structs[id.0].conformant.is_some())
        };
        let methods = self.model.interfaces.iter_mut().flat_map(|interface| &mut interface.methods);
        for param in methods.flat_map(|method| &mut method.params).filter(|param| param.direction.is_out()) {
            if matches!(&param.ty, Type::Pointer(pointer) if is_open(pointer)) {
                let outer = Pointer { class: PointerClass::Ref, to: param.ty.clone(), extent: Extent::One };
                param.ty = Type::Pointer(Box::new(outer));
                param.boxed = true;
            }
        }
    }

    /// Returns the reason why a parameter's value cannot be passed to other processes yet. `None`
    /// if it can.
    fn unsupported_value(&self, param: &ParamSyntax, ty: &Type, variables: &[Variable]) -> Option<String> {
        if sizes_test_for_null(&param.attributes, variables) {
            return Some("has a size that depends on whether a pointer is null".to_owned());
        }
        if self.has_range(&param.attributes, &param.spec)
            && let Some(form) = unchecked_range(ty)
        {
            return Some(format!("is {form} that [range] limits"));
        }
        // A pointer that is never null does not travel: its target takes the place of the
        // parameter.
        let in_place = match ty {
            Type::Pointer(pointer) if pointer.class == PointerClass::Ref && pointer.extent == Extent::One => {
                &pointer.to
            }
            ty => ty,
        };
        if let Some(form) = objects_by_iid(in_place) {
            return Some(format!("leads to {form} whose IID is an argument"));
        }
        is_sized_text(&param.attributes, ty).then(|| "is a string that has a size or a length of its own".to_owned())
    }

    fn check_out(&mut self, param: &ParamSyntax, direction: Direction, ty: &Type, local: bool) {
        if !direction.is_out() {
            return;
        }
        let span: Span = param.declarator.span;
        let name = &param.declarator.name.name;
        match ty {
            Type::Pointer(pointer) if pointer.class != PointerClass::Ref && direction == Direction::Out && !local => {
                let error =
                    Diagnostic::error("out-not-ref", span, format!("[out] parameter `{name}` must not be null"));
                self.report(error.help("remove [unique] or [ptr] from it; the pointer behind it may have either"));
            }
            Type::Pointer(_) | Type::Fixed(..) => {}
            _ => {
                let error =
                    Diagnostic::error("out-not-pointer", span, format!("[out] parameter `{name}` is not a pointer"));
                self.report(error.label("a value cannot come back through it").help("write `*` before the name"));
            }
        }
    }
}

fn two_parameters(name: &Ident, first: Span) -> Diagnostic {
    let text = format!("there are two parameters called `{}`", name.name);
    let error = Diagnostic::error("duplicate-name", name.span, text);
    error.related(first, "the first one").help("give one of them another name")
}

/// Returns the direction of a parameter. As in MIDL, a parameter without attributes is `[in]`.
fn direction(param: &ParamSyntax) -> Direction {
    match (has(&param.attributes, "in"), has(&param.attributes, "out") || has(&param.attributes, "retval")) {
        (true, true) => Direction::InOut,
        (_, false) => Direction::In,
        (false, true) => Direction::Out,
    }
}
