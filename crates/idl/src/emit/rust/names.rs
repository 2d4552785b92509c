//! The names and types of IDL in Rust.

use crate::emit::Words;
use crate::model::{self, Base, InterfaceId, Model, Object, Type};
use crate::plan::{ENDINGS, MethodPlan, Passing, STATICS, STATICS_OF_FILES};

/// Rust's keywords. Names must differ from all of them.
const KEYWORDS: [&str; 48] = [
    "as", "async", "await", "break", "const", "continue", "dyn", "else", "enum", "extern", "false", "fn", "for", "gen",
    "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return", "static", "struct",
    "trait", "true", "try", "type", "unsafe", "use", "where", "while", "yield", "box", "abstract", "become", "do",
    "final", "macro", "override", "priv", "typeof", "unsized", "virtual",
];

/// Names of the prelude, and names that generated code, macros and derives use without a path.
static PRELUDE: Words = Words::new(|| {
    "\
    Option Some None Result Ok Err Vec String Box Clone Copy Default Drop Eq Ord PartialEq PartialOrd Debug Hash \
    From Into TryFrom TryInto AsRef AsMut ToOwned ToString Iterator IntoIterator DoubleEndedIterator \
    ExactSizeIterator Extend FromIterator Fn FnMut FnOnce AsyncFn AsyncFnMut AsyncFnOnce Future IntoFuture Send \
    Sync Sized Unpin drop size_of size_of_val align_of align_of_val bool char str u8 u16 u32 u64 u128 usize i8 \
    i16 i32 i64 i128 isize f32 f64 obvia idl std core alloc"
        .split(' ')
        .collect()
});

/// The variables and the generic parameters of generated functions.
const TAKEN: [&str; 21] = [
    "this",
    "call",
    "frame",
    "reply",
    "result",
    "object",
    "proxy",
    "request",
    "arrays",
    "outcome",
    "length",
    "values",
    "image",
    "wires",
    "results",
    "arguments",
    "selected",
    "measure",
    "Identity",
    "OFFSET",
    "Extending",
];

/// Further variables of generated functions, which hide types but no parameters.
const BOUND: [&str; 19] = [
    "at", "count", "error", "f", "failed", "iid", "item", "items", "memory", "never", "next", "own", "returned", "tag",
    "text", "union", "used", "value", "wire",
];

/// Returns an identifier that is valid in Rust after a type's path. If `is_meant` is true for the
/// name without its trailing underscores, the identifier gets one more underscore.
fn distinct(name: &str, is_meant: impl Fn(&str) -> bool) -> String {
    if KEYWORDS.contains(&name) && !is_meant(name) {
        return format!("r#{name}");
    }
    model::distinct(name, |stem| is_meant(stem) || matches!(stem, "self" | "Self" | "super" | "crate" | ""))
}

/// Returns a valid identifier for Rust, even in patterns.
pub(super) fn ident(name: &str) -> String {
    distinct(name, |stem| matches!(stem, "Some" | "None" | "Ok" | "Err"))
}

/// Returns a valid identifier for Rust after a type's path.
pub(super) fn associated(name: &str) -> String {
    distinct(name, |_| false)
}

/// Returns the name of a type.
pub(super) fn type_name(name: &str) -> String {
    let is_bound = |stem: &str| BOUND.contains(&stem) && name.len() > stem.len() + 1;
    distinct(name, |stem| TAKEN.contains(&stem) || is_bound(stem) || is_known(stem))
}

/// Returns the name of a constant, an enumeration or an interface.
///
/// If generated functions have a variable of this name, a pattern with the variable would mean the
/// item instead. The item's name then gets two underscores, because a structure may have the
/// unchanged name, and another declaration may have the name with one underscore.
pub(super) fn item_name(name: &str) -> String {
    if BOUND.contains(&name) { format!("{name}__") } else { type_name(name) }
}

fn is_known(stem: &str) -> bool {
    PRELUDE.contains(stem)
}

/// Whether generated functions use a name for their own variables.
fn is_taken(stem: &str) -> bool {
    TAKEN.contains(&stem) || ENDINGS.iter().any(|ending| stem.ends_with(ending))
}

/// Returns the name of a member's getter, which differs from the name of the constructor, `new`.
pub(super) fn getter(name: &str) -> String {
    distinct(name, |stem| stem == "new")
}

/// Whether no pattern may bind a name, because the name belongs to a constant, an enumeration, an
/// interface, or a static in generated code.
pub(super) fn is_item(model: &Model, code: &str) -> bool {
    let items = model.known.rust_items.get_or_init(|| {
        let names = model.enums.iter().map(|found| &found.name).chain(model.consts.iter().map(|found| &found.name));
        let names = names.chain(model.interfaces.iter().map(|found| &found.name)).map(|name| item_name(name));
        let statics = (0..model.interfaces.len()).flat_map(|at| statics(model, InterfaceId(at)));
        names.chain(statics).chain(STATICS_OF_FILES.map(str::to_owned)).collect()
    });
    items.contains(code)
}

/// Returns the names of the statics that generated code has for an interface.
fn statics(model: &Model, id: InterfaceId) -> Vec<String> {
    let name = item_name(&model.interfaces[id.0].name);
    let own = STATICS.map(|ending| format!("{name}{ending}"));
    let methods = model.all_methods(id).into_iter();
    let of_methods = methods.flat_map(|method| STATICS.map(|ending| format!("{name}_{}{ending}", method.name)));
    own.into_iter().chain(of_methods).collect()
}

/// Whether a text may be used as a name in Rust.
pub fn is_name(text: &str) -> bool {
    crate::text::lexer::is_name(text) && text != "_" && distinct(text, is_known) == text
}

/// Returns a parameter's name, which differs from the variables of generated functions.
pub(super) fn binding(name: &str) -> String {
    distinct(name, |stem| is_taken(stem) || matches!(stem, "Some" | "None" | "Ok" | "Err"))
}

/// Returns the Rust type of a base type.
pub(super) fn base(base: Base) -> &'static str {
    match base {
        Base::Boolean => "bool",
        Base::Byte | Base::Char | Base::U8 => "u8",
        Base::WChar | Base::U16 => "u16",
        Base::I8 => "i8",
        Base::I16 => "i16",
        Base::I32 => "i32",
        Base::U32 => "u32",
        Base::I64 => "i64",
        Base::U64 => "u64",
        Base::F32 => "f32",
        Base::F64 => "f64",
        Base::Hresult => "obvia::HRESULT",
        Base::Guid => "obvia::GUID",
        Base::Context => "obvia::ContextHandle",
    }
}

/// Returns the Rust type of a value without pointers.
pub(super) fn value(model: &Model, ty: &Type) -> String {
    match ty {
        Type::Base(one) => base(*one).to_owned(),
        Type::Enum(id) => item_name(&model.enums[id.0].name),
        Type::Struct(id) => type_name(&model.structs[id.0].name),
        Type::Fixed(element, count) => format!("[{}; {count}]", value(model, element)),
        Type::Void => "()".to_owned(),
        Type::Union(_) | Type::Pointer(_) | Type::Interface(_) => "()".to_owned(),
    }
}

/// Returns the Rust type of an interface pointer.
pub(super) fn interface(model: &Model, id: InterfaceId) -> String {
    let name = item_name(&model.interfaces[id.0].name);
    if model.is_built_in(id) { format!("obvia::{name}") } else { name }
}

/// Returns the path of an item that belongs to an interface and has this suffix.
pub(super) fn of_interface(model: &Model, id: InterfaceId, ending: &str) -> String {
    let name = item_name(&model.interfaces[id.0].name);
    if model.is_built_in(id) { format!("obvia::rt::{name}{ending}") } else { format!("{name}{ending}") }
}

/// Returns the Rust type of an object.
pub(super) fn object(model: &Model, object: &Object) -> String {
    match object {
        Object::Known(id) => interface(model, *id),
        Object::Unknown | Object::IidIs(_) => "obvia::IUnknown".to_owned(),
    }
}

/// Whether callers and implementers are responsible for pointers, so that the method is unsafe.
pub(super) fn is_unsafe(plan: &MethodPlan<'_>) -> bool {
    plan.method.returns_directly() || plan.params.iter().any(|param| matches!(param.passing, Passing::Raw(_)))
}

/// Returns the borrowed string type for characters.
pub(super) fn text(base: Base) -> &'static str {
    if matches!(base, Base::WChar | Base::U16) { "obvia::U16CStr" } else { "std::ffi::CStr" }
}

/// Returns `()`, a single type, or a tuple.
pub(super) fn tuple(types: &[String]) -> String {
    match types {
        [one] => one.clone(),
        many => format!("({})", many.join(", ")),
    }
}
