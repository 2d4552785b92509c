//! `NAME.h`: a file's declarations, for programs in C and in C++.

use super::names::{distinct, interface as name_of, method as method_name, object, of_dispatch, signature, type_ident};
use super::suffix::{INFORMATION, VTABLE};
use super::types::{guarded, once};
use super::{Imports, structures, types};
use crate::compile::Compilation;
use crate::model::{Interface, InterfaceId, Method, Model, Object, stem};
use crate::plan::plan;
use crate::text::writer::Writer;

/// Returns the text of the header. `own` are the file's own interfaces.
pub(super) fn header(compilation: &Compilation, stem: &str, own: &[InterfaceId], imports: &Imports<'_>) -> String {
    let model = &compilation.model;
    let mut out = Writer::default();
    super::made_from(&mut out, compilation);
    guard(&mut out, stem, "H");
    out.line(if has_automation(model) { "#include \"obvia_automation.h\"" } else { "#include \"obvia.h\"" });
    for stem in imports.included() {
        out.line(format!("#include \"{stem}.h\""));
    }
    out.line("");
    out.unindented("#ifdef __cplusplus");
    out.unindented("extern \"C\" {");
    out.unindented("#endif");
    out.line("");
    types::constants(&mut out, model);
    let is_announced =
        |found: &&Interface| !found.imported || model.is_prelude(found.span) || imports.is_announced(found);
    let announced: Vec<&Interface> = model.interfaces.iter().filter(is_announced).collect();
    for found in &announced {
        out.line(format!("typedef struct {0} {0};", type_ident(&found.name)));
    }
    if !announced.is_empty() {
        out.line("");
    }
    types::enumerations(&mut out, model);
    types::aggregates(&mut out, model);
    types::typedefs(&mut out, model);
    structures::declare(&mut out, model);
    for id in own {
        interface(&mut out, model, *id, imports);
    }
    out.unindented("#ifdef __cplusplus");
    out.unindented("}");
    out.unindented("#endif");
    out.line("");
    out.line("#endif");
    out.finish()
}

/// Whether the header needs Automation's types.
fn has_automation(model: &Model) -> bool {
    let mut params = model.interfaces.iter().flat_map(|found| &found.methods).flat_map(|method| &method.params);
    model.permissive && (model.built_in.interfaces > 0 || params.any(|param| param.memory.is_some()))
}

/// Begins the include guard. The last `#endif` ends it. Different stems have different guards. To
/// this end, small letters become capitals, capitals become small letters, and a character that a
/// name cannot have is replaced by its code point.
pub(super) fn guard(out: &mut Writer, stem: &str, what: &str) {
    let in_guard = |one: char| match one {
        'a'..='z' => one.to_ascii_uppercase().to_string(),
        // `X` is left out, because an `x` in the guard begins the number of a code point.
        'A'..='W' | 'Y' | 'Z' => one.to_ascii_lowercase().to_string(),
        '0'..='9' | '_' => one.to_string(),
        _ => format!("x{:x}_", u32::from(one)),
    };
    let guard = format!("OBVIA_IDL_{}_{what}", stem.chars().map(in_guard).collect::<String>());
    out.line(format!("#ifndef {guard}"));
    out.line(format!("#define {guard}"));
    out.line("");
}

fn interface(out: &mut Writer, model: &Model, id: InterfaceId, imports: &Imports<'_>) {
    let found = &model.interfaces[id.0];
    let name = type_ident(&found.name);
    // obvia_automation.h declares IDispatch, and so do IDL files of Windows.
    let is_dispatch = model.extends_dispatch(id) && found.base.is_none();
    guarded(out, &found.name, is_dispatch, |out| {
        once(out, model, &found.name, found.span, |out| {
            out.unindented("#if defined(__cplusplus) && !defined(CINTERFACE)");
            abstract_struct(out, model, found);
            out.unindented("#else");
            vtable(out, model, id);
            macros(out, model, id);
            out.unindented("#endif");
        });
    });
    out.line(format!("extern const IID IID_{name};"));
    if imports.proxies.are_made(model, id) {
        let information = format!("{name}{INFORMATION}");
        once(out, model, &information, found.span, |out| {
            out.line(format!("extern const obvia_interface {information};"));
            interface_of(out, model, found);
        });
    }
    out.line("");
}

/// Returns the name of the base interface.
fn base(model: &Model, found: &Interface) -> String {
    found.base.map_or_else(|| "IUnknown".to_owned(), |base| name_of(model, base))
}

/// Writes the template specialization by which C++ code finds an interface's IID, description and
/// base.
fn interface_of(out: &mut Writer, model: &Model, found: &Interface) {
    let name = type_ident(&found.name);
    // libobvia's headers do not describe IDispatch.
    let base =
        if found.base.is_some_and(|base| model.is_built_in(base)) { "IUnknown".to_owned() } else { base(model, found) };
    out.unindented("#if defined(__cplusplus) && !defined(CINTERFACE)");
    out.line("extern \"C++\" {");
    out.line(format!("template <> struct obvia_interface_of<{name}> {{"));
    out.line(format!("using base = {base};"));
    out.line(format!("static const IID &iid() noexcept {{ return IID_{name}; }}"));
    out.line(format!("static const obvia_interface *info() noexcept {{ return &{name}{INFORMATION}; }}"));
    out.line("};");
    out.line("}");
    out.unindented("#endif");
}

/// Writes the interface for C++.
fn abstract_struct(out: &mut Writer, model: &Model, found: &Interface) {
    let base = base(model, found);
    out.block_comment(&found.doc);
    out.line(format!("struct {} : {base} {{", type_ident(&found.name)));
    for method in &found.methods {
        out.block_comment(&method.doc);
        let name = method_name(&method.code);
        out.line(format!("virtual {} = 0;", signature(model, &plan(model, method), &name, "")));
    }
    out.line("};");
}

/// Writes the interface for C: an object points to a table of functions.
fn vtable(out: &mut Writer, model: &Model, id: InterfaceId) {
    let found = &model.interfaces[id.0];
    let name = type_ident(&found.name);
    let of = object(model, &Object::Known(id));
    out.block_comment(&found.doc);
    out.line(format!("typedef struct {name}{VTABLE} {{"));
    out.line(format!("HRESULT (*QueryInterface)({of} *self, const IID *iid, void **object);"));
    out.line(format!("uint32_t (*AddRef)({of} *self);"));
    out.line(format!("uint32_t (*Release)({of} *self);"));
    for method in model.all_methods(id) {
        // The interface that declares a method documents it.
        if found.methods.iter().any(|own| std::ptr::eq(own, method)) {
            out.block_comment(&method.doc);
        }
        let name = format!("(*{})", method_name(&method.code));
        out.line(format!("{};", signature(model, &plan(model, method), &name, &format!("{of} *self"))));
    }
    out.line(format!("}} {name}{VTABLE};"));
    out.line(format!("struct {name} {{"));
    out.line(format!("const {name}{VTABLE} *lpVtbl;"));
    out.line("};");
}

/// Writes the macros for calls in C.
fn macros(out: &mut Writer, model: &Model, id: InterfaceId) {
    let name = type_ident(&model.interfaces[id.0].name);
    let mut call = |method: &str, params: &[String]| {
        let given: String = params.iter().map(|param| format!(", {param}")).collect();
        let passed: String = params.iter().map(|param| format!(", ({param})")).collect();
        out.line(format!("#define {name}_{method}(self{given}) ((self)->lpVtbl->{method})((self){passed})"));
    };
    call("QueryInterface", &["iid".to_owned(), "object".to_owned()]);
    call("AddRef", &[]);
    call("Release", &[]);
    for method in model.all_methods(id) {
        call(&method_name(&method.code), &macro_parameters(model, method));
    }
}

/// Returns names for the parameters of a method's macro. The names differ from all other names in
/// the macro's text.
fn macro_parameters(model: &Model, method: &Method) -> Vec<String> {
    if let Some(known) = of_dispatch(model, method) {
        return known.iter().map(|(_, name)| (*name).to_owned()).collect();
    }
    let name = method_name(&method.code);
    let own = |param: &str| distinct(param, |used| ["self", "lpVtbl", stem(&name)].contains(&used));
    let count = method.params.len() - usize::from(method.direct_result().is_some());
    method.params[..count].iter().map(|param| own(&param.code)).collect()
}
