//! The interfaces of the compiler's own `ocidl.idl`, generated here once for all programs.

crate::include_idl! {
    /// The code that the compiler generates from `ocidl.idl`. Code that is generated from other
    /// files, if they import `ocidl.idl`, refers to this module.
    #[doc(hidden)]
    pub mod events = "ocidl"
}
