//! The integer arithmetic of the preprocessor's conditions, which constant expressions share.

use crate::text::lexer::unescaped;

/// Returns the value of a condition's words. `None` if the words are not an expression, or have no
/// value.
pub(crate) fn evaluate(words: &[&str]) -> ConditionValue {
    let mut arithmetic = Arithmetic { words, at: 0, depth: 0 };
    let value = arithmetic.choice()?;
    if arithmetic.at == words.len() { value } else { None }
}

/// The maximum depth of nested operations in a condition.
const OPERATIONS_MAX: usize = 64;

/// The value of an expression. `None` for a division by zero and for an overflow, which are errors
/// only if the condition depends on the value.
type ConditionValue = Option<i64>;

/// The integer arithmetic of conditions, by precedence climbing. The functions return `None` for
/// words that are not an expression.
struct Arithmetic<'a> {
    words: &'a [&'a str],
    at: usize,
    depth: usize,
}

impl<'a> Arithmetic<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let word = self.words.get(self.at).copied();
        self.at += 1;
        word
    }

    fn expect(&mut self, wanted: &str) -> Option<()> {
        (self.next()? == wanted).then_some(())
    }

    /// Parses `a ? b : c` or a binary expression.
    fn choice(&mut self) -> Option<ConditionValue> {
        self.nested(|this| {
            let condition = this.binary(0)?;
            if this.words.get(this.at) != Some(&"?") {
                return Some(condition);
            }
            this.at += 1;
            let yes = this.choice()?;
            this.expect(":")?;
            let no = this.choice()?;
            Some(condition.and_then(|value| if value == 0 { no } else { yes }))
        })
    }

    fn binary(&mut self, least: u8) -> Option<ConditionValue> {
        let mut left = self.unary()?;
        while let Some(&operator) = self.words.get(self.at) {
            let Some(precedence) = precedence(operator).filter(|&precedence| precedence >= least) else {
                break;
            };
            self.at += 1;
            let right = self.binary(precedence + 1)?;
            left = left.and_then(|left| decided(operator, left).or_else(|| apply(operator, left, right?)));
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<ConditionValue> {
        self.nested(|this| {
            Some(match this.next()? {
                "!" => this.unary()?.map(|value| i64::from(value == 0)),
                "-" => this.unary()?.and_then(i64::checked_neg),
                "+" => this.unary()?,
                "~" => this.unary()?.map(|value| !value),
                "(" => {
                    let value = this.choice()?;
                    this.expect(")")?;
                    value
                }
                number => Some(parse_number(number)?),
            })
        })
    }

    fn nested(&mut self, parse: impl FnOnce(&mut Self) -> Option<ConditionValue>) -> Option<ConditionValue> {
        self.depth += 1;
        if self.depth > OPERATIONS_MAX {
            return None;
        }
        let value = parse(self)?;
        self.depth -= 1;
        Some(value)
    }
}

/// Returns the value of a number or of a character. Characters are signed, as in most compilers.
/// `None` for other words.
fn parse_number(text: &str) -> Option<i64> {
    if text.starts_with('\'') {
        let text = unescaped(text);
        let mut characters = text.chars();
        let only = characters.next().filter(|_| characters.next().is_none())?;
        return u8::try_from(only).ok().map(|value| i64::from(value.cast_signed()));
    }
    let text = text.trim_end_matches(['u', 'U', 'l', 'L']);
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None if text.len() > 1 && text.starts_with('0') => i64::from_str_radix(text, 8).ok(),
        None => text.parse().ok(),
    }
}

/// Returns the precedence of a binary operator of C. A larger number binds tighter. `None` for
/// other operators.
pub(crate) fn precedence(operator: &str) -> Option<u8> {
    Some(match operator {
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" => 4,
        "&" => 5,
        "==" | "!=" => 6,
        "<" | ">" | "<=" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        _ => return None,
    })
}

/// Returns the value of `left && right` or `left || right` if `left` alone decides it. Otherwise
/// `None`.
pub(crate) fn decided(operator: &str, left: i64) -> Option<i64> {
    match operator {
        "&&" if left == 0 => Some(0),
        "||" if left != 0 => Some(1),
        _ => None,
    }
}

/// Applies a binary operator to 64-bit integers. `None` on overflow and on division by zero.
pub(crate) fn apply(operator: &str, left: i64, right: i64) -> Option<i64> {
    Some(match operator {
        "||" => i64::from(left != 0 || right != 0),
        "&&" => i64::from(left != 0 && right != 0),
        "|" => left | right,
        "^" => left ^ right,
        "&" => left & right,
        "==" => i64::from(left == right),
        "!=" => i64::from(left != right),
        "<" => i64::from(left < right),
        ">" => i64::from(left > right),
        "<=" => i64::from(left <= right),
        ">=" => i64::from(left >= right),
        "<<" => left.checked_mul(1_i64.checked_shl(u32::try_from(right).ok().filter(|&by| by < 63)?)?)?,
        ">>" => left.checked_shr(u32::try_from(right).ok()?)?,
        "+" => left.checked_add(right)?,
        "-" => left.checked_sub(right)?,
        "*" => left.checked_mul(right)?,
        "/" => left.checked_div(right)?,
        "%" => left.checked_rem(right)?,
        _ => return None,
    })
}
