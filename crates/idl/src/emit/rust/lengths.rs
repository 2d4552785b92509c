//! The lengths of arrays that share a count: the count that follows from them, and their checks.

use crate::text::writer::Writer;

/// The length of an array that programs pass, as an expression.
pub(super) enum Length {
    /// The length of an array that is never missing.
    Known(String),
    /// The length of an array that may be missing, as an `Option`.
    Optional(String),
}

impl Length {
    /// Returns the length of an array, given its name.
    pub(super) fn of(array: &str, is_optional: bool) -> Self {
        match is_optional {
            true => Self::Optional(format!("{array}.map(|items| items.len())")),
            false => Self::Known(format!("{array}.len()")),
        }
    }

    /// Writes a check of the length. `wanted` is an `Option` with the number of elements.
    pub(super) fn check(&self, out: &mut Writer, wanted: &str) {
        let (or_none, length) = match self {
            Self::Known(length) => ("", length),
            Self::Optional(length) => ("_or_none", length),
        };
        out.line(format!("obvia::rt::check_length{or_none}({length}, {wanted})?;"));
    }

    fn text(&self) -> &str {
        match self {
            Self::Known(text) | Self::Optional(text) => text,
        }
    }
}

/// Writes a variable with the number of elements of the arrays, and checks that all arrays that are
/// not missing have this number. The first array that is not missing gives the number. If all
/// arrays are missing, the number is 0.
pub(super) fn count(out: &mut Writer, variable: &str, mut lengths: Vec<Length>) {
    // Arrays that are never missing come first, so that one of them gives the number.
    lengths.sort_by_key(|length| matches!(length, Length::Optional(_)));
    let Some((first, others)) = lengths.split_first() else { return };
    let (number, wanted) = match first {
        Length::Known(length) => (length.clone(), format!("Some({length})")),
        Length::Optional(length) => {
            let others: String = others.iter().map(|other| format!(".or({})", other.text())).collect();
            let name = variable.split(':').next().unwrap_or(variable);
            (format!("{length}{others}.unwrap_or(0)"), format!("obvia::rt::elements({name})"))
        }
    };
    out.line(format!("let {variable} = obvia::rt::count({number})?;"));
    others.iter().for_each(|other| other.check(out, &wanted));
}
