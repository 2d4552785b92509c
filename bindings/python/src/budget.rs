//! The budget of the interfaces that a process uses. Interfaces are never freed.

use obvia::{Error, code};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The interfaces that a process may use at most.
const ALL_MAX: Sum = Sum { interfaces: 10_000, bytes: 64 << 20 };

/// The interfaces that the server at one name or string binding may describe at most: a quarter of
/// [`ALL_MAX`], so that one server leaves room for others.
const SERVER_MAX: Sum = Sum { interfaces: ALL_MAX.interfaces / 4, bytes: ALL_MAX.bytes / 4 };

/// The size that each method and each type adds to an interface's size, because they take more
/// memory than their text.
pub(crate) const PART_BYTES: usize = 512;

/// The number of some interfaces, and the sum of their sizes in bytes.
#[derive(Clone, Copy)]
struct Sum {
    interfaces: usize,
    bytes: usize,
}

impl Sum {
    const NONE: Self = Self { interfaces: 0, bytes: 0 };

    /// Returns the sum with one more interface. `None` if the new sum exceeds `most`.
    fn with(self, bytes: usize, most: Self) -> Option<Self> {
        let (interfaces, bytes) = (self.interfaces + 1, self.bytes.saturating_add(bytes));
        (interfaces <= most.interfaces && bytes <= most.bytes).then_some(Self { interfaces, bytes })
    }

    fn without(self, bytes: usize) -> Self {
        Self { interfaces: self.interfaces - 1, bytes: self.bytes - bytes }
    }
}

/// The sum of all reserved places, and the sum for each server by its name.
static RESERVED: Mutex<(Sum, BTreeMap<String, Sum>)> = Mutex::new((Sum::NONE, BTreeMap::new()));

/// Reserves the place of an interface of this size, which a server or a file describes. Callers
/// reserve the place before they make the interface's parts, which are never freed.
pub(crate) fn reserve(server: Option<&str>, bytes: usize) -> obvia::Result<()> {
    let mut reserved = RESERVED.lock().unwrap_or_else(PoisonError::into_inner);
    let (all, servers) = &mut *reserved;
    let refused = |who: &str| Error::new(code::E_OUTOFMEMORY, format!("{who} too many different interfaces"));
    let sum = all.with(bytes, ALL_MAX).ok_or_else(|| refused("this process has used"))?;
    if let Some(server) = server {
        let own = servers.get(server).copied().unwrap_or(Sum::NONE);
        let own = own.with(bytes, SERVER_MAX).ok_or_else(|| refused(&format!("{server} has described")))?;
        servers.insert(server.to_owned(), own);
    }
    *all = sum;
    Ok(())
}

/// Gives back the place of an interface of this size.
pub(crate) fn give_back(server: Option<&str>, bytes: usize) {
    let mut reserved = RESERVED.lock().unwrap_or_else(PoisonError::into_inner);
    reserved.0 = reserved.0.without(bytes);
    if let Some(own) = server.and_then(|server| reserved.1.get_mut(server)) {
        *own = own.without(bytes);
    }
}
