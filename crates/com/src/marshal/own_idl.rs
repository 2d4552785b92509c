//! The interfaces of the compiler's own `ocidl.idl`, generated here once for all programs.

crate::include_idl! {
    /// The code that the compiler generates from `ocidl.idl`, to which the code of importing files
    /// refers.
    #[doc(hidden)]
    pub mod events = "ocidl"
}
