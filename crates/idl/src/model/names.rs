//! Names that stay different when languages add underscores to them.

/// Returns a name without trailing underscores.
pub(crate) fn stem(name: &str) -> &str {
    name.trim_end_matches('_')
}

/// Returns the name, with one more underscore if the name without its underscores is in use: `stem`
/// becomes `stem_`, and `stem_` becomes `stem__`. Different names thus stay different, and a name's
/// result does not depend on other names.
pub(crate) fn distinct(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    if is_taken(stem(name)) { format!("{name}_") } else { name.to_owned() }
}
