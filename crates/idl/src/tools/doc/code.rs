//! Declarations as code, whose types are links.

use super::html::Html;
use super::items::{Items, Kind, Place, own_place, place_of};
use crate::model::Kind as Access;
use crate::model::automation::element_name;
use crate::model::canonical::{arith, operand_text, optional, pointer_attributes, varying_text};
use crate::model::typelib::flags;
use crate::model::{
    Direction, Field, Memory, Method, Model, Object, Param, Pointer, PointerClass, Returns, Transfer, Type, Typedef,
};
use crate::text::source::Span;

/// A compilation whose declarations are written, and the places to which links lead.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) items: &'a Items<'a>,
    /// The index of the compilation.
    pub(super) compilation: usize,
    pub(super) model: &'a Model,
}

impl<'a> Context<'a> {
    /// Returns the context of a compilation.
    pub(super) fn of(items: &'a Items<'a>, compilation: usize) -> Self {
        Self { items, compilation, model: &items.compilations[compilation].model }
    }

    /// Returns the comment of the declaration at a place of the source. Empty if there is none.
    pub(super) fn comment(self, span: Span) -> String {
        self.items.comments[self.compilation].at(span)
    }

    /// Adds the name of a declaration, as a link unless a built-in file declares it.
    pub(super) fn name(self, html: &mut Html, place: Option<Place>, name: &str) {
        match place.and_then(|place| self.items.href(self.compilation, place)) {
            Some(href) => html.link(href, name),
            None => html.text(name),
        };
    }

    /// Adds a type without pointers and dimensions.
    fn base(self, html: &mut Html, ty: &Type) {
        let model = self.model;
        let (word, name) = match ty {
            Type::Base(base) => ("", base.idl()),
            Type::Enum(id) => ("", model.enums[id.0].name.as_str()),
            Type::Struct(id) => ("struct ", model.structs[id.0].name.as_str()),
            Type::Union(id) => ("union ", model.unions[id.0].name.as_str()),
            Type::Interface(Object::Known(id)) => ("", model.interfaces[id.0].name.as_str()),
            Type::Interface(_) => ("", "IUnknown"),
            Type::Void | Type::Fixed(..) | Type::Pointer(_) => ("", "void"),
        };
        html.markup(word);
        self.name(html, place_of(ty), name);
    }

    /// Adds the declaration of a name with a type in C's form: `long *name[4]`. `named` is the
    /// index of the typedef by which the type is written.
    pub(super) fn declaration(self, html: &mut Html, ty: &Type, named: Option<usize>, name: &str) {
        let typedef = named.map(|at| (at, &self.model.typedefs[at]));
        let (mut inner, mut text, mut is_pointer) = (ty, name.to_owned(), false);
        let found = loop {
            if let Some((at, typedef)) = typedef.filter(|(_, typedef)| typedef.ty == *inner) {
                break Some((at, typedef));
            }
            match inner {
                Type::Fixed(element, count) => {
                    text = if is_pointer { format!("({text})[{count}]") } else { format!("{text}[{count}]") };
                    (inner, is_pointer) = (element, false);
                }
                Type::Pointer(pointer) => {
                    text.insert(0, '*');
                    (inner, is_pointer) = (&pointer.to, true);
                }
                _ => break None,
            }
        };
        let is_object = matches!(inner, Type::Interface(_)) && found.is_none_or(|(_, typedef)| typedef.is_interface);
        if is_object {
            text.insert(0, '*');
        }
        match found {
            Some((at, typedef)) => self.typedef_name(html, at, typedef),
            None => self.base(html, inner),
        }
        if !text.is_empty() {
            html.text(" ").text(&text);
        }
    }

    /// Adds the name of a typedef. The link leads to the type if the type has no other name.
    fn typedef_name(self, html: &mut Html, at: usize, typedef: &Typedef) {
        let place = (Kind::Typedef, at);
        let is_listed = self.items.at(self.compilation, place).is_some();
        self.name(html, if is_listed { Some(place) } else { own_place(self.model, typedef) }, &typedef.name);
    }

    /// Adds a typedef without the word `typedef`.
    pub(super) fn typedef(self, html: &mut Html, of: &Typedef) {
        if let (true, Type::Interface(Object::Known(id))) = (of.is_interface, &of.ty) {
            html.markup("interface ");
            self.base(html, &Type::Interface(Object::Known(*id)));
            html.text(" ").within("<b>", &of.name, "</b>");
            return;
        }
        html.text(&bracketed(&type_attributes(&of.ty, &[], PointerClass::Unique)));
        self.declaration(html, &of.ty, None, &of.name);
    }

    /// Adds the declaration of `name` with the type of a parameter, without attributes. `name` may
    /// be empty.
    pub(super) fn param(self, html: &mut Html, param: &Param, name: &str) {
        let Some(memory) = param.memory else {
            return self.declaration(html, param.declared(), param.named, name);
        };
        match memory {
            Memory::Bstr => html.text("BSTR"),
            Memory::Variant => html.text("VARIANT"),
            Memory::SafeArray(element) => html.text("SAFEARRAY(").text(element_name(element)).text(")"),
        };
        let star = if memory.is_by_value(param) { "" } else { "*" };
        if !(star.is_empty() && name.is_empty()) {
            html.text(" ").text(star).text(name);
        }
    }

    /// Adds the declaration of a method.
    pub(super) fn method(self, html: &mut Html, method: &Method) {
        let names: Vec<&str> = method.params.iter().map(|param| param.name.as_str()).collect();
        let mut params = method.params.as_slice();
        let attributes = method_attributes(method);
        html.text(&bracketed(&attributes));
        match (method.returns, params.split_last()) {
            (Returns::Value, Some((last, rest))) => {
                params = rest;
                // In the model the last parameter points to a directly returned value.
                let returned = match &last.ty {
                    Type::Pointer(pointer) => &pointer.to,
                    ty => ty,
                };
                self.declaration(html, returned, last.named, "");
            }
            (Returns::Nothing, _) => _ = html.markup("void"),
            _ => _ = html.markup("HRESULT"),
        }
        // In the source, the methods of a property have the property's name.
        let name = if method.member.kind == Access::Method { &method.name } else { &method.member.name };
        html.text(" ").within("<b>", name, "</b>").markup("(");
        for (at, param) in params.iter().enumerate() {
            html.markup(if at > 0 { ",\n    " } else { "\n    " });
            html.text(&bracketed(&param_attributes(param, &names)));
            self.param(html, param, &param.name);
        }
        html.markup(")");
    }

    /// Adds a member of a structure or an arm of a union. `names` are the members that expressions
    /// read.
    pub(super) fn field(self, html: &mut Html, field: &Field, names: &[&str]) {
        let mut attributes: Vec<String> = Vec::new();
        attributes.extend(field.switch.as_ref().map(|switch| format!("switch_is({})", arith(switch, names))));
        attributes.extend(field.varying.as_ref().map(|varying| varying_text(varying, names)));
        attributes.extend(field.range.map(|(least, most)| format!("range({least}, {most})")));
        attributes.extend(type_attributes(&field.ty, names, PointerClass::Unique));
        html.text(&bracketed(&attributes));
        self.declaration(html, &field.ty, field.named, &field.name);
    }
}

/// Returns attributes in brackets, followed by a blank. Empty without attributes.
pub(super) fn bracketed(attributes: &[String]) -> String {
    if attributes.is_empty() { String::new() } else { format!("[{}] ", attributes.join(", ")) }
}

fn method_attributes(method: &Method) -> Vec<String> {
    let mut attributes = Vec::new();
    let mut add = |is_there: bool, text: &str| attributes.extend(is_there.then(|| text.to_owned()));
    add(method.oneway, "oneway");
    add(method.idempotent, "idempotent");
    add(method.local, "local");
    add(method.member.kind == Access::Get, "propget");
    add(method.member.kind == Access::Put, "propput");
    add(method.member.kind == Access::PutRef, "propputref");
    attributes.extend(flag_names(method.member.flags, &flags::ON_FUNCTIONS));
    if let Some(id) = method.member.id {
        attributes.insert(0, format!("id({id})"));
    }
    attributes
}

/// Returns the attributes that a declaration's flags represent. `table` has the flags for
/// declarations of this kind.
pub(super) fn flag_names(of: u32, table: &[(&str, u32)]) -> Vec<String> {
    table.iter().filter(|(_, flag)| of & flag != 0).map(|(name, _)| (*name).to_owned()).collect()
}

/// Returns the attributes of a parameter in the notation of IDL.
pub(super) fn param_attributes(param: &Param, names: &[&str]) -> Vec<String> {
    let direction = match param.direction {
        Direction::In => "in",
        Direction::Out => "out",
        Direction::InOut => "in, out",
    };
    let mut attributes = vec![direction.to_owned()];
    attributes.extend(param.retval.then(|| "retval".to_owned()));
    attributes.extend(optional(param));
    attributes.extend(param.switch.as_ref().map(|switch| format!("switch_is({})", arith(switch, names))));
    attributes.extend(param.varying.as_ref().map(|varying| varying_text(varying, names)));
    attributes.extend(param.utf8.then(|| "utf8".to_owned()));
    attributes.extend(match param.transfer {
        Transfer::Frame => None,
        Transfer::ZeroCopy => Some("zero_copy".to_owned()),
        Transfer::Map => Some("map".to_owned()),
        Transfer::Lend(room) => Some(format!("lend({room})")),
    });
    attributes.extend(param.range.map(|(least, most)| format!("range({least}, {most})")));
    if param.memory.is_none() {
        attributes.extend(type_attributes(param.declared(), names, PointerClass::Ref));
    }
    attributes
}

/// Returns the attributes that a type's pointers and objects need. `usual` is the default class of
/// the outermost pointer.
fn type_attributes(ty: &Type, names: &[&str], usual: PointerClass) -> Vec<String> {
    let (mut inner, mut levels): (&Type, Vec<&Pointer>) = (ty, Vec::new());
    loop {
        inner = match inner {
            Type::Fixed(element, _) => element,
            Type::Pointer(pointer) => {
                levels.push(pointer);
                &pointer.to
            }
            _ => break,
        };
    }
    let mut attributes = pointer_attributes(&levels, usual, names);
    if let Type::Interface(Object::IidIs(operand)) = inner {
        attributes.push(format!("iid_is({})", operand_text(operand, names)));
    }
    attributes
}
