//! Constructs that the compiler reads, and that every back end refuses: limits, sizes, strings,
//! objects and unions that no call can carry.

use crate::dialect::{UUID, check, first_error, refused_by_all, with};
use obvia_idl::model::{Extent, PointerClass, Type};
use obvia_idl::{Compiler, emit};
use std::path::Path;

#[test]
fn in_out_pointers_that_may_be_null_lead_only_to_plain_values() {
    let declaration = "struct S { [string] wchar_t *name; }; struct Open { long n; [size_is(n)] short a[]; };
        struct Limited { [range(1, 9)] long n; };";
    let text = with(declaration, "HRESULT M([in, out, unique] struct S *p);");
    let found = check(&text);
    let param = &found.model.interfaces.last().expect("declared").methods[0].params[0];
    assert!(matches!(&param.ty, Type::Pointer(to) if to.class == PointerClass::Unique && to.extent == Extent::One));
    for param in [
        "[in, out, unique] struct S *p",
        "[in, out, unique, size_is(n)] struct S *p, [in] long n",
        "[in, out, unique, size_is(n), length_is(n)] long *p, [in] long n",
        "[in, out, unique, string] wchar_t *p",
        "[in, out, unique] IUnknown **p",
        "[in, out, unique] long **p",
        "[in, out, ptr] long *p",
        "[in, out, unique] struct Open *p",
        "[in, out, ptr] struct Open *p",
        "[in, out, unique] struct Limited *p",
    ] {
        refused_by_all(
            &with(declaration, &format!("HRESULT M({param});")),
            "`p` that is [in, out], may be null, and leads to more",
        );
    }
}

#[test]
fn limits_belong_to_integers_or_are_refused_by_back_ends() {
    let limits = |declarations: &str, method: &str| {
        let found = check(&with(declarations, method));
        found.model.interfaces.last().expect("declared").methods[0].params[0].range
    };
    assert_eq!(limits("", "HRESULT M([in, range(-5, 300)] unsigned char n);"), Some((0, 255)));
    assert_eq!(limits("", "HRESULT M([in, range(-5, 10)] unsigned hyper n);"), Some((0, 10)));
    assert_eq!(limits("", "HRESULT M([out, range(1, 10)] long *n);"), Some((1, 10)));
    let named = "typedef [range(1, 5)] long DIGIT; typedef DIGIT OTHER; typedef DIGIT *PLACE;";
    assert_eq!(limits(named, "HRESULT M(DIGIT n);"), Some((1, 5)));
    assert_eq!(limits(named, "HRESULT M([out] OTHER *n);"), Some((1, 5)));
    assert_eq!(limits(named, "HRESULT M([in, range(2, 3)] OTHER n);"), Some((2, 3)));
    let found = check(&with(&format!("{named} struct S {{ DIGIT a; }};"), ""));
    assert_eq!(found.model.structs.last().expect("declared").fields[0].range, Some((1, 5)));
    for (param, form) in [
        ("[in, unique, range(1, 5)] long *a", "a pointer that may be null"),
        ("[in, unique] PLACE a", "a pointer that may be null"),
        ("[out] DIGIT **a", "a pointer to a pointer"),
        ("[in, size_is(2), range(1, 5)] long *a", "an array"),
        ("[in, string, range(1, 5)] wchar_t *a", "a string"),
    ] {
        refused_by_all(&with(named, &format!("HRESULT M({param});")), &format!("is {form} that [range] limits"));
    }
    for member in ["[ref] DIGIT *a", "DIGIT a[2]", "long n; [size_is(n), range(1, 5)] long a[]"] {
        let types = format!("{named} struct S {{ {member}; }};");
        refused_by_all(&with(&types, "HRESULT M([in] struct S *s);"), "[range]");
    }
    for (declaration, method) in [
        ("struct S { [range(0, 5)] boolean b; };", ""),
        ("typedef [range(0, 5)] double D;", ""),
        ("", "HRESULT M([in, range(300, 400)] small n);"),
        ("", "HRESULT M([in, range(0, 1)] boolean n);"),
    ] {
        assert_eq!(first_error(declaration, method), "bad-range", "{declaration}{method}");
    }
    assert_eq!(limits("", "HRESULT M([in, max_value(300)] unsigned small n);"), Some((0, 255)));
    for method in ["HRESULT M([in, max_value(1)] boolean n);", "HRESULT M([in, max_value(9)] DIGIT n);"] {
        assert_eq!(first_error(named, method), "bad-max-value", "{method}");
    }
    for member in ["DIGIT a : 3", "[range(0, 2)] long b : 4"] {
        let types = format!("{named} struct S {{ {member}; }};");
        refused_by_all(&with(&types, "HRESULT M([in] struct S *s);"), "a bit field that [range] limits");
    }
    let union = format!("{named} union U switch (DIGIT t) u {{ case 1: long a; }};");
    refused_by_all(&with(&union, "HRESULT M([in] union U *u);"), "a union whose discriminant [range] limits");
    let union = "typedef [switch_type(DIGIT)] union U { [case(1)] long a; } U;";
    assert_eq!(first_error(&format!("{named} {union}"), ""), "bad-range");
    let beside = "struct S { DIGIT t; [switch_is(t)] union { [case(1)] long a; } u; };";
    check(&with(&format!("{named} {beside}"), "HRESULT M([in] struct S *s);"));
    let functions =
        |result: &str| format!("{named}\n[{UUID}, version(1.0)] interface IX {{ {result} Get([in] long a); }}");
    let failure = Compiler::new().check_text(Path::new("x.idl"), &functions("DIGIT")).expect_err("a result");
    assert_eq!(failure.diagnostics[0].code, "bad-range");
    check(&functions("long"));
    let pointer = with(named, "HRESULT M([in] DIGIT (*f)(long));").replace("[object,", "[object, local,");
    check(&pointer);
}

#[test]
fn strings_with_a_size_of_their_own_are_refused_by_back_ends() {
    for params in [
        "[in] long n, [in, string, size_is(n)] char *s",
        "[in] long n, [in, string, length_is(n)] char *s",
        "[out, string, size_is(, *n)] wchar_t **s, [out] long *n",
        "[in, out, string, size_is(, *n)] wchar_t **s, [in, out] long *n",
        "[in] long n, [in, string, size_is(, n)] wchar_t *s[4]",
        "[in] long n, [in, string, length_is(n)] wchar_t s[4]",
    ] {
        refused_by_all(&with("", &format!("HRESULT M({params});")), "`s` that is a string that has a size or a length");
    }
    let types = "struct S { long n; [string, size_is(n)] char *s; };";
    refused_by_all(&with(types, "HRESULT M([in] struct S *s);"), "a string that has a size");
    refused_by_all(
        &with("struct S { long n; [string] wchar_t s[]; };", "HRESULT M([in] struct S *s);"),
        "ends in a string",
    );
    check(&with("", "HRESULT M([in] long n, [in, size_is(n)] LPWSTR *names);"));
}

#[test]
fn arrays_of_objects_whose_iid_is_an_argument_are_refused_by_back_ends() {
    for params in [
        "[in] REFIID i, [in] long n, [in, size_is(n), iid_is(i)] IUnknown **a",
        "[in] REFIID i, [in, iid_is(i)] IUnknown *a[2]",
        "[in] REFIID i, [out] long *n, [out, size_is(, *n), iid_is(i)] IUnknown ***a",
    ] {
        refused_by_all(
            &with("", &format!("HRESULT M({params});")),
            "`a` that leads to an array of objects whose IID is",
        );
    }
    let pointer = with("", "HRESULT M([in] REFIID i, [in, unique, iid_is(i)] IUnknown **a);");
    refused_by_all(&pointer, "`a` that leads to a pointer to an object whose IID is");
    let types = "struct S { IID i; long n; [size_is(n), iid_is(i)] IUnknown **a; };";
    refused_by_all(
        &with(types, "HRESULT M([in] struct S *s);"),
        "an array of objects, or a pointer to one, whose IID is a member",
    );
    let one = with("", "HRESULT M([in] REFIID i, [in, iid_is(i)] IUnknown *a, [out, iid_is(i)] void **b);");
    emit::rust::emit(&check(&one)).unwrap_or_else(|errors| panic!("{errors:?}"));
}

#[test]
fn unions_have_values_and_distinct_names() {
    for (union, code) in [
        ("union U switch (long t) u { };", "empty-union"),
        ("typedef [switch_type(long)] union U { [case(1)] ; [default] ; } U;", "empty-union"),
        ("union U switch (long u) u { case 1: long a; };", "duplicate-name"),
        ("union U switch (long tagged_union) { case 1: long a; };", "duplicate-name"),
        ("union U switch (unsigned hyper t) u { case 0xffffffffffffffff: long a; };", "bad-switch"),
    ] {
        assert_eq!(first_error(union, ""), code, "{union}");
    }
    let codes = |text: &str| check(&with(text, "")).warnings.iter().map(|one| one.code).collect::<Vec<_>>();
    let own = "enum E { A = 1 }; union U switch (enum E e) u { case A: long *a; case 7: long b; };";
    let beside = "enum E { A = 1 }; typedef [switch_type(enum E)] union U { [case(A)] long a; [case(7)] long b; } U;";
    assert_eq!((codes(own), codes(beside)), (vec!["bad-switch"], vec!["bad-switch"]));
    assert_eq!(codes(&format!("[open] {own}")), [""; 0]);
    let found = check(&with("union U switch (long t) u { case 1: default: long a; case 2: long b; };", ""));
    let union = found.model.unions.last().expect("declared");
    let names: Vec<_> = union.arms.iter().map(|arm| arm.field.as_ref().map(|field| field.name.as_str())).collect();
    assert_eq!(names, [Some("b")]);
    assert!(union.default.as_ref().is_some_and(|arm| arm.as_ref().is_some_and(|field| field.name == "a")));
}

#[test]
fn types_that_travel_in_another_form_are_refused_by_back_ends() {
    let handle = "typedef [wire_marshal(long)] void *HTHING;\ntypedef HTHING HOTHER;\nstruct S { HTHING h; };";
    refused_by_all(&with(handle, "HRESULT M([in] HOTHER h);"), "which travels as `long` ([wire_marshal])");
    refused_by_all(&with(handle, "HRESULT M([in] struct S *s);"), "a member that travels in another form");
    refused_by_all(&with("typedef __int3264 LP;", "HRESULT M([in] LP p);"), "an integer of a pointer's size");
    refused_by_all(&with("", "HRESULT M([in] ULONG_PTR p);"), "an integer of a pointer's size");
}

#[test]
fn sizes_that_test_a_pointer_are_refused_by_back_ends() {
    let sized = |size: &str| {
        format!("HRESULT M([in] long n, [out, size_is(n), length_is({size})] long *a, [in, unique] long *p);")
    };
    for size in ["p ? *p : n", "!p ? n : *p"] {
        refused_by_all(&with("", &sized(size)), "a size that depends on whether a pointer is null");
    }
    let failure = Compiler::new().check_text(Path::new("x.idl"), &with("", &sized("p + 1"))).expect_err("a pointer");
    assert_eq!(failure.diagnostics[0].code, "not-an-integer");
}

#[test]
fn sizes_that_a_call_cannot_have_are_refused_by_back_ends() {
    let union = "typedef [switch_type(long)] union U { [case(1)] long *a; [case(2)] long b; } U;";
    for (params, words) in [
        ("[in, unique] long *n, [in, size_is(*n)] long *a", "an array whose size is behind a pointer that may be null"),
        ("[in, unique] const GUID *i, [in, iid_is(i)] IUnknown *a", "an object whose IID is behind a pointer that may"),
        ("[in, unique] long *t, [in, switch_is(*t)] U *a", "a union whose discriminant is behind a pointer that may"),
        ("[out] long *n, [in, size_is(*n)] long *a", "an array whose size depends on a result"),
        ("[out, size_is(*n)] long *a, [out] long *n", "an array whose size depends on a result"),
        (
            "[in] long n, [out] long *m, [in, size_is(n), length_is(*m)] long *a",
            "an array whose length depends on a result",
        ),
        ("[out] GUID *i, [in, iid_is(i)] IUnknown *a", "an object whose IID depends on a result"),
        ("[out] long *t, [in, switch_is(*t)] U *a", "a union whose discriminant depends on a result"),
    ] {
        refused_by_all(&with(union, &format!("HRESULT M({params});")), &format!("a parameter `a` that is {words}"));
    }
    let fine = "HRESULT M([in] long n, [in, out] long *m, [out, size_is(n), length_is(*m)] long *a);
        HRESULT N([out] long *n, [out, size_is(, *n)] long **a); HRESULT O([out] long *n, [in, out, size_is(m)] long *a, [in] long m);";
    emit::rust::emit(&check(&with(union, fine))).unwrap_or_else(|errors| panic!("{errors:?}"));
}

#[test]
fn parameters_of_other_types_than_automations_are_refused_by_back_ends() {
    let text = with("", "[id(1)] HRESULT M([in, string] wchar_t *x);").replace(": IUnknown", ": IDispatch");
    assert_eq!(check(&text).warnings[0].code, "not-automation");
    let errors = emit::rust::emit(&check(&text)).expect_err("not yet");
    assert!(errors[0].message.contains("`x` that is of a type that calls by name cannot pass"), "{errors:?}");
}

#[test]
fn structures_may_contain_those_that_end_in_open_arrays() {
    let types = "typedef struct W { short n; [size_is(n)] byte more[]; } W;\ntypedef struct X { W w; long a; } X;";
    refused_by_all(&with(types, "HRESULT M([in] X *x);"), "a structure with a member that ends in an open array");
    let local = with(types, "HRESULT M([in] X *x);").replace("[object,", "[object, local,");
    let header = emit::c::emit(&check(&local), "x").unwrap_or_else(|errors| panic!("{errors:?}")).header;
    assert!(header.contains("uint8_t more[1];") && header.contains("OBVIA_LIES_AT(X, a, 4);"), "{header}");
}

#[test]
fn structures_whose_sizes_are_behind_pointers_are_refused_by_name() {
    for members in [
        "long *p; long n; [size_is(p ? *p : n)] long a[];",
        "long *p; [size_is(*p)] long *a;",
        "long *p; [switch_is(*p)] union { [case(1)] long a; } u;",
        "long *p; [switch_is(!p)] union { [case(1)] long a; } u;",
    ] {
        refused_by_all(&with(&format!("typedef struct S {{ {members} }} S;"), "HRESULT M([in] S *s);"), "pointer");
    }
}

#[test]
fn members_of_automation_are_refused_beside_other_reasons() {
    for member in ["DISPPARAMS", "EXCEPINFO"] {
        let types = format!("interface ILater; struct S {{ ILater *l; {member} d; }};");
        let text = with(&types, "HRESULT M([in] struct S *s);").replace("[object,", "[object, local,");
        let found = check(&text);
        for errors in [emit::c::emit(&found, "x").err(), emit::rust::emit(&found).err()] {
            let errors = errors.unwrap_or_else(|| panic!("accepted:\n{text}"));
            assert!(errors[0].message.contains("a structure or union with one of Automation's types"), "{errors:?}");
        }
    }
}

#[test]
fn objects_of_interfaces_without_a_declaration_a_uuid_or_a_base_are_refused() {
    for (declared, lack) in [
        ("interface ILater;", "has only a forward declaration"),
        ("[local] interface ILater : IUnknown { HRESULT A(); }", "has no UUID"),
        (
            "[object, local, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a21)] interface ILater { long A(); }",
            "extends no interface",
        ),
    ] {
        let text = with(declared, "HRESULT M([in] ILater *l);");
        refused_by_all(&text, &format!("yet: its parameter `l` is an object of `ILater`, which {lack}"));
        for (held, holder) in [
            ("struct S { ILater *l; };", "S"),
            ("struct S { [size_is(n)] ILater **l; long n; };", "S"),
            ("struct S { struct T { ILater *l; } t; };", "T"),
            ("union U switch (long t) u { case 1: ILater *l; }; struct S { union U u; };", "U"),
        ] {
            let text = with(&format!("{declared} {held}"), "HRESULT M([in] struct S *s);");
            let why = format!("leads to `{holder}`, which has a pointer to `ILater`, which {lack}");
            refused_by_all(&text, &why);
        }
    }
}
