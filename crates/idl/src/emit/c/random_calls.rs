//! Random calls in C++: a test program that serves objects and calls their methods. The objects
//! check their arguments.

use super::names::{
    base as base_name, declare, ident, interface, method as method_name, parameters, type_ident, type_name,
};
use crate::compile::Compilation;
use crate::emit::random_calls::{Field, FieldKind, TestedMethod, count, field_name, tested_methods};
use crate::model::{Base, InterfaceId, Model, StructId, Type};
use crate::plan::{ParamPlan, Passing, is_plain};
use crate::text::writer::Writer;

/// The generator of random values, and the code that programs for all interfaces share.
const PRELUDE: &str = include_str!("random_calls.hh");

/// Returns a file's test program in C++. `stem` is the file's name without its extension.
pub fn random_calls(compilation: &Compilation, stem: &str) -> String {
    let model = &compilation.model;
    let mut out = Writer::default();
    super::made_from(&mut out, compilation);
    out.line(format!("// `{stem}_test serve NAME SEED` exports an object for each interface, as NAME-INTERFACE, until its input ends;"));
    out.line(format!(
        "// `{stem}_test call NAME SEED CALLS` calls each of their methods CALLS times. Both fail if a value differs. An"
    ));
    out.line("// object counts its calls, so it has one caller.");
    let (includes, prelude): (Vec<&str>, Vec<&str>) = PRELUDE.lines().partition(|line| line.starts_with("#include"));
    includes.into_iter().for_each(|line| out.unindented(line));
    out.line(format!("#include \"{stem}.h\""));
    out.line("");
    // The templates need the comparison functions, which are therefore declared first.
    // No method passes a structure with one of Automation's types.
    let is_passed = |ty: &Type| is_plain(model, ty) && !model.reachable(ty).any(|ty| super::is_automation(model, ty));
    let structs = (model.built_in.structs..model.structs.len()).map(StructId);
    let structs: Vec<StructId> = structs.filter(|id| is_passed(&Type::Struct(*id))).collect();
    out.line("[[maybe_unused]] static inline bool obvia_test_same(const GUID &a, const GUID &b);");
    out.line("[[maybe_unused]] static inline bool obvia_test_same(const obvia_context &a, const obvia_context &b);");
    for id in &structs {
        let name = type_ident(&model.structs[id.0].name);
        out.line(format!("[[maybe_unused]] static inline bool obvia_test_same(const {name} &obvia_test_a, const {name} &obvia_test_b);"));
    }
    out.line("");
    prelude.into_iter().skip_while(|line| line.is_empty()).for_each(|line| out.unindented(line));
    out.line("");
    for (ty, same) in [
        ("GUID", "obvia_is_equal(&a, &b) != 0"),
        ("obvia_context", "a.attributes == b.attributes && obvia_test_same(a.uuid, b.uuid)"),
    ] {
        out.line(format!("[[maybe_unused]] static inline bool obvia_test_same(const {ty} &a, const {ty} &b)"));
        out.line("{");
        out.line(format!("return {same};"));
        out.line("}");
        out.line("");
    }
    structs.iter().for_each(|id| structure(&mut out, model, *id));
    // Objects of other interfaces would have to implement IDispatch themselves.
    let tested_methods = tested_methods(model, |id| !model.interfaces[id.0].dual);
    for (id, methods) in &tested_methods {
        one_interface(&mut out, model, *id, methods);
    }
    main(&mut out, model, &tested_methods);
    out.finish()
}

/// Writes the functions that compare two values of a structure, and that make a random value.
fn structure(out: &mut Writer, model: &Model, id: StructId) {
    let found = &model.structs[id.0];
    let name = type_ident(&found.name);
    out.line(format!(
        "[[maybe_unused]] static inline bool obvia_test_same(const {name} &obvia_test_a, const {name} &obvia_test_b)"
    ));
    out.line("{");
    let same = found
        .fields
        .iter()
        .map(|field| format!("obvia_test_same(obvia_test_a.{0}, obvia_test_b.{0})", ident(&field.name)));
    out.line(format!("return {};", same.collect::<Vec<_>>().join(" && ")));
    out.line("}");
    out.line(format!(
        "[[maybe_unused]] static inline {name} obvia_test_draw_{name}(obvia_test_values &obvia_test_from)"
    ));
    out.line("{");
    out.line(format!("{name} obvia_test_value = {{}};"));
    for field in &found.fields {
        draw(out, model, &field.ty, None, &format!("obvia_test_value.{}", ident(&field.name)), 0);
    }
    out.line("return obvia_test_value;");
    out.line("}");
    out.line("");
}

/// Writes the statements that store a random value in a variable.
fn draw(out: &mut Writer, model: &Model, ty: &Type, range: Option<(i64, i64)>, place: &str, depth: usize) {
    if let Type::Fixed(element, _) = ty {
        out.line(format!("for (auto &obvia_test_element{depth} : {place}) {{"));
        draw(out, model, element, range, &format!("obvia_test_element{depth}"), depth + 1);
        return out.line("}");
    }
    out.line(format!("{place} = {};", value(model, ty, range)));
}

/// Returns an expression for a random value of a type that is not an array.
fn value(model: &Model, ty: &Type, range: Option<(i64, i64)>) -> String {
    match ty {
        Type::Base(Base::Boolean) => "obvia_test_from.boolean()".to_owned(),
        Type::Base(Base::F32) => "obvia_test_from.real32()".to_owned(),
        Type::Base(Base::F64) => "obvia_test_from.real64()".to_owned(),
        Type::Base(Base::Guid) => "obvia_test_from.guid()".to_owned(),
        Type::Base(Base::Context) => "obvia_context{0, obvia_test_from.guid()}".to_owned(),
        Type::Base(base) => {
            let [least, most] = crate::emit::random_calls::limits(*base, range).map(super::names::integer);
            format!("static_cast<{}>(obvia_test_from.integer({least}, {most}))", base_name(*base))
        }
        Type::Enum(id) => {
            let found = &model.enums[id.0];
            let values: Vec<String> = found.values.iter().map(|(_, value)| value.to_string()).collect();
            format!("static_cast<{}>(obvia_test_from.one_of({{{}}}))", type_ident(&found.name), values.join(", "))
        }
        Type::Struct(id) => format!("obvia_test_draw_{}(obvia_test_from)", type_ident(&model.structs[id.0].name)),
        _ => "0".to_owned(),
    }
}

fn one_interface(out: &mut Writer, model: &Model, id: InterfaceId, methods: &[TestedMethod<'_>]) {
    let name = interface(model, id);
    for tested in methods {
        match &tested.omission_reason {
            Some(why) => out.line(format!("// {name}::{} is left out: {why}.", tested.plan.method.name)),
            None => {
                call(out, model, &name, tested);
                try_call(out, model, &name, tested);
            }
        }
        out.line("");
    }
    out.line(format!("// An object for the tests of {name}."));
    out.line(format!(
        "class obvia_test_{name}_object final : public obvia::implements<obvia_test_{name}_object, {name}> {{"
    ));
    out.line("public:");
    for tested in methods {
        method(out, model, &name, tested);
    }
    if methods.iter().any(|tested| tested.omission_reason.is_none()) {
        out.line("private:");
        out.line(format!("std::atomic<uint64_t> obvia_test_calls_[{}] = {{}};", methods.len()));
    }
    out.line("};");
    out.line("");
}

/// Writes the structure of a call's values.
fn call(out: &mut Writer, model: &Model, interface: &str, tested: &TestedMethod<'_>) {
    let name = format!("obvia_test_{interface}_{}_call", tested.plan.method.name);
    out.line(format!("struct {name} {{"));
    for field in &tested.fields {
        let text = match &field.kind {
            FieldKind::Value(ty, _) | FieldKind::SameAsArgument(ty, _) => declare(model, ty, &field.name),
            FieldKind::Count(base, _) | FieldKind::Used(base, _) => format!("{} {}", base_name(*base), field.name),
            FieldKind::Optional(ty) => format!("std::optional<{}> {}", type_name(model, ty), field.name),
            FieldKind::Array { element, .. } => format!("std::vector<{}> {}", type_name(model, element), field.name),
            FieldKind::Text { wide, .. } => format!("std::optional<{}> {}", string(*wide), field.name),
        };
        out.line(format!("{text};"));
    }
    out.line("HRESULT result;");
    out.line("");
    out.line(format!("explicit {name}(uint64_t call)"));
    out.line("{");
    out.line(format!("obvia_test_values obvia_test_from(obvia_test_seed, {}, call);", tested.plan.method.opnum));
    let (arguments, results): (Vec<&Field>, Vec<&Field>) = tested.fields.iter().partition(|field| !field.is_result);
    arguments.iter().for_each(|field| draw_field(out, model, tested, field));
    let fails = if tested.plan.method.oneway { "S_OK" } else { "obvia_test_from.one_in(16) ? E_FAIL : S_OK" };
    out.line(format!("result = {fails};"));
    results.iter().for_each(|field| draw_field(out, model, tested, field));
    out.line("}");
    out.line("};");
    out.line("");
}

fn string(wide: bool) -> &'static str {
    if wide { "std::u16string" } else { "std::string" }
}

/// Returns the text of a count expression.
fn elements(tested: &TestedMethod<'_>, value: &crate::model::Arith, prefix: &str) -> String {
    count(&tested.plan, value, &|name| format!("static_cast<uint64_t>({prefix}{name})"))
}

fn draw_field(out: &mut Writer, model: &Model, tested: &TestedMethod<'_>, field: &Field) {
    let name = &field.name;
    match &field.kind {
        FieldKind::Value(ty, range) => draw(out, model, ty, *range, name, 0),
        FieldKind::Count(base, [least, fit, most]) => {
            out.line(format!(
                "{name} = static_cast<{}>(obvia_test_from.length({least}, {fit}, {most}));",
                base_name(*base)
            ));
        }
        FieldKind::Used(base, rooms) => {
            out.line(format!("uint64_t {name}_most = {};", elements(tested, &rooms[0], "")));
            for other in &rooms[1..] {
                let other = elements(tested, other, "");
                out.line(format!("{name}_most = {other} < {name}_most ? {other} : {name}_most;"));
            }
            let most = format!("{name}_most");
            out.line(format!("{name} = static_cast<{}>(obvia_test_from.length(0, {most}, {most}));", base_name(*base)));
        }
        FieldKind::SameAsArgument(_, argument) => out.line(format!("{name} = {argument};")),
        FieldKind::Optional(ty) => {
            out.line("if (!obvia_test_from.one_in(4)) {");
            out.line(format!("{name} = {};", value(model, ty, None)));
            out.line("}");
        }
        FieldKind::Array { element, count, is_text } => {
            out.line(format!("obvia_test_room({name}, {});", elements(tested, count, "")));
            draw(out, model, &Type::Fixed(Box::new(element.clone()), 0), None, name, 0);
            if *is_text {
                out.line(format!("if (!{name}.empty()) {{"));
                out.line(format!("{name}.back() = 0;"));
                out.line("}");
            }
        }
        FieldKind::Text { wide, utf8, optional, fit } => {
            let drawn = match (wide, utf8) {
                (false, true) => format!("{name} = obvia_test_from.utf8({fit});"),
                (true, _) => format!("{name} = obvia_test_from.text<{}>(0xffff, {fit});", string(true)),
                (false, false) => format!("{name} = obvia_test_from.text<{}>(0xff, {fit});", string(false)),
            };
            if *optional {
                out.line("if (!obvia_test_from.one_in(4)) {");
                out.line(drawn);
                out.line("}");
            } else {
                out.line(drawn);
            }
        }
    }
}

/// Returns the field of a parameter's argument or result, if there is one.
fn field<'t>(tested: &'t TestedMethod<'_>, param: &ParamPlan<'_>, is_result: bool) -> Option<&'t Field> {
    let name = field_name(param, is_result);
    tested.fields.iter().find(|field| field.name == name && field.is_result == is_result)
}

/// Writes the function that makes a call and checks its results.
fn try_call(out: &mut Writer, model: &Model, interface: &str, tested: &TestedMethod<'_>) {
    let method = &tested.plan.method.name;
    out.line(format!("static void obvia_test_{interface}_{method}_try({interface} *object, uint64_t call)"));
    out.line("{");
    out.line(format!("const obvia_test_{interface}_{method}_call obvia_test_want(call);"));
    out.line(format!("const obvia_test_place obvia_test_here = {{\"{interface}::{method}\", call}};"));
    for param in tested.plan.params.iter().filter(|param| param.param.direction.is_out()) {
        got(out, model, tested, param);
    }
    let arguments: Vec<String> = tested.plan.params.iter().map(argument).collect();
    out.line(format!(
        "const HRESULT result = object->{}({});",
        method_name(&tested.plan.method.code),
        arguments.join(", ")
    ));
    out.line("if (result != obvia_test_want.result) {");
    out.line("obvia_test_fails(obvia_test_here, obvia_error_text(result));");
    out.line("}");
    let results: Vec<_> =
        tested.plan.params.iter().filter_map(|param| Some((param, field(tested, param, true)?))).collect();
    if !results.is_empty() {
        out.line("if (result < 0) {");
        out.line("return;");
        out.line("}");
    }
    for (param, field) in results {
        let (got, want) = (format!("{}_got", param.param.name), format!("obvia_test_want.{}", field.name));
        let same = match &field.kind {
            FieldKind::Array { .. } => format!("obvia_test_same_elements({got}, {want}, {want}.size())"),
            FieldKind::Text { .. } => format!("obvia_test_same_text({got}, {want})"),
            _ => format!("obvia_test_same({got}, {want})"),
        };
        out.line(format!("obvia_test_expect({same}, obvia_test_here, \"the result `{}` differs\");", param.param.name));
        if matches!(param.passing, Passing::OutText(_) | Passing::OutArray { .. }) {
            out.line(format!("obvia_free({got});"));
        }
    }
    out.line("}");
}

/// Declares the variable for a result.
fn got(out: &mut Writer, model: &Model, tested: &TestedMethod<'_>, param: &ParamPlan<'_>) {
    let name = format!("{}_got", param.param.name);
    let argument = field(tested, param, false).map(|field| format!("obvia_test_want.{}", field.name));
    match &param.passing {
        Passing::RefPointer(ty @ Type::Fixed(..)) => {
            out.line(format!("{} = {{}};", declare(model, ty, &name)));
            if let Some(argument) = argument {
                out.line(format!("std::memcpy({name}, {argument}, sizeof {name});"));
            }
        }
        Passing::RefPointer(ty) => {
            let first = argument.unwrap_or_else(|| "{}".to_owned());
            out.line(format!("{} = {first};", declare(model, ty, &name)));
        }
        Passing::Array { element, size, .. } => {
            out.line(format!("std::vector<{}> {name};", type_name(model, element)));
            out.line(format!("obvia_test_room({name}, {});", elements(tested, size, "obvia_test_want.")));
            if let Some(argument) = argument {
                out.line(format!("std::copy({argument}.begin(), {argument}.end(), {name}.begin());"));
            }
        }
        Passing::OutText(base) => out.line(format!("{} *{name} = nullptr;", base_name(*base))),
        Passing::OutArray { element, .. } => out.line(format!("{} *{name} = nullptr;", type_name(model, element))),
        _ => {}
    }
}

/// Returns the argument for a parameter.
fn argument(param: &ParamPlan<'_>) -> String {
    let (got, argument) =
        (format!("{}_got", param.param.name), format!("obvia_test_want.{}", field_name(param, false)));
    match (&param.passing, param.param.direction.is_out()) {
        (Passing::RefPointer(Type::Fixed(..)), true) => got,
        // The targets of arrays of arrays are not const: see `parameters`.
        (Passing::RefPointer(Type::Fixed(element, _)), false) if matches!(**element, Type::Fixed(..)) => {
            format!("obvia_test_changeable({argument})")
        }
        (Passing::Array { .. }, true) => format!("{got}.data()"),
        (_, true) => format!("&{got}"),
        (Passing::RefPointer(Type::Fixed(..)) | Passing::Value(_), false) => argument,
        (Passing::RefPointer(_), false) => format!("&{argument}"),
        (Passing::Array { .. }, false) => format!("{argument}.data()"),
        (Passing::Optional(_), false) => format!("{argument} ? &*{argument} : nullptr"),
        (Passing::Text { base, .. }, false) if !matches!(base, Base::Char | Base::WChar) => {
            let number = base_name(*base);
            format!("reinterpret_cast<const {number} *>({argument} ? {argument}->c_str() : nullptr)")
        }
        _ => format!("{argument} ? {argument}->c_str() : nullptr"),
    }
}

/// Writes a method of the object.
fn method(out: &mut Writer, model: &Model, interface: &str, tested: &TestedMethod<'_>) {
    let name = &tested.plan.method.name;
    let named: fn(&str) -> String =
        if tested.omission_reason.is_some() { |_| String::new() } else { |code| format!("{code}_given") };
    let params = parameters(model, &tested.plan, named);
    out.line(format!(
        "HRESULT {}({}) override",
        method_name(&tested.plan.method.code),
        params.trim_start_matches(", ")
    ));
    out.line("{");
    if tested.omission_reason.is_some() {
        out.line("return E_NOTIMPL;");
        return out.line("}");
    }
    out.line(format!("const uint64_t call = obvia_test_calls_[{}]++;", tested.plan.method.opnum - 3));
    out.line(format!("const obvia_test_{interface}_{name}_call obvia_test_want(call);"));
    let arguments: Vec<_> =
        tested.plan.params.iter().filter_map(|param| Some((param, field(tested, param, false)?))).collect();
    if !arguments.is_empty() {
        out.line(format!("const obvia_test_place obvia_test_here = {{\"{interface}::{name}\", call}};"));
    }
    for (param, field) in arguments {
        let (argument, want) = (format!("{}_given", param.param.code), format!("obvia_test_want.{}", field.name));
        let same = match &field.kind {
            FieldKind::Array { .. } => format!("obvia_test_same_elements({argument}, {want}, {want}.size())"),
            FieldKind::Text { .. } => format!("obvia_test_same_text({argument}, {want})"),
            FieldKind::Optional(_) => {
                format!("({argument} ? {want} && obvia_test_same(*{argument}, *{want}) : !{want})")
            }
            FieldKind::Value(Type::Fixed(_, count), _) => {
                format!("obvia_test_same_elements({argument}, {want}, {count})")
            }
            _ if matches!(param.passing, Passing::RefPointer(_)) => format!("obvia_test_same(*{argument}, {want})"),
            _ => format!("obvia_test_same({argument}, {want})"),
        };
        out.line(format!(
            "obvia_test_expect({same}, obvia_test_here, \"the argument `{}` differs\");",
            param.param.name
        ));
    }
    let results: Vec<_> =
        tested.plan.params.iter().filter_map(|param| Some((param, field(tested, param, true)?))).collect();
    if !results.is_empty() {
        out.line("if (obvia_test_want.result < 0) {");
        out.line("return obvia_test_want.result;");
        out.line("}");
    }
    for (param, field) in results {
        let (argument, want) = (format!("{}_given", param.param.code), format!("obvia_test_want.{}", field.name));
        out.line(match &field.kind {
            FieldKind::Array { .. } if matches!(param.passing, Passing::OutArray { .. }) => {
                format!("obvia_test_copy({argument}, {want}.data(), {want}.size());")
            }
            FieldKind::Array { .. } => format!("std::copy({want}.begin(), {want}.end(), {argument});"),
            FieldKind::Text { .. } => format!("obvia_test_copy({argument}, {want}->c_str(), {want}->size() + 1);"),
            FieldKind::Value(Type::Fixed(..), _) => format!("std::memcpy({argument}, {want}, sizeof {want});"),
            _ => format!("*{argument} = {want};"),
        });
    }
    out.line("return obvia_test_want.result;");
    out.line("}");
    out.line("");
}

fn main(out: &mut Writer, model: &Model, tested_methods: &[(InterfaceId, Vec<TestedMethod<'_>>)]) {
    out.line("int main(int obvia_test_argc, char **obvia_test_argv)");
    out.line("{");
    out.line("const std::string obvia_test_what = obvia_test_argc > 3 ? obvia_test_argv[1] : \"\", obvia_test_name = obvia_test_argc > 3 ? obvia_test_argv[2] : \"\";");
    out.line("if (!(obvia_test_what == \"serve\" && obvia_test_argc == 4) && !(obvia_test_what == \"call\" && obvia_test_argc == 5)) {");
    out.line("std::fprintf(stderr, \"usage: %s serve NAME SEED | call NAME SEED CALLS\\n\", obvia_test_argv[0]);");
    out.line("return 2;");
    out.line("}");
    out.line("obvia_test_seed = std::strtoull(obvia_test_argv[3], nullptr, 10);");
    out.line("if (obvia_test_what == \"serve\") {");
    let names: Vec<String> = tested_methods.iter().map(|(id, _)| interface(model, *id)).collect();
    for (at, name) in names.iter().enumerate() {
        out.line(format!(
            "const obvia::served obvia_test_entry{at} = obvia::serve(obvia_test_name + \"-{name}\", obvia::make<obvia_test_{name}_object>());"
        ));
    }
    out.line("std::puts(\"ready\");");
    out.line("std::fflush(stdout);");
    out.line("std::getchar();");
    out.line("return 0;");
    out.line("}");
    out.line("[[maybe_unused]] const uint64_t calls = std::strtoull(obvia_test_argv[4], nullptr, 10);");
    for ((_, methods), name) in tested_methods.iter().zip(&names) {
        out.line("{");
        out.line(format!(
            "const obvia::com_ptr<{name}> object = obvia::connect<{name}>(obvia_test_name + \"-{name}\");"
        ));
        out.line("for (uint64_t call = 0; call < calls; call++) {");
        for tested in methods.iter().filter(|tested| tested.omission_reason.is_none()) {
            out.line(format!("obvia_test_{name}_{}_try(object.get(), call);", tested.plan.method.name));
        }
        out.line("}");
        out.line("}");
    }
    out.line("std::puts(\"ok\");");
    out.line("return 0;");
    out.line("}");
}
