//! VARIANT: a value that carries its type.

use super::bstr::Bstr;
use super::dispatch::IDispatch;
use super::number::{Currency, Decimal};
use super::safearray::check_value;
use super::value::{SafeArray, Variant, into_raw};
use super::vt;
use crate::types::agile::sealed;
use crate::types::error::{Result, code};
use std::fmt;
use std::ptr::{null_mut, without_provenance_mut};
use windows_core::{HRESULT, IUnknown, Interface};

/// The value of a [`Variant`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// The value of an uninitialised variable.
    Empty,
    /// The null value of databases.
    Null,
    /// `VT_I1`.
    I1(i8),
    /// `VT_I2`.
    I2(i16),
    /// `VT_I4` and `VT_INT`.
    I4(i32),
    /// `VT_I8`.
    I8(i64),
    /// `VT_UI1`.
    Ui1(u8),
    /// `VT_UI2`.
    Ui2(u16),
    /// `VT_UI4` and `VT_UINT`.
    Ui4(u32),
    /// `VT_UI8`.
    Ui8(u64),
    /// `VT_R4`.
    R4(f32),
    /// `VT_R8`.
    R8(f64),
    /// `VT_BOOL`.
    Bool(bool),
    /// `VT_ERROR`: an HRESULT, for example that of [`Variant::missing`].
    Error(HRESULT),
    /// `VT_CY`.
    Currency(Currency),
    /// `VT_DATE`: days since 30 December 1899.
    Date(f64),
    /// `VT_DECIMAL`.
    Decimal(Decimal),
    /// `VT_BSTR`.
    Text(Bstr),
    /// `VT_UNKNOWN`.
    Unknown(Option<IUnknown>),
    /// `VT_DISPATCH`.
    Dispatch(Option<IDispatch>),
    /// `VT_ARRAY` with the type of its elements.
    Array(SafeArray),
}

impl Variant {
    /// Returns the value for an omitted optional argument.
    pub const fn missing() -> Self {
        Self::of_bits(vt::ERROR, code::DISP_E_PARAMNOTFOUND.0.cast_unsigned() as u64)
    }

    /// Returns a `VT_NULL`.
    pub const fn null() -> Self {
        Self::zero(vt::NULL)
    }

    /// Makes a value of an HRESULT.
    pub fn error(code: HRESULT) -> Self {
        Self::of_bits(vt::ERROR, code.0.cast_unsigned().into())
    }

    /// Makes a date: days since 30 December 1899, with the time of day as the fraction.
    pub fn date(days: f64) -> Self {
        Self::of_bits(vt::DATE, days.to_bits())
    }

    /// Makes a value of an object with IDispatch; `None` makes a null object.
    pub fn dispatch(object: Option<IDispatch>) -> Self {
        Self::of_pointer(vt::DISPATCH, into_raw(object.map(IUnknown::from)))
    }

    /// Whether the value marks an omitted optional argument.
    pub fn is_missing(&self) -> bool {
        self.vt == vt::ERROR && self.bits() as u32 == code::DISP_E_PARAMNOTFOUND.0.cast_unsigned()
    }

    fn decimal(&self) -> Decimal {
        let [scale, low, high] = self.reserved;
        Decimal {
            scale: scale as u8,
            negative: scale >> 8 != 0,
            high: u32::from(low) | u32::from(high) << 16,
            low: self.bits(),
        }
    }

    /// Returns the value, or the value of the target if the variant is by reference.
    ///
    /// # Errors
    ///
    /// As for [`Self::copy`].
    pub fn value(&self) -> Result<Value> {
        if self.target().is_some() {
            return self.copy()?.value();
        }
        let bits = self.bits();
        Ok(match self.vt {
            vt::EMPTY => Value::Empty,
            vt::NULL => Value::Null,
            vt::I1 => Value::I1(bits as i8),
            vt::I2 => Value::I2(bits as i16),
            vt::I4 | vt::INT => Value::I4(bits as i32),
            vt::I8 => Value::I8(bits as i64),
            vt::UI1 => Value::Ui1(bits as u8),
            vt::UI2 => Value::Ui2(bits as u16),
            vt::UI4 | vt::UINT => Value::Ui4(bits as u32),
            vt::UI8 => Value::Ui8(bits),
            vt::R4 => Value::R4(f32::from_bits(bits as u32)),
            vt::R8 => Value::R8(f64::from_bits(bits)),
            vt::BOOL => Value::Bool(bits as u16 != 0),
            vt::ERROR => Value::Error(HRESULT(bits as i32)),
            vt::CY => Value::Currency(Currency(bits as i64)),
            vt::DATE => Value::Date(f64::from_bits(bits)),
            vt::DECIMAL => Value::Decimal(self.decimal()),
            vt::BSTR => Value::Text(self.as_bstr().cloned().unwrap_or_default()),
            vt::UNKNOWN => Value::Unknown(self.object()),
            vt::DISPATCH => {
                Value::Dispatch(self.object().map(|object| {
                    // SAFETY: by the invariant, the object is an IDispatch.
                    unsafe { IDispatch::from_raw(object.into_raw()) }
                }))
            }
            _ => match self.as_array() {
                Some(array) => Value::Array(array.copy()?),
                None => return Err(vt::unknown(self.vt)),
            },
        })
    }
}

impl Default for Variant {
    fn default() -> Self {
        Self::new()
    }
}

/// # Panics
///
/// If [`Variant::copy`] fails.
impl Clone for Variant {
    fn clone(&self) -> Self {
        self.copy().expect("a value that can be copied")
    }
}

impl PartialEq for Variant {
    fn eq(&self, other: &Self) -> bool {
        matches!((self.value(), other.value()), (Ok(own), Ok(other)) if own == other)
    }
}

impl fmt::Debug for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value() {
            Ok(value) => value.fmt(f),
            Err(_) => write!(f, "VT {:#x}", self.vt),
        }
    }
}

impl From<Value> for Variant {
    fn from(value: Value) -> Self {
        match value {
            Value::Empty => Self::new(),
            Value::Null => Self::null(),
            Value::I1(value) => Self::of_bits(vt::I1, value as u8 as u64),
            Value::I2(value) => Self::of_bits(vt::I2, value as u16 as u64),
            Value::I4(value) => Self::of_bits(vt::I4, value as u32 as u64),
            Value::I8(value) => Self::of_bits(vt::I8, value as u64),
            Value::Ui1(value) => Self::of_bits(vt::UI1, value.into()),
            Value::Ui2(value) => Self::of_bits(vt::UI2, value.into()),
            Value::Ui4(value) => Self::of_bits(vt::UI4, value.into()),
            Value::Ui8(value) => Self::of_bits(vt::UI8, value),
            Value::R4(value) => Self::of_bits(vt::R4, value.to_bits().into()),
            Value::R8(value) => Self::of_bits(vt::R8, value.to_bits()),
            Value::Bool(value) => Self::of_bits(vt::BOOL, if value { 0xffff } else { 0 }),
            Value::Error(code) => Self::error(code),
            Value::Currency(value) => Self::of_bits(vt::CY, value.0 as u64),
            Value::Date(days) => Self::date(days),
            Value::Decimal(value) => {
                let scale = u16::from(value.scale) | if value.negative { 0x8000 } else { 0 };
                let reserved = [scale, value.high as u16, (value.high >> 16) as u16];
                Self { vt: vt::DECIMAL, reserved, data: [without_provenance_mut(value.low as usize), null_mut()] }
            }
            Value::Text(text) => Self::of_pointer(vt::BSTR, text.into_raw().cast()),
            Value::Unknown(object) => Self::of_pointer(vt::UNKNOWN, into_raw(object)),
            Value::Dispatch(object) => Self::dispatch(object),
            Value::Array(array) => Self::of_pointer(vt::ARRAY | array.vt(), array.into_raw()),
        }
    }
}

impl From<&str> for Variant {
    fn from(text: &str) -> Self {
        Bstr::from(text).into()
    }
}

impl From<SafeArray> for Variant {
    fn from(array: SafeArray) -> Self {
        Value::Array(array).into()
    }
}

impl From<IDispatch> for Variant {
    fn from(object: IDispatch) -> Self {
        Self::dispatch(Some(object))
    }
}

impl From<IUnknown> for Variant {
    fn from(object: IUnknown) -> Self {
        Value::Unknown(Some(object)).into()
    }
}

impl sealed::Sealed for Variant {
    fn shared(&self) -> Result<Self> {
        let copy = self.copy()?;
        check_value(&copy)?;
        Ok(copy)
    }
}
