//! The builder: walks the syntax tree, and makes the stream of texts and possible line breaks.

use super::printer::Op;
use super::spacing::has_blank;
use crate::syntax::{Element, Node, SyntaxKind, Token, Tree};
use std::borrow::Cow;

/// The separator before the next token. A later variant is stronger than an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Separator {
    /// The blank that the tokens demand, if any.
    Blank,
    /// A line break in a broken group, and nothing in other groups.
    Soft,
    /// A blank, or a line break in a broken group.
    Line,
    /// Like `Line`, between the parts of a body. Empty lines of the source stay.
    Item,
    /// A line break within a declaration.
    Break,
    /// A line break. Empty lines of the source stay.
    Hard,
}

/// The state of a walk over the syntax tree.
pub(super) struct Builder<'a> {
    text: &'a str,
    ops: Vec<Op<'a>>,
    separator: Separator,
    /// The last token that was added.
    last: Option<Token<'a>>,
    /// The column in the source of the comment that ended the last line.
    trailing: Option<usize>,
    /// The number of open lists of parameters or attributes. Within lists, empty lines are kept
    /// only beside comments.
    lists: usize,
    /// Whether no token has followed the opening brace yet.
    is_at_start: bool,
    /// Whether a blank stands where the source has one. Blanks after commas follow the usual rules.
    /// No blank stands before a comma or just inside a bracket.
    keeps_blanks: bool,
}

impl<'a> Builder<'a> {
    /// Returns the stream of a tree.
    pub(super) fn build(tree: &'a Tree) -> Vec<Op<'a>> {
        let mut builder = Self {
            text: tree.root().text(),
            ops: Vec::new(),
            separator: Separator::Blank,
            last: None,
            trailing: None,
            lists: 0,
            is_at_start: false,
            keeps_blanks: false,
        };
        builder.body(tree.root());
        builder.ops
    }

    fn node(&mut self, node: Node<'a>) {
        match node.kind() {
            SyntaxKind::Skipped => self.skipped(node),
            SyntaxKind::Attributes | SyntaxKind::Params => self.list(node),
            SyntaxKind::Attribute => {
                // Arguments that are not expressions keep their blanks, such as the argument of
                // `uuid`.
                let outer = self.keeps_blanks;
                self.keeps_blanks = node.nodes().next().is_none();
                self.children(node);
                self.keeps_blanks = outer;
            }
            SyntaxKind::Method | SyntaxKind::Member | SyntaxKind::Arm => self.line(node),
            SyntaxKind::Interface
            | SyntaxKind::Library
            | SyntaxKind::Coclass
            | SyntaxKind::Dispinterface
            | SyntaxKind::Struct
            | SyntaxKind::Union
            | SyntaxKind::Enum => self.body(node),
            _ => self.children(node),
        }
    }

    fn children(&mut self, node: Node<'a>) {
        node.children().for_each(|child| self.child(child));
    }

    fn child(&mut self, child: Element<'a>) {
        match child {
            Element::Token(token) => self.token(token),
            Element::Node(node) => self.node(node),
        }
    }

    /// Adds a method, a member or an arm. A line break follows the attributes if they and the
    /// beginning of the declaration, up to its parameters, do not fit on one line.
    fn line(&mut self, node: Node<'a>) {
        let (mut is_open, mut is_closed) = (false, false);
        for child in node.children() {
            if matches!(child, Element::Token(token) if token.kind().is_trivia() && !is_open) {
                self.child(child);
                continue;
            }
            if !is_open {
                self.open(first_token(child));
                is_open = true;
            }
            let kind = match child {
                Element::Token(token) => token.kind(),
                Element::Node(node) => node.kind(),
            };
            if kind == SyntaxKind::Params && !is_closed {
                self.ops.push(Op::Close);
                is_closed = true;
            }
            self.child(child);
            if kind == SyntaxKind::Attributes {
                self.at_least(Separator::Line);
            }
        }
        if is_open && !is_closed {
            self.ops.push(Op::Close);
        }
    }

    /// Adds a list in parentheses or brackets, which is always broken if its opening bracket ends a
    /// line of the source.
    fn list(&mut self, node: Node<'a>) {
        let is_attributes = node.kind() == SyntaxKind::Attributes;
        let mut end = None;
        for child in node.children() {
            match child {
                Element::Token(token) if end.is_none() && matches!(token.text(), "[" | "(") => {
                    self.separate(token, false);
                    self.ops.push(Op::Open);
                    self.token(token);
                    self.ops.push(Op::In);
                    self.at_least(if self.ends_line(token) { Separator::Break } else { Separator::Soft });
                    self.lists += 1;
                    end = Some(if token.text() == "[" { "]" } else { ")" });
                }
                Element::Token(token) if end == Some(token.text()) => {
                    self.ops.push(Op::Out);
                    self.at_least(if is_attributes { Separator::Soft } else { Separator::Blank });
                    self.token(token);
                    self.ops.push(Op::Close);
                    self.lists -= 1;
                    end = None;
                }
                Element::Token(token) if end.is_some() && token.text() == "," => {
                    self.token(token);
                    self.at_least(Separator::Line);
                }
                child => self.child(child),
            }
        }
    }

    /// Adds the whole file, or a declaration with braces.
    fn body(&mut self, node: Node<'a>) {
        let kind = node.kind();
        let is_declaration = matches!(
            kind,
            SyntaxKind::Interface | SyntaxKind::Library | SyntaxKind::Coclass | SyntaxKind::Dispinterface
        );
        let has_braces = node.children().any(|child| matches!(child, Element::Token(token) if token.text() == "{"));
        let mut is_inside = kind == SyntaxKind::File;
        for child in node.children() {
            match child {
                Element::Token(token) if token.kind().is_trivia() => self.token(token),
                Element::Token(token) => match token.text() {
                    "{" => {
                        self.open_body(token, is_declaration);
                        is_inside = true;
                    }
                    "}" if is_inside => {
                        self.close_body(token);
                        is_inside = false;
                    }
                    "," if kind == SyntaxKind::Enum => self.end_item(token),
                    ";" if is_inside => self.end_item(token),
                    "properties" | "methods" if is_inside && kind == SyntaxKind::Dispinterface => {
                        self.ops.push(Op::Out);
                        self.token(token);
                        self.ops.push(Op::In);
                    }
                    ":" if is_inside && kind == SyntaxKind::Dispinterface => self.end_item(token),
                    _ => {
                        // A token that begins a line here is a macro that is replaced by whole
                        // declarations.
                        let is_list = matches!(kind, SyntaxKind::File | SyntaxKind::Library | SyntaxKind::Interface);
                        if is_inside && is_list && self.lines_before(token) > 0 {
                            self.at_least(Separator::Item);
                        }
                        self.token(token);
                    }
                },
                Element::Node(inner) => {
                    self.node(inner);
                    if is_inside && is_item(inner.kind()) {
                        self.at_least(Separator::Item);
                    } else if is_declaration && has_braces && !is_inside && inner.kind() == SyntaxKind::Attributes {
                        self.at_least(Separator::Break);
                    }
                }
            }
        }
    }

    /// Adds an opening brace. The body is broken if it belongs to a declaration, or if it is broken
    /// in the source.
    fn open_body(&mut self, brace: Token<'a>, is_declaration: bool) {
        self.separate(brace, false);
        self.ops.push(Op::Open);
        self.token(brace);
        self.ops.push(Op::In);
        let is_empty = self.text[brace.span().end..].trim_start().starts_with('}');
        let is_broken = !is_empty && (is_declaration || self.ends_line(brace));
        self.at_least(if is_broken {
            Separator::Hard
        } else if is_empty {
            Separator::Blank
        } else {
            Separator::Line
        });
        self.is_at_start = true;
    }

    /// Adds a closing brace.
    fn close_body(&mut self, brace: Token<'a>) {
        self.ops.push(Op::Out);
        if self.last.is_some_and(|last| last.text() != "{") {
            self.at_least(Separator::Line);
        }
        self.separate(brace, true);
        self.token(brace);
        self.ops.push(Op::Close);
    }

    /// Adds the token that ends a part of a body.
    fn end_item(&mut self, token: Token<'a>) {
        // The end of a part stays on the part's line, unless a comment ends that line.
        if self.separator == Separator::Item {
            self.separator = Separator::Blank;
        }
        self.token(token);
        self.at_least(Separator::Item);
    }

    /// Begins a group before a token.
    fn open(&mut self, first: Option<Token<'a>>) {
        if let Some(first) = first {
            self.separate(first, false);
        }
        self.ops.push(Op::Open);
    }

    fn at_least(&mut self, separator: Separator) {
        self.separator = self.separator.max(separator);
    }

    /// Adds a token with the separator before it.
    fn token(&mut self, token: Token<'a>) {
        match token.kind() {
            SyntaxKind::Space => {}
            SyntaxKind::Comment => self.comment(token),
            SyntaxKind::Directive => {
                self.at_least(Separator::Hard);
                self.separate(token, false);
                self.ops.push(Op::Raw(token.text().trim_end()));
                (self.last, self.separator, self.trailing) = (Some(token), Separator::Hard, None);
            }
            _ => {
                self.separate(token, false);
                self.ops.push(Op::Text(Cow::Borrowed(token.text())));
                (self.last, self.trailing) = (Some(token), None);
            }
        }
    }

    fn comment(&mut self, token: Token<'a>) {
        let (ends_line, column) = (self.ends_line(token), self.column(token));
        let is_line = ends_line && !token.text().trim_end().contains('\n');
        if ends_line && self.lines_before(token) == 0 && self.last.is_some() {
            self.ops.push(Op::Text(Cow::Borrowed(" ")));
            if is_line {
                self.ops.push(Op::Trailing(token.text().trim_end()));
                self.trailing = Some(column);
            } else {
                self.comment_lines(token.text());
            }
        } else if is_line && self.lines_before(token) == 1 && self.trailing == Some(column) {
            // A comment below a trailing comment, in the same column, continues that comment.
            self.ops.push(Op::Hard { blank: false });
            self.ops.push(Op::Continued(token.text().trim_end()));
        } else {
            if ends_line {
                self.at_least(Separator::Hard);
            }
            self.separate(token, false);
            self.comment_lines(token.text());
            self.trailing = None;
        }
        self.last = Some(token);
        if ends_line {
            self.at_least(Separator::Hard);
        }
    }

    /// Adds the lines of a comment. Lines that begin with stars are aligned. Other lines stay as
    /// they are.
    fn comment_lines(&mut self, text: &'a str) {
        let mut lines = text.lines();
        self.ops.extend(lines.next().map(|line| Op::Text(Cow::Borrowed(line.trim_end()))));
        let has_stars = lines.clone().all(|line| line.trim_start().starts_with('*'));
        for line in lines {
            self.ops.push(Op::Hard { blank: false });
            self.ops.push(if has_stars {
                Op::Text(Cow::Owned(format!(" {}", line.trim())))
            } else {
                Op::Raw(line.trim_end())
            });
        }
    }

    /// Adds lines that a condition excludes, as they are.
    fn skipped(&mut self, node: Node<'a>) {
        let text = node.text().trim_end();
        let blanks = text.len() - text.trim_start().len();
        let start = text[..blanks].rfind('\n').map_or(0, |end| end + 1);
        let first = node.tokens().find(|token| token.kind() != SyntaxKind::Space);
        if let Some(first) = first {
            self.at_least(Separator::Hard);
            self.separate(first, false);
            self.ops.push(Op::Raw(&text[start..]));
            (self.last, self.separator, self.trailing) = (node.tokens().last(), Separator::Hard, None);
        }
    }

    /// Adds the separator before a token.
    fn separate(&mut self, next: Token<'a>, is_end: bool) {
        let Some(last) = self.last else {
            self.separator = Separator::Blank;
            return;
        };
        // An empty line beside a comment says to which declaration the comment belongs.
        let is_comment = [last, next].iter().any(|token| token.kind() == SyntaxKind::Comment);
        let is_kept = is_comment || self.lists == 0 && self.separator != Separator::Break;
        let blank = is_kept && !self.is_at_start && !is_end && self.lines_before(next) > 1;
        match self.separator {
            Separator::Blank => {
                let is_apart = last.span().end < next.span().start;
                let in_source = |text: &str| !matches!(last.text(), "(" | "[") && !matches!(text, ")" | "]" | ",");
                let is_set = if self.keeps_blanks && last.text() != "," {
                    is_apart && in_source(next.text())
                } else {
                    has_blank(last, next, is_apart)
                };
                if is_set && !self.is_separated() {
                    self.ops.push(Op::Text(Cow::Borrowed(" ")));
                }
            }
            Separator::Soft => self.ops.push(Op::Line("")),
            Separator::Item if blank => self.ops.push(Op::Hard { blank }),
            Separator::Line | Separator::Item => self.ops.push(Op::Line(" ")),
            Separator::Break | Separator::Hard => self.ops.push(Op::Hard { blank }),
        }
        (self.separator, self.is_at_start) = (Separator::Blank, false);
    }

    /// Whether the separator before the next token has been added already.
    fn is_separated(&self) -> bool {
        let of_group = |op: &&Op<'_>| matches!(op, Op::Open | Op::In | Op::Out);
        let last = self.ops.iter().rev().find(|op| !of_group(op));
        matches!(last, Some(Op::Line(_) | Op::Hard { .. })) || matches!(last, Some(Op::Text(text)) if text == " ")
    }

    /// Whether only blanks follow a token on its line.
    fn ends_line(&self, token: Token<'a>) -> bool {
        let rest = self.text[token.span().end..].trim_start_matches(|c: char| c.is_whitespace() && c != '\n');
        rest.is_empty() || rest.starts_with('\n')
    }

    /// Returns the number of letters before a token on its line.
    fn column(&self, token: Token<'a>) -> usize {
        let before = &self.text[..token.span().start];
        before[before.rfind('\n').map_or(0, |end| end + 1)..].chars().count()
    }

    /// Returns the number of line ends right before a token.
    fn lines_before(&self, token: Token<'a>) -> usize {
        let before = &self.text[..token.span().start];
        before.chars().rev().take_while(|letter| letter.is_whitespace()).filter(|letter| *letter == '\n').count()
    }
}

/// Returns the first token of a part, comments excluded. `None` if there is no other token.
fn first_token(of: Element<'_>) -> Option<Token<'_>> {
    match of {
        Element::Token(token) => Some(token),
        Element::Node(node) => node.tokens().find(|token| !token.kind().is_trivia()),
    }
}

/// Whether a node of this kind is a complete part of a body, such as a declaration or a member.
fn is_item(kind: SyntaxKind) -> bool {
    matches!(
        kind,
        SyntaxKind::Import
            | SyntaxKind::CppQuote
            | SyntaxKind::Const
            | SyntaxKind::Typedef
            | SyntaxKind::TypeDeclaration
            | SyntaxKind::Interface
            | SyntaxKind::Method
            | SyntaxKind::Library
            | SyntaxKind::ImportLib
            | SyntaxKind::Coclass
            | SyntaxKind::Dispinterface
            | SyntaxKind::Member
            | SyntaxKind::Arm
    )
}
