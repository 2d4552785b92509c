//! The prelude: base types of Windows' files, each declared at its first use.
//!
//! An unused declaration has no effect. So files may declare other types of the same names, and
//! generated code contains only the declarations that a file needs.

use super::Resolver;
use super::interface::pointer_class;
use super::typedefs::is_definition;
use crate::model::{PointerClass, automation};
use crate::syntax::ast::{Declarator, EnumDecl, Expr, ExprKind, Item, TypeKind, TypeSpec};
use crate::syntax::bundled::parse_bundled;
use crate::text::source::{Role, Sources, Span};
use std::collections::{HashMap, HashSet};
use std::mem::{replace, take};
use std::path::Path;
use std::rc::Rc;
use std::sync::LazyLock;

/// The text of the prelude.
pub(crate) const TEXT: &str = include_str!("../prelude.idl");

/// The declarations of the prelude that have not been used, by each of the names that they declare.
#[derive(Default)]
pub(super) struct Prelude {
    /// All declarations.
    items: Rc<[Item]>,
    unused: HashMap<String, usize>,
    /// The declarations of the current file that have names of the prelude and are still to be
    /// resolved.
    own: HashMap<String, Own>,
    /// The places of the file's declarations that were resolved early, because a declaration above
    /// them uses one of their names.
    early: HashSet<Span>,
}

/// A declaration of the current file.
#[derive(Clone)]
struct Own {
    item: Rc<Item>,
    /// The class of pointers in the declaration, which a surrounding interface may set.
    pointer_default: PointerClass,
}

impl Prelude {
    pub(super) fn new(items: Rc<[Item]>) -> Self {
        let mut unused = HashMap::new();
        for (at, item) in items.iter().enumerate() {
            unused.extend(names(item).into_iter().map(|name| (name, at)));
        }
        Self { items, unused, ..Self::default() }
    }

    /// Removes the names of a file's declaration before the declaration is resolved. So inside the
    /// declaration, the names refer neither to the declaration itself nor to the built-in type.
    fn begin_own(&mut self, item: &Item) {
        for name in names(item) {
            if self.own.remove(&name).is_some() {
                self.unused.remove(&name);
            }
        }
    }
}

/// Returns the names that a declaration declares.
pub(super) fn names(item: &Item) -> Vec<String> {
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

/// Whether the prelude declares a type of this name.
pub(crate) fn declares(name: &str) -> bool {
    static NAMES: LazyLock<HashSet<String>> = LazyLock::new(|| types_of("prelude.idl", TEXT).into_iter().collect());
    NAMES.contains(name)
}

/// Returns the place of a declaration's first name. `None` for a declaration without names.
pub(super) fn place(item: &Item) -> Option<Span> {
    Some(match item {
        Item::Const(_, declarator, _) => declarator.name.span,
        Item::Typedef(_, _, declarators) => declarators.first()?.name.span,
        Item::Type(spec) => spec.span,
        Item::Interface(interface) => interface.name.span,
        _ => return None,
    })
}

/// Returns the tag of a type and the names of its values.
fn names_of_type(spec: &TypeSpec) -> Vec<String> {
    let values = match &spec.kind {
        TypeKind::Enum(EnumDecl { values, .. }) => values.as_slice(),
        _ => &[],
    };
    tag(spec).into_iter().chain(values.iter().flatten().map(|(value, _)| value.name.clone())).collect()
}

fn tag(spec: &TypeSpec) -> Option<String> {
    let tag = match &spec.kind {
        TypeKind::Struct(decl) => &decl.tag,
        TypeKind::Union(decl) => &decl.tag,
        TypeKind::Enum(decl) => &decl.tag,
        _ => &None,
    };
    tag.as_ref().map(|tag| tag.name.clone())
}

/// Returns the names of the types that a built-in file declares.
fn types_of(name: &'static str, text: &str) -> Vec<String> {
    let mut sources = Sources::default();
    let file = sources.add(Path::new(name), text.to_owned(), Role::BuiltIn);
    let items = file.map(|file| parse_bundled(name, file, &mut sources, &mut Vec::new())).unwrap_or_default();
    let types = |item: &Item| match item {
        Item::Typedef(_, spec, declarators) => {
            declarators.iter().map(|declarator| declarator.name.name.clone()).chain(tag(spec)).collect()
        }
        Item::Type(spec) => tag(spec).into_iter().collect(),
        Item::Interface(_) => names(item),
        _ => Vec::new(),
    };
    items.iter().flat_map(types).collect()
}

impl Resolver<'_> {
    /// Uses the prelude for names that no file declares.
    pub(crate) fn use_prelude(&mut self, items: Rc<[Item]>) {
        self.prelude = Prelude::new(items);
    }

    /// Returns the file to import for a built-in type that is not known without an import. `None`
    /// for other names.
    pub(super) fn file_of(&self, name: &str) -> Option<&'static str> {
        static FILES: LazyLock<HashMap<String, &str>> = LazyLock::new(|| {
            let all = [("wtypes.idl", TEXT), (automation::FILE, automation::TEXT)];
            all.into_iter()
                .flat_map(|(file, text)| types_of(file, text).into_iter().map(move |name| (name, file)))
                .collect()
        });
        let file = *FILES.get(name)?;
        (self.model.prelude.is_none() || file == automation::FILE).then_some(file)
    }

    /// Notes the declarations of a file that have names of the prelude. These declarations take
    /// precedence, also for uses above them.
    pub(super) fn note_own(&mut self, items: &[Item], pointer_default: PointerClass) {
        for item in items {
            match item {
                Item::Interface(decl) => {
                    let inner = decl.items.as_deref().unwrap_or_default();
                    self.note_own(inner, pointer_class(decl, pointer_default));
                }
                Item::Library(library) => self.note_own(&library.items, pointer_default),
                _ => {}
            }
            let is_announcement = matches!(item, Item::Interface(decl) if decl.items.is_none());
            let of_prelude = names(item).into_iter().filter(|name| self.prelude.unused.contains_key(name));
            for name in of_prelude.filter(|_| !is_announcement).collect::<Vec<_>>() {
                self.prelude.own.entry(name).or_insert_with(|| Own { item: Rc::new(item.clone()), pointer_default });
            }
        }
    }

    /// Whether a declaration has already been resolved, because a declaration above it uses one of
    /// its names. Also records that resolution has reached the file's declaration of these names.
    pub(super) fn is_early(&mut self, item: &Item) -> bool {
        if !self.prelude.own.is_empty() {
            self.prelude.begin_own(item);
        }
        place(item).is_some_and(|place| self.prelude.early.remove(&place))
    }

    /// Declares a name of the prelude, unless a file has declared it.
    pub(super) fn declare_prelude(&mut self, name: &str) {
        if self.types.contains_key(name) || self.values.contains_key(name) || self.memories.contains_key(name) {
            return;
        }
        if let Some(Own { item, pointer_default }) = self.prelude.own.get(name).cloned() {
            self.resolve_apart(&item, self.imported, pointer_default);
            self.prelude.early.extend(place(&item));
            return;
        }
        let Some(&at) = self.prelude.unused.get(name) else { return };
        let items = self.prelude.items.clone();
        for name in names(&items[at]) {
            self.prelude.unused.remove(&name);
        }
        let item = self.of_own_type(&items[at]);
        self.resolve_apart(&item, true, PointerClass::Unique);
    }

    /// Returns a typedef of the prelude. If a file declares the type under one of its names, the
    /// typedef's other names become names of that type.
    fn of_own_type(&mut self, item: &Item) -> Item {
        let Item::Typedef(attributes, spec, declarators) = item else { return item.clone() };
        let plain = declarators.iter().filter(|one| one.pointers == 0 && one.dimensions.is_empty());
        let candidates = plain.map(|one| one.name.name.clone()).chain(tag(spec));
        for name in candidates.collect::<Vec<_>>() {
            if self.prelude.own.contains_key(&name) {
                self.declare_prelude(&name);
            }
            if is_definition(&spec.kind) && self.types.contains_key(&name) {
                let spec = TypeSpec { kind: TypeKind::Named(name), ..spec.clone() };
                return Item::Typedef(attributes.clone(), spec, declarators.clone());
            }
        }
        item.clone()
    }

    /// Resolves a declaration while another declaration is being resolved. The state of the other
    /// declaration is saved and restored.
    fn resolve_apart(&mut self, item: &Item, is_imported: bool, pointer_default: PointerClass) {
        let (owners, declaring) = (take(&mut self.owners), self.declaring.take());
        let (reasons, imported) = (take(&mut self.member_reasons), replace(&mut self.imported, is_imported));
        let pointer_default = replace(&mut self.pointer_default, pointer_default);
        self.item(item);
        (self.owners, self.declaring, self.member_reasons) = (owners, declaring, reasons);
        (self.imported, self.pointer_default) = (imported, pointer_default);
    }

    /// Declares the names of the prelude that an expression uses.
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
