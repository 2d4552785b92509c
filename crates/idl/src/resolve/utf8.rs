//! The attribute [utf8], which limits strings of `char` to UTF-8.

use super::Resolver;
use crate::model::{Base, Direction, Extent, Param, PointerClass, Returns, Type};
use crate::plan::{Passing, passing};
use crate::text::diagnostic::Diagnostic;

impl Resolver<'_> {
    /// Reports the parameters with `[utf8]` that are not strings, or that generated code does not
    /// check. `local` is the kind of result of a `[local]` method, and `None` for other methods.
    pub(super) fn check_utf8(&mut self, params: &[Param], local: Option<Returns>) {
        params.iter().filter(|param| param.utf8).for_each(|param| self.check_utf8_of(param, local));
    }

    fn check_utf8_of(&mut self, param: &Param, local: Option<Returns>) {
        const HELP: &str = "[utf8] is for text: write [in, string, utf8] const char *text, with [unique] if it may be \
                            null, or [out, string, utf8] char **text";
        let (why, help) = match (passing(&self.model, param), local) {
            (
                Passing::Text { base: Base::Char, .. } | Passing::OutText(Base::Char),
                Some(Returns::Nothing | Returns::Value),
            ) => {
                // Code in Rust passes the pointers of these methods on without a check of the
                // strings.
                ("is of a [local] method that does not return an HRESULT", "return an HRESULT, or remove [utf8]")
            }
            (Passing::Text { base: Base::Char, .. }, _) | (Passing::OutText(Base::Char), None) => return,
            // Without [retval], only the caller and the callee know the number of strings, so the
            // parameter is a raw pointer in Rust.
            (Passing::OutText(Base::Char), _) if param.retval => return,
            (Passing::OutText(Base::Char), _) => {
                ("is an [out] parameter of a [local] method, and has no [retval]", "add [retval], or remove [utf8]")
            }
            (Passing::Text { .. } | Passing::OutText(_), _) => ("is a string of other elements than char", HELP),
            _ if param.memory.is_some() => ("is of one of Automation's types", HELP),
            (Passing::Array { .. }, _) if param.is_filled_text() => {
                ("is a string in the caller's memory that the method changes", HELP)
            }
            _ => (reason(&param.ty, param.direction), HELP),
        };
        let text = format!("the parameter `{}` cannot have [utf8]: it {why}", param.name);
        self.report(Diagnostic::error("bad-utf8", param.span, text).help(help));
    }
}

/// Returns the reason why a value of a type cannot have `[utf8]`.
fn reason(ty: &Type, direction: Direction) -> &'static str {
    match ty {
        Type::Pointer(pointer) => match &pointer.extent {
            Extent::Text if pointer.class == PointerClass::Full => "is a [ptr] pointer",
            Extent::Text => "is a string in the caller's memory that the method changes",
            Extent::One if is_text(&pointer.to) => reason_behind(direction),
            Extent::Counted { .. } if is_text(&pointer.to) => "is an array of strings",
            _ => "has no [string]",
        },
        Type::Fixed(..) => "is an array of fixed size",
        _ => "has no [string]",
    }
}

/// Returns the reason why a string to which a further pointer leads cannot have `[utf8]`.
const fn reason_behind(direction: Direction) -> &'static str {
    match direction {
        Direction::In => "is a pointer to a pointer",
        Direction::InOut => "is a string that the method replaces",
        Direction::Out => "is a result whose outer pointer may be null",
    }
}

fn is_text(ty: &Type) -> bool {
    matches!(ty, Type::Pointer(pointer) if pointer.extent == Extent::Text)
}
