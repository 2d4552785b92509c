//! Any thread may call an object's own marshaler.

use obvia::marshaling::{IMarshal, Marshaler, Passing};
use std::cell::Cell;

#[windows_core::implement(IMarshal)]
struct Point(Cell<i32>);

impl Marshaler for Point_Impl { //~ error[E0277]: `Cell<i32>` cannot be shared between threads safely
    fn class(&self, _: &Passing) -> obvia::Result<obvia::GUID> {
        Ok(obvia::marshaling::STANDARD)
    }
    fn marshal(&self, _: &Passing) -> obvia::Result<Vec<u8>> {
        Ok(vec![self.0.get() as u8])
    }
}

fn main() {}
