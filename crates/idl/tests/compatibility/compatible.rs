//! Changes that break nothing.

use super::{codes, compiled};
use obvia_idl::canonical;
use obvia_idl::model::InterfaceId;

/// Compatible changes: the texts before and now.
const ROWS: &[(&str, &str)] = &[
    // Additions.
    ("", "[object, @1#] interface I : IUnknown { HRESULT A(); }"),
    (
        "[object, @1#] interface I : IUnknown { HRESULT A(); }",
        "[object, @1#] interface I : IUnknown { HRESULT A(); } [object, @2#] interface J : I { HRESULT B(); }",
    ),
    ("", "const long A = 1;"),
    ("", "struct S { long a; };"),
    ("", "typedef long T;"),
    ("", "enum E { A };"),
    ("[@1#] interface I { void A(); }", "[@1#, endpoint(\"ncacn_ip_tcp:[6007]\")] interface I { void A(); }"),
    ("[@1#] interface I { void A(); }", "[@1#] interface I { [idempotent] void A(); }"),
    (
        "[@1#] library L { [@2#] coclass C { interface IUnknown; }; };",
        "[@1#] library L { [@2#] coclass C { interface IUnknown; interface IDispatch; };\n\
         [@3#] coclass D { interface IUnknown; }; };",
    ),
    (
        "[@1#] library L { [@2#] dispinterface D { properties: methods: [id(1)] void A(); }; };",
        "[@1#] library L { [@2#] dispinterface D { properties: [id(2)] long B; methods: [id(1)] void A(); }; };",
    ),
    ("[@1#, version(1.0)] library L {};", "[@1#, version(1.1)] library L {};"),
    // Other text for the same declarations.
    (
        "[object, @1#] interface I : IUnknown { HRESULT A([in] unsigned long n); }",
        "// A comment.\n[object, @1#] interface I : IUnknown { /* More. */ HRESULT A([in] DWORD n); }",
    ),
    (
        "[object, @1#] interface I : IUnknown { HRESULT A([in] long n); }",
        "typedef long T; [object, @1#] interface I : IUnknown { HRESULT A([in] T n); }",
    ),
    ("struct S { long a; }; struct T { long b; };", "struct T { long b; }; struct S { long a; };"),
    (
        "[object, @1#] interface I : IUnknown {} [object, @2#] interface J : IUnknown {}",
        "[object, @2#] interface J : IUnknown {} [object, @1#] interface I : IUnknown {}",
    ),
    (
        "[object, @1#] interface I : IUnknown { HRESULT A([in, max_value(9)] long n); }",
        "[@1#, object] interface I : IUnknown { HRESULT A([range(0, 9), in] long n); }",
    ),
    (
        "[object, @1#] interface I : IUnknown { [oneway] HRESULT A(); }",
        "[object, @1#] interface I : IUnknown { OBVIA(oneway) HRESULT A(); }",
    ),
    (
        "[object, @1#] interface I : IUnknown { HRESULT A([in, unique] const long *n); }",
        "[object, @1#, pointer_default(unique)] interface I : IUnknown { HRESULT A([in, unique] const long *n); }",
    ),
    (
        "struct S { [unique] long *a; }; [object, @1#] interface I : IUnknown { HRESULT A([in] const struct S *s); }",
        "struct S { long *a; };\n\
         [object, @1#, pointer_default(unique)] interface I : IUnknown { HRESULT A([in] const struct S *s); }",
    ),
    ("const long A = 31;", "const long A = 0x1f;"),
    ("const long A = 4; const long B = 8;", "const long A = 4; const long B = A * 2;"),
    ("enum E { A, B, C };", "enum E { A = 0, B, C = B + 1 };"),
    (
        "enum E { A, B }; union U switch (long tag) u { case 0: long a; case 1: long b; };",
        "enum E { A, B }; union U switch (long tag) u { case A: long a; case B: long b; };",
    ),
    (
        "[object, @1#] interface I : IUnknown { HRESULT A([out] long *n, [out, lend, size_is(, *n)] long **p); }",
        "[object, @1#] interface I : IUnknown {\n\
         HRESULT A([out] long *n, [out, lend, prealloc(9), size_is(, *n)] long **p); }",
    ),
    (
        "[object, dual, @1#] interface I : IDispatch { [id(1)] HRESULT A(); }",
        "[object, dual, @1#, helpstring(\"An interface.\")] interface I : IDispatch {\n\
         [id(1), helpstring(\"A method.\")] HRESULT A(); }",
    ),
    ("typedef struct S { long a; } S;", "struct S { long a; }; typedef struct S S;"),
    ("const long A = 1;", "#define B 1\nconst long A = B;\ncpp_quote(\"#define C 2\")"),
    ("const double A = 1.0;", "const double A = 1;"),
    // Declarations that no method uses.
    ("enum { A = 1, B };", "enum { Z = 0, A, B };"),
    ("enum { A = 1, B };", "enum E { A = 1, B, C };"),
    ("typedef enum E { A = 1, B } E;", "typedef enum E { A = 1, C = 3, B = 2 } E;"),
    (
        "union U switch (long tag) u { case 1: case 2: long a; };",
        "union U switch (long tag) u { case 2: case 1: long a; };",
    ),
    (
        "[object, @1#] interface I : IUnknown { [id(1)] HRESULT A([in, defaultvalue(1)] long n); }",
        "[object, @1#] interface I : IUnknown { [id(2)] HRESULT A([in, defaultvalue(2)] long n); }",
    ),
    // Lists in which one name stands twice.
    (
        "[@1#] library L { [@2#] coclass C { [default] interface IDispatch; [default, source] interface IDispatch; }; };",
        "[@1#] library L { [@2#] coclass C { [default, source] interface IDispatch; [default] interface IDispatch; }; };",
    ),
    (
        "[@1#] library L { [@2#] dispinterface D { properties: methods:\n\
         [id(1), propput] void X([in] VARIANT v); [id(1), propputref] void X([in] IDispatch *v); }; };",
        "[@1#] library L { [@2#] dispinterface D { properties: methods:\n\
         [id(1), propputref] void X([in] IDispatch *v); [id(1), propput] void X([in] VARIANT v); }; };",
    ),
];

#[test]
fn compatible_changes_are_not_reported() {
    assert!(ROWS.len() > 20);
    let mut wrong = Vec::new();
    for (old, new) in ROWS {
        let (found, same) = (codes(old, new), codes(old, old));
        if !found.is_empty() || !same.is_empty() {
            wrong.push(format!("found {found:?} and {same:?}:\n  {old}\n  {new}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn fingerprints_are_equal_where_nothing_is_reported() {
    for (old, new) in ROWS {
        let (old, new) = (compiled(old), compiled(new));
        for (at, found) in old.model.interfaces.iter().enumerate() {
            let other = new.model.interfaces.iter().position(|other| other.uuid == found.uuid).expect("still there");
            let of = |model, at| canonical::text(model, InterfaceId(at));
            assert_eq!(of(&old.model, at), of(&new.model, other));
        }
    }
}
