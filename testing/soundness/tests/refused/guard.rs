//! Any thread may drop an object, but a lock has to be released by the thread that holds it.

use soundness::{IProgress, IProgress_Impl};
use std::sync::MutexGuard;

#[obvia::object(IProgress)] //~ error[E0277]: `std::sync::MutexGuard<'static, i32>` cannot be sent between threads safely
struct Count(MutexGuard<'static, i32>);

impl IProgress_Impl for Count_Impl { //~ error[E0277]: `std::sync::MutexGuard<'static, i32>` cannot be sent between threads safely
    fn Report(&self, done: i32) -> obvia::Result<i32> {
        Ok(*self.0 + done)
    }
}

fn main() {}
