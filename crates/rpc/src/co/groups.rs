//! Association groups (C706 9.3.3): what the associations of one client process with one server have in common.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The association groups of a server, for all of its associations. A group is there as long as an association of it is.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    table: Arc<Mutex<Table>>,
}

#[derive(Debug, Default)]
struct Table {
    // The number given last.
    last: u32,
    // How many associations each has. Invariant: none is 0.
    members: BTreeMap<u32, u32>,
}

impl Groups {
    /// Joins a group, or for 0 a new one. `None` where there is none with this number.
    pub(super) fn join(&self, number: u32) -> Option<Membership> {
        let mut table = self.table();
        let number = match number {
            0 => {
                let mut next = table.last.wrapping_add(1).max(1);
                // Numbers come round once in four billion associations.
                while table.members.contains_key(&next) {
                    next = next.wrapping_add(1).max(1);
                }
                table.last = next;
                next
            }
            known if table.members.contains_key(&known) => known,
            _ => return None,
        };
        *table.members.entry(number).or_default() += 1;
        Some(Membership { groups: self.clone(), number })
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An association's place in its group, until it is dropped.
#[derive(Debug)]
pub(super) struct Membership {
    groups: Groups,
    pub(super) number: u32,
}

impl Drop for Membership {
    fn drop(&mut self) {
        let mut table = self.groups.table();
        if let Some(count) = table.members.get_mut(&self.number) {
            *count -= 1;
            if *count == 0 {
                table.members.remove(&self.number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Groups;

    #[test]
    fn groups_are_there_as_long_as_their_associations() {
        let groups = Groups::default();
        let (one, other) = (groups.join(0).unwrap(), groups.join(0).unwrap());
        assert_ne!(one.number, other.number);
        let again = groups.join(one.number).unwrap();
        assert_eq!(again.number, one.number);
        let number = one.number;
        drop(one);
        assert!(groups.join(number).is_some());
        drop(again);
        assert!(groups.join(number).is_none());
        assert!(groups.join(77).is_none());
    }
}
