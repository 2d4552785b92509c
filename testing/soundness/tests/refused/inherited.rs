//! The same by an interface that extends another.

use soundness::{IMore, IMore_Impl, IProgress_Impl};
use std::cell::RefCell;

#[windows_core::implement(IMore)]
struct Count(RefCell<Vec<i32>>);

impl IProgress_Impl for Count_Impl {
    fn Report(&self, done: i32) -> obvia::Result<i32> {
        Ok(done)
    }
}

impl IMore_Impl for Count_Impl {
    fn More(&self, done: i32) -> obvia::Result<()> {
        self.0.borrow_mut().push(done);
        Ok(())
    }
}

fn main() {}
