//! Budgets: limits on the memory that peers make this process take up.

use std::fmt;
use std::sync::Arc;

/// A limit on the memory that several connections may take up together.
pub trait Budget: Send + Sync + fmt::Debug {
    /// Takes this many bytes. Returns false if fewer are left.
    fn take(&self, bytes: usize) -> bool;
    /// Gives bytes back.
    fn give_back(&self, bytes: usize);
}

/// Bytes of a budget, given back when the value is dropped.
#[derive(Debug)]
pub struct Reservation {
    budget: Arc<dyn Budget>,
    bytes: usize,
}

impl Reservation {
    /// Takes bytes of a budget. Returns `None` if fewer are left.
    pub fn new(budget: &Arc<dyn Budget>, bytes: usize) -> Option<Self> {
        budget.take(bytes).then(|| Self { budget: Arc::clone(budget), bytes })
    }

    /// Takes further bytes. Returns false if fewer are left.
    pub fn grow(&mut self, bytes: usize) -> bool {
        let has_taken = self.budget.take(bytes);
        self.bytes += if has_taken { bytes } else { 0 };
        has_taken
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}
