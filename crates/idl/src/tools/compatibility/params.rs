//! Comparison of the parameters of methods.

use super::changes::Kind;
use super::comparison::Comparison;
use super::types::{Place, Scope};
use crate::model::automation::element_name;
use crate::model::{Direction, Memory, Model, Param, Transfer, Variant};
use crate::text::source::Span;
use crate::tools::notation::{type_text, value_text};

impl<'m> Comparison<'m> {
    /// Compares two lists of parameters. `is_described` says whether the method is called by name.
    pub(super) fn params(
        &mut self,
        method: &str,
        span: Span,
        (old, new): (&'m [Param], &'m [Param]),
        is_described: bool,
    ) {
        let before: Vec<&str> = old.iter().map(|param| param.name.as_str()).collect();
        let now: Vec<&str> = new.iter().map(|param| param.name.as_str()).collect();
        let (old_model, new_model) = (self.old, self.new);
        let is_same = |a: usize, b: usize| signature(old_model, &old[a..=a]) == signature(new_model, &new[b..=b]);
        let scope = Scope::of(before, now, is_same);
        let kinds = [Kind::ParamRemoved, Kind::ParamAdded, Kind::ParamMoved];
        self.parts((method, span), ("parameter", kinds), &scope, |at| new[at].span);
        for &(a, b) in &scope.alignment.pairs {
            let (a, b) = (&old[a], &new[b]);
            let subject = format!("the parameter `{}` of {method}", b.name);
            if a.name != b.name {
                let message = format!("{subject} was called `{}`", a.name);
                self.report(Kind::ParamRenamed, Some(b.span), message);
            }
            self.param(&subject, (a, b), &scope, is_described);
        }
    }

    /// Compares two parameters, their names excluded.
    pub(super) fn param(
        &mut self,
        subject: &str,
        (old, new): (&'m Param, &'m Param),
        scope: &Scope<'_>,
        is_described: bool,
    ) {
        let mut changes = Vec::new();
        let mut compare = |kind: Kind, before: String, now: String| {
            if before != now {
                changes.push((kind, before, now));
            }
        };
        compare(Kind::ParamDirection, direction(old.direction).to_owned(), direction(new.direction).to_owned());
        let retval = |param: &Param| if param.retval { "[retval]" } else { "no [retval]" }.to_owned();
        compare(Kind::ParamRetval, retval(old), retval(new));
        compare(Kind::ParamTransfer, transfer(old.transfer).to_owned(), transfer(new.transfer).to_owned());
        let utf8 = if new.utf8 { Kind::Utf8Added } else { Kind::Utf8Removed };
        compare(utf8, encoding(old).to_owned(), encoding(new).to_owned());
        compare(Kind::ParamAutomation, memory(old.memory), memory(new.memory));
        if is_described {
            compare(Kind::ParamOptional, optional(old.variant.as_ref()), optional(new.variant.as_ref()));
        }
        // Automation types travel as types of the built-in file. A change of the Automation type is
        // reported above.
        if old.memory == new.memory {
            changes.extend(self.places(&place(old), &place(new), scope));
        }
        // Most changes of the VARTYPE follow from changes of the type.
        let vartype = |param: &Param| param.variant.as_ref().map(|variant| variant.vt);
        if is_described && changes.is_empty() && vartype(old) != vartype(new) {
            changes.push((Kind::ParamVartype, vartype_text(vartype(old)), vartype_text(vartype(new))));
        }
        self.report_all(changes, new.span, subject);
    }
}

fn place(param: &Param) -> Place<'_> {
    let Param { ty, range, switch, varying, .. } = param;
    Place { ty, range: *range, switch: switch.as_ref(), varying: varying.as_ref() }
}

/// Returns the types of parameters, by which renamed declarations are recognised.
pub(super) fn signature(model: &Model, params: &[Param]) -> Vec<(String, bool, bool)> {
    let types = params.iter().map(|param| (param, memory(param.memory), type_text(model, &param.ty)));
    types.map(|(param, kind, ty)| (kind + &ty, param.direction.is_in(), param.direction.is_out())).collect()
}

fn memory(memory: Option<Memory>) -> String {
    memory.map_or_else(|| "no type of Automation".to_owned(), memory_text)
}

/// Returns the name of an Automation type.
pub(super) fn memory_text(memory: Memory) -> String {
    match memory {
        Memory::Bstr => "BSTR".to_owned(),
        Memory::Variant => "VARIANT".to_owned(),
        Memory::SafeArray(element) => format!("SAFEARRAY({})", element_name(element)),
    }
}

/// Returns the name of a VARTYPE.
pub(super) fn vartype_text(vartype: Option<u16>) -> String {
    vartype.map_or("none", element_name).to_owned()
}

fn optional(variant: Option<&Variant>) -> String {
    match variant {
        Some(Variant { optional: true, default: Some(value), .. }) => {
            format!("defaultvalue({})", value_text(value, None))
        }
        Some(Variant { optional: true, default: None, .. }) => "[optional]".to_owned(),
        _ => "not optional".to_owned(),
    }
}

const fn encoding(param: &Param) -> &'static str {
    if param.utf8 { "[utf8]" } else { "no [utf8]" }
}

const fn transfer(transfer: Transfer) -> &'static str {
    match transfer {
        Transfer::Frame => "in the frame",
        Transfer::ZeroCopy => "[zero_copy]",
        Transfer::Map => "[map]",
        // Clients do not need to know for how many lent elements the server's reply has room.
        Transfer::Lend(_) => "[lend]",
    }
}

const fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::In => "[in]",
        Direction::Out => "[out]",
        Direction::InOut => "[in, out]",
    }
}
