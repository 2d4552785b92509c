//! The prelude: base types of Windows' files, each declared at its first use.
//!
//! A declaration that nothing uses has no effect, so that files may declare other types of the same
//! names, and generated code contains only what a file needs.

use super::Resolver;
use crate::syntax::ast::{Declarator, EnumDecl, Expr, ExprKind, Ident, Item, TypeKind, TypeSpec};
use std::collections::HashMap;
use std::mem::{replace, take};
use std::rc::Rc;

/// The text of the prelude.
pub(crate) const TEXT: &str = include_str!("../prelude.idl");

/// The declarations of the prelude that have not been used, by each of the names that they declare.
#[derive(Default)]
pub(super) struct Prelude {
    unused: HashMap<String, Rc<Item>>,
}

impl Prelude {
    pub(super) fn new(items: Vec<Item>) -> Self {
        let mut unused = HashMap::new();
        for item in items.into_iter().map(Rc::new) {
            unused.extend(names(&item).into_iter().map(|name| (name, item.clone())));
        }
        Self { unused }
    }
}

/// Returns the names that a declaration declares.
fn names(item: &Item) -> Vec<String> {
    let of = |declarators: &[Declarator]| -> Vec<String> {
        declarators.iter().map(|declarator| declarator.name.name.clone()).collect()
    };
    match item {
        Item::Const(_, declarator, _) => vec![declarator.name.name.clone()],
        Item::Typedef(_, spec, declarators) => [of(declarators), names_of_type(spec)].concat(),
        Item::Type(spec) => names_of_type(spec),
        Item::Interface(interface) => vec![interface.name.name.clone()],
        _ => Vec::new(),
    }
}

fn names_of_type(spec: &TypeSpec) -> Vec<String> {
    let name = |name: &Ident| name.name.clone();
    match &spec.kind {
        TypeKind::Struct(decl) => decl.tag.iter().map(name).collect(),
        TypeKind::Union(decl) => decl.tag.iter().map(name).collect(),
        TypeKind::Enum(EnumDecl { tag, values, .. }) => {
            tag.iter().chain(values.iter().flatten().map(|(value, _)| value)).map(name).collect()
        }
        _ => Vec::new(),
    }
}

impl Resolver<'_> {
    /// Uses the prelude for names that no file declares.
    pub(crate) fn use_prelude(&mut self, items: Vec<Item>) {
        self.prelude = Prelude::new(items);
    }

    /// Declares a name of the prelude, unless a file has declared it.
    pub(super) fn declare_prelude(&mut self, name: &str) {
        if self.types.contains_key(name) || self.values.contains_key(name) || self.memories.contains_key(name) {
            return;
        }
        let Some(item) = self.prelude.unused.get(name).cloned() else { return };
        for name in names(&item) {
            self.prelude.unused.remove(&name);
        }
        let (owners, declaring) = (take(&mut self.owners), self.declaring.take());
        let (reasons, imported) = (take(&mut self.member_reasons), replace(&mut self.imported, true));
        let pointer_default = replace(&mut self.pointer_default, crate::model::PointerClass::Unique);
        self.item(&item);
        (self.owners, self.declaring, self.member_reasons) = (owners, declaring, reasons);
        (self.imported, self.pointer_default) = (imported, pointer_default);
    }

    /// Declares the names of the prelude in an expression.
    pub(super) fn declare_prelude_in(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Name(name) => self.declare_prelude(name),
            ExprKind::Unary(_, inner) | ExprKind::Cast(_, _, inner) => self.declare_prelude_in(inner),
            ExprKind::Binary(_, left, right) => {
                [left, right].into_iter().for_each(|part| self.declare_prelude_in(part))
            }
            ExprKind::Ternary(a, b, c) => [a, b, c].into_iter().for_each(|part| self.declare_prelude_in(part)),
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Char(_) | ExprKind::Text(_) | ExprKind::SizeOf(..) => {}
        }
    }
}
