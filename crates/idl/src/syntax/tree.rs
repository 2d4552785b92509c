//! The syntax tree: every byte of a file, in the structure that the parser found.
//!
//! There is one grammar. While the parser makes the AST, it records each construct as a *node*: a
//! kind, and the range of the construct's tokens among the preprocessor's tokens. Recursive descent
//! makes these ranges nested or disjoint, so that sorting them yields the tree (see `build.rs`).
//! The leaves are all tokens of the file, as the lexer found them. Tokens that the parser never saw
//! (blanks, comments, directives, excluded branches, empty macros) belong to the innermost node
//! that has tokens before and after them.
//!
//! - A node of a kind other than [`SyntaxKind::Error`] was parsed completely: it has the parts that
//!   the grammar gives it. Its parts may contain errors, each an `Error` node among declarations,
//!   members or arms.
//! - An `Error` node reaches from the beginning of a faulty construct to the point where the parser
//!   continued. It contains the nodes that were parsed before the error.
//! - Comments on the lines immediately before a declaration are the first tokens of its node.
//! - A branch that a condition excludes is a [`SyntaxKind::Skipped`] node of the tokens between its
//!   directives.
//! - A use of a macro is one token, wherever its replacement comes from. A node that would begin or
//!   end within the replacement has no place in the file, and is omitted.

mod build;
#[cfg(test)]
mod tests;

use super::kind::SyntaxKind;
use super::parser::Parser;
use crate::text::diagnostic::Diagnostic;
use crate::text::lexer::lex;
use crate::text::macros::Macros;
use crate::text::preprocess::preprocess;
use crate::text::source::{Role, Sources, Span};
use std::fmt::Write;
use std::iter::successors;
use std::ops::Range;
use std::path::Path;

/// Parses a text, even a faulty one, and returns its tree and its syntax errors.
///
/// No other file is read, so macros of included files are unknown. Names are not resolved.
pub fn parse(text: &str) -> (Tree, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let mut sources = Sources::default();
    let Some(file) = sources.add(Path::new(""), text.to_owned(), Role::Idl) else {
        let error = Diagnostic::without_place("unreadable", "the text is too long");
        return (build::unread(text), vec![error]);
    };
    let tokens = lex(text, file, &mut diagnostics);
    let lexed = diagnostics.len();
    let output = preprocess(&tokens, &mut sources, &mut Macros::new(), &mut diagnostics);
    let length = text.len() as u32;
    let end = Span { file, start: length, end: length };
    let mut parser = Parser::new(&output.tokens, end, &sources, &mut diagnostics);
    parser.file();
    let noted = parser.into_noted();
    if lexed > 0 {
        // As in the compiler, if the lexer finds errors, such as an unclosed comment, only the
        // lexer's errors are reported. The parser's errors would follow from them.
        diagnostics.truncate(lexed);
    }
    (build::build(text, &tokens, &output, noted), diagnostics)
}

/// The syntax tree of a file.
#[derive(Debug)]
pub struct Tree {
    text: String,
    // Invariant: the tokens are contiguous and cover the text.
    tokens: Vec<TokenData>,
    // Invariant: a node comes after its parent and before the parent's next sibling. The first node
    // is the file.
    nodes: Vec<NodeData>,
}

#[derive(Debug)]
struct TokenData {
    kind: SyntaxKind,
    span: Range<usize>,
    parent: usize,
}

#[derive(Debug)]
struct NodeData {
    kind: SyntaxKind,
    parent: Option<usize>,
    /// The range of the node's tokens.
    tokens: Range<usize>,
    /// The index of the first node after the node's descendants.
    next: usize,
}

impl Tree {
    /// Returns the node of the whole file.
    pub fn root(&self) -> Node<'_> {
        Node { tree: self, at: 0 }
    }

    /// Returns the source, joined from the tokens.
    pub fn text(&self) -> String {
        self.tokens().map(|token| token.text()).collect()
    }

    /// Returns all tokens, in the order of the source.
    pub fn tokens(&self) -> impl Iterator<Item = Token<'_>> {
        self.root().tokens()
    }

    /// Returns the token that contains a byte of the source. `None` at and beyond the source's end.
    pub fn token_at(&self, offset: usize) -> Option<Token<'_>> {
        let at = self.tokens.partition_point(|token| token.span.end <= offset);
        (at < self.tokens.len()).then_some(Token { tree: self, at })
    }

    /// Returns the source as a file with this path, to show findings in: see
    /// [`Diagnostic::render`].
    pub fn sources(&self, path: &Path) -> Sources {
        let mut sources = Sources::default();
        // A text that is too long for spans is not added. Its only finding has no place in the
        // file.
        let _ = sources.add(path, self.text.clone(), Role::Idl);
        sources
    }

    /// Returns the tree as text, for tests and debugging: an indented line for each node and token.
    pub fn dump(&self) -> String {
        let mut dump = String::new();
        let mut open = vec![self.root().children()];
        while !open.is_empty() {
            let indent = 2 * open.len();
            match open.last_mut().and_then(Iterator::next) {
                Some(Element::Token(token)) => {
                    let _ = writeln!(dump, "{:indent$}{:?} {:?}", "", token.kind(), token.text());
                }
                Some(Element::Node(node)) => {
                    let _ = writeln!(dump, "{:indent$}{:?}", "", node.kind());
                    open.push(node.children());
                }
                None => drop(open.pop()),
            }
        }
        format!("{:?}\n{dump}", self.root().kind())
    }
}

/// A node of a tree.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    tree: &'a Tree,
    at: usize,
}

/// A token of a tree.
#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    tree: &'a Tree,
    at: usize,
}

/// A part of a node.
#[derive(Clone, Copy, Debug)]
pub enum Element<'a> {
    /// A node.
    Node(Node<'a>),
    /// A token.
    Token(Token<'a>),
}

impl<'a> Node<'a> {
    fn data(self) -> &'a NodeData {
        &self.tree.nodes[self.at]
    }

    /// Returns the node's kind.
    pub fn kind(self) -> SyntaxKind {
        self.data().kind
    }

    /// Returns the node's range of bytes in the source.
    pub fn span(self) -> Range<usize> {
        let tokens = self.tree.tokens.get(self.data().tokens.clone()).unwrap_or_default();
        match (tokens.first(), tokens.last()) {
            (Some(first), Some(last)) => first.span.start..last.span.end,
            _ => 0..0,
        }
    }

    /// Returns the node's source.
    pub fn text(self) -> &'a str {
        self.tree.text.get(self.span()).unwrap_or_default()
    }

    /// Returns the parent. The file has none.
    pub fn parent(self) -> Option<Self> {
        Some(Self { tree: self.tree, at: self.data().parent? })
    }

    /// Returns the parent, its parent, and so on up to the file.
    pub fn ancestors(self) -> impl Iterator<Item = Node<'a>> {
        successors(self.parent(), |node| node.parent())
    }

    /// Returns the node's parts, in the order of the source.
    pub fn children(self) -> Children<'a> {
        let NodeData { tokens, next, .. } = self.data();
        Children { tree: self.tree, tokens: tokens.clone(), nodes: self.at + 1..*next }
    }

    /// Returns the node's child nodes.
    pub fn nodes(self) -> impl Iterator<Item = Node<'a>> {
        self.children().filter_map(|child| match child {
            Element::Node(node) => Some(node),
            Element::Token(_) => None,
        })
    }

    /// Returns all descendants of the node, each before its own descendants.
    pub fn descendants(self) -> impl Iterator<Item = Node<'a>> {
        (self.at + 1..self.data().next).map(move |at| Node { tree: self.tree, at })
    }

    /// Returns all tokens of the node and of its descendants.
    pub fn tokens(self) -> impl Iterator<Item = Token<'a>> {
        self.data().tokens.clone().map(move |at| Token { tree: self.tree, at })
    }

    /// Returns the last token of the node or of its descendants. `None` for an empty file.
    pub fn last_token(self) -> Option<Token<'a>> {
        let tokens = &self.data().tokens;
        (!tokens.is_empty()).then(|| Token { tree: self.tree, at: tokens.end - 1 })
    }
}

impl<'a> Token<'a> {
    fn data(self) -> &'a TokenData {
        &self.tree.tokens[self.at]
    }

    /// Returns the token's kind.
    pub fn kind(self) -> SyntaxKind {
        self.data().kind
    }

    /// Returns the token's range of bytes in the source.
    pub fn span(self) -> Range<usize> {
        self.data().span.clone()
    }

    /// Returns the token's source.
    pub fn text(self) -> &'a str {
        self.tree.text.get(self.span()).unwrap_or_default()
    }

    /// Returns the previous token of the file, if there is one.
    pub fn preceding(self) -> Option<Self> {
        Some(Self { tree: self.tree, at: self.at.checked_sub(1)? })
    }

    /// Returns the next token of the file, if there is one.
    pub fn following(self) -> Option<Self> {
        let at = self.at + 1;
        (at < self.tree.tokens.len()).then_some(Self { tree: self.tree, at })
    }

    /// Returns the innermost node that contains the token.
    pub fn parent(self) -> Node<'a> {
        Node { tree: self.tree, at: self.data().parent }
    }
}

/// An iterator over the parts of a node: see [`Node::children`].
#[derive(Clone, Debug)]
pub struct Children<'a> {
    tree: &'a Tree,
    /// The remaining tokens, including the tokens of child nodes.
    tokens: Range<usize>,
    /// The remaining nodes, descendants included.
    nodes: Range<usize>,
}

impl<'a> Iterator for Children<'a> {
    type Item = Element<'a>;

    fn next(&mut self) -> Option<Element<'a>> {
        let (tree, at) = (self.tree, self.nodes.start);
        if let Some(node) =
            tree.nodes.get(at).filter(|node| !self.nodes.is_empty() && node.tokens.start == self.tokens.start)
        {
            self.nodes.start = node.next;
            self.tokens.start = node.tokens.end;
            return Some(Element::Node(Node { tree, at }));
        }
        self.tokens.next().map(|at| Element::Token(Token { tree, at }))
    }
}
