//! Alignment of two lists of names: which entries correspond, which are new, and which are gone.

use std::collections::HashMap;

/// The correspondence of an old and a new list of named entries.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Alignment {
    /// The indices of corresponding entries, in the old order.
    pub(super) pairs: Vec<(usize, usize)>,
    /// The indices of old entries that are gone.
    pub(super) removed: Vec<usize>,
    /// The indices of new entries.
    pub(super) added: Vec<usize>,
    /// Whether corresponding entries have another order.
    pub(super) is_reordered: bool,
}

impl Alignment {
    /// Aligns entries of the same name. Entries of different names in the same place correspond if
    /// `is_same` says that they are equal apart from their names.
    pub(super) fn of(old: &[&str], new: &[&str], is_same: impl Fn(usize, usize) -> bool) -> Self {
        let places: HashMap<&str, usize> = new.iter().enumerate().map(|(at, name)| (*name, at)).collect();
        let mut is_paired = vec![false; new.len()];
        let mut partners: Vec<Option<usize>> = old.iter().map(|name| places.get(name).copied()).collect();
        for at in partners.iter().flatten() {
            is_paired[*at] = true;
        }
        for (at, partner) in partners.iter_mut().enumerate() {
            if partner.is_none() && at < new.len() && !is_paired[at] && is_same(at, at) {
                *partner = Some(at);
                is_paired[at] = true;
            }
        }
        let pairs: Vec<(usize, usize)> =
            partners.iter().enumerate().filter_map(|(at, partner)| Some((at, (*partner)?))).collect();
        Self {
            removed: (0..old.len()).filter(|at| partners[*at].is_none()).collect(),
            added: (0..new.len()).filter(|at| !is_paired[*at]).collect(),
            is_reordered: pairs.windows(2).any(|pair| pair[1].1 < pair[0].1),
            pairs,
        }
    }

    /// Returns the new index of an old entry, if the entry still exists.
    pub(super) fn partner(&self, old: usize) -> Option<usize> {
        let at = self.pairs.binary_search_by_key(&old, |pair| pair.0).ok()?;
        Some(self.pairs[at].1)
    }
}

#[cfg(test)]
mod tests {
    use super::Alignment;

    #[test]
    fn entries_correspond_by_name_and_else_by_place() {
        let found = Alignment::of(&["a", "b", "c", "d"], &["a", "c", "x", "d", "y"], |_, _| false);
        assert_eq!(found.pairs, [(0, 0), (2, 1), (3, 3)]);
        assert_eq!((found.removed, found.added, found.is_reordered), (vec![1], vec![2, 4], false));
        let renamed = Alignment::of(&["a", "b"], &["a", "x"], |old, new| (old, new) == (1, 1));
        assert_eq!((renamed.pairs.len(), renamed.partner(1)), (2, Some(1)));
        assert!(Alignment::of(&["a", "b"], &["b", "a"], |_, _| true).is_reordered);
    }
}
