//! Side files: the attributes in `NAME.acf` are added to the declarations in `NAME.idl` before
//! names are resolved.
//!
//! So a side file is only another place to write attributes: resolution decides their meaning.

use crate::resolve::attributes::{ON_HANDLES, is_known};
use crate::resolve::method_name;
use crate::syntax::ast::{Attribute, Ident, InterfaceDecl, Item, Method, SideInterface, SideMethod};
use crate::text::diagnostic::{Diagnostic, most_like};
use crate::text::source::Sources;

/// Attributes that do not change a declaration's meaning for other compilers, but decide how calls
/// travel and which values are accepted.
const OWN: [&str; 7] = ["oneway", "max_value", "utf8", "zero_copy", "map", "lend", "prealloc"];

/// Attributes of DCE's and MIDL's side files.
const FOREIGN: [&str; 21] = [
    "allocate",
    "byte_count",
    "code",
    "comm_status",
    "cs_char",
    "cs_drtag",
    "cs_rtag",
    "cs_stag",
    "cs_tag_rtn",
    "decode",
    "enable_allocate",
    "encode",
    "fault_status",
    "heap",
    "in_line",
    "nocode",
    "notify",
    "notify_flag",
    "optimize",
    "out_of_line",
    "represent_as",
];

/// Adds the attributes of a side file to the declarations of its IDL file.
pub(crate) fn merge(
    items: &mut [Item],
    side: Vec<SideInterface>,
    sources: &Sources,
    diagnostics: &mut Vec<Diagnostic>,
) {
    Merging { sources, diagnostics }.file(items, side);
}

/// Collects the interfaces that a file declares, including the interfaces in its libraries.
fn interfaces<'i>(items: &'i mut [Item], found: &mut Vec<&'i mut InterfaceDecl>) {
    for item in items {
        match item {
            Item::Interface(interface) if interface.items.is_some() => found.push(interface),
            Item::Library(library) => interfaces(&mut library.items, found),
            _ => {}
        }
    }
}

struct Merging<'a> {
    sources: &'a Sources,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Merging<'_> {
    fn file(&mut self, items: &mut [Item], side: Vec<SideInterface>) {
        let mut declared = Vec::new();
        interfaces(items, &mut declared);
        for one in side {
            match declared.iter().position(|interface| interface.name.name == one.name.name) {
                Some(at) => self.interface(declared[at], one),
                None => {
                    let names = declared.iter().map(|interface| interface.name.name.as_str());
                    let error = self.unknown(
                        "unknown-interface",
                        "the IDL file of this side file declares no interface",
                        &one.name,
                        names,
                    );
                    let advice = "a side file adds to the interfaces of the IDL file of the same name, and not to those of its imports";
                    self.diagnostics.push(or_advise(error, advice));
                }
            }
        }
    }

    fn interface(&mut self, declared: &mut InterfaceDecl, side: SideInterface) {
        self.add(&mut declared.attributes, side.attributes);
        let items = declared.items.iter_mut().flatten();
        let mut methods: Vec<(String, &mut Method)> = items
            .filter_map(|item| match item {
                Item::Method(method) => Some((method_name(method), method)),
                _ => None,
            })
            .collect();
        for one in side.methods {
            match methods.iter().position(|(name, _)| *name == one.name.name) {
                Some(at) => self.method(methods[at].1, one),
                None => {
                    let what = format!("interface `{}` declares no method", declared.name.name);
                    let names = methods.iter().map(|(name, _)| name.as_str());
                    let error = self.unknown("unknown-method", &what, &one.name, names);
                    let advice = "name an inherited method under the interface that declares it; the accessors of a property are \
                                  get_NAME, put_NAME and putref_NAME";
                    self.diagnostics.push(or_advise(error, advice));
                }
            }
        }
    }

    fn method(&mut self, declared: &mut Method, side: SideMethod) {
        self.add(&mut declared.attributes, side.attributes);
        for (attributes, name) in side.params {
            let found = declared.params.iter_mut().find(|param| param.declarator.name.name == name.name);
            match found {
                Some(param) => self.add(&mut param.attributes, attributes),
                None => {
                    let what = format!("method `{}` has no parameter", declared.name.name);
                    let names = declared.params.iter().map(|param| param.declarator.name.name.as_str());
                    let error = self.unknown("unknown-parameter", &what, &name, names);
                    self.diagnostics.push(or_advise(error, "parameters go by the names that the IDL gives them"));
                }
            }
        }
    }

    fn unknown<'n>(
        &self,
        code: &'static str,
        what: &str,
        name: &Ident,
        known: impl Iterator<Item = &'n str>,
    ) -> Diagnostic {
        let error = Diagnostic::error(code, name.span, format!("{what} `{}`", name.name));
        match most_like(&name.name, known) {
            Some(like) => error.help(format!("did you mean `{like}`?")),
            None => error,
        }
    }

    /// Adds attributes to a declaration. Refuses an attribute that the declaration already has.
    fn add(&mut self, to: &mut Vec<Attribute>, attributes: Vec<Attribute>) {
        for attribute in attributes {
            let (name, span) = (&attribute.name.name, attribute.name.span);
            if FOREIGN.contains(&name.as_str()) {
                let text = format!("[{name}] is an attribute of side files of DCE and MIDL");
                let error = Diagnostic::error("foreign-attribute", span, text);
                self.diagnostics
                    .push(error.help("remove it; it concerns memory and encodings that objects do not have"));
            } else if is_known(name) && ![&OWN[..], &ON_HANDLES].concat().contains(&name.as_str()) {
                let error = Diagnostic::error("idl-attribute", span, format!("[{name}] is for the IDL file only"));
                let error = error.label("every compiler must see it");
                self.diagnostics
                    .push(error.help(format!("write it there; a side file may have [{}]", OWN.join("], ["))));
            } else if let Some(first) = to.iter().find(|other| other.name.name == *name) {
                let text = format!("[{name}] is given twice for one declaration");
                let error = Diagnostic::error("duplicate-attribute", span, text);
                let error = error.related(first.name.span, "given here already");
                let file = self.sources.file(first.span.file).path.display();
                self.diagnostics.push(error.help(format!("remove it here, or in {file}")));
            } else {
                to.push(attribute);
            }
        }
    }
}

/// Adds advice to an error that has none.
fn or_advise(error: Diagnostic, advice: &str) -> Diagnostic {
    if error.help.is_some() { error } else { error.help(advice) }
}
