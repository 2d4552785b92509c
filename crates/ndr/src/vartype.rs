//! VARTYPE: what a VARIANT, an element of a SAFEARRAY or a parameter holds (MS-OAUT 2.2.7).

/// Nothing.
pub const EMPTY: u16 = 0;
/// No value, as a database has it.
pub const NULL: u16 = 1;
/// An `i16`.
pub const I2: u16 = 2;
/// An `i32`.
pub const I4: u16 = 3;
/// An `f32`.
pub const R4: u16 = 4;
/// An `f64`.
pub const R8: u16 = 5;
/// A currency: ten thousandths in an `i64`.
pub const CY: u16 = 6;
/// Days since 30 December 1899, as an `f64`.
pub const DATE: u16 = 7;
/// A BSTR: counted text.
pub const BSTR: u16 = 8;
/// An object with IDispatch.
pub const DISPATCH: u16 = 9;
/// An HRESULT.
pub const ERROR: u16 = 10;
/// 0 or -1 as an `i16`.
pub const BOOL: u16 = 11;
/// A VARIANT.
pub const VARIANT: u16 = 12;
/// An object.
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
/// As [`I4`].
pub const INT: u16 = 22;
/// As [`UI4`].
pub const UINT: u16 = 23;
/// A SAFEARRAY of what the other bits say.
pub const ARRAY: u16 = 0x2000;
/// The address of what the other bits say.
pub const BYREF: u16 = 0x4000;
