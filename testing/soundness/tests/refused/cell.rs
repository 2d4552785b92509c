//! Several threads call an object at once: a `Cell` is for one.

use soundness::{IProgress, IProgress_Impl};
use std::cell::Cell;

#[windows_core::implement(IProgress)]
struct Count(Cell<i32>);

impl IProgress_Impl for Count_Impl {
    fn Report(&self, done: i32) -> obvia::Result<i32> {
        self.0.set(self.0.get() + done);
        Ok(self.0.get())
    }
}

fn main() {}
