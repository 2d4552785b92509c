//! Random calls in Rust: a test program that serves objects that check their arguments, and calls
//! these objects.

use super::names::{base as base_name, ident, item_name, tuple, type_name, value as value_type};
use super::parameters::{argument, result};
use crate::compile::Compilation;
use crate::emit::random_calls::{Field, Trial, What, count, field_name, limits, trials};
use crate::model::{Arith, Base, Direction, InterfaceId, Model, StructId, Type};
use crate::plan::{ParamPlan, Passing, is_plain};
use crate::text::writer::Writer;

/// The generator, and the code that programs for all interfaces share.
const PRELUDE: &str = include_str!("random_calls.rs.in");

/// The attribute that exempts generated code from a crate's lints.
const ALLOWED: &str = "#[allow(warnings, clippy::all, clippy::pedantic, clippy::restriction, clippy::nursery)]";

/// Returns a file's test program in Rust. `stem` is the file's name without its extension.
pub fn random_calls(compilation: &Compilation, stem: &str) -> String {
    let model = &compilation.model;
    let mut out = Writer::default();
    let version = env!("CARGO_PKG_VERSION");
    out.line(format!("// Made by obvia-idl {version} from {}. Change the IDL, not this.", compilation.name));
    out.line("//");
    out.line("// `serve NAME SEED` exports an object for each interface, as NAME-INTERFACE, until its input ends; `call NAME SEED CALLS`");
    out.line("// calls each of their methods so often. Either ends with what differs. An object counts its calls: it has one caller.");
    out.line(ALLOWED);
    out.line("mod idl {");
    out.line(format!("include!(\"{stem}.rs\");"));
    out.line("}");
    out.line(ALLOWED);
    out.line("mod random_calls {");
    out.line("use super::idl::*;");
    PRELUDE.lines().for_each(|line| out.line(line.trim_start()));
    out.line("");
    for (at, found) in model.structs.iter().enumerate() {
        if is_plain(model, &Type::Struct(StructId(at))) {
            let name = type_name(&found.name);
            let fields = found.fields.iter();
            let fields = fields.map(|field| format!("{}: {}", ident(&field.name), value(model, &field.ty, None)));
            out.line(format!("fn draw_{}(random: &mut TestValues) -> {name} {{", found.name));
            out.line(format!("{name} {{ {} }}", fields.collect::<Vec<_>>().join(", ")));
            out.line("}");
            out.line("");
        }
    }
    let trials = trials(model);
    for (id, methods) in &trials {
        one_interface(&mut out, model, *id, methods);
    }
    main(&mut out, model, &trials);
    out.line("}");
    out.line("");
    out.line("fn main() -> obvia::Result<()> {");
    out.line("random_calls::main()");
    out.line("}");
    out.finish()
}

/// Returns an expression that draws a value.
fn value(model: &Model, ty: &Type, range: Option<(i64, i64)>) -> String {
    match ty {
        Type::Base(Base::Boolean) => "random.boolean()".to_owned(),
        Type::Base(Base::F32) => "random.real32()".to_owned(),
        Type::Base(Base::F64) => "random.real64()".to_owned(),
        Type::Base(Base::Guid) => "random.guid()".to_owned(),
        Type::Base(Base::Context) => "obvia::ContextHandle::from_wire(0, random.guid())".to_owned(),
        Type::Base(base) => {
            let [least, most] = limits(*base, range);
            let drawn = format!("random.integer({least}, {most})");
            if *base == Base::Hresult { format!("obvia::HRESULT({drawn} as i32)") } else { cast(&drawn, *base) }
        }
        Type::Enum(id) => {
            let found = &model.enums[id.0];
            let values: Vec<String> = found.values.iter().map(|(_, value)| value.to_string()).collect();
            format!("{}(random.one_of(&[{}]))", item_name(&found.name), values.join(", "))
        }
        Type::Struct(id) => format!("draw_{}(random)", model.structs[id.0].name),
        Type::Fixed(element, _) => format!("std::array::from_fn(|_| {})", value(model, element, range)),
        _ => "()".to_owned(),
    }
}

fn cast(text: &str, base: Base) -> String {
    format!("{text} as {}", base_name(base))
}

fn one_interface(out: &mut Writer, model: &Model, id: InterfaceId, methods: &[Trial<'_>]) {
    let name = item_name(&model.interfaces[id.0].name);
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
    out.line(format!("/// An object whose callers are {name}'s tests."));
    out.line(format!("#[windows_core::implement({name})]"));
    out.line(format!("struct {name}_test {{"));
    out.line(format!("calls: [AtomicU64; {}],", methods.len()));
    out.line("}");
    out.line("");
    let mut rest = methods;
    for base in model.lineage(id) {
        let found = &model.interfaces[base.0];
        let (own, others) = rest.split_at(found.methods.len());
        out.line(format!("impl {}_Impl for {name}_test_Impl {{", item_name(&found.name)));
        own.iter().for_each(|trial| method(out, model, &name, trial));
        out.line("}");
        out.line("");
        rest = others;
    }
}

/// Writes the structure of a call's values.
fn call(out: &mut Writer, model: &Model, interface: &str, trial: &Trial<'_>) {
    let name = format!("{interface}_{}_call", trial.plan.method.name);
    out.line(format!("struct {name} {{"));
    for field in &trial.fields {
        out.line(format!("{}: {},", field.name, field_type(model, field)));
    }
    out.line("fails: bool,");
    out.line("}");
    out.line("");
    out.line(format!("impl {name} {{"));
    out.line("fn new(call: u64) -> Self {");
    out.line(format!("let random = &mut TestValues::new({}, call);", trial.plan.method.opnum));
    let (arguments, results): (Vec<&Field>, Vec<&Field>) = trial.fields.iter().partition(|field| !field.is_result);
    let draw = |field: &&Field| format!("let {} = {};", field.name, drawn(model, trial, field));
    arguments.iter().for_each(|field| out.line(draw(field)));
    out.line(format!("let fails = {};", if trial.plan.method.oneway { "false" } else { "random.one_in(16)" }));
    results.iter().for_each(|field| out.line(draw(field)));
    let names: String = trial.fields.iter().map(|field| format!("{}, ", field.name)).collect();
    out.line(format!("Self {{ {names}fails }}"));
    out.line("}");
    out.line("}");
    out.line("");
}

fn field_type(model: &Model, field: &Field) -> String {
    match &field.what {
        What::Value(ty, _) | What::Kept(ty, _) => value_type(model, ty),
        What::Count(base, _) | What::Used(base, _) => base_name(*base).to_owned(),
        What::Optional(ty) => format!("Option<{}>", value_type(model, ty)),
        What::Array { element, .. } => format!("Vec<{}>", value_type(model, element)),
        What::Text { wide, optional, .. } => {
            let text = if *wide { "obvia::U16CString" } else { "CString" };
            if *optional { format!("Option<{text}>") } else { text.to_owned() }
        }
    }
}

/// Returns the text of a count expression.
fn elements(trial: &Trial<'_>, value: &Arith, prefix: &str) -> String {
    let text = count(&trial.plan, value, &|name| format!("({prefix}{name} as u64)"));
    if matches!(value, Arith::Const(_)) { format!("{text}_u64") } else { text }
}

fn drawn(model: &Model, trial: &Trial<'_>, field: &Field) -> String {
    match &field.what {
        What::Value(ty, range) => value(model, ty, *range),
        What::Count(base, [least, fit, most]) => cast(&format!("random.length({least}, {fit}, {most})"), *base),
        What::Used(base, rooms) => {
            let rooms: Vec<String> = rooms.iter().map(|room| elements(trial, room, "")).collect();
            let most = rooms.join(").min(");
            format!("{{ let most = ({most}); random.length(0, most, most) as {} }}", base_name(*base))
        }
        What::Kept(_, argument) => argument.clone(),
        What::Optional(ty) => format!("(!random.one_in(4)).then(|| {})", value(model, ty, None)),
        What::Array { element, count, .. } => {
            format!("(0..{}).map(|_| {}).collect()", elements(trial, count, ""), value(model, element, None))
        }
        What::Text { wide, optional, fit } => {
            let text = format!("random.text{}({fit})", if *wide { 16 } else { 8 });
            if *optional { format!("(!random.one_in(4)).then(|| {text})") } else { text }
        }
    }
}

/// Returns the field of a parameter's argument or result.
fn field<'t>(trial: &'t Trial<'_>, param: &ParamPlan<'_>, is_result: bool) -> Option<&'t Field> {
    let name = field_name(param, is_result);
    trial.fields.iter().find(|field| field.name == name && field.is_result == is_result)
}

/// Returns the parameters that are results of a call in Rust.
fn returned<'t, 'a>(model: &Model, trial: &'t Trial<'a>) -> Vec<&'t ParamPlan<'a>> {
    trial.plan.params.iter().filter(|param| result(model, param).is_some()).collect()
}

/// Writes the function that makes a call and checks its results.
fn try_call(out: &mut Writer, model: &Model, interface: &str, trial: &Trial<'_>) {
    let method = &trial.plan.method.name;
    out.line(format!("fn {interface}_{method}_try(object: &{interface}, call: u64) {{"));
    out.line(format!("let want = {interface}_{method}_call::new(call);"));
    out.line(format!("let place = (\"{interface}::{method}\", call);"));
    let mut given = Vec::new();
    for param in trial.plan.params.iter().filter(|param| argument(model, param).is_some()) {
        let (name, want) = (format!("{}_got", param.param.name), format!("want.{}", field_name(param, false)));
        let changes = param.param.direction.is_out();
        match &param.passing {
            Passing::Array { element, size, .. } if param.param.direction == Direction::Out => {
                let room = elements(trial, size, "want.");
                let element = value_type(model, element);
                out.line(format!("let mut {name}: Vec<{element}> = vec![obvia::rt::zero(); {room} as usize];"));
            }
            Passing::Place(_) | Passing::Array { .. } if changes => {
                out.line(format!("let mut {name} = {want}.clone();"))
            }
            _ => {}
        }
        given.push(match &param.passing {
            _ if changes => format!("&mut {name}"),
            Passing::Value(_) => want,
            Passing::Optional(_) => format!("{want}.as_ref()"),
            Passing::Text { optional: true, .. } => format!("{want}.as_deref()"),
            _ => format!("&{want}"),
        });
    }
    let results: Vec<String> = returned(model, trial).iter().map(|param| format!("{}_got", param.param.name)).collect();
    out.line(format!("match object.{}({}) {{", ident(method), given.join(", ")));
    out.line("Err(error) => {");
    out.line("test_expect(want.fails && error.code() == obvia::code::E_FAIL, place, &error.to_string());");
    out.line("}");
    out.line(format!("Ok({}) => {{", tuple(&results)));
    out.line("test_expect(!want.fails, place, \"a method that failed is said to have done well\");");
    for param in trial.plan.params.iter().filter(|param| !param.counts) {
        let Some(field) = field(trial, param, true) else { continue };
        let (got, want) = (format!("{}_got", param.param.name), format!("want.{}", field.name));
        let same = match field.what {
            // The rest of the room behind the used elements is unspecified.
            What::Array { .. } if !matches!(param.passing, Passing::OutArray { .. }) => {
                format!("{got}[..{want}.len()] == {want}[..]")
            }
            _ => format!("{got} == {want}"),
        };
        out.line(format!("test_expect({same}, place, \"the result `{}` differs\");", param.param.name));
    }
    out.line("}");
    out.line("}");
    out.line("}");
}

/// Writes a method of the object.
fn method(out: &mut Writer, model: &Model, interface: &str, trial: &Trial<'_>) {
    let name = &trial.plan.method.name;
    let params = trial.plan.params.iter();
    let params = params.filter_map(|param| Some(format!(", {}_given: {}", param.param.name, argument(model, param)?)));
    let results: Vec<String> = trial.plan.params.iter().filter_map(|param| result(model, param)).collect();
    let (params, results) = (params.collect::<String>(), tuple(&results));
    out.line(format!("fn {}(&self{params}) -> obvia::Result<{results}> {{", ident(name)));
    if trial.left_out.is_some() {
        out.line("Err(obvia::code::E_NOTIMPL.into())");
        return out.line("}");
    }
    out.line(format!("let call = self.calls[{}].fetch_add(1, Ordering::Relaxed);", trial.plan.method.opnum - 3));
    out.line(format!("let want = {interface}_{name}_call::new(call);"));
    out.line(format!("let place = (\"{interface}::{name}\", call);"));
    for param in trial.plan.params.iter().filter(|param| argument(model, param).is_some()) {
        let given = format!("{}_given", param.param.name);
        let same = match field(trial, param, false) {
            Some(field) => same_argument(param, &given, &format!("want.{}", field.name)),
            None => match &param.passing {
                Passing::Array { size, .. } => format!("{given}.len() as u64 == {}", elements(trial, size, "want.")),
                _ => continue,
            },
        };
        out.line(format!("test_expect({same}, place, \"the argument `{}` differs\");", param.param.name));
    }
    out.line("if want.fails {");
    out.line("return Err(obvia::code::E_FAIL.into());");
    out.line("}");
    for param in trial.plan.params.iter().filter(|param| argument(model, param).is_some()) {
        let Some(field) = field(trial, param, true) else { continue };
        let (given, want) = (format!("{}_given", param.param.name), format!("want.{}", field.name));
        out.line(match field.what {
            What::Array { .. } => format!("{given}[..{want}.len()].copy_from_slice(&{want});"),
            _ => format!("*{given} = {want};"),
        });
    }
    let results: Vec<String> =
        returned(model, trial).iter().map(|param| format!("want.{}", field_name(param, true))).collect();
    out.line(format!("Ok({})", tuple(&results)));
    out.line("}");
    out.line("");
}

/// Returns the condition that an argument equals the sent value.
fn same_argument(param: &ParamPlan<'_>, given: &str, want: &str) -> String {
    match &param.passing {
        Passing::Array { .. } => format!("{given}[..] == {want}[..]"),
        Passing::Text { optional: true, .. } => format!("{given} == {want}.as_deref()"),
        Passing::Optional(_) => format!("{given} == {want}.as_ref()"),
        Passing::Text { .. } => format!("*{given} == *{want}"),
        Passing::Place(_) => format!("*{given} == {want}"),
        _ => format!("{given} == {want}"),
    }
}

fn main(out: &mut Writer, model: &Model, trials: &[(InterfaceId, Vec<Trial<'_>>)]) {
    out.line("pub fn main() -> obvia::Result<()> {");
    out.line("let arguments: Vec<String> = std::env::args().skip(1).collect();");
    out.line("let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();");
    out.line("let number = |text: &str| text.parse().unwrap_or(0);");
    out.line("match arguments[..] {");
    out.line("[\"serve\", name, seed] => {");
    out.line("TEST_SEED.store(number(seed), Ordering::Relaxed);");
    for (at, (id, methods)) in trials.iter().enumerate() {
        let name = item_name(&model.interfaces[id.0].name);
        let calls = format!("[const {{ AtomicU64::new(0) }}; {}]", methods.len());
        out.line(format!("let object: {name} = {name}_test {{ calls: {calls} }}.into();"));
        out.line(format!("let _entry{at} = obvia::export(&format!(\"{{name}}-{name}\"), object)?;"));
    }
    out.line("println!(\"ready\");");
    out.line("let _ = std::io::stdin().read_line(&mut String::new());");
    out.line("}");
    out.line("[\"call\", name, seed, calls] => {");
    out.line("TEST_SEED.store(number(seed), Ordering::Relaxed);");
    for (id, methods) in trials {
        let name = item_name(&model.interfaces[id.0].name);
        out.line(format!("let object = obvia::connect::<{name}>(&format!(\"{{name}}-{name}\"))?;"));
        out.line("for call in 0..number(calls) {");
        for trial in methods.iter().filter(|trial| trial.left_out.is_none()) {
            out.line(format!("{name}_{}_try(&object, call);", trial.plan.method.name));
        }
        out.line("}");
    }
    out.line("println!(\"ok\");");
    out.line("}");
    out.line("_ => {");
    out.line("eprintln!(\"usage: serve NAME SEED | call NAME SEED CALLS\");");
    out.line("std::process::exit(2);");
    out.line("}");
    out.line("}");
    out.line("Ok(())");
    out.line("}");
}
