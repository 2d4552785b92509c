//! Formatting: the normal form of each construct, and the properties of a file that formatting
//! keeps.

use obvia_idl::model::InterfaceId;
use obvia_idl::syntax::{Element, Node, SyntaxKind, parse};
use obvia_idl::tools::format::format;
use obvia_idl::{Compilation, Compiler, canonical};
use std::fmt::Write;
use std::path::Path;

fn formatted(text: &str) -> String {
    let made = format(Path::new("x.idl"), text).unwrap_or_else(|failure| panic!("{failure}"));
    let again = format(Path::new("x.idl"), &made).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(again, made, "formatted twice");
    let (before, after) = (structure(text), structure(&made));
    for (line, (before, after)) in before.lines().zip(after.lines()).enumerate() {
        assert_eq!(after, before, "line {line} of the structure of:\n{text}\n\n{made}");
    }
    assert_eq!(after.len(), before.len());
    made
}

/// Returns the tree as text, without blanks. The lines of comments are trimmed.
fn structure(text: &str) -> String {
    let (tree, _) = parse(text);
    let mut dump = String::new();
    write_node(tree.root(), 0, &mut dump);
    dump
}

fn write_node(node: Node<'_>, depth: usize, dump: &mut String) {
    let _ = writeln!(dump, "{:depth$}{:?}", "", node.kind());
    if node.kind() == SyntaxKind::Skipped {
        let _ = writeln!(dump, "{:?}", node.text().trim());
        return;
    }
    for child in node.children() {
        match child {
            Element::Token(token) if token.kind() == SyntaxKind::Space => {}
            Element::Token(token) => {
                let lines: Vec<&str> = token.text().trim_end().lines().map(str::trim).collect();
                let _ = writeln!(dump, "{:depth$} {lines:?}", "");
            }
            Element::Node(node) => write_node(node, depth + 1, dump),
        }
    }
}

/// Returns the canonical texts of all interfaces.
fn meaning(compilation: &Compilation) -> Vec<String> {
    let all = 0..compilation.model.interfaces.len();
    all.map(|at| canonical::text(&compilation.model, InterfaceId(at))).collect()
}

#[test]
fn each_construct_has_a_normal_form() {
    let text = include_str!("format/before.idl");
    let expected = include_str!("format/after.idl");
    let made = formatted(text);
    assert!(made == expected, "{made}");
    assert_eq!(formatted(&made), made);
}

#[test]
fn line_ends_and_byte_order_marks_stay() {
    assert_eq!(
        formatted("\u{feff}const long A=1;\r\nconst long B=2;"),
        "\u{feff}const long A = 1;\r\nconst long B = 2;\r\n"
    );
    assert_eq!(formatted(""), "");
    assert_eq!(formatted("  \n\n"), "");
}

#[test]
fn a_comment_that_continues_below_stays_with_its_member() {
    let text = "struct S {\n  long a;  // The first line,\n           // and the second one.\n  // Another comment.\n  long b;\n};\n";
    let expected = "struct S {\n    long a; // The first line,\n            // and the second one.\n    // Another comment.\n    long b;\n};\n";
    assert_eq!(formatted(text), expected);
}

#[test]
fn signs_and_cases_keep_their_form() {
    assert_eq!(formatted("const long A=- -1;"), "const long A = - -1;\n");
    let union = "[switch_type(long)] union U { [case(1)] long a; };\n";
    assert_eq!(formatted(&union.replace("case(", "case (")), union);
}

#[test]
fn faulty_files_are_refused() {
    let failure = format(Path::new("x.idl"), "interface I {").expect_err("not closed");
    assert!(failure.to_string().contains("x.idl:1:"), "{failure}");
}

#[test]
fn formatting_keeps_the_meaning_of_every_idl_file_of_the_repository() {
    let found = ground::files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), "idl");
    let (mut formats, mut compiles) = (0, 0);
    for path in &found {
        let text = std::fs::read_to_string(path).expect("readable");
        if format(path, &text).is_err() {
            continue;
        }
        let made = formatted(&text);
        formats += 1;
        if let Ok(before) = Compiler::new().check(path) {
            let after = Compiler::new().check_text(path, &made).unwrap_or_else(|failure| panic!("{failure}"));
            assert_eq!(meaning(&after), meaning(&before), "{}", path.display());
            compiles += 1;
        }
    }
    assert!(formats > 40 && compiles > 40, "{formats} and {compiles} of {} files", found.len());
}

#[test]
fn formatting_keeps_the_meaning_without_any_blanks_of_the_author() {
    let found = ground::files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), "idl");
    let mut formats = 0;
    for path in &found {
        let text = std::fs::read_to_string(path).expect("readable");
        // All white space is replaced. White space with a line end keeps a line end, so that
        // comments and directives end.
        let (tree, _) = parse(&text);
        for blank in ["\n", " ", "\n\n\n", "\t\r\n "] {
            let spaced: String = tree
                .tokens()
                .map(|token| match token.kind() {
                    SyntaxKind::Space if !token.text().contains('\n') || blank.contains('\n') => blank,
                    SyntaxKind::Space => "\n",
                    _ => token.text(),
                })
                .collect();
            if format(path, &spaced).is_ok() {
                formatted(&spaced);
                formats += 1;
            }
        }
    }
    assert!(formats > 150, "{formats}");
}
