//! The frames of an interface's methods, for proxies, stubs and tables.

use super::names::{pointer_to, type_name};
use super::suffix;
use crate::model::{Arith, Model, Type};
use crate::plan::{MethodPlan, ParamPlan, Passing, kind_of, text_kind};
use crate::text::writer::Writer;

/// The data that all parts of an interface's code share.
pub(super) struct Context<'a> {
    pub(super) model: &'a Model,
    /// The interface's name.
    pub(super) name: String,
    /// The element types of the interface's arrays, by type number: see [`kind_of`].
    pub(super) kinds: Vec<Type>,
    /// Whether any method of the interface passes a context handle. If so, every method may use the
    /// state that belongs to a handle, and every stub notes the end of that use.
    pub(super) has_contexts: bool,
}

impl Context<'_> {
    /// Returns the type number of an array with these elements.
    pub(super) fn kind(&self, element: &Type) -> u32 {
        kind_of(&self.kinds, element)
    }

    /// Returns the name of a function or a structure that is generated for a method's plan.
    pub(super) fn made(&self, plan: &MethodPlan<'_>, suffix: &str) -> String {
        made(&self.name, plan, suffix)
    }

    /// Returns the C type of the structure at the beginning of a method's request or reply.
    pub(super) fn block(&self, plan: &MethodPlan<'_>, request: bool) -> String {
        format!("struct {}", self.made(plan, if request { suffix::REQUEST } else { suffix::REPLY }))
    }

    pub(super) fn proxy(&self, plan: &MethodPlan<'_>) -> String {
        self.made(plan, suffix::PROXY)
    }

    pub(super) fn stub(&self, plan: &MethodPlan<'_>) -> String {
        self.made(plan, suffix::STUB)
    }
}

/// Returns the name of a function or a structure that is generated for a method's plan. The names
/// for a plan with arrays by reference have a suffix of their own.
pub(super) fn made(interface: &str, plan: &MethodPlan<'_>, suffix: &str) -> String {
    let form = if plan.refers() { suffix::BY_REFERENCE } else { "" };
    format!("{interface}_{}{form}{suffix}", plan.method.name)
}

/// An array or a string that follows a block in a frame.
pub(super) struct Array<'p, 'a> {
    pub(super) param: &'p ParamPlan<'a>,
    pub(super) element: &'p Type,
    /// The number of elements that there is room for. `None` for strings, which end at their zero.
    pub(super) size: Option<&'p Arith>,
    pub(super) length: Option<&'p Arith>,
    /// Whether the array may be null.
    pub(super) is_optional: bool,
}

impl Array<'_, '_> {
    /// Returns the type number of a string. `None` for an array.
    pub(super) fn text_kind(&self) -> Option<u32> {
        match self.element {
            Type::Base(base) if self.size.is_none() => Some(text_kind(*base)),
            _ => None,
        }
    }
}

/// Returns the arrays and strings that follow a request's or a reply's block, in the order of the
/// frame.
pub(super) fn arrays<'p, 'a>(plan: &'p MethodPlan<'a>, request: bool) -> Vec<Array<'p, 'a>> {
    let of = |param: &'p ParamPlan<'a>| match (&param.passing, &param.param.ty) {
        (Passing::Array { element, size, length }, _) => {
            Some(Array { param, element, size: Some(size), length: length.as_ref(), is_optional: false })
        }
        (Passing::Text { optional, .. }, Type::Pointer(pointer)) => {
            Some(Array { param, element: &pointer.to, size: None, length: None, is_optional: *optional })
        }
        (Passing::OutText(_), Type::Pointer(outer)) => match &outer.to {
            Type::Pointer(inner) => {
                Some(Array { param, element: &inner.to, size: None, length: None, is_optional: true })
            }
            _ => None,
        },
        _ => None,
    };
    plan.ordered(request).into_iter().filter_map(of).collect()
}

/// Returns the type of the value that a block holds for a parameter. `None` if the block does not
/// hold the parameter's value.
pub(super) fn block_type<'p>(param: &'p ParamPlan<'_>) -> Option<&'p Type> {
    match &param.passing {
        Passing::Value(ty) | Passing::RefPointer(ty) => Some(ty),
        _ => None,
    }
}

/// The names of the variables for an array's position and count, and the array's element type.
pub(super) type Named<'p> = (String, String, &'p Type);

/// Declares the positions of the arrays that follow a block, and returns the expression for the end
/// of the last array.
pub(super) fn positions(out: &mut Writer, context: &Context<'_>, block: &str, arrays: &[Named<'_>]) -> String {
    arrays.iter().fold(block_end(block), |end, one| position(out, context, &end, one, false))
}

/// Returns the expression for the position of the first array's header.
pub(super) fn block_end(block: &str) -> String {
    format!("OBVIA_ALIGN(sizeof({block}))")
}

/// Declares the position of an array that follows the position `end`, and returns the expression
/// for the array's end.
pub(super) fn position(
    out: &mut Writer,
    context: &Context<'_>,
    end: &str,
    (at, count, element): &Named<'_>,
    is_text: bool,
) -> String {
    out.line(format!("const uint64_t {at} = {end} + 8;"));
    let bytes = format!("{count} * sizeof({})", type_name(context.model, element));
    if is_text { format!("obvia_text_end({at}, {bytes})") } else { format!("{at} + OBVIA_ALIGN({bytes})") }
}

/// Writes the layout of the frames as a comment.
pub(super) fn layout_table(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    let how = if plan.refers() { ", arrays by reference" } else { "" };
    out.line(format!("/* {}{how}: opnum {}", plan.method.name, plan.opnum));
    for (what, length) in [("request", plan.request_block), ("reply", plan.reply_block)] {
        let request = what == "request";
        let place = |param: &ParamPlan<'_>| {
            let at = if request { param.request } else { param.reply }?;
            let ty = block_type(param).map_or_else(|| "->".to_owned(), |ty| type_name(context.model, ty));
            Some(format!("{at} {} {ty}", param.param.name))
        };
        let places: Vec<String> = plan.ordered(request).into_iter().filter_map(place).collect();
        let places = if places.is_empty() { "nothing".to_owned() } else { places.join(", ") };
        out.line(format!(" *   {what:7} {length:3} bytes: {places}"));
    }
    out.line(" */");
}

pub(super) fn leave(value: &str) -> Vec<String> {
    vec![format!("return {value};")]
}

/// Returns the statements by which a proxy returns a failure that it has found itself. The
/// statements also clear the text of an earlier failure, because that text does not describe the
/// new failure.
pub(super) fn fail(code: &str) -> Vec<String> {
    leave(&format!("obvia_fail_plain({code})"))
}

/// Returns the expression for a pointer to a position in a frame.
pub(super) fn place(context: &Context<'_>, element: &Type, constant: bool, frame: &str, at: &str) -> String {
    let pointer = pointer_to(context.model, element, "");
    format!("OBVIA_AT({}{pointer}, {frame}, {at})", if constant { "const " } else { "" })
}
