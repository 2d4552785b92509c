//! Association groups (C706 9.3.3): the shared state of a client process's associations with a
//! server.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Decides which associations belong to a group.
pub trait Joins: Send + Sync + fmt::Debug {
    /// Adds an association to the group with this number, or to a new group if the number is 0.
    /// Returns `None` if there is no such group, or if the client may not join it.
    fn join(&self, wanted: u32) -> Option<Joined>;
}

/// An association's membership in a group, for as long as the association lives.
#[derive(Clone, Debug)]
pub struct Joined {
    /// The group's number, by which clients name the group; not 0.
    pub number: u32,
    /// The reference that keeps the group alive.
    pub place: Arc<dyn Any + Send + Sync>,
}

/// The association groups of a server, with each group's shared state.
#[derive(Debug)]
pub struct Groups<T = ()>(Arc<Mutex<Table<T>>>);

#[derive(Debug)]
struct Table<T> {
    // The number assigned last.
    last: u32,
    groups: HashMap<u32, Weak<Group<T>>>,
}

/// An association group. The group ends with its last reference.
#[derive(Debug)]
pub struct Group<T> {
    groups: Groups<T>,
    number: u32,
    shared: T,
}

impl<T> Groups<T> {
    /// Creates a group with the first unused number from `first` on. Without `first`, the search
    /// begins after the number assigned last.
    pub fn found(&self, first: Option<u32>, shared: T) -> Arc<Group<T>> {
        let mut table = self.table();
        let mut number = first.unwrap_or_else(|| table.last.wrapping_add(1)).max(1);
        while table.groups.contains_key(&number) {
            number = number.wrapping_add(1).max(1);
        }
        table.last = number;
        let group = Arc::new(Group { groups: self.clone(), number, shared });
        table.groups.insert(number, Arc::downgrade(&group));
        group
    }

    /// Returns the group with a number, if it exists.
    pub fn find(&self, number: u32) -> Option<Arc<Group<T>>> {
        self.table().groups.get(&number)?.upgrade()
    }

    fn table(&self) -> MutexGuard<'_, Table<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Group<T> {
    /// Returns the group's number, by which clients name the group; not 0.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Returns the shared state of the group's associations.
    pub fn shared(&self) -> &T {
        &self.shared
    }
}

impl<T> Drop for Group<T> {
    fn drop(&mut self) {
        self.groups.table().groups.remove(&self.number);
    }
}

impl<T> Clone for Groups<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Default for Groups<T> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Table { last: 0, groups: HashMap::new() })))
    }
}

/// Groups without shared state, which every client may join.
impl Joins for Groups {
    fn join(&self, wanted: u32) -> Option<Joined> {
        let group = if wanted == 0 { self.found(None, ()) } else { self.find(wanted)? };
        Some(Joined { number: group.number, place: group })
    }
}

#[cfg(test)]
mod tests {
    use super::{Groups, Joins};

    #[test]
    fn association_groups_live_as_long_as_their_associations() {
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

    #[test]
    fn association_group_numbers_are_unique_and_not_zero() {
        let groups = Groups::<u8>::default();
        let all = [Some(u32::MAX), Some(u32::MAX), None, Some(0)].map(|first| groups.found(first, 9));
        assert_eq!(all.each_ref().map(|group| group.number()), [u32::MAX, 1, 2, 3]);
        assert_eq!(groups.find(2).map(|group| *group.shared()), Some(9));
    }
}
