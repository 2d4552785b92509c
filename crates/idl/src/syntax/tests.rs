//! The tree is the file, whatever the file is; and it has the shape that the grammar says.

use super::{Element, SyntaxKind, Tree, parse};
use std::path::{Path, PathBuf};

/// Reads a text, and checks what is true of every tree.
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

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("readable").path();
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() && name != "target" && !name.to_string_lossy().starts_with('.') {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "idl") {
            found.push(path);
        }
    }
}

#[test]
fn every_file_of_the_repository_is_its_tree() {
    let mut found = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), &mut found);
    assert!(found.len() >= 5, "only {found:?}");
    for path in found {
        let text = std::fs::read_to_string(&path).expect("readable");
        let tree = tree(&text);
        assert!(tree.root().nodes().count() > 1, "{} has no declarations", path.display());
    }
}

#[test]
fn prefixes_are_their_trees() {
    let text = include_str!("../../../../examples/pfs/pfs.idl");
    for (end, _) in text.char_indices() {
        tree(&text[..end]);
    }
}

#[test]
fn broken_texts_are_their_trees() {
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
}
