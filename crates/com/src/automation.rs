//! Automation: values that say of which type they are, and calls by name.

mod bstr;
pub(crate) mod dispatch;
pub(crate) mod dual;
pub(crate) mod glue;
mod number;
pub(crate) mod remote;
mod safearray;
mod variant;
pub mod vt;
pub(crate) mod wire;

pub use bstr::Bstr;
pub use dispatch::IDispatch;
pub use number::{Currency, Decimal};
pub use safearray::{Bound, Element, SafeArray};
pub use variant::{Value, Variant};

/// A member is called.
pub const DISPATCH_METHOD: u16 = 1;
/// A property is read.
pub const DISPATCH_PROPERTYGET: u16 = 2;
/// A property is set.
pub const DISPATCH_PROPERTYPUT: u16 = 4;
/// A property is set to an object itself, and not to its value.
pub const DISPATCH_PROPERTYPUTREF: u16 = 8;
/// The name of the argument that a property is set to.
pub const DISPID_PROPERTYPUT: i32 = -3;
/// The member that an object's value is.
pub const DISPID_VALUE: i32 = 0;

#[cfg(test)]
mod tests;
