//! VARTYPE: the type of a VARIANT, of a SAFEARRAY's elements or of a parameter (MS-OAUT 2.2.7).

/// No value.
pub const EMPTY: u16 = 0;
/// SQL's null.
pub const NULL: u16 = 1;
/// An `i16`.
pub const I2: u16 = 2;
/// An `i32`.
pub const I4: u16 = 3;
/// An `f32`.
pub const R4: u16 = 4;
/// An `f64`.
pub const R8: u16 = 5;
/// A currency value in ten-thousandths, as an `i64`.
pub const CY: u16 = 6;
/// The days since 30 December 1899, as an `f64`.
pub const DATE: u16 = 7;
/// A BSTR, a counted string.
pub const BSTR: u16 = 8;
/// An interface pointer with IDispatch.
pub const DISPATCH: u16 = 9;
/// An HRESULT.
pub const ERROR: u16 = 10;
/// A boolean: 0 or -1 as an `i16`.
pub const BOOL: u16 = 11;
/// A VARIANT.
pub const VARIANT: u16 = 12;
/// An interface pointer.
pub const UNKNOWN: u16 = 13;
/// A decimal number of 96 bits.
pub const DECIMAL: u16 = 14;
/// An `i8`.
pub const I1: u16 = 16;
/// A `u8`.
pub const UI1: u16 = 17;
/// A `u16`.
pub const UI2: u16 = 18;
/// A `u32`.
pub const UI4: u16 = 19;
/// An `i64`.
pub const I8: u16 = 20;
/// A `u64`.
pub const UI8: u16 = 21;
/// An `i32`, like [`I4`].
pub const INT: u16 = 22;
/// A `u32`, like [`UI4`].
pub const UINT: u16 = 23;
/// A SAFEARRAY whose elements have the type in the other bits.
pub const ARRAY: u16 = 0x2000;
/// The address of a value that has the type in the other bits.
pub const BYREF: u16 = 0x4000;
