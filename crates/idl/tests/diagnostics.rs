//! Errors are reported at their place, with advice.

use obvia_idl::{Compiler, Severity};
use std::path::Path;

/// Returns an interface with these methods, which begin at line 4.
fn with_methods(methods: &str) -> String {
    format!(
        "import \"unknwn.idl\";\n[object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a10)]\ninterface IX : IUnknown {{\n{methods}\n}}\n"
    )
}

/// Checks that a text fails with exactly one error, which has this code and line and whose
/// rendering contains these words.
fn refused(text: &str, code: &str, line: usize, words: &[&str]) {
    let failure = Compiler::new().check_text(Path::new("x.idl"), text).err();
    let failure = failure.unwrap_or_else(|| panic!("nothing is found wrong with:\n{text}"));
    let rendered = failure.to_string();
    let found: Vec<_> = failure.diagnostics.iter().map(|one| one.code).collect();
    assert_eq!(found, [code], "{rendered}");
    let span = failure.diagnostics[0].span.expect("every error in a file has a place");
    assert_eq!(failure.sources.line(span), line, "{rendered}");
    for word in words {
        assert!(rendered.contains(word), "{word:?} is not said in:\n{rendered}");
    }
    assert!(rendered.contains('^'), "no caret in:\n{rendered}");
}

#[test]
fn errors_in_names_are_reported() {
    refused(&with_methods("HRESULT M([in] lnog x);"), "unknown-type", 4, &["lnog", "did you mean `long`?"]);
    refused(&with_methods("HRESULT M([in] long x, [in] long x);"), "duplicate-name", 4, &["two parameters"]);
    refused(&with_methods("HRESULT M();\nHRESULT M();"), "duplicate-name", 5, &["has a method `M` already"]);
    refused("const long A = 1;\nconst long A = 2;", "duplicate-name", 2, &["first declared here"]);
    refused("const long A = B;", "unknown-value", 1, &["no constant is called `B`"]);
    refused("struct S { long a; long a; };", "duplicate-name", 1, &["two members"]);
    refused(
        &with_methods("HRESULT M([in] long n, [in, size_is(m)] long *a);"),
        "unknown-value",
        4,
        &["the method has no parameter `m`"],
    );
}

#[test]
fn uuids_of_the_runtime_are_refused_for_user_interfaces() {
    let with_uuid = |name: &str, uuid: &str| {
        format!("import \"unknwn.idl\";\n[object,\nuuid({uuid})]\ninterface {name} : IUnknown {{ HRESULT M(); }}\n")
    };
    for (uuid, whose) in [
        ("00000000-0000-0000-0000-000000000000", "nobody"),
        ("00000000-0000-0000-C000-000000000046", "IUnknown"),
        ("00000003-0000-0000-c000-000000000046", "IMarshal"),
        ("94ea2b94-e9cc-49e0-c0ff-ee64ca8f5b90", "IAgileObject"),
        ("af86e2e0-b12d-4c6a-9c5a-d7aa65101e90", "IInspectable"),
        ("ae49d5cb-143f-431c-874c-2729336e4eca", "windows-core"),
        ("ac70c40a-fe8b-47e2-8821-d46b5b346354", "obvia"),
        ("00020400-0000-0000-c000-000000000046", "IDispatch"),
    ] {
        refused(&with_uuid("IX", uuid), "reserved-uuid", 3, &[whose, "uuidgen"]);
    }
    let plain = "[uuid(00000000-0000-0000-c000-000000000046)]\ninterface F { void F1([in] long x); }";
    refused(plain, "reserved-uuid", 1, &["IUnknown"]);
}

#[test]
fn errors_in_types_are_reported() {
    refused("struct S { struct S inner; };", "incomplete-type", 1, &["cannot contain itself"]);
    refused(&with_methods("HRESULT M([out] long x);"), "out-not-pointer", 4, &["write `*` before the name"]);
    refused(&with_methods("long M();"), "not-hresult", 4, &["return HRESULT"]);
    refused(&with_methods("HRESULT M([in] long x[]);"), "no-size", 4, &["size_is"]);
    refused(&with_methods("HRESULT M([in] IUnknown x);"), "interface-by-value", 4, &["needs a pointer"]);
    refused(&with_methods("HRESULT M([in, string] long *x);"), "bad-string", 4, &["wchar_t *"]);
    refused(&with_methods("HRESULT M([in] double d, [in, size_is(d)] long *a);"), "not-an-integer", 4, &["`d`"]);
    refused(&with_methods("HRESULT M([in] long *n, [in, size_is(n)] long *a);"), "not-an-integer", 4, &["write `*n`"]);
    refused(&with_methods("[oneway] HRESULT M([out] long *x);"), "oneway-out", 4, &["calls have no reply"]);
    refused(&with_methods("HRESULT M([out, lend, prealloc(8)] long *x);"), "bad-transfer", 4, &["remove [lend]"]);
    refused(&with_methods("HRESULT M([in, prealloc(8)] long x);"), "bad-transfer", 4, &["write [lend] with it"]);
    refused(&with_methods("HRESULT M([in] VARIANT x);"), "unknown-type", 4, &["import \"oaidl.idl\";"]);
    refused("struct S { long a[0]; };", "bad-dimension", 1, &["at least 1"]);
    refused("enum E { };", "empty-enum", 1, &["has no values"]);
    refused("union U switch (long k) u { case 1: long a; case 1: long b; };", "duplicate-case", 1, &["two arms"]);
    refused("union U switch (double k) u { case 1: long a; };", "bad-switch", 1, &["integer"]);
    refused("union U { case 1: long a; };\nstruct S { long k; union U u; };", "no-switch", 2, &["switch_is"]);
}

#[test]
fn errors_in_automation_interfaces_are_reported() {
    let dual = |attributes: &str, base: &str, methods: &str| {
        let uuid = "uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a10)";
        format!("import \"oaidl.idl\";\n[object, {attributes}{uuid}]\ninterface I : {base} {{\n{methods}\n}}")
    };
    let plain = |methods: &str| dual("", "IUnknown", methods);
    refused(&dual("dual, ", "IUnknown", ""), "dual-base", 2, &[": IDispatch"]);
    refused(&plain("HRESULT M([in] SAFEARRAY(wireBSTR) x);"), "bad-element", 4, &["elements are"]);
    refused(&plain("HRESULT M([in] SAFEARRAY(SAFEARRAY(long)) x);"), "bad-element", 4, &["elements are"]);
    let of_one_process = |method: &str| dual("local, ", "IDispatch", method);
    refused(&of_one_process("void M();"), "not-automation", 4, &["`M` returns no HRESULT", "extend IUnknown"]);
    refused(&of_one_process("long M([in] long x);"), "not-automation", 4, &["`M` returns no HRESULT"]);
    let twice = "[id(1)] HRESULT M();\n[id(1)] HRESULT N();";
    refused(&dual("", "IDispatch", twice), "duplicate-id", 5, &["own name and DISPID"]);
    let two = "[id(1), propget] HRESULT P([out, retval] long *v);\n[id(2), propput] HRESULT P([in] long v);";
    refused(&dual("", "IDispatch", two), "duplicate-id", 5, &["share them"]);
    refused(&dual("", "IDispatch", "[id(0x100000000)] HRESULT M();"), "bad-id", 4, &["[id(1)]"]);
    for ty in ["BSTR", "VARIANT"] {
        let method = format!("[id(1)] HRESULT M([in, string, utf8] {ty} a);");
        refused(&dual("", "IDispatch", &method), "bad-utf8", 4, &["it is of one of Automation's types"]);
    }
}

#[test]
fn errors_in_attributes_are_reported() {
    refused(
        &with_methods("HRESULT M([in, sise_is(3)] long *a);"),
        "unknown-attribute",
        4,
        &["did you mean [size_is]?"],
    );
    refused(&with_methods("HRESULT M([in, charset(UTF16)] long a);"), "foreign-attribute", 4, &["pidl"]);
    refused(
        &with_methods("HRESULT M([in, uuid(1)] long a);"),
        "misplaced-attribute",
        4,
        &["means nothing on a parameter"],
    );
    refused(&with_methods("HRESULT M([in, range(5, 1)] long a);"), "bad-range", 4, &["greater"]);
    for (param, why) in [
        ("[in, utf8] const char *a", "has no [string]"),
        ("[in, utf8] long a", "has no [string]"),
        ("[in, string, utf8] const wchar_t *a", "is a string of other elements than char"),
        ("[in, string, utf8] const byte *a", "is a string of other elements than char"),
        ("[out, string, utf8] wchar_t **a", "is a string of other elements than char"),
        ("[in, ptr, string, utf8] const char *a", "is a [ptr] pointer"),
        ("[in, out, string, utf8] char *a", "is a string in the caller's memory that the method changes"),
        ("[in, out, string, utf8] char **a", "is a string that the method replaces"),
        ("[in, string, utf8] const char **a", "is a pointer to a pointer"),
        ("[in, string, utf8] char a[20]", "is an array of fixed size"),
        ("[out, string, utf8] char a[20]", "is an array of fixed size"),
        ("[in, size_is(4), string, utf8] const char **a", "is an array of strings"),
    ] {
        let text = with_methods(&format!("HRESULT M({param});"));
        refused(&text, "bad-utf8", 4, &[&format!("cannot have [utf8]: it {why}"), "const char *text"]);
    }
    for param in ["[in, string, utf8] signed char *a", "[in, string, utf8] small *a"] {
        refused(&with_methods(&format!("HRESULT M({param});")), "bad-string", 4, &["[string] is not on a pointer"]);
    }
    for method in [
        "long M([in, string, utf8] const char *a);",
        "void M([in, unique, string, utf8] const char *a);",
        "void M([out, retval, string, utf8] char **a);",
    ] {
        let text = with_methods(method).replace("object", "object, local");
        refused(
            &text,
            "bad-utf8",
            4,
            &["it is of a [local] method that does not return an HRESULT", "return an HRESULT"],
        );
    }
    let local = with_methods("HRESULT M([out, string, utf8] char **a);").replace("object", "object, local");
    refused(&local, "bad-utf8", 4, &["an [out] parameter of a [local] method, and has no [retval]", "add [retval]"]);
    refused(
        &with_methods("[utf8] HRESULT M([in, string] const char *a);"),
        "misplaced-attribute",
        4,
        &["means nothing on a method"],
    );
    for attribute in ["first_is(x)", "last_is(x)"] {
        let text = with_methods(&format!("HRESULT M([in] long x, [in, {attribute}] long *a);"));
        refused(&text, "foreign-attribute", 4, &["is not supported", "length_is"]);
    }
    refused("[object]\ninterface I : IUnknown { };", "no-uuid", 2, &["uuidgen"]);
    refused("[object, uuid(12)]\ninterface I : IUnknown { };", "bad-uuid", 1, &["8-4-4-4-12"]);
    refused("[object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a10)]\ninterface I { };", "no-base", 2, &[": IUnknown"]);
    let permissive = Compiler::new().permissive(true);
    let text = with_methods("HRESULT M([in, sise_is(3)] long *a);");
    let compilation = permissive.check_text(Path::new("x.idl"), &text).expect("only a warning");
    assert_eq!(compilation.warnings.len(), 1);
    assert_eq!(compilation.warnings[0].severity, Severity::Warning);
}

/// Returns an interface of functions with these declarations, which begin at line 4.
fn with_functions(functions: &str) -> String {
    format!("[uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a10)]\ninterface X\n{{\n{functions}\n}}\n")
}

#[test]
fn errors_in_interfaces_of_functions_are_reported() {
    refused("[version(1.0)]\ninterface X { void M(); };", "no-uuid", 2, &["put [uuid(...)]"]);
    refused(&with_functions("long *M();"), "bad-return", 4, &["through an [out] parameter"]);
    refused(&with_functions("struct S { [string] wchar_t *text; };\nstruct S M();"), "bad-return", 5, &["`M`"]);
    refused(&with_functions("typedef [context_handle] long X;"), "bad-context", 4, &["void *X"]);
    refused(&with_functions("void M([in, context_handle] long *x);"), "bad-context", 4, &["void"]);
    refused(&with_functions("typedef long N;\nvoid M([in, context_handle] N *x);"), "bad-context", 5, &["void"]);
    refused(&with_functions("void M([in, context_handle] void x);"), "bad-context", 4, &["void"]);
    refused(&with_functions("void M([in] handle_t *x);"), "stray-handle", 4, &["is not sent"]);
    refused(&with_methods("HRESULT M([in] handle_t x);"), "stray-handle", 4, &["interface pointer"]);
    for attribute in ["oneway", "maybe"] {
        let text = format!("a [{attribute}] method cannot return a value");
        let words = [text.as_str(), "calls have no reply", "return HRESULT or void"];
        refused(&with_functions(&format!("[{attribute}] long M();")), "oneway-out", 4, &words);
    }
    refused(&with_functions("[broadcast] void M();"), "foreign-attribute", 4, &["each server"]);
    refused(&with_functions("struct S;\nstruct S M();\nstruct S { long a; };"), "incomplete-type", 5, &["no size"]);
    let behind_two = "union U { case 1: long a; };\nvoid M([in] long n, [out, switch_is(n)] union U **u);";
    refused(&with_functions(behind_two), "unsupported", 5, &["behind two pointers"]);
    let with_endpoint = with_functions("").replace("[uuid", "[endpoint(ncacn_ip_tcp), uuid");
    refused(&with_endpoint, "bad-endpoint", 1, &["[endpoint(\"ncacn_ip_tcp:[135]\")]"]);
    let derived = "\n[object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a11)]\ninterface IY : X { };";
    refused(&(with_functions("") + derived), "plain-base", 8, &["no objects"]);
}

#[test]
fn binding_handle_attributes_are_ignored_with_a_note() {
    let text = with_functions("void M([in] handle_t h, [in] long a);\nenum Wide { WIDE = 0x8000 };")
        .replace("[uuid", "[implicit_handle(handle_t binding), ms_union, uuid")
        .replace("enum Wide", "typedef [handle] wchar_t *SERVER;\nenum Wide");
    let compiler = Compiler::new().acf_text("x.acf", "[auto_handle] interface X { [explicit_handle] M(); }");
    let warned = |text: &str| -> Vec<_> {
        let found = compiler.check_text(Path::new("x.idl"), text).unwrap_or_else(|failure| panic!("{failure}"));
        found.warnings.iter().map(|one| one.code).collect()
    };
    assert_eq!(
        warned(&text),
        ["ignored-attribute", "ignored-attribute", "wide-enum", "ignored-attribute", "ignored-attribute"]
    );
    assert_eq!(warned(&text.replace("enum Wide", "[v1_enum] enum Wide")), ["ignored-attribute"; 4]);
}

#[test]
fn syntax_errors_are_reported_with_their_place() {
    refused(&with_methods("HRESULT M([in] long a;"), "syntax", 4, &["expected `,`"]);
    refused("struct S { long a };", "syntax", 1, &["expected `;`"]);
    refused("import \"absent.idl\";", "no-such-file", 1, &["there is no file `absent.idl`"]);
    refused("/* open", "open-comment", 1, &["does not end"]);
    refused("const long A = \"x;\n", "open-quote", 1, &["quotation"]);
    refused("#if 1\nconst long A = 1;", "open-condition", 1, &["#endif"]);
    refused("#frob\n", "unknown-directive", 1, &["#frob"]);
    refused("const long A = 1 / 0;", "overflow", 1, &["cannot be computed"]);
    for text in ["const short A = 70000;", "const double A = 1e300 * 1e300;", "const float A = 1e300;"] {
        refused(text, "bad-constant", 1, &["does not fit"]);
    }
    refused("const GUID A = 1;", "bad-constant", 1, &["neither a number nor a character nor a text"]);
    refused("const long A = 99999999999999999999;", "bad-number", 1, &["64 bits"]);
    refused("runtimeclass M { };", "unsupported", 1, &["`runtimeclass` belongs to WinRT's MIDL 3"]);
    refused("dispinterface D { };", "unknown-type", 1, &["import \"oaidl.idl\""]);
    let by_name = |members: &str| {
        format!("import \"oaidl.idl\"; [uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a10)] dispinterface D {{ {members} }};")
    };
    refused(&by_name("long a;"), "syntax", 1, &["write `properties:`"]);
    refused(&by_name("properties: long a;"), "no-id", 1, &["put [id(1)] before it"]);
    refused(&by_name("methods: [id(1)] void M([in] GUID a);"), "not-automation", 1, &["use numbers"]);
    refused(&by_name("interface IAbsent;"), "unknown-type", 1, &["declare it above"]);
    refused(&by_name("interface IUnknown;"), "not-automation", 1, &["extends IUnknown"]);
    refused("library L { long x; };", "stray-declaration", 1, &["outside an interface"]);
    refused("library L { }; library M { };", "second-library", 1, &["second library of the file"]);
    refused("[lcid(-1)] library L { };", "bad-number", 1, &["32 bits"]);
    refused("[helpstring(5)] library L { };", "not-a-text", 1, &["needs a text"]);
    refused("[dual] library L { };", "misplaced-attribute", 1, &["remove it"]);
    refused("library L {", "syntax", 1, &["expected `}`"]);
    refused("[oneway] coclass C { interface IUnknown; };", "misplaced-attribute", 1, &["remove it"]);
    let deep = format!("const long A = {}1{};", "(".repeat(500), ")".repeat(500));
    refused(&deep, "too-deep", 1, &["nested too deeply"]);
    let long = format!("const long A = 1{};", " + 1".repeat(100_000));
    refused(&long, "too-deep", 1, &["too long", "500 operators"]);
    refused("struct S { struct { long x; } a, b; };", "no-tag", 1, &["write a tag"]);
    let lines = (1..12).map(|at| format!("#define A{at} {}\n", format!("A{} ", at - 1).repeat(10)));
    let bomb = format!("#define A0\n{}A11\n", lines.collect::<String>());
    refused(&bomb, "too-long", 13, &["macros"]);
}

#[test]
fn stray_tokens_do_not_hide_later_errors() {
    for (text, codes) in [
        (with_methods("; HRESULT A([in] lnog x);"), &["syntax", "unknown-type"][..]),
        ("} const long A = B;".to_owned(), &["syntax", "unknown-value"]),
        ("struct S { long a b; long c d; }; const long A = B;".to_owned(), &["syntax", "syntax", "unknown-value"]),
        ("union U switch (long k) { long a; case 2: long b c; };".to_owned(), &["syntax"]),
        ("union U switch (long k) { long a; case 2: long b; };".to_owned(), &["arm-without-case"]),
        ("struct S { lnog lnog lnog".to_owned(), &["syntax"]),
        (with_methods("HRESULT A();").replace("\n}", ""), &["syntax"]),
    ] {
        let failure = Compiler::new().check_text(Path::new("x.idl"), &text).expect_err("mistakes");
        let found: Vec<_> = failure.diagnostics.iter().map(|one| one.code).collect();
        assert_eq!(found, codes, "{text}\n{failure}");
    }
}

#[test]
fn one_idl_error_does_not_hide_the_next() {
    let text = with_methods("HRESULT A([in] lnog x);\nHRESULT B([out] long y);\nHRESULT C([in] long z);");
    let failure = Compiler::new().check_text(Path::new("x.idl"), &text).expect_err("two mistakes");
    let codes: Vec<_> = failure.diagnostics.iter().map(|one| one.code).collect();
    assert_eq!(codes, ["unknown-type", "out-not-pointer"]);
}

/// The C back end reports unsupported constructs with their name and place.
#[test]
fn constructs_unsupported_in_c_are_refused_by_name() {
    for (parameter, words) in [
        ("[out] long *n, [out, size_is(*n)] long *values", "an array whose size depends on a result"),
        ("[out] long *n, [out, size_is(*n)] IUnknown **values", "an array whose size depends on a result"),
        ("[in, out, string] wchar_t *text", "a string that the method changes in place"),
        ("[in, unique] long *n, [in, size_is(*n)] IUnknown **values", "is behind a pointer that may be null"),
        ("[in, unique] long *n, [in, size_is(*n)] long *a", "an array whose size is behind a pointer that may be null"),
        ("[in, unique] const GUID *iid, [in, iid_is(iid)] IUnknown *o", "IID is behind a pointer that may be null"),
        ("[out] long *n, [in, size_is(*n)] long *a", "an array whose size depends on a result"),
        ("[out] GUID *iid, [in, iid_is(iid)] IUnknown *o", "an object whose IID depends on a result"),
        ("[in, unique] long *n, [in, out, size_is(, *n)] long **a", "is behind a pointer that may be null"),
        ("[out] long *n, [in, out, size_is(, *n)] long **a", "an array whose size depends on a result"),
        ("[in] long n, [in, size_is(2, n)] long **a", "through other pointers to an array whose size depends"),
        ("[in] long n, [in, size_is(, n)] long *a[3]", "through other pointers to an array whose size depends"),
    ] {
        let text = with_methods(&format!("HRESULT Good([in] long a);\nHRESULT Bad({parameter});"));
        let compilation =
            Compiler::new().check_text(Path::new("x.idl"), &text).unwrap_or_else(|found| panic!("{found}"));
        let refused = obvia_idl::emit::c::emit(&compilation, "x").expect_err(parameter);
        assert_eq!(refused.len(), 1, "{parameter}");
        let rendered = refused[0].render(&compilation.sources);
        assert!(refused[0].code == "not-yet" && rendered.contains(words) && rendered.contains("`Bad`"), "{rendered}");
        assert_eq!(compilation.sources.line(refused[0].span.expect("it has a place")), 5, "{rendered}");
        // Local interfaces can be declared with any parameters.
        let local = text.replace("[object", "[object, local");
        let compilation =
            Compiler::new().check_text(Path::new("x.idl"), &local).unwrap_or_else(|found| panic!("{found}"));
        assert!(obvia_idl::emit::c::emit(&compilation, "x").is_ok(), "{parameter}");
    }
}

/// The Rust back end says which form of a parameter it does not support.
#[test]
fn constructs_unsupported_in_rust_are_refused_by_name() {
    for (parameter, words) in [
        ("[in, out, string] wchar_t *text", "as a string that the method writes in its caller's memory"),
        ("[out, string] char *text", "as a string that the method writes in its caller's memory"),
        ("[in, out, string] char **text", "as an [in, out] string;"),
        ("[in] long n, [out, size_is(, n)] long **a", "as an array that the method allocates, with length_is or"),
        ("[out] long *n, [out, size_is(, *n + 1)] long **a", "a size that is not simply a result"),
        ("[out] long *n, [out, size_is(, *n), length_is(, *n)] long **a", "with length_is or"),
        ("[in, out] long *n, [in, out, size_is(, *n)] long **a", "as an [in, out] array that the method may replace"),
        ("[in] long n, [in, out, size_is(n), length_is(n)] long *a", "as an [in, out] array with length_is"),
        ("[in] long n, [in, out, size_is(n)] struct P *a", "or with elements that have pointers"),
        ("[out] long *n, [out, size_is(, *n)] union U **a", "as an array of unions as a result"),
        ("[in] long n, [out, size_is(n)] struct P **a", "as an array of pointers"),
        ("[out] struct P ***a", "or a pointer to a pointer, as a result"),
    ] {
        let types = "struct P { long *a; };\nunion U switch (long t) u { case 1: long a; };\n";
        let text = with_methods(&format!("{types}HRESULT Bad({parameter});"));
        let compilation =
            Compiler::new().check_text(Path::new("x.idl"), &text).unwrap_or_else(|found| panic!("{found}"));
        let refused = obvia_idl::emit::rust::emit(&compilation).expect_err(parameter);
        assert_eq!(refused.len(), 1, "{parameter}: {refused:?}");
        assert!(refused[0].code == "not-yet" && refused[0].message.contains(words), "{parameter}: {refused:?}");
    }
}

#[test]
fn incomplete_types_cannot_be_passed() {
    let opaque = "typedef struct _X X;\nstruct H { X *x; };\n";
    let with = |method: &str, local: &str| {
        format!(
            "import \"unknwn.idl\"; {opaque}[object{local}, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a10)] interface IX : IUnknown {{\n{method} }}"
        )
    };
    refused(&with("HRESULT M([in] X *a);", ""), "incomplete-type", 4, &["`a` leads to `_X`", "not declared"]);
    refused(&with("HRESULT M([in] struct H *a);", ""), "incomplete-type", 4, &["`a` leads to `_X`"]);
    for fine in [with("HRESULT M();", ""), with("HRESULT M([in] X *a);", ", local")] {
        Compiler::new().check_text(Path::new("x.idl"), &fine).unwrap_or_else(|failure| panic!("{failure}"));
    }
}

#[test]
fn invalid_results_of_local_methods_are_refused() {
    let local = |text: &str| with_methods(text).replace("[object,", "[object, local,");
    let later = "struct S;\nstruct S M();\nstruct S { long a; };";
    refused(&local(later), "incomplete-type", 5, &["declare the other type before"]);
    refused(&local("struct S { long *a; };\nstruct S M();"), "bad-return", 5, &["a structure of these"]);
    refused(
        &local("union U switch (long t) u { case 1: long a; };\nunion U M();"),
        "bad-return",
        5,
        &["neither a pointer"],
    );
    refused(&local("typedef long A[2];\nA M();"), "bad-return", 5, &["neither a pointer"]);
    refused(&local("HRESULT M([in] void x[2]);"), "void-pointer", 4, &["use `byte`"]);
}

#[test]
fn generated_type_names_of_members_must_not_collide() {
    let (inner, own) = ("struct A { struct { long x; } b; };", "struct A_b { long y; };");
    let twice = "struct A { struct { long x; } b_c;\nstruct { struct { long x; } c; } b; };";
    // No declaration takes precedence: both get an error instead of a new name.
    for text in [format!("{inner}\n{own}"), format!("{own}\n{inner}"), twice.to_owned()] {
        refused(&text, "duplicate-name", 2, &["generated name of a member", "write a tag"]);
    }
    refused("\nstruct { long x; };", "nameless-type", 2, &["this struct has no name", "write a tag"]);
    for members in ["long a;", "long a; float b; long c[2];", "long a; short b[2]; double c;", "long a[4];"] {
        let text = format!("typedef struct _G {{ {members} }} GUID;");
        refused(&text, "reserved-name", 1, &["`GUID` has other members", "two unsigned shorts"]);
    }
    refused(
        "typedef struct G *P;\ntypedef struct G { long a; short b[2]; byte c[8]; } GUID;",
        "duplicate-name",
        2,
        &["`G`"],
    );
}

#[test]
fn types_without_known_members_have_no_size() {
    let announced = |rest: &str| format!("struct S;\n{rest}\nstruct S {{ hyper a[100]; }};");
    let code = "incomplete-type";
    refused(&announced("typedef struct S A[16777216];"), code, 2, &["no size"]);
    refused(&announced("typedef struct S A[2][3];"), code, 2, &["no size"]);
    refused(&announced("struct T { struct S a[2][3]; };"), code, 2, &["no size"]);
    refused(&announced("struct T { long n; [size_is(n)] struct S a[]; };"), code, 2, &["no size"]);
    let guid = "typedef struct _GUID { unsigned long a; unsigned short b, c; byte d[8]; } GUID;\n";
    refused(&format!("{guid}struct T {{ long x; struct T t; }};"), code, 2, &["cannot contain itself"]);
    let local = |params: &str| {
        format!("struct S;\n{}", with_methods(&format!("HRESULT M({params});")).replace("[object,", "[object, local,"))
    };
    refused(&local("[in] struct S s"), code, 5, &["`s` leads to `S`"]);
}

/// Returns the rendering of the errors of the back end for C, whose codes must be `taken-name`.
fn refused_in_c(folder: &ground::Folder, text: &str) -> String {
    let path = folder.join("x.idl");
    std::fs::write(&path, text).expect("the folder can be written to");
    let found = Compiler::new().check(&path).unwrap_or_else(|failure| panic!("{failure}"));
    let errors = obvia_idl::emit::c::emit(&found, "x").map(|_| ()).expect_err(text);
    assert!(errors.iter().all(|error| error.code == "taken-name"), "{errors:?}");
    let lines = errors.iter().map(|error| {
        let line = error.span.map_or(0, |span| found.sources.line(span));
        format!("{line}: {} ({})\n", error.message, error.help.as_deref().unwrap_or_default())
    });
    lines.collect()
}

#[test]
fn idl_names_that_collide_in_c_are_refused() {
    let folder = ground::Folder::new("idl-one-in-c");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("the folder can be written to");
    let interface = |at: u32, name: &str, methods: &str| {
        let uuid = format!("0d4f4c52-0a34-4ac4-8d6c-{at:012x}");
        format!("[object, uuid({uuid})] interface {name} : IUnknown {{ {methods} }}\n")
    };
    let importing = |own: &str| format!("import \"unknwn.idl\";\nimport \"constants.idl\";\n{own}");
    write(
        "constants.idl",
        &format!("import \"unknwn.idl\";\nconst long alpha = 5;\n{}", interface(9, "A_B", "HRESULT C();")),
    );
    let two = interface(1, "A", "HRESULT B_C();") + &interface(2, "A_D", "HRESULT C();");
    for (own, line, said) in [
        (interface(1, "A", "HRESULT B_C();"), 3, "method `B_C` of `A` and method `C` of `A_B` are both `A_B_C` in C"),
        (
            two.replace("A_D", "AA_B").replace("face A ", "face AA "),
            4,
            "method `C` of `AA_B` and method `B_C` of `AA` are both",
        ),
        (
            interface(1, "I", "HRESULT X(); HRESULT X_proxy();"),
            3,
            "method `X_proxy` of `I` and method `X` of `I` are both",
        ),
        (
            "struct S { long *a; };\nstruct S_free { long a; };".to_owned(),
            4,
            "type `S_free` and type `S` are both `S_free`",
        ),
    ] {
        let found = refused_in_c(&folder, &importing(&own));
        assert!(found.lines().any(|one| one.starts_with(&format!("{line}: ")) && one.contains(said)), "{own}: {found}");
        assert!(found.contains("give one of them another name"), "{found}");
    }
    let fine = interface(1, "I", "HRESULT B_C([in] long alpha); HRESULT alpha();")
        + &interface(2, "I_D", "HRESULT C();")
        + "struct S { long alpha; };\nunion U switch (long alpha) u { case 1: long b; };";
    write("x.idl", &importing(&fine));
    let found = Compiler::new().check(&folder.join("x.idl")).unwrap_or_else(|failure| panic!("{failure}"));
    obvia_idl::emit::c::emit(&found, "x").unwrap_or_else(|errors| panic!("{errors:?}"));
}

#[test]
fn automation_types_are_refused_everywhere_in_c() {
    let head = "uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a77)] interface IHere : IUnknown";
    for (text, said) in [
        (format!("[object, {head} {{ HRESULT M([in] IDispatch *d); }}"), "parameter `d` of method `M`"),
        (format!("[object, local, {head} {{ HRESULT M([in] IDispatch *d); }}"), "parameter `d` of method `M`"),
        (format!("[object, local, {head} {{ CURRENCY *M(); }}"), "the result of method `M`"),
        ("struct S { CURRENCY cost; };".to_owned(), "member `cost` of `S`"),
        ("struct S { long n; [size_is(n)] IDispatch *open[]; };".to_owned(), "member `open` of `S`"),
        ("union U switch (long t) u { case 1: IDispatch *object; };".to_owned(), "member `object` of `U`"),
        ("typedef CURRENCY Money;".to_owned(), "type `Money`"),
    ] {
        let text = format!("import \"oaidl.idl\";\n{text}");
        let found = Compiler::new().check_text(Path::new("x.idl"), &text).unwrap_or_else(|failure| panic!("{failure}"));
        let errors = obvia_idl::emit::c::emit(&found, "x").map(|_| ()).expect_err(&text);
        let is_said = |message: &String| message.starts_with(said) && message.contains("one of Automation's types");
        assert!(errors.len() == 1 && errors[0].code == "not-yet" && is_said(&errors[0].message), "{text}: {errors:?}");
    }
}

/// Methods of each kind: with generated code instead of a table, with a table, with arrays that are
/// not copied, and with an array that is lent.
const METHODS: &str = "HRESULT Own([in] long a, [out] long *b); HRESULT Tabled([in] struct Chain *a); \
    HRESULT Shared([in] long n, [in, size_is(n), zero_copy] hyper *a); \
    HRESULT Lent([out] long *n, [out, lend, size_is(, *n)] long **p);";

/// Returns a file with an interface that has [`METHODS`] and the methods `more`, and with the types
/// that these methods use.
fn methods(attributes: &str, more: &str) -> String {
    let uuid = "uuid(0d4f4c52-0a34-4ac4-8d6c-000000000001)";
    format!(
        "import \"unknwn.idl\";\nimport \"kinds.idl\";\nstruct Chain {{ long a; [unique] struct Chain *next; }};\n\
         struct Open {{ long n; [size_is(n)] long all[]; }};\nstruct Padded {{ char a; long b; }};\n\
         [object, {attributes} {uuid}] interface I : IUnknown {{ {METHODS} {more} }}\n"
    )
}

#[test]
fn idl_names_that_collide_with_generated_c_code_are_refused() {
    let folder = ground::Folder::new("idl-made-in-c");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("the folder can be written to");
    write("kinds.idl", "enum Kind { One, Two };\nstruct Gap { char a; hyper b; };\n");
    let passed = "HRESULT Take([in] enum Kind kind, [in] struct Gap *gap);";
    for (attributes, more, other, said) in [
        ("", "HRESULT Own_prepare();", "", "`I_Own_prepare`"),
        ("", "HRESULT Shared_by_reference_other_regions();", "", "`I_Shared_by_reference_other_regions`"),
        ("", "HRESULT Shared_by_reference_select_regions();", "", "`I_Shared_by_reference_select_regions`"),
        ("", "HRESULT Shared_proxy();", "", "`I_Shared_proxy`"),
        ("", "HRESULT Lent_refill();", "", "`I_Lent_refill`"),
        ("", "HRESULT Tabled_invoke();", "", "`I_Tabled_invoke`"),
        ("", "", "struct I_Shared_by_reference_request { long a; };", "`I_Shared_by_reference_request`"),
        ("", "", "struct I_Tabled_table_words { long a; };", "`I_Tabled_table_words`"),
        ("", "", "struct I_types_words { long a; };", "`I_types_words`"),
        ("", "HRESULT Two([out] long *a, [out] long *b);", "struct I_Two_results { long a; };", "`I_Two_results`"),
        ("", passed, "struct Kind_is_valid { long a; };", "type `Kind_is_valid` and type `Kind` are both"),
        ("", passed, "struct Gap_store { long a; };", "type `Gap_store` and type `Gap` are both"),
        ("", "", "struct Chain_clear { long a; };", "`Chain_clear`"),
        ("local,", "", "struct IVtbl { long a; };", "`IVtbl`"),
        ("local,", "HRESULT One_B();", "struct I_One_B { long a; };", "`I_One_B`"),
    ] {
        let found = refused_in_c(&folder, &(methods(attributes, more) + other));
        assert!(found.lines().count() == 1 && found.contains(said), "{more} {other}: {found}");
    }
    for (attributes, more, other) in [
        ("local,", "HRESULT Own_proxy(); HRESULT Own_stub(); HRESULT Own_prepare();", "struct I_proxies { long a; };"),
        ("local,", passed, "struct I_INFO { long a; }; struct Kind_is_valid { long a; }; struct I_calls { long a; };"),
        ("", "", "struct Kind_is_valid { long a; }; struct Gap_store { long a; }; struct Padded_store { long a; };"),
        (
            "",
            "HRESULT Own_select_regions(); HRESULT Own_refill(); HRESULT Own_other_regions();",
            "struct I_Own_table { long a; };",
        ),
        ("", "HRESULT Own_request(); HRESULT Own_reply(); HRESULT Tabled_table();", ""),
        ("", "HRESULT types(); HRESULT stubs(); HRESULT ndr(); HRESULT INFO(); HRESULT proxies();", ""),
        ("", "", "struct I_endpoints { long a; }; struct I_Own_results { long a; }; struct Open_clear { long a; };"),
    ] {
        write("x.idl", &(methods(attributes, more) + other));
        let found = Compiler::new().check(&folder.join("x.idl")).unwrap_or_else(|failure| panic!("{failure}"));
        let said = obvia_idl::emit::c::emit(&found, "x").map_err(|errors| format!("{more} {other}: {errors:?}"));
        said.unwrap_or_else(|said| panic!("{said}"));
    }
}
