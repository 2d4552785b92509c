//! Any thread may drop an object, and a lock is given back where it was taken.

use soundness::{IProgress, IProgress_Impl};
use std::sync::MutexGuard;

#[windows_core::implement(IProgress)]
struct Count(MutexGuard<'static, i32>);

impl IProgress_Impl for Count_Impl {
    fn Report(&self, done: i32) -> obvia::Result<i32> {
        Ok(*self.0 + done)
    }
}

fn main() {}
