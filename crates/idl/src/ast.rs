//! The syntax of a file, as the parser found it: names are not resolved yet.

use crate::source::Span;

/// A name in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The name.
    pub name: String,
    /// Where it stands.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// An integer.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    /// A character.
    Char(char),
    /// A text.
    Text(String),
    /// A name: a constant, an enumerator, a parameter or a member.
    Name(String),
    /// `-`, `+`, `~`, `!`, or `*` on a pointer parameter.
    Unary(&'static str, Box<Expr>),
    /// C's binary operators.
    Binary(String, Box<Expr>, Box<Expr>),
    /// `a ? b : c`.
    Ternary(Box<Expr>, Box<Expr>, Box<Expr>),
}

/// One attribute.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Its name.
    pub name: Ident,
    /// Its arguments; `None` where one is left out, as in `size_is(, n)`.
    pub arguments: Vec<Option<Expr>>,
    /// What stands between its parentheses, for attributes whose arguments are no expressions.
    pub raw: String,
    /// From its name to its closing parenthesis.
    pub span: Span,
}

/// A type as written, without pointers and dimensions.
#[derive(Clone, Debug)]
pub struct TypeSpec {
    /// What it is.
    pub kind: TypeKind,
    /// Whether `const` stands with it.
    pub constant: bool,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of types.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// A base type, normalised: `unsigned long`, `wchar_t`, `void`.
    Base(&'static str),
    /// A name of a type.
    Named(String),
    /// `struct`, declared or named.
    Struct(StructDecl),
    /// `union`, declared or named.
    Union(UnionDecl),
    /// `enum`, declared or named.
    Enum(EnumDecl),
    /// `BSTR` and `VARIANT`.
    Automation(&'static str),
    /// `SAFEARRAY(T)`: the type of its elements, and whether a star follows it.
    SafeArray(Box<TypeSpec>, bool),
}

/// `struct tag { members }`, or `struct tag`.
#[derive(Clone, Debug)]
pub struct StructDecl {
    /// The tag.
    pub tag: Option<Ident>,
    /// The members; `None` for a mere mention.
    pub members: Option<Vec<Member>>,
    /// The attributes before `struct`.
    pub attributes: Vec<Attribute>,
}

/// Members of one type.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// Its type.
    pub spec: TypeSpec,
    /// Its name, pointers and dimensions; `None` for an empty arm.
    pub declarator: Option<Declarator>,
}

/// `union`, with or without its own discriminant.
#[derive(Clone, Debug)]
pub struct UnionDecl {
    /// The tag.
    pub tag: Option<Ident>,
    /// `switch (type name)`, for an encapsulated union, and the name of the union in it.
    pub switch: Option<(Box<TypeSpec>, Ident, Option<Ident>)>,
    /// The arms; `None` for a mere mention.
    pub arms: Option<Vec<Arm>>,
    /// The attributes before `union`.
    pub attributes: Vec<Attribute>,
}

/// One arm of a union.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The values that choose it.
    pub cases: Vec<Expr>,
    /// Whether every other value chooses it.
    pub default: bool,
    /// What it holds.
    pub member: Option<Member>,
    /// Where it stands.
    pub span: Span,
}

/// `enum tag { values }`, or `enum tag`.
#[derive(Clone, Debug)]
pub struct EnumDecl {
    /// The tag.
    pub tag: Option<Ident>,
    /// The values; `None` for a mere mention.
    pub values: Option<Vec<(Ident, Option<Expr>)>>,
    /// The attributes before `enum`.
    pub attributes: Vec<Attribute>,
}

/// A dimension.
#[derive(Clone, Debug)]
pub enum Dimension {
    /// `[]` or `[*]`.
    Open(Span),
    /// `[n]`.
    Fixed(Expr),
}

/// A name with its pointers and dimensions.
#[derive(Clone, Debug)]
pub struct Declarator {
    /// How many stars stand before the name.
    pub pointers: u8,
    /// The name.
    pub name: Ident,
    /// The dimensions behind the name.
    pub dimensions: Vec<Dimension>,
    /// From the first star to the last bracket.
    pub span: Span,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// Its type.
    pub spec: TypeSpec,
    /// Its name, pointers and dimensions.
    pub declarator: Declarator,
}

/// A method.
#[derive(Clone, Debug)]
pub struct Method {
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// What it returns, and how many stars stand before its name.
    pub returns: (TypeSpec, u8),
    /// Its name.
    pub name: Ident,
    /// Its parameters.
    pub params: Vec<Param>,
    /// The comment before it.
    pub doc: String,
}

/// An interface.
#[derive(Clone, Debug)]
pub struct InterfaceDecl {
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// Its name.
    pub name: Ident,
    /// The interface that it extends.
    pub base: Option<Ident>,
    /// What it declares; `None` for a forward declaration.
    pub items: Option<Vec<Item>>,
    /// The comment before it.
    pub doc: String,
}

/// What a file or an interface declares.
#[derive(Clone, Debug)]
pub enum Item {
    /// `import "a.idl", "b.idl";`
    Import(Vec<(String, Span)>),
    /// `cpp_quote("...")`.
    CppQuote(String),
    /// `const long N = 5;`
    Const(TypeSpec, Declarator, Expr),
    /// `typedef`.
    Typedef(Vec<Attribute>, TypeSpec, Vec<Declarator>),
    /// A type that is declared without `typedef`.
    Type(TypeSpec),
    /// An interface.
    Interface(InterfaceDecl),
    /// A method, in an interface.
    Method(Method),
    /// `library L { ... }`: what it declares counts as if it stood outside.
    Library(LibraryDecl),
    /// `importlib("a.tlb");`
    ImportLib(String, Span),
    /// `coclass C { interface I; };`
    Coclass(CoclassDecl),
    /// `dispinterface D { properties: ... methods: ... };`
    Dispinterface(DispinterfaceDecl),
}

/// A library, and what it declares.
#[derive(Clone, Debug)]
pub struct LibraryDecl {
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// Its name.
    pub name: Ident,
    /// What stands in it.
    pub items: Vec<Item>,
}

/// A class of objects, and the interfaces that they have.
#[derive(Clone, Debug)]
pub struct CoclassDecl {
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// Its name.
    pub name: Ident,
    /// The interfaces, each with its attributes.
    pub interfaces: Vec<(Vec<Attribute>, Ident)>,
}

/// An interface that is called by name only.
#[derive(Clone, Debug)]
pub struct DispinterfaceDecl {
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// Its name.
    pub name: Ident,
    /// What it has; `None` for a forward declaration.
    pub members: Option<DispinterfaceMembers>,
}

/// What an interface that is called by name has.
#[derive(Clone, Debug)]
pub enum DispinterfaceMembers {
    /// Properties and methods of its own.
    Own(Vec<Member>, Vec<Method>),
    /// Those of an interface.
    Of(Ident),
}

/// What a side file says of an interface, by the names that the interface's own file declares.
#[derive(Clone, Debug)]
pub struct SideInterface {
    /// The attributes to add to it.
    pub attributes: Vec<Attribute>,
    /// Its name.
    pub name: Ident,
    /// What is said of its methods.
    pub methods: Vec<SideMethod>,
}

/// What a side file says of a method.
#[derive(Clone, Debug)]
pub struct SideMethod {
    /// The attributes to add to it.
    pub attributes: Vec<Attribute>,
    /// Its name.
    pub name: Ident,
    /// The parameters that are mentioned, and the attributes to add to each.
    pub params: Vec<(Vec<Attribute>, Ident)>,
}
