//! The interfaces that the compiler writes from its own `ocidl.idl`, here once for all programs.

crate::include_idl! {
    /// The code that the compiler generates from `ocidl.idl`, to which the code of importing files
    /// refers.
    #[doc(hidden)]
    pub mod events = "ocidl"
}
