//! The places that use a declaration.

use super::code::Context;
use super::html::Html;
use super::items::{Item, Items, Kind, Place, place_of, place_of_declared, place_of_offered};
use super::names::{member_anchors, method_anchors};
use crate::model::{DispMembers, InterfaceId, Method, Model, Type, all_arms};

/// The uses of all declarations.
#[derive(Debug)]
pub(super) struct Uses {
    /// The uses of each declaration, by its index.
    of: Vec<Vec<Use>>,
}

/// A use of a declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Use {
    /// The index of the declaration that contains the use.
    by: usize,
    /// The method that contains the use, and the method's anchor.
    method: Option<(String, String)>,
    relation: &'static str,
}

impl Uses {
    /// Collects the uses of all declarations.
    pub(super) fn of(items: &Items<'_>) -> Self {
        let mut uses = Self { of: vec![Vec::new(); items.all.len()] };
        for (by, item) in items.all.iter().enumerate() {
            let model = &items.compilation(item).model;
            let mut found = Found { items, item, uses: &mut uses, by, method: None };
            found.declaration(model, item.place);
        }
        uses
    }

    /// Adds the list of a declaration's uses, with a heading. Adds nothing if there are no uses.
    pub(super) fn write(&self, html: &mut Html, context: Context<'_>, item: &Item) {
        self.list(html, context, item, "<h2>Used by</h2>\n");
    }

    /// Adds the list of the uses of a declaration that has no page of its own.
    pub(super) fn write_within(&self, html: &mut Html, context: Context<'_>, item: &Item) {
        self.list(html, context, item, "<p>Used by:</p>\n");
    }

    fn list(&self, html: &mut Html, context: Context<'_>, item: &Item, heading: &'static str) {
        let items = context.items;
        let Some(at) = items.at(item.compilation, item.place) else { return };
        let found = &self.of[at];
        if found.is_empty() {
            return;
        }
        html.markup(heading).markup("<ul class=\"uses\">\n");
        for one in found {
            let by = &items.all[one.by];
            html.markup("<li>").markup(by.place.0.word()).markup(" ");
            match &one.method {
                None => html.link(&by.href, &by.name),
                Some((name, anchor)) => html.link(&format!("{}#{anchor}", by.href), &format!("{}::{name}", by.name)),
            };
            html.markup(one.relation).markup("</li>\n");
        }
        html.markup("</ul>\n");
    }
}

/// The search for the declarations that one declaration uses.
struct Found<'f, 'c> {
    items: &'f Items<'c>,
    item: &'f Item,
    uses: &'f mut Uses,
    by: usize,
    method: Option<(String, String)>,
}

impl Found<'_, '_> {
    fn declaration(&mut self, model: &Model, (kind, at): Place) {
        match kind {
            Kind::Library => {
                let declared = model.libraries[at].declared.iter();
                declared.for_each(|one| self.add(place_of_declared(*one), " lists it"));
            }
            Kind::Coclass => {
                let places = model.coclasses[at].interfaces.iter().filter_map(|(one, _)| place_of_offered(*one));
                places.for_each(|place| self.add(place, ""));
            }
            Kind::Interface => self.interface(model, InterfaceId(at)),
            Kind::Dispinterface => self.dispinterface(model, at),
            Kind::Struct => {
                let found = &model.structs[at];
                for field in &found.fields {
                    self.ty(model, &field.ty, field.named);
                    field.bits.iter().for_each(|part| self.ty(model, &part.ty, None));
                }
                if let Some((element, ..)) = &found.conformant {
                    self.ty(model, element, None);
                }
            }
            Kind::Union => {
                let found = &model.unions[at];
                self.ty(model, &found.tag, None);
                all_arms(found).for_each(|field| self.ty(model, &field.ty, field.named));
            }
            Kind::Typedef => self.ty(model, &model.typedefs[at].ty, None),
            Kind::Enum | Kind::Const => {}
        }
    }

    fn interface(&mut self, model: &Model, id: InterfaceId) {
        let found = &model.interfaces[id.0];
        if let Some(base) = found.base {
            self.add((Kind::Interface, base.0), " extends it");
        }
        for (method, anchor) in found.methods.iter().zip(method_anchors(found)) {
            self.method = Some((method.name.clone(), anchor));
            let methods = std::iter::once(method).chain(method.travels_as.as_deref());
            for param in methods.flat_map(|method: &Method| &method.params) {
                self.ty(model, &param.ty, param.named);
            }
        }
    }

    fn dispinterface(&mut self, model: &Model, at: usize) {
        match &model.dispinterfaces[at].members {
            None => {}
            Some(DispMembers::Of(id)) => self.add((Kind::Interface, id.0), " takes its members from it"),
            Some(DispMembers::Own(properties, methods)) => {
                for (list, are_properties) in [(properties, true), (methods, false)] {
                    for (member, anchor) in list.iter().zip(member_anchors(list, are_properties)) {
                        self.method = Some((member.member.name.clone(), anchor));
                        for param in member.params.iter().chain(&member.returns) {
                            self.ty(model, &param.ty, param.named);
                        }
                    }
                }
            }
        }
    }

    fn ty(&mut self, model: &Model, ty: &Type, named: Option<usize>) {
        if let Some(typedef) = named {
            self.add((Kind::Typedef, typedef), "");
        }
        if let Some(place) = place_of(model.innermost(ty)) {
            self.add(place, "");
        }
    }

    fn add(&mut self, place: Place, relation: &'static str) {
        let Some(at) = self.items.at(self.item.compilation, place).filter(|at| *at != self.by) else { return };
        let found = Use { by: self.by, method: self.method.clone(), relation };
        let list = &mut self.uses.of[at];
        if list.last() != Some(&found) {
            list.push(found);
        }
    }
}
