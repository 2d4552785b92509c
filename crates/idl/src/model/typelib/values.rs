//! Values of constants and defaults.

use obvia_ndr::vartype as vt;

/// A value of a constant or a default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number: its VARTYPE, and its bits, as many as the VARTYPE has.
    Number(u16, u64),
    /// A text.
    Text(String),
}

/// Returns the size of a number in bytes, by its VARTYPE. `None` for other VARTYPEs.
pub(super) const fn size(vartype: u16) -> Option<usize> {
    Some(match vartype {
        vt::I1 | vt::UI1 => 1,
        vt::I2 | vt::UI2 | vt::BOOL => 2,
        vt::EMPTY | vt::NULL | vt::I4 | vt::UI4 | vt::R4 | vt::INT | vt::UINT | vt::ERROR | HRESULT => 4,
        // A null object, the only possible default for objects.
        vt::UNKNOWN | vt::DISPATCH => 4,
        vt::R8 | vt::CY | vt::DATE | vt::I8 | vt::UI8 => 8,
        _ => return None,
    })
}

pub(super) const HRESULT: u16 = 25;

impl Value {
    /// Returns a number with a VARTYPE. Excess high bits are dropped. `None` if the VARTYPE is not
    /// the VARTYPE of a number.
    pub const fn number(vartype: u16, bits: u64) -> Option<Self> {
        match size(vartype) {
            Some(8) => Some(Self::Number(vartype, bits)),
            Some(bytes) => Some(Self::Number(vartype, bits & ((1 << (8 * bytes)) - 1))),
            None => None,
        }
    }
}

/// Writes the value in the notation of IDL.
impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::Number(vartype, bits) => match *vartype {
                vt::I1 => write!(f, "{}", *bits as i8),
                vt::I2 | vt::BOOL => write!(f, "{}", *bits as i16),
                vt::I4 | vt::INT => write!(f, "{}", *bits as i32),
                vt::I8 => write!(f, "{}", *bits as i64),
                vt::R4 => write!(f, "{:?}", f32::from_bits(*bits as u32)),
                vt::R8 | vt::DATE => write!(f, "{:?}", f64::from_bits(*bits)),
                vt::ERROR | HRESULT => write!(f, "{bits:#x}"),
                _ => write!(f, "{bits}"),
            },
        }
    }
}

/// Returns a text as an IDL string, with control characters escaped.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // The escape has three digits, because a shorter escape would absorb a digit that
            // follows it in the text.
            c if c.is_control() => out.push_str(&format!("\\{:03o}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
