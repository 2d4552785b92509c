//! Files for which an unoptimized compiler takes seconds. A thorough run has these tests.

use super::{GRACE, accepted, lines, processor_time, refused, with_method};
use obvia_idl::{Compiler, emit};
use std::path::Path;

#[test]
fn chains_of_pointers_are_limited() {
    let pointers = |count| {
        "struct S0 { long a; };\n".to_owned()
            + &lines(count, |at| format!("struct S{} {{ struct S{at} *a; long b; }};", at + 1))
    };
    accepted("three hundred structures", with_method(&pointers(300), "[in] struct S300 *s"));
    refused("thirty thousand structures", with_method(&pointers(30_000), "[in] long a"), "too-large", 837);
    let unions = |count| {
        "union U0 switch (long t) u { case 1: long *a; };\n".to_owned()
            + &lines(count, |at| format!("union U{} switch (long t) u {{ case 1: union U{at} *a; }};", at + 1))
    };
    accepted("two hundred unions", with_method(&unions(200), "[in] union U200 *u"));
    let interfaces = |count, methods: &str| {
        "import \"unknwn.idl\";\n[object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a10)] interface I0 : IUnknown { }\n"
            .to_owned()
            + &lines(count, |at| {
                format!(
                    "[object, uuid(0d4f4c52-0a34-4ac4-8d6c-{:012x})] interface I{} : I{at} {{ {} }}",
                    at + 1,
                    at + 1,
                    methods.replace('#', &at.to_string())
                )
            })
    };
    accepted("sixty interfaces", interfaces(60, "HRESULT M#();"));
    refused("twenty thousand interfaces", interfaces(20_000, ""), "too-deep", 66);
    let heirs =
        lines(820, |at| format!("[object, uuid(2d4f4c52-0a34-4ac4-8d6c-{at:012x})] interface H{at} : I60 {{ }}"));
    refused("empty heirs of sixty", interfaces(60, "") + &heirs, "too-large", 302);
    let wide = lines(1000, |at| format!("HRESULT M{at}([in] long a, [in] long b);"));
    let wide = format!(
        "{}[object, uuid(1d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a10)] interface IW : IUnknown {{\n{wide}}}\n",
        interfaces(0, "")
    );
    let heirs =
        lines(2000, |at| format!("[object, uuid(2d4f4c52-0a34-4ac4-8d6c-{at:012x})] interface H{at} : IW {{ }}"));
    refused("two thousand heirs of a thousand methods", wide + &heirs, "too-large", 1055);
}

#[test]
fn interfaces_that_lead_to_too_many_types_are_refused() {
    let types = lines(66_000, |at| format!("struct S{at} {{ long a; }};"));
    let groups = lines(66, |group| {
        let members: String = (0..1000).map(|at| format!(" struct S{} *p{at};", group * 1000 + at)).collect();
        format!("struct G{group} {{{members} }};")
    });
    let params: Vec<_> = (0..66).map(|at| format!("[in] struct G{at} *g{at}")).collect();
    refused("sixty-six thousand types", with_method(&(types + &groups), &params.join(", ")), "too-large", 66_070);
}

#[test]
fn the_time_for_many_objects_of_built_in_interfaces_grows_linearly() {
    let params = (0..20).map(|at| format!("[in] IPersist *a{at}")).collect::<Vec<_>>().join(", ");
    let took = |count: usize| {
        let interface = |at: usize| {
            let (base, params) = if at == count { ("IPersist", "") } else { ("IUnknown", params.as_str()) };
            format!(
                "[object, uuid(5d1c0a8e-61f2-4f0c-9b56-{at:012x})] interface I{at} : {base} {{ HRESULT M({params}); }}"
            )
        };
        let text = "import \"objidl.idl\";\n".to_owned() + &lines(count + 1, interface);
        let begin = processor_time();
        let found = Compiler::new().check_text(Path::new("x.idl"), &text).unwrap_or_else(|failure| panic!("{failure}"));
        emit::c::emit(&found, "x").unwrap_or_else(|refused| panic!("{refused:?}"));
        processor_time() - begin
    };
    let (few, many) = (took(250), took(2000));
    assert!(many <= few * 16 + GRACE, "{many:?} for eight times as many as in {few:?}");
}

/// Returns a structure that leads to a thousand others.
fn long_chain() -> String {
    lines(1000, |at| format!("struct S{at} {{ struct S{} *a; }};", at + 1)) + "struct S1000 { long a; };\n"
}

#[test]
fn products_of_methods_and_reachable_types_are_limited() {
    let params = |param: &str| (0..200).map(|at| format!("{param}a{at}")).collect::<Vec<_>>().join(", ");
    let methods = |count, param: &str| lines(count, |at| format!("HRESULT N{at}({});", params(param)));
    let with = |types: &str, methods: &str| {
        with_method(types, "[in] long a").replace("HRESULT M", &(methods.to_owned() + "HRESULT M"))
    };
    accepted("parameters", with(&long_chain(), &methods(10, "[in] struct S0 *")));
    accepted("results", with("", &methods(15, "[out] long *")));
    let arms = lines(1000, |at| format!("case {at}: struct S0 *a{at};"));
    accepted("arms", format!("{}union U switch (long t) u {{ {arms} }};", long_chain()));
    let uuid = |at: usize| format!("uuid(3d4f4c52-0a34-4ac4-8d6c-{at:012x})");
    let interfaces = lines(400, |at| {
        format!("[object, {}] interface J{at} : IUnknown {{ HRESULT M([in] struct S0 *a); }}", uuid(at))
    });
    refused("interfaces", with_method(&long_chain(), "[in] long a") + &interfaces, "too-large", 1076);
    let methods = lines(900, |at| format!("HRESULT M{at}([in] long a);"));
    let wide = format!("import \"unknwn.idl\";\n[object, local, {}] interface W : IUnknown {{\n{methods}}}\n", uuid(0));
    let heirs = lines(900, |at| format!("[object, local, {}] interface H{at} : W {{ }}", uuid(at + 1)));
    refused("heirs in one process", wide + &heirs, "too-large", 963);
    refused("attributes", with_method("", &format!("[{}in] long a", "foo, ".repeat(14_000))), "unknown-attribute", 4);
}
