//! An interface as programs have it, in the words of a language: what an object of it implements, and how it is called.
//!
//! For tools that write programs. A back end makes it from what it writes into traits and classes, so that both agree.

/// What an object implements: an interface, and those that it extends.
#[derive(Clone, Debug)]
pub struct Component {
    /// The interface's name.
    pub name: String,
    /// The interfaces whose methods the object has, the farthest ancestor first, and the interface itself last.
    pub interfaces: Vec<Interface>,
}

/// An interface's own methods.
#[derive(Clone, Debug)]
pub struct Interface {
    /// The interface's name.
    pub name: String,
    /// Its methods, in the order of the source.
    pub methods: Vec<Method>,
}

/// A method of an object.
#[derive(Clone, Debug)]
pub struct Method {
    /// Its name in the IDL.
    pub name: String,
    /// The documentation comment before the method.
    pub doc: String,
    /// Its declaration, without what ends it.
    pub declaration: String,
    /// The names of its parameters in the declaration.
    pub parameters: Vec<String>,
    /// Whether it fails by what it returns, and must not throw. In C++ alone.
    pub returns_hresult: bool,
    /// Whether nobody waits for it, so that no caller learns that it failed.
    pub oneway: bool,
    /// A call of it with the simplest arguments that the interface lets pass, or why there is none.
    pub call: Result<Call, String>,
}

/// A call of a method.
#[derive(Clone, Debug)]
pub struct Call {
    /// What is to be declared before it.
    pub before: Vec<String>,
    /// The method's name and its arguments, to be written behind the object.
    pub text: String,
}
