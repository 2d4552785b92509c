//! An interface that extends another has the same requirements.

use soundness::{IMore, IMore_Impl, IProgress_Impl};
use std::cell::RefCell;

#[obvia::object(IMore)] //~ error[E0277]: `RefCell<Vec<i32>>` cannot be shared between threads safely
struct Count(RefCell<Vec<i32>>);

impl IProgress_Impl for Count_Impl { //~ error[E0277]: `RefCell<Vec<i32>>` cannot be shared between threads safely
    fn Report(&self, done: i32) -> obvia::Result<i32> {
        Ok(done)
    }
}

impl IMore_Impl for Count_Impl { //~ error[E0277]: `RefCell<Vec<i32>>` cannot be shared between threads safely
    fn More(&self, done: i32) -> obvia::Result<()> {
        self.0.borrow_mut().push(done);
        Ok(())
    }
}

fn main() {}
