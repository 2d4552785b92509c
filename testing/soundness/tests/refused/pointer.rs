//! An interface pointer may lead to an object of one thread; within an object it has to be `Agile`.

use soundness::{IProgress, IProgress_Impl};

#[obvia::object(IProgress)] //~ error[E0277]: `NonNull<c_void>` cannot be sent between threads safely //~ error[E0277]: `NonNull<c_void>` cannot be shared between threads safely
struct Forward(IProgress);

impl IProgress_Impl for Forward_Impl { //~ error[E0277]: `NonNull<c_void>` cannot be shared between threads safely //~ error[E0277]: `NonNull<c_void>` cannot be sent between threads safely
    fn Report(&self, done: i32) -> obvia::Result<i32> {
        self.0.Report(done)
    }
}

fn main() {}
