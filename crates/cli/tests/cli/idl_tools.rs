//! Tests of the tools of `obvia idl` as users run them.

use crate::running::{Directory, Ran};
use serde_json::{Value, json};

const OLD: &str = "[object, uuid(5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7b01)]
interface IOne : IUnknown {
    HRESULT One([in] long a, [out, retval] long *b);
}
";

fn file(directory: &Directory, name: &str, text: &str) -> String {
    let path = directory.path().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn idl_check_tells_breaking_changes_from_compatible_ones() {
    let directory = Directory::new();
    let old = file(&directory, "old.idl", OLD);
    let check = |text: &str, more: &[&str]| -> Ran {
        let new = file(&directory, "new.idl", text);
        directory.obvia(&[&["idl", "check", &new, "--against", &old], more].concat())
    };
    assert_eq!(check(&format!("// More.\n{OLD}const long A = 1;"), &[]).good(), "");
    let longer = OLD.replace("};", "HRESULT Two();\n};").replace(");\n}", ");\n    HRESULT Two();\n}");
    let error = check(&longer, &[]).bad_with(1);
    assert!(error.contains("error[method-added]: `IOne` has the new method `Two`"), "{error}");
    assert!(error.contains("new.idl:4:") && error.contains("help: the fingerprint differs"), "{error}");
    assert_eq!(check(&longer, &["--allow", "method-added"]).good(), "");
    let error = check(&longer, &["--allow", "method-aded"]).bad_with(2);
    assert!(error.contains("method-added"), "{error}");
    file(&directory, "part.idl", "const long PART = 1;");
    let import = format!("import \"part.idl\";\n{OLD}");
    let new = file(&directory, "new.idl", &import);
    assert_eq!(directory.obvia_reading(&import, &["idl", "check", &new, "--against", "-"]).good(), "");
    let error = directory.obvia_reading(&longer, &["idl", "check", &new, "--against", "-"]).bad_with(1);
    assert!(error.contains("error[method-removed]"), "{error}");
    let ran = check(&longer, &["--json"]);
    let found = ran.json();
    assert_eq!((ran.code, &found["compatible"], &found["changes"][0]["line"]), (1, &json!(false), &json!(4)));
    assert_eq!(found["changes"][0]["code"], "method-added");
    let allowed = check(&longer, &["--json", "--allow", "method-added"]).json();
    assert_eq!((&allowed["compatible"], &allowed["allowed"][0]["code"]), (&json!(true), &json!("method-added")));
}

#[test]
fn idl_check_of_a_faulty_file_tells_nothing() {
    let directory = Directory::new();
    let (old, bad) = (file(&directory, "old.idl", OLD), file(&directory, "bad.idl", &OLD.replace("long", "lnog")));
    let error = directory.obvia(&["idl", "check", &bad, "--against", &old]).bad_with(2);
    assert!(error.contains("unknown-type") && error.contains("bad.idl"), "{error}");
    let error = directory.obvia(&["idl", "check", &old, "--against", &bad]).bad_with(2);
    assert!(error.contains("unknown-type") && error.contains("bad.idl"), "{error}");
    let ran = directory.obvia(&["idl", "check", &old, "--against", "/nowhere.idl", "--json"]);
    assert_eq!((ran.code, &ran.json()["diagnostics"][0]["code"]), (2, &json!("unreadable")));
    directory.obvia(&["idl", "check", &old]).bad_with(2);
}

#[test]
fn idl_check_reads_the_old_file_from_the_standard_input() {
    let directory = Directory::new();
    let new = file(&directory, "new.idl", OLD);
    let wide: Vec<u8> = std::iter::once(0xfeff).chain(OLD.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let arguments = ["idl", "check", &new, "--against", "-"];
    assert_eq!(directory.obvia_reading(&wide, &arguments).good(), "");
    let error = directory.obvia_reading(OLD.replace("long", "lnog"), &arguments).bad_with(2);
    assert!(error.contains("unknown-type") && error.contains("/-:3:") && !error.contains("new.idl"), "{error}");
    // The side file belongs to the new file, unless the command line names it.
    let side = file(&directory, "new.acf", "interface IOne { [oneway] One(); }");
    let text = OLD.replace(", [out, retval] long *b", "");
    file(&directory, "new.idl", &text);
    let error = directory.obvia_reading(&text, &arguments).bad_with(1);
    assert!(error.contains("error[method-oneway]"), "{error}");
    let both = [&arguments[..], &["--acf", &side]].concat();
    assert_eq!(directory.obvia_reading(&text, &both).good(), "");
    let copy = file(&directory, "copy.idl", &text);
    assert_eq!(directory.obvia(&["idl", "check", &new, "--against", &copy, "--acf", &side]).good(), "");
}

#[test]
fn idl_tools_define_macros_and_report_warnings() {
    let directory = Directory::new();
    let text = format!("#if MORE\ntypedef enum {{ SMALL, LARGE = 70000 }} Size;\n#endif\n{OLD}");
    let source = file(&directory, "one.idl", &text);
    let check = ["idl", "check", &source, "--against", &source];
    let lint = ["idl", "lint", &source, "--allow", "unused-type"];
    for arguments in [&check[..], &lint[..]] {
        assert_eq!(directory.obvia(arguments).good(), "");
        let ran = directory.obvia(&[arguments, &["-D", "MORE"]].concat());
        assert!(ran.code == 0 && ran.err.contains("warning[wide-enum]"), "{ran:?}");
        let ran = directory.obvia(&[arguments, &["-D", "MORE=1", "--json"]].concat());
        assert_eq!((ran.code, &ran.json()["warnings"][0]["code"]), (0, &json!("wide-enum")));
    }
    let dump = directory.obvia(&["idl", "dump", "--json", "-D", "MORE", &source]).json();
    assert_eq!(dump["enums"][0]["name"], "Size");
}

#[test]
fn idl_fmt_rewrites_files_and_reports_those_that_would_change() {
    let directory = Directory::new();
    let (good, wide) = (file(&directory, "good.idl", OLD), file(&directory, "wide.idl", &OLD.replace(' ', "  ")));
    let error = directory.obvia(&["idl", "fmt", "--check", &good, &wide]).bad_with(1);
    assert!(error.contains("wide.idl does not have the normal form") && !error.contains("good.idl"), "{error}");
    let said = directory.obvia(&["idl", "fmt", &good, &wide]).good();
    assert_eq!(said, format!("formatted {wide}\n"));
    assert_eq!(std::fs::read_to_string(&wide).unwrap(), OLD);
    assert_eq!(directory.obvia(&["idl", "fmt", "--check", &good, &wide]).good(), "");
    assert_eq!(directory.obvia_reading("const  long A=1;", &["idl", "fmt", "-"]).good(), "const long A = 1;\n");
}

#[test]
fn idl_fmt_replaces_a_file_at_once() {
    use std::os::unix::fs::MetadataExt;
    let directory = Directory::new();
    let wide = file(&directory, "wide.idl", &OLD.replace(' ', "  "));
    let (link, other) = (directory.path().join("link.idl"), directory.path().join("other.idl"));
    std::os::unix::fs::symlink(&wide, &link).unwrap();
    std::fs::hard_link(&wide, &other).unwrap();
    let before = std::fs::metadata(&wide).unwrap();
    directory.obvia(&["idl", "fmt", link.to_str().unwrap()]).good();
    let now = std::fs::metadata(&wide).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!((std::fs::read_to_string(&wide).unwrap().as_str(), now.mode()), (OLD, before.mode()));
    assert_ne!(std::fs::read_to_string(&other).unwrap(), OLD);
    assert_ne!(now.ino(), before.ino());
}

#[test]
fn idl_fmt_leaves_faulty_files_as_they_are() {
    let directory = Directory::new();
    let bad = file(&directory, "bad.idl", "interface  I  {");
    let error = directory.obvia(&["idl", "fmt", &bad]).bad_with(2);
    assert!(error.contains("bad.idl:1:"), "{error}");
    assert_eq!(std::fs::read_to_string(&bad).unwrap(), "interface  I  {");
    directory.obvia(&["idl", "fmt", "-", &bad]).bad_with(2);
    let error = directory.obvia(&["idl", "fmt", "/nowhere.idl"]).bad_with(2);
    assert!(error.contains("/nowhere.idl cannot be read"), "{error}");
}

#[test]
fn idl_lint_reports_declarations_with_their_mends() {
    let directory = Directory::new();
    let good = file(&directory, "good.idl", OLD);
    assert_eq!(directory.obvia(&["idl", "lint", &good]).good(), "");
    let text = format!("{OLD}struct Holes {{\n    byte a;\n    hyper b;\n    byte c;\n}};\n");
    let holes = file(&directory, "holes.idl", &text);
    let error = directory.obvia(&["idl", "lint", &holes]).bad_with(1);
    assert!(error.contains("warning[layout-hole]: `Holes` has 24 bytes, and 16 in the order b, a, c"), "{error}");
    assert!(error.contains("holes.idl:5:") && error.contains("warning[unused-type]"), "{error}");
    let ran = directory.obvia(&["idl", "lint", "--json", &holes, "--allow", "unused-type"]);
    let found = ran.json();
    assert_eq!((ran.code, found["diagnostics"].as_array().unwrap().len()), (1, 1));
    assert_eq!(
        (&found["diagnostics"][0]["code"], &found["diagnostics"][0]["line"]),
        (&json!("layout-hole"), &json!(5))
    );
    let both = ["idl", "lint", &holes, "--allow", "unused-type", "--allow", "layout-hole"];
    assert_eq!(directory.obvia(&both).good(), "");
    directory.obvia(&["idl", "lint", &good, "--allow", "unused-typ"]).bad_with(2);
    let bad = file(&directory, "bad.idl", &OLD.replace("long", "lnog"));
    assert!(directory.obvia(&["idl", "lint", &bad]).bad_with(2).contains("unknown-type"));
}

#[test]
fn idl_dump_prints_checked_declarations() {
    let directory = Directory::new();
    let text = "import \"unknwn.idl\";\nconst long N = 1 + 2;\n\
        typedef struct Item { byte kind; hyper at; unsigned long n; [size_is(n * 2), unique] long *numbers; } Item;\n\
        /// Items.\n[object, uuid(5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7b01)] interface IOne : IUnknown {\n\
        [oneway] HRESULT One([in] const Item *item, [in, range(1, N)] long most); }\n\
        [uuid(5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7b02), version(1.2)] interface Two { unsigned short Two(); }";
    let source = file(&directory, "one.idl", text);
    let dump = directory.obvia(&["idl", "dump", "--json", &source]).json();
    assert_eq!((&dump["format"], &dump["constants"][0]["value"]), (&json!(1), &json!(3)));
    let item = &dump["structs"][0];
    assert_eq!((&item["name"], &item["size"], &item["align"]), (&json!("Item"), &json!(32), &json!(8)));
    let offsets: Vec<_> = item["fields"].as_array().unwrap().iter().map(|field| &field["offset"]).collect();
    assert_eq!(offsets, [&json!(0), &json!(8), &json!(16), &json!(24)]);
    let operand = json!({ "operand": "n", "index": 2, "is_target": false, "type": "unsigned long" });
    let numbers = json!({
        "kind": "pointer", "class": "unique", "to": { "kind": "base", "name": "long" },
        "string": false, "size_is": { "operator": "*", "operands": [operand, { "value": 2 }] }, "length_is": null,
    });
    assert_eq!(item["fields"][3]["type"], numbers);
    let [one, two] = &dump["interfaces"].as_array().unwrap()[..] else { panic!("{dump}") };
    assert_eq!((&one["doc"], &one["is_object"], &one["base"]), (&json!("Items."), &json!(true), &json!(null)));
    let method = &one["methods"][0];
    assert_eq!((&method["oneway"], &method["opnum"], &method["returns"]), (&json!(true), &json!(3), &json!("hresult")));
    assert_eq!((&method["params"][1]["range"], &method["params"][0]["typedef"]), (&json!([1, 3]), &json!("Item")));
    let function = &two["methods"][0];
    assert_eq!((&function["place"], &function["opnum"], &two["version"]), (&json!(3), &json!(0), &json!([1, 2])));
    assert_eq!((&function["returns"], &function["params"][0]["retval"]), (&json!("value"), &json!(true)));
    let compiled = directory.obvia(&["idl", "--check", "--json", &source]).json();
    assert_eq!(one["fingerprint"], compiled["interfaces"][0]["fingerprint"]);
    directory.obvia(&["idl", "dump", &source]).bad_with(2);
    let bad = file(&directory, "bad.idl", &OLD.replace("long", "lnog"));
    let ran = directory.obvia(&["idl", "dump", "--json", &bad]);
    assert_eq!((ran.code, &ran.json()["diagnostics"][0]["code"]), (2, &json!("unknown-type")));
}

/// Collects the names of all members of a document.
fn members(of: &Value, names: &mut std::collections::BTreeSet<String>) {
    match of {
        Value::Object(object) => {
            for (name, value) in object {
                names.insert(name.clone());
                members(value, names);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| members(value, names)),
        _ => {}
    }
}

#[test]
fn each_member_of_a_dump_is_documented() {
    let directory = Directory::new();
    let page = include_str!("../../../../docs/idl-dump.md");
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    let mut names = std::collections::BTreeSet::new();
    for source in [
        "examples/notes/notes.idl",
        "testing/matrix/idl/values.idl",
        "testing/matrix/idl/shapes.idl",
        "testing/soundness/idl/soundness.idl",
        "testing/interop/idl/rpcecho.idl",
        "testing/torture/torture.idl",
        "testing/vectors/typelib/tones.idl",
    ] {
        members(&directory.obvia(&["idl", "dump", "--json", &format!("{root}{source}")]).json(), &mut names);
    }
    assert!(names.len() > 80, "{names:?}");
    let unknown: Vec<_> = names.iter().filter(|name| !page.contains(&format!("`{name}`"))).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn idl_dump_of_a_library_has_each_documented_member() {
    let directory = Directory::new();
    let text = "import \"oaidl.idl\"; import \"part.idl\"; const unsigned hyper MOST = 18446744073709551615;\n\
        union U switch (long tag) u { case 1: case TWO: long a; };\n\
        [uuid(5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7b01)] library L {\n\
        [uuid(5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7b02)] dispinterface D { properties: [id(1)] long P; methods: };\n\
        [uuid(5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7b03)] coclass C { dispinterface D; }; };";
    file(&directory, "part.idl", "const long TWO = 2;");
    let dump = directory.obvia(&["idl", "dump", "--json", &file(&directory, "one.idl", text)]).json();
    let most = dump["constants"].as_array().unwrap().iter().find(|one| one["name"] == "MOST").unwrap();
    assert_eq!(most["value"], json!(u64::MAX));
    let union = dump["unions"].as_array().unwrap().iter().find(|one| one["name"] == "U").unwrap();
    let arm = &union["arms"][0];
    assert_eq!(arm["cases"], json!([{ "value": 1, "name": null }, { "value": 2, "name": "TWO" }]));
    assert_eq!((arm["field"].get("offset"), &dump["coclasses"][0]["imported"]), (Some(&json!(null)), &json!(false)));
    let found = &dump["dispinterfaces"][0];
    assert_eq!((&found["properties"][0]["member"]["kind"], &found["interface"]), (&json!("property"), &json!(null)));
}

#[test]
fn idl_codes_are_explained() {
    let directory = Directory::new();
    let said = directory.obvia(&["idl", "--explain", "no-uuid"]).good();
    assert!(said.contains("`uuidgen` prints a new one") && said.contains("interface IFile"), "{said}");
    assert!(directory.obvia(&["idl", "--explain", "method-added"]).good().contains("Remedy: declare an interface"));
    assert!(directory.obvia(&["idl", "--explain", "layout-hole"]).good().contains("bytes without meaning"));
    let error = directory.obvia(&["idl", "--explain", "no-uuidd"]).bad_with(2);
    assert!(error.contains("no finding has the code `no-uuidd`: did you mean `no-uuid`?"), "{error}");
    directory.obvia(&["idl", "--explain"]).bad_with(2);
    directory.obvia(&["idl"]).bad_with(2);
}
