//! The Java back end refuses the constructs that it does not support. A test of
//! `testing/native-programs`, which has the Java runtime, checks that Java code compiles.

use obvia_idl::model::InterfaceId;
use obvia_idl::{Compiler, emit};
use std::path::Path;

/// Returns the messages for an IDL text that Java does not support.
fn refused(text: &str) -> Vec<String> {
    let text = format!("import \"unknwn.idl\"; import \"oaidl.idl\"; {text}");
    let compilation = Compiler::new().check_text(Path::new("a.idl"), &text).unwrap_or_else(|wrong| panic!("{wrong}"));
    let refused = emit::java::emit(&compilation, "a", None).expect_err("it is refused");
    refused.into_iter().map(|finding| finding.message).collect()
}

const HEAD: &str = "[object, uuid(d3a1b2c4-1111-4222-8333-944455566701)] interface IA";

#[test]
fn constructs_unsupported_in_java_are_refused_by_name() {
    let automation = refused(&format!("{HEAD} : IDispatch {{ HRESULT M(); }}"));
    assert_eq!(automation, ["interface `IA` extends IDispatch, which the Java back end does not support yet"]);
    let bstr = refused(&format!("{HEAD} : IUnknown {{ HRESULT M([in] BSTR text); }}"));
    assert!(bstr[0].contains("`text` that is one of Automation's types"), "{bstr:?}");
    let array = refused(&format!("{HEAD} : IUnknown {{ HRESULT M([in] IUnknown *objects[2]); }}"));
    assert!(array[0].contains("an array of fixed size with elements that are more than values"), "{array:?}");
}

#[test]
fn imported_declarations_that_lead_to_unsupported_interfaces_are_left_out() {
    let folder = ground::Folder::new("idl-left-out-java");
    let other = "import \"unknwn.idl\"; import \"oaidl.idl\";
        [object, uuid(d3a1b2c4-1111-4222-8333-944455566702)] interface IFirst : IUnknown { HRESULT M([in] BSTR text); }
        [object, uuid(d3a1b2c4-1111-4222-8333-944455566703)] interface IUser : IUnknown { HRESULT M([in] IFirst *a); }
        struct Holder { long n; IUser *user; };
        struct Plain { long n; };";
    std::fs::write(folder.join("other.idl"), other).expect("the folder can be written to");
    let java = |text: &str| {
        let file = folder.join("x.idl");
        std::fs::write(&file, format!("import \"other.idl\"; {text}")).expect("the folder can be written to");
        let compilation = Compiler::new().check(&file).unwrap_or_else(|failure| panic!("{failure}"));
        emit::java::emit(&compilation, "x", None)
    };
    let made = java(&format!("{HEAD} : IUnknown {{ HRESULT M([in] struct Plain *p); }}")).expect("it is supported");
    let classes: Vec<String> = made.files.iter().map(|(path, _)| path.display().to_string()).collect();
    assert!(classes.iter().any(|path| path.ends_with("Plain.java")), "{classes:?}");
    assert!(
        !classes.iter().any(|path| ["IFirst", "IUser", "Holder"].iter().any(|name| path.contains(name))),
        "{classes:?}"
    );
    // Java has neither [local] interfaces nor [local] methods, so these may use anything.
    let near = HEAD.replace("IA", "INear").replace("701", "704").replace("[object,", "[object, local,");
    let near = format!(
        "{near} : IUnknown {{ HRESULT N([in] IFirst *a); }};
        {HEAD} : IUnknown {{ [local] HRESULT L([in] IUser *a); HRESULT M(); }}"
    );
    assert!(java(&near).is_ok_and(|made| made.left_out.len() == 1));
    for (method, used) in
        [("[in] IFirst *a", "IFirst"), ("[out] IUser **a", "IUser"), ("[in] struct Holder *h", "Holder")]
    {
        let refused = java(&format!("{HEAD} : IUnknown {{ HRESULT M({method}); }}")).expect_err(method);
        let start = format!("this uses `{used}`, which is left out: ");
        assert!(refused.len() == 1 && refused[0].message.starts_with(&start), "{refused:?}");
    }
}

/// Returns the fingerprints in a text. Each stands between `before` and `end`.
fn prints<'a>(text: &'a str, before: &'a str, end: char) -> impl Iterator<Item = String> + 'a {
    text.split(before).skip(1).filter_map(move |rest| Some(rest.split_once(end)?.0.replace(char::is_whitespace, "")))
}

#[test]
fn fingerprints_are_equal_in_all_languages() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let matrix = |name: &str| format!("../../../../testing/matrix/idl/{name}");
    let files = ["post.idl", "java/forms.idl", "java/trees.idl", &matrix("shapes.idl"), &matrix("deep.idl")];
    for name in files {
        let compilation = Compiler::new().check(&golden.join(name)).unwrap_or_else(|wrong| panic!("{wrong}"));
        let java = emit::java::emit(&compilation, "a", None).expect("Java does this").files;
        let java: String = java.into_iter().map(|(_, text)| text.replace(char::is_whitespace, "")).collect();
        // The Java code contains a fingerprint as two numbers in sequence.
        let whole = |at: usize| Some(format!("{}{}", java.get(at - 16..at)?, java.get(at + 4..at + 20)?));
        let found: Vec<String> = java.match_indices("L,0x").filter_map(|(at, _)| whole(at)).collect();
        assert!(!found.is_empty(), "{name} has interfaces");
        let c = emit::c::emit(&compilation, "a").expect("so does C").stubs.replace(char::is_whitespace, "");
        for print in &found {
            let number = u128::from_str_radix(print, 16).expect("it is a number");
            let bytes: Vec<String> = number.to_le_bytes().iter().map(|byte| format!("{byte:#04x}")).collect();
            // The C code contains only the file's own fingerprints, without the fingerprints of
            // imports.
            let is_own = compilation.model.interfaces.iter().enumerate().any(|(at, one)| {
                !one.imported && obvia_idl::canonical::fingerprint(&compilation.model, InterfaceId(at)) == number
            });
            assert_eq!(c.contains(&bytes.join(",")), is_own, "{name}: {print} in C");
        }
        // Rust does not support everything that Java supports.
        if let Ok(rust) = emit::rust::emit(&compilation) {
            assert!(prints(&rust, "fingerprint: 0x", ',').all(|print| found.contains(&print)), "{name} in Rust");
        } else {
            assert!(name.contains("trees") || name.contains("deep"), "{name} in Rust");
        }
    }
}

#[test]
fn the_java_back_end_reports_omitted_interfaces() {
    let text = format!("import \"unknwn.idl\"; [local]{HEAD} : IUnknown {{ HRESULT M(); }}");
    let text = text.replacen("[local][", "[local, ", 1);
    let compilation = Compiler::new().check_text(Path::new("a.idl"), &text).unwrap_or_else(|wrong| panic!("{wrong}"));
    let made = emit::java::emit(&compilation, "a", Some("org.example")).expect("it is made");
    assert_eq!(made.left_out.len(), 1);
    assert!(made.left_out[0].message.contains("`IA` is [local]"), "{:?}", made.left_out);
    let names: Vec<&Path> = made.files.iter().map(|(name, _)| name.as_path()).collect();
    assert_eq!(names, [Path::new("org/example/AIdl.java")]);
}

#[test]
fn structures_for_local_methods_alone_are_left_out_if_no_call_can_carry_them() {
    let text = "import \"oaidl.idl\"; struct Held { BSTR text; }; struct Passed { long number; };\n\
        [object, local, uuid(d3a1b2c4-1111-4222-8333-944455566702)] interface IL : IUnknown \
        { HRESULT M([in] struct Held *held); }";
    let text = format!("{text} {HEAD} : IUnknown {{ HRESULT M([in] struct Passed *passed); }}");
    let compilation = Compiler::new().check_text(Path::new("a.idl"), &text).unwrap_or_else(|wrong| panic!("{wrong}"));
    let files = emit::java::emit(&compilation, "a", None).unwrap_or_else(|refused| panic!("{refused:?}")).files;
    let names: Vec<String> = files.into_iter().map(|(path, _)| format!("{path:?}")).collect();
    assert!(names.iter().any(|name| name.contains("Passed")), "{names:?}");
    assert!(!names.iter().any(|name| name.contains("Held")), "{names:?}");
}
