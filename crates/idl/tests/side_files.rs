//! Macros and side files can express the same as attributes in brackets.

use obvia_idl::model::{InterfaceId, Transfer};
use obvia_idl::{Compilation, Compiler, canonical};
use std::path::{Path, PathBuf};

const BODY: &str = "import \"unknwn.idl\";
const long MOST = 64;
[object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a10)]
interface IBase : IUnknown {
    @oneway HRESULT Tell([in] long what);
}
[object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a11)]
interface IMore : IBase {
    HRESULT Sum([in @max] unsigned long n, [in, size_is(n)] const long *values, [out, retval] hyper *sum);
    [propget] HRESULT Size([out, retval] long *size);
}
";

const SIDE: &str = "// Each attribute in its place.
interface IBase { [oneway] Tell(); }
[] interface IMore {
    Sum([max_value(MOST * 2)] n, values), get_Size([] size);
};
";

fn plain() -> String {
    BODY.replace("@oneway ", "").replace(" @max", "")
}

/// Returns an empty folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the folder for tests can be written to");
    folder
}

fn good(compiler: &Compiler, text: &str) -> Compilation {
    compiler.check_text(Path::new("x.idl"), text).unwrap_or_else(|failure| panic!("{failure}"))
}

/// Returns the canonical text of every interface.
fn meaning(compilation: &Compilation) -> Vec<String> {
    let model = &compilation.model;
    (0..model.interfaces.len()).map(|at| canonical::text(model, InterfaceId(at))).collect()
}

/// Checks that a side file fails with one error, which has this code and line and whose rendering
/// contains these words.
fn refused(side: &str, code: &str, line: usize, words: &[&str]) {
    let failure = Compiler::new().acf_text("x.acf", side).check_text(Path::new("x.idl"), &plain()).err();
    let failure = failure.unwrap_or_else(|| panic!("nothing is found wrong with:\n{side}"));
    let rendered = failure.to_string();
    let found: Vec<_> = failure.diagnostics.iter().map(|one| one.code).collect();
    assert_eq!(found, [code], "{rendered}");
    let span = failure.diagnostics[0].span.expect("every error in a file has a place");
    assert_eq!(failure.sources.line(span), line, "{rendered}");
    for word in words.iter().chain(&["--> x.acf:", "^"]) {
        assert!(rendered.contains(word), "{word:?} is not said in:\n{rendered}");
    }
}

#[test]
fn side_files_macros_and_attributes_have_the_same_meaning() {
    let wanted =
        meaning(&good(&Compiler::new(), &BODY.replace("@oneway", "[oneway]").replace(" @max", ", range(0, 128)")));
    assert!(wanted[0].contains("[oneway]") && wanted[1].contains("range(0, 128)"), "{wanted:?}");
    let defined = format!("#define OBVIA(x)\n{BODY}");
    for (oneway, max) in [
        ("[oneway]", ", max_value(128)"),
        ("OBVIA(oneway)", " OBVIA(max_value(2 * MOST))"),
        ("[OBVIA(oneway)]", ", OBVIA(max_value(MOST + MOST))"),
        ("[OBVIA(oneway) id(1)]", "] OBVIA(max_value(128)) [annotation(1)"),
    ] {
        let text = defined.replace("@oneway", oneway).replace(" @max", max);
        assert_eq!(meaning(&good(&Compiler::new(), &text)), wanted, "{text}");
    }
    assert_eq!(meaning(&good(&Compiler::new().acf_text("x.acf", SIDE), &plain())), wanted);
    // A side file may use the macros of its IDL file.
    let text = format!("#define MUCH 128\n{}", plain());
    let side = SIDE.replace("MOST * 2", "MUCH");
    assert_eq!(meaning(&good(&Compiler::new().acf_text("x.acf", side), &text)), wanted);
}

#[test]
fn strings_in_utf8_are_equal_for_every_place_of_the_attribute() {
    let declared = |utf8: &str| {
        plain().replace("[propget]", &format!("HRESULT Name([in, string{utf8}] const char *name); [propget]"))
    };
    let wanted = meaning(&good(&Compiler::new(), &declared(", utf8")));
    assert!(wanted[1].contains("[in, utf8, string] char *name"), "{wanted:?}");
    // The canonical text is IDL, too, and has the same meaning.
    let again = meaning(&good(&Compiler::new(), &format!("import \"unknwn.idl\";\n{}", wanted[1])));
    assert_eq!(again, wanted);
    assert_eq!(meaning(&good(&Compiler::new(), &declared(" OBVIA(utf8)"))), wanted);
    let side = "interface IMore { Name([utf8] name); }";
    assert_eq!(meaning(&good(&Compiler::new().acf_text("x.acf", side), &declared(""))), wanted);
    assert_ne!(meaning(&good(&Compiler::new(), &declared(""))), wanted);
}

#[test]
fn array_transfers_are_equal_for_every_place_of_the_attribute() {
    let declared = |first: &str, second: &str| {
        plain().replace(
            "[propget]",
            &format!(
                "HRESULT Put([in, size_is(n){first}] const long *values, [in] long n);
                 HRESULT Get([out] long *n, [out, size_is(, *n){second}] long **values); [propget]"
            ),
        )
    };
    let transfers = |compiler: &Compiler, text: &str| -> Vec<Transfer> {
        let compilation = good(compiler, text);
        let methods = compilation.model.interfaces.iter().flat_map(|interface| &interface.methods);
        methods.flat_map(|method| &method.params).map(|param| param.transfer).collect()
    };
    let wanted = transfers(&Compiler::new(), &declared(", zero_copy", ", lend, prealloc(1000)"));
    assert!(wanted.contains(&Transfer::ZeroCopy) && wanted.contains(&Transfer::Lend(1000)), "{wanted:?}");
    let macros = declared(" OBVIA(zero_copy)", " OBVIA(lend) OBVIA(prealloc(1000))");
    assert_eq!(transfers(&Compiler::new(), &macros), wanted);
    let side = "interface IMore { Put([zero_copy] values); Get([lend, prealloc(1000)] values); }";
    assert_eq!(transfers(&Compiler::new().acf_text("x.acf", side), &declared("", "")), wanted);
}

#[test]
fn limited_counts_are_omitted_from_rust_parameters() {
    let compilation = good(&Compiler::new().acf_text("x.acf", SIDE), &plain());
    let code = obvia_idl::emit::rust::emit(&compilation).expect("it is all done");
    assert!(code.contains("pub fn Sum(&self, values_: &[i32]) -> obvia::Result<i64>"), "{code}");
    assert!(code.contains("obvia::rt::given_in_range(n as i64, 0, 128)?;"), "{code}");
    assert!(code.contains("obvia::rt::argument_in_range(n as i64, 0, 128)?;"), "{code}");
    let code = obvia_idl::emit::c::emit(&compilation, "x").expect("it is all done").stubs;
    assert_eq!(code.matches("if (OBVIA_UNLIKELY((int64_t)n > 128)) {").count(), 2, "{code}");
}

#[test]
fn table_driven_c_proxies_check_ranges() {
    let text = plain()
        .replace("[propget]", "HRESULT Give([in, max_value(9)] long few, [in, unique] const long *value); [propget]");
    let compilation = good(&Compiler::new(), &text);
    let code = obvia_idl::emit::c::emit(&compilation, "x").expect("it is all done").stubs;
    let proxy = &code[code.find("HRESULT IMore_Give_proxy").expect("it is there")..];
    let [limit, call] = ["(int64_t)few < 0 || (int64_t)few > 9", "obvia_call_by_table"].map(|text| proxy.find(text));
    assert!(limit.is_some() && limit < call, "{proxy}");
}

#[test]
fn a_side_file_is_found_beside_its_file() {
    let folder = folder("beside");
    let (idl, acf) = (folder.join("one.idl"), folder.join("one.acf"));
    std::fs::write(&idl, plain()).expect("the folder can be written to");
    let importer = folder.join("two.idl");
    std::fs::write(&importer, "import \"one.idl\";\n").expect("the folder can be written to");
    let is_oneway = |compiler: &Compiler, path: &Path| {
        let compilation = compiler.check(path).unwrap_or_else(|failure| panic!("{failure}"));
        let read = compilation.sources.files().iter().filter(|file| file.role.is_on_disk()).count();
        (compilation.model.interfaces[0].methods[0].oneway, read)
    };
    let compiler = Compiler::new();
    assert_eq!(is_oneway(&compiler, &idl), (false, 1));
    std::fs::write(&acf, SIDE).expect("the folder can be written to");
    assert_eq!(is_oneway(&compiler, &idl), (true, 2));
    assert_eq!(is_oneway(&compiler, &importer), (true, 3), "imported files have their own");
    let code =
        obvia_idl::emit::c::emit(&compiler.check(&importer).expect("it is well"), "two").expect("it is all done");
    let includes: Vec<&str> = code.header.lines().filter(|line| line.starts_with("#include")).collect();
    assert_eq!(includes, ["#include \"obvia.h\"", "#include \"one.h\""], "side files are nobody's headers");
    let other = folder.join("other.side");
    std::fs::write(&other, "interface IMore { Sum(n); }").expect("the folder can be written to");
    assert_eq!(is_oneway(&compiler.clone().acf(&other), &idl), (false, 2), "another is taken instead");
    let failure = compiler.acf(folder.join("absent")).check(&idl).expect_err("it is not there");
    assert_eq!(failure.diagnostics[0].code, "unreadable");
}

#[test]
fn side_files_with_undeclared_names_are_refused() {
    refused("\ninterface IBaes { }", "unknown-interface", 2, &["`IBaes`", "did you mean `IBase`?"]);
    refused("interface IUnknown { }", "unknown-interface", 1, &["of the same name"]);
    refused("interface IBase {\n[oneway] Tel(); }", "unknown-method", 2, &["did you mean `Tell`?"]);
    refused("interface IMore { [oneway] Tell(); }", "unknown-method", 1, &["an inherited method"]);
    refused("interface IMore { Size(); }", "unknown-method", 1, &["get_NAME"]);
    refused("interface IMore { Sum(n, vales); }", "unknown-parameter", 1, &["no parameter `vales`", "`values`"]);
}

#[test]
fn idl_attributes_in_side_files_are_refused() {
    for attribute in ["in", "out", "size_is(n)", "string", "unique", "range(0, 5)", "iid_is(n)"] {
        let side = format!("interface IMore {{\nSum([{attribute}] n); }}");
        refused(&side, "idl-attribute", 2, &["for the IDL file only", "max_value"]);
    }
    let uuid = "[uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a12)] interface IBase { }";
    refused(uuid, "idl-attribute", 1, &["[uuid]"]);
    refused("[in_line] interface IBase { }", "foreign-attribute", 1, &["DCE"]);
    refused("interface IBase { [comm_status] Tell(); }", "foreign-attribute", 1, &["[comm_status]"]);
    refused("interface IBase { [onewya] Tell(); }", "unknown-attribute", 1, &["did you mean [oneway]?"]);
    refused("[oneway] interface IBase { }", "misplaced-attribute", 1, &["an interface"]);
    refused("interface IBase { [oneway,\noneway] Tell(); }", "duplicate-attribute", 2, &["given here already"]);
}

#[test]
fn attributes_in_both_files_are_refused() {
    let text = BODY.replace("@oneway", "[oneway]").replace(" @max", "");
    let failure = Compiler::new().acf_text("x.acf", SIDE).check_text(Path::new("x.idl"), &text).expect_err("twice");
    let rendered = failure.to_string();
    assert_eq!(failure.diagnostics[0].code, "duplicate-attribute", "{rendered}");
    for word in ["--> x.acf:2:", "x.idl:5:", "given here already", "remove it here, or in x.idl"] {
        assert!(rendered.contains(word), "{word:?} is not said in:\n{rendered}");
    }
}

#[test]
fn side_file_attributes_that_do_not_fit_the_declaration_are_refused() {
    let side = Compiler::new().acf_text("x.acf", "interface IMore { [oneway] get_Size(); }");
    let rendered = side.check_text(Path::new("x.idl"), &plain()).expect_err("it has a result").to_string();
    for word in ["oneway-out", "x.idl:10:", "x.acf:1:", "calls have no reply"] {
        assert!(rendered.contains(word), "{word:?} is not said in:\n{rendered}");
    }
}

#[test]
fn invalid_max_values_in_side_files_are_refused() {
    for wrong in ["max_value", "max_value()", "max_value(-1)", "max_value(1, 2)"] {
        refused(&format!("interface IMore {{ Sum([{wrong}] n); }}"), "bad-max-value", 1, &["max_value(1024)"]);
    }
    refused("interface IMore { Sum([max_value(3)] values); }", "bad-max-value", 1, &["of an [in] integer"]);
    refused("interface IMore { Sum([max_value(3)] sum); }", "bad-max-value", 1, &["of an [in] integer"]);
    refused("interface IMore { Sum([max_value(NONE)] n); }", "unknown-value", 1, &["`NONE`"]);
    let text = BODY.replace("@oneway ", "").replace(" @max", ", range(1, 5)");
    let failure = Compiler::new().acf_text("x.acf", SIDE).check_text(Path::new("x.idl"), &text);
    assert_eq!(failure.expect_err("both").diagnostics[0].code, "bad-max-value");
}

#[test]
fn unsupported_syntax_in_side_files_is_refused() {
    refused("include \"other\";", "unsupported", 1, &["`include` is not supported"]);
    refused("interface IBase {\ninclude \"other\"; Tell(); }", "unsupported", 2, &["`include`"]);
    refused("interface IBase {\ntypedef [heap] Pair; Tell(); }", "unsupported", 2, &["`typedef`"]);
    refused("#include \"other.acf\"\n", "unsupported", 1, &["cannot include another one"]);
    refused("library L { };", "syntax", 1, &["expected `interface`"]);
    refused("interface IBase { Tell(", "syntax", 1, &["a parameter's name"]);
    refused("interface IBase { Tell();", "syntax", 1, &["expected `}`"]);
    refused("interface IBase { Tell([] long what); }", "syntax", 1, &["expected `,`"]);
    refused("/* open", "open-comment", 1, &["does not end"]);
    // Text after an error is still checked.
    let side = "interface IBase { HRESULT Tell(); }\ninterface IMoer { }";
    let failure = Compiler::new().acf_text("x.acf", side).check_text(Path::new("x.idl"), &plain());
    let failure = failure.expect_err("two mistakes");
    let codes: Vec<_> = failure.diagnostics.iter().map(|one| one.code).collect();
    assert_eq!(codes, ["syntax", "unknown-interface"], "{failure}");
}
