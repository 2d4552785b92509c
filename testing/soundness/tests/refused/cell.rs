//! Several threads may call an object at the same time, which a `Cell` does not support.

use soundness::{IProgress, IProgress_Impl};
use std::cell::Cell;

#[obvia::object(IProgress)] //~ error[E0277]: `Cell<i32>` cannot be shared between threads safely
struct Count(Cell<i32>);

impl IProgress_Impl for Count_Impl { //~ error[E0277]: `Cell<i32>` cannot be shared between threads safely
    fn Report(&self, done: i32) -> obvia::Result<i32> {
        self.0.set(self.0.get() + done);
        Ok(self.0.get())
    }
}

fn main() {}
