//! The declarations that have a place in the reference, of all compiled files.

mod variants;

use super::comments::Comments;
use super::names::Names;
use crate::compile::Compilation;
use crate::model::{
    Declared, EnumId, Interface, InterfaceId, Model, Object, Offered, StructId, Type, Typedef, UnionId,
};
use crate::text::source::{FileId, Role, Span};
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

/// The kind of a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Kind {
    Library,
    Coclass,
    Interface,
    Dispinterface,
    Struct,
    Union,
    Enum,
    Typedef,
    Const,
}

impl Kind {
    /// All kinds, in the order of lists.
    pub(super) const ALL: [Self; 9] = [
        Self::Library,
        Self::Coclass,
        Self::Interface,
        Self::Dispinterface,
        Self::Struct,
        Self::Union,
        Self::Enum,
        Self::Typedef,
        Self::Const,
    ];

    /// Returns the keyword of the declaration.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Library => "library",
            Self::Coclass => "coclass",
            Self::Interface => "interface",
            Self::Dispinterface => "dispinterface",
            Self::Struct => "struct",
            Self::Union => "union",
            Self::Enum => "enum",
            Self::Typedef => "typedef",
            Self::Const => "const",
        }
    }

    /// Returns the heading of a list.
    pub(super) const fn heading(self) -> &'static str {
        match self {
            Self::Library => "Libraries",
            Self::Coclass => "Classes",
            Self::Interface => "Interfaces",
            Self::Dispinterface => "Dispinterfaces",
            Self::Struct => "Structures",
            Self::Union => "Unions",
            Self::Enum => "Enumerations",
            Self::Typedef => "Typedefs",
            Self::Const => "Constants",
        }
    }

    /// Whether the declaration has a page of its own. Other declarations stand on the page of their
    /// file.
    pub(super) const fn has_page(self) -> bool {
        !matches!(self, Self::Typedef | Self::Const)
    }
}

/// A declaration of one compilation: its kind and its index in the model's table.
pub(super) type Place = (Kind, usize);

/// A declaration in the reference.
#[derive(Debug)]
pub(super) struct Item {
    /// The declaration's kind, and its index in the model.
    pub(super) place: Place,
    /// The index of the compilation with the declaration.
    pub(super) compilation: usize,
    /// The index of the file.
    pub(super) file: usize,
    /// The declaration's name.
    pub(super) name: String,
    /// The declaration's place in the source.
    pub(super) span: Span,
    /// The line of the declaration, counted from 1.
    pub(super) line: usize,
    /// The documentation comment.
    pub(super) comment: String,
    /// The page. If the page belongs to a file, the declaration's place in the page follows.
    pub(super) href: String,
}

/// A file with declarations.
#[derive(Debug)]
pub(super) struct SourceFile {
    /// The path that the compiler was given.
    pub(super) path: String,
    /// The page.
    pub(super) page: String,
    /// Whether the reference was asked for this file. Other files are imported.
    pub(super) is_named: bool,
    /// The file's declarations, by their indices in [`Items::all`].
    pub(super) items: Vec<usize>,
}

impl SourceFile {
    /// Whether the file has a page. Imported files without declarations have none.
    pub(super) fn is_listed(&self) -> bool {
        self.is_named || !self.items.is_empty()
    }
}

/// All declarations.
#[derive(Debug)]
pub(super) struct Items<'c> {
    pub(super) compilations: &'c [Compilation],
    pub(super) comments: Vec<Comments<'c>>,
    pub(super) files: Vec<SourceFile>,
    /// The declarations, in the order of the files and of their lines.
    pub(super) all: Vec<Item>,
    /// For each compilation, the index in `all` of each of its declarations.
    places: Vec<HashMap<Place, usize>>,
}

/// The starts of a text's lines.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect())
    }

    /// Returns the line of a byte, counted from 1.
    fn of_byte(&self, at: usize) -> usize {
        self.0.partition_point(|start| *start <= at)
    }
}

/// A declaration of a compilation, before the declarations of several compilations are merged.
struct Found {
    compilation: usize,
    place: Place,
    name: String,
    file: usize,
    span: Span,
    is_own: bool,
    /// Whether the declaration is without a definition, as `interface IFoo;` and `struct S;` are.
    is_forward: bool,
    /// The declaration's content, if several compilations have the declaration from an included
    /// file: macros may make the contents differ. Empty for other declarations.
    variant: String,
}

impl Found {
    fn key(&self) -> Key<'_> {
        (self.file, self.place.0, &self.name, &self.variant)
    }
}

/// The properties in which different declarations differ: the file, the kind, the name and the
/// content.
type Key<'f> = (usize, Kind, &'f str, &'f str);

impl<'c> Items<'c> {
    /// Collects the declarations of compilations. A declaration that several compilations have
    /// becomes a single item.
    pub(super) fn of(compilations: &'c [Compilation]) -> Self {
        let comments: Vec<Comments<'_>> = compilations.iter().map(Comments::of).collect();
        let mut pages = Names::default();
        let mut files = Files { known: HashMap::new(), list: Vec::new() };
        let mut found: Vec<Found> = Vec::new();
        for (at, compilation) in compilations.iter().enumerate() {
            let numbers = files.add(compilation, &mut pages);
            found.extend(declarations(compilation, at, &numbers));
        }
        variants::mark(compilations, &mut found);
        // The declarations from a file's own compilation come first. The compilation of another
        // file that uses this file can have other macros, and another side file for this file.
        found.sort_by_key(|one| (one.file, !one.is_own, one.compilation, one.span.file, one.span.start));
        let mut items = Self {
            compilations,
            comments,
            files: files.list,
            all: Vec::new(),
            places: vec![HashMap::new(); compilations.len()],
        };
        items.merge(&found, &mut pages);
        items
    }

    /// Adds the declarations that were found. Of those in a file with the same kind, name and
    /// content, only the first is added. A forward declaration gets the item of the definition, if
    /// there is exactly one definition.
    fn merge(&mut self, found: &[Found], pages: &mut Names) {
        let definitions = definitions(found);
        let definition = |one: &Found| match definitions.get(&(one.place.0, one.name.as_str())) {
            Some(Some(key)) if one.is_forward => Some(*key),
            _ => None,
        };
        let mut known: HashMap<Key<'_>, usize> = HashMap::new();
        let mut lines: HashMap<(usize, FileId), Lines> = HashMap::new();
        for one in found.iter().filter(|one| definition(one).is_none()) {
            let at = *known.entry(one.key()).or_insert_with(|| {
                self.files[one.file].items.push(self.all.len());
                let kind = one.place.0;
                self.all.push(Item {
                    place: one.place,
                    compilation: one.compilation,
                    file: one.file,
                    name: one.name.clone(),
                    span: one.span,
                    line: lines
                        .entry((one.compilation, one.span.file))
                        .or_insert_with(|| {
                            Lines::of(&self.compilations[one.compilation].sources.file(one.span.file).text)
                        })
                        .of_byte(one.span.start as usize),
                    comment: self.comments[one.compilation].at(one.span),
                    href: match kind.has_page() {
                        true => pages.add(&format!("{}.", kind.word()), &one.name) + ".html",
                        false => String::new(),
                    },
                });
                self.all.len() - 1
            });
            self.places[one.compilation].insert(one.place, at);
        }
        for one in found {
            if let Some(at) = definition(one).and_then(|key| known.get(&key)) {
                self.places[one.compilation].insert(one.place, *at);
            }
        }
        for file in &self.files {
            let mut anchors = Names::default();
            for at in &file.items {
                let item = &mut self.all[*at];
                if !item.place.0.has_page() {
                    let anchor = anchors.add(&format!("{}.", item.place.0.word()), &item.name);
                    item.href = format!("{}#{anchor}", file.page);
                }
            }
        }
    }

    /// Returns the compilation of a declaration.
    pub(super) fn compilation(&self, item: &Item) -> &'c Compilation {
        &self.compilations[item.compilation]
    }

    /// Returns the index in `all` of a declaration of a compilation. `None` for declarations of
    /// built-in files.
    pub(super) fn at(&self, compilation: usize, place: Place) -> Option<usize> {
        self.places[compilation].get(&place).copied()
    }

    /// Returns the link to a declaration of a compilation. `None` for declarations of built-in
    /// files.
    pub(super) fn href(&self, compilation: usize, place: Place) -> Option<&str> {
        Some(&self.all[self.at(compilation, place)?].href)
    }
}

/// Returns, for each kind and name of a declaration, the definition. The value is `None` if there
/// are several definitions.
fn definitions(found: &[Found]) -> HashMap<(Kind, &str), Option<Key<'_>>> {
    let mut definitions = HashMap::new();
    for one in found.iter().filter(|one| !one.is_forward) {
        let key = one.key();
        let only = definitions.entry((one.place.0, one.name.as_str())).or_insert(Some(key));
        *only = only.filter(|only| *only == key);
    }
    definitions
}

/// Returns the place of the declaration of a structure, a union, an enumeration or an interface.
/// `None` for other types.
pub(super) fn place_of(ty: &Type) -> Option<Place> {
    Some(match ty {
        Type::Struct(StructId(at)) => (Kind::Struct, *at),
        Type::Union(UnionId(at)) => (Kind::Union, *at),
        Type::Enum(EnumId(at)) => (Kind::Enum, *at),
        Type::Interface(Object::Known(InterfaceId(at))) => (Kind::Interface, *at),
        _ => return None,
    })
}

/// Returns the place of a typedef's type if the type has no other name. `None` if the type has a
/// name of its own.
pub(super) fn own_place(model: &Model, typedef: &Typedef) -> Option<Place> {
    let name = match &typedef.ty {
        Type::Struct(id) => &model.structs[id.0].name,
        Type::Union(id) => &model.unions[id.0].name,
        Type::Enum(id) => &model.enums[id.0].name,
        _ => return None,
    };
    place_of(&typedef.ty).filter(|_| *name == typedef.name)
}

/// Whether an interface has no content, like an interface with only a forward declaration.
pub(super) fn is_empty(interface: &Interface) -> bool {
    interface.bare.is_some() && interface.methods.is_empty() && interface.uuid == 0 && interface.base.is_none()
}

/// Returns the place of a declaration in a library.
pub(super) fn place_of_declared(declared: Declared) -> Place {
    match declared {
        Declared::Struct(id) => (Kind::Struct, id.0),
        Declared::Union(id) => (Kind::Union, id.0),
        Declared::Enum(id) => (Kind::Enum, id.0),
        Declared::Interface(id) => (Kind::Interface, id.0),
        Declared::Alias(at) => (Kind::Typedef, at),
        Declared::Dispinterface(at) => (Kind::Dispinterface, at),
        Declared::Coclass(at) => (Kind::Coclass, at),
    }
}

/// Returns the place of an interface of a class. `None` for IUnknown.
pub(super) fn place_of_offered(offered: Offered) -> Option<Place> {
    match offered {
        Offered::Unknown => None,
        Offered::Interface(id) => Some((Kind::Interface, id.0)),
        Offered::Dispinterface(at) => Some((Kind::Dispinterface, at)),
    }
}

/// The files of all compilations.
struct Files {
    known: HashMap<PathBuf, usize>,
    list: Vec<SourceFile>,
}

impl Files {
    /// Adds the files of a compilation, and returns the number of each file.
    fn add(&mut self, compilation: &Compilation, pages: &mut Names) -> HashMap<FileId, usize> {
        let mut numbers = HashMap::new();
        let files = compilation.sources.files().iter().enumerate();
        let mut named = true;
        for (at, file) in files.filter(|(_, file)| matches!(file.role, Role::Idl | Role::Included)) {
            // The same file may have several paths.
            let key = file.path.canonicalize().unwrap_or_else(|_| normal(&file.path));
            let number = *self.known.entry(key).or_insert_with(|| {
                let name = file.path.file_name().unwrap_or_default().to_string_lossy();
                let page = pages.add("file.", &name) + ".html";
                let path = file.path.display().to_string();
                self.list.push(SourceFile { path, page, is_named: false, items: Vec::new() });
                self.list.len() - 1
            });
            // The first file of a compilation is the file for which the user requested the
            // reference.
            self.list[number].is_named |= std::mem::take(&mut named);
            numbers.insert(FileId(at as u16), number);
        }
        numbers
    }
}

/// Returns a path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if normal.file_name().is_some() => _ = normal.pop(),
            part => normal.push(part),
        }
    }
    normal
}

/// Returns the declarations of a compilation in files on disk.
fn declarations(compilation: &Compilation, at: usize, files: &HashMap<FileId, usize>) -> Vec<Found> {
    let model = &compilation.model;
    let mut found: Vec<(Place, &str, Span, bool)> = Vec::new();
    macro_rules! table {
        ($kind:ident, $table:ident) => {
            let all = model.$table.iter().enumerate();
            found.extend(all.map(|(at, one)| ((Kind::$kind, at), one.name.as_str(), one.span, one.imported)));
        };
    }
    table!(Library, libraries);
    table!(Coclass, coclasses);
    table!(Interface, interfaces);
    table!(Dispinterface, dispinterfaces);
    table!(Struct, structs);
    table!(Union, unions);
    table!(Enum, enums);
    table!(Const, consts);
    // A typedef that only names an anonymous type is left out: the type's page has its name.
    let further = model.typedefs.iter().enumerate().filter(|(_, one)| own_place(model, one).is_none());
    found.extend(further.map(|(at, one)| ((Kind::Typedef, at), one.name.as_str(), one.span, one.imported)));
    let placed = found.into_iter().filter_map(|(place, name, span, imported)| {
        let span = compilation.sources.use_of(span);
        let file = *files.get(&span.file)?;
        let is_forward = match place {
            (Kind::Interface, at) => is_empty(&model.interfaces[at]),
            (Kind::Struct, at) => model.structs[at].fields.is_empty(),
            (Kind::Dispinterface, at) => model.dispinterfaces[at].members.is_none(),
            _ => false,
        };
        let (name, variant) = (name.to_owned(), String::new());
        Some(Found { compilation: at, place, name, file, span, is_own: !imported, is_forward, variant })
    });
    placed.collect()
}
