//! Names of methods and parameters in generated code. In IDL these names cannot clash with the
//! names of types. In generated code one scope contains all of them.

use super::Resolver;
use crate::model::{InterfaceId, stem};
use crate::plan::{ENDINGS, STATICS, STATICS_OF_FILES};
use std::collections::HashSet;

/// Returns the name, with the suffix `what` appended until the name is free. `is_taken` gets the
/// name, and the name without trailing underscores.
fn beside(name: &str, what: &str, is_taken: impl Fn(&str, &str) -> bool) -> String {
    let mut code = name.to_owned();
    while is_taken(&code, stem(&code)) {
        code.push_str(what);
    }
    code
}

/// Whether generated code may have a static of this name. `is_interface` tells whether a name is
/// the name of an interface.
fn is_static(code: &str, is_interface: impl Fn(&str) -> bool) -> bool {
    let of_interface =
        |rest: &str| is_interface(rest) || rest.match_indices('_').any(|(at, _)| is_interface(&rest[..at]));
    STATICS_OF_FILES.contains(&code) || STATICS.iter().any(|ending| code.strip_suffix(ending).is_some_and(of_interface))
}

impl Resolver<'_> {
    /// Renames methods that have the name of their interface or of an inherited method. Renames
    /// parameters whose name, with or without a suffix of `ENDINGS`, is the name of a type or a
    /// constant, and parameters that would hide a static. Callers see a parameter's name only in
    /// C++, where several results of a method are the members of one structure.
    pub(super) fn name_in_code(&mut self) {
        let model = &mut self.model;
        let types = model.structs.iter().map(|found| &found.name).chain(model.unions.iter().map(|found| &found.name));
        let types = types.chain(model.interfaces.iter().map(|found| &found.name));
        let types = types.chain(model.typedefs.iter().map(|found| &found.name));
        let types = types.chain(model.enums.iter().map(|found| &found.name));
        let values = model.enums.iter().flat_map(|found| found.values.iter().map(|(name, _)| name));
        let values = values.chain(model.consts.iter().map(|found| &found.name));
        let mut taken: HashSet<String> = types.chain(values).map(|name| stem(name).to_owned()).collect();
        taken.insert("IUnknown".to_owned());
        let interfaces: HashSet<String> = model.interfaces.iter().map(|found| found.name.clone()).collect();
        // The vtable of an interface has the methods of its base interfaces, so the methods of base
        // interfaces get their names first. In the model, an interface may precede its base
        // interfaces.
        let mut lineages: Vec<Vec<InterfaceId>> =
            (0..model.interfaces.len()).map(|at| model.lineage(InterfaceId(at))).collect();
        lineages.sort_by_key(Vec::len);
        for lineage in lineages {
            let Some((id, bases)) = lineage.split_last() else { continue };
            let inherited = bases.iter().flat_map(|base| &model.interfaces[base.0].methods);
            let inherited: HashSet<String> = inherited.map(|method| method.code.clone()).collect();
            let found = &mut model.interfaces[id.0];
            // Names of the interface's own methods and parameters are compared without trailing
            // underscores, so that they still differ when a language adds underscores.
            let names: HashSet<String> = found.methods.iter().map(|method| stem(&method.name).to_owned()).collect();
            for method in &mut found.methods {
                let is_new = |code: &str| code != stem(&method.name) && names.contains(code);
                let is_taken = |code: &str, of: &str| of == stem(&found.name) || inherited.contains(code) || is_new(of);
                method.code = beside(&method.name, "_method", is_taken);
                let names: HashSet<String> = method.params.iter().map(|param| param.name.clone()).collect();
                for param in &mut method.params {
                    let is_new = |code: &str| code != stem(&param.name) && names.contains(code);
                    param.code = beside(&param.name, "_arg", |code, of| {
                        taken.contains(of)
                            || is_static(code, |name| interfaces.contains(name))
                            || is_new(of)
                            || ENDINGS.iter().any(|ending| taken.contains(&format!("{of}{ending}")))
                    });
                }
            }
        }
    }
}
