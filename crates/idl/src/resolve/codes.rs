//! Names of methods and parameters in generated code, where names that are distinct in IDL may
//! clash.

use super::Resolver;
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
    /// Renames methods with the name of their interface, and parameters with the name of a type or
    /// a constant. Parameters are positional, so callers do not notice.
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
        for found in &mut model.interfaces {
            let names: HashSet<String> = found.methods.iter().map(|method| method.name.clone()).collect();
            for method in &mut found.methods {
                let is_new = |code: &str| code != stem(&method.name) && names.contains(code);
                method.code = beside(&method.name, "_method", |code| code == stem(&found.name) || is_new(code));
                let names: HashSet<String> = method.params.iter().map(|param| param.name.clone()).collect();
                for param in &mut method.params {
                    let is_new = |code: &str| code != stem(&param.name) && names.contains(code);
                    param.code = beside(&param.name, "_arg", |code| taken.contains(code) || is_new(code));
                }
            }
        }
    }
}
