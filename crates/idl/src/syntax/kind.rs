//! The kinds of nodes and tokens, and nodes as the parser records them.

use crate::syntax::ast::Item;
use crate::text::lexer::TokenKind;

/// The kind of a node or a token.
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
    /// Token: any other character.
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
    /// An interface: a definition or a forward declaration.
    Interface,
    /// A method, to its semicolon.
    Method,
    /// `library` with its declarations.
    Library,
    /// A declaration without a meaning here: `midl_pragma warning(...)`, or `extern`.
    Foreign,
    /// `module` with its declarations.
    Module,
    /// `importlib("a.tlb")`
    ImportLib,
    /// `coclass` with its interfaces.
    Coclass,
    /// `dispinterface`: a definition or a forward declaration.
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
    /// A value of an enumeration.
    Enumerator,
    /// A name with its pointers and dimensions.
    Declarator,
    /// `[]` or `[n]`.
    Dimension,
    /// A whole expression. In `a ? b : c`, the whole, `b` and `c` are nodes of this kind.
    Expr,
    /// `a + b` in an expression.
    Binary,
    /// `-a` in an expression.
    Unary,
    /// `(a)` in an expression.
    Paren,
    /// `(T) a` in an expression.
    Cast,
    /// `sizeof(T)` in an expression.
    SizeOf,
    /// Tokens that a condition of the preprocessor excludes.
    Skipped,
    /// A faulty construct.
    Error,
}

impl SyntaxKind {
    /// Whether the kind belongs to tokens, and not to nodes.
    pub fn is_token(self) -> bool {
        self.is_trivia()
            || matches!(self, Self::Ident | Self::Number | Self::Text | Self::Char | Self::Punct | Self::Unknown)
    }

    /// Whether the kind belongs to tokens outside the grammar: blanks, comments and preprocessor
    /// lines.
    pub fn is_trivia(self) -> bool {
        matches!(self, Self::Space | Self::Comment | Self::Directive)
    }

    /// Whether comments on the lines before the construct belong to it.
    pub(super) fn is_declaration(self) -> bool {
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
                | Self::Foreign
                | Self::Module
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

    pub(super) fn of_token(kind: TokenKind) -> Self {
        match kind {
            TokenKind::Ident => Self::Ident,
            TokenKind::Number => Self::Number,
            TokenKind::Text => Self::Text,
            TokenKind::Char => Self::Char,
            TokenKind::Punct => Self::Punct,
            TokenKind::Space => Self::Space,
            TokenKind::Comment => Self::Comment,
            TokenKind::Directive => Self::Directive,
            TokenKind::Unknown => Self::Unknown,
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
            Item::Foreign => Self::Foreign,
            Item::Module(_) => Self::Module,
            Item::ImportLib(..) => Self::ImportLib,
            Item::Coclass(_) => Self::Coclass,
            Item::Dispinterface(_) => Self::Dispinterface,
        }
    }
}

/// A node as the parser records it: a kind, and the range of its tokens among the preprocessor's
/// tokens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noted {
    pub(crate) kind: SyntaxKind,
    pub(crate) tokens: (usize, usize),
}
