//! Numbers of Automation, and what one type of value becomes as another.

use super::bstr::Bstr;
use super::variant::{Value, Variant};
use super::vt;
use crate::error::{Error, Result, code};
use std::fmt;
use windows_core::Interface;

/// An amount of money: ten-thousandths.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency(pub i64);

/// A number of 96 bits and a sign, divided by a power of ten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Decimal {
    /// The power: 0 to 28.
    pub scale: u8,
    /// Whether it is less than zero.
    pub negative: bool,
    /// The upper 32 bits.
    pub high: u32,
    /// The lower 64 bits.
    pub low: u64,
}

/// The greatest power of ten that a DECIMAL is divided by.
const SCALE_MAX: u8 = 28;
/// What a number of 96 bits is less than.
const DECIMAL_END: u128 = 1 << 96;

/// A number on its way from one type to another.
#[derive(Clone, Copy)]
enum Number {
    /// So many, divided by ten to the power.
    Exact(i128, u8),
    /// With a fraction of two.
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

/// A number with a point, without zeros at its end.
fn digits(magnitude: u128, scale: u8) -> String {
    let scale = usize::from(scale.min(SCALE_MAX));
    let text = format!("{magnitude:0>width$}", width = scale + 1);
    let (whole, rest) = text.split_at(text.len() - scale);
    let rest = rest.trim_end_matches('0');
    if rest.is_empty() { whole.to_owned() } else { format!("{whole}.{rest}") }
}

/// Divides by ten to a power, to the nearest, and to the even one of two.
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

    /// A number as it is written: exactly, where it is not too long for that.
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
                // Every integer type is narrower, and NaN is in no range.
                if rounded.abs() < 1e30 { Ok(rounded as i128) } else { Err(overflow()) }
            }
        }
    }

    fn float(self) -> f64 {
        match self {
            Self::Exact(value, 0) => value as f64,
            // To the nearest, which a division of two rounded numbers is not always.
            Self::Exact(value, power) => {
                let sign = if value < 0 { "-" } else { "" };
                format!("{sign}{}", digits(value.unsigned_abs(), power)).parse().unwrap_or(f64::NAN)
            }
            Self::Float(value) => value,
        }
    }

    /// So many parts of ten to a power.
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
            // As many digits as a double has.
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
    /// What it is as another type: numbers, booleans and texts become one another, objects another interface, and arrays others element by
    /// element.
    ///
    /// Numbers are rounded to the nearest, and to the even one of two. `True` and `False` are texts of booleans; every number but zero is
    /// true.
    ///
    /// # Errors
    ///
    /// DISP_E_TYPEMISMATCH where it does not become that; DISP_E_OVERFLOW where it is beyond the range; DISP_E_BADVARTYPE for a type that
    /// nothing has; E_NOINTERFACE for an object without IDispatch.
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
            // A text is as short as one that reads as the same.
            (Value::R4(value), vt::BSTR) => Value::Text(Bstr::from(value.to_string().as_str())),
            _ => Number::of(&value, from, to)?.into(to)?,
        };
        let mut made = Self::from(made);
        // VT_INT and VT_UINT are types of their own to those who ask for them.
        made.set_type(to);
        Ok(made)
    }
}
