//! The documentation comments of declarations, from the source.

use crate::compile::Compilation;
use crate::syntax::{Node, SyntaxKind, Token, Tree, parse};
use crate::text::source::{Role, Sources, Span};
use std::cell::OnceCell;
use std::collections::HashMap;

/// The comments in a compilation's files. A file is parsed when one of its comments is needed,
/// since many compilations may import the same files.
#[derive(Debug)]
pub(super) struct Comments<'c> {
    sources: &'c Sources,
    trees: Vec<OnceCell<Tree>>,
}

impl<'c> Comments<'c> {
    /// Returns the comments of a compilation.
    pub(super) fn of(compilation: &'c Compilation) -> Self {
        let sources = &compilation.sources;
        Self { sources, trees: sources.files().iter().map(|_| OnceCell::new()).collect() }
    }

    /// Returns the comment of the declaration around a place. Empty if there is none, or if the
    /// declaration comes from a macro.
    pub(super) fn at(&self, span: Span) -> String {
        self.declaration(span).map(of_node).unwrap_or_default()
    }

    /// Whether the declaration around a place has a block in braces.
    pub(super) fn has_block(&self, span: Span) -> bool {
        self.declaration(span).is_some_and(|node| node.tokens().any(|token| token.text() == "{"))
    }

    /// Returns the comment of a parameter, a member or an arm. Empty if there is none.
    pub(super) fn inside(&self, span: Span) -> String {
        let is_part = |kind| matches!(kind, SyntaxKind::Param | SyntaxKind::Member | SyntaxKind::Arm);
        self.declaration(span).filter(|node| is_part(node.kind())).map(of_node).unwrap_or_default()
    }

    /// Returns the comments of the values of an enumeration, by their names.
    pub(super) fn of_values(&self, span: Span) -> HashMap<String, String> {
        let Some(token) = self.token(span) else { return HashMap::new() };
        let outer = std::iter::once(token.parent()).chain(token.parent().ancestors());
        let found = outer.take_while(|node| node.kind() != SyntaxKind::File).find_map(enumeration);
        let values = found.into_iter().flat_map(|node| node.nodes());
        let values = values.filter(|node| node.kind() == SyntaxKind::Enumerator);
        let named = values.filter_map(|node| {
            let name = node.tokens().find(|token| token.kind() == SyntaxKind::Ident)?;
            Some((name.text().to_owned(), of_node(node)))
        });
        named.collect()
    }

    fn token(&self, span: Span) -> Option<Token<'_>> {
        let file = self.sources.file(span.file);
        if !matches!(file.role, Role::Idl | Role::Included) {
            return None;
        }
        let tree = self.trees.get(usize::from(span.file.0))?.get_or_init(|| parse(&file.text).0);
        tree.token_at(span.start as usize)
    }

    fn declaration(&self, span: Span) -> Option<Node<'_>> {
        let inner = self.token(span)?.parent();
        std::iter::once(inner).chain(inner.ancestors()).find(|node| has_comment(node.kind()))
    }
}

fn enumeration(node: Node<'_>) -> Option<Node<'_>> {
    if node.kind() == SyntaxKind::Enum {
        return Some(node);
    }
    let specs = node.nodes().filter(|inner| inner.kind() == SyntaxKind::TypeSpec);
    specs.flat_map(|spec| spec.nodes()).find(|inner| inner.kind() == SyntaxKind::Enum)
}

/// Whether a comment before a construct of this kind describes the construct.
fn has_comment(kind: SyntaxKind) -> bool {
    matches!(
        kind,
        SyntaxKind::Const
            | SyntaxKind::Typedef
            | SyntaxKind::TypeDeclaration
            | SyntaxKind::Interface
            | SyntaxKind::Method
            | SyntaxKind::Library
            | SyntaxKind::Coclass
            | SyntaxKind::Dispinterface
            | SyntaxKind::Param
            | SyntaxKind::Member
            | SyntaxKind::Arm
    )
}

/// Returns the comment of a construct: the last comment directly before the construct, or else the
/// comment after the construct on the same line.
fn of_node(node: Node<'_>) -> String {
    let before = before(node);
    if before.is_empty() {
        return behind(node);
    }
    // Only the last of several block comments describes the construct: an earlier one may describe
    // the file, for example.
    let last_block = before.iter().rposition(|text| text.starts_with("/*"));
    match last_block {
        Some(at) if at + 1 == before.len() => plain(before[at]),
        Some(at) => joined(&before[at + 1..]),
        None => joined(&before),
    }
}

/// Returns the comments before a construct that no empty line separates from the construct.
/// Comments that describe an earlier construct are left out. The function searches the tokens of
/// the whole file, because in the tree a comment that does not begin its line can belong to another
/// node.
fn before(node: Node<'_>) -> Vec<&str> {
    let Some(mut token) = node.tokens().find(|token| !is_trivia(*token)) else { return Vec::new() };
    // The trivia before the construct (blanks, comments, directives), the last one first. Each has
    // a flag that tells whether no construct follows it on its line.
    let (mut trivia, mut ends_line, mut is_behind) = (Vec::new(), false, false);
    while let Some(earlier) = token.preceding() {
        if !is_trivia(earlier) {
            is_behind = !matches!(earlier.text(), "{" | "(");
            break;
        }
        trivia.push((earlier, ends_line));
        ends_line = match earlier.kind() {
            SyntaxKind::Space => ends_line || earlier.text().contains('\n'),
            SyntaxKind::Comment => ends_line,
            _ => false,
        };
        token = earlier;
    }
    let mut before = Vec::new();
    for (token, ends_line) in trivia.into_iter().rev() {
        match token.kind() {
            SyntaxKind::Comment if is_marked(token.text()) || (is_behind && ends_line) => {}
            SyntaxKind::Comment => before.push(token.text()),
            // An empty line separates a comment from the declaration. A directive does not.
            SyntaxKind::Space if token.text().matches('\n').count() > 1 => before.clear(),
            _ => {}
        }
        is_behind &= token.kind() != SyntaxKind::Directive && !token.text().contains('\n');
    }
    before
}

fn is_trivia(token: Token<'_>) -> bool {
    matches!(token.kind(), SyntaxKind::Space | SyntaxKind::Comment | SyntaxKind::Directive)
}

/// Whether a comment begins with a mark, such as `///<`, that says that the comment describes the
/// construct before it.
fn is_marked(comment: &str) -> bool {
    ["///<", "//!<", "/**<", "/*!<"].iter().any(|mark| comment.starts_with(mark))
}

/// Whether no construct follows a comment on its line.
fn ends_line(comment: Token<'_>) -> bool {
    let mut next = comment.following();
    while let Some(token) = next {
        match token.kind() {
            SyntaxKind::Space if token.text().contains('\n') => return true,
            SyntaxKind::Space | SyntaxKind::Comment => next = token.following(),
            _ => return matches!(token.text(), "," | ";" | ")" | "}"),
        }
    }
    true
}

fn joined(lines: &[&str]) -> String {
    lines.iter().map(|line| plain(line)).collect::<Vec<_>>().join("\n")
}

/// Returns the comment after a construct on the construct's last line. The comment needs a mark
/// such as `///<`, except after constants, parameters, members, arms and values of enumerations: a
/// comment such as `}; // IFoo` does not describe the construct.
fn behind(node: Node<'_>) -> String {
    let is_short = matches!(
        node.kind(),
        SyntaxKind::Const | SyntaxKind::Param | SyntaxKind::Member | SyntaxKind::Arm | SyntaxKind::Enumerator
    );
    let mut next = node.last_token().and_then(Token::following);
    while let Some(token) = next {
        let is_passed = match token.kind() {
            SyntaxKind::Space => !token.text().contains('\n'),
            SyntaxKind::Punct => matches!(token.text(), "," | ";"),
            SyntaxKind::Comment if is_marked(token.text()) || (is_short && ends_line(token)) => {
                return plain(token.text());
            }
            _ => false,
        };
        next = token.following().filter(|_| is_passed);
    }
    String::new()
}

/// Returns the text of a comment without its marks.
fn plain(comment: &str) -> String {
    if let Some(inner) = comment.strip_prefix("/*") {
        let inner = inner.strip_suffix("*/").unwrap_or(inner).trim_start_matches(['*', '!', '<']);
        let lines = inner.lines().map(|line| {
            let line = line.trim();
            line.strip_prefix('*').unwrap_or(line).trim()
        });
        return lines.collect::<Vec<_>>().join("\n").trim_matches(['\n', '*', ' ']).to_owned();
    }
    let line = comment.strip_prefix("//").unwrap_or(comment);
    line.trim_start_matches(['/', '!', '<']).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Compiler;
    use std::path::Path;

    #[test]
    fn each_declaration_has_its_own_comment() {
        let text = "/* The file. */\n\n/// Limits.\n/// Two lines.\nconst long A = 1;\nconst long B = 2; // trailing\n\
            // not of C\n\nconst long C = 3;\n/** The enum. */\ntypedef enum { X = 1, //!< first\n  /* second */ Y } E;\n\
            /**\n * A pair.\n *\n * Of two.\n */\nstruct S {\n    long a; ///< left\n    /** right */ long b;\n};\n";
        let made = Compiler::new().check_text(Path::new("x.idl"), text).unwrap();
        let (model, comments) = (&made.model, Comments::of(&made));
        let of_consts: Vec<String> = model.consts.iter().map(|found| comments.at(found.span)).collect();
        assert_eq!(of_consts, ["Limits.\nTwo lines.", "trailing", ""]);
        let found = model.enums.iter().find(|found| found.name == "E").unwrap();
        assert_eq!(comments.at(found.span), "The enum.");
        let values = comments.of_values(found.span);
        assert_eq!((values["X"].as_str(), values["Y"].as_str()), ("first", "second"));
        let found = model.structs.iter().find(|found| found.name == "S").unwrap();
        assert_eq!(comments.at(found.span), "A pair.\n\nOf two.");
        let of_fields: Vec<String> = found.fields.iter().map(|field| comments.inside(field.span)).collect();
        assert_eq!(of_fields, ["left", "right"]);
    }

    #[test]
    fn block_comments_within_a_line_describe_the_next_construct() {
        let text = "struct S { long a; /* of b */ long b; /**< of b too */ long c; /* of c */\n long d; }; // S\n\
            enum E { X, /* y */ Y, /* z */ Z /* not y */ };\nconst long A = 1; /** T's. */ typedef long T;\n\
            const long B = 2; // b\nconst long C = 3; /* c */ // more\n";
        let made = Compiler::new().check_text(Path::new("x.idl"), text).unwrap();
        let (model, comments) = (&made.model, Comments::of(&made));
        let found = model.structs.iter().find(|found| found.name == "S").unwrap();
        let of_fields: Vec<String> = found.fields.iter().map(|field| comments.inside(field.span)).collect();
        assert_eq!(of_fields, ["", "of b", "of c", ""]);
        assert_eq!(comments.at(found.span), "");
        let found = model.enums.iter().find(|found| found.name == "E").unwrap();
        let values = comments.of_values(found.span);
        assert_eq!(["X", "Y", "Z"].map(|name| values[name].as_str()), ["", "y", "z"]);
        let of_consts: Vec<String> = model.consts.iter().map(|found| comments.at(found.span)).collect();
        assert_eq!(of_consts, ["", "b", "c"]);
        let found = model.typedefs.iter().find(|found| found.name == "T").unwrap();
        assert_eq!(comments.at(found.span), "T's.");
    }
}
