//! Names of the IDL as names in Python.

/// Returns a method's name in Python: `snake_case`, with an underscore after the name if the name
/// is a keyword.
pub fn python_name(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut made = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let follows_lower = at > 0 && !letters[at - 1].is_uppercase() && letters[at - 1] != '_';
        let precedes_lower = letters.get(at + 1).is_some_and(|next| next.is_lowercase());
        let is_first = at == 0 || letters[at - 1] == '_';
        if letter.is_uppercase() && !is_first && (follows_lower || precedes_lower) {
            made.push('_');
        }
        made.extend(letter.to_lowercase());
    }
    without_keyword(&made)
}

/// Returns a name, with an underscore after it if the name is a keyword.
pub fn without_keyword(name: &str) -> String {
    if is_keyword(name) { format!("{name}_") } else { name.to_owned() }
}

/// Returns the name of an enumeration's value. Enumerations of Python reserve some names.
pub fn value_name(name: &str) -> String {
    if name == "mro" || name.starts_with('_') { format!("{name}_") } else { name.to_owned() }
}

/// Whether a name is permitted for one of several results, which form a named tuple.
pub(super) fn is_result_name(name: &str) -> bool {
    !name.starts_with('_') && !is_keyword(name)
}

/// Whether a name is one of Python's keywords, which cannot name attributes.
pub(super) fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name) || ["None", "True", "False"].contains(&name)
}

/// Python's keywords in lower case.
const KEYWORDS: [&str; 32] = [
    "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except",
    "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise",
    "return", "try", "while", "with", "yield",
];
