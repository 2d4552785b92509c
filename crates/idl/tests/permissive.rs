//! `--permissive`: what other compilers accept, with warnings.

use obvia_idl::{Compilation, Compiler, Language, Severity, canonical, compile_into, emit};
use std::fs;
use std::path::Path;

const UUID: &str = "uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a30)";

#[test]
fn permissive_compilers_keep_calls_in_the_process_if_the_interface_does_not_let_them_travel() {
    let second = "[object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a31)] interface IOther : IUnknown { HRESULT M(); }";
    for (code, declared) in [
        ("not-hresult", format!("[object, {UUID}] interface IX : IUnknown {{ HRESULT A([in] long a); void B(); }}")),
        (
            "out-not-pointer",
            format!("[object, {UUID}] interface IX : IUnknown {{ HRESULT A([in, out] IUnknown *a); }}"),
        ),
        ("no-uuid", "[object] interface IX : IUnknown { HRESULT A([in] long a); }".to_owned()),
        (
            "reserved-uuid",
            "[object, uuid(00000000-0000-0000-0000-000000000000)] interface IX : IUnknown { HRESULT A(); }".to_owned(),
        ),
        (
            "duplicate-uuid",
            format!("{second} [object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a31)] interface IX : IOther {{ }}"),
        ),
    ] {
        let text = format!("import \"unknwn.idl\";\n{declared}");
        let failure = Compiler::new().check_text(Path::new("x.idl"), &text).expect_err(code);
        assert!(failure.diagnostics.iter().any(|one| one.code == code && one.severity == Severity::Error), "{failure}");
        let found = Compiler::new().permissive(true).check_text(Path::new("x.idl"), &text);
        let found = found.unwrap_or_else(|failure| panic!("{failure}"));
        let warnings: Vec<&str> = found.warnings.iter().map(|one| one.code).collect();
        assert_eq!(warnings, [code], "{text}");
        let one = found.model.interfaces.iter().find(|one| one.name == "IX").expect("declared");
        assert!(one.local, "{text}");
        emit::rust::emit(&found).unwrap_or_else(|errors| panic!("{errors:?}"));
        emit::c::emit(&found, "x").unwrap_or_else(|errors| panic!("{errors:?}"));
    }
    // Interfaces that extend a local one are local, too.
    let text = format!(
        "import \"unknwn.idl\";\n[object, {UUID}] interface IX : IUnknown {{ void A(); }}\n\
         [object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a32)] interface IY : IX {{ HRESULT B(); }}"
    );
    let found = Compiler::new().permissive(true).check_text(Path::new("x.idl"), &text);
    let found = found.unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(found.warnings.iter().map(|one| one.code).collect::<Vec<_>>(), ["not-hresult", "left-out"]);
    emit::rust::emit(&found).unwrap_or_else(|errors| panic!("{errors:?}"));
    emit::c::emit(&found, "x").unwrap_or_else(|errors| panic!("{errors:?}"));
    // Other errors remain errors, and the permitted errors in the same interface become warnings.
    for (wrong, expected) in [
        ("HRESULT A([in] long a[]);", "no-size"),
        ("HRESULT A(); HRESULT A();", "duplicate-name"),
        ("HRESULT A([in] Unknown u); void B();", "unknown-type"),
        ("void A(); typedef Unknown Known;", "unknown-type"),
    ] {
        let text = format!("import \"unknwn.idl\";\n[object, {UUID}] interface IX : IUnknown {{ {wrong} }}");
        let failure = Compiler::new().permissive(true).check_text(Path::new("x.idl"), &text).expect_err(wrong);
        let errors = failure.diagnostics.iter().filter(|one| one.severity == Severity::Error);
        assert_eq!(errors.map(|one| one.code).collect::<Vec<_>>(), [expected], "{failure}");
    }
}

/// Compiles a file in a folder of its own, and returns the result and the code.
fn compiled(language: Language, text: &str) -> (Compilation, String) {
    let folder = ground::Folder::new("idl-permissive");
    let file = folder.join("x.idl");
    fs::write(&file, text).expect("the folder can be written to");
    let compiled = compile_into(&Compiler::new().permissive(true), language, &file, folder.path());
    let compiled = compiled.unwrap_or_else(|failure| panic!("{failure}"));
    let code = compiled.files.iter().map(|file| fs::read_to_string(file).expect("it was written")).collect();
    (compiled.compilation, code)
}

/// Returns the fingerprint of the last interface of a file that is compiled for Rust, without the
/// option.
fn fingerprint(text: &str) -> u128 {
    let found = Compiler::new().check_text(Path::new("x.idl"), text).unwrap_or_else(|failure| panic!("{failure}"));
    let last = obvia_idl::model::InterfaceId(found.model.interfaces.len() - 1);
    canonical::fingerprint(&found.model, last)
}

#[test]
fn methods_that_cannot_be_passed_become_local_and_the_others_stay() {
    let interface = |method: &str| {
        format!(
            "import \"unknwn.idl\";\ntypedef struct Open {{ long n; [size_is(n)] long items[]; }} Open;\n\
             [object, {UUID}] interface IX : IUnknown {{ HRESULT A([in] long a); {method} HRESULT C([in] long c); }}"
        )
    };
    // No language passes the first method, and Rust alone does not pass the second one.
    let nowhere = interface("HRESULT B([in] LONG_PTR b);");
    let not_in_rust = interface("HRESULT B([in, unique] Open *b);");
    for (text, in_c, whole) in
        [(&nowhere, 1, interface("[local] HRESULT B();")), (&not_in_rust, 0, not_in_rust.clone())]
    {
        let (rust, code) = compiled(Language::Rust, text);
        let said: Vec<&str> = rust.warnings.iter().map(|one| one.label.as_str()).collect();
        assert_eq!(said, ["so other processes cannot call this method"], "{:?}", rust.warnings);
        assert!(rust.warnings[0].message.contains("`B`") || rust.warnings[0].message.contains("`b`"));
        assert_eq!(code.matches("refuse_local(\"IX.B\")").count(), 1, "{code}");
        assert!(code.contains("fn IX_A_stub") && code.contains("fn IX_C_stub"), "{code}");
        let (c, code) = compiled(Language::C, text);
        assert_eq!((c.warnings.len(), code.matches("obvia_refuse_local(\"IX.B\")").count()), (in_c, in_c), "{code}");
        // Both languages describe the same interface to other processes.
        let last = obvia_idl::model::InterfaceId(c.model.interfaces.len() - 1);
        let all = [&c, &rust].map(|found| canonical::fingerprint(&found.model, last));
        assert_eq!(all, [fingerprint(&whole); 2], "{}", canonical::text(&c.model, last));
    }
}

#[test]
fn declarations_that_a_language_cannot_write_are_left_out() {
    let text = format!(
        "import \"unknwn.idl\";\ninterface IUnseen;\ntypedef struct Leads {{ IUnseen *to; }} Leads;\n\
         [object, {UUID}] interface IX : IUnknown {{ HRESULT A([in] Leads leads); }};\n\
         [object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a31)] interface IY : IX {{ HRESULT B([in] Leads *leads); }};\n\
         [object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a32)] interface IZ : IUnknown {{\n\
         HRESULT C([in] IX *x, [in] Leads *leads); HRESULT D([in] long d); }}"
    );
    let (found, code) = compiled(Language::Rust, &text);
    for name in ["IX", "IY", "Leads"] {
        assert!(found.warnings.iter().any(|one| one.message.starts_with(&format!("`{name}` is left out: "))), "{name}");
        assert!(!code.contains(&format!("pub struct {name}")), "{code}");
    }
    assert!(code.contains("pub struct IZ(") && code.contains("fn IZ_D_stub"), "{code}");
    assert!(
        code.contains("unsafe fn C(&self, x: *const obvia::rt::c_void, leads: *const obvia::rt::c_void)"),
        "{code}"
    );
    // Without the option, each use is an error.
    let found = Compiler::new().check_text(Path::new("x.idl"), &text).unwrap_or_else(|failure| panic!("{failure}"));
    assert!(emit::rust::emit(&found).is_err());
}

/// The size is a macro of a header, which the compiler does not read.
#[test]
fn methods_with_strings_of_unknown_size_become_local() {
    let text = format!(
        "import \"unknwn.idl\";\n[object, {UUID}] interface IX : IUnknown {{\n\
         HRESULT A([out, size_is(UNKNOWN_MAX)] LPWSTR name); HRESULT B([in] long n, [out, size_is(n)] LPWSTR name);\n\
         [local] HRESULT C([out, size_is(UNKNOWN_MAX)] LPWSTR name); }}"
    );
    let failure = Compiler::new().check_text(Path::new("x.idl"), &text).expect_err("unknown");
    assert_eq!(failure.diagnostics.iter().map(|one| one.code).collect::<Vec<_>>(), ["unknown-value"], "{failure}");
    for language in [Language::Rust, Language::C, Language::Java] {
        let (compiled, _) = compiled(language, &text);
        let found = compiled.model.interfaces.iter().find(|one| one.name == "IX").expect("declared");
        assert_eq!(found.methods.iter().map(|one| one.local).collect::<Vec<_>>(), [true, false, true]);
        let warned = compiled.warnings.iter().filter(|one| one.code == "unknown-value");
        let warned: Vec<&str> = warned.map(|one| one.message.as_str()).collect();
        assert_eq!(warned, ["the method has no parameter `UNKNOWN_MAX`"; 2]);
    }
}

#[test]
fn local_methods_may_have_strings_of_unknown_size() {
    let check = |params: &str| {
        let text = format!(
            "import \"unknwn.idl\";\n[object, {UUID}] interface IX : IUnknown {{ [local] HRESULT A({params}); }}"
        );
        Compiler::new().check_text(Path::new("x.idl"), &text).unwrap_or_else(|failure| panic!("{failure}"))
    };
    let known = check("[in] long n, [out, string, size_is(n)] wchar_t *name");
    assert!(known.warnings.is_empty(), "{:?}", known.warnings);
    let code = emit::rust::emit(&known).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert!(code.contains("name: &mut [u16]"), "{code}");
    let unknown = check("[out, string, size_is(UNKNOWN_MAX)] wchar_t *name");
    assert_eq!(unknown.warnings.iter().map(|one| one.code).collect::<Vec<_>>(), ["unknown-value"]);
    for found in [&known, &unknown] {
        let code = emit::c::emit(found, "x").unwrap_or_else(|errors| panic!("{errors:?}"));
        assert!(code.header.contains("obvia_wchar *name"), "{}", code.header);
    }
}
