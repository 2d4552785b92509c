//! Methods that a permissive compiler treats as `[local]`, because they cannot be passed.

use super::layout::plan_by_reference;
use super::unsupported::of_method;
use crate::model::{InterfaceId, Method, Model, Unpassed};
use crate::text::diagnostic::{Diagnostic, Severity};

/// Treats each method that cannot be passed in any language as `[local]`. The method keeps its
/// place in the vtable, and calls from other processes fail. Returns a warning for each such method
/// of the file itself.
pub(crate) fn keep_unsupported(model: &mut Model) -> Vec<Diagnostic> {
    let refuse = |model: &Model, id: InterfaceId, method: &Method| {
        of_method(model, &model.interfaces[id.0], method, "obvia", true)
    };
    keep(model, Unpassed::Anywhere, refuse).unwrap_or_default()
}

/// Treats each method that one back end cannot pass as `[local]`, as [`keep_unsupported`] does.
/// `refuse` returns the back end's error, or `None` for a supported method. Returns `None` if no
/// method was refused.
pub(crate) fn keep_here(
    model: &mut Model,
    refuse: impl Fn(&Model, InterfaceId, &Method) -> Option<Diagnostic>,
) -> Option<Vec<Diagnostic>> {
    keep(model, Unpassed::Here, |model, id, method| {
        // Without the method's plan by reference, the opnums of later plans would change.
        let refers = !method.local && plan_by_reference(model, method, 0).is_some();
        if refers { None } else { refuse(model, id, method) }
    })
}

fn keep(
    model: &mut Model,
    why: Unpassed,
    refuse: impl Fn(&Model, InterfaceId, &Method) -> Option<Diagnostic>,
) -> Option<Vec<Diagnostic>> {
    let mut kept = Vec::new();
    for id in (model.bundled.interfaces..model.interfaces.len()).map(InterfaceId) {
        let found = &model.interfaces[id.0];
        let methods = (0..).zip(&found.methods).filter(|(_, method)| method.unpassed.is_none());
        kept.extend(methods.filter_map(|(at, method)| Some((id, at, refuse(model, id, method)?))));
    }
    if kept.is_empty() {
        return None;
    }
    let mut warnings = Vec::new();
    for (id, at, error) in kept {
        let found = &mut model.interfaces[id.0];
        let method: &mut Method = &mut found.methods[at];
        method.unpassed = Some(if method.local { Unpassed::Declared } else { why });
        method.local = true;
        // A method that is declared [local] stays as it is.
        if !found.imported && method.unpassed != Some(Unpassed::Declared) {
            let warning = Diagnostic { severity: Severity::Warning, help: None, ..error };
            warnings.push(warning.label("so other processes cannot call this method"));
        }
    }
    Some(warnings)
}
