//! Names of the IDL as names in Python.

/// Returns a method's name in Python: `snake_case`, with an underscore behind a keyword.
pub(crate) fn python_name(name: &str) -> String {
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

/// Returns a name with an underscore behind a keyword.
pub(crate) fn without_keyword(name: &str) -> String {
    let is_keyword = KEYWORDS.contains(&name) || ["None", "True", "False"].contains(&name);
    if is_keyword { format!("{name}_") } else { name.to_owned() }
}

/// Python's keywords in lower case.
const KEYWORDS: [&str; 32] = [
    "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except",
    "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise",
    "return", "try", "while", "with", "yield",
];
