//! Resolution: turns syntax into a model. Looks up every name, evaluates every constant and checks
//! every rule of the language.

mod aggregates;
mod attributes;
mod automation;
mod bit_fields;
mod codes;
mod dispinterface;
mod foreign_types;
mod interface;
mod library;
mod limits;
mod order;
mod params;
mod plain;
pub(crate) mod prelude;
mod ranges;
mod reserved;
pub(crate) mod side_file;
mod transfer;
mod typedefs;
mod types;
mod unions;
mod utf8;
mod values;

use crate::model::{
    Base, Const, DeclarationCounts, EnumId, InterfaceId, Model, PointerClass, StructId, Type, UnionId, Unsupported,
    Value,
};
use crate::syntax::ast::{Attribute, Expr, Ident, Item, ParsedFile, TypeKind, TypeSpec};
use crate::text::diagnostic::{DIAGNOSTICS_MAX, Diagnostic, most_like};
use crate::text::preprocess::PREDEFINED;
use crate::text::source::Span;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

pub(crate) use interface::method_name;

/// The meaning of a type's name.
#[derive(Clone, Debug)]
enum Named {
    Type(Type),
    /// A type whose contents are not known yet, or are being read.
    Opened(Type),
    Interface(InterfaceId),
    IUnknown,
    /// A further name of `handle_t`.
    Handle,
}

#[derive(Clone, Debug)]
struct Entry<T> {
    what: T,
    span: Option<Span>,
}

/// The resolver for the files of one compilation, imported files first.
pub(crate) struct Resolver<'a> {
    pub(crate) model: Model,
    types: HashMap<String, Entry<Named>>,
    values: HashMap<String, Entry<Value>>,
    /// The names of pointer typedefs that give the pointer's class. The class of other pointers is
    /// decided at each use.
    classed: HashSet<String>,
    /// The limits that [range] sets for the values of typedefs.
    ranges: HashMap<String, (i64, i64)>,
    /// The typedefs' indices in the model, by name.
    typedefs: HashMap<String, usize>,
    /// The names of Automation types, of their typedefs, and of pointers to them, each with the
    /// type and the number of stars.
    memories: HashMap<String, (TypeSpec, u8)>,
    /// The names of pointers to interfaces, which include the star.
    object_pointers: HashSet<String>,
    /// The names of types that travel in another form, and of integers of a pointer's size, each
    /// with the reason why the type is not supported yet.
    transformed: HashMap<String, String>,
    /// The names that the built-in files declare. A repeated declaration in another file has no
    /// effect.
    given: HashSet<String>,
    /// The structures and unions that no call can carry, each with the reason.
    here_only: HashMap<Type, &'static str>,
    /// The structures and unions that no back end can pass yet because of their form, each with the
    /// reason.
    unsupported: HashMap<Type, Unsupported>,
    /// The reasons that the members of the current structure or union give for `here_only` and for
    /// `unsupported`.
    member_reasons: (Option<&'static str>, Option<Unsupported>),
    /// The dispinterfaces' indices in the model, by name.
    dispinterfaces: HashMap<String, usize>,
    /// The structures, unions and interfaces whose contents are known.
    defined: HashSet<Type>,
    /// The values of the enumerations that are discriminants of unions, by the enumeration's index.
    listed: HashMap<usize, HashSet<i64>>,
    /// The interfaces by their UUIDs.
    uuids: HashMap<u128, InterfaceId>,
    prelude: prelude::Prelude,
    order: order::Order,
    /// The declarations of all files, in the order of resolution.
    parsed: &'a [ParsedFile],
    /// The declarations of all files by their names, for messages about unknown names.
    declarations: OnceCell<HashMap<String, &'a Item>>,
    diagnostics: &'a mut Vec<Diagnostic>,
    permissive: bool,
    imported: bool,
    /// Whether a type has already been refused for its size. Only the first refusal is reported.
    is_too_large: bool,
    /// The number of bytes of text in the constants and default values so far.
    texts: usize,
    pointer_default: PointerClass,
    /// The names of the declarations that are being read, the innermost last: structures and
    /// unions, or a method.
    owners: Vec<String>,
    /// The name that the current typedef gives to the type that it declares.
    declaring: Option<String>,
    /// The generated names of types that have no name in the source, and the places of the members
    /// that declare these types.
    made_up: HashMap<String, Span>,
}

/// Attributes of other dialects, and the advice for each.
const FOREIGN: [(&str, &str); 10] = [
    ("charset", "is an attribute of Samba's pidl; write wchar_t or char with [string]"),
    ("flag", "is an attribute of Samba's pidl"),
    ("value", "is an attribute of Samba's pidl"),
    ("subcontext", "is an attribute of Samba's pidl"),
    ("contract", "belongs to WinRT's MIDL 3; declare a COM interface"),
    ("exclusiveto", "belongs to WinRT's MIDL 3; declare a COM interface"),
    ("broadcast", "is not supported; call each server"),
    ("callback", "is not supported; pass an object to the server, which calls the object's methods"),
    ("first_is", "is not supported; pass a pointer to the first element, with [size_is] or [length_is]"),
    ("last_is", "is not supported; write [length_is(last + 1)]"),
];

impl<'a> Resolver<'a> {
    pub(crate) fn new(permissive: bool, parsed: &'a [ParsedFile], diagnostics: &'a mut Vec<Diagnostic>) -> Self {
        let mut types = HashMap::new();
        types.insert("IUnknown".to_owned(), Entry { what: Named::IUnknown, span: None });
        Self {
            model: Model::default(),
            types,
            values: PREDEFINED
                .map(|(name, value)| (name.to_owned(), Entry { what: Value::Int(value), span: None }))
                .into(),
            classed: HashSet::new(),
            ranges: HashMap::new(),
            typedefs: HashMap::new(),
            memories: HashMap::new(),
            object_pointers: HashSet::new(),
            transformed: HashMap::new(),
            given: HashSet::new(),
            here_only: HashMap::new(),
            unsupported: HashMap::new(),
            member_reasons: (None, None),
            dispinterfaces: HashMap::new(),
            defined: HashSet::new(),
            listed: HashMap::new(),
            uuids: HashMap::new(),
            prelude: prelude::Prelude::default(),
            order: order::Order::default(),
            parsed,
            declarations: OnceCell::new(),
            diagnostics,
            permissive,
            imported: false,
            is_too_large: false,
            texts: 0,
            pointer_default: PointerClass::Unique,
            owners: Vec::new(),
            declaring: None,
            made_up: HashMap::new(),
        }
    }

    /// Resolves the items of one file.
    pub(crate) fn file(&mut self, items: &[Item], imported: bool) {
        self.imported = imported;
        self.pointer_default = PointerClass::Unique;
        self.note_interfaces(items);
        self.note_own(items, PointerClass::Unique);
        for item in items {
            self.item(item);
        }
        self.end_order();
    }

    /// Marks all declarations that are in the model so far as built in. With `automation`, the
    /// declarations are the Automation types.
    pub(crate) fn end_bundled(&mut self, automation: bool) {
        let model = &mut self.model;
        self.given.extend(self.types.keys().cloned());
        model.bundled = DeclarationCounts {
            consts: model.consts.len(),
            structs: model.structs.len(),
            unions: model.unions.len(),
            enums: model.enums.len(),
            interfaces: model.interfaces.len(),
            typedefs: model.typedefs.len(),
        };
        if automation {
            model.built_in = model.bundled;
        }
    }

    /// Performs the checks that need all files. `bytes` is the total size of the files.
    pub(crate) fn finish(&mut self, bytes: usize) {
        self.box_open_structures();
        self.name_in_code();
        self.check_announced();
        self.check_contents();
        self.check_frames();
        self.check_amount(bytes);
    }

    fn item(&mut self, item: &Item) {
        if self.is_early(item) {
            return;
        }
        match item {
            // Imported files have been read already. Quoted C text (`cpp_quote`) has no meaning for
            // the model. `importlib` has a meaning only within libraries.
            Item::Import(_) | Item::ImportLib(..) | Item::CppQuote(_) | Item::Foreign => {}
            Item::Module(module) => self.module(module),
            Item::Library(library) => self.library(library),
            Item::Coclass(class) => self.coclass(class),
            Item::Dispinterface(interface) => self.dispinterface(interface),
            Item::Const(spec, declarator, value) => self.constant(spec, declarator, value),
            Item::Typedef(attributes, spec, declarators) => self.typedef(attributes, spec, declarators),
            Item::Type(spec) => {
                self.spec_type(spec, None);
            }
            Item::Interface(interface) => self.interface_in_order(interface),
            // Outside of interfaces, the parser accepts only functions with [local], whose code is
            // in Windows' headers.
            Item::Method(method) => {
                let text = format!("nothing is generated for the function `{}`", method.name.name);
                let warning = Diagnostic::warning("stray-declaration", method.name.span, text);
                self.report(warning.help("code is generated only for functions in interfaces"));
            }
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        // A structure's tag is declared once before its members and once with the members. The
        // second declaration must not repeat an error.
        if self.diagnostics.last() != Some(&diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Removes the structure that was declared last, if it repeats an earlier structure of its
    /// name, and returns the earlier structure.
    fn without_repetition(&mut self, name: &str, ty: Type) -> Type {
        let (Some(Named::Type(known)), Some(last)) =
            (self.types.get(name).map(|known| &known.what), self.model.structs.last())
        else {
            return ty;
        };
        let (Type::Struct(first), Type::Struct(second)) = (known, &ty) else { return ty };
        let first_one = &self.model.structs[first.0];
        let is_last = first != second && second.0 + 1 == self.model.structs.len();
        let repeats = first_one.fields.len() == last.fields.len()
            && first_one.conformant == last.conformant
            && first_one.fields.iter().zip(&last.fields).all(|(one, other)| one.means_same(other));
        if !is_last || !repeats {
            return ty;
        }
        let known = known.clone();
        self.model.structs.pop();
        // The next structure gets the index of the removed structure.
        self.defined.remove(&ty);
        self.here_only.remove(&ty);
        self.unsupported.remove(&ty);
        // From here on, the repeated structure's tag names the earlier structure.
        let tags = self.types.values_mut().filter(|tag| matches!(&tag.what, Named::Type(other) if *other == ty));
        tags.for_each(|tag| tag.what = Named::Type(known.clone()));
        known
    }

    fn declare_type(&mut self, name: &Ident, what: Named) {
        if let Some(span) = self.made_up.remove(&name.name) {
            return self.report(taken_by_member(&name.name, name.span, Some(span)));
        }
        if self.given.contains(&name.name) {
            return;
        }
        if let Some(known) = self.types.get(&name.name) {
            let same = matches!(
                (&known.what, &what),
                (Named::Opened(a) | Named::Type(a), Named::Opened(b) | Named::Type(b)) if a == b
            ) || matches!((&known.what, &what), (Named::Handle, Named::Handle));
            if same && matches!(what, Named::Opened(_)) {
                return;
            }
            // The names of a file take precedence over the names of the prelude.
            if !same && self.model.is_prelude(name.span) {
                return;
            }
            if !same && !known.span.is_some_and(|span| self.model.is_prelude(span)) {
                let error = declared_twice(name, known.span);
                return self.report(error);
            }
        }
        self.types.insert(name.name.clone(), Entry { what, span: Some(name.span) });
    }

    fn declare_value(&mut self, name: &Ident, value: Value) {
        if let Some(known) = self.values.get(&name.name) {
            let error = declared_twice(name, known.span);
            return self.report(error);
        }
        self.values.insert(name.name.clone(), Entry { what: value, span: Some(name.span) });
    }

    /// Returns the known word that is most like `word`. `None` if no word is similar enough, or if
    /// so many errors have been found that further errors are not shown.
    fn most_similar<'k>(&self, word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
        if self.diagnostics.len() < DIAGNOSTICS_MAX { most_like(word, known) } else { None }
    }

    fn unknown_type(&mut self, name: &str, span: Span) {
        if self.diagnostics.len() >= DIAGNOSTICS_MAX {
            // Further errors are only counted.
            return self.report(Diagnostic::error("unknown-type", span, format!("no type is called `{name}`")));
        }
        if let Some((later, is_around)) = self.declared_later(name, span) {
            let error = Diagnostic::error("unknown-type", span, format!("`{name}` is not declared before this line"));
            let help = if is_around {
                format!("write a tag before the `{{` of `{name}`, and `struct` with the tag here")
            } else if later.file == span.file {
                "move that declaration above this line".to_owned()
            } else {
                format!("import that file here; if it imports this one, declare `{name}` in a file that both import")
            };
            return self.report(error.related(later, "it is declared here").help(help));
        }
        let bases = ["long", "short", "hyper", "boolean", "byte", "wchar_t", "double", "float", "HRESULT", "GUID"];
        let known = self.types.keys().map(String::as_str).chain(bases);
        let like = self.most_similar(name, known).map(str::to_owned);
        let error = Diagnostic::error("unknown-type", span, format!("no type is called `{name}`"));
        if let Some(file) = self.file_of(name) {
            return self.report(error.help(format!("write `import \"{file}\";` at the beginning of the file")));
        }
        let help = like.map(|like| format!("did you mean `{like}`?"));
        let help = foreign_types::instead_of(name).or(help);
        let help = help.unwrap_or_else(|| "declare it above, or import the file that declares it".to_owned());
        self.report(error.label("not declared before this line").help(help));
    }

    /// Reports unknown attributes instead of dropping them silently.
    fn check_attributes(&mut self, attributes: &[Attribute], place: &attributes::Place) {
        for attribute in attributes {
            let name = attribute.name.name.as_str();
            let span = attribute.name.span;
            if let Some((_, why)) = FOREIGN.iter().find(|(foreign, _)| *foreign == name) {
                let error = Diagnostic::error("foreign-attribute", span, format!("[{name}] {why}"));
                self.report_leniently(error.help("remove it"));
            } else if attributes::ON_HANDLES.contains(&name) {
                let text = format!("[{name}] has no meaning here: the interface pointer says which server is called");
                self.report(
                    Diagnostic::warning("ignored-attribute", span, text).help("it may stay, for other compilers"),
                );
            } else if attributes::IGNORED.contains(&name) {
                // The attribute is for other tools, or for a part of Windows.
            } else if !attributes::is_known(name) {
                let error = Diagnostic::error("unknown-attribute", span, format!("[{name}] is not an attribute"));
                let help = self.most_similar(name, attributes::known()).map_or_else(
                    || "remove it, or correct its name".to_owned(),
                    |like| format!("did you mean [{like}]?"),
                );
                self.report_leniently(error.help(help));
            } else if !place.permits(name) {
                let error =
                    Diagnostic::error("misplaced-attribute", span, format!("[{name}] means nothing on {}", place.name));
                self.report_leniently(error.help("remove it"));
            }
        }
    }

    /// Reports an error, which is a warning if the compiler is permissive.
    fn report_leniently(&mut self, mut error: Diagnostic) {
        if self.permissive {
            error.soften();
        }
        self.report(error);
    }

    fn constant(&mut self, spec: &TypeSpec, declarator: &crate::syntax::ast::Declarator, value: &Expr) {
        // A constant of type BSTR is treated as a constant of type LPWSTR.
        let is_bstr = matches!(spec.kind, TypeKind::Automation("BSTR"));
        let kind = if is_bstr { TypeKind::Base("LPWSTR") } else { spec.kind.clone() };
        let spec = &TypeSpec { kind, ..spec.clone() };
        let ty = self.declared_type(spec, declarator, &[], types::Place::Const);
        let Some(found) = self.evaluate(value) else {
            return;
        };
        let base = match &ty {
            Some(Type::Base(base)) if !matches!(base, Base::Guid | Base::Context) => Some(*base),
            Some(Type::Enum(_)) => Some(Base::I32),
            // A pointer constant with a fixed value, such as HKEY_CLASSES_ROOT, is a number.
            Some(Type::Pointer(pointer)) if pointer.to == Type::Void => Some(Base::U64),
            Some(Type::Pointer(_)) if matches!(found, Value::Int(_)) => Some(Base::U64),
            Some(Type::Pointer(_)) => None,
            Some(_) => {
                let error = Diagnostic::error(
                    "bad-constant",
                    spec.span,
                    "this constant is neither a number nor a character nor a text",
                );
                return self.report(error.help("use long, double, char*, or wchar_t*"));
            }
            None => return,
        };
        let fits = match (&found, base) {
            (Value::Int(value), Some(base)) => base.range().is_none_or(|(least, most)| {
                let wide = i128::from(*value);
                let bits = i128::from(value.cast_unsigned());
                // As in C, a negative constant of 32 bits may be written as an unsigned number, and
                // an unsigned constant as a negative number.
                let narrow = i128::from(*value as i32);
                let is_word = i32::try_from(*value).is_ok() || u32::try_from(*value).is_ok();
                (least..=most).contains(&wide)
                    || (least == 0 && (least..=most).contains(&bits))
                    || base.size() == 4 && is_word && (least == 0 || (least..=most).contains(&narrow))
            }),
            (Value::Float(value), Some(Base::F64)) => value.is_finite(),
            (Value::Float(value), Some(Base::F32)) => (*value as f32).is_finite(),
            (Value::Text(_), None) => true,
            _ => false,
        };
        if !fits {
            let error = Diagnostic::error("bad-constant", value.span, "the value does not fit the constant's type");
            return self.report(error.help("choose a wider type, or another value"));
        }
        let found = match (found, base) {
            (Value::Int(value), Some(Base::I32 | Base::Hresult)) => Value::Int(i64::from(value as i32)),
            (Value::Int(value), Some(Base::U32)) => Value::Int(i64::from(value as u32)),
            (found, _) => found,
        };
        self.declare_value(&declarator.name, found.clone());
        let imported = self.imported;
        let base = match ty {
            Some(Type::Pointer(pointer)) if base.is_none() => match pointer.to {
                Type::Base(character) => Some(character),
                _ => None,
            },
            _ => base,
        };
        let Ident { name, span } = declarator.name.clone();
        self.model.consts.push(Const { name, base, value: found, span, imported });
    }
}

/// Returns the error for a generated type name that is already in use.
fn taken_by_member(name: &str, span: Span, other: Option<Span>) -> Diagnostic {
    let text = format!("`{name}` is also the generated name of a member's type that has no name of its own");
    let mut error = Diagnostic::error("duplicate-name", span, text);
    if let Some(other) = other {
        error = error.related(other, "this declaration has the same name");
    }
    error.help("give one of them another name, or write a tag before the member's `{`")
}

/// Returns the error for a name that is already declared, with the first declaration's place if
/// there is one.
fn declared_twice(name: &Ident, first: Option<Span>) -> Diagnostic {
    let error = Diagnostic::error("duplicate-name", name.span, format!("`{}` is declared twice", name.name));
    match first {
        Some(first) if first == name.span => error
            .label("by one line, whose file is read more than once")
            .help("import the file wherever it is needed, or include it once"),
        Some(first) => error.related(first, "first declared here").help("give one of them another name"),
        None => error.help("give one of them another name"),
    }
}

/// Returns the key of an interface in the set of defined types.
fn interface_key(id: InterfaceId) -> Type {
    Type::Interface(crate::model::Object::Known(id))
}

fn struct_type(id: usize) -> Type {
    Type::Struct(StructId(id))
}

fn union_type(id: usize) -> Type {
    Type::Union(UnionId(id))
}

fn enum_type(id: usize) -> Type {
    Type::Enum(EnumId(id))
}

/// Returns the attribute with a name, if there is one.
fn find<'a>(attributes: &'a [Attribute], name: &str) -> Option<&'a Attribute> {
    attributes.iter().find(|attribute| attribute.name.name == name)
}

/// Whether there is an attribute with a name.
fn has(attributes: &[Attribute], name: &str) -> bool {
    find(attributes, name).is_some()
}
