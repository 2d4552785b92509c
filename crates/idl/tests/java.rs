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

/// Returns the files for an IDL text as one text, with one space between words.
fn made(text: &str) -> String {
    let text = format!("import \"unknwn.idl\"; {text}");
    let compilation = Compiler::new().check_text(Path::new("a.idl"), &text).unwrap_or_else(|wrong| panic!("{wrong}"));
    let files = emit::java::emit(&compilation, "a", None).unwrap_or_else(|refused| panic!("{refused:?}")).files;
    let words: Vec<&str> = files.iter().flat_map(|(_, text)| text.split_whitespace()).collect();
    words.join(" ")
}

/// Checks that each of these parts is in the files for an IDL text.
#[track_caller]
fn has(text: &str, parts: &[&str]) {
    let made = made(text);
    for part in parts {
        assert!(made.contains(part), "there is no `{part}` in:\n{made}");
    }
}

#[test]
fn constructs_unsupported_in_java_are_refused_by_name() {
    let automation = refused(&format!("{HEAD} : IDispatch {{ HRESULT M(); }}"));
    assert_eq!(automation, ["interface `IA` extends IDispatch, which the Java back end does not support yet"]);
    let bstr = refused(&format!("{HEAD} : IUnknown {{ HRESULT M([in] BSTR text); }}"));
    assert!(bstr[0].contains("`text` that is one of Automation's types"), "{bstr:?}");
    let wire = refused(&format!("{HEAD} : IUnknown {{ HRESULT M([in] BYTE_SIZEDARR *bytes); }}"));
    assert!(wire[0].contains("`bytes` that is one of Automation's types"), "{wire:?}");
    let array = refused(&format!("{HEAD} : IUnknown {{ HRESULT M([in] IUnknown *objects[2]); }}"));
    assert!(array[0].contains("an array of fixed size whose elements have pointers, unions or ranges"), "{array:?}");
}

#[test]
fn built_in_structures_have_a_class_where_they_are_used() {
    let text = format!(
        "import \"unknwn.idl\"; import \"oaidl.idl\"; struct Price {{ CURRENCY amount; }};
        {HEAD} : IUnknown {{ HRESULT M([in] struct Price *price, [out] DECIMAL *result); }}"
    );
    let compilation = Compiler::new().check_text(Path::new("a.idl"), &text).unwrap_or_else(|wrong| panic!("{wrong}"));
    let made = emit::java::emit(&compilation, "a", None).expect("it is supported");
    let classes: Vec<&str> = made.files.iter().filter_map(|(path, _)| path.file_stem()?.to_str()).collect();
    assert_eq!(classes, ["Currency", "Decimal", "Price", "IA", "IAInfo", "AIdl"]);
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
    // Java has neither [local] interfaces nor [local] methods, so the back end accepts any types in
    // them.
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

#[test]
fn unique_arrays_may_be_missing_in_java_beside_arrays_of_the_same_count() {
    let text = format!(
        "{HEAD} : IUnknown {{
            HRESULT One([in] long n, [in, unique, size_is(n)] long *b, [in, size_is(n)] long *a);
            HRESULT Two([in] small n, [in, unique, size_is(n)] long *c, [in, unique, size_is(n)] long *d); }}"
    );
    let one = ["if (b != null) { Frames.checkLength(Frames.length(b), a.length); }", "arguments.putInt(0, a.length);"];
    let two = ["Frames.checkLengths(127, c, d);", "arguments.putByte(0, (byte) Frames.length(c, d));"];
    has(&text, &[one, two].concat());
}

#[test]
fn booleans_that_count_elements_stay_in_java() {
    let text = format!(
        "struct S {{ boolean n; [size_is(n)] long *a; }};
        {HEAD} : IUnknown {{ HRESULT M([in] boolean has, [in, size_is(has)] long *value, [in] struct S *s); }}"
    );
    let checked = "Frames.checkLength(a.size(), Frames.count((n ? 1L : 0L)));";
    has(&text, &["void m(boolean has, int[] value, S s);", "static Rec of(boolean n, Ints a)", checked]);
    // javac warns of a cast from long to long.
    let text = format!(
        "struct S {{ boolean n; [size_is(n + 1)] long *a; }};
        {HEAD} : IUnknown {{ HRESULT M([in] struct S *s); }}"
    );
    has(&text, &["Frames.count(() -> Math.addExact((n ? 1L : 0L), 1L))"]);
}

#[test]
fn arrays_of_objects_in_results_are_measured_by_their_references_in_java() {
    let text = format!(
        "struct S {{ short n; }};
        {HEAD} : IUnknown {{
            HRESULT M([in] long n, [out, size_is(n)] struct S *small, [out, size_is(n)] short *numbers); }}"
    );
    has(
        &text,
        &[
            "S[] small = new S[arguments.room(arguments.count(n), 8)];",
            "short[] numbers = new short[arguments.room(arguments.count(n), 2)];",
        ],
    );
}

#[test]
fn unsigned_hypers_beyond_their_range_are_refused_in_java_however_large_they_are() {
    let text = format!(
        "struct S {{ [range(2, 3)] unsigned hyper n; }};
        {HEAD} : IUnknown {{
            HRESULT M([in, range(0, 10)] unsigned hyper few, [in, out, range(1, 7)] unsigned hyper *many,
                      [in, range(4, 5)] unsigned long lesser);
            HRESULT N([in] struct S *s); }}"
    );
    has(
        &text,
        &[
            "Frames.checkUnsignedRange(few, 0L, 10L);",
            "Frames.checkUnsignedRange(many, 1L, 7L);",
            "arguments.checkUnsignedRange(few, 0L, 10L);",
            "arguments.checkUnsignedRange(many, 1L, 7L);",
            "results.checkUnsignedRange(",
            "Frames.checkUnsignedRange(n, 2L, 3L);",
            "arguments.checkRange(Integer.toUnsignedLong(lesser), 4L, 5L);",
        ],
    );
    let made = made(&text);
    assert!(!made.contains("Range(Frames.unsigned"), "an ArithmeticException is no refusal: {made}");
}

#[test]
fn iids_of_results_may_be_results_in_java() {
    let text = format!("{HEAD} : IUnknown {{ HRESULT M([out, iid_is(i)] IUnknown **a, [out] GUID *i); }}");
    has(
        &text,
        &["Marshal.reference(call, outcome.a(), outcome.i())", "new MResult(Marshal.object(this, aReference, i"],
    );
}

#[test]
fn values_that_may_be_missing_give_no_sizes_and_no_iids_in_java() {
    for params in [
        "[in, unique] long *n, [in, size_is(*n)] long *a",
        "[in, size_is(*n)] long *a, [in, unique] long *n",
        "[in, unique] const GUID *iid, [in, iid_is(iid)] IUnknown *object",
    ] {
        let found = refused(&format!("{HEAD} : IUnknown {{ HRESULT M({params}); }}"));
        assert!(found.len() == 1 && found[0].contains("is behind a pointer that may be null"), "{found:?}");
    }
}

#[test]
fn names_in_java_differ_from_those_of_generated_code() {
    let text = format!(
        "struct AddResult {{ long x; }}; struct S {{ boolean b[4]; [unique] long *p; }};
        {HEAD} : IUnknown {{
            HRESULT Add([out] long *a, [out] long *b); HRESULT Use([in] struct AddResult *r);
            HRESULT M([in] long outcome, [out] long *a, [out] long *b); HRESULT N([in] long i0, [out] struct S *s);
            HRESULT CheckCopied(); HRESULT IsShared([in] long a, [in] boolean b); }}"
    );
    let records =
        ["record AddResult_(int a, int b) {}", "IA.AddResult_ outcome = object.add();", "void use(AddResult r);"];
    let locals = ["IA.MResult outcome = object.m(outcome_);", "S n(int i0)", "for (int i_0 = 0; i_0 < 4; i_0++) {"];
    let methods = ["void checkCopied_();", "void isShared_(int a, boolean b);"];
    has(&text, &[&records[..], &locals, &methods].concat());
}

#[test]
fn imports_do_not_change_the_names_of_classes() {
    let folder = ground::Folder::new("idl-imports-java");
    let other = "import \"unknwn.idl\"; struct Foo_bar { long n; };
        typedef [switch_type(long)] union U { [case(1)] struct Foo_bar bar; [case(2)] long own; } U;
        [object, uuid(d3a1b2c4-1111-4222-8333-944455566702)] interface IBase : IUnknown
        { HRESULT Add([in] struct Foo_bar *foo, [out] long *a, [out] long *b); };";
    let own = format!(
        "import \"other.idl\"; enum fooBar {{ FIRST }}; struct Own {{ long n; }}; struct AddResult {{ long n; }};
        {HEAD} : IBase {{ HRESULT Use([in] struct AddResult *r, [in] enum fooBar f); }};
        [object, uuid(d3a1b2c4-1111-4222-8333-944455566703)] interface FooBar : IUnknown
        {{ HRESULT Add([out] long *a, [out] long *b); }};"
    );
    std::fs::write(folder.join("other.idl"), other).expect("the folder can be written to");
    std::fs::write(folder.join("own.idl"), own).expect("the folder can be written to");
    let files = |name: &str| {
        let path = folder.join(name);
        let compilation = Compiler::new().check(&path).unwrap_or_else(|failure| panic!("{failure}"));
        emit::java::emit(&compilation, "x", Some("p")).unwrap_or_else(|refused| panic!("{refused:?}")).files
    };
    let (alone, together) = (files("other.idl"), files("own.idl"));
    let code = |text: &str| text.lines().skip(1).collect::<Vec<_>>().join("\n");
    let unchanged = |(path, text): &(std::path::PathBuf, String)| {
        together.iter().any(|(other, found)| other == path && code(found) == code(text))
    };
    for file in alone.iter().filter(|(path, _)| path != Path::new("p/XIdl.java")) {
        assert!(unchanged(file), "{}", file.0.display());
    }
    let all: String = together.iter().map(|(_, text)| text.as_str()).collect();
    for part in
        ["void use(AddResult_ r, FooBar__ f);", "interface FooBar_ extends Remote", "record AddResult(int a, int b)"]
    {
        assert!(all.contains(part), "there is no `{part}` in:\n{all}");
    }
}

#[test]
fn classes_of_imported_files_have_the_names_that_they_have_alone() {
    let folder = ground::Folder::new("idl-imports-of-imports-java");
    let interface = |name: &str, end: u32| {
        format!(
            "[object, uuid(d3a1b2c4-1111-4222-8333-9444555667{end:02})] interface {name} : IUnknown
            {{ HRESULT Add([out] long *a, [out] long *b); }};"
        )
    };
    let file =
        |name: &str, text: String| std::fs::write(folder.join(name), text).expect("the folder can be written to");
    file("first.idl", format!("import \"unknwn.idl\"; struct Foo_bar {{ long n; }}; {}", interface("IFirst", 10)));
    file("second.idl", format!("import \"first.idl\"; struct AddResult {{ long n; }}; {}", interface("FooBar", 11)));
    file("third.idl", format!("import \"second.idl\"; {}", interface("IThird", 12)));
    let classes = |name: &str| {
        let compilation = Compiler::new().check(&folder.join(name)).unwrap_or_else(|failure| panic!("{failure}"));
        let made = emit::java::emit(&compilation, "x", Some("p")).unwrap_or_else(|refused| panic!("{refused:?}"));
        let code = |text: String| text.lines().skip(1).collect::<Vec<_>>().join("\n");
        let files = made.files.into_iter().map(|(path, text)| (path, code(text)));
        files.filter(|(path, _)| path != Path::new("p/XIdl.java")).collect::<Vec<_>>()
    };
    let all = classes("third.idl");
    for name in ["first.idl", "second.idl"] {
        for file in classes(name) {
            assert!(all.contains(&file), "{name}: {}", file.0.display());
        }
    }
    assert!(all.iter().any(|(path, _)| path == Path::new("p/FooBar_.java")));
}

#[test]
fn included_declarations_are_named_with_the_including_file_in_java() {
    let folder = ground::Folder::new("idl-includes-java");
    let interface = |name: &str, base: &str, end: u32| {
        format!(
            "[object, uuid(d3a1b2c4-1111-4222-8333-9444555667{end:02})] interface {name} : {base}
            {{ HRESULT Add{end}([out] long *a, [out] long *b); }};"
        )
    };
    let file =
        |name: &str, text: String| std::fs::write(folder.join(name), text).expect("the folder can be written to");
    let all = |name: &str| {
        let compilation = Compiler::new().check(&folder.join(name)).unwrap_or_else(|failure| panic!("{failure}"));
        let made = emit::java::emit(&compilation, "x", Some("p")).unwrap_or_else(|refused| panic!("{refused:?}"));
        made.files.into_iter().map(|(_, text)| text).collect::<String>()
    };
    // A nested class would hide the class of the structure.
    file("value.h", "typedef [switch_type(long)] union V { [case(1)] struct item item; [default] ; } V;".to_owned());
    let uses = format!("{HEAD} : IUnknown {{ HRESULT M([in] long t, [in, switch_is(t)] V *v); }}");
    file("arm.idl", format!("import \"unknwn.idl\"; struct item {{ long n; }};\n#include \"value.h\"\n{uses}"));
    let found = all("arm.idl");
    assert!(found.contains("record Item_(Item item)"), "{found}");

    let base =
        format!("import \"unknwn.idl\"; struct Add30Result {{ long n; }}; {}", interface("FooBar", "IUnknown", 10));
    file("base.idl", base);
    file("foo.h", format!("struct foo_bar {{ long n; }};\n{}", interface("IHeir", "FooBar", 30)));
    // A word that a macro makes by `##` does not belong to the text of the IDL file.
    let made = "#define MADE(a, b) a##b\nstruct MADE(O, wn) { long n; };";
    file("heir.idl", format!("import \"base.idl\";\n{made}\n#include \"foo.h\"\n"));
    let found = all("heir.idl");
    for part in [
        "interface FooBar extends Remote",
        "record FooBar_(int n)",
        "record Add30Result(int n)",
        "record Add30Result_(int a, int b)",
    ] {
        assert!(found.contains(part), "there is no `{part}` in:\n{found}");
    }
}

#[test]
fn constants_have_the_values_and_the_types_of_the_idl_in_java() {
    let constants = "const float A = 5; const float B = 5.5; const float C = 1e-50; const double D = 5;";
    let text = format!("{constants} {HEAD} : IUnknown {{ HRESULT M([in, size_is(4294967296)] long *a); }}");
    let floats = ["float A = 5.0f;", "float B = 5.5f;", "float C = 0.0f;", "double D = 5.0;"];
    has(&text, &[&floats[..], &["arguments.count(4294967296L)"]].concat());
}

#[test]
fn discriminants_in_java_are_values_of_their_enumeration() {
    let union = "enum Color { Red, Green }; union U switch (enum Color c) u { case Red: long a; default: ; };";
    let checked = "switch (arguments.getInt(0)) { case 0, 1 -> {} default -> throw arguments.badEnum(0); }";
    has(&format!("{union} {HEAD} : IUnknown {{ HRESULT M([in] union U *u); }}"), &[checked]);
    let arms = "typedef [switch_type(enum Color)] union V { [case(Red)] long a; [default] ; } V;";
    let other = "enum Size { Small, Large }; struct S { long t; [switch_is(t)] V v; };";
    for params in
        ["[in] long t, [in, switch_is(t)] V *v", "[in] enum Size t, [in, switch_is(t)] V *v", "[in] struct S *s"]
    {
        let found = refused(&format!("{union} {arms} {other} {HEAD} : IUnknown {{ HRESULT M({params}); }}"));
        let why = "a union whose discriminant is an enumeration that a value of another type selects";
        assert!(found.len() == 1 && found[0].contains(why), "{params}: {found:?}");
    }
    has(
        &format!("{union} {arms} {HEAD} : IUnknown {{ HRESULT M([in] enum Color t, [in, switch_is(t)] V *v); }}"),
        &["void m(Color t, V v);"],
    );
}

/// Returns a list that is made from numbers.
fn listed(count: usize, separator: &str, one: impl Fn(usize) -> String) -> String {
    (0..count).map(one).collect::<Vec<_>>().join(separator)
}

#[test]
fn declarations_that_are_too_large_for_java_classes_are_refused_by_name() {
    let method = |params: &str| format!("{HEAD} : IUnknown {{ HRESULT M({params}); }}");
    let plain = |count| format!("struct S {{ {} }}; {}", listed(count, " ", |at| format!("long a{at};")), method(""));
    let leads = |count| {
        let members = listed(count, " ", |at| format!("hyper a{at};"));
        format!("struct S {{ [unique] long *p; {members} }}; {}", method("[in] struct S *s"))
    };
    let params = |what: &str, count| method(&listed(count, ", ", |at| format!("{what}a{at}")));
    let values = |count| format!("enum E {{ {} }}; {}", listed(count, ", ", |at| format!("V{at}")), method(""));
    let named = |length| method("").replace("interface IA", &format!("interface {}", "I".repeat(length)));
    let slots = "slots in Java, which has at most 254";
    let cases = [
        (plain(254), plain(255), format!("the members of structure `S` take 255 {slots}")),
        (leads(126), leads(127), format!("the members of structure `S` take 255 {slots}")),
        (
            params("[in] double ", 127),
            params("[in] double ", 128),
            format!("the parameters of method `M` take 256 {slots}"),
        ),
        (
            params("[out] hyper *", 127),
            params("[out] hyper *", 128),
            format!("the results of method `M` take 256 {slots}"),
        ),
        (
            values(3000),
            values(3001),
            "enumeration `E` has 3001 values, and a Java enumeration has at most 3000".to_owned(),
        ),
        (
            named(119),
            named(120),
            format!("interface `{}` has a name that is too long for the file of a Java class", "I".repeat(120)),
        ),
    ];
    for (fits, is_too_large, message) in cases {
        let _ = made(&fits);
        assert_eq!(refused(&is_too_large), [message]);
    }
}

#[test]
fn long_texts_in_java_are_joined_at_run_time() {
    let pieces = ["x".repeat(65_534), "x".repeat(4_466)];
    let joined = format!("T = String.join(\"\", \"{}\", \"{}\");", pieces[0], pieces[1]);
    let methods =
        listed(1000, " ", |at| format!("HRESULT M{at}([in] long the_first_of_all, [in] long the_last_of_all);"));
    let text = format!("const char *T = \"{}\"; {HEAD} : IUnknown {{ {methods} }}", "x".repeat(70_000));
    has(&text, &[&joined, "String IDL = String.join(\"\", \""]);
    let text = format!("const char *T = \"{}\"; {HEAD} : IUnknown {{ HRESULT M(); }}", "x".repeat(65_534));
    has(&text, &["T = \"xxx", "String IDL = \"\"\""]);
}
