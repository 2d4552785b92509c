//! Tests of `obvia idl` as users run it.

use crate::running::Directory;

const GOOD: &str = "[object, uuid(5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7b01)]
interface IOne : IUnknown { HRESULT One([in] long a, [out, retval] long *b); }
";

fn file(directory: &Directory, name: &str, text: &str) -> String {
    let path = directory.path().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_file_is_compiled_to_a_directory() {
    let directory = Directory::new();
    let source = file(&directory, "one.idl", GOOD);
    let out = directory.path().join("new/out");
    let said = directory.obvia(&["idl", &source, "-o", out.to_str().unwrap()]).good();
    let target = out.join("one.rs");
    assert_eq!(said, format!("wrote {}\n", target.display()));
    assert!(std::fs::read_to_string(&target).unwrap().contains("IOne"));
}

#[test]
fn c_output_is_a_header_and_stubs() {
    let directory = Directory::new();
    let source = file(&directory, "one.idl", GOOD);
    let out = directory.path().join("out");
    let arguments = ["idl", "--language", "c", &source, "-o", out.to_str().unwrap()];
    let [header, stubs, values] = ["one.h", "one_stubs.c", "one_values.hpp"].map(|name| out.join(name));
    let said = directory.obvia(&arguments).good();
    let wrote = [&header, &stubs, &values].map(|path| format!("wrote {}\n", path.display()));
    assert_eq!(said, wrote.concat());
    assert!(std::fs::read_to_string(&header).unwrap().contains("struct IOne : IUnknown {"));
    assert!(std::fs::read_to_string(&stubs).unwrap().contains("#include \"one.h\""));
    assert!(std::fs::read_to_string(&values).unwrap().contains("struct IOne_methods : obvia::no_methods {"));
    let json = directory.obvia(&[&arguments[..], &["--json"]].concat()).json();
    assert_eq!(json["written"], serde_json::json!([header, stubs, values]));
}

#[test]
fn dependency_files_list_the_imported_files() {
    let directory = Directory::new();
    // The compiler's built-in files are no dependencies.
    let part = file(&directory, "a part.idl", "import \"oaidl.idl\"; struct Part { long x; };");
    let source = file(&directory, "one.idl", &format!("import \"a part.idl\";\n{GOOD}"));
    let [out, rule] = ["$out", "one.d"].map(|name| directory.path().join(name).to_str().unwrap().to_owned());
    let arguments = ["idl", "--language", "c", &source, "--out", &out, "--depfile", &rule];
    assert_eq!(directory.obvia(&arguments).good(), "");
    let (out, part) = (out.replace('$', "$$"), part.replace(' ', "\\ "));
    let said = std::fs::read_to_string(&rule).unwrap();
    assert_eq!(said, format!("{out}/one.h {out}/one_stubs.c {out}/one_values.hpp: {source} {part}\n"));
    let unwritable = [&arguments[..arguments.len() - 1], &["/nowhere/one.d"]].concat();
    let error = directory.obvia(&unwritable).bad();
    assert!(error.contains("/nowhere/one.d cannot be written"), "{error}");
}

#[test]
fn idl_check_writes_no_files() {
    let directory = Directory::new();
    let source = file(&directory, "one.idl", GOOD);
    assert_eq!(directory.obvia(&["idl", "--check", &source]).good(), "");
    let text = directory.obvia(&["idl", "--text", &source]).good();
    let json = directory.obvia(&["idl", "--check", "--json", &source]).json();
    let interface = &json["interfaces"][0];
    let fingerprint = interface["fingerprint"].as_str().unwrap();
    assert_eq!(text, format!("// {fingerprint}\n{}\n", interface["text"].as_str().unwrap()));
    assert_eq!(interface["iid"], "5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7b01");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn idl_errors_show_file_line_and_column() {
    let directory = Directory::new();
    let source = file(&directory, "bad.idl", &GOOD.replace("long a", "lnog a"));
    let error = directory.obvia(&["idl", &source]).bad();
    assert!(error.contains("bad.idl:2:") && error.contains("lnog") && error.contains('^'), "{error}");
    let ran = directory.obvia(&["idl", "--json", &source]);
    let finding = &ran.json()["diagnostics"][0];
    assert_eq!((ran.code, &finding["line"], &finding["severity"]), (1, &2.into(), &"error".into()));
    let missing = directory.obvia(&["idl", "/nowhere.idl"]).bad();
    assert!(missing.contains("/nowhere.idl cannot be read"), "{missing}");
}

#[test]
fn import_directories_and_unknown_attributes_are_options() {
    let directory = Directory::new();
    file(&directory, "parts/part.idl", "struct Part { long x; };");
    let text = format!("import \"part.idl\";\n{}", GOOD.replace("[in] long a", "[in] const struct Part *a"));
    let source = file(&directory, "whole.idl", &text);
    assert!(directory.obvia(&["idl", "--check", &source]).bad().contains("there is no file `part.idl`"));
    let parts = directory.path().join("parts");
    directory.obvia(&["idl", "--check", &source, "-I", parts.to_str().unwrap()]).good();
    let strange = file(&directory, "strange.idl", &GOOD.replace("[object", "[object, strangeness"));
    assert!(directory.obvia(&["idl", "--check", &strange]).bad().contains("strangeness"));
    let passed = directory.obvia(&["idl", "--check", "--permissive", &strange]);
    assert_eq!(passed.code, 0, "{passed:?}");
    assert!(passed.err.contains("warning") && passed.err.contains("strangeness"), "{passed:?}");
}

#[test]
fn a_side_file_is_found_beside_the_idl_file_or_named() {
    let directory = Directory::new();
    let source = file(&directory, "one.idl", &GOOD.replace(", [out, retval] long *b", ""));
    let text = |arguments: &[&str]| directory.obvia(&[&["idl", "--text", &source], arguments].concat()).good();
    assert!(!text(&[]).contains("oneway"));
    let other = file(&directory, "other.acf", "interface IOne { [oneway] One(); }");
    assert!(text(&["--acf", &other]).contains("[oneway]"));
    file(&directory, "one.acf", "interface IOne { [oneway] One(); }");
    assert!(text(&[]).contains("[oneway]"));
    let empty = file(&directory, "empty.acf", "");
    assert!(!text(&["--acf", &empty]).contains("oneway"), "the named file is taken instead");
    file(&directory, "one.acf", "interface IOne {\n    One([out] a);\n}");
    let error = directory.obvia(&["idl", "--check", &source]).bad();
    assert!(error.contains("one.acf:2:") && error.contains("[out] is for the IDL file only"), "{error}");
    let finding = &directory.obvia(&["idl", "--check", "--json", &source]).json()["diagnostics"][0];
    assert!(finding["file"].as_str().unwrap().ends_with("one.acf") && finding["line"] == 2, "{finding}");
}

#[test]
fn test_programs_are_written_beside_the_code() {
    let directory = Directory::new();
    let good = file(&directory, "one.idl", GOOD);
    let more = GOOD.replace("long *b);", "long *b); HRESULT Two([in] IOne *other);");
    let more = file(&directory, "two.idl", &more);
    let out = directory.path().to_str().unwrap();
    let program = |arguments: &[&str], name: &str| {
        let said = directory.obvia(&[&["idl", "--test", "-o", out], arguments].concat()).good();
        let path = directory.path().join(name);
        assert!(said.contains(&format!("wrote {}\n", path.display())), "{said}");
        std::fs::read_to_string(path).unwrap()
    };
    let text = program(&["--language", "c", &good], "one_test.cc");
    assert!(text.contains("#include \"one.h\"") && text.contains("object->One("), "{text}");
    let text = program(&[&more], "two_test.rs");
    assert!(text.contains("include!(\"two.rs\");") && text.contains("object.One("), "{text}");
    assert!(text.contains("// IOne::Two is left out: `other` is an interface pointer."), "{text}");
}
