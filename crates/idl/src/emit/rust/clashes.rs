//! The check for declarations that would have the same name in Rust.
//!
//! A module of Rust has one scope for a file's declarations and for the items that are generated
//! for them. The check reads the generated code, so it knows every item.

use crate::Diagnostic;
use crate::emit::taken_name;
use crate::text::source::Span;
use crate::text::writer::{Origin, Writer};
use std::collections::{HashMap, HashSet};

/// The words with which items begin. Each has two flags: whether the item's name is in the scope of
/// types, and whether it is in the scope of values.
const ITEMS: [(&str, bool, bool); 8] = [
    ("struct ", true, false),
    ("enum ", true, false),
    ("union ", true, false),
    ("trait ", true, false),
    ("const ", false, true),
    ("static ", false, true),
    ("unsafe extern \"system\" fn ", false, true),
    ("unsafe extern \"C-unwind\" fn ", false, true),
];

/// The indentation of the lines that declare a type's members.
const OF_MEMBERS: &str = "    ";

/// A scope, in which all names must differ.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Scope<'t> {
    Types,
    Values,
    /// The fields or variants of this type.
    Fields(&'t str),
    /// The functions and constants of this type.
    Associated(&'t str),
}

/// Marks the beginning of a declaration's code, given the declaration in words and its place.
pub(super) fn begin(out: &mut Writer, what: String, (span, imported): (Span, bool)) {
    out.set_origin(Some(Origin { what, span, imported }));
}

/// Returns errors for names that the code declares twice.
pub(super) fn clashes(out: &Writer) -> Vec<Diagnostic> {
    let mut names: HashMap<(Scope<'_>, &str), Option<&Origin>> = HashMap::new();
    let (mut pairs, mut errors) = (HashSet::new(), Vec::new());
    let mut of_block = None;
    for (line, origin) in out.lines() {
        let declared: Vec<(Scope<'_>, &str)> = match line.strip_prefix(OF_MEMBERS) {
            Some(line) => of_block.zip(member(line)).into_iter().collect(),
            None => {
                of_block = block(line);
                items(line)
            }
        };
        for (scope, name) in declared {
            match names.insert((scope, name), origin) {
                // Two declarations may share several names: only the first shared name is reported.
                Some(first) if first == origin || pairs.insert((first.map(at), origin.map(at))) => {
                    errors.extend(error(name, first, origin));
                }
                _ => {}
            }
        }
    }
    errors
}

/// Returns the place of a declaration, which identifies it.
fn at(origin: &Origin) -> (Span, &str) {
    (origin.span, origin.what.as_str())
}

/// Returns the error for a name of two declarations, or of one declaration twice. The origin of the
/// whole file's tables is `None`.
fn error(name: &str, first: Option<&Origin>, second: Option<&Origin>) -> Option<Diagnostic> {
    let (what, span) = match (first, second) {
        (Some(first), Some(second)) if first != second => return Some(taken_name("Rust", name, first, second)),
        (Some(one), _) | (None, Some(one)) => (&one.what, one.span),
        (None, None) => return None,
    };
    let text = format!("{what} declares `{name}` in Rust, and so does other generated code");
    Some(Diagnostic::error("taken-name", span, text).help("give it another name; other languages keep them apart"))
}

/// Returns the name at the beginning of a text, without the text after the name.
fn word(text: &str) -> &str {
    let end = text.find(|one: char| !one.is_ascii_alphanumeric() && one != '_' && one != '#');
    &text[..end.unwrap_or(text.len())]
}

/// Returns the names that a line without indentation declares.
fn items(line: &str) -> Vec<(Scope<'_>, &str)> {
    let line = line.strip_prefix("pub ").unwrap_or(line);
    let found = ITEMS.into_iter().find_map(|(start, is_type, is_value)| {
        let rest = line.strip_prefix(start)?;
        // The name of a structure whose fields have no names is also the name of a function.
        let is_function = rest[word(rest).len()..].starts_with('(');
        Some((word(rest), is_type, is_value || is_function))
    });
    let Some((name, is_type, is_value)) = found.filter(|(name, ..)| *name != "_") else { return Vec::new() };
    let scopes = [(is_type, Scope::Types), (is_value, Scope::Values)];
    scopes.into_iter().filter(|(is_here, _)| *is_here).map(|(_, scope)| (scope, name)).collect()
}

/// Returns the scope of the members in the block that a line begins. `None` for other lines, and
/// for implementations of traits, which declare no new names.
fn block(line: &str) -> Option<Scope<'_>> {
    let line = line.strip_prefix("pub ").unwrap_or(line);
    let of_fields = ["struct ", "enum ", "union "].into_iter().find_map(|start| line.strip_prefix(start));
    if let Some(rest) = of_fields {
        return Some(Scope::Fields(word(rest)));
    }
    let of_type = line.strip_prefix("impl").filter(|rest| !rest.contains(" for "))?;
    let of_type = of_type.strip_prefix("<'a>").unwrap_or(of_type);
    Some(Scope::Associated(word(of_type.strip_prefix(' ')?)))
}

/// Returns the name that a line in a type's block declares.
fn member(line: &str) -> Option<&str> {
    let mut rest = line;
    for start in ["pub ", "const ", "unsafe ", "fn "] {
        rest = rest.strip_prefix(start).unwrap_or(rest);
    }
    let name = word(rest);
    let is_declared = rest[name.len()..].starts_with([':', '(', '<', ',']);
    (is_declared && !name.is_empty()).then_some(name)
}
