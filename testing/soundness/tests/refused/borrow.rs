//! An object can outlive any borrow, because its references count.

use soundness::{IProgress, IProgress_Impl};

#[obvia::object(IProgress)] //~ error: lifetime may not live long enough //~ error[E0521]: borrowed data escapes outside of method
struct Count<'data>(&'data [i32]);

impl IProgress_Impl for Count_Impl<'_> { //~ error[E0477]: the type `Count<'_>` does not fulfill the required lifetime
    fn Report(&self, done: i32) -> obvia::Result<i32> {
        Ok(self.0[0] + done)
    }
}

fn main() {}
