//! The conversions between types of values.

use super::bstr::Bstr;
use super::number::{Currency, Decimal, Number, overflow};
use super::value::{SafeArray, Variant};
use super::variant::Value;
use super::vt;
use crate::types::error::{Error, Result, code};
use windows_core::Interface;

fn mismatch(from: u16, to: u16) -> Error {
    Error::new(code::DISP_E_TYPEMISMATCH, format!("a value of type {from:#x} cannot be converted to type {to:#x}"))
}

fn number_of(value: &Value, from: u16, to: u16) -> Result<Number> {
    let exact = |value: i128| Ok(Number::Exact(value, 0));
    match value {
        Value::Empty => exact(0),
        Value::I1(value) => exact((*value).into()),
        Value::I2(value) => exact((*value).into()),
        Value::I4(value) => exact((*value).into()),
        Value::I8(value) => exact((*value).into()),
        Value::Ui1(value) => exact((*value).into()),
        Value::Ui2(value) => exact((*value).into()),
        Value::Ui4(value) => exact((*value).into()),
        Value::Ui8(value) => exact((*value).into()),
        Value::Bool(value) => exact(-i128::from(*value)),
        Value::Currency(value) => Ok(Number::Exact(value.0.into(), 4)),
        Value::Decimal(value) => value.number(),
        Value::R4(value) => Ok(Number::Float((*value).into())),
        Value::R8(value) | Value::Date(value) => Ok(Number::Float(*value)),
        Value::Text(text) => Number::parse(&text.to_string()).ok_or_else(|| mismatch(from, to)),
        _ => Err(mismatch(from, to)),
    }
}

fn value_of(number: Number, vt: u16) -> Result<Value> {
    fn fit<T: TryFrom<i128>>(value: i128) -> Result<T> {
        T::try_from(value).map_err(|_| overflow())
    }
    Ok(match vt {
        vt::I1 => Value::I1(fit(number.integer()?)?),
        vt::I2 => Value::I2(fit(number.integer()?)?),
        vt::I4 | vt::INT => Value::I4(fit(number.integer()?)?),
        vt::I8 => Value::I8(fit(number.integer()?)?),
        vt::UI1 => Value::Ui1(fit(number.integer()?)?),
        vt::UI2 => Value::Ui2(fit(number.integer()?)?),
        vt::UI4 | vt::UINT => Value::Ui4(fit(number.integer()?)?),
        vt::UI8 => Value::Ui8(fit(number.integer()?)?),
        vt::R4 => {
            let (wide, narrow) = (number.float(), number.float() as f32);
            if wide.is_finite() && !narrow.is_finite() {
                return Err(overflow());
            }
            Value::R4(narrow)
        }
        vt::R8 => Value::R8(number.float()),
        vt::DATE => Value::Date(number.float()),
        vt::BOOL => Value::Bool(match number {
            Number::Exact(value, _) => value != 0,
            Number::Float(value) => value != 0.0,
        }),
        vt::CY => Value::Currency(Currency(fit(number.scaled(4)?)?)),
        vt::DECIMAL => Value::Decimal(number.decimal()?),
        _ => Value::Text(Bstr::from(number.text().as_str())),
    })
}

impl Variant {
    /// Converts the value to another type. Numbers, booleans and texts convert to one another,
    /// objects to another interface, and arrays element by element.
    ///
    /// Numbers are rounded to the nearest, ties to even. `True` and `False` are the texts of
    /// booleans; every number but zero is true.
    ///
    /// # Errors
    ///
    /// DISP_E_TYPEMISMATCH where no such conversion exists; DISP_E_OVERFLOW where the value is
    /// beyond the range; DISP_E_BADVARTYPE for an invalid type; E_NOINTERFACE for an object without
    /// IDispatch.
    pub fn change_type(&self, to: u16) -> Result<Self> {
        let from = self.vt();
        if from == to || to == vt::VARIANT || from & !vt::BYREF == to {
            return self.copy();
        }
        if !vt::is_known(to) {
            return Err(vt::unknown(to));
        }
        let value = self.value()?;
        let made = match (&value, to) {
            (_, vt::EMPTY) if value == Value::Empty => Value::Empty,
            (Value::Dispatch(object), vt::UNKNOWN) => Value::Unknown(object.clone().map(Into::into)),
            (Value::Unknown(Some(object)), vt::DISPATCH) => Value::Dispatch(Some(object.cast()?)),
            (Value::Empty | Value::Unknown(None), vt::DISPATCH) => Value::Dispatch(None),
            (Value::Empty, vt::UNKNOWN) => Value::Unknown(None),
            (Value::Error(code), vt::ERROR) => Value::Error(*code),
            (Value::Array(array), _) if to & vt::ARRAY != 0 => Value::Array(array.of_type(to & !vt::ARRAY)?),
            (Value::Array(_), _) | (_, vt::EMPTY | vt::NULL | vt::UNKNOWN | vt::DISPATCH | vt::ERROR) => {
                return Err(mismatch(from, to));
            }
            (_, _) if to & (vt::ARRAY | vt::BYREF) != 0 => return Err(mismatch(from, to)),
            (Value::Empty, vt::BSTR) => Value::Text(Bstr::new()),
            (Value::Bool(value), vt::BSTR) => Value::Text(Bstr::from(if *value { "True" } else { "False" })),
            (Value::Text(text), vt::BOOL) if text.to_string().eq_ignore_ascii_case("true") => Value::Bool(true),
            (Value::Text(text), vt::BOOL) if text.to_string().eq_ignore_ascii_case("false") => Value::Bool(false),
            // The text is made from the `f32`. The same value as an `f64` would have more digits.
            (Value::R4(value), vt::BSTR) => Value::Text(Bstr::from(value.to_string().as_str())),
            _ => value_of(number_of(&value, from, to)?, to)?,
        };
        let mut made = Self::from(made);
        // VT_INT and VT_UINT are distinct types with the values of VT_I4 and VT_UI4.
        made.set_type(to);
        Ok(made)
    }
}

impl SafeArray {
    /// Makes an array of one dimension with lower bound 0 from these values.
    ///
    /// # Errors
    ///
    /// As for [`Self::with_bounds`]; the error of [`Variant::change_type`] for a value that cannot
    /// be converted.
    pub fn of_variants(vt: u16, elements: &[Variant]) -> Result<Self> {
        let mut made = Self::vector(vt, elements.len())?;
        for (at, element) in elements.iter().enumerate() {
            made.put(at, element)?;
        }
        Ok(made)
    }

    /// Replaces an element.
    ///
    /// # Errors
    ///
    /// DISP_E_BADINDEX for indices out of bounds; DISP_E_TYPEMISMATCH or DISP_E_OVERFLOW where the
    /// value cannot be converted to the elements' type.
    pub fn set(&mut self, indices: &[i32], value: &Variant) -> Result<()> {
        self.put(self.position(indices)?, value)
    }

    fn put(&mut self, at: usize, value: &Variant) -> Result<()> {
        let value = value.change_type(self.vt())?;
        self.replace(at, value)
    }

    /// Returns an array with the elements converted to another type.
    pub(crate) fn of_type(&self, vt: u16) -> Result<Self> {
        let mut made = Self::with_bounds(vt, &self.bounds())?;
        for at in 0..self.len() {
            made.put(at, &self.element(at)?)?;
        }
        Ok(made)
    }
}

/// Implements the conversions of a Rust type to a variant (`From`) and back (`TryFrom`).
macro_rules! held {
    ($($ty:ty, $value:ident, $vt:ident;)*) => {$(
        impl From<$ty> for Variant {
            fn from(value: $ty) -> Self {
                Value::$value(value).into()
            }
        }

        impl TryFrom<&Variant> for $ty {
            type Error = Error;
            fn try_from(value: &Variant) -> Result<Self> {
                match value.change_type(vt::$vt)?.value()? {
                    Value::$value(value) => Ok(value),
                    _ => Err(code::DISP_E_TYPEMISMATCH.into()),
                }
            }
        }
    )*};
}

held! {
    i8, I1, I1;
    i16, I2, I2;
    i32, I4, I4;
    i64, I8, I8;
    u8, Ui1, UI1;
    u16, Ui2, UI2;
    u32, Ui4, UI4;
    u64, Ui8, UI8;
    f32, R4, R4;
    f64, R8, R8;
    bool, Bool, BOOL;
    Currency, Currency, CY;
    Decimal, Decimal, DECIMAL;
    Bstr, Text, BSTR;
}

impl TryFrom<&Variant> for String {
    type Error = Error;
    fn try_from(value: &Variant) -> Result<Self> {
        Ok(Bstr::try_from(value)?.to_string())
    }
}
