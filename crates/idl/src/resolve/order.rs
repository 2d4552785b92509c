//! The order of interfaces: an interface may extend an interface that its file declares further
//! below.

use super::prelude::{names, place};
use super::{Named, Resolver, interface_key};
use crate::model::Object;
use crate::model::Type;
use crate::syntax::ast::{Ident, InterfaceDecl, Item, ParsedFile};
use crate::text::source::Span;
use std::collections::{HashMap, HashSet};

/// The interfaces of the current file that are still to be resolved.
#[derive(Default)]
pub(super) struct Order {
    /// The number of declarations with contents, by the interface's name.
    left: HashMap<String, usize>,
    /// The names of the file's dispinterfaces that have contents.
    dispinterfaces: HashSet<String>,
    /// The interfaces whose base is declared below them, by the base's name.
    waiting: HashMap<String, Vec<InterfaceDecl>>,
}

impl Resolver<'_> {
    /// Notes the interfaces that the items of a file declare.
    pub(super) fn note_interfaces(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Interface(decl) if decl.items.is_some() => {
                    *self.order.left.entry(decl.name.name.clone()).or_default() += 1;
                }
                Item::Dispinterface(decl) if decl.members.is_some() => {
                    self.order.dispinterfaces.insert(decl.name.name.clone());
                }
                Item::Library(library) => self.note_interfaces(&library.items),
                _ => {}
            }
        }
    }

    /// Resolves an interface, and then the interfaces above it that extend it. If the base is
    /// declared below, the interface and its methods wait for the base. The other declarations in
    /// the interface are resolved immediately.
    pub(super) fn interface_in_order(&mut self, decl: &InterfaceDecl) {
        if let Some(base) = decl.base.as_ref().filter(|base| decl.items.is_some() && self.is_below(base)) {
            self.interface_id(&decl.name);
            let items = decl.items.iter().flatten();
            let (methods, others): (Vec<&Item>, _) = items.partition(|item| matches!(item, Item::Method(_)));
            let outer = self.begin_interface(decl);
            others.into_iter().for_each(|item| self.item(item));
            self.pointer_default = outer;
            let items = Some(methods.into_iter().cloned().collect());
            let waiting = InterfaceDecl { items, ..decl.clone() };
            self.order.waiting.entry(base.name.clone()).or_default().push(waiting);
            return;
        }
        self.interface(decl);
        let mut ready = self.after(decl);
        while let Some(next) = ready.pop() {
            self.interface(&next);
            ready.extend(self.after(&next));
        }
    }

    /// Forgets the interfaces of the current file, and resolves those whose bases have not been
    /// declared, so that the missing bases are reported.
    pub(super) fn end_order(&mut self) {
        let order = std::mem::take(&mut self.order);
        let mut left: Vec<InterfaceDecl> = order.waiting.into_values().flatten().collect();
        left.sort_by_key(|decl| decl.name.span.start);
        left.iter().for_each(|decl| self.interface(decl));
    }

    /// Whether the current file declares the contents of an interface here or further below.
    pub(super) fn is_declared_below(&self, name: &str) -> bool {
        self.order.left.contains_key(name)
    }

    /// Whether the current file declares the contents of a dispinterface.
    pub(super) fn has_dispinterface(&self, name: &str) -> bool {
        self.order.dispinterfaces.contains(name)
    }

    /// Returns the place where a file declares a name that is not known yet, and whether the use of
    /// the name is inside of that declaration. `None` if no file declares the name.
    pub(super) fn declared_later(&self, name: &str, used: Span) -> Option<(Span, bool)> {
        let item = *self.declarations.get_or_init(|| declarations(self.parsed)).get(name)?;
        let is_around = |whole: Span| whole.file == used.file && whole.start < used.start && used.end < whole.end;
        Some((place(item)?, matches!(item, Item::Typedef(_, spec, _) if is_around(spec.span))))
    }

    /// Whether an interface must wait for its base, because the current file declares the contents
    /// of the base further below. A built-in interface does not wait.
    fn is_below(&self, name: &Ident) -> bool {
        let key = match self.types.get(&name.name).map(|known| &known.what) {
            Some(Named::Interface(id)) => interface_key(*id),
            Some(_) => return false,
            None => Type::Interface(Object::Unknown),
        };
        !self.model.is_prelude(name.span) && self.is_declared_below(&name.name) && !self.defined.contains(&key)
    }

    /// Returns the interfaces that waited for this interface.
    fn after(&mut self, decl: &InterfaceDecl) -> Vec<InterfaceDecl> {
        if decl.items.is_none() {
            return Vec::new();
        }
        if let Some(left) = self.order.left.get_mut(&decl.name.name) {
            *left -= 1;
            if *left == 0 {
                self.order.left.remove(&decl.name.name);
            }
        }
        self.order.waiting.remove(&decl.name.name).unwrap_or_default()
    }
}

/// Returns the declarations of all files by their names.
fn declarations(parsed: &[ParsedFile]) -> HashMap<String, &Item> {
    let mut next: Vec<&Item> = parsed.iter().flat_map(|(_, items)| items.iter()).collect();
    let mut found = HashMap::new();
    while let Some(item) = next.pop() {
        match item {
            Item::Interface(InterfaceDecl { items: None, .. }) => continue,
            Item::Interface(decl) => next.extend(decl.items.iter().flatten()),
            Item::Library(library) => next.extend(&library.items),
            _ => {}
        }
        found.extend(names(item).into_iter().map(|name| (name, item)));
    }
    found
}
