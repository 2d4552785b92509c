//! The syntax of a file as the parser reads it. Names are not resolved.

use crate::text::source::{FileId, Span};
use std::rc::Rc;

/// A file's number, and its declarations.
pub(crate) type ParsedFile = (FileId, Rc<[Item]>);

/// A name and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The name.
    pub name: String,
    /// The identifier's place in the source.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// The expression's kind.
    pub kind: ExprKind,
    /// The expression's place in the source.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A character.
    Char(char),
    /// A string.
    Text(String),
    /// The name of a constant, an enumerator, a parameter or a member.
    Name(String),
    /// `-`, `+`, `~`, `!`, or `*` on a pointer parameter.
    Unary(&'static str, Box<Expr>),
    /// C's binary operators.
    Binary(String, Box<Expr>, Box<Expr>),
    /// `a ? b : c`.
    Ternary(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `(T) a`: the type, the number of stars after the type, and the value.
    Cast(Box<TypeSpec>, u8, Box<Expr>),
    /// `sizeof(T)`: the type, and the number of stars after the type.
    SizeOf(Box<TypeSpec>, u8),
}

/// One attribute.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// The attribute's name.
    pub name: Ident,
    /// The attribute's arguments. `None` for an omitted argument, as in `size_is(, n)`.
    pub arguments: Vec<Option<Expr>>,
    /// The text between the parentheses, for attributes whose arguments are not expressions.
    pub raw: String,
    /// The type between the parentheses of `switch_type`.
    pub ty: Option<Box<TypeSpec>>,
    /// The attribute's place in the source, from its name to its closing parenthesis.
    pub span: Span,
}

/// A type as written, without pointers and dimensions.
#[derive(Clone, Debug)]
pub struct TypeSpec {
    /// The type's kind.
    pub kind: TypeKind,
    /// Whether the type is `const`.
    pub constant: bool,
    /// The type's place in the source.
    pub span: Span,
}

/// The kinds of types.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// A base type under its normal name: `unsigned long`, `wchar_t`, `void`.
    Base(&'static str),
    /// A name of a type.
    Named(String),
    /// `struct`, declared or named.
    Struct(StructDecl),
    /// `union`, declared or named.
    Union(UnionDecl),
    /// `enum`, declared or named.
    Enum(EnumDecl),
    /// `BSTR` and `VARIANT`, and `SAFEARRAY` without an element type.
    Automation(&'static str),
    /// `SAFEARRAY(T)` or `SAFEARRAY(T *)`: the type `T`, and whether the star is there.
    SafeArray(Box<TypeSpec>, bool),
}

/// `struct tag { members }`, or `struct tag`.
#[derive(Clone, Debug)]
pub struct StructDecl {
    /// The tag.
    pub tag: Option<Ident>,
    /// The members. `None` if the structure is only named.
    pub members: Option<Vec<Member>>,
    /// The attributes before `struct`.
    pub attributes: Vec<Attribute>,
}

/// A member of a structure, or the content of a union's arm.
#[derive(Clone, Debug)]
pub struct Member {
    /// The member's attributes. The members of one declaration share them.
    pub attributes: Rc<[Attribute]>,
    /// The member's type.
    pub spec: TypeSpec,
    /// The member's name, pointers and dimensions. `None` for an empty arm.
    pub declarator: Option<Declarator>,
    /// The number of bits, if the member is a bit field.
    pub bits: Option<Expr>,
}

/// `union`, encapsulated or not.
#[derive(Clone, Debug)]
pub struct UnionDecl {
    /// The tag.
    pub tag: Option<Ident>,
    /// For an encapsulated union (`switch (type name)`): the type and the name of the discriminant,
    /// and the name of the member that holds the arms.
    pub switch: Option<(Box<TypeSpec>, Ident, Option<Ident>)>,
    /// The arms. `None` if the union is only named.
    pub arms: Option<Vec<Arm>>,
    /// The attributes before `union`.
    pub attributes: Vec<Attribute>,
}

/// One arm of a union.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The discriminants that select the arm.
    pub cases: Vec<Expr>,
    /// Whether the arm is the default arm.
    pub default: bool,
    /// The arm's content.
    pub member: Option<Member>,
    /// The arm's place in the source.
    pub span: Span,
}

/// `enum tag { values }`, or `enum tag`.
#[derive(Clone, Debug)]
pub struct EnumDecl {
    /// The tag.
    pub tag: Option<Ident>,
    /// The values. `None` if the enumeration is only named.
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
    /// The number of stars before the name.
    pub pointers: u8,
    /// The name.
    pub name: Ident,
    /// The dimensions after the name.
    pub dimensions: Vec<Dimension>,
    /// Whether the declarator declares a pointer to a function, as in `(*name)(long)`.
    pub is_function: bool,
    /// The declarator's place in the source, from the first star to the last bracket.
    pub span: Span,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// The parameter's attributes.
    pub attributes: Vec<Attribute>,
    /// The parameter's type.
    pub spec: TypeSpec,
    /// The parameter's name, pointers and dimensions.
    pub declarator: Declarator,
}

/// A method.
#[derive(Clone, Debug)]
pub struct Method {
    /// The method's attributes.
    pub attributes: Vec<Attribute>,
    /// The type of the result, and the number of stars before the method's name.
    pub returns: (TypeSpec, u8),
    /// The method's name.
    pub name: Ident,
    /// The method's parameters.
    pub params: Vec<Param>,
    /// The documentation comment before the method.
    pub doc: String,
}

/// An interface.
#[derive(Clone, Debug)]
pub struct InterfaceDecl {
    /// The interface's attributes.
    pub attributes: Vec<Attribute>,
    /// The interface's name.
    pub name: Ident,
    /// The base interface.
    pub base: Option<Ident>,
    /// The interface's contents. `None` for a forward declaration.
    pub items: Option<Vec<Item>>,
    /// The documentation comment before the interface.
    pub doc: String,
}

/// A declaration in a file or an interface.
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
    /// `library L { ... }`. Its declarations count as if they were outside the library.
    Library(LibraryDecl),
    /// A declaration without a meaning here: `midl_pragma warning(...)`, or `extern`.
    Foreign,
    /// `module M { ... }`
    Module(ModuleDecl),
    /// `importlib("a.tlb");`
    ImportLib(String, Span),
    /// `coclass C { interface I; };`
    Coclass(CoclassDecl),
    /// `dispinterface D { properties: ... methods: ... };`
    Dispinterface(DispinterfaceDecl),
}

/// A module: constants, and functions of a shared library.
#[derive(Clone, Debug)]
pub struct ModuleDecl {
    /// The module's attributes.
    pub attributes: Vec<Attribute>,
    /// The module's name.
    pub name: Ident,
    /// The module's declarations.
    pub items: Vec<Item>,
}

/// A library and its declarations.
#[derive(Clone, Debug)]
pub struct LibraryDecl {
    /// The library's attributes.
    pub attributes: Vec<Attribute>,
    /// The library's name.
    pub name: Ident,
    /// The library's declarations.
    pub items: Vec<Item>,
}

/// A class of objects and its interfaces.
#[derive(Clone, Debug)]
pub struct CoclassDecl {
    /// The class's attributes.
    pub attributes: Vec<Attribute>,
    /// The class's name.
    pub name: Ident,
    /// The interfaces. `None` for a forward declaration.
    pub interfaces: Option<Vec<OfferedDecl>>,
}

/// An interface of a class.
#[derive(Clone, Debug)]
pub struct OfferedDecl {
    /// The attributes before the interface.
    pub attributes: Vec<Attribute>,
    /// Whether the interface is a dispinterface.
    pub is_dispinterface: bool,
    /// The interface's name.
    pub name: Ident,
}

/// A dispinterface: an interface that is called by name only.
#[derive(Clone, Debug)]
pub struct DispinterfaceDecl {
    /// The dispinterface's attributes.
    pub attributes: Vec<Attribute>,
    /// The dispinterface's name.
    pub name: Ident,
    /// The dispinterface's members. `None` for a forward declaration.
    pub members: Option<DispinterfaceMembers>,
}

/// The members of a dispinterface.
#[derive(Clone, Debug)]
pub enum DispinterfaceMembers {
    /// The dispinterface's own properties and methods.
    Own(Vec<Member>, Vec<Method>),
    /// The dispinterface has the members of the interface with this name.
    Of(Ident),
}

/// The attributes that a side file adds to an interface and to its methods.
#[derive(Clone, Debug)]
pub struct SideInterface {
    /// The attributes to add to the interface.
    pub attributes: Vec<Attribute>,
    /// The interface's name.
    pub name: Ident,
    /// The methods to which the side file adds attributes.
    pub methods: Vec<SideMethod>,
}

/// The attributes that a side file adds to a method.
#[derive(Clone, Debug)]
pub struct SideMethod {
    /// The attributes to add to the method.
    pub attributes: Vec<Attribute>,
    /// The method's name.
    pub name: Ident,
    /// The parameters that are mentioned, each with the attributes to add to it.
    pub params: Vec<(Vec<Attribute>, Ident)>,
}
