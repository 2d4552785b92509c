//! Names of methods and parameters in generated code. IDL has name spaces of their own for them;
//! code has one for these and for types.

use super::Resolver;
use crate::plan::ENDINGS;
use std::collections::HashSet;

/// Returns a name without trailing underscores, which languages add to reserved words.
fn stem(name: &str) -> &str {
    name.trim_end_matches('_')
}

/// Returns a name that differs from all others, even after languages add underscores.
fn beside(name: &str, what: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let mut code = name.to_owned();
    while is_taken(stem(&code)) {
        code.push_str(what);
    }
    code
}

impl Resolver<'_> {
    /// Renames methods that are called as their interface or as an inherited method, and parameters
    /// that are called as a type or a constant, or whose variables in generated code would be.
    /// Callers see a parameter's name only in C++, where several results of a method are the
    /// members of one structure.
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
        for id in 0..model.interfaces.len() {
            // The vtable of an interface has the methods of its bases, which stand before it in the
            // model.
            let bases = model.interfaces[id].base.map_or_else(Vec::new, |base| model.lineage(base));
            let inherited = bases.iter().flat_map(|base| &model.interfaces[base.0].methods);
            let inherited: HashSet<String> = inherited.map(|method| stem(&method.code).to_owned()).collect();
            let found = &mut model.interfaces[id];
            let names: HashSet<String> = found.methods.iter().map(|method| stem(&method.name).to_owned()).collect();
            for method in &mut found.methods {
                let is_new = |code: &str| code != stem(&method.name) && names.contains(code);
                let is_taken = |code: &str| code == stem(&found.name) || inherited.contains(code) || is_new(code);
                method.code = beside(&method.name, "_method", is_taken);
                let names: HashSet<String> = method.params.iter().map(|param| param.name.clone()).collect();
                for param in &mut method.params {
                    let is_new = |code: &str| code != stem(&param.name) && names.contains(code);
                    param.code = beside(&param.name, "_arg", |code| {
                        taken.contains(code)
                            || is_new(code)
                            || ENDINGS.iter().any(|of| taken.contains(&format!("{code}{of}")))
                    });
                }
            }
        }
    }
}
