//! The Rust back end: names that differ from those of generated code, and checks of lengths. A test
//! of `testing/constructs` checks that Rust code compiles.

use obvia_idl::{Compilation, Compiler, Diagnostic, emit};
use std::collections::BTreeSet;
use std::path::Path;

const TYPES: &str = "import \"oaidl.idl\";
    struct P { long *a; };
    typedef [switch_type(long)] union U { [case(1)] long *a; [case(2)] long b; } U;\n";

/// Returns a file with these declarations and an interface with these methods.
fn with(declarations: &str, methods: &str) -> String {
    let uuid = "uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a20)";
    format!("{TYPES}{declarations}\n[object, {uuid}] interface I : IUnknown {{\n{methods}\n}}\n")
}

fn check(text: &str) -> Compilation {
    Compiler::new().check_text(Path::new("x.idl"), text).unwrap_or_else(|failure| panic!("{failure}\n{text}"))
}

/// Returns the Rust code for these declarations and methods.
fn rust(declarations: &str, methods: &str) -> String {
    emit::rust::emit(&check(&with(declarations, methods))).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// Checks that the code contains each line, apart from its indentation.
#[track_caller]
fn has_lines(code: &str, lines: &[&str]) {
    for line in lines {
        assert!(code.lines().any(|found| found.trim() == *line), "{line}\n{code}");
    }
}

#[test]
fn lengths_of_arrays_are_compared_with_members_of_every_name() {
    let code = rust(
        "struct S { long length; [size_is(length)] long *a; [size_is(length)] long *b; };
        struct R { [range(0, 9)] long length; [size_is(length)] long *a; };
        struct Q { long items; [ref, size_is(items * 2)] long *a; };",
        "",
    );
    let any = "a.map(|items| items.len()).or(b.map(|items| items.len())).unwrap_or(0)";
    has_lines(
        &code,
        &[
            &format!("let length: i32 = obvia::rt::count({any})?;"),
            "obvia::rt::check_length_or_none(b.map(|items| items.len()), obvia::rt::elements(length))?;",
            "obvia::rt::check_length_or_none(a.map(|items| items.len()), obvia::rt::elements_of((|| Some(i64::try_from(length).ok()?))()))?;",
            "obvia::rt::check_length(a.len(), obvia::rt::elements_of((|| Some((i64::try_from(items).ok()?).checked_mul(2_i64)?))()))?;",
        ],
    );
    assert!(!code.contains("Some(length) ="), "{code}");
}

#[test]
fn arrays_that_may_be_missing_are_compared_if_they_are_there() {
    let shared = "[in, unique, size_is(n)] long *b";
    let code = rust("", &format!("HRESULT M([in] long n, {shared}, [in, size_is(n)] long *a);"));
    has_lines(
        &code,
        &[
            "let n = obvia::rt::count(a.len())?;",
            "obvia::rt::check_length_or_none(b.map(|items| items.len()), Some(a.len()))?;",
        ],
    );
    let code = rust("", &format!("HRESULT M([in] long n, {shared}, [in, unique, size_is(n)] long *c);"));
    let any = "b.map(|items| items.len()).or(c.map(|items| items.len())).unwrap_or(0)";
    has_lines(
        &code,
        &[
            &format!("let n = obvia::rt::count({any})?;"),
            "obvia::rt::check_length_or_none(c.map(|items| items.len()), obvia::rt::elements(n))?;",
        ],
    );
}

#[test]
fn booleans_and_enumerations_that_count_are_parameters() {
    let code = rust(
        "enum E { A, B }; struct S { enum E n; [size_is(n)] long *a; }; struct O { boolean n; [size_is(n)] long a[]; };",
        "HRESULT Given([in] boolean has, [in, size_is(has)] long *value);
        HRESULT Made([out] enum E *n, [out, size_is(, *n)] long **a);
        HRESULT Changed([in, out] long *n, [out, size_is(, *n)] long **a);
        HRESULT Maybe([out] boolean *n, [out, size_is(, *n)] long **a);",
    );
    has_lines(
        &code,
        &[
            "pub fn new(n: E, a: Option<&'a [i32]>) -> obvia::Result<Self> {",
            "pub fn new(n: bool, a: &[i32]) -> obvia::Result<obvia::Owned<Self>> {",
            "pub fn Given(&self, has: bool, value: &[i32]) -> obvia::Result<()> {",
            "pub fn Made(&self) -> obvia::Result<(E, Vec<i32>)> {",
            "Ok((n, unsafe { obvia::rt::take_array(a, n.0) }?))",
            "Ok(unsafe { obvia::rt::take_array(a, (*n)) }?)",
            "pub fn Maybe(&self) -> obvia::Result<(bool, Vec<i32>)> {",
        ],
    );
    let calls = emit::rust::random_calls(
        &check(&with("", "HRESULT M([in] boolean has, [in, size_is(has)] long *value);")),
        "x",
    );
    assert!(calls.contains("let has_in = random.length(0, 1, 1) != 0;"), "{calls}");
}

#[test]
fn counts_may_follow_their_arrays() {
    let code = rust("", "HRESULT M([out, size_is(n)] struct P *list, [in] long n);");
    let at = |text: &str| code.find(text).unwrap_or_else(|| panic!("{text}\n{code}"));
    let count = "let list_count = obvia::rt::elements(n).ok_or(obvia::rt::Status::BAD_STUB_DATA)?;";
    assert!(at("let n: i32 = unsafe { arguments.get(") < at(count), "{code}");
}

#[test]
fn variables_of_generated_code_hide_no_parameters() {
    let code = rust(
        "",
        "HRESULT Measured([in] long measure, [in] long n, [out, size_is(n)] long *data);
        HRESULT Framed([out] long *_frame);
        HRESULT Sized([in] long items, [in, unique, size_is(items + 1)] long *list);
        HRESULT Chosen([in] long item, [in, unique, switch_is(item)] U *u);
        HRESULT Failed([in] BSTR b, [out] VARIANT *v, [in] long status, [out, size_is(status)] long *a);
        HRESULT Placed([in] long OFFSET);",
    );
    has_lines(
        &code,
        &[
            "pub fn Measured(&self, measure_: i32, data: &mut [i32]) -> obvia::Result<()> {",
            "call.inline_request()?;",
            "obvia::rt::check_length_or_none(list.map(|items| items.len()), obvia::rt::elements_of((|| Some((i64::try_from(items).ok()?).checked_add(1_i64)?))()))?;",
            "let u_given = unsafe { u.cast::<URaw<'_>>().as_ref().map(|selected| selected.get(obvia::rt::discriminant(item))) };",
            "pub fn Placed(&self, OFFSET_: i32) -> obvia::Result<()> {",
        ],
    );
    assert!(!code.contains("Err(status)") && !code.contains("let _frame ="), "{code}");
}

#[test]
fn parameters_hide_no_statics() {
    let code =
        rust("", "HRESULT M([in] long I_INFO, [in] long TYPES__, [in] long I_M_REQUEST, [in] long I_M_INFORMATION);");
    let params = "I_INFO_arg: i32, TYPES___arg: i32, I_M_REQUEST_arg: i32, I_M_INFORMATION: i32";
    has_lines(&code, &[&format!("pub fn M(&self, {params}) -> obvia::Result<()> {{")]);
}

#[test]
fn variables_of_test_programs_may_have_the_names_of_constants_and_types() {
    let text = with(
        "const long seed = 1; const long want = 2; const long n_in = 3; const long TEST_SEED = 4; const long other = 5;
        enum place { A, B }; enum Color { RED };",
        "HRESULT M([in] long n, [in] enum place p, [in] enum Color c);",
    );
    let calls = emit::rust::random_calls(&check(&text), "x");
    has_lines(
        &calls,
        &[
            "fn seed() {}",
            "fn want() {}",
            "fn n_in() {}",
            "fn place() {}",
            "let p_in = super::idl::place(random.one_of(&[0, 1]));",
        ],
    );
    for unused in ["fn TEST_SEED()", "fn other()", "fn Color()"] {
        assert!(!calls.contains(unused), "{calls}");
    }
}

#[test]
fn automations_own_structures_are_refused() {
    for param in ["[in] FLAGGED_WORD_BLOB *p", "[out] FLAGGED_WORD_BLOB **p", "[in, out] FLAGGED_WORD_BLOB *p"] {
        let refused = emit::rust::emit(&check(&with("", &format!("HRESULT M({param});")))).expect_err(param);
        let expected = "parameter `p` is passed as one of Automation's types, which the Rust back end does not support";
        assert!(refused[0].message.starts_with(expected), "{refused:?}");
    }
}

#[test]
fn types_and_constants_differ_from_what_generated_code_declares() {
    let code = rust(
        "const long own = 1; const long never = 2; const long link = 3;
        typedef struct Identity { [ptr] struct Identity *link; long clone; } Identity; enum OFFSET { A = 1, B = 2, C = 1 };
        struct K { long *p; long clone; };
        union W switch (long t) u { case 1: case 2: long *a; case 3: struct K k; };
        [object, dual, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a21)] interface J : IDispatch { [id(1)] HRESULT M([in] enum OFFSET o); }",
        "HRESULT M([in] Identity *p);",
    );
    has_lines(
        &code,
        &[
            "pub const own__: i32 = 1;",
            "pub const never__: i32 = 2;",
            "pub struct Identity_<'a> {",
            "pub fn set_link(&self, link_value: Option<&'a Identity_<'a>>) {",
            "pub struct OFFSET_(pub i32);",
            "Self::K(value) => WRaw { k: std::mem::ManuallyDrop::new(Clone::clone(value)) },",
            "<i32 as obvia::rt::Value>::load(frame, at).filter(|value| matches!(value, 1 | 2)).map(Self)",
        ],
    );
}

#[test]
fn discriminants_and_iids_of_every_type_are_passed() {
    let code = rust(
        "struct S { boolean t; [switch_is(t)] U u; }; struct idl { long *a; };",
        "HRESULT M([in] REFIID i, [in, out, iid_is(i)] IUnknown **a); HRESULT OFFSET(); HRESULT OFFSET_();",
    );
    has_lines(
        &code,
        &[
            "pub fn new(t: bool, u: U<'a>) -> obvia::Result<Self> {",
            "pub struct idl_<'a> {",
            "OFFSET: OFFSET_::<Identity, OFFSET>,",
            "OFFSET_: OFFSET__::<Identity, OFFSET>,",
        ],
    );
    let halves = "&[((unsafe { *i }).to_u128() >> 64) as i64, (unsafe { *i }).to_u128() as i64]";
    assert!(code.contains(halves), "{code}");
}

#[test]
fn constants_have_the_type_of_their_declaration() {
    let code = rust("const float F = 5; const float G = 5.5; const double D = -3;", "");
    has_lines(&code, &["pub const F: f32 = 5.0;", "pub const G: f32 = 5.5;", "pub const D: f64 = -3.0;"]);
}

#[test]
fn comments_have_no_characters_that_compilers_refuse() {
    let methods = "// first\rsecond \u{202e}third\u{2066} {\nHRESULT M();\n/* a\r\n * b ??/\n */\nHRESULT N();";
    let compilation = check(&with("", methods));
    let code = emit::rust::emit(&compilation).unwrap_or_else(|errors| panic!("{errors:?}"));
    has_lines(&code, &["/// first second  third  {", "/// a", "/// b ??/"]);
    assert!(code.contains("\n    /// first second") && code.contains("\n}\n\nimpl I_Vtbl {"), "{code}");
    let header = emit::c::emit(&compilation, "x").unwrap_or_else(|errors| panic!("{errors:?}")).header;
    assert!(header.contains(" * b ? ?/\n") && !header.contains('\r'), "{header}");
}

#[test]
fn lent_arrays_are_counted_by_numbers() {
    let text = with("", "HRESULT M([out] boolean *n, [out, lend, size_is(, *n)] long **a);");
    let errors = emit::rust::emit(&check(&text)).expect_err("it is refused");
    let said = "parameter `a` is passed as a lent array whose length is a boolean or an enumeration, which the Rust back end does not support yet";
    assert!(matches!(&errors[..], [one] if one.message == said && one.span.is_some()), "{errors:?}");
}

#[test]
fn members_and_parameters_differ_from_statics_of_generated_code() {
    let code =
        rust("struct S { long *INTERFACES; long *I_INFO; long *I_M_REPLY; };", "HRESULT M([in] struct S *INTERFACES);");
    has_lines(
        &code,
        &[
            "pub fn new(INTERFACES_value: Option<&'a i32>, I_INFO_value: Option<&'a i32>, I_M_REPLY_value: Option<&'a i32>) -> Self {",
            "pub fn M(&self, INTERFACES_arg: &S<'_>) -> obvia::Result<()> {",
        ],
    );
}

/// Returns the errors for names that these declarations share in Rust.
fn taken(declarations: &str) -> Vec<Diagnostic> {
    let compilation = check(&format!("{TYPES}{declarations}"));
    let errors = emit::rust::emit(&compilation).expect_err(declarations);
    assert!(errors.iter().all(|error| error.code == "taken-name" && error.span.is_some()), "{errors:?}");
    errors
}

#[test]
fn idl_names_that_collide_in_rust_are_refused() {
    let interface = |at: u32, name: &str, methods: &str| {
        let uuid = format!("0d4f4c52-0a34-4ac4-8d6c-{at:012x}");
        format!("[object, uuid({uuid})] interface {name} : IUnknown {{ {methods} }}\n")
    };
    let other = "and so does other generated code";
    for (declarations, said) in [
        (
            "const long Foo = 1; typedef enum Foo { A } Foo;".to_owned(),
            "type `Foo` and constant `Foo` are both `Foo` in Rust".to_owned(),
        ),
        (
            "const long INTERFACES = 1;".to_owned(),
            format!("constant `INTERFACES` declares `INTERFACES` in Rust, {other}"),
        ),
        ("struct URaw { long a; };".to_owned(), "type `URaw` and type `U` are both `URaw` in Rust".to_owned()),
        (
            "union W switch (long t) u { case 1: long *a; }; struct WMemory { long a; };".to_owned(),
            "type `WMemory` and type `W` are both `WMemory` in Rust".to_owned(),
        ),
        (
            interface(1, "I", "HRESULT M();") + "struct I_Vtbl { long a; };",
            "type `I_Vtbl` and type `I` are both `I_Vtbl` in Rust".to_owned(),
        ),
        (
            interface(1, "I", "HRESULT M();") + "const long I_INFO = 1;",
            "constant `I_INFO` and type `I` are both `I_INFO` in Rust".to_owned(),
        ),
        (
            interface(1, "I", "HRESULT M([in] struct P *p);") + "const long I_M_REQUEST = 1;",
            "constant `I_M_REQUEST` and method `M` of `I` are both `I_M_REQUEST` in Rust".to_owned(),
        ),
        (
            interface(1, "A", "HRESULT B_C();") + &interface(2, "A_B", "HRESULT C();"),
            "method `C` of `A_B` and method `B_C` of `A` are both `A_B_C_proxy` in Rust".to_owned(),
        ),
        (interface(1, "I", "HRESULT base__();"), format!("type `I` declares `base__` in Rust, {other}")),
        (
            "struct S { long *p; long borrowed__; };".to_owned(),
            format!("type `S` declares `borrowed__` in Rust, {other}"),
        ),
        (
            "union W switch (long t) u { case 1: long *a; case 2: long nothing__; };".to_owned(),
            format!("type `W` declares `nothing__` in Rust, {other}"),
        ),
        (
            "typedef struct N { [ptr] struct N *next; long set_next; } N;".to_owned(),
            format!("type `N` declares `set_next` in Rust, {other}"),
        ),
    ] {
        let errors = taken(&declarations);
        assert!(matches!(&errors[..], [one] if one.message == said), "{declarations}: {errors:?}");
    }
    rust(
        "struct S { [ptr] struct S *next; long set; }; struct W { long nothing__; long base__; }; struct I_Stub { long a; };
        const long Foo = 1; struct Foo { long a; };",
        "HRESULT M(); HRESULT M_proxied(); HRESULT borrowed__();",
    );
}

/// Returns the identifier at the beginning of a text.
fn word(text: &str) -> &str {
    text.split(|one: char| !one.is_ascii_alphanumeric() && one != '_').next().unwrap_or_default()
}

/// Returns, for each occurrence of a text, the rest of its line.
fn after<'t>(line: &'t str, start: &'static str) -> impl Iterator<Item = &'t str> {
    line.match_indices(start).map(move |(at, _)| &line[at + start.len()..])
}

/// The texts before and after a name that a pattern binds.
const ENDS: [(&str, &str); 8] = [
    ("let ", " ="),
    ("let ", ":"),
    ("let mut ", " ="),
    ("let mut ", ":"),
    ("Some(", ")"),
    ("Ok(", ")"),
    ("Err(", ")"),
    ("|", "|"),
];

/// Returns the names of variables and of generic parameters in generated code, apart from those
/// that begin with `zebra`.
fn variables(code: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    for line in code.lines().map(str::trim).filter(|line| !line.starts_with("//")) {
        for (start, end) in ENDS {
            found.extend(after(line, start).filter(|rest| rest[word(rest).len()..].starts_with(end)).map(word));
        }
        let (parts, end) = match line.split_once(" => ") {
            Some((pattern, _)) => (pattern, ""),
            None if line.contains("fn ") => (line, ": "),
            None => ("", ""),
        };
        let parts = parts.split(['(', ')', ',', '<']).skip(1).map(|part| part.trim().trim_start_matches("const "));
        found.extend(parts.filter(|part| part[word(part).len()..].starts_with(end)).map(word));
    }
    found.retain(|name| !name.starts_with("zebra") && !matches!(*name, "_" | "self"));
    found.retain(|name| name.starts_with(|first: char| !first.is_ascii_digit()));
    found
}

#[test]
fn constants_differ_from_the_variables_of_generated_code() {
    let code = emit::rust::emit(&check(include_str!("rust/forms.idl"))).unwrap_or_else(|errors| panic!("{errors:?}"));
    let found = variables(&code);
    for known in ["own", "never", "measure", "items", "OFFSET", "Extending"] {
        assert!(found.contains(known), "{known}: {found:?}");
    }
    for name in found {
        let code = rust(&format!("const long {name} = 1;"), "");
        assert!(!code.contains(&format!("pub const {name}:")), "{name}");
    }
}
