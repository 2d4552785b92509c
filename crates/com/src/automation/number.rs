//! The numbers of Automation, and the conversions between types of values.

use super::bstr::Bstr;
use super::variant::{Value, Variant};
use super::vt;
use crate::error::{Error, Result, code};
use std::fmt;
use windows_core::Interface;

/// An amount of money in ten-thousandths.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency(pub i64);

/// A number of 96 bits with a sign, divided by a power of ten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Decimal {
    /// The exponent of the power of ten: 0 to 28.
    pub scale: u8,
    /// Whether the number is negative.
    pub negative: bool,
    /// The upper 32 bits.
    pub high: u32,
    /// The lower 64 bits.
    pub low: u64,
}

/// The greatest exponent of a DECIMAL's power of ten.
const SCALE_MAX: u8 = 28;
/// The least number that does not fit 96 bits.
const DECIMAL_END: u128 = 1 << 96;

/// A number during its conversion between types.
#[derive(Clone, Copy)]
enum Number {
    /// An integer divided by a power of ten with this exponent.
    Exact(i128, u8),
    /// A binary floating-point number.
    Float(f64),
}

fn overflow() -> Error {
    Error::new(code::DISP_E_OVERFLOW, "a value is beyond the range of its parameter's type")
}

fn mismatch(from: u16, to: u16) -> Error {
    Error::new(code::DISP_E_TYPEMISMATCH, format!("a value of type {from:#x} does not become one of type {to:#x}"))
}

impl Decimal {
    const fn magnitude(self) -> u128 {
        (self.high as u128) << 64 | self.low as u128
    }

    fn number(self) -> Result<Number> {
        if self.scale > SCALE_MAX {
            return Err(Error::new(code::E_INVALIDARG, "a DECIMAL is divided by too high a power"));
        }
        let magnitude = self.magnitude().cast_signed();
        Ok(Number::Exact(if self.negative { -magnitude } else { magnitude }, self.scale))
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.negative { "-" } else { "" };
        write!(f, "{sign}{}", digits(self.magnitude(), self.scale))
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}{}", digits(self.0.unsigned_abs().into(), 4))
    }
}

/// Formats a decimal fraction without trailing zeros.
fn digits(magnitude: u128, scale: u8) -> String {
    let scale = usize::from(scale.min(SCALE_MAX));
    let text = format!("{magnitude:0>width$}", width = scale + 1);
    let (whole, rest) = text.split_at(text.len() - scale);
    let rest = rest.trim_end_matches('0');
    if rest.is_empty() { whole.to_owned() } else { format!("{whole}.{rest}") }
}

/// Divides by a power of ten and rounds to the nearest integer, ties to even.
fn divided(value: i128, power: u8) -> i128 {
    let by = 10_i128.pow(power.into());
    let (whole, rest) = (value.div_euclid(by), value.rem_euclid(by));
    match (rest * 2).cmp(&by) {
        std::cmp::Ordering::Less => whole,
        std::cmp::Ordering::Equal => whole + (whole & 1),
        std::cmp::Ordering::Greater => whole + 1,
    }
}

impl Number {
    fn of(value: &Value, from: u16, to: u16) -> Result<Self> {
        let exact = |value: i128| Ok(Self::Exact(value, 0));
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
            Value::Currency(value) => Ok(Self::Exact(value.0.into(), 4)),
            Value::Decimal(value) => value.number(),
            Value::R4(value) => Ok(Self::Float((*value).into())),
            Value::R8(value) | Value::Date(value) => Ok(Self::Float(*value)),
            Value::Text(text) => Self::parse(&text.to_string()).ok_or_else(|| mismatch(from, to)),
            _ => Err(mismatch(from, to)),
        }
    }

    /// Parses a number exactly, or as a double where it has too many digits or an exponent.
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
        let is_exact = !(whole.is_empty() && rest.is_empty())
            && rest.len() <= SCALE_MAX.into()
            && rest.bytes().all(|digit| digit.is_ascii_digit());
        if is_exact
            && let Ok(value) = format!("{whole}{rest}").parse::<i128>()
            && value.unsigned_abs() < DECIMAL_END
        {
            return Some(Self::Exact(value, rest.len() as u8));
        }
        text.parse::<f64>().ok().filter(|value| value.is_finite()).map(Self::Float)
    }

    fn integer(self) -> Result<i128> {
        match self {
            Self::Exact(value, power) => Ok(divided(value, power)),
            Self::Float(value) => {
                let rounded = value.round_ties_even();
                // Every integer type is narrower than this bound, and NaN fails the comparison.
                if rounded.abs() < 1e30 { Ok(rounded as i128) } else { Err(overflow()) }
            }
        }
    }

    fn float(self) -> f64 {
        match self {
            Self::Exact(value, 0) => value as f64,
            // The text is parsed to get the nearest double. A division of two rounded numbers might
            // not be the nearest.
            Self::Exact(value, power) => {
                let sign = if value < 0 { "-" } else { "" };
                format!("{sign}{}", digits(value.unsigned_abs(), power)).parse().unwrap_or(f64::NAN)
            }
            Self::Float(value) => value,
        }
    }

    /// Returns the number in units of a power of ten.
    fn scaled(self, power: u8) -> Result<i128> {
        match self {
            Self::Exact(value, own) if own <= power => {
                value.checked_mul(10_i128.pow((power - own).into())).ok_or_else(overflow)
            }
            Self::Exact(value, own) => Ok(divided(value, own - power)),
            Self::Float(value) => Self::Float(value * 10_f64.powi(power.into())).integer(),
        }
    }

    fn decimal(self) -> Result<Decimal> {
        let (value, scale) = match self {
            Self::Exact(value, scale) => (value, scale),
            // The shortest text of the double has all of its digits.
            Self::Float(value) => match Self::parse(&value.to_string()) {
                Some(Self::Exact(value, scale)) => (value, scale),
                _ => (self.integer()?, 0),
            },
        };
        let magnitude = value.unsigned_abs();
        if magnitude >= DECIMAL_END {
            return Err(overflow());
        }
        Ok(Decimal { scale, negative: value < 0, high: (magnitude >> 64) as u32, low: magnitude as u64 })
    }

    fn text(self) -> String {
        match self {
            Self::Exact(value, power) => {
                let sign = if value < 0 { "-" } else { "" };
                format!("{sign}{}", digits(value.unsigned_abs(), power))
            }
            Self::Float(value) => value.to_string(),
        }
    }

    fn into(self, vt: u16) -> Result<Value> {
        fn fit<T: TryFrom<i128>>(value: i128) -> Result<T> {
            T::try_from(value).map_err(|_| overflow())
        }
        Ok(match vt {
            vt::I1 => Value::I1(fit(self.integer()?)?),
            vt::I2 => Value::I2(fit(self.integer()?)?),
            vt::I4 | vt::INT => Value::I4(fit(self.integer()?)?),
            vt::I8 => Value::I8(fit(self.integer()?)?),
            vt::UI1 => Value::Ui1(fit(self.integer()?)?),
            vt::UI2 => Value::Ui2(fit(self.integer()?)?),
            vt::UI4 | vt::UINT => Value::Ui4(fit(self.integer()?)?),
            vt::UI8 => Value::Ui8(fit(self.integer()?)?),
            vt::R4 => {
                let (wide, narrow) = (self.float(), self.float() as f32);
                if wide.is_finite() && !narrow.is_finite() {
                    return Err(overflow());
                }
                Value::R4(narrow)
            }
            vt::R8 => Value::R8(self.float()),
            vt::DATE => Value::Date(self.float()),
            vt::BOOL => Value::Bool(match self {
                Self::Exact(value, _) => value != 0,
                Self::Float(value) => value != 0.0,
            }),
            vt::CY => Value::Currency(Currency(fit(self.scaled(4)?)?)),
            vt::DECIMAL => Value::Decimal(self.decimal()?),
            _ => Value::Text(Bstr::from(self.text().as_str())),
        })
    }
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
            // The shortest text of the `f32` is used, which has fewer digits than that of the
            // `f64`.
            (Value::R4(value), vt::BSTR) => Value::Text(Bstr::from(value.to_string().as_str())),
            _ => Number::of(&value, from, to)?.into(to)?,
        };
        let mut made = Self::from(made);
        // VT_INT and VT_UINT are distinct types with the values of VT_I4 and VT_UI4.
        made.set_type(to);
        Ok(made)
    }
}
