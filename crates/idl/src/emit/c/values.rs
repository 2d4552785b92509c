//! Values without pointers: the checks of received bytes, and stores that do not copy padding.

use super::context::{block_type, fail};
use super::names::{binding, flat, ident, integer, type_ident, type_name};
use super::suffix::{IS_VALID, STORE};
use crate::model::{Arith, Base, Enum, EnumId, Model, StructId, Type};
use crate::plan::{MethodPlan, ParamPlan, Passing};
use crate::text::source::Span;
use crate::text::writer::Writer;
use obvia_ndr::flat::FRAME_MAX;
use std::collections::BTreeSet;

/// Whether some bit patterns of a type are invalid.
pub(super) fn is_checked(model: &Model, ty: &Type) -> bool {
    match flat(ty).0 {
        Type::Base(base) => *base == Base::Boolean,
        Type::Enum(id) => !model.enums[id.0].is_any(),
        Type::Struct(id) => model.structs[id.0].fields.iter().any(|field| is_checked(model, &field.ty)),
        _ => false,
    }
}

/// Whether one load reads the whole value. Other values are copied from their place.
pub(super) fn is_loaded(ty: &Type) -> bool {
    !matches!(ty, Type::Fixed(..) | Type::Struct(_) | Type::Base(Base::Guid | Base::Context))
}

/// The maximum number of bytes on the stack for the values of one call, in a proxy or a stub. More
/// bytes could exceed the stack of a thread, and C compilers do not ensure that such an overflow
/// touches the stack's guard page.
const STACK_MAX: u64 = 8 << 10;

/// Whether a value of a call must not be on the stack, because this value and the values before it
/// have more than [`STACK_MAX`] bytes together.
pub(super) fn exceeds_stack(model: &Model, plan: &MethodPlan<'_>, param: &ParamPlan<'_>, ty: &Type) -> bool {
    let copied = |param: &ParamPlan<'_>| {
        let size = block_type(param).filter(|ty| !is_loaded(ty)).map_or(0, |ty| model.layout(ty).0);
        u64::from(size)
    };
    let before = plan.params.iter().take_while(|other| !std::ptr::eq(*other, param)).map(copied);
    let before: u64 = before.filter(|size| *size <= STACK_MAX).sum();
    !is_loaded(ty) && before + u64::from(model.layout(ty).0) > STACK_MAX
}

/// Whether a type contains padding.
pub(super) fn is_padded(model: &Model, ty: &Type) -> bool {
    let Type::Struct(id) = flat(ty).0 else { return false };
    let found = &model.structs[id.0];
    let filled: u32 = found.fields.iter().map(|field| model.layout(&field.ty).0).sum();
    filled != model.offsets(found).1 || found.fields.iter().any(|field| is_padded(model, &field.ty))
}

/// Returns the condition for an invalid value.
fn invalid(model: &Model, ty: &Type, value: &str) -> String {
    match ty {
        Type::Enum(id) => format!("!{}((int32_t){value})", check_name(&model.enums[id.0].name)),
        Type::Struct(id) => format!("!{}(&{value})", check_name(&model.structs[id.0].name)),
        _ => format!("{value} > 1"),
    }
}

/// Writes a check of a value in private memory. The written code returns if the value is invalid.
pub(super) fn check(out: &mut Writer, model: &Model, ty: &Type, value: &str, leave: &[String]) {
    let (inner, count) = flat(ty);
    match ty {
        Type::Fixed(element, _) => {
            let is_deep = matches!(**element, Type::Fixed(..));
            let cast = || format!("((const {} *){value})", type_name(model, inner));
            let elements = if is_deep { cast() } else { value.to_owned() };
            check_elements(out, model, inner, &elements, &count.to_string(), leave);
        }
        _ if is_checked(model, ty) => refuse(out, &invalid(model, ty, value), leave),
        _ => {}
    }
}

/// Writes a check of elements in private memory. The written code returns if an element is invalid.
pub(super) fn check_elements(
    out: &mut Writer,
    model: &Model,
    element: &Type,
    elements: &str,
    count: &str,
    leave: &[String],
) {
    let (inner, each) = flat(element);
    if !is_checked(model, inner) {
        return;
    }
    let count = if each == 1 { count.to_owned() } else { format!("{count} * {each}") };
    out.line(format!("for (uint64_t at = 0; at < {count}; at++) {{"));
    let elements = if matches!(element, Type::Fixed(..)) {
        format!("((const {} *){elements})", type_name(model, inner))
    } else {
        elements.to_owned()
    };
    refuse(out, &invalid(model, inner, &format!("{elements}[at]")), leave);
    out.line("}");
}

/// Writes a check of a count, so that sums of lengths cannot overflow. The written code returns if
/// no frame can contain this number of elements.
pub(super) fn check_count(
    out: &mut Writer,
    model: &Model,
    element: &Type,
    size: &Arith,
    count: &str,
    leave: &[String],
) {
    let fits = FRAME_MAX as i64 / i64::from(model.layout(element).0.max(1));
    if !matches!(size, Arith::Const(number) if (0..=fits).contains(number)) {
        refuse(out, &format!("{count} > OBVIA_FRAME_MAX / sizeof({})", type_name(model, element)), leave);
    }
}

/// Writes code that returns if a condition holds.
pub(super) fn refuse(out: &mut Writer, condition: &str, leave: &[String]) {
    out.line(format!("if (OBVIA_UNLIKELY({condition})) {{"));
    for line in leave {
        out.line(line);
    }
    out.line("}");
}

/// Writes the store of a value, with zeros for padding.
pub(super) fn store(out: &mut Writer, model: &Model, ty: &Type, to: &str, from: &str) {
    match ty {
        Type::Fixed(..) if is_padded(model, ty) => {
            let (inner, count) = flat(ty);
            store_elements(out, model, inner, to, from, &count.to_string());
        }
        Type::Fixed(..) => out.line(format!("memcpy({to}, {from}, sizeof {to});")),
        Type::Struct(id) if is_padded(model, ty) => {
            out.line(format!("{}(&{to}, &{from});", store_name(&model.structs[id.0].name)).replace("&*", ""));
        }
        _ => out.line(format!("{to} = {from};")),
    }
}

/// Writes the store of elements with padding.
pub(super) fn store_elements(out: &mut Writer, model: &Model, element: &Type, to: &str, from: &str, count: &str) {
    let (inner, each) = flat(element);
    let Type::Struct(id) = inner else { return };
    let count = if each == 1 { count.to_owned() } else { format!("{count} * {each}") };
    let name = type_ident(&model.structs[id.0].name);
    out.line(format!("for (uint64_t at = 0; at < {count}; at++) {{"));
    out.line(format!(
        "{}(&(({name} *){to})[at], &((const {name} *){from})[at]);",
        store_name(&model.structs[id.0].name)
    ));
    out.line("}");
}

fn check_name(name: &str) -> String {
    format!("{name}{IS_VALID}")
}

fn store_name(name: &str) -> String {
    format!("{name}{STORE}")
}

/// The types whose check and store functions have been written to the output. A function comes
/// after the functions that it calls.
#[derive(Default)]
pub(super) struct Functions {
    enums: BTreeSet<EnumId>,
    structs: BTreeSet<StructId>,
}

impl Functions {
    /// Writes the functions for the values that methods pass.
    pub(super) fn of_plans<'a>(out: &mut Writer, model: &Model, plans: impl Iterator<Item = MethodPlan<'a>>) -> Self {
        let mut functions = Self::default();
        for param in plans.flat_map(|plan| plan.params) {
            if let Passing::Value(ty) | Passing::RefPointer(ty) | Passing::Array { element: ty, .. } = &param.passing {
                functions.of(out, model, ty);
            }
        }
        functions
    }

    /// Writes the functions that a type needs and that are still missing.
    fn of(&mut self, out: &mut Writer, model: &Model, ty: &Type) {
        match flat(ty).0 {
            Type::Enum(id) if !model.enums[id.0].is_any() && self.enums.insert(*id) => enumeration(out, model, *id),
            Type::Struct(id) if self.structs.insert(*id) => {
                for field in &model.structs[id.0].fields {
                    self.of(out, model, &field.ty);
                }
                if is_checked(model, ty) {
                    structure_check(out, model, *id);
                }
                if is_padded(model, ty) {
                    structure_store(out, model, *id);
                }
            }
            _ => {}
        }
    }

    /// Returns the functions that have been written: for each function its name, the name and the
    /// place of its type, and whether an imported file declares the type.
    pub(super) fn names<'m>(&self, model: &'m Model) -> Vec<(String, &'m str, Span, bool)> {
        let enums = self.enums.iter().map(|id| &model.enums[id.0]);
        let enums = enums.map(|found| (check_name(&found.name), found.name.as_str(), found.span, found.imported));
        let structs = self.structs.iter().flat_map(|id| {
            let (ty, found) = (Type::Struct(*id), &model.structs[id.0]);
            let check = is_checked(model, &ty).then(|| check_name(&found.name));
            let names = check.into_iter().chain(is_padded(model, &ty).then(|| store_name(&found.name)));
            names.map(|name| (name, found.name.as_str(), found.span, found.imported))
        });
        enums.chain(structs).collect()
    }
}

fn enumeration(out: &mut Writer, model: &Model, id: EnumId) {
    let found = &model.enums[id.0];
    let mut numbers: Vec<i32> = found.values.iter().map(|(_, number)| *number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    out.line(format!("static inline int {}(int32_t value)", check_name(&found.name)));
    out.line("{");
    let (first, last) = (i64::from(numbers[0]), i64::from(numbers[numbers.len() - 1]));
    if found.open {
        out.line(format!("return value >= 0 && value <= {};", Enum::NARROW_MAX));
    } else if numbers.len() as i64 == last - first + 1 {
        out.line(format!("return value >= {} && value <= {};", limit(first), limit(last)));
    } else {
        out.line("switch (value) {");
        for number in numbers {
            out.line(format!("case {}:", limit(i64::from(number))));
        }
        out.line("    return 1;");
        out.line("default:");
        out.line("    return 0;");
        out.line("}");
    }
    out.line("}");
    out.line("");
}

fn limit(value: i64) -> String {
    if value == i64::from(i32::MIN) { "INT32_MIN".to_owned() } else { value.to_string() }
}

fn structure_check(out: &mut Writer, model: &Model, id: StructId) {
    let found = &model.structs[id.0];
    out.line(format!("static inline int {}(const {} *value)", check_name(&found.name), type_ident(&found.name)));
    out.line("{");
    for field in &found.fields {
        check(out, model, &field.ty, &format!("value->{}", ident(&field.name)), &["return 0;".to_owned()]);
    }
    out.line("return 1;");
    out.line("}");
    out.line("");
}

fn structure_store(out: &mut Writer, model: &Model, id: StructId) {
    let found = &model.structs[id.0];
    let name = type_ident(&found.name);
    out.line("/* Stores the members, with zeros as padding. */");
    out.line(format!("static inline void {}({name} *to, const {name} *from)", store_name(&found.name)));
    out.line("{");
    out.line("memset(to, 0, sizeof *to);");
    for field in &found.fields {
        let field_name = ident(&field.name);
        store(out, model, &field.ty, &format!("to->{field_name}"), &format!("from->{field_name}"));
    }
    out.line("}");
    out.line("");
}

/// Writes the checks of the arguments' limits, which the server would check, too.
pub(super) fn limits(out: &mut Writer, plan: &MethodPlan<'_>) {
    for param in plan.ordered(true) {
        let name = binding(&param.param.code);
        match &param.passing {
            Passing::Value(ty) => range(out, param, ty, &name, &fail("E_INVALIDARG")),
            Passing::RefPointer(ty) => range(out, param, ty, &format!("*{name}"), &fail("E_INVALIDARG")),
            Passing::Text { .. } => utf8(out, param, &name, &fail("E_INVALIDARG")),
            _ => {}
        }
    }
}

/// Writes a check of a string with [utf8] in private memory. The written code returns if the string
/// is not in UTF-8.
pub(super) fn utf8(out: &mut Writer, param: &ParamPlan<'_>, text: &str, leave: &[String]) {
    if param.param.utf8 {
        refuse(out, &format!("!obvia_is_utf8({text})"), leave);
    }
}

/// Writes a check of a value with a [range]. The written code returns if the value is outside the
/// range.
pub(super) fn range(out: &mut Writer, param: &ParamPlan<'_>, ty: &Type, value: &str, leave: &[String]) {
    let (Some((least, most)), Type::Base(base)) = (param.param.range, ty) else { return };
    let Some((lowest, highest)) = base.range() else { return };
    let (value, limit): (String, fn(i64) -> String) = match base {
        // Values from 2^63 on would be negative as an `int64_t`.
        Base::U64 => (value.to_owned(), |limit| format!("UINT64_C({limit})")),
        Base::Char => (format!("(int64_t)(uint8_t){value}"), integer),
        _ => (format!("(int64_t){value}"), integer),
    };
    // A comparison that is always true for the type would cause compiler warnings.
    let mut conditions = Vec::new();
    if i128::from(least) > lowest {
        conditions.push(format!("{value} < {}", limit(least)));
    }
    if i128::from(most) < highest {
        conditions.push(format!("{value} > {}", limit(most)));
    }
    if !conditions.is_empty() {
        refuse(out, &conditions.join(" || "), leave);
    }
}
