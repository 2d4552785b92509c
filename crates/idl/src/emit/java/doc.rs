//! Javadoc comments.

use crate::model::{Base, Type};
use crate::text::writer::Writer;

/// A comment: its text and its tags.
#[derive(Debug)]
pub(super) struct Doc {
    text: String,
    tags: Vec<String>,
}

impl Doc {
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), tags: Vec::new() }
    }

    pub(super) fn parameter(&mut self, name: &str, what: &str) {
        self.tags.push(format!("@param {name} {what}"));
    }

    pub(super) fn returns(&mut self, what: &str) {
        self.tags.push(format!("@return {what}"));
    }

    pub(super) fn write(&self, out: &mut Writer) {
        let lines: Vec<&str> = self.text.lines().collect();
        if let ([line], []) = (lines.as_slice(), self.tags.as_slice()) {
            return out.verbatim(&format!("/** {line} */"));
        }
        out.verbatim("/**");
        for line in &lines {
            out.verbatim(format!(" * {line}").trim_end());
        }
        if !lines.is_empty() && !self.tags.is_empty() {
            out.verbatim(" *");
        }
        for tag in &self.tags {
            out.verbatim(&format!(" * {tag}"));
        }
        out.verbatim(" */");
    }
}

/// Returns a comment of the IDL for Javadoc, with escapes for markup and for the comment's end.
pub(super) fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('@', "&#64;");
    text.replace("*/", "*&#47;").replace('\\', "&#92;")
}

/// Returns a description of the properties of a value that its Java type does not express. `None`
/// if the type expresses all properties.
pub(super) fn of_value(ty: &Type) -> Option<String> {
    match ty {
        Type::Base(Base::U8 | Base::U16 | Base::U32 | Base::U64 | Base::Char | Base::Byte) => {
            let Type::Base(base) = ty else { return None };
            Some(format!("an {}", base.idl().replace("byte", "unsigned byte").replace("char", "unsigned char")))
        }
        Type::Base(Base::Hresult) => Some("an HRESULT".to_owned()),
        Type::Fixed(..) => {
            let (_, count) = super::values::flat(ty);
            Some(format!("{count} elements"))
        }
        _ => None,
    }
}
