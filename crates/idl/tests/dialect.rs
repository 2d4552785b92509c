//! The dialect of MIDL that Windows' and Wine's files use: what the compiler makes of each
//! construct, and which back end refuses it.

use obvia_idl::model::{Base, Direction, Extent, Model, Object, PointerClass, Type, Value};
use obvia_idl::{Compilation, Compiler, emit};
use std::path::Path;

fn check(text: &str) -> Compilation {
    Compiler::new().check_text(Path::new("x.idl"), text).unwrap_or_else(|failure| panic!("{failure}"))
}

const UUID: &str = "uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a20)";

/// Returns a file with these declarations and an interface with these methods.
fn with(declarations: &str, methods: &str) -> String {
    format!("import \"oaidl.idl\";\n{declarations}\n[object, {UUID}] interface IX : IUnknown {{\n{methods}\n}}\n")
}

fn value(model: &Model, name: &str) -> Option<Value> {
    model.consts.iter().find(|one| one.name == name).map(|one| one.value.clone())
}

/// Checks that each back end refuses a file in a message with these words and its own name.
#[track_caller]
fn refused_by_all(text: &str, words: &str) {
    let found = check(text);
    let errors = [
        ("Rust", emit::rust::emit(&found).err()),
        ("C", emit::c::emit(&found, "x").err()),
        ("Java", emit::java::emit(&found, "x", None).err()),
    ];
    for (language, errors) in errors {
        let errors = errors.unwrap_or_else(|| panic!("{language} accepts\n{text}"));
        let said = errors
            .iter()
            .any(|error| error.code == "not-yet" && error.message.contains(words) && error.message.contains(language));
        assert!(said, "{language}: {errors:?}");
    }
}

#[test]
fn parameters_without_direction_are_in() {
    let found = check(&with("", "HRESULT M(long a, [retval, out] long *b, LONG);"));
    let method = &found.model.interfaces.last().expect("declared").methods[0];
    let directions: Vec<Direction> = method.params.iter().map(|param| param.direction).collect();
    assert_eq!(directions, [Direction::In, Direction::Out, Direction::In]);
    assert_eq!(method.params[2].name, "arg3");
}

#[test]
fn local_methods_and_those_that_travel_for_them_share_a_place_in_the_vtable() {
    let text = with(
        "",
        "HRESULT A();\n[local] void *Next([in] long n, [out] void **p);\n\
         [call_as(Next)] HRESULT RemoteNext([in] long n, [out] long *p);\nHRESULT B();",
    );
    let found = check(&text);
    let methods = &found.model.interfaces.last().expect("declared").methods;
    let names: Vec<(&str, u16)> = methods.iter().map(|method| (method.name.as_str(), method.opnum)).collect();
    assert_eq!(names, [("A", 3), ("Next", 4), ("B", 5)]);
    let remote = methods[1].travels_as.as_deref().expect("it travels");
    assert_eq!((remote.name.as_str(), remote.opnum, remote.local), ("RemoteNext", 4, false));
    refused_by_all(&text, "`Next` travels as `RemoteNext`");
    refused_by_all(&with("", "[local] HRESULT M([in] void *p);"), "`M` is [local]");
    let lone = with("", "[call_as(M)] HRESULT RemoteM();");
    let failure = Compiler::new().check_text(Path::new("x.idl"), &lone).expect_err("there is no M");
    assert_eq!(failure.diagnostics[0].code, "bad-call-as");
}

#[test]
fn an_interface_that_extends_a_local_one_does_not_travel() {
    let text = format!(
        "import \"unknwn.idl\";\n[object, local, {UUID}] interface IA : IUnknown {{ HRESULT M([in] void *p); }}\n\
         [object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a21)] interface IB : IA {{ HRESULT N(); }}\n"
    );
    refused_by_all(&text, "`M` is [local]");
}

#[test]
fn pointers_to_void_are_for_local_methods() {
    let types = "typedef void *HTHING;\ntypedef struct S { HTHING thing; void **p; } S;";
    let local = with(types, "HRESULT M([in] HTHING a, [in] S *s, [in] S t);").replace("[object,", "[object, local,");
    let header = emit::c::emit(&check(&local), "x").unwrap_or_else(|errors| panic!("{errors:?}")).header;
    for line in ["typedef void *HTHING;", "void *thing;", "void **p;", "M(const void *a, const S *s, S t)"] {
        assert!(header.contains(line), "{line}\n{header}");
    }
    for (method, code) in [("[in] HTHING a", "void-pointer"), ("[in] S *s", "incomplete-type")] {
        let text = with(types, &format!("HRESULT M({method});"));
        let failure = Compiler::new().check_text(Path::new("x.idl"), &text).expect_err("it does not travel");
        assert_eq!(failure.diagnostics[0].code, code, "{failure}");
    }
}

#[test]
fn unions_of_c_have_no_discriminant() {
    let types = "typedef struct V { long kind; union { long number; double real, *more; }; struct { char c; }; union U { short s; } u; } V;";
    let text = with(types, "HRESULT M([in] V *v);").replace("[object,", "[object, local,");
    let found = check(&text);
    let names: Vec<&str> = found
        .model
        .structs
        .iter()
        .find(|one| one.name == "V")
        .expect("declared")
        .fields
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(names, ["kind", "u2", "s", "u"]);
    let header = emit::c::emit(&found, "x").unwrap_or_else(|errors| panic!("{errors:?}")).header;
    for line in ["int32_t number;", "double real;", "double *more;", "V_u2 u2;", "OBVIA_HAS_SIZE(V, 24);"] {
        assert!(header.contains(line), "{line}\n{header}");
    }
    let failure = Compiler::new().check_text(Path::new("x.idl"), &with(types, "HRESULT M([in] V *v);"));
    assert_eq!(failure.expect_err("it does not travel").diagnostics[0].code, "incomplete-type");
}

#[test]
fn unions_in_structures_have_the_type_of_their_discriminant() {
    for (switch, expected) in [
        ("[switch_is(kind)]", Base::U16),
        ("[switch_type(unsigned long), switch_is(kind)]", Base::U32),
        ("[switch_is(kind + 1)]", Base::I32),
    ] {
        let found = check(&format!("struct S {{ unsigned short kind; {switch} union {{ case 1: long a; }} u; }};"));
        assert_eq!(found.model.unions[0].tag, Type::Base(expected), "{switch}");
    }
}

#[test]
fn arrays_whose_size_is_behind_a_pointer_are_pointers_in_local_methods() {
    let text = with("", "HRESULT M([out, size_is(*n)] wchar_t *text, [in, out] unsigned long *n);");
    let found = check(&text.replace("[object,", "[object, local,"));
    let rust = emit::rust::emit(&found).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert!(rust.contains("unsafe fn M(&self, text: *mut u16, n: *mut u32)"), "{rust}");
}

#[test]
fn pointers_that_may_be_null_in_both_directions_are_refused_by_back_ends() {
    let text = with("", "HRESULT M([in, out, unique] long *p);");
    let found = check(&text);
    let param = &found.model.interfaces.last().expect("declared").methods[0].params[0];
    assert!(matches!(&param.ty, Type::Pointer(to) if to.class == PointerClass::Unique && to.extent == Extent::One));
    refused_by_all(&text, "parameter `p` that is [in, out] and may be null");
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
fn automation_types_have_further_names_and_places() {
    let names = "typedef BSTR TEXT;\ntypedef VARIANT *PV;\ntypedef SAFEARRAY(long) LONGS;";
    let found = check(&with(names, "HRESULT M([in] TEXT t, [in] PV v, [in] LONGS l, [out] TEXT *o);"));
    let params = &found.model.interfaces.last().expect("declared").methods[0].params;
    assert!(params.iter().all(|param| param.memory.is_some() && param.unsupported.is_none()), "{params:?}");
    emit::rust::emit(&found).unwrap_or_else(|errors| panic!("{errors:?}"));
    for method in ["[in] long n, [in, size_is(n)] BSTR *x", "[in, unique] VARIANT *x", "[in] SAFEARRAY *x"] {
        let found = check(&with("", &format!("HRESULT M({method});")));
        let errors = emit::rust::emit(&found).expect_err(method);
        assert!(errors[0].message.contains("parameter `x`"), "{errors:?}");
    }
    let found =
        check(&with("typedef struct S { BSTR text; long n; [size_is(n)] VARIANT *all; } S;", "HRESULT M([in] S *s);"));
    let errors = emit::rust::emit(&found).expect_err("not yet");
    assert!(errors[0].message.contains("a structure or union with one of Automation's types"), "{errors:?}");
}

#[test]
fn enumerators_may_use_the_upper_half_of_their_bits() {
    let found = check("[v1_enum] enum E { [helpstring(\"a\")] A = 0x7fffffff, B = 0x80000000, C = 0xffffffff };");
    let values: Vec<i32> = found.model.enums[0].values.iter().map(|(_, value)| *value).collect();
    assert_eq!(values, [i32::MAX, i32::MIN, -1]);
    let union = "[v1_enum] enum E { A = 0x80000000 };\nunion U switch (enum E e) u { case A: long a; };";
    assert_eq!(check(union).model.unions[0].arms[0].cases, [i64::from(i32::MIN)]);
}

#[test]
fn expressions_have_casts_and_sizes_of_types() {
    let text = "typedef struct S { hyper a; char b; } S;\n\
        const long A = (long) 0x80000000;\nconst unsigned long B = (unsigned char) 0x1ff + (1);\n\
        const long C = sizeof(S) + sizeof(long *) * sizeof(unsigned short);\nconst HRESULT D = 0x80004005;\n\
        const wchar_t *E = \"a\" \"b\";\ntypedef long N;\nconst long F = (N) -1;\nconst hyper G = (A) - 1;";
    let model = check(text).model;
    for (name, expected) in [
        ("A", Value::Int(i64::from(i32::MIN))),
        ("B", Value::Int(256)),
        ("C", Value::Int(32)),
        ("D", Value::Int(0x8000_4005_u32.cast_signed().into())),
        ("E", Value::Text("ab".to_owned())),
        ("F", Value::Int(-1)),
        ("G", Value::Int(i64::from(i32::MIN) - 1)),
    ] {
        assert_eq!(value(&model, name), Some(expected), "{name}");
    }
    let found = check(&with("", "HRESULT M([in] hyper n, [in, size_is((long) n / sizeof(long))] byte *b);"));
    let Type::Pointer(pointer) = &found.model.interfaces.last().expect("declared").methods[0].params[1].ty else {
        panic!()
    };
    assert!(matches!(&pointer.extent, Extent::Counted { .. }));
}

#[test]
fn declarations_without_a_meaning_are_skipped() {
    let text = "midl_pragma warning(disable: 2400)\nextern const GUID SOME_GUID;\n\
        [version(1.0)] interface ITypes { typedef long LENGTH; }\ninterface ILater;\ncoclass CLater;\n\
        [local] HRESULT __stdcall Function(long);\n\
        [dllname(\"a.dll\"), helpstring(\"m\")] module M { const long A = 3; [entry(1)] void __stdcall F(); };";
    let found =
        Compiler::new().permissive(true).check_text(Path::new("x.idl"), text).unwrap_or_else(|one| panic!("{one}"));
    assert_eq!(value(&found.model, "A"), Some(Value::Int(3)));
    assert!(found.model.interfaces.iter().all(|one| one.is_bare));
    emit::rust::emit(&found).unwrap_or_else(|errors| panic!("{errors:?}"));
    let made = emit::c::emit(&found, "x").unwrap_or_else(|errors| panic!("{errors:?}"));
    assert!(
        !made.stubs.contains("IID_ITypes") && made.header.contains("typedef struct ILater ILater;"),
        "{}",
        made.header
    );
    refused_by_all(&with("interface ILater;", "HRESULT M([in] ILater *l);"), "`ILater`, which is only announced");
}

#[test]
fn pointers_to_functions_are_pointers_to_void() {
    let types = "typedef HRESULT (__stdcall *CALL)(long a, void *);\ntypedef struct S { void (*f)(void); CALL g; } S;";
    let text = with(types, "HRESULT M([in] CALL call, [in] S *s);").replace("[object,", "[object, local,");
    let header = emit::c::emit(&check(&text), "x").unwrap_or_else(|errors| panic!("{errors:?}")).header;
    assert!(header.contains("void *f;") && header.contains("void *g;"), "{header}");
}

#[test]
fn names_of_interface_pointers_include_the_star() {
    let found = check(&with(
        "typedef IUnknown *LPUNKNOWN;\ntypedef LPUNKNOWN PU;",
        "HRESULT M([in] PU a, [out] LPUNKNOWN *b);",
    ));
    let params = &found.model.interfaces.last().expect("declared").methods[0].params;
    assert_eq!(params[0].ty, Type::Interface(Object::Unknown));
    assert!(matches!(&params[1].ty, Type::Pointer(to) if to.to == Type::Interface(Object::Unknown)));
    let any = "HRESULT M([in] REFIID riid, [out, iid_is(riid)] LPVOID *object);";
    let found = check(&with("", any));
    let params = &found.model.interfaces.last().expect("declared").methods[0].params;
    assert!(
        matches!(&params[1].ty, Type::Pointer(to) if matches!(to.to, Type::Interface(Object::IidIs(_)))),
        "{params:?}"
    );
}

#[test]
fn built_in_declarations_may_be_repeated() {
    let text = "import \"oaidl.idl\";\n\
        typedef [wire_marshal(wireBSTR)] OLECHAR *BSTR;\ntypedef [unique] FLAGGED_WORD_BLOB *wireBSTR;\n\
        typedef struct _FLAGGED_WORD_BLOB { unsigned long fFlags; unsigned long clSize; [size_is(clSize)] unsigned short asData[]; } FLAGGED_WORD_BLOB;\n\
        typedef struct tagP { long x; } P;\ntypedef struct tagP P;\ntypedef struct { long x; } P;\n\
        [object, uuid(00020400-0000-0000-c000-000000000046)] interface IDispatch : IUnknown { typedef [unique] IDispatch *LPDISP; HRESULT M([in] void *p); }\n\
        [object, uuid(00000000-0000-0000-c000-000000000046)] interface IUnknown { HRESULT N(); }\n\
        [object, dual, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a20)] interface IX : IDispatch { HRESULT M([in] BSTR b, [in] LPDISP d); }";
    let found = check(text);
    let rust = emit::rust::emit(&found).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert_eq!(rust.matches("pub struct P ").count(), 1, "{rust}");
    assert!(found.model.interfaces.last().is_some_and(|one| one.dual && one.methods.len() == 1));
}

#[test]
fn base_types_are_declared_when_a_file_uses_them() {
    let methods = "[id(DISPID_VALUE)] HRESULT M([in] const RECT *r, [in] LPCWSTR t, [out] FILETIME *f, [in] UINT32 n);";
    let found = check(&with("", methods).replace("oaidl", "wtypes"));
    let names: Vec<&str> = found.model.structs.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["RECT", "FILETIME"]);
    let made = emit::c::emit(&found, "x").unwrap_or_else(|errors| panic!("{errors:?}"));
    assert_eq!(made.header.matches("#ifndef OBVIA_IDL_BASE_FILETIME").count(), 1, "{}", made.header);
    emit::rust::emit(&found).unwrap_or_else(|errors| panic!("{errors:?}"));
    emit::java::emit(&found, "x", None).unwrap_or_else(|errors| panic!("{errors:?}"));
    // The file's own declarations come first, and names are unknown in files that import no base
    // file.
    let own = check(&with("typedef struct RECT { hyper a; } RECT;", "HRESULT M([in] RECT r);"));
    assert_eq!(own.model.structs.iter().filter(|one| one.name == "RECT").count(), 1);
    let part = check(&with("typedef long *LPRECT;", "HRESULT M([in] RECT r, [in] LPRECT l);"));
    emit::rust::emit(&part).unwrap_or_else(|errors| panic!("{errors:?}"));
    let bag = with("", "HRESULT M([in] IPropertyBag *bag);");
    let errors = emit::c::emit(&check(&bag), "x").expect_err("libobvia has no proxies of it");
    assert!(errors[0].message.contains("the built-in interface `IPropertyBag`"), "{errors:?}");
    let local = check(&bag.replace("[object,", "[object, local,"));
    let header = emit::c::emit(&local, "x").unwrap_or_else(|errors| panic!("{errors:?}")).header;
    assert!(header.contains("typedef struct IPropertyBag IPropertyBag;"), "{header}");
    assert!(!header.contains("struct EXCEPINFO {") && !header.contains("FLAGGED_WORD_BLOB"), "{header}");
    let failure = Compiler::new().check_text(Path::new("x.idl"), "typedef RECT R;").expect_err("nothing is imported");
    assert_eq!(failure.diagnostics[0].code, "unknown-type");
}

#[test]
fn every_declaration_of_the_prelude_is_correct() {
    let text = include_str!("../src/prelude.idl");
    let own = text.replace("typedef unsigned short VARTYPE;", "");
    let found = check(&format!("import \"oaidl.idl\";\n{own}"));
    assert!(found.model.structs.len() > 30, "{}", found.model.structs.len());
}
