//! Random calls in C++: a test program that serves objects that check their arguments, and calls
//! these objects.

use super::names::{
    base as base_name, declare, ident, interface, method as method_name, parameters, type_ident, type_name,
};
use crate::compile::Compilation;
use crate::emit::random_calls::{Field, Trial, What, count, field_name, trials};
use crate::model::{Base, InterfaceId, Model, StructId, Type};
use crate::plan::{ParamPlan, Passing, is_plain};
use crate::text::writer::Writer;

/// The generator, and the code that programs for all interfaces share.
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
    // Automation's structures are not declared in C.
    let structs = (model.built_in.structs..model.structs.len()).map(StructId);
    let structs: Vec<StructId> = structs.filter(|id| is_plain(model, &Type::Struct(*id))).collect();
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
    let trials = trials(model);
    for (id, methods) in &trials {
        one_interface(&mut out, model, *id, methods);
    }
    main(&mut out, model, &trials);
    out.finish()
}

/// Writes the functions that compare and draw a structure.
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

/// Writes the statements that draw a value into a variable.
fn draw(out: &mut Writer, model: &Model, ty: &Type, range: Option<(i64, i64)>, place: &str, depth: usize) {
    if let Type::Fixed(element, _) = ty {
        out.line(format!("for (auto &obvia_test_element{depth} : {place}) {{"));
        draw(out, model, element, range, &format!("obvia_test_element{depth}"), depth + 1);
        return out.line("}");
    }
    out.line(format!("{place} = {};", value(model, ty, range)));
}

/// Returns an expression that draws a value of a type that is not an array.
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

fn one_interface(out: &mut Writer, model: &Model, id: InterfaceId, methods: &[Trial<'_>]) {
    let name = interface(model, id);
    for trial in methods {
        match &trial.left_out {
            Some(why) => out.line(format!("// {name}::{} is left out: {why}.", trial.plan.method.name)),
            None => {
                call(out, model, &name, trial);
                try_call(out, model, &name, trial);
            }
        }
        out.line("");
    }
    out.line(format!("// An object for the tests of {name}."));
    out.line(format!(
        "class obvia_test_{name}_object final : public obvia::implements<obvia_test_{name}_object, {name}> {{"
    ));
    out.line("public:");
    for trial in methods {
        method(out, model, &name, trial);
    }
    if methods.iter().any(|trial| trial.left_out.is_none()) {
        out.line("private:");
        out.line(format!("std::atomic<uint64_t> obvia_test_calls_[{}] = {{}};", methods.len()));
    }
    out.line("};");
    out.line("");
}

/// Writes the structure of a call's values.
fn call(out: &mut Writer, model: &Model, interface: &str, trial: &Trial<'_>) {
    let name = format!("obvia_test_{interface}_{}_call", trial.plan.method.name);
    out.line(format!("struct {name} {{"));
    for field in &trial.fields {
        let text = match &field.what {
            What::Value(ty, _) | What::Kept(ty, _) => declare(model, ty, &field.name),
            What::Count(base, _) | What::Used(base, _) => format!("{} {}", base_name(*base), field.name),
            What::Optional(ty) => format!("std::optional<{}> {}", type_name(model, ty), field.name),
            What::Array { element, .. } => format!("std::vector<{}> {}", type_name(model, element), field.name),
            What::Text { wide, .. } => format!("std::optional<{}> {}", string(*wide), field.name),
        };
        out.line(format!("{text};"));
    }
    out.line("HRESULT result;");
    out.line("");
    out.line(format!("explicit {name}(uint64_t call)"));
    out.line("{");
    out.line(format!("obvia_test_values obvia_test_from(obvia_test_seed, {}, call);", trial.plan.method.opnum));
    let (arguments, results): (Vec<&Field>, Vec<&Field>) = trial.fields.iter().partition(|field| !field.is_result);
    arguments.iter().for_each(|field| draw_field(out, model, trial, field));
    let fails = if trial.plan.method.oneway { "S_OK" } else { "obvia_test_from.one_in(16) ? E_FAIL : S_OK" };
    out.line(format!("result = {fails};"));
    results.iter().for_each(|field| draw_field(out, model, trial, field));
    out.line("}");
    out.line("};");
    out.line("");
}

fn string(wide: bool) -> &'static str {
    if wide { "std::u16string" } else { "std::string" }
}

/// Returns the text of a count expression.
fn elements(trial: &Trial<'_>, value: &crate::model::Arith, prefix: &str) -> String {
    count(&trial.plan, value, &|name| format!("static_cast<uint64_t>({prefix}{name})"))
}

fn draw_field(out: &mut Writer, model: &Model, trial: &Trial<'_>, field: &Field) {
    let name = &field.name;
    match &field.what {
        What::Value(ty, range) => draw(out, model, ty, *range, name, 0),
        What::Count(base, [least, fit, most]) => {
            out.line(format!(
                "{name} = static_cast<{}>(obvia_test_from.length({least}, {fit}, {most}));",
                base_name(*base)
            ));
        }
        What::Used(base, rooms) => {
            out.line(format!("uint64_t {name}_most = {};", elements(trial, &rooms[0], "")));
            for other in &rooms[1..] {
                let other = elements(trial, other, "");
                out.line(format!("{name}_most = {other} < {name}_most ? {other} : {name}_most;"));
            }
            let most = format!("{name}_most");
            out.line(format!("{name} = static_cast<{}>(obvia_test_from.length(0, {most}, {most}));", base_name(*base)));
        }
        What::Kept(_, argument) => out.line(format!("{name} = {argument};")),
        What::Optional(ty) => {
            out.line("if (!obvia_test_from.one_in(4)) {");
            out.line(format!("{name} = {};", value(model, ty, None)));
            out.line("}");
        }
        What::Array { element, count, .. } => {
            out.line(format!("obvia_test_room({name}, {});", elements(trial, count, "")));
            draw(out, model, &Type::Fixed(Box::new(element.clone()), 0), None, name, 0);
        }
        What::Text { wide, optional, fit } => {
            let drawn = format!(
                "{name} = obvia_test_from.text<{}>({}, {fit});",
                string(*wide),
                if *wide { 0xffff } else { 0xff }
            );
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

/// Returns the field of a parameter's argument or result.
fn field<'t>(trial: &'t Trial<'_>, param: &ParamPlan<'_>, is_result: bool) -> Option<&'t Field> {
    let name = field_name(param, is_result);
    trial.fields.iter().find(|field| field.name == name && field.is_result == is_result)
}

/// Writes the function that makes a call and checks its results.
fn try_call(out: &mut Writer, model: &Model, interface: &str, trial: &Trial<'_>) {
    let method = &trial.plan.method.name;
    out.line(format!("static void obvia_test_{interface}_{method}_try({interface} *object, uint64_t call)"));
    out.line("{");
    out.line(format!("const obvia_test_{interface}_{method}_call obvia_test_want(call);"));
    out.line(format!("const obvia_test_place obvia_test_here = {{\"{interface}::{method}\", call}};"));
    for param in trial.plan.params.iter().filter(|param| param.param.direction.is_out()) {
        got(out, model, trial, param);
    }
    let given: Vec<String> = trial.plan.params.iter().map(given).collect();
    out.line(format!("const HRESULT result = object->{}({});", method_name(&trial.plan.method.code), given.join(", ")));
    out.line("if (result != obvia_test_want.result) {");
    out.line("obvia_test_fails(obvia_test_here, obvia_error_text(result));");
    out.line("}");
    let results: Vec<_> =
        trial.plan.params.iter().filter_map(|param| Some((param, field(trial, param, true)?))).collect();
    if !results.is_empty() {
        out.line("if (result < 0) {");
        out.line("return;");
        out.line("}");
    }
    for (param, field) in results {
        let (got, want) = (format!("{}_got", param.param.name), format!("obvia_test_want.{}", field.name));
        let same = match &field.what {
            What::Array { .. } => format!("obvia_test_same_elements({got}, {want}, {want}.size())"),
            What::Text { .. } => format!("obvia_test_same_text({got}, {want})"),
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
fn got(out: &mut Writer, model: &Model, trial: &Trial<'_>, param: &ParamPlan<'_>) {
    let name = format!("{}_got", param.param.name);
    let argument = field(trial, param, false).map(|field| format!("obvia_test_want.{}", field.name));
    match &param.passing {
        Passing::Place(ty @ Type::Fixed(..)) => {
            out.line(format!("{} = {{}};", declare(model, ty, &name)));
            if let Some(argument) = argument {
                out.line(format!("std::memcpy({name}, {argument}, sizeof {name});"));
            }
        }
        Passing::Place(ty) => {
            let first = argument.unwrap_or_else(|| "{}".to_owned());
            out.line(format!("{} = {first};", declare(model, ty, &name)));
        }
        Passing::Array { element, size, .. } => {
            out.line(format!("std::vector<{}> {name};", type_name(model, element)));
            out.line(format!("obvia_test_room({name}, {});", elements(trial, size, "obvia_test_want.")));
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
fn given(param: &ParamPlan<'_>) -> String {
    let (got, argument) =
        (format!("{}_got", param.param.name), format!("obvia_test_want.{}", field_name(param, false)));
    match (&param.passing, param.param.direction.is_out()) {
        (Passing::Place(Type::Fixed(..)), true) => got,
        // The targets of arrays of arrays are not const: see `parameters`.
        (Passing::Place(Type::Fixed(element, _)), false) if matches!(**element, Type::Fixed(..)) => {
            format!("obvia_test_changeable({argument})")
        }
        (Passing::Array { .. }, true) => format!("{got}.data()"),
        (_, true) => format!("&{got}"),
        (Passing::Place(Type::Fixed(..)) | Passing::Value(_), false) => argument,
        (Passing::Place(_), false) => format!("&{argument}"),
        (Passing::Array { .. }, false) => format!("{argument}.data()"),
        (Passing::Optional(_), false) => format!("{argument} ? &*{argument} : nullptr"),
        _ => format!("{argument} ? {argument}->c_str() : nullptr"),
    }
}

/// Writes a method of the object.
fn method(out: &mut Writer, model: &Model, interface: &str, trial: &Trial<'_>) {
    let name = &trial.plan.method.name;
    let named: fn(&str) -> String =
        if trial.left_out.is_some() { |_| String::new() } else { |code| format!("{code}_given") };
    let params = parameters(model, &trial.plan, named);
    out.line(format!("HRESULT {}({}) override", method_name(&trial.plan.method.code), params.trim_start_matches(", ")));
    out.line("{");
    if trial.left_out.is_some() {
        out.line("return E_NOTIMPL;");
        return out.line("}");
    }
    out.line(format!("const uint64_t call = obvia_test_calls_[{}]++;", trial.plan.method.opnum - 3));
    out.line(format!("const obvia_test_{interface}_{name}_call obvia_test_want(call);"));
    let arguments: Vec<_> =
        trial.plan.params.iter().filter_map(|param| Some((param, field(trial, param, false)?))).collect();
    if !arguments.is_empty() {
        out.line(format!("const obvia_test_place obvia_test_here = {{\"{interface}::{name}\", call}};"));
    }
    for (param, field) in arguments {
        let (given, want) = (format!("{}_given", param.param.code), format!("obvia_test_want.{}", field.name));
        let same = match &field.what {
            What::Array { .. } => format!("obvia_test_same_elements({given}, {want}, {want}.size())"),
            What::Text { .. } => format!("obvia_test_same_text({given}, {want})"),
            What::Optional(_) => format!("({given} ? {want} && obvia_test_same(*{given}, *{want}) : !{want})"),
            What::Value(Type::Fixed(_, count), _) => format!("obvia_test_same_elements({given}, {want}, {count})"),
            _ if matches!(param.passing, Passing::Place(_)) => format!("obvia_test_same(*{given}, {want})"),
            _ => format!("obvia_test_same({given}, {want})"),
        };
        out.line(format!(
            "obvia_test_expect({same}, obvia_test_here, \"the argument `{}` differs\");",
            param.param.name
        ));
    }
    let results: Vec<_> =
        trial.plan.params.iter().filter_map(|param| Some((param, field(trial, param, true)?))).collect();
    if !results.is_empty() {
        out.line("if (obvia_test_want.result < 0) {");
        out.line("return obvia_test_want.result;");
        out.line("}");
    }
    for (param, field) in results {
        let (given, want) = (format!("{}_given", param.param.code), format!("obvia_test_want.{}", field.name));
        out.line(match &field.what {
            What::Array { .. } if matches!(param.passing, Passing::OutArray { .. }) => {
                format!("*{given} = obvia_test_copy({want}.data(), {want}.size());")
            }
            What::Array { .. } => format!("std::copy({want}.begin(), {want}.end(), {given});"),
            What::Text { .. } => format!("*{given} = obvia_test_copy({want}->c_str(), {want}->size() + 1);"),
            What::Value(Type::Fixed(..), _) => format!("std::memcpy({given}, {want}, sizeof {want});"),
            _ => format!("*{given} = {want};"),
        });
    }
    out.line("return obvia_test_want.result;");
    out.line("}");
    out.line("");
}

fn main(out: &mut Writer, model: &Model, trials: &[(InterfaceId, Vec<Trial<'_>>)]) {
    out.line("int main(int obvia_test_argc, char **obvia_test_argv)");
    out.line("{");
    out.line("const std::string obvia_test_what = obvia_test_argc > 3 ? obvia_test_argv[1] : \"\", obvia_test_name = obvia_test_argc > 3 ? obvia_test_argv[2] : \"\";");
    out.line("if (!(obvia_test_what == \"serve\" && obvia_test_argc == 4) && !(obvia_test_what == \"call\" && obvia_test_argc == 5)) {");
    out.line("std::fprintf(stderr, \"usage: %s serve NAME SEED | call NAME SEED CALLS\\n\", obvia_test_argv[0]);");
    out.line("return 2;");
    out.line("}");
    out.line("obvia_test_seed = std::strtoull(obvia_test_argv[3], nullptr, 10);");
    out.line("if (obvia_test_what == \"serve\") {");
    let names: Vec<String> = trials.iter().map(|(id, _)| interface(model, *id)).collect();
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
    for ((_, methods), name) in trials.iter().zip(&names) {
        out.line("{");
        out.line(format!(
            "const obvia::com_ptr<{name}> object = obvia::connect<{name}>(obvia_test_name + \"-{name}\");"
        ));
        out.line("for (uint64_t call = 0; call < calls; call++) {");
        for trial in methods.iter().filter(|trial| trial.left_out.is_none()) {
            out.line(format!("obvia_test_{name}_{}_try(object.get(), call);", trial.plan.method.name));
        }
        out.line("}");
        out.line("}");
    }
    out.line("std::puts(\"ok\");");
    out.line("return 0;");
    out.line("}");
}
