//! The syntax tree: every byte of a file, in the shape that the parser found.
//!
//! There is one grammar. While the parser makes the AST, it notes each thing that it has understood as a *node*: a kind,
//! and the first and last token of those that the preprocessor gave it. Recursive descent makes these ranges lie in one another or
//! apart, so sorting them is all it takes to make a tree of them (see `build.rs`). The leaves are the tokens of the file as the
//! lexer found them, all of them, one after the other; what the parser never saw (blanks, comments, directives, excluded
//! branches, macros that stand for nothing) lies in the innermost node that has tokens on both its sides.
//!
//! - A node of a kind other than [`SyntaxKind::Error`] was understood: it has the parts that the grammar says. Its parts
//!   can have errors, each an `Error` node among the declarations, members or arms that it stands between.
//! - An `Error` node reaches from the beginning of what could not be understood to where the parser went on.
//!   What was understood of it before the mistake has its nodes in it.
//! - Comments on the lines right before a declaration are the first tokens of its node.
//! - A branch that a condition excludes is a [`SyntaxKind::Skipped`] node of the tokens between its directives.
//! - A macro's use is one token, wherever its replacement comes from. A node that would begin or end inside of the
//!   replacement has no place in the file, and is left out.

mod build;
#[cfg(test)]
mod tests;

use crate::ast::Item;
use crate::diagnostic::Diagnostic;
use crate::lexer::{TokenKind, lex};
use crate::parser::Parser;
use crate::preprocess::{Macros, preprocess};
use crate::source::{Role, Sources, Span};
use std::fmt::Write;
use std::iter::successors;
use std::ops::Range;
use std::path::Path;

/// What a node or a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SyntaxKind {
    /// Token: a name or a keyword.
    Ident,
    /// Token: a number, with its suffixes.
    Number,
    /// Token: text in double quotes.
    Text,
    /// Token: a character in single quotes.
    Char,
    /// Token: punctuation.
    Punct,
    /// Token: blanks and line ends.
    Space,
    /// Token: a comment.
    Comment,
    /// Token: a preprocessor line, with its continuations.
    Directive,
    /// Token: what is none of these.
    Unknown,
    /// The whole file.
    File,
    /// `import "a.idl";`
    Import,
    /// `cpp_quote("...")`
    CppQuote,
    /// `const long N = 5;`
    Const,
    /// `typedef`, to its semicolon.
    Typedef,
    /// A type that is declared without `typedef`, to its semicolon.
    TypeDeclaration,
    /// An interface, declared or announced.
    Interface,
    /// A method, to its semicolon.
    Method,
    /// `library`, with what it declares.
    Library,
    /// `importlib("a.tlb")`
    ImportLib,
    /// `coclass`, with the interfaces that it names.
    Coclass,
    /// `dispinterface`, declared or announced.
    Dispinterface,
    /// The parameters of a method, in their parentheses.
    Params,
    /// A parameter.
    Param,
    /// `[in, size_is(n)]`, or `OBVIA(oneway)`.
    Attributes,
    /// One attribute with its arguments.
    Attribute,
    /// A type as written, without pointers and dimensions.
    TypeSpec,
    /// `struct`, declared or named.
    Struct,
    /// `union`, declared or named.
    Union,
    /// `enum`, declared or named.
    Enum,
    /// A line of a structure's members.
    Member,
    /// An arm of a union.
    Arm,
    /// A value of an enum.
    Enumerator,
    /// A name with its pointers and dimensions.
    Declarator,
    /// `[]` or `[n]`.
    Dimension,
    /// An expression where one is expected; a choice `a ? b : c` is three in one.
    Expr,
    /// `a + b` in an expression.
    Binary,
    /// `-a` in an expression.
    Unary,
    /// `(a)` in an expression.
    Paren,
    /// What a condition of the preprocessor excludes.
    Skipped,
    /// What could not be understood.
    Error,
}

impl SyntaxKind {
    /// Whether tokens are of this kind, and not nodes.
    pub fn is_token(self) -> bool {
        self.is_trivia()
            || matches!(self, Self::Ident | Self::Number | Self::Text | Self::Char | Self::Punct | Self::Unknown)
    }

    /// Whether it is a kind of tokens that the grammar does not know: blanks, comments and preprocessor lines.
    pub fn is_trivia(self) -> bool {
        matches!(self, Self::Space | Self::Comment | Self::Directive)
    }

    /// Whether the comments on the lines before it are about it.
    fn is_declaration(self) -> bool {
        matches!(
            self,
            Self::Import
                | Self::CppQuote
                | Self::Const
                | Self::Typedef
                | Self::TypeDeclaration
                | Self::Interface
                | Self::Method
                | Self::Library
                | Self::ImportLib
                | Self::Coclass
                | Self::Dispinterface
                | Self::Param
                | Self::Member
                | Self::Arm
                | Self::Enumerator
                | Self::Error
        )
    }

    fn of_token(kind: TokenKind) -> Self {
        match kind {
            TokenKind::Ident => Self::Ident,
            TokenKind::Number => Self::Number,
            TokenKind::Text => Self::Text,
            TokenKind::Char => Self::Char,
            TokenKind::Punct => Self::Punct,
            TokenKind::Space => Self::Space,
            TokenKind::Comment => Self::Comment,
            TokenKind::Directive => Self::Directive,
            TokenKind::Uuid | TokenKind::Unknown => Self::Unknown,
        }
    }

    pub(crate) fn of_item(item: &Item) -> Self {
        match item {
            Item::Import(_) => Self::Import,
            Item::CppQuote(_) => Self::CppQuote,
            Item::Const(..) => Self::Const,
            Item::Typedef(..) => Self::Typedef,
            Item::Type(_) => Self::TypeDeclaration,
            Item::Interface(_) => Self::Interface,
            Item::Method(_) => Self::Method,
            Item::Library(_) => Self::Library,
            Item::ImportLib(..) => Self::ImportLib,
            Item::Coclass(_) => Self::Coclass,
            Item::Dispinterface(_) => Self::Dispinterface,
        }
    }
}

/// What the parser notes of a node: the tokens it is made of, among those that the preprocessor gave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noted {
    pub(crate) kind: SyntaxKind,
    pub(crate) tokens: (usize, usize),
}

/// Reads a file's text, whatever it says, and tells what is wrong with its syntax.
///
/// Nothing else is read: macros of imported files are not known here. Findings are those of the compiler's first half: names
/// are not looked up.
pub fn parse(text: &str) -> (Tree, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let mut sources = Sources::default();
    let Some(file) = sources.add(Path::new(""), text.to_owned(), Role::Idl) else {
        let error = Diagnostic::nowhere("unreadable", "the text is too long");
        return (build::unread(text), vec![error]);
    };
    let tokens = lex(text, file, &mut diagnostics);
    let lexed = diagnostics.len();
    let output = preprocess(&tokens, &sources, &mut Macros::new(), &mut diagnostics);
    let length = text.len() as u32;
    let end = Span { file, start: length, end: length };
    let mut parser = Parser::new(&output.tokens, end, &sources, &mut diagnostics);
    parser.file();
    let noted = parser.into_noted();
    if lexed > 0 {
        // As in the compiler: what follows an open quotation or comment is only wrong because of it.
        diagnostics.truncate(lexed);
    }
    (build::build(text, &tokens, &output, noted), diagnostics)
}

/// A file as nodes and tokens.
#[derive(Debug)]
pub struct Tree {
    text: String,
    // Invariant: they lie one behind the other, and cover the text.
    tokens: Vec<TokenData>,
    // Invariant: a node stands behind its parent and before its parent's next node; the first is the file.
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
    /// The tokens in it.
    tokens: Range<usize>,
    /// The node behind the last one in it.
    next: usize,
}

impl Tree {
    /// The whole file.
    pub fn root(&self) -> Node<'_> {
        Node { tree: self, at: 0 }
    }

    /// The source, put together from the tokens.
    pub fn text(&self) -> String {
        self.tokens().map(|token| token.text()).collect()
    }

    /// Every token, in the order of the source.
    pub fn tokens(&self) -> impl Iterator<Item = Token<'_>> {
        self.root().tokens()
    }

    /// The token that a byte of the source belongs to.
    pub fn token_at(&self, offset: usize) -> Option<Token<'_>> {
        let at = self.tokens.partition_point(|token| token.span.end <= offset);
        (at < self.tokens.len()).then_some(Token { tree: self, at })
    }

    /// The source as a file of this path, to show findings in: see [`Diagnostic::render`].
    pub fn sources(&self, path: &Path) -> Sources {
        let mut sources = Sources::default();
        // What is too long to be shown has no findings with places.
        let _ = sources.add(path, self.text.clone(), Role::Idl);
        sources
    }

    /// The tree as text, for tests and for the curious: a line for each node and token, indented.
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

/// What nodes are made of.
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

    /// What it is.
    pub fn kind(self) -> SyntaxKind {
        self.data().kind
    }

    /// Where it is, in bytes of the source.
    pub fn span(self) -> Range<usize> {
        let tokens = self.tree.tokens.get(self.data().tokens.clone()).unwrap_or_default();
        match (tokens.first(), tokens.last()) {
            (Some(first), Some(last)) => first.span.start..last.span.end,
            _ => 0..0,
        }
    }

    /// Its source.
    pub fn text(self) -> &'a str {
        self.tree.text.get(self.span()).unwrap_or_default()
    }

    /// The node that it is part of; the file is part of none.
    pub fn parent(self) -> Option<Self> {
        Some(Self { tree: self.tree, at: self.data().parent? })
    }

    /// Its parent, its parent's parent, and so on to the file.
    pub fn ancestors(self) -> impl Iterator<Item = Node<'a>> {
        successors(self.parent(), |node| node.parent())
    }

    /// What it is made of, in the order of the source.
    pub fn children(self) -> Children<'a> {
        let NodeData { tokens, next, .. } = self.data();
        Children { tree: self.tree, tokens: tokens.clone(), nodes: self.at + 1..*next }
    }

    /// The nodes it is made of.
    pub fn nodes(self) -> impl Iterator<Item = Node<'a>> {
        self.children().filter_map(|child| match child {
            Element::Node(node) => Some(node),
            Element::Token(_) => None,
        })
    }

    /// Every node in it, each before its own.
    pub fn descendants(self) -> impl Iterator<Item = Node<'a>> {
        (self.at + 1..self.data().next).map(move |at| Node { tree: self.tree, at })
    }

    /// Every token in it and in its nodes.
    pub fn tokens(self) -> impl Iterator<Item = Token<'a>> {
        self.data().tokens.clone().map(move |at| Token { tree: self.tree, at })
    }
}

impl<'a> Token<'a> {
    fn data(self) -> &'a TokenData {
        &self.tree.tokens[self.at]
    }

    /// What it is.
    pub fn kind(self) -> SyntaxKind {
        self.data().kind
    }

    /// Where it is, in bytes of the source.
    pub fn span(self) -> Range<usize> {
        self.data().span.clone()
    }

    /// Its source.
    pub fn text(self) -> &'a str {
        self.tree.text.get(self.span()).unwrap_or_default()
    }

    /// The innermost node that it is part of.
    pub fn parent(self) -> Node<'a> {
        Node { tree: self.tree, at: self.data().parent }
    }
}

/// The parts of a node: see [`Node::children`].
#[derive(Clone, Debug)]
pub struct Children<'a> {
    tree: &'a Tree,
    /// Tokens still to be given, those in nodes too.
    tokens: Range<usize>,
    /// Nodes still to be given, those in nodes too.
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
