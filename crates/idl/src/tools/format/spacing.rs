//! The blanks between two tokens on a line.

use crate::syntax::{SyntaxKind, Token};

/// Whether a blank stands between two tokens of a line. `is_apart` says whether white space stands
/// between them in the source. Where no rule applies, the form in the source stays.
pub(super) fn has_blank(left: Token<'_>, right: Token<'_>, is_apart: bool) -> bool {
    let (before, after) = (left.text(), right.text());
    let (left_in, right_in) = (left.parent().kind(), right.parent().kind());
    match (before, after) {
        ("(" | "[", _) | (_, ")" | "]" | ",") => false,
        (_, ";") => before == ":",
        ("," | ";" | "}", _) | (_, "{") => true,
        ("{", _) => after != "}",
        _ if right_in == SyntaxKind::Dimension && after == "[" => false,
        _ if left.kind() == SyntaxKind::Comment || right.kind() == SyntaxKind::Comment => true,
        // `- -1` must not become the operator `--`.
        _ if left_in == SyntaxKind::Unary && left.kind() == SyntaxKind::Punct => is_apart && before == after,
        _ if is_operator(left) || is_operator(right) => true,
        (_, ":") => !matches!(right_in, SyntaxKind::Arm | SyntaxKind::Dispinterface),
        (":" | "?" | "=", _) | (_, "?" | "=") => true,
        ("*", _) if is_star(left_in) => false,
        (_, "*") if is_star(right_in) => before != "*",
        (_, "(") if left.kind() == SyntaxKind::Ident => {
            matches!(before, "switch" | "case") && left_in != SyntaxKind::Attribute
        }
        ("]" | ")", _) | (_, "[") => true,
        _ if left.kind() == SyntaxKind::Ident && is_quoted(right) => is_apart,
        _ if is_word(left) && is_word(right) => true,
        _ => is_apart,
    }
}

fn is_word(token: Token<'_>) -> bool {
    matches!(token.kind(), SyntaxKind::Ident | SyntaxKind::Number) || is_quoted(token)
}

fn is_quoted(token: Token<'_>) -> bool {
    matches!(token.kind(), SyntaxKind::Text | SyntaxKind::Char)
}

/// Whether a token is a binary operator.
fn is_operator(token: Token<'_>) -> bool {
    token.kind() == SyntaxKind::Punct && token.parent().kind() == SyntaxKind::Binary
}

/// Whether a star in a node of this kind belongs to a pointer, and not to an expression.
fn is_star(kind: SyntaxKind) -> bool {
    !matches!(kind, SyntaxKind::Expr | SyntaxKind::Paren | SyntaxKind::Const | SyntaxKind::Enumerator)
}
