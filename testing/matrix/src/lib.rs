//! Interfaces with every construct of the IDL, and objects that implement them.

/// Structures with pointers.
mod shapes_idl {
    obvia::include_idl!("shapes");
}
/// Values, arrays, strings and objects.
mod values_idl {
    obvia::include_idl!("values");
}
pub use shapes_idl::*;
pub use values_idl::{
    IBaseValues, IBaseValues_Impl, IBaseValues_Vtbl, IValues, IValues_Impl, IValues_Vtbl, Line, Mode, Point,
};

pub mod shapes;
pub mod values;
