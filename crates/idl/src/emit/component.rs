//! The methods of an interface in a target language: their declarations for implementers, and calls
//! of them.
//!
//! Tools that write programs use these declarations and calls. A back end makes the declarations
//! from the same parts as its traits and classes, so that they match.

/// The interface of an object, with its base interfaces.
#[derive(Clone, Debug)]
pub struct Component {
    /// The interface's name.
    pub name: String,
    /// The interfaces whose methods the object has, from the farthest ancestor to the interface
    /// itself.
    pub interfaces: Vec<Interface>,
}

/// An interface's methods without inherited ones.
#[derive(Clone, Debug)]
pub struct Interface {
    /// The interface's name.
    pub name: String,
    /// The interface's methods, in the order of the source.
    pub methods: Vec<Method>,
}

/// A method of an object.
#[derive(Clone, Debug)]
pub struct Method {
    /// The method's name in the IDL.
    pub name: String,
    /// The documentation comment before the method.
    pub doc: String,
    /// The method's declaration, without its terminator.
    pub declaration: String,
    /// The names of the parameters in the declaration.
    pub parameters: Vec<String>,
    /// Whether the method reports errors by its HRESULT and must not throw. Set only for C++.
    pub returns_hresult: bool,
    /// Whether the caller does not wait for the call's completion, and therefore learns of no
    /// error.
    pub oneway: bool,
    /// A call with the simplest arguments that the interface permits, or the reason why there is
    /// none.
    pub call: Result<Call, String>,
}

/// A call of a method.
#[derive(Clone, Debug)]
pub struct Call {
    /// The declarations that have to precede the call.
    pub before: Vec<String>,
    /// The method's name and its arguments, to be written after the object.
    pub text: String,
}
