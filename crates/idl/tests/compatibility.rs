//! Comparison of two versions of an interface file: breaking changes are found, and compatible ones
//! are not.

mod compatible;
mod imports;
mod libraries;
mod mutations;

use obvia_idl::tools::compatibility::{Kind, breaking_changes};
use obvia_idl::{Compilation, Compiler};
use std::collections::HashSet;
use std::path::Path;

/// Compiles a text in which `@1` is replaced by a uuid that ends in 1, and so on.
fn compiled(text: &str) -> Compilation {
    let text = text.replace('@', "uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a0").replace("#,", "),").replace("#]", ")]");
    let text = format!("import \"oaidl.idl\";\n{text}");
    Compiler::new().check_text(Path::new("x.idl"), &text).unwrap_or_else(|failure| panic!("{failure}"))
}

/// Returns the codes of the breaking changes, without repetitions.
fn codes(old: &str, new: &str) -> Vec<&'static str> {
    let mut codes: Vec<_> =
        breaking_changes(&compiled(old), &compiled(new)).iter().map(|found| found.kind.code()).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// Breaking changes: the expected codes, and the texts before and now.
type Rows = &'static [(&'static [&'static str], &'static str, &'static str)];

/// Methods in an interface of objects: `[object, @1#] interface I : IUnknown { ... }`.
const METHODS: Rows = &[
    (&["method-added"], "HRESULT A();", "HRESULT A(); HRESULT B();"),
    (&["method-added"], "HRESULT A(); HRESULT B();", "HRESULT A(); HRESULT C([in] long n); HRESULT B();"),
    (&["method-removed"], "HRESULT A(); HRESULT B();", "HRESULT A();"),
    (&["methods-moved"], "HRESULT A(); HRESULT B();", "HRESULT B(); HRESULT A();"),
    (&["method-renamed"], "HRESULT A([in] long n);", "HRESULT B([in] long n);"),
    (&["method-oneway"], "HRESULT A();", "[oneway] HRESULT A();"),
    (&["method-local"], "HRESULT A();", "[local] HRESULT A();"),
    (&["method-local"], "[local] HRESULT A();", "HRESULT A();"),
    (&["method-renamed"], "[local] HRESULT A([in] long n);", "[local] HRESULT B([in] long n);"),
    (&["method-in-process"], "[local] HRESULT A([in] void *p);", "[local] void A([in] long n, [in] long m);"),
    (
        &["method-call-as"],
        "HRESULT A([in] long n);",
        "[local] HRESULT A([in] long n); [call_as(A)] HRESULT Remote([in] long n);",
    ),
    (
        &["value-width"],
        "[local] HRESULT A([in] long n); [call_as(A)] HRESULT Remote([in] long n);",
        "[local] HRESULT A([in] long n); [call_as(A)] HRESULT Remote([in] hyper n);",
    ),
    (&["param-added"], "HRESULT A();", "HRESULT A([in] long n);"),
    (&["param-removed"], "HRESULT A([in] long n, [in] long m);", "HRESULT A([in] long m);"),
    (&["params-moved"], "HRESULT A([in] long n, [in] long m);", "HRESULT A([in] long m, [in] long n);"),
    (&["param-renamed"], "HRESULT A([in] long n);", "HRESULT A([in] long m);"),
    (
        &["param-renamed"],
        "HRESULT A([in] long n, [in, size_is(n)] const long *p);",
        "HRESULT A([in] long m, [in, size_is(m)] const long *p);",
    ),
    (&["param-direction"], "HRESULT A([in, out] long *n);", "HRESULT A([out] long *n);"),
    (&["param-retval"], "HRESULT A([out] long *n);", "HRESULT A([out, retval] long *n);"),
    (
        &["param-transfer"],
        "HRESULT A([in] long n, [in, size_is(n)] const long *p);",
        "HRESULT A([in] long n, [in, zero_copy, size_is(n)] const long *p);",
    ),
    (&["param-automation"], "HRESULT A([in] BSTR n);", "HRESULT A([in] VARIANT n);"),
    (&["param-automation"], "HRESULT A([in] SAFEARRAY(long) n);", "HRESULT A([in] SAFEARRAY(short) n);"),
    (&["value-width"], "HRESULT A([in] long n);", "HRESULT A([in] hyper n);"),
    (&["value-sign"], "HRESULT A([in] long n);", "HRESULT A([in] unsigned long n);"),
    (&["value-type"], "HRESULT A([in] long n);", "HRESULT A([in] float n);"),
    (&["value-type"], "HRESULT A([in] unsigned short n);", "HRESULT A([in] wchar_t n);"),
    (&["pointer-class"], "HRESULT A([in, unique] const long *n);", "HRESULT A([in] const long *n);"),
    (&["pointer-levels"], "HRESULT A([in] long n);", "HRESULT A([in] const long *n);"),
    (
        &["array-form"],
        "HRESULT A([in] long n, [in] const long *p);",
        "HRESULT A([in] long n, [in, size_is(n)] const long *p);",
    ),
    (&["array-form"], "HRESULT A([in, string] const wchar_t *p);", "HRESULT A([in, size_is(9)] const wchar_t *p);"),
    (&["array-form"], "HRESULT A([out, size_is(9)] wchar_t *p);", "HRESULT A([out, string, size_is(9)] wchar_t *p);"),
    (&["array-form"], "HRESULT A([out, string] wchar_t *p);", "HRESULT A([out, string, size_is(9)] wchar_t *p);"),
    (&["pointer-class"], "HRESULT A([in, out] long *p);", "HRESULT A([in, out, unique] long *p);"),
    (
        &["array-size"],
        "HRESULT A([in] long n, [in, size_is(n)] const long *p);",
        "HRESULT A([in] long n, [in, size_is(n + 1)] const long *p);",
    ),
    (
        &["array-length"],
        "HRESULT A([in] long n, [in, size_is(9)] const long *p);",
        "HRESULT A([in] long n, [in, size_is(9), length_is(n)] const long *p);",
    ),
    (&["array-bound"], "HRESULT A([in] byte n[16]);", "HRESULT A([in] byte n[20]);"),
    (
        &["array-form"],
        "HRESULT A([in] long n, [in] long p[9]);",
        "HRESULT A([in] long n, [in, length_is(n)] long p[9]);",
    ),
    (&["range-narrowed"], "HRESULT A([in, range(0, 9)] long n);", "HRESULT A([in, range(0, 8)] long n);"),
    (&["range-narrowed"], "HRESULT A([in] long n);", "HRESULT A([in, range(0, 8)] long n);"),
    (&["range-widened"], "HRESULT A([in, range(0, 9)] long n);", "HRESULT A([in, range(0, 10)] long n);"),
    (
        &["range-narrowed", "range-widened"],
        "HRESULT A([in, range(0, 9)] long n);",
        "HRESULT A([in, range(1, 10)] long n);",
    ),
    (&["utf8-added"], "HRESULT A([in, string] const char *p);", "HRESULT A([in, string, utf8] const char *p);"),
    (&["utf8-removed"], "HRESULT A([out, string, utf8] char **p);", "HRESULT A([out, string] char **p);"),
    (&["object-interface"], "HRESULT A([in] IUnknown *n);", "HRESULT A([in] IDispatch *n);"),
    (
        &["object-iid"],
        "HRESULT A([in] REFIID iid, [in] IUnknown *n);",
        "HRESULT A([in] REFIID iid, [in, iid_is(iid)] IUnknown *n);",
    ),
];

/// Members in a structure that a method takes: `struct S { ... };`.
const MEMBERS: Rows = &[
    (&["member-added"], "long a;", "long a; long b;"),
    (&["member-added"], "long a; long b;", "long a; hyper c; long b;"),
    (&["member-removed"], "long a; long b;", "long a;"),
    (&["members-moved"], "long a; long b;", "long b; long a;"),
    (&["member-renamed"], "long a; long b;", "long a; long c;"),
    (&["value-width"], "long a;", "short a;"),
    (&["array-bound"], "long a[4];", "long a[5];"),
    (&["pointer-class"], "[unique] long *a;", "[ptr] long *a;"),
    (&["range-narrowed"], "long a;", "[range(1, 2)] long a;"),
    (&["array-size"], "long a; long b; [size_is(a)] long *c;", "long a; long b; [size_is(b)] long *c;"),
    (&["bit-fields"], "long a : 3; long b : 5;", "long a : 4; long b : 5;"),
    (&["bit-fields"], "long a : 3; long b : 5;", "long b : 5; long a : 3;"),
    (&["bit-fields"], "long a : 3;", "long b : 3;"),
    (&["bit-fields"], "long a : 3;", "unsigned long a : 3;"),
    (&["bit-fields"], "unsigned long bits;", "unsigned long a : 3;"),
    (&["bit-fields", "member-added"], "long a : 3; long b : 5;", "long a : 3; long : 0; long b : 5;"),
    (&["open-array"], "long a; long b[1];", "long a; [size_is(a)] long b[];"),
    (&["array-size"], "long a; [size_is(a)] long b[];", "long a; [size_is(a * 2)] long b[];"),
    (&["value-sign"], "long a; [size_is(a)] long b[];", "long a; [size_is(a)] unsigned long b[];"),
];

/// Arms in a union that a method takes: `union U switch (long tag) u { ... };`.
const ARMS: Rows = &[
    (&["arm-added"], "case 1: long a;", "case 1: long a; case 2: long b;"),
    (&["arm-removed"], "case 1: long a; case 2: long b;", "case 1: long a;"),
    (&["arms-moved"], "case 1: long a; case 2: long b;", "case 2: long b; case 1: long a;"),
    (&["arm-renamed"], "case 1: long a;", "case 1: long b;"),
    (&["arm-renamed"], "case 1: long a;", "case 1: ;"),
    (&["arm-cases"], "case 1: long a;", "case 1: case 2: long a;"),
    (&["default-arm"], "case 1: long a;", "case 1: long a; default: ;"),
    (&["default-arm"], "case 1: long a; default: long b;", "case 1: long a; default: ;"),
    (&["value-type"], "case 1: long a;", "case 1: float a;"),
];

/// Values of an enumeration that a method takes: `enum E { ... };`.
const VALUES: Rows = &[
    (&["enum-value-added"], "A, B", "A, B, C"),
    (&["enum-value-removed"], "A, B", "A"),
    (&["enum-value-changed"], "A, B", "A, B = 2"),
    (&["enum-value-changed", "enum-values-moved"], "A, B", "B, A"),
    (&["enum-values-moved"], "A = 0, B = 1", "B = 1, A = 0"),
    (&["enum-value-renamed"], "A, B", "A, C"),
];

/// Members of an interface for calls by name.
const NAMED: Rows = &[
    (&["dispid"], "[id(1)] HRESULT A();", "[id(2)] HRESULT A();"),
    (
        &["accessor", "method-renamed"],
        "[id(1), propget] HRESULT A([out, retval] long *n);",
        "[id(1)] HRESULT A([out, retval] long *n);",
    ),
    (&["restricted"], "[id(1)] HRESULT A();", "[id(1), restricted] HRESULT A();"),
    (
        &["param-optional"],
        "[id(1)] HRESULT A([in, defaultvalue(1)] long n);",
        "[id(1)] HRESULT A([in, defaultvalue(2)] long n);",
    ),
    (&["param-optional"], "[id(1)] HRESULT A([in, optional] VARIANT n);", "[id(1)] HRESULT A([in] VARIANT n);"),
    (&["param-vartype"], "[id(1)] HRESULT A([in] short n);", "[id(1)] HRESULT A([in] VARIANT_BOOL n);"),
    (&["param-vartype"], "[id(1)] HRESULT A([in] DATE n);", "[id(1)] HRESULT A([in] double n);"),
];

/// Rows whose texts are whole files.
const FILES: Rows = &[
    (&["interface-removed"], "[object, @1#] interface I : IUnknown {}", ""),
    (
        &["interface-renamed"],
        "[object, @1#] interface I : IUnknown { HRESULT A(); }",
        "[object, @1#] interface J : IUnknown { HRESULT A(); }",
    ),
    (
        &["interface-uuid"],
        "[object, @1#] interface I : IUnknown { HRESULT A(); }",
        "[object, @2#] interface I : IUnknown { HRESULT A(); }",
    ),
    (
        &["interface-version"],
        "[@1#, version(1.0)] interface I { void A(); }",
        "[@1#, version(1.1)] interface I { void A(); }",
    ),
    (
        &["interface-base"],
        "[object, @1#] interface B : IUnknown {} [object, @2#] interface I : B {}",
        "[object, @1#] interface B : IUnknown {} [object, @2#] interface I : IUnknown {}",
    ),
    (
        &["method-added"],
        "[object, @1#] interface B : IUnknown {} [object, @2#] interface I : B {}",
        "[object, @1#] interface B : IUnknown { HRESULT A(); } [object, @2#] interface I : B {}",
    ),
    (
        &["interface-kind"],
        "[@1#] interface I { HRESULT A([in] long n); }",
        "[object, @1#] interface I : IUnknown { HRESULT A([in] long n); }",
    ),
    (
        &["interface-local"],
        "[object, @1#] interface I : IUnknown { HRESULT A(); }",
        "[object, local, @1#] interface I : IUnknown { HRESULT A(); }",
    ),
    (
        &["interface-base", "interface-dual"],
        "[object, @1#] interface I : IUnknown {}",
        "[object, dual, @1#] interface I : IDispatch {}",
    ),
    (
        &["endpoint-removed"],
        "[@1#, endpoint(\"ncacn_ip_tcp:[6007]\")] interface I { void A(); }",
        "[@1#, endpoint(\"ncacn_ip_tcp:[6008]\")] interface I { void A(); }",
    ),
    (&["method-result"], "[@1#] interface I { HRESULT A(); }", "[@1#] interface I { void A(); }"),
    (&["idempotent-removed"], "[@1#] interface I { [idempotent] void A(); }", "[@1#] interface I { void A(); }"),
    (&["type-removed"], "struct S { long a; };", ""),
    (&["type-removed"], "enum S { A };", "struct S { long a; };"),
    (
        &["type-renamed"],
        "struct S { long a; }; [object, @1#] interface I : IUnknown { HRESULT A([in] struct S n); }",
        "struct T { long a; }; [object, @1#] interface I : IUnknown { HRESULT A([in] struct T n); }",
    ),
    (
        &["value-type"],
        "struct S { long a; }; struct T { long a; }; [object, @1#] interface I : IUnknown { HRESULT A([in] struct S n); }",
        "struct S { long a; }; struct T { long a; }; [object, @1#] interface I : IUnknown { HRESULT A([in] struct T n); }",
    ),
    (
        &["union-tag"],
        "union U switch (long tag) u { case 1: long a; };",
        "union U switch (unsigned long tag) u { case 1: long a; };",
    ),
    (
        &["union-names"],
        "union U switch (long tag) u { case 1: long a; };",
        "union U switch (long kind) u { case 1: long a; };",
    ),
    (
        &["union-form"],
        "union U switch (long tag) u { case 1: long a; };",
        "[switch_type(long)] union U { [case(1)] long a; };",
    ),
    (
        &["switch-expression"],
        "[switch_type(long)] union U { [case(1)] long a; };\n\
         struct S { long a; long b; [switch_is(a)] union U u; };",
        "[switch_type(long)] union U { [case(1)] long a; };\n\
         struct S { long a; long b; [switch_is(b)] union U u; };",
    ),
    (
        &["enum-value-added"],
        "enum E { A }; struct S { enum E e : 2; }; [object, @1#] interface I : IUnknown { HRESULT M([in] struct S *s); }",
        "enum E { A, B }; struct S { enum E e : 2; }; [object, @1#] interface I : IUnknown { HRESULT M([in] struct S *s); }",
    ),
    (&["enum-width"], "typedef enum { A } E;", "typedef [v1_enum] enum { A } E;"),
    (&["enum-open"], "typedef enum { A } E;", "typedef [open] enum { A } E;"),
    (&["const-removed"], "const long A = 1;", ""),
    (&["const-value"], "const long A = 1;", "const long A = 2;"),
    (&["const-type"], "const long A = 1;", "const short A = 1;"),
    (&["typedef-removed"], "typedef long T;", ""),
    (&["typedef-target"], "typedef long T;", "typedef hyper T;"),
    (&["typedef-target"], "typedef long T;", "struct T { long a; };"),
    (&["typedef-target"], "typedef IUnknown T;", "typedef IUnknown *T;"),
    (&["type-uuid"], "typedef [@1#] struct S { long a; } S;", "typedef [@2#] struct S { long a; } S;"),
    (&["const-value"], "enum { A = 1, B };", "enum { Z = 0, A, B = 3 };"),
    (&["const-removed"], "enum { A = 1, B };", "enum { B = 2 };"),
    (&["library-removed"], "[@1#] library L { interface IUnknown; };", "[@1#] library M { interface IUnknown; };"),
    (&["library-uuid"], "[@1#] library L { interface IUnknown; };", "[@2#] library L { interface IUnknown; };"),
    (
        &["library-version"],
        "[@1#, version(1.1)] library L { interface IUnknown; };",
        "[@1#, version(1.0)] library L { interface IUnknown; };",
    ),
];

/// The tables of rows, each with the text around a row.
const TABLES: &[(&str, Rows)] = &[
    ("[object, @1#] interface I : IUnknown { $ }", METHODS),
    ("struct S { $ }; [object, @1#] interface I : IUnknown { HRESULT A([in] const struct S *s); }", MEMBERS),
    (
        "union U switch (long tag) u { $ }; [object, @1#] interface I : IUnknown { HRESULT A([in] const union U *u); }",
        ARMS,
    ),
    ("enum E { $ }; [object, @1#] interface I : IUnknown { HRESULT M([in] enum E e); }", VALUES),
    ("[object, dual, @1#] interface I : IDispatch { $ }", NAMED),
    ("[@1#, version(1.1)] library L { $ };", libraries::LIBRARY),
    ("[@1#] library L { [@2#] dispinterface D { properties: methods: $ }; };", libraries::MEMBERS),
    ("$", FILES),
];

#[test]
fn each_breaking_change_is_found() {
    let mut wrong = Vec::new();
    for (around, rows) in TABLES {
        for (expected, old, new) in *rows {
            let found = codes(&around.replace('$', old), &around.replace('$', new));
            if found != *expected {
                wrong.push(format!("expected {expected:?}, found {found:?}:\n  {old}\n  {new}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_kind_of_change_has_a_row() {
    let rows = TABLES.iter().flat_map(|(_, rows)| *rows);
    let tested: HashSet<&str> = rows.flat_map(|(codes, ..)| *codes).copied().collect();
    // `InterfaceChanged` is only for interfaces whose fingerprints differ for no known reason.
    let all = Kind::ALL.iter().filter(|kind| **kind != Kind::InterfaceChanged);
    let untested: Vec<&str> = all.map(|kind| kind.code()).filter(|code| !tested.contains(code)).collect();
    assert!(untested.is_empty(), "{untested:?}");
    assert!(Kind::ALL.len() > 40);
}

#[test]
fn each_kind_of_change_is_documented() {
    let page = include_str!("../../../docs/idl-tools.md");
    for kind in Kind::ALL {
        let row = format!("| `{}` | {} | {} |", kind.code(), kind.why(), kind.remedy());
        assert!(page.lines().any(|line| line == row), "{row}");
    }
}

#[test]
fn messages_name_the_declaration_with_both_texts() {
    let text = |ty: &str| format!("[object, @1#] interface I : IUnknown {{ HRESULT A([in] {ty} n); }}");
    let (old, new) = (compiled(&text("long")), compiled(&text("const hyper *")));
    let [found] = &breaking_changes(&old, &new)[..] else { panic!("one change") };
    assert_eq!(found.message, "the parameter `n` of `I.A`: `long` before, `hyper *` now");
    let shown = found.diagnostic().render(&new.sources);
    assert!(shown.contains("error[pointer-levels]") && shown.contains("x.idl:2:"), "{shown}");
}

#[test]
fn messages_have_the_words_of_the_language() {
    let message = |old: &str, new: &str| {
        let [found] = &breaking_changes(&compiled(old), &compiled(new))[..] else { panic!("one change") };
        found.message.clone()
    };
    let methods = |text: &str| format!("[object, dual, @1#] interface I : IDispatch {{ {text} }}");
    for (old, new, expected) in [
        (
            "[id(1)] HRESULT A([in, out] long *n);",
            "[id(1)] HRESULT A([out] long *n);",
            "`[in, out]` before, `[out]` now",
        ),
        ("[id(1)] HRESULT A();", "[id(2)] HRESULT A();", "the DISPID of `I.A`: 1 before, 2 now"),
        (
            "[id(1)] HRESULT A([in, defaultvalue(1)] long n);",
            "[id(1)] HRESULT A([in] long n);",
            "`defaultvalue(1)` before, `not optional` now",
        ),
        ("[id(1)] HRESULT A([in] BSTR n);", "[id(1)] HRESULT A([in] SAFEARRAY(long) n);", "`SAFEARRAY(long)` now"),
    ] {
        let found = message(&methods(old), &methods(new));
        assert!(found.contains(expected), "{found}");
    }
    for (old, new, expected) in [
        ("const long A = 1;", "const long A = 2;", "the value of `A`: 1 before, 2 now"),
        (
            "const unsigned hyper A = 18446744073709551615;",
            "const unsigned hyper A = 0;",
            "the value of `A`: 18446744073709551615 before, 0 now",
        ),
        ("typedef [unique] long *T;", "typedef [ref] long *T;", "the typedef `T`: `unique` before, `ref` now"),
        ("typedef [string] wchar_t *T;", "typedef wchar_t *T;", "the typedef `T`: `[string]` before, `one value` now"),
        (
            "[@1#] interface I { long A(); }",
            "[@1#] interface I { hyper A(); }",
            "the result of `I.A`: `long *` before, `hyper *` now",
        ),
        (
            "union U switch (long t) u { case 1: case 3: long a; };",
            "union U switch (long t) u { case 1: long a; };",
            "the arm `a` of `U`: cases 1, 3 before, 1 now",
        ),
    ] {
        assert_eq!(message(old, new), expected);
    }
}

/// A finding about another declaration must not hide a fingerprint that differs.
#[test]
fn each_interface_with_another_fingerprint_has_a_finding() {
    let text = |attribute: &str, more: &str| {
        format!("[object, @1#] interface I : IUnknown {{ HRESULT A([in{attribute}] byte n); }} {more}")
    };
    let found = codes(&text("", "const long K = 1;"), &text(", range(0, 255)", ""));
    assert_eq!(found, ["const-removed", "interface-changed"]);
}

#[test]
fn long_chains_of_types_are_compared() {
    let text = |last: &str| {
        let mut text = String::new();
        for at in 0..1000 {
            text += &format!("struct S{at}; ");
        }
        for at in 1..1000 {
            text += &format!("struct S{at} {{ [unique] struct S{} *next; }}; ", at - 1);
        }
        text + &format!(
            "struct S0 {{ {last} a; }};\n[object, @1#] interface I : IUnknown {{ HRESULT A([in] const struct S999 *s); }}"
        )
    };
    assert_eq!(codes(&text("long"), &text("long")), [""; 0]);
    assert_eq!(codes(&text("long"), &text("short")), ["value-width"]);
}
