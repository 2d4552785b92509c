//! The attribute [utf8], which limits strings of `char` to UTF-8.

use super::Resolver;
use crate::model::{Base, Extent, Param, PointerClass, Type};
use crate::plan::{Passing, passing};
use crate::text::diagnostic::Diagnostic;

impl Resolver<'_> {
    /// Reports the parameters that have `[utf8]`, and are no strings that generated code checks.
    pub(super) fn check_utf8(&mut self, params: &[Param], local: bool) {
        params.iter().filter(|param| param.utf8).for_each(|param| self.check_utf8_of(param, local));
    }

    fn check_utf8_of(&mut self, param: &Param, local: bool) {
        let why = match passing(&self.model, param) {
            Passing::Text { base: Base::Char, .. } => return,
            // A result that only the caller and the callee know is a raw pointer in Rust.
            Passing::OutText(Base::Char) if !local || param.retval => return,
            Passing::OutText(Base::Char) => "is a result of a [local] method, without [retval]",
            Passing::Text { .. } | Passing::OutText(_) => "is a string of other elements than char",
            _ => reason(&param.ty),
        };
        let text = format!("[utf8] cannot be: the parameter `{}` {why}", param.name);
        let help = "[utf8] is for text: write [in, string, utf8] const char *text, with [unique] if it may be null, \
                    or [out, string, utf8] char **text";
        self.report(Diagnostic::error("bad-utf8", param.span, text).help(help));
    }
}

/// Returns the reason why a value of a type is no string that can have `[utf8]`.
fn reason(ty: &Type) -> &'static str {
    let is_text = |ty: &Type| matches!(ty, Type::Pointer(pointer) if pointer.extent == Extent::Text);
    match ty {
        Type::Pointer(pointer) => match &pointer.extent {
            Extent::Text if pointer.class == PointerClass::Full => "is a [ptr] pointer",
            Extent::Text => "is a string in the caller's memory that the method changes",
            Extent::One if is_text(&pointer.to) => "is a string that the method replaces, or a pointer to a pointer",
            Extent::Counted { .. } if is_text(&pointer.to) => "is an array of strings",
            _ => "has no [string]",
        },
        _ => "has no [string]",
    }
}
