//! Automation: values that carry their type, and calls by name.

mod bstr;
mod conversions;
pub(crate) mod dispatch;
pub(crate) mod dual;
pub(crate) mod glue;
mod number;
pub(crate) mod remote;
mod safearray;
mod value;
mod variant;
pub mod vt;
pub(crate) mod wire;

pub use bstr::Bstr;
pub use dispatch::IDispatch;
pub use number::{Currency, Decimal};
pub use safearray::Element;
pub use value::{Bound, SafeArray, Variant};
pub use variant::Value;

/// The flag for the call of a method.
pub const DISPATCH_METHOD: u16 = 1;
/// The flag for reading a property.
pub const DISPATCH_PROPERTYGET: u16 = 2;
/// The flag for setting a property.
pub const DISPATCH_PROPERTYPUT: u16 = 4;
/// The flag for setting a property to an object itself rather than to the object's value.
pub const DISPATCH_PROPERTYPUTREF: u16 = 8;
/// The DISPID of the argument with a property's new value.
pub const DISPID_PROPERTYPUT: i32 = -3;
/// The DISPID of an object's default member.
pub const DISPID_VALUE: i32 = 0;

#[cfg(test)]
mod tests;
