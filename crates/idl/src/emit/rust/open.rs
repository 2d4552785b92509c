//! Structures that end in a conformant array. They are accessed by their members only, and are
//! owned together with the array's elements.

use super::members::{Named, size_of_array, with_local_names};
use super::names::{getter as getter_name, ident, type_name, value};
use crate::model::{Arith, Field, Model, Struct, Type};
use crate::text::writer::Writer;

/// Returns the member that only counts the elements. `None` if there is none.
fn counter(found: &Struct, size: &Arith) -> Option<usize> {
    let at = size.plain()?.index;
    matches!(found.fields[at].ty, Type::Base(base) if base.is_number()).then_some(at)
}

/// Writes a structure, its constructor and its getters. `form::is_open` selects the structures.
pub(super) fn structure(out: &mut Writer, model: &Model, found: &Struct) {
    let (Some((element, size, _)), Some((last, members))) = (&found.conformant, found.fields.split_last()) else {
        return;
    };
    let (name, array, element) = (type_name(&found.name), ident(&last.name), value(model, element));
    let (offsets, bytes, _) = model.offsets(found);
    let at = offsets.last().copied().unwrap_or(0);
    out.line(format!(
        "/// `struct {}`, which ends in an open array. A value is borrowed, or an [`obvia::Owned`].",
        found.name
    ));
    out.line("#[repr(C)]");
    out.line(format!("pub struct {name} {{"));
    for field in members {
        out.line(format!("{}: {},", ident(&field.name), value(model, &field.ty)));
    }
    out.line(format!("{array}: [{element}; 0],"));
    out.line("}");
    out.line(format!("const _: () = assert!(size_of::<{name}>() == {bytes});"));
    out.line(format!("impl {name} {{"));
    constructor(out, model, found, &element, at);
    for field in members {
        out.line(format!("pub fn {}(&self) -> {} {{", getter_name(&field.name), value(model, &field.ty)));
        out.line(format!("self.{}", ident(&field.name)));
        out.line("}");
    }
    out.line(format!("pub fn {}(&self) -> &[{element}] {{", getter_name(&last.name)));
    out.line(format!("let count = {}.unwrap_or(0);", size_of_array(found, size, Named::Member)));
    out.line("// SAFETY: that many elements follow: `new` and the check of frames ensure it.");
    out.line(format!("unsafe {{ obvia::rt::elements_after(self, {at}, count) }}"));
    out.line("}");
    out.line("}");
    debug(out, found);
    out.line("");
}

/// Writes the constructor. The array's elements have the type `element`, and begin at the offset
/// `at`.
fn constructor(out: &mut Writer, model: &Model, found: &Struct, element: &str, at: u32) {
    let local = with_local_names(model, found);
    let (Some((_, size, _)), Some((last, members))) = (&found.conformant, local.fields.split_last()) else { return };
    let (counter, array) = (counter(found, size), ident(&last.name));
    let given = members.iter().enumerate().filter(|(at, _)| counter != Some(*at));
    let given: String =
        given.map(|(_, field)| format!("{}: {}, ", ident(&field.name), value(model, &field.ty))).collect();
    out.line("/// Fails if the number of elements does not fit the member that counts them, or is not the one that the members");
    out.line("/// imply.");
    out.line("#[allow(clippy::new_ret_no_self)]");
    out.line(format!("pub fn new({given}{array}: &[{element}]) -> obvia::Result<obvia::Owned<Self>> {{"));
    if let Some(counter) = counter.map(|at| &members[at]) {
        let (name, ty) = (ident(&counter.name), value(model, &counter.ty));
        out.line(format!("let {name}: {ty} = obvia::rt::count({array}.len())?;"));
    } else {
        out.line(format!("obvia::rt::check_length({array}.len(), {})?;", size_of_array(&local, size, Named::Local)));
    }
    let set = |(own, local): (&Field, &Field)| {
        let (own, local) = (ident(&own.name), ident(&local.name));
        if own == local { format!("{own}, ") } else { format!("{own}: {local}, ") }
    };
    let names: String = found.fields.iter().zip(members).map(set).collect();
    let own = ident(&found.fields[members.len()].name);
    out.line("// SAFETY: the members give the number of elements that follow.");
    out.line(format!("unsafe {{ obvia::rt::open(Self {{ {names}{own}: [] }}, {at}, {array}) }}"));
    out.line("}");
}

fn debug(out: &mut Writer, found: &Struct) {
    out.line(format!("impl std::fmt::Debug for {} {{", type_name(&found.name)));
    out.line("fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {");
    let fields: String = found
        .fields
        .iter()
        .map(|field| format!(".field({:?}, &self.{}())", field.name, getter_name(&field.name)))
        .collect();
    out.line(format!("f.debug_struct({:?}){fields}.finish()", found.name));
    out.line("}");
    out.line("}");
}
