//! The names of pages, and of the places in a page.

use crate::model::{DispMember, Enum, Interface};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The maximum length of the part of a file's name that comes from a declaration.
const LENGTH_MAX: usize = 80;

/// Names that are different, even for file systems that do not distinguish capital letters.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// For each name in lower case, the number of its next duplicate.
    taken: HashMap<String, u32>,
}

impl Names {
    /// Returns a new name made of a declaration's name. The name consists of ASCII letters, digits,
    /// `_`, `-`, `.` and `~`.
    pub(super) fn add(&mut self, prefix: &str, text: &str) -> String {
        let kept: String = text.chars().take(LENGTH_MAX).map(safe).collect();
        let name = format!("{prefix}{kept}");
        // No other name has the separator, so a numbered name is new.
        match self.taken.entry(name.to_ascii_lowercase()) {
            Entry::Vacant(entry) => {
                entry.insert(2);
                name
            }
            Entry::Occupied(mut entry) => {
                let number = *entry.get();
                *entry.get_mut() += 1;
                format!("{name}~{number}")
            }
        }
    }
}

fn safe(one: char) -> char {
    if one.is_ascii_alphanumeric() || matches!(one, '_' | '-' | '.') { one } else { '-' }
}

/// Returns the anchors of the parts of a page, such as an interface's methods. Parts of the same
/// name get different anchors.
pub(super) fn anchors<'n>(prefix: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    let mut taken = Names::default();
    names.into_iter().map(|name| taken.add(prefix, name)).collect()
}

/// Returns the anchors of an interface's methods.
pub(super) fn method_anchors(of: &Interface) -> Vec<String> {
    anchors("method.", of.methods.iter().map(|method| method.name.as_str()))
}

/// Returns the anchors of a dispinterface's properties or methods.
pub(super) fn member_anchors(of: &[DispMember], are_properties: bool) -> Vec<String> {
    let prefix = if are_properties { "property." } else { "method." };
    anchors(prefix, of.iter().map(|one| one.member.name.as_str()))
}

/// Returns the anchors of an enumeration's values.
pub(super) fn value_anchors(of: &Enum) -> Vec<String> {
    anchors("value.", of.values.iter().map(|(name, _)| name.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_and_different() {
        let mut names = Names::default();
        assert_eq!(names.add("struct.", "Point"), "struct.Point");
        assert_eq!(names.add("struct.", "POINT"), "struct.POINT~2");
        assert_eq!(names.add("struct.", "point"), "struct.point~3");
        assert_eq!(names.add("file.", "../a\\b/\u{0}é.idl"), "file...-a-b---.idl");
        assert!(names.add("file.", &"a".repeat(5000)).len() < 100);
        assert_eq!(anchors("m.", ["A", "a", "B"]), ["m.A", "m.a~2", "m.B"]);
    }
}
