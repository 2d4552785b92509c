//! Conversions of structures with pointers between the form for users and the form in vtables, for
//! callers and for implementers.

use super::context::{counted_by, counted_by_elided};
use super::expression::{Side, size_text, switch_text};
use super::form::{self, Form, form};
use super::lengths::Length;
use super::names::{base as base_name, binding, type_name};
use super::unions::has_ambiguous_discriminant;
use crate::model::{Arith, Direction, Model, Param, UnionId};
use crate::plan::{MethodPlan, ParamPlan, Passing, element_counts};
use crate::text::writer::Writer;

/// Whether the method changes a value or an array in place, through a pointer that may be null.
pub(super) fn is_changed_in_place(model: &Model, param: &Param) -> bool {
    matches!(form_of(model, param), Some(Form::Optional { changed: true, .. } | Form::Slice { changed: true, .. }))
}

/// Returns an expression that reads an array's length without moving the array, since an
/// `Option<&mut [T]>` is not `Copy`.
fn borrowed(array: &str, changed: bool) -> String {
    if changed { format!("{array}.as_ref()") } else { array.to_owned() }
}

fn form_of(model: &Model, param: &Param) -> Option<Form> {
    form(model, param).ok()
}

/// Writes the caller's preparations for its parameters with pointers: first the checks of
/// arguments, then allocations, and last the code that moves values out of `[in, out]` parameters.
/// So the caller keeps its values if an argument is refused.
pub(super) fn before_call(out: &mut Writer, model: &Model, plan: &MethodPlan<'_>) {
    let graphs: Vec<&Param> =
        plan.params.iter().filter(|param| param.passing == Passing::Graph).map(|param| param.param).collect();
    for param in &graphs {
        check(out, model, plan, param);
    }
    for param in &graphs {
        place(out, model, param);
    }
    for param in graphs.into_iter().filter(|param| param.direction == Direction::InOut) {
        let (name, raw) = (binding(&param.code), &param.code);
        match form_of(model, param) {
            Some(Form::Returned { optional: false, .. }) => out.line(format!("let mut {raw}_raw = {name}.as_ptr();")),
            Some(Form::Returned { .. }) => out.line(format!(
                "let mut {raw}_raw = {name}.take().map_or(std::ptr::null_mut(), obvia::Owned::into_raw);"
            )),
            _ => {}
        }
    }
}

/// Writes the checks of an argument, and the conversion of a union, which may fail.
fn check(out: &mut Writer, model: &Model, plan: &MethodPlan<'_>, param: &Param) {
    let (name, raw) = (binding(&param.code), &param.code);
    match form_of(model, param) {
        Some(Form::Union { id, optional, .. }) => {
            if optional {
                if param.switch.is_some() {
                    out.line(format!("if let Some(selected) = &{name} {{"));
                    check_arm(out, plan, param, "selected", Side::Caller);
                    out.line("}");
                }
                let convert = into_memory(model, id, "selected", Side::Caller);
                out.line(format!(
                    "let {raw}_memory = match {name} {{ Some(selected) => Some({convert}), None => None }};"
                ));
            } else {
                check_arm(out, plan, param, &name, Side::Caller);
                out.line(format!("let {raw}_memory = {};", into_memory(model, id, &name, Side::Caller)));
            }
        }
        Some(Form::PlacedUnion(id)) if param.direction == Direction::InOut => {
            check_arm(out, plan, param, &name, Side::Caller);
            out.line(format!(
                "let mut {raw}_memory = std::mem::MaybeUninit::new({});",
                into_memory(model, id, &format!("*{name}"), Side::Caller)
            ));
        }
        Some(Form::Slice { size, optional, changed, .. }) if !counted_by_elided(plan, &size) => {
            Length::of(&borrowed(&name, changed), optional).check(out, &size_text(plan, &size, Side::Caller));
        }
        Some(Form::Filled { text, size }) => {
            let count = size_text(plan, &size, Side::Caller);
            out.line(format!("let {raw}_count = obvia::rt::place_count::<{text}>({count})?;"));
        }
        _ => {}
    }
}

/// Writes the variable or the allocation that receives a result. Other parameters need none.
fn place(out: &mut Writer, model: &Model, param: &Param) {
    let (name, raw) = (binding(&param.code), &param.code);
    match form_of(model, param) {
        _ if param.direction == Direction::InOut => {}
        Some(Form::PlacedUnion(id)) => {
            let memory = union_memory(model, id);
            out.line(format!("let mut {raw}_memory = std::mem::MaybeUninit::<{memory}<'static>>::zeroed();"));
        }
        Some(Form::Owned(text)) => out.line(format!("let {name} = obvia::rt::place_for::<{text}>()?;")),
        Some(Form::Returned { .. } | Form::ReturnedSlice { .. }) => {
            out.line(format!("let mut {name}: *mut u8 = std::ptr::null_mut();"));
        }
        Some(Form::Filled { text, .. }) => {
            out.line(format!("let {name} = obvia::rt::places_for::<{text}>({raw}_count)?;"));
        }
        _ => {}
    }
}

/// Returns the length of a parameter's array, if the parameter at `at` counts it.
pub(super) fn length(model: &Model, param: &Param, at: usize) -> Option<Length> {
    match form_of(model, param)? {
        Form::Slice { size, optional, changed, .. } if counted_by(&size, at) => {
            Some(Length::of(&borrowed(&binding(&param.code), changed), optional))
        }
        _ => None,
    }
}

/// Returns the expression that converts an argument from the user's form to the vtable's form.
pub(super) fn to_abi(model: &Model, param: &Param) -> String {
    let (name, raw) = (binding(&param.code), &param.code);
    let inout = param.direction == Direction::InOut;
    let pointer = |text: &str| format!("{name}.map_or(std::ptr::null(), |item| {text})");
    let changed = |text: &str| format!("{name}.map_or(std::ptr::null_mut(), |item| {text})");
    match form_of(model, param) {
        Some(Form::Borrowed { by_value: true, .. }) => {
            format!("std::ptr::from_ref({name}).cast::<{}>().read()", form::abi(model, param))
        }
        Some(Form::Borrowed { .. }) => format!("std::ptr::from_ref({name}).cast()"),
        Some(Form::PlacedUnion(_)) => format!("{raw}_memory.as_mut_ptr().cast()"),
        Some(Form::Optional { changed: true, .. }) => changed("std::ptr::from_mut(item).cast()"),
        Some(Form::Slice { changed: true, .. }) => changed("item.as_mut_ptr().cast()"),
        Some(Form::Optional { .. }) => pointer("std::ptr::from_ref(item).cast()"),
        Some(Form::Union { by_value: true, .. }) => {
            format!("(&raw const {raw}_memory).cast::<{}>().read()", form::abi(model, param))
        }
        Some(Form::Union { optional: true, .. }) => {
            format!("{raw}_memory.as_ref().map_or(std::ptr::null(), |item| std::ptr::from_ref(item).cast())")
        }
        Some(Form::Union { .. }) => format!("(&raw const {raw}_memory).cast()"),
        Some(Form::Slice { optional: true, .. } | Form::Text(_)) => pointer("item.as_ptr().cast()"),
        Some(Form::Slice { .. }) => format!("{name}.as_ptr().cast()"),
        Some(Form::Owned(_)) if inout => format!("{name}.as_ptr().cast()"),
        Some(Form::Owned(_) | Form::Filled { .. }) => format!("{name}.cast()"),
        Some(Form::Returned { .. }) if inout => format!("(&raw mut {raw}_raw).cast()"),
        Some(Form::Returned { .. } | Form::ReturnedSlice { .. }) => format!("(&raw mut {name}).cast()"),
        None => String::new(),
    }
}

/// Writes the code that takes ownership of returned data, also after a failed call.
pub(super) fn after_call(out: &mut Writer, model: &Model, plan: &MethodPlan<'_>, param: &Param) {
    let (name, raw) = (binding(&param.code), &param.code);
    let inout = param.direction == Direction::InOut;
    match form_of(model, param) {
        Some(Form::Owned(text)) if !inout => {
            out.line("// SAFETY: the place was made above, and by COM's rules the caller owns the data behind it.");
            out.line(format!("let {raw}_owned = unsafe {{ obvia::rt::take_place::<{text}>({name}, result) }};"));
        }
        Some(Form::Filled { text, .. }) => {
            let count = match element_counts(param) {
                Some((_, Some(length))) => {
                    format!("{}.unwrap_or(0).min({raw}_count)", size_text(plan, length, Side::Caller))
                }
                _ => format!("{raw}_count"),
            };
            out.line("// SAFETY: as above.");
            out.line(format!(
                "let {raw}_owned = unsafe {{ obvia::rt::take_places::<{text}>({name}, {count}, result) }};"
            ));
        }
        Some(Form::PlacedUnion(id)) if inout => {
            out.line("if result.0 >= 0 {");
            out.line("// SAFETY: the method succeeded, so the discriminant tells the union's arm.");
            out.line(format!("*{name} = unsafe {{ {} }};", from_memory(model, plan, id, param)));
            out.line("}");
        }
        Some(Form::Returned { optional: false, .. }) if inout => {
            out.line(
                "// SAFETY: by COM's rules, the caller owns the value that the method stored in place of the previous one.",
            );
            out.line(format!("unsafe {{ obvia::rt::put_owned({name}, {raw}_raw) }};"));
        }
        Some(Form::Returned { .. }) if inout => {
            out.line("// SAFETY: by COM's rules, the caller owns the value that the method stored.");
            out.line(format!("*{name} = unsafe {{ obvia::Owned::adopt({raw}_raw) }};"));
        }
        _ => {}
    }
}

/// Returns the expression for a result, in the form that users receive.
pub(super) fn owned(model: &Model, plan: &MethodPlan<'_>, param: &Param) -> String {
    let (name, raw) = (binding(&param.code), &param.code);
    let there = "ok_or(obvia::rt::code::E_POINTER)?";
    match form_of(model, param) {
        Some(Form::Returned { optional: true, .. }) => format!("unsafe {{ obvia::Owned::adopt({name}) }}"),
        Some(Form::Returned { .. }) => format!("unsafe {{ obvia::Owned::adopt({name}) }}.{there}"),
        Some(Form::PlacedUnion(id)) => format!("unsafe {{ {} }}", from_memory(model, plan, id, param)),
        Some(Form::ReturnedSlice { size, .. }) => {
            let count = size_text(plan, &size, Side::Caller);
            format!("unsafe {{ obvia::OwnedSlice::adopt({name}, {count}.unwrap_or(0)) }}")
        }
        _ => format!("{raw}_owned.{there}"),
    }
}

/// Writes the code that saves the number of elements for which the caller has room, since the
/// method may change the parameter with this number.
pub(super) fn room(out: &mut Writer, model: &Model, plan: &MethodPlan<'_>, param: &Param) {
    if let Some(Form::Filled { size, .. }) = form_of(model, param) {
        let count = size_text(plan, &size, Side::Abi);
        if count.contains("unsafe") {
            out.line("// SAFETY: by COM's rules, pointer parameters are as the interface describes them.");
        }
        out.line(format!("let {}_room = {count}.unwrap_or(0);", param.code));
    }
}

/// Returns the expression that converts an argument from the vtable's form to the form of the
/// trait's method. `None` for results.
pub(super) fn from_abi(model: &Model, plan: &MethodPlan<'_>, param: &Param) -> Option<String> {
    let name = binding(&param.code);
    let inout = param.direction == Direction::InOut;
    Some(match form_of(model, param)? {
        Form::Borrowed { by_value: true, .. } => format!("&{name}"),
        Form::Borrowed { text, .. } => format!("&*{name}.cast::<{text}>()"),
        Form::PlacedUnion(id) if inout => {
            let tag = switch_text(plan, param, Side::Abi).unwrap_or_default();
            format!("(&*{name}.cast::<{}<'_>>()).get({tag})", union_memory(model, id))
        }
        Form::Optional { text, changed } => {
            format!("{name}.cast::<{text}>().{}()", if changed { "as_mut" } else { "as_ref" })
        }
        Form::Union { id, optional, by_value } => union_from_abi(model, plan, param, (id, optional, by_value)),
        Form::Slice { text, size, optional, changed } => {
            let count = format!("{}.unwrap_or(0)", size_text(plan, &size, Side::Abi));
            let function = if changed { "slice_mut" } else { "slice" };
            let slice = format!("obvia::rt::{function}({name}.cast::<{text}>(), {count})");
            if optional { format!("(!{name}.is_null()).then(|| {slice})") } else { slice }
        }
        Form::Text(base) => {
            let function = if base.size() == 2 { "wide" } else { "text" };
            format!("obvia::rt::{function}({name}.cast::<{}>())", base_name(base))
        }
        Form::Owned(text) if inout => format!(
            "match obvia::rt::Lifted::<{text}>::new({name}.cast()) {{ Ok(item) => item, Err(error) => return obvia::rt::fail(error) }}"
        ),
        Form::Returned { text, optional: false } if inout => format!(
            "match obvia::rt::Held::<{text}>::new({name}.cast()) {{ Some(item) => item, None => return obvia::rt::code::E_POINTER }}"
        ),
        Form::Returned { text, .. } if inout => {
            format!("obvia::Owned::<{text}>::adopt({name}.cast::<*mut u8>().replace(std::ptr::null_mut()))")
        }
        _ => return None,
    })
}

/// Returns the type of a union in memory.
fn union_memory(model: &Model, id: UnionId) -> String {
    let union = &model.unions[id.0];
    format!("{}{}", type_name(&union.name), if union.encapsulated.is_some() { "Memory" } else { "Raw" })
}

/// Returns the expression that converts a user's union to its form in memory.
fn into_memory(model: &Model, id: UnionId, value: &str, side: Side) -> String {
    let union = &model.unions[id.0];
    let name = type_name(&union.name);
    match (&union.encapsulated, has_ambiguous_discriminant(union)) {
        (None, _) => format!("{name}::raw({value})"),
        (Some(_), false) => format!("{name}Memory::from({value})"),
        (Some(_), true) if side == Side::Caller => format!("{name}Memory::try_from({value})?"),
        (Some(_), true) => format!(
            "match {name}Memory::try_from({value}) {{ Ok(memory) => memory, Err(error) => return obvia::rt::fail(error) }}"
        ),
    }
}

/// Returns the expression that reads a union which a method left in the caller's memory.
fn from_memory(model: &Model, plan: &MethodPlan<'_>, id: UnionId, param: &Param) -> String {
    let is_alone = model.unions[id.0].encapsulated.is_some();
    let tag = if is_alone { None } else { switch_text(plan, param, Side::Caller) };
    format!("(*{}_memory.as_ptr()).get({})", param.code, tag.unwrap_or_default())
}

/// Writes a check that a union's arm matches its discriminant.
fn check_arm(out: &mut Writer, plan: &MethodPlan<'_>, param: &Param, value: &str, side: Side) {
    // An encapsulated union is checked in its conversion.
    let Some(tag) = switch_text(plan, param, side) else { return };
    out.line(format!("if !{value}.fits({tag}) {{"));
    let error = "obvia::rt::wrong_arm()";
    out.line(if side == Side::Caller {
        format!("return Err({error});")
    } else {
        format!("return obvia::rt::fail({error});")
    });
    out.line("}");
}

fn union_from_abi(
    model: &Model,
    plan: &MethodPlan<'_>,
    param: &Param,
    (id, optional, by_value): (UnionId, bool, bool),
) -> String {
    let union = &model.unions[id.0];
    let name = binding(&param.code);
    let tag = if union.encapsulated.is_some() { None } else { switch_text(plan, param, Side::Abi) };
    let tag = tag.unwrap_or_default();
    let ty = format!("{}<'_>", union_memory(model, id));
    if by_value {
        format!("{name}.get({tag})")
    } else if optional {
        format!("{name}.cast::<{ty}>().as_ref().map(|selected| selected.get({tag}))")
    } else {
        format!("(&*{name}.cast::<{ty}>()).get({tag})")
    }
}

/// Writes the statement that gives a result to the caller.
pub(super) fn give(out: &mut Writer, model: &Model, plan: &MethodPlan<'_>, param: &Param, value: &str) {
    let name = binding(&param.code);
    let text = match form_of(model, param) {
        Some(Form::Owned(_)) => format!("obvia::rt::lower({value}, {name}.cast())"),
        Some(Form::Returned { optional: true, .. }) => {
            format!("{name}.cast::<*mut u8>().write({value}.map_or(std::ptr::null_mut(), obvia::Owned::into_raw))")
        }
        Some(Form::Returned { .. }) => format!("{name}.cast::<*mut u8>().write({value}.into_raw())"),
        Some(Form::ReturnedSlice { .. }) => {
            format!("{name}.cast::<*mut u8>().write({value}.into_raw())")
        }
        Some(Form::PlacedUnion(id)) => return put_union(out, model, plan, id, param, value),
        Some(Form::Filled { .. }) => {
            let raw = &param.code;
            out.line("// SAFETY: by COM's rules, the caller has room for that many elements.");
            out.line(format!(
                "if let Err(error) = unsafe {{ obvia::rt::lower_slice({value}, {name}.cast(), {raw}_room) }} {{"
            ));
            out.line("return obvia::rt::fail(error);");
            out.line("}");
            return;
        }
        _ => return,
    };
    out.line("// SAFETY: by COM's rules, the caller's pointer is writable.");
    out.line(format!("unsafe {{ {text} }};"));
}

/// The number of elements of a result.
pub(super) enum Elements {
    /// The number that an expression over the parameters gives.
    Counted(Arith),
    /// The number that the caller has room for.
    Room,
    /// At most the number that the caller has room for. Zeros fill the unused room.
    AtMostRoom,
}

/// Returns the number of elements of a result that the method allocates or writes to the caller's
/// memory. `None` for other parameters.
pub(super) fn elements_of_result(model: &Model, param: &Param) -> Option<Elements> {
    Some(match form_of(model, param)? {
        Form::ReturnedSlice { size, .. } => Elements::Counted(size),
        Form::Filled { .. } => match element_counts(param) {
            Some((_, Some(length))) => Elements::Counted(length.clone()),
            _ if form::is_never_null(model, param) => Elements::Room,
            _ => Elements::AtMostRoom,
        },
        _ => return None,
    })
}

/// Writes the statement that stores a union in the caller's memory.
fn put_union(out: &mut Writer, model: &Model, plan: &MethodPlan<'_>, id: UnionId, param: &Param, value: &str) {
    check_arm(out, plan, param, value, Side::Abi);
    let (name, raw, memory) = (binding(&param.code), &param.code, union_memory(model, id));
    out.line(format!("let {raw}_memory = {};", into_memory(model, id, value, Side::Abi)));
    out.line("// SAFETY: by COM's rules, the caller's pointer is writable.");
    out.line(format!("unsafe {{ {name}.cast::<{memory}<'_>>().write({raw}_memory) }};"));
}

/// Whether a parameter is a union in the caller's memory. The discriminant of this union is in
/// another parameter. So the union is read before the other parameters are borrowed, and is written
/// after the other parameters.
pub(super) fn is_placed_union(model: &Model, param: &ParamPlan<'_>) -> bool {
    param.passing == Passing::Graph && matches!(form_of(model, param.param), Some(Form::PlacedUnion(_)))
}

/// Whether a parameter's value is moved out of the caller's memory before the call, and moved back
/// afterwards.
pub(super) fn is_taken(model: &Model, param: &Param) -> bool {
    param.direction == Direction::InOut && matches!(form_of(model, param), Some(Form::Returned { optional: true, .. }))
}

/// Writes an [in, out] parameter back to the caller's memory, also after a failed call.
pub(super) fn give_back(out: &mut Writer, model: &Model, plan: &MethodPlan<'_>, param: &Param) {
    let (name, raw) = (binding(&param.code), &param.code);
    if param.direction != Direction::InOut {
        return;
    }
    let text = match form_of(model, param) {
        Some(Form::PlacedUnion(id)) => {
            out.line("if result.0 >= 0 {");
            put_union(out, model, plan, id, param, &format!("{raw}_given"));
            return out.line("}");
        }
        Some(Form::Returned { optional: true, .. }) => {
            format!("{name}.cast::<*mut u8>().write({raw}_given.map_or(std::ptr::null_mut(), obvia::Owned::into_raw))")
        }
        _ => return,
    };
    out.line("// SAFETY: by COM's rules, the caller's pointer is writable.");
    out.line(format!("unsafe {{ {text} }};"));
}
