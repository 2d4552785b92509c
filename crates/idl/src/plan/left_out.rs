//! Declarations that a back end leaves out of its output.

use crate::model::{InterfaceId, Method, Model, Object, Param, StructId, Type, UnionId, all_arms};
use crate::text::diagnostic::Diagnostic;
use crate::text::source::Span;
use std::collections::{HashMap, HashSet, VecDeque};

/// The interfaces that a back end does not support, and the imported interfaces, structures and
/// unions that lead to one of them. Each has a reason, which is a part of a sentence.
#[derive(Debug)]
pub(crate) struct LeftOut {
    reasons: HashMap<Type, String>,
    writes_local: bool,
    scope: Scope,
}

/// The declarations that are left out if they use a declaration that is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Declarations of imported files. A declaration of the file itself is refused.
    Imported,
    /// All declarations, because the compiler is permissive.
    All,
}

impl LeftOut {
    /// Finds the declarations that use the given interfaces. `writes_local` says whether the back
    /// end writes `[local]` methods. If not, the types of their parameters are ignored.
    pub(crate) fn new(
        model: &Model,
        interfaces: impl IntoIterator<Item = (InterfaceId, String)>,
        writes_local: bool,
        scope: Scope,
    ) -> Self {
        let declared: Vec<(Type, bool)> = declared(model).collect();
        let mut users: HashMap<Type, Vec<&Type>> = HashMap::new();
        for (user, _) in declared.iter().filter(|(_, imported)| *imported || scope == Scope::All) {
            for (used, _) in uses(model, user, writes_local, scope) {
                users.entry(used).or_default().push(user);
            }
        }
        let mut next: VecDeque<(Type, String)> =
            interfaces.into_iter().map(|(id, why)| (Type::Interface(Object::Known(id)), why)).collect();
        let mut reasons = HashMap::new();
        while let Some((ty, why)) = next.pop_front() {
            if reasons.contains_key(&ty) {
                continue;
            }
            if let Some((name, _)) = model.named(&ty) {
                let because = format!("it uses `{name}`, which is left out");
                let found = users.get(&ty).into_iter().flatten();
                next.extend(found.map(|user| ((*user).clone(), because.clone())));
            }
            reasons.insert(ty, why);
        }
        Self { reasons, writes_local, scope }
    }

    /// Whether an interface is left out.
    pub(crate) fn has(&self, id: InterfaceId) -> bool {
        self.has_type(&Type::Interface(Object::Known(id)))
    }

    /// Whether a structure, a union or the interface of an object is left out.
    pub(crate) fn has_type(&self, ty: &Type) -> bool {
        self.reasons.contains_key(ty)
    }

    /// Returns each name with its reason: interfaces first, then structures, then unions.
    pub(crate) fn reasons<'m>(&self, model: &'m Model) -> Vec<(&'m str, &str)> {
        let reason = |(ty, _): (Type, bool)| Some((model.named(&ty)?.0, self.reasons.get(&ty)?.as_str()));
        declared(model).filter_map(reason).collect()
    }

    /// Returns an error for each place where a declaration of the file itself uses a declaration
    /// that is left out. `is_written` says whether the back end writes a type, and `interfaces` are
    /// the interfaces that it writes.
    pub(crate) fn errors(
        &self,
        model: &Model,
        interfaces: &HashSet<InterfaceId>,
        is_written: impl Fn(&Type) -> bool,
    ) -> Vec<Diagnostic> {
        let own = declared(model).filter(|(ty, imported)| match ty {
            Type::Interface(Object::Known(id)) => !imported && interfaces.contains(id),
            ty => !imported && is_written(ty),
        });
        let places = own.flat_map(|(user, _)| uses(model, &user, self.writes_local, self.scope));
        places.filter_map(|(used, span)| self.error_at(model, &used, span)).collect()
    }

    /// Returns the error for the first parameter of a method whose type is left out.
    pub(crate) fn error(&self, model: &Model, method: &Method) -> Option<Diagnostic> {
        if method.unpassed.is_some() {
            return None;
        }
        method.params.iter().find_map(|param| self.error_at(model, model.innermost(&param.ty), param.span))
    }

    fn error_at(&self, model: &Model, used: &Type, span: Span) -> Option<Diagnostic> {
        let why = self.reasons.get(used)?;
        let (name, place) = model.named(used)?;
        let text = format!("this uses `{name}`, which is left out: {why}");
        Some(Diagnostic::error("not-yet", span, text).related(place, "this one"))
    }

    /// Returns a warning for each declaration of the file itself that is left out, apart from
    /// interfaces that have only a forward declaration.
    pub(crate) fn warnings(&self, model: &Model) -> Vec<Diagnostic> {
        let own = declared(model).filter(|(ty, imported)| !imported && !is_bare(model, ty));
        let warning = |(ty, _): (Type, bool)| {
            let (why, (name, span)) = (self.reasons.get(&ty)?, model.named(&ty)?);
            Some(Diagnostic::warning("left-out", span, format!("`{name}` is left out: {why}")))
        };
        own.filter_map(warning).collect()
    }
}

/// Whether a type is the interface of an object, and nothing is generated for the interface.
fn is_bare(model: &Model, ty: &Type) -> bool {
    matches!(ty, Type::Interface(Object::Known(id)) if model.interfaces[id.0].bare.is_some())
}

/// Returns the interfaces, structures and unions that are not built in, and whether an imported
/// file declares them.
fn declared(model: &Model) -> impl Iterator<Item = (Type, bool)> {
    let interfaces = model.interfaces.iter().enumerate().skip(model.bundled.interfaces);
    let interfaces = interfaces.map(|(at, found)| (Type::Interface(Object::Known(InterfaceId(at))), found.imported));
    let structs = model.structs.iter().enumerate().skip(model.bundled.structs);
    let structs = structs.map(|(at, found)| (Type::Struct(StructId(at)), found.imported));
    let unions = model.unions.iter().enumerate().skip(model.bundled.unions);
    interfaces.chain(structs).chain(unions.map(|(at, found)| (Type::Union(UnionId(at)), found.imported)))
}

/// Returns the types that an interface, a structure or a union names, each with its place. With
/// [`Scope::All`], the targets of a method's pointers are not among them, because such a method can
/// have raw pointers.
fn uses(model: &Model, user: &Type, writes_local: bool, scope: Scope) -> Vec<(Type, Span)> {
    let innermost = |ty: &Type, span| (model.innermost(ty).clone(), span);
    match user {
        Type::Interface(Object::Known(id)) => {
            let found = &model.interfaces[id.0];
            let base = found.base.map(|base| (Type::Interface(Object::Known(base)), found.span));
            let methods = found.methods.iter().filter(|method| writes_local || !method.local);
            let is_pointer = |ty: &Type| matches!(ty, Type::Pointer(_) | Type::Interface(_));
            let is_needed = |param: &&Param| scope == Scope::Imported || !is_pointer(&param.ty);
            let params = methods.flat_map(|method| &method.params).filter(is_needed);
            base.into_iter().chain(params.map(|param| innermost(&param.ty, param.span))).collect()
        }
        Type::Struct(id) => {
            let found = &model.structs[id.0];
            let open = found.conformant.iter().map(|(element, ..)| innermost(element, found.span));
            found.fields.iter().map(|field| innermost(&field.ty, field.span)).chain(open).collect()
        }
        Type::Union(id) => all_arms(&model.unions[id.0]).map(|field| innermost(&field.ty, field.span)).collect(),
        _ => Vec::new(),
    }
}
