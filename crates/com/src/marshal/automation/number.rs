//! The numbers of Automation: amounts of money, decimal numbers, and their arithmetic.

use crate::types::error::{Error, Result, code};
use std::fmt;

/// An amount of money in ten-thousandths of the currency's unit.
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
pub(super) enum Number {
    /// An integer divided by a power of ten with this exponent.
    Exact(i128, u8),
    /// A binary floating-point number.
    Float(f64),
}

pub(super) fn overflow() -> Error {
    Error::new(code::DISP_E_OVERFLOW, "a value is beyond the range of its parameter's type")
}

impl Decimal {
    const fn magnitude(self) -> u128 {
        (self.high as u128) << 64 | self.low as u128
    }

    pub(super) fn number(self) -> Result<Number> {
        if self.scale > SCALE_MAX {
            return Err(Error::new(code::E_INVALIDARG, "the scale of a DECIMAL is too large"));
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
    /// Parses a number exactly, or as a double if the text has too many digits or an exponent.
    /// `None` if the text is no finite number.
    pub(super) fn parse(text: &str) -> Option<Self> {
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

    pub(super) fn integer(self) -> Result<i128> {
        match self {
            Self::Exact(value, power) => Ok(divided(value, power)),
            Self::Float(value) => {
                let rounded = value.round_ties_even();
                // Every integer type is narrower than this bound, and NaN fails the comparison.
                if rounded.abs() < 1e30 { Ok(rounded as i128) } else { Err(overflow()) }
            }
        }
    }

    pub(super) fn float(self) -> f64 {
        match self {
            Self::Exact(value, 0) => value as f64,
            // Parsing the number's decimal text yields the nearest double. Dividing two rounded
            // numbers might not.
            Self::Exact(value, power) => {
                let sign = if value < 0 { "-" } else { "" };
                format!("{sign}{}", digits(value.unsigned_abs(), power)).parse().unwrap_or(f64::NAN)
            }
            Self::Float(value) => value,
        }
    }

    /// Returns the number multiplied by ten to the `power`, and rounded to an integer.
    pub(super) fn scaled(self, power: u8) -> Result<i128> {
        match self {
            Self::Exact(value, own) if own <= power => {
                value.checked_mul(10_i128.pow((power - own).into())).ok_or_else(overflow)
            }
            Self::Exact(value, own) => Ok(divided(value, own - power)),
            Self::Float(value) => Self::Float(value * 10_f64.powi(power.into())).integer(),
        }
    }

    pub(super) fn decimal(self) -> Result<Decimal> {
        let (value, scale) = match self {
            Self::Exact(value, scale) => (value, scale),
            // The DECIMAL gets the digits of the shortest text that parses to exactly this double.
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

    pub(super) fn text(self) -> String {
        match self {
            Self::Exact(value, power) => {
                let sign = if value < 0 { "-" } else { "" };
                format!("{sign}{}", digits(value.unsigned_abs(), power))
            }
            Self::Float(value) => value.to_string(),
        }
    }
}
