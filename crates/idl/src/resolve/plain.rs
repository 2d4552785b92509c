//! Interfaces without `[object]`: sets of server functions as in C706, and their special features.
//! The model treats them like objects' interfaces: see [`Returns`].

use super::{Named, Resolver, find, has};
use crate::model::{Base, Direction, Extent, InterfaceId, Param, Pointer, PointerClass, Returns, Transfer, Type};
use crate::plan::is_plain as is_value;
use crate::syntax::ast::{
    Attribute, Declarator, InterfaceDecl, Method as MethodSyntax, Param as ParamSyntax, TypeKind, TypeSpec,
};
use crate::text::diagnostic::Diagnostic;
use crate::text::source::Span;

/// Whether an interface is a set of functions.
pub(super) fn is_plain(decl: &InterfaceDecl) -> bool {
    decl.base.is_none() && !has(&decl.attributes, "object")
}

/// Returns the parameter by which the model holds a function's result.
pub(super) fn returned_param(params: &[Param], method: &MethodSyntax, ty: Type) -> Param {
    let mut name = "returned".to_owned();
    while params.iter().any(|param| param.name == name) {
        name.push('_');
    }
    let pointer = Pointer { class: PointerClass::Ref, to: ty, extent: Extent::One };
    Param {
        name,
        code: String::new(),
        direction: Direction::Out,
        retval: true,
        boxed: false,
        ty: Type::Pointer(Box::new(pointer)),
        named: None,
        range: None,
        utf8: false,
        switch: None,
        varying: None,
        transfer: Transfer::Frame,
        memory: None,
        variant: None,
        unsupported: None,
        span: method.name.span,
    }
}

/// Whether the method returns a pointer whose target is `const`. If the result's type is the
/// typedef of a pointer, `const` applies to the pointer instead, and has no effect on the result.
pub(super) fn leads_to_const(method: &MethodSyntax, returned: Option<&Type>) -> bool {
    let (spec, stars) = &method.returns;
    let all = std::iter::successors(returned, |ty| if let Type::Pointer(to) = *ty { Some(&to.to) } else { None });
    let pointers = all.skip(1).count();
    spec.constant && *stars > 0 && pointers <= usize::from(*stars)
}

impl Resolver<'_> {
    /// Returns the servers' endpoints, from `[endpoint]`.
    pub(super) fn endpoints(&mut self, decl: &InterfaceDecl) -> Vec<String> {
        let Some(attribute) = find(&decl.attributes, "endpoint") else { return Vec::new() };
        let texts: Vec<&str> = attribute.raw.split(',').map(str::trim).collect();
        let unquoted = texts.iter().map(|text| text.strip_prefix('"')?.strip_suffix('"'));
        match unquoted.collect::<Option<Vec<&str>>>() {
            Some(found) if found.iter().all(|text| text.contains(':') && !text.contains('"')) => {
                found.into_iter().map(|text| text.replace("\\\\", "\\")).collect()
            }
            _ => {
                let error = Diagnostic::error(
                    "bad-endpoint",
                    attribute.span,
                    "an endpoint consists of a protocol sequence and an address",
                );
                self.report(error.help("write [endpoint(\"ncacn_ip_tcp:[135]\")], with commas between several"));
                Vec::new()
            }
        }
    }

    /// Returns the kind of a method's result, and the result's type if it is a value. Methods of
    /// objects return an HRESULT, except in `[local]` interfaces. `None` after an error.
    pub(super) fn returned(
        &mut self,
        method: &MethodSyntax,
        plain: bool,
        local: bool,
    ) -> Option<(Returns, Option<Type>)> {
        let (spec, stars) = &method.returns;
        if *stars == 0 && matches!(spec.kind, TypeKind::Base("HRESULT")) {
            return Some((Returns::Hresult, None));
        }
        if local && !plain {
            return self.returned_here(method);
        }
        if !plain {
            let text = format!("method `{}` does not return HRESULT", method.name.name);
            let error = Diagnostic::error("not-hresult", spec.span, text);
            self.report(
                error
                    .label("a call can fail in transport, and this type cannot report that")
                    .help("return HRESULT, and the value through an [out, retval] parameter"),
            );
            return None;
        }
        let ty = if *stars == 0 { Some(self.spec_type(spec, None)?) } else { None };
        if *stars == 0 && self.has_range(&[], spec) {
            let text = format!("`{}` returns a type with [range], which does not limit results", method.name.name);
            let error = Diagnostic::error("bad-range", spec.span, text);
            self.report(error.help("return an integer without limits, or pass the value through an [out] parameter"));
            return None;
        }
        if ty.as_ref().is_some_and(|ty| !self.check_complete(ty, spec.span)) {
            return None;
        }
        match ty {
            Some(Type::Void) => Some((Returns::Nothing, None)),
            Some(ty) if is_value(&self.model, &ty) => Some((Returns::Value, Some(ty))),
            _ => {
                let text = format!("`{}` returns something that is not simply a value", method.name.name);
                let error = Diagnostic::error("bad-return", spec.span, text);
                let help = "return a number, an enumeration, a context handle or a structure of numbers, and pass this \
                            type through an [out] parameter";
                self.report(error.help(help));
                None
            }
        }
    }

    /// Returns the kind and the type of the result of a method of a `[local]` interface. `None`
    /// after an error.
    fn returned_here(&mut self, method: &MethodSyntax) -> Option<(Returns, Option<Type>)> {
        let (spec, stars) = &method.returns;
        let ty = self.spec_type(spec, None)?;
        if *stars == 0 && !self.check_complete(&ty, spec.span) {
            return None;
        }
        // A star after an interface's name is a part of the type.
        let is_pointer = matches!(&spec.kind, TypeKind::Named(name) if self.object_pointers.contains(name));
        let is_object = matches!(ty, Type::Interface(_)) && (*stars > 0 || is_pointer);
        let stars = if is_object && !is_pointer { stars - 1 } else { *stars };
        let pointer = |to| Type::Pointer(Box::new(Pointer { class: PointerClass::Unique, to, extent: Extent::One }));
        match (0..stars).fold(ty, |to, _| pointer(to)) {
            Type::Void => Some((Returns::Nothing, None)),
            Type::Base(Base::Hresult) => Some((Returns::Hresult, None)),
            ty @ Type::Pointer(_) => Some((Returns::Value, Some(ty))),
            ty if is_object || crate::plan::is_plain(&self.model, &ty) && !matches!(ty, Type::Fixed(..)) => {
                Some((Returns::Value, Some(ty)))
            }
            _ => {
                let name = &method.name.name;
                let text =
                    format!("`{name}` returns neither a pointer nor a number, an enumeration or a structure of these");
                let error = Diagnostic::error("bad-return", spec.span, text);
                self.report(error.help("return a pointer to it, or pass it through an [out] parameter"));
                None
            }
        }
    }

    /// Reports an error if a one-way method has a result or an `[out]` parameter.
    pub(super) fn refuse_results(
        &mut self,
        oneway: &Attribute,
        method: &MethodSyntax,
        has_result: bool,
        params: &[Param],
    ) {
        let attribute = &oneway.name.name;
        let (span, text, help) = if has_result {
            let text = format!("a [{attribute}] method cannot return a value");
            (method.returns.0.span, text, format!("return HRESULT or void, or remove [{attribute}]"))
        } else if let Some(out) = params.iter().find(|param| param.direction.is_out()) {
            let text = format!("`{}` is [out], but a [{attribute}] method returns nothing", out.name);
            (out.span, text, format!("remove [{attribute}], or make the parameter [in]"))
        } else {
            return;
        };
        let error = Diagnostic::error("oneway-out", span, text).related(oneway.span, "calls have no reply");
        self.report(error.help(help));
    }

    /// Returns a function's parameters without binding handles, since the proxy chooses the server.
    pub(super) fn without_handles<'p>(&self, params: &'p [ParamSyntax], id: InterfaceId) -> Vec<&'p ParamSyntax> {
        let plain = self.model.interfaces[id.0].plain;
        params.iter().filter(|param| !plain || !self.is_handle(&param.spec, &param.declarator)).collect()
    }

    /// Records further names for `handle_t`. Returns whether the typedef gives such names.
    pub(super) fn handle_typedef(&mut self, spec: &TypeSpec, declarators: &[Declarator]) -> bool {
        let are_handles = declarators.iter().all(|declarator| self.is_handle(spec, declarator));
        if are_handles {
            declarators.iter().for_each(|declarator| self.declare_type(&declarator.name, Named::Handle));
        }
        are_handles
    }

    /// Whether a declaration declares a binding handle.
    fn is_handle(&self, spec: &TypeSpec, declarator: &Declarator) -> bool {
        let is_named = match &spec.kind {
            TypeKind::Base(word) => *word == "handle_t",
            TypeKind::Named(name) => matches!(self.types.get(name).map(|known| &known.what), Some(Named::Handle)),
            _ => false,
        };
        is_named && declarator.pointers == 0 && declarator.dimensions.is_empty()
    }

    /// Reports a binding handle in a wrong place. Returns `None`.
    pub(super) fn stray_handle(&mut self, span: Span) -> Option<Type> {
        let error = Diagnostic::error(
            "stray-handle",
            span,
            "`handle_t` is a parameter of functions in interfaces without [object]",
        );
        self.report(
            error.label("a binding handle is not sent").help("remove it: the interface pointer identifies the object"),
        );
        None
    }

    /// Returns the type of a parameter with `[context_handle]`, and the number of remaining stars.
    /// `None` after an error.
    pub(super) fn context_handle(&mut self, spec: &TypeSpec, declarator: &Declarator) -> Option<(Type, u8)> {
        let is_handle = |name: &String| {
            matches!(self.types.get(name).map(|known| &known.what), Some(Named::Type(Type::Base(Base::Context))))
        };
        let stars = match &spec.kind {
            TypeKind::Base("void") => declarator.pointers.checked_sub(1),
            TypeKind::Named(name) if is_handle(name) => Some(declarator.pointers),
            TypeKind::Named(name) if self.is_void_pointer(name) => Some(declarator.pointers),
            _ => None,
        };
        if stars.is_none() {
            self.bad_context(declarator.span);
        }
        Some((Type::Base(Base::Context), stars?))
    }

    /// Resolves `typedef [context_handle] void *X;`.
    pub(super) fn context_types(&mut self, spec: &TypeSpec, declarators: &[Declarator]) {
        for declarator in declarators {
            let stars = match &spec.kind {
                TypeKind::Base("void") => 1,
                TypeKind::Named(name) if self.is_void_pointer(name) => 0,
                _ => u8::MAX,
            };
            if declarator.pointers != stars || !declarator.dimensions.is_empty() {
                self.bad_context(declarator.span);
                continue;
            }
            let ty = Type::Base(Base::Context);
            self.push_typedef(&declarator.name, ty.clone(), false, &[]);
            self.declare_type(&declarator.name, Named::Type(ty));
        }
    }

    /// Whether a name is the name of a pointer to void.
    pub(super) fn is_void_pointer(&self, name: &str) -> bool {
        let is_void = |ty: &Type| matches!(ty, Type::Pointer(pointer) if pointer.to == Type::Void);
        matches!(self.types.get(name).map(|known| &known.what), Some(Named::Type(ty)) if is_void(ty))
    }

    fn bad_context(&mut self, span: Span) {
        let error = Diagnostic::error("bad-context", span, "[context_handle] is for pointers to void");
        self.report(
            error.help("declare it as `typedef [context_handle] void *X;`: only the server interprets the pointer"),
        );
    }
}
