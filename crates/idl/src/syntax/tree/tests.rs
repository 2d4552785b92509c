//! The tree reproduces any file, and has the structure of the grammar.

use super::{Element, SyntaxKind, Tree, parse};
use std::path::Path;

/// Parses a text, and checks the invariants of every tree.
fn tree(text: &str) -> Tree {
    let (tree, diagnostics) = parse(text);
    assert_eq!(tree.text(), text);
    for token in tree.tokens() {
        assert!(token.kind().is_token() && !token.span().is_empty());
        assert_eq!(tree.token_at(token.span().end - 1).map(|found| found.span()), Some(token.span()));
    }
    assert!(tree.token_at(text.len()).is_none());
    let root = tree.root();
    assert_eq!((root.kind(), root.span(), root.parent().is_none()), (SyntaxKind::File, 0..text.len(), true));
    for node in std::iter::once(root).chain(root.descendants()) {
        let mut end = node.span().start;
        for child in node.children() {
            let (span, parent) = match child {
                Element::Node(child) => (child.span(), child.parent().expect("only the file has no parent")),
                Element::Token(token) => (token.span(), token.parent()),
            };
            assert_eq!((parent.kind(), parent.span()), (node.kind(), node.span()), "{text:?}");
            assert_eq!(span.start, end, "a gap in {text:?}");
            end = span.end;
        }
        assert_eq!(end, node.span().end);
        assert!(!node.kind().is_token());
    }
    let has_errors = tree.root().descendants().any(|node| node.kind() == SyntaxKind::Error);
    assert!(!has_errors || !diagnostics.is_empty(), "an error that is not said in {text:?}");
    tree
}

#[test]
fn syntax_trees_reproduce_every_idl_file_of_the_repository() {
    let found = ground::files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), "idl");
    assert!(found.len() >= 5, "only {found:?}");
    for path in found {
        let text = std::fs::read_to_string(&path).expect("readable");
        let tree = tree(&text);
        let is_wrong = path.parent().is_some_and(|folder| folder.ends_with("tests/wrong"));
        assert!(is_wrong || tree.root().nodes().next().is_some(), "{} has no declarations", path.display());
    }
}

#[test]
fn syntax_trees_reproduce_truncated_files() {
    let text = include_str!("../../../../../examples/pfs/pfs.idl");
    for (end, _) in text.char_indices() {
        tree(&text[..end]);
    }
}

#[test]
fn syntax_trees_reproduce_invalid_texts() {
    let texts = [
        "",
        " ",
        "\r\n\t",
        "\u{feff}const long A = 1;",
        "}",
        "}}} const long A = 1;",
        "{",
        ";;;",
        "\"open",
        "'",
        "/* open",
        "/**/ /*/",
        "#",
        "#if",
        "#if 0\n{{{ \"open\n#endif",
        "#else\n#endif\n#endif",
        "#define A A B\n#define B A\nA B",
        "#define E\nE E E",
        "const long A = 1 @ 2;",
        "\0\u{e9}\u{1f600}",
        "[",
        "[object, uuid(",
        "interface",
        "interface I : IUnknown {",
        "interface I : A, B { HRESULT M(); };",
        "interface I { ; HRESULT M(); }",
        "interface I { HRESULT M([in] long a; HRESULT N(); }",
        "typedef struct { long a b; } S;",
        "struct { struct { ; struct { ; } } }",
        "struct S {",
        "union U switch (long k) { long a; case 1: }",
        "enum { A, = 3 } x;",
        "const long A = ((1 + ;",
        "\\\n\\",
    ];
    for text in texts {
        tree(text);
        tree(&text.replace('\n', "\r\n"));
    }
    for opened in
        ["struct S { ", "union U { case 1: ", "[", "const long A = (", "long a[-", "interface I { ", "#if 1\n", "{ }"]
    {
        tree(&opened.repeat(500));
    }
}

#[test]
fn unread_text_has_an_error_tree() {
    let tree = super::build::unread("too long");
    assert_eq!(tree.text(), "too long");
    assert_eq!(tree.dump(), "File\n  Error\n    Unknown \"too long\"\n");
}

#[test]
fn syntax_trees_of_valid_files_follow_the_grammar() {
    let text = r##"#define PAIR long a; long b
import "unknwn.idl"; // the base

/// How many.
const long N = -(SIZE + 1) << 2;
#if SIZE > 4
const long M = 1;
#endif
struct S { PAIR; long *c[N]; };
"##;
    let expected = r##"File
  Directive "#define PAIR long a; long b\n"
  Import
    Ident "import"
    Space " "
    Text "\"unknwn.idl\""
    Punct ";"
  Space " "
  Comment "// the base"
  Space "\n\n"
  Const
    Comment "/// How many."
    Space "\n"
    TypeSpec
      Ident "const"
      Space " "
      Ident "long"
    Space " "
    Declarator
      Ident "N"
    Space " "
    Punct "="
    Space " "
    Expr
      Binary
        Unary
          Punct "-"
          Paren
            Punct "("
            Expr
              Binary
                Ident "SIZE"
                Space " "
                Punct "+"
                Space " "
                Number "1"
            Punct ")"
        Space " "
        Punct "<<"
        Space " "
        Number "2"
    Punct ";"
  Space "\n"
  Directive "#if SIZE > 4\n"
  Skipped
    Ident "const"
    Space " "
    Ident "long"
    Space " "
    Ident "M"
    Space " "
    Punct "="
    Space " "
    Number "1"
    Punct ";"
    Space "\n"
  Directive "#endif\n"
  TypeDeclaration
    TypeSpec
      Struct
        Ident "struct"
        Space " "
        Ident "S"
        Space " "
        Punct "{"
        Space " "
        Ident "PAIR"
        Punct ";"
        Space " "
        Member
          TypeSpec
            Ident "long"
          Space " "
          Declarator
            Punct "*"
            Ident "c"
            Dimension
              Punct "["
              Expr
                Ident "N"
              Punct "]"
          Punct ";"
        Space " "
        Punct "}"
    Punct ";"
  Space "\n"
"##;
    assert_eq!(tree(text).dump(), expected);
}

#[test]
fn syntax_errors_are_error_nodes_between_valid_nodes() {
    let text = r##"interface I {
    // One.
    HRESULT One([in, range(0, 9)] lnog lnog a);
    HRESULT Two(void);
}
struct S { long a b; long c; };
} enum E { A };
"##;
    let expected = r##"File
  Interface
    Ident "interface"
    Space " "
    Ident "I"
    Space " "
    Punct "{"
    Space "\n    "
    Error
      Comment "// One."
      Space "\n    "
      TypeSpec
        Ident "HRESULT"
      Space " "
      Ident "One"
      Punct "("
      Param
        Attributes
          Punct "["
          Attribute
            Ident "in"
          Punct ","
          Space " "
          Attribute
            Ident "range"
            Punct "("
            Expr
              Number "0"
            Punct ","
            Space " "
            Expr
              Number "9"
            Punct ")"
          Punct "]"
        Space " "
        TypeSpec
          Ident "lnog"
        Space " "
        Declarator
          Ident "lnog"
      Space " "
      Ident "a"
      Punct ")"
      Punct ";"
    Space "\n    "
    Method
      TypeSpec
        Ident "HRESULT"
      Space " "
      Ident "Two"
      Params
        Punct "("
        Ident "void"
        Punct ")"
      Punct ";"
    Space "\n"
    Punct "}"
  Space "\n"
  TypeDeclaration
    TypeSpec
      Struct
        Ident "struct"
        Space " "
        Ident "S"
        Space " "
        Punct "{"
        Space " "
        Error
          TypeSpec
            Ident "long"
          Space " "
          Declarator
            Ident "a"
          Space " "
          Ident "b"
          Punct ";"
        Space " "
        Member
          TypeSpec
            Ident "long"
          Space " "
          Declarator
            Ident "c"
          Punct ";"
        Space " "
        Punct "}"
    Punct ";"
  Space "\n"
  Error
    Punct "}"
  Space " "
  TypeDeclaration
    TypeSpec
      Enum
        Ident "enum"
        Space " "
        Ident "E"
        Space " "
        Punct "{"
        Space " "
        Enumerator
          Ident "A"
        Space " "
        Punct "}"
    Punct ";"
  Space "\n"
"##;
    assert_eq!(tree(text).dump(), expected);
}

#[test]
fn tokens_and_their_ancestors_are_found_by_offset() {
    let text = "interface I { HRESULT M([in] long number); };";
    let tree = tree(text);
    let token = tree.token_at(text.find("number").expect("it is there") + 3).expect("a token");
    assert_eq!((token.text(), token.kind()), ("number", SyntaxKind::Ident));
    let around: Vec<_> =
        std::iter::once(token.parent()).chain(token.parent().ancestors()).map(|one| one.kind()).collect();
    use SyntaxKind::*;
    assert_eq!(around, [Declarator, Param, Params, Method, Interface, File]);
}

#[test]
fn comments_belong_to_the_declaration_behind_them() {
    let text = "/* far */\n\n// a\n/* b\n */\nconst long A = 1; // not B's\n#define X\n// B's\r\nconst long B = 2;";
    let tree = tree(text);
    let all: Vec<_> = tree.root().nodes().map(|node| node.text()).collect();
    assert_eq!(all, ["// a\n/* b\n */\nconst long A = 1;", "// B's\r\nconst long B = 2;"]);
}

#[test]
fn macro_uses_are_nodes_at_their_place() {
    let names = |text: &str, kind| -> Vec<String> {
        let tree = tree(text);
        tree.root().descendants().filter(|node| node.kind() == kind).map(|node| node.text().to_owned()).collect()
    };
    // Uses of macros that are a whole node, a part of a node, and more than a node.
    let whole = "#define IN [in, range(0, 9)]\ninterface I { HRESULT M(IN long a); }";
    assert_eq!(names(whole, SyntaxKind::Attributes), ["IN"]);
    assert_eq!(names(whole, SyntaxKind::Attribute), [""; 0]);
    let part = "#define PLUS 1 +\nconst long A = PLUS 2 * 3;";
    assert_eq!(names(part, SyntaxKind::Expr), ["PLUS 2 * 3"]);
    assert_eq!(names(part, SyntaxKind::Binary), ["PLUS 2 * 3", "2 * 3"]);
    let more = "#define TWO const long A = 1; const long\nTWO B = 2;";
    assert_eq!(names(more, SyntaxKind::Const), [""; 0]);
    let nothing = "#define NOTHING\nNOTHING const NOTHING long A = 1; NOTHING";
    assert_eq!(names(nothing, SyntaxKind::Const), ["const NOTHING long A = 1;"]);
}

#[test]
fn excluded_branches_are_skipped() {
    let text = "#if 0\n#if 1\nint x\n#endif\n?\n#elif 1\nconst long A = 1;\n#else\n{{ \n#endif\n";
    let tree = tree(text);
    let all: Vec<_> = tree.root().nodes().map(|node| (node.kind(), node.text())).collect();
    let skipped = |text| (SyntaxKind::Skipped, text);
    assert_eq!(all, [skipped("int x\n"), skipped("?\n"), (SyntaxKind::Const, "const long A = 1;"), skipped("{{ \n")]);
}

#[test]
fn syntax_errors_are_reported_once() {
    for (text, codes) in [
        ("const long A = 1;", &[][..]),
        ("const long A = \"open;\nconst B", &["open-quote"]),
        ("interface I { HRESULT M(", &["syntax", "syntax"]),
        ("interface I { HRESULT M();", &["syntax"]),
        ("struct S { long", &["syntax"]),
    ] {
        let found: Vec<_> = parse(text).1.iter().map(|one| one.code).collect();
        assert_eq!(found, codes, "{text}");
    }
}
