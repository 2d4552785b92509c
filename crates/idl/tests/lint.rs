//! Rules for declarations that compile: each rule reports the declarations that break it, and no
//! others.

use obvia_idl::Compiler;
use obvia_idl::tools::lint::{Finding, Rule, lint};
use std::collections::HashSet;
use std::path::Path;

fn findings(text: &str) -> Vec<Finding> {
    let text = format!("import \"oaidl.idl\";\n{}", text.replace('@', "uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a0"));
    let compiled = Compiler::new().check_text(Path::new("x.idl"), &text).unwrap_or_else(|failure| panic!("{failure}"));
    lint(&compiled)
}

fn with_methods(methods: &str) -> String {
    format!("[object, @1)] interface I : IUnknown {{ {methods} }}")
}

/// Returns the rules, each with a text that breaks the rule and a text that keeps it.
fn rows() -> Vec<(Rule, String, String)> {
    let row = |rule, bad: &str, good: &str| (rule, bad.to_owned(), good.to_owned());
    let methods = |rule, bad: &str, good: &str| (rule, with_methods(bad), with_methods(good));
    let library = "library L { [@2)] coclass C { interface IUnknown; }; };";
    vec![
        methods(
            Rule::UnboundedOut,
            "HRESULT A([out] unsigned long *n, [out, size_is(, *n)] long **list);",
            "HRESULT A([out, range(0, 99)] unsigned long *n, [out, size_is(, *n)] long **list);",
        ),
        methods(
            Rule::UnboundedRoom,
            "HRESULT A([in] unsigned long room, [out, size_is(room)] long *list);",
            "HRESULT A([in, max_value(99)] unsigned long room, [out, size_is(room)] long *list);\n\
             HRESULT B([in] unsigned short room, [out, size_is(room)] long *list);\n\
             HRESULT C([in] unsigned long n, [in, size_is(n)] const long *list);\n\
             HRESULT D([in] unsigned long n, [in, size_is(n)] const long *list, [out, size_is(n)] long *other);",
        ),
        methods(
            Rule::SignedCount,
            "HRESULT A([in] long n, [in, size_is(n)] const long *list);",
            "HRESULT A([in, range(0, 9)] long n, [in, size_is(n)] const long *list);",
        ),
        row(
            Rule::LayoutHole,
            "struct S { byte a; hyper b; byte c; };",
            "struct S { hyper b; byte a; byte c; }; struct T { byte a; long b; };",
        ),
        row(Rule::MissingUuid, library, &format!("[@1)] {library}")),
        row(Rule::MissingVersion, "[@1)] interface I { void A(); }", "[@1), version(1.0)] interface I { void A(); }"),
        row(
            Rule::UnusedType,
            &format!("struct S {{ long a; }}; {}", with_methods("HRESULT A();")),
            &format!("struct S {{ long a; }}; {}", with_methods("HRESULT A([in, unique] const struct S *s);")),
        ),
        methods(Rule::FullPointer, "HRESULT A([in, ptr] const long *a);", "HRESULT A([in, unique] const long *a);"),
        row(
            Rule::MissingRetval,
            "[object, dual, @1)] interface I : IDispatch { [id(1)] HRESULT A([out] long *a); }",
            "[object, dual, @1)] interface I : IDispatch { [id(1)] HRESULT A([out, retval] long *a);\n\
             [id(2)] HRESULT B([out] long *a, [out] long *b); }",
        ),
        row(
            Rule::LargeValue,
            &format!("struct S {{ byte a[129]; }}; {}", with_methods("HRESULT A([in] struct S s);")),
            &format!(
                "struct S {{ byte a[129]; }}; struct T {{ byte a[128]; }}; {}",
                with_methods("HRESULT A([in] const struct S *s, [in] struct T t);")
            ),
        ),
        methods(
            Rule::NarrowText,
            "HRESULT A([in, string] const char *a);",
            "HRESULT A([in, string] const wchar_t *a);",
        ),
        row(
            Rule::EnumWithoutZero,
            &format!("enum E {{ A = 1 }}; {}", with_methods("HRESULT A([out] enum E *e);")),
            &format!(
                "enum E {{ A = 1 }}; enum G {{ C }}; typedef [open] enum {{ B = 1 }} F; {}",
                with_methods("HRESULT A([in] enum E e, [out] enum G *g, [out] F *f);")
            ),
        ),
    ]
}

#[test]
fn each_rule_finds_its_declarations_and_no_others() {
    for (rule, bad, good) in rows() {
        let found: Vec<Rule> = findings(&bad).iter().map(|finding| finding.rule).collect();
        assert_eq!(found, [rule], "{bad}");
        let found = findings(&good);
        assert!(found.is_empty(), "{good}: {found:?}");
    }
    let tested: HashSet<Rule> = rows().into_iter().map(|(rule, ..)| rule).collect();
    assert_eq!(tested.len(), Rule::ALL.len());
}

#[test]
fn more_declarations_are_found() {
    let (room, narrow) = (Rule::UnboundedRoom, Rule::NarrowText);
    for (rule, methods) in [
        (room, "HRESULT A([in] unsigned long n, [in, unique, size_is(n)] const byte *q, [out, size_is(n)] byte *p);"),
        (room, "HRESULT A([in, range(0, 4294967295)] unsigned long n, [out, size_is(n)] byte *p);"),
        (room, "HRESULT A([in] unsigned short n, [in] unsigned short m, [out, size_is(n * m)] byte *p);"),
        (
            room,
            "[local] HRESULT A([in] void *p); [call_as(A)] HRESULT R([in] unsigned long n, [out, size_is(n)] byte *p);",
        ),
        (narrow, "HRESULT A([in, string] const byte *p);"),
    ] {
        let found = findings(&with_methods(methods));
        assert_eq!(found.iter().map(|found| found.rule).collect::<Vec<_>>(), [rule], "{methods}: {found:?}");
    }
    let [found] = &findings(&with_methods("HRESULT A([in, string] const byte *p);"))[..] else { panic!("one finding") };
    assert_eq!(found.message, "the parameter `p` of `I.A` is a text of `byte`");
}

#[test]
fn other_declarations_are_not_found() {
    let method = with_methods("HRESULT A();");
    for text in [
        with_methods("HRESULT A([in, string, utf8] const char *p, [out, string, utf8] char **q);"),
        "enum { FIRST = 1 }; [object, dual, @1)] interface I : IDispatch { [id(FIRST)] HRESULT A(); }".to_owned(),
        format!("enum {{ FEW = 4 }}; {}", with_methods("HRESULT A([in] long n[FEW]);")),
        format!(
            "enum {{ ONE = 1 }}; union U switch (long t) u {{ case ONE: long a; }}; {}",
            with_methods("HRESULT A([in] const union U *u);")
        ),
        format!(
            "struct S {{ long a; }}; {}",
            with_methods("[local] HRESULT A([in] void *p); [call_as(A)] HRESULT R([in] const struct S *s);")
        ),
        format!("{method} [@2)] library L {{ struct S {{ long a; }}; }};"),
        format!("{method} typedef [@2)] struct S {{ long a; }} S;"),
        with_methods(
            "[local] HRESULT A([in] unsigned long n, [out, size_is(n)] byte *p);\n\
             [call_as(A)] HRESULT R([in, range(0, 9)] unsigned long n, [out, size_is(n)] byte *p);",
        ),
    ] {
        let found = findings(&text);
        assert!(found.is_empty(), "{text}: {found:?}");
    }
}

#[test]
fn imported_classes_are_not_judged() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lint_imported");
    std::fs::create_dir_all(&folder).expect("the folder for tests can be written to");
    let part = "import \"oaidl.idl\"; library L { coclass C { interface IUnknown; }; };";
    std::fs::write(folder.join("part.idl"), part).expect("written");
    let compiled = Compiler::new().check_text(&folder.join("x.idl"), "import \"part.idl\"; const long A = 1;");
    let found = lint(&compiled.unwrap_or_else(|failure| panic!("{failure}")));
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn the_order_without_holes_is_in_the_message() {
    let [found] = &findings("struct S { byte a; hyper b; byte c; };")[..] else { panic!("one finding") };
    assert_eq!(found.message, "`S` has 24 bytes, and 16 in the order b, a, c");
    let shown = found.diagnostic();
    assert!(shown.help.is_some_and(|help| help.contains("the order that the finding names")));
}

#[test]
fn each_rule_is_documented() {
    let page = include_str!("../../../docs/idl-tools.md");
    for rule in Rule::ALL {
        let row = format!("| `{}` | {} | {} |", rule.code(), rule.why(), rule.remedy());
        assert!(page.lines().any(|line| line == row), "{row}");
    }
}
