//! The dialect of MIDL that Windows' and Wine's files use: how the compiler treats each construct,
//! and which back end refuses the construct.

use obvia_idl::model::{Base, Direction, Extent, InterfaceId, Method, Model, Object, PointerClass, Type, Value};
use obvia_idl::{Compilation, Compiler, canonical, emit, plan};
use std::path::Path;

pub(crate) fn check(text: &str) -> Compilation {
    Compiler::new().check_text(Path::new("x.idl"), text).unwrap_or_else(|failure| panic!("{failure}"))
}

pub(crate) const UUID: &str = "uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a20)";

/// Returns a file with these declarations and an interface with these methods.
pub(crate) fn with(declarations: &str, methods: &str) -> String {
    format!("import \"oaidl.idl\";\n{declarations}\n[object, {UUID}] interface IX : IUnknown {{\n{methods}\n}}\n")
}

fn value(model: &Model, name: &str) -> Option<Value> {
    model.consts.iter().find(|one| one.name == name).map(|one| one.value.clone())
}

/// Checks that each back end refuses a file, in a message with these words and the back end's name.
#[track_caller]
pub(crate) fn refused_by_all(text: &str, words: &str) {
    refused_by(&["Rust", "C", "Java", "Python"], text, words);
}

/// Checks that the back ends of some languages refuse a file, as [`refused_by_all`] does for all
/// back ends.
#[track_caller]
pub(crate) fn refused_by(languages: &[&str], text: &str, words: &str) {
    let found = check(text);
    let own = (0..found.model.interfaces.len()).map(InterfaceId).filter(|id| !found.model.interfaces[id.0].imported);
    let by_python = own.flat_map(|id| plan::refusals(&found.model, id, "Python")).collect();
    let errors = [
        ("Rust", emit::rust::emit(&found).err()),
        ("C", emit::c::emit(&found, "x").err()),
        ("Java", emit::java::emit(&found, "x", None).err()),
        ("Python", Some(by_python)),
    ];
    for (language, errors) in errors.into_iter().filter(|(language, _)| languages.contains(language)) {
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
    refused_by(&["Rust", "C"], &text, "`Next` is [local] and returns no HRESULT");
    let lone = with("", "[call_as(M)] HRESULT RemoteM();");
    let failure = Compiler::new().check_text(Path::new("x.idl"), &lone).expect_err("there is no M");
    assert_eq!(failure.diagnostics[0].code, "bad-call-as");
}

/// Returns an interface's fingerprint, and the fingerprint on which the modules of a program must
/// agree.
fn both_fingerprints(methods: &str) -> (u128, String) {
    let found = check(&with("", methods));
    let id = InterfaceId(found.model.interfaces.len() - 1);
    let made = emit::rust::emit(&found).unwrap_or_else(|errors| panic!("{errors:?}"));
    let (_, vtable) = made.split_once(".with_vtable(").expect("the vtable has a fingerprint of its own");
    (canonical::fingerprint(&found.model, id), vtable[..34].to_owned())
}

#[test]
fn modules_of_one_program_agree_on_more_than_processes_do() {
    let local = |parameter: &str| format!("HRESULT A();\n[local] HRESULT Next([in] {parameter} p);\nHRESULT B();");
    let lent = |room: &str| {
        format!("HRESULT A([out] unsigned long *n, [out, lend, prealloc({room}), size_is(, *n)] hyper **values);")
    };
    for [one, other] in [[local("void *"), local("long")], [lent("4"), lent("5")]] {
        let ((first, vtable), (second, other)) = (both_fingerprints(&one), both_fingerprints(&other));
        assert_eq!(first, second, "{one}");
        assert_ne!(vtable, other, "{one}");
    }
    let found = check(&with("", &local("void *")));
    let id = InterfaceId(found.model.interfaces.len() - 1);
    assert!(canonical::text(&found.model, id).contains("    [local] HRESULT Next();\n"));
}

#[test]
fn local_methods_are_refused_beside_methods_that_are_called_by_name() {
    let text = "import \"oaidl.idl\";\n[object, dual, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a22)]\n\
                interface IX : IDispatch { [id(1)] HRESULT A(); [local] HRESULT M([in] void *p); }";
    refused_by(&["Rust"], text, "whose methods are called by name");
}

#[test]
fn an_interface_that_extends_a_local_one_does_not_travel() {
    let text = format!(
        "import \"unknwn.idl\";\n[object, local, {UUID}] interface IA : IUnknown {{ HRESULT M([in] void *p); }}\n\
         [object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a21)] interface IB : IA {{ HRESULT N(); }}\n"
    );
    refused_by_all(&text, "interface `IB` extends the [local] interface `IA`");
    refused_by_all(&text.replace("HRESULT M([in] void *p);", ""), "interface `IB` extends the [local] interface `IA`");
}

#[test]
fn pointers_to_void_are_for_local_methods() {
    let types = "typedef void *HTHING;\ntypedef struct S { HTHING thing; void **p; } S;";
    let local = with(types, "HRESULT M([in] HTHING a, [in] S *s, [in] S t);").replace("[object,", "[object, local,");
    let header = emit::c::emit(&check(&local), "x").unwrap_or_else(|errors| panic!("{errors:?}")).header;
    for line in ["typedef void *HTHING;", "void *thing;", "void **p;", "M(const void *a, const S *s, S t)"] {
        assert!(header.contains(line), "{line}\n{header}");
    }
    for (method, why) in [("[in] HTHING a", "leads to an unknown number of bytes"), ("[in] S *s", "a pointer to void")]
    {
        refused_by_all(&with(types, &format!("HRESULT M({method});")), why);
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
    refused_by_all(&with(types, "HRESULT M([in] V *v);"), "leads to `V_u2`, a union without cases");
}

#[test]
fn unions_in_structures_have_the_type_of_their_discriminant() {
    for (switch, expected) in [
        ("[switch_is(kind)]", Base::U16),
        ("[switch_type(unsigned long), switch_is(kind)]", Base::U32),
        ("[switch_is(kind + 1)]", Base::I32),
        ("[switch_is(*at)]", Base::I8),
        ("[switch_is(letter)]", Base::WChar),
        ("[switch_type(wchar_t), switch_is(kind)]", Base::WChar),
        ("[switch_type(__int64), switch_is(kind)]", Base::I64),
        ("[switch_type(unsigned __int64), switch_is(kind)]", Base::U64),
        ("[switch_type(signed short), switch_is(kind)]", Base::I16),
        ("[switch_type(short int), switch_is(kind)]", Base::I16),
        ("[switch_type(BYTE), switch_is(kind)]", Base::Byte),
        ("[switch_type(UINT8), switch_is(kind)]", Base::U8),
        ("[switch_type(DWORD), switch_is(kind)]", Base::U32),
        ("[switch_type(Number), switch_is(kind)]", Base::I16),
    ] {
        let found = check(&format!(
            "import \"oaidl.idl\"; typedef short Number;
            struct S {{
                unsigned short kind; small *at; wchar_t letter; {switch} union {{ case 1: long a; }} u;
            }};"
        ));
        assert_eq!(found.model.unions.last().expect("declared").tag, Type::Base(expected), "{switch}");
    }
    for kind in ["enum K kind", "K kind", "enum K { A, B } kind"] {
        let declared = if kind.contains('{') { "" } else { "typedef enum K { A, B } K;" };
        let text = format!("{declared} struct S {{ {kind}; [switch_is(kind)] union {{ case A: long a; }} u; }};");
        assert!(matches!(check(&text).model.unions[0].tag, Type::Enum(_)), "{text}");
    }
}

#[test]
fn discriminants_have_a_known_type_and_the_values_of_their_arms() {
    for (text, code) in [
        ("typedef [switch_type(nonsense)] union U { [case(1)] long a; } U;", "unknown-type"),
        ("typedef [switch_type(short)] union U { [case(70000)] long a; } U;", "bad-switch"),
        ("typedef [switch_type(unsigned char)] union U { [case(-1)] long a; } U;", "bad-switch"),
        ("typedef [switch_type(double)] union U { [case(1)] long a; } U;", "bad-switch"),
    ] {
        let failure = Compiler::new().check_text(Path::new("x.idl"), text).expect_err(text);
        assert_eq!(failure.diagnostics[0].code, code, "{failure}");
    }
    let found = check("typedef [switch_type(short)] union U { [case(0xFFFF)] long a; } U;");
    assert_eq!(found.model.unions[0].arms[0].cases, [-1]);
}

#[test]
fn sizes_of_automation_types_are_those_in_memory() {
    let found = check("import \"oaidl.idl\"; const long A = sizeof(VARIANT) + sizeof(BSTR) + sizeof(VARIANT *);");
    assert_eq!(value(&found.model, "A"), Some(Value::Int(24 + 8 + 8)));
    let failure =
        Compiler::new().check_text(Path::new("x.idl"), "import \"oaidl.idl\"; const long A = sizeof(IUnknown);");
    assert_eq!(failure.expect_err("it is no value").diagnostics[0].code, "not-an-integer");
}

#[test]
fn casts_of_parameters_keep_the_bits_of_unsigned_types() {
    for (size, expected) in [
        ("(unsigned char)n", "(n & 255)"),
        ("(USHORT)(n + 1)", "((n + 1) & 65535)"),
        ("(unsigned long)n", "n"),
        ("(unsigned short)s", "s"),
        ("(long)n", "n"),
    ] {
        let method = format!("HRESULT M([in] ULONG n, [in] USHORT s, [in, size_is({size})] byte *p);");
        let found = check(&with("", &method));
        let at = found.model.interfaces.iter().position(|one| one.name == "IX").expect("declared");
        let id = obvia_idl::model::InterfaceId(at);
        let text = obvia_idl::canonical::text(&found.model, id);
        assert!(text.contains(&format!("size_is({expected})")), "{size}:\n{text}");
    }
}

#[test]
fn arrays_whose_size_is_behind_a_pointer_are_pointers_in_local_methods() {
    let text = with("", "HRESULT M([out, size_is(*n)] wchar_t *text, [in, out] unsigned long *n);");
    let found = check(&text.replace("[object,", "[object, local,"));
    let rust = emit::rust::emit(&found).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert!(rust.contains("unsafe fn M(&self, text: *mut u16, n: *mut u32)"), "{rust}");
}

/// Returns the code of the first error in a file with these declarations and methods.
pub(crate) fn first_error(declarations: &str, methods: &str) -> &'static str {
    let failure = Compiler::new().check_text(Path::new("x.idl"), &with(declarations, methods)).map(|_| ());
    failure.expect_err(declarations).diagnostics[0].code
}

#[test]
fn constants_have_whole_single_characters() {
    for constant in ["const char C = 'ab';", "const wchar_t C = L'\\xD800';", "const char C = '';"] {
        assert_eq!(first_error(constant, ""), "syntax", "{constant}");
    }
    for (character, number) in [("\\x20AC", 0x20ac), ("\\xFFFD", 0xfffd)] {
        let constant = format!("const wchar_t C = L'{character}';");
        assert_eq!(value(&check(&with(&constant, "")).model, "C"), Some(Value::Int(number)));
    }
}

#[test]
fn a_line_comment_that_ends_like_a_block_is_a_line_comment() {
    let methods = "/** A block\n * of two lines. */ HRESULT A();\nHRESULT B(); // no comment of C */\nHRESULT C();\n\
                   // x*/\nHRESULT D();";
    let found = check(&with("/* before */ // y*/", methods));
    let interface = found.model.interfaces.last().expect("declared");
    let docs: Vec<&str> = interface.methods.iter().map(|method| method.doc.as_str()).collect();
    assert_eq!(docs, ["A block\nof two lines.", "", "", "x*/"]);
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
    assert!(found.model.interfaces.iter().all(|one| one.bare.is_some()));
    emit::rust::emit(&found).unwrap_or_else(|errors| panic!("{errors:?}"));
    let made = emit::c::emit(&found, "x").unwrap_or_else(|errors| panic!("{errors:?}"));
    assert!(
        !made.stubs.contains("IID_ITypes") && made.header.contains("typedef struct ILater ILater;"),
        "{}",
        made.header
    );
}

#[test]
fn handles_have_further_names_and_functions_return_context_handles() {
    let text = "typedef handle_t BINDING, OTHER;\ntypedef BINDING THIRD;\ntypedef [context_handle] void *PLUG;\n\
        static const long LIMIT = 7;\n[uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a30)] interface IPlugs {\n\
        PLUG Open([in] BINDING b, [in] long n); long Use([in] PLUG p, [in] THIRD b); void Close([in, out] PLUG *p); }";
    let found = check(text);
    assert_eq!(value(&found.model, "LIMIT"), Some(Value::Int(7)));
    let [open, used, _] = &found.model.interfaces.last().expect("declared").methods[..] else { panic!() };
    let names = |of: &Method| of.params.iter().map(|param| param.name.clone()).collect::<Vec<_>>();
    assert_eq!((names(open), names(used)), (vec!["n".into(), "returned".into()], vec!["p".into(), "returned".into()]));
    let result = &open.params[1];
    assert!(result.retval && result.direction == Direction::Out, "{result:?}");
    assert!(matches!(&result.ty, Type::Pointer(to) if to.to == Type::Base(Base::Context)), "{result:?}");
    let rust = emit::rust::emit(&found).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert!(rust.contains("pub fn Open(&self, n: i32) -> obvia::Result<obvia::ContextHandle>"), "{rust}");
    let made = emit::c::emit(&found, "x").unwrap_or_else(|errors| panic!("{errors:?}"));
    assert!(made.header.contains("obvia_context *returned"), "{}", made.header);
    emit::java::emit(&found, "x", None).unwrap_or_else(|errors| panic!("{errors:?}"));
    for twice in ["typedef long X; typedef handle_t X;", "typedef handle_t X; typedef long X;"] {
        let failure = Compiler::new().check_text(Path::new("x.idl"), twice).expect_err(twice);
        assert!(failure.diagnostics.iter().any(|one| one.code == "duplicate-name"), "{failure}");
    }
    for member in ["BINDING b", "OTHER *b"] {
        let failure = Compiler::new().check_text(Path::new("x.idl"), &format!("{text} struct S {{ {member}; }};"));
        let failure = failure.expect_err("a handle does not travel");
        assert!(failure.diagnostics.iter().any(|one| one.code == "stray-handle"), "{failure}");
    }
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
    // The file's own declarations take precedence over the built-in ones. A file that imports no
    // base file does not know the built-in names.
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
fn types_of_a_file_take_precedence_over_built_in_ones_of_their_names() {
    let one = "typedef struct tagRECT { hyper a; } RECT;";
    let uses = "typedef struct T { LPRECT l; RECT r; } T;";
    for declarations in
        [format!("{one}\n{uses}"), format!("{uses}\n{one}"), format!("typedef LPRECT P;\n{one}\n{uses}")]
    {
        let found = check(&with(&declarations, "HRESULT M([in] T *t, [in] LPCRECT r);").replace("oaidl", "wtypes"));
        let rects: Vec<_> = found.model.structs.iter().filter(|one| one.name == "RECT").collect();
        assert_eq!((rects.len(), rects[0].fields.len(), rects[0].imported), (1, 1, false), "{declarations}");
        let rust = emit::rust::emit(&found).unwrap_or_else(|errors| panic!("{errors:?}"));
        assert_eq!(rust.matches("pub struct RECT {").count(), 1, "{rust}");
        let header = emit::c::emit(&found, "x").unwrap_or_else(|errors| panic!("{errors:?}")).header;
        assert_eq!(header.matches("OBVIA_HAS_SIZE(RECT, 8);").count(), 1, "{header}");
    }
    for itself in [
        "typedef struct T { LPRECT l; } T;\ntypedef struct tagRECT { RECT *next; } RECT;",
        "typedef struct tagRECT { RECT *next; } RECT;",
    ] {
        let text = with(itself, "HRESULT M([in] RECT *t);").replace("oaidl", "wtypes");
        let failure = Compiler::new().check_text(Path::new("x.idl"), &text).expect_err("it is not declared yet");
        assert!(failure.to_string().contains("write a tag before the `{`"), "{failure}");
    }
    let persist =
        "[object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a21)] interface IPersist : IUnknown { HRESULT Own(); }\n";
    for text in [
        persist.to_owned() + &with("", "HRESULT M([in] IPersist *p);"),
        with("", "HRESULT M([in] IPersist *p);") + persist,
        with("interface IPersist;", "HRESULT M([in] IPersist *p);") + persist,
    ] {
        let found = check(&text);
        let all: Vec<_> = found.model.interfaces.iter().filter(|one| one.name == "IPersist").collect();
        assert_eq!((all.len(), all[0].methods[0].name.as_str(), all[0].imported), (1, "Own", false), "{text}");
    }
}

#[test]
fn announcing_a_built_in_interface_does_not_hide_it() {
    let found = check(&with("interface IPersist;", "HRESULT M([in] IPersist *p);"));
    let persist = found.model.interfaces.iter().find(|one| one.name == "IPersist").expect("declared");
    assert!(persist.bare.is_none() && persist.methods.len() == 1);
    emit::rust::emit(&found).unwrap_or_else(|errors| panic!("{errors:?}"));
}

#[test]
fn classes_may_stand_before_their_interfaces() {
    let one = UUID.replace("7a20", "7a21");
    let text = format!(
        "import \"oaidl.idl\";\n[{UUID}] library L {{\n\
         [{one}] coclass C {{ [default] interface IX; [source] interface DX; }};\n\
         [{}] dispinterface DY {{ interface IX; }};\n\
         [object, dual, {}] interface IX : IDispatch {{ [id(1)] HRESULT M(); }};\n\
         [{}] dispinterface DX {{ properties: methods: [id(1)] void Changed(); }};\n}};",
        UUID.replace("7a20", "7a22"),
        UUID.replace("7a20", "7a23"),
        UUID.replace("7a20", "7a24"),
    );
    let found = check(&text);
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
    let offered: Vec<_> =
        found.model.coclasses[0].interfaces.iter().map(|(one, _)| found.model.offered_name(*one)).collect();
    assert_eq!(offered, [("interface", "IX"), ("dispinterface", "DX")]);
    assert_eq!(found.model.interfaces.iter().filter(|one| one.name.ends_with('X')).count(), 1);
    emit::tlb::emit(&found).unwrap_or_else(|errors| panic!("{errors:?}"));
}

#[test]
fn types_in_an_interface_that_waits_for_its_base_are_known_below_it() {
    let [one, two] = ["7a21", "7a22"].map(|end| UUID.replace("7a20", end));
    let text = format!(
        "import \"unknwn.idl\";\ninterface IA;\n\
         [object, {one}, pointer_default(ptr)] interface IB : IA {{ typedef struct S {{ long *a; }} S; HRESULT B([in] S *s); }}\n\
         struct T {{ S s; }};\n[object, {two}] interface IA : IUnknown {{ HRESULT A(); }}\n"
    );
    let found = check(&text);
    let class = match &found.model.structs[0].fields[0].ty {
        Type::Pointer(pointer) => pointer.class,
        other => panic!("{other:?}"),
    };
    assert_eq!((found.model.structs.len(), class), (2, PointerClass::Full));
    assert_eq!(found.model.interfaces.iter().map(|one| one.methods.len()).collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn every_declaration_of_the_prelude_is_correct() {
    let text = include_str!("../src/prelude.idl");
    let own = text.replace("typedef unsigned short VARTYPE;", "");
    let found = check(&format!("import \"oaidl.idl\";\n{own}"));
    assert!(found.model.structs.len() > 30, "{}", found.model.structs.len());
}

#[test]
fn monikers_are_declared_as_windows_has_them() {
    let found =
        check(&with("", "HRESULT M([in] IMoniker *m, [in] IBindCtx *b);").replace("[object,", "[object, local,"));
    let model = &found.model;
    let id = model.interfaces.iter().position(|one| one.name == "IMoniker").map(InterfaceId).expect("declared");
    let names: Vec<&str> = model.all_methods(id).iter().map(|method| method.name.as_str()).collect();
    // The order of the vtable, after the methods of IPersist and IPersistStream.
    let expected = "GetClassID IsDirty Load Save GetSizeMax BindToObject BindToStorage Reduce ComposeWith Enum IsEqual \
        Hash IsRunning GetTimeOfLastChange Inverse CommonPrefixWith RelativePathTo GetDisplayName ParseDisplayName \
        IsSystemMoniker";
    assert_eq!(names, expected.split_whitespace().collect::<Vec<_>>());
    assert_eq!(model.interfaces[id.0].uuid, 0x0000_000f_0000_0000_c000_0000_0000_0046);
    let table = model.interfaces.iter().find(|one| one.name == "IRunningObjectTable").expect("IBindCtx leads to it");
    assert_eq!((table.methods.len(), table.uuid >> 96), (7, 0x10));
    assert_eq!(
        value(&check("import \"objidl.idl\"; const long C = CLSCTX_ENABLE_CLOAKING;").model, "C"),
        Some(Value::Int(0x10_0000))
    );
    emit::c::emit(&found, "x").unwrap_or_else(|errors| panic!("{errors:?}"));
}

#[test]
fn classes_may_list_interfaces_that_no_file_declares() {
    let found = check(&format!(
        "import \"oaidl.idl\";\n[{UUID}] coclass C {{ [default] interface ILater; [source] dispinterface DLater; }};"
    ));
    let codes: Vec<&str> = found.warnings.iter().map(|one| one.code).collect();
    assert_eq!((codes, found.model.coclasses[0].interfaces.len()), (vec!["announced"; 2], 2));
    assert!(found.model.interfaces.iter().any(|one| one.name == "ILater" && one.bare.is_some()));
    let text = "struct S { long a; };\ncoclass C { interface S; };";
    let failure = Compiler::new().check_text(Path::new("x.idl"), text).expect_err("a structure");
    assert!(failure.diagnostics[0].message.contains("`S` is no interface"), "{failure}");
}

fn interface(at: u8, name: &str, base: &str, method: &str) -> String {
    let uuid = format!("uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a{at:02x})");
    format!("[object, {uuid}] interface {name} : {base} {{ HRESULT {method}(); }}\n")
}

#[test]
fn an_interface_may_extend_one_that_is_declared_below() {
    let interface = |at: u8, name: &str, base: &str| interface(at, name, base, &format!("{name}M"));
    let text = format!(
        "import \"unknwn.idl\";\ninterface IA;\n{}{}{}",
        interface(1, "IC", "IB"),
        interface(2, "IB", "IA"),
        interface(3, "IA", "IUnknown")
    );
    let found = check(&text);
    let id = |name: &str| found.model.interfaces.iter().position(|one| one.name == name).expect("declared");
    let methods = found.model.all_methods(obvia_idl::model::InterfaceId(id("IC")));
    let names: Vec<(&str, u16)> = methods.iter().map(|method| (method.name.as_str(), method.opnum)).collect();
    assert_eq!(names, [("IAM", 3), ("IBM", 4), ("ICM", 5)]);
    let header = emit::c::emit(&found, "x").unwrap_or_else(|errors| panic!("{errors:?}")).header;
    let at = |name: &str| header.find(&format!("struct {name} : ")).expect("a class");
    assert!(at("IA") < at("IB") && at("IB") < at("IC"), "{header}");
    let circle = format!("interface IB;\n{}{}", interface(1, "IA", "IB"), interface(2, "IB", "IA"));
    let failure = Compiler::new().check_text(Path::new("x.idl"), &circle).expect_err("a circle");
    assert!(failure.diagnostics.iter().all(|one| one.code == "undeclared-interface"), "{failure}");
}

#[test]
fn methods_in_code_have_the_same_names_whatever_the_order_of_interfaces() {
    let a = interface(1, "IA", "IUnknown", "IA");
    let b = interface(2, "IB", "IA", "IA_method");
    let c = interface(3, "IC", "IB", "IA_method_method");
    let orders = [
        format!("{a}{b}{c}"),
        format!("interface IB;\n{a}{b}{c}"),
        format!("interface IC;\ninterface IB;\n{a}{b}{c}"),
        format!("{c}{b}{a}"),
    ];
    for order in orders {
        let text = format!("import \"unknwn.idl\";\n{order}");
        let found = check(&text);
        let last = found.model.interfaces.iter().position(|one| one.name == "IC").map(InterfaceId).expect("declared");
        let names: Vec<&str> = found.model.all_methods(last).iter().map(|method| method.code.as_str()).collect();
        assert_eq!(names, ["IA_method", "IA_method_method", "IA_method_method_method"], "{text}");
        emit::c::emit(&found, "x").unwrap_or_else(|errors| panic!("{text}{errors:?}"));
    }
}

#[test]
fn bit_fields_are_parts_of_integers() {
    let text = "struct S { char a; unsigned long b : 3, c : 29; unsigned long d : 1; unsigned long : 4; unsigned short e : 2; \
                unsigned short : 0; unsigned short f : 1; long bits; };";
    let found = check(&with(text, "HRESULT M([in] struct S *s);"));
    let one = found.model.structs.iter().find(|one| one.name == "S").expect("declared");
    let fields: Vec<(&str, usize)> = one.fields.iter().map(|one| (one.name.as_str(), one.bits.len())).collect();
    assert_eq!(fields, [("a", 0), ("bits2", 2), ("bits3", 2), ("bits4", 1), ("bits5", 1), ("bits", 0)]);
    assert_eq!(one.measure.size, 20);
    let header = emit::c::emit(&found, "x").unwrap_or_else(|errors| panic!("{errors:?}")).header;
    for line in ["uint32_t bits2;", "uint32_t b : 3;", "uint32_t c : 29;", "uint32_t  : 4;", "uint16_t f : 1;"] {
        assert!(header.contains(line), "{line}\n{header}");
    }
    for wrong in ["float a : 1", "long a : 33", "long a : 0", "long *a : 1"] {
        let failure = Compiler::new().check_text(Path::new("x.idl"), &format!("struct S {{ {wrong}; }};"));
        assert_eq!(failure.expect_err(wrong).diagnostics[0].code, "bad-bit-field");
    }
}

#[test]
fn names_of_base_types_keep_their_meaning() {
    for typedef in [
        "typedef struct { long a; } void;",
        "typedef float small;",
        "typedef hyper HRESULT;",
        "typedef struct { long a; } boolean;",
        "typedef double BOOL;",
        "typedef long LPSTR;",
        "typedef handle_t void;",
        "typedef [context_handle] void *DWORD;",
        "typedef BSTR hyper;",
        "typedef long VARIANT;",
        "typedef char *BSTR;",
    ] {
        assert_eq!(first_error(typedef, ""), "reserved-name", "{typedef}");
    }
    check(&with(
        "typedef unsigned char boolean, byte; typedef unsigned short wchar_t, WCHAR; typedef int BOOL, *PBOOL;
        typedef long HRESULT; typedef LONG SCODE; typedef double DOUBLE; typedef WCHAR *LPWSTR; typedef void *handle_t;
        typedef const GUID *REFIID; typedef [unique] wchar_t *BSTR; typedef struct tagVARIANT { long a; } VARIANT;",
        "",
    ));
}

#[test]
fn calls_back_are_refused() {
    assert_eq!(first_error("", "[callback] HRESULT M();"), "foreign-attribute");
}

#[test]
fn handles_of_other_files_may_be_declared_again_in_another_form() {
    let folder = ground::Folder::new("idl-declared-again");
    let first = "typedef void *H;\ntypedef struct _P { long a, b; } P;";
    std::fs::write(folder.join("a.idl"), first).expect("the folder can be written to");
    let check = |text: &str| {
        std::fs::write(folder.join("b.idl"), format!("import \"a.idl\";\n{text}"))
            .expect("the folder can be written to");
        Compiler::new().check(&folder.join("b.idl"))
    };
    let found = check("typedef hyper H;\ntypedef struct _Q { long a; long b; } P;\nstruct R { struct _Q q; H h; };")
        .unwrap_or_else(|failure| panic!("{failure}"));
    let codes: Vec<&str> = found.warnings.iter().map(|one| one.code).collect();
    assert_eq!((codes, found.model.structs.len(), found.model.typedefs.len()), (vec!["declared-again"], 2, 2));
    for other in [
        "typedef short H;",
        "typedef double H;",
        "typedef struct _Q { long x; } P;",
        "typedef struct _Q { long a; float b; } P;",
        "typedef struct _Q { long a; [range(0, 9)] long b; } P;",
    ] {
        let failure = check(other).expect_err(other);
        assert_eq!(failure.diagnostics[0].code, "duplicate-name");
        let shown = failure.to_string();
        assert!(shown.contains("a.idl:") && shown.contains("b.idl:2:"), "{shown}");
    }
}

#[test]
fn a_structure_declared_twice_leaves_nothing_to_the_next_one() {
    let folder = ground::Folder::new("idl-declared-twice");
    let first = "typedef struct _S { void *p; } S;\ntypedef struct _V { BSTR p; } V;";
    std::fs::write(folder.join("a.idl"), format!("import \"oaidl.idl\";\n{first}")).expect("writable");
    for repeated in first.lines().map(|line| line.replace("struct _", "struct _Other")) {
        let text =
            format!("import \"a.idl\";\n{repeated}\n{}", with("struct T { long x; };", "HRESULT M([in] struct T *t);"));
        std::fs::write(folder.join("b.idl"), text).expect("writable");
        let found = Compiler::new().check(&folder.join("b.idl")).unwrap_or_else(|failure| panic!("{failure}"));
        assert!(found.warnings.is_empty(), "{:?}", found.warnings);
        emit::rust::emit(&found).unwrap_or_else(|errors| panic!("{errors:?}"));
    }
}

#[test]
fn words_of_c_headers_do_not_change_the_language() {
    let text = "#define interface struct\n#ifdef __WIDL__\n#ifdef GUID_DEFINED\nconst long A = __WIDL__;\n#endif\n#endif\n\
                typedef int (__stdcall FARPROC)();\ntypedef FARPROC *CALL;\nconst BSTR T = L\"a\";\nconst long \\\n B = 1;\n\
                interface ILater;";
    let model = check(text).model;
    assert_eq!(value(&model, "A"), Some(Value::Int(0x800)));
    assert_eq!(value(&model, "T"), Some(Value::Text("a".to_owned())));
    let methods = "HRESULT M([in, string] BSTR *t) = 0;";
    check(&with("", methods));
    let events =
        format!("import \"oaidl.idl\";\n[odl, {UUID}] interface IEvents : IUnknown {{ void Changed([in] long n); }}");
    assert!(check(&events).model.interfaces.last().is_some_and(|one| one.local));
    let sink = format!(
        "import \"oaidl.idl\";\ninterface ISink;\n[{UUID}] dispinterface ISink {{ properties: methods: [id(1)] void M(); }}"
    );
    assert_eq!(check(&sink).model.dispinterfaces.len(), 1);
}

#[test]
fn overloaded_methods_get_names_that_no_method_has() {
    let text = with("", "HRESULT A(long a); HRESULT A(hyper a); HRESULT A_2(float a);");
    let found = check(&text.replace("[object,", "[object, local,"));
    let interface = found.model.interfaces.iter().find(|one| one.name == "IX").expect("declared");
    let names: Vec<&str> = interface.methods.iter().map(|method| method.name.as_str()).collect();
    assert_eq!(names, ["A", "A_3", "A_2"]);
}

#[test]
fn bit_fields_keep_their_types_and_travel_in_unsigned_integers() {
    let text = "typedef enum K { A, B } K; struct S { K k : 2; int a : 3; unsigned b : 20; boolean c : 1, d : 1; };";
    let found = check(&with(text, "HRESULT M([in] struct S *s);"));
    let one = found.model.structs.iter().find(|one| one.name == "S").expect("declared");
    let types: Vec<&Type> = one.fields.iter().map(|one| &one.ty).collect();
    assert_eq!(types, [&Type::Base(Base::U32), &Type::Base(Base::U8)]);
    let header = emit::c::emit(&found, "x").unwrap_or_else(|errors| panic!("{errors:?}")).header;
    for line in ["uint32_t k : 2;", "int32_t a : 3;", "uint32_t b : 20;", "uint8_t bits2;"] {
        assert!(header.contains(line), "{line}\n{header}");
    }
    for (wrong, code) in [("NOSUCH a : 3; long z", "unknown-type"), ("int : 0", "empty-struct")] {
        let failure = Compiler::new().check_text(Path::new("x.idl"), &format!("struct S {{ {wrong}; }};"));
        assert_eq!(failure.expect_err(wrong).diagnostics[0].code, code);
    }
}

#[test]
fn bit_fields_of_enumerations_have_a_sign_in_c_if_a_value_is_negative() {
    let text = "typedef [v1_enum] enum Signed { LESS = -1, MORE = 1 } Signed; \
                typedef [v1_enum] enum Plain { NONE, ALL } Plain; struct S { Signed s : 4; Plain p : 4; };";
    let found = check(&with(text, "HRESULT M([in] struct S *s);"));
    let header = emit::c::emit(&found, "x").unwrap_or_else(|errors| panic!("{errors:?}")).header;
    for line in ["int32_t s : 4;", "uint32_t p : 4;", "uint32_t bits;"] {
        assert!(header.lines().any(|found| found.trim() == line), "{line}\n{header}");
    }
}

#[test]
fn bit_fields_that_are_too_narrow_for_their_enumeration_get_a_warning() {
    let warned = |values: &str, width: u32| {
        let text = format!("typedef [v1_enum] enum E {{ {values} }} E; struct S {{ E a : {width}; E : 1; }};");
        let made = Compiler::new().check_text(Path::new("x.idl"), &text).unwrap_or_else(|failure| panic!("{failure}"));
        let codes: Vec<_> = made.warnings.iter().map(|warning| warning.code).collect();
        assert!(codes.is_empty() || codes == ["narrow-bit-field"], "{values}: {codes:?}");
        !codes.is_empty()
    };
    for (values, least) in [
        ("A, B = 12", 4),
        ("A = -1, B = 12", 5),
        ("A = -8, B = 7", 4),
        ("A = -9", 5),
        ("A = 15", 4),
        ("A = 0x7fffffff", 31),
        ("A = -0x7fffffff - 1, B = 0x7fffffff", 32),
    ] {
        assert!(!warned(values, least), "{values} fit {least} bits");
        assert!(warned(values, least - 1), "{values} do not fit {} bits", least - 1);
    }
}

#[test]
fn masks_and_the_upper_half_of_values_are_computed_without_overflow() {
    check(&with("", "HRESULT M([in] hyper n, [in, size_is(n & 0x7fffffffffffffff)] byte *p);"));
    check("typedef [switch_type(hyper)] union U { [case(0xFFFFFFFFFFFFFFFF)] long a; } U;");
    let found = check("import \"oaidl.idl\"; const long A = sizeof(LPUNKNOWN);");
    assert_eq!(value(&found.model, "A"), Some(Value::Int(8)));
}

#[test]
fn interfaces_of_one_uuid_are_refused() {
    let one = |name: &str| format!("[object, local, {UUID}] interface {name} : IUnknown {{ HRESULT M{name}(); }}\n");
    let text = format!("import \"oaidl.idl\";\n{}{}", one("IA"), one("IB"));
    let failure = Compiler::new().check_text(Path::new("x.idl"), &text).expect_err("one uuid");
    assert_eq!(failure.diagnostics[0].code, "duplicate-uuid");
}

#[test]
fn declarations_that_are_used_above_keep_the_pointer_class_of_their_interface() {
    let own = with("", "typedef struct tagBIND_OPTS { long *p; } BIND_OPTS; HRESULT M([in] BIND_OPTS *b);");
    let own = own.replace("[object,", "[object, pointer_default(ptr),");
    let (import, interface) = own.split_at(own.find('[').expect("an attribute"));
    let import = format!("{import}\nimport \"objidl.idl\";\n");
    let user = "struct A { BIND_OPTS q; };\n";
    let prints = [format!("{import}{user}{interface}"), format!("{import}{interface}\n{user}")].map(|text| {
        let found = check(&text);
        let at = found.model.interfaces.iter().position(|one| one.name == "IX").expect("declared");
        canonical::text(&found.model, InterfaceId(at))
    });
    assert!(prints[1].contains("[ptr]"), "{}", prints[1]);
    assert_eq!(prints[0], prints[1]);
}

#[test]
fn imports_are_proposed_for_names_of_built_in_types_alone() {
    let help = |text: &str| {
        let failure = Compiler::new().check_text(Path::new("x.idl"), text).expect_err(text);
        failure.diagnostics[0].help.clone().unwrap_or_default()
    };
    for (known, file) in [("FILETIME", "wtypes"), ("HWND", "wtypes"), ("IPersist", "wtypes"), ("IDispatch", "oaidl")] {
        let expected = format!("write `import \"{file}.idl\";` at the beginning of the file");
        assert_eq!(help(&format!("struct A {{ {known} *p; }};")), expected);
    }
    // No import is proposed for the names of members of built-in structures.
    for member in ["x", "left", "wReserved"] {
        let text = format!("struct A {{ {member} p; }};");
        assert!(!help(&text).contains("import \""), "{}", help(&text));
        assert!(!help(&format!("import \"objidl.idl\"; {text}")).contains("write `import"));
    }
    assert_eq!(help("typedef long lefty; struct A { left p; };"), "did you mean `lefty`?");
}

#[test]
fn built_in_interfaces_extend_the_declaration_of_a_file_that_stands_below() {
    let text = format!(
        "import \"objidl.idl\";\n\
         [object, local, {UUID}] interface IX : IPersistStream {{ HRESULT M([in] IPersist *p); }}\n\
         [object, local, uuid(0000010c-0000-0000-c000-000000000046)]\n\
         interface IPersist : IUnknown {{ HRESULT GetClassID([out] CLSID *c); HRESULT More(); }}\n"
    );
    let model = check(&text).model;
    let at = model.interfaces.iter().position(|one| one.name == "IX").expect("declared");
    let names: Vec<&str> = model.all_methods(InterfaceId(at)).iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["GetClassID", "More", "IsDirty", "Load", "Save", "GetSizeMax", "M"]);
}
