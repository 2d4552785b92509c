//! The preprocessor works across files as MIDL's does. An imported file does not see the macros of
//! the importing file. An included file is a part of the including file.

use obvia_idl::model::{Base, Model, Type, Value};
use obvia_idl::{Compilation, Compiler, Failure};
use std::path::Path;

/// Compiles `a.idl` in a folder with other files.
fn compile(files: &[(&str, &str)]) -> Result<Compilation, Failure> {
    let folder = ground::Folder::new("idl-preprocessor");
    std::fs::create_dir_all(folder.join("more")).expect("the folder can be written to");
    for (name, text) in files {
        std::fs::write(folder.join(name), text).expect("the folder can be written to");
    }
    Compiler::new().include(folder.join("more")).check(&folder.join("a.idl"))
}

#[track_caller]
fn model(files: &[(&str, &str)]) -> Model {
    compile(files).unwrap_or_else(|failure| panic!("{failure}")).model
}

/// Returns the codes of the errors, and their text.
fn wrong(files: &[(&str, &str)]) -> (Vec<&'static str>, String) {
    let failure = compile(files).expect_err("something is wrong");
    (failure.diagnostics.iter().map(|found| found.code).collect(), failure.to_string())
}

fn member(model: &Model, name: &str) -> Type {
    let found = model.structs.iter().find(|found| found.name == name).expect("it is declared");
    found.fields[0].ty.clone()
}

fn constant(model: &Model, name: &str) -> i64 {
    match model.consts.iter().find(|found| found.name == name).map(|found| &found.value) {
        Some(Value::Int(value)) => *value,
        other => panic!("{name}: {other:?}"),
    }
}

const WIDTH: &str = "#ifdef WIDE\nstruct S { hyper a; };\n#else\nstruct S { long a; };\n#endif\n";

#[test]
fn imported_files_do_not_see_macros_of_their_importer() {
    for text in ["import \"b.idl\";\n#define WIDE\n", "#define WIDE\nimport \"b.idl\";\n"] {
        let model = model(&[("a.idl", text), ("b.idl", WIDTH)]);
        assert_eq!(member(&model, "S"), Type::Base(Base::I32), "{text}");
        assert!(model.structs[0].imported);
    }
}

#[test]
fn imported_files_export_constants_but_no_macros() {
    let imported = ("b.idl", "#define WIDE\n#define TWO 2\nconst long THREE = TWO + 1;");
    let text = format!("import \"b.idl\";\n{WIDTH}const long FOUR = THREE + 1;");
    let found = model(&[("a.idl", &text), imported]);
    assert_eq!(member(&found, "S"), Type::Base(Base::I32));
    assert_eq!(constant(&found, "FOUR"), 4);
    let (codes, said) = wrong(&[("a.idl", "import \"b.idl\";\nconst long FOUR = TWO + 2;"), imported]);
    assert_eq!(codes, ["unknown-value"], "{said}");
}

#[test]
fn imports_are_read_once_and_includes_every_time() {
    let twice = "import \"b.idl\";\nimport \"c.idl\";\nimport \"b.idl\";";
    let found = model(&[("a.idl", twice), ("b.idl", "struct S { long a; };"), ("c.idl", "import \"b.idl\";")]);
    assert_eq!(found.structs.len(), 1);
    let part = ("part.idl", "struct NAME { TYPE a; };\n#undef NAME\n#undef TYPE\n");
    let text = "#define NAME A\n#define TYPE long\n#include \"part.idl\"\n#define NAME B\n#define TYPE hyper\n#include \"part.idl\"\n";
    let found = model(&[("a.idl", text), part]);
    assert_eq!((member(&found, "A"), member(&found, "B")), (Type::Base(Base::I32), Type::Base(Base::I64)));
    assert!(found.structs.iter().all(|found| !found.imported), "what is included is the file's own");
}

#[test]
fn included_files_are_inserted_as_text() {
    let found = model(&[
        ("a.idl", "struct S {\n#include \"more/members.h\"\n};\nconst long B = A;"),
        ("more/members.h", "long a;\n#define A 7\n"),
    ]);
    assert_eq!((member(&found, "S"), constant(&found, "B")), (Type::Base(Base::I32), 7));
    let guarded = "#ifndef P\n#define P\n#include \"a.idl\"\nstruct S { long a; };\n#endif";
    assert_eq!(model(&[("a.idl", guarded)]).structs.len(), 1);
    let once = "#pragma once\n#include \"a.idl\"\nstruct S { long a; };";
    assert_eq!(model(&[("a.idl", once)]).structs.len(), 1);
    let (codes, said) = wrong(&[("a.idl", "#include \"a.idl\"\nstruct S { long a; };")]);
    assert_eq!(codes, ["too-deep"], "{said}");
    let (codes, said) = wrong(&[("a.idl", "#if 1\n#include \"b.h\"\n#endif"), ("b.h", "#if 1\n")]);
    assert_eq!(codes, ["open-condition"], "{said}");
    assert!(said.contains("b.h:1"), "{said}");
}

#[test]
fn conditions_begin_and_end_in_one_file() {
    for stray in ["#else", "#elif 1", "#endif"] {
        let text = "#if 1\n#include \"b.h\"\nstruct S { long a; };\n#endif";
        let (codes, said) = wrong(&[("a.idl", text), ("b.h", stray)]);
        assert_eq!(codes, ["stray-directive"], "{said}");
        assert!(said.contains("b.h:1") && said.contains(stray.split(' ').next().unwrap_or(stray)), "{said}");
    }
    // An included file restores the conditions of the including file.
    let text = "#if 0\n#else\n#include \"b.h\"\n#endif\nstruct S { long a; };";
    assert_eq!(model(&[("a.idl", text), ("b.h", "#if 0\n#include \"missing.h\"\n#endif")]).structs.len(), 1);
    for twice in ["#if 1\n#else\n#else\n#endif", "#if 1\n#else\n#elif 1\n#endif"] {
        let (codes, said) = wrong(&[("a.idl", twice)]);
        assert_eq!(codes, ["stray-directive"], "{said}");
        assert!(said.contains("a.idl:3"), "{said}");
    }
}

#[test]
fn preprocessor_conditions_expand_macros_completely() {
    let text = |defined: &str, condition: &str| {
        format!("{defined}\n#if {condition}\n#define YES 1\n#else\n#define YES 0\n#endif\nconst long A = YES;")
    };
    for (defined, condition, expected) in [
        ("#define V 1 + 1", "V == 2", 1),
        ("#define V 1 + 1", "V * 3 == 4", 1),
        ("#define V -1", "V < 0", 1),
        ("#define V (2)", "V == 2", 1),
        ("#define W 7\n#define V W", "V == 7", 1),
        ("#define V V", "V == 0", 1),
        ("#define V __midl", "V == 801", 1),
        ("#define V NOTHING", "V", 0),
        ("#define V 1", "defined V && defined(V) && !defined(W) && !W", 1),
    ] {
        let found = model(&[("a.idl", &text(defined, condition))]);
        assert_eq!(constant(&found, "A"), expected, "{defined}, {condition}");
    }
    let (codes, said) = wrong(&[("a.idl", &text("#define V", "V == 0"))]);
    assert_eq!(codes, ["bad-condition"], "{said}");
}

#[test]
fn preprocessor_conditions_are_evaluated_as_in_c() {
    let text = |condition: &str| format!("#if {condition}\nconst long A = 1;\n#else\nconst long A = 0;\n#endif");
    for (condition, expected) in [
        ("defined(X) && 10 / X", 0),
        ("!defined(X) || 10 / X", 1),
        ("1 || 10 / X && 10 / X", 1),
        ("(0 && 10 / X) == 0", 1),
        ("X ? 10 / X : 5", 1),
        ("1 ? 0 : 10 / X", 0),
        ("0 ? 1 : 1 ? 0 : 1", 0),
        ("1 ? 0 ? 1 : 0 : 1", 0),
        ("0 || 0 ? 0 : 2 > 1", 1),
        ("(0 ? 1 : 2) == 2", 1),
    ] {
        assert_eq!(constant(&model(&[("a.idl", &text(condition))]), "A"), expected, "{condition}");
    }
    let deep = format!("{}0", "0 ? 1 : ".repeat(10_000));
    for condition in
        ["1 && 10 / X", "0 || 10 / X", "10 / X && 0", "10 / X ? 1 : 1", "0 &&", "1 ? 2", "1 ? : 2", "1 : 2", &deep]
    {
        let (codes, said) = wrong(&[("a.idl", &text(condition))]);
        assert_eq!(codes, ["bad-condition"], "{said}");
    }
    // Constant expressions of IDL follow the same rules as the preprocessor's conditions.
    for (value, expected) in
        [("0 && 1 / 0", 0), ("1 || -(1 / 0)", 1), ("2 && 3", 1), ("0 || 0", 0), ("1 ? 2 : 1 / 0", 2)]
    {
        let found = model(&[("a.idl", &format!("const long A = {value};"))]);
        assert_eq!(constant(&found, "A"), expected, "{value}");
    }
    for value in ["1 && 1 / 0", "0 || 1 / 0", "1 / 0 && 0"] {
        let (codes, said) = wrong(&[("a.idl", &format!("const long A = {value};"))]);
        assert_eq!(codes, ["overflow"], "{said}");
    }
    // A part of an expression must be valid even if the expression's value does not depend on the
    // part.
    for (value, code) in [
        ("1 || MISSPELT", "unknown-value"),
        ("0 && (1 / 0 + MISSPELT)", "unknown-value"),
        ("1 ? 2 : MISSPELT", "unknown-value"),
        ("0 && L\"text\"", "not-an-integer"),
        ("0 && 1.5", "not-an-integer"),
    ] {
        let (codes, said) = wrong(&[("a.idl", &format!("const long A = {value};"))]);
        assert_eq!(codes, [code], "{said}");
    }
}

#[test]
fn included_files_can_be_imported_too() {
    let part = ("part.idl", "#ifdef WIDE\nstruct W { hyper a; };\n#else\nstruct N { long a; };\n#endif");
    let found = model(&[("a.idl", "#define WIDE\n#include \"part.idl\"\nimport \"part.idl\";"), part]);
    let all = found.structs.iter().map(|found| (found.name.as_str(), found.imported)).collect::<Vec<_>>();
    assert_eq!(all, [("N", true), ("W", false)]);
    // The order of imports and inclusions does not matter.
    let text = ("part.idl", "struct S { long a; };");
    let (by, with) = (("b.idl", "#include \"part.idl\""), ("c.idl", "import \"part.idl\";"));
    for order in ["import \"b.idl\", \"c.idl\";", "import \"c.idl\", \"b.idl\";"] {
        let (codes, said) = wrong(&[("a.idl", order), text, by, with]);
        assert!(
            codes.iter().all(|code| *code == "duplicate-name") && said.contains("is read more than once"),
            "{said}"
        );
    }
}

#[test]
fn errors_about_missing_files_list_the_searched_places() {
    for text in ["\n#include \"missing.h\"\n", "\n#include <missing.h>\n", "\nimport \"missing.h\";\n"] {
        let (codes, said) = wrong(&[("a.idl", text)]);
        assert_eq!(codes, ["no-such-file"], "{said}");
        assert!(said.contains("there is no file `missing.h`") && said.contains("a.idl:2"), "{said}");
        assert!(said.contains("/missing.h`") && said.contains("/more/missing.h`"), "{said}");
    }
    // Files in excluded branches are not looked for, and neither are the common headers.
    model(&[("a.idl", "#if 0\n#include \"missing.h\"\n#endif\nimport \"unknwn.idl\";\n#include \"wtypes.idl\"\n")]);
}

#[test]
fn the_preprocessor_defines_the_version_of_midl() {
    let text = "#if __midl >= 700\n#define NEW 1\n#else\n#define NEW 0\n#endif\n#if defined(__midl)\n#define IS 1\n#endif\n\
                #ifdef __midl\n#define THERE 1\n#endif\n\
                const long A = NEW; const long B = IS; const long C = THERE; const long D = __midl;";
    let found = model(&[("a.idl", text)]);
    assert_eq!(["A", "B", "C", "D"].map(|name| constant(&found, name)), [1, 1, 1, 801]);
}

#[test]
fn idl_files_in_other_encodings_are_read() {
    let folder = ground::Folder::new("idl-encodings");
    let marked = folder.join("b.idl");
    std::fs::write(&marked, "\u{feff}struct S { long a; };").expect("the folder can be written to");
    std::fs::write(folder.join("c.idl"), b"// \xe4\nstruct T { long a; };").expect("the folder can be written to");
    let main = folder.join("a.idl");
    std::fs::write(&main, "import \"b.idl\";\n#include \"c.idl\"\n").expect("the folder can be written to");
    let found = Compiler::new().check(&main).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(found.model.structs.len(), 2);
    assert!(Path::new(&found.sources.files()[0].path).ends_with("a.idl"));
}

#[test]
fn macros_with_parameters_are_replaced_with_their_arguments() {
    for (text, expected) in [
        ("#define ADD(a, b) a + b\nconst long A = ADD(1, 2);", 3),
        ("#define TWICE(a) (2 * (a))\nconst long A = TWICE(TWICE(1 + 1));", 8),
        ("#define SEVEN() 7\nconst long A = SEVEN();", 7),
        ("#define F(a) a\n#define G F\nconst long A = G(5);", 5),
        ("#define PAIR(a, b) a##b\nconst long A = PAIR(1, 2);", 12),
        ("#define TYPED(a, b) long a##b\nconst TYPED(,A) = 4;", 4),
        ("#define NAME(n) const long n##_1 = 4\nNAME(X);\nconst long A = X_1;", 4),
        ("#define F(a) 2\nconst long F = 3;\nconst long A = F;", 3),
        ("#define ODD(a) ((a) & 1)\n#if ODD(3) && !ODD(4)\nconst long A = 1;\n#endif", 1),
        ("#define F(a) F(a) + 1\nconst long A = 1 ? 2 : 3;", 2),
        ("#define LONG(a, b) a \\\n  * b\nconst long A = LONG(2, 3);", 6),
    ] {
        assert_eq!(constant(&model(&[("a.idl", text)]), "A"), expected, "{text}");
    }
    for (text, code) in [
        ("#define F(a, b) a\nconst long A = F(1);", "macro-arguments"),
        ("#define F(a) a\nconst long A = F(1;", "syntax"),
    ] {
        let (codes, said) = wrong(&[("a.idl", text)]);
        assert_eq!(codes[0], code, "{said}");
    }
    let doubling = (1..40).map(|at| format!("#define A{at}(x) A{}(x) A{0}(x)\n", at - 1));
    let bomb = format!("#define A0(x) x\n{}A15(x)\n", doubling.collect::<String>());
    let (codes, said) = wrong(&[("a.idl", &bomb)]);
    assert!(codes.contains(&"too-long"), "{said}");
}

#[test]
fn macros_of_the_command_line_are_defined_in_every_file() {
    let folder = ground::Folder::new("idl-defined");
    std::fs::create_dir_all(folder.path()).expect("the folder can be written to");
    std::fs::write(folder.join("b.idl"), WIDTH).expect("the folder can be written to");
    std::fs::write(folder.join("a.idl"), "import \"b.idl\";\nconst long A = N;").expect("the folder can be written to");
    let compiler = Compiler::new().define("WIDE").define("N=2 + 3");
    let found = compiler.check(&folder.join("a.idl")).unwrap_or_else(|failure| panic!("{failure}")).model;
    assert_eq!((member(&found, "S"), constant(&found, "A")), (Type::Base(Base::I64), 5));
}

#[test]
fn files_in_utf_16_and_files_that_end_in_ctrl_z_are_read() {
    let folder = ground::Folder::new("idl-wide");
    std::fs::create_dir_all(folder.path()).expect("the folder can be written to");
    let units = || "\u{feff}const long A = 3; // \u{e9}".encode_utf16();
    let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
    for bytes in [little, big, b"const long A = 3;\r\n\x1a".to_vec(), b"\xef\xbb\xbfconst long A = 3;".to_vec()] {
        std::fs::write(folder.join("a.idl"), &bytes).expect("the folder can be written to");
        let found = Compiler::new().check(&folder.join("a.idl")).unwrap_or_else(|failure| panic!("{failure}"));
        assert_eq!(constant(&found.model, "A"), 3, "{bytes:?}");
    }
}
