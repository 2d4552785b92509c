//! The names and types of IDL in C.

use super::library::{LIBRARY, name_of_method};
use super::macros::is_macro;
use crate::emit::Words;
use crate::model::{
    self, Base, CDeclared, CNames, Direction, InterfaceId, Memory, Method, Model, Object, Param, StructId, Type, Union,
    all_arms,
};
use crate::plan::{MethodPlan, ParamPlan, Passing};

/// The keywords of C11 and C++20, and the macros and types of the standard headers that generated
/// code uses. Names must differ from all of them.
static KEYWORDS: Words = Words::new(|| {
    "\
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t class compl const \
    const_cast constexpr continue decltype default delete do double dynamic_cast else enum explicit export extern \
    false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or \
    or_eq private protected public register reinterpret_cast restrict return short signed sizeof static \
    static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename typeof \
    union unsigned using virtual void volatile wchar_t while xor xor_eq _Alignas _Alignof _Atomic _Bool _Complex \
    _Generic _Noreturn _Static_assert \
    char8_t co_await co_return co_yield concept consteval constinit requires \
    errno stdin stdout stderr NULL EOF HRESULT GUID \
    int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t ptrdiff_t intptr_t uintptr_t max_align_t"
        .split(' ')
        .collect()
});

/// Names that the generated functions use themselves.
const TAKEN: [&str; 17] = [
    "self", "proxy", "calls", "request", "reply", "results", "result", "call", "object", "length", "wrong", "at",
    "prepared", "selected", "memcpy", "memset", "free",
];

/// Further names of variables, and names that classes of generated C++ code inherit. Names of both
/// kinds hide types.
const HIDDEN: [&str; 5] = ["arguments", "count", "first", "implements", "no_methods"];

/// The methods of every interface, which hide types in the interface's class.
const OF_UNKNOWN: [&str; 3] = ["QueryInterface", "AddRef", "Release"];

/// The namespaces of C++'s headers, and `main`.
const GLOBAL: [&str; 3] = ["std", "obvia", "main"];

/// Returns a valid identifier for C and C++, with one more underscore if `is_meant` is true for the
/// name without its trailing underscores.
pub(super) fn distinct(name: &str, is_meant: impl Fn(&str) -> bool) -> String {
    let is_runtimes = |stem: &str| stem.starts_with("obvia_") || stem.starts_with("OBVIA_");
    let is_keyword = |stem: &str| is_runtimes(stem) || KEYWORDS.contains(stem) || is_macro(stem);
    model::distinct(name, |stem| is_keyword(stem) || is_meant(stem))
}

/// Returns a valid identifier for C and C++.
pub(super) fn ident(name: &str) -> String {
    distinct(name, |_| false)
}

/// Returns the name of a type. The name differs from the variables of generated functions, from
/// namespaces and `main`, and from the names of libraries.
pub(super) fn type_ident(name: &str) -> String {
    let is_hidden = |stem: &str| TAKEN.contains(&stem) || HIDDEN.contains(&stem);
    distinct(name, |stem| is_hidden(stem) || GLOBAL.contains(&stem) || LIBRARY.contains(stem))
}

/// Returns the name of a constant or of an enumeration's value. The name differs from the names of
/// types, because C and C++ have one scope for both. Declarations of an importing file do not
/// change the names of imported values.
pub(super) fn value(model: &Model, name: &str, imported: bool) -> String {
    let names = model.known.c_names.get_or_init(|| declared_names(model));
    let seen = if imported { &names.of_imported[..1] } else { &names.of_imported };
    let first = beside_library(name);
    let mut code = first.clone();
    while seen.iter().any(|seen| seen.types.contains(&code) || code != first && seen.values.contains(&code)) {
        code.push('_');
    }
    code
}

/// Returns a value's name, which differs from the names of libraries.
fn beside_library(name: &str) -> String {
    distinct(name, |stem| LIBRARY.contains(stem) || GLOBAL.contains(&stem))
}

/// Returns the names in C that a file and its imports declare.
fn declared_names(model: &Model) -> CNames {
    let mut all: [CDeclared; 2] = Default::default();
    let seen = |imported: bool| usize::from(!imported);
    let types = model.structs.iter().map(|found| (&found.name, found.imported));
    let types = types.chain(model.unions.iter().map(|found| (&found.name, found.imported)));
    let types = types.chain(model.enums.iter().map(|found| (&found.name, found.imported)));
    let types = types.chain(model.interfaces.iter().map(|found| (&found.name, found.imported)));
    let types = types.chain(model.typedefs.iter().map(|found| (&found.name, found.imported)));
    types.for_each(|(name, imported)| _ = all[seen(imported)].types.insert(type_ident(name)));
    for found in &model.interfaces {
        let raw = found.methods.iter().map(|method| ident(&method.code));
        all[seen(found.imported)].inner.extend(raw.flat_map(|raw| [name_of_method(&raw), raw]));
    }
    for found in &model.structs {
        all[seen(found.imported)].inner.extend(found.fields.iter().map(|field| ident(&field.name)));
    }
    for found in &model.unions {
        let said = found.encapsulated.iter().flat_map(|(tag, inner)| [tag, inner]);
        let arms = all_arms(found).map(|field| &field.name).chain(said);
        all[seen(found.imported)].inner.extend(arms.map(|name| ident(name)));
    }
    for found in &model.enums {
        all[seen(found.imported)].values.extend(found.values.iter().map(|(name, _)| beside_library(name)));
    }
    for found in &model.consts {
        all[seen(found.imported)].values.insert(beside_library(&found.name));
    }
    CNames { of_imported: all }
}

/// Returns the name of a type in code, with a keyword for C++ if another declaration has the same
/// name.
fn used(model: &Model, keyword: &str, name: &str) -> String {
    let name = type_ident(name);
    let names = model.known.c_names.get_or_init(|| declared_names(model));
    let is_hidden =
        OF_UNKNOWN.contains(&name.as_str()) || names.of_imported.iter().any(|seen| seen.inner.contains(&name));
    if is_hidden { format!("{keyword} {name}") } else { name }
}

/// Returns a method's name in the vtable.
pub(super) fn method(name: &str) -> String {
    ident(name)
}

/// Whether a text may be used as a name in C and in C++.
pub fn is_name(text: &str) -> bool {
    crate::text::lexer::is_name(text) && ident(text) == text
}

/// Returns a parameter's name in a declaration. The name differs from `self`, the object.
pub(super) fn declared(name: &str) -> String {
    distinct(name, |stem| stem == "self")
}

/// Returns a parameter's name, which differs from the variables of generated functions.
pub(super) fn binding(name: &str) -> String {
    distinct(name, |stem| TAKEN.contains(&stem))
}

/// Returns a name for a variable that belongs to a parameter. No parameter has the same name.
pub(super) fn local(plan: &MethodPlan<'_>, param: &ParamPlan<'_>, what: &str) -> String {
    beside_parameters(plan, format!("{}_{what}", param.param.code))
}

/// Returns the name of a variable, with underscores at its end if a parameter has the same name.
pub(super) fn beside_parameters(plan: &MethodPlan<'_>, mut name: String) -> String {
    while plan.params.iter().any(|other| name.starts_with(&other.param.code) && binding(&other.param.code) == name) {
        name.push('_');
    }
    name
}

/// Returns the C type of a base type.
pub(super) fn base(base: Base) -> &'static str {
    match base {
        Base::Boolean | Base::Byte | Base::U8 => "uint8_t",
        Base::Char => "char",
        Base::WChar => "obvia_wchar",
        Base::U16 => "uint16_t",
        Base::I8 => "int8_t",
        Base::I16 => "int16_t",
        Base::I32 => "int32_t",
        Base::U32 => "uint32_t",
        Base::I64 => "int64_t",
        Base::U64 => "uint64_t",
        Base::F32 => "float",
        Base::F64 => "double",
        Base::Hresult => "HRESULT",
        Base::Guid => "GUID",
        Base::Context => "obvia_context",
    }
}

/// Returns the name of an interface's type.
pub(super) fn interface(model: &Model, id: InterfaceId) -> String {
    type_ident(&model.interfaces[id.0].name)
}

/// Returns the C type of an object.
pub(super) fn object(model: &Model, object: &Object) -> String {
    let name = match object {
        Object::Known(id) => model.interfaces[id.0].name.as_str(),
        Object::Unknown | Object::IidIs(_) => "IUnknown",
    };
    used(model, "struct", name)
}

/// Returns a declaration of `name` with a type, or just the type if `name` is empty.
pub(super) fn declare(model: &Model, ty: &Type, name: &str) -> String {
    let plain = |text: &str| if name.is_empty() { text.to_owned() } else { format!("{text} {name}") };
    match ty {
        Type::Base(one) => plain(base(*one)),
        Type::Enum(id) => plain(&used(model, "enum", &model.enums[id.0].name)),
        Type::Struct(id) if has_automation_name(model, *id) => plain(automation(&model.structs[id.0].name)),
        Type::Union(id) if id.0 < model.built_in.unions => plain("void"),
        Type::Struct(id) => plain(&used(model, "struct", &model.structs[id.0].name)),
        Type::Union(id) => plain(&used(model, union_keyword(&model.unions[id.0]), &model.unions[id.0].name)),
        Type::Void => plain("void"),
        Type::Fixed(element, count) => declare(model, element, &format!("{name}[{count}]")),
        Type::Pointer(pointer) => pointer_to(model, &pointer.to, name),
        Type::Interface(what) => format!("{} *{name}", object(model, what)),
    }
}

/// Whether `obvia_automation.h` declares a structure, or the structure exists only on the wire.
pub(super) fn has_automation_name(model: &Model, id: StructId) -> bool {
    let found = &model.structs[id.0];
    id.0 < model.built_in.structs
        || model.is_prelude(found.span) && ["DISPPARAMS", "EXCEPINFO"].contains(&found.name.as_str())
}

/// Returns the name that `obvia_automation.h` has for a structure. Structures that exist only on
/// the wire have no name.
fn automation(name: &str) -> &'static str {
    match name {
        "CURRENCY" => "obvia_currency",
        "DECIMAL" => "obvia_decimal",
        "SAFEARRAYBOUND" => "obvia_safearray_bound",
        "DISPPARAMS" => "obvia_dispparams",
        "EXCEPINFO" => "obvia_excepinfo",
        _ => "void",
    }
}

/// Returns the declaration of a parameter that has an Automation type in memory.
fn automation_parameter(memory: Memory, param: &Param, name: &str) -> String {
    let ty = match memory {
        Memory::Bstr => "obvia_bstr ",
        Memory::Variant => "obvia_variant ",
        Memory::SafeArray(_) => "obvia_safearray *",
    };
    match param.direction {
        _ if param.unsupported.is_some() => format!("void *{name}"),
        Direction::In if memory.is_by_value(param) => format!("{ty}{name}"),
        Direction::In => format!("const {ty}*{name}"),
        _ => format!("{ty}*{name}"),
    }
}

/// Returns the C keyword of a union. An encapsulated union is a structure.
pub(super) fn union_keyword(found: &Union) -> &'static str {
    if found.encapsulated.is_some() { "struct" } else { "union" }
}

/// Returns the declaration of a pointer to a type.
pub(super) fn pointer_to(model: &Model, ty: &Type, name: &str) -> String {
    match ty {
        Type::Fixed(..) => declare(model, ty, &format!("(*{name})")),
        _ => declare(model, ty, &format!("*{name}")),
    }
}

/// Returns the name of a type.
pub(super) fn type_name(model: &Model, ty: &Type) -> String {
    declare(model, ty, "")
}

/// Returns the innermost element type of an array, with the total number of elements. Other types
/// have one element.
pub(super) fn flat(ty: &Type) -> (&Type, u64) {
    match ty {
        Type::Fixed(element, count) => {
            let (inner, inner_count) = flat(element);
            (inner, inner_count * u64::from(*count))
        }
        _ => (ty, 1),
    }
}

/// Returns a parameter's declaration with a name. The target of a pointer that is only read is
/// const. Arrays of arrays are an exception, because C does not convert a pointer to an array into
/// a pointer to a const array.
pub(super) fn parameter(model: &Model, plan: &ParamPlan<'_>, name: &str) -> String {
    if let Some(memory) = plan.param.memory {
        return automation_parameter(memory, plan.param, name);
    }
    let constant = if plan.param.direction.is_out() { "" } else { "const " };
    match &plan.passing {
        Passing::Value(ty) => declare(model, ty, name),
        Passing::RefPointer(Type::Fixed(element, _)) if matches!(**element, Type::Fixed(..)) => {
            declare(model, &target_type(plan.param), name)
        }
        Passing::RefPointer(ty @ Type::Fixed(..)) => format!("{constant}{}", declare(model, ty, name)),
        Passing::Array { element: ty @ Type::Fixed(..), .. }
        | Passing::Reference { element: ty @ Type::Fixed(..), .. } => pointer_to(model, ty, name),
        Passing::RefPointer(ty)
        | Passing::Array { element: ty, .. }
        | Passing::Reference { element: ty, .. }
        | Passing::Optional(ty) => {
            format!("{constant}{}", pointer_to(model, ty, name))
        }
        // The attributes do not say whether the target of the inner pointer is constant.
        Passing::Raw(ty @ (Type::Pointer(_) | Type::Interface(_))) => pointer_to(model, ty, name),
        Passing::Raw(_) if matches!(plan.param.ty, Type::Interface(_)) => declare(model, &plan.param.ty, name),
        Passing::Raw(ty) => format!("{constant}{}", pointer_to(model, ty, name)),
        Passing::Text { base: one, .. } => format!("const {} *{name}", base(*one)),
        Passing::Graph => {
            let single =
                matches!(&plan.param.ty, Type::Pointer(to) if !matches!(to.to, Type::Pointer(_) | Type::Interface(_)));
            format!("{}{}", if single { constant } else { "" }, declare(model, &plan.param.ty, name))
        }
        Passing::OutText(_)
        | Passing::OutArray { .. }
        | Passing::Lent { .. }
        | Passing::Object(_)
        | Passing::OutObject(_)
        | Passing::Automation(_) => declare(model, &plan.param.ty, name),
    }
}

/// Returns the type that the block holds for a parameter. For a pointer, this is the target's type.
fn target_type(param: &Param) -> Type {
    match &param.ty {
        Type::Pointer(pointer) => pointer.to.clone(),
        ty => ty.clone(),
    }
}

/// Returns the parameters after the object, each with a comma before it. [`declared`] or
/// [`binding`] gives the names.
pub(super) fn parameters(model: &Model, plan: &MethodPlan<'_>, named: fn(&str) -> String) -> String {
    plan.params.iter().map(|param| format!(", {}", parameter(model, param, &named(&param.param.code)))).collect()
}

/// Returns the declaration of a method or of a pointer to it: its result, `name`, and the
/// parameters after `first`.
pub(super) fn signature(model: &Model, plan: &MethodPlan<'_>, name: &str, first: &str) -> String {
    named_signature(model, plan, name, first, declared)
}

/// Returns the parameters of a method of IDispatch in memory, each with its declaration and its
/// name. The model has the form that travels, which differs. `None` for other methods.
pub(super) fn of_dispatch(model: &Model, method: &Method) -> Option<&'static [(&'static str, &'static str)]> {
    let mut built_in = model.interfaces[..model.built_in.interfaces].iter().flat_map(|found| &found.methods);
    if !built_in.any(|known| std::ptr::eq(known, method)) {
        return None;
    }
    Some(match method.name.as_str() {
        "GetTypeInfoCount" => &[("uint32_t *count", "count")],
        "GetTypeInfo" => &[("uint32_t at", "at"), ("uint32_t lcid", "lcid"), ("IUnknown **info", "info")],
        "GetIDsOfNames" => &[
            ("const GUID *iid", "iid"),
            ("obvia_wchar **names", "names"),
            ("uint32_t count", "count"),
            ("uint32_t lcid", "lcid"),
            ("int32_t *ids", "ids"),
        ],
        _ => &[
            ("int32_t id", "id"),
            ("const GUID *iid", "iid"),
            ("uint32_t lcid", "lcid"),
            ("uint16_t flags", "flags"),
            ("obvia_dispparams *params", "params"),
            ("obvia_variant *result", "result"),
            ("obvia_excepinfo *exception", "exception"),
            ("uint32_t *wrong", "wrong"),
        ],
    })
}

/// Returns a declaration as [`signature`] does. [`declared`] or [`binding`] gives the parameters'
/// names.
pub(super) fn named_signature(
    model: &Model,
    plan: &MethodPlan<'_>,
    name: &str,
    first: &str,
    named: fn(&str) -> String,
) -> String {
    let params: Vec<String> = match of_dispatch(model, plan.method) {
        Some(known) => known.iter().map(|(declaration, _)| (*declaration).to_owned()).collect(),
        None => plan.in_vtable().iter().map(|param| parameter(model, param, &named(&param.param.code))).collect(),
    };
    let first = Some(first.to_owned()).filter(|first| !first.is_empty());
    let head = format!("{name}({})", first.into_iter().chain(params).collect::<Vec<_>>().join(", "));
    match plan.method.direct_result() {
        Some(ty) if plan.method.leads_to_const => format!("const {}", declare(model, ty, &head)),
        Some(ty) => declare(model, ty, &head),
        None if plan.method.returns_directly() => format!("void {head}"),
        None => format!("HRESULT {head}"),
    }
}

/// Returns a 64-bit integer as a C literal.
pub(super) fn integer(value: i64) -> String {
    match value {
        i64::MIN => "INT64_MIN".to_owned(),
        value if i32::try_from(value).is_ok_and(|value| value != i32::MIN) => value.to_string(),
        value => format!("INT64_C({value})"),
    }
}

/// Returns a GUID's initializer.
pub(super) fn guid(value: u128) -> String {
    let bytes = value.to_be_bytes();
    let last: Vec<String> = bytes[8..].iter().map(|byte| format!("{byte:#04x}")).collect();
    format!(
        "{{{:#010x}, {:#06x}, {:#06x}, {{{}}}}}",
        (value >> 96) as u32,
        (value >> 80) as u16,
        (value >> 64) as u16,
        last.join(", ")
    )
}

/// Returns a text as a string literal.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'\n' => out.push_str("\\n"),
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            // A question mark may begin a trigraph.
            b'?' => out.push_str("\\?"),
            b' '..=b'~' => out.push(char::from(byte)),
            // An escape of three octal digits cannot run into the next character.
            _ => out.push_str(&format!("\\{byte:03o}")),
        }
    }
    out.push('"');
    out
}
